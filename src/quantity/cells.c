/* Sources of quantities as descriptions of cells: whether a cell is one of them, and which a small budget is for. */
#include "base/text.h"
#include "probe/probe.h"
#include "quantity/quantity.h"

#include <math.h>
#include <string.h>

static const char role_letters[] = "abcdefghijklmnopqrstuvwxyz_";

bool as_quantity_is_of_side(const struct as_quantity_subject *s, enum as_side side)
{
    const bool cpu = s->info && (s->info->capabilities & AS_CAP_HOST_KERNELS);
    return side == AS_SIDE_BOTH || (side == AS_SIDE_CPU) == cpu;
}

/* ---- texts ---- */

static void put_role(const struct as_quantity_subject *s, const char *word, size_t n, struct as_buf *out)
{
    char role[32];
    as_copy_text(role, n < sizeof role ? n + 1 : sizeof role, word);
    as_buf_str(out, as_role_allocator(s->device, as_role_find(role)));
}

void as_quantity_expand(const struct as_quantity_subject *s, const char *text, char *out, size_t size)
{
    static const char unit[] = "{unit}";
    struct as_buf b = AS_BUF_INIT;
    while (*text) {
        const size_t role = *text == '@' ? strspn(text + 1, role_letters) : 0;
        if (role)
            put_role(s, text + 1, role, &b);
        else if (strncmp(text, unit, sizeof unit - 1) == 0)
            as_buf_str(&b, as_info_words(s->info)->compute_unit);
        else
            as_buf_char(&b, *text);
        text += role ? role + 1 : strncmp(text, unit, sizeof unit - 1) == 0 ? sizeof unit - 1 : 1;
    }
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

/* ---- cells ---- */

/* One "axis=value" of a source. */
struct condition {
    char axis[24], value[64];
};

/* Reads the item at *at into out; false at the end. */
static bool next_condition(const char **at, struct condition *out)
{
    *at += strspn(*at, " ");
    const size_t n = strcspn(*at, " "), axis = strcspn(*at, "= ");
    if (n == 0 || axis >= n)
        return false;
    as_copy_text(out->axis, axis < sizeof out->axis ? axis + 1 : sizeof out->axis, *at);
    as_copy_text(out->value, n - axis <= sizeof out->value ? n - axis : sizeof out->value, *at + axis + 1);
    *at += n;
    return true;
}

/* All threads of a CPU; 0 on other devices, where cells mean by it as many as the launch needs. */
static double all_threads(const struct as_quantity_subject *s)
{
    if (!s->info)
        return NAN;
    return as_quantity_is_of_side(s, AS_SIDE_CPU) ? s->info->threads : 0;
}

/* Is the text one of "a,b"? */
static bool is_one_of(const char *list, const char *text)
{
    const size_t n = strlen(text);
    for (const char *at = list; n && (at = strstr(at, text)); at += n)
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return strcmp(list, text) == 0;
}

static bool is_condition_met(const struct as_quantity_subject *s, const struct as_cell *c, const struct condition *want)
{
    const struct as_axis_value *have = as_axes_get(&c->axes, want->axis);
    if (!have)
        return true; /* the store is older than the axis */
    if (strcmp(want->value, "@every") == 0)
        return true;
    if (strcmp(want->value, AS_QUANTITY_WORST) == 0)
        return strcmp(have->text, "none") != 0;
    if (strcmp(want->value, "@all") == 0)
        return have->number == all_threads(s);
    if (strcmp(want->value, "@peer") == 0) /* another device, by its number */
        return have->text[0] && !have->text[strspn(have->text, "0123456789")];
    if (s->info && s->info->is_host_cpu && strcmp(want->axis, "touch") == 0)
        return true; /* the CPU touches its memory whoever is asked to */
    if (want->value[0] != '@')
        return is_one_of(want->value, have->text);
    const char *name = as_role_allocator(s->device, as_role_find(want->value + 1));
    return name[0] && strcmp(have->text, name) == 0;
}

bool as_quantity_is_cell_of(const struct as_quantity_subject *s, const struct as_cell *c, const char *filter)
{
    const size_t n = strcspn(filter, " ");
    struct condition want;
    if (strcmp(c->device, s->device) != 0 || strncmp(c->probe, filter, n) != 0 || c->probe[n] ||
        as_axes_get(&c->axes, AS_STATE_AXIS)) /* of a process unlike those of other programs */
        return false;
    for (filter += n; next_condition(&filter, &want);)
        if (!is_condition_met(s, c, &want))
            return false;
    return true;
}

const char *as_quantity_why_no_memory(const struct as_quantity_subject *s, const char *filter)
{
    struct condition want;
    for (filter += strcspn(filter, " "); s->info && next_condition(&filter, &want);) {
        const enum as_role role = want.value[0] == '@' ? as_role_find(want.value + 1) : AS_ROLE_UNKNOWN;
        const char *why = role && s->info->allocators_n ? "no such memory" : "";
        for (size_t i = 0; role && i < s->info->allocators_n; i++)
            if (as_allocator_role(s->device, s->info->allocators[i].name) == role)
                why = s->info->allocators[i].why_not;
        if (why[0])
            return why;
    }
    return "";
}

/* ---- order ---- */

/* Does the source leave the axis open? */
static bool is_axis_open(const char *filter, const char *axis)
{
    struct condition want;
    for (filter += strcspn(filter, " "); next_condition(&filter, &want);)
        if (strcmp(want.axis, axis) == 0)
            return false;
    return true;
}

/* Of an axis that the source leaves open, the coarse points of the plan's grid suffice. */
static bool is_needed(const struct as_probe *probe, const char *filter, unsigned coarse)
{
    for (size_t i = 0; probe->axes[i].name; i++) {
        const struct as_axis *axis = &probe->axes[i];
        const bool has_points = axis->type != AS_AXIS_WORD || axis->domain == AS_DOMAIN_ALLOCATOR;
        if (has_points && !(coarse & 1u << i) && is_axis_open(filter, axis->name))
            return false;
    }
    return true;
}

/* Of a curve over sizes that gives a number of memory, the sizes that lie there come first. */
static enum as_quantity_order order_of_size(const struct as_device_info *info, const struct as_quantity *q,
                                            const struct as_cell *cell)
{
    const double size = as_axes_number(&cell->axes, "size");
    const bool is_smaller = strcmp(q->level, "memory") == 0 && info && isfinite(size) &&
                            !as_info_is_memory(info, as_axes_text(&cell->axes, "allocator"), 1, size);
    return q->first && !is_smaller ? AS_QUANTITY_FIRST : AS_QUANTITY_OTHER;
}

/* Kernels of the matrix path take up to a second each to load, so all others come before them. */
static size_t place_of(const struct as_quantity *q)
{
    static const size_t AFTER_ALL = SIZE_MAX / 2;
    return (size_t)(q - as_quantities) + (strcmp(q->group, "Matrix") == 0 ? AFTER_ALL : 0);
}

const char *const as_main_operations[] = {"ffma32", "ffma64", "ffma2_f16",      "fadd32", "fmul32",
                                          "fdiv32", "iadd32", "sqrt32_precise", "imul32", "imad32",
                                          "imul64", "idiv32", "xor32",          "popc32", NULL};

/* Their curves over warps and code size are further results. */
static bool is_main_operation(const struct as_quantity_subject *s, const struct as_cell *cell)
{
    const char *const *op = as_main_operations;
    while (*op && strcmp(*op, as_axes_text(&cell->axes, "op")) != 0)
        op++;
    return *op && (as_quantity_is_cell_of(s, cell, "alu_latency") ||
                   as_quantity_is_cell_of(s, cell, "alu warps=0 operands=0 steps=0"));
}

enum as_quantity_order as_quantity_order_of(const struct as_device_info *info, const struct as_probe *probe,
                                            const struct as_cell *cell, unsigned coarse, size_t *place)
{
    const struct as_quantity_subject s = {.device = cell->device, .info = info};
    enum as_quantity_order best = is_main_operation(&s, cell) ? AS_QUANTITY_MAIN : AS_QUANTITY_OF_NONE;
    *place = 0;
    for (const struct as_quantity *q = as_quantities; q->name && best < AS_QUANTITY_FIRST; q++) {
        const enum as_quantity_order order = order_of_size(info, q, cell);
        for (const struct as_quantity_source *source = q->sources; source->from && order > best; source++) {
            const char *filter = strchr(source->from, ' ') ? source->from : source->cells;
            if (filter && as_quantity_is_of_side(&s, source->side) && as_quantity_is_cell_of(&s, cell, filter) &&
                is_needed(probe, filter, coarse)) {
                best = order;
                *place = place_of(q);
            }
        }
    }
    return best;
}
