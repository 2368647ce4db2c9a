/* What the files of the stand-in share. */
#ifndef AS_TESTS_FAKE_HIP_INSIDE_H
#define AS_TESTS_FAKE_HIP_INSIDE_H

#include "../../driver_base.h"

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

/* For tests: the device that the last prefetch or advice was for. */
API int fake_driver_settled_for(void);

/* Are page faults replayed? */
bool fake_replays(void);

enum { UNITS = 2, GROUP_MOST = 1024, LOCAL_BYTES = 64 << 10 };

/* A kernel as the compiled program describes it; see on_host.h. */
struct fake_item {
    uint32_t thread, threads, group, workgroups;
    void (*barrier)(void);
    double step_ns; /* of a chase, 0: as long as it takes */
    uint32_t loses; /* additions */
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
    const struct fake_item **(*current)(void); /* where this thread's item is looked for */
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
/* What is planted in a launch; see planted.c. */
struct fake_planted {
    double step_ns, factor, began;
    long faults;
    bool skipped, touches, loses;
};
void fake_plant(const struct launch *l, struct fake_planted *p);
/* Waits as long as the launch is to take yet. */
void fake_planted_ends(const struct launch *l, const struct fake_planted *p);
/* Runs all groups, UNITS of them at a time. */
void fake_run(struct launch *l);
/* From here on every call for a device fails. */
void fake_lose(void);
bool fake_is_lost(void);

#define CAN_FAIL()                                                                                                     \
    do {                                                                                                               \
        if (fake_fails(__func__))                                                                                      \
            return hipErrorNotSupported;                                                                               \
    } while (0)

#endif
