/* bandwidth: read and write bandwidth of memory and of each cache. See method.md. */
#include "lib/checks/checks.h"
#include "lib/stream/stream.h"

#include <math.h>

/* In the order of enum as_stream_op. */
static const char *const op_words[] = {"copy", "mul", "add", "triad", "nstream", "dot", "read", "write", NULL};
static const char *const level_words[] = {"sweep", "memory", NULL};
static const char *const store_words[] = {"regular", "nt", NULL};
/* In the order of enum as_stream_width, then the fastest width found by a test. */
static const char *const width_words[] = {"scalar", "128", "256", "512", "sve", "best", NULL};
static const char *const touch_words[] = {"cpu", "device", NULL};

static const struct as_axis axes[] = {
    AS_WORD_AXIS("op", op_words, "triad", "out = x; s x; x + y; x + s y; out + x + s y; sum of x y; sum of x; out = s"),
    AS_WORD_AXIS("level", level_words, "memory",
                 "sweep: the level that holds this size, threads unsynchronised; memory: DRAM, by STREAM's rules"),
    AS_SIZE_AXIS("size", 512, 0, "DRAM", "total bytes of all arrays"),
    AS_COUNT_AXIS("threads", 0, 0, "0,max", "CPU threads; 0: the whole device", .domain = AS_DOMAIN_THREADS,
                  .zero = "device"),
    AS_WORD_AXIS("store", store_words, "regular", "CPU: regular stores, or non-temporal ones that bypass the caches"),
    AS_WORD_AXIS("width", width_words, "best",
                 "bits per access; sve: one SVE vector; on a device per thread, in a plain loop through L1; best: the "
                 "fastest in a short test, noted"),
    AS_ALLOCATOR_AXIS("allocator", "first", "how the memory is allocated"),
    AS_WORD_AXIS("touch", touch_words, "cpu", "who touches the memory first: host CPU or device"),
    AS_WORD_AXIS(
        "way", as_stream_way_words, "best",
        "GPU with f64: once (streaming hints), stay (resident workgroups per compute unit), tile (a workgroup per "
        "tile), and pairs of f64 by threads; best: the fastest in a short test, noted"),
    {0},
};
static const char *const quick[] = {
    "op=read level=sweep size=16KiB..LLC threads=max allocator=largest_pages",
    "op=read level=sweep size=16KiB..LLC threads=1 allocator=largest_pages",
    "op=triad level=sweep size=1MiB..LLC threads=0 allocator=first",
    "op=read level=sweep size=0.25MSC,0.5MSC threads=0 allocator=first",
    "op=read,write,copy,triad level=memory threads=max store=all allocator=largest_pages",
    "op=read,triad level=memory threads=1 store=all allocator=largest_pages",
    "op=read,write,triad level=memory threads=0 allocator=first",
    "op=read,write,copy,triad level=memory size=DRAM threads=0 allocator=device touch=device",
    "op=triad level=memory threads=max allocator=first",
    NULL,
};
static const char *const full[] = {
    "op=read,write,copy,triad level=sweep size=4KiB..DRAM1 x2 threads=1,max allocator=largest_pages",
    "op=mul,add,nstream,dot level=sweep size=16KiB,0.5LLC threads=1,max allocator=largest_pages",
    "op=read,write,copy,triad level=sweep size=1MiB..DRAM1 x1 threads=0 allocator=first",
    "op=mul,add,nstream,dot level=sweep size=0.5LLC threads=0 allocator=first",
    "op=all level=memory threads=0,1,max store=all allocator=first",
    "op=read,triad level=memory threads=all allocator=first",
    "op=read level=memory threads=0,max allocator=all touch=all",
    "op=triad level=memory threads=max allocator=pageable,base_pages,huge_pages,reserved_huge_pages",
    "op=triad level=memory threads=0 allocator=device,device_pool,device_mapped,managed,pinned",
    "op=read,triad level=sweep size=16KiB,0.5L2,0.5LLC threads=1 store=all width=all allocator=first",
    "op=read,triad level=sweep size=0.5L2,0.5LLC threads=0 store=all width=all allocator=first",
    "op=copy,triad level=memory threads=0,max store=all width=all allocator=first",
    "op=all level=memory size=DRAM threads=0 allocator=device touch=device",
    "op=read,write,copy,triad level=memory size=DRAM threads=0 allocator=device touch=device way=all",
    NULL,
};

static unsigned bandwidth_way_of(const struct as_axes *a)
{
    const size_t way = as_word_index(a, "way", as_stream_way_words);
    return as_stream_way_words[way] ? (unsigned)way : 0; /* without the axis: best */
}

/* ---- which cells ---- */

static enum as_applies bandwidth_applies_natively(const struct as_axes *a, size_t width, struct as_error *err)
{
    if (!(as_axes_number(a, "threads") >= 1) || as_word_is(a, "touch", "device"))
        return AS_PRUNED;
#if !defined(__aarch64__)
    if (width == AS_WIDTH_SVE)
        return as_pruned(err, "SVE is an extension of aarch64");
#endif
    if (width < AS_WIDTHS && !as_stream_kernels((enum as_stream_width)width)) {
        if (width == AS_WIDTH_SVE)
            as_fail(err, AS_UNSUPPORTED, "this CPU lacks SVE");
        else
            as_fail(err, AS_UNSUPPORTED, "this CPU has no %s-bit vectors", width_words[width]);
        return AS_INAPPLICABLE;
    }
    return AS_APPLIES;
}

