/* interference: share of speed that CPU and device keep while both use the memory. See method.md. */
#include "device/shared_host.h"
#include "lib/checks/checks.h"
#include "trial.h"

static const char *const victim_words[] = {"cpu", "device", NULL};
static const char *const op_words[] = {"read", "write", "chase", "h2d", "d2h", NULL};
static const char *const aggressor_words[] = {"none",  "read", "write", "write_nt", "atomic",
                                              "chase", "h2d",  "d2h",   NULL};
static const char *const buffers_words[] = {"separate", "shared", NULL};
static const struct as_axis axes[] = {
    AS_WORD_AXIS(
        "victim", victim_words, "cpu",
        "side whose slowdown is measured; core beside core: the device is the CPU, and one core is the victim"),
    AS_WORD_AXIS("op", op_words, "read",
                 "what the victim does: read or write in address order, pointer chase, copy to or from the device"),
    AS_WORD_AXIS("aggressor", aggressor_words, "read",
                 "what the other side does meanwhile; none: the control, whose ratio must be 1; write_nt: non-temporal "
                 "stores; atomic: one addition per line"),
    AS_COUNT_AXIS(
        "threads", 0, 1023, "0",
        "CPU threads of the aggressor, or of the victim where the device is the aggressor; 0: all CPUs but one",
        .zero = "all but one"),
    AS_WORD_AXIS("buffers", buffers_words, "separate",
                 "each side its own, or both the same lines, whose content the aggressor leaves as it is"),
    AS_WORD_AXIS("priority", priority_words, "normal",
                 "scheduling priority of the aggressor's CPU threads: of Linux, or the QoS classes of macOS"),
    AS_COUNT_AXIS("load", 1, 100, "100", "percent of the time in which the aggressor works; 100: without gaps"),
    AS_SIZE_AXIS("size", 65536, 0, "64MiB", "bytes of each buffer"),
    AS_ALLOCATOR_AXIS("allocator", "first",
                      "the device's memory, the host's end of a copy, and core beside core both buffers"),
    {0},
};
static const char *const quick[] = {
    "victim=cpu op=read,chase aggressor=none,read,write allocator=largest_pages,device",
    "victim=cpu op=chase aggressor=write_nt,atomic allocator=largest_pages",
    "victim=cpu op=chase aggressor=write priority=sched_idle,qos_background allocator=largest_pages",
    "victim=cpu op=read aggressor=h2d,d2h allocator=pinned",
    "victim=cpu op=chase aggressor=read allocator=pinned",
    "victim=device op=read aggressor=none,read,write allocator=device",
    "victim=device op=read aggressor=write priority=sched_idle,qos_background,qos_user_interactive allocator=device",
    "victim=device op=read aggressor=chase allocator=pinned",
    "victim=device op=h2d,d2h aggressor=read allocator=pinned",
    NULL};
static const char *const full[] = {
    "victim=cpu op=read,chase aggressor=none,read,write,write_nt,atomic,chase allocator=largest_pages,device",
    "victim=cpu op=chase aggressor=read,write,atomic buffers=shared allocator=largest_pages,pinned",
    "victim=cpu op=chase aggressor=write priority=all allocator=largest_pages",
    "victim=cpu op=chase aggressor=write load=10,20,40,60,80 allocator=largest_pages,pinned",
    "victim=cpu op=chase aggressor=write threads=1,4,16,64 allocator=largest_pages",
    "victim=cpu op=read,chase aggressor=write size=4MiB,16MiB,256MiB allocator=largest_pages,device",
    "victim=cpu op=read,chase aggressor=h2d,d2h,read,write allocator=pinned",
    "victim=device op=read,write,chase aggressor=none,read,write allocator=device",
    "victim=device op=read,chase aggressor=read,write,write_nt,chase allocator=pinned",
    "victim=device op=read,chase aggressor=write,atomic buffers=shared allocator=pinned",
    "victim=device op=h2d,d2h aggressor=none,read,write,chase allocator=pinned",
    "victim=device op=read,h2d aggressor=write priority=all allocator=pinned",
    "victim=device op=read aggressor=write load=10,20,40,60,80 allocator=pinned",
    "victim=device op=read aggressor=write threads=1,4,16,64 allocator=pinned",
    NULL};

/* ---- which cells ---- */

static bool interference_probe_is_copy(const struct as_axes *a, const char *axis)
{
    return as_word_is(a, axis, "h2d") || as_word_is(a, axis, "d2h");
}

