/* Progress, without a clock and without a terminal: events in, text out. */
#include "cli/output/progress.h"
#include "cli/cli.h"
#include "cli/options/session.h"
#include "cli/output/ndjson.h"
#include "report/terminal/terminal.h"
#include "tests/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct as_cell cell(const char *probe, double median, bool less)
{
    struct as_cell c = {.lower_is_better = less, .status = AS_CELL_OK, .limit = NAN, .clock_hz = NAN};
    strcpy(c.probe, probe);
    strcpy(c.device, "cpu");
    strcpy(c.unit, less ? "ns" : "GB/s");
    c.sum = (struct as_summary){.n = 10, .trials = 1, .median = median, .ci = {median, median}, .modes = 1};
    as_axes_add(&c.axes, "size", "1048576", NULL);
    return c;
}

static struct as_event event(enum as_event_kind kind, const struct as_cell *c, double at)
{
    return (struct as_event){.kind = kind,
                             .cell = c,
                             .cells_done = 3,
                             .cells_total = 40,
                             .round = 1,
                             .rounds = 3,
                             .elapsed_s = at,
                             .eta_s = 41.2};
}

/* Text of one event; freed by the next call. */
static const char *show(struct as_progress *p, struct as_event e)
{
    static struct as_buf b;
    as_buf_clear(&b);
    as_progress_event(p, &e, NULL, false, NULL, &b);
    return as_buf_get(&b);
}

UNIT_TEST(test_line)
{
    struct as_progress p = {.width = 120, .height = 24};
    struct as_cell latency = cell("latency", 1.46, true);
    const char *line = show(&p, event(AS_EVENT_CELL_END, &latency, 3));
    assert_string_equal(line, "6%, 42 s left | Memory latency, 1 MiB: 1.46 ns\x1b[J");
    struct as_event more = event(AS_EVENT_CELL_END, &latency, 3.5);
    more.cells_done = 40;
    assert_string_equal(show(&p, more), "\r7%, 42 s left, narrowing intervals | Memory latency, 1 MiB: 1.46 ns\x1b[J");
    more.eta_s = NAN;
    more.elapsed_s = 5;
    more.cells_done = 10;
    assert_string_equal(show(&p, more), "\r25% | Memory latency, 1 MiB: 1.46 ns\x1b[J");
    assert_string_equal(show(&p, event(AS_EVENT_RUN_END, NULL, 6)), "\r\x1b[J"); /* leaves an empty line */
}

/* Without a terminal a line comes where nothing else did for ten seconds. */
UNIT_TEST(test_heartbeat)
{
    struct as_progress p = {.width = 0};
    struct as_cell latency = cell("latency", 1.46, true);
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &latency, 3)), "");
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &latency, 10.5)),
                        "assay: 20%, 42 s left | Memory latency, 1 MiB: 1.46 ns\n");
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &latency, 15)), "");
    assert_string_equal(show(&p, event(AS_EVENT_RUN_END, NULL, 30)), "");
}

/* What watches the machine is named by what it is for, not by its parts. */
UNIT_TEST(test_sentinel)
{
    struct as_progress p = {.width = 120, .height = 24};
    struct as_cell c = cell("sentinel", 1, true);
    assert_string_equal(show(&p, event(AS_EVENT_CELL_START, &c, 3)), "6%, 42 s left | reference measurement\x1b[J");
}

UNIT_TEST(test_rejected_has_no_number)
{
    struct as_progress p = {.width = 200};
    struct as_cell c = cell("latency", 0.01, true);
    c.status = AS_CELL_REJECTED;
    assert_null(strstr(show(&p, event(AS_EVENT_CELL_END, &c, 1)), "ns"));
}

UNIT_TEST(test_width)
{
    struct as_cell c = cell("bandwidth", 23.4, false);
    strcpy(c.probe, "\xe6\xb8\xac\xe6\xb8\xac"); /* two wide characters */
    for (unsigned width = 2; width < 90; width++) {
        struct as_progress p = {.width = width, .unicode = true};
        const char *line = show(&p, event(AS_EVENT_CELL_END, &c, 1)), *end = strstr(line, "\x1b[J");
        char text[200] = "";
        assert_non_null(end);
        memcpy(text, line, (size_t)(end - line));
        assert_true(as_text_width(text) < width);
    }
}

UNIT_TEST(test_redraws_are_spaced)
{
    struct as_progress p = {.width = 100};
    struct as_cell c = cell("latency", 1, true);
    assert_string_not_equal(show(&p, event(AS_EVENT_CELL_START, &c, 1)), "");
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &c, 1.05)), "");
    assert_string_not_equal(show(&p, event(AS_EVENT_CELL_START, &c, 1.2)), "");
}

