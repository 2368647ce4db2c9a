/* The rule of on-chip bandwidth, on synthetic cells of a known device. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>

#define MiB (1024.0 * 1024)

/* A step where `size` exceeds `at`, smoothed over a tenth as caches do. */
static double past(double size, double at)
{
    double t = log(size / at) / log(1.15);
    return t <= 0 ? 0 : t >= 1 ? 1 : t;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

UNIT_TEST(test_bandwidth_and_banks)
{
    struct made *m = made_gpu();
    for (int stride = 1; stride <= 33; stride++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=shared size=0 width=32 stride=%d compute_units=every", stride);
        made_add(m, "onchip_bandwidth", "B/cycle", 127.5 / common_divisor(stride, 32), axes);
    }
    for (int i = 0; i < 12; i++) {
        char axes[96];
        double size = 2 * MiB * exp2(i / 2.0);
        snprintf(axes, sizeof axes, "what=common size=%.0f width=128 stride=1 compute_units=one", round(size));
        made_add(m, "onchip_bandwidth", "B/cycle", 63 - past(size, 24 * MiB) * 20, axes);
    }
    made_add(m, "onchip_bandwidth", "B/cycle", 127, "what=own size=32768 width=128 stride=1 compute_units=every");
    made_derive(m);
    const struct as_fact *banks = made_get(m, "onchip.shared.banks");
    assert_true(banks->value == 32 && banks->verdict == AS_SUPPORTED);
    made_says(banks, "Shared memory has 32 banks of 3.98 B/cycle (3.98 to 3.99 B/cycle); a 32-word stride is 32.0x "
                     "slower (31.9 to 32.1x), a 33-word stride is not");
    made_says(made_get(m, "onchip.shared.bank_width"), "A bank of shared memory delivers 3.98 to 3.99 B per cycle");
    made_holds(made_get(m, "onchip.L2.reach_of_unit"), 24 * MiB * 1.07);
    made_holds(made_get(m, "onchip.L1.bandwidth"), 127);
    made_holds(made_get(m, "onchip.shared.bandwidth"), 127.5);
    made_free(m);
}

/* Blocks of all compute units together lie in the memory-side cache, or beyond it; what is stored has facts of its own.
 */
UNIT_TEST(test_memory_and_stores)
{
    struct made *m = made_gpu();
    char axes[96];
    m->info.compute_units = 32;
    m->info.caches_n = 1;
    m->info.caches[0] = (struct as_cache){.level = 3, .kind = 'u', .size = 48 << 20, .memory_side = true};
    for (int i = 0; i < 12; i++) { /* 8 KiB to 16 MiB each */
        const double each = 8192 * exp2(i), all = 32 * each;
        snprintf(axes, sizeof axes, "what=own size=%.0f width=128 stride=1 compute_units=every", each);
        made_add(m, "onchip_bandwidth", "B/cycle", all > 48 * MiB ? 9 : each > 65536 ? 18 : 64, axes);
    }
    made_add(m, "onchip_bandwidth", "B/cycle", 31, "what=own_stores size=65536 width=128 stride=1 compute_units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 120, "what=shared_stores size=0 width=128 stride=1 compute_units=every");
    made_derive(m);
    made_says(made_near(m, "onchip.memory_side.bandwidth", 18, 1e-9),
              "with all SMs active (128 bits per load, each over its own 1");
    made_says(made_near(m, "onchip.memory.bandwidth", 9, 1e-9), "from memory with all SMs active");
    made_says(made_near(m, "onchip.L1.stores", 31, 1e-9), "Each SM stores 31.0 B/cycle");
    made_near(m, "onchip.shared.stores", 120, 1e-9);
    made_near(m, "onchip.L1.bandwidth", 64, 1e-9);
    m->info.caches_n = 0;
    made_derive(m);
    assert_null(made_find(m, "onchip.memory_side.bandwidth"));
    made_free(m);
}

/* Words from a device's description take precedence over its backend's. */
UNIT_TEST(test_words_of_the_device)
{
    struct made *m = made_gpu();
    made_add(m, "onchip_bandwidth", "B/cycle", 127, "what=shared size=0 width=128 stride=1 compute_units=every");
    made_derive(m);
    made_says(made_get(m, "onchip.shared.bandwidth"), "Each SM loads 127 B/cycle");
    m->info.words = (struct as_vocabulary){"WGP", "workgroup", "wavefront", "LDS", "stream"};
    made_derive(m);
    made_says(made_get(m, "onchip.shared.bandwidth"), "Each WGP loads 127 B/cycle");
    made_says(made_get(m, "onchip.shared.bandwidth"), "from LDS");
    made_free(m);
}

/* Strides without conflicts show no banks. */
UNIT_TEST(test_no_banks)
{
    struct made *m = made_gpu();
    for (int stride = 1; stride <= 33; stride++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=shared size=0 width=32 stride=%d compute_units=every", stride);
        made_add(m, "onchip_bandwidth", "B/cycle", 120 - stride * 0.1, axes);
    }
    made_derive(m);
    assert_null(made_find(m, "onchip.shared.banks"));
    assert_null(made_find(m, "onchip.shared.bank_width"));
    made_free(m);
}

/* By the medians there are banks and a reach; by the intervals neither. */
UNIT_TEST(test_wide_intervals)
{
    struct made *m = made_gpu();
    char axes[96];
    m->share = 0.4;
    for (int i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes, "what=shared compute_units=every width=32 stride=%d", 1 << i);
        made_add(m, "onchip_bandwidth", "B/cycle", i == 5 ? 50 : 100, axes);
        snprintf(axes, sizeof axes, "what=common compute_units=one width=128 stride=1 size=%d", 1 << (20 + i));
        made_add(m, "onchip_bandwidth", "B/cycle", i < 4 ? 60 : 50, axes);
    }
    made_derive(m);
    assert_null(made_find(m, "onchip.shared.banks"));
    assert_null(made_find(m, "onchip.L2.reach_of_unit"));
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_intervals),      cmocka_unit_test(test_bandwidth_and_banks),
        cmocka_unit_test(test_words_of_the_device), cmocka_unit_test(test_no_banks),
        cmocka_unit_test(test_memory_and_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
