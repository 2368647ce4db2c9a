/* Advice on synthetic cells: what valid cells support, and nothing without them. */
#include "made_advice.h"

#include "base/text.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void life(double alloc, double freeing, const char *allocator, const char *size)
{
    char axes[200];
    snprintf(axes, sizeof axes, "op=alloc;allocator=%s;size=%s", allocator, size);
    add("hip:0", "alloc", "ns", alloc, axes);
    snprintf(axes, sizeof axes, "op=free;allocator=%s;size=%s", allocator, size);
    add("hip:0", "alloc", "ns", freeing, axes);
}

UNIT_TEST(test_without_cells_commands_are_named)
{
    triad("hip:0", 100, "own", 0, "cpu");
    triad("hip:0", 90, "pinned", 0, "cpu")->status = AS_CELL_REJECTED;
    fault("hip:0", 500, "device-major", "managed");
    const struct as_advice *a = get_advice("hip:0", "device-heavy");
    assert_string_equal(a->command, "assay run bandwidth --set op=triad --set allocator=all --device hip:0");
    size_t n;
    const struct as_advice *advice = all_advice(&n);
    assert_true(n > 8);
    for (size_t i = 0; i < n; i++) {
        assert_false(advice[i].known);
        assert_int_equal(advice[i].numbers_n, 0);
        assert_non_null(strstr(advice[i].sentence, "Unknown: needs more measurements"));
        assert_int_equal(strncmp(advice[i].command, "assay run ", 10), 0);
    }
}

UNIT_TEST(test_allocators_by_side)
{
    triad("hip:0", 1000, "managed", 0, "cpu");
    triad("hip:0", 3500, "own", 0, "cpu");
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 9000, "pinned", 0, "device"); /* another first touch: not comparable with these */
    triad("cpu", 10, "mmap", 1, "cpu");
    triad("cpu", 200, "mmap", 8, "cpu");
    triad("cpu", 201, "thp", 8, "cpu");
    says(get_advice("hip:0", "device-heavy"), "Use 'own': the device streams at 3.50 TB/s");
    says(get_advice("hip:0", "device-heavy"), ". Of 3 allocators measured, 'pinned' is 1.75x slower");
    says(get_advice("hip:0", "device-heavy"), ", 'managed' is 3.50x slower");
    assert_int_equal(get_advice("hip:0", "device-heavy")->numbers[0].cell, 2);
    says(get_advice("hip:0", "shared"), "Use 'pinned': the device streams at 2.00 TB/s");
    says(get_advice("hip:0", "shared"), "Of 2 allocators measured that both sides can access, 'managed' is ");
    says(get_advice("hip:0", "shared"), "of the rate in 'own', which the host cannot access");
    says(get_advice("hip:0", "shared"),
         "The driver does not guarantee coherence of plain host accesses while a kernel runs");
    assert_null(strstr(get_advice("hip:0", "shared")->sentence, "system-scope atomics"));
    says(get_advice("cpu", "cpu-heavy"), "Of 2 allocators measured, it is statistically tied with 'mmap'");
    says(get_advice("hip:0", "first-touch"), "Let the device touch 'pinned' first");
}

