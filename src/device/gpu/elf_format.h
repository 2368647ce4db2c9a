/* The parts of the ELF format used by GPU code, also for systems without elf.h. */
#ifndef AS_DEVICE_GPU_ELF_FORMAT_H
#define AS_DEVICE_GPU_ELF_FORMAT_H

#if __has_include(<elf.h>)
#include <elf.h>
#else
#include <stdint.h>

typedef uint16_t Elf64_Half;
typedef uint32_t Elf64_Word;
typedef struct {
    unsigned char e_ident[16];
    Elf64_Half e_type, e_machine;
    Elf64_Word e_version;
    uint64_t e_entry, e_phoff, e_shoff;
    Elf64_Word e_flags;
    Elf64_Half e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
} Elf64_Ehdr;
typedef struct {
    Elf64_Word sh_name, sh_type;
    uint64_t sh_flags, sh_addr, sh_offset, sh_size;
    Elf64_Word sh_link, sh_info;
    uint64_t sh_addralign, sh_entsize;
} Elf64_Shdr;
typedef struct {
    Elf64_Word st_name;
    unsigned char st_info, st_other;
    Elf64_Half st_shndx;
    uint64_t st_value, st_size;
} Elf64_Sym;

#define ELFMAG "\177ELF"
#define SELFMAG 4
#define ELF64_ST_TYPE(info) ((info)&15)
enum { EI_CLASS = 4, EI_DATA = 5, EI_ABIVERSION = 8, ELFCLASS64 = 2, ELFDATA2LSB = 1, EM_CUDA = 190, EM_AMDGPU = 224 };
enum {
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_NOBITS = 8,
    SHT_DYNSYM = 11,
    SHF_EXECINSTR = 4,
    STT_FUNC = 2
};
#endif

#endif
