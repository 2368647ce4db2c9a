#include "gemm.h"

#include "device/dialect/dialect.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "lib/mma/instructions/cores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_gemm_simple[], as_kernel_gemm_mma[], as_kernel_gemm_wgmma[], as_kernel_gemm_tensor[],
    as_kernel_gemm_wmma[];

const char *const as_gemm_path_words[] = {"library", "wgmma_pair", "wgmma", "tensor", "mma",
                                          "wmma",    "dot",        "tiled", "naive",  NULL};
const char *const as_gemm_type_words[] = {"f64",  "f32",      "tf32",     "bf16", "f16", "e4m3",
                                          "e5m2", "e4m3fnuz", "e5m2fnuz", "s8",   NULL};

enum { NAIVE_GROUPS = 32 /* workgroups per compute unit */ };
/* In FLOP; larger GEMMs take more than some seconds and are left out. */
static const double SLOW_NAIVE = 3e11, SLOW_CORES = 2e10, SLOW_CORES_MATRIX = 2e12;

/* ---- the kernels ---- */

struct made {
    const char *name, *source;
    unsigned m, n, k_bytes; /* tile of d and bytes of K per step; 0: any */
    unsigned types;         /* bits of the types that it supports */
    unsigned arch;          /* minimum CUDA architecture; 0: any device */
    bool only;              /* and excludes later ones */
    unsigned cluster, workgroup_size;
    unsigned stages, pitch; /* of the ring in shared memory: bytes per row */
    unsigned matrix;        /* matrix instructions in its loop */
};
#define BIT(t) (1u << AS_GEMM_##t)
#define HALVES (BIT(BF16) | BIT(F16))
#define BYTES (BIT(E4M3) | BIT(E5M2) | BIT(S8))
#define ALUS (BIT(F64) | BIT(F32) | HALVES | BYTES | BIT(E4M3FNUZ) | BIT(E5M2FNUZ))
static const struct made kernels[AS_GEMM_PATHS] = {
    [AS_GEMM_PAIR] = {"gemm_wgmma", as_kernel_gemm_wgmma, 256, 256, 128, BIT(TF32) | HALVES | BYTES, 90, true, 2, 384,
                      4, 128, 4},
    [AS_GEMM_WGMMA] = {"gemm_wgmma", as_kernel_gemm_wgmma, 128, 256, 128, BIT(TF32) | HALVES | BYTES, 90, true, 1, 384,
                       4, 128, 4},
    [AS_GEMM_TENSOR] = {"gemm_tensor", as_kernel_gemm_tensor, 64, 64, 64,
                        BIT(F32) | HALVES | BIT(E4M3) | BIT(E5M2) | BIT(S8), 0, false, 1, 128, 0, 0, 0},
    [AS_GEMM_MMA] = {"gemm_mma", as_kernel_gemm_mma, 128, 128, 64, BIT(F64) | BIT(TF32) | HALVES | BYTES, 80, false, 1,
                     256, 4, 64, 16},
    [AS_GEMM_WMMA] = {"gemm_mma", as_kernel_gemm_wmma, 128, 128, 64, BIT(F64) | BIT(TF32) | HALVES | BIT(S8), 80, false,
                      1, 256, 4, 96, 16},
    [AS_GEMM_DOT] = {"tiled", as_kernel_gemm_simple, 128, 128, 64, BIT(S8), 0, false, 1, 256, 0, 0, 0},
    [AS_GEMM_TILED] = {"tiled", as_kernel_gemm_simple, 128, 128, 0, ALUS, 0, false, 1, 256, 0, 0, 0},
    [AS_GEMM_NAIVE] = {"naive", as_kernel_gemm_simple, 0, 0, 0, ALUS, 0, false, 1, 256, 0, 0, 0},
};

struct as_gemm_desc as_gemm_asked(const struct as_axes *axes)
{
    uint64_t size = as_axes_u64(axes, "size");
    return (struct as_gemm_desc){.path = (enum as_gemm_path)as_word_index(axes, "path", as_gemm_path_words),
                                 .type = (enum as_gemm_type)as_word_index(axes, "type", as_gemm_type_words),
                                 .m = size,
                                 .n = size,
                                 .k = size};
}

