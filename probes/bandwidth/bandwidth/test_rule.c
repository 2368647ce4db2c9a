/* The rules of bandwidth and of non-temporal stores, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

#define KiB 1024.0
#define MiB (1024.0 * 1024)

UNIT_TEST(test_bandwidth)
{
    static const struct {
        const char *op, *level;
        double size;
        int threads;
        const char *store;
        double gbs;
    } cells[] = {
        {"triad", "memory", 512 * MiB, 1, "regular", 14}, {"triad", "memory", 512 * MiB, 1, "nt", 18},
        {"triad", "memory", 512 * MiB, 4, "regular", 50}, {"triad", "sweep", 512 * MiB, 4, "regular", 55},
        {"triad", "memory", 512 * MiB, 4, "nt", 45},      {"copy", "memory", 512 * MiB, 2, "regular", 40},
        {"copy", "memory", 512 * MiB, 2, "nt", 40.1},     {"read", "sweep", 16 * KiB, 1, "regular", 300},
        {"read", "sweep", 8 * KiB, 1, "regular", 390},    {"read", "sweep", 256 * KiB, 1, "regular", 120},
        {"read", "sweep", 16 * KiB, 1, "nt", 900},        {"read", "sweep", 8 * MiB, 1, "regular", 60},
    };
    struct made m;
    made_cpu(&m);
    m.info.peak_bandwidth = 100e9;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char axes[160];
        snprintf(axes, sizeof axes, "op=%s level=%s size=%.0f threads=%d store=%s width=64 allocator=thp", cells[i].op,
                 cells[i].level, cells[i].size, cells[i].threads, cells[i].store);
        made_add(&m, "bandwidth", "GB/s", cells[i].gbs, axes);
    }
    made_derive(&m);
    made_near(&m, "bandwidth.memory.triad.1", 18, 0);
    assert_true(made_near(&m, "bandwidth.memory.triad.all", 50, 0)->claimed == 100);
    made_near(&m, "bandwidth.L1.read.1", 300, 0);
    made_near(&m, "bandwidth.L2.read.1", 120, 0);
    made_near(&m, "bandwidth.L3.read.1", 60, 0);
    const struct as_fact *f = made_near(&m, "stores.nontemporal.triad.1", 18.0 / 14, 1e-12);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(f->ci.lo < f->value && f->value < f->ci.hi && f->ci.lo > 1.27);
    made_acts(&m, "stores.nontemporal.triad.1", "Use non-temporal stores for large arrays: triad runs at 1.29x");
    made_acts(&m, "stores.nontemporal.triad.all", "Use regular stores for large arrays: triad runs at 1.11x");
    assert_int_equal(made_get(&m, "stores.nontemporal.triad.all")->verdict, AS_REFUTED);
    assert_int_equal(made_get(&m, "stores.nontemporal.copy.all")->verdict, AS_UNDECIDED);
    assert_null(made_find(&m, "stores.nontemporal.copy.1"));
    m.info.capabilities = AS_CAP_SOURCE;  /* a device has no choice of threads */
    m.info.compute_unit_shared = 1 << 20; /* a working set that fits it may not reach L2 */
    made_derive(&m);
    assert_null(made_find(&m, "bandwidth.L2.read.all"));
    assert_null(made_find(&m, "bandwidth.memory.triad.1"));
    assert_null(strstr(made_near(&m, "bandwidth.memory.triad.all", 50, 0)->sentence, "thread"));
    made_end(&m);
}

