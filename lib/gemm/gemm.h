/* Products of matrices d = a x b' by every path that a device has: operands made, run, timed, checked against the host.
 * Rows of a (m x k), b (n x k) and d (m x n) lie one after the other, the same for all paths. */
#ifndef AS_LIB_GEMM_GEMM_H
#define AS_LIB_GEMM_GEMM_H

#include "lib/mma/matrix.h"
#include "lib/prepare/prepare.h"

/* Best first. */
enum as_product_path {
    AS_PRODUCT_LIBRARY, /* the vendor's */
    AS_PRODUCT_PAIR,    /* wgmma, units in pairs that fetch one operand for each other */
    AS_PRODUCT_WGMMA,
    AS_PRODUCT_MMA,   /* mma.sync; of AMD's chips MFMA and WMMA */
    AS_PRODUCT_DOT,   /* as tiled, four products of bytes by one operation of the API */
    AS_PRODUCT_TILED, /* ordinary arithmetic, operands kept near it */
    AS_PRODUCT_NAIVE,
    AS_PRODUCT_PATHS
};
extern const char *const as_product_path_words[];

enum as_product_type {
    AS_PRODUCT_F64,
    AS_PRODUCT_F32,
    AS_PRODUCT_TF32,
    AS_PRODUCT_BF16,
    AS_PRODUCT_F16,
    AS_PRODUCT_E4M3,
    AS_PRODUCT_E5M2,
    AS_PRODUCT_E4M3FNUZ, /* without infinities and -0, half as large: of AMD's matrix units */
    AS_PRODUCT_E5M2FNUZ,
    AS_PRODUCT_S8,
    AS_PRODUCT_TYPES
};
extern const char *const as_product_type_words[];

/* What is done to each result before it is stored. */
enum as_product_epilogue { AS_PRODUCT_PLAIN, AS_PRODUCT_BIAS, AS_PRODUCT_GELU /* bias and GELU */ };

struct as_product_desc {
    enum as_product_path path;
    enum as_product_type type;
    enum as_product_epilogue epilogue;
    uint64_t m, n, k;
    bool zero; /* all operands are 0 */
    uint32_t seed;
    unsigned batch; /* so many products whose matrices lie one after the other, not by library and wgmma; 0: one */
    struct as_memory *a, *b, *d; /* the caller's, with its operands; NULL: made, and drawn */
};

/* What the axes path, type and size ask for, of square matrices. */
struct as_product_desc as_product_asked(const struct as_axes *axes);
/* How many of what sizes and which kinds a path has: AS_INAPPLICABLE with the reason, AS_PRUNED where it is the same as
 * another. */
enum as_applies as_product_applies(const struct as_device_info *info, const struct as_product_desc *desc,
                                   struct as_error *err);
unsigned as_product_batch(const struct as_product_desc *desc); /* products, at least 1 */
double as_product_flop(const struct as_product_desc *desc);
/* Bytes of operands and result. */
uint64_t as_product_bytes(const struct as_product_desc *desc);

struct as_product_cores;
enum { AS_PRODUCT_PACKED = 4 };   /* blocks of memory of path mma on a CPU: packed a and b, sums, what to take off */
enum { AS_PRODUCT_DRAWN = 1024 }; /* numbers that operands are drawn from */
struct as_product {
    struct as_device *dev;
    struct as_product_desc desc;
    struct as_memory *a, *b, *d, *bias;
    struct as_program *program; /* of the path, where plain has not its kernel too; NULL: the library's */
    struct as_kernel *kernel;
    struct as_program *plain; /* fill, and the epilogues by themselves */
    struct as_gemm *library;
    struct as_tensor tensors[2];
    double drawn[AS_PRODUCT_DRAWN], drawn_bias[AS_PRODUCT_DRAWN];
    struct as_launch launch;
    struct as_arg args[8];
    struct as_product_cores *cores; /* path mma on a CPU */
    struct as_memory *packed[AS_PRODUCT_PACKED];
};
/* Memory, operands, kernel. The result holds no numbers (NaN, or -1 of integers) until it was computed. */
enum as_status as_product_prepare(struct as_product *p, struct as_device *dev, const struct as_product_desc *desc,
                                  struct as_error *err);
