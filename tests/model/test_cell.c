/* Axes as text and JSON, keys, words. */
#include "model/cell.h"
#include "tests/unit_test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_axis(struct as_axes *axes, const char *name, const char *text)
{
    struct as_error err;
    assert_int_equal(as_axes_add(axes, name, text, &err), AS_OK);
}

UNIT_TEST(test_lookup)
{
    struct as_axes axes = {0};
    add_axis(&axes, "size", "1048576");
    add_axis(&axes, "op", "triad");
    add_axis(&axes, "share", "0.25");
    assert_int_equal(as_axes_u64(&axes, "size"), 1048576);
    assert_true(as_axes_number(&axes, "size") == 1048576);
    assert_true(as_axes_number(&axes, "share") == 0.25);
    assert_int_equal(as_axes_u64(&axes, "share"), 0);
    assert_string_equal(as_axes_text(&axes, "op"), "triad");
    assert_true(isnan(as_axes_number(&axes, "op")));
    assert_int_equal(as_axes_u64(&axes, "op"), 0);
    assert_null(as_axes_get(&axes, "none"));
    assert_string_equal(as_axes_text(&axes, "none"), "");
    assert_true(isnan(as_axes_number(&axes, "none")));
    assert_int_equal(as_axes_u64(&axes, "none"), 0);
    assert_true(as_axes_is(&axes, "op", "triad"));
    assert_false(as_axes_is(&axes, "op", "copy"));
    assert_true(as_axes_is(&axes, "none", "copy"));
}

UNIT_TEST(test_better)
{
    struct as_cell small = {.sum = {.median = 1}}, large = {.sum = {.median = 2}};
    assert_true(as_cell_is_better(&large, &small));
    assert_false(as_cell_is_better(&small, &large));
    assert_false(as_cell_is_better(&small, &small));
    small.lower_is_better = large.lower_is_better = 1;
    assert_true(as_cell_is_better(&small, &large));
    assert_false(as_cell_is_better(&large, &small));
}

/* A double has 53 bits; the axis has more. */
UNIT_TEST(test_large_whole_numbers)
{
    struct as_axes axes = {0};
    add_axis(&axes, "size", "9007199254740993");
    add_axis(&axes, "most", "9223372036854775807");
    assert_true(as_axes_u64(&axes, "size") == 9007199254740993u);
    assert_true(as_axes_u64(&axes, "most") == INT64_MAX);
    struct as_buf json = AS_BUF_INIT;
    struct as_axes back;
    struct as_error err;
    as_axes_to_json(&axes, &json);
    assert_string_equal(as_buf_get(&json), "{\"size\":9007199254740993,\"most\":9223372036854775807}");
    assert_int_equal(as_axes_from_json(as_buf_get(&json), &back, &err), AS_OK);
    assert_true(as_axes_u64(&back, "size") == 9007199254740993u);
    as_buf_finish(&json);
}

UNIT_TEST(test_words_that_look_like_numbers)
{
    static const char *const words[] = {
        "01", "+1", "1e3", "0x10", "1.50", "-0", "1.", "nan", "inf", "1 ", ".5", "9223372036854775808", "-", "1e999"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct as_axes axes = {0}, back;
        struct as_buf json = AS_BUF_INIT;
        struct as_error err;
        add_axis(&axes, "op", words[i]);
        if (!isnan(axes.v[0].number))
            fail_msg("'%s' is taken for a number", words[i]);
        as_axes_to_json(&axes, &json);
        assert_int_equal(as_axes_from_json(as_buf_get(&json), &back, &err), AS_OK);
        assert_string_equal(back.v[0].text, words[i]);
        as_buf_finish(&json);
    }
}

UNIT_TEST(test_json_round_trip)
{
    struct as_axes axes = {0}, back;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err;
    add_axis(&axes, "size", "1048576");
    add_axis(&axes, "op", "</script>\"\\ \xc3\xa9");
    add_axis(&axes, "share", "0.1");
    add_axis(&axes, "shift", "-3");
    add_axis(&axes, "tiny", "1e-300");
    as_axes_to_json(&axes, &json);
    assert_null(strchr(as_buf_get(&json), '<'));
    assert_int_equal(as_axes_from_json(as_buf_get(&json), &back, &err), AS_OK);
    assert_int_equal(back.n, axes.n);
    for (size_t i = 0; i < axes.n; i++) {
        assert_string_equal(back.v[i].name, axes.v[i].name);
        assert_string_equal(back.v[i].text, axes.v[i].text);
        assert_true(isnan(axes.v[i].number) ? isnan(back.v[i].number) : back.v[i].number == axes.v[i].number);
    }
    assert_true(isnan(as_axes_number(&back, "op")));
    assert_true(as_axes_number(&back, "tiny") == 1e-300);
    as_buf_finish(&json);
}

