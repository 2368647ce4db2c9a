#include "sheet_run.h"

#include "base/text.h"
#include "probe/main_memory.h"
#include "tests/facts/named.h"

#include <string.h>

struct as_cell cells[CELLS];
struct as_fact facts[FACTS];
struct as_device_info gpu;
struct as_report_run run;

int start(void **state)
{
    (void)state;
    memset(cells, 0, sizeof cells);
    memset(facts, 0, sizeof facts);
    gpu = (struct as_device_info){.id = "cuda:0", .backend = "cuda", .compute_units = 100};
    run = (struct as_report_run){.cells = cells, .devices = &gpu, .devices_n = 1, .facts = facts};
    return 0;
}

struct as_cell *add_cell(const char *probe, const char *axes, double value, const char *unit)
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
    c->gates[AS_GATE_FOOTPRINT].state = as_main_memory_claimed(&c->axes) ? AS_GATE_PASS : AS_GATE_NA;
    return c;
}

struct as_fact *add_fact(const char *id, double value, const char *unit, double claimed)
{
    struct as_fact *f = &facts[run.facts_n++];
    *f = (struct as_fact){.value = value, .ci = {value, value}, .claimed = claimed, .verdict = AS_SUPPORTED};
    assert_true(named_fact(f, id));
    as_copy_text(f->device, sizeof f->device, "cuda:0");
    as_copy_text(f->unit, sizeof f->unit, unit);
    return f;
}

struct as_sheet made(void)
{
    struct as_sheet s;
    struct as_error err;
    assert_int_equal(as_sheet_make(&run, "cuda:0", &s, &err), AS_OK);
    return s;
}

const char *details_of(const struct as_sheet_row *row)
{
    static char text[400];
    struct as_buf b = AS_BUF_INIT;
    as_sheet_details(row, &b);
    as_copy_text(text, sizeof text, as_buf_get(&b));
    as_buf_finish(&b);
    return text;
}
