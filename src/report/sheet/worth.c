#include "report/sheet/worth.h"

#include <string.h>

enum { RANK_NONE = 1000, PER_KIND = 2 };

/* The most important first. A claim that is refuted counts before any that is not. */
static const struct {
    enum as_relation relation; /* AS_RELATIONS_N: any */
    enum as_fact_verdict verdict;
    struct as_fact_fields by;
} kinds[] = {
    {AS_FACT_LOST, AS_REFUTED, {0}},
    {AS_RELATIONS_N, AS_REFUTED, {0}},
    {AS_FACT_FAULT_LATENCY, AS_SUPPORTED, {0}},
    {AS_FACT_FAULT_HUGE_PAGE_COST, AS_SUPPORTED, {0}},
    {AS_FACT_FAULT_HUGE_PAGES, AS_SUPPORTED, {0}},
    {AS_FACT_TLB_GAIN, AS_SUPPORTED, {0}},
    {AS_FACT_MEMORY_HOST_BACKING, AS_SUPPORTED, {0}},
    {AS_FACT_ONCHIP_REACH, AS_SUPPORTED, {0}},
    {AS_FACT_ONCHIP_SIZE, AS_SUPPORTED, {.path = "", .level = "L2", .part = "part"}},
    {AS_FACT_ONCHIP_LATENCY, AS_SUPPORTED, {.path = "", .level = "L2", .part = "part"}},
    {AS_FACT_LOADED_DOUBLES, AS_SUPPORTED, {0}},
    {AS_FACT_MATMUL_ACCELERATED, AS_SUPPORTED, {0}},
    {AS_FACT_STORES_NONTEMPORAL, AS_SUPPORTED, {.op = "triad", .threads = "all"}},
    {AS_FACT_STORES_NONTEMPORAL, AS_SUPPORTED, {.op = "write", .threads = "all"}},
    {AS_FACT_CONCURRENCY, AS_SUPPORTED, {0}},
    {AS_FACT_LOST, AS_SUPPORTED, {.sides = "both"}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t rank_of(const struct as_fact *f)
{
    for (size_t i = 0; i < KINDS; i++)
        if (f->verdict == kinds[i].verdict &&
            (kinds[i].relation == AS_RELATIONS_N || as_fact_is(f, kinds[i].relation, &kinds[i].by)))
            return i;
    return RANK_NONE;
}

size_t as_worth_knowing(const struct as_report_run *run, const char *device, const struct as_fact **out, size_t most)
{
    size_t n = 0;
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t of_kind = 0;
        for (size_t i = 0; i < run->facts_n && n < most && of_kind < PER_KIND; i++) {
            const struct as_fact *f = &run->facts[i];
            if (strcmp(f->device, device) != 0 || rank_of(f) != kind)
                continue;
            out[n++] = f;
            of_kind++;
        }
    }
    return n;
}
