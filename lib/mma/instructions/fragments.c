#include "fragments.h"
#include "lib/buffers/buffers.h"

#include <stdlib.h>
#include <string.h>

/* Problems per launch: enough to amortise it, in blocks of bounded size. */
enum { BATCH_MAX = 1024, BLOCK_MAX = 16 << 20 };

enum as_status as_fragments_run(struct as_fragments *f, size_t count, struct as_error *err)
{
    struct as_device *dev = f->timer.dev;
    const struct as_arg args[] = {as_memory_arg(f->memory[AS_MATRIX_A]), as_memory_arg(f->memory[AS_MATRIX_B]),
                                  as_memory_arg(f->memory[AS_MATRIX_C]), as_u32_arg(count), as_pointer_arg(f->core)};
    const struct as_launch launch = f->core
                                        ? as_launch_of(f->kernel, args, sizeof args / sizeof *args, 1, 1)
                                        : as_launch_of(f->kernel, args, AS_MATRIX_OPERANDS, count, f->matrix->lanes);
    struct as_timing unused;
    enum as_status st = AS_OK;
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS && !st; which++)
        st = dev->memory->write(dev, f->memory[which], 0, f->image[which], count * f->bytes[which], err);
    if (!st)
        st = dev->queue->launch(dev, &launch, &unused, err);
    if (!st)
        st = dev->memory->read(dev, f->memory[AS_MATRIX_C], 0, f->image[AS_MATRIX_C], count * f->bytes[AS_MATRIX_C],
                               err);
    return st;
}

static enum as_status fragments_multiply_some(struct as_fragments *f, size_t count, const uint64_t *const numbers[],
                                              uint64_t *d, struct as_error *err)
{
    for (int w = AS_MATRIX_A; w < AS_MATRIX_OPERANDS; w++) {
        enum as_matrix_operand which = (enum as_matrix_operand)w;
        size_t each = as_matrix_count(f->matrix, which, f->n);
        memset(f->image[w], 0, count * f->bytes[w]);
        for (size_t i = 0; i < count; i++)
            as_image_pack(f->matrix, which, f->n, 0, numbers[w] + i * each, f->image[w] + i * f->bytes[w]);
    }
    enum as_status st = as_fragments_run(f, count, err);
    for (size_t i = 0; i < count && !st; i++)
        as_image_unpack(f->matrix, AS_MATRIX_C, f->n, f->image[AS_MATRIX_C] + i * f->bytes[AS_MATRIX_C],
                        d + i * f->matrix->m * f->n);
    return st;
}

/* Elements that a sparse operand does not store must be 0. */
static enum as_status check_places(const struct as_fragments *f, size_t count, const uint64_t *a, struct as_error *err)
{
    const struct as_number_format *format = f->unit.a;
    for (unsigned row = 0; row < f->matrix->m && f->matrix->sparse; row++)
        for (unsigned column = 0; column < f->matrix->k; column++) {
            if (as_image_holds(f->matrix, AS_MATRIX_A, row, column))
                continue;
            for (size_t i = 0; i < count; i++)
                if (as_number_decode(format, a[(i * f->matrix->m + row) * f->matrix->k + column]) != 0)
                    return as_fail(err, AS_USAGE, "%s does not store column %u of its sparse operand", f->matrix->name,
                                   column);
        }
    return AS_OK;
}

static enum as_status fragments_multiply(void *ctx, size_t count, const uint64_t *a, const uint64_t *b,
                                         const uint64_t *c, uint64_t *d, struct as_error *err)
{
    struct as_fragments *f = ctx;
    size_t m = f->matrix->m, n = f->n, k = f->matrix->k;
    enum as_status st = check_places(f, count, a, err);
    for (size_t at = 0; at < count && !st; at += f->batch) {
        const uint64_t *const numbers[] = {a + at * m * k, b + at * k * n, c + at * m * n};
        st = fragments_multiply_some(f, count - at < f->batch ? count - at : f->batch, numbers, d + at * m * n, err);
    }
    return st;
}

static enum as_status fragments_allocate(struct as_fragments *f, struct as_error *err)
{
    size_t largest = 1;
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        f->bytes[which] = as_image_bytes(f->matrix, (enum as_matrix_operand)which, f->n);
        largest = f->bytes[which] > largest ? f->bytes[which] : largest;
    }
    f->batch = BLOCK_MAX / largest < BATCH_MAX ? BLOCK_MAX / largest : BATCH_MAX;
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++) {
        size_t bytes = f->batch * f->bytes[which];
        enum as_status st = as_kernel_timer_keep_memory(&f->timer, bytes, &f->memory[which], err);
        if (st)
            return st;
        f->image[which] = malloc(bytes);
        if (!f->image[which])
            return as_nomem(err, bytes, "operands of a matrix instruction");
    }
    return AS_OK;
}

static enum as_status fragments_build(struct as_fragments *f, struct as_device *dev, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    if (as_info_only_host_kernels(&dev->info)) {
        f->core = as_core_find(f->matrix->name);
        return as_core_prepare(f->core, &f->timer, dev, 1, err);
    }
    as_matrix_source(f->matrix, f->n, NULL, &text);
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_kernel_timer_prepare(&f->timer, dev, f->matrix->name, "", as_buf_get(&text), NULL, 1, err);
    as_buf_finish(&text);
    return st;
}

enum as_status as_fragments_open(struct as_fragments *f, struct as_device *dev, const struct as_matrix *matrix,
                                 unsigned n, struct as_error *err)
{
    *f = (struct as_fragments){.matrix = matrix, .n = n ? n : matrix->n};
    f->unit = (struct as_matrix_unit){.a = as_matrix_format(matrix, AS_MATRIX_A),
                                      .b = as_matrix_format(matrix, AS_MATRIX_B),
                                      .c = as_matrix_format(matrix, AS_MATRIX_C),
                                      .m = matrix->m,
                                      .n = f->n,
                                      .k = matrix->k,
                                      .multiply = fragments_multiply,
                                      .ctx = f};
    if (!as_matrix_columns(matrix, n))
        return as_fail(err, AS_USAGE, "%s does not have %u columns", matrix->name, n);
    if (as_matrix_applies(matrix, &dev->info, err) != AS_APPLIES)
        return AS_UNSUPPORTED;
    enum as_status st = fragments_build(f, dev, err);
    if (!st)
        st = as_kernel_timer_keep_kernel(&f->timer, "multiply", &f->kernel, err);
    return st ? st : fragments_allocate(f, err);
}

void as_fragments_close(void *state)
{
    struct as_fragments *f = state;
    as_kernel_timer_finish(&f->timer);
    for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++)
        free(f->image[which]);
    *f = (struct as_fragments){.n = 0};
}
