/* fault: cost of a page's first touch, by scenario, number of pages and allocator. See method.md. */
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "trial.h"

#include "base/clock.h"
#include "base/host.h"

#include <math.h>

enum { TRIALS = 100, WARMUPS = 10, FIRST_PAGES_MIN = 1000, ALL_MIN = 1000, WARM_PAGES = 500000 };
static const double WARMUP_S = 0.4; /* upper bound of the warm-up */

static const char *const what_words[] = {"fault", "first", "control", NULL};
static const char *const access_words[] = {"store", "load", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS("scenario", as_fault_scenario_words, "all",
                 "cpu-one: one CPU thread; cpu-12: 12 on CPUs with more; cpu-all: all; device-major: the device; "
                 "device-minor: the device after the CPU; cpu-after-device: one CPU thread after the device; "
                 "cpu-then-device: up to 12 CPU threads, then the device, the time of both"),
    AS_WORD_AXIS("what", what_words, "fault",
                 "newly mapped memory; memory new to this process; present pages, the control"),
    AS_ALLOCATOR_AXIS("allocator", "all", "how the memory is allocated"),
    AS_COUNT_AXIS("pages", 1, 1000000000, "10000", "base pages; one word of each is touched"),
    AS_WORD_AXIS("access", access_words, "store", "a store or a load"),
    AS_NODE_AXIS,
    {0},
};
static const char *const quick[] = {
    "scenario=cpu-one what=fault allocator=base_pages,huge_pages,reserved_huge_pages pages=1,10000",
    "scenario=cpu-all what=fault allocator=base_pages,huge_pages pages=10000",
    "scenario=cpu-one,cpu-all what=control allocator=base_pages pages=10000",
    "scenario=cpu-one what=first allocator=base_pages pages=10000",
    ("scenario=cpu-one,device-major,device-minor,cpu-after-device allocator=shared_fine,managed "
     "pages=1,10000"),
    "scenario=device-major what=control allocator=shared_fine,managed pages=10000",
    "scenario=device-major what=control allocator=managed_prefetch pages=10000",
    NULL};
#define DECADES "pages=1,10,100,1000,10000,100000,262144,1000000,10000000"
static const char *const full[] = {
    ("scenario=cpu-one,cpu-12,cpu-all what=fault,control "
     "allocator=base_pages,huge_pages,reserved_huge_pages,pageable " DECADES),
    "scenario=cpu-one what=fault allocator=base_pages,huge_pages pages=1,10000 access=load",
    "scenario=cpu-one,cpu-all what=first allocator=base_pages,huge_pages pages=10000,100000",
    ("scenario=all what=fault,control allocator=shared_fine,shared_coarse,managed,pageable " DECADES),
    ("scenario=all what=fault,control allocator=registered devices=opencl,metal " DECADES),
    "scenario=cpu-one,cpu-all what=fault allocator=base_pages,pageable pages=1,10000 node=all",
    "scenario=device-major,device-minor allocator=pageable pages=1,10000 node=all",
    "scenario=all allocator=managed_device,managed_host pages=1,10000,262144",
    "scenario=all allocator=managed_accessed pages=1,10000,262144",
    "scenario=device-major what=control allocator=device,managed_prefetch pages=1,100,10000,262144",
    "scenario=device-major what=control allocator=pinned,registered pages=1,100,10000,262144",
    ("scenario=device-major,device-minor allocator=shared_fine,managed,pageable "
     "pages=1,10000 access=load"),
    NULL};

static bool by_device(const struct as_axes *a)
{
    return as_word_is(a, "scenario", "device-major") || as_word_is(a, "scenario", "device-minor");
}

/* The device touches, too: before the CPU, or after it. */
static bool is_in_turn(const struct as_axes *a)
{
    return as_word_is(a, "scenario", "cpu-after-device") || as_word_is(a, "scenario", "cpu-then-device");
}

/* Is it what another scenario measures with these CPUs? */
static bool is_too_small(const struct as_device_info *info, const struct as_axes *a)
{
    const bool cpu = as_info_has_host_kernels(info), team = as_word_is(a, "scenario", "cpu-12");
    const double pages = as_axes_number(a, "pages");
    struct as_cpus usable;
    const double cpus = cpu ? (double)info->threads : as_usable_cpus(&usable) ? as_cpus_count(&usable) : 0;
    if (as_word_is(a, "scenario", "cpu-all"))
        return cpu ? pages < cpus || cpus < 2 : pages < ALL_MIN;
    return team && (cpus <= FAULT_TEAM || pages < FAULT_TEAM);
}

/* Combinations without meaning, or better measured by another device. */
static bool is_pruned(const struct as_device_info *info, const struct as_axes *a)
{
    const bool cpu = as_info_has_host_kernels(info), load = as_word_is(a, "access", "load");
    if (by_device(a) || is_in_turn(a) ? cpu : info->is_host_cpu && !cpu)
        return true;
    if (is_too_small(info, a) || !as_node_applies(info, a))
        return true;
    if ((as_word_is(a, "scenario", "device-minor") || is_in_turn(a)) && as_word_is(a, "what", "control"))
        return true;
    if (as_word_is(a, "scenario", "cpu-then-device") && load)
        return true;
    return as_word_is(a, "what", "first") &&
           (!cpu || as_axes_number(a, "pages") < FIRST_PAGES_MIN || load || as_node_wanted(a) >= 0);
}

