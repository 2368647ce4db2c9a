/* GEMM on a CPU for one type and vector width, included once for each: TYPE, LANES, NAME(x), TARGET, FMA(a, b, c).
 * Unpacked rows of a and b are multiplied along K: four rows of a by two of b at once, from blocks of b that fit L2. */
typedef TYPE NAME(vec) __attribute__((vector_size(LANES * sizeof(TYPE)), aligned(sizeof(TYPE)), may_alias));

TARGET static TYPE NAME(sum)(NAME(vec) v)
{
    TYPE s = 0;
    for (int i = 0; i < LANES; i++)
        s += v[i];
    return s;
}

/* to[i][j] += a[i] . b[j] over `n` elements of K. */
TARGET static void NAME(block)(const TYPE *a, const TYPE *b, TYPE *to, uint64_t k, uint64_t n, uint64_t columns,
                               bool first)
{
    NAME(vec) s[4][2] = {{{0}}};
    for (uint64_t at = 0; at < n; at += LANES) {
        const NAME(vec) b0 = *(const NAME(vec) *)(b + at), b1 = *(const NAME(vec) *)(b + k + at);
        for (int i = 0; i < 4; i++) {
            const NAME(vec) x = *(const NAME(vec) *)(a + (uint64_t)i * k + at);
            s[i][0] = FMA(x, b0, s[i][0]);
            s[i][1] = FMA(x, b1, s[i][1]);
        }
    }
    for (uint64_t i = 0; i < 4; i++)
        for (uint64_t j = 0; j < 2; j++)
            to[i * columns + j] = (first ? 0 : to[i * columns + j]) + NAME(sum)(s[i][j]);
}

TARGET static void NAME(tiled)(const struct as_host_call *call)
{
    const struct sizes z = sizes_of(call);
    const TYPE *a = call->args[0], *b = call->args[1];
    TYPE *d = call->args[2];
    const uint64_t depth = 2048 / sizeof(TYPE), strip = 64, rows = z.m / 4;
    const uint64_t from = rows * call->thread / call->threads * 4, to = rows * (call->thread + 1) / call->threads * 4;
    for (uint64_t rep = 0; rep < call->reps; rep++)
        for (uint64_t c = 0; c < z.n; c += strip)
            for (uint64_t at = 0; at < z.k; at += depth)
                for (uint64_t r = from; r < to; r += 4)
                    for (uint64_t j = c; j < c + strip && j < z.n; j += 2)
                        NAME(block)
    (a + r * z.k + at, b + j * z.k + at, d + r * z.n + j, z.k, z.k - at < depth ? z.k - at : depth, z.n, at == 0);
}
#undef NAME
#undef LANES
#undef TARGET
#undef FMA
