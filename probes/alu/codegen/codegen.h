/* What a compiler emits for an operation: experiments, findings in the machine code, and the values shared with the
 * reference. */
#ifndef AS_PROBES_ALU_CODEGEN_CODEGEN_H
#define AS_PROBES_ALU_CODEGEN_CODEGEN_H

#include "lib/checks/checks.h"

enum codegen_op {
    OP_ATOMIC_ADD,
    OP_ATOMIC_MIN,
    OP_ATOMIC_MAX,
    OP_ATOMIC_EXCHANGE,
    OP_ADD,
    OP_MUL,
    OP_FMA,
    OP_DIV,
    OP_POPCOUNT,
    OP_MULHI,
    OPS
};
enum codegen_type { TYPE_U32, TYPE_U64, TYPE_F32, TYPE_F64, TYPES };

struct codegen_case {
    enum codegen_op op;
    enum codegen_type type;
    bool atomic;
    bool seq_cst; /* atomics: the order, else relaxed */
    bool dropped; /* atomics: the old value is unused */
    bool v3;      /* CPU: x86-64-v3 instead of the build's target */
};

/* Copies in the two functions of an experiment; the difference belongs to the operation. Odd, because an even number of
 * exchanges changes nothing. */
enum { CODEGEN_FEW = 5, CODEGEN_MANY = 13, CODEGEN_MORE = CODEGEN_MANY - CODEGEN_FEW };

/* Four values of the type: the memory that an atomic changes, the value passed from copy to copy, and two operands. */
enum { WORD_MEMORY, WORD_VALUE, WORD_C, WORD_E, CODEGEN_WORDS };
union codegen_data {
    uint32_t u32[CODEGEN_WORDS];
    uint64_t u64[CODEGEN_WORDS];
    float f32[CODEGEN_WORDS];
    double f64[CODEGEN_WORDS];
};
size_t as_codegen_type_bytes(enum codegen_type type);
void as_codegen_start(const struct codegen_case *c, union codegen_data *d);
/* The expected data after CODEGEN_MANY copies. */
void as_codegen_expect(const struct codegen_case *c, union codegen_data *d);
/* If false, *why names the wrong word. */
bool as_codegen_same(const struct codegen_case *c, const union codegen_data *got, const union codegen_data *want,
                     char *why, size_t why_size);

/* All per operation; NAN if unknown from the code. */
struct codegen_found {
    double instructions; /* all but no-ops */
    double wanted;       /* native instructions for the operation */
    double swaps;        /* compare-and-swap */
    double calls;
    char by[64]; /* the native one, or what replaces it */
};
enum codegen_kind { KIND_NATIVE, KIND_LOOP, KIND_CALL, KIND_EMULATED };
enum codegen_kind as_codegen_kind_of(const struct codegen_found *found);

/* One CPU instruction, as far as this probe needs it. */
enum codegen_class { CLASS_OTHER, CLASS_NOTHING, CLASS_WANTED, CLASS_SWAP, CLASS_CALL };
struct codegen_instruction {
    enum codegen_class class; /* CLASS_WANTED: performs `op` */
    enum codegen_op op;
    const char *name; /* NULL for others */
};
struct codegen_instruction as_codegen_decode_x86(const unsigned char *code, size_t bytes);
struct codegen_instruction as_codegen_decode_arm(uint32_t word);

/* The native functions; NULL if the build has none for this case. */
struct codegen_native {
    void (*run)(union codegen_data *d);
    const unsigned char *start, *stop;
};
const struct codegen_native *as_codegen_native_of(const struct codegen_case *c, bool many);
/* Runs the function and sets marks[i] if an instruction starts at byte i. */
enum { CODEGEN_CODE_MAX = 4096 };
enum as_status as_codegen_walk(const struct codegen_native *f, union codegen_data *d,
                               unsigned char marks[CODEGEN_CODE_MAX], struct as_error *err);
/* Runs both functions and counts their instructions. got: the data after the longer one. */
enum as_status as_codegen_cpu(const struct codegen_case *c, struct codegen_found *found, union codegen_data *got,
                              struct as_error *err);

/* As as_codegen_count, for a device that counts its machine code. */
struct codegen_device;
enum as_status as_codegen_device_create(struct as_trial_context *tc, const struct codegen_case *c,
                                        struct codegen_device **out, struct as_error *err);
enum as_status as_codegen_device_run(struct codegen_device *g, struct codegen_found *found, union codegen_data *got,
                                     struct as_error *err);
void as_codegen_device_destroy(struct codegen_device *g); /* accepts NULL */

#endif
