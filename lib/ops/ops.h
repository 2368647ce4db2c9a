/* Operations that can be measured: the table that ops.py makes of the .ini files beside this. */
#ifndef AS_LIB_OPS_OPS_H
#define AS_LIB_OPS_OPS_H

#include "base/buf.h"
#include "base/clock.h"
#include "device/dialect/dialect.h"
#include "probe/probe.h"

enum { AS_OP_GROUP_MOST = 64 }; /* lanes that go together */

/* What a register holds. Integers have no sign of their own, two numbers of 16 or 32 bits lie in one of 32 or 64. */
enum as_op_type {
    AS_OP_I16,
    AS_OP_I32,
    AS_OP_I64,
    AS_OP_I16X2,
    AS_OP_F16,
    AS_OP_BF16,
    AS_OP_F32,
    AS_OP_F64,
    AS_OP_F16X2,
    AS_OP_BF16X2,
    AS_OP_F32X2,
    AS_OP_TYPES
};
/* Where operands are drawn from. */
enum as_op_domain {
    AS_OP_ANY,      /* any bits */
    AS_OP_ODD,      /* odd, so that products do not run out of bits */
    AS_OP_HIGH,     /* the top bits are set, so that high halves of products stay large */
    AS_OP_DIVISOR,  /* 3 to 17 */
    AS_OP_UNIT,     /* 1 to 2 */
    AS_OP_HALF,     /* 0.25 to 0.75 */
    AS_OP_OPPOSITE, /* by turns 0.75 and -0.75 */
    AS_OP_INVERSE,  /* by turns 1.375 and 1/1.375 */
    AS_OP_WHOLE,    /* 2^20 to 2^22, not whole; in f16 1 to 2 */
    AS_OP_SHIFT1,   /* 1 to 15 */
    AS_OP_SMALL5,   /* 0 to 15 */
    AS_OP_WIDTH,    /* 8 to 16 */
    AS_OP_BYTES,    /* four choices of a byte of eight */
    AS_OP_BYTES4,   /* the same, each in a byte */
    /* of the word that links take: */
    AS_OP_MANTISSA, /* low bits of a mantissa (the upper ones of 23, or those of 10) */
    AS_OP_TWO,      /* 1 as f32 */
    AS_OP_TWO64,    /* 1 as the upper half of an f64 */
    AS_OP_ONE,      /* 1 as f32, with some low bits of a mantissa */
    AS_OP_MANY,     /* 2^20 as f32 */
    AS_OP_MANY64,   /* 2^20 as the upper half of an f64, with bits of a mantissa */
};

union as_op_value {
    uint16_t u16, half[2];
    uint32_t u32;
    uint64_t u64;
    float f32, single[2];
    double f64;
};

struct as_op {
    const char *name; /* "ffma32" */
    const char *title;
    const char *kind; /* the file in which it stands: "float" */
    enum as_op_type type, btype, ctype, result;
    unsigned args;             /* 1 to 3 operands */
    bool weave;                /* how steps follow each other: see part.kernel */
    bool two, one;             /* forms in which operands are the same register */
    enum as_op_domain a, b, c; /* operands */
    enum as_op_domain m;       /* the word that the link takes */
    const char *head;          /* the operation in all dialects that have it; $ for its number in a program */
    const char *link;  /* operation that makes an operand of a result in every step, NULL: none, or nothing that takes
                          time */
    unsigned dialects; /* bits of enum as_dialect */
    unsigned weight;   /* about so many instructions: how long a body may become */
    double ulp[AS_DIALECT_N]; /* allowed error in units of the last place; 0: bit for bit */
    double abs[AS_DIALECT_N]; /* allowed besides, as a difference */
    unsigned cuda_least;      /* least number of a CUDA architecture, 0 all */
    const char *sass;         /* names one of which each step must be in NVIDIA's machine code; NULL: any instruction */
    const char *amd;          /* the same in AMD's */
    const char *amd_chips;    /* begins of the names of AMD's chips that have it: "gfx90a gfx94"; NULL: all */
    bool alone;               /* compilers make one operation on a pair of those of two chains: one chain only */
    void (*reference)(const union as_op_value *abc, union as_op_value *r); /* NULL: it is of lanes that go together */
    /* of one lane of such a group, of a power of two of lanes; abc: three operands of each; NULL: it is of a thread for
     * itself */
    void (*group_reference)(const union as_op_value (*abc)[3], unsigned lane, unsigned lanes, union as_op_value *r);
};
extern const struct as_op as_ops[]; /* ends with a NULL name */
extern const size_t as_ops_n;
extern const char *const as_op_words[];    /* their names, ends with NULL */
extern const struct as_word as_op_about[]; /* what people are told of them, in the same order: about.py */

/* Has an AMD chip of that architecture ("gfx90a") the operation? */
bool as_op_on_amd(const struct as_op *op, const char *arch);
const struct as_op *as_op_find(const char *name); /* NULL: there is none */
size_t as_op_bytes(enum as_op_type type);
unsigned as_op_lanes(enum as_op_type type);        /* numbers in it: 1 or 2 */
const char *as_op_type_word(enum as_op_type type); /* "f32" */
/* Draws a value; turn: which of the four by turns. */
void as_op_draw(enum as_op_domain domain, enum as_op_type type, unsigned turn, struct as_rng *rng,
                union as_op_value *out);
/* Is r what the reference gives, within the error that the dialect may have? Writes both into why when it is not.
 * abc: operands of all lanes that go together; lane: whose result it is (0 of 1 where threads are for themselves). */
bool as_op_agrees(const struct as_op *op, enum as_dialect dialect, const union as_op_value (*abc)[3], unsigned lane,
                  unsigned lanes, const union as_op_value *r, char *why, size_t size);

#endif
