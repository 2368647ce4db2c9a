/* collective: all-reduce and its relatives over all devices of a backend, by the vendor's library. See method.md. */
#include "device/device.h"
#include "lib/buffers/buffers.h"
#include "lib/checks/checks.h"
#include "lib/transfer/peers.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const op_words[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "all_reduce",
                 "all_reduce, all_gather, reduce_scatter, all_to_all (grouped sends and receives), or broadcast from "
                 "the first device"),
    AS_SIZE_AXIS("size", 1024, UINT64_C(1) << 36, "1MiB",
                 "bytes per device as nccl-tests count them: the larger one of its two buffers"),
    {0},
};
static const char *const quick[] = {"op=all size=4KiB,64KiB,1MiB,16MiB,256MiB", NULL};
static const char *const full[] = {
    "op=all size=1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB,1GiB",
    NULL,
};

enum {
    RANKS_MAX = 64,
    PERIOD = 1048573,     /* of what a rank sends, in elements: a prime, so that no part repeats another */
    BLOCK = 1024,         /* elements of a block that is checked */
    BLOCKS = 64,          /* that are checked, if not all */
    WHOLE_MAX = 512 << 10 /* up to so many elements all are checked */
};
static const uint64_t REASON_SIZE = 1 << 20; /* the cell that says why there is no collective */

struct state {
    struct as_device *dev;
    struct as_ranks ranks;
    struct as_collective_call call;
    struct as_memory *send[RANKS_MAX], *receive[RANKS_MAX];
    uint64_t sent, received; /* elements of each buffer */
    uint8_t *values;         /* of each rank a period: small whole numbers, whose sums are exact in f32 */
    uint16_t *sums;          /* over the ranks */
    float *piece;            /* of a period */
    double bytes, bus;       /* as nccl-tests count them, and the factor from algorithm to bus bandwidth */
    uint64_t sample, seed;
    bool whole;
    const char *op;
};

static enum as_applies collective_applies(const struct as_device_info *info, const struct as_axes *a,
                                          struct as_error *err)
{
    const bool says = as_word_is(a, "op", "all_reduce") && as_axes_u64(a, "size") == REASON_SIZE;
    if (as_peer_index(info->id) != 0)
        return as_pruned(err, "the first device of a backend measures collectives for all");
    if (info->collectives[0])
        return AS_APPLIES;
    if (!info->collectives_why[0])
        return as_pruned(err, "backend '%s' has no collective communication library", info->backend);
    as_fail(err, AS_UNSUPPORTED, "%s", info->collectives_why);
    return says ? AS_INAPPLICABLE : AS_PRUNED;
}

/* Loads a library of hundreds of megabytes, opens every device and joins them. */
static double collective_patience(const struct as_device_info *info, const struct as_axes *a)
{
    return 60 + info->siblings * (2 + as_axes_number(a, "size") / 200e6);
}

/* ---- what ranks send ---- */

static uint32_t collective_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

/* Ends of the part of each rank. They change from call to call, so that an earlier result fails on every rank. */
static bool is_mark(const struct state *s, uint64_t i)
{
    return i % s->call.elements == 0 || (i + 1) % s->call.elements == 0;
}

static unsigned value_of(const struct state *s, size_t rank, uint64_t i)
{
    const unsigned base = s->values[rank * PERIOD + i % PERIOD];
    return is_mark(s, i) ? (base + s->sample) & UINT8_MAX : base;
}

static unsigned sum_of(const struct state *s, uint64_t i)
{
    unsigned sum = 0;
    if (!is_mark(s, i))
        return s->sums[i % PERIOD];
    for (size_t k = 0; k < s->ranks.n; k++)
        sum += value_of(s, k, i);
    return sum;
}

static unsigned expected(const struct state *s, size_t rank, uint64_t i)
{
    const uint64_t part = s->call.elements;
    switch (s->call.what) {
    case AS_ALL_REDUCE:
        return sum_of(s, i);
    case AS_REDUCE_SCATTER:
        return sum_of(s, rank * part + i);
    case AS_ALL_GATHER:
        return value_of(s, i / part, i % part);
    case AS_ALL_TO_ALL:
        return value_of(s, i / part, rank * part + i % part);
    default:
        return value_of(s, 0, i);
    }
}

static enum as_status make_values(struct state *s, struct as_error *err)
{
    const size_t n = s->ranks.n;
    s->values = malloc(n * PERIOD);
    s->sums = calloc(PERIOD, sizeof *s->sums);
    s->piece = malloc(PERIOD * sizeof *s->piece);
    if (!s->values || !s->sums || !s->piece)
        return as_nomem(err, n * PERIOD, "what ranks send");
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < PERIOD; i++) {
            const uint8_t v = (uint8_t)collective_mixed(s->seed + (k * PERIOD + i) * UINT64_C(0x9e3779b97f4a7c15));
            s->values[k * PERIOD + i] = v;
            s->sums[i] = (uint16_t)(s->sums[i] + v);
        }
    return AS_OK;
}

