// clang-format off
/* The kernel dialect: device code is written once, in C with the words below, which each API's prelude defines.
 *
 *   KERNEL(triad)(ARG_GLOBAL(0, const f64, a), ARG_GLOBAL(1, f64, c), ARG_VALUE(2, f64, s) ARG_INDICES)
 *   {
 *       u64 i = GLOBAL_THREAD;
 *       ...
 *   }
 *
 * ARG_GLOBAL and ARG_VALUE carry the argument's position and ARG_INDICES (no comma before it) ends the list, because
 * some APIs bind arguments by number and pass thread indices as arguments.
 *
 *   DIALECT_OPENCL, _HOST, _CUDA, _HIP, _METAL   one is defined, for code that differs between APIs
 *   GLOBAL, LOCAL            address space of a pointer; of an array in a kernel's outermost block
 *   FUNCTION                 before a helper function (indices exist only in kernels: pass them on)
 *   THREAD, THREADS          index in the workgroup, size of the workgroup
 *   GROUP, GROUPS            index of the workgroup, number of workgroups
 *   GLOBAL_THREAD(S)         the same over all workgroups, 64 bits
 *   BARRIER()                workgroup barrier with memory visibility
 *   u8 .. u64, i8 .. i64, f32, f64 (HAVE_F64), f16 (HAVE_F16), atomic_u32
 *   ATOMIC_LOAD(p, order, scope), ATOMIC_STORE, _ADD, _MIN, _MAX, _EXCHANGE(p, v, order, scope)
 *                            p points to global or shared memory; ORDER_RELAXED, _ACQUIRE, _RELEASE, _ACQ_REL,
 *                            _SEQ_CST; SCOPE_GROUP, _DEVICE, _SYSTEM
 *   HAVE_ATOMIC_ORDERS       0: every order is relaxed, and the scope is the device
 *   HAVE_ATOMIC_SEQ_CST, HAVE_SCOPE_SYSTEM   0: this order or scope is missing
 *   ATOMIC_ADD_U64(p, v, order, scope), _F32, _F64
 *                            on GLOBAL atomic_u64, atomic_f32, atomic_f64; HAVE_ATOMIC_ADD_U64, _F32, _F64: 1 as an
 *                            operation of the API, 2 as a compare-and-swap loop, 0 missing
 *   ATOMIC_MIN_U64(p, v, order, scope), _MAX_U64
 *                            the same on global or shared memory; HAVE_ATOMIC_BOUND_U64: 1 both; 2 global
 *                            memory only, without a result; 0 missing
 *   CYCLES()                 core cycles, if HAVE_CYCLES
 *   CONSTANT                 before an initialised array at program scope: constant memory
 *   CONSTANT_POINTER(type)   a pointer into such an array
 *   LOCAL_POINTER(type)      a pointer into a LOCAL array, for casts
 *   FOLLOW(a)                loads the u64 at the global address in the u64 a; not removed, duplicated or moved across
 *                            CYCLES() if HAVE_CYCLES
 *   FOLLOW_READ_ONLY(a)      the same through the read-only data path, if there is one
 *   FOLLOW_SHARED(a)         the same from the level that all compute units share, bypassing their own caches
 *   FMA_F32(a, b, c)         a * b + c, rounded once; FMA_F64 if HAVE_F64
 *   f16x2                    two packed f16, if HAVE_F16X2: MAKE_F16X2(low, high) from f32, FMA_F16X2(a, b, c)
 *   VECTOR_F32(lanes), VECTOR_F64(lanes)
 *                            vectors of 2, 4, 8 or 16 numbers, if HAVE_VECTORS, for devices whose work-items use SIMD;
 *                            FMA_VECTOR(a, b, c)
 *   DOT_4X8_S8(a, b)         with AS_CAP_DOT_4X8: the i32 dot product of the four signed bytes of two u32
 *   LOOP_NOT_UNROLLED        before a loop
 *   u32x2, u32x4             two or four u32 loaded at once: .x .y .z .w
 *   LOAD_F64X2(p)            two adjacent f64 at once; STORE_F64X2(p, v); _ONCE: streaming, not reused;
 *                            LOAD_SHARED_F64X2: bypassing a compute unit's own cache
 *   GROUP_MOST               from the options: maximum threads per workgroup over all launches of the program
 *
 * Variadic macros and function pointers are not available in every dialect. */
// clang-format on
#ifndef AS_DEVICE_DIALECT_DIALECT_H
#define AS_DEVICE_DIALECT_DIALECT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum as_dialect { AS_DIALECT_OPENCL, AS_DIALECT_HOST, AS_DIALECT_CUDA, AS_DIALECT_HIP, AS_DIALECT_METAL, AS_DIALECT_N };
const char *as_dialect_word(enum as_dialect d);    /* "cuda" */
enum as_dialect as_dialect_find(const char *word); /* AS_DIALECT_N: no dialect of that name */
const char *as_dialect_prelude(enum as_dialect d);
/* Whether FOLLOW_SHARED bypasses a unit's own cache; if not, it equals FOLLOW. */
bool as_dialect_has_shared_load(enum as_dialect d);
/* Writes prelude + "#line 1" + source to out. */
void as_dialect_source(enum as_dialect d, const char *source, struct as_buf *out);
/* The errors in a compiler's log: from the line of the first error on, as much as fits, joined into one line.
 * log: NULL if there is none. */
void as_dialect_complaint(const char *log, char *out, size_t size);

#endif