/* The working set fits only the memory-side cache: a quarter to three quarters of it. */
UNIT_TEST(test_memory_side)
{
    static const struct {
        double mib, gbs;
    } cells[] = {{8, 20000}, {32, 15000}, {64, 9000}, {128, 9500}, {256, 6000}};
    struct made *m = made_gpu();
    m->info.caches[m->info.caches_n++] = (struct as_cache){
        .level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache", .source = "kfd"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char axes[128];
        snprintf(axes, sizeof axes, "op=read level=sweep size=%.0f threads=0 width=best", cells[i].mib * 1048576);
        made_add(m, "bandwidth", "GB/s", cells[i].gbs, axes);
    }
    made_derive(m);
    const struct as_fact *f = made_near(m, "bandwidth.memory_side.read.all", 9500, 0);
    made_says(f, "Infinity Cache read bandwidth, sequential, each SM on its own part of 128 MiB: 9.50 TB/s");
    assert_string_equal(f->object, "L3");
    assert_null(made_find(m, "bandwidth.L3.read.all"));
    made_free(m);
}

/* An API may report a cache without its sharing: then there may be one. A number of main memory is never a cache's. */
UNIT_TEST(test_cache_of_unknown_sharing)
{
    struct made *m = made_gpu();
    m->info.capabilities |= AS_CAP_FP64;
    made_add(m, "bandwidth", "GB/s", 4000, "op=read level=sweep size=536870912 threads=0 width=best");
    made_add(m, "bandwidth", "GB/s", 4200, "op=triad level=memory size=25165824 threads=0 width=best");
    made_derive(m);
    assert_null(made_find(m, "bandwidth.L2.read.all"));
    assert_null(made_find(m, "bandwidth.L2.triad.all"));
    made_add(m, "bandwidth", "GB/s", 9000, "op=read level=sweep size=20971520 threads=0 width=best");
    made_derive(m);
    made_near(m, "bandwidth.L2.read.all", 9000, 0);
    made_free(m);
}

/* Compute units hit lines in their own unreported caches, in an APU's GPU as in a discrete one. Only the ways for f64
 * bypass them. */
UNIT_TEST(test_untold_caches)
{
    static const struct {
        bool is_host_memory, is_host_cpu;
        unsigned capabilities;
        const char *width;
        bool is_told;
    } cases[] = {{false, false, AS_CAP_FP64, "best", true}, {false, false, AS_CAP_FP64, "128", false},
                 {true, false, AS_CAP_FP64, "best", true},  {true, false, AS_CAP_FP64, "128", false},
                 {true, false, 0, "best", false},           {true, true, AS_CAP_FP64, "128", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made *m = made_gpu();
        char axes[128];
        m->info.is_host_memory = cases[i].is_host_memory;
        m->info.is_host_cpu = cases[i].is_host_cpu;
        m->info.capabilities = AS_CAP_SOURCE | cases[i].capabilities;
        m->info.compute_unit_shared = 64 << 10; /* together they hold more than the working set */
        snprintf(axes, sizeof axes, "op=read level=sweep size=4194304 threads=0 width=%s", cases[i].width);
        made_add(m, "bandwidth", "GB/s", 9000, axes);
        made_derive(m);
        if ((made_find(m, "bandwidth.L2.read.all") != NULL) != cases[i].is_told)
            fail_msg("case %zu", i);
        made_free(m);
    }
}

/* A number that its interval does not tell from memory's is not the cache's, be it that of a guest with a share of the
 * reported cache, of a CPU beside other work, or of a GPU. */
UNIT_TEST(test_share_of_a_cache)
{
    static const char *const format = "op=read level=%s size=%.0f threads=%d store=regular width=best allocator=thp";
    for (int is_gpu = 0; is_gpu < 2; is_gpu++) {
        struct made *m = made_gpu();
        const char *id = is_gpu ? "bandwidth.L2.read.all" : "bandwidth.L3.read.1";
        const int threads = !is_gpu;
        char axes[160];
        if (!is_gpu) {
            made_cpu(m);
            m->info.caches[3].size = 480 << 20;
        }
        m->share = 0.05;
        snprintf(axes, sizeof axes, format, "memory", 2048 * MiB, threads);
        made_add(m, "bandwidth", "GB/s", 14, axes);
        snprintf(axes, sizeof axes, format, "sweep", (is_gpu ? 20 : 64) * MiB, threads);
        made_add(m, "bandwidth", "GB/s", 15, axes);
        made_derive(m);
        if (made_find(m, id))
            fail_msg("%s", made_find(m, id)->sentence);
        snprintf(axes, sizeof axes, format, "sweep", (is_gpu ? 32 : 8) * MiB, threads);
        made_add(m, "bandwidth", "GB/s", 60, axes);
        made_derive(m);
        made_near(m, id, 60, 0);
        made_free(m);
    }
}

/* In one run 64 MiB of a guest's L3 are told from memory, in another they are not: both quote the same size. */
UNIT_TEST(test_one_size_of_the_last_cache)
{
    static const struct {
        int mib;
        double gbs[2];
    } points[] = {{4, {29.8, 26}},  {8, {26.4, 28.9}},   {16, {27.2, 29.2}}, {32, {25.5, 27.9}},
                  {64, {15, 22.3}}, {128, {14.5, 16.4}}, {2048, {14, 13.4}}};
    for (int run = 0; run < 2; run++) {
        struct made m = {.share = 0.02};
        made_cpu(&m);
        m.info.caches[2].size = 2 << 20; /* of L2 */
        m.info.caches[3].size = 300 << 20;
        for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
            char axes[160];
            snprintf(axes, sizeof axes, "op=read level=%s size=%.0f threads=1 store=regular width=best allocator=thp",
                     points[i].mib > 1024 ? "memory" : "sweep", points[i].mib * MiB);
            made_add(&m, "bandwidth", "GB/s", points[i].gbs[run], axes);
        }
        made_derive(&m);
        made_says(made_near(&m, "bandwidth.L3.read.1", points[1].gbs[run], 1e-9), "over 8 MiB");
        made_end(&m);
    }
}

