/* The kernel dialect for CUDA C++ as compiled by NVRTC: without headers, from built-in names and PTX only.
 * Words: see dialect.h. */
#define DIALECT_CUDA 1
#define KERNEL(name) extern "C" __global__ void name
#define ARG_GLOBAL(index, type, name) type *name
#define ARG_VALUE(index, type, name) type name
#define ARG_INDICES
#define GLOBAL
#define LOCAL __shared__
#define FUNCTION static __device__ __forceinline__
#define CONSTANT static __constant__ const
#define CONSTANT_POINTER(type) const type *
#define LOCAL_POINTER(type) type *
#define HAVE_LOCAL_DYNAMIC 1
extern __shared__ __align__(16) unsigned char as_dynamic[];
#define LOCAL_DYNAMIC(type, name) type *name = (type *)as_dynamic

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
typedef uint2 u32x2;
typedef uint4 u32x4;
typedef ulonglong2 u64x2;
typedef double2 f64x2;
#define HAVE_F64 1
#define HAVE_F16 0

#define THREAD (threadIdx.x)
#define THREADS (blockDim.x)
#define GROUP (blockIdx.x)
#define GROUPS (gridDim.x)
#define GLOBAL_THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_THREADS ((u64)gridDim.x * blockDim.x)
#define BARRIER() __syncthreads()
#define LOOP_NOT_UNROLLED _Pragma("unroll 1")

#define HAVE_VECTORS 0
#define FMA_F32(a, b, c) __fmaf_rn(a, b, c)
#define FMA_F64(a, b, c) __fma_rn(a, b, c)

/* Two f16 in one register. */
#define HAVE_F16X2 1
typedef u32 f16x2;
FUNCTION f16x2 MAKE_F16X2(f32 low, f32 high)
{
    f16x2 v;
    asm("{.reg .f16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h};}"
        : "=r"(v)
        : "f"(low), "f"(high));
    return v;
}
FUNCTION f16x2 FMA_F16X2(f16x2 a, f16x2 b, f16x2 c)
{
    f16x2 v;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(c));
    return v;
}

FUNCTION u64 FOLLOW(u64 a)
{
    u64 v;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory");
    return v;
}
FUNCTION u64 FOLLOW_READ_ONLY(u64 a)
{
    u64 v;
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory");
    return v;
}
FUNCTION u64 FOLLOW_SHARED(u64 a)
{
    u64 v;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory");
    return v;
}

