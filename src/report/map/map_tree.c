#include "base/text.h"
#include "report/map/map.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 24, NODES_MAX = 200000 };

const int as_map_order[AS_MAP_ROWS] = {AS_MAP_CORE, AS_MAP_LOCAL, 1, 2, 3, 4, 5, AS_MAP_MEMORY};

int as_map_row(const char *object)
{
    if (strcmp(object, "core") == 0 || strcmp(object, "unit") == 0)
        return AS_MAP_CORE;
    if (strcmp(object, "memory") == 0)
        return AS_MAP_MEMORY;
    if (strcmp(object, "shared") == 0)
        return AS_MAP_LOCAL;
    if (object[0] == 'L' && object[1] >= '1' && object[1] <= '0' + AS_MAP_CACHE_MAX &&
        (object[2] == '\0' || strcmp(object + 2, "d") == 0 || strcmp(object + 2, "u") == 0))
        return object[1] - '0';
    return -1;
}

static enum as_status add_node(struct as_map_tree *t, int level, size_t *index, struct as_error *err)
{
    if (t->n >= NODES_MAX)
        return as_fail(err, AS_FORMAT, "topology: more than %d objects", (int)NODES_MAX);
    enum as_status st = as_grow((void **)&t->nodes, &t->cap, t->n + 1, sizeof *t->nodes, err);
    if (st != AS_OK)
        return st;
    *index = t->n++;
    t->nodes[*index] = (struct as_map_node){.level = level};
    return AS_OK;
}

/* Hangs a node behind the last child of its parent. */
static void map_tree_adopt(struct as_map_tree *t, size_t parent, size_t node)
{
    struct as_map_node *above = &t->nodes[parent];
    if (above->child)
        t->nodes[above->last].next = node;
    else
        above->child = node;
    above->last = node;
}

static uint64_t json_size(const json_t *o)
{
    json_t *v = json_object_get(o, "size");
    return json_is_integer(v) && json_integer_value(v) > 0 ? (uint64_t)json_integer_value(v) : 0;
}

static unsigned count_type(const json_t *o, const char *type, int depth)
{
    const char *own = json_string_value(json_object_get(o, "type"));
    if (own && strcmp(own, type) == 0)
        return 1;
    unsigned n = 0;
    size_t i;
    json_t *child;
    if (depth < DEPTH_MAX)
        json_array_foreach(json_object_get(o, "children"), i, child) n += count_type(child, type, depth + 1);
    return n;
}

static void map_tree_label(struct as_map_node *node, const char *type, const json_t *o)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    json_t *index = json_object_get(o, "os_index");
    if (node->level == AS_MAP_CORE && json_is_integer(index))
        snprintf(node->label, sizeof node->label, "%lld", (long long)json_integer_value(index));
    else if (node->level == AS_MAP_BOX && json_is_integer(index))
        snprintf(node->label, sizeof node->label, "%.20s %lld", type, (long long)json_integer_value(index));
    else
        as_copy_text(node->label, sizeof node->label, name && name[0] ? name : type);
}

/* What to do with an object of this type: a row, a box, pass its children through, or leave it out. */
enum { PASS = -1, LEAVE = -2 };
static int level_of(const json_t *o, const char *type, bool in_core)
{
    static const struct {
        const char *type;
        int level;
    } known[] = {
        {"core", AS_MAP_CORE},   {"unit", AS_MAP_CORE}, {"memory", AS_MAP_MEMORY}, {"L1i", PASS},
        {"L2i", PASS},           {"pci", LEAVE},        {"bridge", LEAVE},         {"misc", LEAVE},
        {"package", AS_MAP_BOX}, {"die", AS_MAP_BOX},   {"machine", AS_MAP_BOX},   {"numa", AS_MAP_BOX},
    };
    if (strcmp(type, "pu") == 0)
        return in_core ? LEAVE : AS_MAP_CORE;
    if (strcmp(type, "numa") == 0 && json_array_size(json_object_get(o, "children")) == 0)
        return AS_MAP_MEMORY;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(type, known[i].type) == 0)
            return known[i].level;
    int row = as_map_row(type);
    return row >= 0 ? row : PASS;
}

