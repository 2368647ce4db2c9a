/* Reads a code object as an ELF file. Every offset is checked against the file's size. */
#include "device/gpu/machine_code.h"
#include "device/hip/hip.h"
#include "device/hip/instructions.h"

#include <string.h>

enum { MACHINE_AMDGPU = 0xe0 };

static bool is_called(const struct as_gpu_elf *v, const Elf64_Shdr *names, uint64_t at, const char *name)
{
    size_t length = strlen(name) + 1;
    return names->sh_type == SHT_STRTAB && at < names->sh_size && names->sh_size - at >= length &&
           memcmp(v->bytes + names->sh_offset + at, name, length) == 0;
}

/* The function of that name in one symbol table; AS_NOTFOUND if it has none. */
static enum as_status hip_code_object_search(const struct as_gpu_elf *v, const Elf64_Shdr *table, const char *name,
                                             Elf64_Sym *out, struct as_error *err)
{
    Elf64_Shdr names;
    enum as_status st = as_gpu_elf_section(v, table->sh_link, &names, err);
    for (uint64_t i = 0; !st && i < table->sh_size / sizeof *out; i++) {
        memcpy(out, v->bytes + table->sh_offset + i * sizeof *out, sizeof *out);
        if (ELF64_ST_TYPE(out->st_info) == STT_FUNC && is_called(v, &names, out->st_name, name))
            return AS_OK;
    }
    return st ? st : AS_NOTFOUND;
}

static enum as_status find_kernel(const struct as_gpu_elf *v, const char *name, Elf64_Sym *out, struct as_error *err)
{
    for (size_t i = 0; i < v->head.e_shnum; i++) {
        Elf64_Shdr table;
        enum as_status st = as_gpu_elf_section(v, i, &table, err);
        if (st)
            return st;
        if (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM)
            continue;
        st = hip_code_object_search(v, &table, name, out, err);
        if (st != AS_NOTFOUND)
            return st;
    }
    return as_fail(err, AS_NOTFOUND, "the machine code has no kernel '%s'", name);
}

enum as_status as_hip_code_bytes(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Sym kernel;
    *n = 0;
    enum as_status st = as_gpu_elf_open(&v, code, bytes, "code object", MACHINE_AMDGPU, err);
    if (!st)
        st = find_kernel(&v, name, &kernel, err);
    if (!st)
        *n = kernel.st_size;
    return st;
}

/* Locates the kernel's instructions. A symbol's value is an address in a loadable file, and an offset in its
 * section in a relocatable one, whose sections have address 0. */
static enum as_status hip_code_object_find_text(const struct as_gpu_elf *v, const Elf64_Sym *kernel,
                                                const unsigned char **text, struct as_error *err)
{
    Elf64_Shdr section;
    enum as_status st = as_gpu_elf_section(v, kernel->st_shndx, &section, err);
    if (st)
        return st;
    uint64_t at = kernel->st_value - section.sh_addr;
    if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR))
        return as_gpu_elf_bad(v, "a kernel lies outside the code", err);
    if (at > section.sh_size || kernel->st_size > section.sh_size - at)
        return as_gpu_elf_bad(v, "a kernel lies outside its section", err);
    *text = v->bytes + section.sh_offset + at;
    return AS_OK;
}

/* The chip of a code object, from LLVM's numbers in the ELF flags; NULL if unknown. */
static const char *chip_of(Elf64_Word flags)
{
    enum { MACHINE = 0xff };
    static const char names[MACHINE + 1][8] = {
        [0x2c] = "gfx900",  [0x2f] = "gfx906",  [0x30] = "gfx908",  [0x33] = "gfx1010", [0x34] = "gfx1011",
        [0x35] = "gfx1012", [0x36] = "gfx1030", [0x37] = "gfx1031", [0x38] = "gfx1032", [0x39] = "gfx1033",
        [0x3d] = "gfx1035", [0x3e] = "gfx1034", [0x3f] = "gfx90a",  [0x41] = "gfx1100", [0x43] = "gfx1150",
        [0x44] = "gfx1103", [0x45] = "gfx1036", [0x46] = "gfx1101", [0x47] = "gfx1102", [0x48] = "gfx1200",
        [0x4a] = "gfx1151", [0x4c] = "gfx942",  [0x4e] = "gfx1201", [0x4f] = "gfx950",  [0x55] = "gfx1152",
    };
    return names[flags & MACHINE][0] ? names[flags & MACHINE] : NULL;
}

static enum as_status disassemble(const unsigned char *code, size_t bytes, const char *name,
                                  void (*each)(const char *instruction, void *data), void *data, struct as_error *err)
{
    struct as_gpu_elf v;
    Elf64_Sym kernel;
    const unsigned char *text = NULL;
    enum as_status st = as_gpu_elf_open(&v, code, bytes, "code object", MACHINE_AMDGPU, err);
    if (!st)
        st = find_kernel(&v, name, &kernel, err);
    if (!st)
        st = hip_code_object_find_text(&v, &kernel, &text, err);
    if (st)
        return st;
    const char *chip = chip_of(v.head.e_flags);
    return chip ? as_amd_disassemble(chip, text, kernel.st_size, each, data, err)
                : as_fail(err, AS_UNSUPPORTED,
                          "instructions can be counted in machine code for gfx900 to gfx1201, and this is for another "
                          "chip (ELF flags 0x%x)",
                          v.head.e_flags);
}

static bool hip_code_object_is_word(const char *operation)
{
    size_t i = 0;
    while (as_operation_words[i] && strcmp(as_operation_words[i], operation) != 0)
        i++;
    return as_operation_words[i] != NULL;
}

struct count {
    const char *operation;
    uint64_t n;
};

static void count_one(const char *instruction, void *data)
{
    struct count *c = data;
    c->n += as_amd_does(instruction, c->operation);
}

enum as_status as_hip_count_code(const unsigned char *code, size_t bytes, const char *name, const char *operation,
                                 uint64_t *n, struct as_error *err)
{
    struct count count = {.operation = operation};
    *n = 0;
    if (!hip_code_object_is_word(operation))
        return as_fail(err, AS_USAGE, "'%s' is not an operation that can be counted in machine code", operation);
    if (!as_amd_counts(operation))
        return as_fail(err, AS_UNSUPPORTED, "no instructions of AMD chips are known for '%s'", operation);
    enum as_status st = disassemble(code, bytes, name, count_one, &count, err);
    *n = st ? 0 : count.n;
    return st;
}

static void hip_code_object_add_names(const char *instruction, void *data)
{
    as_amd_add_names(instruction, data);
}

enum as_status as_hip_instructions(const unsigned char *code, size_t bytes, const char *name,
                                   struct as_instructions *out, struct as_error *err)
{
    *out = (struct as_instructions){.n = 0};
    enum as_status st = disassemble(code, bytes, name, hip_code_object_add_names, out, err);
    if (st)
        out->n = 0;
    return st;
}
