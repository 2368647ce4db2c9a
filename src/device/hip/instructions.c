/* An instruction has one or two words of 32 bits, which the highest bits of the first tell, and some have one more
 * behind: a constant, or how lanes or parts of registers are chosen. */
#include "device/hip/instructions.h"

/* Where it says that a word more comes. */
enum more {
    NO_MORE,
    SCALAR_1, /* the source in bits 0 to 7 is a constant */
    SCALAR_2, /* or the one in bits 8 to 15 */
    VECTOR,   /* the source in bits 0 to 8 is a constant or a choice of lanes; some operations always have a constant */
    THREE,    /* the same of the three sources in the second word */
    PAIR,     /* the first sources of both halves, and operations that always have a constant */
    SETTING,  /* one operation */
};
enum {
    SOURCE_CONSTANT = 0xff,
    SOURCE_LANES = 0xfa,   /* DPP */
    SOURCE_PARTS = 0xf9,   /* SDWA, up to gfx9 */
    SOURCE_LANES_8 = 0xe9, /* DPP8, from gfx10 on; the next one is its variant */
    SOURCE_LANES_8_FI = 0xea,
};

/* The first row that matches counts. `last` is the highest operation that there is. */
struct encoding {
    unsigned char chips, format, words, shift, more;
    uint32_t mask, bits;
    unsigned short operations, last;
};
static const struct encoding encodings[] = {
    {AS_GFX_ALL, AS_VOPC, 1, 17, VECTOR, 0xfe000000, 0x7c000000, 0xff, 0xff},
    {AS_GFX9, AS_VOP1, 1, 9, VECTOR, 0xfe000000, 0x7e000000, 0xff, 0x57},
    {AS_GFX11, AS_VOP1, 1, 9, VECTOR, 0xfe000000, 0x7e000000, 0xff, 0x6b},
    {AS_GFX_ALL, AS_VOP2, 1, 25, VECTOR, 0x80000000, 0x00000000, 0x3f, 0x3d},
    {AS_GFX9, AS_SOP1, 1, 8, SCALAR_1, 0xff800000, 0xbe800000, 0xff, 0x37},
    {AS_GFX11, AS_SOP1, 1, 8, SCALAR_1, 0xff800000, 0xbe800000, 0xff, 0x4d},
    {AS_GFX_ALL, AS_SOPC, 1, 16, SCALAR_2, 0xff800000, 0xbf000000, 0x7f, 0x13},
    {AS_GFX9, AS_SOPP, 1, 16, NO_MORE, 0xff800000, 0xbf800000, 0x7f, 0x1e},
    {AS_GFX11, AS_SOPP, 1, 16, NO_MORE, 0xff800000, 0xbf800000, 0x7f, 0x3d},
    {AS_GFX_ALL, AS_SOPK, 1, 23, SETTING, 0xf0000000, 0xb0000000, 0x1f, 0x1b},
    {AS_GFX_ALL, AS_SOP2, 1, 23, SCALAR_2, 0xc0000000, 0x80000000, 0x7f, 0x35},
    {AS_GFX9, AS_SMEM, 2, 18, NO_MORE, 0xfc000000, 0xc0000000, 0xff, 0xac},
    {AS_GFX9, AS_VOP3P, 2, 16, NO_MORE, 0xff800000, 0xd3800000, 0x7f, 0x7f},
    {AS_GFX9, AS_VOP3, 2, 16, NO_MORE, 0xfc000000, 0xd0000000, 0x3ff, 0x2a5},
    {AS_GFX11, AS_SMEM, 2, 18, NO_MORE, 0xfc000000, 0xf4000000, 0xff, 0x21},
    {AS_GFX11, AS_VOP3, 2, 16, THREE, 0xfc000000, 0xd4000000, 0x3ff, 0x365},
    {AS_GFX11, AS_VOP3P, 2, 16, THREE, 0xff000000, 0xcc000000, 0x7f, 0x45},
    {AS_GFX11, AS_VOPD, 2, 22, PAIR, 0xfc000000, 0xc8000000, 0xf, 0xd},
    {AS_GFX9, AS_DS, 2, 17, NO_MORE, 0xfc000000, 0xd8000000, 0xff, 0xff},
    {AS_GFX11, AS_DS, 2, 18, NO_MORE, 0xfc000000, 0xd8000000, 0xff, 0xff},
    {AS_GFX9, AS_FLAT, 2, 18, NO_MORE, 0xfc00c000, 0xdc000000, 0x7f, 0x6c},
    {AS_GFX9, AS_SCRATCH, 2, 18, NO_MORE, 0xfc00c000, 0xdc004000, 0x7f, 0x2a},
    {AS_GFX9, AS_GLOBAL, 2, 18, NO_MORE, 0xfc00c000, 0xdc008000, 0x7f, 0x6c},
    {AS_GFX11, AS_FLAT, 2, 18, NO_MORE, 0xfc030000, 0xdc000000, 0x7f, 0x56},
    {AS_GFX11, AS_SCRATCH, 2, 18, NO_MORE, 0xfc030000, 0xdc010000, 0x7f, 0x25},
    {AS_GFX11, AS_GLOBAL, 2, 18, NO_MORE, 0xfc030000, 0xdc020000, 0x7f, 0x56},
    {AS_GFX9, AS_MUBUF, 2, 18, NO_MORE, 0xfc000000, 0xe0000000, 0x7f, 0x6c},
    {AS_GFX11, AS_MUBUF, 2, 18, NO_MORE, 0xfc000000, 0xe0000000, 0xff, 0x56},
};