/* The device's own memory is compared where it was measured, and what was measured at another size only is named. */
UNIT_TEST(test_sizes_that_differ)
{
#define TRIAD(allocator, size)                                                                                         \
    "op=triad;level=memory;size=" size ";threads=0;store=regular;allocator=" allocator ";touch=device"
    infos[1] = (struct as_device_info){.id = "cuda:0",
                                       .backend = "cuda",
                                       .allocators_n = 4,
                                       .allocators = {{.name = "cuMemAlloc"},
                                                      {.name = "cuMemHostAlloc", .host_access = true},
                                                      {.name = "cuMemAllocManaged", .host_access = true},
                                                      {.name = "__managed__", .host_access = true}}};
    add("cuda:0", "bandwidth", "GB/s", 4400, TRIAD("cuMemAlloc", "2147483648"));
    add("cuda:0", "bandwidth", "GB/s", 50, TRIAD("cuMemHostAlloc", "2147483648"));
    add("cuda:0", "bandwidth", "GB/s", 4180, TRIAD("cuMemAllocManaged", "268435456"));
    add("cuda:0", "bandwidth", "GB/s", 4100, TRIAD("__managed__", "268435456"));
    add("cuda:0", "bandwidth", "GB/s", 40, TRIAD("cuMemHostAlloc", "268435456"));
    const struct as_advice *a = get_advice("cuda:0", "device-heavy");
    says(a, "Use 'cuMemAlloc': the device streams at 4.40 TB/s (");
    says(a, ". Not compared, measured in other conditions only: 'cuMemAllocManaged' 4.18 TB/s (");
    says(a, "triad over 256 MiB), '__managed__' 4.10 TB/s (");
    a = get_advice("cuda:0", "shared");
    says(a, "Use 'cuMemAllocManaged': the device streams at 4.18 TB/s (");
    assert_null(strstr(a->sentence, "Not compared")); /* the host cannot access cuMemAlloc */
}

/* Of those tied the simplest is named: the device's own memory, plain malloc, managed memory without advice. */
UNIT_TEST(test_ties)
{
    infos[0].allocators_n = 2;
    as_copy_text(infos[0].allocators[0].name, sizeof infos[0].allocators[0].name, "malloc");
    as_copy_text(infos[0].allocators[1].name, sizeof infos[0].allocators[1].name, "thp");
    triad("hip:0", 4100, "pinned", 0, "cpu");
    triad("hip:0", 4180, "shared", 0, "cpu");
    triad("hip:0", 4160, "own", 0, "cpu");
    triad("hip:0", 50, "managed", 0, "cpu");
    triad("cpu", 201, "thp", 8, "cpu");
    triad("cpu", 200, "malloc", 8, "cpu");
    says(get_advice("hip:0", "device-heavy"), "Use 'own': the device streams at 4.16 TB/s");
    says(get_advice("hip:0", "device-heavy"),
         "it is statistically tied with 'shared' and 'pinned'; 'managed' is 83.2x");
    says(get_advice("hip:0", "shared"), "Use 'pinned': the device streams at 4.10 TB/s");
    says(get_advice("cpu", "cpu-heavy"), "Use 'malloc': the CPU streams at 200 GB/s");
    assert_int_equal(get_advice("hip:0", "device-heavy")->numbers[0].cell, 3);
}

/* A tie of wide intervals is none. */
UNIT_TEST(test_undecided)
{
    triad("cpu", 200, "mmap", 8, "cpu")->sum.ci = (struct as_interval){120, 280};
    triad("cpu", 201, "thp", 8, "cpu")->sum.ci = (struct as_interval){110, 290};
    says(get_advice("cpu", "cpu-heavy"),
         "Which of 2 allocators to use is inconclusive. 'thp': the CPU streams at 110 to 290 GB/s");
    assert_null(strstr(get_advice("cpu", "cpu-heavy")->sentence, "tied"));
}

static void by_cpu(double value, const char *allocator, const char *touch, int threads)
{
    char axes[200];
    snprintf(axes, sizeof axes, "from=0;node=0;allocator=%s;touch=%s;op=triad;size=639631360;threads=%d", allocator,
             touch, threads);
    add("hip:0", "host_bandwidth", "GB/s", value, axes);
}

