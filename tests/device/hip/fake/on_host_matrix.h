/* AMD's matrix instructions for the host, behind on_host.h: all lanes of a team leave their operands, meet, and each
 * makes its own numbers of the sum. Where numbers lie is written here as the manuals have it ("MI300 Instruction Set
 * Architecture", 7.1; "RDNA3 Instruction Set Architecture", 7.9), not taken from the table that is tested with this. */
typedef u16 f16; /* its bits */
typedef u32 f16x2;

/* Rounds to nearest, ties to even. */
static u32 fake_f16(float x)
{
    const float size = x < 0 ? -x : x, least = 6.103515625e-5f;
    u32 bits, sign = x < 0 ? 0x8000 : 0;
    __builtin_memcpy(&bits, &size, sizeof bits);
    if (size < least)
        return sign | (u32)(i32)__builtin_rintf(size * 16777216.0f);
    bits += 0xfff + (bits >> 13 & 1);
    return sign | (bits >= 0x47800000 ? 0x7c00 : (bits - 0x38000000) >> 13);
}
static f16x2 MAKE_F16X2(float low, float high)
{
    return fake_f16(low) | fake_f16(high) << 16;
}
static float __builtin_amdgcn_exp2f(float x)
{
    return __builtin_exp2f(x);
}

enum fake_kind { FAKE_F64, FAKE_F32, FAKE_BF16, FAKE_F16, FAKE_FP8, FAKE_BF8, FAKE_S8, FAKE_U8 };
static const struct {
    unsigned bytes, exponent, fraction;
    int bias;
} fake_kinds[] = {{8, 11, 52, 1023}, {4, 8, 23, 127}, {2, 8, 7, 127}, {2, 5, 10, 15},
                  {1, 4, 3, 8},      {1, 5, 2, 16},   {1, 0, 0, 0},   {1, 0, 0, 0}};

