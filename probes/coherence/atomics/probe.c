/* atomics: atomic update rates of CPU and device on one array, alone and concurrently. See method.md.
 */
#include "device/device.h"
#include "lib/atomics/atomics.h"
#include "lib/checks/nodes.h"

#include <stdio.h>

enum { LANES = 128 }; /* maximum per compute unit */
static const double WINDOW_S = 0.03;
static const uint64_t SUM_BYTES = UINT64_C(64) << 20; /* larger arrays are not summed */

static const struct as_axis axes[] = {
    ATOMICS_AXES("whose updates are counted; the other side runs concurrently"),
    AS_NODE_AXIS,
    {0},
};
static const char *const quick[] = {
    "agent=cpu elements=1,1024,1048576 type=u64,f64 cpu_threads=1,2,4,16 device_threads=0 allocator=first",
    "agent=cpu elements=1024 type=u64 cpu_threads=1,2,4,16 device_threads=0 allocator=pinned,managed,shared_fine",
    "agent=device elements=1,1024,1048576 type=u64,f64 cpu_threads=0 device_threads=64,128,4096,65536 "
    "scope=device,system allocator=first",
    "agent=device elements=1024 type=u64 cpu_threads=0 device_threads=64,128,4096,65536 scope=device,system "
    "allocator=pinned,managed,shared_fine",
    "agent=cpu,device elements=1024 type=u64 cpu_threads=1,2,4,16 device_threads=64,128,4096,65536 scope=device,system "
    "allocator=pinned,managed,shared_fine",
    NULL,
};
#define BEYOND "1073741824 type=u64,f64 scope=system allocator=pageable,device,pinned" /* all caches */
#define CPU_THREADS "1,2,3,4,6,8,12,16,24,32,48,64,96,128"
#define DEVICE_THREADS "64,128,256,1024,4096,16384,65536,131072,262144"
static const char *const full[] = {
    "agent=cpu elements=1,1024,1048576,1073741824 type=u32,u64,f32,f64 cpu_threads=" CPU_THREADS
    " device_threads=0 order=relaxed,seq_cst allocator=first",
    "agent=cpu elements=1,1024,1048576 type=u64,f64 cpu_threads=" CPU_THREADS " device_threads=0 allocator=all",
    "agent=device elements=1,1024,1048576,1073741824 type=u32,u64,f32,f64 cpu_threads=0 "
    "device_threads=1," DEVICE_THREADS " scope=device,system order=relaxed,seq_cst allocator=first",
    "agent=device elements=1,1024,1048576 type=u64,f64 cpu_threads=0 device_threads=" DEVICE_THREADS
    " scope=device,system allocator=all",
    "agent=cpu,device elements=1,1024,1048576 type=u64,f64 cpu_threads=" CPU_THREADS " device_threads=" DEVICE_THREADS
    " scope=device,system allocator=all",
    "agent=cpu elements=1024,1048576 type=u64 cpu_threads=1,2,12,24 device_threads=0 allocator=first,pageable node=all",
    "agent=device elements=1024,1048576 type=u64 cpu_threads=0 device_threads=64,16384 scope=system "
    "allocator=pageable,pinned node=all",
    "agent=cpu elements=" BEYOND " cpu_threads=" CPU_THREADS " device_threads=0",
    "agent=device elements=" BEYOND " cpu_threads=0 device_threads=" DEVICE_THREADS,
    "agent=cpu,device elements=" BEYOND " cpu_threads=" CPU_THREADS " device_threads=" DEVICE_THREADS,
    NULL,
};

struct state {
    struct as_atomics both; /* first: the record's finish casts to it */
    struct as_trial_context *tc;
    uint64_t made; /* updates since the array was cleared */
};

static enum as_applies atomics_probe_applies(const struct as_device_info *info, const struct as_axes *a,
                                             struct as_error *err)
{
    return as_atomics_applies(info, a, true, false, err);
}

