/* GEMM d = a x b' by every path of a device: operands, launches, timing, check against the host. a (m x k), b (n x k)
 * and d (m x n) are row-major for all paths. */
#ifndef AS_LIB_GEMM_GEMM_H
#define AS_LIB_GEMM_GEMM_H

#include "device/device.h"
#include "lib/buffers/buffers.h"
#include "lib/checks/checks.h"
#include "lib/mma/instructions/matrix.h"

/* Best first. */
enum as_gemm_path {
    AS_GEMM_LIBRARY, /* vendor library */
    AS_GEMM_PAIR,    /* wgmma in clusters of two that share one operand */
    AS_GEMM_WGMMA,
    AS_GEMM_TENSOR, /* tensor operation of the language: matmul2d of Metal 4 */
    AS_GEMM_MMA,    /* mma.sync; on AMD MFMA and WMMA; on Apple simdgroup_matrix */
    AS_GEMM_WMMA,   /* the same unit by the language's matrix fragments, of unspecified layout (CUDA) */
    AS_GEMM_DOT,    /* as tiled, with the API's four-byte dot product */
    AS_GEMM_TILED,  /* vector ALU, cache blocked */
    AS_GEMM_NAIVE,
    AS_GEMM_PATHS
};
extern const char *const as_gemm_path_words[];

enum as_gemm_type {
    AS_GEMM_F64,
    AS_GEMM_F32,
    AS_GEMM_TF32,
    AS_GEMM_BF16,
    AS_GEMM_F16,
    AS_GEMM_E4M3,
    AS_GEMM_E5M2,
    AS_GEMM_E4M3FNUZ, /* AMD: no infinities, no -0, half the value */
    AS_GEMM_E5M2FNUZ,
    AS_GEMM_S8,
    AS_GEMM_TYPES
};
extern const char *const as_gemm_type_words[];

/* Epilogues of each result. */
enum as_gemm_epilogue { AS_GEMM_PLAIN, AS_GEMM_BIAS, AS_GEMM_GELU /* bias and GELU */ };

struct as_gemm_desc {
    enum as_gemm_path path;
    enum as_gemm_type type;
    enum as_gemm_epilogue epilogue;
    uint64_t m, n, k;
    bool zero; /* all operands are 0 */
    uint32_t seed;
    unsigned batch;              /* batch of consecutive matrices, not for library and wgmma; 0: one */
    struct as_memory *a, *b, *d; /* owned by the caller, with operands; NULL: allocated and drawn */
};

/* The square GEMM described by the axes path, type and size. */
struct as_gemm_desc as_gemm_asked(const struct as_axes *axes);
/* Does the path apply to the sizes and types? AS_INAPPLICABLE with the reason, AS_PRUNED for duplicates. */
enum as_applies as_gemm_applies(const struct as_device_info *info, const struct as_gemm_desc *desc,
                                struct as_error *err);
unsigned as_gemm_batch(const struct as_gemm_desc *desc); /* batch, at least 1 */
double as_gemm_flop(const struct as_gemm_desc *desc);
/* Bytes of operands and result. */
uint64_t as_gemm_bytes(const struct as_gemm_desc *desc);

/* Rows and columns of d; 1 where a path has no tiles. */
struct as_gemm_tile {
    unsigned m, n;
};
struct as_gemm_cores;
enum { AS_GEMM_PACKED = 4 };   /* blocks of path mma on a CPU: packed a and b, accumulators, offsets to subtract */
enum { AS_GEMM_DRAWN = 1024 }; /* values that operands are drawn from */
struct as_gemm {
    struct as_device *dev;
    struct as_buffers own; /* all but operands of the caller */
    struct as_gemm_desc desc;
    struct as_memory *a, *b, *d, *bias;
    struct as_program *program; /* program of the path if `plain` does not have its kernel; NULL: the library */
    struct as_kernel *kernel;
    struct as_program *plain; /* fill kernel, and the separate epilogues */
    struct as_vendor_gemm *library;
    struct as_tensor tensors[2];
    double drawn[AS_GEMM_DRAWN], drawn_bias[AS_GEMM_DRAWN];
    struct as_launch launch;
    struct as_arg args[8];
    struct as_gemm_tile tile;    /* of d per workgroup, of those that the path has the fastest */
    struct as_gemm_cores *cores; /* path mma on a CPU */
    struct as_memory *packed[AS_GEMM_PACKED];
};
/* Memory, operands, kernel. The result is poisoned (NaN, or -1 for integers). */
enum as_status as_gemm_prepare(struct as_gemm *p, struct as_device *dev, const struct as_gemm_desc *desc,
                               struct as_error *err);
enum as_status as_gemm_run(struct as_gemm *p, uint64_t reps, struct as_timing *out, struct as_error *err);
/* The path's description: library version or kernel registers. */
void as_gemm_note(const struct as_gemm *p, struct as_trial_context *tc);
/* Is the path's instruction in the kernel? For the code gate. */
void as_gemm_expect(const struct as_gemm *p, struct as_trial_context *tc);
/* Compares results throughout d with f64 dot products; all of them if there are few. */
bool as_gemm_check(const struct as_gemm *p, char *why, size_t size);
void as_gemm_finish(void *state);

