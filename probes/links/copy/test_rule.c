/* The rule of copies, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

UNIT_TEST(test_copies)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "copy", "GB/s", 5, "from=pinned to=own direction=one how=engine size=4096");
    made_add(&m, "copy", "GB/s", 50, "from=pinned to=own direction=one how=engine size=268435456");
    made_add(&m, "copy", "GB/s", 25, "from=pinned to=own direction=one how=engine size=1048576");
    made_add(&m, "copy", "GB/s", 48, "from=pinned to=own direction=one how=kernel size=268435456");
    made_add(&m, "copy", "GB/s", 90, "from=own to=pinned direction=both how=engine size=268435456");
    made_add(&m, "copy", "GB/s", 9, "from=host to=own direction=one how=engine size=268435456");
    made_derive(&m);
    const struct as_fact *f =
        made_near(&m, "copy.engine.pinned.own", 50, 1e-9); /* the fastest, not the last or the first */
    assert_int_equal(f->evidence[0], 2);
    made_says(f, "Copy from pinned to own: 50.0 GB/s (49.5 to 50.5 GB/s; 256 MiB, copy engine)");
    made_says(made_near(&m, "copy.kernel.pinned.own", 48, 1e-9), "MiB, copy kernel)");
    made_says(made_near(&m, "copy.engine.both.own.pinned", 90, 1e-9), "Copies both ways between own and pinned: ");
    made_says(made_near(&m, "copy.engine.host.own", 9, 1e-9), "pageable host memory");
    made_acts(&m, "copy.kernel.pinned.own", "From 'pinned' to 'own', use the copy engine: 1.04x");
    m.cells[3].sum.median = 60;
    m.cells[3].sum.ci = (struct as_interval){59, 61};
    made_derive(&m);
    made_acts(&m, "copy.kernel.pinned.own", "From 'pinned' to 'own', use a copy kernel: 1.20x");
    assert_null(made_find(&m, "copy.pays.pinned")); /* nothing was read directly */
    m.info.bus_bandwidth = 63e9;                    /* each way */
    made_add(&m, "copy", "GB/s", 2000, "from=own to=own direction=one how=engine size=268435456");
    made_add(&m, "copy", "GB/s", 1900, "from=managed to=own direction=one how=engine size=268435456");
    made_derive(&m);
    assert_null(strstr(made_get(&m, "copy.engine.pinned.own")->sentence, "each byte counted once"));
    assert_null(strstr(made_get(&m, "copy.engine.both.own.pinned")->sentence, "each byte counted once"));
    made_says(made_get(&m, "copy.engine.own.own"), "copy engine, each byte counted once)");
    made_says(made_get(&m, "copy.engine.managed.own"), "each byte counted once");
    made_end(&m);
}

/* The first copy brings managed pages to the device, so that later ones are none from host to device. */
UNIT_TEST(test_managed_pages_have_moved)
{
    static const struct {
        const char *from;
        double bus, rate;
        bool host_memory;
        const char *said;
    } rows[] = {
        {"cuMemAllocManaged", 63e9, 1937, false, "each byte counted once, managed pages in the device's memory)"},
        {"cuMemAllocManaged prefetch to host", 63e9, 1939, false, "managed pages in the device's memory)"},
        {"__managed__", 63e9, 1929, false, "managed pages in the device's memory)"},
        {"cuMemAllocManaged prefer host", 63e9, 10, false, "64 MiB, copy engine)"},
        {"cuMemAllocManaged", 0, 1937, false, "managed pages wherever the driver left them)"},
        {"cuMemAllocManaged", 0, 1937, true, "64 MiB, copy engine)"},
        {"cuMemHostAlloc", 63e9, 55, false, "64 MiB, copy engine)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m;
        char axes[160];
        made_gpu_minimal(&m);
        m.info.bus_bandwidth = rows[i].bus;
        m.info.is_host_memory = rows[i].host_memory;
        snprintf(axes, sizeof axes, "from=%s;to=cuMemAlloc;direction=one;how=engine;size=67108864", rows[i].from);
        made_add(&m, "copy", "GB/s", rows[i].rate, axes);
        made_derive(&m);
        assert_int_equal(m.facts_n, 1);
        made_says(&m.facts[0], rows[i].said);
        made_end(&m);
    }
}

/* Pageable against pinned memory, and both ways at once against each alone. */
UNIT_TEST(test_host_link)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "copy", "GB/s", 50, "from=cuMemHostAlloc to=cuMemAlloc direction=one how=engine size=268435456");
    made_add(&m, "copy", "GB/s", 9, "from=host to=cuMemAlloc direction=one how=engine size=268435456");
    made_add(&m, "copy", "GB/s", 80, "from=cuMemAlloc to=cuMemHostAlloc direction=both how=engine size=268435456");
    made_derive(&m);
    made_acts(&m, "copy.engine.host.cuMemAlloc", "Pin host memory for copies: copies from it run at 5.56x (5.4");
    assert_string_equal(made_get(&m, "copy.engine.both.cuMemAlloc.cuMemHostAlloc")->act, ""); /* one way is missing */
    made_add(&m, "copy", "GB/s", 54, "from=cuMemAlloc to=cuMemHostAlloc direction=one how=engine size=268435456");
    made_derive(&m);
    made_acts(&m, "copy.engine.both.cuMemAlloc.cuMemHostAlloc",
              "Do not expect full bandwidth both ways on the host link: each direction is 1.30x");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_managed_pages_have_moved),
        cmocka_unit_test(test_host_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
