#include "trial.h"

#include "device/shared_host.h"
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { KEPT_MAX = 1 << 16, KEPT_BLOCKS = 8 };
static const uint64_t HELD_MAX = UINT64_C(4) << 30;
/* Allocators cache freed blocks below this size with their pages; the C library keeps at most 64 MiB at the end of its
 * heap. The CPU backend drops a fresh block's pages. */
static const uint64_t BLOCK_MIN = UINT64_C(72) << 20;

const char *const as_fault_scenario_words[] = {"cpu-one",      "cpu-12",           "cpu-all",         "device-major",
                                               "device-minor", "cpu-after-device", "cpu-then-device", NULL};

/* CPU threads that touch, 0: the device does. */
static const unsigned scenario_threads[] = {
    [FAULT_CPU_ONE] = 1,
    [FAULT_CPU_TEAM] = FAULT_TEAM,
    [FAULT_CPU_ALL] = UINT32_MAX,
    [FAULT_DEVICE_MAJOR] = 0,
    [FAULT_DEVICE_MINOR] = 0,
    [FAULT_CPU_AFTER_DEVICE] = 1,
    [FAULT_CPU_THEN_DEVICE] = FAULT_TEAM,
};

static struct as_span fault_last_span(const struct trials *t)
{
    return (struct as_span){
        .memory = as_fresh_last(&t->blocks), .start = t->start, .pages = t->pages, .mark = t->mark, .load = t->load};
}

static void drop_blocks(struct trials *t)
{
    if (t->locked)
        munlock(t->locked, t->locked_bytes);
    t->locked = NULL;
    as_fresh_drop(&t->blocks);
}

static bool host_sees(const struct trials *t)
{
    const struct as_allocator *a = as_info_allocator(&t->dev->info, as_axes_text(t->tc->axes, "allocator"));
    return a && a->host_access;
}

