/* The native kernels of every width and the device kernel against plain loops, at odd sizes. */
#include "device/dialect/host_prelude.h"
#include "lib/stream/stream.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 700, GUARD = 20, ARRAYS = 3 };
static const double untouched = 12345.5;

_Thread_local struct as_host_item as_host_item;

#define PER_ITEM 4
#define OP 0
#define stream device_copy
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef stream
#define OP 3
#define stream device_triad
#define fill fill_again
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef stream
#undef fill
#define OP 4
#define stream device_nstream
#define fill fill_thrice
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef stream
#undef fill
#define OP 5
#define stream device_dot
#define fill fill_more
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef stream
#undef fill
#define OP 6
#define stream device_read
#define fill fill_last
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef stream
#undef fill

/* The same with workgroups of one thread, for a GPU. */
#define UNROLL 2
#define CACHE 0
#define GROUP_SIZE 1
#define OP 6
#define stream device_read_again
#define stream_tiled gpu_read
#define fill fill_for_gpu
#include "lib/stream/stream.kernel"
#undef OP
#undef X
#undef Y
#undef ARRAY
#undef LOAD
#undef STORE
#undef LOAD_ALL
#undef LOAD_X
#undef LOAD_Y
#undef LOAD_O
#undef stream
#undef stream_tiled
#undef fill

enum { ARRAY = MOST + GUARD };

static double *make_arrays(void)
{
    double *p = aligned_alloc(64, ARRAYS * ARRAY * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < ARRAYS * ARRAY; i++)
        p[i] = untouched;
    return p;
}

static void fill_operands(double *p, uint64_t n)
{
    for (size_t i = 0; i < ARRAYS * ARRAY; i++)
        p[i] = untouched;
    for (unsigned a = 0; a < ARRAYS; a++)
        for (uint64_t i = 0; i < n; i++)
            p[a * ARRAY + i] = (double)((i * 37 + a * 11 + 5) % 101) - 50;
}

/* One repetition by definition, on a copy of the arrays. */
static double plain(enum as_stream_op op, double *p, uint64_t n, double s)
{
    const struct as_stream_shape *sh = &as_stream_shapes[op];
    double *out = p + sh->out * ARRAY, sum = 0;
    const double *x = p + sh->x * ARRAY, *y = p + sh->y * ARRAY;
    for (uint64_t i = 0; i < n; i++) {
        const double results[AS_STREAM_OPS] = {
            [AS_STREAM_COPY] = x[i],       [AS_STREAM_MUL] = s * x[i],
            [AS_STREAM_ADD] = x[i] + y[i], [AS_STREAM_TRIAD] = x[i] + s * y[i],
            [AS_STREAM_WRITE] = s,         [AS_STREAM_NSTREAM] = out[i] + x[i] + s * y[i],
            [AS_STREAM_DOT] = x[i] * y[i], [AS_STREAM_READ] = x[i],
        };
        if (sh->writes)
            out[i] = results[op];
        else
            sum += results[op];
    }
    return sum;
}

static uint64_t bits_sum(const double *x, uint64_t n)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        total += bits;
    }
    return total;
}

static void compare(enum as_stream_op op, int width, int nt, uint64_t n, uint64_t reps, double *got, double *want)
{
    const struct as_stream_shape *sh = &as_stream_shapes[op];
    as_stream_fn fn = as_stream_kernels((enum as_stream_width)width)->of[op][nt];
    double s = 3, sum = 0;
    fill_operands(got, n);
    fill_operands(want, n);
    uint64_t bits = reps * bits_sum(want + sh->x * ARRAY, n);
    for (uint64_t r = 0; r < reps; r++)
        sum += plain(op, want, n, s);
    union as_stream_sum result = fn(got + sh->out * ARRAY, got + sh->x * ARRAY, got + sh->y * ARRAY, n, s, reps);
    if (memcmp(got, want, ARRAYS * ARRAY * sizeof *got) != 0)
        fail_msg("%s, width %d, nt %d, %d elements, %d times: arrays differ", sh->name, width, nt, (int)n, (int)reps);
    bool right = sh->writes ? result.u == n * reps : op == AS_STREAM_READ ? result.u == bits : result.f == sum;
    if (!right)
        fail_msg("%s, width %d, nt %d, %d elements, %d times: sum differs", sh->name, width, nt, (int)n, (int)reps);
}

UNIT_TEST(test_native_kernels)
{
    double *got = make_arrays(), *want = make_arrays();
    int widths = 0;
    for (int w = 0; w < AS_WIDTHS; w++) {
        const struct as_stream_kernels *k = as_stream_kernels((enum as_stream_width)w);
        if (!k)
            continue;
        widths++;
        for (int op = 0; op < AS_STREAM_OPS; op++)
            for (int nt = 0; nt < 2; nt++) {
                assert_int_equal(k->of[op][nt] != NULL, !nt || as_stream_shapes[op].writes);
                for (uint64_t n = 0; k->of[op][nt] && n <= MOST; n += n < 150 ? 1 : 61)
                    compare((enum as_stream_op)op, w, nt, n, n % 3, got, want);
            }
    }
    assert_true(widths >= 1);
    free(got);
    free(want);
}

