/* Path mma on a CPU with SME: both operands are packed by a transposition in ZA, then each thread takes the next free
 * block of d, since cores of one machine may differ several times in speed. Sums of 16-bit types are f32 until K ends;
 * others are summed in d. */
#include "outer.h"

#include "cores_internal.h"
#include "device/cpu/features.h"

#include <stdio.h>

enum {
    PART_STEPS = 1024,  /* of K per block: loading and storing the tiles takes less than a tenth of the time */
    CACHED = 512 << 10, /* bytes of panels of B per block */
};

const struct as_outer *as_outer_find(enum as_gemm_type type)
{
    for (const struct as_outer *o = as_outers; o->code; o++)
        if (o->type == type)
            return o;
    return NULL;
}

bool as_outer_has(const struct as_outer *outer, char *text, size_t size)
{
    return as_cpu_has(outer->needs, text, size);
}

void as_gemm_outer_set(struct as_gemm_cores *c, const struct as_outer *o)
{
    const unsigned bytes = as_cpu_features().sme_bytes;
    c->outer = o;
    c->vector = bytes / o->word;
    snprintf(c->name, sizeof c->name, "%s_%u_%s", o->code, 8 * bytes, o->types);
    c->a.images = o->rows;
    c->b.images = o->columns;
    c->a.image_lines = c->b.image_lines = c->vector;
    c->a.image_words = c->b.image_words = bytes / (unsigned)sizeof(uint32_t);
    c->step_words = o->word / (unsigned)sizeof(uint32_t);
}

static void pack_panels(const struct as_gemm_cores *c, const struct as_packing *p, const unsigned char *from,
                        unsigned char *to, const struct as_host_call *call)
{
    const struct as_outer *o = c->outer;
    const uint64_t line_bytes = c->words * sizeof(uint32_t), vectors = as_gemm_panels(p) * p->images;
    const struct as_share own = as_gemm_share(vectors, call->thread, call->threads);
    const uint64_t image_bytes = (uint64_t)c->vector * o->word, step_bytes = image_bytes * p->images;
    for (uint64_t i = own.from; i < own.to; i++) {
        const uint64_t first = i * c->vector, left = first < p->lines ? p->lines - first : 0;
        o->pack(&(struct as_outer_packing){
            .from = from + (left ? first * line_bytes : 0),
            .to = to + i / p->images * c->steps * step_bytes + i % p->images * image_bytes,
            .lines = left < c->vector ? left : c->vector,
            .line_bytes = line_bytes,
            .words = c->steps,
            .step_bytes = step_bytes,
        });
    }
}

/* A panel of A times some of B, into d from `row` and `column` on. */
struct block {
    uint64_t a, b, row, column, rows, columns;
};

static struct block block_of(const struct as_gemm_cores *c, uint64_t which, uint64_t beside)
{
    const uint64_t a = as_gemm_panels(&c->a);
    struct block k = {.a = which % a, .b = which / a * beside};
    const uint64_t rows = (uint64_t)c->outer->rows * c->vector, columns = (uint64_t)c->outer->columns * c->vector;
    k.row = k.a * rows;
    k.column = k.b * columns;
    k.rows = c->a.lines - k.row < rows ? c->a.lines - k.row : rows;
    k.columns = c->b.lines - k.column < beside * columns ? c->b.lines - k.column : beside * columns;
    return k;
}

static void multiply_block(const struct as_gemm_cores *c, const struct as_host_call *call, const struct block *k)
{
    const struct as_outer *o = c->outer;
    const uint64_t a_step = (uint64_t)o->rows * c->vector * o->word,
                   b_step = (uint64_t)o->columns * c->vector * o->word;
    const uint64_t row_bytes = c->b.lines * o->word;
    const bool rounded = as_gemm_formats[c->type].out_bytes != o->word;
    unsigned char *sums = rounded ? call->args[6] : call->args[2];
    for (uint64_t step = 0; step < c->steps; step += PART_STEPS) {
        const uint64_t left = c->steps - step;
        o->multiply(&(struct as_outer_job){
            .a = (const unsigned char *)call->args[4] + (k->a * c->steps + step) * a_step,
            .b = (const unsigned char *)call->args[5] + (k->b * c->steps + step) * b_step,
            .d = sums + k->row * row_bytes + k->column * o->word,
            .steps = left < PART_STEPS ? left : PART_STEPS,
            .rows = k->rows,
            .columns = k->columns,
            .row_bytes = row_bytes,
            .panel_bytes = c->steps * b_step,
            .add = step > 0,
        });
    }
    for (uint64_t i = k->row; i < k->row + k->rows && rounded; i++) {
        const uint64_t at = i * c->b.lines + k->column;
        as_gemm_store_row(c, (const uint32_t *)call->args[6] + at, k->columns, NULL, call->args[2], at);
    }
}

void as_gemm_outer_run(struct as_gemm_cores *c, const struct as_host_call *call)
{
    const uint64_t panels = as_gemm_panels(&c->b), steps = c->steps < PART_STEPS ? c->steps : PART_STEPS;
    const uint64_t panel_bytes = steps * c->outer->columns * c->vector * c->outer->word;
    const uint64_t beside = CACHED / panel_bytes + 1;
    const uint64_t blocks = as_gemm_panels(&c->a) * ((panels + beside - 1) / beside);
    for (uint64_t rep = 0; rep < call->reps; rep++) {
        pack_panels(c, &c->a, call->args[0], call->args[4], call);
        pack_panels(c, &c->b, call->args[1], call->args[5], call);
        if (call->thread == 0)
            atomic_store_explicit(&c->next, 0, memory_order_relaxed);
        as_barrier_wait(&c->meet);
        for (uint64_t which; (which = atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed)) < blocks;) {
            const struct block k = block_of(c, which, beside);
            multiply_block(c, call, &k);
        }
        as_barrier_wait(&c->meet);
    }
}
