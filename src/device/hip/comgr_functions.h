/* The functions of comgr, ROCm's code object manager, in use, by exported name (amd_comgr.h of ROCm 5
 * to 7). A test compares it with that header where it is installed. */
#ifndef AS_DEVICE_HIP_COMGR_FUNCTIONS_H
#define AS_DEVICE_HIP_COMGR_FUNCTIONS_H

#include <stdint.h>

#ifndef AS_SDK
typedef int amd_comgr_status_t;
typedef struct amd_comgr_disassembly_info_s {
    uint64_t handle;
} amd_comgr_disassembly_info_t;
enum {
    AMD_COMGR_STATUS_SUCCESS = 0,
    AMD_COMGR_STATUS_ERROR = 1,
    AMD_COMGR_STATUS_ERROR_INVALID_ARGUMENT = 2,
    AMD_COMGR_STATUS_ERROR_OUT_OF_RESOURCES = 3,
};
#endif

#define AS_COMGR_FUNCTIONS(X)                                                                                          \
    X(amd_comgr_status_t, amd_comgr_create_disassembly_info,                                                           \
      (const char *isa, uint64_t (*read)(uint64_t from, char *to, uint64_t size, void *data),                          \
       void (*print)(const char *instruction, void *data), void (*annotate)(uint64_t address, void *data),             \
       amd_comgr_disassembly_info_t *info))                                                                            \
    X(amd_comgr_status_t, amd_comgr_destroy_disassembly_info, (amd_comgr_disassembly_info_t info))                     \
    X(amd_comgr_status_t, amd_comgr_disassemble_instruction,                                                           \
      (amd_comgr_disassembly_info_t info, uint64_t address, void *data, uint64_t *size))

#endif
