/* Operands and the reference of streams. */
#include "stream.h"

#include <string.h>

/* Ten bits and a sign: a product has 20 bits, and 2^31 of them still sum up exactly in 53. */
enum { VALUE_MAX = 1023 };

const struct as_stream_shape as_stream_shapes[AS_STREAM_OPS] = {
    /*                     name     reads writes out x y arrays */
    [AS_STREAM_COPY] = {"copy", 1, 1, 0, 1, 1, 2},       [AS_STREAM_MUL] = {"mul", 1, 1, 0, 1, 1, 2},
    [AS_STREAM_ADD] = {"add", 2, 1, 0, 1, 2, 3},         [AS_STREAM_TRIAD] = {"triad", 2, 1, 0, 1, 2, 3},
    [AS_STREAM_NSTREAM] = {"nstream", 3, 1, 0, 1, 2, 3}, [AS_STREAM_DOT] = {"dot", 2, 0, 0, 0, 1, 2},
    [AS_STREAM_READ] = {"read", 1, 0, 0, 0, 0, 1},       [AS_STREAM_WRITE] = {"write", 0, 1, 0, 0, 0, 1},
};

void as_stream_data_init(struct as_stream_data *d, uint64_t seed)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    d->key = (uint32_t)as_rng_u64(&rng);
    for (size_t i = 0; i < AS_STREAM_TABLE; i++) {
        double v = 1 + (double)as_rng_below(&rng, VALUE_MAX);
        d->table[i] = as_rng_u64(&rng) & 1 ? -v : v;
    }
    memcpy(d->table + AS_STREAM_TABLE, d->table, AS_STREAM_BLOCK * sizeof *d->table);
}

/* Multiplications and shifts of 32 bits, as every device has them. */
uint32_t as_stream_shift(uint32_t key, unsigned array, uint64_t block)
{
    uint32_t h = ((uint32_t)block + key + array * 0x632be5abu) * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    return h >> 20; /* 12 bits: AS_STREAM_TABLE places */
}

double as_stream_value(const struct as_stream_data *d, unsigned array, bool output, uint64_t i)
{
    uint32_t shift = as_stream_shift(d->key, array, i / AS_STREAM_BLOCK);
    return d->table[shift + i % AS_STREAM_BLOCK] + (output ? 0.5 : 0);
}

void as_stream_fill(const struct as_stream_data *d, unsigned array, bool output, uint64_t first, uint64_t count,
                    double *p)
{
    for (uint64_t i = first, end = first + count; i < end;) {
        const double *from = d->table + as_stream_shift(d->key, array, i / AS_STREAM_BLOCK) + i % AS_STREAM_BLOCK;
        uint64_t left = AS_STREAM_BLOCK - i % AS_STREAM_BLOCK, take = end - i < left ? end - i : left;
        if (output)
            for (uint64_t k = 0; k < take; k++)
                p[k] = from[k] + 0.5;
        else
            memcpy(p, from, take * sizeof *p);
        i += take;
        p += take;
    }
}

double as_stream_expected(const struct as_stream_data *d, enum as_stream_op op, uint64_t i, double s, double reps,
                          double scalars)
{
    const struct as_stream_shape *shape = &as_stream_shapes[op];
    double x = as_stream_value(d, shape->x, false, i), y = as_stream_value(d, shape->y, false, i);
    switch (op) {
    case AS_STREAM_COPY:
        return x;
    case AS_STREAM_MUL:
        return s * x;
    case AS_STREAM_ADD:
        return x + y;
    case AS_STREAM_TRIAD:
        return x + s * y;
    case AS_STREAM_NSTREAM:
        return as_stream_value(d, shape->out, true, i) + reps * x + scalars * y;
    default:
        return s;
    }
}

/* How many whole blocks of an array start at each place of the table: what is then summed is the table, not the array.
 */
static void count_blocks(const struct as_stream_data *d, unsigned array, uint64_t blocks,
                         uint64_t counts[AS_STREAM_TABLE])
{
    memset(counts, 0, AS_STREAM_TABLE * sizeof *counts);
    for (uint64_t b = 0; b < blocks; b++)
        counts[as_stream_shift(d->key, array, b)]++;
}

static double sum_of_values(const struct as_stream_data *d, unsigned array, uint64_t n)
{
    uint64_t counts[AS_STREAM_TABLE], whole = n / AS_STREAM_BLOCK;
    double total = 0, block = 0;
    count_blocks(d, array, whole, counts);
    for (size_t k = 0; k < AS_STREAM_BLOCK; k++)
        block += d->table[k];
    for (size_t i = 0; i < AS_STREAM_TABLE; i++) {
        total += (double)counts[i] * block;
        block += d->table[i + AS_STREAM_BLOCK] - d->table[i];
    }
    for (uint64_t i = whole * AS_STREAM_BLOCK; i < n; i++)
        total += as_stream_value(d, array, false, i);
    return total;
}

static double sum_of_products(const struct as_stream_data *d, unsigned array, unsigned other, uint64_t n)
{
    double total = 0;
    for (uint64_t i = 0; i < n;) {
        const double *x = d->table + as_stream_shift(d->key, array, i / AS_STREAM_BLOCK);
        const double *y = d->table + as_stream_shift(d->key, other, i / AS_STREAM_BLOCK);
        uint64_t take = n - i < AS_STREAM_BLOCK ? n - i : AS_STREAM_BLOCK;
        for (uint64_t k = 0; k < take; k++)
            total += x[k] * y[k];
        i += take;
    }
    return total;
}

double as_stream_expected_sum(const struct as_stream_data *d, enum as_stream_op op, uint64_t n)
{
    const struct as_stream_shape *shape = &as_stream_shapes[op];
    return op == AS_STREAM_DOT ? sum_of_products(d, shape->x, shape->y, n) : sum_of_values(d, shape->x, n);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t as_stream_expected_bits(const struct as_stream_data *d, enum as_stream_op op, uint64_t n)
{
    uint64_t counts[AS_STREAM_TABLE], whole = n / AS_STREAM_BLOCK, total = 0, block = 0;
    unsigned array = as_stream_shapes[op].x;
    count_blocks(d, array, whole, counts);
    for (size_t k = 0; k < AS_STREAM_BLOCK; k++)
        block += bits_of(d->table[k]);
    for (size_t i = 0; i < AS_STREAM_TABLE; i++) {
        total += counts[i] * block;
        block += bits_of(d->table[i + AS_STREAM_BLOCK]) - bits_of(d->table[i]);
    }
    for (uint64_t i = whole * AS_STREAM_BLOCK; i < n; i++)
        total += bits_of(as_stream_value(d, array, false, i));
    return total;
}
