#include "report/worth.h"

#include <string.h>

enum { RANK_NONE = 1000, PER_KIND = 2 };

/* Ids by their beginning, the most important first. A claim that is refuted counts before any that is not. */
static const struct {
    const char *id;
    enum as_fact_verdict verdict;
} kinds[] = {
    {"lost.", AS_REFUTED},
    {"", AS_REFUTED},
    {"fault.latency", AS_SUPPORTED},
    {"fault.huge_page_cost", AS_SUPPORTED},
    {"fault.huge_pages", AS_SUPPORTED},
    {"tlb.gain", AS_SUPPORTED},
    {"memory.host_backing", AS_SUPPORTED},
    {"onchip.L2.reach_of_unit", AS_SUPPORTED},
    {"onchip.L2.part", AS_SUPPORTED},
    {"loaded_latency.doubles", AS_SUPPORTED},
    {"matmul.accelerated", AS_SUPPORTED},
    {"stores.nontemporal.triad.all", AS_SUPPORTED},
    {"stores.nontemporal.write.all", AS_SUPPORTED},
    {"concurrency.kernels", AS_SUPPORTED},
    {"lost.both", AS_SUPPORTED},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t rank_of(const struct as_fact *f)
{
    for (size_t i = 0; i < KINDS; i++)
        if (f->verdict == kinds[i].verdict && strncmp(f->id, kinds[i].id, strlen(kinds[i].id)) == 0)
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