/* The heap keeps a header before a block, on its first page: then the pages after it are touched. */
static enum as_status find_shape(struct trials *t, struct as_error *err)
{
    const uint64_t page = t->toucher.page;
    const bool cpu = (t->dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    /* Maps the block for the CPU: its address becomes known, and drivers that create buffers lazily create it. This
     * touches no page. */
    t->blocks = (struct as_fresh){.dev = t->dev,
                                  .allocator = as_axes_text(t->tc->axes, "allocator"),
                                  .bytes = t->pages * page < BLOCK_MIN && !cpu ? BLOCK_MIN : t->pages * page,
                                  .map = host_sees(t),
                                  .on_node = 1 + t->node};
    enum as_status st = as_fresh_add(&t->blocks, err);
    if (st || (uintptr_t)as_fresh_last(&t->blocks)->host % page == 0)
        return st;
    as_fresh_drop(&t->blocks);
    t->start = page;
    t->blocks.bytes += page;
    return as_fresh_add(&t->blocks, err);
}

/* The device stores into every page, which the CPU then touches. */
static enum as_status device_first(struct trials *t, struct as_span span, struct as_error *err)
{
    double unused;
    span.load = false;
    enum as_status st = t->dev->memory->unmap(t->dev, span.memory, err);
    if (!st)
        st = as_pages_touch(&t->device, &span, &unused, err);
    return st ? st : t->dev->memory->map(t->dev, span.memory, err);
}

static enum as_status hand_over(struct trials *t, struct as_error *err)
{
    const struct as_span span = fault_last_span(t);
    if (t->scenario == FAULT_CPU_AFTER_DEVICE)
        return device_first(t, span, err);
    if (t->scenario == FAULT_DEVICE_MINOR)
        as_pages_store_here(&t->toucher, &span);
    return t->by_device && host_sees(t) ? t->dev->memory->unmap(t->dev, span.memory, err) : AS_OK;
}

/* The CPU's threads and then the device: the time of both. The CPU stores other values, so that the check sees what the
 * device did not store. */
static enum as_status touch_in_turn(struct trials *t, const struct as_span *span, double *seconds, struct as_error *err)
{
    struct as_span by_cpu = *span;
    double cpu_s, device_s = NAN;
    by_cpu.mark += 2 * span->pages; /* nor is it what the device's second touch stores */
    enum as_status st = as_pages_touch(&t->toucher, &by_cpu, &cpu_s, err);
    if (!st)
        st = t->dev->memory->unmap(t->dev, span->memory, err);
    if (!st)
        st = as_pages_touch(&t->device, span, &device_s, err);
    *seconds = cpu_s + device_s;
    return st ? st : t->dev->memory->map(t->dev, span->memory, err);
}

static enum as_status fault_touch(struct trials *t, double *ns, struct as_error *err)
{
    const struct as_span span = fault_last_span(t);
    double seconds = NAN;
    enum as_status st = t->scenario == FAULT_CPU_THEN_DEVICE ? touch_in_turn(t, &span, &seconds, err)
                                                             : as_pages_touch(&t->toucher, &span, &seconds, err);
    *ns = seconds * 1e9 / (double)t->pages;
    return st;
}

/* Touches what fault_touch touched once more, where it is present. In turn, the CPU would take the pages from the
 * device and the device would take them back: there the device, which has them, touches them again. */
static enum as_status touch_present(struct trials *t, double *ns, struct as_error *err)
{
    const struct as_span span = fault_last_span(t);
    double seconds = NAN;
    if (t->scenario != FAULT_CPU_THEN_DEVICE)
        return fault_touch(t, ns, err);
    enum as_status st = t->dev->memory->unmap(t->dev, span.memory, err);
    if (!st)
        st = as_pages_touch(&t->device, &span, &seconds, err);
    *ns = seconds * 1e9 / (double)t->pages;
    return st ? st : t->dev->memory->map(t->dev, span.memory, err);
}

/* Freed pages go to the free lists of the CPU that frees them and are reused there from cache. So the thread that maps
 * and frees runs on the CPU that touches. */
static enum as_status go_along(struct trials *t, struct as_error *err)
{
    double unused;
    if (t->by_device || t->toucher.threads != 1)
        return AS_OK;
    enum as_status st = fault_touch(t, &unused, err);
    int cpu = st ? -1 : as_pages_cpu(&t->toucher);
    struct as_cpus there = {{0}};
    if (cpu < 0 || cpu >= AS_CPUS_MAX || !as_thread_cpus(&t->home))
        return st;
    as_cpus_add(&there, cpu);
    t->moved = as_thread_keep_on(&there);
    return AS_OK;
}

/* ---- the control: present pages ---- */

static bool lock_pages(struct trials *t, const struct as_span *span)
{
    char *at = (char *)span->memory->host + span->start;
    size_t bytes = (size_t)(span->pages * t->toucher.page);
    if (!(t->dev->info.capabilities & AS_CAP_HOST_KERNELS) || mlock(at, bytes))
        return false;
    t->locked = at;
    t->locked_bytes = bytes;
    return true;
}

static enum as_status start_control(struct trials *t, struct as_error *err)
{
    double unused;
    const struct as_span span = fault_last_span(t);
    errno = 0;
    if (lock_pages(t, &span)) {
        as_note(t->tc, "prefault", "mlock");
        return AS_OK;
    }
    as_note(t->tc, "prefault", errno ? strerror(errno) : "touched before");
    enum as_status st = hand_over(t, err);
    return st ? st : fault_touch(t, &unused, err);
}

enum as_status as_fault_prepare(struct trials *t, struct as_trial_context *tc, struct as_error *err)
{
    static const char *const whats[] = {"fault", "first", "control", NULL};
    *t = (struct trials){.tc = tc, .dev = tc->dev, .mark = tc->seed >> 2 | 1, .node = as_node_wanted(tc->axes)};
    t->what = (enum fault_what)as_word_index(tc->axes, "what", whats);
    t->scenario = (enum fault_scenario)as_word_index(tc->axes, "scenario", as_fault_scenario_words);
    if (t->scenario > FAULT_CPU_THEN_DEVICE)
        return as_fail(err, AS_USAGE, "unknown scenario '%s'", as_axes_text(tc->axes, "scenario"));
    t->by_device = scenario_threads[t->scenario] == 0;
    t->load = as_word_is(tc->axes, "access", "load");
    t->pages = as_axes_u64(tc->axes, "pages");
    enum as_status st = as_pages_prepare(&t->toucher, t->dev, scenario_threads[t->scenario], err);
    if (!st && t->scenario >= FAULT_CPU_AFTER_DEVICE)
        st = as_pages_prepare(&t->device, t->dev, 0, err);
    if (!st)
        st = as_check_room(t->dev, t->pages * t->toucher.page, t->pages * t->toucher.page, err);
    if (!st)
        st = find_shape(t, err);
    if (!st)
        st = go_along(t, err);
    if (!st && t->what == FAULT_CONTROL)
        st = start_control(t, err);
    if (!st && t->what == FAULT_FIRST)
        st = as_fresh_never_had(&t->blocks, tc, &t->toucher, HELD_MAX, err);
    as_note_number(tc, "threads", t->toucher.threads);
    return st;
}

static enum as_status fault_keep(struct trials *t, double ns, double again_ns, struct as_error *err)
{
    if (t->n == KEPT_MAX)
        return AS_OK;
    enum as_status st = as_grow((void **)&t->ns, &t->n_cap, t->n + 1, sizeof *t->ns, err);
    if (!st)
        st = as_grow((void **)&t->again_ns, &t->again_cap, t->n + 1, sizeof *t->again_ns, err);
    if (st)
        return st;
    t->ns[t->n] = ns - again_ns;
    t->again_ns[t->n++] = again_ns;
    return AS_OK;
}

static enum as_status fault_new_block(struct trials *t, struct as_error *err)
{
    if (t->what == FAULT_CONTROL)
        return AS_OK;
    if (t->what == FAULT_AGAIN)
        drop_blocks(t);
    enum as_status st =
        t->what == FAULT_FIRST ? as_fresh_add_never_had(&t->blocks, err) : as_fresh_add(&t->blocks, err);
    return st ? st : hand_over(t, err);
}

/* A block from a hole in the C library's heap keeps its pages when freed, whatever its size. It stays allocated, so
 * that the next one comes from elsewhere. */
static enum as_status fault_hold(struct trials *t, struct as_error *err)
{
    enum as_status st = as_grow((void **)&t->kept.held, &t->kept.cap, t->kept.n + 1, sizeof(struct as_memory *), err);
    t->kept.dev = t->dev;
    if (!st)
        t->kept.held[t->kept.n++] = t->blocks.held[--t->blocks.n];
    return st;
}

static bool is_kept(const struct trials *t, double faults)
{
    return t->what == FAULT_AGAIN && t->by_device && t->dev->info.is_host_cpu && !(faults > 0) &&
           t->kept.n < KEPT_BLOCKS && as_info_shares_host(&t->dev->info);
}

static enum as_status touch_new(struct trials *t, double *ns, struct as_fault_count *faults, struct as_error *err)
{
    enum as_status st = fault_new_block(t, err);
    if (st)
        return st;
    const struct as_fault_count before = as_faults_now();
    t->mark += t->pages;
    st = fault_touch(t, ns, err);
    *faults = (struct as_fault_count){0};
    as_faults_add(faults, before);
    return st;
}

enum as_status as_fault_sample(struct trials *t, double *seconds, double *ns, struct as_error *err)
{
    double first = 0, again = 0;
    struct as_fault_count faults = {NAN, NAN};
    enum as_status st = touch_new(t, &first, &faults, err);
    while (!st && is_kept(t, as_faults_total(&faults))) {
        st = fault_hold(t, err);
        if (!st)
            st = touch_new(t, &first, &faults, err);
    }
    t->faults.minor += faults.minor;
    t->faults.major += faults.major;
    if (!st && t->what != FAULT_CONTROL) {
        t->mark += t->pages;
        st = touch_present(t, &again, err);
    }
    if (st)
        return st;
    *seconds = (first + again) * 1e-9 * (double)t->pages;
    *ns = first - again;
    return fault_keep(t, first, again, err);
}

/* ---- checks ---- */

/* Loads are checked by the sum of the host's marks. */
static enum as_status check_loads(struct trials *t, bool *good, char *why, size_t why_size, struct as_error *err)
{
    struct as_span span = fault_last_span(t);
    uint64_t want = span.pages * span.mark + span.pages * (span.pages - 1) / 2, got = 0;
    double unused;
    enum as_status st = t->dev->memory->map(t->dev, span.memory, err);
    if (st)
        return st;
    as_pages_store_here(&t->toucher, &span);
    if (t->by_device)
        st = t->dev->memory->unmap(t->dev, span.memory, err);
    if (!st)
        st = fault_touch(t, &unused, err);
    if (!st)
        st = as_pages_sum(&t->toucher, &span, &got, err);
    *good = got == want;
    snprintf(why, why_size, "the loads add up to %llu, not %llu", (unsigned long long)got, (unsigned long long)want);
    return st;
}

static enum as_status check_stores(struct trials *t, bool *good, char *why, size_t why_size, struct as_error *err)
{
    const struct as_span span = fault_last_span(t);
    enum as_status st = t->dev->memory->map(t->dev, span.memory, err);
    if (st)
        return st;
    *good = as_pages_hold(&t->toucher, &span, why, why_size);
    return t->by_device ? t->dev->memory->unmap(t->dev, span.memory, err) : AS_OK;
}

/* A device's memory has base pages as far as anyone knows, unless others were requested: one fault of a larger page
 * would count as many. Faults of the CPU on memory whose pages are known are counted as on the CPU's own; those of the
 * device are no fault of a thread. */
static bool faults_fit_device(const struct trials *t, double page_size, char *why, size_t why_size)
{
    const struct as_allocator *a = as_info_allocator(&t->dev->info, as_axes_text(t->tc->axes, "allocator"));
    const bool huge = a && (a->role == AS_ROLE_PAGEABLE_HUGE || a->role == AS_ROLE_PAGEABLE_HUGETLB);
    const double base = (double)t->toucher.page, faults = as_faults_total(&t->faults);
    const double pages = (double)t->n * floor(fmax(1, (double)t->pages * base / fmax(page_size, base)));
    if (huge && page_size > 0 && page_size <= base)
        snprintf(why, why_size, "huge pages were requested, and the memory has base pages");
    else if (!huge && page_size > base)
        snprintf(why, why_size, "the memory has pages of %.0f B, and one fault would count as several", page_size);
    else if (page_size > 0 && !t->by_device && t->what != FAULT_CONTROL && t->n < KEPT_MAX && faults < 0.9 * pages &&
             t->scenario != FAULT_CPU_AFTER_DEVICE)
        snprintf(why, why_size, "the kernel counted %.0f faults in %zu trials of %llu pages", faults, t->n,
                 (unsigned long long)t->pages);
    else
        return true;
    return false;
}

/* For host memory the kernel counts all faults of this process. Without faults the number would describe the
 * allocator's cache. */
static bool faults_fit(const struct trials *t, double page_size, char *why, size_t why_size)
{
    const struct as_device_info *info = &t->dev->info;
    double pages = (double)t->pages * (double)t->toucher.page / fmax(page_size, (double)t->toucher.page);
    double least = 0.9 * (double)t->n * floor(fmax(1, pages)), most = 0.1 * (double)t->n * (double)t->pages;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && !info->is_host_cpu)
        return faults_fit_device(t, page_size, why, why_size);
    const double faults = as_faults_total(&t->faults);
    if (!as_info_shares_host(info) || t->n == KEPT_MAX || !isfinite(faults))
        return true;
    snprintf(why, why_size, "the kernel counted %.0f faults in %zu trials of %llu pages", faults, t->n,
             (unsigned long long)t->pages);
    /* includes faults of the driver during the launch */
    return t->what == FAULT_CONTROL ? t->pages < 64 || faults <= most : faults >= least;
}

