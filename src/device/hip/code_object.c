/* A code object read as the ELF file that it is. Nothing of it is believed before it has been checked against the
 * file's size. */
#include "device/card/machine_code.h"
#include "device/hip/hip.h"

#include <string.h>

enum { MACHINE_AMDGPU = 0xe0 };

static bool is_called(const struct as_card_elf *v, const Elf64_Shdr *names, uint64_t at, const char *name)
{
    size_t length = strlen(name) + 1;
    return names->sh_type == SHT_STRTAB && at < names->sh_size && names->sh_size - at >= length &&
           memcmp(v->bytes + names->sh_offset + at, name, length) == 0;
}

/* The function of that name in one table of symbols; AS_NOTFOUND where it has none. */
static enum as_status search(const struct as_card_elf *v, const Elf64_Shdr *table, const char *name, Elf64_Sym *out,
                             struct as_error *err)
{
    Elf64_Shdr names;
    enum as_status s = as_card_elf_section(v, table->sh_link, &names, err);
    for (uint64_t i = 0; !s && i < table->sh_size / sizeof *out; i++) {
        memcpy(out, v->bytes + table->sh_offset + i * sizeof *out, sizeof *out);
        if (ELF64_ST_TYPE(out->st_info) == STT_FUNC && is_called(v, &names, out->st_name, name))
            return AS_OK;
    }
    return s ? s : AS_NOTFOUND;
}

static enum as_status find_kernel(const struct as_card_elf *v, const char *name, Elf64_Sym *out, struct as_error *err)
{
    for (size_t i = 0; i < v->head.e_shnum; i++) {
        Elf64_Shdr table;
        enum as_status s = as_card_elf_section(v, i, &table, err);
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
    struct as_card_elf v;
    Elf64_Sym kernel;
    *n = 0;
    enum as_status s = as_card_elf_open(&v, code, bytes, "code object", MACHINE_AMDGPU, err);
    if (!s)
        s = find_kernel(&v, name, &kernel, err);
    if (!s)
        *n = kernel.st_size;
    return s;
}
