/* The kernels of one vector width. Included once for each, after these have been defined:
 *   NAME(op)              name of a function
 *   TARGET                attribute that enables the instructions
 *   vec, ivec             vector of f64, of u64; may alias
 *   LANES, UNROLL         f64 in a vector; vectors per turn of a loop, even
 *   SPLAT(s)              s in all lanes
 *   FMA(x, s, y)          y + s x
 *   STREAM_PAIR(p, a, b)  non-temporal store of two vectors to p
 *   OPAQUE(v), OPAQUE_INT(v)  opaque to the compiler: no loop becomes memcpy or changes width
 *   FENCE                 ends the non-temporal stores */

#define STEP (LANES * UNROLL)
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif
/* Compiler barrier between repetitions. */
#define REPETITION_END __asm__ volatile("" ::: "memory")
#define AT(p, i) (*(const vec *)(const void *)((p) + (i)))
#define PUT(p, v) (*(vec *)(void *)(p) = (v))
#define PUT_PAIR(p, a, b) (PUT(p, a), PUT((p) + LANES, b))

#define WRITER(op, suffix, VALUE, ELEMENT, STORE_PAIR, END)                                                            \
    TARGET static union as_stream_sum NAME(op##suffix)(double *restrict out, const double *restrict x,                 \
                                                       const double *restrict y, uint64_t n, double scalar,            \
                                                       uint64_t reps)                                                  \
    {                                                                                                                  \
        const vec s = SPLAT(scalar);                                                                                   \
        (void)x, (void)y, (void)s;                                                                                     \
        for (uint64_t r = reps; r; r--) {                                                                              \
            uint64_t i = 0;                                                                                            \
            for (; i + STEP <= n; i += STEP) {                                                                         \
                vec v[UNROLL];                                                                                         \
                UNROLLED for (int k = 0; k < UNROLL; k++)                                                              \
                {                                                                                                      \
                    v[k] = VALUE(i + (uint64_t)k * LANES);                                                             \
                    OPAQUE(v[k]);                                                                                      \
                }                                                                                                      \
                UNROLLED for (int k = 0; k < UNROLL; k += 2)                                                           \
                    STORE_PAIR(out + i + (uint64_t)k * LANES, v[k], v[k + 1]);                                         \
            }                                                                                                          \
            for (; i + LANES <= n; i += LANES) {                                                                       \
                vec v = VALUE(i);                                                                                      \
                OPAQUE(v);                                                                                             \
                PUT(out + i, v);                                                                                       \
            }                                                                                                          \
            for (; i < n; i++) {                                                                                       \
                double v = ELEMENT(i);                                                                                 \
                OPAQUE(v);                                                                                             \
                out[i] = v;                                                                                            \
            }                                                                                                          \
            REPETITION_END;                                                                                            \
        }                                                                                                              \
        END;                                                                                                           \
        return (union as_stream_sum){.u = n * reps};                                                                   \
    }
#define WRITERS(op, VALUE, ELEMENT)                                                                                    \
    WRITER(op, _regular, VALUE, ELEMENT, PUT_PAIR, (void)0)                                                            \
    WRITER(op, _nt, VALUE, ELEMENT, STREAM_PAIR, FENCE)

#define COPY(i) AT(x, i)
#define COPY_1(i) x[i]
WRITERS(copy, COPY, COPY_1)
#define MUL(i) (s * AT(x, i))
#define MUL_1(i) (scalar * x[i])
WRITERS(mul, MUL, MUL_1)
#define ADD(i) (AT(x, i) + AT(y, i))
#define ADD_1(i) (x[i] + y[i])
WRITERS(add, ADD, ADD_1)
#define TRIAD(i) FMA(AT(y, i), s, AT(x, i))
#define TRIAD_1(i) (x[i] + scalar * y[i])
WRITERS(triad, TRIAD, TRIAD_1)
#define NSTREAM(i) (AT(out, i) + FMA(AT(y, i), s, AT(x, i)))
#define NSTREAM_1(i) (out[i] + (x[i] + scalar * y[i]))
WRITERS(nstream, NSTREAM, NSTREAM_1)
#define WRITE(i) s
#define WRITE_1(i) ((void)i, scalar)
WRITERS(write, WRITE, WRITE_1)

