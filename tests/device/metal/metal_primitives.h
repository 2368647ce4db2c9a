/* Metal Performance Primitives: matmul2d with a destination that lanes hold, by the comment and the table of types of
 * MPPTensorOpsMatMul2d.h. A lane holds the same two places of every block of 8 x 8, as Kumaresan ("Rigel",
 * arXiv:2606.12765, Fig. 6) found on an M4 Max; the specification leaves it open. */
#pragma once
#include "metal_tensor.h"

namespace metal
{
template <int simdgroups> struct execution_simdgroups {
    static constexpr int count = simdgroups;
};
typedef execution_simdgroups<1> execution_simdgroup;
struct msl_element_at {
    float value;
    int outer, inner;
};
struct msl_place {
    int inner, outer;
    int operator[](int i) const
    {
        return i == 0 ? inner : outer;
    }
};
/* NaN, or for integers a number that no small product has, until it is computed. */
template <class T, int rows, int columns, int simdgroups> class cooperative_tensor
{
    static constexpr int capacity = rows * columns / (simdgroups * 32);
    T own[capacity];

  public:
    typedef T element_type;
    cooperative_tensor()
    {
        for (int i = 0; i < capacity; i++)
            own[i] = (T)(T(0.5f) == T(0) ? T(0x5a5a5a5a) : T(__builtin_nanf("")));
    }
    static constexpr uint16_t get_capacity()
    {
        return capacity;
    }
    bool is_valid_element(uint16_t i) const
    {
        return i < capacity;
    }
    T &operator[](uint16_t i)
    {
        return own[i];
    }
    msl_place get_multidimensional_index(uint16_t i) const
    {
        const int block = i / 2 * simdgroups + (int)(msl_runtime.item->thread / MSL_LANES) % simdgroups,
                  across = columns / 8;
        return {block % across * 8 + (int)msl_matrix_column(msl_lane()) + i % 2,
                block / across * 8 + (int)msl_matrix_row(msl_lane())};
    }
};
} // namespace metal

