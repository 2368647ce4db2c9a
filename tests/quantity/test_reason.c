/* Why a quantity has no number: what was not asked for, left out, measured without a result. */
#include "base/text.h"
#include "quantity/quantity.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 32, KIB = 1024, MIB = 1024 * KIB };

static const struct as_device_info cpu = {.id = "cpu",
                                          .backend = "cpu",
                                          .capabilities = AS_CAP_HOST_KERNELS,
                                          .threads = 2,
                                          .caches_n = 3,
                                          .caches = {{.level = 1, .kind = 'd', .size = 32 * KIB, .shared = 1},
                                                     {.level = 2, .kind = 'u', .size = MIB, .shared = 1},
                                                     {.level = 3, .kind = 'u', .size = 32 * MIB, .shared = 2}}};
static struct as_cell cells[CELLS];
static size_t n;

static void add_chase(double size, enum as_cell_status status, const char *reason)
{
    struct as_cell *c = &cells[n++];
    char axes[192];
    snprintf(axes, sizeof axes,
             "{\"pattern\":\"random\",\"stride\":64,\"instrument\":\"timed\",\"allocator\":\"thp\",\"size\":%.0f}",
             size);
    *c = (struct as_cell){.id = (int64_t)n, .status = status};
    as_copy_text(c->device, sizeof c->device, "cpu");
    as_copy_text(c->probe, sizeof c->probe, "latency");
    as_copy_text(c->unit, sizeof c->unit, "ns");
    as_copy_text(c->reason, sizeof c->reason, reason);
    assert_int_equal(as_axes_from_json(axes, &c->axes, NULL), AS_OK);
    c->sum = (struct as_summary){.n = 10, .median = 5, .ci = {4, 6}, .trials = 3};
}

/* A curve over the sizes from one to another, of which those from `left_out` on were left out. */
static void add_curve(double from, double to, double left_out)
{
    n = 0;
    for (double size = from; size <= to; size *= 2)
        add_chase(size, size >= left_out ? AS_CELL_SKIPPED : AS_CELL_WIDE,
                  size >= left_out ? "left out: the budget does not suffice for it; raise --budget" : "");
}

static void assert_reason(const struct as_fact *facts, size_t facts_n, const char *quantity,
                          enum as_quantity_found expected, const char *text)
{
    const struct as_quantity_subject s = {.device = "cpu",
                                          .info = &cpu,
                                          .cells = {.v = cells, .n = n},
                                          .facts = facts,
                                          .facts_n = facts_n,
                                          .clock_hz = NAN};
    struct as_quantity_value v;
    struct as_buf reason = AS_BUF_INIT;
    assert_int_equal(as_quantity_find(&s, as_quantity_named(quantity), &v, &reason), expected);
    assert_string_equal(as_buf_get(&reason), text);
    as_buf_finish(&reason);
}

UNIT_TEST(test_not_asked)
{
    n = 0;
    add_chase(4 * KIB, AS_CELL_OK, "");
    assert_reason(NULL, 0, "memory.latency", AS_QUANTITY_NOT_IN_SUITE, "the run measured no size in memory");
    assert_reason(NULL, 0, "L3.capacity", AS_QUANTITY_NOT_IN_SUITE, "the run measured no size of this level");
    assert_reason(NULL, 0, "L2.latency", AS_QUANTITY_NOT_IN_SUITE, "the run measured no size of this level");
    assert_reason(NULL, 0, "L1.latency", AS_QUANTITY_NOT_IN_SUITE, "the run measured too few sizes");
    add_curve(512, 32 * KIB, INFINITY);
    assert_reason(NULL, 0, "L1.capacity", AS_QUANTITY_NOT_IN_SUITE,
                  "the run measured no sizes near the end of this level");
    n = 0;
    assert_reason(NULL, 0, "L1.capacity", AS_QUANTITY_NOT_IN_SUITE, "");
}

UNIT_TEST(test_measured)
{
    add_curve(KIB, 256.0 * MIB, INFINITY);
    assert_reason(NULL, 0, "L3.capacity", AS_QUANTITY_UNDECIDED, "inconclusive: no clear step in latency");
    assert_reason(NULL, 0, "L3.latency", AS_QUANTITY_UNDECIDED, "inconclusive: no plateau of its own in latency");
}

/* What was measured is not said to be left out, and what is left out of another level does not count. */
UNIT_TEST(test_left_out)
{
    add_curve(KIB, 256.0 * MIB, 16.0 * MIB);
    assert_reason(NULL, 0, "L3.latency", AS_QUANTITY_UNDECIDED,
                  "inconclusive: no plateau of its own in latency; 2 of 5 measurements left out by the budget");
    assert_reason(NULL, 0, "L1.capacity", AS_QUANTITY_UNDECIDED, "inconclusive: no clear step in latency");
    add_curve(KIB, 256.0 * MIB, 2.0 * MIB);
    assert_reason(NULL, 0, "L3.latency", AS_QUANTITY_MISSING, "left out by the budget");
    add_curve(KIB, 256.0 * MIB, 0);
    assert_reason(NULL, 0, "L1.capacity", AS_QUANTITY_MISSING, "left out by the budget");
}