/* The CPU in a device's memory, at the best number of threads. */
UNIT_TEST(test_cpu_heavy_on_device)
{
    by_cpu(181, "shared", "cpu", 9);
    by_cpu(174, "shared", "cpu", 24);
    by_cpu(208, "shared", "device", 24);
    by_cpu(208, "own", "cpu", 24);
    by_cpu(207, "pinned", "cpu", 24);
    add("hip:0", "host_latency", "ns", 240, "from=0;node=0;allocator=own;touch=cpu;size=4294967296");
    add("hip:0", "host_latency", "ns", 20, "from=0;node=0;allocator=own;touch=cpu;size=1048576");
    const struct as_advice *a = get_advice("hip:0", "cpu-heavy");
    says(a, "Use 'own': the CPU streams at 208 GB/s (");
    says(a, ". Of 3 allocators measured that the CPU can access, it is statistically tied with 'pinned'; 'shared' is ");
    says(a, ", each at its best number of threads)");
    says(a, "'shared' is 1.15x slower");
    says(a, ". If you need 'shared', let the device touch it first: the CPU then streams at 208 GB/s (");
    says(a, ". A dependent CPU load from 'own' takes 240 ns (");
    assert_int_equal(a->numbers_n, 5);
}

UNIT_TEST(test_short_lives)
{
    infos[1].allocators[1].on_demand = true;
    life(10, 10, "own", "32");
    life(15, 90, "pinned", "32");
    life(5000, 900, "own", "1048576");
    life(50, 50, "shared", "32");
    life(6000, 900, "shared", "1048576");
    life(100, 100, "pinned", "1048576");
    add("hip:0", "alloc", "ns", 1, "op=alloc;allocator=managed;size=32"); /* cost of free unknown */
    says(get_advice("hip:0", "short-lived"), "For 32 B use 'own': allocating and freeing takes 20.0 ns");
    says(get_advice("hip:0", "short-lived"), "For 1 MiB use 'own': allocating and freeing takes 5.90 µs");
    says(get_advice("hip:0", "short-lived"), "'shared' is 1.17x slower");
    says(get_advice("hip:0", "short-lived"), ". For 32 B, allocated lazily, use 'pinned': ");
}

/* An allocation that returns faster than memory can be populated is ranked apart: "79200x slower" than it says nothing.
 */
UNIT_TEST(test_promised_memory)
{
    life(500, 500, "own", "32");
    life(900, 900, "managed", "32");
    life(510, 510, "own", "134217728");
    life(4e7, 1e6, "managed", "134217728");
    says(get_advice("hip:0", "short-lived"), "For 128 MiB use 'managed': allocating and freeing takes 41.0 ms");
    says(get_advice("hip:0", "short-lived"), ". For 128 MiB, allocated lazily, use 'own': ");
    assert_null(strstr(get_advice("hip:0", "short-lived")->sentence, "slower"));
}

UNIT_TEST(test_page_size)
{
#define CHASE(size, allocator) "size=" size " pattern=random allocator=" allocator " stride=64 instrument=timed"
    infos[0].allocators_n = 2;
    infos[0].allocators[0] = (struct as_allocator){.name = "mmap", .role = AS_ROLE_BASE_PAGES};
    infos[0].allocators[1] = (struct as_allocator){.name = "thp", .role = AS_ROLE_HUGE_PAGES};
    add("cpu", "latency", "ns", 5, CHASE("65536", "mmap"));
    add("cpu", "latency", "ns", 5, CHASE("65536", "thp"));
    add("cpu", "latency", "ns", 150, CHASE("1073741824", "mmap"));
    add("cpu", "latency", "ns", 100, CHASE("1073741824", "thp"));
    const struct as_advice *a = get_advice("cpu", "page-size");
    says(a, "A random load from 1 GiB takes 100 ns (");
    says(a, ", against 150 ns (");
    says(a, "Ask for huge pages: 1.50x as fast (");
    assert_int_equal(a->numbers_n, 2);
    assert_true(a->effect > 1.4 && a->effect < 1.5);
    m.cells[3].sum.median = 300;
    m.cells[3].sum.ci = (struct as_interval){299, 301};
    forget_advice();
    says(get_advice("cpu", "page-size"), "Keep base pages: ");
}

