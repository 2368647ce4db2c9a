/* The kernel dialect for the Metal Shading Language, from 2.3 on (bf16 from 3.1, atomic addition of f32
 * from 3.0). Arguments are bound by number, and thread indices are arguments as well, which
 * ARG_INDICES declares. Programs must be compiled with a safe math mode: a fast one lets the compiler merge steps of a
 * chain. Words: see dialect.h. */
#include <metal_stdlib>
using namespace metal;
#define DIALECT_METAL 1
#define KERNEL(name) kernel void name
#define ARG_GLOBAL(index, type, name) device type *name [[buffer(index)]]
#define ARG_VALUE(index, type, name) constant type &name [[buffer(index)]]
#define ARG_INDICES                                                                                                    \
    , uint as_thread [[thread_position_in_threadgroup]], uint as_threads [[threads_per_threadgroup]],                  \
        uint as_group [[threadgroup_position_in_grid]], uint as_groups [[threadgroups_per_grid]]
#define GLOBAL device
#define LOCAL threadgroup
#define FUNCTION static inline
#define CONSTANT constant
#define CONSTANT_POINTER(type) constant type *
#define LOCAL_POINTER(type) threadgroup type *

typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef float f32;
typedef uint2 u32x2;
typedef uint4 u32x4;
/* The language has no 64-bit floats. */
#define HAVE_F64 0
typedef half f16;
#define HAVE_F16 1
#if __METAL_VERSION__ >= 310
typedef bfloat bf16;
typedef bfloat2 bf16x2;
#endif

/* Launches have whole threadgroups. */
#define THREAD (as_thread)
#define THREADS (as_threads)
#define GROUP (as_group)
#define GROUPS (as_groups)
#define GLOBAL_THREAD ((u64)as_group * as_threads + as_thread)
#define GLOBAL_THREADS ((u64)as_groups * as_threads)
#define BARRIER() threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)
#define LOOP_NOT_UNROLLED _Pragma("clang loop unroll(disable)")

/* The language has no load that bypasses a unit's own cache; volatile keeps the compiler from removing the load. */
#define FOLLOW(a) (*(device const u64 *)(a))
#define FOLLOW_READ_ONLY(a) (*(device const u64 *)(a))
#define FOLLOW_SHARED(a) (*(device const volatile u64 *)(a))

#define FMA_F32(a, b, c) fma((f32)(a), (f32)(b), (f32)(c))
#define HAVE_VECTORS 0
typedef half2 f16x2;
#define HAVE_F16X2 1
#define MAKE_F16X2(low, high) half2((half)(low), (half)(high))
#define FMA_F16X2(a, b, c) fma(a, b, c)

/* Atomic operations have relaxed order only, and no scope; 64-bit ones are a minimum and a maximum that return
 * no value. */
#define HAVE_ATOMIC_ORDERS 0
#define HAVE_ATOMIC_SEQ_CST 0
#define HAVE_SCOPE_SYSTEM 0
#define SCOPE_GROUP 0
#define SCOPE_DEVICE 0
#define SCOPE_SYSTEM 0
#define ORDER_RELAXED 0
#define ORDER_ACQUIRE 0
#define ORDER_RELEASE 0
#define ORDER_ACQ_REL 0
#define ORDER_SEQ_CST 0
typedef atomic_uint atomic_u32;
#define ATOMIC_LOAD(p, order, scope) atomic_load_explicit(p, memory_order_relaxed)
#define ATOMIC_STORE(p, v, order, scope) atomic_store_explicit(p, v, memory_order_relaxed)
#define ATOMIC_ADD(p, v, order, scope) atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define ATOMIC_MIN(p, v, order, scope) atomic_fetch_min_explicit(p, v, memory_order_relaxed)
#define ATOMIC_MAX(p, v, order, scope) atomic_fetch_max_explicit(p, v, memory_order_relaxed)
#define ATOMIC_EXCHANGE(p, v, order, scope) atomic_exchange_explicit(p, v, memory_order_relaxed)
#define HAVE_ATOMIC_ADD_U64 0
#if __METAL_VERSION__ >= 240
#define HAVE_ATOMIC_BOUND_U64 2
typedef atomic_ulong atomic_u64;
#define ATOMIC_MIN_U64(p, v, order, scope) atomic_min_explicit(p, (ulong)(v), memory_order_relaxed)
#define ATOMIC_MAX_U64(p, v, order, scope) atomic_max_explicit(p, (ulong)(v), memory_order_relaxed)
#else
#define HAVE_ATOMIC_BOUND_U64 0
#endif
#define HAVE_ATOMIC_ADD_F64 0
#if __METAL_VERSION__ >= 300
#define HAVE_ATOMIC_ADD_F32 1
typedef atomic_float atomic_f32;
#define ATOMIC_ADD_F32(p, v, order, scope) atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#else
#define HAVE_ATOMIC_ADD_F32 2
typedef atomic_uint atomic_f32;
FUNCTION f32 as_atomic_add_f32(device atomic_f32 *p, f32 v)
{
    u32 old = atomic_load_explicit(p, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(p, &old, as_type<u32>(as_type<f32>(old) + v), memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
    return as_type<f32>(old);
}
#define ATOMIC_ADD_F32(p, v, order, scope) as_atomic_add_f32(p, v)
#endif

/* A kernel can read neither a clock nor its unit's number; it reports so (record.kernel) and is timed from outside. */
#define HAVE_CYCLES 0
#define HAVE_NANOS 0
#define HAVE_UNIT 0
