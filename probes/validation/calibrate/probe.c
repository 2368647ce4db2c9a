/* calibrate: assay's stream kernels by the rules of STREAM and BabelStream. See method.md. */
#include "lib/checks/checks.h"
#include "lib/stream/stream.h"

#include <math.h>
#include <stdio.h>

enum { ITERATIONS_MAX = 100, ARRAYS_APART = 64 /* padding is at most this share */, CHECKED_WHOLE_MAX = 512 << 20 };
enum rule { STREAM, BABELSTREAM };

static const char *const rule_words[] = {"stream", "babelstream", NULL}; /* in the order of enum rule */
static const char *const op_words[] = {"copy", "scale", "mul", "add", "triad", "dot", NULL};
static const char *const store_words[] = {"regular", "nt", NULL};
static const struct {
    enum as_stream_op op;
    bool of_rule[2];
} ops[] = {
    /* in the order of op_words */
    {AS_STREAM_COPY, {true, true}}, {AS_STREAM_MUL, {true, false}},  {AS_STREAM_MUL, {false, true}},
    {AS_STREAM_ADD, {true, true}},  {AS_STREAM_TRIAD, {true, true}}, {AS_STREAM_DOT, {false, true}},
};
/* Including the first, which does not count. */
static const unsigned iterations[] = {[STREAM] = 10, [BABELSTREAM] = ITERATIONS_MAX};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("rule", rule_words, "all",
                 "stream: STREAM 5.10, 10 iterations on the CPU; babelstream: BabelStream 5.0, 100 iterations"),
    AS_WORD_AXIS("op", op_words, "triad",
                 "the function by the tool's name: scale is STREAM's, mul and dot are BabelStream's"),
    AS_SIZE_AXIS("size", 4096, 0, "256MiB",
                 "bytes of one array; STREAM requires four times the last-level caches, BabelStream has 2^25 f64"),
    AS_COUNT_AXIS("threads", 0, 0, "0,max", "CPU threads; 0: the whole device", .domain = AS_DOMAIN_THREADS,
                  .zero = "device"),
    AS_WORD_AXIS("store", store_words, "regular",
                 "CPU: regular stores, or non-temporal ones, which memcpy uses for large arrays"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    {0},
};
/* gcc compiles STREAM's copy to a call of memcpy. */
static const char *const grids[] = {"rule=stream op=copy size=DRAM threads=max store=all allocator=first",
                                    "rule=stream op=scale,add,triad size=DRAM threads=max allocator=first",
                                    "rule=babelstream op=copy,mul,add,triad,dot size=256MiB threads=0,max "
                                    "allocator=first",
                                    NULL};

static enum as_applies calibrate_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    const bool cpu = (info->capabilities & AS_CAP_HOST_KERNELS) != 0, nt = as_word_is(a, "store", "nt");
    const size_t rule = as_word_index(a, "rule", rule_words), op = as_word_index(a, "op", op_words);
    const double threads = as_axes_number(a, "threads");
    if (!rule_words[rule] || !op_words[op] || !ops[op].of_rule[rule])
        return as_pruned(err, "this operation does not belong to the rule");
    if (cpu ? !(threads >= 1) || as_axes_number(a, "size") < 64 * threads : threads != 0 || nt || rule == STREAM)
        return AS_PRUNED;
    if (nt && !as_stream_shapes[ops[op].op].writes)
        return AS_PRUNED;
    return AS_APPLIES;
}

static uint64_t calibrate_bytes_of(const struct as_axes *a)
{
    return as_axes_u64(a, "size") * as_stream_shapes[ops[as_word_index(a, "op", op_words)].op].arrays;
}

/* BabelStream has no rule for the size. */
static uint64_t calibrate_memory_claim(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return as_word_index(a, "rule", rule_words) == STREAM ? calibrate_bytes_of(a) : 0;
}

/* All iterations at 1 GB/s, and filling three arrays at 200 MB/s. */
static double calibrate_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const size_t rule = as_word_index(a, "rule", rule_words);
    const double bytes = 3 * as_axes_number(a, "size");
    return 5 + as_compile_patience(info, a) + bytes / 200e6 + bytes * (rule_words[rule] ? iterations[rule] : 1) / 1e9;
}

struct state {
    struct as_stream stream; /* first: the record's finish casts to it */
    struct as_trial_context *tc;
    unsigned wanted, done; /* timed iterations */
    double seconds[ITERATIONS_MAX];
    double gbs; /* of the last iteration, by device timestamps if available */
};

