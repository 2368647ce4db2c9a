/* Axis expressions: "1KiB..4LLC x2", "1,2,4", "all". See plan.h for the grammar. */
#include "probe/axis.h"
#include "base/text.h"
#include "device/host.h"
#include "os/cpus.h"
#include "os/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPR_MAX = 256, VALUES_MAX = 4096, STEPS_MAX = 64, NAMED_MAX = 12 /* words in a message */ };

#define MEMORY_SIDE "MSC"

struct parser {
    const struct as_axis *axis;
    const struct as_device_info *info;
    struct as_axis_values *out;
    size_t cap;
    struct as_error *err;
};

static enum as_status add_value(struct parser *p, const char *text, double number)
{
    for (size_t i = 0; i < p->out->n; i++)
        if (strcmp(p->out->v[i].text, text) == 0)
            return AS_OK;
    if (p->out->n >= VALUES_MAX)
        return as_fail(p->err, AS_USAGE, "axis '%s' has more than %d values; make the range smaller", p->axis->name,
                       VALUES_MAX);
    enum as_status st = as_grow((void **)&p->out->v, &p->cap, p->out->n + 1, sizeof *p->out->v, p->err);
    if (st)
        return st;
    struct as_axis_value *v = &p->out->v[p->out->n++];
    as_copy_text(v->name, sizeof v->name, p->axis->name);
    as_copy_text(v->text, sizeof v->text, text);
    v->number = number;
    return AS_OK;
}

static enum as_status axis_add_number(struct parser *p, uint64_t value)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_printf(&b, "%llu", (unsigned long long)value);
    enum as_status st = as_buf_check(&b, p->err);
    if (!st)
        st = add_value(p, as_buf_get(&b), (double)value);
    as_buf_finish(&b);
    return st;
}

static uint64_t largest_count(const struct parser *p)
{
    if (p->axis->domain == AS_DOMAIN_THREADS)
        return p->info->threads ? p->info->threads : 1;
    return p->axis->max;
}

/* Of all cores together; a device's share one. */
static uint64_t all_last_caches(const struct as_device_info *info)
{
    return as_info_largest_cache(info, NULL, info->capabilities & AS_CAP_HOST_KERNELS ? info->threads : 1);
}

/* In main memory for one thread of the device, and for the CPU where that uses the device's memory. */
static uint64_t axis_memory_of_one(const struct as_device_info *info)
{
    const uint64_t own = as_info_memory_least(info, NULL, 1),
                   host = as_info_has_host_kernels(info) ? 0 : as_info_memory_least(info, as_used_by_cpu, 1);
    return own > host ? own : host;
}

static uint64_t memory_side(const struct as_device_info *info)
{
    const struct as_cache *c = as_info_memory_side(info);
    return c ? c->size : 0;
}

/* Does the item name a cache that few devices have, and this one has not? Then it has no value. */
static bool is_absent(const struct parser *p, const char *item)
{
    const char *word = strstr(item, MEMORY_SIDE);
    return p->axis->type == AS_AXIS_SIZE && word && !isalpha((unsigned char)word[strlen(MEMORY_SIDE)]) &&
           memory_side(p->info) == 0;
}

