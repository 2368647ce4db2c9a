/* The kernel dialect for OpenCL C 1.2 and later. Words: see dialect.h. */
#define DIALECT_OPENCL 1
#define KERNEL(name) __kernel void name
#define ARG_GLOBAL(index, type, name) __global type *name
#define ARG_VALUE(index, type, name) type name
#define ARG_INDICES
#define GLOBAL __global
#define LOCAL __local
#define FUNCTION static inline

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
#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double f64;
#define HAVE_F64 1
typedef double2 f64x2;
#define LOAD_F64X2(p) (*(p))
#define LOAD_ONCE_F64X2(p) (*(p))
#define LOAD_SHARED_F64X2(p) (*(p))
#define STORE_F64X2(p, v) (*(p) = (v))
#define STORE_ONCE_F64X2(p, v) (*(p) = (v))
#else
#define HAVE_F64 0
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half f16;
#define HAVE_F16 1
#else
#define HAVE_F16 0
#endif

#define THREAD ((u32)get_local_id(0))
#define THREADS ((u32)get_local_size(0))
#define GROUP ((u32)get_group_id(0))
#define GROUPS ((u32)get_num_groups(0))
#define GLOBAL_THREAD ((u64)get_global_id(0))
#define GLOBAL_THREADS ((u64)get_global_size(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define CONSTANT __constant
#define CONSTANT_POINTER(type) __constant type *
#define LOCAL_POINTER(type) __local type *
#define FOLLOW(a) (*(__global const u64 *)(a))
#define FOLLOW_READ_ONLY(a) (*(__global const u64 *)(a))
#define FOLLOW_SHARED(a) (*(__global const volatile u64 *)(a))
#define FMA_F32(a, b, c) fma((f32)(a), (f32)(b), (f32)(c))
#define FMA_F64(a, b, c) fma((f64)(a), (f64)(b), (f64)(c))
#define AS_JOIN(a, b) a##b
#define HAVE_VECTORS 1
#define VECTOR_F32(lanes) AS_JOIN(float, lanes)
#define VECTOR_F64(lanes) AS_JOIN(double, lanes)
#define FMA_VECTOR(a, b, c) fma(a, b, c)
#if HAVE_F16
typedef half2 f16x2;
#define HAVE_F16X2 1
#define MAKE_F16X2(low, high) ((half2)((half)(low), (half)(high)))
#define FMA_F16X2(a, b, c) fma(a, b, c)
#else
#define HAVE_F16X2 0
#endif
/* Every device with the extension supports packed bytes, but not necessarily byte vectors. */
#if defined(cl_khr_integer_dot_product) || defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#define DOT_4X8_S8(a, b) dot_4x8packed_ss_int(a, b)
#endif
#define LOOP_NOT_UNROLLED _Pragma("unroll 1")

