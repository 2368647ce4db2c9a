/* The kernels for one vector width, included once for each with these defined:
 *   NAME(x)        the name of x in this width
 *   TARGET         function attribute that allows the instructions
 *   VEC, LANES     vector type and its doubles
 *   LOAD(p) STORE(p, v) STREAM(p, v) SET(x) ADD(x, y) MUL(x, y) FMA(x, y, z) (x y + z)
 *   FENCE()        makes non-temporal stores visible
 * Each loop takes four vectors at a time, since a store of its own needs its address and its data together and the
 * loop's own instructions are then one in eight; the rest goes element by element. The barrier to the compiler at the
 * end of each repetition keeps it from doing the work of many repetitions once. */

#define STRIDE (4 * LANES)
#define KEEP() __asm__ volatile("" ::: "memory")

#define MAP_LOOP(store, at, vector, element, target)                                                                   \
    for (uint64_t r = s->reps; r; r--) {                                                                               \
        size_t i = 0;                                                                                                  \
        for (; i + STRIDE <= n; i += STRIDE) {                                                                         \
            VEC v0, v1, v2, v3;                                                                                        \
            {                                                                                                          \
                const size_t at = i;                                                                                   \
                (void)at;                                                                                              \
                v0 = vector;                                                                                           \
            }                                                                                                          \
            {                                                                                                          \
                const size_t at = i + LANES;                                                                           \
                (void)at;                                                                                              \
                v1 = vector;                                                                                           \
            }                                                                                                          \
            {                                                                                                          \
                const size_t at = i + 2 * LANES;                                                                       \
                (void)at;                                                                                              \
                v2 = vector;                                                                                           \
            }                                                                                                          \
            {                                                                                                          \
                const size_t at = i + 3 * LANES;                                                                       \
                (void)at;                                                                                              \
                v3 = vector;                                                                                           \
            }                                                                                                          \
            store(target + i, v0);                                                                                     \
            store(target + i + LANES, v1);                                                                             \
            store(target + i + 2 * LANES, v2);                                                                         \
            store(target + i + 3 * LANES, v3);                                                                         \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            const size_t at = i;                                                                                       \
            (void)at;                                                                                                  \
            target[i] = element;                                                                                       \
        }                                                                                                              \
        KEEP();                                                                                                        \
    }

#define MAP(op, vector, element, target)                                                                               \
    TARGET static void NAME(op)(const struct as_stream_slice *s)                                                       \
    {                                                                                                                  \
        double *const a = s->a, *const b = s->b, *const c = s->c;                                                      \
        const VEC k = SET(s->s);                                                                                       \
        const size_t n = s->n;                                                                                         \
        (void)a, (void)b, (void)c, (void)k;                                                                            \
        MAP_LOOP(STORE, at, vector, element, target)                                                                   \
    }                                                                                                                  \
    TARGET static void NAME(op##_nt)(const struct as_stream_slice *s)                                                  \
    {                                                                                                                  \
        double *const a = s->a, *const b = s->b, *const c = s->c;                                                      \
        const VEC k = SET(s->s);                                                                                       \
        const size_t n = s->n;                                                                                         \
        (void)a, (void)b, (void)c, (void)k;                                                                            \
        MAP_LOOP(STREAM, at, vector, element, target)                                                                  \
        FENCE();                                                                                                       \
    }

MAP(copy, LOAD(a + at), a[at], c)
MAP(mul, MUL(k, LOAD(c + at)), s->s *c[at], b)
MAP(add, ADD(LOAD(a + at), LOAD(b + at)), a[at] + b[at], c)
MAP(triad, FMA(k, LOAD(c + at), LOAD(b + at)), b[at] + s->s * c[at], a)
MAP(write, k, s->s, a)
MAP(nstream, ADD(LOAD(a + at), FMA(k, LOAD(c + at), LOAD(b + at))), a[at] + b[at] + s->s * c[at], a)

/* Eight sums, since an addition takes several cycles and two can start in each. They are kept over the repetitions:
 * adding them up each time would cost as much as reading a small array. */
#define REDUCE(op, step, element)                                                                                      \
    TARGET static void NAME(op)(const struct as_stream_slice *s)                                                       \
    {                                                                                                                  \
        const double *const a = s->a, *const b = s->b;                                                                 \
        const size_t n = s->n;                                                                                         \
        double total = 0, lanes[8 * LANES];                                                                            \
        VEC v[8];                                                                                                      \
        (void)b;                                                                                                       \
        for (int j = 0; j < 8; j++)                                                                                    \
            v[j] = SET(0.0);                                                                                           \
        for (uint64_t r = s->reps; r; r--) {                                                                           \
            size_t i = 0;                                                                                              \
            for (; i + 2 * STRIDE <= n; i += 2 * STRIDE) {                                                             \
                v[0] = step(v[0], i);                                                                                  \
                v[1] = step(v[1], i + LANES);                                                                          \
                v[2] = step(v[2], i + 2 * LANES);                                                                      \
                v[3] = step(v[3], i + 3 * LANES);                                                                      \
                v[4] = step(v[4], i + 4 * LANES);                                                                      \
                v[5] = step(v[5], i + 5 * LANES);                                                                      \
                v[6] = step(v[6], i + 6 * LANES);                                                                      \
                v[7] = step(v[7], i + 7 * LANES);                                                                      \
            }                                                                                                          \
            for (; i < n; i++)                                                                                         \
                total += element;                                                                                      \
            KEEP();                                                                                                    \
        }                                                                                                              \
        for (int j = 0; j < 8; j++)                                                                                    \
            STORE(lanes + j * LANES, v[j]);                                                                            \
        for (int j = 0; j < 8 * LANES; j++)                                                                            \
            total += lanes[j];                                                                                         \
        *s->sum += total;                                                                                              \
    }
#define STEP_READ(v, at) ADD(v, LOAD(a + (at)))
#define STEP_DOT(v, at) FMA(LOAD(a + (at)), LOAD(b + (at)), v)
REDUCE(read, STEP_READ, a[i])
REDUCE(dot, STEP_DOT, a[i] * b[i])

const as_stream_fn TABLE[AS_STREAM_OPS][2] = {
    [AS_STREAM_COPY] = {NAME(copy), NAME(copy_nt)},
    [AS_STREAM_MUL] = {NAME(mul), NAME(mul_nt)},
    [AS_STREAM_ADD] = {NAME(add), NAME(add_nt)},
    [AS_STREAM_TRIAD] = {NAME(triad), NAME(triad_nt)},
    [AS_STREAM_DOT] = {NAME(dot), NULL},
    [AS_STREAM_READ] = {NAME(read), NULL},
    [AS_STREAM_WRITE] = {NAME(write), NAME(write_nt)},
    [AS_STREAM_NSTREAM] = {NAME(nstream), NAME(nstream_nt)},
};

#undef STRIDE
#undef KEEP
#undef MAP_LOOP
#undef MAP
#undef REDUCE
#undef STEP_READ
#undef STEP_DOT
#undef NAME
#undef TARGET
#undef VEC
#undef LANES
#undef LOAD
#undef STORE
#undef STREAM
#undef SET
#undef ADD
#undef MUL
#undef FMA
#undef FENCE
#undef TABLE
