/* Advice on synthetic cells: what valid cells support, and nothing without them. */
#include "made.h"
#include "tests/unit_test.h"

#include "base/text.h"
#include "facts/advice.h"
#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct made m = {.share = 0.01};
static struct as_device_info infos[2];
static struct as_advice *advice;
static size_t advice_n;

static int start(void **unused)
{
    (void)unused;
    infos[0] = (struct as_device_info){.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS};
    infos[1] = (struct as_device_info){.id = "hip:0",
                                       .backend = "hip",
                                       .allocators_n = 4,
                                       .allocators = {{.name = "own"},
                                                      {.name = "pinned", .host_access = true},
                                                      {.name = "managed", .host_access = true},
                                                      {.name = "shared", .host_access = true}}};
    return 0;
}

static int empty_run(void **unused)
{
    (void)unused;
    made_end(&m);
    free(advice);
    advice = NULL;
    return 0;
}

static struct as_cell *add(const char *device, const char *probe, const char *unit, double median, const char *axes)
{
    struct as_cell *c = made_add(&m, probe, unit, median, axes);
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->metric, sizeof c->metric, probe);
    return c;
}

static struct as_cell *triad(const char *device, double value, const char *allocator, int threads, const char *touch)
{
    char axes[200];
    snprintf(axes, sizeof axes, "op=triad;level=memory;size=1000;threads=%d;store=regular;allocator=%s;touch=%s",
             threads, allocator, touch);
    return add(device, "bandwidth", "GB/s", value, axes);
}

static void life(double alloc, double freeing, const char *allocator, const char *size)
{
    char axes[200];
    snprintf(axes, sizeof axes, "op=alloc;allocator=%s;size=%s", allocator, size);
    add("hip:0", "alloc", "ns", alloc, axes);
    snprintf(axes, sizeof axes, "op=free;allocator=%s;size=%s", allocator, size);
    add("hip:0", "alloc", "ns", freeing, axes);
}

static void fault(const char *device, double ns, const char *scenario, const char *allocator)
{
    char axes[200];
    snprintf(axes, sizeof axes, "scenario=%s;what=fault;allocator=%s;pages=10000;access=store", scenario, allocator);
    add(device, "fault", "ns", ns, axes);
}

static void lost_at(double most, const char *allocator, const char *op, const char *scope)
{
    char axes[200];
    snprintf(
        axes, sizeof axes,
        "agent=device;elements=1;type=u64;cpu_threads=2;device_threads=64;scope=%s;order=relaxed;allocator=%s;op=%s",
        scope, allocator, op);
    struct as_cell *c = add("hip:0", "atomics_lost", "updates", most, axes);
    c->detail = strdup("{\"updates_by_cpu\":1000,\"updates_by_device\":24}");
}

static void add_lost_updates(double most, const char *allocator, const char *op)
{
    lost_at(most, allocator, op, "system");
}

static const struct as_advice *find_advice(const char *device, const char *topic)
{
    if (!advice) {
        struct as_run run = {.id = 1};
        struct as_fact_input in = {&run, m.cells, m.n, infos, 2};
        struct as_fact *facts;
        size_t facts_n;
        assert_int_equal(as_facts_derive(&in, &facts, &facts_n, NULL), AS_OK);
        assert_int_equal(as_advice_derive(&in, facts, facts_n, &advice, &advice_n, NULL), AS_OK);
        free(facts);
    }
    for (size_t i = 0; i < advice_n; i++)
        if (strcmp(advice[i].device, device) == 0 && strcmp(advice[i].topic, topic) == 0)
            return &advice[i];
    return NULL;
}

static bool is_asked(const char *device, const char *topic)
{
    return find_advice(device, topic) != NULL;
}

static const struct as_advice *get_advice(const char *device, const char *topic)
{
    const struct as_advice *a = find_advice(device, topic);
    if (!a)
        fail_msg("no advice on '%s' for %s", topic, device);
    return a;
}

