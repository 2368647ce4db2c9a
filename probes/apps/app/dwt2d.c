/* dwt2d: forward wavelet transform of an image by integer lifting (5/3), low frequencies first. */
#include "app.h"

#include <stdlib.h>

enum { SAMPLES, WORK, PLANES = 3, LEVELS = 3, SAMPLE = sizeof(int32_t) };

/* n: rows and columns, which halve at each level */
static void dwt2d_shape(struct app_run *r, uint64_t size)
{
    const uint64_t side = as_app_side(size / (PLANES + 1) / SAMPLE) >> LEVELS << LEVELS;
    r->n = side ? side : 1 << LEVELS;
    r->arrays[SAMPLES].bytes = PLANES * r->n * r->n * SAMPLE;
    r->arrays[WORK].bytes = r->n * r->n * SAMPLE;
    r->arrays[WORK].scratch = true;
}

static void dwt2d_fill(int32_t *samples, uint64_t n, uint32_t key)
{
    for (uint64_t i = 0; i < PLANES * n * n; i++)
        samples[i] = (int32_t)(as_app_random(key, i) >> 24) - 128;
}

static uint64_t dwt2d_digest(const int32_t *samples, uint64_t n)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; i < PLANES * n * n; i++)
        digest = as_app_digest(digest, (uint32_t)samples[i], i);
    return digest;
}

static void dwt2d_input(struct app_run *r)
{
    int32_t *samples = as_app_host(r, SAMPLES);
    if (samples)
        dwt2d_fill(samples, r->n, r->key);
}

static void dwt2d_compute(struct app_run *r)
{
    const struct as_arg samples = as_app_arg(r, SAMPLES), work = as_app_arg(r, WORK), pitch = as_u32_arg(r->n);
    const uint64_t cells = r->n * r->n;
    const bool by_part = r->strategy == APP_PARTIAL_TRANSFERS;
    if (!by_part)
        as_app_upload(r, SAMPLES, 0, r->arrays[SAMPLES].bytes);
    for (uint64_t plane = 0; plane < PLANES; plane++) {
        if (by_part)
            as_app_upload(r, SAMPLES, plane * cells * SAMPLE, cells * SAMPLE);
        for (unsigned level = 0; level < LEVELS; level++)
            for (unsigned vertical = 0; vertical < 2; vertical++) {
                const struct as_arg args[] = {
                    samples, work, as_u64_arg(plane * cells), pitch, as_u32_arg(r->n >> level), as_u32_arg(vertical)};
                as_app_launch(r, 0, args, sizeof args / sizeof *args);
            }
        if (by_part)
            as_app_download(r, SAMPLES, plane * cells * SAMPLE, cells * SAMPLE);
    }
    if (!by_part)
        as_app_download(r, SAMPLES, 0, r->arrays[SAMPLES].bytes);
}

static void dwt2d_output(struct app_run *r)
{
    const int32_t *samples = as_app_host(r, SAMPLES);
    if (samples)
        r->result = dwt2d_digest(samples, r->n);
}

/* A line of n samples, in place; line: room for n. */
static void dwt2d_line(int32_t *at, uint64_t stride, uint64_t n, int32_t *line)
{
    const uint64_t half = n / 2;
    for (uint64_t i = 0; i < n; i++)
        line[i] = at[i * stride];
    for (uint64_t k = 0; k < half; k++)
        line[2 * k + 1] -= (line[2 * k] + line[2 * k + 2 < n ? 2 * k + 2 : 2 * k]) / 2;
    for (uint64_t k = 0; k < half; k++)
        line[2 * k] += (line[k > 0 ? 2 * k - 1 : 1] + line[2 * k + 1] + 2) / 4;
    for (uint64_t k = 0; k < half; k++) {
        at[k * stride] = line[2 * k];
        at[(half + k) * stride] = line[2 * k + 1];
    }
}

static bool dwt2d_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    int32_t *samples = calloc((size_t)(PLANES * n * n + n), SAMPLE);
    if (!samples)
        return false;
    int32_t *line = samples + PLANES * n * n;
    dwt2d_fill(samples, n, key);
    for (uint64_t plane = 0; plane < PLANES; plane++)
        for (unsigned level = 0; level < LEVELS; level++) {
            int32_t *at = samples + plane * n * n;
            for (uint64_t row = 0; row < n >> level; row++)
                dwt2d_line(at + row * n, 1, n >> level, line);
            for (uint64_t column = 0; column < n >> level; column++)
                dwt2d_line(at + column, n, n >> level, line);
        }
    *result = dwt2d_digest(samples, n);
    free(samples);
    return true;
}

const struct app as_app_dwt2d = {"dwt2d",
                                 {"lift"},
                                 APP_SET(APP_PARTIAL_TRANSFERS),
                                 APP_SET(APP_STATIC),
                                 dwt2d_shape,
                                 dwt2d_input,
                                 dwt2d_compute,
                                 dwt2d_output,
                                 dwt2d_reference};
