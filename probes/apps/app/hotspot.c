/* hotspot: temperature of a chip by a five-point stencil, in fixed point. */
#include "app.h"

#include <stdlib.h>

enum { TEMPERATURE, NEXT, POWER, ARRAYS, STEPS = 8, CELL = sizeof(int32_t), AMBIENT = 80 << 10 };
_Static_assert(STEPS % 2 == 0, "the last step writes TEMPERATURE");

/* n: rows and columns */
static void hotspot_shape(struct app_run *r, uint64_t size)
{
    r->n = as_app_side(size / ARRAYS / CELL);
    for (size_t k = 0; k < ARRAYS; k++)
        r->arrays[k].bytes = r->n * r->n * CELL;
    r->arrays[NEXT].scratch = true;
}

static void hotspot_fill(int32_t *temperature, int32_t *power, uint64_t n, uint32_t key)
{
    for (uint64_t i = 0; i < n * n; i++) {
        const uint32_t random = as_app_random(key, i);
        temperature[i] = (323 << 10) + (int32_t)(random & 0xffff);
        power[i] = (int32_t)(random >> 20);
    }
}

static uint64_t hotspot_digest(const int32_t *temperature, uint64_t n)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < n * n; i++)
        digest = as_app_digest(digest, (uint32_t)temperature[i], i);
    return digest;
}

static void hotspot_input(struct app_run *r)
{
    int32_t *temperature = as_app_host(r, TEMPERATURE), *power = as_app_host(r, POWER);
    if (temperature && power)
        hotspot_fill(temperature, power, r->n, r->key);
}

static void hotspot_compute(struct app_run *r)
{
    const uint64_t bytes = r->arrays[TEMPERATURE].bytes;
    as_app_upload(r, TEMPERATURE, 0, bytes);
    as_app_upload(r, POWER, 0, bytes);
    for (int step = 0; step < STEPS; step++) {
        const struct as_arg args[] = {as_app_arg(r, step % 2 ? NEXT : TEMPERATURE), as_app_arg(r, POWER),
                                      as_app_arg(r, step % 2 ? TEMPERATURE : NEXT), as_u32_arg(r->n)};
        as_app_launch(r, 0, args, sizeof args / sizeof *args);
    }
    as_app_download(r, TEMPERATURE, 0, bytes);
}

static void hotspot_output(struct app_run *r)
{
    const int32_t *temperature = as_app_host(r, TEMPERATURE);
    if (temperature)
        r->result = hotspot_digest(temperature, r->n);
}

static void hotspot_row(const int32_t *from, const int32_t *power, int32_t *to, uint64_t n, uint64_t row)
{
    const int32_t *north = from + (row > 0 ? row - 1 : row) * n, *south = from + (row + 1 < n ? row + 1 : row) * n;
    const int32_t *middle = from + row * n;
    for (uint64_t c = 0; c < n; c++) {
        const int32_t t = middle[c], west = middle[c > 0 ? c - 1 : c], east = middle[c + 1 < n ? c + 1 : c];
        const int32_t change =
            4 * power[row * n + c] + 3 * (north[c] + south[c] - 2 * t) + 5 * (west + east - 2 * t) + (AMBIENT - t);
        to[row * n + c] = t + change / 64;
    }
}

static bool hotspot_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    int32_t *all = calloc((size_t)(ARRAYS * n * n), CELL);
    if (!all)
        return false;
    int32_t *grids[] = {all, all + n * n}, *power = all + 2 * n * n;
    hotspot_fill(all, power, n, key);
    for (int step = 0; step < STEPS; step++)
        for (uint64_t row = 0; row < n; row++)
            hotspot_row(grids[step % 2], power, grids[(step + 1) % 2], n, row);
    *result = hotspot_digest(all, n);
    free(all);
    return true;
}

const struct app as_app_hotspot = {"hotspot",           {"hotspot"},    0,
                                   APP_SET(APP_STATIC), hotspot_shape,  hotspot_input,
                                   hotspot_compute,     hotspot_output, hotspot_reference};