UNIT_TEST(test_slices)
{
    static const uint64_t sizes[] = {8, 16, 24, 1000, 4096, 100000, 1 << 20, (1 << 20) + 8};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned threads = 1; threads <= 17; threads++) {
            uint64_t next = 0;
            for (unsigned t = 0; t < threads; t++) {
                uint64_t first, count;
                as_stream_slice(sizes[s], threads, t, &first, &count);
                assert_int_equal(first, next);
                assert_true(first % 8 == 0 || count == 0); /* no two threads share a line */
                next = first + count;
            }
            assert_int_equal(next, sizes[s]);
        }
}

typedef void (*device_fn)(f64 *result, f64 *memory, u64 n, u64 pitch, f64 s, u32 turns, u64 piece);

/* Workgroups of one thread, in pieces and interleaved. */
static void run_device(device_fn fn, double *p, double *result, uint64_t n, uint32_t turns, uint32_t workgroups,
                       uint64_t piece)
{
    for (uint32_t g = 0; g < workgroups; g++) {
        as_host_item = (struct as_host_item){0, 1, g, workgroups, NULL};
        fn(result, p, n, ARRAY, 3, turns, piece);
    }
}

UNIT_TEST(test_device_kernel)
{
    static const struct {
        enum as_stream_op op;
        device_fn fn;
    } kernels[] = {{AS_STREAM_COPY, device_copy},
                   {AS_STREAM_TRIAD, device_triad},
                   {AS_STREAM_NSTREAM, device_nstream},
                   {AS_STREAM_DOT, device_dot},
                   {AS_STREAM_READ, device_read}};
    double *got = make_arrays(), *want = make_arrays(), result[8];
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (uint64_t n = 8; n <= MOST; n += 8)
            for (int pieces = 0; pieces < 2; pieces++) {
                double sum = 0, total = 0;
                fill_operands(got, n);
                fill_operands(want, n);
                sum += plain(kernels[k].op, want, n, 3);
                sum += plain(kernels[k].op, want, n, 3);
                run_device(kernels[k].fn, got, result, n, 2, 8, pieces ? ((n + 7) / 8 + 7) / 8 * 8 : 0);
                assert_memory_equal(got, want, ARRAYS * ARRAY * sizeof *got);
                for (int g = 0; g < 8; g++)
                    total += result[g];
                if (!as_stream_shapes[kernels[k].op].writes)
                    assert_true(total == sum);
            }
    free(got);
    free(want);
}

UNIT_TEST(test_device_fill)
{
    struct as_stream_data d;
    enum { N = 2000, PITCH = 2048 };
    double *memory = calloc(3 * PITCH, sizeof *memory);
    assert_non_null(memory);
    as_stream_data_init(&d, 99);
    for (uint32_t g = 0; g < 3; g++) {
        as_host_item = (struct as_host_item){0, 1, g, 3, NULL};
        fill(memory, (const double *)(const void *)&d, N, PITCH, d.key, 3, 1);
    }
    for (unsigned a = 0; a < 3; a++)
        for (uint64_t i = 0; i < N; i++)
            assert_true(memory[a * PITCH + i] == as_stream_value(&d, a, a == 0, i));
    free(memory);
}

/* Every pair is read once in each turn, whatever the number of groups is against that of tiles: powers of two tell
 * which was not. */
UNIT_TEST(test_gpu_reads_all)
{
    enum { TILE_PAIRS = UNROLL };
    static double memory[64] __attribute__((aligned(16)));
    for (uint64_t n = 2; n <= 20; n += 2) {
        uint64_t tiles = (n / 2 + TILE_PAIRS - 1) / TILE_PAIRS;
        for (uint64_t i = 0; i < 64; i++)
            memory[i] = i < n ? (double)(UINT64_C(1) << (2 * i)) : 1e300;
        for (uint64_t workgroups = 1; workgroups <= tiles + 1; workgroups++)
            for (uint32_t turns = 1; turns <= 3; turns++) {
                double sum = 0, want = 0;
                for (uint32_t g = 0; g < workgroups; g++) {
                    double results[16] = {0};
                    as_host_item = (struct as_host_item){0, 1, g, (uint32_t)workgroups, NULL};
                    gpu_read(results, memory, n, 64, 0, turns, 0);
                    sum += results[g];
                }
                for (uint64_t i = 0; i < n; i++)
                    want += turns * memory[i];
                if (sum != want)
                    fail_msg("%u elements, %u groups, %u turns: %.17g, not %.17g", (unsigned)n, (unsigned)workgroups,
                             turns, sum, want);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gpu_reads_all), cmocka_unit_test(test_native_kernels),
                                       cmocka_unit_test(test_slices), cmocka_unit_test(test_device_kernel),
                                       cmocka_unit_test(test_device_fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