#if __OPENCL_C_VERSION__ >= 200
/* C11 atomics. 3.0 guarantees only relaxed order and work-group scope; feature macros tell the rest. */
#if __OPENCL_C_VERSION__ < 300 || (defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device))
#define HAVE_ATOMIC_ORDERS 1
#else
#define HAVE_ATOMIC_ORDERS 0
#endif
#ifdef __opencl_c_atomic_scope_all_devices
#define SCOPE_SYSTEM memory_scope_all_svm_devices
#elif __OPENCL_C_VERSION__ < 300
#define SCOPE_SYSTEM memory_scope_all_svm_devices
#else
#define SCOPE_SYSTEM memory_scope_device
#endif
#define SCOPE_GROUP memory_scope_work_group
#define SCOPE_DEVICE memory_scope_device
#define ORDER_RELAXED memory_order_relaxed
#define ORDER_ACQUIRE memory_order_acquire
#define ORDER_RELEASE memory_order_release
#define ORDER_ACQ_REL memory_order_acq_rel
#define ORDER_SEQ_CST memory_order_seq_cst
typedef atomic_uint atomic_u32;
#define ATOMIC_LOAD(p, order, scope) atomic_load_explicit(p, order, scope)
/* Some headers have overloads for which a literal of another type is ambiguous. */
#define ATOMIC_STORE(p, v, order, scope) atomic_store_explicit(p, (uint)(v), order, scope)
#define ATOMIC_ADD(p, v, order, scope) atomic_fetch_add_explicit(p, (uint)(v), order, scope)
#define ATOMIC_MIN(p, v, order, scope) atomic_fetch_min_explicit(p, (uint)(v), order, scope)
#define ATOMIC_MAX(p, v, order, scope) atomic_fetch_max_explicit(p, (uint)(v), order, scope)
#define ATOMIC_EXCHANGE(p, v, order, scope) atomic_exchange_explicit(p, (uint)(v), order, scope)
#if __OPENCL_C_VERSION__ < 300 || defined(__opencl_c_atomic_order_seq_cst)
#define HAVE_ATOMIC_SEQ_CST 1
#else
#define HAVE_ATOMIC_SEQ_CST 0
#endif
#if __OPENCL_C_VERSION__ < 300 || defined(__opencl_c_atomic_scope_all_devices)
#define HAVE_SCOPE_SYSTEM 1
#else
#define HAVE_SCOPE_SYSTEM 0
#endif
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define HAVE_ATOMIC_ADD_U64 1
typedef atomic_ulong atomic_u64;
#define ATOMIC_ADD_U64(p, v, order, scope) atomic_fetch_add_explicit(p, (ulong)(v), order, scope)
#define HAVE_ATOMIC_BOUND_U64 1
#define ATOMIC_MIN_U64(p, v, order, scope) atomic_fetch_min_explicit(p, (ulong)(v), order, scope)
#define ATOMIC_MAX_U64(p, v, order, scope) atomic_fetch_max_explicit(p, (ulong)(v), order, scope)
#else
#define HAVE_ATOMIC_ADD_U64 0
#define HAVE_ATOMIC_BOUND_U64 0
#endif
/* A missing floating-point addition is replaced by a compare-and-swap loop on the bits. */
#define AS_ADD_BY_SWAP(type, bits, held, to_bits, to_type, name)                                                       \
    FUNCTION type name(volatile __global held *p, type v, memory_order order, memory_scope scope)                      \
    {                                                                                                                  \
        bits old = atomic_load_explicit(p, memory_order_relaxed, scope);                                               \
        while (!atomic_compare_exchange_weak_explicit(p, &old, to_bits(to_type(old) + v), order, memory_order_relaxed, \
                                                      scope))                                                          \
            ;                                                                                                          \
        return to_type(old);                                                                                           \
    }