/* Eight independent sums; scalar variables, since gcc keeps an array of them in memory. */
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define LANE_SUM(type, total, v)                                                                                       \
    do {                                                                                                               \
        type lanes[LANES];                                                                                             \
        memcpy(lanes, &(v), sizeof lanes);                                                                             \
        for (int l = 0; l < LANES; l++)                                                                                \
            (total) += lanes[l];                                                                                       \
    } while (0);

TARGET static union as_stream_sum NAME(dot)(double *restrict out, const double *restrict x, const double *restrict y,
                                            uint64_t n, double scalar, uint64_t reps)
{
#define SUM(k) vec sum##k = SPLAT(0.0);
#define STEP_ONE(k)                                                                                                    \
    sum##k = FMA(AT(x, i + (k)*LANES), AT(y, i + (k)*LANES), sum##k);                                                  \
    OPAQUE(sum##k);
#define TOTAL(k) LANE_SUM(double, total, sum##k)
    EIGHT(SUM)
    double total = 0;
    (void)out, (void)scalar;
    for (uint64_t r = reps; r; r--) {
        uint64_t i = 0;
        for (; i + 8 * LANES <= n; i += 8 * LANES) {
            EIGHT(STEP_ONE)
        }
        for (; i + LANES <= n; i += LANES) {
            STEP_ONE(0)
        }
        for (; i < n; i++)
            total += x[i] * y[i];
        REPETITION_END;
    }
    EIGHT(TOTAL)
    return (union as_stream_sum){.f = total};
#undef SUM
#undef STEP_ONE
#undef TOTAL
}

/* Integer additions of the bit patterns: one cycle each, and every loaded bit counts. */
TARGET static union as_stream_sum NAME(read)(double *restrict out, const double *restrict x, const double *restrict y,
                                             uint64_t n, double scalar, uint64_t reps)
{
#define SUM(k) ivec sum##k = {0};
#define STEP_ONE(k)                                                                                                    \
    sum##k += *(const ivec *)(const void *)(x + i + (k)*LANES);                                                        \
    OPAQUE_INT(sum##k);
#define TOTAL(k) LANE_SUM(uint64_t, total, sum##k)
    EIGHT(SUM)
    uint64_t total = 0;
    (void)out, (void)y, (void)scalar;
    for (uint64_t r = reps; r; r--) {
        uint64_t i = 0;
        for (; i + 8 * LANES <= n; i += 8 * LANES) {
            EIGHT(STEP_ONE)
        }
        for (; i + LANES <= n; i += LANES) {
            STEP_ONE(0)
        }
        for (; i < n; i++) {
            uint64_t bits;
            memcpy(&bits, x + i, sizeof bits);
            total += bits;
        }
        REPETITION_END;
    }
    EIGHT(TOTAL)
    return (union as_stream_sum){.u = total};
#undef SUM
#undef STEP_ONE
#undef TOTAL
}

static const struct as_stream_kernels NAME(kernels) = {{
    [AS_STREAM_COPY] = {NAME(copy_regular), NAME(copy_nt)},
    [AS_STREAM_MUL] = {NAME(mul_regular), NAME(mul_nt)},
    [AS_STREAM_ADD] = {NAME(add_regular), NAME(add_nt)},
    [AS_STREAM_TRIAD] = {NAME(triad_regular), NAME(triad_nt)},
    [AS_STREAM_NSTREAM] = {NAME(nstream_regular), NAME(nstream_nt)},
    [AS_STREAM_DOT] = {NAME(dot), NULL},
    [AS_STREAM_READ] = {NAME(read), NULL},
    [AS_STREAM_WRITE] = {NAME(write_regular), NAME(write_nt)},
}};

#undef COPY
#undef COPY_1
#undef MUL
#undef MUL_1
#undef ADD
#undef ADD_1
#undef TRIAD
#undef TRIAD_1
#undef NSTREAM
#undef NSTREAM_1
#undef WRITE
#undef WRITE_1
#undef EIGHT
#undef LANE_SUM
#undef WRITER
#undef WRITERS
#undef AT
#undef PUT
#undef PUT_PAIR
#undef REPETITION_END
#undef UNROLLED
#undef STEP
#undef NAME
#undef TARGET
#undef vec
#undef ivec
#undef LANES
#undef UNROLL
#undef SPLAT
#undef FMA
#undef STREAM_PAIR
#undef OPAQUE
#undef OPAQUE_INT
#undef FENCE