/* Operations that always have a constant behind them. */
static const struct {
    unsigned char chips, format, first, last;
} with_constant[] = {
    {AS_GFX9, AS_VOP2, 0x17, 0x18},  {AS_GFX9, AS_VOP2, 0x24, 0x25},  {AS_GFX11, AS_VOP2, 0x2c, 0x2d},
    {AS_GFX11, AS_VOP2, 0x37, 0x38}, {AS_GFX11, AS_VOPD, 0x01, 0x02}, {AS_GFX9, AS_SOPK, 0x14, 0x14},
    {AS_GFX11, AS_SOPK, 0x13, 0x13},
};

/* VOP3's numbers of what has a shorter form too. */
static const struct {
    unsigned char chips, format;
    unsigned short first, end;
} long_forms[] = {
    {AS_GFX_ALL, AS_VOPC, 0, 0x100},
    {AS_GFX_ALL, AS_VOP2, 0x100, 0x140},
    {AS_GFX9, AS_VOP1, 0x140, 0x1c0},
    {AS_GFX11, AS_VOP1, 0x180, 0x200},
};

/* Branches by a distance in words from their end. */
static const struct {
    unsigned char chips, first, last;
} branches[] = {{AS_GFX9, 0x02, 0x02}, {AS_GFX9, 0x04, 0x09}, {AS_GFX11, 0x20, 0x26}};

enum as_status as_amd_find_chip(unsigned flags, enum as_amd_chip *out, struct as_error *err)
{
    enum { MACHINE = 0xff };
    static const struct {
        unsigned char machine, chip;
    } chips[] = {{0x3f, AS_GFX90A}, {0x4c, AS_GFX942}, {0x41, AS_GFX11},
                 {0x46, AS_GFX11},  {0x47, AS_GFX11},  {0x44, AS_GFX11}};
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
        if (chips[i].machine == (flags & MACHINE)) {
            *out = (enum as_amd_chip)chips[i].chip;
            return AS_OK;
        }
    return as_fail(
        err, AS_UNSUPPORTED,
        "instructions are counted in machine code for gfx90a, gfx942 and gfx1100 to gfx1103, and this is for "
        "another chip (ELF machine flag 0x%02x)",
        flags & MACHINE);
}

