/* One suite for every backend and stand-in, written against the vtables of device.h only. */
#ifndef AS_TESTS_DEVICE_CONFORMANCE_H
#define AS_TESTS_DEVICE_CONFORMANCE_H

#include "../stand_in.h"

enum { BLOCK = 3 * 64 * 1024 + 5 /* in bytes: a multiple of no power of two */ };

/* The suite's program and one of its kernels on `gpu`. */
struct ready {
    struct as_program *program;
    struct as_kernel *kernel;
};
extern const struct as_host_kernel conformance_host[];
extern const char as_kernel_conformance[];

bool conformance_runs_on_host(void); /* kernels are native */
struct as_program_desc conformance_program(const char *defines);
struct ready conformance_ready(const char *kernel);
void conformance_done(struct ready *r);
struct as_memory *conformance_memory(const char *allocator, uint64_t bytes);
/* The allocator of device memory; the first one if there is none. */
const char *conformance_plain(void);
/* An allocator that the host maps in place, for data shared by host and device; NULL: none. */
const char *conformance_shared(void);
void conformance_fill(unsigned char *p, size_t n, unsigned seed);
/* Appends `words` to those of the open machine. */
void conformance_fake(const char *words);
/* Opens `gpu` as the stand-in's n-th machine; false: there are no more. */
bool conformance_machine(size_t n);
/* A launch with this many work-items in workgroups of one size; on CPUs in threads. */
struct as_launch conformance_launch(const struct ready *r, const struct as_arg *args, size_t n, uint64_t reps);
enum { GROUPS = 3, GROUP_SIZE = 32 };
size_t conformance_items(void); /* of that launch */

void conformance_opens(void **state);
void conformance_refuses(void **state);
void conformance_order(void **state);
void conformance_topology(void **state);

void conformance_allocators(void **state);
void conformance_sizes(void **state);
void conformance_given_back(void **state);
void conformance_no_memory(void **state);
void conformance_alloc_times(void **state);
void conformance_parts(void **state);
void conformance_peers(void **state);
void conformance_managed(void **state);
void conformance_two_devices(void **state);

void conformance_builds(void **state);
void conformance_arguments(void **state);
void conformance_workgroups(void **state);
void conformance_code(void **state);

void conformance_counts(void **state);
void conformance_queues(void **state);
void conformance_beside_host(void **state);
void conformance_shapes(void **state);
void conformance_copies(void **state);

void conformance_team(void **state);

void conformance_faults(void **state);
void conformance_each_call_fails(void **state);

#endif
