/* Advice on memory that CPU and device share, on synthetic cells. */
#include "made_advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lost_at(double most, const char *allocator, const char *op, const char *scope)
{
    char axes[200];
    snprintf(
        axes, sizeof axes,
        "agent=device;elements=1;type=u64;cpu_threads=2;device_threads=64;scope=%s;order=relaxed;allocator=%s;op=%s",
        scope, allocator, op);
    struct as_cell *c = add("hip:0", "atomics_lost", "updates", most, axes);
    c->detail = strdup("{\"updates_by_cpu\":1000,\"updates_by_device\":500}");
}

static void add_lost_updates(double most, const char *allocator, const char *op)
{
    lost_at(most, allocator, op, "system");
}

/* Memory that the CPU cannot touch says nothing about who should touch first. */
UNIT_TEST(test_only_memory_that_both_touch)
{
    triad("hip:0", 3500, "own", 0, "cpu");
    triad("hip:0", 9000, "own", 0, "device");
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 2001, "pinned", 0, "device");
    says(get_advice("hip:0", "first-touch"),
         "First touch by CPU or device makes no difference: bandwidth in repeated passes differs by at most 2% in 1 "
         "comparison. 'pinned', first touch by device relative to CPU: ");
    assert_int_equal(get_advice("hip:0", "first-touch")->numbers_n, 2);
}

/* What advice to the driver costs is no effect of the first touch, and pinned memory is placed when it is allocated. */
UNIT_TEST(test_first_touch_of_memory_that_advice_places)
{
    static const enum as_role placed[] = {AS_ROLE_MANAGED_READ_MOSTLY, AS_ROLE_MANAGED_PREFETCH, AS_ROLE_PINNED};
    triad("hip:0", 4200, "managed", 0, "cpu");
    triad("hip:0", 4201, "managed", 0, "device");
    triad("hip:0", 2, "shared", 0, "cpu")->sum.ci = (struct as_interval){1, 3};
    triad("hip:0", 3, "shared", 0, "device")->sum.ci = (struct as_interval){2.9, 3.1};
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++) {
        infos[1].allocators[3].role = placed[i];
        forget_advice();
        says(get_advice("hip:0", "first-touch"), "First touch by CPU or device makes no difference");
        assert_int_equal(get_advice("hip:0", "first-touch")->numbers_n, 2);
    }
}

/* A recommendation says that it rests on single trials. */
UNIT_TEST(test_one_trial)
{
    triad("hip:0", 2000, "managed", 0, "cpu");
    triad("hip:0", 3000, "managed", 0, "device");
    assert_null(strstr(get_advice("hip:0", "first-touch")->sentence, "one trial"));
    m.cells[1].sum.trials = 1;
    forget_advice();
    says(get_advice("hip:0", "first-touch"), ". 1 of 2 numbers rests on one trial");
}

/* Intervals that allow more than the threshold decide nothing; the widest pair is quoted. */
UNIT_TEST(test_undecided_first_touch)
{
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 2001, "pinned", 0, "device");
    triad("hip:0", 96.9, "managed", 0, "cpu")->sum.ci = (struct as_interval){87.5, 109};
    triad("hip:0", 84.5, "managed", 0, "device")->sum.ci = (struct as_interval){78, 91.6};
    says(get_advice("hip:0", "first-touch"),
         "Inconclusive: first touch by CPU or device may change the device's bandwidth by up to 24%. ");
    says(get_advice("hip:0", "first-touch"), "'managed', first touch by device relative to CPU: 0.87x (");
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
    says(get_advice("cpu", "pre-fault"),
         "Touch large blocks with all threads: 4.00x as fast (3.94 to 4.06x). Each of 10000 pages then takes 250 ns");
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
    says(get_advice("hip:0", "pre-fault"), "The device then takes 100 ns (99.0 to 101 ns) per page instead of 500 ns");
}

UNIT_TEST(test_prefaults_that_cost)
{
    fault("hip:0", 200, "device-major", "managed");
    fault("hip:0", 400, "device-minor", "managed");
    says(get_advice("hip:0", "pre-fault"), "Let the device touch 'managed' first: after the CPU it is 2.00x slower");
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
    static const char *const scenarios[] = {"device-major", "device-minor"};
    for (size_t i = 0; i < 2; i++) {
        char axes[120];
        snprintf(axes, sizeof axes, "scenario=%s;what=fault;allocator=managed;pages=10000;node=near", scenarios[i]);
        add("hip:0", "fault", "ns", i ? 440 : 230, axes)->sum.ci =
            i ? (struct as_interval){220, 880} : (struct as_interval){120, 460};
    }
    says(get_advice("hip:0", "pre-fault"),
         "Whether the CPU should touch 'managed' before the device is inconclusive. The device takes 220 to 880 ns per "
         "page after the CPU, against 120 to 460 ns without");
    forget_advice();
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
    says(a, "From 'pinned', copy if you stream over the data 2 times or more"); /* 1.01 */
    says(a, ". From 'managed' and 'shared', do not copy data that you stream over repeatedly. Triads in place are at "
            "most 2% slower "
            "than in 'own'");
    assert_int_equal(a->numbers_n, 7); /* device memory read once */
}

