/* CPU and device threads, alone or concurrently on one array. */
#include "atomics.h"

#include "device/shared_host.h"
#include "lib/chase/chase.h"
#include "lib/checks/nodes.h"
#include "lib/transfer/peers.h"
#include "os/cpus.h"

static const double PATIENCE_S = 3, SETTLE_S = 2e-3;
/* After this time the host waits with pauses: some devices start only when the host leaves a core idle. */
static const double START_S = 10e-3;

/* ---- which cells ---- */

enum { GROUP_THREADS = 64, UNIT_THREADS = 2048 };

/* Workgroups of 64, at most as many as are resident at once. */
static bool device_threads_make_sense(const struct as_device_info *info, uint64_t threads)
{
    uint64_t holds = (uint64_t)(info->compute_units ? info->compute_units : 1) * (info->compute_unit_threads
                                                                                      ? info->compute_unit_threads
                                                                                  : info->is_host_cpu ? GROUP_THREADS
                                                                                                      : UNIT_THREADS);
    return (threads < GROUP_THREADS || threads % GROUP_THREADS == 0) && threads <= holds;
}

/* True if these axes are a cell and do not duplicate another one. */
static bool is_a_cell(const struct as_device_info *info, const struct as_axes *a)
{
    uint64_t cpu = as_axes_u64(a, "cpu_threads"), device = as_axes_u64(a, "device_threads");
    bool of_cpu = as_word_is(a, "agent", "cpu"), is_cpu = info->capabilities & AS_CAP_HOST_KERNELS;
    if ((of_cpu ? cpu : device) == 0 || cpu > (uint64_t)as_online_cpus() || !as_info_shares_host(info))
        return false;
    if (device == 0) /* CPU atomics have no scope */
        return as_word_is(a, "scope", "system");
    return !is_cpu && device_threads_make_sense(info, device);
}

static bool sides_can(const struct as_device_info *info, const struct as_axes *a, const struct as_allocator *memory,
                      bool watched, bool lossy, struct as_error *err)
{
    bool cpu = as_axes_u64(a, "cpu_threads") > 0, device = as_axes_u64(a, "device_threads") > 0;
    bool is_cpu = info->capabilities & AS_CAP_HOST_KERNELS;
    if (memory->why_not[0])
        as_fail(err, AS_UNSUPPORTED, "%s", memory->why_not);
    else if (cpu && !is_cpu && !memory->host_access)
        as_fail(err, AS_UNSUPPORTED, "the CPU accesses '%s' only by copies", memory->name);
    else if (cpu && device && memory->no_sharing[0] && !(lossy && memory->coherent))
        as_fail(err, AS_UNSUPPORTED, "'%s': %s", memory->name, memory->no_sharing);
    else if (device && !(info->capabilities & AS_CAP_ASYNC))
        as_fail(err, AS_UNSUPPORTED, "launches on this device are synchronous");
    else if (device && (watched || cpu) && !as_chase_shared_allocator(info))
        as_fail(err, AS_UNSUPPORTED, "%s", AS_CHASE_NOT_SHARED);
    else if (device && as_word_is(a, "type", "f64") && !(info->capabilities & AS_CAP_FP64))
        as_fail(err, AS_UNSUPPORTED, "the device has no f64");
    else
        return true;
    return false;
}

enum as_applies as_atomics_applies(const struct as_device_info *info, const struct as_axes *a, bool watched, bool lossy,
                                   struct as_error *err)
{
    const struct as_allocator *memory = as_info_allocator(info, as_axes_text(a, "allocator"));
    size_t type = as_word_index(a, "type", as_atomics_type_words);
    if (!memory || type >= ATOMICS_TYPES || !is_a_cell(info, a) || !as_node_applies(info, a))
        return AS_PRUNED;
    double bytes =
        as_axes_number(a, "elements") * as_atomics_type_bytes((enum as_atomics_type)type) + 2 * ATOMICS_GUARD;
    return sides_can(info, a, memory, watched, lossy, err) && !as_check_block(info, memory->name, bytes, err)
               ? AS_APPLIES
               : AS_INAPPLICABLE;
}