static enum as_status map_tree_build(struct as_map_tree *t, const json_t *o, size_t parent, int depth, bool in_core,
                                     struct as_error *err)
{
    const char *type = json_string_value(json_object_get(o, "type"));
    if (!type || depth > DEPTH_MAX)
        return AS_OK;
    int level = level_of(o, type, in_core);
    /* Devices in the host's tree are drawn separately. */
    if (level == LEAVE || (strcmp(type, "device") == 0 && depth > 0))
        return AS_OK;
    size_t here = parent;
    if (level != PASS) {
        enum as_status st = add_node(t, level, &here, err);
        if (st != AS_OK)
            return st;
        struct as_map_node *node = &t->nodes[here];
        node->size = json_size(o);
        map_tree_label(node, type, o);
        if (level == AS_MAP_CORE)
            node->threads = strcmp(type, "pu") == 0 ? 1 : count_type(o, "pu", 0);
        map_tree_adopt(t, parent, here);
    }
    size_t i;
    json_t *child;
    json_array_foreach(json_object_get(o, "children"), i, child)
    {
        enum as_status st = map_tree_build(t, child, here, depth + 1, in_core || level == AS_MAP_CORE, err);
        if (st != AS_OK)
            return st;
    }
    return AS_OK;
}

static enum as_status add_below(struct as_map_tree *t, int level, uint64_t size, size_t *above, struct as_error *err)
{
    size_t node = 0;
    enum as_status st = add_node(t, level, &node, err);
    if (st != AS_OK)
        return st;
    t->nodes[node].size = size;
    map_tree_adopt(t, *above, node);
    *above = node;
    return AS_OK;
}

/* The data cache of a level, private to one compute unit (own) or shared. */
static const struct as_cache *map_tree_cache_of(const struct as_device_info *info, unsigned level, bool own)
{
    for (size_t i = 0; i < info->caches_n && i < AS_CACHES_MAX; i++) {
        const struct as_cache *c = &info->caches[i];
        if (c->level == level && c->kind != 'i' && own == (!c->memory_side && (level == 1 || c->shared == 1)))
            return c;
    }
    return NULL;
}

uint64_t as_map_shared(const struct as_device_info *info)
{
    return info->compute_unit_shared || info->is_host_cpu ? info->compute_unit_shared : info->workgroup_shared;
}

/* One compute unit: its private caches, its shared memory, itself. */
static enum as_status build_unit(struct as_map_tree *t, const struct as_device_info *info, bool found_l1,
                                 unsigned index, size_t above, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (unsigned level = AS_MAP_CACHE_MAX; level >= 1 && st == AS_OK; level--) {
        const struct as_cache *c = map_tree_cache_of(info, level, true);
        if (c || (level == 1 && found_l1))
            st = add_below(t, (int)level, c ? c->size : 0, &above, err);
    }
    if (st == AS_OK && as_map_shared(info))
        st = add_below(t, AS_MAP_LOCAL, as_map_shared(info), &above, err);
    if (st == AS_OK)
        st = add_below(t, AS_MAP_CORE, 0, &above, err);
    if (st != AS_OK)
        return st;
    snprintf(t->nodes[above].label, sizeof t->nodes[above].label, "%u", index);
    t->nodes[above].threads = 1;
    return AS_OK;
}

/* Fallback tree from the device info: compute units with private caches, shared caches, memory. */
static enum as_status build_from_info(struct as_map_tree *t, const struct as_device_info *info, bool found_l1,
                                      struct as_error *err)
{
    size_t shared = 1, memory = 1;
    unsigned compute_units = info->compute_units ? info->compute_units : 1;
    enum as_status st = info->memory_bytes ? add_below(t, AS_MAP_MEMORY, info->memory_bytes, &memory, err) : AS_OK;
    for (unsigned level = AS_MAP_CACHE_MAX; level >= 2 && st == AS_OK; level--) {
        const struct as_cache *c = map_tree_cache_of(info, level, false);
        if (c)
            st = add_below(t, (int)level, c->size, &shared, err);
    }
    for (unsigned u = 0; u < compute_units && u < 4096 && st == AS_OK; u++)
        st = build_unit(t, info, found_l1, u, shared, err);
    return st;
}

