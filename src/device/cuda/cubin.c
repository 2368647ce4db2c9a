/* A cubin read as the ELF file that it is. Nothing of it is believed before it has been checked against the file's
 * size. From Volta on an instruction has 16 bytes with the operation in its lowest 9 bits and the form of its operands
 * in the 3 bits above. */
#include "device/card/machine_code.h"
#include "device/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, OPERATION_MASK = 0x1ff };

/* What more an instruction must say than its code, where a code alone says too little. */
enum which {
    ANY,
    WIDE,     /* 128 bits at once or more: the code is of 256 bits, or the width stands in bits 73 to 75 */
    CONSTANT, /* from the bank (bits 54 to 58) of CONSTANT arrays; a kernel's arguments come the same way from another
               */
    CLOCK,    /* reads the cycle counter (bits 72 to 79): the code also reads the global timer, or gives 0 */
    EVERY,    /* whatever the code, but for the one that does nothing */
    PRODUCT,  /* multiplies: a first factor (bits 24 to 31) that is always 0 or a constant (bits 32 to 63) that is 1 is
                 how the compiler copies, adds and makes constants on this pipe */
};
enum {
    WIDTH_128 = 6,
    LOAD_256 = 0x17e,
    STORE_256 = 0x17f,
    BANK_CONSTANT = 3,
    COUNTER_CYCLES = 0x50,
    REGISTER_ZERO = 0xff,
    FORM_CONSTANT = 4, /* of bits 9 to 11: the second factor is a constant */
    NOTHING = 0x118,
    ONE_I32 = 1,
    ONE_F16X2 = 0x3c003c00,
};

/* Found by compiling copies of one instruction for sm_80, sm_90a and sm_100a and looking which code appears as often;
 * tests/device/cuda/codes.c does the same with what it finds here. One operation may have several codes: of several
 * generations, for several kinds of address, or for variants such as an atomic without a result. */
struct operation {
    const char *word;
    enum which which;
    unsigned short codes[12]; /* ends with 0 */
};
static const struct operation operations[] = {
    {"load.global", ANY, {0x181, 0x180, LOAD_256}},
    {"load.global.128", WIDE, {0x181, 0x180, LOAD_256}},
    {"store.global", ANY, {0x186, 0x185, STORE_256}},
    {"store.global.128", WIDE, {0x186, 0x185, STORE_256}},
    {"load.local", ANY, {0x184, 0x03b}},
    {"store.local", ANY, {0x188, 0x044}},
    {"load.const", CONSTANT, {0x182, 0x0b9, 0x1ac}},
    {"load.async", ANY, {0x1ae, 0x1ba, 0x1b4}},
    {"atomic.global", ANY, {0x1a8, 0x1a9, 0x1a3, 0x18e, 0x1a6}},
    {"atomic.generic", ANY, {0x18a, 0x18b}},
    {"atomic.local", ANY, {0x18c, 0x18d}},
    {"fma.f16", PRODUCT, {0x031, 0x035}},
    {"fma.f32", ANY, {0x023, 0x049}},
    {"fma.f64", ANY, {0x02b}},
    {"add.f32", ANY, {0x021, 0x04b}},
    {"add.f64", ANY, {0x029}},
    {"mul.f32", ANY, {0x020, 0x04a}},
    {"mul.f64", ANY, {0x028}},
    {"mad.i32", PRODUCT, {0x024, 0x025, 0x027}},
    {"add.i32", ANY, {0x010}},
    {"logic.i32", ANY, {0x012}},
    {"shift.i32", ANY, {0x019}},
    {"matrix", ANY, {0x03c, 0x03d, 0x03f, 0x037, 0x1f0, 0x1f1, 0x1f3, 0x1ea}},
    {"clock", CLOCK, {0x005}},
    {"branch", ANY, {0x147}},
    {"shuffle", ANY, {0x189}},
    {"barrier", ANY, {0x11d}},
    {"convert", ANY, {0x105, 0x106, 0x107, 0x110, 0x111, 0x112, 0x113, 0x03e, 0x043, 0x045}},
    {"special", ANY, {0x108}},
    {"swap.global", ANY, {0x1a9}},
    {"any", EVERY, {0}},
};

