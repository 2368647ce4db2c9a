/* The data sheet of a run that is being measured, from the cells of a stored run that get their numbers step by step.
 */
#include "cli/output/live.h"
#include "../report/golden.h"
#include "report/model/load.h"
#include "report/sheet/sheet.h"
#include "tests/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run whose cells are hidden until a step shows them. */
struct scene {
    struct as_report_run run;
    struct as_cell *planned; /* the cells as they were planned; those of run have the numbers */
    struct as_live live;
    struct as_buf text, json;
};

static int set_up(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    struct as_buf path = AS_BUF_INIT;
    struct as_store *store;
    struct as_error err = {0};
    assert_non_null(s);
    as_buf_printf(&path, "%s/h100-quick.db", getenv("ASSAY_SAMPLES"));
    assert_int_equal(as_store_open(as_buf_get(&path), AS_STORE_READ, &store, &err), AS_OK);
    assert_int_equal(as_report_load(store, NULL, &s->run, &err), AS_OK);
    as_store_close(store);
    as_buf_finish(&path);
    s->planned = calloc(s->run.cells_n, sizeof *s->planned);
    assert_non_null(s->planned);
    for (size_t i = 0; i < s->run.cells_n; i++) {
        s->planned[i] = s->run.cells[i];
        s->planned[i].status = AS_CELL_PLANNED;
        s->planned[i].sum = (struct as_summary){0};
    }
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    as_live_finish(&s->live);
    as_buf_finish(&s->text);
    as_buf_finish(&s->json);
    as_report_run_finish(&s->run);
    free(s->planned);
    free(s);
    return 0;
}

/* Shows the numbers of a probe's cells, but for every `but`th; 0: of all. */
static void measure(struct scene *s, const char *probe, size_t but)
{
    size_t n = 0;
    for (size_t i = 0; i < s->run.cells_n; i++)
        if (strcmp(s->run.cells[i].probe, probe) == 0 && (but == 0 || ++n % but))
            s->planned[i] = s->run.cells[i];
}

static void measure_rest(struct scene *s)
{
    memcpy(s->planned, s->run.cells, s->run.cells_n * sizeof *s->planned);
}

static bool look(struct scene *s, enum as_event_kind kind, double at, bool first_done)
{
    struct as_error err = {0};
    bool changed = false;
    const struct as_event e = {.kind = kind,
                               .run = &s->run.run,
                               .elapsed_s = at,
                               .eta_s = NAN,
                               .first_done = first_done,
                               .cells = {.v = s->planned, .n = s->run.cells_n}};
    assert_int_equal(as_live_event(&s->live, &e, &s->text, &s->json, &changed, &err), AS_OK);
    return changed;
}

static size_t count_lines(const struct as_buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        n += b->data[i] == '\n';
    return n;
}

/* Lines come with their first number, those that rest on curves with all points, and each as text once. */
static void test_lines(void **state)
{
    struct scene *s = *state;
    assert_false(look(s, AS_EVENT_RUN_START, 0, false));
    measure(s, "bandwidth", 0);
    assert_true(look(s, AS_EVENT_CELL_END, 100, false));
    assert_false(look(s, AS_EVENT_CELL_END, 100.1, false)); /* too soon */
    measure(s, "latency", 3);
    assert_true(look(s, AS_EVENT_CELL_END, 300, false));
    as_buf_str(&s->text, "-- every third cell of a curve is missing\n");
    measure(s, "latency", 0);
    assert_true(look(s, AS_EVENT_CELL_END, 600, false));
    as_buf_str(&s->text, "-- all of it is there\n");
    measure_rest(s);
    assert_true(look(s, AS_EVENT_CELL_END, 900, true));
    assert_golden("live-lines.txt", &s->text);
    const size_t said = count_lines(&s->text);
    assert_true(look(s, AS_EVENT_RUN_END, 1200, true));
    assert_int_equal(count_lines(&s->text), said);
}

/* The last object of a line has the number of the run's sheet, whatever came before. */
static void test_last_is_the_sheet(void **state)
{
    struct scene *s = *state;
    look(s, AS_EVENT_RUN_START, 0, false);
    measure_rest(s);
    for (size_t i = 0; i < s->run.cells_n; i++) { /* rough numbers at first */
        s->planned[i].sum.median *= 1.01;
        s->planned[i].sum.ci.lo *= 0.5;
        s->planned[i].sum.ci.hi *= 2;
    }
    look(s, AS_EVENT_CELL_END, 100, true);
    const size_t rough = count_lines(&s->json);
    assert_true(rough > 20);
    measure_rest(s);
    look(s, AS_EVENT_CELL_END, 300, true);
    assert_true(count_lines(&s->json) > rough); /* narrowed */
    look(s, AS_EVENT_RUN_END, 600, true);
    json_t *last = json_object();
    for (char *at = s->json.data, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        json_t *line = json_loads(at, JSON_REJECT_DUPLICATES, NULL);
        char key[160];
        assert_non_null(line);
        assert_string_equal(json_string_value(json_object_get(line, "event")), "line");
        snprintf(key, sizeof key, "%s %s", json_string_value(json_object_get(line, "device")),
                 json_string_value(json_object_get(line, "name")));
        json_object_set_new(last, key, line);
    }
    size_t lines = 0;
    for (size_t d = 0; d < s->run.devices_n; d++) {
        struct as_sheet sheet;
        struct as_error err = {0};
        assert_int_equal(as_sheet_make(&s->run, s->run.devices[d].id, &sheet, &err), AS_OK);
        for (size_t i = 0; i < sheet.n; i++, lines++) {
            char key[160];
            snprintf(key, sizeof key, "%s %s", s->run.devices[d].id, sheet.rows[i].of->name);
            const json_t *line = json_object_get(last, key);
            assert_non_null(line);
            assert_true(json_number_value(json_object_get(line, "value")) ==
                        (sheet.rows[i].of->kind == AS_KIND_CAPACITY ? 0 : sheet.rows[i].value));
            assert_true(json_number_value(json_object_get(line, "ci_high")) == sheet.rows[i].ci.hi);
        }
        as_sheet_finish(&sheet);
    }
    assert_int_equal(json_object_size(last), lines);
    json_decref(last);
}