static uint32_t word_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool has_constant(enum as_amd_chip chip, enum as_amd_format format, unsigned operation)
{
    for (size_t i = 0; i < sizeof with_constant / sizeof *with_constant; i++)
        if ((with_constant[i].chips & chip) && with_constant[i].format == format &&
            operation >= with_constant[i].first && operation <= with_constant[i].last)
            return true;
    return false;
}

static bool chooses_lanes(enum as_amd_chip chip, uint32_t source)
{
    if (source == SOURCE_LANES)
        return true;
    return chip & AS_GFX9 ? source == SOURCE_PARTS : source == SOURCE_LANES_8 || source == SOURCE_LANES_8_FI;
}

static bool is_longer(enum as_amd_chip chip, const struct encoding *e, uint32_t low, uint32_t high,
                      const struct as_amd_instruction *in)
{
    uint32_t source = low & 0x1ff;
    switch ((enum more)e->more) {
    case NO_MORE:
        return false;
    case SCALAR_1:
        return (low & 0xff) == SOURCE_CONSTANT;
    case SCALAR_2:
        return (low & 0xff) == SOURCE_CONSTANT || (low >> 8 & 0xff) == SOURCE_CONSTANT;
    case VECTOR:
        return source == SOURCE_CONSTANT || chooses_lanes(chip, source) ||
               has_constant(chip, in->format, in->operation);
    case THREE:
        return (high & 0x1ff) == SOURCE_CONSTANT || (high >> 9 & 0x1ff) == SOURCE_CONSTANT ||
               (high >> 18 & 0x1ff) == SOURCE_CONSTANT || chooses_lanes(chip, high & 0x1ff);
    case PAIR:
        return source == SOURCE_CONSTANT || (high & 0x1ff) == SOURCE_CONSTANT ||
               has_constant(chip, AS_VOPD, in->operation) || has_constant(chip, AS_VOPD, in->second);
    case SETTING:
        break;
    }
    return has_constant(chip, AS_SOPK, in->operation);
}

static void shorten(enum as_amd_chip chip, struct as_amd_instruction *in)
{
    for (size_t i = 0; i < sizeof long_forms / sizeof *long_forms; i++)
        if ((long_forms[i].chips & chip) && in->operation >= long_forms[i].first && in->operation < long_forms[i].end) {
            in->format = (enum as_amd_format)long_forms[i].format;
            in->operation -= long_forms[i].first;
            return;
        }
}

static long target_of(enum as_amd_chip chip, unsigned operation, uint32_t low)
{
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        if ((branches[i].chips & chip) && operation >= branches[i].first && operation <= branches[i].last)
            return AS_AMD_WORD * (1L + (int16_t)(low & 0xffff));
    return 0;
}

bool as_amd_decode(enum as_amd_chip chip, const unsigned char *at, size_t n, struct as_amd_instruction *out)
{
    const struct encoding *e = encodings, *end = encodings + sizeof encodings / sizeof *encodings;
    if (n < AS_AMD_WORD)
        return false;
    uint32_t low = word_at(at);
    while (e < end && !((e->chips & chip) && (low & e->mask) == e->bits))
        e++;
    if (e == end || n < (size_t)e->words * AS_AMD_WORD)
        return false;
    uint32_t high = e->words > 1 ? word_at(at + AS_AMD_WORD) : 0;
    *out = (struct as_amd_instruction){.format = (enum as_amd_format)e->format,
                                       .operation = low >> e->shift & e->operations,
                                       .second = e->more == PAIR ? low >> 17 & 0x1f : AS_AMD_NO_OPERATION};
    if (out->operation > e->last)
        return false;
    out->bytes = AS_AMD_WORD * (size_t)(e->words + is_longer(chip, e, low, high, out));
    out->target = out->format == AS_SOPP ? target_of(chip, out->operation, low) : 0;
    if (out->format == AS_VOP3)
        shorten(chip, out);
    return out->bytes <= n;
}
