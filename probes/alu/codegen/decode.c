/* Decodes the operation of an instruction at a known address. */
#include "codegen.h"

#include <string.h>

/* ---- x86-64 ---- */

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { ANY = 0xff };
struct x86 {
    bool lock, vex;
    unsigned char repeat; /* 0xf2, 0xf3 or 0; for VEX from its pp field */
    enum map map;
    unsigned char opcode, modrm;
    bool complete;
};

static const struct x86_row {
    const char *name;
    enum codegen_class class;
    enum codegen_op op;
    enum map map;
    unsigned char opcode, last; /* first and last opcode of the range */
    unsigned char reg;          /* bits 3 to 5 of the byte after the opcode */
    signed char lock;           /* 1: with the prefix; 0: without; -1: either */
    unsigned char repeat;       /* a prefix, or ANY */
} x86_rows[] = {
    {"LOCK XADD", CLASS_WANTED, OP_ATOMIC_ADD, MAP_0F, 0xc0, 0xc1, ANY, 1, ANY},
    {"LOCK ADD", CLASS_WANTED, OP_ATOMIC_ADD, MAP_ONE, 0x00, 0x01, ANY, 1, ANY},
    {"LOCK ADD", CLASS_WANTED, OP_ATOMIC_ADD, MAP_ONE, 0x80, 0x83, 0, 1, ANY},
    {"LOCK CMPXCHG", CLASS_SWAP, OPS, MAP_0F, 0xb0, 0xb1, ANY, 1, ANY},
    {"XCHG", CLASS_WANTED, OP_ATOMIC_EXCHANGE, MAP_ONE, 0x86, 0x87, ANY, -1, ANY},
    {"CALL", CLASS_CALL, OPS, MAP_ONE, 0xe8, 0xe8, ANY, 0, ANY},
    {"CALL", CLASS_CALL, OPS, MAP_ONE, 0xff, 0xff, 2, 0, ANY},
    {"MUL", CLASS_WANTED, OP_MULHI, MAP_ONE, 0xf7, 0xf7, 4, 0, ANY},
    {"MULX", CLASS_WANTED, OP_MULHI, MAP_0F38, 0xf6, 0xf6, ANY, 0, 0xf2},
    {"DIV", CLASS_WANTED, OP_DIV, MAP_ONE, 0xf7, 0xf7, 6, 0, ANY},
    {"POPCNT", CLASS_WANTED, OP_POPCOUNT, MAP_0F, 0xb8, 0xb8, ANY, 0, 0xf3},
    {"ADDSS", CLASS_WANTED, OP_ADD, MAP_0F, 0x58, 0x58, ANY, 0, 0xf3},
    {"ADDSD", CLASS_WANTED, OP_ADD, MAP_0F, 0x58, 0x58, ANY, 0, 0xf2},
    {"MULSS", CLASS_WANTED, OP_MUL, MAP_0F, 0x59, 0x59, ANY, 0, 0xf3},
    {"MULSD", CLASS_WANTED, OP_MUL, MAP_0F, 0x59, 0x59, ANY, 0, 0xf2},
    {"DIVSS", CLASS_WANTED, OP_DIV, MAP_0F, 0x5e, 0x5e, ANY, 0, 0xf3},
    {"DIVSD", CLASS_WANTED, OP_DIV, MAP_0F, 0x5e, 0x5e, ANY, 0, 0xf2},
    {"VFMADD", CLASS_WANTED, OP_FMA, MAP_0F38, 0x99, 0x99, ANY, 0, ANY},
    {"VFMADD", CLASS_WANTED, OP_FMA, MAP_0F38, 0xa9, 0xa9, ANY, 0, ANY},
    {"VFMADD", CLASS_WANTED, OP_FMA, MAP_0F38, 0xb9, 0xb9, ANY, 0, ANY},
    {"NOP", CLASS_NOTHING, OPS, MAP_ONE, 0x90, 0x90, ANY, 0, 0},
    {"NOP", CLASS_NOTHING, OPS, MAP_0F, 0x1f, 0x1f, ANY, 0, ANY},
};

static bool is_prefix(unsigned char b)
{
    static const unsigned char prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};
    return memchr(prefixes, b, sizeof prefixes) != NULL;
}

