/* The rules of address translation, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS}};
static struct made gpu = {.info = {.id = "cuda:0", .backend = "cuda", .capabilities = AS_CAP_SOURCE, .warp = 32}};

static int start(void **unused)
{
    (void)unused;
    m.share = 0.005;
    return 0;
}

static double packed_ns(double pages)
{
    return pages <= 512 ? 1 : pages <= 8192 ? 4 : 10;
}

/* A chase over pages: the first-level TLB holds 64 entries, the second 2048. */
static void add_chase(const char *allocator, const char *stride, double first, double second)
{
    for (double pages = 16; pages <= 16384; pages *= 2) {
        char axes[96];
        const double cost = pages > second ? 27 : pages > first ? 2 : 0;
        snprintf(axes, sizeof axes, "pages=%.0f;stride=%s;allocator=%s", pages, stride, allocator);
        made_add(&m, "tlb", "ns", packed_ns(pages) + cost, axes)->clock_hz = 3e9;
    }
}

UNIT_TEST(test_levels)
{
    add_chase("mmap", "4096", 64, 2048);
    add_chase("thp", "0", INFINITY, INFINITY);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "tlb.reach1.mmap.4096");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_string_equal(f->unit, "pages");
    assert_true(f->ci.lo >= 63 && f->ci.lo <= 65 && f->ci.hi >= 127 && f->ci.hi <= 129);
    made_says(made_get(&m, "tlb.reach1.mmap.4096"),
              "(mmap, a page every 4 KiB): beyond, a load takes 2.00 ns longer (1.96 to 2.04 ns; 6 cycles)");
    f = made_get(&m, "tlb.reach1.bytes.mmap.4096");
    assert_true(f->ci.lo >= 63 * 4096 && f->ci.hi <= 129 * 4096);
    f = made_get(&m, "tlb.reach2.mmap.4096");
    assert_true(f->value > 2048 && f->value < 4096);
    made_says(made_get(&m, "tlb.reach2.mmap.4096"), "25.0 ns longer (24.8 to 25.2 ns; 75 cycles)");
    f = made_near(&m, "tlb.cost.mmap.4096", 27, 1e-9);
    assert_true(f->ci.lo > 26 && f->ci.hi < 28);
    made_says(made_get(&m, "tlb.cost.mmap.4096"), "Over 16384 pages, address translation adds 27.0 ns per load (");
    made_says(made_get(&m, "tlb.cost.mmap.4096"), "81 cycles; mmap, a page every 4 KiB)");
    assert_null(made_find(&m, "tlb.reach3.mmap.4096"));
}

/* A cell of a GPU, at 2 GHz, which bypasses the caches of its SM or not. */
static void add_of_gpu(double ns, const char *axes, bool bypasses)
{
    struct as_cell *cell = made_add(&gpu, "tlb", "ns", ns, axes);
    cell->clock_hz = 2e9;
    if (bypasses)
        cell->detail = strdup("{\"bypasses_own_caches\":1}");
}

/* The CPU in a device's memory: against packed memory of the same allocator and first touch only. */
static void add_by_cpu(const char *touch, double miss, double packed)
{
    for (double pages = 16; pages <= 16384; pages *= 2) {
        char axes[128];
        snprintf(axes, sizeof axes, "pages=%.0f stride=4096 allocator=hipMalloc agent=cpu touch=%s", pages, touch);
        add_of_gpu(packed + (pages > 2048 ? miss : 0), axes, false);
        snprintf(axes, sizeof axes, "pages=%.0f stride=0 allocator=hipMalloc agent=cpu touch=%s", pages, touch);
        add_of_gpu(packed, axes, false);
        snprintf(axes, sizeof axes, "pages=%.0f stride=0 allocator=hipMalloc agent=own touch=cpu", pages);
        add_of_gpu(100, axes, true);
        snprintf(axes, sizeof axes, "pages=%.0f stride=4096 allocator=hipMalloc agent=own touch=cpu", pages);
        add_of_gpu(400, axes, true);
    }
}

