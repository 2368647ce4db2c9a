/* What translated programs (msl.py) are compiled with: as much of the Metal standard library as kernels and operations
 * use, from its own text on ("Metal Shading Language Specification", sections in brackets), in C++ that computes the
 * values. What is missing here no kernel uses yet. Threads of a group run one after the other (fibers.c), but groups,
 * other kernels and the host beside them: atomics are atomic. */
#pragma once
#include "msl_run.h"

#define MSL_DEVICE __attribute__((address_space(1)))
#define MSL_CONSTANT __attribute__((address_space(2))) const
#define MSL_THREADGROUP __attribute__((address_space(3)))

extern "C" {
static thread_local struct msl_runtime msl_runtime; /* threads of the host run workgroups concurrently */
__attribute__((visibility("default"))) struct msl_runtime *msl_runtime_here(void)
{
    return &msl_runtime;
}
extern __attribute__((visibility("default"))) const struct msl_kernel msl_kernels[];
}

/* [Scalar and Vector Data Types] */
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
#define MSL_VECTORS(T)                                                                                                 \
    typedef T T##2 __attribute__((ext_vector_type(2)));                                                                \
    typedef T T##4 __attribute__((ext_vector_type(4)));
MSL_VECTORS(float)
MSL_VECTORS(half)
MSL_VECTORS(int)
MSL_VECTORS(uint)
MSL_VECTORS(ushort)
MSL_VECTORS(ulong)
#if __METAL_VERSION__ >= 310
typedef __bf16 bfloat;
typedef bfloat bfloat2 __attribute__((ext_vector_type(2)));
extern "C" {
/* The compiler calls it, and some libraries lack it. */
__attribute__((weak)) __bf16 __truncsfbf2(float x)
{
    unsigned bits = __builtin_bit_cast(unsigned, x);
    bits = (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
    return __builtin_bit_cast(__bf16, (unsigned short)(bits >> 16));
}
}
#endif

template <class V, class... A> inline V msl_make(A... part)
{
    constexpr unsigned lanes = sizeof(V) / sizeof(V{}[0]);
    static_assert(sizeof...(part) == 1 || sizeof...(part) == lanes, "a vector is made of one number, or of all");
    unsigned i = 0;
    V v;
    ((v[i++] = part), ...);
    for (; i < lanes; i++)
        v[i] = v[0];
    return v;
}

namespace metal
{
/* [Type Conversions and Re-interpreting Data] */
template <class To, class From> inline To as_type(From x)
{
    static_assert(sizeof(To) == sizeof(From), "as_type between types of two sizes");
    return __builtin_bit_cast(To, x);
}

/* [Synchronization Functions] */
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
inline mem_flags operator|(mem_flags a, mem_flags b)
{
    return (mem_flags)((int)a | (int)b);
}
inline void threadgroup_barrier(mem_flags)
{
    msl_runtime.barrier();
}

/* [Atomic Functions] Relaxed order only. Their types do not convert to numbers, and may be in any memory. */
enum memory_order { memory_order_relaxed };
enum class atomic_int : uint {};
enum class atomic_uint : uint {};
template <class A> struct msl_atomic {
};
template <> struct msl_atomic<atomic_int> {
    typedef int held;
    static constexpr bool is_whole = true;
};
template <> struct msl_atomic<atomic_uint> {
    typedef uint held;
    static constexpr bool is_whole = true;
};
#if __METAL_VERSION__ >= 300
enum class atomic_float : uint {};
template <> struct msl_atomic<atomic_float> {
    typedef float held;
    static constexpr bool is_whole = false;
};
#endif

#define MSL_EXCHANGE(name, space, rule, made)                                                                          \
    template <class A> inline msl_held<A> name(volatile space A *p, msl_held<A> v, memory_order)                       \
    {                                                                                                                  \
        static_assert(rule, "no such operation on atomics of this type and memory");                                   \
        volatile space uint *word = (volatile space uint *)p;                                                          \
        for (uint seen = __atomic_load_n(word, __ATOMIC_RELAXED);;) {                                                  \
            const msl_held<A> old = as_type<msl_held<A>>(seen);                                                        \
            if (__atomic_compare_exchange_n(word, &seen, as_type<uint>((msl_held<A>)(made)), true, __ATOMIC_RELAXED,   \
                                            __ATOMIC_RELAXED))                                                         \
                return old;                                                                                            \
        }                                                                                                              \
    }
template <class A> using msl_held = typename msl_atomic<A>::held;
#define MSL_ATOMICS(space, of_floats)                                                                                  \
    template <class A> inline msl_held<A> atomic_load_explicit(const volatile space A *p, memory_order)                \
    {                                                                                                                  \
        return as_type<msl_held<A>>(__atomic_load_n((const volatile space uint *)p, __ATOMIC_RELAXED));                \
    }                                                                                                                  \
    template <class A> inline void atomic_store_explicit(volatile space A *p, msl_held<A> v, memory_order)             \
    {                                                                                                                  \
        __atomic_store_n((volatile space uint *)p, as_type<uint>(v), __ATOMIC_RELAXED);                                \
    }                                                                                                                  \
    template <class A>                                                                                                 \
    inline bool atomic_compare_exchange_weak_explicit(volatile space A *p, msl_held<A> *expected, msl_held<A> v,       \
                                                      memory_order, memory_order)                                      \
    {                                                                                                                  \
        uint seen = as_type<uint>(*expected);                                                                          \
        const bool same = __atomic_compare_exchange_n((volatile space uint *)p, &seen, as_type<uint>(v), true,         \
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);                             \
        *expected = as_type<msl_held<A>>(seen);                                                                        \
        return same;                                                                                                   \
    }                                                                                                                  \
    MSL_EXCHANGE(atomic_exchange_explicit, space, msl_atomic<A>::is_whole || of_floats, v)                             \
    MSL_EXCHANGE(atomic_fetch_add_explicit, space, msl_atomic<A>::is_whole || of_floats, old + v)                      \
    MSL_EXCHANGE(atomic_fetch_min_explicit, space, msl_atomic<A>::is_whole, v < old ? v : old)                         \
    MSL_EXCHANGE(atomic_fetch_max_explicit, space, msl_atomic<A>::is_whole, v > old ? v : old)
MSL_ATOMICS(MSL_DEVICE, true)
MSL_ATOMICS(MSL_THREADGROUP, false)

/* Of 64 bits: a minimum and a maximum in device memory, which return nothing. */
#if __METAL_VERSION__ >= 240
enum class atomic_ulong : ulong {};
#define MSL_BOUND(name, better)                                                                                        \
    inline void name(volatile MSL_DEVICE atomic_ulong *p, ulong v, memory_order)                                       \
    {                                                                                                                  \
        volatile MSL_DEVICE ulong *word = (volatile MSL_DEVICE ulong *)p;                                              \
        ulong old = __atomic_load_n(word, __ATOMIC_RELAXED);                                                           \
        while (v better old && !__atomic_compare_exchange_n(word, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))  \
            ;                                                                                                          \
    }
MSL_BOUND(atomic_min_explicit, <)
MSL_BOUND(atomic_max_explicit, >)
#endif

/* Of three; p: initial value for min and max of the type. */
#define MSL_OF_THREE(T, p)                                                                                             \
    inline T p##min3(T x, T y, T z)                                                                                    \
    {                                                                                                                  \
        return p##min(x, p##min(y, z));                                                                                \
    }                                                                                                                  \
    inline T p##max3(T x, T y, T z)                                                                                    \
    {                                                                                                                  \
        return p##max(x, p##max(y, z));                                                                                \
    }                                                                                                                  \
    inline T p##median3(T x, T y, T z)                                                                                 \
    {                                                                                                                  \
        return p##max(p##min(x, y), p##min(p##max(x, y), z));                                                          \
    }

/* [Integer Functions] WIDE can hold a product. */
#define MSL_INTEGERS(T, UNSIGNED, WIDE)                                                                                \
    inline T min(T x, T y)                                                                                             \
    {                                                                                                                  \
        return y < x ? y : x;                                                                                          \
    }                                                                                                                  \
    inline T max(T x, T y)                                                                                             \
    {                                                                                                                  \
        return x < y ? y : x;                                                                                          \
    }                                                                                                                  \
    MSL_OF_THREE(T, )                                                                                                  \
    inline UNSIGNED absdiff(T x, T y)                                                                                  \
    {                                                                                                                  \
        return x < y ? (UNSIGNED)y - (UNSIGNED)x : (UNSIGNED)x - (UNSIGNED)y;                                          \
    }                                                                                                                  \
    inline T addsat(T x, T y)                                                                                          \
    {                                                                                                                  \
        const T least = (T)-1 < 0 ? (T)((UNSIGNED)1 << (8 * sizeof(T) - 1)) : 0;                                       \
        T sum;                                                                                                         \
        return !__builtin_add_overflow(x, y, &sum) ? sum : x < 0 ? least : (T)~least;                                  \
    }                                                                                                                  \
    inline T rhadd(T x, T y)                                                                                           \
    {                                                                                                                  \
        return (T)(((WIDE)x + (WIDE)y + 1) >> 1);                                                                      \
    }                                                                                                                  \
    inline T mulhi(T x, T y)                                                                                           \
    {                                                                                                                  \
        return (T)((WIDE)x * (WIDE)y >> 8 * sizeof(T));                                                                \
    }                                                                                                                  \
    inline T madhi(T x, T y, T z)                                                                                      \
    {                                                                                                                  \
        return (T)((UNSIGNED)mulhi(x, y) + (UNSIGNED)z);                                                               \
    }                                                                                                                  \
    inline T popcount(T x)                                                                                             \
    {                                                                                                                  \
        return (T)__builtin_popcountll((UNSIGNED)x);                                                                   \
    }                                                                                                                  \
    inline T ctz(T x)                                                                                                  \
    {                                                                                                                  \
        return (T)(x ? (unsigned)__builtin_ctzll((UNSIGNED)x) : 8 * sizeof(T));                                        \
    }                                                                                                                  \
    inline T clz(T x)                                                                                                  \
    {                                                                                                                  \
        return (T)(x ? (unsigned)__builtin_clzll((UNSIGNED)x) - 64 + 8 * sizeof(T) : 8 * sizeof(T));                   \
    }                                                                                                                  \
    inline T reverse_bits(T x)                                                                                         \
    {                                                                                                                  \
        return (T)(__builtin_bitreverse64((UNSIGNED)x) >> (64 - 8 * sizeof(T)));                                       \
    }                                                                                                                  \
    inline T rotate(T x, T n)                                                                                          \
    {                                                                                                                  \
        unsigned left = (unsigned)n % (8 * sizeof(T));                                                                 \
        return left ? (T)((UNSIGNED)x << left | (UNSIGNED)x >> (8 * sizeof(T) - left)) : x;                            \
    }                                                                                                                  \
    inline T extract_bits(T x, uint offset, uint bits)                                                                 \
    {                                                                                                                  \
        const unsigned rest = 8 * sizeof(T) - bits;                                                                    \
        return bits ? (T)((T)((UNSIGNED)x << (rest - offset)) >> rest) : 0;                                            \
    }                                                                                                                  \
    inline T insert_bits(T base, T insert, uint offset, uint bits)                                                     \
    {                                                                                                                  \
        const UNSIGNED mask = bits ? (UNSIGNED)((UNSIGNED) ~(UNSIGNED)0 >> (8 * sizeof(T) - bits) << offset) : 0;      \
        return (T)(((UNSIGNED)base & ~mask) | ((UNSIGNED)insert << offset & mask));                                    \
    }
MSL_INTEGERS(short, ushort, int)
MSL_INTEGERS(ushort, ushort, uint)
MSL_INTEGERS(int, uint, long)
MSL_INTEGERS(uint, uint, ulong)
MSL_INTEGERS(long, ulong, __int128)
MSL_INTEGERS(ulong, ulong, unsigned __int128)
#undef MSL_INTEGERS
/* The results are defined for 24-bit numbers. */
inline uint mul24(uint x, uint y)
{
    return x >> 24 || y >> 24 ? 0 : x * y;
}
inline uint mad24(uint x, uint y, uint z)
{
    return mul24(x, y) + z;
}

/* [Math Functions] Those independent of the math mode. */
inline float fma(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
inline half fma(half x, half y, half z)
{
    return (half)__builtin_fma((double)x, (double)y, (double)z);
}
#define MSL_EACH2(V, one)                                                                                              \
    inline V fma(V x, V y, V z)                                                                                        \
    {                                                                                                                  \
        V r = {one(x.x, y.x, z.x), one(x.y, y.y, z.y)};                                                                \
        return r;                                                                                                      \
    }
MSL_EACH2(float2, fma)
MSL_EACH2(half2, fma)
#define MSL_REAL(T)                                                                                                    \
    inline T fmin(T x, T y)                                                                                            \
    {                                                                                                                  \
        return (T)__builtin_fmin((double)x, (double)y);                                                                \
    }                                                                                                                  \
    inline T fmax(T x, T y)                                                                                            \
    {                                                                                                                  \
        return (T)__builtin_fmax((double)x, (double)y);                                                                \
    }                                                                                                                  \
    MSL_OF_THREE(T, f)                                                                                                 \
    inline T fabs(T x)                                                                                                 \
    {                                                                                                                  \
        return x < 0 ? -x : x;                                                                                         \
    }                                                                                                                  \
    inline T rint(T x)                                                                                                 \
    {                                                                                                                  \
        return (T)__builtin_rint((double)x);                                                                           \
    }                                                                                                                  \
    inline T trunc(T x)                                                                                                \
    {                                                                                                                  \
        return (T)__builtin_trunc((double)x);                                                                          \
    }                                                                                                                  \
    inline T round(T x)                                                                                                \
    {                                                                                                                  \
        return (T)__builtin_round((double)x);                                                                          \
    }                                                                                                                  \
    inline T fract(T x)                                                                                                \
    {                                                                                                                  \
        return x - (T)__builtin_floor((double)x);                                                                      \
    }                                                                                                                  \
    inline T ldexp(T x, int k)                                                                                         \
    {                                                                                                                  \
        return (T)__builtin_ldexp((double)x, k);                                                                       \
    }
MSL_REAL(float)
MSL_REAL(half)
#undef MSL_REAL
#define MSL_PAIR(name, V)                                                                                              \
    inline V name(V x, V y)                                                                                            \
    {                                                                                                                  \
        V r = {name(x.x, y.x), name(x.y, y.y)};                                                                        \
        return r;                                                                                                      \
    }
MSL_PAIR(fmin, half2)
MSL_PAIR(fmax, half2)
typedef short short2 __attribute__((ext_vector_type(2)));
MSL_PAIR(min, short2)
MSL_PAIR(max, short2)

/* Those of float that depend on it: kernels name the variant. */
#define MSL_FUNCTION(T, name, made)                                                                                    \
    inline T name(T of)                                                                                                \
    {                                                                                                                  \
        const double x = (double)of;                                                                                   \
        return (T)(made);                                                                                              \
    }
#define MSL_FUNCTIONS                                                                                                  \
    MSL_FUNCTION(float, sqrt, __builtin_sqrt(x))                                                                       \
    MSL_FUNCTION(float, rsqrt, 1 / __builtin_sqrt(x))                                                                  \
    MSL_FUNCTION(float, exp, __builtin_exp(x))                                                                         \
    MSL_FUNCTION(float, exp2, __builtin_exp2(x))                                                                       \
    MSL_FUNCTION(float, exp10, __builtin_pow(10, x))                                                                   \
    MSL_FUNCTION(float, log, __builtin_log(x))                                                                         \
    MSL_FUNCTION(float, log2, __builtin_log2(x))                                                                       \
    MSL_FUNCTION(float, log10, __builtin_log10(x))                                                                     \
    MSL_FUNCTION(float, sin, __builtin_sin(x))                                                                         \
    MSL_FUNCTION(float, cos, __builtin_cos(x))                                                                         \
    MSL_FUNCTION(float, sinpi, __builtin_sin(3.14159265358979323846 * x))                                              \
    MSL_FUNCTION(float, tanh, __builtin_tanh(x))                                                                       \
    inline float divide(float x, float y)                                                                              \
    {                                                                                                                  \
        return x / y;                                                                                                  \
    }                                                                                                                  \
    inline float pow(float x, float y)                                                                                 \
    {                                                                                                                  \
        return (float)__builtin_pow((double)x, (double)y);                                                             \
    }
namespace fast
{
MSL_FUNCTIONS
}
namespace precise
{
MSL_FUNCTIONS
}
MSL_FUNCTION(half, exp2, __builtin_exp2(x))
MSL_FUNCTION(half, log2, __builtin_log2(x))
MSL_FUNCTION(half, sqrt, __builtin_sqrt(x))
MSL_FUNCTION(half, rsqrt, 1 / __builtin_sqrt(x))
MSL_FUNCTION(half, sin, __builtin_sin(x))
MSL_FUNCTION(half, cos, __builtin_cos(x))
MSL_FUNCTION(half, sinpi, __builtin_sin(3.14159265358979323846 * x))
MSL_FUNCTION(half, tanh, __builtin_tanh(x))
#define MSL_FREXP(T)                                                                                                   \
    inline T frexp(T x, int &exponent)                                                                                 \
    {                                                                                                                  \
        return (T)__builtin_frexp((double)x, &exponent);                                                               \
    }
MSL_FREXP(float)
MSL_FREXP(half)

/* [SIMD-Group Functions, Quad-Group Functions] Lane numbers are ushort. */
inline uint msl_lane(void)
{
    return msl_runtime.item->thread % MSL_LANES;
}
template <class T> struct msl_lanes {
    const unsigned char *slots;
    msl_lanes(T mine) : slots(msl_runtime.share(&mine, sizeof mine))
    {
        static_assert(sizeof(T) <= MSL_SLOT, "more than a lane transfers");
    }
    T operator[](uint lane) const
    {
        T value;
        __builtin_memcpy(&value, slots + lane * MSL_SLOT, sizeof value);
        return value;
    }
};
#define MSL_VOTE(name, ballot, first, n)                                                                               \
    class name                                                                                                         \
    {                                                                                                                  \
        ulong votes;                                                                                                   \
                                                                                                                       \
      public:                                                                                                          \
        typedef ulong vote_t;                                                                                          \
        explicit name(vote_t v) : votes(v)                                                                             \
        {                                                                                                              \
        }                                                                                                              \
        explicit operator vote_t() const                                                                               \
        {                                                                                                              \
            return votes;                                                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    inline name ballot(bool expression)                                                                                \
    {                                                                                                                  \
        const msl_lanes<bool> all(expression);                                                                         \
        ulong votes = 0;                                                                                               \
        for (uint i = 0; i < (n); i++)                                                                                 \
            votes |= (ulong)all[(first) + i] << i;                                                                     \
        return name(votes);                                                                                            \
    }
MSL_VOTE(simd_vote, simd_ballot, 0, MSL_LANES)
MSL_VOTE(quad_vote, quad_ballot, msl_lane() & ~3u, 4)
inline bool simd_all(bool expression)
{
    return (simd_vote::vote_t)simd_ballot(!expression) == 0;
}
inline bool simd_any(bool expression)
{
    return (simd_vote::vote_t)simd_ballot(expression) != 0;
}
inline bool quad_all(bool expression)
{
    return (quad_vote::vote_t)quad_ballot(!expression) == 0;
}
inline bool quad_any(bool expression)
{
    return (quad_vote::vote_t)quad_ballot(expression) != 0;
}
#define MSL_FROM(name, more, lane)                                                                                     \
    template <class T> inline T name(T data, ushort more)                                                              \
    {                                                                                                                  \
        const msl_lanes<T> all(data);                                                                                  \
        const uint own = msl_lane();                                                                                   \
        (void)own;                                                                                                     \
        return all[lane];                                                                                              \
    }
MSL_FROM(simd_broadcast, from, from)
MSL_FROM(simd_shuffle, from, from)
MSL_FROM(simd_shuffle_xor, mask, own ^ mask)
MSL_FROM(simd_shuffle_up, delta, own < delta ? own : own - delta)
MSL_FROM(simd_shuffle_down, delta, own + delta < MSL_LANES ? own + delta : own)
MSL_FROM(simd_shuffle_rotate_down, delta, (own + delta) % MSL_LANES)
MSL_FROM(quad_broadcast, from, (own & ~3u) + from)
MSL_FROM(quad_shuffle, from, (own & ~3u) + from)
MSL_FROM(quad_shuffle_xor, mask, own ^ (mask & 3u))
MSL_FROM(quad_shuffle_up, delta, (own & 3u) < delta ? own : own - delta)
MSL_FROM(quad_shuffle_down, delta, (own & 3u) + delta < 4 ? own + delta : own)
MSL_FROM(quad_shuffle_rotate_down, delta, (own & ~3u) + (own + delta) % 4)
#define MSL_FOLD(name, first, behind, made)                                                                            \
    template <class T> inline T name(T data)                                                                           \
    {                                                                                                                  \
        const msl_lanes<T> all(data);                                                                                  \
        const uint own = msl_lane();                                                                                   \
        T x = all[first];                                                                                              \
        (void)own;                                                                                                     \
        for (uint i = (first) + 1; i < (behind); i++) {                                                                \
            const T y = all[i];                                                                                        \
            x = (made);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }
/* Without the lane's own value: neutral in the first lane. */
#define MSL_EXCLUSIVE(name, first, neutral, made)                                                                      \
    template <class T> inline T name(T data)                                                                           \
    {                                                                                                                  \
        const msl_lanes<T> all(data);                                                                                  \
        const uint own = msl_lane();                                                                                   \
        T x = neutral;                                                                                                 \
        for (uint i = (first); i < own; i++) {                                                                         \
            const T y = all[i];                                                                                        \
            x = (made);                                                                                                \
        }                                                                                                              \
        return x;                                                                                                      \
    }
#define MSL_GROUP(group, first, behind)                                                                                \
    MSL_FOLD(group##_sum, first, behind, x + y)                                                                        \
    MSL_FOLD(group##_product, first, behind, x *y)                                                                     \
    MSL_FOLD(group##_min, first, behind, y < x ? y : x)                                                                \
    MSL_FOLD(group##_max, first, behind, x < y ? y : x)                                                                \
    MSL_FOLD(group##_and, first, behind, x &y)                                                                         \
    MSL_FOLD(group##_or, first, behind, x | y)                                                                         \
    MSL_FOLD(group##_xor, first, behind, x ^ y)                                                                        \
    MSL_FOLD(group##_prefix_inclusive_sum, first, own + 1, x + y)                                                      \
    MSL_FOLD(group##_prefix_inclusive_product, first, own + 1, x * y)                                                  \
    MSL_EXCLUSIVE(group##_prefix_exclusive_sum, first, 0, x + y)                                                       \
    MSL_EXCLUSIVE(group##_prefix_exclusive_product, first, 1, x *y)
MSL_GROUP(simd, 0, MSL_LANES)
MSL_GROUP(quad, own & ~3u, (own & ~3u) + 4)

#include "metal_matrix.h"
#include "metal_pack.h"
} // namespace metal
