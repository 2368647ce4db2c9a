/* The rules of on-chip memory, on synthetic cells of a known device. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>

#define KiB 1024.0
#define MiB (1024.0 * 1024)

/* A step in cycles where `size` exceeds `at`, smoothed over a tenth as caches do. */
static double past(double size, double at)
{
    double t = log(size / at) / log(1.15);
    return t <= 0 ? 0 : t >= 1 ? 1 : t;
}

static void add_chase(struct made *m, const char *what, double from, double to, double shared, double stride,
                      const double *ends, const double *cycles, size_t levels)
{
    for (double k = 0, size = from; size <= to; k++, size = from * exp2(k / 4)) {
        char axes[160];
        double c = cycles[0];
        for (size_t i = 0; i < levels; i++)
            c += past(size, ends[i]) * (cycles[i + 1] - cycles[i]);
        snprintf(axes, sizeof axes, "what=%s size=%.0f stride=%.0f shared=%.0f", what, round(size), stride, shared);
        made_add(m, "onchip", "ns", c / 2, axes);
    }
}

UNIT_TEST(test_sizes)
{
    struct made *m = made_gpu();
    static const double cycles[] = {33, 260, 700}, ends[] = {256 * KiB, 50 * MiB}, carved[] = {156 * KiB, 50 * MiB};
    static const double constant_cycles[] = {27, 90, 240}, constant_ends[] = {2 * KiB, 32 * KiB};
    static const double code_cycles[] = {1, 2.5}, code_ends[] = {128 * KiB};
    add_chase(m, "global", 4 * KiB, 256 * MiB, 0, 64, ends, cycles, 2);
    add_chase(m, "global", 16 * KiB, 512 * KiB, 100 * KiB, 64, carved, cycles, 2);
    add_chase(m, "constant", 512, 64 * KiB, 0, 64, constant_ends, constant_cycles, 2);
    add_chase(m, "ifetch", KiB, MiB, 0, 64, code_ends, code_cycles, 1);
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.size"), 256 * KiB * 1.07);
    made_holds(made_get(m, "onchip.L1.latency"), 33);
    assert_string_equal(made_get(m, "onchip.L1.latency")->unit, "cycles");
    made_holds(made_get(m, "onchip.L2.latency"), 260);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_SUPPORTED);
    assert_true(made_get(m, "onchip.L2.size")->claimed == 50 * MiB);
    made_holds(made_get(m, "onchip.L1.size.local102400"), 156 * KiB * 1.07);
    made_holds(made_get(m, "onchip.constant.L1.size"), 2 * KiB * 1.07);
    made_holds(made_get(m, "onchip.constant.L2.size"), 32 * KiB * 1.07);
    made_holds(made_get(m, "onchip.code.L1.size"), 128 * KiB * 1.07);
    assert_null(made_find(m, "onchip.L3.size"));
    made_free(m);
}

/* Near and far partitions show a step that is not the cache's end. */
UNIT_TEST(test_part)
{
    struct made *m = made_gpu();
    static const double cycles[] = {33, 220, 300, 700}, ends[] = {256 * KiB, 12 * MiB, 50 * MiB};
    add_chase(m, "global", 4 * KiB, 512 * MiB, 0, 64, ends, cycles, 3);
    made_derive(m);
    made_holds(made_get(m, "onchip.L2.part.size"), 12 * MiB * 1.07);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_SUPPORTED);
    m->info.caches[0].size = 20 << 20;
    made_derive(m);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_REFUTED);
    made_free(m);
}

/* Atomic additions see a whole cache of which loads by one unit keep a part twice. */
UNIT_TEST(test_whole)
{
    struct made *m = made_gpu();
    static const double loads[] = {33, 260, 700}, loads_end[] = {256 * KiB, 28 * MiB};
    static const double atomics[] = {600, 1100}, atomics_end[] = {50 * MiB};
    add_chase(m, "global", 4 * KiB, 512 * MiB, 0, 64, loads_end, loads, 2);
    add_chase(m, "atomic", 4 * MiB, 512 * MiB, 0, 64, atomics_end, atomics, 1);
    made_derive(m);
    const struct as_fact *whole = made_get(m, "onchip.whole.L2.size"), *part = made_get(m, "onchip.L2.part.size");
    made_holds(whole, 50 * MiB * 1.07);
    assert_string_equal(whole->object, "L2");
    assert_int_equal(whole->verdict, AS_SUPPORTED);
    assert_true(whole->claimed == 50 * MiB);
    made_holds(part, 28 * MiB * 1.07);
    assert_true(isnan(part->claimed));
    made_holds(made_get(m, "onchip.L2.latency"), 260);
    made_holds(made_get(m, "onchip.whole.L2.latency"), 600);
    assert_null(made_find(m, "onchip.L2.size"));
    made_free(m);
}

/* Sizes from one level only, none in which the first level ends, and a step that the intervals do not tell. */
UNIT_TEST(test_levels_come_from_their_own_sizes)
{
    static const double cycles[] = {33, 260, 700}, ends[] = {256 * KiB, 50 * MiB};
    static const struct {
        double from, to, share;
        const char *has, *lacks[3];
    } sweeps[] = {
        {4 * KiB, 128 * KiB, 0.01, "onchip.L1.latency", {"onchip.L2.latency", "onchip.L1.size"}},
        {MiB, 24 * MiB, 0.01, "onchip.L2.latency", {"onchip.L1.latency", "onchip.L1.size", "onchip.L2.size"}},
        {MiB, 256 * MiB, 0.01, "onchip.L2.latency", {"onchip.L1.latency", "onchip.L1.size"}},
        {96 * MiB, 512 * MiB, 0.01, NULL, {"onchip.L1.latency", "onchip.L2.latency"}},
        {MiB, 256 * MiB, 0.9, NULL, {"onchip.L1.latency", "onchip.L2.latency", "onchip.L2.size"}},
    };
    for (size_t k = 0; k < sizeof sweeps / sizeof *sweeps; k++) {
        struct made *m = made_gpu();
        m->share = sweeps[k].share;
        add_chase(m, "global", sweeps[k].from, sweeps[k].to, 0, 64, ends, cycles, 2);
        made_derive(m);
        if (sweeps[k].has)
            made_get(m, sweeps[k].has);
        for (size_t i = 0; i < 3 && sweeps[k].lacks[i]; i++) {
            const struct as_fact *f = made_find(m, sweeps[k].lacks[i]);
            if (f)
                fail_msg("sweep %zu: %s", k, f->sentence);
        }
        made_free(m);
    }
}

UNIT_TEST(test_line)
{
    struct made *m = made_gpu();
    static const double cycles[] = {33, 260};
    const double dense[] = {256 * KiB}, wide[] = {256 * KiB * 288 / 128};
    add_chase(m, "global", 32 * KiB, 4 * MiB, 0, 64, dense, cycles, 1);
    add_chase(m, "global", 32 * KiB, 4 * MiB, 0, 288, wide, cycles, 1);
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.line.stride288"), 128);
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_part),
        cmocka_unit_test(test_whole), cmocka_unit_test(test_levels_come_from_their_own_sizes),
        cmocka_unit_test(test_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
