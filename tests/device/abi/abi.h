/* What is declared of a library without its headers, compared with those: facts about its binary interface as our
 * declarations have them and as the headers do, and the macros that make them of lists (list.py makes those). */
#ifndef AS_TESTS_DEVICE_ABI_H
#define AS_TESTS_DEVICE_ABI_H

struct abi_row { /* a value, a size or a place */
    const char *name;
    long long value;
};
extern const struct abi_row abi_ours[], abi_sdk[]; /* end with a NULL name */
extern const struct abi_row abi_functions[];       /* 1: our parameters are the headers' */

#define ABI_CONSTANT(name) {#name, (long long)(name)},
#define ABI_TYPE(name) {"sizeof " #name, (long long)sizeof(name)},
#define ABI_FUNCTION(result, name, parameters)                                                                         \
    {#name, __builtin_types_compatible_p(__typeof__(name), result parameters)},

#endif
