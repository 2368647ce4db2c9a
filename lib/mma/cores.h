/* Matrix instructions of CPUs: the kernels that cores.py writes, as native kernels of a device that is one, which take
 * the same arguments as those of fragment.kernel and peak.kernel do elsewhere. */
#ifndef AS_LIB_MMA_CORES_H
#define AS_LIB_MMA_CORES_H

#include "lib/timed/timed.h"
#include "matrix.h"

enum { AS_CORE_BODIES = 6 };
/* Images of the operands, and how many: of problems, of turns of a body, or of steps of a block. */
typedef void as_core_run(const void *a, const void *b, void *c, uint64_t n);

struct as_core_body {
    const char *name; /* of its two functions, less "_half" and "_whole" */
    unsigned chains;
    unsigned steps; /* of a chain in the long body; the short one has half of them */
    as_core_run *half, *whole;
};
struct as_core {
    const char *name; /* of the instruction */
    unsigned needs;   /* bits of enum as_cpu_set */
    const char *symbol;
    unsigned rows, columns; /* images of A, and of B, of a block; it has rows x columns images of C, row by row */
    as_core_run *multiply, *block;
    struct as_core_body bodies[AS_CORE_BODIES]; /* ends with a NULL name */
};
extern const struct as_core as_cores[]; /* of this kind of CPU; ends with a NULL name */

/* Are kernels of the device a CPU's own instructions? */
bool as_core_runs(const struct as_device_info *info);
const struct as_core *as_core_find(const char *name); /* NULL: this kind of CPU has none of that name */
/* AS_INAPPLICABLE where the CPU lacks it, AS_PRUNED where it is none of this kind of CPU. */
enum as_applies as_core_applies(const struct as_matrix *m, const struct as_device_info *info, struct as_error *err);
/* Of so many chains; 0: the usual one. NULL: there is none. */
const struct as_core_body *as_core_body(const struct as_core *core, unsigned chains);

/* Host kernels: "multiply" (a, b, c, count, core), "half_body" and "whole_body" (records, a, b, ends, turns, core,
 * body), where core and body are pointers as numbers. A body records cycles of its core: an add in a chain takes one.
 */
extern const struct as_host_kernel as_core_kernels[];
/* Makes those kernels ready to be launched in so many groups, and asks the system for what the instruction needs, in
 * each process anew: what is planned in one is measured in another. AS_UNSUPPORTED where the CPU or the system does
 * not. */
enum as_status as_core_prepare(const struct as_core *core, struct as_timed *timed, struct as_device *dev,
                               size_t workgroups, struct as_error *err);

/* How often the function has an instruction of these names, as a disassembler counted when assay was built; false, and
 * why not, where none did. */
bool as_core_counted(const char *symbol, const char *which, struct as_instructions *out, char *why, size_t size);
/* Is each step of the body the instruction of m, and nothing besides? each: instructions of a step. */
enum as_gate_state as_core_code_gate(const struct as_matrix *m, const struct as_core_body *body, double *each,
                                     char *text, size_t size);

#endif