/* "4LLC", "0.5L2", "0.25free": a number in front of a size that the device tells. */
static enum as_status parse_symbol(const struct parser *p, const char *s, uint64_t *value, int *is_symbol)
{
    static const char *const names[] = {"LLC",  "L1",    "L2",        "L3",   "free",      "memory", "LLCs",
                                        "DRAM", "DRAM1", MEMORY_SIDE, "page", "huge_page", NULL};
    *is_symbol = 0;
    double factor = strspn(s, "0123456789.") ? 0 : 1;
    char number[32] = "";
    size_t digits = strspn(s, "0123456789.");
    if (digits >= sizeof number)
        return AS_OK;
    memcpy(number, s, digits);
    number[digits] = 0;
    const char *word = s + digits;
    while (*word == ' ')
        word++;
    size_t which = 0;
    while (names[which] && strcmp(names[which], word) != 0)
        which++;
    if (!names[which])
        return AS_OK;
    *is_symbol = 1;
    if (digits) {
        enum as_status st = as_parse_double(number, &factor, p->err);
        if (st)
            return st;
    }
    const uint64_t sizes[] = {as_info_largest_cache(p->info, NULL, 1),
                              as_info_cache(p->info, 1),
                              as_info_cache(p->info, 2),
                              as_info_cache(p->info, 3),
                              p->info->memory_free,
                              p->info->memory_bytes,
                              all_last_caches(p->info),
                              as_info_memory_set(p->info),
                              axis_memory_of_one(p->info),
                              memory_side(p->info),
                              as_info_page(p->info),
                              as_info_huge_page(p->info)};
    uint64_t unit = sizes[which];
    /* Devices that do not report caches get a common size, so that suites still sweep there. */
    if (unit == 0)
        unit = which == 1 ? 32u << 10 : which == 2 ? 1u << 20 : 32u << 20;
    double v = factor * (double)unit;
    if (!(v >= 1) || v > 1e18)
        return as_fail(p->err, AS_USAGE, "axis '%s': '%s' is not a usable size", p->axis->name, s);
    *value = (uint64_t)v;
    return AS_OK;
}

static enum as_status parse_number(const struct parser *p, const char *s, uint64_t *value)
{
    if (strcmp(s, "max") == 0 || (strcmp(s, "threads") == 0 && p->axis->type == AS_AXIS_COUNT)) {
        *value = largest_count(p);
        if (*value == 0)
            return as_fail(p->err, AS_USAGE, "axis '%s' has no largest value; give a number", p->axis->name);
        return AS_OK;
    }
    if (p->axis->type == AS_AXIS_COUNT)
        return as_parse_u64(s, value, p->err);
    int is_symbol;
    enum as_status st = parse_symbol(p, s, value, &is_symbol);
    if (st || is_symbol)
        return st;
    return as_parse_size(s, value, p->err);
}

static enum as_status check_range(const struct parser *p, uint64_t v, const char *text)
{
    uint64_t max = largest_count(p);
    if (v < p->axis->min)
        return as_fail(p->err, AS_USAGE, "axis '%s': '%s' is below the smallest value %llu", p->axis->name, text,
                       (unsigned long long)p->axis->min);
    if (max && v > max)
        return as_fail(p->err, AS_USAGE, "axis '%s': '%s' is above the largest value %llu%s", p->axis->name, text,
                       (unsigned long long)max, p->axis->domain == AS_DOMAIN_THREADS ? " of this device" : "");
    return AS_OK;
}

/* Sizes from a KiB up are whole cache lines. */
static uint64_t round_step(const struct parser *p, double v)
{
    uint64_t r = (uint64_t)(v + 0.5);
    if (p->axis->type == AS_AXIS_SIZE && r > 1024)
        r -= r % 64;
    return r ? r : 1;
}

static enum as_status add_range(struct parser *p, const char *text, uint64_t a, uint64_t b, uint64_t steps)
{
    if (a > b)
        return as_fail(p->err, AS_USAGE, "axis '%s': the range '%s' runs backwards", p->axis->name, text);
    enum as_status st;
    if (steps == 0) { /* counts: every number */
        if (b - a >= VALUES_MAX)
            return as_fail(p->err, AS_USAGE, "axis '%s': the range '%s' has more than %d values", p->axis->name, text,
                           VALUES_MAX);
        for (uint64_t v = a; v < b; v++)
            if ((st = axis_add_number(p, v)))
                return st;
        return axis_add_number(p, b);
    }
    if (a == 0)
        return as_fail(p->err, AS_USAGE, "axis '%s': a doubling range cannot start at 0", p->axis->name);
    for (unsigned k = 0;; k++) {
        double v = (double)a * exp2((double)k / (double)steps);
        if (v > (double)b * 0.999) /* which may be more than a number holds */
            break;
        uint64_t r = round_step(p, v);
        if (r >= b)
            break;
        if ((st = axis_add_number(p, r)))
            return st;
    }
    return axis_add_number(p, b);
}

