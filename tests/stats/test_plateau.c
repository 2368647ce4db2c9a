/* Plateaus and knees of synthetic cache curves. */
#include "sim.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 200, MAX = 8 };
static const double KiB = 1024, MiB = 1048576;

struct points {
    double x[POINTS], y[POINTS];
    struct as_interval ci[POINTS];
    size_t n;
};

/* A chase over caches of 32 KiB, 1 MiB, 32 MiB and memory, from 1 KiB to 1 GiB. Past a cache, hits fade away over
 * `fade` octaves. */
static void chase(struct as_rng *r, int octave_points, double noise, double fade, struct points *p)
{
    static const double size[] = {32768, 1048576, 33554432}, level[] = {1.5, 4.8, 22, 110};
    p->n = 0;
    for (int i = 0; i <= 20 * octave_points; i++) {
        double x = 1024 * exp2((double)i / octave_points), y = level[0];
        for (int k = 0; k < 3; k++) {
            double past = log2(x / size[k]);
            double share = past <= 1e-9 ? 0 : fade > 0 ? fmin(1, past / fade) : 1;
            y *= pow(level[k + 1] / level[k], share);
        }
        size_t at = p->n++;
        p->x[at] = x;
        p->y[at] = y * exp(noise * as_rng_normal(r));
        p->ci[at] = (struct as_interval){p->y[at] * exp(-1.96 * noise), p->y[at] * exp(1.96 * noise)};
    }
}

static bool finds_levels(const struct points *p, bool with_ci, const char *name, bool loud)
{
    static const double size[] = {32768, 1048576, 33554432}, level[] = {1.5, 4.8, 22, 110};
    struct as_plateau out[MAX];
    size_t n = as_plateaus(p->x, p->y, with_ci ? p->ci : NULL, p->n, out, MAX);
    bool good = n == 4;
    for (size_t i = 0; good && i < 4; i++) {
        good = fabs(log(out[i].level / level[i])) < 0.1 && out[i].ci.lo <= out[i].level && out[i].level <= out[i].ci.hi;
        if (i < 3)
            good = good && out[i].knee_ci.lo <= size[i] * 1.0001 && out[i].knee_ci.hi >= size[i] &&
                   out[i].knee_ci.hi / out[i].knee_ci.lo <= 4.01 && out[i].knee >= out[i].knee_ci.lo &&
                   out[i].knee <= out[i].knee_ci.hi;
        else
            good = good && isnan(out[i].knee);
    }
    for (size_t i = 0; !good && loud && i < n; i++)
        print_message("  %s: %zu..%zu level %.3g knee %.4g KiB (%.4g to %.4g)\n", name, out[i].first, out[i].last,
                      out[i].level, out[i].knee / KiB, out[i].knee_ci.lo / KiB, out[i].knee_ci.hi / KiB);
    return good;
}

static void test_caches(void **state)
{
    (void)state;
    static const int octave_points[] = {1, 4};
    static const double noise[] = {0.002, 0.01, 0.03}, fade[] = {0, 1.5};
    for (size_t o = 0; o < 2; o++)
        for (size_t k = 0; k < 3; k++)
            for (size_t f = 0; f < 2; f++)
                for (int with_ci = 0; with_ci < 2; with_ci++) {
                    struct as_rng r;
                    as_rng_seed(&r, 1000 * o + 100 * k + 10 * f);
                    int good = 0, shown = 0;
                    for (int round = 0; round < 300; round++) {
                        struct points p;
                        chase(&r, octave_points[o], noise[k], fade[f], &p);
                        bool ok = finds_levels(&p, with_ci, "wrong", shown < 1);
                        good += ok;
                        shown += !ok;
                    }
                    print_message("%d points an octave, noise %.1f%%, fading over %.1f octaves%s: right in %.1f%%\n",
                                  octave_points[o], 100 * noise[k], fade[f], with_ci ? ", intervals" : "", good / 3.0);
                    assert_true(good >= 285);
                }
}

/* Bandwidth falls where latency rises. */
static void test_falling(void **state)
{
    (void)state;
    struct as_rng r;
    as_rng_seed(&r, 8);
    struct points p;
    chase(&r, 2, 0.01, 0, &p);
    for (size_t i = 0; i < p.n; i++)
        p.y[i] = 1000 / p.y[i];
    struct as_plateau out[MAX];
    assert_int_equal(as_plateaus(p.x, p.y, NULL, p.n, out, MAX), 4);
    assert_true(out[0].level > out[3].level);
    assert_true(out[1].knee_ci.lo <= MiB && out[1].knee_ci.hi >= MiB);
}