/* Few numbers are printed: what the sentence names first is among them. */
static void check_numbers(const struct as_advice *a)
{
    enum { PRINTED = 4 };
    char name[64];
    const char *quote = strstr(a->sentence, " '"), *end = quote ? strchr(quote + 2, '\'') : NULL;
    size_t i = 0;
    if (!end)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(end - quote), quote + 1);
    while (i < a->numbers_n && i < PRINTED && !strstr(a->numbers[i].what, name))
        i++;
    if (i == PRINTED || i == a->numbers_n)
        fail_msg("%s is not among the first numbers of '%s'", name, a->sentence);
}

static void says(const struct as_advice *a, const char *what)
{
    check_numbers(a);
    if (!strstr(a->sentence, what))
        fail_msg("'%s' does not say '%s'", a->sentence, what);
    assert_true(a->known);
    assert_string_equal(a->command, "");
    assert_true(a->numbers_n > 0);
}

UNIT_TEST(test_without_cells_commands_are_named)
{
    triad("hip:0", 100, "own", 0, "cpu");
    triad("hip:0", 90, "pinned", 0, "cpu")->status = AS_CELL_REJECTED;
    fault("hip:0", 500, "device-major", "managed");
    const struct as_advice *a = get_advice("hip:0", "device-heavy");
    assert_string_equal(a->command, "assay run bandwidth --set op=triad --set allocator=all --device hip:0");
    assert_true(advice_n > 8);
    for (size_t i = 0; i < advice_n; i++) {
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
    says(get_advice("hip:0", "device-heavy"), "Of 3 allocators measured, use 'own': the device streams at 3.50 TB/s");
    says(get_advice("hip:0", "device-heavy"), "'pinned' is 1.75x slower");
    says(get_advice("hip:0", "device-heavy"), ", 'managed' is 3.50x slower");
    assert_int_equal(get_advice("hip:0", "device-heavy")->numbers[0].cell, 2);
    says(get_advice("hip:0", "shared"), "Of 2 allocators measured that both sides can access, use 'pinned': in "
                                        "repeated passes the device streams at 2.00 TB/s");
    says(get_advice("hip:0", "shared"), "of its rate in 'own', which the host cannot access");
    says(get_advice("hip:0", "shared"),
         "The driver does not guarantee coherence of plain host accesses while a kernel runs");
    assert_null(strstr(get_advice("hip:0", "shared")->sentence, "system-scope atomics"));
    says(get_advice("cpu", "cpu-heavy"), "use 'thp' or 'mmap', which are statistically tied");
    says(get_advice("hip:0", "first-touch"), "Let the device touch 'pinned' first");
}

/* A tie of wide intervals is none. */
UNIT_TEST(test_undecided)
{
    triad("cpu", 200, "mmap", 8, "cpu")->sum.ci = (struct as_interval){120, 280};
    triad("cpu", 201, "thp", 8, "cpu")->sum.ci = (struct as_interval){110, 290};
    says(get_advice("cpu", "cpu-heavy"),
         "inconclusive whether to use 'thp' or 'mmap', whose intervals are too wide: with 'thp' ");
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
    says(a,
         "Of 3 allocators measured that the CPU can access, use 'own' or 'pinned', which are statistically tied: with "
         "'own' the CPU streams at 208 GB/s (");
    says(a, "'shared' is 1.15x slower");
    says(a, ". If you need 'shared', let the device touch it first: the CPU then streams at 208 GB/s (");
    says(a, ". A dependent CPU load from 'own' takes 240 ns (");
    assert_int_equal(a->numbers_n, 5);
}

/* Memory that the CPU cannot touch says nothing about who should touch first. */
UNIT_TEST(test_only_memory_that_both_touch)
{
    triad("hip:0", 3500, "own", 0, "cpu");
    triad("hip:0", 9000, "own", 0, "device");
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 2001, "pinned", 0, "device");
    says(get_advice("hip:0", "first-touch"),
         "First touch by CPU or device makes no difference: bandwidth in repeated passes differs by at most 2% (1 "
         "comparison; 'pinned', device against CPU: ");
    assert_int_equal(get_advice("hip:0", "first-touch")->numbers_n, 2);
}

