/* Reads machine code as an ELF file. Every offset is checked against the file's size. */
#ifndef AS_DEVICE_GPU_MACHINE_CODE_H
#define AS_DEVICE_GPU_MACHINE_CODE_H

#include "base/error.h"
#include "device/gpu/elf_format.h"

#include <stddef.h>

struct as_gpu_elf {
    const unsigned char *bytes; /* the caller's */
    size_t n;
    const char *kind; /* its format, for messages: "cubin" */
    Elf64_Ehdr head;
};

/* AS_FORMAT with "not a valid <kind>: <why>". */
enum as_status as_gpu_elf_bad(const struct as_gpu_elf *elf, const char *why, struct as_error *err);
/* AS_FORMAT unless it is a little-endian 64-bit ELF file with its section table inside; AS_UNSUPPORTED unless it is
 * for that machine. */
enum as_status as_gpu_elf_open(struct as_gpu_elf *out, const unsigned char *bytes, size_t n, const char *kind,
                               Elf64_Half machine, struct as_error *err);
/* Section i, whose bytes, if any (type not SHT_NOBITS), lie within the file; AS_FORMAT if they do not or if there
 * is no such section. */
enum as_status as_gpu_elf_section(const struct as_gpu_elf *elf, size_t i, Elf64_Shdr *out, struct as_error *err);

#endif
