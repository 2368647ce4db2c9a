/* One fact about the runtime's binary interface: a value, a size or a place. */
#ifndef AS_TESTS_HIP_ABI_H
#define AS_TESTS_HIP_ABI_H

struct abi_row {
    const char *name;
    long long value;
};
extern const struct abi_row abi_ours[], abi_sdk[]; /* end with a NULL name */
extern const struct abi_row abi_functions[];       /* 1: our parameters are the headers' */

#endif