/* The CPU's loads have no cycles: the clock of their cells is the device's. */
UNIT_TEST(test_cpu_in_device_memory)
{
    gpu.share = 0.005;
    add_by_cpu("cpu", 30, 10);
    add_by_cpu("device", 12, 8);
    made_derive(&gpu);
    made_near(&gpu, "tlb.cost.hipMalloc.4096.cpu.cpu", 30, 1e-9);
    made_says(made_get(&gpu, "tlb.cost.hipMalloc.4096.cpu.cpu"),
              "(29.8 to 30.2 ns; CPU in hipMalloc, a page every 4 KiB)");
    made_near(&gpu, "tlb.cost.hipMalloc.4096.cpu.device", 12, 1e-9);
    made_says(made_get(&gpu, "tlb.cost.hipMalloc.4096.cpu.device"),
              "CPU in hipMalloc after the device, a page every 4 KiB");
    made_near(&gpu, "tlb.cost.hipMalloc.4096", 300, 1e-9);
    made_says(made_get(&gpu, "tlb.cost.hipMalloc.4096"), "600 cycles; hipMalloc");
    const struct as_fact *f = made_get(&gpu, "tlb.reach1.hipMalloc.4096.cpu.cpu");
    made_says(f, "beyond, a load takes 30.0 ns longer (");
    assert_null(strstr(f->sentence, "cycles"));
}

/* An L1 of 256 KiB holds the short controls, and part of the long ones. The chase, flat, misses it at all lengths. */
static void add_with_own_cache(bool chase_bypasses, bool control_bypasses)
{
    for (double pages = 64; pages <= 16384; pages *= 16) {
        const double control = control_bypasses || pages >= 16384 ? 135 : pages > 2000 ? 90 : 20;
        char axes[128];
        snprintf(axes, sizeof axes, "pages=%.0f stride=2097152 allocator=cuMemAlloc", pages);
        add_of_gpu(147, axes, chase_bypasses);
        snprintf(axes, sizeof axes, "pages=%.0f stride=0 allocator=cuMemAlloc", pages);
        add_of_gpu(control, axes, control_bypasses);
    }
}

UNIT_TEST(test_hits_of_the_own_cache_are_no_cost)
{
    for (int control = 0; control < 2; control++) {
        gpu.share = 0.005;
        add_with_own_cache(false, control);
        made_derive(&gpu);
        const struct as_fact *f = made_get(&gpu, "tlb.cost.cuMemAlloc.2097152");
        assert_int_equal(f->verdict, AS_UNDECIDED);
        assert_true(isnan(f->value));
        made_says(f, "Over 16384 pages, the cost of address translation per load is inconclusive: ");
        made_says(f, "the SM's own caches may serve the control more often than the chase");
        assert_null(made_find(&gpu, "tlb.reach1.cuMemAlloc.2097152"));
        made_end(&gpu);
    }
    add_with_own_cache(true, false);
    made_derive(&gpu);
    assert_null(made_find(&gpu, "tlb.cost.cuMemAlloc.2097152"));
    made_end(&gpu);
    add_with_own_cache(true, true);
    made_derive(&gpu);
    made_near(&gpu, "tlb.cost.cuMemAlloc.2097152", 12, 1e-9);
    made_verdict(&gpu, "tlb.reach1.cuMemAlloc.2097152", AS_UNDECIDED);
}

/* A GPU's memories differ in more than their pages: no control from another allocator. */
UNIT_TEST(test_no_control_from_another_memory)
{
    gpu.share = 0.005;
    for (double pages = 64; pages <= 16384; pages *= 16) {
        char axes[128];
        snprintf(axes, sizeof axes, "pages=%.0f stride=65536 allocator=cuMemHostAlloc", pages);
        add_of_gpu(900, axes, true);
        snprintf(axes, sizeof axes, "pages=%.0f stride=0 allocator=cuMemAlloc", pages);
        add_of_gpu(135, axes, true);
    }
    made_derive(&gpu);
    assert_null(made_find(&gpu, "tlb.cost.cuMemHostAlloc.65536"));
}

/* Each kind of cells has its facts, however many kinds there are. */
UNIT_TEST(test_all_allocators)
{
    enum { KINDS = 40 };
    for (int i = 0; i < KINDS; i++)
        for (int packed = 0; packed < 2; packed++)
            for (double pages = 64; pages <= 16384; pages *= 16) {
                char axes[128];
                snprintf(axes, sizeof axes, "pages=%.0f stride=%d allocator=own%d", pages, packed ? 0 : 65536, i);
                add_of_gpu(packed ? 135 : 150, axes, true);
            }
    made_derive(&gpu);
    for (int i = 0; i < KINDS; i++) {
        char id[64];
        snprintf(id, sizeof id, "tlb.cost.own%d.65536", i);
        made_near(&gpu, id, 15, 1e-9);
    }
}

/* Latency that both curves share is no translation cost. */
UNIT_TEST(test_none)
{
    m.share = 0.02;
    add_chase("mmap", "4096", INFINITY, INFINITY);
    add_chase("mmap", "0", INFINITY, INFINITY);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "tlb.reach1.mmap.4096");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    assert_true(isnan(f->value));
    made_says(made_get(&m, "tlb.reach1.mmap.4096"),
              "No clear step in the cost of address translation up to 16384 pages");
    assert_int_equal(made_get(&m, "tlb.cost.mmap.4096")->verdict, AS_UNDECIDED);
}

