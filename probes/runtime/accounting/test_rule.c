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
                        "Whether odd one is counted is inconclusive: VmRSS (39 to 41% at first device touch)");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_who_counts, &m),
        cmocka_unit_test(test_driver_may_keep_managed_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
