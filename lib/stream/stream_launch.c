/* The kernels of a CPU as its threads run them, and launches of these and of a device's. */
#include "lib/buffers/buffers.h"
#include "stream_internal.h"

#include <string.h>

/* Bytes from which filling with all threads pays. */
enum { FILL_TOGETHER = 8 << 20 };

/* ---- native ---- */

void as_stream_slice(uint64_t n, unsigned threads, unsigned t, uint64_t *first, uint64_t *count)
{
    uint64_t grain = n / threads >= 64 * AS_STREAM_PAGE ? AS_STREAM_PAGE : AS_STREAM_LINE,
             grains = (n + grain - 1) / grain;
    uint64_t from = grains * t / threads * grain, to = grains * (t + 1) / threads * grain;
    from = from < n ? from : n;
    to = to < n ? to : n;
    *first = from;
    *count = to - from;
}

struct native_args { /* of the native kernels, in this order */
    uint64_t *result;
    double *memory;
    uint64_t n, pitch, first, count;
    double scalar;
    uint32_t code; /* operation, width and store */
};
static uint32_t encode(enum as_stream_op op, enum as_stream_width width, bool nontemporal)
{
    return (uint32_t)op | (uint32_t)width << 8 | (uint32_t)nontemporal << 16;
}

static struct native_args decode_args(const struct as_host_call *call)
{
    struct native_args a = {.result = call->args[0], .memory = call->args[1]};
    memcpy(&a.pitch, call->args[2], sizeof a.pitch);
    memcpy(&a.first, call->args[3], sizeof a.first);
    memcpy(&a.count, call->args[4], sizeof a.count);
    memcpy(&a.scalar, call->args[5], sizeof a.scalar);
    memcpy(&a.code, call->args[6], sizeof a.code);
    return a;
}

static void host_stream(const struct as_host_call *call)
{
    struct native_args a = decode_args(call);
    enum as_stream_op op = (enum as_stream_op)(a.code & 0xff);
    const struct as_stream_shape *sh = &as_stream_shapes[op];
    as_stream_fn fn = as_stream_kernels((enum as_stream_width)(a.code >> 8 & 0xff))->of[op][a.code >> 16];
    uint64_t first, count;
    as_stream_slice(a.count, call->threads, call->thread, &first, &count);
    double *base = a.memory + a.first + first;
    union as_stream_sum sum =
        fn(base + sh->out * a.pitch, base + sh->x * a.pitch, base + sh->y * a.pitch, count, a.scalar, call->reps);
    a.result[(size_t)call->thread * AS_STREAM_STRIDE] = sum.u;
}

/* Every thread fills its slice of all arrays in step, for first touch, and so that the caches hold the same part of
 * each. Kept data stays. args: memory, operands, count, pitch, key, arrays, outputs, what is there already (NULL:
 * nothing) */
struct fill_args {
    double *memory;
    const struct as_stream_data *data;
    const struct as_arena_content *content;
    uint64_t pitch;
    uint32_t outputs;
};

static bool is_there(const struct fill_args *f, uint32_t array, uint64_t first, uint64_t count)
{
    if (!f->content)
        return false;
    const uint64_t at = f->content->offset + (array * f->pitch + first) * sizeof *f->memory;
    const uint8_t wanted = array < f->outputs ? AS_PIECE_BACKED : AS_PIECE_FILLED;
    for (uint64_t p = at / AS_ARENA_PIECE; p <= (at + count * sizeof *f->memory - 1) / AS_ARENA_PIECE; p++)
        if (f->content->pieces[p] < wanted)
            return false;
    return true;
}

static void stream_launch_host_fill(const struct as_host_call *call)
{
    struct fill_args f = {.memory = call->args[0], .data = call->args[1]};
    uint64_t n, first, count;
    uint32_t arrays;
    memcpy(&n, call->args[2], sizeof n);
    memcpy(&f.pitch, call->args[3], sizeof f.pitch);
    memcpy(&arrays, call->args[5], sizeof arrays);
    memcpy(&f.outputs, call->args[6], sizeof f.outputs);
    memcpy(&f.content, call->args[7], sizeof f.content);
    as_stream_slice(n, call->threads, call->thread, &first, &count);
    for (uint64_t i = first; i < first + count; i += AS_STREAM_BLOCK) {
        uint64_t left = first + count - i, take = left < AS_STREAM_BLOCK ? left : AS_STREAM_BLOCK;
        for (uint32_t a = 0; a < arrays; a++)
            if (!is_there(&f, a, i, take))
                as_stream_fill(f.data, a, a < f.outputs, i, take, f.memory + a * f.pitch + i);
    }
}
const struct as_host_kernel as_stream_host_kernels[] = {
    {"stream", host_stream}, {"fill", stream_launch_host_fill}, {NULL, NULL}};

