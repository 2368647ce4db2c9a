/* heartwall: tracks points through frames. The host prepares the next frame while the device compares the windows
 * around each point with its template, which takes two frames in turn in the unified version. */
#include "app.h"

#include <stdlib.h>

enum {
    FRAME,
    OTHER_FRAME,
    TEMPLATES,
    POINTS,
    SCORES,
    FRAMES = 6,
    PER_SIDE = 16, /* points in a row */
    COUNT = PER_SIDE * PER_SIDE,
    WINDOW = 16, /* rows and columns of a template */
    PIXELS = WINDOW * WINDOW,
    SEARCH = 8, /* offsets along an axis, from -SEARCH / 2 */
    OFFSETS = SEARCH * SEARCH,
    SIDE_LEAST = 2 * WINDOW
};

struct point {
    uint32_t row, column;
};

static bool heartwall_in_turn(const struct app_run *r)
{
    return r->strategy == APP_DOUBLE_BUFFERING || r->strategy == APP_STATIC;
}

/* n: rows and columns of a frame */
static void heartwall_shape(struct app_run *r, uint64_t size)
{
    const uint64_t fixed = COUNT * (PIXELS * sizeof(int32_t) + sizeof(struct point) + OFFSETS * sizeof(uint32_t)),
                   side = as_app_side(size > fixed ? (size - fixed) / 2 / sizeof(int32_t) : 1);
    r->n = side > SIDE_LEAST ? side : SIDE_LEAST;
    r->arrays[FRAME].bytes = r->n * r->n * sizeof(int32_t);
    r->arrays[OTHER_FRAME].bytes = heartwall_in_turn(r) ? r->arrays[FRAME].bytes : 0;
    r->arrays[TEMPLATES].bytes = COUNT * PIXELS * sizeof(int32_t);
    r->arrays[POINTS].bytes = COUNT * sizeof(struct point);
    r->arrays[SCORES].bytes = COUNT * OFFSETS * sizeof(uint32_t);
}

/* The picture moves by a column per frame. */
static int32_t heartwall_pixel(uint32_t key, uint64_t n, uint64_t frame, uint64_t row, uint64_t column)
{
    return (int32_t)(as_app_random(key, row * (n + FRAMES) + column + frame) >> 24);
}

static void heartwall_fill(int32_t *pixels, uint64_t n, uint32_t key, uint64_t frame)
{
    for (uint64_t row = 0; row < n; row++)
        for (uint64_t column = 0; column < n; column++)
            pixels[row * n + column] = heartwall_pixel(key, n, frame, row, column);
}

static void heartwall_start(struct point *points, int32_t *templates, uint64_t n, uint32_t key)
{
    const uint64_t first = SEARCH / 2, last = n - WINDOW - SEARCH / 2;
    for (uint64_t p = 0; p < COUNT; p++) {
        points[p].row = (uint32_t)(first + (last - first) * (p / PER_SIDE) / PER_SIDE);
        points[p].column = (uint32_t)(first + (last - first) * (p % PER_SIDE) / PER_SIDE);
        for (uint64_t i = 0; i < PIXELS; i++)
            templates[p * PIXELS + i] =
                heartwall_pixel(key, n, 0, points[p].row + i / WINDOW, points[p].column + i % WINDOW);
    }
}

static uint32_t heartwall_moved(uint32_t at, uint64_t offset, uint64_t n)
{
    const uint64_t to = at + offset < SEARCH ? SEARCH / 2 : at + offset - SEARCH / 2, last = n - WINDOW - SEARCH / 2;
    return (uint32_t)(to < last ? to : last);
}

/* Each point goes to the offset with the lowest score, of equal ones the first. */
static uint64_t heartwall_move(struct point *points, const uint32_t *scores, uint64_t n, uint64_t digest)
{
    for (uint64_t p = 0; p < COUNT; p++) {
        uint64_t best = 0;
        for (uint64_t o = 0; o < OFFSETS; o++) {
            digest = as_app_digest(digest, scores[p * OFFSETS + o], p * OFFSETS + o);
            best = scores[p * OFFSETS + o] < scores[p * OFFSETS + best] ? o : best;
        }
        points[p].row = heartwall_moved(points[p].row, best / SEARCH, n);
        points[p].column = heartwall_moved(points[p].column, best % SEARCH, n);
        digest = as_app_digest(digest, points[p].row, points[p].column);
    }
    return digest;
}

