/* Arguments: parsed by the records, refused with the nearest name, and quoted again for provenance. */
#include "base/text.h"
#include "cli/cli.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct as_option options[] = {
    {"device", 'd', "LIST", "devices", false},      {"set", 's', "AXIS=VALUES", "values", true},
    {"json", 'j', NULL, "machine-readable", false}, {"quiet", 'q', NULL, "quiet", false},
    {"budget", 0, "TIME", "time", false},           AS_OPTION_END,
};
static const struct as_command command = {
    .name = "run", .args = "[WHAT]...", .options = options, .min_args = 0, .max_args = 2};

/* argv[0] is the program, argv[1] the subcommand. */
static enum as_status parse_line(struct as_args *out, struct as_error *err, const char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    return as_args_parse(&command, argc, (char **)argv, 2, out, err);
}
#define PARSE(out, err, ...) parse_line(out, err, (const char *[]){"assay", "run", __VA_ARGS__, NULL})

UNIT_TEST(test_forms)
{
    struct as_args a;
    struct as_error err = {0};
    assert_int_equal(PARSE(&a, &err, "quick", "--device", "cpu", "-sop=triad", "--set=size=1KiB", "-qj", "-1"), AS_OK);
    assert_string_equal(as_args_word(&a, 0), "quick");
    assert_string_equal(as_args_word(&a, 1), "-1"); /* a run counted from the end, not an option */
    assert_null(as_args_word(&a, 2));
    assert_string_equal(as_args_value(&a, "device"), "cpu");
    assert_null(as_args_value(&a, "budget"));
    assert_true(as_args_flag(&a, "quiet") && as_args_flag(&a, "json"));
    const char **sets;
    size_t n;
    assert_int_equal(as_args_values(&a, "set", &sets, &n, &err), AS_OK);
    assert_int_equal(n, 2);
    assert_string_equal(sets[0], "op=triad");
    assert_string_equal(sets[1], "size=1KiB");
    assert_null(sets[2]);
    free(sets);
    as_args_finish(&a);
    assert_int_equal(PARSE(&a, &err, "--", "--json", "-q"), AS_OK); /* after --, all are operands */
    assert_int_equal(a.words, 2);
    assert_false(as_args_flag(&a, "json"));
    as_args_finish(&a);
}

UNIT_TEST(test_lists_join)
{
    struct as_args a;
    struct as_error err = {0};
    assert_int_equal(PARSE(&a, &err, "--device", "cpu", "-dcuda:0,cuda:1", "--device=null"), AS_OK);
    assert_string_equal(as_args_value(&a, "device"), "cpu,cuda:0,cuda:1,null");
    as_args_finish(&a);
    assert_int_equal(PARSE(&a, &err, "--budget", "1s", "--budget", "2s"), AS_USAGE); /* not a list */
    as_args_finish(&a);
}

