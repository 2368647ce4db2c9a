/* A scripted device with memory and two kernels, for its tests. */
#ifndef TESTS_DEVICE_NULL_BENCH_H
#define TESTS_DEVICE_NULL_BENCH_H

#include "device/device.h"

struct null_bench {
    struct as_opened opened;
    struct as_device *d;
    struct as_program *program;
    struct as_kernel *add, *meet;
    struct as_memory *memory;
};

/* A file with the script; the caller unlinks it. Valid until the next call. */
char *null_script(const char *json);

/* Opens the device on a script, with 4 KiB of zeros as memory. One at a time. */
struct null_bench *null_start(const char *json);
void null_stop(struct null_bench *b);

/* Between unbuild and build a trial ends. */
void null_build(struct null_bench *b);
void null_unbuild(struct null_bench *b);

/* Launches "add" on two threads. */
enum as_status null_launch(struct null_bench *b, struct as_work work, uint64_t reps, struct as_timing *t,
                           struct as_error *err);
double null_seconds(struct null_bench *b, struct as_work work, uint64_t reps);
double null_clock(struct null_bench *b);

/* Are they equal within this share? */
bool null_near(double a, double b, double within);

#endif