enum as_status as_product_run(struct as_product *p, uint64_t reps, struct as_timing *out, struct as_error *err);
/* The path's own words for what it is: the library's version, the kernel's registers. */
void as_product_note(const struct as_product *p, struct as_trial_context *vc);
/* Has the kernel the instructions that the path is about: for the code gate. */
void as_product_expect(const struct as_product *p, struct as_trial_context *vc);
/* Results at places all over d, each a whole row of a times a whole row of b in f64; all of them where they are few. */
bool as_product_check(const struct as_product *p, char *why, size_t size);
void as_product_finish(struct as_product *p);

/* ---- operands.c ---- */

struct as_product_format {
    const char *word, *define;  /* "f16", "IN_F16" */
    const char *in, *sum, *out; /* formats */
    unsigned in_bytes, out_bytes;
    unsigned sum_bits, unit_bits; /* digits of sums on the ALUs, and that matrix units are held to */
    unsigned unit_k;              /* elements of K in one instruction of them */
};
extern const struct as_product_format as_product_formats[AS_PRODUCT_TYPES];
/* Fills the numbers that are drawn from. */
void as_product_draw(struct as_product *p);
/* a, b, d and bias: the caller's, or memory with numbers, and a result that is none. Where there is p->plain, that
 * fills. as_product_finish gives back. */
enum as_status as_product_operands(struct as_product *p, struct as_error *err);
/* All bits of d set: no number, or -1. */
enum as_status as_product_spoil(struct as_product *p, struct as_error *err);
/* Numbers of the table by the kernel `fill` of a program with simple.kernel. */
enum as_status as_product_fill(struct as_device *dev, struct as_program *program, struct as_memory *to,
                               struct as_memory *table, uint64_t n, uint32_t seed, struct as_error *err);
/* Which of them stands at a place of a, b or the bias: the same as in simple.kernel. */
uint32_t as_product_index(uint64_t place, uint32_t seed);
enum { AS_SEED_A = 0x1234567, AS_SEED_B = 0x7654321, AS_SEED_BIAS = 0x2468ace };

/* ---- unit.c: path mma of AMD's chips ---- */

/* Have the device's kernels words for their instructions? */
bool as_product_has_units(const struct as_device_info *info);
/* Is it that path of such a device? */
bool as_product_by_unit(const struct as_device_info *info, const struct as_product_desc *d);
/* The instruction that is taken; NULL where the chip has none for the type. */
const struct as_matrix *as_product_unit(const struct as_device_info *info, enum as_product_type type);
enum as_applies as_product_unit_applies(const struct as_device_info *info, const struct as_product_desc *d,
                                        struct as_error *err);
/* How many of it the loop's body has. */
unsigned as_product_unit_steps(const struct as_matrix *m, enum as_product_type type);
/* Text and options of the program; its kernel is "gemm_mma". */
enum as_status as_product_unit_program(const struct as_matrix *m, const struct as_product_desc *d,
                                       struct as_buf *source, char *defines, size_t size, struct as_error *err);
/* That with all that simple.kernel has, as p->plain. */
enum as_status as_product_unit_build(struct as_product *p, struct as_error *err);

/* ---- native.c: CPUs' own kernels "naive", "tiled" for f32 and f64 ---- */

extern const struct as_host_kernel as_product_native_f32[], as_product_native_f64[];

/* ---- cores.c: path mma on CPUs, kernel "gemm_mma" (a, b, d, the cores as a number, their packed blocks) ---- */

extern const struct as_host_kernel as_product_native_mma[];
enum as_applies as_product_cores_apply(const struct as_product_desc *desc, struct as_error *err);
/* Which instruction, and memory for what is packed. */
enum as_status as_product_cores_prepare(struct as_product *p, struct as_error *err);
void as_product_cores_finish(struct as_product *p);
const char *as_product_cores_name(const struct as_product *p);
enum as_gate_state as_product_cores_gate(const struct as_product *p, char *text, size_t size);

#endif