/* Intervals that allow more than the threshold decide nothing; the widest pair is quoted. */
UNIT_TEST(test_undecided_first_touch)
{
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 2001, "pinned", 0, "device");
    triad("hip:0", 96.9, "managed", 0, "cpu")->sum.ci = (struct as_interval){87.5, 109};
    triad("hip:0", 84.5, "managed", 0, "device")->sum.ci = (struct as_interval){78, 91.6};
    says(get_advice("hip:0", "first-touch"),
         "Inconclusive: first touch by CPU or device may change the device's bandwidth by up to 24% (");
    says(get_advice("hip:0", "first-touch"), "'managed', device against CPU: 0.87x (");
}

UNIT_TEST(test_atomics_where_plain_accesses_are_not_coherent)
{
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 1000, "managed", 0, "cpu");
    add_lost_updates(0, "pinned", "add");
    says(
        get_advice("hip:0", "shared"),
        "The driver does not guarantee coherence of plain host accesses while a kernel runs; system-scope atomics lost "
        "no updates");
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
    says(get_advice("hip:0", "short-lived"), "For 32 B: use 'own': allocating and freeing takes 20.0 ns");
    says(get_advice("hip:0", "short-lived"), "For 1 MiB: use 'own': allocating and freeing takes 5.90 µs");
    says(get_advice("hip:0", "short-lived"), "'shared' is 1.17x slower");
    says(get_advice("hip:0", "short-lived"), "; allocated lazily: use 'pinned': ");
}

/* An allocation that returns faster than memory can be populated is ranked apart: "79200x slower" than it says nothing.
 */
UNIT_TEST(test_promised_memory)
{
    life(500, 500, "own", "32");
    life(900, 900, "managed", "32");
    life(510, 510, "own", "134217728");
    life(4e7, 1e6, "managed", "134217728");
    says(get_advice("hip:0", "short-lived"), "For 128 MiB: use 'managed': allocating and freeing takes 41.0 ms");
    says(get_advice("hip:0", "short-lived"), "; allocated lazily: use 'own': ");
    assert_null(strstr(get_advice("hip:0", "short-lived")->sentence, "slower"));
}

UNIT_TEST(test_prefaults)
{
    fault("hip:0", 900, "device-major", "managed");
    fault("hip:0", 110, "device-minor", "managed");
    fault("hip:0", 270, "cpu-all", "managed");
    fault("cpu", 1000, "cpu-one", "mmap");
    fault("cpu", 250, "cpu-all", "mmap");
    fault("cpu", 1200, "cpu-one", "thp");
    says(get_advice("hip:0", "pre-fault"), "Touch 'managed' on the CPU where that can overlap the device's work");
    says(get_advice("hip:0", "pre-fault"), "both in sequence take 380 ns");
    says(get_advice("hip:0", "pre-fault"), "pre-fault even then");
    assert_int_equal(get_advice("hip:0", "pre-fault")->numbers_n, 3);
    says(get_advice("cpu", "pre-fault"), "Touch large blocks with all threads: each of 10000 pages then takes 250 ns");
    says(get_advice("cpu", "pre-fault"), "Transparent huge pages do not help");
}

/* A touch of present pages takes longer than what is left of the faults: that is no effect to advise on. */
UNIT_TEST(test_prefaults_that_are_drowned)
{
    fault("hip:0", 900, "device-major", "managed");
    fault("hip:0", 110, "device-minor", "managed");
    add("hip:0", "fault", "ns", 54000, "scenario=device-major;what=control;allocator=managed;pages=10000;access=store");
    add("hip:0", "fault", "ns", 500, "scenario=device-major;what=fault;allocator=managed;pages=1000;access=store");
    add("hip:0", "fault", "ns", 100, "scenario=device-minor;what=fault;allocator=managed;pages=1000;access=store");
    says(get_advice("hip:0", "pre-fault"), "the device then takes 100 ns (99.0 to 101 ns) per page instead of 500 ns");
}

