/* The kernel dialect: device code is written once, in C with the words below, which one prelude per API defines.
 *
 *   KERNEL(triad)(ARG_GLOBAL(0, const f64, a), ARG_GLOBAL(1, f64, c), ARG_VALUE(2, f64, s) ARG_INDICES)
 *   {
 *       u64 i = GLOBAL_THREAD;
 *       ...
 *   }
 *
 * ARG_GLOBAL and ARG_VALUE carry the argument's position and ARG_INDICES (no comma before it) ends the list, because
 * some APIs bind arguments by number and hand thread indices in as arguments.
 *   DIALECT_OPENCL, _HOST, _CUDA, _HIP, _METAL   defined in its own, for text that must be spelled for each
 *   GLOBAL, LOCAL            address space of a pointer; of an array in a kernel's outermost block
 *   FUNCTION                 in front of a helper function (indices only in kernels: pass them on)
 *   THREAD, THREADS          index in the workgroup, size of the workgroup
 *   GROUP, GROUPS            index of the workgroup, number of workgroups
 *   GLOBAL_THREAD(S)         the same over all workgroups, 64 bits
 *   BARRIER()                workgroup barrier with memory visibility
 *   u8 .. u64, i8 .. i64, f32, f64 (HAVE_F64), f16 (HAVE_F16), atomic_u32
 *   ATOMIC_LOAD(p, order, scope), ATOMIC_STORE, _ADD, _MIN, _MAX, _EXCHANGE(p, v, order, scope)
 *                            p points to global or shared memory; ORDER_RELAXED, _ACQUIRE, _RELEASE, _ACQ_REL,
 * _SEQ_CST; SCOPE_GROUP, _DEVICE, _SYSTEM HAVE_ATOMIC_ORDERS       0: every order is relaxed and the scope is the
 * device HAVE_ATOMIC_SEQ_CST, HAVE_SCOPE_SYSTEM   0: there is no such order, no such scope ATOMIC_ADD_U64(p, v, order,
 * scope), _F32, _F64   on GLOBAL atomic_u64, atomic_f32, atomic_f64, where HAVE_ATOMIC_ADD_U64, _F32, _F64: 1 by an
 * operation of the API, 2 by a loop of compare-and-swap, 0 not at all CYCLES()                 core cycles, where
 * HAVE_CYCLES CONSTANT                 in front of an array at program scope with its values: constant memory
 *   CONSTANT_POINTER(type)   a pointer into such an array
 *   LOCAL_POINTER(type)      a pointer into a LOCAL array, for casts
 *   FOLLOW(a)                the u64 at the global address that the u64 a holds; not left out, doubled or moved over
 *                            CYCLES() where HAVE_CYCLES
 *   FOLLOW_READ_ONLY(a)      the same by the path for data that nobody writes while the kernel runs, if there is one
 *   FOLLOW_SHARED(a)         the same from where all units see the same: past a unit's own cache
 *   FMA_F32(a, b, c)         a * b + c, rounded once; FMA_F64 where HAVE_F64
 *   f16x2, where HAVE_F16X2: two f16 that are computed with at once: MAKE_F16X2(low, high) from f32, FMA_F16X2(a, b, c)
 *   VECTOR_F32(lanes), VECTOR_F64(lanes), where HAVE_VECTORS: 2, 4, 8 or 16 numbers that are computed with at once, for
 *                            units whose work-items have vectors of their own; FMA_VECTOR(a, b, c)
 *   DOT_4X8_S8(a, b)         with AS_CAP_DOT_4X8: the i32 sum of the four products of the signed bytes of two u32
 *   LOOP_NOT_UNROLLED        in front of a loop
 *   u32x2, u32x4             two and four u32 that are loaded at once: .x .y .z .w
 *   LOAD_F64X2(p)            two f64 that lie side by side, at once; STORE_F64X2(p, v); _ONCE: nobody needs them again;
 *                            LOAD_SHARED_F64X2: past a unit's own cache
 *   GROUP_MOST               of the options: maximum threads per workgroup over all launches of the program
 * No variadic macros and no function pointers: not every dialect has them. */
#ifndef AS_DEVICE_DIALECT_DIALECT_H
#define AS_DEVICE_DIALECT_DIALECT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum as_dialect { AS_DIALECT_OPENCL, AS_DIALECT_HOST, AS_DIALECT_CUDA, AS_DIALECT_HIP, AS_DIALECT_METAL, AS_DIALECT_N };
const char *as_dialect_word(enum as_dialect d);    /* "cuda" */
enum as_dialect as_dialect_find(const char *word); /* AS_DIALECT_N: there is none of that name */
const char *as_dialect_prelude(enum as_dialect d);
/* Is FOLLOW_SHARED such a load? Else it is one like FOLLOW. */
bool as_dialect_has_shared_load(enum as_dialect d);
/* prelude + "#line 1" + source into out */
void as_dialect_source(enum as_dialect d, const char *source, struct as_buf *out);
/* What a compiler's log says is wrong: from the line of the first error on, as much as there is room for, in one line.
 * log: NULL when there is none. */
void as_dialect_complaint(const char *log, char *out, size_t size);

#endif