static bool by_kernel(const struct as_axes *a)
{
    return by_device(a) || is_in_turn(a);
}

static enum as_applies fault_applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_allocator *allocator = as_info_allocator(info, as_axes_text(a, "allocator"));
    const double bytes = as_axes_number(a, "pages") * (double)as_host_page();
    const bool control = as_word_is(a, "what", "control");
    if (is_pruned(info, a))
        return AS_PRUNED;
    if (allocator && allocator->why_not[0])
        as_fail(err, AS_UNSUPPORTED, "%s", allocator->why_not);
    else if (allocator && !control && !allocator->on_demand)
        as_fail(err, AS_UNSUPPORTED, "its pages are present before they are touched");
    else if (allocator && !allocator->host_access && !as_word_is(a, "scenario", "device-major"))
        as_fail(err, AS_UNSUPPORTED, "the CPU cannot access this memory");
    else if (by_kernel(a) && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else if ((as_word_is(a, "scenario", "device-minor") || is_in_turn(a)) && info->is_host_cpu)
        as_fail(err, AS_UNSUPPORTED, "the device is the host CPU and shares its page table");
    else if (!as_check_block(info, as_axes_text(a, "allocator"), bytes, err))
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

static enum as_status fault_warm_up(struct trials *t, const struct as_trial_context *tc, struct as_error *err)
{
    double seconds, ns, end = fmin(tc->deadline, as_now() + WARMUP_S);
    enum as_status st = AS_OK;
    for (int i = 0; i < WARMUPS && !st && (i == 0 || as_now() < end); i++)
        st = as_fault_sample(t, &seconds, &ns, err);
    t->n = 0;
    t->faults = (struct as_fault_count){0};
    return st;
}

static enum as_status fault_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct trials *t = state;
    enum as_status st = as_fault_prepare(t, tc, err);
    if (st)
        return st;
    tc->host_work = true; /* the host's kernel handles all faults */
    tc->footprint = t->pages * t->toucher.page;
    tc->max_reps = t->what == FAULT_FIRST ? 1 : TRIALS;
    if (t->by_device || t->scenario == FAULT_CPU_THEN_DEVICE)
        as_expect_code(tc, t->by_device ? t->toucher.kernel : t->device.kernel,
                       t->load ? "load.global" : "store.global", 1);
    /* A warm-up would use up memory new to this process; for very many pages it takes seconds and gains nothing. */
    if (t->what == FAULT_FIRST || (t->pages > WARM_PAGES && t->node < 0))
        return AS_OK;
    st = fault_warm_up(t, tc, err);
    return st || t->node < 0 ? st : as_fault_look(t, err);
}

static enum as_status fault_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    double ns[TRIALS];
    size_t n = reps < TRIALS ? (size_t)reps : TRIALS;
    out->seconds = 0;
    for (size_t i = 0; i < n; i++) {
        double seconds;
        enum as_status st = as_fault_sample(state, &seconds, &ns[i], err);
        if (st)
            return st;
        out->seconds += seconds;
    }
    out->value = as_median(ns, n);
    return AS_OK;
}

static bool fault_check(void *state, char *why, size_t why_size)
{
    return as_fault_check(state, why, why_size);
}

static double fault_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 10 + as_compile_patience(info, a) + as_axes_number(a, "pages") * 30e-6;
}

static const struct as_metric further[] = {
    {"mean", "ns", true, "as the number, over all pages of a trial", NULL},
    {"p5", "ns", true, "5th percentile over the touches of a trial, of single faults", NULL},
    {"p25", "ns", true, "25th percentile, of single faults", NULL},
    {"p75", "ns", true, "75th percentile, of single faults", NULL},
    {"p95", "ns", true, "95th percentile over the touches of a trial", NULL},
    {"p99", "ns", true, "99th percentile, of single faults", NULL},
    {"second_touch", "ns", true, "median touch of a present page, which is subtracted", NULL},
    {"faults", "faults/page", true, "minor and major ones, as the kernel counts them", NULL},
    {"major_faults", "faults/page", true, "the major ones of these", NULL},
    {0},
};

const struct as_probe as_probe_fault = {
    .name = "fault",
    .title = "Page faults",
    .question = "What does a page fault cost, and how many are served per second?",
    .metric = "time",
    .unit = "ns",
    .lower_is_better = true,
    .counts = "one base page: first touch less second touch (control: one touch of a present page); 1e9 divided by it "
              "is pages/s",
    .further = further,
    .varies_by_process = true,
    .not_ahead = true,
    AS_CELLS(axes, quick, full, fault_applies),
    .kernel_reaches = by_kernel,
    .patience = fault_patience,
    AS_TRIAL(struct trials, fault_prepare, fault_sample, fault_check, as_fault_finish),
};