unsigned as_gemm_batch(const struct as_gemm_desc *d)
{
    return d->batch ? d->batch : 1;
}

double as_gemm_flop(const struct as_gemm_desc *d)
{
    return 2.0 * (double)d->m * (double)d->n * (double)d->k;
}

uint64_t as_gemm_bytes(const struct as_gemm_desc *d)
{
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    return (d->m + d->n) * d->k * f->in_bytes + d->m * d->n * f->out_bytes;
}

/* ---- what applies ---- */

/* Path tensor applies if this system's compiler has built a kernel with such an operation. */
static enum as_applies tensor_applies(const struct as_device_info *info, const struct as_gemm_desc *d,
                                      struct as_error *err)
{
    const bool small = d->type == AS_GEMM_E4M3 || d->type == AS_GEMM_E5M2;
    if (as_dialect_find(info->dialect) != AS_DIALECT_METAL)
        return AS_PRUNED;
    if (!(info->capabilities & AS_CAP_TENSOR_OPS))
        as_fail(err, AS_UNSUPPORTED, "this system's compiler cannot build a kernel with tensor operations (Metal 4)");
    else if (small && !(info->capabilities & AS_CAP_TENSOR_FP8))
        as_fail(err, AS_UNSUPPORTED,
                "this system's compiler cannot build a kernel with tensors of 8-bit floats (Metal 4.1)");
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* Paths for one API only. */
static enum as_applies own_applies(const struct as_device_info *info, const struct as_gemm_desc *d,
                                   struct as_error *err)
{
    const struct made *k = &kernels[d->path];
    const char *path = as_gemm_path_words[d->path], *type = as_gemm_type_words[d->type];
    const bool dot = d->path == AS_GEMM_DOT;
    if (d->path == AS_GEMM_TENSOR)
        return tensor_applies(info, d, err);
    unsigned arch = as_arch_number(info), least = k->arch;
    if ((d->type == AS_GEMM_E4M3 || d->type == AS_GEMM_E5M2) && least < 89)
        least = 89;
    if (strcmp(info->dialect, as_dialect_word(dot ? AS_DIALECT_OPENCL : AS_DIALECT_CUDA)) != 0)
        as_fail(err, AS_UNSUPPORTED, "path %s needs kernels of %s, and this device's are %s", path,
                dot ? "OpenCL" : "CUDA", info->dialect[0] ? info->dialect : "none");
    else if (dot && !(info->capabilities & AS_CAP_DOT_4X8))
        as_fail(err, AS_UNSUPPORTED, "the device does not announce cl_khr_integer_dot_product");
    else if (d->path == AS_GEMM_WMMA && d->epilogue != AS_GEMM_PLAIN)
        return as_pruned(err, "results of path wmma have no known layout to fuse an epilogue into");
    else if (arch < least)
        as_fail(err, AS_UNSUPPORTED, "path %s has %s from sm_%u on, this is %s", path, type, least, info->arch);
    else if (k->only && arch != least)
        as_fail(err, AS_UNSUPPORTED, "only sm_%ua has the instructions of path %s, this is %s", least, path,
                info->arch);
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

/* The usual tile of a path for a type, and its step along K. */
static void find_tile(const struct as_device_info *info, const struct as_gemm_desc *d, uint64_t tile[3])
{
    const struct as_gemm_shape *shape = as_gemm_by_unit(info, d) ? as_gemm_unit_shape(info) : NULL;
    if (shape) {
        tile[0] = tile[1] = shape->side;
        tile[2] = shape->row_bytes / as_gemm_formats[d->type].in_bytes;
        return;
    }
    if (as_info_only_host_kernels(info) && d->path == AS_GEMM_MMA) { /* words of 32 bits along K */
        const unsigned bytes = as_gemm_formats[d->type].in_bytes;
        tile[0] = tile[1] = 1;
        tile[2] = bytes < sizeof(uint32_t) ? sizeof(uint32_t) / bytes : 1;
        return;
    }
    const struct made *k = &kernels[d->path];
    bool small = d->path == AS_GEMM_TILED && d->type == AS_GEMM_F64;
    tile[0] = small ? 64 : k->m ? k->m : 1;
    tile[1] = small ? 64 : k->n ? k->n : 1;
    tile[2] = k->k_bytes ? k->k_bytes / as_gemm_formats[d->type].in_bytes : d->path == AS_GEMM_TILED ? 16 : 1;
}

static enum as_applies size_applies(const struct as_device_info *info, const struct as_gemm_desc *d,
                                    struct as_error *err)
{
    const char *path = as_gemm_path_words[d->path];
    bool cores = as_runs_on_host(info), naive = d->path == AS_GEMM_NAIVE;
    bool matrix = cores && d->path == AS_GEMM_MMA;
    double slow = matrix ? SLOW_CORES_MATRIX : cores ? SLOW_CORES / (naive ? 8 : 1) : naive ? SLOW_NAIVE : INFINITY;
    uint64_t tile[3];
    find_tile(info, d, tile);
    if (d->m > UINT32_MAX / d->k || d->n > UINT32_MAX / d->k || d->m > UINT32_MAX / d->n)
        as_fail(err, AS_UNSUPPORTED, "a matrix has 2^32 elements or more");
    else if ((matrix || d->path >= AS_GEMM_DOT) && as_gemm_flop(d) > slow)
        as_fail(err, AS_UNSUPPORTED, "path %s would take many seconds for one GEMM of this size", path);
    else if (d->m % tile[0] || d->n % tile[1] || d->k % tile[2])
        as_fail(err, AS_UNSUPPORTED, "the size is not a multiple of the tiles of path %s: %llu x %llu, steps of %llu",
                path, (unsigned long long)tile[0], (unsigned long long)tile[1], (unsigned long long)tile[2]);
    else
        return AS_APPLIES;
    return AS_INAPPLICABLE;
}

enum as_applies as_gemm_applies(const struct as_device_info *info, const struct as_gemm_desc *d, struct as_error *err)
{
    if (d->path >= AS_GEMM_PATHS || d->type >= AS_GEMM_TYPES)
        return AS_PRUNED;
    if (as_info_only_host_kernels(info) && d->path == AS_GEMM_MMA) {
        enum as_applies can = as_gemm_cores_apply(d, err);
        return can == AS_APPLIES ? size_applies(info, d, err) : can;
    }
    if (as_info_only_host_kernels(info)) {
        bool has = (d->path == AS_GEMM_LIBRARY || d->path >= AS_GEMM_TILED) && d->type <= AS_GEMM_F32;
        if (has && d->epilogue == AS_GEMM_PLAIN)
            return size_applies(info, d, err);
        return as_pruned(err, "there is no CPU kernel for this path, type and epilogue");
    }
    if ((d->type == AS_GEMM_E4M3FNUZ || d->type == AS_GEMM_E5M2FNUZ) &&
        as_dialect_find(info->dialect) != AS_DIALECT_HIP)
        return as_pruned(err, "only AMD's gfx942 multiplies %s", as_gemm_type_words[d->type]);
    const bool unit = as_gemm_by_unit(info, d);
    if (d->path != AS_GEMM_LIBRARY && !unit && !(kernels[d->path].types & 1u << d->type))
        return AS_PRUNED;
    if (d->type == AS_GEMM_F64 && !(info->capabilities & AS_CAP_FP64))
        return as_inapplicable(err, "the device has no f64");
    const bool own = kernels[d->path].arch || d->path == AS_GEMM_DOT || d->path == AS_GEMM_TENSOR;
    enum as_applies can = unit ? as_gemm_unit_applies(info, d, err) : own ? own_applies(info, d, err) : AS_APPLIES;
    return can == AS_APPLIES ? size_applies(info, d, err) : can;
}

/* ---- programs ---- */

static enum as_status build_simple(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_gemm_format *f = &as_gemm_formats[d->type == AS_GEMM_TF32 ? AS_GEMM_F32 : d->type];
    char defines[96], tiled[32] = "";
    bool alu = d->path >= AS_GEMM_TILED;
    if (d->path == AS_GEMM_TILED && !as_info_only_host_kernels(&p->dev->info))
        snprintf(tiled, sizeof tiled, " -DTILED -DRUN=%u", p->tile.m / 16);
    snprintf(defines, sizeof defines, "-D%s -DEPILOGUE=%d%s", f->define, (int)d->epilogue,
             d->path == AS_GEMM_DOT ? " -DTILED -DDOT" : tiled);
    const struct as_program_desc desc = {.name = "gemm_simple",
                                         .source = as_kernel_gemm_simple,
                                         .defines = defines,
                                         .host = alu && d->type == AS_GEMM_F32   ? as_gemm_native_f32
                                                 : alu && d->type == AS_GEMM_F64 ? as_gemm_native_f64
                                                                                 : NULL};
    return as_buffers_keep_program(&p->own, &desc, as_info_only_host_kernels(&p->dev->info) ? &p->program : &p->plain,
                                   err);
}

static enum as_status build_matrix(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_format *f = &as_gemm_formats[p->desc.type];
    const struct made *k = &kernels[p->desc.path];
    char defines[128];
    snprintf(defines, sizeof defines, "-D%s -DOUT_BYTES=%u%s -DEPILOGUE=%d -DCLUSTER=%u -DTILE_M=%u -DTILE_N=%u",
             f->define, f->out_bytes, p->desc.type == AS_GEMM_BF16 ? " -DOUT_BF16" : "", (int)p->desc.epilogue,
             k->cluster, p->tile.m / k->cluster, p->tile.n);
    const struct as_program_desc desc = {.name = k->name, .source = k->source, .defines = defines};
    return as_buffers_keep_program(&p->own, &desc, &p->program, err);
}

static enum as_status build_cores(struct as_gemm *p, struct as_error *err)
{
    const struct as_program_desc desc = {.name = kernels[AS_GEMM_MMA].name, .host = as_gemm_native_mma};
    enum as_status st = as_gemm_cores_prepare(p, err);
    return st ? st : as_buffers_keep_program(&p->own, &desc, &p->program, err);
}

/* The program of a path that is not in simple.kernel. */
static enum as_status build_own(struct as_gemm *p, struct as_error *err)
{
    return as_gemm_by_unit(&p->dev->info, &p->desc) ? as_gemm_unit_build(p, err)
           : p->desc.path == AS_GEMM_TENSOR         ? as_gemm_tensor_build(p, err)
                                                    : build_matrix(p, err);
}

/* CPUs have only the kernels of the paths. */
static enum as_status gemm_build(struct as_gemm *p, struct as_error *err)
{
    const enum as_gemm_path path = p->desc.path;
    const bool native = as_info_only_host_kernels(&p->dev->info), cores = native && path == AS_GEMM_MMA;
    const bool unit = as_gemm_by_unit(&p->dev->info, &p->desc);
    const bool tensor = path == AS_GEMM_TENSOR;
    enum as_status st = cores ? build_cores(p, err) : unit || tensor || kernels[path].arch ? build_own(p, err) : AS_OK;
    if (!st && !unit && !tensor && !cores && !(native && path == AS_GEMM_LIBRARY))
        st = build_simple(p, err);
    if (st || path == AS_GEMM_LIBRARY)
        return st;
    return as_buffers_keep_kernel(&p->own, p->program ? p->program : p->plain, kernels[path].name, &p->kernel, err);
}

/* ---- launches ---- */

static void set_wgmma(struct as_gemm *p)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct made *k = &kernels[d->path];
    const unsigned bytes = as_gemm_formats[d->type].in_bytes, columns = k->k_bytes / bytes;
    const size_t compute_units = p->dev->info.compute_units ? p->dev->info.compute_units : 1;
    p->tensors[0] = (struct as_tensor){p->a, bytes, d->k, d->m, columns, p->tile.m / k->cluster, 128};
    p->tensors[1] = (struct as_tensor){p->b, bytes, d->k, d->n, columns, p->tile.n / k->cluster, 128};
    for (size_t i = 0; i < 2; i++)
        p->args[i] = (struct as_arg){.kind = AS_ARG_TENSOR, .u.tensor = &p->tensors[i]};
    p->args[2] = as_memory_arg(p->d);
    p->args[3] = as_memory_arg(p->bias);
    p->args[4] = as_u32_arg(d->m / p->tile.m);
    p->args[5] = as_u32_arg(d->n / p->tile.n);
    p->args[6] = as_u32_arg(d->k / columns);
    p->launch.workgroups = compute_units / k->cluster * k->cluster;
}

static void set_others(struct as_gemm *p)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_device_info *info = &p->dev->info;
    uint64_t tiles[] = {d->m / p->tile.m, d->n / p->tile.n}, batch = as_gemm_batch(d);
    bool mma = d->path == AS_GEMM_MMA || d->path == AS_GEMM_WMMA || d->path == AS_GEMM_TENSOR;
    p->args[0] = as_memory_arg(p->a);
    p->args[1] = as_memory_arg(p->b);
    p->args[2] = as_memory_arg(p->d);
    p->args[3] = as_memory_arg(p->bias);
    p->args[4] = as_u32_arg(mma ? tiles[0] : d->m);
    p->args[5] = as_u32_arg(mma ? tiles[1] : d->n);
    p->args[6] = as_u32_arg(d->path == AS_GEMM_DOT ? d->k / 4 : d->k); /* words of four bytes */
    p->args[7] = as_u32_arg(batch);
    p->launch.args_n = mma ? 7 : 8;
    p->launch.workgroups = tiles[0] * tiles[1] * batch;
    if (d->path == AS_GEMM_NAIVE) {
        uint64_t most = (uint64_t)NAIVE_GROUPS * (info->compute_units ? info->compute_units : 1);
        uint64_t all = (batch * d->m * d->n + 255) / 256;
        p->launch.workgroups = all < most ? all : most;
    }
}