/* A step that is small compared with the control is no level. */
UNIT_TEST(test_small_step)
{
    m.share = 0.001;
    for (double pages = 16; pages <= 16384; pages *= 2) {
        char axes[96];
        snprintf(axes, sizeof axes, "pages=%.0f;stride=4096;allocator=mmap", pages);
        made_add(&m, "tlb", "ns", pages > 512 ? 105 : 100, axes);
        snprintf(axes, sizeof axes, "pages=%.0f;stride=0;allocator=mmap", pages);
        made_add(&m, "tlb", "ns", 100, axes);
    }
    made_derive(&m);
    assert_int_equal(made_get(&m, "tlb.reach1.mmap.4096")->verdict, AS_UNDECIDED);
    assert_int_equal(made_get(&m, "tlb.cost.mmap.4096")->verdict, AS_SUPPORTED);
}

/* The control on huge pages is used, and the gain from them is the one over the most pages. */
UNIT_TEST(test_huge_pages)
{
    add_chase("mmap", "0", 64, 2048);
    add_chase("thp", "0", INFINITY, INFINITY);
    add_chase("mmap", "4096", 64, 2048);
    add_chase("thp", "4096", INFINITY, INFINITY);
    made_derive(&m);
    made_near(&m, "tlb.cost.mmap.4096", 27, 1e-9);
    const struct as_fact *f = made_near(&m, "tlb.gain.thp.4096", 3.7, 1e-9);
    made_acts(&m, f->id, "Use huge pages for random access: loads from 16384 pages run 3.70x");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(made_get(&m, "tlb.gain.thp.4096"), "from 16384 pages 3.70x");
    assert_null(made_find(&m, "tlb.gain.thp.0"));
}

/* A ratio below 1 is stated as its inverse. */
UNIT_TEST(test_huge_pages_that_are_slower)
{
    add_chase("mmap", "0", INFINITY, INFINITY);
    add_chase("mmap", "4096", INFINITY, INFINITY);
    add_chase("thp", "4096", 64, 2048);
    for (double size = 4096; size <= 1 << 20; size *= 2)
        for (int huge = 0; huge < 2; huge++) {
            char axes[96];
            snprintf(axes, sizeof axes, "size=%.0f;pattern=random;allocator=%s;stride=64", size, huge ? "thp" : "mmap");
            made_add(&m, "latency", "ns", huge ? 13 : 10, axes);
        }
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "tlb.gain.thp.4096", 1 / 3.7, 1e-9);
    assert_int_equal(f->verdict, AS_REFUTED);
    made_says(f, "from 16384 pages 3.70x slower than base pages (");
    f = made_near(&m, "tlb.cost", 1 / 1.3, 1e-9);
    assert_int_equal(f->verdict, AS_REFUTED);
    made_says(f, "Over 1 MiB, loads with more translations are 1.30x faster (");
}

UNIT_TEST(test_no_control)
{
    add_chase("mmap", "4096", 64, 2048);
    made_derive(&m);
    assert_null(made_find(&m, "tlb.cost.mmap.4096"));
    assert_null(made_find(&m, "tlb.reach1.mmap.4096"));
}

/* By the medians there is a step, a cost and a gain; by the intervals none. */
UNIT_TEST(test_wide_intervals)
{
    m.share = 0.3;
    for (double pages = 16; pages <= 16384; pages *= 2)
        for (int huge = 0; huge < 2; huge++)
            for (int packed = 0; packed < 2; packed++) {
                char axes[96];
                snprintf(axes, sizeof axes, "pages=%.0f;stride=%d;allocator=%s", pages, packed ? 0 : 4096,
                         huge ? "thp" : "mmap");
                made_add(&m, "tlb", "ns", pages > 512 && !packed && !huge ? 120 : 100, axes);
            }
    made_derive(&m);
    assert_true(isnan(made_get(&m, "tlb.reach1.mmap.4096")->value));
    const struct as_fact *f = made_get(&m, "tlb.gain.thp.4096");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "is inconclusive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test_from(test_wide_intervals, start, &m),
        made_test_from(test_levels, start, &m),
        made_test(test_cpu_in_device_memory, &gpu),
        made_test(test_hits_of_the_own_cache_are_no_cost, &gpu),
        made_test(test_no_control_from_another_memory, &gpu),
        made_test(test_all_allocators, &gpu),
        made_test_from(test_none, start, &m),
        made_test_from(test_small_step, start, &m),
        made_test_from(test_huge_pages, start, &m),
        made_test_from(test_huge_pages_that_are_slower, start, &m),
        made_test_from(test_no_control, start, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
