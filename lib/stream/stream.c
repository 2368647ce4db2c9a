/* A stream: its arrays, its kernels, and one sample. */
#include "stream.h"

#include "base/text.h"
#include "device/cpu/features.h"
#include "device/shared_host.h"
#include "stream_internal.h"

#include <stdlib.h>
#include <string.h>

extern const char as_kernel_stream[];

enum { STAGGER = 80, PLACE_MIN = 2 << 20 /* bytes; a GPU page, so that no two blocks share one */ };
/* For f64; f32 is half as wide, so the number of elements is the same. */
static const enum as_stream_width DEVICE_WIDTH = AS_WIDTH_256, NARROW_WIDTH = AS_WIDTH_128;
static const uint64_t STAGGER_FROM = 1 << 20; /* bytes of an array */

/* ---- preparing ---- */

bool as_stream_has_ways(const struct as_device_info *info)
{
    return !info->is_host_cpu && !(info->capabilities & AS_CAP_HOST_KERNELS) && info->capabilities & AS_CAP_FP64;
}

double as_stream_bytes(const struct as_stream *s)
{
    return (double)(as_stream_shape_of(s)->reads + as_stream_shape_of(s)->writes) * s->element * (double)s->n;
}

/* Small arrays are contiguous, to fit a cache together. Large ones start on pages, each some lines further into its
 * page than the previous one, to avoid DRAM bank conflicts.
 */
static void stream_lay_out(struct as_stream *s)
{
    const unsigned line = as_stream_line(s), narrow = 8 / s->element;
    const uint64_t page = AS_STREAM_PAGE * narrow;
    s->n = s->desc.size / (s->element * as_stream_shape_of(s)->arrays) / line * line;
    s->pitch = s->n * s->element < STAGGER_FROM ? s->n : (s->n + page - 1) / page * page + STAGGER * narrow;
    s->footprint = s->n * s->element * as_stream_shape_of(s)->arrays;
}

uint64_t as_stream_room(enum as_stream_op op, uint64_t size)
{
    struct as_stream s = {.desc = {.op = op, .size = size}, .element = 8};
    stream_lay_out(&s);
    return s.pitch * as_stream_shape_of(&s)->arrays * s.element;
}

/* Space for a sum per thread of the largest grid, which is also the first choice. */
static void choose_room(struct as_stream *s)
{
    struct as_stream_grid grids[AS_STREAM_GRIDS_MAX];
    size_t n = as_stream_grids(s, grids);
    s->results = 1;
    for (size_t i = 0; i < n; i++) {
        size_t sums = grids[i].workgroups * (s->gpu ? 1 : grids[i].workgroup_size);
        if (sums > s->results && !as_stream_shape_of(s)->writes)
            s->results = sums;
    }
    s->grid = grids[n > 1 && !s->gpu];
}

static size_t places(const struct as_stream *s)
{
    bool depends = !s->native && !s->desc.barrier && !s->dev->info.is_host_cpu &&
                   s->footprint <= as_info_last_cache(&s->dev->info);
    return depends ? AS_STREAM_PLACES : 1;
}

/* On several NUMA nodes each thread touches its own slice. */
static uint64_t touch_of(const struct as_stream *s)
{
    if (s->dev->info.numa_nodes <= 1)
        return AS_TOUCH_ANY;
    const uint64_t layout[] = {s->desc.threads, s->n, s->pitch, as_stream_shape_of(s)->arrays};
    return s->desc.threads == 1 ? AS_TOUCH_THREAD : as_hash(layout, sizeof layout) | AS_TOUCH_OTHER;
}

static enum as_status get_places(struct as_stream *s, struct as_error *err)
{
    size_t wanted = places(s);
    uint64_t bytes = s->pitch * as_stream_shape_of(s)->arrays * s->element;
    const struct as_arena_desc arrays = {.memory = {.allocator = s->desc.allocator,
                                                    .bytes = wanted > 1 && bytes < PLACE_MIN ? PLACE_MIN : bytes,
                                                    .node = -1,
                                                    .at = s->desc.at},
                                         .use = "stream",
                                         .touch = touch_of(s)};
    enum as_status st = AS_OK;
    while (s->places_n < wanted && !st) {
        st = as_arena_take(s->dev, &arrays, &s->places[s->places_n], err);
        s->places_n += !st;
    }
    s->memory = s->places[0];
    return st;
}