/* One cell of many that crashed is not the reason of the level. */
UNIT_TEST(test_crashed)
{
    add_curve(KIB, 256.0 * MIB, INFINITY);
    cells[2].status = AS_CELL_CRASHED; /* of 4 KiB */
    assert_reason(NULL, 0, "L1.latency", AS_QUANTITY_UNDECIDED,
                  "inconclusive: no plateau of its own in latency; 1 of 6 measurements crashed");
    assert_reason(NULL, 0, "L3.latency", AS_QUANTITY_UNDECIDED, "inconclusive: no plateau of its own in latency");
}

/* A step that is known badly is no missing step. */
UNIT_TEST(test_vague)
{
    struct as_fact fact = {.value = 1448, .ci = {256 * KIB, 4.0 * MIB}, .claimed = MIB, .verdict = AS_UNDECIDED};
    as_copy_text(fact.id, sizeof fact.id, "cache.L2.size");
    as_copy_text(fact.device, sizeof fact.device, "cpu");
    as_copy_text(fact.unit, sizeof fact.unit, "B");
    add_curve(KIB, 256.0 * MIB, INFINITY);
    assert_reason(&fact, 1, "L2.capacity", AS_QUANTITY_UNDECIDED, "inconclusive: between 256 KiB and 4 MiB");
}

/* Without the cache's size nothing says where its end is: sizes were asked for. */
UNIT_TEST(test_unknown_cache)
{
    struct as_device_info untold = cpu;
    untold.caches_n = 0;
    add_curve(1024, 256 << 20, INFINITY);
    const struct as_quantity_subject s = {
        .device = "cpu", .info = &untold, .cells = {.v = cells, .n = n}, .clock_hz = NAN};
    struct as_quantity_value v;
    struct as_buf reason = AS_BUF_INIT;
    assert_int_equal(as_quantity_find(&s, as_quantity_named("L2.capacity"), &v, &reason), AS_QUANTITY_UNDECIDED);
    assert_null(strstr(as_buf_get(&reason), "the run measured"));
    as_buf_finish(&reason);
}

static void add_alloc(const char *op, unsigned causes)
{
    char axes[96];
    snprintf(axes, sizeof axes, "{\"op\":\"%s\",\"allocator\":\"mmap\",\"size\":16777216}", op);
    add_chase(0, AS_CELL_WIDE, "");
    struct as_cell *c = &cells[n - 1];
    as_copy_text(c->probe, sizeof c->probe, "alloc");
    c->axes.n = 0;
    assert_int_equal(as_axes_from_json(axes, &c->axes, NULL), AS_OK);
    c->causes = causes;
}

/* Of a fact of several measurements, contention of one is the reason; those that it does not rest on are none. */
UNIT_TEST(test_contended_fact)
{
    n = 0;
    add_alloc("touch-again", AS_WIDE_BUSY);
    add_alloc("touch-mapped", 0);
    add_alloc("free", 0);
    assert_reason(NULL, 0, "fault.first_touch", AS_QUANTITY_UNDECIDED, "inconclusive: 1 of 2 contended");
    cells[1].causes = AS_WIDE_BUSY;
    assert_reason(NULL, 0, "fault.first_touch", AS_QUANTITY_UNDECIDED, "inconclusive: 2 of 2 contended");
    cells[0].status = cells[1].status = AS_CELL_SKIPPED;
    as_copy_text(cells[0].reason, sizeof cells[0].reason, "left out: the budget does not suffice for it");
    assert_reason(NULL, 0, "fault.first_touch", AS_QUANTITY_MISSING, "left out by the budget");
}

/* The CPU touches the memory of its own OpenCL device first, whoever a line asks for. */
UNIT_TEST(test_touch_on_host_cpu)
{
    struct as_device_info info = {.id = "opencl:0", .backend = "opencl", .is_host_cpu = true};
    struct as_cell cell = {.device = "opencl:0", .probe = "bandwidth"};
    const struct as_quantity_subject s = {.device = "opencl:0", .info = &info};
    assert_int_equal(as_axes_from_json("{\"op\":\"triad\",\"touch\":\"cpu\"}", &cell.axes, NULL), AS_OK);
    assert_true(as_quantity_is_cell_of(&s, &cell, "bandwidth op=read,triad touch=device"));
    assert_false(as_quantity_is_cell_of(&s, &cell, "bandwidth op=read,tri touch=device"));
    info.is_host_cpu = false;
    assert_false(as_quantity_is_cell_of(&s, &cell, "bandwidth op=triad touch=device"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contended_fact), cmocka_unit_test(test_touch_on_host_cpu),
        cmocka_unit_test(test_unknown_cache),  cmocka_unit_test(test_not_asked),
        cmocka_unit_test(test_measured),       cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_crashed),        cmocka_unit_test(test_vague),
    };
    return cmocka_run_group_tests_name("reasons of quantities", tests, NULL, NULL);
}