static void test_no_terminal(void **state)
{
    struct as_progress p = {.width = 0};
    struct as_cell c = cell("latency", 1, true);
    struct as_event note = {.kind = AS_EVENT_NOTE, .text = "waiting\x1b[2J for run 3"};
    (void)state;
    assert_string_equal(show(&p, event(AS_EVENT_CELL_START, &c, 1)), "");
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &c, 2)), "");
    assert_string_equal(show(&p, note), "assay: waiting\\x1b[2J for run 3\n");
    struct as_buf b = AS_BUF_INIT;
    struct as_run_result r = {.run_id = 3, .state = AS_RUN_COMPLETE};
    r.by_status[AS_CELL_OK] = 38;
    r.by_status[AS_CELL_REJECTED] = 2;
    as_progress_end(&p, &r, 58.4, &b);
    assert_string_equal(as_buf_get(&b), "assay: run 3 complete: 38 ok, 2 rejected; took 58 s\n");
    as_buf_finish(&b);
}

UNIT_TEST(test_quiet)
{
    struct as_progress p = {.width = 100, .quiet = true};
    struct as_cell c = cell("latency", 1, true);
    struct as_event note = {.kind = AS_EVENT_NOTE, .text = "a worker died"};
    struct as_run_result r = {.run_id = 3};
    struct as_buf b = AS_BUF_INIT;
    assert_string_equal(show(&p, event(AS_EVENT_CELL_END, &c, 1)), "");
    assert_string_equal(show(&p, note), "");
    as_progress_end(&p, &r, 1, &b);
    assert_int_equal(b.len, 0);
}

/* A hostile name cannot move the cursor. */
UNIT_TEST(test_escapes)
{
    struct as_progress p = {.width = 200};
    struct as_cell c = cell("latency", 1, true);
    strcpy(c.probe, "\x1b]0;x\x07\x1b[2J");
    const char *line = show(&p, event(AS_EVENT_CELL_START, &c, 1));
    assert_string_equal(strchr(line, '\x1b'), "\x1b[J"); /* its own, at the end */
    assert_null(strchr(line, '\x07'));
    assert_non_null(strstr(line, "\\x1b[2J"));
}

UNIT_TEST(test_json_events)
{
    struct as_cell c = cell("latency", 1.5, true);
    struct as_event end = event(AS_EVENT_CELL_END, &c, 2.5);
    struct as_buf b = AS_BUF_INIT;
    strcpy(c.device, "\x1b<\"\xff");
    end.eta_s = NAN;
    as_ndjson_event(&b, &end);
    assert_true(b.len > 0 && b.data[b.len - 1] == '\n');
    assert_null(memchr(b.data, '\n', b.len - 1)); /* one object, one line */
    json_t *j = json_loads(as_buf_get(&b), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(j);
    assert_string_equal(json_string_value(json_object_get(j, "event")), "cell_end");
    assert_true(json_is_null(json_object_get(j, "eta_s")));
    json_t *jc = json_object_get(j, "cell");
    assert_true(json_real_value(json_object_get(jc, "median")) == 1.5);
    assert_true(json_integer_value(json_object_get(json_object_get(jc, "axes"), "size")) == 1048576);
    json_decref(j);
    as_buf_finish(&b);
}

/* As 'assay help' says: what the budget left out is not impossible. */
static void test_exit_codes(void **state)
{
    static const struct {
        size_t ok, rejected, crashed, skipped, unsupported;
        int code;
    } cases[] = {
        {3, 0, 0, 0, 1, AS_EXIT_OK},     {3, 0, 0, 2, 0, AS_EXIT_OK},      {3, 0, 0, 4, 0, AS_EXIT_PARTLY},
        {3, 1, 0, 0, 0, AS_EXIT_PARTLY}, {3, 0, 1, 0, 0, AS_EXIT_PARTLY},  {0, 0, 0, 5, 0, AS_EXIT_PARTLY},
        {0, 0, 0, 5, 3, AS_EXIT_PARTLY}, {0, 0, 0, 0, 3, AS_EXIT_NOTHING}, {0, 0, 2, 0, 0, AS_EXIT_FAILED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct as_run_result result = {.run_id = 1,
                                             .state = AS_RUN_COMPLETE,
                                             .by_status = {[AS_CELL_OK] = cases[i].ok,
                                                           [AS_CELL_REJECTED] = cases[i].rejected,
                                                           [AS_CELL_CRASHED] = cases[i].crashed,
                                                           [AS_CELL_SKIPPED] = cases[i].skipped,
                                                           [AS_CELL_UNSUPPORTED] = cases[i].unsupported}};
        assert_int_equal(as_session_code(&result), cases[i].code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),        cmocka_unit_test(test_heartbeat),
        cmocka_unit_test(test_sentinel),    cmocka_unit_test(test_rejected_has_no_number),
        cmocka_unit_test(test_width),       cmocka_unit_test(test_redraws_are_spaced),
        cmocka_unit_test(test_no_terminal), cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_escapes),     cmocka_unit_test(test_json_events),
        cmocka_unit_test(test_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