/* A triad uses both directions of the link: where data is only read, a copy is compared with reads. */
UNIT_TEST(test_copies_against_reads_over_the_link)
{
    triad("hip:0", 4400, "own", 0, "cpu");
    triad("hip:0", 74, "pinned", 0, "cpu");
    triad("hip:0", 74, "shared", 0, "cpu");
    add("hip:0", "bandwidth", "GB/s", 4600,
        "op=read;level=memory;size=1000;threads=0;store=regular;allocator=own;touch=cpu");
    add("hip:0", "copy", "GB/s", 55, "from=pinned;to=own;direction=one;how=engine;size=64");
    add("hip:0", "copy", "GB/s", 55, "from=shared;to=own;direction=one;how=engine;size=64");
    struct as_cell *link =
        add("hip:0", "link", "GB/s", 51, "peer=host;node=0;allocator=pinned;direction=from;how=kernel;size=64");
    const uint64_t id = (uint64_t)link->id;
    says(get_advice("hip:0", "copies"), "From 'pinned', copy even if you read the data once");
    says(get_advice("hip:0", "copies"), ". From 'shared', copy if you stream over the data 2 times or more");
    assert_int_equal(get_advice("hip:0", "copies")->numbers[1].cell, id);
    forget_advice();
    add("hip:0", "bandwidth", "GB/s", 4600,
        "op=read;level=memory;size=2000;threads=0;store=regular;allocator=own;touch=cpu");
    add("hip:0", "bandwidth", "GB/s", 59,
        "op=read;level=memory;size=2000;threads=0;store=regular;allocator=pinned;touch=cpu");
    says(get_advice("hip:0", "copies"), "From 'pinned', copy if you read the data 2 times or more");
}

UNIT_TEST(test_undecided_copies)
{
    triad("hip:0", 4000, "own", 0, "cpu");
    triad("hip:0", 4000, "managed", 0, "cpu")->sum.ci = (struct as_interval){3000, 5000};
    add("hip:0", "copy", "GB/s", 60, "from=managed;to=own;direction=one;how=engine;size=64");
    says(get_advice("hip:0", "copies"),
         "From 'managed', whether copying helps is inconclusive. Triads in place may be up to 25% slower");
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
    forget_advice();
    copy->sum.median = 60;
    copy->sum.ci = (struct as_interval){59, 61};
    says(get_advice("hip:0", "copies"), "From 'managed', do not copy data that you stream over repeatedly");
}

UNIT_TEST(test_counters)
{
    add_lost_updates(0, "pinned", "add");
    add_lost_updates(500, "pinned", "plain");
    says(get_advice("hip:0", "counter"), "They may, with atomic updates: none was lost in 'pinned'");
    says(get_advice("hip:0", "counter"), "Without atomics updates are lost in 'pinned', so losses are detected");
    assert_false(get_advice("hip:0", "counter")->warning);
    m.cells[m.n - 1].status = AS_CELL_SKIPPED; /* not measured: nothing about its losses */
    forget_advice();
    says(get_advice("hip:0", "counter"), "unknown: there is no valid control without atomics");
}

static void updates(double rate, const char *agent, int cpu, int device, const char *allocator)
{
    char axes[200];
    snprintf(axes, sizeof axes,
             "agent=%s;elements=1024;type=u64;cpu_threads=%d;device_threads=%d;scope=system;order=relaxed;allocator=%s",
             agent, cpu, device, allocator);
    add("hip:0", "atomics", "updates/s", rate, axes);
}

/* Whether both at once pay, where no update is lost. */
UNIT_TEST(test_counters_by_both)
{
    static const char *const memory[] = {"managed", "pinned"};
    add_lost_updates(5, "managed", "add");
    add_lost_updates(0, "pinned", "add");
    for (size_t i = 0; i < 2; i++) {
        updates(2e8, "cpu", 4, 0, memory[i]);
        updates(1e9, "device", 0, 64, memory[i]);
        updates(2e8, "cpu", 4, 64, memory[i]);
        updates(i ? 1e9 : 9e9, "device", 4, 64, memory[i]);
    }
    says(get_advice("hip:0", "counter"), "Concurrent updates from both sides reach 1.20x");
    says(get_advice("hip:0", "counter"), "the rate of the faster side alone (1024 elements of u64, 'pinned', 4 CPU and "
                                         "64 device threads)");
    m.cells[m.n - 1].sum.median = 5e8;
    m.cells[m.n - 1].sum.ci = (struct as_interval){4.9e8, 5.1e8};
    forget_advice();
    says(get_advice("hip:0", "counter"), "Concurrent updates from both sides reach 0.7");
}