#if defined(__opencl_c_ext_fp32_global_atomic_add)
#define HAVE_ATOMIC_ADD_F32 1
typedef atomic_float atomic_f32;
#define ATOMIC_ADD_F32(p, v, order, scope) atomic_fetch_add_explicit(p, (float)(v), order, scope)
#else
#define HAVE_ATOMIC_ADD_F32 2
typedef atomic_uint atomic_f32;
AS_ADD_BY_SWAP(f32, u32, atomic_uint, as_uint, as_float, as_atomic_add_f32)
#define ATOMIC_ADD_F32(p, v, order, scope) as_atomic_add_f32(p, v, order, scope)
#endif
/* atomic_double also needs 64-bit atomics. */
#if HAVE_F64 && HAVE_ATOMIC_ADD_U64 && defined(__opencl_c_ext_fp64_global_atomic_add)
#define HAVE_ATOMIC_ADD_F64 1
typedef atomic_double atomic_f64;
#define ATOMIC_ADD_F64(p, v, order, scope) atomic_fetch_add_explicit(p, (double)(v), order, scope)
#elif HAVE_F64 && HAVE_ATOMIC_ADD_U64
#define HAVE_ATOMIC_ADD_F64 2
typedef atomic_ulong atomic_f64;
AS_ADD_BY_SWAP(f64, u64, atomic_ulong, as_ulong, as_double, as_atomic_add_f64)
#define ATOMIC_ADD_F64(p, v, order, scope) as_atomic_add_f64(p, v, order, scope)
#else
#define HAVE_ATOMIC_ADD_F64 0
#endif
#else
/* 1.2: relaxed order within the device only; kernels that need more check HAVE_ATOMIC_ORDERS. */
#define HAVE_ATOMIC_ORDERS 0
#define SCOPE_GROUP 0
#define SCOPE_DEVICE 0
#define SCOPE_SYSTEM 0
#define ORDER_RELAXED 0
#define ORDER_ACQUIRE 0
#define ORDER_RELEASE 0
#define ORDER_ACQ_REL 0
#define ORDER_SEQ_CST 0
typedef volatile uint atomic_u32;
#define ATOMIC_LOAD(p, order, scope) atomic_or(p, 0u)
#define ATOMIC_STORE(p, v, order, scope) ((void)atomic_xchg(p, v))
#define ATOMIC_ADD(p, v, order, scope) atomic_add(p, v)
#define ATOMIC_MIN(p, v, order, scope) atomic_min(p, v)
#define ATOMIC_MAX(p, v, order, scope) atomic_max(p, v)
#define ATOMIC_EXCHANGE(p, v, order, scope) atomic_xchg(p, v)
#define HAVE_ATOMIC_SEQ_CST 0
#define HAVE_SCOPE_SYSTEM 0
#if defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define HAVE_ATOMIC_ADD_U64 1
typedef volatile ulong atomic_u64;
#define ATOMIC_ADD_U64(p, v, order, scope) atom_add(p, (ulong)(v))
#else
#define HAVE_ATOMIC_ADD_U64 0
#endif
#if defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define HAVE_ATOMIC_BOUND_U64 1
#define ATOMIC_MIN_U64(p, v, order, scope) atom_min(p, (ulong)(v))
#define ATOMIC_MAX_U64(p, v, order, scope) atom_max(p, (ulong)(v))
#else
#define HAVE_ATOMIC_BOUND_U64 0
#endif
#define AS_ADD_BY_SWAP(type, bits, swap, to_bits, to_type, name)                                                       \
    FUNCTION type name(volatile __global bits *p, type v)                                                              \
    {                                                                                                                  \
        bits old = *p, seen;                                                                                           \
        while ((seen = swap(p, old, to_bits(to_type(old) + v))) != old)                                                \
            old = seen;                                                                                                \
        return to_type(old);                                                                                           \
    }
#define HAVE_ATOMIC_ADD_F32 2
typedef volatile uint atomic_f32;
AS_ADD_BY_SWAP(f32, u32, atomic_cmpxchg, as_uint, as_float, as_atomic_add_f32)
#define ATOMIC_ADD_F32(p, v, order, scope) as_atomic_add_f32(p, v)
#if HAVE_F64 && HAVE_ATOMIC_ADD_U64
#define HAVE_ATOMIC_ADD_F64 2
typedef volatile ulong atomic_f64;
AS_ADD_BY_SWAP(f64, u64, atom_cmpxchg, as_ulong, as_double, as_atomic_add_f64)
#define ATOMIC_ADD_F64(p, v, order, scope) as_atomic_add_f64(p, v)
#else
#define HAVE_ATOMIC_ADD_F64 0
#endif
#endif

/* Clocks and the compute unit by inline assembly, since OpenCL C has none of them. */
#if defined(__NV_CL_C_VERSION) && !defined(AS_NO_COUNTER)
#define HAVE_NANOS 1
FUNCTION u64 NANOS(void)
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}
#define HAVE_UNIT 1
FUNCTION u32 UNIT(void)
{
    u32 u;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(u));
    return u;
}
#define HAVE_CYCLES 1
FUNCTION u64 CYCLES(void)
{
    u64 c;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
    return c;
}
#else
#define HAVE_NANOS 0
#define HAVE_UNIT 0
#define HAVE_CYCLES 0
#endif