/* As in the kernel: after one word. */
static enum as_status write_narrow_table(struct as_stream *s, struct as_error *err)
{
    const size_t n = sizeof s->data->table / sizeof *s->data->table;
    double *values = malloc((n + 1) * sizeof *values);
    if (!values)
        return as_nomem(err, (n + 1) * sizeof *values, "operands");
    values[0] = 0;
    memcpy(values + 1, s->data->table, sizeof s->data->table);
    enum as_status st = as_stream_put(s, s->table, 0, values, n + 1, err);
    free(values);
    return st;
}

static enum as_status stream_get_memory(struct as_stream *s, struct as_error *err)
{
    if (s->native)
        s->results = (size_t)s->desc.threads * AS_STREAM_STRIDE;
    else
        choose_room(s);
    const char *pinned = s->gpu && s->desc.host_timed ? as_role_allocator(s->dev->info.id, AS_ROLE_PINNED) : "";
    s->result = as_buffers_memory(&s->own, *pinned ? pinned : s->desc.allocator, s->results * 8, err);
    s->table = as_buffers_memory(&s->own, s->desc.allocator, sizeof *s->data, err);
    if (!s->own.status && s->element != 8)
        return write_narrow_table(s, err);
    as_buffers_write(&s->own, s->table, s->data, sizeof *s->data, err);
    return s->own.status;
}

/* A kernel per way of a GPU to be tested. */
static enum as_status build_ways(struct as_stream *s, struct as_error *err)
{
    struct as_stream_grid grids[AS_STREAM_GRIDS_MAX];
    size_t n = as_stream_grids(s, grids);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        struct as_buf defines = AS_BUF_INIT;
        as_buf_printf(&defines, "-DOP=%d -DPER_ITEM=1 -DUNROLL=%u -DCACHE=%u -DGROUP_SIZE=%zu", (int)s->desc.op,
                      grids[i].unroll, grids[i].cache, grids[i].workgroup_size);
        st = as_buf_check(&defines, err);
        struct as_program_desc desc = {
            .name = "bandwidth", .source = as_kernel_stream, .defines = as_buf_get(&defines)};
        struct as_program *program = NULL;
        if (!st)
            st = as_buffers_keep_program(&s->own, &desc, &program, err);
        if (!st)
            st = as_buffers_keep_kernel(&s->own, program, "stream_tiled", &s->ways[i], err);
        as_buf_finish(&defines);
    }
    s->kernel = s->ways[0];
    return st;
}

static enum as_status stream_build(struct as_stream *s, struct as_error *err)
{
    struct as_buf defines = AS_BUF_INIT;
    as_buf_printf(&defines, "-DOP=%d -DPER_ITEM=%u -DELEMENT_BITS=%u", (int)s->desc.op, as_stream_per_item(s),
                  8 * s->element);
    struct as_program *program = NULL;
    enum as_status st = as_buf_check(&defines, err);
    struct as_program_desc desc = {.name = "bandwidth",
                                   .source = as_kernel_stream,
                                   .defines = as_buf_get(&defines),
                                   .host = as_stream_host_kernels};
    if (!st)
        st = as_buffers_keep_program(&s->own, &desc, &program, err);
    if (!st && !s->gpu)
        st = as_buffers_keep_kernel(&s->own, program, "stream", &s->kernel, err);
    if (!st)
        st = as_buffers_keep_kernel(&s->own, program, "fill", &s->fill, err);
    as_buf_finish(&defines);
    return st || !s->gpu ? st : build_ways(s, err);
}