UNIT_TEST(test_prefaults_that_do_not_pay)
{
    fault("hip:0", 900, "device-major", "managed");
    fault("hip:0", 800, "device-minor", "managed");
    fault("hip:0", 270, "cpu-one", "managed");
    says(get_advice("hip:0", "pre-fault"), "let the device fault");
}

UNIT_TEST(test_prefaults_that_may_pay)
{
    fault("cpu", 1000, "cpu-one", "mmap");
    fault("cpu", 1001, "cpu-all", "mmap");
    says(get_advice("cpu", "pre-fault"), "Whether more threads help a first touch is inconclusive");
}

UNIT_TEST(test_copies)
{
    triad("hip:0", 4000, "own", 0, "cpu");
    triad("hip:0", 50, "pinned", 0, "cpu");
    triad("hip:0", 4100, "managed", 0, "cpu");
    add("hip:0", "copy", "GB/s", 50, "from=pinned;to=own;direction=one;how=engine;size=64");
    add("hip:0", "copy", "GB/s", 1, "from=pinned;to=own;direction=one;how=engine;size=8"); /* a smaller one */
    add("hip:0", "copy", "GB/s", 60, "from=managed;to=own;direction=one;how=engine;size=64");
    add("hip:0", "copy", "GB/s", 60, "from=far;to=own;direction=one;how=engine;size=64"); /* not host memory */
    triad("hip:0", 40, "far", 0, "cpu");
    triad("hip:0", 4000, "shared", 0, "cpu");
    add("hip:0", "copy", "GB/s", 60, "from=shared;to=own;direction=one;how=engine;size=64");
    const struct as_advice *a = get_advice("hip:0", "copies");
    assert_null(strstr(a->sentence, "'far'"));
    says(a, "From 'pinned' copy if you read the data 1.01 (");
    says(a,
         "; from 'managed' and 'shared' do not copy data that is read repeatedly: reads in place are at most 2% slower "
         "than from 'own'");
    assert_int_equal(a->numbers_n, 7); /* device memory read once */
}

UNIT_TEST(test_undecided_copies)
{
    triad("hip:0", 4000, "own", 0, "cpu");
    triad("hip:0", 4000, "managed", 0, "cpu")->sum.ci = (struct as_interval){3000, 5000};
    add("hip:0", "copy", "GB/s", 60, "from=managed;to=own;direction=one;how=engine;size=64");
    says(get_advice("hip:0", "copies"), "From 'managed' it is inconclusive: reads in place may be up to 25% slower");
}

/* A copy faster than the bus came from data that was already on the device, and does not show the cost of bringing it
 * there. */
UNIT_TEST(test_copies_that_do_not_cross)
{
    infos[1].bus_bandwidth = 63e9;
    triad("hip:0", 4000, "own", 0, "cpu");
    triad("hip:0", 4100, "managed", 0, "cpu");
    struct as_cell *copy = add("hip:0", "copy", "GB/s", 1900, "from=managed;to=own;direction=one;how=engine;size=64");
    assert_int_equal(get_advice("hip:0", "copies")->numbers_n, 0);
    free(advice);
    advice = NULL;
    copy->sum.median = 60;
    copy->sum.ci = (struct as_interval){59, 61};
    says(get_advice("hip:0", "copies"), "From 'managed' do not copy data that is read repeatedly");
}

UNIT_TEST(test_counters)
{
    add_lost_updates(0, "pinned", "add");
    add_lost_updates(500, "pinned", "plain");
    says(get_advice("hip:0", "counter"), "They may, with atomic updates: none was lost in 'pinned'");
    says(get_advice("hip:0", "counter"), "Without atomics updates are lost in 'pinned', so losses are detected");
    assert_false(get_advice("hip:0", "counter")->warning);
    m.cells[m.n - 1].status = AS_CELL_SKIPPED; /* not measured: nothing about its losses */
    free(advice);
    advice = NULL;
    says(get_advice("hip:0", "counter"), "unknown: there is no valid control without atomics");
}