static void set_cores(struct as_gemm *p)
{
    const struct as_arg args[] = {as_memory_arg(p->a),         as_memory_arg(p->b),         as_memory_arg(p->d),
                                  as_pointer_arg(p->cores),    as_memory_arg(p->packed[0]), as_memory_arg(p->packed[1]),
                                  as_memory_arg(p->packed[2]), as_memory_arg(p->packed[3])};
    _Static_assert(sizeof args == sizeof p->args, "all");
    memcpy(p->args, args, sizeof args);
    p->launch.args_n = sizeof args / sizeof *args;
}

/* Warps of paths mma and wmma compute 64 x 32 each. */
static unsigned threads_of(const struct as_gemm *p)
{
    const enum as_gemm_path path = p->desc.path;
    return path == AS_GEMM_MMA || path == AS_GEMM_WMMA ? p->tile.m / 64 * (p->tile.n / 32) * 32
                                                       : kernels[path].workgroup_size;
}

/* Bytes of shared memory; with room to align what TMA fills. */
static uint64_t ring_of(const struct as_gemm *p)
{
    const struct made *k = &kernels[p->desc.path];
    return (uint64_t)k->stages * (p->tile.m / k->cluster + p->tile.n) * k->pitch + (k->cluster && k->only ? 1024 : 0);
}

