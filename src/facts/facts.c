#include "facts/facts.h"

#include "base/json.h"
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct as_rule fact_rules[] = {
    {"core clock", rule_clock,
     "median of the clocks read by cycle counters or calibrated add chains in the cells; compared with the maximum "
     "clock that the OS or driver reports",
     "a cycle counter at another rate than the core, or a clock that changed within the cells"},
    {"cache levels", rule_cache_levels,
     "plateaus of the random-chase latency over the size of the working set, on the largest pages measured; a level "
     "ends where the curve is half-way to the next plateau (on log axes), within the interval of the neighbouring "
     "points",
     "a curve on other pages or in another order whose knees lie outside the intervals"},
    {"TLB reach", rule_tlb,
     "the first knee of the ratio of two latency curves over the same sizes that differ in the TLB only: base pages "
     "over huge pages, or random over all over random within a page",
     "a count of TLB misses that rises at another size"},
    {"address translation", rule_translation,
     "latency of a pointer chase with one load per page minus that over as many adjacent cache lines; steps of the "
     "difference over the number of pages, of at least a tenth of the control",
     "a count of TLB misses that rises at another number of pages, or another control of the same footprint"},
    {"page faults and migrations", rule_page_events,
     "the CPU's count of data TLB misses, significant from a tenth of the loads on; the system's count of minor faults "
     "per page that was read",
     "another counter of the same events with another count"},
    {"memory bandwidth", rule_memory_bandwidth,
     "the best valid cell of the operation in memory, checked by the footprint gate",
     "a faster cell that passes the same gates"},
    {"cache bandwidth", rule_cache_bandwidth,
     "the best valid cell of the operation whose working set lies between the previous cache and three quarters of "
     "this one; on a GPU, one that bypasses the units' own caches (width best)",
     "a faster cell that passes the same gates, whose working set lies in the same cache and in none before it"},
    {"instruments", rule_instruments,
     "ratio of two cells that differ in the instrument only, with an interval from both: they agree when all of it "
     "lies within 2% of 1, and differ when none of it does",
     "cells of the two instruments, interleaved in one run, with another ratio"},
    {"non-temporal stores", rule_nontemporal,
     "ratio of two cells that differ in the kind of store only, with the interval from both cells' intervals; they pay "
     "when all of it lies above 1",
     "an interleaved comparison in one run with the opposite result"},
    {"first touch", rule_first_touch,
     "first touch of fresh memory compared with that of reused memory of the same kind: the host backs fresh memory",
     "a machine whose memory is fully backed from the start and shows the same difference"},
    {"allocation cost", rule_allocators, "median time of one call, memory untouched, at the smallest and largest size",
     "the same call timed alone in a loop of another length"},
    {"page faults", rule_fault,
     "time per page at first touch minus that at second touch, over the number of pages touched together: one for "
     "latency, the minimum of the curve for throughput; ratios of two cells that differ in one axis",
     "another count of faults, or another program that measures a different time for the same touch"},
    {"memory accounting", rule_accounting,
     "change of a counter relative to a block of known size: counted when the whole interval is above 80%, not counted "
     "when it is below 20%",
     "a block of another size with another ratio"},
    {"core-to-core latency", rule_core_to_core,
     "one-way transfer time of a cache line between two cores, over all pairs measured with one operation in one "
     "memory: median, fastest and slowest pair",
     "unmeasured pairs outside that range"},
    {"launch cost", rule_launch, "median time of an empty kernel, by what is timed and how the host waits",
     "an empty kernel of another shape with another cost"},
    {"queues", rule_concurrency,
     "time per kernel from the first call to the last end, with one queue over the minimum with more; a kernel's time "
     "behind work that fills the device, in a queue of the same priority over one of the highest",
     "a device trace in which another number of these kernels overlap"},
    {"copies", rule_copy, "the largest measured copy, by kinds of memory and by copy method",
     "a copy between the same kinds of memory that is faster and passes the same gates"},
    {"copy or direct access", rule_direct_access,
     "passes over the data from which a copy plus passes in the device's memory is faster than direct access: 1/copy / "
     "(1/direct - 1/own), of the bandwidths for equal amounts of reads",
     "an algorithm, timed both ways, that breaks even at another number"},
    {"links", rule_link, "the fastest valid copy over the link, by direction, of any size and method",
     "a faster copy over the same link that passes the same gates"},
    {"link latency", rule_link_latency,
     "median time of a dependent load or atomic addition in the smallest buffer measured",
     "the same pointer chase by another tool with another result"},
    {"arithmetic", rule_roofline,
     "the fastest valid chains of fused multiply-adds of a type; a ridge point is that rate over the best bandwidth of "
     "memory or of a cache, all threads",
     "a program that exceeds the ridge's rate with fewer operations per byte"},
    {"units at work", rule_alu,
     "the best valid cell of a multiply-add: a peak is two operations each, times clock and units; warps in flight are "
     "rate times latency (Little's law)",
     "a faster chain that passes the same gates; a cell with one chain per thread that is more than 10% off the law"},
    {"code of operations", rule_alu_code,
     "instructions per step, from the difference of a longer and a shorter body, minus the link that turns a result "
     "into an operand",
     "a disassembly with another number of instructions"},
    {"operations", rule_alu_each,
     "the best valid cell of an operation: its rate with any number of chains and warps, its latency with one chain",
     "a faster chain of the same operation that passes the same gates"},
    {"energy", rule_power,
     "the slope of the card's power over the rate of an operation on increasing numbers of units, by least squares; "
     "the interval is that of the slope",
     "a meter at the card's supply with another slope; points that deviate from the line"},
    {"pipes", rule_pipes,
     "costs of operations alone and in sequences: where the cost of a sequence of two lies between the more expensive "
     "one (or its issue, at the minimum cost per instruction, within a twentieth) and the sum of both; operations that "
     "share fully are one pipe. Then the load of each operation on each pipe and on up to three other resources is "
     "fitted to all sequences by least absolute deviations; a sequence costs what its busiest resource needs, or its "
     "issue. Undecided with fewer than two sequences for each such load, and where more than 10% of them are off by "
     "more than 5%",
     "a sequence of the same operations, with more of the cheaper one, whose cost the pipes do not predict"},
    {"atomic updates", rule_atomics,
     "the best valid cell of an agent alone, by elements and type; the fraction it keeps is the minimum ratio of a "
     "valid cell with the other agent active to the one without, all else equal",
     "a faster cell, or a pair of concurrent agents that keeps less"},
    {"lost updates", rule_atomics_lost,
     "a fixed number of additions of 1 compared with the sum of the array: a single lost one is enough",
     "a run with the same memory, type and scope in which an update is lost; for a verdict of lost, runs without any "
     "loss"},
    {"machine code", rule_codegen,
     "opcodes that a longer sequence of the same operation has in addition to a shorter one",
     "a disassembly of the same functions or kernels with another instruction for the operation"},
    {"matrix multiplication", rule_matmul,
     "the fastest valid GEMM of random operands in bursts, at the largest common size: a type is accelerated from 1.5 "
     "times the next wider type's rate on; it has a matrix unit where that is above the peak of the vector ALU, and "
     "none where it is below and the older path is within 1.5 times; energy from the device's sensor; own kernels "
     "compared with the library's",
     "a faster GEMM of the wider type, or on the vector ALU, that passes the same gates"},
    {"peaks of matrix instructions", rule_matmul_peak,
     "the fastest valid cell of a dense instruction, by the format of its first operand, compared with the documented "
     "rate of the architecture; reached from 98% on",
     "a chain of the same instruction with another rate in cycles that passes the same gates"},
    {"operands, power and clock", rule_matmul_power,
     "the ratio of two valid cells that differ in their operands or duration; with the clock and the power read during "
     "each",
     "the same two on a device of another power limit, whose ratio does not follow its clock"},
    {"fused epilogues", rule_fusion,
     "time of the GEMM and the kernels after it, divided by that of one fused kernel, over the size; worth a fused "
     "kernel from 1.10 times on",
     "a separate kernel that is faster and passes the same gates"},
    {"attention", rule_attention,
     "the rate of one kernel over that of separate GEMMs and softmax, same length and heads; the verdict is that of "
     "the longest",
     "a faster kernel of either kind that passes the same gates"},
    {"single launches", rule_clockstate,
     "series of 300 launches after a pause: two rates where the dip test is significant; steady once no ten launches "
     "differ by more than 2% from the last third",
     "a longer series, or a longer pause, with other rates"},
    {"arithmetic of matrix instructions", rule_numerics,
     "sums of a few exact numbers of which one is lost, or results that match one rounding mode; confirmed by a model "
     "of all findings, which must reproduce the results of random problems bit for bit",
     "operands for which instruction and model differ"},
    {"fragments of matrix instructions", rule_layout,
     "products of one element with ones, and with the binary-numbered positions of the other operand: they show which "
     "positions are multiplied; rows, columns and k are named as documented, then each position is compared",
     "a correct product with another operand layout"},
    {"on-chip caches", rule_onchip,
     "plateaus and knees of load latency over the working set, by path; the bytes per miss from the distance at which "
     "the next load misses too; ways from the smallest number of lines that evict each other",
     "a chase in another order whose knees lie outside the intervals; published figures of the same chip that differ"},
    {"units", rule_onchip_units,
     "bytes per cycle of the best valid cell; misses from loads of uncached data; banks from the slowest stride; near "
     "and far from their ratio; the resources of a unit from the number of resident groups",
     "a faster cell, another stride, or one more group that passes the same gates"},
    {"levels as listed", rule_listed,
     "median within half of a level that the system lists, or in four times the last-level cache for memory, where "
     "neither a curve nor another kernel shows more; undecided where a load inside a cache takes more than four fifths "
     "of the memory latency, or, inside the last-level cache, where that latency is unknown",
     "a curve over the size with another plateau at that size"},
};
const size_t fact_rules_n = sizeof fact_rules / sizeof *fact_rules;

