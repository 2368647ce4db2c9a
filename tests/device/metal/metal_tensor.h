/* [Tensors] Two-dimensional ones over memory that a kernel has a pointer to, and formats without a type in the
 * language. Wrong use does not compile, or reads as NaN. */
#pragma once

namespace metal
{
typedef signed char int8_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;

inline constexpr ulong dynamic_extent = ~0ul;
struct tensor_inline {
};
template <class I, int rank> class dextents
{
    static_assert(rank == 2, "tensors of the stand-in have two dimensions");
    I size[2];

  public:
    constexpr dextents(I inner, I outer) : size{inner, outer}
    {
    }
    constexpr I extent(int i) const
    {
        return size[i];
    }
};

/* An element's type in memory, and as a number. */
template <class T> struct msl_element {
    typedef T data;
    static constexpr bool known = false;
};
#define MSL_ELEMENT(T)                                                                                                 \
    template <> struct msl_element<T> {                                                                                \
        typedef T data;                                                                                                \
        static constexpr bool known = true;                                                                            \
        static float number(data x)                                                                                    \
        {                                                                                                              \
            return (float)x;                                                                                           \
        }                                                                                                              \
    };
MSL_ELEMENT(half)
MSL_ELEMENT(bfloat)
MSL_ELEMENT(float)
MSL_ELEMENT(int8_t)
#if __METAL_VERSION__ >= 410
#define MSL_FORMAT(T)                                                                                                  \
    template <> struct msl_element<T> {                                                                                \
        typedef uint8_t data;                                                                                          \
        static constexpr bool known = true;                                                                            \
        static float number(data x)                                                                                    \
        {                                                                                                              \
            return msl_small_float(x, msl_packing<T>::fraction, msl_packing<T>::bias, msl_packing<T>::infinite);       \
        }                                                                                                              \
    };
MSL_FORMAT(metal_fp8_e4m3_format)
MSL_FORMAT(metal_fp8_e5m2_format)
#endif

/* The type without its address space. */
template <class T> struct msl_plain {
    static constexpr bool placed = false;
    typedef T type;
};
template <class T> struct msl_plain<MSL_DEVICE T> {
    static constexpr bool placed = true;
    typedef T type;
    typedef MSL_DEVICE typename msl_element<T>::data *pointer;
};
template <class T> struct msl_plain<MSL_THREADGROUP T> {
    static constexpr bool placed = true;
    typedef T type;
    typedef MSL_THREADGROUP typename msl_element<T>::data *pointer;
};

template <class T, class E, class Kind> class tensor;
template <class T, class I> class tensor<T, dextents<I, 2>, tensor_inline>
{
    static_assert(msl_plain<T>::placed, "the type of a tensor's elements must have an address space");
    typedef typename msl_plain<T>::pointer pointer;
    typedef msl_element<typename msl_plain<T>::type> element;
    static_assert(element::known, "no tensor of the stand-in has elements of this type");
    pointer memory;
    dextents<I, 2> size;
    ulong pitch;

  public:
    typedef typename msl_plain<T>::type element_type;
    tensor(pointer p, dextents<I, 2> e) : memory(p), size(e), pitch((ulong)e.extent(0))
    {
    }
    /* The rest, starting there. */
    tensor slice(I inner, I outer) const
    {
        tensor t = *this;
        t.memory = memory + (ulong)outer * pitch + (ulong)inner;
        t.size = dextents<I, 2>(size.extent(0) - inner, size.extent(1) - outer);
        return t;
    }
    I get_extent(int i) const
    {
        return size.extent(i);
    }
    float msl_at(I inner, I outer) const
    {
        const bool inside = inner >= 0 && inner < size.extent(0) && outer >= 0 && outer < size.extent(1);
        return inside ? element::number(memory[(ulong)outer * pitch + (ulong)inner]) : __builtin_nanf("");
    }
};
} // namespace metal
