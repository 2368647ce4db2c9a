/* Reads a code object as an ELF file. Every offset is checked against the file's size. */
#include "device/gpu/machine_code.h"
#include "device/hip/hip.h"
#include "device/hip/instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_AMDGPU = 0xe0 };

static bool is_called(const struct as_gpu_elf *v, const Elf64_Shdr *names, uint64_t at, const char *name)
{
    size_t length = strlen(name) + 1;
    return names->sh_type == SHT_STRTAB && at < names->sh_size && names->sh_size - at >= length &&
           memcmp(v->bytes + names->sh_offset + at, name, length) == 0;
}

/* The function of that name in one table of symbols; AS_NOTFOUND where it has none. */
static enum as_status search(const struct as_gpu_elf *v, const Elf64_Shdr *table, const char *name, Elf64_Sym *out,
                             struct as_error *err)
{
    Elf64_Shdr names;
    enum as_status s = as_gpu_elf_section(v, table->sh_link, &names, err);
    for (uint64_t i = 0; !s && i < table->sh_size / sizeof *out; i++) {
        memcpy(out, v->bytes + table->sh_offset + i * sizeof *out, sizeof *out);
        if (ELF64_ST_TYPE(out->st_info) == STT_FUNC && is_called(v, &names, out->st_name, name))
            return AS_OK;
    }
    return s ? s : AS_NOTFOUND;
}

static enum as_status find_kernel(const struct as_gpu_elf *v, const char *name, Elf64_Sym *out, struct as_error *err)
{
    for (size_t i = 0; i < v->head.e_shnum; i++) {
        Elf64_Shdr table;
        enum as_status s = as_gpu_elf_section(v, i, &table, err);
        if (s)
            return s;
        if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM)
            continue;
        s = search(v, &table, name, out, err);
        if (s != AS_NOTFOUND)
            return s;
    }
    return as_fail(err, AS_NOTFOUND, "the machine code has no kernel '%s'", name);
}

enum as_status as_hip_code_bytes(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Sym kernel;
    *n = 0;
    enum as_status s = as_gpu_elf_open(&v, code, bytes, "code object", MACHINE_AMDGPU, err);
    if (!s)
        s = find_kernel(&v, name, &kernel, err);
    if (!s)
        *n = kernel.st_size;
    return s;
}

/* Where the kernel's instructions lie. A symbol's value is an address in a file that can be loaded, and counts from its
 * section's begin in one that is still to be linked, whose sections have address 0. */
static enum as_status find_text(const struct as_gpu_elf *v, const Elf64_Sym *kernel, const unsigned char **text,
                                struct as_error *err)
{
    Elf64_Shdr section;
    enum as_status s = as_gpu_elf_section(v, kernel->st_shndx, &section, err);
    if (s)
        return s;
    uint64_t at = kernel->st_value - section.sh_addr;
    if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR))
        return as_gpu_elf_bad(v, "a kernel lies outside of the code", err);
    if (at > section.sh_size || kernel->st_size > section.sh_size - at)
        return as_gpu_elf_bad(v, "a kernel lies outside of its section", err);
    *text = v->bytes + section.sh_offset + at;
    return AS_OK;
}

static enum as_status lost(const char *name, uint64_t at, const char *why, struct as_error *err)
{
    return as_fail(err, AS_UNSUPPORTED, "the machine code of kernel '%.100s' cannot be followed: %s at byte %llu", name,
                   why, (unsigned long long)at);
}

/* One kernel during decoding. */
struct walk {
    enum as_amd_chip chip;
    const unsigned char *text;
    uint64_t bytes;
    const char *name;
    unsigned char *begins; /* for every word of it whether an instruction begins there */
};

/* What becomes of each instruction. */
struct count {
    const char *operation;
    uint64_t n;                  /* how often they do it */
    struct as_instructions *all; /* NULL: nobody asks for names */
};

