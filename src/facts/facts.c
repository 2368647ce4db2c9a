#include "facts/facts.h"

#include "base/json.h"
#include "base/text.h"
#include "facts/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct rule fact_rules[] = {
    {"core clock", rule_clock,
     "median of the clocks that the cells' cycle counters or calibrated chains of adds saw; claim: the highest clock "
     "that the OS or driver names",
     "a cycle counter that runs at another rate than the core, or a clock that moved within the cells"},
    {"cache levels", rule_cache_levels,
     "plateaus of the random-chase latency over the size of the working set, on the largest pages measured; a level "
     "ends where the curve has gone half the way to the next (on log axes), within the interval of the points around",
     "a curve on other pages or in another order whose knees lie outside the intervals"},
    {"TLB reach", rule_tlb,
     "the first knee of the ratio of two latency curves over the same sizes that differ in the TLB only: base pages "
     "over huge pages, or random over all over random within a page",
     "a count of TLB misses that rises at another size"},
    {"address translation", rule_translation,
     "time of a load in a walk of one load to a page less that in as many cache lines side by side; steps of the "
     "difference over the number of pages, of at least a tenth of the control",
     "a count of TLB misses that rises at another number of pages, or another control of the same footprint"},
    {"events of pages", rule_page_events,
     "the CPU's count of loads that missed the data TLB, seen from a tenth of the loads on; the system's count of "
     "minor faults over the pages that were read",
     "another counter of the same events that differs"},
    {"memory bandwidth", rule_memory_bandwidth,
     "the best valid cell of the operation that was measured as memory: the footprint gate has looked at it",
     "a faster cell that passes the same gates"},
    {"cache bandwidth", rule_cache_bandwidth,
     "the best valid cell of the operation whose working set lies between the cache before and three quarters of "
     "this one; of a card one that loads past its units' own caches (width best)",
     "a faster cell that passes the same gates, whose working set lies in the same cache and no part of it nearer"},
    {"instruments", rule_instruments,
     "ratio of two cells that differ in the instrument only, with the interval from both cells' intervals: they agree "
     "when all of it lies within 2% of 1, and differ when none of it does",
     "cells of the two instruments, visited in turn in one run, whose ratio is another"},
    {"non-temporal stores", rule_nontemporal,
     "ratio of two cells that differ in the kind of store only, with the interval from both cells' intervals; they "
     "pay when all of it lies above 1",
     "a comparison of the two interleaved in one run that goes the other way"},
    {"first touch", rule_first_touch,
     "touching fresh memory against touching memory of the same kind that was touched and given back before: the host "
     "backs what was never touched",
     "a machine whose memory is backed in full from the start and shows the same difference"},
    {"allocation cost", rule_allocators, "median time of one call, memory untouched, at the smallest and largest size",
     "the same call timed alone in a loop of another length"},
    {"page faults", rule_fault,
     "time of a page at its first touch less that at its second, by how many are touched at once: one for the "
     "latency, the least of the curve for the throughput; ratios of two cells that differ in one thing only",
     "a count of faults that differs, or the same touch timed by another program with another result"},
    {"who counts memory", rule_accounting,
     "change of a counter as a share of a block of known size: seen when all of the interval is above 80%, not seen "
     "when all of it is below 20%",
     "a block of another size at which the counter says another share"},
    {"core to core", rule_core_to_core,
     "one-way time of a cache line between two cores, over all pairs measured with one operation in one memory: "
     "median, "
     "nearest and farthest pair",
     "pairs that were not measured and lie outside"},
    {"launch cost", rule_launch, "median time of an empty kernel, by what is counted and how the host waits",
     "an empty kernel of another shape with another cost"},
    {"queues", rule_concurrency,
     "the share that one kernel has of the time from the first call to the last end, with one queue over the least "
     "with more; a kernel's time behind work that fills the device, in a queue of the same priority over one of the "
     "highest",
     "a time line of the device on which another number of these kernels overlap"},
    {"copies", rule_copy, "the largest copy that was measured, by kind of memory and by what copies",
     "a copy between the same kinds of memory that is faster and passes the same gates"},
    {"copy or direct access", rule_direct_access,
     "passes over the data from which a copy and passes in the device's memory take less time than as many passes by "
     "direct access: 1/copy / (1/direct - 1/own), of the bandwidths, both of reading as much",
     "an algorithm whose passes are timed both ways and that turns at another number"},
    {"links", rule_link, "the fastest valid copy over the link, by direction, whatever its size and whatever copies",
     "a faster copy over the same link that passes the same gates"},
    {"link latency", rule_link_latency,
     "median time of a load, or of an atomic addition, that waits for the one before, in the smallest buffer measured",
     "the same walk by another tool with another result"},
    {"arithmetic", rule_roofline,
     "the fastest valid chains of fused multiply-adds of a type; a ridge point is that rate over the best bandwidth "
     "of memory or of a cache, all threads",
     "a program that passes the ridge's rate at fewer operations a byte"},
    {"units at work", rule_alu,
     "the best valid cell of a multiply-add: a peak is two operations each, times clock and units; warps in flight "
     "are rate times latency (Little's law)",
     "a faster chain that passes the same gates; a cell with one chain a thread that is more than 10% off the law"},
    {"code of operations", rule_alu_code,
     "instructions by which a longer body of steps exceeds a shorter one, a step, less the link that makes an operand "
     "of a result",
     "a disassembly with another number of instructions"},
    {"operations", rule_alu_each,
     "the best valid cell of an operation: its rate with any number of chains and warps, its latency with one chain",
     "a faster chain of the same operation that passes the same gates"},
    {"energy", rule_power,
     "the slope of the card's power over the rate of an operation, as more and more units do it, by least squares; "
     "the interval is the line's",
     "a meter at the card's supply that sees another slope; points that bend away from the line"},
    {"pipes", rule_pipes,
     "costs of operations alone and in sequences: where a sequence of two lies between the dearer one (or its issue, "
     "by the least cost of an instruction, but for a twentieth) and the sum of both; those that share in full are one "
     "pipe. From these on, what each operation takes of each pipe and of up to three other resources is fitted to all "
     "sequences by least absolute deviations; a sequence costs what the busiest needs, or its issue. Undecided with "
     "fewer than two sequences for each such load, and where more than one of ten is off by more than 5%",
     "a sequence of the same operations, with more of the cheaper one, that costs otherwise than the pipes say"},
    {"atomic updates", rule_atomics,
     "the best valid cell of an agent alone, by elements and type; what it keeps is the least ratio of a valid "
     "cell with the other agent at work to the one without, all else equal",
     "a faster cell, or a pair of agents at work together that keeps less"},
    {"lost updates", rule_atomics_lost,
     "a fixed number of additions of 1 against the sum of the array, exactly: one that is lost in any run is enough",
     "a run with the same memory, type and scope in which an update is lost; where some are said to be lost, runs in "
     "which none ever is"},
    {"machine code", rule_codegen,
     "instructions of the machine code that a longer row of the same operation has more than a shorter one, by their "
     "operation codes",
     "a disassembly of the same functions or kernels that holds another instruction for the operation"},
    {"products of matrices", rule_matmul,
     "the fastest valid product of random operands in bursts, at the largest size that both have: a type is "
     "accelerated from 1.5 times the next wider type's rate on; it has a unit of its own where that is above the "
     "highest ceiling of ordinary arithmetic, and none where it is below and the older path is within 1.5 times; "
     "energy by the device's sensor; own kernels against the library's",
     "a faster product of the wider type, or by ordinary arithmetic, that passes the same gates"},
    {"peaks of matrix instructions", rule_matmul_peak,
     "the fastest valid cell of a dense instruction by the format of its first factor, beside what is documented of "
     "the architecture; reached from 98% on",
     "a chain of the same instruction with another rate in cycles that passes the same gates"},
    {"operands, power and clock", rule_matmul_power,
     "the ratio of two valid cells that differ in their operands, or in how long they are held; with the clock and "
     "the power that were read during each",
     "the same two on a device of another power limit, whose ratio does not follow its clock"},
    {"fused epilogues", rule_fusion,
     "time of the product and of the kernels after it over that of the one kernel that does all of it, over the size; "
     "worth a kernel of its own from 1.10 times on",
     "a separate kernel that is faster and passes the same gates"},
    {"attention", rule_attention,
     "the rate of one kernel over that of products with softmax between them, same length and heads; the verdict is "
     "that of the longest",
     "a faster kernel of either kind that passes the same gates"},
    {"single launches", rule_clockstate,
     "series of 300 launches after a rest: two rates where the dip test is sure; steady from when no ten launches "
     "differ by more than 2% from the last third",
     "a longer series, or a longer rest, in which there are other rates"},
    {"arithmetic of matrix instructions", rule_numerics,
     "sums of few exact numbers of which one is lost, or answers in the pattern of one way of rounding; borne out by "
     "a model made of all that was found, which has to give the results of random problems bit for bit",
     "operands for which the instruction's result is another than the model's"},
    {"fragments of matrix instructions", rule_layout,
     "products of one number with ones and with the places of the other operand numbered in binary: which place of "
     "each operand meets which; rows, columns and k are named as documented, then each place is compared",
     "a product that comes out right with operands laid out in another way"},
    {"on-chip caches", rule_onchip,
     "plateaus and knees of the time of a load over what is walked, by path; what a miss brings in by the distance "
     "from which on the next load misses too; ways by the fewest lines that drive each other out",
     "a walk in another order whose knees lie outside the intervals; a table of the same chip that differs"},
    {"units", rule_onchip_units,
     "bytes a cycle by the best valid cell; a miss by loads of what nothing brought in; banks by the slowest "
     "stride; near and far by the ratio of the two; what a unit holds by how many groups were on it at a time and how "
     "many were not",
     "a faster cell, another stride, or one group more that pass the same gates"},
    {"levels as listed", rule_listed,
     "median inside half of a level that the system lists, or in four times the last cache for memory, where neither "
     "a curve nor another kernel says more; undecided where a load inside a cache takes more than four fifths of the "
     "time of one in memory, or, inside the last one, where that time is not known",
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
                                     device_fn visit, void *user, struct as_error *err)
{
    struct rule_context c = {.device = device, .cells = scratch, .err = err};
    for (size_t i = 0; i < in->cells_n; i++)
        if (usable(&in->cells[i]) && strcmp(in->cells[i].device, device) == 0)
            scratch[c.n++] = &in->cells[i];
    for (size_t i = 0; i < in->devices_n && !c.info; i++)
        if (strcmp(in->devices[i].id, device) == 0)
            c.info = &in->devices[i];
    return visit(&c, user);
}

enum as_status facts_each_device(const struct as_fact_input *in, device_fn visit, void *user, struct as_error *err)
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

static enum as_status derive_device(struct rule_context *c, void *facts)
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
    struct fact_list list = {0};
    *facts = NULL;
    *n = 0;
    enum as_status st = facts_each_device(in, derive_device, &list, err);
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