FUNCTION f64x2 LOAD_F64X2(const f64x2 *p)
{
    return *p;
}
FUNCTION f64x2 LOAD_ONCE_F64X2(const f64x2 *p)
{
    f64x2 v;
    asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
    return v;
}
FUNCTION f64x2 LOAD_SHARED_F64X2(const f64x2 *p)
{
    f64x2 v;
    asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
    return v;
}
FUNCTION void STORE_F64X2(f64x2 *p, f64x2 v)
{
    *p = v;
}
FUNCTION void STORE_ONCE_F64X2(f64x2 *p, f64x2 v)
{
    asm volatile("st.global.cs.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}

#define HAVE_CYCLES 1
FUNCTION u64 CYCLES(void)
{
    u64 c;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
    return c;
}
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

/* Orders and scopes are part of an instruction's name. Kernels pass constants, so the compiler removes all but one of
 * these branches. */
#define HAVE_ATOMIC_ORDERS 1
#define ORDER_RELAXED 0
#define ORDER_ACQUIRE 1
#define ORDER_RELEASE 2
#define ORDER_ACQ_REL 3
#define ORDER_SEQ_CST 4
#define SCOPE_GROUP 0
#define SCOPE_DEVICE 1
#define SCOPE_SYSTEM 2
typedef u32 atomic_u32;

/* Unless the pointer itself was read from memory, the compiler knows its address space and removes one of the branches.
 * The result is the instruction for that address space, not the slower generic one. */
#define AS_BY_SPACE(one, order, scope)                                                                                 \
    if (__isShared(p)) {                                                                                               \
        one(order, scope, "shared", "r"((u32)__cvta_generic_to_shared(p)))                                             \
    } else {                                                                                                           \
        one(order, scope, "global", "l"(p))                                                                            \
    }
#define AS_BY_SCOPE(one, order)                                                                                        \
    if (scope == SCOPE_GROUP) {                                                                                        \
        AS_BY_SPACE(one, order, "cta")                                                                                 \
    } else if (scope == SCOPE_DEVICE) {                                                                                \
        AS_BY_SPACE(one, order, "gpu")                                                                                 \
    } else {                                                                                                           \
        AS_BY_SPACE(one, order, "sys")                                                                                 \
    }
#define AS_FENCE(order, scope)                                                                                         \
    if (order == ORDER_SEQ_CST) {                                                                                      \
        if (scope == SCOPE_GROUP)                                                                                      \
            asm volatile("fence.sc.cta;" ::: "memory");                                                                \
        else if (scope == SCOPE_DEVICE)                                                                                \
            asm volatile("fence.sc.gpu;" ::: "memory");                                                                \
        else                                                                                                           \
            asm volatile("fence.sc.sys;" ::: "memory");                                                                \
    }

FUNCTION u32 as_atomic_load(const u32 *p, int order, int scope)
{
    u32 v;
#define AS_ONE(order, scope, space, at)                                                                                \
    asm volatile("ld." order "." scope "." space ".u32 %0, [%1];" : "=r"(v) : at : "memory");
    AS_FENCE(order, scope)
    if (order == ORDER_RELAXED) {
        AS_BY_SCOPE(AS_ONE, "relaxed")
    } else {
        AS_BY_SCOPE(AS_ONE, "acquire")
    }
#undef AS_ONE
    return v;
}
FUNCTION void as_atomic_store(u32 *p, u32 v, int order, int scope)
{
#define AS_ONE(order, scope, space, at)                                                                                \
    asm volatile("st." order "." scope "." space ".u32 [%0], %1;" ::at, "r"(v) : "memory");
    AS_FENCE(order, scope)
    if (order == ORDER_RELAXED) {
        AS_BY_SCOPE(AS_ONE, "relaxed")
    } else {
        AS_BY_SCOPE(AS_ONE, "release")
    }
#undef AS_ONE
}
#define AS_READ_MODIFY_WRITE(type, name, operation)                                                                    \
    FUNCTION type name(type *p, type v, int order, int scope)                                                          \
    {                                                                                                                  \
        type old;                                                                                                      \
        AS_FENCE(order, scope)                                                                                         \
        if (order == ORDER_RELAXED) {                                                                                  \
            AS_BY_SCOPE(operation, "relaxed")                                                                          \
        } else if (order == ORDER_ACQUIRE) {                                                                           \
            AS_BY_SCOPE(operation, "acquire")                                                                          \
        } else if (order == ORDER_RELEASE) {                                                                           \
            AS_BY_SCOPE(operation, "release")                                                                          \
        } else {                                                                                                       \
            AS_BY_SCOPE(operation, "acq_rel")                                                                          \
        }                                                                                                              \
        return old;                                                                                                    \
    }
#define AS_RMW(what, in, order, scope, space, at)                                                                      \
    asm volatile("atom." order "." scope "." space "." what " %0, [%1], %2;" : "=" in(old) : at, in(v) : "memory");
#define AS_ADD(order, scope, space, at) AS_RMW("add.u32", "r", order, scope, space, at)
#define AS_MIN(order, scope, space, at) AS_RMW("min.u32", "r", order, scope, space, at)
#define AS_MAX(order, scope, space, at) AS_RMW("max.u32", "r", order, scope, space, at)
#define AS_EXCHANGE(order, scope, space, at) AS_RMW("exch.b32", "r", order, scope, space, at)
#define AS_ADD_U64(order, scope, space, at) AS_RMW("add.u64", "l", order, scope, space, at)
#define AS_MIN_U64(order, scope, space, at) AS_RMW("min.u64", "l", order, scope, space, at)
#define AS_MAX_U64(order, scope, space, at) AS_RMW("max.u64", "l", order, scope, space, at)
#define AS_ADD_F32(order, scope, space, at) AS_RMW("add.f32", "f", order, scope, space, at)
#define AS_ADD_F64(order, scope, space, at) AS_RMW("add.f64", "d", order, scope, space, at)
AS_READ_MODIFY_WRITE(u32, as_atomic_add, AS_ADD)
AS_READ_MODIFY_WRITE(u32, as_atomic_min, AS_MIN)
AS_READ_MODIFY_WRITE(u32, as_atomic_max, AS_MAX)
AS_READ_MODIFY_WRITE(u32, as_atomic_exchange, AS_EXCHANGE)
AS_READ_MODIFY_WRITE(u64, as_atomic_add_u64, AS_ADD_U64)
AS_READ_MODIFY_WRITE(u64, as_atomic_min_u64, AS_MIN_U64)
AS_READ_MODIFY_WRITE(u64, as_atomic_max_u64, AS_MAX_U64)
AS_READ_MODIFY_WRITE(f32, as_atomic_add_f32, AS_ADD_F32)
AS_READ_MODIFY_WRITE(f64, as_atomic_add_f64, AS_ADD_F64)
#define ATOMIC_LOAD(p, order, scope) as_atomic_load(p, order, scope)
#define ATOMIC_STORE(p, v, order, scope) as_atomic_store(p, v, order, scope)
#define ATOMIC_ADD(p, v, order, scope) as_atomic_add(p, v, order, scope)
#define ATOMIC_MIN(p, v, order, scope) as_atomic_min(p, v, order, scope)
#define ATOMIC_MAX(p, v, order, scope) as_atomic_max(p, v, order, scope)
#define ATOMIC_EXCHANGE(p, v, order, scope) as_atomic_exchange(p, v, order, scope)
#define HAVE_ATOMIC_SEQ_CST 1
#define HAVE_SCOPE_SYSTEM 1
#define HAVE_ATOMIC_ADD_U64 1
#define HAVE_ATOMIC_BOUND_U64 1
#define HAVE_ATOMIC_ADD_F32 1
#define HAVE_ATOMIC_ADD_F64 1
typedef u64 atomic_u64;
typedef f32 atomic_f32;
typedef f64 atomic_f64;
#define ATOMIC_ADD_U64(p, v, order, scope) as_atomic_add_u64(p, v, order, scope)
#define ATOMIC_MIN_U64(p, v, order, scope) as_atomic_min_u64(p, v, order, scope)
#define ATOMIC_MAX_U64(p, v, order, scope) as_atomic_max_u64(p, v, order, scope)
#define ATOMIC_ADD_F32(p, v, order, scope) as_atomic_add_f32(p, v, order, scope)
#define ATOMIC_ADD_F64(p, v, order, scope) as_atomic_add_f64(p, v, order, scope)