/* ---- launches ---- */

static struct as_arg arg_scalar(const struct as_stream *s)
{
    return s->element == 8 ? (struct as_arg){.kind = AS_ARG_F64, .u.f64 = s->scalar}
                           : (struct as_arg){.kind = AS_ARG_F32, .u.f32 = (float)s->scalar};
}
static struct as_arg arg_f64(double v)
{
    return (struct as_arg){.kind = AS_ARG_F64, .u.f64 = v};
}

/* The using threads touch the memory first, for NUMA locality; on one node all help. */
static size_t fill_threads(const struct as_stream *s)
{
    bool help = !s->desc.cpus && s->dev->info.numa_nodes <= 1 && s->footprint >= FILL_TOGETHER;
    return help && s->dev->info.threads > s->desc.threads ? s->dev->info.threads : s->desc.threads;
}

enum as_status as_stream_launch_fill(struct as_stream *s, unsigned arrays, const struct as_arena_content *there,
                                     struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(s->memory),
                                  as_memory_arg(s->table),
                                  as_u64_arg(s->n),
                                  as_u64_arg(s->pitch),
                                  as_u32_arg(s->data->key),
                                  as_u32_arg(arrays),
                                  as_u32_arg(as_stream_shape_of(s)->writes),
                                  as_pointer_arg(there)};
    const size_t args_n = sizeof args / sizeof *args;
    struct as_launch l = {.kernel = s->fill,
                          .args = args,
                          .args_n = s->native ? args_n : args_n - 1,
                          .workgroups = s->native ? fill_threads(s) : s->grid.workgroups,
                          .workgroup_size = s->native ? 1 : s->grid.workgroup_size,
                          .cpus = s->desc.cpus,
                          .reps = 1,
                          .work = {.bytes = (double)s->footprint, .footprint = (double)s->footprint}};
    struct as_timing t;
    return s->dev->queue->launch(s->dev, &l, &t, err);
}

static enum as_status launch_native(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                    struct as_error *err)
{
    const struct as_arg args[] = {as_memory_arg(s->result),
                                  as_memory_arg(s->memory),
                                  as_u64_arg(s->pitch),
                                  as_u64_arg(part->first),
                                  as_u64_arg(part->count),
                                  arg_f64(s->scalar),
                                  as_u32_arg(encode(s->desc.op, s->desc.width, s->desc.nontemporal))};
    struct as_launch l = {
        .kernel = s->kernel,
        .args = args,
        .args_n = sizeof args / sizeof *args,
        .workgroups = s->desc.threads,
        .workgroup_size = 1,
        .cpus = s->desc.cpus,
        .reps = part->reps,
        .flags = s->desc.barrier && s->desc.threads > 1 ? AS_LAUNCH_BARRIER : 0,
        .work = {.bytes = as_stream_bytes(s) * (double)part->count / (double)s->n, .footprint = (double)s->footprint}};
    return s->dev->queue->launch(s->dev, &l, t, err);
}

static enum as_status launch_device(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                    struct as_error *err)
{
    uint64_t threads = (uint64_t)s->grid.workgroups * s->grid.workgroup_size;
    const uint64_t line = as_stream_line(s);
    uint64_t piece = (s->n + threads - 1) / threads;
    const struct as_arg args[] = {as_memory_arg(s->result),
                                  as_memory_arg(s->memory),
                                  as_u64_arg(s->n),
                                  as_u64_arg(s->pitch),
                                  arg_scalar(s),
                                  as_u32_arg(s->desc.barrier ? 1 : (uint32_t)part->reps),
                                  as_u64_arg(s->grid.interleaved ? 0 : (piece + line - 1) / line * line)};
    uint64_t launches = s->desc.barrier ? part->reps : 1;
    struct as_launch l = {
        .kernel = s->kernel,
        .args = args,
        .args_n = sizeof args / sizeof *args,
        .workgroups = s->grid.workgroups,
        .workgroup_size = s->grid.workgroup_size,
        .reps = launches,
        .work = {.bytes = as_stream_bytes(s) * (double)(part->reps / launches), .footprint = (double)s->footprint}};
    return s->dev->queue->launch(s->dev, &l, t, err);
}

enum as_status as_stream_launch(struct as_stream *s, const struct as_stream_part *part, struct as_timing *t,
                                struct as_error *err)
{
    return s->native ? launch_native(s, part, t, err) : launch_device(s, part, t, err);
}
