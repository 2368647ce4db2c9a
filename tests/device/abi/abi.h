/* Compares our declarations of a library without its headers with those of the headers: facts about its binary
 * interface from both sides, and macros that make them from lists (list.py writes those). */
#ifndef AS_TESTS_DEVICE_ABI_H
#define AS_TESTS_DEVICE_ABI_H

struct abi_row { /* a value, a size or an offset */
    const char *name;
    long long value;
};
extern const struct abi_row abi_ours[], abi_sdk[]; /* ends with a NULL name */
extern const struct abi_row abi_functions[];       /* 1: our parameters equal the headers' */

#define ABI_CONSTANT(name) {#name, (long long)(name)},
#define ABI_TYPE(name) {"sizeof " #name, (long long)sizeof(name)},
#define ABI_FUNCTION(result, name, parameters)                                                                         \
    {#name, __builtin_types_compatible_p(__typeof__(name), result parameters)},

#endif