/* A number that a later trial made none is taken back. */
static void test_withdrawn(void **state)
{
    struct scene *s = *state;
    look(s, AS_EVENT_RUN_START, 0, false);
    measure_rest(s);
    look(s, AS_EVENT_CELL_END, 100, true);
    for (size_t i = 0; i < s->run.cells_n; i++)
        if (strcmp(s->planned[i].probe, "launch") == 0)
            s->planned[i].status = AS_CELL_REJECTED;
    as_buf_clear(&s->json);
    as_buf_clear(&s->text);
    look(s, AS_EVENT_CELL_END, 300, true);
    as_buf_add(&s->json, s->text.data, s->text.len);
    as_buf_clear(&s->text);
    measure(s, "launch", 0);
    look(s, AS_EVENT_CELL_END, 600, true);
    as_buf_str(&s->json, "-- a number again\n");
    as_buf_add(&s->json, s->text.data, s->text.len);
    assert_golden("live-withdrawn.txt", &s->json);
}

/* A line whose value has moved far, or out of its interval, is written again, also when the run ends. */
static void test_moved(void **state)
{
    static const struct {
        double first;
        double share; /* half the interval */
        bool again;
    } cases[] = {{1, 0.1, false}, {1.1, 0.5, false}, {0.5, 4, true}, {1.5, 4, true}, {1.1, 0.05, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int ends = 0; ends < 2; ends++) {
            struct scene *s = *state;
            as_live_finish(&s->live);
            s->live = (struct as_live){0};
            look(s, AS_EVENT_RUN_START, 0, false);
            measure_rest(s);
            for (size_t i = 0; i < s->run.cells_n; i++) {
                struct as_summary *sum = &s->planned[i].sum;
                sum->median *= cases[k].first;
                sum->ci = (struct as_interval){sum->median / (1 + cases[k].share), sum->median * (1 + cases[k].share)};
            }
            look(s, AS_EVENT_CELL_END, 100, true);
            measure_rest(s);
            as_buf_clear(&s->text);
            as_buf_clear(&s->json);
            look(s, ends ? AS_EVENT_RUN_END : AS_EVENT_CELL_END, 300, true);
            const bool text = strstr(as_buf_get(&s->text), "Memory        read "),
                       json = strstr(as_buf_get(&s->json), "memory.read");
            if (text != cases[k].again || (cases[k].again && !json))
                fail_msg("case %zu, ends %d: %s%s", k, ends, as_buf_get(&s->text), as_buf_get(&s->json));
        }
}

/* More cells than a report holds: said, not left out in silence. */
static void test_too_many(void **state)
{
    struct scene *s = *state;
    struct as_error err = {0};
    bool changed = false;
    const struct as_event e = {
        .kind = AS_EVENT_RUN_START, .run = &s->run.run, .cells = {.v = s->planned, .n = 1000000}};
    assert_int_equal(as_live_event(&s->live, &e, &s->text, NULL, &changed, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "1000000 measurements"));
}

/* At every size the block keeps within it, and tells what it leaves out. */
static void test_block(void **state)
{
    static const struct {
        unsigned width, most;
        const char *name;
    } sizes[] = {{79, 22, "live-block-80.txt"}, {199, 60, "live-block-200.txt"}, {39, 6, "live-block-40.txt"}};
    struct scene *s = *state;
    s->live.unicode = true;
    look(s, AS_EVENT_RUN_START, 0, false);
    measure_rest(s);
    look(s, AS_EVENT_CELL_END, 100, true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct as_buf block = AS_BUF_INIT;
        const struct as_live_size size = as_live_block(&s->live, sizes[i].width, sizes[i].most, &block);
        as_buf_printf(&block, "-- %zu more\n", size.hidden);
        assert_golden(sizes[i].name, &block);
        as_buf_finish(&block);
    }
    for (unsigned width = 1; width < 130; width++)
        for (unsigned most = 0; most < 40; most++) {
            struct as_buf block = AS_BUF_INIT;
            const struct as_live_size size = as_live_block(&s->live, width, most, &block);
            assert_true(size.rows <= most && size.widest <= width);
            assert_int_equal(count_lines(&block), size.rows);
            as_buf_finish(&block);
        }
}

/* Two measurements of a run have two names: else two lines of progress say the same with another number. */
static void test_names(void **state)
{
    struct scene *s = *state;
    struct as_buf *names = calloc(s->run.cells_n, sizeof *names);
    size_t alike = 0;
    assert_non_null(names);
    look(s, AS_EVENT_RUN_START, 0, false);
    for (size_t i = 0; i < s->run.cells_n; i++) {
        as_live_name(&s->live, &s->planned[i], &names[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(as_buf_get(&names[i]), as_buf_get(&names[k])) == 0)
                alike++, print_error("twice: %s\n", as_buf_get(&names[i]));
    }
    for (size_t i = 0; i < s->run.cells_n; i++)
        as_buf_finish(&names[i]);
    free(names);
    assert_int_equal(alike, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_last_is_the_sheet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_withdrawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_moved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_block, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