/* Splits "a..b xN" in place. *steps is 0 when not given. */
static enum as_status split_range(const struct parser *p, char *item, char **high, uint64_t *steps)
{
    *high = strstr(item, "..");
    *steps = 0;
    if (!*high)
        return AS_OK;
    **high = 0;
    *high += 2;
    char *x = strrchr(*high, 'x');
    if (x && x > *high && x[-1] == ' ') {
        enum as_status st = as_parse_u64(x + 1, steps, p->err);
        if (st)
            return st;
        if (*steps == 0 || *steps > STEPS_MAX)
            return as_fail(p->err, AS_USAGE, "axis '%s': from 1 to %d steps an octave, not '%s'", p->axis->name,
                           STEPS_MAX, x);
        for (*x = 0; x > *high && x[-1] == ' ';)
            *--x = 0;
    }
    return AS_OK;
}

/* Beside words it is one, too. */
static enum as_status axis_add_node(struct parser *p, uint64_t node)
{
    char text[24];
    if (p->axis->type != AS_AXIS_WORD)
        return axis_add_number(p, node);
    if (node >= AS_NODES_MAX)
        return as_fail(p->err, AS_USAGE, "axis '%s': node numbers must be below %d", p->axis->name, AS_NODES_MAX);
    snprintf(text, sizeof text, "%llu", (unsigned long long)node);
    return add_value(p, text, NAN);
}

static enum as_status add_cpus(struct parser *p)
{
    struct as_cpus set;
    if (!as_thread_cpus(&set))
        return as_fail(p->err, AS_FAILED, "the CPUs that this process may use cannot be read");
    enum as_status st = AS_OK;
    for (int cpu = -1; !st && (cpu = as_cpus_next(&set, cpu)) >= 0;)
        st = axis_add_number(p, (uint64_t)cpu);
    return st;
}

static enum as_status add_nodes(struct parser *p)
{
    struct as_cpus nodes;
    as_host_node_values("", &nodes);
    enum as_status st = AS_OK;
    for (int node = -1; !st && (node = as_cpus_next(&nodes, node)) >= 0;)
        st = axis_add_node(p, (uint64_t)node);
    return st;
}

static enum as_status add_number_item(struct parser *p, char *item)
{
    if (strcmp(item, "all") == 0) {
        if (p->axis->domain == AS_DOMAIN_CPU)
            return add_cpus(p);
        if (p->axis->domain == AS_DOMAIN_NODE)
            return add_nodes(p);
        uint64_t max = largest_count(p);
        if (max == 0)
            return as_fail(p->err, AS_USAGE, "axis '%s' has no largest value; give a range", p->axis->name);
        return add_range(p, item, p->axis->min ? p->axis->min : 1, max, 1);
    }
    char *high;
    uint64_t steps, a, b;
    enum as_status st = split_range(p, item, &high, &steps);
    if (!st && high && (!item[0] || !high[0] || high[0] == 'x'))
        st = as_fail(p->err, AS_USAGE, "axis '%s': a range has two ends, such as 1KiB..64KiB, not '%s..%s'",
                     p->axis->name, item, high);
    if (st || (st = parse_number(p, item, &a)) || (st = check_range(p, a, item)))
        return st;
    if (!high)
        return axis_add_number(p, a);
    if ((st = parse_number(p, high, &b)) || (st = check_range(p, b, high)))
        return st;
    high[-2] = '.'; /* restore the separator for the message */
    if (steps == 0 && p->axis->type == AS_AXIS_SIZE)
        steps = 1;
    return add_range(p, item, a, b, steps);
}

/* The role of the largest pages that take no preparation by an administrator. */
static enum as_role largest_pages(const struct as_device_info *info)
{
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].role == AS_ROLE_HUGE_PAGES && info->allocators[i].why_not[0] == 0)
            return AS_ROLE_HUGE_PAGES;
    return AS_ROLE_BASE_PAGES;
}

