/* Data sheets from files: what is refused, and where it stands. */
#include "base/text.h"
#include "report/sheet/sheet_check.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

/* A one-line sheet with one member replaced; a NULL text removes it. */
static enum as_status read_line(const char *member, const char *instead, const char *more, struct as_error *err)
{
    static const char *const members[][2] = {
        {"group", "\"Memory\""}, {"quantity", "\"read\""}, {"value", "100"},          {"unit", "\"GB/s\""},
        {"ci_low", "99"},        {"ci_high", "101"},       {"wide", "true"},          {"trials", "3"},
        {"specified", "null"},   {"further", "\"\""},      {"clock_exponent", "0.5"},
    };
    struct as_buf text = AS_BUF_INIT;
    struct as_machine_sheet m;
    as_buf_str(&text,
               "{\"sheet_version\":1,\"run\":\"u\",\"host\":\"h\",\"suite\":\"quick\",\"devices\":[{\"id\":\"cpu\","
               "\"name\":\"n\",\"lines\":[{");
    const char *between = "";
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *value = strcmp(members[i][0], member) == 0 ? instead : members[i][1];
        if (value) {
            as_buf_printf(&text, "%s\"%s\":%s", between, members[i][0], value);
            between = ",";
        }
    }
    as_buf_printf(&text, "}%s]}]}", more);
    const enum as_status st = as_machine_sheet_read(as_buf_get(&text), text.len, &m, err);
    assert_true(st || m.v->sheet.n == 1);
    as_machine_sheet_finish(&m);
    as_buf_finish(&text);
    return st;
}

/* Impossible values are refused, and the line is named. */
UNIT_TEST(test_damaged_lines)
{
    static const char *const bad[][2] = {
        {"group", "\"Memori\""},
        {"group", NULL},
        {"group", "7"},
        {"quantity", "\"reed\""},
        {"quantity", NULL},
        {"value", "\"100\""},
        {"value", NULL},
        {"value", "null"},
        {"value", "true"},
        {"value", "0"},
        {"value", "-100"},
        {"value", "102"},
        {"value", "98"},
        {"unit", "\"GB\""},
        {"unit", "\"ns\""},
        {"unit", NULL},
        {"unit", "3"},
        {"ci_low", "102"},
        {"ci_low", "\"99\""},
        {"ci_low", NULL},
        {"ci_high", "98"},
        {"ci_high", "null"},
        {"ci_high", "[101]"},
        {"wide", "1"},
        {"trials", "-1"},
        {"trials", "2.5"},
        {"trials", "\"3\""},
        {"specified", "\"1\""},
        {"further", "7"},
        {"clock_exponent", "1e9"},
        {"clock_exponent", "-1"},
        {"clock_exponent", "\"1\""},
    };
    static const char *const good[][2] = {{"specified", "120"},       {"wide", NULL},           {"trials", NULL},
                                          {"clock_exponent", "null"}, {"clock_exponent", NULL}, {"value", "99"}};
    struct as_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_line(bad[i][0], bad[i][1], "", &err), AS_FORMAT);
        assert_non_null(strstr(err.text, "device 'cpu', line 1"));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(read_line(good[i][0], good[i][1], "", &err), AS_OK);
    assert_int_equal(read_line("value", "100", ",7", &err), AS_FORMAT);
    assert_int_equal(
        read_line("value", "100",
                  ",{\"group\":\"Memory\",\"quantity\":\"read\",\"value\":1,\"unit\":\"GB/s\",\"ci_low\":1,"
                  "\"ci_high\":1}",
                  &err),
        AS_FORMAT);
    assert_non_null(strstr(err.text, "line 2 ('Memory' 'read'): duplicate line"));
}

/* The words of any device for a compute unit. */
UNIT_TEST(test_labels)
{
    static const char line[] =
        "{\"sheet_version\":1,\"devices\":[{\"id\":\"cuda:0\",\"lines\":[{\"group\":\"Cache line\","
        "\"quantity\":\"%s\",\"value\":1,\"unit\":\"ns\",\"ci_low\":null,\"ci_high\":null}]}]}";
    static const struct {
        const char *label;
        enum as_status wanted;
    } cases[] = {
        {"SM to SM", AS_OK},      {"GPU core to GPU core", AS_OK}, {"core to core", AS_OK}, {"CPU to device", AS_OK},
        {"SM two SM", AS_FORMAT}, {"SM to ", AS_FORMAT},           {" to SM", AS_FORMAT},   {"", AS_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_machine_sheet m;
        char text[512];
        snprintf(text, sizeof text, line, cases[i].label);
        assert_int_equal(as_machine_sheet_read(text, strlen(text), &m, NULL), cases[i].wanted);
        as_machine_sheet_finish(&m);
    }
}

UNIT_TEST(test_file)
{
    static const char *const bad[] = {
        "{\"sheet_version\":1",
        "{\"sheet_version\":2,\"devices\":[]}",
        "{\"sheet_version\":1,\"devices\":7}",
        "{\"sheet_version\":1,\"devices\":[{\"id\":\"cpu\"}]}",
        "{\"sheet_version\":1,\"devices\":[{\"lines\":[]}]}",
        "{\"sheet_version\":1,\"devices\":[{\"id\":\"a\\nb\",\"lines\":[]}]}",
        ("{\"sheet_version\":1,\"devices\":[{\"id\":\"cpu\",\"lines\":[]},{\"id\":\"cpu\","
         "\"lines\":[]}]}"),
        "{\"sheet_version\":1,\"host\":7,\"devices\":[]}",
        "{\"sheet_version\":1,\"reference_clock_hz\":-3,\"devices\":[]}",
        "{\"sheet_version\":1,\"reference_clock_hz\":\"4e9\",\"devices\":[]}",
        "{\"sheet_version\":1,\"virtual_machine\":1,\"devices\":[]}",
        "[]"};
    struct as_machine_sheet m;
    struct as_error err;
    assert_true(as_machine_sheet_is("{\"sheet_version\":1}", 19));
    assert_false(as_machine_sheet_is("{\"format_version\":1}", 20));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(as_machine_sheet_read(bad[i], strlen(bad[i]), &m, &err), AS_FORMAT);
    for (size_t i = 0; i < 2; i++) { /* built-in sheets can be read */
        const char *text = as_machine_json(i ? "h200" : "h100");
        assert_int_equal(as_machine_sheet_read(text, strlen(text), &m, &err), AS_OK);
        assert_true(m.v->sheet.n > 10);
        as_machine_sheet_finish(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_lines),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests_name("sheets from files", tests, NULL, NULL);
}
