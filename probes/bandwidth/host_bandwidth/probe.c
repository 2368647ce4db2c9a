/* host_bandwidth: bandwidth of CPU threads in memory of each NUMA node, and of a device's allocators. See method.md. */
#include "lib/checks/checks.h"
#include "lib/reach/reach.h"
#include "lib/stream/stream.h"

#include <math.h>

enum { WHOLE_MAX = 512 << 20 };

/* In the order of enum as_stream_op. */
static const char *const op_words[] = {"copy", "mul", "add", "triad", "nstream", "dot", "read", "write", NULL};
static const char *const level_words[] = {"sweep", "memory", NULL};

static const struct as_axis axes[] = {
    AS_REACH_AXES,
    AS_WORD_AXIS("op", op_words, "triad", "out = x; s x; x + y; x + s y; out + x + s y; sum of x y; sum of x; out = s"),
    AS_WORD_AXIS("level", level_words, "memory",
                 "sweep: the level that holds this size, threads unsynchronised; memory: DRAM, by STREAM's rules"),
    AS_SIZE_AXIS("size", 512, 0, "DRAM", "total bytes of all arrays"),
    AS_COUNT_AXIS("threads", 0, 4096, "0", "CPU threads of the node; 0: one per CPU of it", .zero = "all"),
    {0},
};
static const char *const quick[] = {
    "op=read,triad allocator=largest_pages size=DRAM devices=cpu",
    "from=0 node=0 op=read,triad allocator=all touch=all size=DRAM devices=cuda,hip,opencl,metal", NULL};
#define SOME "threads=1,2,3,4,6,8,9,12,16,24,32,48,64,96,0"
static const char *const full[] = {
    "op=read,triad allocator=largest_pages size=DRAM threads=1,0 devices=cpu",
    "from=0 node=0 op=read,triad allocator=all touch=all size=DRAM " SOME " devices=cuda,hip,opencl,metal",
    "node=0 op=read,write,copy,triad allocator=all touch=all size=DRAM devices=cuda,hip,opencl,metal", NULL};

struct state {
    struct as_stream stream; /* first: finished as one */
    struct as_reach reach;
};

static enum as_applies host_bandwidth_applies(const struct as_device_info *info, const struct as_axes *a,
                                              struct as_error *err)
{
    const double size = as_axes_number(a, "size"), threads = as_axes_number(a, "threads");
    const size_t op = as_word_index(a, "op", op_words);
    const enum as_applies applies = as_reach_applies(info, a, err);
    if (applies != AS_APPLIES)
        return threads == 0 && op == AS_STREAM_TRIAD ? applies : AS_PRUNED; /* the reason once per pair of ends */
    if (op >= AS_STREAM_OPS || size < 512 * fmax(1, threads) || !as_reach_has_cpus(a, threads))
        return AS_PRUNED;
    if (as_check_block(info, as_axes_text(a, "allocator"),
                       (double)as_stream_room((enum as_stream_op)op, (uint64_t)size), err))
        return AS_INAPPLICABLE;
    return AS_APPLIES;
}

static uint64_t host_bandwidth_memory_claim(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return as_word_is(a, "level", "memory") ? as_axes_u64(a, "size") : 0;
}

static enum as_status host_bandwidth_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    const struct as_axes *a = tc->axes;
    const uint64_t size = as_axes_u64(a, "size"), threads = as_axes_u64(a, "threads");
    const size_t op = as_word_index(a, "op", op_words);
    char variant[96];
    if (op >= AS_STREAM_OPS)
        return as_fail(err, AS_USAGE, "unknown operation '%s'", as_axes_text(a, "op"));
    enum as_status st = as_reach_prepare(&s->reach, tc, as_stream_room((enum as_stream_op)op, size), err);
    if (!st && threads > s->reach.cpus_n)
        st = as_fail(err, AS_UNSUPPORTED, "more threads than the %u CPUs of the node", s->reach.cpus_n);
    if (st)
        return st;
    const struct as_stream_desc desc = {.op = (enum as_stream_op)op,
                                        .allocator = s->reach.cpu->info.allocators[0].name,
                                        .size = size,
                                        .threads = threads ? (unsigned)threads : s->reach.cpus_n,
                                        .cpus = s->reach.cpus,
                                        .at = s->reach.at,
                                        .choose_width = true,
                                        .barrier = as_word_is(a, "level", "memory"),
                                        .whole_check = tc->trial == 0 && size <= WHOLE_MAX,
                                        .seed = tc->seed};
    st = as_stream_prepare(&s->stream, s->reach.cpu, &desc, err);
    if (!st)
        st = as_reach_look(&s->reach, tc, err);
    if (st)
        return st;
    tc->footprint = s->stream.footprint;
    tc->claims_memory = host_bandwidth_memory_claim(&tc->dev->info, a) > 0;
    as_stream_variant(&s->stream, variant, sizeof variant);
    as_note(tc, "variant", variant);
    as_note_number(tc, "threads", desc.threads);
    return AS_OK;
}

static enum as_status host_bandwidth_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    return as_stream_run(&s->stream, reps, &out->value, &out->seconds, err);
}

static bool host_bandwidth_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    return as_stream_check(&s->stream, why, why_size);
}

static void host_bandwidth_finish(void *state)
{
    struct state *s = state;
    as_stream_finish(&s->stream);
    as_reach_finish(&s->reach);
}

static double host_bandwidth_patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 10 + as_axes_number(a, "size") / 100e6;
}

const struct as_probe as_probe_host_bandwidth = {
    .name = "host_bandwidth",
    .title = "CPU bandwidth in each kind of memory",
    .question = "What bandwidth do CPU threads reach in each NUMA node, and in memory of a device's allocators?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "bytes read + bytes written by the operation, without write-allocate; decimal GB",
    AS_CELLS(axes, quick, full, host_bandwidth_applies),
    .memory_claim = host_bandwidth_memory_claim,
    .patience = host_bandwidth_patience,
    AS_TRIAL(struct state, host_bandwidth_prepare, host_bandwidth_sample, host_bandwidth_check, host_bandwidth_finish),
};