/* Cells in memory whose size no gate could prove give no facts. */
static void test_unproved_memory(void **state)
{
    (void)state;
    struct made m;
    made_cpu(&m);
    m.info.caches_n = 0;
    made_add(&m, "bandwidth", "GB/s", 550, "op=read level=memory size=1073741824 threads=4 store=regular")
        ->gates[AS_GATE_FOOTPRINT]
        .state = AS_GATE_NA;
    made_derive(&m);
    assert_null(made_find(&m, "bandwidth.memory.read.all"));
    m.cells[0].gates[AS_GATE_FOOTPRINT].state = AS_GATE_PASS;
    made_derive(&m);
    made_near(&m, "bandwidth.memory.read.all", 550, 0);
    made_end(&m);
}

/* What the study of the MI300A found of its GPU. */
UNIT_TEST(test_allocators_of_a_device)
{
    static const struct {
        const char *allocator, *touch;
        double gbs;
    } cells[] = {{"hipMalloc", "cpu", 3500}, {"hipMalloc", "device", 3600},  {"hipHostMalloc", "cpu", 2160},
                 {"malloc", "cpu", 1800},    {"__managed__", "device", 103}, {"__managed__", "cpu", 90}};
    struct made m = {.info = {.id = "hip:0", .backend = "hip"}, .share = 0.01};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char axes[160];
        snprintf(axes, sizeof axes, "op=triad level=memory size=%.0f threads=0 store=regular allocator=%s touch=%s",
                 1024 * MiB, cells[i].allocator, cells[i].touch);
        made_add(&m, "bandwidth", "GB/s", cells[i].gbs, axes);
    }
    made_derive(&m);
    made_says(made_near(&m, "bandwidth_cost.triad.__managed__.device", 103. / 3600, 1e-9),
              "Kernels in '__managed__' memory that the device touched first, triad: 0.0286x");
    made_near(&m, "bandwidth_cost.triad.hipHostMalloc.cpu", 0.6, 1e-9);
    made_near(&m, "bandwidth_cost.triad.malloc.cpu", 0.5, 1e-9);
    made_verdict(&m, "bandwidth_cost.triad.malloc.cpu", AS_SUPPORTED); /* nobody expects more of the host's memory */
    assert_null(made_find(&m, "bandwidth_cost.triad.hipMalloc.cpu"));
    made_end(&m);
}