/* Both tools time each iteration with the host's clock, from its start until the device is idle. */
static enum as_status iterate(struct state *s, double *seconds, struct as_error *err)
{
    double inner;
    const double start = as_now();
    enum as_status st = as_stream_run(&s->stream, 1, &s->gbs, &inner, err);
    *seconds = as_now() - start;
    return st;
}

static void calibrate_note(struct state *s)
{
    char variant[96];
    as_stream_expect(s->tc, &s->stream);
    as_stream_variant(&s->stream, variant, sizeof variant);
    as_note(s->tc, "variant", variant);
    as_note(s->tc, "element", as_stream_type(&s->stream));
    as_note_number(s->tc, "elements", (double)s->stream.n);
    if (s->stream.memory->page_size)
        as_note_number(s->tc, "page_size", (double)s->stream.memory->page_size);
}

static enum as_status calibrate_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    s->tc = tc;
    const struct as_axes *a = tc->axes;
    const size_t rule = as_word_index(a, "rule", rule_words), op = as_word_index(a, "op", op_words);
    if (!rule_words[rule] || !op_words[op])
        return as_fail(err, AS_USAGE, "unknown rule or operation");
    const uint64_t bytes = calibrate_bytes_of(a);
    const struct as_stream_desc desc = {.op = ops[op].op,
                                        .allocator = as_axes_text(a, "allocator"),
                                        .size = bytes,
                                        .threads = (unsigned)as_axes_u64(a, "threads"),
                                        .nontemporal = as_word_is(a, "store", "nt"),
                                        .choose_width = true,
                                        .barrier = true,
                                        .host_timed = true,
                                        .device_first = !(tc->dev->info.capabilities & AS_CAP_HOST_KERNELS),
                                        .whole_check = tc->trial == 0 && bytes <= CHECKED_WHOLE_MAX,
                                        .seed = tc->seed};
    double first;
    enum as_status st = as_check_room(tc->dev, bytes, bytes + bytes / ARRAYS_APART, err);
    if (!st)
        st = as_stream_prepare(&s->stream, tc->dev, &desc, err);
    if (!st)
        st = iterate(s, &first, err); /* not counted under either rule */
    if (st)
        return st;
    s->wanted = iterations[rule] - 1;
    tc->footprint = s->stream.footprint;
    tc->claims_memory = calibrate_memory_claim(&tc->dev->info, a) > 0;
    tc->min_reps = tc->max_reps = 1;
    tc->samples = s->wanted; /* the best of another number of iterations would differ */
    calibrate_note(s);
    return AS_OK;
}

static enum as_status calibrate_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    (void)reps;
    if (s->done == s->wanted)
        return as_fail(err, AS_TIMEOUT, "all iterations are done");
    enum as_status st = iterate(s, &s->seconds[s->done], err);
    if (st)
        return st;
    *out = (struct as_sample){.value = s->gbs, .seconds = s->seconds[s->done], .clock_hz = NAN};
    s->done++;
    return AS_OK;
}

static bool calibrate_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    double sum = 0, least = INFINITY, most = 0;
    if (s->done != s->wanted) {
        snprintf(why, why_size, "only %u of %u iterations ran: best_rate is not comparable", s->done, s->wanted);
        return false;
    }
    for (unsigned i = 0; i < s->done; i++) {
        sum += s->seconds[i];
        least = fmin(least, s->seconds[i]);
        most = fmax(most, s->seconds[i]);
    }
    as_note_number(s->tc, "best_rate", as_stream_bytes(&s->stream) * (double)s->stream.places_n / least * 1e-9);
    as_note_number(s->tc, "avg_time", 1e9 * sum / s->done);
    as_note_number(s->tc, "min_time", 1e9 * least);
    as_note_number(s->tc, "max_time", 1e9 * most);
    return as_stream_check(&s->stream, why, why_size);
}

static const struct as_metric further[] = {
    {"best_rate", "GB/s", false, "by the tool's rule: the best of its iterations without the first", NULL},
    {"avg_time", "ns", true, "mean time of these iterations, by the host's clock", NULL},
    {"min_time", "ns", true, "time of the best of them", NULL},
    {"max_time", "ns", true, "time of the worst of them", NULL},
    {0}};

const struct as_probe as_probe_calibrate = {
    .name = "calibrate",
    .title = "Bandwidth by the rules of STREAM and BabelStream",
    .question = "What would STREAM and BabelStream report for this machine?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "median over iterations of bytes read + bytes written, without write-allocate; decimal GB",
    .further = further,
    AS_CELLS(axes, grids, grids, calibrate_applies),
    .memory_claim = calibrate_memory_claim,
    .patience = calibrate_patience,
    AS_TRIAL(struct state, calibrate_prepare, calibrate_sample, calibrate_check, as_stream_finish),
};
