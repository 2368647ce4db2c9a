/* Published figures of operations and their measured counterparts. */
#include "base/text.h"
#include "probe/view_role.h"
#include "report/operations/operations.h"

#include <math.h>
#include <string.h>

/* Published names of operations that have another one here, or "": none that computes the same. group: of lanes that
 * take part. */
static const struct {
    const char *group, *published, *ours;
} names[] = {
    {"", "bitwise32", "ixor32"},
    {"", "div32", "fdivfast32"},
    {"", "div32_precise", "fdiv32"},
    {"", "div16", "fdivfast16"},
    {"", "iadd64_32", "iaddmix64"},
    {"", "imad32_64", "imadlo64"},
    {"", "imad64_32", "imadmix64"},
    {"", "imadw16", "imadw32"},
    {"", "imadw32", "imadw64"},
    {"", "imul64_32", "imulmix64"},
    {"", "shift32", "shl32"},
    {"simd", "ballot", "ballot32"},
    {"simd", "broadcast32", ""}, /* ours is of an exclusive or */
    {"simd", "bitwise_reduce16", "reduce_xor16"},
    {"simd", "bitwise_reduce32", "reduce_xor32"},
    {"simd", "fcmp_ballot", "fcmp_ballot32"},
    {"simd", "icmp_ballot", "icmp_ballot32"},
    {"simd", "prefix_eprod_f32", "prefix_feprod32"},
    {"simd", "prefix_esum_f32", "prefix_fesum32"},
    {"simd", "prefix_esum_i32", "prefix_esum32"},
    {"simd", "prefix_iprod_f32", "prefix_fprod32"},
    {"simd", "prefix_isum_f32", "prefix_fsum32"},
    {"simd", "prefix_isum_i32", "prefix_sum32"},
    {"simd", "product_f16", "product16"},
    {"simd", "product_f32", "product32"},
    {"simd", "product_i16", "reduce_mul16"},
    {"simd", "product_i32", "reduce_mul32"},
    {"simd", "shuffle_norotate32", "shuffle_down32"},
    {"simd", "shuffle_random_diff32", "shuffle_random32"},
    {"simd", "sum_f16", "sum16"},
    {"simd", "sum_f32", "sum32"},
    {"simd", "sum_i16", "reduce_add16"},
    {"simd", "sum_i32", "reduce_add32"},
    {"quad", "ballot", "quad_ballot32"},
    {"quad", "bitwise_reduce16", "quad_reduce_xor16"},
    {"quad", "bitwise_reduce32", "quad_reduce_xor32"},
    {"quad", "fcmp_ballot", "quad_fcmp_ballot32"},
    {"quad", "icmp_ballot", "quad_icmp_ballot32"},
    {"quad", "prefix_eprod_f32", "quad_prefix_feprod32"},
    {"quad", "prefix_esum_f32", "quad_prefix_fesum32"},
    {"quad", "prefix_esum_i32", "quad_prefix_esum32"},
    {"quad", "prefix_iprod_f32", "quad_prefix_fprod32"},
    {"quad", "prefix_isum_f32", "quad_prefix_fsum32"},
    {"quad", "prefix_isum_i32", "quad_prefix_sum32"},
    {"quad", "product_f16", "quad_product16"},
    {"quad", "product_f32", "quad_product32"},
    {"quad", "product_i16", "quad_reduce_mul16"},
    {"quad", "product_i32", "quad_reduce_mul32"},
    {"quad", "shuffle_downup32", "quad_down32"},
    {"quad", "shuffle_random_diff32", "quad_random32"},
    {"quad", "shuffle_rotate32", "quad_rotate32"},
    {"quad", "sum_f16", "quad_sum16"},
    {"quad", "sum_f32", "quad_sum32"},
    {"quad", "sum_i16", "quad_reduce_add16"},
    {"quad", "sum_i32", "quad_reduce_add32"},
};

const char *as_ref_our_name(const char *group, const char *published, size_t n)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].group, group) == 0 && strlen(names[i].published) == n &&
            strncmp(names[i].published, published, n) == 0)
            return names[i].ours;
    return NULL;
}

bool as_ref_is_of(const struct as_ref *ref, const char *op)
{
    char name[sizeof ref->axes], group[sizeof ref->axes];
    as_ref_axis(ref, "op", name, sizeof name);
    as_ref_axis(ref, "group", group, sizeof group);
    const char *ours = as_ref_our_name(group, name, strlen(name));
    if (!ours && strcmp(group, "quad") == 0) /* the same name is of all lanes */
        return false;
    return name[0] && strcmp(ours ? ours : name, op) == 0;
}

