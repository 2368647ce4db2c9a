/* The interface between a translated program (msl.py) and the test that runs it. C and C++. */
#ifndef AS_TESTS_DEVICE_METAL_MSL_RUN_H
#define AS_TESTS_DEVICE_METAL_MSL_RUN_H

enum { MSL_LANES = 32, MSL_SLOT = 16 };

struct msl_item {
    unsigned thread, threads, group, workgroups;
};
struct msl_runtime {
    const struct msl_item *item; /* of the running thread */
    void (*barrier)(void);
    /* Lanes of a simdgroup exchange values of `bytes` bytes. Lane i's is in slot i, valid until the exchange after the
     * next. */
    const unsigned char *(*share)(const void *value, unsigned bytes);
};
struct msl_kernel {
    const char *name; /* NULL: the last one */
    void (*call)(void *const *buffers);
    unsigned buffers;     /* a bit for each index used */
    unsigned long shared; /* shared memory of a workgroup, in bytes */
};

#endif