/* Any spelling of a number is converted to one. */
UNIT_TEST(test_json_numbers_are_canonical)
{
    static const struct {
        const char *json, *text;
    } cases[] = {{"{\"a\":1e3}", "1000"},   {"{\"a\":1.50}", "1.5"},
                 {"{\"a\":-0}", "0"},       {"{\"a\":-0.0}", "0"},
                 {"{\"a\":1e22}", "1e+22"}, {"{\"a\":0.30000000000000004}", "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_axes axes;
        struct as_buf json = AS_BUF_INIT;
        struct as_error err;
        assert_int_equal(as_axes_from_json(cases[i].json, &axes, &err), AS_OK);
        assert_string_equal(as_axes_text(&axes, "a"), cases[i].text);
        as_axes_to_json(&axes, &json);
        struct as_axes again;
        assert_int_equal(as_axes_from_json(as_buf_get(&json), &again, &err), AS_OK);
        assert_string_equal(as_axes_text(&again, "a"), cases[i].text);
        as_buf_finish(&json);
    }
}

UNIT_TEST(test_hostile_json)
{
    static const char *const texts[] = {
        "",
        "null",
        "[]",
        "1",
        "\"a\"",
        "{",
        "{}}",
        "{\"a\":null}",
        "{\"a\":{}}",
        "{\"a\":[1]}",
        "{\"a\":true}",
        "{\"a\":1,\"a\":2}",
        "{\"\":1}",
        "{\"A\":1}",
        "{\"a b\":1}",
        "{\"\\u0000\":1}",
        "{\"a\":\"\"}",
        "{\"a\":\"x\\u0000y\"}",
        "{\"a\":\"\\u001b[31m\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":1e999}",
        "{\"a\":99999999999999999999}",
        "{\"a_name_that_is_far_too_long\":1}",
        "{\"a\":\"0123456789012345678901234567890123456789012345678\"}",
        "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct as_axes axes;
        struct as_error err = {0};
        if (as_axes_from_json(texts[i], &axes, &err) != AS_FORMAT || !err.text[0])
            fail_msg("accepted: %s", texts[i]);
    }
    struct as_axes axes;
    struct as_error err;
    assert_int_equal(as_axes_from_json(NULL, &axes, &err), AS_FORMAT);
    char *deep = malloc(100001);
    assert_non_null(deep);
    memset(deep, '[', 100000);
    deep[100000] = 0;
    assert_int_equal(as_axes_from_json(deep, &axes, &err), AS_FORMAT);
    free(deep);
}

UNIT_TEST(test_add_refuses)
{
    struct as_axes axes = {0};
    struct as_error err;
    add_axis(&axes, "op", "copy");
    assert_int_equal(as_axes_add(&axes, "op", "triad", &err), AS_FORMAT);
    assert_non_null(strstr(err.text, "twice"));
    assert_int_equal(as_axes_add(&axes, "Op", "triad", &err), AS_FORMAT);
    assert_int_equal(as_axes_add(&axes, "x", "", &err), AS_FORMAT);
    assert_int_equal(as_axes_add(&axes, "x", "a\nb", &err), AS_FORMAT);
    assert_int_equal(axes.n, 1);
    for (char name[] = "a"; axes.n < AS_AXES_MAX; name[0]++)
        add_axis(&axes, name, "1");
    assert_int_equal(as_axes_add(&axes, "z", "1", &err), AS_FORMAT);
}

UNIT_TEST(test_text_for_people)
{
    struct as_axes axes = {0};
    struct as_buf text = AS_BUF_INIT;
    add_axis(&axes, "size", "1048576");
    add_axis(&axes, "op", "triad");
    add_axis(&axes, "threads", "4096");
    add_axis(&axes, "page_size", "4096");
    as_axes_to_text(&axes, &text);
    assert_string_equal(as_buf_get(&text), "size=1 MiB op=triad threads=4096 page_size=4 KiB");
    as_buf_finish(&text);
}

UNIT_TEST(test_key)
{
    struct as_axes a = {0}, b = {0}, c = {0}, joined = {0}, none = {0};
    add_axis(&a, "size", "64");
    add_axis(&a, "op", "copy");
    add_axis(&b, "op", "copy");
    add_axis(&b, "size", "64");
    add_axis(&c, "op", "copy");
    add_axis(&c, "size", "640");
    add_axis(&joined, "op", "copysize64");
    uint64_t key = as_cell_key("bandwidth", "bandwidth", &a);
    assert_true(key == as_cell_key("bandwidth", "bandwidth", &b));
    assert_true(key != as_cell_key("bandwidth", "bandwidth", &c));
    assert_true(key != as_cell_key("bandwidth", "bandwidth", &joined));
    assert_true(key != as_cell_key("latency", "bandwidth", &a));
    assert_true(key != as_cell_key("bandwidth", "latency", &a));
    assert_true(as_cell_key("ab", "c", &none) != as_cell_key("a", "bc", &none));
    /* Keys are stored and exported: they must never change between versions. */
    assert_int_equal(key, 0x6cc4dee3a6ce0a77ULL);
}

