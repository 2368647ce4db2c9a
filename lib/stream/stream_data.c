/* Operands and the reference of streams. */
#include "stream.h"

#include <string.h>

/* Ten bits and a sign: a product has 20 bits, and 2^31 of them sum up exactly in 53. */
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
    for (unsigned a = 0; a < AS_STREAM_ARRAYS; a++) {
        d->at[a].array = a;
        d->at[a].first = 0;
    }
}

/* 32-bit multiplications and shifts, available on every device. */
static uint32_t stream_shift(uint32_t key, unsigned array, uint64_t block)
{
    uint32_t h = ((uint32_t)block + key + array * 0x632be5abu) * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    return h >> 20; /* 12 bits: AS_STREAM_TABLE places */
}

/* From element i of an array to the end of its block: table position and length. */
static const double *values_from(const struct as_stream_data *d, unsigned array, uint64_t i, uint64_t *n)
{
    const uint64_t at = d->at[array].first + i;
    *n = AS_STREAM_BLOCK - at % AS_STREAM_BLOCK;
    return d->table + stream_shift(d->key, d->at[array].array, at / AS_STREAM_BLOCK) + at % AS_STREAM_BLOCK;
}

static uint64_t stream_data_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

double as_stream_value(const struct as_stream_data *d, unsigned array, bool output, uint64_t i)
{
    uint64_t n;
    return *values_from(d, array, i, &n) + (output ? 0.5 : 0);
}

void as_stream_fill(const struct as_stream_data *d, unsigned array, bool output, uint64_t first, uint64_t count,
                    double *p)
{
    for (uint64_t i = 0, n; i < count; i += n, p += n) {
        const double *from = values_from(d, array, first + i, &n);
        n = stream_data_least(n, count - i);
        if (output)
            for (uint64_t k = 0; k < n; k++)
                p[k] = from[k] + 0.5;
        else
            memcpy(p, from, n * sizeof *p);
    }
}

static double result(enum as_stream_op op, const struct as_stream_done *done, double before, double x, double y)
{
    switch (op) {
    case AS_STREAM_COPY:
        return x;
    case AS_STREAM_MUL:
        return done->s * x;
    case AS_STREAM_ADD:
        return x + y;
    case AS_STREAM_TRIAD:
        return x + done->s * y;
    case AS_STREAM_NSTREAM:
        return before + done->reps * x + done->scalars * y;
    default:
        return done->s;
    }
}

void as_stream_expected(const struct as_stream_data *d, enum as_stream_op op, const struct as_stream_done *done,
                        uint64_t first, uint64_t count, double *out)
{
    const struct as_stream_shape *shape = &as_stream_shapes[op];
    for (uint64_t i = 0, n; i < count; i += n) {
        uint64_t x_n, y_n, out_n;
        const double *x = values_from(d, shape->x, first + i, &x_n), *y = values_from(d, shape->y, first + i, &y_n);
        const double *before = values_from(d, shape->out, first + i, &out_n);
        n = stream_data_least(stream_data_least(x_n, y_n), stream_data_least(out_n, count - i));
        for (uint64_t k = 0; k < n; k++)
            out[i + k] = result(op, done, before[k] + 0.5, x[k], y[k]);
    }
}

/* The whole blocks of an array: element where the first begins, and element after the last. */
struct blocks {
    uint64_t head, end;
};

/* Counts the whole blocks per start position, so that the sum runs over the table, not the array.
 */
static struct blocks count_blocks(const struct as_stream_data *d, unsigned array, uint64_t n,
                                  uint64_t counts[AS_STREAM_TABLE])
{
    const uint64_t first = d->at[array].first,
                   head = stream_data_least(n, (AS_STREAM_BLOCK - first % AS_STREAM_BLOCK) % AS_STREAM_BLOCK);
    const uint64_t whole = (n - head) / AS_STREAM_BLOCK;
    memset(counts, 0, AS_STREAM_TABLE * sizeof *counts);
    for (uint64_t b = 0; b < whole; b++)
        counts[stream_shift(d->key, d->at[array].array, (first + head) / AS_STREAM_BLOCK + b)]++;
    return (struct blocks){.head = head, .end = head + whole * AS_STREAM_BLOCK};
}

static double sum_of_values(const struct as_stream_data *d, unsigned array, uint64_t n)
{
    uint64_t counts[AS_STREAM_TABLE];
    double total = 0, block = 0;
    const struct blocks b = count_blocks(d, array, n, counts);
    for (size_t k = 0; k < AS_STREAM_BLOCK; k++)
        block += d->table[k];
    for (size_t i = 0; i < AS_STREAM_TABLE; i++) {
        total += (double)counts[i] * block;
        block += d->table[i + AS_STREAM_BLOCK] - d->table[i];
    }
    for (uint64_t i = 0; i < b.head; i++)
        total += as_stream_value(d, array, false, i);
    for (uint64_t i = b.end; i < n; i++)
        total += as_stream_value(d, array, false, i);
    return total;
}

static double sum_of_products(const struct as_stream_data *d, unsigned array, unsigned other, uint64_t n)
{
    double total = 0;
    for (uint64_t i = 0, take; i < n; i += take) {
        uint64_t x_n, y_n;
        const double *x = values_from(d, array, i, &x_n), *y = values_from(d, other, i, &y_n);
        take = stream_data_least(stream_data_least(x_n, y_n), n - i);
        for (uint64_t k = 0; k < take; k++)
            total += x[k] * y[k];
    }
    return total;
}

double as_stream_expected_sum(const struct as_stream_data *d, enum as_stream_op op, uint64_t n)
{
    const struct as_stream_shape *shape = &as_stream_shapes[op];
    return op == AS_STREAM_DOT ? sum_of_products(d, shape->x, shape->y, n) : sum_of_values(d, shape->x, n);
}

static uint64_t stream_data_bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t as_stream_expected_bits(const struct as_stream_data *d, enum as_stream_op op, uint64_t n)
{
    uint64_t counts[AS_STREAM_TABLE], total = 0, block = 0;
    const unsigned array = as_stream_shapes[op].x;
    const struct blocks b = count_blocks(d, array, n, counts);
    for (size_t k = 0; k < AS_STREAM_BLOCK; k++)
        block += stream_data_bits_of(d->table[k]);
    for (size_t i = 0; i < AS_STREAM_TABLE; i++) {
        total += counts[i] * block;
        block += stream_data_bits_of(d->table[i + AS_STREAM_BLOCK]) - stream_data_bits_of(d->table[i]);
    }
    for (uint64_t i = 0; i < b.head; i++)
        total += stream_data_bits_of(as_stream_value(d, array, false, i));
    for (uint64_t i = b.end; i < n; i++)
        total += stream_data_bits_of(as_stream_value(d, array, false, i));
    return total;
}
