/* [Packed numeric types] 8-bit floats of Metal 4.1: decoding, and pack from four f32, which saturates and rounds to
 * nearest, ties to even, as Rigel found (arXiv:2606.12765, Fig. 5b). */
#pragma once

#if __METAL_VERSION__ >= 410
#define __HAVE_METAL_FP8_E4M3_FORMAT_TYPE__ 1
#define __HAVE_METAL_FP8_E5M2_FORMAT_TYPE__ 1
#define __HAVE_PACKED_NUMERIC_TYPE_PACK_UNPACK__ 1
struct metal_fp8_e4m3_format;
struct metal_fp8_e5m2_format;

inline float msl_small_float(uchar code, int fraction, int bias, bool infinite)
{
    const int exponent = (code & 0x7f) >> fraction, digits = code & ((1 << fraction) - 1), top = 0x7f >> fraction;
    float x = exponent ? __builtin_ldexpf((float)((1 << fraction) + digits), exponent - bias - fraction)
                       : __builtin_ldexpf((float)digits, 1 - bias - fraction);
    if (infinite ? exponent == top : (code & 0x7f) == 0x7f)
        x = infinite && digits == 0 ? __builtin_inff() : __builtin_nanf("");
    return code >> 7 ? -x : x;
}
inline uchar msl_small_code(float x, int fraction, int bias, bool infinite)
{
    const uchar sign = __builtin_signbit(x) ? 0x80 : 0, largest = infinite ? 0x7b : 0x7e;
    const float size = __builtin_fabsf(x);
    uchar below = 0;
    if (x != x)
        return sign | 0x7f;
    while (below < largest && msl_small_float(below + 1, fraction, bias, infinite) <= size)
        below++;
    if (below < largest) {
        const float down = size - msl_small_float(below, fraction, bias, infinite),
                    up = msl_small_float(below + 1, fraction, bias, infinite) - size;
        below += up < down || (up == down && below % 2 == 1);
    }
    return sign | below;
}

template <class T> struct msl_packing;
template <> struct msl_packing<metal_fp8_e4m3_format> {
    static constexpr int fraction = 3, bias = 7;
    static constexpr bool infinite = false;
};
template <> struct msl_packing<metal_fp8_e5m2_format> {
    static constexpr int fraction = 2, bias = 15;
    static constexpr bool infinite = true;
};
struct msl_packed {
    struct storage {
        uchar code[4];
        uchar operator[](int i) const
        {
            return code[i];
        }
    } codes;
    storage as_storage_type() const
    {
        return codes;
    }
};
template <class T> inline msl_packed pack(float4 x)
{
    typedef msl_packing<T> how;
    msl_packed p;
    for (int i = 0; i < 4; i++)
        p.codes.code[i] = msl_small_code(x[i], how::fraction, how::bias, how::infinite);
    return p;
}
#endif