UNIT_TEST(test_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "fr_FR"};
    struct as_axes axes = {0}, back;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err;
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_ALL, names[i]);
    if (!found)
        skip(); /* no locale with a decimal comma is installed */
    add_axis(&axes, "share", "0.25");
    assert_true(as_axes_number(&axes, "share") == 0.25);
    as_axes_to_json(&axes, &json);
    assert_string_equal(as_buf_get(&json), "{\"share\":0.25}");
    assert_int_equal(as_axes_from_json("{\"share\":0.25}", &back, &err), AS_OK);
    assert_string_equal(as_axes_text(&back, "share"), "0.25");
    as_buf_finish(&json);
    setlocale(LC_ALL, "C");
}

UNIT_TEST(test_words)
{
    struct as_error err;
    for (int i = 0; i < AS_CELL_STATUS_N; i++) {
        enum as_cell_status back;
        assert_int_equal(as_cell_status_parse(as_cell_status_word((enum as_cell_status)i), &back, &err), AS_OK);
        assert_int_equal(back, i);
    }
    enum as_cell_status s;
    assert_int_equal(as_cell_status_parse("Ok", &s, &err), AS_FORMAT);
    assert_int_equal(as_cell_status_parse(NULL, &s, &err), AS_FORMAT);
    for (int i = 0; i < AS_GATE_N; i++) {
        assert_true(as_gate_name((enum as_gate)i)[0] != 0);
        assert_non_null(strstr(as_gate_help((enum as_gate)i), "passes when"));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(as_gate_name((enum as_gate)i), as_gate_name((enum as_gate)j));
    }
    assert_string_equal(as_gate_state_word(AS_GATE_NA), "n/a");
    assert_string_equal(as_run_state_word(AS_RUN_COMPLETE), "complete");
    assert_string_equal(as_run_state_word((enum as_run_state)99), "unknown");
    assert_string_equal(as_cell_status_word((enum as_cell_status)99), "unknown");
    assert_string_equal(as_gate_name((enum as_gate)99), "unknown");
}

/* A store may contain anything. */
UNIT_TEST(test_length_of_a_run)
{
    struct as_error err;
    struct as_run run = {.started_at = 1000};
    assert_true(isnan(as_run_length(&run)));
    run.ended_at = 1100;
    assert_true(as_run_length(&run) == 100);
    assert_int_equal(as_run_add_pause(&run, 1010, 1040, &err), AS_OK);
    assert_int_equal(as_run_add_pause(&run, 1050, 1055, &err), AS_OK);
    assert_true(as_run_length(&run) == 65);
    assert_non_null(strstr(run.provenance, "\"until\":\"1970-01-01T00:17:20Z\""));
    assert_int_equal(as_run_add_pause(&run, 1050, 1060, &err), AS_OK); /* the same again, and more */
    assert_true(as_run_length(&run) == 60);
    assert_int_equal(as_run_add_pause(&run, 1050, 1059, &err), AS_OK);
    assert_true(as_run_length(&run) == 60);
    free(run.provenance);
    static const char *const hostile[] = {
        "[]", "{\"pauses\":3}", "{\"pauses\":[1,{\"seconds\":\"x\"},{\"seconds\":-5},{\"seconds\":1e300}]}", "{"};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        run.provenance = strdup(hostile[i]);
        assert_true(as_run_length(&run) == 100);
        assert_int_equal(as_run_add_pause(&run, 1010, 1040, &err), AS_OK);
        const bool kept = hostile[i][0] != '{' || !hostile[i][1]; /* unchanged */
        assert_true(kept ? strcmp(run.provenance, hostile[i]) == 0 : as_run_length(&run) == 70);
        free(run.provenance);
    }
}

/* Numbers of older versions that timed something else stay visible, but nothing rests on them. */
UNIT_TEST(test_outdated)
{
    static const struct {
        const char *probe, *strategy, *version, *notes;
        bool is_evidence;
    } rows[] = {{"app", "static", "unified", NULL, false},
                {"app", "static", "unified", "{\"allocate\":5}", false},
                {"app", "static", "unified", "{\"static_modules\":1}", true},
                {"app", "none", "host", "{}", false},
                {"app", "none", "host", "{\"host_arrays\":1}", true},
                {"app", "none", "unified", NULL, true},
                {"alloc", "static", "host", NULL, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_cell c = {.status = AS_CELL_OK, .sum = {.n = 3, .trials = 3, .median = 5}};
        strcpy(c.probe, rows[i].probe);
        add_axis(&c.axes, "strategy", rows[i].strategy);
        add_axis(&c.axes, "version", rows[i].version);
        c.detail = rows[i].notes ? strdup(rows[i].notes) : NULL;
        assert_true(as_cell_is_valid(&c));
        assert_int_equal(as_cell_is_evidence(&c), rows[i].is_evidence);
        assert_false(as_cell_waits(&c));
        as_cell_finish(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_better),
        cmocka_unit_test(test_large_whole_numbers),
        cmocka_unit_test(test_words_that_look_like_numbers),
        cmocka_unit_test(test_json_round_trip),
        cmocka_unit_test(test_json_numbers_are_canonical),
        cmocka_unit_test(test_hostile_json),
        cmocka_unit_test(test_add_refuses),
        cmocka_unit_test(test_text_for_people),
        cmocka_unit_test(test_key),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_length_of_a_run),
        cmocka_unit_test(test_outdated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