UNIT_TEST(test_prefetch)
{
#define PASS(pass, allocator) "allocator=" allocator ";touch=cpu;agent=device;pass=" pass ";size=268435456"
    infos[1] = (struct as_device_info){.id = "cuda:0", .backend = "cuda"};
    add("cuda:0", "migration", "GB/s", 20, PASS("1", "cuMemAllocManaged"));
    add("cuda:0", "migration", "GB/s", 2000, PASS("1", "cuMemAllocManaged prefetch"));
    add("cuda:0", "migration", "GB/s", 3000, PASS("2", "cuMemAllocManaged"));
    add("cuda:0", "migration", "GB/s", 3000, PASS("2", "cuMemAllocManaged prefetch"));
    says(get_advice("cuda:0", "prefetch"), "Prefetch managed memory where that overlaps other work (its own time is "
                                           "not counted): 100x as fast (");
    says(get_advice("cuda:0", "prefetch"), ". The device's first pass over 256 MiB runs at 2.00 TB/s (");
    /* The pass takes 13.4 ms without a prefetch and 134 us after one. */
    m.cells[1].detail = strdup("{\"handover_seconds\":0.002}");
    forget_advice();
    says(get_advice("cuda:0", "prefetch"),
         "Prefetch managed memory: prefetch and first pass together are 3.2 to "
         "12.0x as fast as a first pass without it. The pass alone is 100x as fast (");
    assert_true(get_advice("cuda:0", "prefetch")->effect < 4);
    free(m.cells[1].detail);
    m.cells[1].detail = strdup("{\"handover_seconds\":0.012}");
    forget_advice();
    says(get_advice("cuda:0", "prefetch"),
         "Prefetch managed memory where that overlaps other work. Whether it saves more than its own time is "
         "inconclusive. The pass alone is");
    free(m.cells[1].detail);
    m.cells[1].detail = strdup("{\"handover_seconds\":0.12}");
    forget_advice();
    says(get_advice("cuda:0", "prefetch"), "Prefetch managed memory only where that overlaps other work: prefetch "
                                           "and first pass together are under ");
}

/* Nobody is told to measure what the device cannot have: two sides, or memory of a role that it lacks. */
UNIT_TEST(test_questions_of_the_device)
{
    static const char *const apart[] = {"first-touch", "pre-fault", "copies", "prefetch"};
    infos[1] = (struct as_device_info){.id = "opencl:0", .backend = "opencl", .is_host_cpu = true};
    add("opencl:0", "alloc", "ns", 100, "op=alloc;allocator=clCreateBuffer;size=32");
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        assert_null(find_advice("opencl:0", apart[i]));
    assert_true(find_advice("opencl:0", "device-heavy") && find_advice("opencl:0", "applications"));
    infos[1] = (struct as_device_info){
        .id = "opencl:0", .backend = "opencl", .allocators_n = 1, .allocators = {{.name = "clCreateBuffer"}}};
    forget_advice();
    assert_non_null(find_advice("opencl:0", "first-touch"));
    assert_null(find_advice("opencl:0", "prefetch"));
}

/* ratio: to what runs beside the cell; 0: nothing does */
static void application(double ms, const char *against, double ratio, double peak, const char *axes)
{
    struct as_cell *cell = add("hip:0", "app", "ns", ms * 1e6, axes);
    struct as_metric_value of[] = {
        {.unit = "x", .trials = 3, .value = ratio, .ci = {0.99 * ratio, 1.01 * ratio}},
        {.name = "peak_against_explicit", .unit = "x", .trials = 3, .value = peak, .ci = {0.99 * peak, 1.01 * peak}}};
    snprintf(of[0].name, sizeof of[0].name, "against_%s", against);
    assert_int_equal(as_cell_set_metrics(cell, of, ratio > 0 ? 2 : 0, NULL), AS_OK);
}