static void test_edges(void **state)
{
    (void)state;
    struct as_plateau out[MAX];
    struct points p = {.n = 20};
    for (size_t i = 0; i < 20; i++) {
        p.x[i] = exp2((double)i);
        p.y[i] = 3;
    }
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 20, out, MAX), 1); /* flat */
    assert_int_equal(out[0].first, 0);
    assert_int_equal(out[0].last, 19);
    assert_true(fabs(out[0].level - 3) < 1e-9 && isnan(out[0].knee));
    p.y[7] = 50; /* a single deviating point is not a level */
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 20, out, MAX), 1);
    assert_true(fabs(out[0].level - 3) < 1e-9);
    p.y[3] = NAN;
    p.y[4] = -1;
    p.y[5] = 0;
    p.x[6] = NAN;
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 20, out, MAX), 1);
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 0, out, MAX), 0);
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 20, out, 0), 0);
    for (size_t i = 0; i < 20; i++) {
        p.x[i] = exp2((double)i);
        p.y[i] = exp2((double)i); /* a constant slope has no plateau */
    }
    assert_int_equal(as_plateaus(p.x, p.y, NULL, 20, out, MAX), 0);
    for (size_t i = 0; i < 20; i++)
        p.x[i] = 1; /* x does not rise, so one point is left */
    assert_true(as_plateaus(p.x, p.y, NULL, 20, out, MAX) <= 1);
    struct as_rng r;
    as_rng_seed(&r, 9);
    chase(&r, 4, 0.01, 0, &p);
    assert_int_equal(as_plateaus(p.x, p.y, NULL, p.n, out, 2), 2); /* no room for more */
}

/* One point that was disturbed says little of the level that others know. */
static void test_disturbed_point(void **state)
{
    (void)state;
    struct as_plateau out[MAX];
    struct points p = {.n = 5};
    for (size_t n = 5; n <= 8; n++)
        for (size_t odd = 0; odd < n; odd++) {
            p.n = n;
            for (size_t i = 0; i < n; i++) {
                p.x[i] = 1024 * exp2((double)i);
                p.y[i] = i == odd ? 1.2 : 1.09;
                p.ci[i] = i == odd ? (struct as_interval){0.48, 2.7} : (struct as_interval){1.08, 1.11};
            }
            assert_int_equal(as_plateaus(p.x, p.y, p.ci, p.n, out, MAX), 1);
            assert_true(fabs(out[0].level - 1.09) < 1e-9);
            assert_true(out[0].ci.lo > 1.07 && out[0].ci.hi < 1.12);
        }
}

/* A coarse curve of a GPU: where hits of the level before fade, and misses begin, says nothing of the level between. */
static void test_coarse_level(void **state)
{
    (void)state;
    static const double kib[] = {64, 128, 181, 256, 362, 512, 4096, 8192, 16384, 32768, 65536, 131072},
                        ns[] = {16.2, 16.2, 16.2, 88, 113, 124, 142.8, 142.9, 142.9, 153, 213, 274};
    struct as_plateau out[MAX];
    struct points p = {.n = sizeof ns / sizeof *ns};
    for (size_t i = 0; i < p.n; i++) {
        p.x[i] = kib[i] * KiB;
        p.y[i] = ns[i];
        p.ci[i] = (struct as_interval){0.997 * ns[i], 1.003 * ns[i]};
    }
    const size_t n = as_plateaus(p.x, p.y, p.ci, p.n, out, MAX);
    assert_true(n >= 2);
    assert_true(out[1].first <= 6 && out[1].last >= 8);
    assert_true(fabs(out[1].level - 142.9) < 0.2 && out[1].ci.lo > 141 && out[1].ci.hi < 145);
    for (size_t i = 0; i < p.n; i++) /* points that are not so well known may all be of the level */
        p.ci[i] = (struct as_interval){0.9 * ns[i], 1.1 * ns[i]};
    assert_true(as_plateaus(p.x, p.y, p.ci, p.n, out, MAX) >= 2);
    assert_true(out[1].ci.lo < 130 && out[1].ci.hi > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_caches), cmocka_unit_test(test_coarse_level),
                                       cmocka_unit_test(test_disturbed_point), cmocka_unit_test(test_falling),
                                       cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
