/* backprop: one epoch of a perceptron with one hidden layer, in fixed point: the device sums the inputs of the hidden
 * units and adjusts their weights, the host computes the error between them. */
#include "app.h"

#include <stdlib.h>
#include <string.h>

enum { INPUT, WEIGHTS, CHANGES, SUMS, ERRORS, HIDDEN = 16, WORD = sizeof(int32_t), ONE = 1 << 12 };
static const uint64_t SUMS_BYTES = (uint64_t)APP_PARTS * HIDDEN * sizeof(int64_t);

/* n: input units */
static void backprop_shape(struct app_run *r, uint64_t size)
{
    const uint64_t fixed = SUMS_BYTES + HIDDEN * WORD, unit = (1 + 2 * HIDDEN) * WORD;
    r->n = size > fixed + unit ? (size - fixed) / unit : 1;
    r->arrays[INPUT].bytes = r->n * WORD;
    r->arrays[WEIGHTS].bytes = r->arrays[CHANGES].bytes = r->n * HIDDEN * WORD;
    r->arrays[SUMS].bytes = SUMS_BYTES;
    r->arrays[ERRORS].bytes = HIDDEN * WORD;
}

static int32_t backprop_signed(uint32_t key, uint64_t i)
{
    return (int32_t)(as_app_random(key, i) >> 19) - ONE;
}

static void backprop_fill(int32_t *input, int32_t *weights, int32_t *changes, uint64_t n, uint32_t key)
{
    for (uint64_t i = 0; i < n; i++)
        input[i] = backprop_signed(key, i);
    for (uint64_t e = 0; e < n * HIDDEN; e++)
        weights[e] = backprop_signed(key, n + e);
    memset(changes, 0, (size_t)(n * HIDDEN) * sizeof *changes);
}

static void backprop_input(struct app_run *r)
{
    int32_t *input = as_app_host(r, INPUT), *weights = as_app_host(r, WEIGHTS), *changes = as_app_host(r, CHANGES);
    if (input && weights && changes)
        backprop_fill(input, weights, changes, r->n, r->key);
}

/* The error of a hidden unit from the sum of its inputs: the target is half of one, the activation x / (1 + |x|). */
static int32_t backprop_error(int64_t sum, uint64_t n)
{
    const int64_t x = sum / (int64_t)n, size = x < 0 ? -x : x;
    return (int32_t)(ONE / 2 - x * ONE / (ONE + size));
}

static void backprop_find_errors(struct app_run *r)
{
    const int64_t *sums = as_app_host(r, SUMS);
    int32_t *errors = as_app_host(r, ERRORS);
    for (size_t j = 0; sums && errors && j < HIDDEN; j++) {
        int64_t sum = 0;
        for (size_t part = 0; part < APP_PARTS; part++)
            sum += sums[part * HIDDEN + j];
        errors[j] = backprop_error(sum, r->n);
    }
}

static void backprop_compute(struct app_run *r)
{
    as_app_upload(r, INPUT, 0, r->arrays[INPUT].bytes);
    as_app_upload(r, WEIGHTS, 0, r->arrays[WEIGHTS].bytes);
    const struct as_arg forward[] = {as_app_arg(r, INPUT), as_app_arg(r, WEIGHTS), as_app_arg(r, SUMS),
                                     as_u64_arg(r->n), as_u32_arg(APP_PARTS)};
    as_app_launch(r, 0, forward, sizeof forward / sizeof *forward);
    as_app_download(r, SUMS, 0, SUMS_BYTES);
    backprop_find_errors(r);
    as_app_upload(r, ERRORS, 0, r->arrays[ERRORS].bytes);
    as_app_upload(r, CHANGES, 0, r->arrays[CHANGES].bytes);
    const struct as_arg adjust[] = {as_app_arg(r, INPUT), as_app_arg(r, ERRORS), as_app_arg(r, WEIGHTS),
                                    as_app_arg(r, CHANGES), as_u64_arg(r->n)};
    as_app_launch(r, 1, adjust, sizeof adjust / sizeof *adjust);
    as_app_download(r, WEIGHTS, 0, r->arrays[WEIGHTS].bytes);
}

static uint64_t backprop_digest(const int32_t *weights, uint64_t n)
{
    uint64_t digest = 0;
    for (uint64_t e = 0; e < n * HIDDEN; e++)
        digest = as_app_digest(digest, (uint32_t)weights[e], e);
    return digest;
}

static void backprop_output(struct app_run *r)
{
    const int32_t *weights = as_app_host(r, WEIGHTS);
    if (weights)
        r->result = backprop_digest(weights, r->n);
}

static bool backprop_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    int32_t *input = n ? malloc((size_t)(n * (1 + 2 * HIDDEN)) * sizeof *input) : NULL;
    if (!input)
        return false;
    int32_t *weights = input + n, *changes = weights + n * HIDDEN, errors[HIDDEN];
    backprop_fill(input, weights, changes, n, key);
    for (size_t j = 0; j < HIDDEN; j++) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < n; i++)
            sum += (int64_t)input[i] * weights[i * HIDDEN + j] / ONE;
        errors[j] = backprop_error(sum, n);
    }
    for (uint64_t e = 0; e < n * HIDDEN; e++)
        weights[e] += errors[e % HIDDEN] * input[e / HIDDEN] / ONE + changes[e] / 4;
    *result = backprop_digest(weights, n);
    free(input);
    return true;
}

const struct app as_app_backprop = {"backprop",
                                    {"sum_inputs", "adjust_weights"},
                                    0,
                                    APP_SET(APP_STATIC),
                                    backprop_shape,
                                    backprop_input,
                                    backprop_compute,
                                    backprop_output,
                                    backprop_reference};
