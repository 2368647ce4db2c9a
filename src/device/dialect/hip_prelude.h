/* The kernel dialect for HIP C++ as compiled by clang and hiprtc for AMD GPUs: without headers, from
 * compiler built-ins only. Words: see dialect.h. */
#define DIALECT_HIP 1
#ifdef GROUP_MOST
#define AS_GROUP_MOST __attribute__((amdgpu_flat_work_group_size(1, GROUP_MOST)))
#else
#define AS_GROUP_MOST
#endif
#define KERNEL(name) extern "C" __attribute__((global)) AS_GROUP_MOST void name
#define ARG_GLOBAL(index, type, name) type *name
#define ARG_VALUE(index, type, name) type name
#define ARG_INDICES
#define GLOBAL
#define LOCAL __attribute__((shared))
#define FUNCTION static inline __attribute__((device, always_inline))
#define CONSTANT static __attribute__((constant)) const
#define CONSTANT_POINTER(type) const type *
#define LOCAL_POINTER(type) type *
#define HAVE_LOCAL_DYNAMIC 1
extern __attribute__((shared, aligned(16))) unsigned char as_dynamic[];
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
typedef _Float16 f16;
typedef u32 u32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef f64 f64x2 __attribute__((ext_vector_type(2)));
#define HAVE_F64 1
#define HAVE_F16 1
#define HAVE_VECTORS 0