UNIT_TEST(test_applications_and_strategies)
{
#define APP(app, version, strategy, allocator)                                                                         \
    "app=" app " version=" version " strategy=" strategy " allocator=" allocator " size=67108864"
    application(100, "", 0, 0, APP("hotspot", "explicit", "none", "own"));
    application(100, "explicit", 1, 1, APP("dwt2d", "unified", "none", "pinned"));
    application(100, "explicit", 1, 1, APP("srad_v1", "unified", "none", "pinned"));
    application(100, "explicit", 1, 1, APP("backprop", "unified", "none", "pinned"));
    application(100, "", 0, 0, APP("dwt2d", "explicit", "none", "own"));
    application(100, "", 0, 0, APP("backprop", "explicit", "none", "own"));
    application(80, "explicit", 0.8, 0.6, APP("hotspot", "unified", "none", "managed"));
    application(300, "explicit", 3, 0.6, APP("hotspot", "unified", "none", "pinned"));
    application(120, "explicit", 1.2, 1, APP("heartwall", "unified", "none", "managed"));
    application(60, "plain", 0.5, 0, APP("heartwall", "unified", "double-buffering", "managed"));
    application(100, "plain", 1, 0, APP("nn", "explicit", "memory-check", "own"));
    application(100, "explicit", 1, 1, APP("nn", "unified", "none", "managed"));
    const struct as_advice *a = get_advice("hip:0", "applications");
    says(a, "Whether one allocation is faster depends on the application: 1 of 6 applications is faster with it, 1 "
            "slower. Time relative to explicit copies of pageable memory: "
            "0.800x (0.792 to 0.808x; hotspot, 'managed')");
    says(a, "1.20x (1.19 to 1.21x; heartwall, 'managed')");
    says(a, "'managed'). Inconclusive: dwt2d, srad_v1, backprop, nn. One allocation saves up to 40% of peak memory");
    a = get_advice("hip:0", "strategies");
    says(a, "Time relative to the version without it: double buffering 0.500x");
    says(a, "heartwall, 'managed'). Inconclusive: a check of free memory. No valid measurement: partial transfers, ");
    says(a, "a growing container. Impossible on this device: variables on the stack, static managed variables");
    infos[1].allocators[3].role = AS_ROLE_PAGEABLE;
    forget_advice();
    says(get_advice("hip:0", "strategies"),
         "No valid measurement: partial transfers, variables on the stack, a growing");
}

/* The shortest application is no measure of a strategy. */
UNIT_TEST(test_strategies_of_several_applications)
{
    application(300, "plain", 5, 0, APP("srad_v1", "explicit", "partial-transfers", "own"));
    application(10, "plain", 1.6, 0, APP("nn", "explicit", "partial-transfers", "own"));
    application(100, "plain", 1, 0, APP("backprop", "explicit", "partial-transfers", "own"));
    application(200, "plain", 0.5, 0, APP("dwt2d", "explicit", "hidden-allocator", "own"));
    application(200, "plain", 2, 0, APP("nn", "explicit", "hidden-allocator", "own"));
    const struct as_advice *a = get_advice("hip:0", "strategies");
    says(a, "0 strategies are faster, 1 slower, 1 faster or slower depending on application and allocator. ");
    says(a, "partial transfers 1.60x (1.58 to 1.62x; nn, 'own') to 5.00x (4.95 to 5.05x; srad_v1, 'own'), ");
    says(a, "a growing container 0.500x (");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADVICE_TEST(test_without_cells_commands_are_named),
        ADVICE_TEST(test_allocators_by_side),
        ADVICE_TEST(test_sizes_that_differ),
        ADVICE_TEST(test_ties),
        ADVICE_TEST(test_undecided),
        ADVICE_TEST(test_cpu_heavy_on_device),
        ADVICE_TEST(test_short_lives),
        ADVICE_TEST(test_promised_memory),
        ADVICE_TEST(test_page_size),
        ADVICE_TEST(test_prefetch),
        ADVICE_TEST(test_questions_of_the_device),
        ADVICE_TEST(test_applications_and_strategies),
        ADVICE_TEST(test_strategies_of_several_applications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
