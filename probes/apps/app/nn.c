/* nn: squared distances of all records to one place by the device; the host selects the nearest. */
#include "app.h"

#include <stdlib.h>

enum { PLACES, DISTANCES, NEAREST = 10, PLACE_BITS = 15, FIRST_RECORDS = 4096 };
enum { RECORD = 2 * sizeof(int32_t), DISTANCE = sizeof(uint32_t) };

static void nn_shape(struct app_run *r, uint64_t size)
{
    r->n = size / (RECORD + DISTANCE);
    r->arrays[PLACES].bytes = r->n * RECORD;
    r->arrays[DISTANCES].bytes = r->n * DISTANCE;
    if (r->strategy == APP_HIDDEN_ALLOCATOR && r->n > FIRST_RECORDS)
        r->arrays[PLACES].first_bytes = (uint64_t)FIRST_RECORDS * RECORD;
}

static int32_t nn_coordinate(uint32_t key, uint64_t i)
{
    return (int32_t)(as_app_random(key, i) >> (32 - PLACE_BITS));
}

static void nn_input(struct app_run *r)
{
    const uint64_t all = r->arrays[PLACES].bytes;
    uint64_t done = 0, bytes = r->arrays[PLACES].first_bytes ? r->arrays[PLACES].first_bytes : all;
    while (done < all && !r->status) {
        int32_t *places = as_app_host(r, PLACES);
        for (uint64_t i = done / sizeof *places; places && i < bytes / sizeof *places; i++)
            places[i] = nn_coordinate(r->key, i);
        done = bytes;
        bytes = 2 * bytes < all ? 2 * bytes : all;
        if (done < all)
            as_app_grow(r, PLACES, bytes);
    }
}

/* Coordinates of the place that is searched for. */
static uint32_t nn_target(uint32_t key, unsigned axis)
{
    return (key >> (8 * axis)) & ((1u << PLACE_BITS) - 1);
}

static void nn_compute(struct app_run *r)
{
    as_app_upload(r, PLACES, 0, r->arrays[PLACES].bytes);
    const struct as_arg args[] = {as_app_arg(r, PLACES), as_app_arg(r, DISTANCES), as_u64_arg(r->n),
                                  as_u32_arg(nn_target(r->key, 0)), as_u32_arg(nn_target(r->key, 1))};
    as_app_launch(r, 0, args, sizeof args / sizeof *args);
    as_app_download(r, DISTANCES, 0, r->arrays[DISTANCES].bytes);
}

struct nearest {
    uint32_t distance[NEAREST];
    uint64_t index[NEAREST];
    uint64_t n, digest;
};

/* Of equal distances the first stays. */
static void nn_consider(struct nearest *best, uint32_t distance, uint64_t i)
{
    best->digest = as_app_digest(best->digest, distance, i);
    if (best->n == NEAREST && distance >= best->distance[NEAREST - 1])
        return;
    uint64_t at = best->n < NEAREST ? best->n++ : NEAREST - 1;
    for (; at > 0 && best->distance[at - 1] > distance; at--) {
        best->distance[at] = best->distance[at - 1];
        best->index[at] = best->index[at - 1];
    }
    best->distance[at] = distance;
    best->index[at] = i;
}

static uint64_t nn_result(const struct nearest *best)
{
    uint64_t digest = best->digest;
    for (uint64_t k = 0; k < best->n; k++)
        digest = as_app_digest(digest, best->index[k], k);
    return digest;
}

static void nn_output(struct app_run *r)
{
    struct nearest best = {.n = 0};
    const uint32_t *distances = as_app_host(r, DISTANCES);
    for (uint64_t i = 0; distances && i < r->n; i++)
        nn_consider(&best, distances[i], i);
    r->result = nn_result(&best);
}

static bool nn_reference(uint64_t n, uint32_t key, uint64_t *result)
{
    struct nearest best = {.n = 0};
    int32_t *places = calloc((size_t)n, RECORD + DISTANCE);
    if (!places)
        return false;
    uint32_t *distances = (uint32_t *)(places + 2 * n);
    for (uint64_t i = 0; i < 2 * n; i++)
        places[i] = nn_coordinate(key, i);
    for (uint64_t i = 0; i < n; i++) {
        const int64_t x = places[2 * i] - (int64_t)nn_target(key, 0),
                      y = places[2 * i + 1] - (int64_t)nn_target(key, 1);
        distances[i] = (uint32_t)(x * x + y * y);
    }
    for (uint64_t i = 0; i < n; i++)
        nn_consider(&best, distances[i], i);
    free(places);
    *result = nn_result(&best);
    return true;
}

const struct app as_app_nn = {"nn",
                              {"nearest"},
                              APP_SET(APP_MEMORY_CHECK) | APP_SET(APP_HIDDEN_ALLOCATOR),
                              APP_SET(APP_MEMORY_CHECK) | APP_SET(APP_HIDDEN_ALLOCATOR) | APP_SET(APP_STATIC),
                              nn_shape,
                              nn_input,
                              nn_compute,
                              nn_output,
                              nn_reference};