const char *as_fact_verdict_word(enum as_fact_verdict v)
{
    static const char *const words[] = {"supported", "refuted", "undecided"};
    size_t i = (size_t)v;
    return i < sizeof words / sizeof *words ? words[i] : "undecided";
}

const char *as_fact_verdict_text(enum as_fact_verdict v)
{
    return v == AS_REFUTED ? "claim refuted" : as_fact_verdict_word(v);
}

static bool usable(const struct as_cell *cell)
{
    return as_cell_is_valid(cell) && (cell->sum.median > 0 || as_unit_is_count(cell->unit));
}

/* The devices in the order of the run's list, then those that only cells name. */
static enum as_status list_devices(const struct as_fact_input *in, const char ***out, size_t *n, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    void *names = NULL;
    *n = 0;
    for (size_t i = 0; !st && i < in->devices_n + in->cells_n; i++) {
        const char *id = i < in->devices_n ? in->devices[i].id : in->cells[i - in->devices_n].device;
        bool seen = false;
        for (size_t k = 0; k < *n && !seen; k++)
            seen = strcmp(((const char **)names)[k], id) == 0;
        if (seen)
            continue;
        st = as_grow(&names, &cap, *n + 1, sizeof(const char *), err);
        if (!st)
            ((const char **)names)[(*n)++] = id;
    }
    *out = names;
    return st;
}

