/* Evidence for and against main memory: the caches on the way, and the sweeps of a run. */
#include "probe/main_memory.h"

#include "model/gates.h"

#include <math.h>
#include <string.h>

/* The probe whose cells show what holds an array of their size; and of the CPU in a device's memory. */
static const char sweep_probe[] = "latency", cpu_sweep_probe[] = "host_latency", cpu_probe[] = "host_bandwidth";
/* Elements farther apart leave sets of a cache unused. */
static const double STRIDE_MAX = 256;
/* About the size of the array in question: not much smaller, up to twice as large. */
static const double SHARE_MIN = 0.8, SHARE_MAX = 2.1;
/* An array and one of half its size, on grids whose ends are not powers of two. */
static const double APART_MIN = 1.4, APART_MAX = 2.9;
/* Sizes this close are equal: grids round to lines. Of equal sizes the smallest step counts, since TLB misses slow
 * large arrays too, most on small pages: the lowest start of an interval against a plateau, the lowest end for it. */
static const double SAME = 1.05;
enum { STEPS_MAX = 64 };

static const struct as_cell *main_memory_cell_at(struct as_cell_view cells, size_t i)
{
    return cells.v ? &cells.v[i] : cells.p[i];
}

/* Do the cells differ only in size and in the axis `but` (NULL: none)? */
static bool main_memory_is_alike(const struct as_cell *a, const struct as_cell *b, const char *but)
{
    if (strcmp(a->probe, b->probe) != 0 || strcmp(a->device, b->device) != 0 || strcmp(a->metric, b->metric) != 0 ||
        a->axes.n != b->axes.n)
        return false;
    for (size_t i = 0; i < a->axes.n; i++) {
        const struct as_axis_value *v = &a->axes.v[i];
        if (strcmp(v->name, "size") != 0 && (!but || strcmp(v->name, but) != 0) &&
            strcmp(as_axes_text(&b->axes, v->name), v->text) != 0)
            return false;
    }
    return true;
}

/* Ignores the footprint gate, which this decides. */
static bool has_number(const struct as_cell *c)
{
    for (int g = 0; g < AS_GATE_N; g++)
        if (g != AS_GATE_FOOTPRINT && c->gates[g].state == AS_GATE_FAIL)
            return false;
    return c->sum.n > 0 && c->sum.median > 0 && c->sum.ci.lo > 0 && isfinite(c->sum.ci.hi) &&
           as_axes_number(&c->axes, "size") > 0;
}

static bool main_memory_is_by_cpu(const struct as_device_info *info, const char *probe)
{
    return !as_info_has_host_kernels(info) && (strcmp(probe, cpu_probe) == 0 || strcmp(probe, cpu_sweep_probe) == 0);
}

/* Random chases over memory of the same kind: on a CPU all is of one kind. */
static bool is_sweep(const struct as_cell *c, const struct as_cell *of, const struct as_device_info *info)
{
    const bool cpu = info->is_host_cpu || as_info_has_host_kernels(info);
    const char *allocator = as_axes_text(&of->axes, "allocator");
    const char *probe = main_memory_is_by_cpu(info, of->probe) ? cpu_sweep_probe : sweep_probe;
    return strcmp(c->probe, probe) == 0 && strcmp(c->device, of->device) == 0 &&
           strcmp(as_axes_text(&c->axes, AS_STATE_AXIS), as_axes_text(&of->axes, AS_STATE_AXIS)) == 0 &&
           as_axes_is(&c->axes, "pattern", "random") && !(as_axes_number(&c->axes, "stride") > STRIDE_MAX) &&
           (cpu || as_axes_is(&c->axes, "allocator", allocator[0] ? allocator : info->allocators[0].name));
}

/* How much longer the first takes than the second, per load or byte. */
static struct as_interval slower(const struct as_cell *a, const struct as_cell *b)
{
    return a->lower_is_better ? as_ratio_interval(a->sum.median, a->sum.ci, b->sum.median, b->sum.ci)
                              : as_ratio_interval(b->sum.median, b->sum.ci, a->sum.median, a->sum.ci);
}

/* The array of nearly half the size, NULL: none was measured. */
static const struct as_cell *find_half(struct as_cell_view cells, const struct as_cell *c)
{
    const double size = as_axes_number(&c->axes, "size");
    const struct as_cell *half = NULL;
    double nearest = INFINITY;
    for (size_t i = 0; i < cells.n; i++) {
        const struct as_cell *h = main_memory_cell_at(cells, i);
        const double apart = size / as_axes_number(&h->axes, "size"), off = fabs(log2(apart / 2));
        if (!(apart >= APART_MIN && apart <= APART_MAX) || !(off < nearest) || !main_memory_is_alike(h, c, NULL) ||
            !has_number(h))
            continue;
        half = h;
        nearest = off;
    }
    return half;
}

/* Does a level lie below that is at least twice as fast? A sweep over other pages of the same memory shows it too: a
 * small budget leaves out the small sizes of one. */