UNIT_TEST(test_a_wide_scope_is_told_from_a_narrow_one)
{
    add_lost_updates(0, "managed", "add");
    lost_at(9, "managed", "add", "device");
    add_lost_updates(5, "pinned", "add");
    lost_at(0, "pinned", "add", "device");
    const struct as_advice *a = get_advice("hip:0", "counter");
    says(a, "'managed' (u64, scope device: up to 9 lost)");
    says(a, "'pinned' (u64, scope system: up to 5 lost)");
    says(a, "With atomics of scope system none was lost in 'managed'. ");
    assert_null(strstr(a->sentence, "No update was lost"));
}

/* The worst scope of an allocator, as a whole count with one prefix. */
UNIT_TEST(test_every_scope_loses)
{
    lost_at(9, "pinned", "add", "device");
    add_lost_updates(3512345.5, "pinned", "add");
    says(get_advice("hip:0", "counter"), "'pinned' (u64, scopes device and system: up to 3.51 million lost)");
}

UNIT_TEST(test_lost_updates_are_loud)
{
    add_lost_updates(0, "pinned", "add");
    add_lost_updates(7, "managed", "add");
    add_lost_updates(0, "managed", "plain");
    const struct as_advice *a = get_advice("hip:0", "counter");
    says(a, "UPDATES ARE LOST: do not share a counter in 'managed' (u64, scope system: up to 7 lost)");
    says(a, "No update was lost, for the types and scopes measured, in 'pinned'");
    says(a, "Without atomics none is lost in 'managed' either, so the absence of losses proves little");
    assert_true(a->warning);
    struct as_buf json = AS_BUF_INIT;
    as_advice_to_json(a, 1, &json);
    assert_non_null(strstr(as_buf_get(&json), "\"topic\":\"counter\""));
    assert_non_null(strstr(as_buf_get(&json), "\"known\":true,\"warning\":true,"));
    assert_non_null(strstr(as_buf_get(&json), "\"value\":7,"));
    as_buf_finish(&json);
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
    says(a, "Ask for huge pages: a random load from 1 GiB takes 100 ns (");
    says(a, ", against 150 ns (");
    says(a, "1.50x as fast");
    assert_int_equal(a->numbers_n, 2);
    assert_true(a->effect > 1.4 && a->effect < 1.5);
    m.cells[3].sum.median = 300;
    m.cells[3].sum.ci = (struct as_interval){299, 301};
    free(advice);
    advice = NULL;
    says(get_advice("cpu", "page-size"), "Keep base pages: ");
}

/* Of many pairs the last may differ most. */
UNIT_TEST(test_what_is_named_is_printed_first)
{
    triad("hip:0", 1000, "pinned", 0, "cpu");
    triad("hip:0", 1000, "pinned", 0, "device");
    triad("hip:0", 900, "managed", 0, "cpu");
    triad("hip:0", 900, "managed", 0, "device");
    triad("hip:0", 800, "shared", 0, "cpu")->sum.ci = (struct as_interval){600, 1100};
    triad("hip:0", 800, "shared", 0, "device");
    says(get_advice("hip:0", "first-touch"), "may change the device's bandwidth by up to 33% ('shared'");
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
                                           "not counted): the device's first pass over 256 MiB "
                                           "runs at 2.00 TB/s (");
    says(get_advice("cuda:0", "prefetch"), ": 100x as fast");
    m.cells[1].detail = strdup("{\"handover_seconds\":0.012}");
    free(advice);
    advice = NULL;
    says(get_advice("cuda:0", "prefetch"), "(its own time, 12.0 ms, is not counted)");
}

