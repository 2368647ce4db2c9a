/* Shared by the files of the stand-in. */
#ifndef AS_TESTS_FAKE_HIP_INSIDE_H
#define AS_TESTS_FAKE_HIP_INSIDE_H

#include "../../fail_at.h"
#include "fake.h"

#include "device/hip/hip_functions.h"
#include "device/hip/hip_types.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define DECLARE(result, name, parameters) API result name parameters;
AS_HIP_REQUIRED(DECLARE)
AS_HIP_OPTIONAL(DECLARE)
AS_HIP_NEWER(DECLARE)
AS_HIPRTC_REQUIRED(DECLARE)

enum { DEVICES = 3, UNITS = 2, GROUP_MOST = 1024, LOCAL_BYTES = 64 << 10 };

enum kind { DEVICE_MEMORY, MANAGED, PINNED, REGISTERED };
struct block {
    struct block *next;
    char *at;
    size_t size;
    enum kind kind;
    unsigned flags;
};

/* A kernel as the compiled program describes it; see on_host.h. */
struct fake_item {
    uint32_t thread, threads, group, workgroups;
    void (*barrier)(void);
};
struct fake_entry {
    const char *name; /* NULL ends the table */
    void (*function)(void);
    void (*call)(void (*function)(void), void **arguments);
    unsigned count;
    const unsigned *sizes; /* of its arguments */
};

struct as_gpu_module {
    void *library;
    const struct fake_entry *table;
    const struct fake_item **(*current)(void); /* where the kernel looks for this thread's item */
};
struct as_gpu_function {
    const struct as_gpu_module *module;
    const struct fake_entry *entry;
    struct as_gpu_function *next;
};
struct launch {
    const struct as_gpu_function *kernel;
    unsigned workgroups, threads;
    void *arguments[24];
    unsigned char values[24][16];
};

extern __thread int fake_current;
/* Is the word in FAKE_HIP? */
bool fake_asked(const char *word);
/* Notes the first broken rule; returns code. */
hipError_t fake_broke(const char *what, hipError_t code);
/* A device's number before HIP_VISIBLE_DEVICES; -1: there is none. */
int fake_real(int device);
/* Counts objects created and not released. */
void fake_count(int n);
/* The block that contains the range, or NULL. */
const struct block *fake_find(const void *at, size_t size);
/* Runs all workgroups, UNITS of them at a time. */
void fake_run(struct launch *l);
/* From here on every call for the device fails. */
void fake_lose(void);
bool fake_is_lost(void);

#define CAN_FAIL()                                                                                                     \
    do {                                                                                                               \
        if (fail_at(getenv("FAKE_HIP"), __func__))                                                                     \
            return hipErrorNotSupported;                                                                               \
    } while (0)

#endif