static void set_launch(struct as_gemm *p)
{
    const struct as_gemm_shape *unit =
        as_gemm_by_unit(&p->dev->info, &p->desc) ? as_gemm_unit_shape(&p->dev->info) : NULL;
    p->launch = (struct as_launch){.kernel = p->kernel,
                                   .args = p->args,
                                   .args_n = 7,
                                   .workgroup_size = unit ? unit->threads : threads_of(p),
                                   .shared_bytes = unit ? 0 : ring_of(p),
                                   .work = {.bytes = (double)as_gemm_bytes(&p->desc)}};
    if (p->desc.path == AS_GEMM_PAIR || p->desc.path == AS_GEMM_WGMMA)
        set_wgmma(p);
    else if (p->cores)
        set_cores(p);
    else
        set_others(p);
    if (as_info_only_host_kernels(&p->dev->info)) {
        p->launch.workgroups = p->dev->info.threads ? p->dev->info.threads : 1;
        p->launch.workgroup_size = 1;
    }
}

static enum as_status create_library(struct as_gemm *p, struct as_error *err)
{
    const struct as_gemm_desc *d = &p->desc;
    const struct as_gemm_format *f = &as_gemm_formats[d->type];
    const struct as_vendor_gemm_desc desc = {.in = f->in,
                                             .sum = f->sum,
                                             .out = f->out,
                                             .m = d->m,
                                             .n = d->n,
                                             .k = d->k,
                                             .b_transposed = true,
                                             .a = p->a,
                                             .b = p->b,
                                             .d = p->d};
    enum as_status st = p->dev->gemm->create(p->dev, &desc, &p->library, err);
    return st ? st : as_gemm_spoil(p, err);
}