enum as_status as_fault_look(struct trials *t, struct as_error *err)
{
    return as_note_node(t->tc, as_fresh_last(&t->blocks), t->node, err);
}

/* The distribution of the touches of a trial; for single faults in more detail. */
static void note_spread(const struct trials *t)
{
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p5", 0.05}, {"p25", 0.25}, {"p75", 0.75}, {"p95", 0.95}, {"p99", 0.99}};
    double sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += t->ns[i];
    as_note_number(t->tc, "trials", (double)t->n);
    as_note_number(t->tc, "mean", sum / (double)t->n);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        if (t->pages == 1 || strcmp(quantiles[i].name, "p95") == 0)
            as_note_number(t->tc, quantiles[i].name, as_quantile(t->ns, t->n, quantiles[i].share));
    if (t->pages == 1)
        as_note_bins(t->tc, t->ns, t->n);
}

bool as_fault_check(struct trials *t, char *why, size_t why_size)
{
    struct as_error err = {0};
    bool good = false;
    enum as_status st =
        t->load ? check_loads(t, &good, why, why_size, &err) : check_stores(t, &good, why, why_size, &err);
    double page_size = (double)as_fresh_last(&t->blocks)->page_size;
    note_spread(t);
    as_note_number(t->tc, "second_touch", t->what == FAULT_CONTROL ? NAN : as_median(t->again_ns, t->n));
    if (t->scenario == FAULT_CPU_THEN_DEVICE)
        as_note_number(t->tc, "second_by_device", 1);
    as_note_number(t->tc, "faults", as_faults_total(&t->faults) / (double)t->n / (double)t->pages);
    as_note_number(t->tc, "major_faults", t->faults.major / (double)t->n / (double)t->pages);
    as_note_number(t->tc, "page_size", page_size);
    if (!st && t->node < 0)
        st = as_fault_look(t, &err);
    if (st)
        snprintf(why, why_size, "%s", err.text);
    return !st && good && faults_fit(t, page_size, why, why_size);
}

void as_fault_finish(void *state)
{
    struct trials *t = state;
    if (!t->dev)
        return;
    drop_blocks(t);
    if (t->moved)
        as_thread_keep_on(&t->home);
    as_fresh_finish(&t->blocks);
    as_fresh_finish(&t->kept);
    free(t->ns);
    free(t->again_ns);
    as_pages_finish(&t->toucher);
    as_pages_finish(&t->device);
}
