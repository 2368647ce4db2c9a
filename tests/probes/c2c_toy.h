/* Toys that run the kernels of probe c2c: the workgroups of a launch are threads. */
#ifndef TESTS_PROBES_C2C_TOY_H
#define TESTS_PROBES_C2C_TOY_H

#include "toy_device.h"

/* Host and kernel share memory of its second allocator. */
void c2c_toy_device(struct toy *t);
void c2c_toy_pingpong(const char *name, void *const *args); /* a toy's kernel */

/* Four compute units with two workgroups each; told: kernels can read their unit id. */
void c2c_toy_gpu(struct toy *t, bool told);

/* For this many launches no workgroup starts on this unit; the number of those left. */
void c2c_toy_leave_out(unsigned unit, int launches);
int c2c_toy_left_out(void);

#endif