static size_t heartwall_buffer(const struct app_run *r, uint64_t frame)
{
    return heartwall_in_turn(r) && frame % 2 ? OTHER_FRAME : FRAME;
}

static void heartwall_prepare(struct app_run *r, uint64_t frame)
{
    int32_t *pixels = frame < FRAMES ? as_app_host(r, heartwall_buffer(r, frame)) : NULL;
    if (pixels)
        heartwall_fill(pixels, r->n, r->key, frame);
}

static void heartwall_input(struct app_run *r)
{
    struct point *points = as_app_host(r, POINTS);
    int32_t *templates = as_app_host(r, TEMPLATES);
    if (points && templates)
        heartwall_start(points, templates, r->n, r->key);
    heartwall_prepare(r, 0);
}

static void heartwall_compute(struct app_run *r)
{
    /* The explicit version has a frame on each side. */
    const bool meanwhile = !r->unified || heartwall_in_turn(r);
    r->result = 0;
    as_app_upload(r, TEMPLATES, 0, r->arrays[TEMPLATES].bytes);
    for (uint64_t frame = 0; frame < FRAMES && !r->status; frame++) {
        const size_t buffer = heartwall_buffer(r, frame);
        const struct as_arg args[] = {as_app_arg(r, buffer), as_app_arg(r, TEMPLATES), as_app_arg(r, POINTS),
                                      as_app_arg(r, SCORES), as_u32_arg(r->n),         as_u32_arg(COUNT)};
        as_app_upload(r, FRAME, 0, r->arrays[FRAME].bytes);
        as_app_upload(r, POINTS, 0, r->arrays[POINTS].bytes);
        as_app_submit(r, 0, args, sizeof args / sizeof *args);
        if (meanwhile)
            heartwall_prepare(r, frame + 1);
        as_app_wait(r);
        if (!meanwhile)
            heartwall_prepare(r, frame + 1);
        as_app_download(r, SCORES, 0, r->arrays[SCORES].bytes);
        struct point *points = as_app_host(r, POINTS);
        const uint32_t *scores = as_app_host(r, SCORES);
        if (points && scores)
            r->result = heartwall_move(points, scores, r->n, r->result);
    }
}

/* The positions were read as they were found. */
static void heartwall_output(struct app_run *r)
{
    (void)r;
}

static uint32_t heartwall_score(const int32_t *pixels, const int32_t *window, uint64_t n, uint64_t row, uint64_t column)
{
    uint32_t score = 0;
    for (uint64_t i = 0; i < PIXELS; i++)
        score += (uint32_t)abs(pixels[(row + i / WINDOW) * n + column + i % WINDOW] - window[i]);
    return score;
}

static bool heartwall_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    static const size_t words = COUNT * (PIXELS + OFFSETS);
    struct point points[COUNT];
    int32_t *pixels = malloc((size_t)(n * n + words) * sizeof *pixels);
    if (!pixels)
        return false;
    int32_t *templates = pixels + n * n;
    uint32_t *scores = (uint32_t *)(templates + (size_t)COUNT * PIXELS);
    *result = 0;
    heartwall_start(points, templates, n, key);
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        heartwall_fill(pixels, n, key, frame);
        for (uint64_t p = 0; p < COUNT; p++)
            for (uint64_t o = 0; o < OFFSETS; o++)
                scores[p * OFFSETS + o] =
                    heartwall_score(pixels, templates + p * PIXELS, n, points[p].row + o / SEARCH - SEARCH / 2,
                                    points[p].column + o % SEARCH - SEARCH / 2);
        *result = heartwall_move(points, scores, n, *result);
    }
    free(pixels);
    return true;
}

const struct app as_app_heartwall = {"heartwall",
                                     {"match"},
                                     0,
                                     APP_SET(APP_DOUBLE_BUFFERING) | APP_SET(APP_STATIC),
                                     heartwall_shape,
                                     heartwall_input,
                                     heartwall_compute,
                                     heartwall_output,
                                     heartwall_reference};