/* The host fills device arrays in pieces, since it may have less memory. */
static enum as_status fill_from_host(struct as_stream *s, unsigned arrays, struct as_error *err)
{
    const uint64_t piece = UINT64_C(1) << 20;
    double *buffer = malloc(piece * sizeof *buffer);
    enum as_status st = buffer ? AS_OK : as_nomem(err, piece * sizeof *buffer, "operands");
    for (uint64_t i = 0; i < s->n && !st; i += piece) {
        uint64_t take = s->n - i < piece ? s->n - i : piece;
        for (unsigned a = 0; a < arrays && !st; a++) {
            as_stream_fill(s->data, a, a < as_stream_shape_of(s)->writes, i, take, buffer);
            st = as_stream_put(s, s->memory, a * s->pitch + i, buffer, take, err);
        }
    }
    free(buffer);
    return st;
}

/* Vector loads assume alignment. */
static enum as_status check_alignment(struct as_stream *s, struct as_error *err)
{
    const struct as_memory_ops *m = s->dev->memory;
    enum as_status st = m->map(s->dev, s->memory, err);
    if (st)
        return st;
    bool aligned = (uintptr_t)s->memory->host % 64 == 0;
    st = m->unmap(s->dev, s->memory, err);
    return st || aligned ? st
                         : as_fail(err, AS_UNSUPPORTED, "memory from '%s' does not start at a multiple of 64 bytes",
                                   s->desc.allocator);
}

/* Device memory that the host reaches only by copies: its placement does not depend on who writes it first. */
static bool is_out_of_reach(const struct as_stream *s)
{
    const struct as_allocator *a = as_info_allocator(&s->dev->info, s->desc.allocator);
    return a && (!a->host_access || (a->role == AS_ROLE_DEVICE && !s->dev->info.is_host_memory));
}

/* The first `arrays` arrays, outputs first; the same in each block. A host fills gigabytes in half a second, a kernel
 * in milliseconds. */
static enum as_status stream_fill(struct as_stream *s, unsigned arrays, struct as_error *err)
{
    bool here = s->native || s->desc.device_first || is_out_of_reach(s);
    enum as_status st = here ? as_stream_launch_fill(s, arrays, NULL, err) : fill_from_host(s, arrays, err);
    for (size_t i = 1; i < s->places_n && !st; i++) {
        s->memory = s->places[i];
        st = as_stream_launch_fill(s, arrays, NULL, err);
    }
    s->memory = s->places[0];
    return st;
}

/* Sets the state of the pieces under an array; FILLED only those entirely inside. */
static void stream_mark(struct as_stream *s, unsigned array, enum as_piece what)
{
    const uint64_t from = s->content.offset + array * s->pitch * 8, to = from + s->n * 8;
    const bool whole = what == AS_PIECE_FILLED;
    const uint64_t first = (from + (whole ? AS_ARENA_PIECE - 1 : 0)) / AS_ARENA_PIECE;
    const uint64_t end = (to + (whole ? 0 : AS_ARENA_PIECE - 1)) / AS_ARENA_PIECE;
    for (uint64_t p = first; p < end; p++)
        s->content.pieces[p] = (uint8_t)what;
}

/* Fills what kept memory does not hold yet. Outputs only need to be populated, unless all of them are checked. */
static enum as_status fill_rest(struct as_stream *s, struct as_error *err)
{
    const struct as_stream_shape *shape = as_stream_shape_of(s);
    if (!s->content.pieces)
        return stream_fill(s, shape->arrays, err);
    if (shape->writes && s->whole_check)
        stream_mark(s, shape->out, AS_PIECE_NEW);
    enum as_status st = as_stream_launch_fill(s, shape->arrays, &s->content, err);
    for (unsigned a = shape->writes; a < shape->arrays && !st; a++)
        stream_mark(s, a, AS_PIECE_FILLED);
    if (shape->writes)
        stream_mark(s, shape->out, AS_PIECE_BACKED);
    return st;
}