/* One update per cycle and CPU thread, or per lane of a device's compute units. */
static void atomics_set_limit(struct as_trial_context *tc, const struct as_atomics *s)
{
    struct as_device *dev = tc->dev;
    double hz = dev->info.clock_max_hz;
    bool is_cpu = dev->info.capabilities & AS_CAP_HOST_KERNELS;
    if (s->of_cpu && is_cpu && (!dev->device->clock || dev->device->clock(dev, &hz, NULL)))
        return;
    if ((s->of_cpu && !is_cpu) || dev->info.is_host_cpu || !(hz > 0))
        return;
    tc->limit = hz * (s->of_cpu ? s->cpu_threads : (double)dev->info.compute_units * LANES);
    snprintf(tc->limit_why, sizeof tc->limit_why, "one update per cycle and %s",
             s->of_cpu ? "thread" : "lane of a compute unit");
}

static enum as_status atomics_probe_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = as_atomics_prepare(&s->both, tc, false, true, err);
    if (st)
        return st;
    s->tc = tc;
    atomics_set_limit(tc, &s->both);
    tc->sample_s = WINDOW_S;
    return AS_OK;
}

static enum as_status atomics_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_atomics_rates r;
    enum as_status st = as_atomics_rate(&s->both, WINDOW_S * (double)reps, &r, err);
    if (st)
        return st;
    if (s->made == 0 && s->both.cpu && s->both.device)
        as_note_number(s->tc, "other_side", s->both.of_cpu ? r.device : r.cpu);
    if (s->made == 0 && s->both.device)
        as_note_number(s->tc, "groups_running", (double)as_atomics_device_groups_seen(s->both.device));
    s->made += s->both.last.cpu + s->both.last.device;
    out->value = s->both.of_cpu ? r.cpu : r.device;
    out->seconds = r.seconds;
    return AS_OK;
}

/* Integers wrap, f64 is exact to 2^53; f32 saturates at 2^24, which is no lost update. */
static bool sum_tells(const struct as_atomics_array *a)
{
    return a->type != ATOMICS_F32 && a->bytes <= SUM_BYTES;
}

static bool atomics_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    struct as_error err = {0};
    struct as_atomics_array *a = &s->both.array;
    uint64_t sum = 0, mask = a->type == ATOMICS_U32 ? UINT32_MAX : UINT64_MAX;
    enum as_status st = as_atomics_array_guards(a, &err);
    if (!st && sum_tells(a))
        st = as_atomics_array_sum(a, &sum, &err);
    uint64_t lost = (s->made - sum) & mask;
    if (st)
        snprintf(why, why_size, "%s", err.text);
    else if (!sum_tells(a))
        snprintf(why, why_size, "guard memory is unchanged; the sum cannot be checked");
    else if (lost > mask / 2)
        snprintf(why, why_size, "the array holds %llu more updates than were made",
                 (unsigned long long)((sum - s->made) & mask));
    else
        snprintf(why, why_size, "%llu of %llu updates are missing from the sum; guard memory is unchanged",
                 (unsigned long long)lost, (unsigned long long)s->made);
    return !st && (!sum_tells(a) || lost <= mask / 2);
}

static const struct as_metric further[] = {
    {"other_side", "updates/s", false, "of the other agent at the same time", NULL},
    {0},
};

const struct as_probe as_probe_atomics = {
    .name = "atomics",
    .title = "Atomic updates",
    .question = "What atomic update rates do CPU and device reach on one array, alone and concurrently?",
    .metric = "rate",
    .unit = "updates/s",
    .counts = "additions of 1 to random elements, by all threads of the agent",
    .further = further,
    AS_CELLS(axes, quick, full, atomics_probe_applies),
    .kernel_reaches = as_atomics_by_device,
    .patience = as_atomics_patience,
    AS_TRIAL(struct state, atomics_probe_prepare, atomics_sample, atomics_check, as_atomics_finish),
};