static struct as_measure of_cell(const struct as_cell *c)
{
    if (!c || !as_cell_is_evidence(c))
        return (struct as_measure){NAN, {NAN, NAN}};
    return (struct as_measure){c->sum.median, as_number_interval_of_cell(c)};
}

static struct as_measure operations_refs_rate(const struct as_report_run *run, const struct as_operation *o,
                                              const struct as_ref *ref)
{
    (void)run, (void)ref;
    return of_cell(o->throughput);
}

/* Published with a multiply-add as two. */
static struct as_measure operations_refs_counted(const struct as_report_run *run, const struct as_operation *o,
                                                 const struct as_ref *ref)
{
    struct as_measure m = operations_refs_rate(run, o, ref);
    const double each = strstr(o->name, "fma") ? 2 : 1;
    return (struct as_measure){each * m.value, {each * m.ci.lo, each * m.ci.hi}};
}

static struct as_measure operations_refs_raw(const struct as_report_run *run, const struct as_operation *o,
                                             const struct as_ref *ref)
{
    (void)run, (void)ref;
    return of_cell(o->latency);
}

static struct as_measure adjusted(const struct as_report_run *run, const struct as_operation *o,
                                  const struct as_ref *ref)
{
    (void)run, (void)ref;
    return of_cell(o->latency).value > 0 ? o->adjusted : of_cell(NULL);
}

/* The source counts cycles in which each lane of a core could do an FMA of 32 bits. */
static struct as_measure lane_cycles(const struct as_report_run *run, const struct as_operation *o,
                                     const struct as_ref *ref)
{
    (void)run, (void)ref;
    const struct as_measure r = o->relative;
    if (!(r.value > 0) || !isfinite(of_cell(o->throughput).value))
        return of_cell(NULL);
    return (struct as_measure){1 / r.value, {1 / r.ci.hi, 1 / r.ci.lo}};
}

/* The same at one number of chains and warps. */
static struct as_measure at_point(const struct as_report_run *run, const struct as_operation *o,
                                  const struct as_ref *ref)
{
    char ilp[16], warps[16];
    const struct as_measure best = of_cell(o->throughput), r = o->relative;
    as_ref_axis(ref, "ilp", ilp, sizeof ilp);
    as_ref_axis(ref, "warps", warps, sizeof warps);
    for (size_t i = 0; i < run->cells_n && r.value > 0 && best.value > 0; i++) {
        const struct as_cell *c = &run->cells[i];
        if (!as_has_role(c, AS_VIEW_OPERATION_THROUGHPUT) || strcmp(c->device, o->device) != 0 ||
            strcmp(as_axes_text(&c->axes, "op"), o->name) != 0 || strcmp(as_axes_text(&c->axes, "ilp"), ilp) != 0 ||
            strcmp(as_axes_text(&c->axes, "warps"), warps) != 0 ||
            strcmp(as_axes_text(&c->axes, "operands"), as_axes_text(&o->throughput->axes, "operands")) != 0 ||
            strcmp(as_axes_text(&c->axes, "width"), as_axes_text(&o->throughput->axes, "width")) != 0 ||
            !(of_cell(c).value > 0))
            continue;
        const double fma = best.value / r.value; /* results of ffma32 per cycle */
        const struct as_measure m = of_cell(c);
        return (struct as_measure){fma / m.value, {fma / m.ci.hi, fma / m.ci.lo}};
    }
    return of_cell(NULL);
}

static const struct {
    const char *metric, *unit;
    struct as_measure (*measured)(const struct as_report_run *run, const struct as_operation *o,
                                  const struct as_ref *ref);
} counterparts[] = {
    {"instructions per core-cycle", "ops/cycle", operations_refs_rate},
    {"operations per core-cycle", "ops/cycle", operations_refs_counted},
    {"throughput", "cycles", lane_cycles},
    {"raw latency", "cycles", operations_refs_raw},
    {"latency", "cycles", operations_refs_raw},
    {"adjusted latency", "cycles", adjusted},
    {"cycles per instruction", "cycles", at_point},
};

bool as_operation_of_ref(const struct as_report_run *run, const struct as_operation *o, const struct as_ref *ref,
                         struct as_measure *out)
{
    if (!as_ref_is_of(ref, o->name) || !as_ref_is_of_side(ref, o->device))
        return false;
    for (size_t i = 0; i < sizeof counterparts / sizeof *counterparts; i++)
        if (strcmp(counterparts[i].metric, ref->metric) == 0 && strcmp(counterparts[i].unit, ref->unit) == 0) {
            *out = counterparts[i].measured(run, o, ref);
            return isfinite(out->value);
        }
    return false;
}