static struct x86 codegen_split(const unsigned char *code, size_t n)
{
    static const unsigned char repeats[] = {0, 0x66, 0xf3, 0xf2}; /* by the pp field of VEX and EVEX */
    struct x86 x = {0};
    size_t at = 0;
    for (; at < n && is_prefix(code[at]); at++) {
        x.lock |= code[at] == 0xf0;
        x.repeat = code[at] == 0xf2 || code[at] == 0xf3 ? code[at] : x.repeat;
    }
    if (at < n && (code[at] & 0xf0) == 0x40) /* REX */
        at++;
    if (at >= n)
        return x;
    unsigned char first = code[at];
    if ((first == 0xc4 && at + 4 < n) || (first == 0xc5 && at + 3 < n) || (first == 0x62 && at + 5 < n)) {
        size_t head = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;
        unsigned char pp = first == 0xc5 ? code[at + 1] : code[at + 2];
        x.vex = true;
        x.map = first == 0xc5 ? MAP_0F : (enum map)(code[at + 1] & 3);
        x.repeat = repeats[pp & 3];
        at += head;
    } else if (first == 0x0f && at + 1 < n) {
        at++;
        x.map = code[at] == 0x38 ? MAP_0F38 : code[at] == 0x3a ? MAP_0F3A : MAP_0F;
        at += x.map != MAP_0F;
    }
    if (at >= n)
        return x;
    x.complete = true;
    x.opcode = code[at];
    x.modrm = at + 1 < n ? code[at + 1] : 0;
    return x;
}

static bool codegen_matches(const struct x86_row *r, const struct x86 *x)
{
    return r->map == x->map && x->opcode >= r->opcode && x->opcode <= r->last &&
           (r->reg == ANY || r->reg == (x->modrm >> 3 & 7)) && (r->lock < 0 || r->lock == x->lock) &&
           (r->repeat == ANY || r->repeat == x->repeat);
}

struct codegen_instruction as_codegen_decode_x86(const unsigned char *code, size_t bytes)
{
    struct x86 x = codegen_split(code, bytes);
    for (size_t i = 0; x.complete && i < sizeof x86_rows / sizeof *x86_rows; i++)
        if (codegen_matches(&x86_rows[i], &x)) {
            /* Exchanging two registers accesses no memory. */
            bool registers = x86_rows[i].op == OP_ATOMIC_EXCHANGE && x.modrm >= 0xc0;
            return registers ? (struct codegen_instruction){CLASS_OTHER, OPS, NULL}
                             : (struct codegen_instruction){x86_rows[i].class, x86_rows[i].op, x86_rows[i].name};
        }
    return (struct codegen_instruction){CLASS_OTHER, OPS, NULL};
}

/* ---- aarch64 ---- */

static const struct {
    const char *name;
    enum codegen_class class;
    enum codegen_op op;
    uint32_t mask, bits;
} arm_rows[] = {
    {"LDADD", CLASS_WANTED, OP_ATOMIC_ADD, 0x3f20fc00, 0x38200000},
    {"SWP", CLASS_WANTED, OP_ATOMIC_EXCHANGE, 0x3f20fc00, 0x38208000},
    {"LDMAX", CLASS_WANTED, OP_ATOMIC_MAX, 0x3f20dc00, 0x38204000},
    {"LDMIN", CLASS_WANTED, OP_ATOMIC_MIN, 0x3f20dc00, 0x38205000},
    {"CAS", CLASS_SWAP, OPS, 0x3fa07c00, 0x08a07c00},
    {"STXR", CLASS_SWAP, OPS, 0x3fe07c00, 0x08007c00},
    {"BL", CLASS_CALL, OPS, 0xfc000000, 0x94000000},
    {"BLR", CLASS_CALL, OPS, 0xfffffc1f, 0xd63f0000},
    {"FMADD", CLASS_WANTED, OP_FMA, 0xff208000, 0x1f000000},
    {"FADD", CLASS_WANTED, OP_ADD, 0xff20fc00, 0x1e202800},
    {"FMUL", CLASS_WANTED, OP_MUL, 0xff20fc00, 0x1e200800},
    {"FDIV", CLASS_WANTED, OP_DIV, 0xff20fc00, 0x1e201800},
    {"UDIV", CLASS_WANTED, OP_DIV, 0x7fe0fc00, 0x1ac00800},
    {"UMULH", CLASS_WANTED, OP_MULHI, 0xffe0fc00, 0x9bc07c00},
    {"CNT", CLASS_WANTED, OP_POPCOUNT, 0xbf3ffc00, 0x0e205800},
    {"NOP", CLASS_NOTHING, OPS, 0xffffffff, 0xd503201f},
};

struct codegen_instruction as_codegen_decode_arm(uint32_t word)
{
    for (size_t i = 0; i < sizeof arm_rows / sizeof *arm_rows; i++)
        if ((word & arm_rows[i].mask) == arm_rows[i].bits)
            return (struct codegen_instruction){arm_rows[i].class, arm_rows[i].op, arm_rows[i].name};
    return (struct codegen_instruction){CLASS_OTHER, OPS, NULL};
}
