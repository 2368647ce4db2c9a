/* srad_v1: speckle reducing anisotropic diffusion of an image, in fixed point. The host computes the threshold of each
 * iteration from sums of the device. */
#include "app.h"

#include <stdlib.h>

enum { IMAGE, DERIVATIVES, COEFFICIENTS, SUMS, THRESHOLD, SIDES = 4, STEPS = 4, PIXEL = sizeof(int32_t), ONE = 1024 };
static const uint64_t SUMS_BYTES = 2 * (uint64_t)APP_PARTS * sizeof(uint64_t);

/* n: rows and columns */
static void srad_shape(struct app_run *r, uint64_t size)
{
    r->n = as_app_side((size > 2 * SUMS_BYTES ? size - 2 * SUMS_BYTES : 0) / (2 + SIDES) / PIXEL);
    const uint64_t plane = r->n * r->n * PIXEL;
    r->arrays[IMAGE].bytes = r->arrays[COEFFICIENTS].bytes = plane;
    r->arrays[DERIVATIVES].bytes = SIDES * plane;
    r->arrays[COEFFICIENTS].scratch = r->arrays[DERIVATIVES].scratch = true;
    r->arrays[SUMS].bytes = SUMS_BYTES;
    r->arrays[THRESHOLD].bytes = sizeof(uint32_t);
    r->arrays[THRESHOLD].on_stack = r->strategy == APP_STACK;
}

static void srad_fill(int32_t *image, uint64_t n, uint32_t key)
{
    for (uint64_t i = 0; i < n * n; i++)
        image[i] = 1 + (int32_t)(as_app_random(key, i) >> 20);
}

static uint64_t srad_digest(const int32_t *image, uint64_t n)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < n * n; i++)
        digest = as_app_digest(digest, (uint32_t)image[i], i);
    return digest;
}

static void srad_input(struct app_run *r)
{
    int32_t *image = as_app_host(r, IMAGE);
    if (image)
        srad_fill(image, r->n, r->key);
}

/* Variance over the squared mean. */
static uint32_t srad_threshold(uint64_t sum, uint64_t squares, uint64_t cells)
{
    const uint64_t mean = sum / cells, variance = squares / cells - mean * mean;
    return (uint32_t)(ONE * variance / (mean * mean + 1));
}

static void srad_set_threshold(struct app_run *r)
{
    const uint64_t *sums = as_app_host(r, SUMS);
    uint32_t *threshold = as_app_host(r, THRESHOLD);
    uint64_t sum = 0, squares = 0;
    for (size_t part = 0; sums && part < APP_PARTS; part++) {
        sum += sums[part];
        squares += sums[APP_PARTS + part];
    }
    if (threshold)
        *threshold = srad_threshold(sum, squares, r->n * r->n);
}

static void srad_compute(struct app_run *r)
{
    const struct as_arg image = as_app_arg(r, IMAGE), derivatives = as_app_arg(r, DERIVATIVES),
                        coefficients = as_app_arg(r, COEFFICIENTS), side = as_u32_arg(r->n);
    const struct as_arg sum[] = {image, as_app_arg(r, SUMS), as_u64_arg(r->n * r->n), as_u32_arg(APP_PARTS)},
                        derive[] = {image, derivatives, coefficients, as_app_arg(r, THRESHOLD), side},
                        diffuse[] = {image, derivatives, coefficients, side};
    as_app_upload(r, IMAGE, 0, r->arrays[IMAGE].bytes);
    for (int step = 0; step < STEPS; step++) {
        as_app_launch(r, 0, sum, sizeof sum / sizeof *sum);
        as_app_download(r, SUMS, 0, SUMS_BYTES);
        srad_set_threshold(r);
        as_app_upload(r, THRESHOLD, 0, r->arrays[THRESHOLD].bytes);
        as_app_launch(r, 1, derive, sizeof derive / sizeof *derive);
        as_app_launch(r, 2, diffuse, sizeof diffuse / sizeof *diffuse);
    }
    as_app_download(r, IMAGE, 0, r->arrays[IMAGE].bytes);
}

static void srad_output(struct app_run *r)
{
    const int32_t *image = as_app_host(r, IMAGE);
    if (image)
        r->result = srad_digest(image, r->n);
}

static uint32_t srad_whole_threshold(const int32_t *image, uint64_t cells)
{
    uint64_t sum = 0, squares = 0;
    for (uint64_t i = 0; i < cells; i++) {
        sum += (uint64_t)image[i];
        squares += (uint64_t)image[i] * (uint64_t)image[i];
    }
    return srad_threshold(sum, squares, cells);
}

static int64_t srad_pixel(const int32_t *image, uint64_t n, uint64_t row, uint64_t column)
{
    return image[(row < n ? row : n - 1) * n + (column < n ? column : n - 1)];
}

static int64_t srad_coefficient(const int32_t *image, uint64_t n, uint64_t row, uint64_t column, uint64_t threshold)
{
    const int64_t v = srad_pixel(image, n, row, column);
    const int64_t near[SIDES] = {
        srad_pixel(image, n, row > 0 ? row - 1 : 0, column), srad_pixel(image, n, row + 1, column),
        srad_pixel(image, n, row, column > 0 ? column - 1 : 0), srad_pixel(image, n, row, column + 1)};
    int64_t gradient = 0;
    for (size_t k = 0; k < SIDES; k++)
        gradient += (near[k] - v) * (near[k] - v);
    return (int64_t)(ONE * threshold / (threshold + (uint64_t)(ONE * gradient / (v * v + 1)) + 1));
}

/* The next value of a pixel: it takes the coefficients of its own, its southern and its eastern pixel. */
static int32_t srad_next(const int32_t *image, const int32_t *coefficients, uint64_t n, uint64_t row, uint64_t column)
{
    const int64_t v = srad_pixel(image, n, row, column), own = srad_pixel(coefficients, n, row, column);
    const int64_t north = srad_pixel(image, n, row > 0 ? row - 1 : 0, column) - v,
                  west = srad_pixel(image, n, row, column > 0 ? column - 1 : 0) - v,
                  south = srad_pixel(image, n, row + 1, column) - v, east = srad_pixel(image, n, row, column + 1) - v;
    const int64_t flow = own * (north + west) + srad_pixel(coefficients, n, row + 1, column) * south +
                         srad_pixel(coefficients, n, row, column + 1) * east;
    return (int32_t)(v + flow / (8 * ONE));
}

static bool srad_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    const uint64_t cells = n * n;
    int32_t *all = calloc((size_t)(3 * cells), PIXEL);
    if (!all)
        return false;
    int32_t *coefficients = all + 2 * cells, *image = all, *next = all + cells;
    srad_fill(image, n, key);
    for (int step = 0; step < STEPS; step++) {
        const uint32_t threshold = srad_whole_threshold(image, cells);
        for (uint64_t row = 0; row < n; row++)
            for (uint64_t column = 0; column < n; column++)
                coefficients[row * n + column] = (int32_t)srad_coefficient(image, n, row, column, threshold);
        for (uint64_t row = 0; row < n; row++)
            for (uint64_t column = 0; column < n; column++)
                next[row * n + column] = srad_next(image, coefficients, n, row, column);
        int32_t *const last = image;
        image = next;
        next = last;
    }
    *result = srad_digest(image, n);
    free(all);
    return true;
}

const struct app as_app_srad = {"srad_v1",
                                {"sum_squares", "derive", "diffuse"},
                                0,
                                APP_SET(APP_STATIC) | APP_SET(APP_STACK),
                                srad_shape,
                                srad_input,
                                srad_compute,
                                srad_output,
                                srad_reference};
