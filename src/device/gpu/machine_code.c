#include "device/gpu/machine_code.h"

#include <string.h>

enum as_status as_gpu_elf_bad(const struct as_gpu_elf *elf, const char *why, struct as_error *err)
{
    return as_fail(err, AS_FORMAT, "not a valid %s: %s", elf->kind, why);
}

enum as_status as_gpu_elf_open(struct as_gpu_elf *out, const unsigned char *bytes, size_t n, const char *kind,
                               Elf64_Half machine, struct as_error *err)
{
    *out = (struct as_gpu_elf){.bytes = bytes, .n = n, .kind = kind};
    Elf64_Ehdr *head = &out->head;
    if (n < sizeof *head)
        return as_gpu_elf_bad(out, "it is too short", err);
    memcpy(head, bytes, sizeof *head);
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != ELFDATA2LSB)
        return as_gpu_elf_bad(out, "it is not a 64-bit ELF file", err);
    if (head->e_machine != machine)
        return as_fail(err, AS_UNSUPPORTED, "this %s is for another machine", kind);
    if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff > n ||
        (n - head->e_shoff) / sizeof(Elf64_Shdr) < head->e_shnum)
        return as_gpu_elf_bad(out, "its section table lies outside the file", err);
    return AS_OK;
}

enum as_status as_gpu_elf_section(const struct as_gpu_elf *elf, size_t i, Elf64_Shdr *out, struct as_error *err)
{
    if (i >= elf->head.e_shnum)
        return as_gpu_elf_bad(elf, "a section is missing", err);
    memcpy(out, elf->bytes + elf->head.e_shoff + i * sizeof *out, sizeof *out);
    if (out->sh_type != SHT_NOBITS && (out->sh_offset > elf->n || out->sh_size > elf->n - out->sh_offset))
        return as_gpu_elf_bad(elf, "a section lies outside the file", err);
    return AS_OK;
}