static double fake_power(int e)
{
    u64 bits = (u64)(e + 1023) << 52;
    double v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

/* The i-th number of an operand. */
static double fake_number(fake_kind kind, const unsigned char *operand, unsigned i)
{
    const unsigned bytes = fake_kinds[kind].bytes, exponent = fake_kinds[kind].exponent;
    const unsigned fraction = fake_kinds[kind].fraction;
    u64 code = 0;
    double v;
    __builtin_memcpy(&code, operand + i * bytes, bytes);
    if (kind == FAKE_F64) {
        __builtin_memcpy(&v, &code, sizeof v);
        return v;
    }
    if (kind == FAKE_S8)
        return (i8)code;
    if (kind == FAKE_U8)
        return (double)code;
    int e = (int)(code >> fraction & ((1u << exponent) - 1));
    double digits = (double)(code & ((1u << fraction) - 1)) * fake_power(-(int)fraction);
    v = (e ? 1 + digits : digits) * fake_power((e ? e : 1) - fake_kinds[kind].bias);
    return code >> (bytes * 8 - 1) ? -v : v;
}

/* From the lane of the wave whose number times four is the address. */
static thread_local unsigned fake_lanes;
static thread_local int fake_left[1024];
static int __builtin_amdgcn_ds_bpermute(int address, int value)
{
    fake_left[THREAD] = value;
    BARRIER();
    value = fake_left[THREAD - THREAD % fake_lanes + (unsigned)address / 4 % fake_lanes];
    BARRIER();
    return value;
}

static thread_local double fake_operands[2][1024][16];

/* Row of a lane's r-th number of the sum: AMD's older chips have rows in fours, those of f64 one by one, the newer ones
 * rows of both halves by turns. */
template <unsigned LANES, unsigned N, fake_kind KIND> static unsigned fake_row(unsigned lane, unsigned r)
{
    const unsigned workgroups = LANES / N, group = lane / N;
    if (LANES == 32 || KIND == FAKE_F64)
        return workgroups * r + group;
    return 4 * workgroups * (r / 4) + 4 * group + r % 4;
}

template <unsigned LANES, unsigned M, unsigned N, unsigned K, fake_kind KIND, class A, class B, class C>
[[gnu::noinline]] static C fake_multiply(A a, B b, C c)
{
    /* both halves of a wave of 32 hold the same factors: each uses its own, so that a difference shows */
    const unsigned each = LANES == 32 ? K : M * K / LANES, lane = THREAD % LANES;
    const unsigned first = THREAD - (LANES == 32 ? lane % N : lane);
    fake_lanes = LANES;
    for (unsigned k = 0; k < each; k++) {
        fake_operands[0][THREAD][k] = fake_number(KIND, (const unsigned char *)&a, k);
        fake_operands[1][THREAD][k] = fake_number(KIND, (const unsigned char *)&b, k);
    }
    BARRIER();
    for (unsigned r = 0; r < M * N / LANES; r++) {
        const unsigned row = fake_row<LANES, N, KIND>(lane, r), column = lane % N;
        double sum = (double)c[r];
        for (unsigned k = 0; k < K; k++)
            sum += fake_operands[0][first + row + M * (k / each)][k % each] *
                   fake_operands[1][first + column + N * (k / each)][k % each];
        c[r] = (decltype(c[0] + c[0]))sum;
    }
    BARRIER();
    return c;
}

#define FAKE_MFMA(name, m, n, k, kind)                                                                                 \
    template <class A, class B, class C> static C __builtin_amdgcn_mfma_##name(A a, B b, C c, int, int, int)           \
    {                                                                                                                  \
        return fake_multiply<64, m, n, k, kind>(a, b, c);                                                              \
    }
FAKE_MFMA(f32_32x32x8f16, 32, 32, 8, FAKE_F16)
FAKE_MFMA(f32_16x16x16f16, 16, 16, 16, FAKE_F16)
FAKE_MFMA(f32_32x32x8bf16_1k, 32, 32, 8, FAKE_BF16)
FAKE_MFMA(f32_16x16x16bf16_1k, 16, 16, 16, FAKE_BF16)
FAKE_MFMA(f32_32x32x2f32, 32, 32, 2, FAKE_F32)
FAKE_MFMA(f32_16x16x4f32, 16, 16, 4, FAKE_F32)
FAKE_MFMA(f64_16x16x4f64, 16, 16, 4, FAKE_F64)
FAKE_MFMA(i32_32x32x8i8, 32, 32, 8, FAKE_S8)
FAKE_MFMA(i32_16x16x16i8, 16, 16, 16, FAKE_S8)
FAKE_MFMA(i32_32x32x16_i8, 32, 32, 16, FAKE_S8)
FAKE_MFMA(i32_16x16x32_i8, 16, 16, 32, FAKE_S8)
FAKE_MFMA(f32_32x32x16_fp8_fp8, 32, 32, 16, FAKE_FP8)
FAKE_MFMA(f32_16x16x32_fp8_fp8, 16, 16, 32, FAKE_FP8)
FAKE_MFMA(f32_32x32x16_bf8_bf8, 32, 32, 16, FAKE_BF8)
FAKE_MFMA(f32_16x16x32_bf8_bf8, 16, 16, 32, FAKE_BF8)
FAKE_MFMA(f32_32x32x4_xf32, 32, 32, 4, FAKE_F32)
FAKE_MFMA(f32_16x16x8_xf32, 16, 16, 8, FAKE_F32)

#define FAKE_WMMA(name, kind)                                                                                          \
    template <class A, class B, class C> static C __builtin_amdgcn_wmma_##name(A a, B b, C c)                          \
    {                                                                                                                  \
        return fake_multiply<32, 16, 16, 16, kind>(a, b, c);                                                           \
    }
FAKE_WMMA(f32_16x16x16_f16_w32, FAKE_F16)
FAKE_WMMA(f32_16x16x16_bf16_w32, FAKE_BF16)
template <class A, class B, class C>
static C __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(bool a_signed, A a, bool, B b, C c, bool)
{
    return a_signed ? fake_multiply<32, 16, 16, 16, FAKE_S8>(a, b, c) : fake_multiply<32, 16, 16, 16, FAKE_U8>(a, b, c);
}