/* Launches have whole workgroups, so the grid's size is a multiple of the workgroup's. */
#define THREAD ((u32)__builtin_amdgcn_workitem_id_x())
#define THREADS ((u32)__builtin_amdgcn_workgroup_size_x())
#define GROUP ((u32)__builtin_amdgcn_workgroup_id_x())
#define GROUPS ((u32)__builtin_amdgcn_grid_size_x() / THREADS)
#define GLOBAL_THREAD ((u64)GROUP * THREADS + THREAD)
#define GLOBAL_THREADS ((u64)__builtin_amdgcn_grid_size_x())
#define LOOP_NOT_UNROLLED _Pragma("unroll 1")
FUNCTION void as_barrier(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define BARRIER() as_barrier()

#define FMA_F32(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_F64(a, b, c) __builtin_fma(a, b, c)

/* Two f16 in one register. */
#define HAVE_F16X2 1
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
FUNCTION f16x2 MAKE_F16X2(f32 low, f32 high)
{
    f16x2 v = {(f16)low, (f16)high};
    return v;
}
FUNCTION f16x2 FMA_F16X2(f16x2 a, f16x2 b, f16x2 c)
{
    f16x2 v;
    asm("v_pk_fma_f16 %0, %1, %2, %3" : "=v"(v) : "v"(a), "v"(b), "v"(c));
    return v;
}

/* An address that is uniform over a wave is loaded by the scalar unit, through its own cache, and one atomic
 * operation then serves all lanes. Probes measure what each lane does, so the compiler must not know
 * that addresses are uniform. A value that passed through a vector register counts as per-lane. */
FUNCTION u64 as_own_address(u64 a)
{
    asm volatile("" : "+v"(a));
    return a;
}
/* Applied to the offset, since the compiler would lose a pointer's address space. */
template <typename type> FUNCTION type *as_own_pointer(type *p)
{
    u32 none = 0;
    asm("" : "+v"(none));
    return p + none;
}
#define AS_GLOBAL_U64(a) ((const __attribute__((address_space(1))) u64 *)(a))
FUNCTION u64 FOLLOW(u64 a)
{
    return *AS_GLOBAL_U64(as_own_address(a));
}
/* Vector loads have no separate read-only path; the scalar unit's is used by CONSTANT. */
FUNCTION u64 FOLLOW_READ_ONLY(u64 a)
{
    return *AS_GLOBAL_U64(as_own_address(a));
}
FUNCTION u64 FOLLOW_SHARED(u64 a)
{
    return __hip_atomic_load(AS_GLOBAL_U64(as_own_address(a)), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

FUNCTION f64x2 LOAD_F64X2(const f64x2 *p)
{
    return *p;
}
FUNCTION f64x2 LOAD_ONCE_F64X2(const f64x2 *p)
{
    return __builtin_nontemporal_load(p);
}
/* Loads that bypass a unit's own cache without waiting for earlier ones have at most 64 bits. */
FUNCTION f64x2 LOAD_SHARED_F64X2(const f64x2 *p)
{
    const f64 *one = (const f64 *)p;
    f64x2 v = {__hip_atomic_load(one, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT),
               __hip_atomic_load(one + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)};
    return v;
}
FUNCTION void STORE_F64X2(f64x2 *p, f64x2 v)
{
    *p = v;
}
FUNCTION void STORE_ONCE_F64X2(f64x2 *p, f64x2 v)
{
    __builtin_nontemporal_store(v, p);
}

/* The counter is read after earlier loads have arrived. Chips of gfx11 count cycles in 20 bits, too few for
 * the intervals timed here. */
#if defined(__GFX9__) || defined(__GFX10__)
#define HAVE_CYCLES 1
FUNCTION u64 CYCLES(void)
{
    u64 c;
    asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_memtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(c)::"memory");
    return c;
}
#elif defined(__GFX12__)
#define HAVE_CYCLES 1
FUNCTION u64 CYCLES(void)
{
    u64 c;
    asm volatile("s_wait_loadcnt 0x0\n\ts_wait_dscnt 0x0\n\ts_wait_kmcnt 0x0" ::: "memory");
    c = __builtin_readcyclecounter();
    asm volatile("" : "+s"(c)::"memory");
    return c;
}
#else
#define HAVE_CYCLES 0
#endif

/* The constant-rate counter. AS_WALL_KHZ is its rate, as reported by the driver. */
#if defined(AS_WALL_KHZ) && AS_WALL_KHZ > 0
#define HAVE_NANOS 1
FUNCTION u64 NANOS(void)
{
    u64 ticks;
#if defined(__GFX9__) || defined(__GFX10__)
    asm volatile("s_memrealtime %0\n\ts_waitcnt lgkmcnt(0)" : "=s"(ticks)::"memory");
#elif defined(__GFX12__)
    asm volatile("s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_wait_kmcnt 0x0" : "=s"(ticks)::"memory");
#else
    asm volatile("s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)" : "=s"(ticks)::"memory");
#endif
    return ticks / AS_WALL_KHZ * 1000000 + ticks % AS_WALL_KHZ * 1000000 / AS_WALL_KHZ;
}
#else
#define HAVE_NANOS 0
#endif
/* A kernel can read the position of its unit in the chip, which has gaps for disabled units, so it is not an index from
 * 0 on. */
#define HAVE_UNIT 0

#define HAVE_ATOMIC_ORDERS 1
#define ORDER_RELAXED __ATOMIC_RELAXED
#define ORDER_ACQUIRE __ATOMIC_ACQUIRE
#define ORDER_RELEASE __ATOMIC_RELEASE
#define ORDER_ACQ_REL __ATOMIC_ACQ_REL
#define ORDER_SEQ_CST __ATOMIC_SEQ_CST
#define SCOPE_GROUP __HIP_MEMORY_SCOPE_WORKGROUP
#define SCOPE_DEVICE __HIP_MEMORY_SCOPE_AGENT
#define SCOPE_SYSTEM __HIP_MEMORY_SCOPE_SYSTEM
typedef u32 atomic_u32;
#define ATOMIC_LOAD(p, order, scope) __hip_atomic_load(p, order, scope)
#define ATOMIC_STORE(p, v, order, scope) __hip_atomic_store(p, v, order, scope)
#define ATOMIC_ADD(p, v, order, scope) __hip_atomic_fetch_add(as_own_pointer(p), v, order, scope)
#define ATOMIC_MIN(p, v, order, scope) __hip_atomic_fetch_min(as_own_pointer(p), v, order, scope)
#define ATOMIC_MAX(p, v, order, scope) __hip_atomic_fetch_max(as_own_pointer(p), v, order, scope)
#define ATOMIC_EXCHANGE(p, v, order, scope) __hip_atomic_exchange(as_own_pointer(p), v, order, scope)
#define HAVE_ATOMIC_SEQ_CST 1
#define HAVE_SCOPE_SYSTEM 1
/* The API has all three; for floats the compiler emits an instruction or a loop, depending on the chip. */
#define HAVE_ATOMIC_ADD_U64 1
#define HAVE_ATOMIC_BOUND_U64 1
#define HAVE_ATOMIC_ADD_F32 1
#define HAVE_ATOMIC_ADD_F64 1
typedef u64 atomic_u64;
typedef f32 atomic_f32;
typedef f64 atomic_f64;
#define ATOMIC_ADD_U64(p, v, order, scope) ATOMIC_ADD(p, v, order, scope)
#define ATOMIC_MIN_U64(p, v, order, scope) ATOMIC_MIN(p, v, order, scope)
#define ATOMIC_MAX_U64(p, v, order, scope) ATOMIC_MAX(p, v, order, scope)
#define ATOMIC_ADD_F32(p, v, order, scope) ATOMIC_ADD(p, v, order, scope)
#define ATOMIC_ADD_F64(p, v, order, scope) ATOMIC_ADD(p, v, order, scope)
