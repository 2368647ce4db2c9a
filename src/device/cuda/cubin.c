/* Reads a cubin as an ELF file. Every offset is checked against the file's size. Since Volta an instruction has 16
 * bytes, with the operation in its lowest 9 bits and the form of its operands in the next 3. */
#include "device/cuda/cuda.h"
#include "device/gpu/machine_code.h"

#include <stdio.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, OPERATION_MASK = 0x1ff };

/* Further conditions on an instruction whose code is ambiguous. */
enum which {
    ANY,
    WIDE,     /* 128 bits or more at once: the code is of 256 bits, or bits 73 to 75 have the width */
    CONSTANT, /* from the bank (bits 54 to 58) of CONSTANT arrays; kernel arguments are in another bank */
    CLOCK,    /* reads the cycle counter (bits 72 to 79): the code also reads the global timer, or gives 0 */
    EVERY,    /* any code except NOP */
    OPERAND,  /* before the last matrix instruction: those after it are of results */
    PRODUCT,  /* multiplies: with a first factor (bits 24 to 31) that is always 0, or a constant 1 (bits 32 to 63),
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
    MULTIPLY_ADD = 0x024,
    ONE_I32 = 1,
    CARRY_BIT = 10, /* of the upper half: adds a carry */
    ONE_F16X2 = 0x3c003c00,
    ABI_SECOND = 8,  /* of EI_ABIVERSION: e_flags has the architecture in bits 8 to 15, before in bits 0 to 7 */
    ADD_I64 = 0x235, /* no encoding: stands for 0x035 of sm_120, see cubin_code_of */
};

/* Found by compiling copies of one instruction for sm_80, sm_90a, sm_100a and sm_120a and looking for a code that
 * occurs as often; tests/device/cuda/codes.c verifies this table the same way. One operation may have several codes:
 * for several generations, for several kinds of address, or for variants such as an atomic without a result. */
struct operation {
    const char *word;
    enum which which;
    unsigned short codes[12]; /* terminated by 0 */
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
    {"matrix", ANY, {0x03c, 0x03d, 0x03f, 0x037, 0x07a, 0x1f0, 0x1f1, 0x1f2, 0x1f3, 0x1ea}},
    {"clock", CLOCK, {0x005}},
    {"branch", ANY, {0x147}},
    {"shuffle", ANY, {0x189}},
    {"barrier", ANY, {0x11d}},
    {"convert", ANY, {0x105, 0x106, 0x107, 0x110, 0x111, 0x112, 0x113, 0x03e, 0x043, 0x045}},
    {"convert.operand", OPERAND, {0x104, 0x110, 0x03e, 0x043}},
    {"special", ANY, {0x108}},
    {"swap.global", ANY, {0x1a9}},
    {"swap.local", ANY, {0x18d}},
    {"any", EVERY, {0}},
};

/* The section ".text.<name>". */
static enum as_status cubin_find_text(const struct as_gpu_elf *v, const char *name, Elf64_Shdr *out,
                                      struct as_error *err)
{
    Elf64_Shdr names;
    char wanted[160];
    int length = snprintf(wanted, sizeof wanted, ".text.%s", name);
    if (length < 0 || (size_t)length >= sizeof wanted)
        return as_fail(err, AS_USAGE, "a kernel's name is longer than 150 characters");
    enum as_status st = as_gpu_elf_section(v, v->head.e_shstrndx, &names, err);
    if (!st && names.sh_type == SHT_NOBITS)
        st = as_gpu_elf_bad(v, "its section names are missing", err);
    for (size_t i = 0; i < v->head.e_shnum && !st; i++) {
        st = as_gpu_elf_section(v, i, out, err);
        if (st || out->sh_name >= names.sh_size || names.sh_size - out->sh_name < (size_t)length + 1)
            continue;
        if (out->sh_type == SHT_PROGBITS &&
            memcmp(v->bytes + names.sh_offset + out->sh_name, wanted, (size_t)length + 1) == 0)
            return AS_OK;
    }
    return st ? st : as_fail(err, AS_NOTFOUND, "the machine code has no kernel '%s'", name);
}

