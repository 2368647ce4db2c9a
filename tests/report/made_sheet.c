#include "tests/report/made_sheet.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct as_machine_sheet made_sheet(const char *device, size_t rows, double scale, double half)
{
    static const struct as_sheet_row all[MADE_ROWS] = {
        {.group = "Memory", .label = "read", .value = 100, .unit = "GB/s"},
        {.group = "Memory", .label = "latency", .value = 90, .unit = "ns"},
        {.group = "Clock", .label = "core", .value = 3e9, .unit = "Hz"},
        {.group = "Launch", .label = "launch + sync", .value = 5000, .unit = "ns"}};
    static unsigned runs;
    struct as_machine_sheet m = {
        .v = calloc(1, sizeof *m.v), .n = 1, .runs = 1, .run = calloc(AS_MACHINE_RUNS_MAX, sizeof *m.run)};
    assert_true(m.v && m.run);
    snprintf(m.run[0], sizeof m.run[0], "run %u", runs++);
    as_copy_text(m.suite, sizeof m.suite, "quick");
    as_copy_text(m.v->id, sizeof m.v->id, device);
    m.v->sheet.rows = calloc(MADE_ROWS, sizeof *m.v->sheet.rows);
    assert_non_null(m.v->sheet.rows);
    m.v->sheet.n = rows;
    for (size_t i = 0; i < rows; i++) {
        struct as_sheet_row *r = &m.v->sheet.rows[i];
        *r = all[i];
        r->value *= scale;
        r->ci = (struct as_interval){r->value * (1 - half), r->value * (1 + half)};
        r->specified = NAN;
        r->trials = 10;
        r->clock_exponent = NAN;
        r->of = as_quantity_of_line(r->group, r->label);
        assert_non_null(r->of);
    }
    m.clock_hz = NAN;
    assert_int_equal(as_device_sheet_add_run(m.v, NULL), AS_OK);
    return m;
}