/* The section ".text.<name>". */
static enum as_status find_text(const struct as_card_elf *v, const char *name, Elf64_Shdr *out, struct as_error *err)
{
    Elf64_Shdr names;
    char wanted[160];
    int length = snprintf(wanted, sizeof wanted, ".text.%s", name);
    if (length < 0 || (size_t)length >= sizeof wanted)
        return as_fail(err, AS_USAGE, "a kernel's name is longer than 150 letters");
    enum as_status s = as_card_elf_section(v, v->head.e_shstrndx, &names, err);
    if (!s && names.sh_type == SHT_NOBITS)
        s = as_card_elf_bad(v, "its names are missing", err);
    for (size_t i = 0; i < v->head.e_shnum && !s; i++) {
        s = as_card_elf_section(v, i, out, err);
        if (s || out->sh_name >= names.sh_size || names.sh_size - out->sh_name < (size_t)length + 1)
            continue;
        if (out->sh_type == SHT_PROGBITS &&
            memcmp(v->bytes + names.sh_offset + out->sh_name, wanted, (size_t)length + 1) == 0)
            return AS_OK;
    }
    return s ? s : as_fail(err, AS_NOTFOUND, "the machine code has no kernel '%s'", name);
}

static const struct operation *find_operation(const char *word)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].word, word) == 0)
            return &operations[i];
    return NULL;
}

static bool has_code(const struct operation *o, unsigned code)
{
    for (size_t i = 0; i < sizeof o->codes / sizeof *o->codes && o->codes[i]; i++)
        if (o->codes[i] == code)
            return true;
    return false;
}

static bool multiplies(uint64_t low)
{
    uint64_t constant = (low >> 9 & 7) == FORM_CONSTANT ? low >> 32 : 0;
    return (low >> 24 & 0xff) != REGISTER_ZERO && constant != ONE_I32 && constant != ONE_F16X2;
}

static bool does(const struct operation *o, const unsigned char instruction[INSTRUCTION_BYTES])
{
    uint64_t low = 0, high = 0;
    for (int i = 7; i >= 0; i--) {
        low = low << 8 | instruction[i];
        high = high << 8 | instruction[8 + i];
    }
    unsigned code = (unsigned)low & OPERATION_MASK;
    if (o->which != EVERY && !has_code(o, code))
        return false;
    switch (o->which) {
    case WIDE:
        return code == LOAD_256 || code == STORE_256 || (high >> 9 & 7) == WIDTH_128;
    case CONSTANT:
        return (low >> 54 & 0x1f) == BANK_CONSTANT;
    case CLOCK:
        return (high >> 8 & 0xff) == COUNTER_CYCLES;
    case EVERY:
        return code != NOTHING;
    case PRODUCT:
        return multiplies(low);
    case ANY:
        break;
    }
    return true;
}

enum as_status as_cubin_count(const unsigned char *cubin, size_t bytes, const char *name, const char *operation,
                              uint64_t *n, struct as_error *err)
{
    struct as_card_elf v;
    Elf64_Shdr text;
    const struct operation *o = find_operation(operation);
    *n = 0;
    if (!o)
        return as_fail(err, AS_USAGE, "'%s' is no operation that can be counted in machine code", operation);
    enum as_status s = as_card_elf_open(&v, cubin, bytes, "cubin", EM_CUDA, err);
    if (!s)
        s = find_text(&v, name, &text, err);
    for (uint64_t at = 0; !s && at + INSTRUCTION_BYTES <= text.sh_size; at += INSTRUCTION_BYTES)
        *n += does(o, cubin + text.sh_offset + at);
    return s;
}

enum as_status as_cubin_code_bytes(const unsigned char *cubin, size_t bytes, const char *name, uint64_t *n,
                                   struct as_error *err)
{
    struct as_card_elf v;
    Elf64_Shdr text;
    *n = 0;
    enum as_status s = as_card_elf_open(&v, cubin, bytes, "cubin", EM_CUDA, err);
    if (!s)
        s = find_text(&v, name, &text, err);
    if (!s)
        *n = text.sh_size;
    return s;
}