static enum as_status open_text(struct as_gpu_elf *v, const unsigned char *cubin, size_t bytes, const char *name,
                                Elf64_Shdr *out, struct as_error *err)
{
    enum as_status st = as_gpu_elf_open(v, cubin, bytes, "cubin", EM_CUDA, err);
    return st ? st : cubin_find_text(v, name, out, err);
}

static const struct operation *find_operation(const char *word)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].word, word) == 0)
            return &operations[i];
    return NULL;
}

static bool cubin_has_code(const struct operation *o, unsigned code)
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

/* Eight bytes of an instruction, the lowest first. */
static uint64_t half_of(const unsigned char *at)
{
    uint64_t half = 0;
    for (int i = 7; i >= 0; i--)
        half = half << 8 | at[i];
    return half;
}

/* 90 of sm_90a. */
static unsigned cubin_architecture(const struct as_gpu_elf *v)
{
    return (v->head.e_ident[EI_ABIVERSION] >= ABI_SECOND ? v->head.e_flags >> 8 : v->head.e_flags) & 0xff;
}

/* Since sm_100 packed f16 has one code only; sm_120 uses the other one for 64-bit additions. */
static unsigned cubin_code_of(const struct as_gpu_elf *v, uint64_t low)
{
    enum { HFMA2_MMA = 0x035, WITHOUT_HFMA2_MMA = 100 };
    const unsigned code = (unsigned)low & OPERATION_MASK;
    return code == HFMA2_MMA && cubin_architecture(v) >= WITHOUT_HFMA2_MMA ? ADD_I64 : code;
}

static bool cubin_does(const struct as_gpu_elf *v, const struct operation *o,
                       const unsigned char instruction[INSTRUCTION_BYTES])
{
    uint64_t low = half_of(instruction), high = half_of(instruction + 8);
    unsigned code = cubin_code_of(v, low);
    if (o->which != EVERY && !cubin_has_code(o, code))
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
    case OPERAND:
        break;
    }
    return true;
}

/* Where the last matrix instruction begins; 0: there is none. */
static uint64_t cubin_operands_end(const struct as_gpu_elf *v, const unsigned char *code, uint64_t bytes)
{
    const struct operation *matrix = find_operation("matrix");
    uint64_t end = 0;
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= bytes; at += INSTRUCTION_BYTES)
        if (cubin_does(v, matrix, code + at))
            end = at;
    return end;
}

enum as_status as_cubin_count(const unsigned char *cubin, size_t bytes, const char *name, const char *operation,
                              uint64_t *n, struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Shdr text;
    const struct operation *o = find_operation(operation);
    *n = 0;
    if (!o)
        return as_fail(err, AS_USAGE, "'%s' is not an operation that can be counted in machine code", operation);
    enum as_status st = open_text(&v, cubin, bytes, name, &text, err);
    if (st)
        return st;
    const unsigned char *code = cubin + text.sh_offset;
    const uint64_t end = o->which == OPERAND ? cubin_operands_end(&v, code, text.sh_size) : text.sh_size;
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= end; at += INSTRUCTION_BYTES)
        *n += cubin_does(&v, o, code + at);
    return AS_OK;
}

enum as_status as_cubin_code_bytes(const unsigned char *cubin, size_t bytes, const char *name, uint64_t *n,
                                   struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Shdr text;
    *n = 0;
    enum as_status st = open_text(&v, cubin, bytes, name, &text, err);
    if (!st)
        *n = text.sh_size;
    return st;
}