/* Combinations without meaning, and those that equal another cell. */
static bool makes_sense(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const bool native = (info->capabilities & AS_CAP_HOST_KERNELS) != 0, of_device = as_word_is(a, "victim", "device");
    const bool none = as_word_is(a, "aggressor", "none"), shared = as_word_is(a, "buffers", "shared");
    const bool cpu_aggressor = native || of_device, usual = as_axes_number(a, "load") == 100;
    const double threads = as_axes_number(a, "threads");
    const bool normal = as_word_is(a, "priority", priority_words[0]);
    if (native && (of_device || interference_probe_is_copy(a, "aggressor")))
        return as_fail(err, AS_UNSUPPORTED, "the device is the CPU: it is the victim, and copies nothing"), false;
    if ((interference_probe_is_copy(a, "op") && !of_device) ||
        (interference_probe_is_copy(a, "aggressor") && of_device))
        return as_fail(err, AS_UNSUPPORTED, "copies are the device's work"), false;
    if (!cpu_aggressor && as_word_is(a, "aggressor", "write_nt"))
        return as_fail(err, AS_UNSUPPORTED, "kernels have no non-temporal stores"), false;
    if (shared && (as_word_is(a, "aggressor", "write_nt") || interference_probe_is_copy(a, "op") ||
                   interference_probe_is_copy(a, "aggressor")))
        return as_fail(err, AS_UNSUPPORTED, "it would overwrite what the other side works on"), false;
    if (threads >= as_interference_cpus_usable(info) && as_interference_cpus_usable(info) >= 2)
        return as_fail(err, AS_UNSUPPORTED, "the other side needs one CPU: threads=%u at most",
                       as_interference_cpus_usable(info) - 1),
               false;
    if (none && (shared || !usual || !normal || threads != 0))
        return as_fail(err, AS_UNSUPPORTED, "aggressor=none is measured once, with the other axes at their defaults"),
               false;
    if (!cpu_aggressor && !normal)
        return as_fail(err, AS_UNSUPPORTED, "priority is that of CPU threads, and the device is the aggressor"), false;
    if (!cpu_aggressor && as_word_is(a, "op", "chase") && threads != 0)
        return as_fail(err, AS_UNSUPPORTED, "a chase by the CPU has one thread: threads=0"), false;
    return true;
}

static bool allocator_serves(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    const struct as_allocator *memory = as_info_allocator(info, as_axes_text(a, "allocator"));
    if (!memory)
        return as_fail(err, AS_UNSUPPORTED, "the device has no such allocator"), false;
    if (memory->why_not[0])
        return as_fail(err, AS_UNSUPPORTED, "%s", memory->why_not), false;
    if (as_word_is(a, "buffers", "shared") && !(info->capabilities & AS_CAP_HOST_KERNELS) && !memory->coherent)
        return as_fail(err, AS_UNSUPPORTED, "'%s': %s", memory->name, AS_CHASE_NOT_SHARED), false;
    if ((interference_probe_is_copy(a, "op") || interference_probe_is_copy(a, "aggressor")) &&
        memory == &info->allocators[0])
        return as_fail(err, AS_UNSUPPORTED, "a copy needs memory of the host at one end"), false;
    return true;
}

static enum as_applies interference_applies(const struct as_device_info *info, const struct as_axes *a,
                                            struct as_error *err)
{
    const bool native = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    const bool copies = interference_probe_is_copy(a, "op") || interference_probe_is_copy(a, "aggressor");
    if (!makes_sense(info, a, err))
        return AS_PRUNED;
    if (copies && info->is_host_cpu)
        return as_pruned(err, "a CPU has no memory of its own to copy to");
    if (!as_info_shares_host(info))
        as_fail(err, AS_UNSUPPORTED, "the device is simulated: it shares no memory with the CPU");
    else if (as_interference_cpus_usable(info) < 2)
        as_fail(err, AS_UNSUPPORTED, "needs 2 CPUs, and this process is bound to one");
    else if (!native && !copies && !(info->capabilities & AS_CAP_SOURCE))
        as_fail(err, AS_UNSUPPORTED, "the device cannot compile kernels");
    else if (copies && !(info->capabilities & AS_CAP_COPY))
        as_fail(err, AS_UNSUPPORTED, "the backend has no copy call");
    else if (!as_interference_priority(as_axes_text(a, "priority")))
        return as_pruned(err, "this system has no such priority for a thread");
    else if (allocator_serves(info, a, err))
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* The copy engine and the CPU find what is in the host's memory there. */
static bool kernel_reaches(const struct as_axes *a)
{
    const char *work = as_word_is(a, "victim", "device") ? "op" : "aggressor";
    return !interference_probe_is_copy(a, work) && !as_word_is(a, work, "none");
}

/* Both buffers are filled and checked, at 100 MB/s at worst; a device may compile. */
static double interference_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 30 + 4 * as_axes_number(a, "size") / 100e6;
}

/* ---- one trial ---- */

static enum as_status interference_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    (void)reps;
    return as_interference_sample(state, out, err);
}

static bool interference_check(void *state, char *why, size_t why_size)
{
    as_interference_note(state);
    return as_interference_check(state, why, why_size);
}

static const struct as_metric further[] = {
    {"alone_bandwidth", "GB/s", false, "bytes read, written or copied by the victim alone; decimal GB", NULL},
    {"loaded_bandwidth", "GB/s", false, "the same while the aggressor works", NULL},
    {"alone_latency", "ns", true, "time per load of the victim's chase alone", NULL},
    {"loaded_latency", "ns", true, "the same while the aggressor works", NULL},
    {"aggressor_alone", "GB/s", false,
     "the aggressor's bytes while the victim does nothing; 64 per chase load or atomic", NULL},
    {"aggressor_loaded", "GB/s", false, "the same while the victim works", NULL},
    {"aggressor_keeps", "%", false,
     "the aggressor's rate while the victim works over its rate alone, paired by block; median", NULL},
    {0}};

const struct as_probe as_probe_interference = {
    .name = "interference",
    .title = "Interference between CPU and device in memory",
    .question = "How much slower is one side while the other uses the memory?",
    .metric = "slowdown",
    .unit = "x",
    .lower_is_better = true,
    .counts = "time of the victim's work while the aggressor works over that alone, from one matched block",
    .further = further,
    AS_CELLS(axes, quick, full, interference_applies),
    .kernel_reaches = kernel_reaches,
    .patience = interference_patience,
    AS_TRIAL(struct trial, as_interference_prepare, interference_sample, interference_check, as_interference_finish),
};