/* By name, by role, the first usable one or all of them. A name that is also a role is the name. */
static enum as_status axis_add_allocator(struct parser *p, const char *item)
{
    const bool all = strcmp(item, "all") == 0, first = strcmp(item, "first") == 0;
    const enum as_role role = as_info_allocator(p->info, item)     ? AS_ROLE_UNKNOWN
                              : strcmp(item, "largest_pages") == 0 ? largest_pages(p->info)
                                                                   : as_role_find(item);
    for (size_t i = 0; i < p->info->allocators_n; i++) {
        const struct as_allocator *a = &p->info->allocators[i];
        if (((all || first) && a->why_not[0] == 0) || (role && a->role == role) || strcmp(a->name, item) == 0) {
            enum as_status st = add_value(p, a->name, NAN);
            if (st || first)
                return st;
        }
    }
    return AS_OK; /* an allocator of another device: no value here; as_plan_check_sets names one that no device has */
}

static enum as_status unknown_word(const struct parser *p, const char *item)
{
    const char *near = as_nearest(item, p->axis->words);
    if (near)
        return as_fail(p->err, AS_USAGE, "axis '%s' has no value '%s'; did you mean '%s'?", p->axis->name, item, near);
    struct as_buf values = AS_BUF_INIT;
    size_t n = 0;
    for (; p->axis->words && p->axis->words[n]; n++)
        as_buf_printf(&values, "%s%s", n ? ", " : "", p->axis->words[n]);
    enum as_status st =
        n > NAMED_MAX ? as_fail(p->err, AS_USAGE, "axis '%s' has no value '%s'; 'assay explain' of the probe has them",
                                p->axis->name, item)
                      : as_fail(p->err, AS_USAGE, "axis '%s' has no value '%s'; its values: %s, all", p->axis->name,
                                item, as_buf_get(&values));
    as_buf_finish(&values);
    return st;
}

static enum as_status axis_add_word(struct parser *p, const char *item)
{
    int found = 0;
    for (const char *const *w = p->axis->words; w && *w; w++) {
        bool meant = strcmp(item, "all") == 0 ? !p->axis->all || strcmp(*w, p->axis->all) == 0 : strcmp(*w, item) == 0;
        if (!meant)
            continue;
        found = 1;
        enum as_status st = add_value(p, *w, NAN);
        if (st)
            return st;
    }
    if (p->axis->domain == AS_DOMAIN_ALLOCATOR)
        return axis_add_allocator(p, item);
    uint64_t node;
    if (p->axis->domain == AS_DOMAIN_NODE && strcmp(item, "all") == 0)
        return add_nodes(p);
    if (p->axis->domain == AS_DOMAIN_NODE && !found && !as_parse_u64(item, &node, NULL))
        return axis_add_node(p, node);
    if (found)
        return AS_OK;
    return unknown_word(p, item);
}

enum as_status as_axis_parse(const struct as_axis *axis, const char *expr, const struct as_device_info *info,
                             struct as_axis_values *out, struct as_error *err)
{
    struct parser p = {.axis = axis, .info = info, .out = out, .err = err};
    char text[EXPR_MAX];
    *out = (struct as_axis_values){0};
    if (strlen(expr) >= sizeof text)
        return as_fail(err, AS_USAGE, "axis '%s': the expression is longer than %d characters", axis->name, EXPR_MAX);
    memcpy(text, expr, strlen(expr) + 1);
    enum as_status st = AS_OK;
    char *next = text;
    while (next && !st) {
        char *item = next;
        next = strchr(item, ',');
        if (next)
            *next++ = 0;
        while (isspace((unsigned char)*item))
            item++;
        for (size_t n = strlen(item); n && isspace((unsigned char)item[n - 1]); n--)
            item[n - 1] = 0;
        if (*item == 0)
            st = as_fail(err, AS_USAGE, "axis '%s': a value is missing in '%s'", axis->name, expr);
        else if (!is_absent(&p, item))
            st = axis->type == AS_AXIS_WORD ? axis_add_word(&p, item) : add_number_item(&p, item);
    }
    if (st)
        as_axis_values_finish(out);
    return st;
}

void as_axis_values_finish(struct as_axis_values *v)
{
    free(v->v);
    *v = (struct as_axis_values){0};
}