namespace mpp
{
namespace tensor_ops
{
using namespace metal;
struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
    int m, n, k;
    bool transpose_left, transpose_right, relaxed_precision;
    mode matmul_mode;
    constexpr matmul2d_descriptor(int m_, int n_, int k_ = static_cast<int>(dynamic_extent), bool left = false,
                                  bool right = false, bool relaxed = false, mode how = mode::multiply)
        : m(m_), n(n_), k(k_), transpose_left(left), transpose_right(right), relaxed_precision(relaxed),
          matmul_mode(how)
    {
    }
};

/* All elements of a tensor that the lanes of a simdgroup hold, by outer and inner index. */
template <class T, int rows, int columns>
inline void msl_gather(cooperative_tensor<T, rows, columns, 1> &own, float (&all)[rows][columns])
{
    for (uint16_t i = 0; i < own.get_capacity(); i++) {
        const msl_place at = own.get_multidimensional_index(i);
        const msl_element_at mine = {(float)own[i], at[1], at[0]};
        const msl_lanes<msl_element_at> lanes(mine);
        for (uint lane = 0; lane < MSL_LANES; lane++)
            all[lanes[lane].outer][lanes[lane].inner] = lanes[lane].value;
    }
}

template <class A, class B, class C> constexpr bool msl_supported = false;
template <> inline constexpr bool msl_supported<half, half, half> = true;
template <> inline constexpr bool msl_supported<half, half, float> = true;
template <> inline constexpr bool msl_supported<bfloat, bfloat, bfloat> = true;
template <> inline constexpr bool msl_supported<bfloat, bfloat, float> = true;
template <> inline constexpr bool msl_supported<float, float, float> = true;
template <> inline constexpr bool msl_supported<int8_t, int8_t, int32_t> = true;
#if __METAL_VERSION__ >= 410
template <> inline constexpr bool msl_supported<metal_fp8_e4m3_format, metal_fp8_e4m3_format, float> = true;
template <> inline constexpr bool msl_supported<metal_fp8_e5m2_format, metal_fp8_e5m2_format, float> = true;
#endif

template <matmul2d_descriptor what, class Scope> class matmul2d
{
    static_assert(what.m % 8 == 0 && what.n % 8 == 0 && what.m * what.n % (Scope::count * 32) == 0,
                  "a tile that cannot be divided among the lanes");

  public:
    template <class L, class R, class T>
    cooperative_tensor<T, what.m, what.n, Scope::count> get_destination_cooperative_tensor() const
    {
        static_assert(msl_supported<typename L::element_type, typename R::element_type, T>,
                      "matmul2d does not support this combination of types");
        return {};
    }
    /* Factors held by lanes, for one simdgroup only. */
    template <class L, class R, class T>
    using cooperative_tensor_left_input_t = cooperative_tensor<L, what.m, what.k, Scope::count>;
    template <class L, class R, class T>
    using cooperative_tensor_right_input_t = cooperative_tensor<R, what.n, what.k, Scope::count>;
    template <class L, class R, class T>
    using cooperative_tensor_destination_t = cooperative_tensor<T, what.m, what.n, Scope::count>;
    template <class L, class R, class T>
    void run(cooperative_tensor<L, what.m, what.k, Scope::count> &left,
             cooperative_tensor<R, what.n, what.k, Scope::count> &right,
             cooperative_tensor<T, what.m, what.n, Scope::count> &to) const
    {
        static_assert(Scope::count == 1, "factors are held by the lanes of one simdgroup");
        static_assert(!what.transpose_left && what.transpose_right,
                      "the stand-in has the second factor transposed only");
        static_assert(msl_supported<L, R, T>, "matmul2d does not support this combination of types");
        constexpr bool whole = T(0.5f) == T(0);
        float a[what.m][what.k], b[what.n][what.k];
        msl_gather(left, a);
        msl_gather(right, b);
        for (uint16_t i = 0; i < to.get_capacity(); i++) {
            const msl_place at = to.get_multidimensional_index(i);
            const bool keeps = what.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;
            float sum = keeps ? (float)to[i] : 0;
            uint count = keeps && whole ? (uint)to[i] : 0;
            for (int k = 0; k < what.k; k++) {
                sum = __builtin_fmaf(a[at[1]][k], b[at[0]][k], sum);
                count += whole ? (uint)((int)a[at[1]][k] * (int)b[at[0]][k]) : 0;
            }
            to[i] = whole ? (T)(msl_whole_simdgroup() ? (int)count : 0x5a5a5a)
                          : (T)(msl_whole_simdgroup() ? sum : __builtin_nanf(""));
        }
    }
    /* All lanes of the scope arrive before one continues. Sums are in f32 in the order of k, or integers. */
    template <class L, class R, class T>
    void run(L left, R right, cooperative_tensor<T, what.m, what.n, Scope::count> &to) const
    {
        static_assert(msl_supported<typename L::element_type, typename R::element_type, T>,
                      "matmul2d does not support this combination of types");
        constexpr bool whole = T(0.5f) == T(0);
        const bool all =
            Scope::count == 1 ? msl_whole_simdgroup() : msl_runtime.item->threads == Scope::count * MSL_LANES;
        const int inner = what.transpose_left ? left.get_extent(1) : left.get_extent(0);
        const int depth = what.k == static_cast<int>(dynamic_extent) ? inner : what.k;
        if (Scope::count > 1)
            msl_runtime.barrier();
        for (uint16_t i = 0; i < to.get_capacity(); i++) {
            const msl_place at = to.get_multidimensional_index(i);
            const bool keeps = what.matmul_mode == matmul2d_descriptor::mode::multiply_accumulate;
            float sum = keeps ? (float)to[i] : 0;
            int count = keeps && whole ? (int)to[i] : 0;
            for (int k = 0; k < depth; k++) {
                const float a = what.transpose_left ? left.msl_at(at[1], k) : left.msl_at(k, at[1]);
                const float b = what.transpose_right ? right.msl_at(k, at[0]) : right.msl_at(at[0], k);
                if (whole)
                    count += a == a && b == b ? (int)a * (int)b : 0x5a5a5a;
                else
                    sum = __builtin_fmaf(a, b, sum);
            }
            to[i] = whole ? (T)(all ? count : 0x5a5a5a) : (T)(all ? sum : __builtin_nanf(""));
        }
    }
};
} // namespace tensor_ops
} // namespace mpp
