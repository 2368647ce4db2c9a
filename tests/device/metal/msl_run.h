/* What a translated program (msl.py) and the test that runs it know of each other. C and C++. */
#ifndef AS_TESTS_DEVICE_METAL_MSL_RUN_H
#define AS_TESTS_DEVICE_METAL_MSL_RUN_H

enum { MSL_LANES = 32, MSL_SLOT = 16 };

struct msl_item {
    unsigned thread, threads, group, workgroups;
};
struct msl_runtime {
    const struct msl_item *item; /* of the thread that runs */
    void (*barrier)(void);
    /* Lanes that go together hand each other a value of so many bytes; lane i's is in slot i, until the next but one.
     */
    const unsigned char *(*share)(const void *value, unsigned bytes);
};
struct msl_kernel {
    const char *name; /* NULL: the last one */
    void (*call)(void *const *buffers);
    unsigned buffers;     /* a bit for each that it takes */
    unsigned long shared; /* bytes of memory of a group */
};

#endif
