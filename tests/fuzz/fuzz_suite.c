/* Suite files: parsed or refused with a reason, and accepted suites name only existing probes and axes. */
#include "fuzz.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static const char *const ops[] = {"triad", "copy", NULL};
static const struct as_axis latency_axes[] = {
    {.name = "size", .help = "bytes", .type = AS_AXIS_SIZE, .min = 64, .def = "1MiB"},
    {.name = "allocator", .help = "memory", .type = AS_AXIS_WORD, .domain = AS_DOMAIN_ALLOCATOR, .def = "first"},
    {.name = NULL}};
static const struct as_axis bandwidth_axes[] = {
    {.name = "op", .help = "what", .type = AS_AXIS_WORD, .words = ops, .def = "triad"},
    {.name = "threads", .help = "how many", .type = AS_AXIS_COUNT, .domain = AS_DOMAIN_THREADS, .min = 1, .def = "all"},
    {.name = NULL}};
static const char *const latency_quick[] = {"size=1KiB..4LLC x2", NULL};
static const char *const bandwidth_quick[] = {"op=all threads=1", "op=triad threads=all", NULL};
static const struct as_probe latency = {
    .name = "latency", .axes = latency_axes, .quick = latency_quick, .full = latency_quick};
static const struct as_probe bandwidth = {
    .name = "bandwidth", .axes = bandwidth_axes, .quick = bandwidth_quick, .full = NULL};

/* A separate registry, since the parser's promises do not depend on the probes of the build. */
const struct as_probe *const as_probes[] = {&latency, &bandwidth, NULL};
const struct as_builtin_text as_suite_texts[] = {{NULL, NULL}};

const struct as_probe *as_probe_find(const char *name)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, name) == 0)
            return as_probes[i];
    return NULL;
}

const struct as_axis *as_probe_axis(const struct as_probe *probe, const char *name)
{
    for (const struct as_axis *a = probe->axes; a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

static void check_suite(const struct as_suite *suite)
{
    fuzz_require(suite->grids_n >= 1 && suite->grids_n <= 256, "a suite without grids, or with too many");
    fuzz_require(suite->precision > 0 && suite->precision <= 1, "a precision that is none");
    fuzz_require(suite->trials >= 1 && suite->trials <= 100, "trials out of range");
    fuzz_require(suite->budget_s >= 0 && suite->device_budget_s >= 0, "a budget below zero");
    for (size_t i = 0; i < suite->grids_n; i++) {
        const struct as_grid *g = &suite->grids[i];
        fuzz_require(g->precision >= 0 && g->precision <= 1, "a section's precision that is none");
        fuzz_require(g->probe != NULL && g->n <= AS_AXES_MAX, "a grid without probe or with too many axes");
        for (size_t k = 0; k < g->n; k++) {
            fuzz_require(as_probe_axis(g->probe, g->axis[k].name) != NULL, "an axis that the probe lacks");
            fuzz_require(g->axis[k].expr[0] != 0, "an empty expression");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct as_suite suite;
    struct as_error err = {0};
    enum as_status st = as_suite_parse("fuzz", text, &suite, &err);
    if (st == AS_OK)
        check_suite(&suite);
    else
        fuzz_require(err.text[0] != 0 && err.code == st, "refused without a reason");
    as_suite_finish(&suite);
    free(text);
    return 0;
}
