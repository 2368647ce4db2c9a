/* Matrix instructions: the table that instructions.py makes of the .ini file beside this, and text of kernels for them.
 */
#ifndef AS_LIB_MMA_MATRIX_H
#define AS_LIB_MMA_MATRIX_H

#include "base/buf.h"
#include "device/dialect/dialect.h"
#include "formats.h"
#include "probe/probe.h"

enum as_held {
    AS_HELD_REGISTERS, /* in registers, each number at a place that is documented */
    AS_HELD_SHARED,    /* in LOCAL memory, which the instruction reads itself (layout.h says how it lies there) */
    AS_HELD_SPREAD,    /* one word of it in a register, which all lanes have: its layout is that of one lane */
    AS_HELD_LOADED,    /* in registers that an instruction of their own loads from rows, at places that are not told */
};
enum as_matrix_operand { AS_MATRIX_A, AS_MATRIX_B, AS_MATRIX_C, AS_MATRIX_OPERANDS };
struct as_matrix_held {
    enum as_held held;
    const char *row, *column; /* bits of a number's row and column, the lowest first: see layout.h */
    unsigned registers;       /* of a lane; of C with the most columns */
    unsigned register_bits;   /* 32 or 64, or 16 of one that is spread */
    bool columns_first;       /* AS_HELD_LOADED: a column lies together, not a row */
};

struct as_matrix {
    const char *name; /* "mma_m16n8k16_f16_f32": both factors are f16, the sum is f32 */
    const char *title;
    const char *a, *b, *c; /* words of formats */
    unsigned m, n, k;      /* n: the most where there is a choice */
    unsigned columns;      /* n may be its multiples (and 8 and 24 besides); 0: there is no choice */
    unsigned lanes;        /* that do it together */
    bool sparse;           /* A has numbers only where its layout has places, the others are 0 */
    struct as_matrix_held held[AS_MATRIX_OPERANDS];
    const char *types[AS_MATRIX_OPERANDS]; /* HIP: C types of the builtin's operands */
    enum as_dialect dialect;
    const char *text;         /* $a $b $c operands, $n columns, $e which numbers of A there are; of CPUs for people */
    const char *load, *store; /* of AS_HELD_LOADED: $w for a, b, c, $o for row or col, $t format, $c registers */
    const char *code;         /* names one of which must be in the machine code */
    unsigned least;           /* CUDA: least number of an architecture */
    const char *only;         /* architectures that have it; NULL: all */
    const char *emulated;     /* architectures for which compilers make other instructions of it; NULL: none */
};
extern const struct as_matrix as_matrices[]; /* ends with a NULL name */
extern const size_t as_matrices_n;
extern const char *const as_matrix_words[];    /* their names, ends with NULL */
extern const struct as_word as_matrix_about[]; /* what people are told of them, in the same order */

/* What is documented of an architecture: operations of a unit in a cycle. */
struct as_matrix_rate {
    const char *arch, *format; /* of the factors */
    unsigned rate;
};
extern const struct as_matrix_rate as_matrix_rates[]; /* ends with a NULL arch */

const struct as_matrix *as_matrix_find(const char *name); /* NULL: there is none */
/* May it have n columns? 0 is its own, or the most. */
bool as_matrix_columns(const struct as_matrix *m, unsigned n);
/* AS_INAPPLICABLE with the reason where the device does not have it, AS_PRUNED where its kernels are of another API. */
enum as_applies as_matrix_applies(const struct as_matrix *m, const struct as_device_info *info, struct as_error *err);
/* Do compilers make other instructions of it there? */
bool as_matrix_emulated(const struct as_matrix *m, const char *arch);
/* Documented operations of a unit in a cycle, those with the zeros of a sparse factor counted; 0: not known. */
double as_matrix_documented(const struct as_matrix *m, const char *arch);
const struct as_number_format *as_matrix_format(const struct as_matrix *m, enum as_matrix_operand which);
/* Registers of a lane that hold the operand, 1 of one in LOCAL memory: what says where it lies. */
unsigned as_matrix_registers(const struct as_matrix *m, enum as_matrix_operand which, unsigned n);

/* What a kernel does again and again, see peak.kernel. */
enum {
    AS_MATRIX_VARIANTS = 8
}; /* of operands that teams of lanes hold in registers, so that they do not all do the same */
struct as_matrix_body {
    unsigned chains; /* accumulators of a lane */
    unsigned steps;  /* of each in the long body, a multiple of 8; the short one has half */
};
/* The words that say what the instruction is, then fragment.kernel; with a body, peak.kernel too. */
void as_matrix_source(const struct as_matrix *m, unsigned n, const struct as_matrix_body *body, struct as_buf *out);

#endif