bool as_atomics_by_device(const struct as_axes *a)
{
    return as_axes_u64(a, "device_threads") > 0;
}

/* The driver compiles the kernel first; the array is written once, 4 MiB at a time. */
double as_atomics_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return (info->capabilities & AS_CAP_HOST_KERNELS ? 10 : 40) + as_axes_number(a, "elements") * 8 / 200e6;
}

/* ---- the sides ---- */

static enum as_status make_cpu(struct as_atomics *s, bool plain, bool seq_cst, struct as_error *err)
{
    struct as_memory *memory = s->array.memory;
    enum as_status st = s->dev->memory->map(s->dev, memory, err);
    if (st)
        return st;
    struct as_atomics_cpu_desc desc = {.elements = (char *)memory->host + ATOMICS_GUARD,
                                       .type = s->array.type,
                                       .plain = plain,
                                       .seq_cst = seq_cst,
                                       .n = s->array.elements,
                                       .threads = s->cpu_threads};
    return as_atomics_cpu_create(s->dev, &desc, &s->cpu, err);
}

/* The array, cleared: this thread touches it first, which decides its node. */
static enum as_status atomics_make_array(struct as_atomics *s, struct as_trial_context *tc, enum as_atomics_type type,
                                         struct as_error *err)
{
    const struct as_axes *a = tc->axes;
    const int node = as_node_wanted(a);
    struct as_place place = {0};
    enum as_status st = node < 0 ? AS_OK : as_place_begin(&place, &tc->dev->info, node, err);
    if (!st)
        st = as_atomics_array_create(&s->array, tc->dev, as_axes_text(a, "allocator"), type, as_axes_u64(a, "elements"),
                                     node, err);
    if (!st)
        st = as_atomics_array_clear(&s->array, err);
    as_place_end(&place);
    return st ? st : as_note_node(tc, s->array.memory, node, err);
}

enum as_status as_atomics_prepare(struct as_atomics *s, struct as_trial_context *tc, bool plain, bool watched,
                                  struct as_error *err)
{
    const struct as_axes *a = tc->axes;
    size_t type = as_word_index(a, "type", as_atomics_type_words);
    bool seq_cst = as_word_is(a, "order", "seq_cst");
    *s = (struct as_atomics){.dev = tc->dev,
                             .cpu_threads = (unsigned)as_axes_u64(a, "cpu_threads"),
                             .device_threads = as_axes_u64(a, "device_threads"),
                             .of_cpu = as_word_is(a, "agent", "cpu"),
                             .seed = tc->seed};
    if (type >= ATOMICS_TYPES)
        return as_fail(err, AS_USAGE, "unknown type '%s'", as_axes_text(a, "type"));
    enum as_status st = atomics_make_array(s, tc, (enum as_atomics_type)type, err);
    if (!st && s->cpu_threads)
        st = make_cpu(s, plain, seq_cst, err);
    if (s->cpu_threads && !plain)
        as_atomics_cpu_note(tc);
    struct as_atomics_device_desc device = {.array = &s->array,
                                            .plain = plain,
                                            .seq_cst = seq_cst,
                                            .system = as_word_is(a, "scope", "system"),
                                            .threads = s->device_threads,
                                            .watched = watched || s->cpu_threads};
    if (!st && s->device_threads)
        st = as_atomics_device_create(tc, &device, &s->device, err);
    if (!st && s->device_threads)
        st = as_atomics_array_clear(&s->array, err); /* left over from choosing the batch size */
    tc->footprint = s->array.bytes;
    tc->host_work = s->cpu != NULL;
    tc->min_reps = tc->max_reps = 1;
    return st;
}

void as_atomics_finish(void *state)
{
    struct as_atomics *s = state;
    as_atomics_device_destroy(s->device);
    if (s->array.memory && s->array.memory->host && s->cpu_threads)
        s->dev->memory->unmap(s->dev, s->array.memory, NULL);
    as_atomics_cpu_destroy(s->cpu);
    as_atomics_array_finish(&s->array);
}

/* ---- both sides ---- */

static uint64_t count_cpu(const struct as_atomics *s)
{
    return s->cpu ? as_atomics_cpu_count(s->cpu) : 0;
}

