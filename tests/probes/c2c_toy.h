/* Toys that run the kernels of probe c2c: the workgroups of a launch are threads here. */
#ifndef TESTS_PROBES_C2C_TOY_H
#define TESTS_PROBES_C2C_TOY_H

#include "toy_device.h"

/* The host and a kernel see each other in its second kind of memory. */
void c2c_toy_device(struct toy *t);
void c2c_toy_pingpong(const char *name, void *const *args); /* a toy's kernel */

/* Four units with two workgroups each; told: their kernels have a unit id. */
void c2c_toy_gpu(struct toy *t, bool told);

/* So many launches start nothing on this unit; how many of them are to come. */
void c2c_toy_leave_out(unsigned unit, int launches);
int c2c_toy_left_out(void);

#endif
