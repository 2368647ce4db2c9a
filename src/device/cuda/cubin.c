/* A cubin read as the ELF file that it is. Nothing of it is believed before it has been checked against the file's
 * size. From Volta on an instruction has 16 bytes with the operation in its lowest 9 bits and the form of its operands
 * in the 3 bits above. */
#include "device/cuda/cuda.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16, OPERATION_MASK = 0x1ff };

/* Found by compiling copies of one instruction and looking which code appears as often (tests/device/cuda). One
 * operation may have several codes. */
struct operation {
    const char *word;
    unsigned short codes[6]; /* ends with 0 */
};
static const struct operation operations[] = {
    {"load.global", {0x181, 0x180}},
    {"store.global", {0x186, 0x185}},
    {"load.local", {0x184}},
    {"store.local", {0x188}},
    {"load.const", {0x182, 0x0b9, 0x1ac}},
    {"load.async", {0x1ae, 0x1b5, 0x1b4}},
    {"atomic.global", {0x1a8, 0x1a9, 0x1a3, 0x18a, 0x18e, 0x1a6}},
    {"fma.f16", {0x031, 0x035}},
    {"fma.f32", {0x023}},
    {"fma.f64", {0x02b}},
    {"add.f32", {0x021}},
    {"mul.f32", {0x020}},
    {"mad.i32", {0x024, 0x025, 0x027}},
    {"add.i32", {0x010}},
    {"matrix", {0x03c, 0x03f, 0x037, 0x1f0, 0x1df}},
    {"clock", {0x005}},
    {"branch", {0x147}},
    {"shuffle", {0x189}},
    {"barrier", {0x11d}},
    {"convert", {0x104, 0x105, 0x106, 0x107}},
    {"special", {0x108}},
};

struct view {
    const unsigned char *bytes;
    size_t n;
    Elf64_Ehdr head;
};

static enum as_status bad(struct as_error *err, const char *why)
{
    return as_fail(err, AS_FORMAT, "this is no cubin: %s", why);
}

static enum as_status open_view(struct view *v, const unsigned char *bytes, size_t n, struct as_error *err)
{
    *v = (struct view){.bytes = bytes, .n = n};
    if (n < sizeof v->head)
        return bad(err, "it is too short");
    memcpy(&v->head, bytes, sizeof v->head);
    if (memcmp(v->head.e_ident, ELFMAG, SELFMAG) != 0 || v->head.e_ident[EI_CLASS] != ELFCLASS64 ||
        v->head.e_ident[EI_DATA] != ELFDATA2LSB)
        return bad(err, "it is no ELF file of 64 bits");
    if (v->head.e_machine != EM_CUDA)
        return bad(err, "it is for another machine");
    if (v->head.e_shentsize != sizeof(Elf64_Shdr) || v->head.e_shoff > n ||
        (n - v->head.e_shoff) / sizeof(Elf64_Shdr) < v->head.e_shnum || v->head.e_shstrndx >= v->head.e_shnum)
        return bad(err, "its sections lie outside");
    return AS_OK;
}

static enum as_status section_at(const struct view *v, size_t i, Elf64_Shdr *out, struct as_error *err)
{
    memcpy(out, v->bytes + v->head.e_shoff + i * sizeof *out, sizeof *out);
    if (out->sh_type != SHT_NOBITS && (out->sh_offset > v->n || out->sh_size > v->n - out->sh_offset))
        return bad(err, "a section lies outside");
    return AS_OK;
}

/* The section ".text.<name>". */
static enum as_status find_text(const struct view *v, const char *name, Elf64_Shdr *out, struct as_error *err)
{
    Elf64_Shdr names;
    char wanted[160];
    int length = snprintf(wanted, sizeof wanted, ".text.%s", name);
    if (length < 0 || (size_t)length >= sizeof wanted)
        return as_fail(err, AS_USAGE, "a kernel's name is longer than 150 letters");
    enum as_status s = section_at(v, v->head.e_shstrndx, &names, err);
    if (!s && names.sh_type == SHT_NOBITS)
        s = bad(err, "its names are missing");
    for (size_t i = 0; i < v->head.e_shnum && !s; i++) {
        s = section_at(v, i, out, err);
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

static bool does(const struct operation *o, unsigned code)
{
    for (size_t i = 0; i < sizeof o->codes / sizeof *o->codes && o->codes[i]; i++)
        if (o->codes[i] == code)
            return true;
    return false;
}

enum as_status as_cubin_count(const unsigned char *cubin, size_t bytes, const char *name, const char *operation,
                              uint64_t *n, struct as_error *err)
{
    struct view v;
    Elf64_Shdr text;
    const struct operation *o = find_operation(operation);
    *n = 0;
    if (!o)
        return as_fail(err, AS_USAGE, "'%s' is no operation that can be counted in machine code", operation);
    enum as_status s = open_view(&v, cubin, bytes, err);
    if (!s)
        s = find_text(&v, name, &text, err);
    for (uint64_t at = 0; !s && at + INSTRUCTION_BYTES <= text.sh_size; at += INSTRUCTION_BYTES) {
        const unsigned char *i = cubin + text.sh_offset + at;
        *n += does(o, (i[0] | (unsigned)i[1] << 8) & OPERATION_MASK);
    }
    return s;
}

enum as_status as_cubin_code_bytes(const unsigned char *cubin, size_t bytes, const char *name, uint64_t *n,
                                   struct as_error *err)
{
    struct view v;
    Elf64_Shdr text;
    *n = 0;
    enum as_status s = open_view(&v, cubin, bytes, err);
    if (!s)
        s = find_text(&v, name, &text, err);
    if (!s)
        *n = text.sh_size;
    return s;
}