static uint64_t count_device(const struct as_atomics *s)
{
    return s->device ? as_atomics_device_count(s->device) : 0;
}

/* The device starts first, since it takes longer; then the waiting CPU threads are released. */
static enum as_status atomics_both_start(struct as_atomics *s, uint64_t cpu_each, uint64_t device_each,
                                         struct as_error *err)
{
    enum as_status st = s->cpu ? as_atomics_cpu_start(s->cpu, s->seed, cpu_each, err) : AS_OK;
    if (st)
        return st;
    st = s->device ? as_atomics_device_start(s->device, s->seed, device_each, err) : AS_OK;
    double asked = as_now();
    while (!st && s->device && s->cpu && count_device(s) == 0)
        if (as_now() > asked + PATIENCE_S)
            st = as_fail(err, AS_UNSUPPORTED, "the device does not start while the host waits");
        else if (as_now() > asked + START_S)
            as_sleep(20e-6);
    if (s->cpu && st)
        as_atomics_cpu_stop(s->cpu);
    else if (s->cpu)
        as_atomics_cpu_go(s->cpu);
    return st;
}

/* Waits for all agents even after a failure, and reports the first failure. */
static enum as_status atomics_both_finish_run(struct as_atomics *s, enum as_status before, bool stop,
                                              struct as_error *err)
{
    struct as_error later;
    if (s->device && (stop || before))
        as_atomics_device_stop(s->device);
    if (s->cpu && (stop || before))
        as_atomics_cpu_stop(s->cpu);
    enum as_status cpu = s->cpu ? as_atomics_cpu_wait(s->cpu, before ? &later : err) : AS_OK;
    before = before ? before : cpu;
    enum as_status device = s->device ? as_atomics_device_wait(s->device, before ? &later : err) : AS_OK;
    s->last = (struct atomics_counts){count_cpu(s), count_device(s)};
    return before ? before : device;
}

/* Each side's count and its timestamp. */
struct reading {
    uint64_t cpu, device;
    double cpu_at, device_at;
};

static struct reading read_counts(const struct as_atomics *s)
{
    struct reading r;
    double t0 = as_now();
    r.cpu = count_cpu(s);
    double t1 = as_now();
    r.device = count_device(s);
    double t2 = as_now();
    r.cpu_at = (t0 + t1) / 2;
    r.device_at = (t1 + t2) / 2;
    return r;
}

static enum as_status await_sides(const struct as_atomics *s, struct as_error *err)
{
    double end = as_now() + PATIENCE_S;
    while ((s->cpu && !count_cpu(s)) || (s->device && !count_device(s))) {
        if (as_now() > end)
            return as_fail(err, AS_UNSUPPORTED, "no update of %s is visible while it runs",
                           s->cpu && !count_cpu(s) ? "the CPU" : "the device");
        as_sleep(20e-6);
    }
    return AS_OK;
}

enum as_status as_atomics_rate(struct as_atomics *s, double window_s, struct as_atomics_rates *out,
                               struct as_error *err)
{
    struct reading a = {0}, b = {0};
    s->seed++;
    enum as_status st = atomics_both_start(s, UINT64_MAX, UINT64_MAX, err);
    if (!st)
        st = await_sides(s, err);
    if (!st) {
        as_sleep(SETTLE_S);
        a = read_counts(s);
        as_sleep(window_s);
        b = read_counts(s);
    }
    st = atomics_both_finish_run(s, st, true, err);
    if (st)
        return st;
    *out = (struct as_atomics_rates){.seconds = b.cpu_at - a.cpu_at,
                                     .cpu = (double)(b.cpu - a.cpu) / (b.cpu_at - a.cpu_at),
                                     .device = (double)(b.device - a.device) / (b.device_at - a.device_at)};
    return AS_OK;
}

enum as_status as_atomics_run(struct as_atomics *s, uint64_t cpu_each, uint64_t device_each, double *seconds,
                              struct as_error *err)
{
    s->seed++;
    double before = as_now();
    enum as_status st = atomics_both_finish_run(s, atomics_both_start(s, cpu_each, device_each, err), false, err);
    *seconds = as_now() - before;
    return st;
}
