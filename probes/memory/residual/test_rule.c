/* The rule of cache eviction, on cells that are made up. */
#include "tests/facts/made.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS}, .share = 0.005};

static int clean(void **unused)
{
    (void)unused;
    made_end(&m);
    return 0;
}

static void add(int touched, int pass, double times)
{
    char axes[160];
    snprintf(axes, sizeof axes, "op=read touched=%d size=16777216 pattern=linear pass=%d delay=0 allocator=malloc",
             touched << 20, pass);
    made_add(&m, "residual", "x", times, axes);
}

static void test_displaced(void **unused)
{
    (void)unused;
    add(1, 1, 1.001);
    add(16, 1, 1.01);
    add(64, 1, 1.31);
    add(512, 1, 1.63);
    add(512, 2, 1.2);
    add(512, 3, 1.005);
    made_derive(&m);
    made_says(
        made_near(&m, "residual.begins.read.linear.malloc.16777216", 64 << 20, 1e-9),
        "The first linear pass over 16 MiB slows down after another core read 64 MiB or less (onset at 16 to 64 MiB)");
    made_says(made_near(&m, "residual.slowdown.read.linear.malloc.16777216", 1.63, 1e-9),
              "as long after another core read 512 MiB as after the wait alone");
    made_says(
        made_near(&m, "residual.recovers.read.linear.malloc.16777216", 3, 1e-9),
        "Pass 3 of the repeated linear pass over 16 MiB is the first that is not clearly slower after another core");
}

static void test_not_displaced(void **unused)
{
    (void)unused;
    add(1, 1, 1.0);
    add(64, 1, 1.003);
    add(64, 2, 1.0);
    made_derive(&m);
    made_says(made_get(&m, "residual.begins.read.linear.malloc.16777216"),
              "not clearly slower after another core read 64 MiB (the maximum tested)");
    made_verdict(&m, "residual.begins.read.linear.malloc.16777216", AS_UNDECIDED);
    assert_null(made_find(&m, "residual.recovers.read.linear.malloc.16777216"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_displaced, clean),
        cmocka_unit_test_teardown(test_not_displaced, clean),
    };
    return cmocka_run_group_tests_name("rule of cache eviction", tests, NULL, NULL);
}
