/* [SIMD-group Matrix Data Types, SIMD-group Matrix Functions] 8 x 8 only; included by metal_library.h in its namespace.
 * A lane holds two adjacent elements of a row, in the layout published by MLX (get_coord of steel/gemm/mma.h) and
 * others. Unset elements are NaN, and so are results of a simdgroup with missing lanes. */
template <class T> struct msl_matrix_kind {
    static constexpr bool known = false;
};
template <> struct msl_matrix_kind<half> {
    static constexpr bool known = true;
};
template <> struct msl_matrix_kind<float> {
    static constexpr bool known = true;
};
#if __METAL_VERSION__ >= 310
template <> struct msl_matrix_kind<bfloat> {
    static constexpr bool known = true;
};
#endif

inline uint msl_matrix_row(uint lane)
{
    return (lane / 4 & 4) + lane / 2 % 4;
}
inline uint msl_matrix_column(uint lane)
{
    return (lane / 4 & 2) * 2 + lane % 2 * 2;
}
inline bool msl_whole_simdgroup(void)
{
    return msl_runtime.item->threads % MSL_LANES == 0;
}

template <class T, int Cols, int Rows> class simdgroup_matrix
{
    static_assert(Cols == 8 && Rows == 8, "simdgroup_matrix is 8 x 8 only");
    static_assert(msl_matrix_kind<T>::known, "simdgroup_matrix is of half, bfloat or float only");
    typedef T pair __attribute__((ext_vector_type(2)));
    pair elements;

  public:
    simdgroup_matrix()
    {
        elements.x = elements.y = (T)__builtin_nanf("");
    }
    explicit simdgroup_matrix(T diagonal)
    {
        const uint row = msl_matrix_row(msl_lane()), column = msl_matrix_column(msl_lane());
        elements.x = row == column ? diagonal : (T)0.0f;
        elements.y = row == column + 1 ? diagonal : (T)0.0f;
    }
    pair &thread_elements()
    {
        return elements;
    }
    pair msl_elements() const
    {
        return elements;
    }
};
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
#if __METAL_VERSION__ >= 310
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
#endif

template <class T, int Cols, int Rows> inline simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value)
{
    simdgroup_matrix<T, Cols, Rows> m;
    m.thread_elements().x = m.thread_elements().y = value;
    return m;
}

/* All lanes arrive before one continues: shared memory that one of them has not yet written shows. */
#define MSL_MATRIX_MEMORY(space)                                                                                       \
    template <class T>                                                                                                 \
    inline void simdgroup_load(simdgroup_matrix<T, 8, 8> &d, const space T *from, ulong elements_per_row = 8,          \
                               ulong2 origin = 0, bool transpose_matrix = false)                                       \
    {                                                                                                                  \
        const ulong row = msl_matrix_row(msl_lane()), column = msl_matrix_column(msl_lane());                          \
        const msl_lanes<uint> all(0);                                                                                  \
        for (ulong i = 0; i < 2; i++) {                                                                                \
            const ulong y = transpose_matrix ? column + i : row, x = transpose_matrix ? row : column + i;              \
            d.thread_elements()[i] = from[(origin.y + y) * elements_per_row + origin.x + x];                           \
        }                                                                                                              \
        (void)all;                                                                                                     \
    }
#define MSL_MATRIX_STORE(space)                                                                                        \
    template <class T>                                                                                                 \
    inline void simdgroup_store(simdgroup_matrix<T, 8, 8> a, space T *to, ulong elements_per_row = 8,                  \
                                ulong2 origin = 0, bool transpose_matrix = false)                                      \
    {                                                                                                                  \
        const ulong row = msl_matrix_row(msl_lane()), column = msl_matrix_column(msl_lane());                          \
        const msl_lanes<uint> all(0);                                                                                  \
        for (ulong i = 0; i < 2; i++) {                                                                                \
            const ulong y = transpose_matrix ? column + i : row, x = transpose_matrix ? row : column + i;              \
            to[(origin.y + y) * elements_per_row + origin.x + x] = a.thread_elements()[i];                             \
        }                                                                                                              \
        (void)all;                                                                                                     \
    }
MSL_MATRIX_MEMORY(MSL_DEVICE)
MSL_MATRIX_MEMORY(MSL_THREADGROUP)
MSL_MATRIX_STORE(MSL_DEVICE)
MSL_MATRIX_STORE(MSL_THREADGROUP)

/* Sums are in f32, starting with the accumulator, in the order of k, and rounded once. */
template <class A, class B> struct msl_matrix_parts {
    A a[2];
    B b[2];
};
template <class D, class A, class B, class C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a,
                                          simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c)
{
    static_assert(__is_same(A, B) && __is_same(C, D), "factors are of one type, and so are summand and result");
    static_assert(__is_same(A, C) || __is_same(C, float), "sums are of the type of the factors, or of float");
    const auto mine_a = a.msl_elements();
    const auto mine_b = b.msl_elements();
    const msl_matrix_parts<A, B> mine = {{mine_a.x, mine_a.y}, {mine_b.x, mine_b.y}};
    const msl_lanes<msl_matrix_parts<A, B>> all(mine);
    const uint row = msl_matrix_row(msl_lane()), column = msl_matrix_column(msl_lane());
    for (uint i = 0; i < 2; i++) {
        float sum = msl_whole_simdgroup() ? (float)c.msl_elements()[i] : __builtin_nanf("");
        for (uint k = 0; k < 8; k++) {
            const uint left = (row & 4) * 4 + row % 4 * 2 + (k & 4) * 2 + k / 2 % 2;
            const uint right = (k & 4) * 4 + k % 4 * 2 + ((column + i) & 4) * 2 + (column + i) / 2 % 2;
            sum = __builtin_fmaf((float)all[left].a[k % 2], (float)all[right].b[(column + i) % 2], sum);
        }
        d.thread_elements()[i] = (D)sum;
    }
}
template <class D, class A, class B>
inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b)
{
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>((D)0.0f));
}