UNIT_TEST(test_refused)
{
    static const struct {
        const char *a, *b, *says;
    } cases[] = {
        {"--devcie", "cpu", "did you mean '--device'?"},
        {"--hlep", NULL, "did you mean '--help'?"},
        {"--xyzzy", NULL, "no option '--xyzzy'"},
        {"-x", NULL, "no option '-x'"},
        {"--device", NULL, "needs a value"},
        {"-d", NULL, "needs a value"},
        {"--json=yes", NULL, "takes no value"},
        {"--json", "--json", "given twice"},
        {"-j", "-j", "given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_args a;
        struct as_error err = {0};
        assert_int_equal(PARSE(&a, &err, cases[i].a, cases[i].b), AS_USAGE);
        if (!strstr(err.text, cases[i].says))
            fail_msg("'%s' gives: %s", cases[i].a, err.text);
        as_args_finish(&a);
    }
    struct as_args a;
    struct as_error err = {0};
    assert_int_equal(PARSE(&a, &err, "one", "two", "three"), AS_USAGE);
    assert_non_null(strstr(err.text, "three"));
    as_args_finish(&a);
}

UNIT_TEST(test_help_wins)
{
    struct as_args a;
    struct as_error err = {0};
    assert_int_equal(PARSE(&a, &err, "one", "two", "three", "--help"), AS_OK);
    assert_true(a.help);
    as_args_finish(&a);
}

UNIT_TEST(test_numbers)
{
    struct as_args a;
    struct as_error err = {0};
    double v = NAN;
    uint64_t u = 7;
    const struct as_args_range wide = {as_parse_duration, 0, 100, "0 to 100s"};
    const struct as_args_range narrow = {as_parse_duration, 0, 60, "0 to 1m"};
    assert_int_equal(PARSE(&a, &err, "--budget", "90s"), AS_OK);
    assert_int_equal(as_args_number(&a, "budget", &wide, &v, &err), AS_OK);
    assert_true(v == 90);
    assert_int_equal(as_args_number(&a, "budget", &narrow, &v, &err), AS_USAGE);
    assert_string_equal(err.text, "--budget: '90s' is not within 0 to 1m");
    assert_int_equal(as_args_u64(&a, "set", 0, 1, &u, &err), AS_OK); /* not given: unchanged */
    assert_int_equal(u, 7);
    assert_int_equal(as_args_u64(&a, "budget", 0, 1, &u, &err), AS_USAGE);
    as_args_finish(&a);
}

UNIT_TEST(test_command_line)
{
    struct as_args a;
    struct as_error err = {0};
    struct as_buf b = AS_BUF_INIT;
    assert_int_equal(PARSE(&a, &err, "--set", "size=1KiB..1GiB x4", "it's", " "), AS_OK);
    as_args_command(&a, &b);
    assert_string_equal(as_buf_get(&b), "assay run --set 'size=1KiB..1GiB x4' 'it'\\''s' ' '");
    as_buf_finish(&b);
    as_args_finish(&a);
}

/* An unset variable of a script stands for no default. */
UNIT_TEST(test_empty)
{
    struct as_args a;
    struct as_error err = {0};
    assert_int_equal(PARSE(&a, &err, "quick", ""), AS_USAGE);
    assert_string_equal(err.text, "argument 2 of 'run' is empty: [WHAT]...");
    as_args_finish(&a);
    assert_int_equal(PARSE(&a, &err, "--device", ""), AS_USAGE);
    assert_string_equal(err.text, "--device needs LIST: the one given is empty");
    as_args_finish(&a);
    assert_int_equal(PARSE(&a, &err, "--device="), AS_USAGE);
    as_args_finish(&a);
}

/* Every subcommand is complete: help and man page find their texts, and option names are unique. */
UNIT_TEST(test_records)
{
    for (size_t i = 0; as_commands[i]; i++) {
        const struct as_command *c = as_commands[i];
        assert_true(c->name && c->args && c->summary && c->about && c->example && c->options && c->run);
        assert_ptr_equal(as_command_find(c->name), c);
        assert_true(c->max_args < 0 || c->max_args >= c->min_args);
        for (const struct as_option *o = c->options; o->name; o++) {
            assert_true(o->help && strlen(o->help) > 3);
            for (const struct as_option *p = c->options; p < o; p++)
                assert_true(strcmp(p->name, o->name) != 0 && (!o->letter || p->letter != o->letter));
        }
        struct as_buf b = AS_BUF_INIT;
        as_help_text(c, &b);
        for (const char *line = as_buf_get(&b); *line; line += strcspn(line, "\n"), line += *line == '\n')
            if (strcspn(line, "\n") > 110)
                fail_msg("help of %s has a line of %zu columns", c->name, strcspn(line, "\n"));
        as_buf_finish(&b);
    }
    assert_null(as_command_find("rnu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),     cmocka_unit_test(test_lists_join), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_help_wins), cmocka_unit_test(test_numbers),    cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_empty),     cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