/* Writes the piece again and again. */
static enum as_status write_all(struct as_device *dev, struct as_memory *to, const float *piece, uint64_t elements,
                                struct as_error *err)
{
    enum as_status st = AS_OK;
    for (uint64_t at = 0; at < elements && !st; at += PERIOD) {
        const uint64_t n = elements - at < PERIOD ? elements - at : PERIOD;
        st = dev->memory->write(dev, to, at * sizeof *piece, piece, n * sizeof *piece, err);
    }
    return st;
}

static enum as_status fill_ranks(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t k = 0; k < s->ranks.n && !st; k++) {
        for (size_t i = 0; i < PERIOD; i++)
            s->piece[i] = s->values[k * PERIOD + i];
        st = write_all(s->ranks.device[k], s->send[k], s->piece, s->sent, err);
    }
    return st;
}

/* What is received is poisoned with bits that are no number. */
static enum as_status poison_ranks(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < PERIOD; i++)
        s->piece[i] = NAN;
    for (size_t k = 0; k < s->ranks.n && !st; k++)
        st = write_all(s->ranks.device[k], s->receive[k], s->piece, s->received, err);
    return st;
}

static enum as_status write_mark(const struct state *s, size_t rank, uint64_t at, struct as_error *err)
{
    const float v = (float)value_of(s, rank, at);
    struct as_device *dev = s->ranks.device[rank];
    return dev->memory->write(dev, s->send[rank], at * sizeof v, &v, sizeof v, err);
}

static enum as_status mark_ranks(struct state *s, struct as_error *err)
{
    const uint64_t part = s->call.elements;
    enum as_status st = AS_OK;
    s->sample++;
    for (size_t k = 0; k < s->ranks.n; k++)
        for (uint64_t at = 0; at < s->sent && !st; at += part) {
            st = write_mark(s, k, at, err);
            if (!st)
                st = write_mark(s, k, at + part - 1, err);
        }
    return st;
}

/* ---- a trial ---- */

/* Elements and factors by the definitions of nccl-tests. */
static void lay_call(struct state *s, enum as_collective what, uint64_t size)
{
    const uint64_t n = s->ranks.n, all = size / sizeof(float);
    const bool parted = what != AS_ALL_REDUCE && what != AS_BROADCAST;
    const uint64_t part = parted ? all / n : all;
    s->call = (struct as_collective_call){.what = what, .elements = part, .send = s->send, .receive = s->receive};
    s->sent = what == AS_REDUCE_SCATTER || what == AS_ALL_TO_ALL ? part * n : part;
    s->received = what == AS_ALL_GATHER || what == AS_ALL_TO_ALL ? part * n : part;
    s->bytes = (double)((parted ? part * n : part) * sizeof(float));
    s->bus = what == AS_BROADCAST ? 1 : (what == AS_ALL_REDUCE ? 2.0 : 1.0) * (double)(n - 1) / (double)n;
}

static enum as_status alloc_ranks(struct state *s, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t k = 0; k < s->ranks.n && !st; k++) {
        struct as_device *dev = s->ranks.device[k];
        struct as_memory_desc want = {.allocator = dev->info.allocators[0].name, .node = -1};
        want.bytes = s->sent * sizeof(float);
        st = as_check_room(dev, (s->sent + s->received) * sizeof(float), want.bytes, err);
        if (!st)
            st = dev->memory->alloc(dev, &want, &s->send[k], err);
        want.bytes = s->received * sizeof(float);
        if (!st)
            st = dev->memory->alloc(dev, &want, &s->receive[k], err);
    }
    return st;
}

static enum as_status collective_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    struct as_device *dev = tc->dev;
    size_t what = 0;
    s->dev = dev;
    s->seed = tc->seed;
    s->whole = tc->trial == 0;
    s->op = as_axes_text(tc->axes, "op");
    while (strcmp(op_words[what], s->op) != 0)
        what++;
    if (!dev->collective)
        return as_fail(err, AS_UNSUPPORTED, "backend '%s' has no collective communication library", dev->info.backend);
    enum as_status st = dev->collective->join(dev, &s->ranks, err);
    if (!st && s->ranks.n > RANKS_MAX)
        st = as_fail(err, AS_UNSUPPORTED, "%zu devices are more than the %d that a collective joins", s->ranks.n,
                     (int)RANKS_MAX);
    if (st)
        return st;
    lay_call(s, (enum as_collective)what, as_axes_u64(tc->axes, "size"));
    st = alloc_ranks(s, err);
    if (!st)
        st = make_values(s, err);
    if (!st)
        st = fill_ranks(s, err);
    if (!st)
        st = poison_ranks(s, err);
    tc->footprint = (s->sent + s->received) * sizeof(float);
    tc->max_reps = 1 << 20;
    tc->sample_s = 1e-2;
    as_note(tc, "variant", dev->info.collectives);
    as_note_number(tc, "ranks", (double)s->ranks.n);
    return st;
}