static bool is_faster_below(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *c)
{
    const bool sweep = strcmp(c->probe, sweep_probe) == 0;
    for (size_t i = 0; i < cells.n; i++) {
        const struct as_cell *s = main_memory_cell_at(cells, i);
        if (4 * as_axes_number(&s->axes, "size") <= as_axes_number(&c->axes, "size") &&
            (sweep ? is_sweep(s, c, info) : main_memory_is_alike(s, c, NULL)) && has_number(s) && slower(c, s).lo > 2)
            return true;
    }
    return false;
}

/* The step up to one array; false: there is none. */
static bool step_to(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *c,
                    struct as_memory_step *out)
{
    const struct as_cell *half = find_half(cells, c);
    if (half)
        *out = (struct as_memory_step){.half = as_axes_number(&half->axes, "size"),
                                       .size = as_axes_number(&c->axes, "size"),
                                       .slower = slower(c, half),
                                       .faster_below = is_faster_below(info, cells, c)};
    return half != NULL;
}

/* Steps to arrays of about the cell's size and larger. share: number of last-level caches that its threads use. */
static void find_steps(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *cell,
                       double bytes, double share, struct as_judge_context *out)
{
    struct as_memory_step steps[STEPS_MAX];
    double at[STEPS_MAX], nearest = log(SHARE_MAX); /* over the cell's size */
    size_t n = 0;
    for (size_t i = 0; i < cells.n && n < STEPS_MAX; i++) {
        const struct as_cell *c = main_memory_cell_at(cells, i);
        const bool own = main_memory_is_alike(c, cell, "level");
        at[n] = as_axes_number(&c->axes, "size") * (own ? 1 : share) / bytes;
        n += at[n] >= SHARE_MIN && (own || is_sweep(c, cell, info)) && has_number(c) &&
             step_to(info, cells, c, &steps[n]);
    }
    for (size_t i = 0; i < n; i++) {
        bool lowest = true, flattest = true;
        for (size_t k = 0; k < n; k++) {
            if (k == i || fabs(log(at[k] / at[i])) > log(SAME))
                continue;
            lowest &= steps[k].slower.lo >= steps[i].slower.lo;
            flattest &= steps[k].slower.hi >= steps[i].slower.hi;
        }
        if (lowest && !(steps[i].slower.lo <= out->memory_rise.slower.lo))
            out->memory_rise = steps[i];
        if (flattest && fabs(log(at[i])) <= nearest) {
            nearest = fabs(log(at[i]));
            out->memory_step = steps[i];
        }
    }
}

bool as_main_memory_claimed(const struct as_axes *axes)
{
    static const char *const claims[][2] = {{"level", "memory"}, {"place", "memory"}, {"rule", "stream"}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        if (strcmp(as_axes_text(axes, claims[i][0]), claims[i][1]) == 0)
            return true;
    return false;
}

struct as_memory_path as_main_memory_path(const struct as_device_info *info, const char *probe,
                                          const struct as_axes *axes)
{
    const double threads = as_axes_number(axes, "threads");
    const bool by_cpu = main_memory_is_by_cpu(info, probe);
    return (struct as_memory_path){.allocator = by_cpu ? as_used_by_cpu : as_axes_text(axes, "allocator"),
                                   .threads = threads == 0 ? info->threads : threads};
}

bool as_main_memory_decides(const struct as_device_info *info, const struct as_cell *c, const struct as_cell *cell)
{
    return main_memory_is_alike(c, cell, "level") || is_sweep(c, cell, info);
}

void as_main_memory_context(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *cell,
                            double bytes, struct as_judge_context *out)
{
    const struct as_memory_path path = as_main_memory_path(info, cell->probe, &cell->axes);
    const char *allocator = path.allocator;
    /* Other cells chase in one thread, whatever else goes on. */
    const double threads = as_main_memory_claimed(&cell->axes) ? path.threads : 1;
    out->largest_cache = as_info_largest_cache(info, allocator, threads);
    out->memory_least = as_info_memory_least(info, allocator, threads);
    out->largest_cache_name = as_info_largest_cache_name(info, allocator, threads);
    out->memory_step = out->memory_rise = (struct as_memory_step){0};
    if (!as_info_is_memory(info, allocator, threads, bytes))
        return; /* the size alone decides */
    const double one = (double)as_info_largest_cache(info, allocator, 1);
    find_steps(info, cells, cell, bytes, one > 0 ? (double)out->largest_cache / one : 1, out);
}

bool as_main_memory_holds(const struct as_device_info *info, struct as_cell_view cells, const struct as_cell *cell)
{
    static const struct as_device_info undescribed = {.capabilities = AS_CAP_HOST_KERNELS};
    const enum as_gate_state judged = cell->gates[AS_GATE_FOOTPRINT].state;
    const double size = as_axes_number(&cell->axes, "size"), bytes = isfinite(size) ? size : (double)cell->footprint;
    struct as_judge_context context = {0};
    struct as_buf text = AS_BUF_INIT;
    if (judged != AS_GATE_NA && as_main_memory_claimed(&cell->axes))
        return judged == AS_GATE_PASS;
    as_main_memory_context(info ? info : &undescribed, cells, cell, bytes, &context);
    const bool holds = as_gates_main_memory(&context, bytes, &text) == AS_GATE_PASS;
    as_buf_finish(&text);
    return holds;
}