/* Smaller arrays have less bandwidth in any allocator: only those of one size are compared. */
UNIT_TEST(test_allocators_of_unequal_sizes)
{
    static const struct {
        const char *allocator;
        double bytes, gbs;
    } cells[] = {{"cuMemAlloc", 2048 * MiB, 4400}, {"cuMemAllocManaged", 256 * MiB, 4170}};
    struct made m = {.info = {.id = "cuda:0",
                              .backend = "cuda",
                              .allocators_n = 1,
                              .allocators = {{.name = "cuMemCreate", .role = AS_ROLE_DEVICE_MAPPED}}},
                     .share = 0.001};
    const char axes[] = "op=triad level=memory size=%.0f threads=0 store=regular allocator=%s touch=device",
               id[] = "bandwidth_cost.triad.cuMemAllocManaged.device";
    char text[160];
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        snprintf(text, sizeof text, axes, cells[i].bytes, cells[i].allocator);
        made_add(&m, "bandwidth", "GB/s", cells[i].gbs, text);
    }
    made_derive(&m);
    assert_null(made_find(&m, id));
    snprintf(text, sizeof text, axes, 256 * MiB, "cuMemAlloc");
    made_add(&m, "bandwidth", "GB/s", 4180, text);
    made_derive(&m);
    made_near(&m, id, 4170. / 4180, 1e-9);
    made_add(&m, "bandwidth", "GB/s", 4100,
             "op=triad level=memory size=268435456 threads=0 store=regular allocator=cuMemCreate touch=cpu");
    made_derive(&m);
    made_says(made_get(&m, "bandwidth_cost.triad.cuMemCreate.cpu"), "memory that a copy from the host filled, triad");
    made_end(&m);
}

/* A ratio that nothing was expected of: its interval says whether it is below 1, within 5% of it, or open. */
UNIT_TEST(test_what_an_allocator_costs)
{
    static const struct {
        double lo, value, hi;
        enum as_fact_verdict verdict;
        const char *says;
    } of[] = {
        {994, 999, 1004, AS_SUPPORTED, ": as fast as in 'cuMemAlloc' within 5%, 0.999x"},
        {969, 983, 998, AS_SUPPORTED, ": as fast as in 'cuMemAlloc' within 5%, 0.983x"},
        {490, 500, 510, AS_SUPPORTED, ": 0.500x (0.490 to 0.510x) of the bandwidth in 'cuMemAlloc'"},
        {700, 870, 1090, AS_UNDECIDED, ", against 'cuMemAlloc': inconclusive, 0.70 to 1.09x"},
        {100, 800, 9000, AS_UNDECIDED, ", against 'cuMemAlloc': inconclusive"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}};
        made_add(&m, "bandwidth", "GB/s", 1000,
                 "op=triad level=memory size=1000000000 threads=0 allocator=cuMemAlloc "
                 "touch=cpu store=regular");
        struct as_cell *c = made_add(&m, "bandwidth", "GB/s", of[i].value,
                                     "op=triad level=memory size=1000000000 threads=0 allocator=cuMemCreate touch=cpu "
                                     "store=regular");
        c->sum.ci = (struct as_interval){of[i].lo, of[i].hi};
        made_derive(&m);
        made_verdict(&m, "bandwidth_cost.triad.cuMemCreate.cpu", of[i].verdict);
        made_says(made_get(&m, "bandwidth_cost.triad.cuMemCreate.cpu"), of[i].says);
        made_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocators_of_unequal_sizes),
        cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_cache_of_unknown_sharing),
        cmocka_unit_test(test_memory_side),
        cmocka_unit_test(test_untold_caches),
        cmocka_unit_test(test_share_of_a_cache),
        cmocka_unit_test(test_one_size_of_the_last_cache),
        cmocka_unit_test(test_unproved_memory),
        cmocka_unit_test(test_allocators_of_a_device),
        cmocka_unit_test(test_what_an_allocator_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
