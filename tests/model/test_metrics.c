/* Further metrics of a cell: notes of its trials become an estimate; malformed ones are left out. */
#include "base/text.h"
#include "model/judge.h"
#include "model/metrics.h"
#include "model/number.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 3, N = 8 };

static const struct as_metric further[] = {
    {"mean", "ns", true, "the mean", NULL},
    {"faults", "faults/page", true, "per page", NULL},
    {"absent", "ns", true, "noted by no trial", NULL},
    {0},
};

static void add_trial(struct as_trials *t, int number, const char *detail)
{
    struct as_error err = {0};
    struct as_trial v = {.number = number,
                         .n = N,
                         .samples = calloc(N, sizeof(double)),
                         .detail = strdup(detail),
                         .status = AS_CELL_OK,
                         .limit = NAN,
                         .clock_hz = NAN};
    assert_non_null(v.samples);
    for (size_t i = 0; i < N; i++)
        v.samples[i] = 10 + 0.01 * (double)i;
    assert_int_equal(as_trials_add(t, &v, &err), AS_OK);
}

static const struct as_metric *listed;

static const struct as_metric *listed_metrics(const struct as_cell *cell)
{
    (void)cell;
    return listed;
}

/* Learns from n cells, and judges them. */
static void judge_all(struct as_cell *cells, const struct as_trials *t, size_t n, const struct as_metric *metrics)
{
    struct as_error err = {0};
    struct as_judge j = {.trials_asked = TRIALS, .reference_hz = NAN, .further = listed_metrics};
    listed = metrics;
    assert_int_equal(as_judge_learn(&j, cells, t, n, &err), AS_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(as_judge_cell(&j, &cells[i], &t[i], &(struct as_judge_context){0}, &err), AS_OK);
    as_judge_finish(&j);
}

static void judge_metrics(struct as_cell *cell, const struct as_trials *t, const struct as_metric *metrics)
{
    judge_all(cell, t, 1, metrics);
}

UNIT_TEST(test_estimate)
{
    static const char *const details[TRIALS] = {"{\"mean\":12,\"faults\":1}", "{\"mean\":11,\"faults\":1}",
                                                "{\"mean\":13,\"faults\":1,\"absent\":\"text\"}"};
    struct as_cell cell = {.probe = "fault", .unit = "ns", .lower_is_better = 1, .precision = NAN, .limit = NAN};
    struct as_trials t = {0};
    struct as_metric_value v[AS_METRICS_MAX];
    for (int i = 0; i < TRIALS; i++)
        add_trial(&t, i, details[i]);
    judge_metrics(&cell, &t, further);
    assert_int_equal(as_cell_metrics(&cell, v), 2);
    assert_string_equal(v[0].name, "mean");
    assert_string_equal(v[0].unit, "ns");
    assert_string_equal(v[0].counts, "the mean");
    assert_true(v[0].lower_is_better && v[0].trials == TRIALS);
    assert_true(v[0].value >= 11 && v[0].value <= 13 && v[0].ci.lo < v[0].value && v[0].value < v[0].ci.hi);
    assert_true(v[1].value == 1);
    assert_false(as_cell_metric(&cell, "absent", &v[2]));
    judge_metrics(&cell, &t, NULL); /* like a stored cell whose probe is unknown */
    struct as_metric_value again;
    assert_true(as_cell_metric(&cell, "mean", &again));
    assert_memory_equal(&again.ci, &v[0].ci, sizeof again.ci);
    judge_metrics(&cell, &t, &(struct as_metric){0});
    assert_int_equal(as_cell_metrics(&cell, v), 0);
    as_trials_finish(&t);
    as_cell_finish(&cell);
}

/* Cells of any probe have the memory traffic that sensors reported, also when they are judged again. */
UNIT_TEST(test_traffic)
{
    struct as_cell cell = {.probe = "fault", .unit = "ns", .lower_is_better = 1, .precision = NAN, .limit = NAN};
    struct as_trials t = {0};
    struct as_metric_value v;
    for (int i = 0; i < TRIALS; i++)
        add_trial(&t, i, "{\"memory_read\":3.5,\"device_memory\":40,\"mean\":12}");
    judge_metrics(&cell, &t, &(struct as_metric){0});
    assert_true(as_cell_metric(&cell, "memory_read", &v) && v.value == 3.5 && strcmp(v.unit, "GB/s") == 0);
    assert_true(as_cell_metric(&cell, "device_memory", &v) && v.value == 40);
    assert_false(as_cell_metric(&cell, "memory_written", &v));
    judge_metrics(&cell, &t, NULL);
    assert_true(as_cell_metric(&cell, "memory_read", &v) && v.value == 3.5);
    assert_true(as_is_demand_metric("bus_sent") && !as_is_demand_metric("mean"));
    as_trials_finish(&t);
    as_cell_finish(&cell);
}

/* One trial: the interval is finite and wide. */
UNIT_TEST(test_one_trial)
{
    struct as_cell cell = {.probe = "fault", .unit = "ns", .lower_is_better = 1, .precision = NAN, .limit = NAN};
    struct as_trials t = {0};
    struct as_metric_value v;
    add_trial(&t, 0, "{\"mean\":12}");
    judge_metrics(&cell, &t, further);
    assert_true(as_cell_metric(&cell, "mean", &v));
    assert_true(v.value == 12 && isfinite(v.ci.lo) && isfinite(v.ci.hi) && v.ci.hi > 13);
    as_trials_finish(&t);
    as_cell_finish(&cell);
}

/* Two trials that agree are precise where the trials of similar cells agree, in whatever unit; a group whose trials
 * differ makes them wide, and a cell's number says nothing of the scatter of its metrics. */
UNIT_TEST(test_two_trials_use_their_group)
{
    enum { GROUP = 12 };
    static const struct as_metric metrics[] = {
        {"rate", "OP/s", false, "the same number at the clock", NULL},
        {"tail", "ns", true, "scatters more than the cell's number", NULL},
        {0},
    };
    struct as_cell cells[GROUP] = {{0}};
    struct as_trials t[GROUP] = {{0}};
    for (size_t i = 0; i < GROUP; i++) {
        cells[i] = (struct as_cell){.probe = "alu", .unit = "ns", .precision = NAN, .limit = NAN};
        for (int k = 0; k < 2; k++) {
            struct as_buf text = AS_BUF_INIT;
            const double rate = 1 + (k ? 1 : -1) * 1e-4 * (double)(1 + i % 4), tail = k && i ? 1 + 0.1 * (double)i : 1;
            as_buf_printf(&text, "{\"rate\":%.9g,\"tail\":%.9g}", 5e11 * rate, 40 * tail);
            add_trial(&t[i], k, as_buf_get(&text));
            as_buf_finish(&text);
        }
    }
    judge_all(cells, t, GROUP, metrics);
    for (size_t i = 0; i < GROUP; i++) {
        struct as_metric_value v;
        assert_true(as_cell_metric(&cells[i], "rate", &v));
        assert_true(v.ci.hi - v.ci.lo < 0.01 * v.value && v.ci.lo < v.value && v.value < v.ci.hi);
        assert_true(as_cell_metric(&cells[i], "tail", &v));
        assert_true(v.ci.hi > 1.2 * v.value);
        as_trials_finish(&t[i]);
        as_cell_finish(&cells[i]);
    }
}

UNIT_TEST(test_malformed)
{
#define GOOD(name, value, low)                                                                                         \
    "{\"name\":\"" name "\",\"unit\":\"ns\",\"better\":\"less\",\"counts\":null,\"trials\":3,\"value\":" value         \
    ",\"ci_low\":" low ",\"ci_high\":9}"
    static const struct {
        const char *text;
        size_t n;
        bool valid;
    } rows[] = {
        {"[]", 0, true},
        {"[" GOOD("a", "2", "1") "]", 1, true},
        {"[" GOOD("a", "2", "1") ",7," GOOD("b", "2", "1") "]", 2, false},
        {"[" GOOD("a", "2", "3") "]", 0, false},    /* outside its interval */
        {"[" GOOD("a", "null", "1") "]", 0, false}, /* not a number */
        {"[" GOOD("", "2", "1") "]", 0, false},
        {"[" GOOD("a name of more than thirty-one bytes", "2", "1") "]", 0, false},
        {"[{}]", 0, false},
        {"{\"a\":1}", 0, false},
        {"7", 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_cell cell = {.metrics = strdup(rows[i].text)};
        struct as_metric_value v[AS_METRICS_MAX];
        json_t *j = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
        assert_int_equal(as_cell_metrics(&cell, v), rows[i].n);
        assert_true(as_metrics_valid(j) == rows[i].valid);
        json_decref(j);
        as_cell_finish(&cell);
    }
    struct as_buf many = AS_BUF_INIT;
    for (int i = 0; i <= AS_METRICS_MAX; i++)
        as_buf_str(&many, i ? "," GOOD("a", "2", "1") : "[" GOOD("a", "2", "1"));
    as_buf_str(&many, "]");
    struct as_cell cell = {.metrics = as_buf_take(&many)};
    struct as_metric_value v[AS_METRICS_MAX];
    assert_int_equal(as_cell_metrics(&cell, v), AS_METRICS_MAX);
    as_cell_finish(&cell);
}

UNIT_TEST(test_answers)
{
    static const char *const answers[] = {"to nearest even", "<truncated>", NULL};
    struct as_cell cell = {.unit = AS_UNIT_ANSWER};
    struct as_error err = {0};
    struct as_buf text = AS_BUF_INIT;
    char out[64];
    assert_int_equal(as_cell_set_answers(&cell, answers, &err), AS_OK);
    assert_string_equal(as_cell_answer(&cell, 1, out), "to nearest even");
    assert_string_equal(as_cell_answer(&cell, 2, out), "<truncated>");
    static const double none[] = {0, 3, 1.5, -1, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(as_cell_answer(&cell, none[i], out));
    cell.sum.median = 1;
    as_cell_number(&cell, &text);
    assert_string_equal(as_buf_get(&text), "to nearest even");
    as_copy_text(cell.unit, sizeof cell.unit, "ns"); /* a number is not a text */
    assert_null(as_cell_answer(&cell, 1, out));
    assert_int_equal(as_cell_set_answers(&cell, NULL, &err), AS_OK);
    assert_null(cell.answers);
    as_buf_finish(&text);
    as_cell_finish(&cell);
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {{"[]", true}, {"[\"a\"]", true}, {"[1]", false}, {"{}", false}, {"\"a\"", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *j = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
        assert_true(as_answers_valid(j) == rows[i].valid);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate),  cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_one_trial), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_answers),   cmocka_unit_test(test_two_trials_use_their_group),
    };
    return cmocka_run_group_tests_name("further metrics", tests, NULL, NULL);
}
