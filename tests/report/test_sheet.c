/* The data sheet: which number stands in a line, in which unit, and what is left out. */
#include "base/text.h"
#include "facts/facts.h"
#include "report/sheet.h"
#include "report/worth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 16, FACTS = 8 };

static struct as_cell cells[CELLS];
static struct as_fact facts[FACTS];
static struct as_device_info gpu = {.id = "cuda:0", .backend = "cuda", .compute_units = 100};
static struct as_report_run run;

static int start(void **state)
{
    (void)state;
    memset(cells, 0, sizeof cells);
    memset(facts, 0, sizeof facts);
    run = (struct as_report_run){.cells = cells, .devices = &gpu, .devices_n = 1, .facts = facts};
    return 0;
}

static struct as_cell *add_cell(const char *probe, const char *axes, double value, const char *unit)
{
    struct as_cell *c = &cells[run.cells_n++];
    struct as_error err;
    c->id = (int64_t)run.cells_n;
    as_copy_text(c->device, sizeof c->device, "cuda:0");
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
    assert_int_equal(as_axes_from_json(axes, &c->axes, &err), AS_OK);
    c->status = AS_CELL_OK;
    c->sum = (struct as_summary){.n = 10, .median = value, .ci = {value, value}};
    return c;
}

static struct as_fact *add_fact(const char *id, double value, const char *unit, double claimed)
{
    struct as_fact *f = &facts[run.facts_n++];
    *f = (struct as_fact){.value = value, .ci = {value, value}, .claimed = claimed, .verdict = AS_SUPPORTED};
    as_copy_text(f->id, sizeof f->id, id);
    as_copy_text(f->device, sizeof f->device, "cuda:0");
    as_copy_text(f->unit, sizeof f->unit, unit);
    return f;
}

static struct as_sheet made(void)
{
    struct as_sheet s;
    struct as_error err;
    assert_int_equal(as_sheet_make(&run, "cuda:0", &s, &err), AS_OK);
    return s;
}

static void test_facts_before_cells(void **state)
{
    (void)state;
    add_fact("bandwidth.memory.read.all", 3000, "GB/s", 4000)->evidence_n = 1;
    facts[0].evidence[0] = 1;
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"read\",\"size\":1024}", 2900, "GB/s")->status = AS_CELL_WIDE;
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "read");
    assert_non_null(row);
    assert_true(row->value == 3000 && row->specified == 4000 && row->wide && row->cell == 1);
    assert_true(as_sheet_share(row) == 0.75);
    as_sheet_finish(&s);
    facts[0].value = NAN; /* a fact without a number: the cell */
    s = made();
    row = as_sheet_find(&s, "Memory", "read");
    assert_true(row && row->value == 2900 && isnan(as_sheet_share(row)));
    as_sheet_finish(&s);
}

/* The largest size, then the best number; no other device's, and none that a gate rejected. */
static void test_choice_of_cells(void **state)
{
    (void)state;
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":1024}", 5000, "GB/s");
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":4096,\"store\":\"regular\"}", 3000, "GB/s");
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":4096,\"store\":\"nt\"}", 3100, "GB/s");
    add_cell("bandwidth", "{\"level\":\"sweep\",\"op\":\"write\",\"size\":8192}", 9000, "GB/s");
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":8192}", 9000, "GB/s")->status =
        AS_CELL_REJECTED;
    strcpy(add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":8192}", 9000, "GB/s")->device, "cpu");
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "write");
    assert_true(row && row->value == 3100 && row->cell == 3);
    assert_null(as_sheet_find(&s, "Memory", "copy"));
    as_sheet_finish(&s);
}

static void test_units_and_words(void **state)
{
    (void)state;
    add_fact("clock.core", 2e9, "Hz", NAN);
    add_fact("onchip.L1.latency", 32, "cycles", NAN);
    add_fact("cache.L1.latency_cycles", 33, "cycles", NAN); /* the same again */
    add_fact("onchip.shared.bandwidth", 128, "B/cycle", NAN);
    add_fact("c2c.unit.median", 600, "ns", NAN);
    add_cell("alloc", "{\"op\":\"alloc\",\"allocator\":\"cuMemAlloc\",\"size\":16777216}", 4e4, "ns");
    add_cell("alloc", "{\"op\":\"free\",\"allocator\":\"cuMemAlloc\",\"size\":16777216}", 3e4, "ns");
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "L1", "latency");
    assert_true(row && row->value == 16);
    assert_string_equal(row->unit, "ns");
    assert_string_equal(row->remark, "32.0 cycles");
    row = as_sheet_find(&s, "Shared memory", "read");
    assert_true(row && fabs(row->value - 25600) < 1e-6);
    assert_string_equal(row->unit, "GB/s");
    assert_string_equal(row->remark, "128 B/cycle per SM");
    assert_non_null(as_sheet_find(&s, "Transfer", "SM to SM"));
    row = as_sheet_find(&s, "Allocate 16 MiB", "device");
    assert_true(row && row->value == 4e4);
    assert_string_equal(row->remark, "free 30.0 µs");
    as_sheet_finish(&s);
}

/* Refuted claims first, few of a kind, none that is undecided. */
static void test_worth_knowing(void **state)
{
    (void)state;
    add_fact("tlb.gain.thp", 3, "x", NAN);
    add_fact("launch.roundtrip.spin", 9000, "ns", NAN);
    add_fact("matmul.older.f16", 0.6, "x", NAN)->verdict = AS_REFUTED;
    add_fact("lost.both.pinned", 5, "updates", NAN)->verdict = AS_REFUTED;
    add_fact("lost.both.managed", 5, "updates", NAN)->verdict = AS_REFUTED;
    add_fact("lost.both.mapped", 5, "updates", NAN)->verdict = AS_REFUTED;
    add_fact("fault.latency.cpu", 5, "ns", NAN)->verdict = AS_UNDECIDED;
    const struct as_fact *worth[FACTS];
    assert_int_equal(as_worth_knowing(&run, "cuda:0", worth, FACTS), 4);
    assert_string_equal(worth[0]->id, "lost.both.pinned");
    assert_string_equal(worth[1]->id, "lost.both.managed");
    assert_string_equal(worth[2]->id, "matmul.older.f16");
    assert_string_equal(worth[3]->id, "tlb.gain.thp");
    assert_int_equal(as_worth_knowing(&run, "cuda:0", worth, 1), 1);
    assert_int_equal(as_worth_knowing(&run, "cpu", worth, FACTS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_facts_before_cells, start),
        cmocka_unit_test_setup(test_choice_of_cells, start),
        cmocka_unit_test_setup(test_units_and_words, start),
        cmocka_unit_test_setup(test_worth_knowing, start),
    };
    return cmocka_run_group_tests_name("data sheet", tests, NULL, NULL);
}