enum as_status as_gemm_prepare(struct as_gemm *p, struct as_device *dev, const struct as_gemm_desc *desc,
                               struct as_error *err)
{
    *p = (struct as_gemm){.dev = dev, .own = {.dev = dev}, .desc = *desc};
    if (desc->path == AS_GEMM_LIBRARY && !dev->gemm) /* before drawing operands, which takes a second */
        return as_fail(err, AS_UNSUPPORTED, "backend '%s' has no GEMM library", dev->info.backend);
    struct as_gemm_tile tiles[AS_GEMM_TILES_MAX];
    (void)as_gemm_tiles(&dev->info, desc, tiles);
    p->tile = tiles[0];
    enum as_status st = gemm_build(p, err);
    if (!st)
        st = as_gemm_operands(p, err);
    if (st)
        return st;
    if (desc->path == AS_GEMM_LIBRARY)
        return create_library(p, err);
    set_launch(p);
    return as_gemm_choose_tile(p, err);
}

enum as_status as_gemm_take_tile(struct as_gemm *p, struct as_error *err)
{
    const enum as_gemm_path path = p->desc.path;
    const bool own = kernels[path].arch || path == AS_GEMM_TENSOR;
    enum as_status st = own ? build_own(p, err) : build_simple(p, err);
    if (!st)
        st = as_buffers_keep_kernel(&p->own, p->program ? p->program : p->plain, kernels[path].name, &p->kernel, err);
    if (!st)
        set_launch(p);
    return st;
}