static enum as_status look_at_device(const struct as_fact_input *in, const char *device, const struct as_cell **scratch,
                                     as_device_fn visit, void *user, struct as_error *err)
{
    struct as_rule_context c = {.device = device, .cells = scratch, .err = err};
    for (size_t i = 0; i < in->cells_n; i++)
        if (usable(&in->cells[i]) && strcmp(in->cells[i].device, device) == 0)
            scratch[c.n++] = &in->cells[i];
    for (size_t i = 0; i < in->devices_n && !c.info; i++)
        if (strcmp(in->devices[i].id, device) == 0)
            c.info = &in->devices[i];
    return visit(&c, user);
}

enum as_status as_facts_each_device(const struct as_fact_input *in, as_device_fn visit, void *user,
                                    struct as_error *err)
{
    const char **devices = NULL;
    size_t devices_n = 0;
    const struct as_cell **scratch = malloc((in->cells_n + 1) * sizeof *scratch);
    if (!scratch)
        return as_nomem(err, in->cells_n * sizeof *scratch, "cells");
    enum as_status st = list_devices(in, &devices, &devices_n, err);
    for (size_t d = 0; d < devices_n && !st; d++)
        st = look_at_device(in, devices[d], scratch, visit, user, err);
    free(scratch);
    free(devices);
    return st;
}

static enum as_status derive_device(struct as_rule_context *c, void *facts)
{
    c->facts = facts;
    for (size_t r = 0; c->n > 0 && r < fact_rules_n && !c->status; r++) {
        c->rule = &fact_rules[r];
        c->rule->derive(c);
    }
    return c->status;
}

enum as_status as_facts_derive(const struct as_fact_input *in, struct as_fact **facts, size_t *n, struct as_error *err)
{
    struct as_fact_list list = {0};
    *facts = NULL;
    *n = 0;
    enum as_status st = as_facts_each_device(in, derive_device, &list, err);
    if (st) {
        free(list.v);
        return st;
    }
    *facts = list.v;
    *n = list.n;
    return AS_OK;
}

const struct as_fact *as_fact_find(const struct as_fact *facts, size_t n, const char *device, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(facts[i].id, id) == 0 && strcmp(facts[i].device, device) == 0)
            return &facts[i];
    return NULL;
}

void as_facts_to_json(const struct as_fact *facts, size_t n, struct as_buf *out)
{
    as_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct as_fact *f = &facts[i];
        as_buf_str(out, i ? ",{" : "{");
        as_json_add_text(out, "id", f->id);
        as_json_add_text(out, "device", f->device);
        as_json_add_text(out, "object", f->object);
        as_json_add_text(out, "sentence", f->sentence);
        as_json_add_text(out, "verdict", as_fact_verdict_word(f->verdict));
        as_json_add_number(out, "value", f->value);
        as_json_add_number(out, "ci_low", f->ci.lo);
        as_json_add_number(out, "ci_high", f->ci.hi);
        as_json_add_text(out, "unit", f->unit);
        as_json_add_number(out, "claimed", f->claimed);
        as_json_add_text(out, "rule", f->rule);
        as_json_add_text(out, "refuted_by", f->refuted_by);
        as_json_add_name(out, "evidence");
        as_buf_char(out, '[');
        for (size_t k = 0; k < f->evidence_n; k++)
            as_buf_printf(out, "%s%lld", k ? "," : "", (long long)f->evidence[k]);
        as_buf_str(out, "]}");
    }
    as_buf_char(out, ']');
}
