/* The rules of collectives, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_cell *add(struct made *m, double median, const char *op, const char *size)
{
    char axes[64];
    snprintf(axes, sizeof axes, "op=%s size=%s", op, size);
    struct as_cell *c = made_add(m, "collective", "GB/s", median, axes);
    free(c->detail);
    c->detail = strdup("{\"ranks\":8}");
    assert_non_null(c->detail);
    return c;
}

UNIT_TEST(test_bandwidth_and_time)
{
    struct made m;
    made_gpu_minimal(&m);
    snprintf(m.info.collectives, sizeof m.info.collectives, "NCCL 2.27.3");
    add(&m, 0.07, "all_reduce", "1024");
    add(&m, 0.2048, "all_reduce", "4096");
    add(&m, 300, "all_reduce", "16777216");
    add(&m, 480, "all_reduce", "268435456");
    add(&m, 350, "all_to_all", "268435456");
    add(&m, 0.1, "broadcast", "1024");
    add(&m, 900, "all_gather", "268435456")->status = AS_CELL_REJECTED;
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "collective.all_reduce", 480, 1e-9);
    made_says(f, "All-reduce over 8 devices: 480 GB/s of bus bandwidth (");
    made_says(f, "; 256 MiB per device, NCCL 2.27.3)");
    made_says(made_near(&m, "collective.all_to_all", 350, 1e-9), "All-to-all over 8 devices");
    /* 2 x 7/8 x 4096 B at 0.2048 GB/s */
    f = made_near(&m, "collective.time.all_reduce.4096", 35000, 1e-9);
    made_says(f, "An all-reduce of 4 KiB over 8 devices takes 35.0 µs");
    assert_true(f->ci.lo < f->value && f->value < f->ci.hi);
    made_near(&m, "collective.time.broadcast.1024", 10240, 1e-9);
    assert_null(made_find(&m, "collective.all_gather"));
    assert_null(made_find(&m, "collective.time.all_reduce.1024"));
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bandwidth_and_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
