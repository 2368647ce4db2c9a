/* bandwidth: how many bytes a second simple loops over arrays move, at every level. See method.md. */
#include "../common/triads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_method_bandwidth[];

static const char *const level_words[] = {"memory", "sweep", NULL};
static const char *const store_words[] = {"regular", "nt", NULL};
static const char *const touch_words[] = {"own", "host", NULL};

static const struct as_axis axes[] = {
    {.name = "op",
     .help = "copy c=a, mul b=sc, add c=a+b, triad a=b+sc, dot sum ab, read sum a, write a=s, nstream a+=b+sc",
     .type = AS_AXIS_WORD,
     .words = as_stream_op_words,
     .def = "triad"},
    {.name = "level",
     .help = "memory: sold as a number of main memory, so the footprint gate looks; sweep: any size",
     .type = AS_AXIS_WORD,
     .words = level_words,
     .def = "memory"},
    {.name = "size", .help = "bytes of all arrays together", .type = AS_AXIS_SIZE, .min = 1024, .def = "4.5LLC"},
    {.name = "threads",
     .help = "CPU threads; a device always uses all it has",
     .type = AS_AXIS_COUNT,
     .domain = AS_DOMAIN_THREADS,
     .min = 1,
     .def = "max"},
    {.name = "store",
     .help = "regular stores, or non-temporal ones that pass the caches by (CPU)",
     .type = AS_AXIS_WORD,
     .words = store_words,
     .def = "regular"},
    {.name = "width",
     .help = "bits of a vector (CPU); best is the widest that this CPU has",
     .type = AS_AXIS_WORD,
     .words = as_stream_width_words,
     .def = "best"},
    {.name = "allocator",
     .help = "where the memory comes from",
     .type = AS_AXIS_WORD,
     .domain = AS_DOMAIN_ALLOCATOR,
     .def = "first"},
    {.name = "touch",
     .help = "who touches the memory first: its own user, or one thread of the host",
     .type = AS_AXIS_WORD,
     .words = touch_words,
     .def = "own"},
    {0},
};
static const char *const quick[] = {"op=copy,triad,read,write level=memory threads=1,max store=all allocator=thp",
                                    "op=add,mul,dot,nstream level=memory threads=max allocator=thp",
                                    "op=triad level=memory threads=max allocator=mmap",
                                    "op=read level=sweep size=8KiB..1LLC threads=1 allocator=thp",
                                    "op=triad level=sweep size=16KiB..1LLC threads=max allocator=thp",
                                    "op=copy,triad,read,write level=memory allocator=clCreateBuffer",
                                    "op=triad level=sweep size=1MiB..1LLC allocator=clCreateBuffer",
                                    NULL};
static const char *const full[] = {
    "op=all level=memory threads=all store=all allocator=thp,mmap",
    "op=all level=sweep size=4KiB..8LLC x2 threads=1,max allocator=thp",
    "op=read,write,copy,triad level=sweep size=16KiB,256KiB,0.5LLC threads=1 width=all allocator=thp",
    "op=triad,copy level=memory threads=1,max width=all store=all allocator=thp",
    "op=triad level=memory size=610MiB threads=all allocator=all touch=all",
    "op=all level=memory size=256MiB threads=max allocator=all touch=all",
    "op=triad,read level=sweep size=64KiB..8LLC x1 allocator=clCreateBuffer",
    NULL};

static bool is_word(const struct as_axes *a, const char *axis, const char *word)
{
    return strcmp(as_axes_text(a, axis), word) == 0;
}

static size_t word_index(const char *const *words, const char *word)
{
    size_t i = 0;
    while (words[i] && strcmp(words[i], word) != 0)
        i++;
    return words[i] ? i : 0;
}

static enum as_applies applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    enum as_stream_op op = (enum as_stream_op)word_index(as_stream_op_words, as_axes_text(a, "op"));
    bool nontemporal = is_word(a, "store", "nt");
    if (nontemporal && !as_stream_writes(op))
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS))
        return nontemporal || !is_word(a, "width", "best") || as_axes_number(a, "threads") != info->threads
                   ? AS_PRUNED
                   : AS_APPLIES;
    if (!as_stream_width_usable((enum as_stream_width)word_index(as_stream_width_words, as_axes_text(a, "width")))) {
        as_fail(err, AS_UNSUPPORTED, "this CPU has no vectors of %s bits", as_axes_text(a, "width"));
        return AS_INAPPLICABLE;
    }
    return AS_APPLIES;
}

static double patience(const struct as_device_info *info, const struct as_axes *a)
{
    (void)info;
    return 5 + as_axes_number(a, "size") / 100e6;
}

enum { FRESH_MAX = 8 << 20 };

static enum as_status prepare(struct as_visit_context *vc, void **state, struct as_error *err)
{
    struct as_stream *s = calloc(1, sizeof *s);
    *state = s;
    if (!s)
        return as_nomem(err, sizeof *s, "a stream");
    bool memory = is_word(vc->axes, "level", "memory"), host_first = is_word(vc->axes, "touch", "host");
    struct as_stream_desc d = {
        .op = (enum as_stream_op)word_index(as_stream_op_words, as_axes_text(vc->axes, "op")),
        .allocator = as_axes_text(vc->axes, "allocator"),
        .bytes = as_axes_u64(vc->axes, "size"),
        .threads = (unsigned)as_axes_u64(vc->axes, "threads"),
        .nontemporal = is_word(vc->axes, "store", "nt"),
        .barrier = memory,
        .fresh = host_first || as_axes_u64(vc->axes, "size") <= FRESH_MAX,
        .host_first = host_first,
        .width = (enum as_stream_width)word_index(as_stream_width_words, as_axes_text(vc->axes, "width")),
    };
    enum as_status st = as_stream_prepare(s, vc->dev, &d, err);
    if (st)
        return st;
    vc->footprint = s->footprint;
    vc->claims_memory = memory;
    if (memory && vc->dev->info.peak_bandwidth > 0) {
        vc->limit = vc->dev->info.peak_bandwidth / 1e9;
        snprintf(vc->limit_why, sizeof vc->limit_why, "the peak of the memory");
    }
    if (memory && s->native)
        vc->max_reps = 1; /* a sample is one pass, as in STREAM */
    as_note(vc, "variant", s->variant);
    as_note_number(vc, "elements", (double)s->n);
    if (s->memory->page_size)
        as_note_number(vc, "page_size", (double)s->memory->page_size);
    return AS_OK;
}

static enum as_status sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    return as_stream_run(state, reps, &out->value, &out->seconds, err);
}

static bool check(void *state, char *why, size_t why_size)
{
    return as_stream_check(state, why, why_size);
}

static void finish(void *state)
{
    if (state)
        as_stream_finish(state);
    free(state);
}

const struct as_probe as_probe_bandwidth = {
    .abi = AS_PROBE_ABI,
    .name = "bandwidth",
    .title = "Memory bandwidth",
    .question = "How many bytes a second do simple loops over arrays move, at every level?",
    .metric = "bandwidth",
    .unit = "GB/s",
    .better_less = false,
    .counts = "bytes read plus bytes written by the loop, 10^9 a second; write-allocate not counted",
    .axes = axes,
    .quick = quick,
    .full = full,
    .applies = applies,
    .patience = patience,
    .prepare = prepare,
    .sample = sample,
    .check = check,
    .finish = finish,
    .method = as_method_bandwidth,
    .figure = "bandwidth",
};