/* Names as NVIDIA's disassembler gives them. */
static const struct {
    unsigned short code;
    char name[14];
} names[] = {
    {0x002, "MOV"},       {0x003, "P2R"},       {0x004, "R2P"},       {0x005, "CS2R"},   {0x006, "VOTE"},
    {0x007, "SEL"},       {0x008, "FSEL"},      {0x009, "FMNMX"},     {0x00a, "FSET"},   {0x00b, "FSETP"},
    {0x00c, "ISETP"},     {0x00f, "VIMNMX3"},   {0x010, "IADD3"},     {0x011, "LEA"},    {0x012, "LOP3"},
    {0x013, "IABS"},      {0x014, "VABSDIFF"},  {0x015, "VABSDIFF4"}, {0x016, "PRMT"},   {0x017, "IMNMX"},
    {0x019, "SHF"},       {0x01a, "SGXT"},      {0x01b, "BMSK"},      {0x01c, "PLOP3"},  {0x020, "FMUL"},
    {0x021, "FADD"},      {0x023, "FFMA"},      {0x024, "IMAD"},      {0x025, "IMAD"},   {0x026, "IDP"},
    {0x027, "IMAD"},      {0x028, "DMUL"},      {0x029, "DADD"},      {0x02a, "DSETP"},  {0x02b, "DFMA"},
    {0x030, "HADD2"},     {0x031, "HFMA2"},     {0x032, "HMUL2"},     {0x033, "HSET2"},  {0x034, "HSETP2"},
    {0x035, "HFMA2.MMA"}, {0x036, "VIADD"},     {0x037, "IMMA"},      {0x038, "I2I"},    {0x039, "I2IP"},
    {0x03c, "HMMA"},      {0x03d, "BMMA"},      {0x03e, "F2FP"},      {0x03f, "DMMA"},   {0x040, "HMNMX2"},
    {0x045, "I2FP"},      {0x048, "VIMNMX"},    {0x049, "FFMA2"},     {0x04a, "FMUL2"},  {0x04b, "FADD2"},
    {0x076, "FMNMX3"},    {0x07a, "QMMA"},      {0x082, "UMOV"},      {0x090, "UIADD3"}, {0x092, "ULOP3"},
    {0x099, "USHF"},      {0x0b9, "ULDC"},      {0x0cc, "CREDUX"},    {0x100, "FLO"},    {0x101, "BREV"},
    {0x102, "FCHK"},      {0x104, "F2F"},       {0x105, "F2I"},       {0x106, "I2F"},    {0x107, "FRND"},
    {0x108, "MUFU"},      {0x109, "POPC"},      {0x110, "F2F"},       {0x111, "F2I"},    {0x112, "I2F"},
    {0x113, "FRND"},      {0x119, "S2R"},       {0x11d, "BAR"},       {0x141, "BSYNC"},  {0x144, "CALL"},
    {0x145, "BSSY"},      {0x147, "BRA"},       {0x148, "WARPSYNC"},  {0x14d, "EXIT"},   {0x150, "RET"},
    {0x181, "LDG"},       {0x182, "LDC"},       {0x183, "LDL"},       {0x184, "LDS"},    {0x186, "STG"},
    {0x187, "STL"},       {0x188, "STS"},       {0x189, "SHFL"},      {0x1a1, "MATCH"},  {0x1c2, "R2UR"},
    {0x1c3, "S2UR"},      {0x1c4, "REDUX"},     {0x1f0, "HGMMA"},     {0x1f1, "IGMMA"},  {0x1f2, "BGMMA"},
    {0x1f3, "QGMMA"},     {ADD_I64, "IADD.64"},
};

/* The compiler also copies, adds and shifts on the pipe of multiply-adds. */
static const char *cubin_name_of(unsigned code, uint64_t low, uint64_t high)
{
    if (code == MULTIPLY_ADD && !multiplies(low) && high >> CARRY_BIT & 1)
        return "IMAD.X";
    if (code == MULTIPLY_ADD && !multiplies(low))
        return (low >> 24 & 0xff) == REGISTER_ZERO ? "IMAD.MOV" : "IMAD.IADD";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return NULL;
}

enum as_status as_cubin_instructions(const unsigned char *cubin, size_t bytes, const char *name,
                                     struct as_instructions *out, struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Shdr text;
    enum as_status st = open_text(&v, cubin, bytes, name, &text, err);
    for (uint64_t at = 0; !st && at + INSTRUCTION_BYTES <= text.sh_size; at += INSTRUCTION_BYTES) {
        uint64_t low = half_of(cubin + text.sh_offset + at), high = half_of(cubin + text.sh_offset + at + 8);
        unsigned code = cubin_code_of(&v, low);
        const char *known = cubin_name_of(code, low, high);
        char number[sizeof "unknown instruction 0x000"];
        snprintf(number, sizeof number, "unknown instruction 0x%03x", code);
        if (code != NOTHING)
            as_instructions_add(out, known ? known : number);
    }
    return st;
}
