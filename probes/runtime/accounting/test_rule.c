/* The rule of memory accounting, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.01};

static void counted(const char *allocator, const char *counter, const char *moment, double seen)
{
    char axes[160];
    snprintf(axes, sizeof axes, "allocator=%s;counter=%s;step=%s;size=67108864", allocator, counter, moment);
    made_add(&m, "accounting", "x", 1 + seen, axes);
}

UNIT_TEST(test_who_counts)
{
    counted("malloc", "VmRSS", "before", 0);
    counted("malloc", "VmRSS", "allocated", 0);
    counted("malloc", "VmRSS", "cpu-touched", 1);
    counted("malloc", "VmRSS", "freed", 0);
    counted("malloc", "MemAvailable", "allocated", 0.01);
    counted("malloc", "MemAvailable", "cpu-touched", 0.98);
    counted("malloc", "MemAvailable", "freed", 0.97);
    counted("malloc", "driver", "allocated", 0);
    counted("malloc", "driver", "cpu-touched", 0);
    counted("cuMemAlloc", "driver", "allocated", 1);
    counted("cuMemAlloc", "driver", "device-touched", 1);
    counted("cuMemAlloc", "VmRSS", "allocated", 0);
    counted("cuMemAlloc", "VmRSS", "device-touched", 0);
    counted("odd one", "VmRSS", "allocated", 0);
    counted("odd one", "VmRSS", "device-touched", 0.4);
    made_derive(&m);
    assert_string_equal(made_get(&m, "accounting.malloc")->sentence,
                        "malloc is counted by MemAvailable, VmRSS at first CPU touch; not by driver at allocation or "
                        "first touch; still by MemAvailable after it "
                        "is freed");
    assert_string_equal(made_get(&m, "accounting.cuMemAlloc")->sentence,
                        "cuMemAlloc is counted by driver at allocation; not by VmRSS at allocation or first touch");
    assert_string_equal(made_get(&m, "accounting.odd_one")->sentence,
                        "Whether odd one is counted is inconclusive: VmRSS (40% at first device touch)");
    assert_int_equal(made_get(&m, "accounting.odd_one")->verdict, AS_UNDECIDED);
    assert_true(isnan(made_get(&m, "accounting.malloc")->value));
}

/* Of managed memory the driver may keep what the warm-up used: no change does not show that it does not count. */
UNIT_TEST(test_driver_may_keep_managed_memory)
{
    static struct made gpu = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};
    static const char *const names[] = {"cuMemAllocManaged", "cuMemHostAlloc"};
    static const char *const steps[] = {"allocated", "cpu-touched", "device-touched"};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++) {
            char axes[160];
            snprintf(axes, sizeof axes, "allocator=%s;counter=driver;step=%s;size=67108864", names[i], steps[k]);
            made_add(&gpu, "accounting", "x", 1, axes);
        }
    made_derive(&gpu);
    made_verdict(&gpu, "accounting.cuMemAllocManaged", AS_UNDECIDED);
    made_says(made_get(&gpu, "accounting.cuMemAllocManaged"),
              "is inconclusive: driver (it may keep memory of earlier use)");
    made_says(made_get(&gpu, "accounting.cuMemHostAlloc"), "is not counted by driver at allocation or first touch");
    made_end(&gpu);
}

static void spanned(struct made *of, const char *counter, const char *moment, double low, double high, size_t n)
{
    char axes[160];
    snprintf(axes, sizeof axes, "allocator=spread;counter=%s;step=%s;size=67108864", counter, moment);
    struct as_cell *c = made_add(of, "accounting", "x", 1 + (low + high) / 2, axes);
    c->sum.min = 1 + low;
    c->sum.max = 1 + high;
    c->sum.n = n;
}

/* Samples at 0 and 200% are two answers, no share between -32 and 500%. */
UNIT_TEST(test_samples_that_differ_are_told)
{
    static struct made spread = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.6};
    spanned(&spread, "MemAvailable", "allocated", 0.98, 1.02, 3);
    spanned(&spread, "driver", "cpu-touched", 0, 2, 3);
    spanned(&spread, "driver", "allocated", 1, 1, 1);
    spanned(&spread, "VmRSS", "allocated", 0, 0, 1);
    spanned(&spread, "VmRSS", "cpu-touched", 1, 1, 1);
    made_derive(&spread);
    assert_string_equal(made_get(&spread, "accounting.spread")->sentence,
                        "spread is counted by MemAvailable at allocation; by VmRSS at first CPU touch; inconclusive: "
                        "driver (100% in one sample at allocation), driver (samples from 0 to 200% at first CPU "
                        "touch)");
    made_end(&spread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_who_counts, &m),
        cmocka_unit_test(test_driver_may_keep_managed_memory),
        cmocka_unit_test(test_samples_that_differ_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