static enum as_applies bandwidth_applies(const struct as_device_info *info, const struct as_axes *a,
                                         struct as_error *err)
{
    size_t op = as_word_index(a, "op", op_words), width = as_word_index(a, "width", width_words);
    double size = as_axes_number(a, "size"), threads = as_axes_number(a, "threads");
    bool nt = as_word_is(a, "store", "nt");
    if (op >= AS_STREAM_OPS || (nt && !as_stream_shapes[op].writes))
        return AS_PRUNED;
    if (size < 64 * as_stream_shapes[op].arrays * fmax(1, threads))
        return AS_PRUNED;
    if (bandwidth_way_of(a) && (!as_stream_has_ways(info) || width != AS_WIDTHS || as_word_is(a, "level", "sweep")))
        return AS_PRUNED;
    if (info->capabilities & AS_CAP_HOST_KERNELS)
        return bandwidth_applies_natively(a, width, err);
    if (threads != 0 || nt || width == AS_WIDTH_SVE)
        return AS_PRUNED;
    if (info->is_host_cpu && as_word_is(a, "touch", "device"))
        return AS_PRUNED; /* memory of a CPU device is touched by the CPU either way */
    return as_check_cap(info, as_axes_text(a, "allocator"),
                        (double)as_stream_room((enum as_stream_op)op, (uint64_t)size), err)
               ? AS_INAPPLICABLE
               : AS_APPLIES;
}

static uint64_t bandwidth_memory_claim(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return as_word_is(a, "level", "memory") ? as_axes_u64(a, "size") : 0;
}

/* Preparing writes every line twice and runs tests, at a few hundred MB/s at worst; a device may compile one program
 * per way of a GPU. */
static double bandwidth_patience(const struct as_device_info *info, const struct as_axes *a)
{
    const bool native = (info->capabilities & AS_CAP_HOST_KERNELS) != 0;
    return (native ? 10 : 40) + as_axes_number(a, "size") / 100e6;
}

/* ---- one trial ---- */

enum { WHOLE_MAX = 512 << 20, ARRAYS_APART = 64 /* padding takes at most this share */ };

static void bandwidth_fill_context(struct as_trial_context *tc, const struct as_stream *s)
{
    char variant[96];
    tc->footprint = s->footprint;
    tc->claims_memory = bandwidth_memory_claim(&tc->dev->info, tc->axes) > 0;
    if (!s->native) {
        tc->max_reps = as_stream_reps_max(s);
        tc->sample_s = s->places_n > 1 ? 3e-2 : 1e-2; /* long compared with the scatter of a launch */
    }
    as_stream_expect(tc, s);
    as_stream_variant(s, variant, sizeof variant);
    as_note(tc, "variant", variant);
    as_note(tc, "element", as_stream_type(s));
    as_note_number(tc, "elements", (double)s->n);
    if (s->memory->page_size)
        as_note_number(tc, "page_size", (double)s->memory->page_size);
    (void)as_note_node(tc, s->memory, -1, NULL);
}

static enum as_status bandwidth_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    const struct as_axes *a = tc->axes;
    struct as_stream *s = state;
    size_t op = as_word_index(a, "op", op_words), width = as_word_index(a, "width", width_words);
    if (op >= AS_STREAM_OPS)
        return as_fail(err, AS_USAGE, "unknown operation '%s'", as_axes_text(a, "op"));
    struct as_stream_desc desc = {.op = (enum as_stream_op)op,
                                  .allocator = as_axes_text(a, "allocator"),
                                  .size = as_axes_u64(a, "size"),
                                  .threads = (unsigned)as_axes_u64(a, "threads"),
                                  .nontemporal = as_word_is(a, "store", "nt"),
                                  .choose_width = width >= AS_WIDTHS,
                                  .width = width < AS_WIDTHS ? (enum as_stream_width)width : AS_WIDTH_SCALAR,
                                  .barrier = as_word_is(a, "level", "memory"),
                                  .device_first = as_word_is(a, "touch", "device"),
                                  .way = bandwidth_way_of(a),
                                  .whole_check = tc->trial == 0 && as_axes_u64(a, "size") <= WHOLE_MAX,
                                  .seed = tc->seed};
    enum as_status st = as_check_room(tc->dev, desc.size, desc.size + desc.size / ARRAYS_APART, err);
    if (!st)
        st = as_stream_prepare(s, tc->dev, &desc, err);
    if (st)
        return st;
    bandwidth_fill_context(tc, s);
    return AS_OK;
}

static enum as_status bandwidth_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    return as_stream_run(state, reps, &out->value, &out->seconds, err);
}

static bool bandwidth_check(void *state, char *why, size_t why_size)
{
    return as_stream_check(state, why, why_size);
}

const struct as_probe as_probe_bandwidth = {
    .name = "bandwidth",
    .title = "Memory bandwidth",
    .question = "What read and write bandwidths do memory and each cache reach?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .counts = "bytes read + bytes written by the operation, without write-allocate; decimal GB",
    AS_CELLS(axes, quick, full, bandwidth_applies),
    .kernel_reaches = as_always_by_kernel,
    .memory_claim = bandwidth_memory_claim,
    .patience = bandwidth_patience,
    AS_TRIAL(struct as_stream, bandwidth_prepare, bandwidth_sample, bandwidth_check, as_stream_finish),
};