static enum as_status collective_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_timing t;
    s->call.reps = reps;
    enum as_status st = mark_ranks(s, err);
    if (!st)
        st = s->dev->collective->run(s->dev, &s->call, &t, err);
    if (st)
        return st;
    const double seconds = t.host_s / (double)reps;
    *out = (struct as_sample){
        .value = s->bus * s->bytes / seconds * 1e-9,
        .seconds = t.host_s,
        .clock_hz = NAN,
        .further = {{"time", seconds * 1e9}, {"algorithm_bandwidth", s->bytes / seconds * 1e-9}},
    };
    return AS_OK;
}

static bool are_right(const struct state *s, size_t rank, uint64_t at, uint64_t n, char *why, size_t size)
{
    struct as_device *dev = s->ranks.device[rank];
    struct as_error err = {0};
    if (dev->memory->read(dev, s->receive[rank], at * sizeof *s->piece, s->piece, n * sizeof *s->piece, &err)) {
        snprintf(why, size, "%s", err.text);
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        const float wanted = (float)expected(s, rank, at + i);
        if (s->piece[i] == wanted)
            continue;
        snprintf(why, size, "%s: element %llu of device %zu is %g, not %g", s->op, (unsigned long long)(at + i), rank,
                 (double)s->piece[i], (double)wanted);
        return false;
    }
    return true;
}

static bool rank_is_right(const struct state *s, size_t rank, struct as_rng *rng, char *why, size_t size)
{
    const uint64_t all = s->received;
    if (s->whole || all <= WHOLE_MAX) {
        for (uint64_t at = 0; at < all; at += PERIOD)
            if (!are_right(s, rank, at, all - at < PERIOD ? all - at : PERIOD, why, size))
                return false;
        return true;
    }
    for (unsigned b = 0; b < BLOCKS; b++) {
        const uint64_t at = b == 0 ? 0 : b == 1 ? all - BLOCK : as_rng_below(rng, all - BLOCK);
        if (!are_right(s, rank, at, BLOCK, why, size))
            return false;
    }
    return true;
}

static bool marks_are_right(const struct state *s, size_t rank, char *why, size_t size)
{
    const uint64_t part = s->call.elements;
    for (uint64_t at = 0; at < s->received; at += part)
        if (!are_right(s, rank, at, 1, why, size) || !are_right(s, rank, at + part - 1, 1, why, size))
            return false;
    return true;
}

/* The last sample by what changes from call to call, and one more call over poison by all else. */
static bool ranks_are_right(struct state *s, char *why, size_t size)
{
    struct as_rng rng;
    struct as_timing t;
    struct as_error err = {0};
    as_rng_seed(&rng, s->seed + s->sample);
    for (size_t k = 0; k < s->ranks.n; k++)
        if (!marks_are_right(s, k, why, size))
            return false;
    s->call.reps = 1;
    enum as_status st = poison_ranks(s, &err);
    if (!st)
        st = mark_ranks(s, &err);
    if (!st)
        st = s->dev->collective->run(s->dev, &s->call, &t, &err);
    snprintf(why, size, "%s", err.text);
    for (size_t k = 0; k < s->ranks.n && !st; k++)
        if (!rank_is_right(s, k, &rng, why, size))
            return false;
    return !st;
}

static bool collective_check(void *state, char *why, size_t size)
{
    struct state *s = state;
    if (!ranks_are_right(s, why, size))
        return false;
    snprintf(why, size, "every device received the expected data (%s)",
             s->whole || s->received <= WHOLE_MAX ? "every element" : "64 blocks of 4 KiB");
    return true;
}

static void collective_finish(void *state)
{
    struct state *s = state;
    for (size_t k = 0; k < s->ranks.n && k < RANKS_MAX; k++) {
        struct as_device *dev = s->ranks.device[k];
        dev->memory->free(dev, s->send[k]);
        dev->memory->free(dev, s->receive[k]);
    }
    free(s->values);
    free(s->sums);
    free(s->piece);
}

static const struct as_metric further[] = {
    {"time", "ns", true, "of one call, from its first launch to the end of the last device", NULL},
    {"algorithm_bandwidth", "GB/s", false, "size divided by time per call", NULL},
    {0},
};

const struct as_probe as_probe_collective = {
    .name = "collective",
    .title = "Collectives",
    .question = "How fast are the vendor library's collectives (NCCL, RCCL) over all devices?",
    .metric = "bus bandwidth",
    .unit = "GB/s",
    .counts = "algorithm bandwidth times the bus factor of nccl-tests; decimal GB",
    .further = further,
    .varies_by_process = true,
    .not_ahead = true,
    .crosses_link = true,
    AS_CELLS(axes, quick, full, collective_applies),
    .patience = collective_patience,
    AS_TRIAL(struct state, collective_prepare, collective_sample, collective_check, collective_finish),
};