/* ---- operands.c ---- */

struct as_gemm_format {
    const char *word, *define;  /* "f16", "IN_F16" */
    const char *in, *sum, *out; /* formats */
    unsigned in_bytes, out_bytes;
    unsigned sum_bits, unit_bits; /* accumulator bits on ALUs, and those required of matrix units */
    unsigned unit_k;              /* elements of K per matrix instruction */
};
extern const struct as_gemm_format as_gemm_formats[AS_GEMM_TYPES];
/* Fills the table of values. */
void as_gemm_draw(struct as_gemm *p);
/* a, b, d and bias: owned by the caller, or allocated and filled (by p->plain if present), with a poisoned result.
 * as_gemm_finish frees them. */
enum as_status as_gemm_operands(struct as_gemm *p, struct as_error *err);
/* Sets all bits of d: NaN, or -1. */
enum as_status as_gemm_spoil(struct as_gemm *p, struct as_error *err);
/* Fills operands from the table by the kernel `fill` of simple.kernel. */
enum as_status as_gemm_fill(struct as_device *dev, struct as_program *program, struct as_memory *to,
                            struct as_memory *table, uint64_t n, uint32_t seed, struct as_error *err);
/* Table index of an element of a, b or the bias, as in simple.kernel. */
uint32_t as_gemm_index(uint64_t place, uint32_t seed);
enum { AS_SEED_A = 0x1234567, AS_SEED_B = 0x7654321, AS_SEED_BIAS = 0x2468ace };

/* ---- tiles.c: which tile of d a workgroup computes, on GPUs ---- */

enum { AS_GEMM_TILES_MAX = 4 };
/* Those of a path that divide the sizes, the usual one first; returns how many. */
size_t as_gemm_tiles(const struct as_device_info *info, const struct as_gemm_desc *d,
                     struct as_gemm_tile out[AS_GEMM_TILES_MAX]);
/* Program, kernel and launch of p->tile. */
enum as_status as_gemm_take_tile(struct as_gemm *p, struct as_error *err);
/* Times those that the path has, and takes the fastest; the times are kept for later trials of the same product. */
enum as_status as_gemm_choose_tile(struct as_gemm *p, struct as_error *err);

/* ---- unit.c: path mma by an instruction of the table, on GPUs of AMD and Apple ---- */

struct as_gemm_shape {
    const char *source;
    unsigned side, row_bytes; /* rows and columns of the usual tile of d, bytes of K per step */
    unsigned threads, down;   /* per workgroup; rows of the tile per subgroup */
};
/* NULL: the device's dialect has no such kernel. */
const struct as_gemm_shape *as_gemm_unit_shape(const struct as_device_info *info);

/* Does the device's dialect have their instructions? */
bool as_gemm_has_units(const struct as_device_info *info);
bool as_gemm_by_unit(const struct as_device_info *info, const struct as_gemm_desc *d);
/* The chosen instruction; NULL if the chip has none for the type. */
const struct as_matrix *as_gemm_unit(const struct as_device_info *info, enum as_gemm_type type);
enum as_applies as_gemm_unit_applies(const struct as_device_info *info, const struct as_gemm_desc *d,
                                     struct as_error *err);
/* Instructions per loop body. */
unsigned as_gemm_unit_steps(const struct as_matrix *m, enum as_gemm_type type, struct as_gemm_tile tile);
/* Text and options of the program; its kernel is "gemm_mma". */
enum as_status as_gemm_unit_program(const struct as_matrix *m, const struct as_gemm_desc *d, struct as_gemm_tile tile,
                                    struct as_buf *source, char *defines, size_t size, struct as_error *err);
/* Path tensor, with the same kernels as p->plain. */
enum as_status as_gemm_tensor_build(struct as_gemm *p, struct as_error *err);
/* The program of the unit path, with all of simple.kernel, as p->plain. */
enum as_status as_gemm_unit_build(struct as_gemm *p, struct as_error *err);

/* ---- native.c: native CPU kernels "naive", "tiled" for f32 and f64 ---- */

extern const struct as_host_kernel as_gemm_native_f32[], as_gemm_native_f64[];

/* ---- cores.c: path mma on CPUs, kernel "gemm_mma" (a, b, d, the address of the cores, their packed blocks) ---- */

extern const struct as_host_kernel as_gemm_native_mma[];
enum as_applies as_gemm_cores_apply(const struct as_gemm_desc *desc, struct as_error *err);
/* Chooses the instruction and allocates the packed operands. */
enum as_status as_gemm_cores_prepare(struct as_gemm *p, struct as_error *err);
const char *as_gemm_cores_name(const struct as_gemm *p);
enum as_gate_state as_gemm_cores_gate(const struct as_gemm *p, char *text, size_t size);

#endif
