/* A code object read as the ELF file that it is. Nothing of it is believed before it has been checked against the
 * file's size. */
#include "device/hip/hip.h"

#include <elf.h>
#include <string.h>

enum { MACHINE_AMDGPU = 0xe0 };

struct view {
    const unsigned char *bytes;
    size_t n;
    Elf64_Ehdr head;
};

static enum as_status bad(struct as_error *err, const char *why)
{
    return as_fail(err, AS_FAILED, "the machine code is no code object that can be read: %s", why);
}

static enum as_status open_view(struct view *v, const unsigned char *code, size_t bytes, struct as_error *err)
{
    *v = (struct view){.bytes = code, .n = bytes};
    if (bytes < sizeof v->head)
        return bad(err, "it is too short");
    memcpy(&v->head, code, sizeof v->head);
    if (memcmp(v->head.e_ident, ELFMAG, SELFMAG) != 0 || v->head.e_ident[EI_CLASS] != ELFCLASS64 ||
        v->head.e_ident[EI_DATA] != ELFDATA2LSB || v->head.e_machine != MACHINE_AMDGPU)
        return bad(err, "it is no ELF file for AMD GPUs");
    if (v->head.e_shentsize != sizeof(Elf64_Shdr) || v->head.e_shoff > bytes ||
        v->head.e_shnum > (bytes - v->head.e_shoff) / sizeof(Elf64_Shdr))
        return bad(err, "its sections lie outside");
    return AS_OK;
}

static enum as_status section_at(const struct view *v, size_t i, Elf64_Shdr *out, struct as_error *err)
{
    if (i >= v->head.e_shnum)
        return bad(err, "a section is missing");
    memcpy(out, v->bytes + v->head.e_shoff + i * sizeof *out, sizeof *out);
    if (out->sh_type != SHT_NOBITS && (out->sh_offset > v->n || out->sh_size > v->n - out->sh_offset))
        return bad(err, "a section lies outside");
    return AS_OK;
}

static bool is_called(const struct view *v, const Elf64_Shdr *names, uint64_t at, const char *name)
{
    size_t length = strlen(name) + 1;
    return names->sh_type == SHT_STRTAB && at < names->sh_size && names->sh_size - at >= length &&
           memcmp(v->bytes + names->sh_offset + at, name, length) == 0;
}

/* The function of that name in one table of symbols; AS_NOTFOUND where it has none. */
static enum as_status search(const struct view *v, const Elf64_Shdr *table, const char *name, Elf64_Sym *out,
                             struct as_error *err)
{
    Elf64_Shdr names;
    enum as_status s = section_at(v, table->sh_link, &names, err);
    for (uint64_t i = 0; !s && i < table->sh_size / sizeof *out; i++) {
        memcpy(out, v->bytes + table->sh_offset + i * sizeof *out, sizeof *out);
        if (ELF64_ST_TYPE(out->st_info) == STT_FUNC && is_called(v, &names, out->st_name, name))
            return AS_OK;
    }
    return s ? s : AS_NOTFOUND;
}

static enum as_status find_kernel(const struct view *v, const char *name, Elf64_Sym *out, struct as_error *err)
{
    for (size_t i = 0; i < v->head.e_shnum; i++) {
        Elf64_Shdr table;
        enum as_status s = section_at(v, i, &table, err);
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
    struct view v;
    Elf64_Sym kernel;
    *n = 0;
    enum as_status s = open_view(&v, code, bytes, err);
    if (!s)
        s = find_kernel(&v, name, &kernel, err);
    if (!s)
        *n = kernel.st_size;
    return s;
}
