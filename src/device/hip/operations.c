/* Which instructions do what a word says. What clang makes of every kernel is counted by these rows and by the names in
 * its assembly, and the two agree (tests/device/hip). */
#include "device/hip/instructions.h"

#include <string.h>

/* Operations of one encoding, and how often one of them does it: twice where a compiler puts two into one instruction.
 * A word that has no row for a chip is not counted there. */
static const struct row {
    const char *word;
    unsigned char chips, format, times;
    unsigned short first, last;
} rows[] = {
    {"load.global", AS_GFX_ALL, AS_GLOBAL, 1, 0x10, 0x17},
    {"load.global", AS_GFX9, AS_GLOBAL, 1, 0x20, 0x25},
    {"load.global", AS_GFX11, AS_GLOBAL, 1, 0x1e, 0x23},
    {"load.global", AS_GFX11, AS_GLOBAL, 1, 0x28, 0x28},
    {"load.global", AS_GFX_ALL, AS_FLAT, 1, 0x10, 0x17},
    {"load.global", AS_GFX9, AS_FLAT, 1, 0x20, 0x25},
    {"load.global", AS_GFX11, AS_FLAT, 1, 0x1e, 0x23},
    {"load.global.128", AS_GFX_ALL, AS_GLOBAL, 1, 0x17, 0x17},
    {"load.global.128", AS_GFX_ALL, AS_FLAT, 1, 0x17, 0x17},
    {"store.global", AS_GFX9, AS_GLOBAL, 1, 0x18, 0x1f},
    {"store.global", AS_GFX11, AS_GLOBAL, 1, 0x18, 0x1d},
    {"store.global", AS_GFX11, AS_GLOBAL, 1, 0x24, 0x25},
    {"store.global", AS_GFX11, AS_GLOBAL, 1, 0x29, 0x29},
    {"store.global", AS_GFX9, AS_FLAT, 1, 0x18, 0x1f},
    {"store.global", AS_GFX11, AS_FLAT, 1, 0x18, 0x1d},
    {"store.global", AS_GFX11, AS_FLAT, 1, 0x24, 0x25},
    {"store.global.128", AS_GFX9, AS_GLOBAL, 1, 0x1f, 0x1f},
    {"store.global.128", AS_GFX11, AS_GLOBAL, 1, 0x1d, 0x1d},
    {"store.global.128", AS_GFX9, AS_FLAT, 1, 0x1f, 0x1f},
    {"store.global.128", AS_GFX11, AS_FLAT, 1, 0x1d, 0x1d},
    {"load.local", AS_GFX_ALL, AS_DS, 1, 0x36, 0x36},
    {"load.local", AS_GFX_ALL, AS_DS, 2, 0x37, 0x38},
    {"load.local", AS_GFX_ALL, AS_DS, 1, 0x39, 0x3c},
    {"load.local", AS_GFX_ALL, AS_DS, 1, 0x76, 0x76},
    {"load.local", AS_GFX_ALL, AS_DS, 2, 0x77, 0x78},
    {"load.local", AS_GFX_ALL, AS_DS, 1, 0xfe, 0xff},
    {"load.local", AS_GFX9, AS_DS, 1, 0x56, 0x5b},
    {"load.local", AS_GFX9, AS_DS, 1, 0xb6, 0xb6},
    {"load.local", AS_GFX11, AS_DS, 1, 0xa2, 0xa7},
    {"load.local", AS_GFX11, AS_DS, 1, 0xb1, 0xb1},
    {"store.local", AS_GFX_ALL, AS_DS, 1, 0x0d, 0x0d},
    {"store.local", AS_GFX_ALL, AS_DS, 2, 0x0e, 0x0f},
    {"store.local", AS_GFX_ALL, AS_DS, 1, 0x1e, 0x1f},
    {"store.local", AS_GFX_ALL, AS_DS, 1, 0x4d, 0x4d},
    {"store.local", AS_GFX_ALL, AS_DS, 2, 0x4e, 0x4f},
    {"store.local", AS_GFX_ALL, AS_DS, 1, 0xde, 0xdf},
    {"store.local", AS_GFX9, AS_DS, 1, 0x1d, 0x1d},
    {"store.local", AS_GFX9, AS_DS, 1, 0x54, 0x55},
    {"store.local", AS_GFX11, AS_DS, 1, 0xa0, 0xa1},
    {"store.local", AS_GFX11, AS_DS, 1, 0xb0, 0xb0},
    {"load.const", AS_GFX_ALL, AS_SMEM, 1, 0x00, 0x04}, /* a kernel's arguments come the same way */
    {"atomic.global", AS_GFX9, AS_GLOBAL, 1, 0x40, 0x6c},
    {"atomic.global", AS_GFX11, AS_GLOBAL, 1, 0x33, 0x56},
    {"atomic.generic", AS_GFX9, AS_FLAT, 1, 0x40, 0x6c},
    {"atomic.generic", AS_GFX11, AS_FLAT, 1, 0x33, 0x56},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x00, 0x0c},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x10, 0x13},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x15, 0x18},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x20, 0x34},
    {"atomic.local", AS_GFX9, AS_DS, 1, 0x35, 0x35},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x40, 0x4c},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x50, 0x53},
    {"atomic.local", AS_GFX9, AS_DS, 1, 0x5c, 0x5c},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x60, 0x73},
    {"atomic.local", AS_GFX11, AS_DS, 1, 0x79, 0x79},
    {"atomic.local", AS_GFX9, AS_DS, 1, 0x7c, 0x7c},
    {"atomic.local", AS_GFX_ALL, AS_DS, 1, 0x7e, 0x7e},
    {"atomic.local", AS_GFX942, AS_DS, 1, 0xb7, 0xb8},
    {"swap.global", AS_GFX9, AS_GLOBAL, 1, 0x41, 0x41},
    {"swap.global", AS_GFX9, AS_GLOBAL, 1, 0x61, 0x61},
    {"swap.global", AS_GFX11, AS_GLOBAL, 1, 0x34, 0x34},
    {"swap.global", AS_GFX11, AS_GLOBAL, 1, 0x42, 0x42},
    {"swap.global", AS_GFX11, AS_GLOBAL, 1, 0x50, 0x50},
    {"fma.f16", AS_GFX_ALL, AS_VOP3P, 1, 0x0e, 0x0e}, /* two in one register, as the word means it */
    {"fma.f16", AS_GFX_ALL, AS_VOP2, 1, 0x3c, 0x3c},
    {"fma.f32", AS_GFX9, AS_VOP2, 1, 0x3b, 0x3b},
    {"fma.f32", AS_GFX942, AS_VOP2, 1, 0x17, 0x18},
    {"fma.f32", AS_GFX9, AS_VOP3, 1, 0x1cb, 0x1cb},
    {"fma.f32", AS_GFX9, AS_VOP3P, 2, 0x30, 0x30},
    {"fma.f32", AS_GFX11, AS_VOP2, 1, 0x2b, 0x2d},
    {"fma.f32", AS_GFX11, AS_VOP3, 1, 0x213, 0x213},
    {"fma.f32", AS_GFX11, AS_VOPD, 1, 0x00, 0x02},
    {"fma.f64", AS_GFX9, AS_VOP2, 1, 0x04, 0x04},
    {"fma.f64", AS_GFX9, AS_VOP3, 1, 0x1cc, 0x1cc},
    {"fma.f64", AS_GFX11, AS_VOP3, 1, 0x214, 0x214},
    {"add.f32", AS_GFX9, AS_VOP2, 1, 0x01, 0x01},
    {"add.f32", AS_GFX9, AS_VOP3P, 2, 0x32, 0x32},
    {"add.f32", AS_GFX11, AS_VOP2, 1, 0x03, 0x03},
    {"add.f32", AS_GFX11, AS_VOPD, 1, 0x04, 0x04},
    {"add.f64", AS_GFX9, AS_VOP3, 1, 0x280, 0x280},
    {"add.f64", AS_GFX11, AS_VOP3, 1, 0x327, 0x327},
    {"mul.f32", AS_GFX9, AS_VOP2, 1, 0x05, 0x05},
    {"mul.f32", AS_GFX9, AS_VOP3P, 2, 0x31, 0x31},
    {"mul.f32", AS_GFX11, AS_VOP2, 1, 0x08, 0x08},
    {"mul.f32", AS_GFX11, AS_VOPD, 1, 0x03, 0x03},
    {"mul.f64", AS_GFX9, AS_VOP3, 1, 0x281, 0x281},
    {"mul.f64", AS_GFX11, AS_VOP3, 1, 0x328, 0x328},
    {"matrix", AS_GFX90A, AS_VOP3P, 1, 0x40, 0x57},
    {"matrix", AS_GFX90A, AS_VOP3P, 1, 0x63, 0x6f},
    {"matrix", AS_GFX942, AS_VOP3P, 1, 0x3e, 0x57},
    {"matrix", AS_GFX942, AS_VOP3P, 1, 0x5d, 0x7f},
    {"matrix", AS_GFX11, AS_VOP3P, 1, 0x40, 0x45},
    {"clock", AS_GFX9, AS_SMEM, 1, 0x24, 0x24},
    {"branch", AS_GFX9, AS_SOPP, 1, 0x02, 0x02},
    {"branch", AS_GFX9, AS_SOPP, 1, 0x04, 0x09},
    {"branch", AS_GFX11, AS_SOPP, 1, 0x20, 0x26},
    {"barrier", AS_GFX9, AS_SOPP, 1, 0x0a, 0x0a},
    {"barrier", AS_GFX11, AS_SOPP, 1, 0x3d, 0x3d},
};

enum { NOTHING = 0x00, BEHIND_THE_END = 0x1f }; /* of SOPP */

/* Whatever it does, unless it does nothing. */
static unsigned any(enum as_amd_chip chip, const struct as_amd_instruction *in)
{
    return in->format != AS_SOPP ||
           (in->operation != NOTHING && !((chip & AS_GFX11) && in->operation == BEHIND_THE_END));
}

bool as_amd_counts(enum as_amd_chip chip, const char *word)
{
    if (strcmp(word, "any") == 0)
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].chips & chip) && strcmp(rows[i].word, word) == 0)
            return true;
    return false;
}

unsigned as_amd_does(enum as_amd_chip chip, const struct as_amd_instruction *in, const char *word)
{
    unsigned n = 0;
    if (strcmp(word, "any") == 0)
        return any(chip, in);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (!(r->chips & chip) || r->format != in->format || strcmp(r->word, word) != 0)
            continue;
        n += in->operation >= r->first && in->operation <= r->last ? r->times : 0;
        n += in->second >= r->first && in->second <= r->last ? r->times : 0;
    }
    return n;
}