enum as_status as_gemm_run(struct as_gemm *p, uint64_t reps, struct as_timing *out, struct as_error *err)
{
    if (p->library)
        return p->dev->gemm->run(p->dev, p->library, reps, out, err);
    p->launch.reps = reps;
    return p->dev->queue->launch(p->dev, &p->launch, out, err);
}

void as_gemm_note(const struct as_gemm *p, struct as_trial_context *tc)
{
    struct as_kernel_info info;
    char tile[32];
    if (p->cores)
        as_note(tc, "instruction", as_gemm_cores_name(p));
    snprintf(tile, sizeof tile, "%u x %u", p->tile.m, p->tile.n);
    if (p->tile.m > 1)
        as_note(tc, "tile", tile);
    if (p->library)
        as_note(tc, "library", p->dev->gemm->name(p->library));
    if (!p->kernel || !p->dev->program->kernel_info ||
        p->dev->program->kernel_info(p->dev, p->kernel, p->launch.workgroup_size, p->launch.shared_bytes, &info, NULL))
        return;
    if (info.registers) {
        as_note_number(tc, "registers", info.registers);
        as_note_number(tc, "spilled_bytes", (double)info.private_bytes);
    }
}

static void note_conversions(const struct as_gemm *p, struct as_trial_context *tc)
{
    uint64_t n;
    struct as_error err = {0};
    if (p->kernel && kernels[p->desc.path].matrix && !as_kernel_count(p->dev, p->kernel, "convert.operand", &n, &err))
        as_note_number(tc, "operand_conversions", (double)n);
}

void as_gemm_expect(const struct as_gemm *p, struct as_trial_context *tc)
{
    char text[160];
    note_conversions(p, tc);
    if (p->cores) {
        enum as_gate_state gate = as_gemm_cores_gate(p, text, sizeof text);
        as_judge_code(tc, gate, text);
    } else if (p->kernel && kernels[p->desc.path].matrix)
        as_expect_code(tc, p->kernel, "matrix",
                       as_gemm_by_unit(&p->dev->info, &p->desc)
                           ? as_gemm_unit_steps(as_gemm_unit(&p->dev->info, p->desc.type), p->desc.type, p->tile)
                           : kernels[p->desc.path].matrix);
}

void as_gemm_finish(void *state)
{
    struct as_gemm *p = state;
    free(p->cores);
    if (p->library)
        p->dev->gemm->destroy(p->dev, p->library);
    as_buffers_finish(&p->own);
    *p = (struct as_gemm){0};
}