/* Checked parts of an output must start wrong; a test of widths may have overwritten them. */
static enum as_status reset_output(struct as_stream *s, bool ran, struct as_error *err)
{
    const struct as_stream_shape *shape = as_stream_shape_of(s);
    double block[AS_STREAM_BLOCK];
    enum as_status st = AS_OK;
    if (!shape->writes)
        return AS_OK;
    if (!s->content.pieces || s->whole_check)
        return ran ? stream_fill(s, shape->writes, err) : AS_OK;
    for (unsigned i = 0; i < AS_STREAM_DRAWN && !st; i++) {
        const uint64_t first = s->drawn[i] * AS_STREAM_BLOCK, left = s->n - first;
        const uint64_t count = left < AS_STREAM_BLOCK ? left : AS_STREAM_BLOCK;
        as_stream_fill(s->data, shape->out, true, first, count, block);
        st = as_stream_put(s, s->memory, shape->out * s->pitch + first, block, count, err);
    }
    return st;
}

static enum as_status check_desc(const struct as_stream *s, struct as_error *err)
{
    const struct as_stream_desc *d = &s->desc;
    unsigned least = s->native ? d->threads : 1;
    if (s->native && d->threads == 0)
        return as_fail(err, AS_USAGE, "a stream on a CPU needs at least one thread");
    if (s->n < (uint64_t)least * AS_STREAM_LINE)
        return as_fail(err, AS_USAGE, "%llu bytes are less than a cache line per array and thread",
                       (unsigned long long)d->size);
    if (s->native && !d->choose_width && !as_stream_kernels(d->width))
        return as_fail(err, AS_UNSUPPORTED, "this CPU has no vectors of that width");
    if (d->nontemporal && !as_stream_shape_of(s)->writes)
        return as_fail(err, AS_USAGE, "operation '%s' stores nothing", as_stream_shape_of(s)->name);
    return AS_OK;
}

static void draw_blocks(struct as_stream *s)
{
    struct as_rng rng;
    const uint64_t blocks = (s->n + AS_STREAM_BLOCK - 1) / AS_STREAM_BLOCK;
    as_rng_seed(&rng, s->desc.seed);
    for (unsigned i = 0; i < AS_STREAM_DRAWN; i++)
        s->drawn[i] = i == 0 ? 0 : i == 1 ? blocks - 1 : as_rng_below(&rng, blocks);
}

/* Operands, and their expected sums. */
static enum as_status make_data(struct as_stream *s, struct as_error *err)
{
    s->data = malloc(sizeof *s->data);
    if (!s->data)
        return as_nomem(err, sizeof *s->data, "operands");
    const bool kept = s->native && as_arena_content(s->dev, s->memory, &s->content);
    as_stream_data_init(s->data, kept ? s->content.seed : s->desc.seed);
    if (s->element != 8)
        as_stream_data_narrow(s->data);
    for (unsigned a = 0; a < AS_STREAM_ARRAYS && kept; a++) {
        s->data->at[a].array = 0;
        s->data->at[a].first = s->content.offset / 8 + a * s->pitch;
    }
    draw_blocks(s);
    if (!as_stream_shape_of(s)->writes) {
        s->sum = as_stream_expected_sum(s->data, s->desc.op, s->n);
        s->sum_bits = as_stream_expected_bits(s->data, s->desc.op, s->n);
    }
    return AS_OK;
}

enum as_status as_stream_prepare(struct as_stream *s, struct as_device *dev, const struct as_stream_desc *desc,
                                 struct as_error *err)
{
    *s = (struct as_stream){
        .dev = dev, .own = {.dev = dev}, .desc = *desc, .scalar = 3, .whole_check = desc->whole_check};
    s->native = (dev->info.capabilities & AS_CAP_HOST_KERNELS) != 0;
    s->element = s->native || (dev->info.capabilities & AS_CAP_FP64) ? 8 : 4;
    s->gpu = desc->choose_width && as_stream_has_ways(&dev->info);
    if (!s->native && desc->choose_width)
        s->desc.width = s->element == 8 ? DEVICE_WIDTH : NARROW_WIDTH;
    stream_lay_out(s);
    enum as_status st = check_desc(s, err);
    if (st)
        return st;
    st = get_places(s, err);
    if (!st)
        st = make_data(s, err);
    if (!st)
        st = stream_get_memory(s, err);
    if (!st)
        st = stream_build(s, err);
    if (!st && s->native)
        st = check_alignment(s, err);
    if (!st)
        st = fill_rest(s, err);
    bool ran = false;
    if (!st && (!s->native || desc->choose_width))
        st = as_stream_choose(s, &ran, err);
    return st ? st : reset_output(s, ran, err);
}

