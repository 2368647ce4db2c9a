/* The kernel dialect for host C (gcc, clang): device code compiled unchanged, for tests. The runner sets
 * as_host_item before it calls a kernel; a kernel with barriers needs one thread per work-item of a workgroup, and
 * shared memory is one block, so workgroups run one after the other. Words: see dialect.h. */
#define DIALECT_HOST 1
#include <pthread.h>
#include <stdint.h>

struct as_host_item {
    uint32_t thread, threads, group, workgroups;
    pthread_barrier_t *barrier; /* NULL: one work-item per workgroup */
};
extern _Thread_local struct as_host_item as_host_item;

#define KERNEL(name) static __attribute__((unused)) void name
#define ARG_GLOBAL(index, type, name) type *name
#define ARG_VALUE(index, type, name) type name
#define ARG_INDICES
#define GLOBAL
#define LOCAL static
#define FUNCTION static inline __attribute__((unused))

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;
typedef struct {
    u32 x, y;
} u32x2;
typedef struct {
    u32 x, y, z, w;
} u32x4;
#define HAVE_F64 1
typedef struct {
    f64 x, y;
} f64x2;
#define LOAD_F64X2(p) (*(p))
#define LOAD_ONCE_F64X2(p) (*(p))
#define LOAD_SHARED_F64X2(p) (*(p))
#define STORE_F64X2(p, v) (*(p) = (v))
#define STORE_ONCE_F64X2(p, v) (*(p) = (v))
#define HAVE_F16 0

#define THREAD (as_host_item.thread)
#define THREADS (as_host_item.threads)
#define GROUP (as_host_item.group)
#define GROUPS (as_host_item.workgroups)
#define GLOBAL_THREAD ((u64)GROUP * THREADS + THREAD)
#define GLOBAL_THREADS ((u64)GROUPS * THREADS)
#define BARRIER() (as_host_item.barrier ? (void)pthread_barrier_wait(as_host_item.barrier) : (void)0)

#define CONSTANT static const
#define CONSTANT_POINTER(type) const type *
#define LOCAL_POINTER(type) type *
#define FOLLOW(a) (*(const u64 *)(uintptr_t)(a))
#define FOLLOW_READ_ONLY(a) (*(const u64 *)(uintptr_t)(a))
#define FOLLOW_SHARED(a) (*(const volatile u64 *)(uintptr_t)(a))
#define HAVE_VECTORS 0
#define FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_F64(a, b, c) __builtin_fma(a, b, c)
#define HAVE_F16X2 0
#define LOOP_NOT_UNROLLED

#define HAVE_ATOMIC_ORDERS 1
#define SCOPE_GROUP 0
#define SCOPE_DEVICE 0
#define SCOPE_SYSTEM 0
#define ORDER_RELAXED __ATOMIC_RELAXED
#define ORDER_ACQUIRE __ATOMIC_ACQUIRE
#define ORDER_RELEASE __ATOMIC_RELEASE
#define ORDER_ACQ_REL __ATOMIC_ACQ_REL
#define ORDER_SEQ_CST __ATOMIC_SEQ_CST
typedef uint32_t atomic_u32;
#define ATOMIC_LOAD(p, order, scope) __atomic_load_n(p, order)
#define ATOMIC_STORE(p, v, order, scope) __atomic_store_n(p, v, order)
#define ATOMIC_ADD(p, v, order, scope) __atomic_fetch_add(p, v, order)
#define ATOMIC_EXCHANGE(p, v, order, scope) __atomic_exchange_n(p, v, order)
#define ATOMIC_MIN(p, v, order, scope) as_host_atomic_bound(p, v, 0, order)
#define ATOMIC_MAX(p, v, order, scope) as_host_atomic_bound(p, v, 1, order)

#define AS_HOST_BOUND(type, name)                                                                                      \
    FUNCTION type name(type *p, type v, int larger, int order)                                                         \
    {                                                                                                                  \
        type old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                               \
        while ((larger ? v > old : v < old) && !__atomic_compare_exchange_n(p, &old, v, 1, order, __ATOMIC_RELAXED))   \
            ;                                                                                                          \
        return old;                                                                                                    \
    }
AS_HOST_BOUND(u32, as_host_atomic_bound)
AS_HOST_BOUND(u64, as_host_atomic_bound_u64)

#define HAVE_ATOMIC_SEQ_CST 1
#define HAVE_SCOPE_SYSTEM 1
#define HAVE_ATOMIC_ADD_U64 1
#define HAVE_ATOMIC_BOUND_U64 1
#define ATOMIC_MIN_U64(p, v, order, scope) as_host_atomic_bound_u64(p, v, 0, order)
#define ATOMIC_MAX_U64(p, v, order, scope) as_host_atomic_bound_u64(p, v, 1, order)
#define HAVE_ATOMIC_ADD_F32 2
#define HAVE_ATOMIC_ADD_F64 2
typedef uint64_t atomic_u64;
typedef float atomic_f32;
typedef double atomic_f64;
#define ATOMIC_ADD_U64(p, v, order, scope) __atomic_fetch_add(p, v, order)
#define ATOMIC_ADD_F32(p, v, order, scope) as_host_atomic_add_f32(p, v, order)
#define ATOMIC_ADD_F64(p, v, order, scope) as_host_atomic_add_f64(p, v, order)
#define AS_HOST_ADD(type, name)                                                                                        \
    FUNCTION type name(type *p, type v, int order)                                                                     \
    {                                                                                                                  \
        type old, sum;                                                                                                 \
        __atomic_load(p, &old, __ATOMIC_RELAXED);                                                                      \
        do                                                                                                             \
            sum = old + v;                                                                                             \
        while (!__atomic_compare_exchange(p, &old, &sum, 1, order, __ATOMIC_RELAXED));                                 \
        return old;                                                                                                    \
    }
AS_HOST_ADD(f32, as_host_atomic_add_f32)
AS_HOST_ADD(f64, as_host_atomic_add_f64)

#define HAVE_CYCLES 0