/* The driver's name of a compute unit, if it is a short word. */
static void find_unit_name(struct as_map_tree *t, const json_t *o, int depth)
{
    const char *type = json_string_value(json_object_get(o, "type")),
               *name = json_string_value(json_object_get(o, "name"));
    if (type && name && strcmp(type, "core") == 0 && json_is_integer(json_object_get(o, "count"))) {
        if (strlen(name) < sizeof t->unit &&
            !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")])
            as_copy_text(t->unit, sizeof t->unit, name);
        return; /* its children are not compute units */
    }
    size_t i;
    json_t *child;
    if (depth < DEPTH_MAX)
        json_array_foreach(json_object_get(o, "children"), i, child) if (!t->unit[0])
            find_unit_name(t, child, depth + 1);
}

static bool has_core(const struct as_map_tree *t)
{
    for (size_t i = 2; i < t->n; i++)
        if (t->nodes[i].level == AS_MAP_CORE)
            return true;
    return false;
}

static bool has_level(const struct as_map_tree *t, int level)
{
    for (size_t i = 2; i < t->n; i++)
        if (t->nodes[i].level == level)
            return true;
    return false;
}

/* Puts a cache between a node's memory and what else is in it. */
static enum as_status put_in_front(struct as_map_tree *t, size_t at, const struct as_cache *c, struct as_error *err)
{
    size_t cache = 0, next;
    enum as_status st = add_node(t, (int)c->level, &cache, err);
    if (st != AS_OK)
        return st;
    size_t child = t->nodes[at].child;
    t->nodes[at].child = t->nodes[at].last = 0;
    t->nodes[cache].size = c->size;
    as_cache_label(c, t->nodes[cache].label);
    for (; child; child = next) {
        next = t->nodes[child].next;
        t->nodes[child].next = 0;
        map_tree_adopt(t, t->nodes[child].level == AS_MAP_MEMORY ? at : cache, child);
    }
    map_tree_adopt(t, at, cache);
    return AS_OK;
}

/* No topology has a memory-side cache: it stands in front of each memory. */
static enum as_status add_memory_side(struct as_map_tree *t, const struct as_device_info *info, struct as_error *err)
{
    const struct as_cache *c = as_info_memory_side(info);
    const size_t n = t->n;
    enum as_status st = AS_OK;
    if (!c || c->level > AS_MAP_CACHE_MAX || has_level(t, (int)c->level))
        return AS_OK;
    for (size_t i = 1; i < n && st == AS_OK; i++) {
        bool memory = false, other = false;
        for (size_t k = t->nodes[i].child; k; k = t->nodes[k].next) {
            memory |= t->nodes[k].level == AS_MAP_MEMORY;
            other |= t->nodes[k].level != AS_MAP_MEMORY;
        }
        if (memory && other)
            st = put_in_front(t, i, c, err);
    }
    return st;
}

/* Index 0 means none, index 1 is the root. */
static enum as_status start_tree(struct as_map_tree *t, struct as_error *err)
{
    size_t node;
    as_map_tree_finish(t);
    enum as_status st = add_node(t, AS_MAP_BOX, &node, err);
    return st == AS_OK ? add_node(t, AS_MAP_BOX, &node, err) : st;
}

enum as_status as_map_tree_make(const struct as_device_info *info, const char *topology, bool found_l1,
                                struct as_map_tree *out, struct as_error *err)
{
    *out = (struct as_map_tree){0};
    enum as_status st = start_tree(out, err);
    json_t *root = topology && st == AS_OK ? json_loads(topology, 0, NULL) : NULL;
    if (root)
        st = map_tree_build(out, root, 1, 0, false, err);
    if (st == AS_OK && !has_core(out)) { /* no tree, or one without parent links */
        st = start_tree(out, err);
        if (st == AS_OK)
            st = build_from_info(out, info, found_l1, err);
        if (st == AS_OK && root)
            find_unit_name(out, root, 0);
    }
    json_decref(root);
    if (st == AS_OK)
        st = add_memory_side(out, info, err);
    if (st != AS_OK)
        as_map_tree_finish(out);
    return st;
}

void as_map_tree_finish(struct as_map_tree *t)
{
    free(t->nodes);
    *t = (struct as_map_tree){0};
}

/* Memory is drawn below the others, not in a column of its own. */
static bool has_columns(const struct as_map_node *node)
{
    return node->level != AS_MAP_MEMORY;
}

static bool map_tree_alike(const struct as_map_tree *t, size_t a, size_t b)
{
    const struct as_map_node *x = &t->nodes[a], *y = &t->nodes[b];
    if (x->level != y->level || x->size != y->size || x->threads != y->threads)
        return false;
    size_t i = x->child, j = y->child;
    for (; i && j; i = t->nodes[i].next, j = t->nodes[j].next)
        if (!map_tree_alike(t, i, j))
            return false;
    return !i && !j;
}

static unsigned natural_cols(const struct as_map_tree *t, size_t index)
{
    unsigned n = 0;
    for (size_t i = t->nodes[index].child; i; i = t->nodes[i].next)
        if (has_columns(&t->nodes[i]))
            n += natural_cols(t, i);
    return n ? n : 1;
}

static unsigned map_tree_min_u(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* How many of n alike siblings, each `width` columns wide, are drawn in `share` columns; *each: columns for one. */
static unsigned choose_shown(unsigned n, unsigned width, unsigned share, unsigned *each)
{
    if (n * (uint64_t)width <= share) {
        *each = width;
        return n;
    }
    unsigned wanted = map_tree_min_u(width, 3), most = width == 1 ? (share >= 10 ? 6 : 3) : n;
    for (unsigned k = map_tree_min_u(n, most); k > 1; k--) {
        unsigned room = share > (k < n) ? share - (k < n) : 1;
        if (room / k >= wanted) {
            *each = room / k;
            return k;
        }
    }
    *each = share > 2 ? share - 1 : 1;
    return 1;
}

static enum as_status map_tree_lay_out(struct as_map_tree *t, size_t index, unsigned col, unsigned budget,
                                       struct as_error *err);

/* What the siblings are (default: cores), and the row for the label. */
static void name_more(const struct as_map_tree *t, size_t sibling, struct as_map_node *more)
{
    const struct as_map_node *node = &t->nodes[sibling];
    if (node->level == AS_MAP_BOX) {
        char word[24];
        as_copy_text(word, sizeof word, node->label);
        word[strcspn(word, " ")] = '\0';
        snprintf(more->label, sizeof more->label, "%ss", word);
        more->row = AS_MAP_CORE;
    } else if (natural_cols(t, sibling) == 1) {
        more->row = AS_MAP_CORE;
    } else {
        snprintf(more->label, sizeof more->label, "L%d", node->level);
        more->row = node->level;
    }
}

/* Lays out `n` alike siblings beginning at `first`; *next is the sibling behind them. */
static enum as_status lay_out_group(struct as_map_tree *t, size_t first, unsigned n, unsigned *col, unsigned share,
                                    struct as_error *err)
{
    unsigned each, shown = choose_shown(n, natural_cols(t, first), share, &each);
    size_t i = first, last = first;
    for (unsigned k = 0; k < shown;) {
        if (has_columns(&t->nodes[i])) {
            enum as_status st = map_tree_lay_out(t, i, *col, each, err);
            if (st != AS_OK)
                return st;
            *col += t->nodes[i].cols;
            k++;
        }
        last = i;
        i = t->nodes[i].next;
    }
    if (shown == n)
        return AS_OK;
    size_t more = 0;
    enum as_status st = add_node(t, AS_MAP_MORE, &more, err);
    if (st != AS_OK)
        return st;
    struct as_map_node *m = &t->nodes[more];
    *m = (struct as_map_node){.level = AS_MAP_MORE, .more = n, .shown = true, .col = (*col)++, .cols = 1};
    name_more(t, first, m);
    m->next = t->nodes[last].next;
    t->nodes[last].next = more;
    return AS_OK;
}

static enum as_status map_tree_lay_out(struct as_map_tree *t, size_t index, unsigned col, unsigned budget,
                                       struct as_error *err)
{
    unsigned groups = 0, start = col;
    size_t before = 0;
    t->nodes[index].shown = true;
    if (t->nodes[index].level < AS_MAP_ROWS)
        t->rows |= 1u << t->nodes[index].level;
    for (size_t i = t->nodes[index].child; i; i = t->nodes[i].next) {
        if (!has_columns(&t->nodes[i]))
            continue;
        groups += !before || !map_tree_alike(t, before, i);
        before = i;
    }
    for (size_t i = t->nodes[index].child; i;) {
        if (!has_columns(&t->nodes[i])) {
            i = t->nodes[i].next;
            continue;
        }
        unsigned n = 0;
        size_t next = i;
        for (; next; next = t->nodes[next].next) {
            if (!has_columns(&t->nodes[next]))
                continue;
            if (!map_tree_alike(t, i, next))
                break;
            n++;
        }
        unsigned share = budget / (groups ? groups : 1);
        enum as_status st = lay_out_group(t, i, n, &col, share ? share : 1, err);
        if (st != AS_OK)
            return st;
        i = next;
    }
    if (col == start)
        col++;
    t->nodes[index].col = start;
    t->nodes[index].cols = col - start;
    for (size_t i = t->nodes[index].child; i; i = t->nodes[i].next) {
        if (has_columns(&t->nodes[i]))
            continue;
        t->nodes[i].shown = true;
        t->nodes[i].col = start;
        t->nodes[i].cols = col - start;
        t->rows |= 1u << AS_MAP_MEMORY;
    }
    return AS_OK;
}

enum as_status as_map_layout(struct as_map_tree *t, unsigned budget, struct as_error *err)
{
    enum as_status st = map_tree_lay_out(t, 1, 0, budget, err);
    t->cols = t->nodes[1].cols;
    return st;
}
