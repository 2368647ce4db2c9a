#include "gemm.h"

#include "base/plain.h"
#include "device/dialect/dialect.h"
#include "lib/autotune/autotune.h"

#include <string.h>

enum { TRIES = 3 };

/* Tiles by path, ends with 0. A larger one reads less, a smaller one leaves fewer compute units idle. */
static const struct as_gemm_tile mma_tiles[] = {{128, 128}, {256, 128}, {128, 256}, {64, 128}},
                                 wmma_tiles[] = {{128, 128}, {64, 128}, {0, 0}},
                                 wgmma_tiles[] = {{128, 256}, {128, 128}, {0, 0}},
                                 pair_tiles[] = {{256, 256}, {256, 128}, {0, 0}},
                                 tiled_tiles[] = {{128, 128}, {64, 64}, {0, 0}}, f64_tiles[] = {{64, 64}, {0, 0}},
                                 dot_tiles[] = {{128, 128}, {0, 0}},
                                 metal_tiles[] = {{64, 64}, {128, 64}, {64, 128}, {0, 0}},
                                 no_tiles[] = {{1, 1}, {0, 0}};

static const struct as_gemm_tile *list_of(const struct as_device_info *info, const struct as_gemm_desc *d)
{
    static const struct as_gemm_tile *const lists[AS_GEMM_PATHS] = {
        [AS_GEMM_LIBRARY] = no_tiles,   [AS_GEMM_PAIR] = pair_tiles,   [AS_GEMM_WGMMA] = wgmma_tiles,
        [AS_GEMM_TENSOR] = metal_tiles, [AS_GEMM_MMA] = mma_tiles,     [AS_GEMM_WMMA] = wmma_tiles,
        [AS_GEMM_DOT] = dot_tiles,      [AS_GEMM_TILED] = tiled_tiles, [AS_GEMM_NAIVE] = no_tiles};
    if (as_info_only_host_kernels(info))
        return no_tiles;
    if (d->type != AS_GEMM_F64)
        return lists[d->path];
    return d->path == AS_GEMM_TILED ? f64_tiles : d->path == AS_GEMM_MMA ? wmma_tiles : lists[d->path]; /* registers */
}

size_t as_gemm_tiles(const struct as_device_info *info, const struct as_gemm_desc *d,
                     struct as_gemm_tile out[AS_GEMM_TILES_MAX])
{
    const struct as_gemm_shape *shape = as_gemm_by_unit(info, d) ? as_gemm_unit_shape(info) : NULL;
    const bool metal = as_dialect_find(info->dialect) == AS_DIALECT_METAL;
    const struct as_gemm_tile *list = shape && metal ? metal_tiles : list_of(info, d);
    size_t n = 0;
    if (shape && !metal) {
        out[0] = (struct as_gemm_tile){shape->side, shape->side};
        return 1;
    }
    out[0] = list[0];
    for (size_t i = 0; i < AS_GEMM_TILES_MAX && list[i].m; i++)
        if (d->m % list[i].m == 0 && d->n % list[i].n == 0)
            out[n++] = list[i];
    return as_runs_on_host(info) && n ? 1 : n;
}

static uint64_t tiles_key_of(const struct as_gemm *p)
{
    const struct as_gemm_desc *d = &p->desc;
    const uint64_t parts[] = {as_hash(p->dev->info.id, strlen(p->dev->info.id)),
                              (uint64_t)d->path << 16 | (uint64_t)d->type << 8 | (uint64_t)d->epilogue,
                              d->m,
                              d->n,
                              d->k,
                              as_gemm_batch(d)};
    return as_hash(parts, sizeof parts);
}

/* What one tile needs to run. */
struct tile_kernel {
    struct as_program *program, *plain;
    struct as_kernel *kernel;
    struct as_launch launch;
    struct as_arg args[sizeof((struct as_gemm *)0)->args / sizeof(struct as_arg)];
    struct as_tensor tensors[2];
};

static void tiles_keep(const struct as_gemm *p, struct tile_kernel *k)
{
    *k = (struct tile_kernel){p->program, p->plain, p->kernel, p->launch, {{0}}, {p->tensors[0], p->tensors[1]}};
    memcpy(k->args, p->args, sizeof k->args);
}

static void tiles_restore(struct as_gemm *p, const struct tile_kernel *k)
{
    p->program = k->program;
    p->plain = k->plain;
    p->kernel = k->kernel;
    p->launch = k->launch;
    memcpy(p->args, k->args, sizeof k->args);
    memcpy(p->tensors, k->tensors, sizeof k->tensors);
}

static enum as_status try_tile(struct as_gemm *p, struct as_autotune *times, size_t i, struct as_error *err)
{
    struct as_timing t;
    enum as_status st = as_gemm_run(p, 1, &t, err);
    for (int n = 0; n < TRIES && !st; n++) {
        st = as_gemm_run(p, 1, &t, err);
        if (!st)
            as_autotune_add(times, i, as_timing_seconds(&t));
    }
    return st;
}

enum as_status as_gemm_choose_tile(struct as_gemm *p, struct as_error *err)
{
    struct as_gemm_tile tiles[AS_GEMM_TILES_MAX];
    struct tile_kernel kernels[AS_GEMM_TILES_MAX];
    const size_t n = as_gemm_tiles(&p->dev->info, &p->desc, tiles);
    bool known;
    enum as_status st = AS_OK;
    if (n < 2)
        return AS_OK;
    struct as_autotune *times = as_autotune_of(tiles_key_of(p), &known);
    tiles_keep(p, &kernels[0]);
    for (size_t i = 0; i < n && !known && !st; i++) {
        p->tile = tiles[i];
        st = i ? as_gemm_take_tile(p, err) : AS_OK;
        tiles_keep(p, &kernels[i]);
        st = st ? st : try_tile(p, times, i, err);
    }
    if (st)
        return st;
    const size_t best = as_autotune_best(times, n);
    p->tile = tiles[best];
    if (known && best)
        return as_gemm_take_tile(p, err);
    if (!known)
        tiles_restore(p, &kernels[best]);
    return AS_OK;
}