UNIT_TEST(test_a_wide_scope_is_told_from_a_narrow_one)
{
    add_lost_updates(0, "managed", "add");
    lost_at(9, "managed", "add", "device");
    add_lost_updates(5, "pinned", "add");
    lost_at(0, "pinned", "add", "device");
    const struct as_advice *a = get_advice("hip:0", "counter");
    says(a, "UPDATES ARE LOST: do not share a counter in 'pinned' (u64, scope system: up to 5 lost). With a scope that "
            "does not cover the CPU, updates are lost in 'managed' (u64, scope device: up to 9 lost)");
    says(a, "With atomics of scope system none was lost in 'managed'. ");
    assert_null(strstr(a->sentence, "No update was lost"));
}

/* Where only atomics of the device's scope lose updates, the memory is not to blame. */
UNIT_TEST(test_a_narrow_scope_alone_loses)
{
    add_lost_updates(0, "managed", "add");
    lost_at(9, "managed", "add", "device");
    const struct as_advice *a = get_advice("hip:0", "counter");
    says(a, "Do not share a counter with atomics whose scope does not cover the CPU. Updates are lost in 'managed'");
    says(a, "With atomics of scope system none was lost in 'managed'. ");
    assert_null(strstr(a->sentence, "UPDATES ARE LOST"));
}

/* One side that hardly made an update is no evidence. */
UNIT_TEST(test_too_few_updates)
{
    triad("hip:0", 2000, "pinned", 0, "cpu");
    triad("hip:0", 1000, "managed", 0, "cpu");
    add_lost_updates(0, "pinned", "add");
    free(m.cells[2].detail);
    m.cells[2].detail = strdup("{\"updates_by_cpu\":2,\"updates_by_device\":4194304}");
    const struct as_advice *a = get_advice("hip:0", "counter");
    says(a,
         "Inconclusive. Too few concurrent updates to tell whether any is lost at a scope that covers both: 'pinned'");
    assert_null(strstr(a->sentence, "none was lost"));
    assert_null(strstr(get_advice("hip:0", "shared")->sentence, "atomics lost no updates"));
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
    says(a, "No update was lost, for types and scopes with enough updates to tell, in 'pinned'");
    says(a, "Without atomics none is lost in 'managed' either, so the absence of losses proves little");
    assert_true(a->warning);
    struct as_buf json = AS_BUF_INIT;
    as_advice_to_json(a, 1, &json);
    assert_non_null(strstr(as_buf_get(&json), "\"topic\":\"counter\""));
    assert_non_null(strstr(as_buf_get(&json), "\"known\":true,\"warning\":true,"));
    assert_non_null(strstr(as_buf_get(&json), "\"value\":7,"));
    as_buf_finish(&json);
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
    says(get_advice("hip:0", "first-touch"), "may change the device's bandwidth by up to 33%. 'shared'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADVICE_TEST(test_only_memory_that_both_touch),
        ADVICE_TEST(test_one_trial),
        ADVICE_TEST(test_undecided_first_touch),
        ADVICE_TEST(test_first_touch_of_memory_that_advice_places),
        ADVICE_TEST(test_what_is_named_is_printed_first),
        ADVICE_TEST(test_atomics_where_plain_accesses_are_not_coherent),
        ADVICE_TEST(test_copies_against_reads_over_the_link),
        ADVICE_TEST(test_undecided_copies),
        ADVICE_TEST(test_every_scope_loses),
        ADVICE_TEST(test_prefaults),
        ADVICE_TEST(test_prefaults_that_are_drowned),
        ADVICE_TEST(test_prefaults_that_cost),
        ADVICE_TEST(test_prefaults_that_do_not_pay),
        ADVICE_TEST(test_prefaults_that_may_pay),
        ADVICE_TEST(test_copies),
        ADVICE_TEST(test_copies_that_do_not_cross),
        ADVICE_TEST(test_counters),
        ADVICE_TEST(test_counters_by_both),
        ADVICE_TEST(test_lost_updates_are_loud),
        ADVICE_TEST(test_a_wide_scope_is_told_from_a_narrow_one),
        ADVICE_TEST(test_a_narrow_scope_alone_loses),
        ADVICE_TEST(test_too_few_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
