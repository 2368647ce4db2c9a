/* The rules of first touch and of allocation cost, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

UNIT_TEST(test_costs)
{
    struct made m = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.005};
    made_add(&m, "alloc", "ns", 1400, "op=first-touch allocator=mmap size=16777216");
    made_add(&m, "alloc", "ns", 700, "op=touch-again allocator=mmap size=16777216");
    made_add(&m, "alloc", "ns", 50, "op=touch-mapped allocator=mmap size=16777216");
    made_add(&m, "alloc", "ns", 9000, "op=first-touch allocator=mmap size=1048576");
    made_add(&m, "alloc", "ns", 9000, "op=touch-again allocator=mmap size=268435456"); /* another quantity */
    made_add(&m, "alloc", "ns", 10, "op=touch-mapped allocator=mmap size=268435456");
    made_add(&m, "alloc", "ns", 20, "op=alloc allocator=malloc size=32");
    made_add(&m, "alloc", "ns", 4000, "op=alloc allocator=malloc size=1073741824");
    made_derive(&m);
    const struct as_fact *backing = made_near(&m, "memory.host_backing.mmap", 700, 1e-9);
    assert_int_equal(backing->verdict, AS_SUPPORTED);
    assert_string_equal(backing->object, "allocator:mmap");
    made_near(&m, "memory.fault.mmap", 650, 1e-9);
    made_near(&m, "alloc.malloc.alloc.32_B", 20, 0);
    made_near(&m, "alloc.malloc.alloc.1_GiB", 4000, 0);
    made_says(made_get(&m, "alloc.malloc.alloc.32_B"), "malloc: allocating 32 B takes");
    made_says(made_get(&m, "alloc.malloc.alloc.1_GiB"),
              "malloc: reserving 1 GiB takes 4.00 µs (3.98 to 4.02 µs); its pages are allocated lazily");
    m.cells[1].sum.median = 1500;
    m.cells[1].sum.ci = (struct as_interval){1490, 1510};
    made_derive(&m);
    assert_int_equal(made_get(&m, "memory.host_backing.mmap")->verdict, AS_REFUTED);
    made_end(&m);
}

/* Against a copy of as much from the same memory. */
UNIT_TEST(test_pinned_buffers)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "alloc", "ns", 9e6, "op=alloc allocator=cuMemHostAlloc size=16777216");
    made_add(&m, "alloc", "ns", 1e6, "op=free allocator=cuMemHostAlloc size=16777216");
    made_derive(&m);
    assert_string_equal(made_get(&m, "alloc.cuMemHostAlloc.alloc.16_MiB")->act, ""); /* no copy yet */
    made_add(&m, "copy", "GB/s", 16.777216,
             "from=cuMemHostAlloc to=cuMemAlloc direction=one how=engine size=268435456");
    made_derive(&m);
    made_acts(&m, "alloc.cuMemHostAlloc.alloc.16_MiB",
              "Reuse pinned buffers: allocating and freeing 16 MiB takes 10.0x");
    made_end(&m);
}

/* What the study of the MI300A found of hipFree: 22 times as long, at 256 MiB. */
UNIT_TEST(test_free_over_alloc)
{
    struct made m = {.info = {.id = "hip:0", .backend = "hip"}, .share = 0.01};
    made_add(&m, "alloc", "ns", 1e4, "op=alloc allocator=hipMalloc size=32");
    made_add(&m, "alloc", "ns", 5e3, "op=free allocator=hipMalloc size=32");
    made_add(&m, "alloc", "ns", 1e6, "op=alloc allocator=hipMalloc size=268435456");
    made_add(&m, "alloc", "ns", 22e6, "op=free allocator=hipMalloc size=268435456");
    made_add(&m, "alloc", "ns", 37e6, "op=alloc allocator=hipMalloc size=1073741824");
    made_add(&m, "alloc", "ns", 74e6, "op=free allocator=hipMalloc size=1073741824");
    made_add(&m, "alloc", "ns", 14, "op=alloc allocator=malloc size=32");
    made_derive(&m);
    made_says(made_near(&m, "alloc.free_over_alloc.hipMalloc", 22, 1e-9),
              "hipMalloc: freeing 256 MiB takes 22.0x (21.7 to 22.3x) as long as allocating it, the highest ratio of 3 "
              "sizes");
    assert_null(made_find(&m, "alloc.free_over_alloc.malloc"));
    made_end(&m);
}

static void calls(struct made *m, const char *allocator, const double *ns, size_t n)
{
    static const char *const sizes[] = {"2", "512", "16384", "32768", "1048576", "1073741824"};
    for (size_t i = 0; i < n; i++) {
        char axes[120];
        snprintf(axes, sizeof axes, "op=alloc allocator=%s size=%s", allocator, sizes[i]);
        made_add(m, "alloc", "ns", ns[i], axes);
    }
}

/* What the study of the MI300A found of hipMalloc, and kinds of calls that tell nothing of it. */
UNIT_TEST(test_granularity)
{
    static const struct {
        const char *allocator;
        double ns[6];
    } rows[] = {{"hipMalloc", {10e3, 10.1e3, 9.9e3, 15e3, 200e3, 37e6}},
                {"hipHostMalloc", {15e3, 22e3, 34e3, 50e3, 900e3, 200e6}}, /* never alike */
                {"hipMemCreate", {10e3, 10e3, 10e3, 15e3, 10e3, 37e6}},    /* no step: one size in between */
                {"malloc", {14, 14, 14, 30, 60, 6000}},                    /* pages come at first touch */
                {"hipMallocAsync", {1e3, 1e3, 1e3, 2e3, 5e3, 37e6}}};      /* a pool's */
    struct made m = {.info = {.id = "hip:0", .backend = "hip"}, .share = 0.02};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        calls(&m, rows[i].allocator, rows[i].ns, 6);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "alloc.granularity.hipMalloc");
    assert_true(f->value == 16384 && f->ci.lo == 16384 && f->ci.hi == 32768);
    made_says(f, "hipMalloc: allocation time first rises in the size range 16 to 32 KiB, from 10.0 "
                 "µs (9.80 to 10.2 µs)");
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++) {
        char id[80];
        snprintf(id, sizeof id, "alloc.granularity.%s", rows[i].allocator);
        if (strcmp(rows[i].allocator, "hipMemCreate") == 0)
            assert_true(made_get(&m, id)->ci.hi == 1073741824);
        else
            assert_null(made_find(&m, id));
    }
    made_end(&m);
}

/* Each allocator has its facts, however many there are. */
UNIT_TEST(test_all_allocators)
{
    enum { KINDS = 80 };
    struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.005};
    size_t found = 0;
    for (int i = 0; i < KINDS; i++) {
        char axes[80];
        snprintf(axes, sizeof axes, "op=alloc allocator=own%d size=4096", i);
        made_add(&m, "alloc", "ns", 1000, axes);
    }
    made_derive(&m);
    for (size_t i = 0; i < m.facts_n; i++)
        found += m.facts[i].relation == AS_FACT_ALLOC;
    assert_int_equal(found, KINDS);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_granularity),    cmocka_unit_test(test_all_allocators),  cmocka_unit_test(test_costs),
        cmocka_unit_test(test_pinned_buffers), cmocka_unit_test(test_free_over_alloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
