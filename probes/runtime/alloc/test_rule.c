/* The rules of first touch and of allocation cost, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_pinned_buffers),
        cmocka_unit_test(test_free_over_alloc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