/* At least one of each kind per array: the compiler chooses how many elements an instruction covers. */
void as_stream_expect(struct as_trial_context *tc, const struct as_stream *s)
{
    bool fused = s->desc.op == AS_STREAM_TRIAD || s->desc.op == AS_STREAM_NSTREAM || s->desc.op == AS_STREAM_DOT;
    if (as_stream_shape_of(s)->reads)
        as_expect_code(tc, s->kernel, "load.global", as_stream_shape_of(s)->reads);
    if (as_stream_shape_of(s)->writes)
        as_expect_code(tc, s->kernel, "store.global", as_stream_shape_of(s)->writes);
    if (fused)
        as_expect_code(tc, s->kernel, s->element == 8 ? "fma.f64" : "fma.f32", 1);
}

/* ---- sampling ---- */

static enum as_status stream_run_place(struct as_stream *s, uint64_t reps, double *seconds, struct as_error *err)
{
    struct as_timing t;
    const struct as_stream_part part = {.count = s->n, .reps = reps};
    bool apart = s->desc.barrier && (!s->native || s->desc.threads > 1);
    enum as_status st = as_stream_launch(s, &part, &t, err);
    if (st)
        return st;
    s->last_reps = apart ? 1 : reps;
    *seconds += as_timing_seconds(&t);
    return as_stream_check_sum(s, err);
}

/* Restores the outputs to their state before the first repetition. */
static enum as_status begin_again(struct as_stream *s, struct as_error *err)
{
    s->reps = s->scalars = 0;
    return stream_fill(s, as_stream_shape_of(s)->writes, err);
}

enum as_status as_stream_run(struct as_stream *s, uint64_t reps, double *gbs, double *seconds, struct as_error *err)
{
    enum as_status st = AS_OK;
    /* A new scalar each time, so that stale results fail. A simulated device may skip launches that it has seen. */
    if (as_info_shares_host(&s->dev->info))
        s->scalar = 1 + (double)(s->samples++ % 7);
    if (s->reps + (double)reps > (double)as_stream_reps_max(s) && as_stream_reps_max(s) < 1 << 24)
        st = begin_again(s, err);
    *seconds = 0;
    for (size_t i = 0; i < s->places_n && !st; i++) {
        s->memory = s->places[i];
        st = stream_run_place(s, reps, seconds, err);
    }
    s->memory = s->places[0];
    if (st)
        return st;
    s->reps += (double)reps;
    s->scalars += (double)reps * s->scalar;
    *gbs = as_stream_bytes(s) * (double)s->places_n * (double)reps / *seconds * 1e-9;
    return AS_OK;
}

void as_stream_variant(const struct as_stream *s, char *out, size_t size)
{
    static const char *const widths[AS_WIDTHS] = {"scalar", "128", "256", "512", "sve"};
    struct as_buf text = AS_BUF_INIT;
    if (s->native && s->desc.width == AS_WIDTH_SVE)
        as_buf_printf(&text, "SVE, %u bits", 8 * as_cpu_features().sve_bytes);
    else if (s->native)
        as_buf_printf(&text, "%s", widths[s->desc.width]);
    else if (s->gpu)
        as_buf_printf(&text, "%s: %zu workgroups of %zu", s->way, s->grid.workgroups, s->grid.workgroup_size);
    else
        as_buf_printf(&text, "%zu workgroups of %zu, %u %s at once, %s", s->grid.workgroups, s->grid.workgroup_size,
                      as_stream_per_item(s), as_stream_type(s), s->grid.interleaved ? "interleaved" : "in pieces");
    as_copy_text(out, size, as_buf_get(&text));
    as_buf_finish(&text);
}

void as_stream_finish(void *stream)
{
    struct as_stream *s = stream;
    if (!s->dev)
        return;
    as_buffers_finish(&s->own);
    for (size_t i = 0; i < s->places_n; i++)
        as_arena_give(s->dev, s->places[i]);
    free(s->data);
    *s = (struct as_stream){0};
}