static void add_name(enum as_amd_chip chip, enum as_amd_format format, unsigned operation, struct as_instructions *out)
{
    const char *known = as_amd_name(chip, format, operation);
    char number[32];
    snprintf(number, sizeof number, "%s 0x%02x", as_amd_format_name(format), operation);
    as_instructions_add(out, known ? known : number);
}

static void count_one(enum as_amd_chip chip, const struct as_amd_instruction *in, struct count *count)
{
    unsigned does = as_amd_does(chip, in, count->operation);
    count->n += does;
    if (!count->all || !does)
        return;
    add_name(chip, in->format, in->operation, count->all);
    if (in->second != AS_AMD_NO_OPERATION)
        add_name(chip, in->format, in->second, count->all);
}

static enum as_status walk_through(const struct walk *w, struct count *count, struct as_error *err)
{
    struct as_amd_instruction in;
    for (uint64_t at = 0; at < w->bytes; at += in.bytes) {
        if (!as_amd_decode(w->chip, w->text + at, w->bytes - at, &in))
            return lost(w->name, at, "no instruction that is known begins", err);
        w->begins[at / AS_AMD_WORD] = 1;
        count_one(w->chip, &in, count);
    }
    return AS_OK;
}

/* Branches into the middle of an instruction mean that decoding went wrong. */
static enum as_status check_branches(const struct walk *w, struct as_error *err)
{
    struct as_amd_instruction in;
    for (uint64_t at = 0; at < w->bytes; at += in.bytes) {
        if (!as_amd_decode(w->chip, w->text + at, w->bytes - at, &in))
            return lost(w->name, at, "no instruction that is known begins", err);
        int64_t target = (int64_t)at + in.target;
        if (target < 0 || target >= (int64_t)w->bytes || !w->begins[target / AS_AMD_WORD])
            return lost(w->name, at, "a branch to where no instruction begins", err);
    }
    return AS_OK;
}

static enum as_status count_in(struct walk *w, struct count *count, struct as_error *err)
{
    if (!as_amd_counts(w->chip, count->operation))
        return as_fail(err, AS_UNSUPPORTED, "which instructions of this chip do '%s' is not known", count->operation);
    w->begins = calloc(w->bytes / AS_AMD_WORD + 1, 1);
    if (!w->begins)
        return as_nomem(err, w->bytes / AS_AMD_WORD + 1, "a kernel's instructions");
    enum as_status s = walk_through(w, count, err);
    if (!s)
        s = check_branches(w, err);
    free(w->begins);
    return s;
}

static bool is_word(const char *operation)
{
    size_t i = 0;
    while (as_operation_words[i] && strcmp(as_operation_words[i], operation) != 0)
        i++;
    return as_operation_words[i] != NULL;
}

static enum as_status count_all(const unsigned char *code, size_t bytes, const char *name, struct count *count,
                                struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Sym kernel;
    struct walk w = {.name = name};
    enum as_status s = as_gpu_elf_open(&v, code, bytes, "code object", MACHINE_AMDGPU, err);
    if (!s)
        s = find_kernel(&v, name, &kernel, err);
    if (!s)
        s = find_text(&v, &kernel, &w.text, err);
    if (!s)
        s = as_amd_find_chip(v.head.e_flags, &w.chip, err);
    w.bytes = s ? 0 : kernel.st_size;
    return s ? s : count_in(&w, count, err);
}

enum as_status as_hip_count_code(const unsigned char *code, size_t bytes, const char *name, const char *operation,
                                 uint64_t *n, struct as_error *err)
{
    struct count count = {.operation = operation};
    enum as_status s =
        is_word(operation)
            ? count_all(code, bytes, name, &count, err)
            : as_fail(err, AS_USAGE, "'%s' is no operation that can be counted in machine code", operation);
    *n = s ? 0 : count.n;
    return s;
}

enum as_status as_hip_instructions(const unsigned char *code, size_t bytes, const char *name,
                                   struct as_instructions *out, struct as_error *err)
{
    struct count count = {.operation = "any", .all = out};
    *out = (struct as_instructions){.n = 0};
    enum as_status s = count_all(code, bytes, name, &count, err);
    if (s)
        out->n = 0;
    return s;
}