/* Nobody is told to measure what the device cannot have: two sides, or memory of a role that it lacks. */
UNIT_TEST(test_questions_of_the_device)
{
    static const char *const apart[] = {"first-touch", "pre-fault", "copies", "prefetch"};
    infos[1] = (struct as_device_info){.id = "opencl:0", .backend = "opencl", .is_host_cpu = true};
    add("opencl:0", "alloc", "ns", 100, "op=alloc;allocator=clCreateBuffer;size=32");
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        assert_false(is_asked("opencl:0", apart[i]));
    assert_true(is_asked("opencl:0", "device-heavy") && is_asked("opencl:0", "applications"));
    infos[1] = (struct as_device_info){
        .id = "opencl:0", .backend = "opencl", .allocators_n = 1, .allocators = {{.name = "clCreateBuffer"}}};
    free(advice);
    advice = NULL;
    assert_true(is_asked("opencl:0", "first-touch"));
    assert_false(is_asked("opencl:0", "prefetch"));
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
    says(a, "Use one allocation: time with one allocation against time with copies: 0.800x (0.792 to 0.808x; hotspot, "
            "'managed')");
    says(a, "1.20x (1.19 to 1.21x; heartwall, 'managed')");
    says(a, "'managed'); inconclusive: dwt2d, srad_v1, backprop, nn; one allocation saves up to 40% of peak memory");
    a = get_advice("hip:0", "strategies");
    says(a, "Time with each strategy relative to without: double buffering 0.500x");
    says(a, "heartwall, 'managed'); inconclusive: a check of free memory; not measured: partial transfers, ");
    says(a, "a growing container; impossible on this device: variables on the stack, static managed variables");
    infos[1].allocators[3].role = AS_ROLE_PAGEABLE;
    free(advice);
    advice = NULL;
    says(get_advice("hip:0", "strategies"), "not measured: partial transfers, variables on the stack, a growing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_cells_commands_are_named, start, empty_run),
        cmocka_unit_test_setup_teardown(test_allocators_by_side, start, empty_run),
        cmocka_unit_test_setup_teardown(test_undecided, start, empty_run),
        cmocka_unit_test_setup_teardown(test_cpu_heavy_on_device, start, empty_run),
        cmocka_unit_test_setup_teardown(test_only_memory_that_both_touch, start, empty_run),
        cmocka_unit_test_setup_teardown(test_undecided_first_touch, start, empty_run),
        cmocka_unit_test_setup_teardown(test_what_is_named_is_printed_first, start, empty_run),
        cmocka_unit_test_setup_teardown(test_atomics_where_plain_accesses_are_not_coherent, start, empty_run),
        cmocka_unit_test_setup_teardown(test_undecided_copies, start, empty_run),
        cmocka_unit_test_setup_teardown(test_every_scope_loses, start, empty_run),
        cmocka_unit_test_setup_teardown(test_short_lives, start, empty_run),
        cmocka_unit_test_setup_teardown(test_promised_memory, start, empty_run),
        cmocka_unit_test_setup_teardown(test_prefaults, start, empty_run),
        cmocka_unit_test_setup_teardown(test_prefaults_that_are_drowned, start, empty_run),
        cmocka_unit_test_setup_teardown(test_prefaults_that_do_not_pay, start, empty_run),
        cmocka_unit_test_setup_teardown(test_prefaults_that_may_pay, start, empty_run),
        cmocka_unit_test_setup_teardown(test_copies, start, empty_run),
        cmocka_unit_test_setup_teardown(test_copies_that_do_not_cross, start, empty_run),
        cmocka_unit_test_setup_teardown(test_counters, start, empty_run),
        cmocka_unit_test_setup_teardown(test_page_size, start, empty_run),
        cmocka_unit_test_setup_teardown(test_prefetch, start, empty_run),
        cmocka_unit_test_setup_teardown(test_questions_of_the_device, start, empty_run),
        cmocka_unit_test_setup_teardown(test_applications_and_strategies, start, empty_run),
        cmocka_unit_test_setup_teardown(test_lost_updates_are_loud, start, empty_run),
        cmocka_unit_test_setup_teardown(test_a_wide_scope_is_told_from_a_narrow_one, start, empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
