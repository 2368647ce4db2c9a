/* The table of pipes, of sequences of a made-up unit. */
#include "golden.h"
#include "page_asserts.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 16 };

struct scene {
    struct as_cell cells[CELLS];
    struct as_device_info device;
    struct as_report_run run;
};
static struct as_error err;

static void add(struct scene *s, const char *mix, double cost)
{
    struct as_cell *c = &s->cells[s->run.cells_n++];
    *c = (struct as_cell){.id = (int64_t)s->run.cells_n, .status = AS_CELL_OK, .lower_is_better = true};
    snprintf(c->probe, sizeof c->probe, "mix");
    snprintf(c->device, sizeof c->device, "cuda:0");
    snprintf(c->unit, sizeof c->unit, "cycles");
    c->sum.n = 9;
    c->sum.median = cost;
    c->sum.ci = (struct as_interval){cost * 0.999, cost * 1.001};
    assert_int_equal(as_axes_add(&c->axes, "mix", mix, &err), AS_OK);
}

/* Two that share a pipe and one that does not; "far" is in no sequence with others. */
static struct as_buf page_of(struct scene *s, const char *beside)
{
    struct as_buf b = AS_BUF_INIT;
    struct as_page page = {.runs = &s->run, .n = 1, .out = &b, .err = &err};
    char text[64];
    s->device.warp = 32;
    s->run.cells = s->cells;
    s->run.devices = &s->device;
    s->run.devices_n = 1;
    snprintf(s->device.id, sizeof s->device.id, "cuda:0");
    add(s, "one", 0.5);
    add(s, "two", 0.5);
    add(s, beside, 1);
    add(s, "far", 0.1); /* instructions issued */
    add(s, "one+two", 1);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s+%s", i ? "two" : "one", beside);
        add(s, text, 1);
    }
    assert_int_equal(as_page_pipes(&page), AS_OK);
    return b;
}

static void loads_stand_by_resource(void **state)
{
    struct scene s = {.run = {.cells_n = 0}};
    struct as_buf b = page_of(&s, "third");
    (void)state;
    assert_golden("pipes.html", &b);
    as_buf_finish(&b);
}

static void names_are_escaped(void **state)
{
    struct scene s = {.run = {.cells_n = 0}};
    struct as_buf b = page_of(&s, "<b>\"&");
    (void)state;
    assert_has(&b, "<th scope=\"row\">&lt;b&gt;&quot;&amp;");
    assert_null(strstr(as_buf_get(&b), "<b>\"&"));
    as_buf_finish(&b);
}

static void too_little_is_said(void **state)
{
    struct scene s = {.run = {.cells_n = 0}};
    struct as_buf b = AS_BUF_INIT;
    struct as_page page = {.runs = &s.run, .n = 1, .out = &b, .err = &err};
    (void)state;
    struct as_buf all = page_of(&s, "third");
    as_buf_finish(&all);
    s.run.cells_n = 2; /* both alone */
    assert_int_equal(as_page_pipes(&page), AS_OK);
    assert_has(&b, "too few operations");
    as_buf_clear(&b);
    s.device.is_host_cpu = true; /* threads on separate cores */
    assert_false(as_page_has_pipes(&page));
    assert_int_equal(as_page_pipes(&page), AS_OK);
    assert_int_equal(b.len, 0);
    as_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_stand_by_resource),
        cmocka_unit_test(names_are_escaped),
        cmocka_unit_test(too_little_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
