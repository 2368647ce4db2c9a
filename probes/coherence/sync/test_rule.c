/* The rule of 64-bit atomics and barriers, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static void add(struct made *m, double ns, const char *by, const char *memory, int threads)
{
    char axes[160];
    snprintf(axes, sizeof axes, "op=max path=%s result=%s memory=%s elements=1024 threads=%d compute_units=%s", by,
             threads == 1 ? "kept" : "dropped", memory, threads, threads == 1 ? "one" : "every");
    made_add(m, "sync", "ns", ns, axes);
}

UNIT_TEST(test_atomics)
{
    struct made *m = made_gpu();
    add(m, 400, "native", "global", 1);
    add(m, 2000, "two_words", "global", 1);
    add(m, 40, "native", "shared", 1);
    add(m, 1000, "native", "global", 256);
    add(m, 2500, "two_words", "global", 256);
    m->info.compute_units = 132;
    made_derive(m);
    made_says(made_near(m, "sync.max.native.global.latency", 400, 1e-9),
              "A native 64-bit atomic max in global memory has a latency of 400 ns");
    made_says(made_get(m, "sync.max.native.shared.latency"), "in shared memory has a latency of 40.0 ns");
    made_near(m, "sync.max.global.1024.1.kept.emulated", 5, 1e-9);
    made_says(made_near(m, "sync.max.global.1024.256.dropped.emulated", 2.5, 1e-9),
              "64-bit atomic max by two words in global memory is 2.50x slower");
    const struct as_fact *f = made_near(m, "sync.max.native.global.1024.dropped.rate", 132 * 256 / 1000e-9, 1e-9);
    assert_true(f->ci.lo < f->value && f->value < f->ci.hi);
    made_free(m);
}

UNIT_TEST(test_barriers)
{
    struct made *m = made_gpu();
    made_add(m, "sync", "ns", 20,
             "op=barrier path=native result=dropped memory=shared elements=1 threads=1024 compute_units=one");
    made_add(m, "sync", "ns", 25,
             "op=barrier path=native result=dropped memory=shared elements=1 threads=1024 compute_units=every");
    made_derive(m);
    made_says(made_near(m, "sync.barrier.1024", 20, 1e-9), "A barrier of 1024 threads takes 20.0 ns");
    made_free(m);
}

/* By the intervals neither is slower. */
UNIT_TEST(test_tied)
{
    struct made *m = made_gpu();
    m->share = 0.4;
    add(m, 400, "native", "global", 1);
    add(m, 500, "two_words", "global", 1);
    made_derive(m);
    made_verdict(m, "sync.max.global.1024.1.kept.emulated", AS_UNDECIDED);
    made_free(m);
}

/* Two words that are a little faster than a loop refute nothing. */
UNIT_TEST(test_faster_emulation)
{
    struct made *m = made_gpu();
    m->share = 0.001;
    add(m, 505, "native", "shared", 1);
    add(m, 500, "two_words", "shared", 1);
    made_derive(m);
    made_says(made_get(m, "sync.max.shared.1024.1.kept.emulated"), "is 1.01x faster");
    made_verdict(m, "sync.max.shared.1024.1.kept.emulated", AS_SUPPORTED);
    made_free(m);
}

/* A loop of compare-and-swaps is not called native, and counts only where its values change the elements. */
UNIT_TEST(test_loop)
{
    static const char native[] =
        "op=max path=native result=kept memory=shared elements=1024 threads=1 compute_units=one",
                      loop[] = "{\"instruction\":\"a loop of compare-and-swaps\"}",
                      sound[] = "{\"instruction\":\"a loop of compare-and-swaps\",\"values\":\"change at each turn\"}";
    for (int i = 0; i < 2; i++) {
        struct made *m = made_gpu();
        struct as_cell *cell = made_add(m, "sync", "ns", 80, native);
        cell->detail = strdup(i ? sound : loop);
        add(m, 240, "two_words", "shared", 1);
        made_derive(m);
        if (i) {
            made_says(made_get(m, "sync.max.native.shared.latency"),
                      "A 64-bit atomic max (a loop of compare-and-swaps) in shared memory has a latency of 80.0 ns");
            made_says(made_near(m, "sync.max.shared.1024.1.kept.emulated", 3, 1e-9),
                      "than a loop of compare-and-swaps, one thread");
        } else {
            assert_null(made_find(m, "sync.max.native.shared.latency"));
            assert_null(made_find(m, "sync.max.shared.1024.1.kept.emulated"));
        }
        made_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomics), cmocka_unit_test(test_barriers),         cmocka_unit_test(test_loop),
        cmocka_unit_test(test_tied),    cmocka_unit_test(test_faster_emulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
