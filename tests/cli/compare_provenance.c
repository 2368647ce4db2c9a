/* Differences in the conditions of two runs are reported, with hostile and missing texts. */
#include "cli/compare/compare_provenance.h"
#include "tests/unit_test.h"

#include <string.h>

static char provenance_a[] = "{\"tool\":{\"compiler\":\"gcc 12\"},\"host\":{\"kernel\":\"6.1.0\"},"
                             "\"cpu\":{\"model\":\"EPYC\",\"microcode\":\"0x1\",\"governor\":\"performance\"}}";
static char provenance_b[] = "{\"tool\":{\"compiler\":\"gcc 12\"},\"host\":{\"kernel\":\"6.9.0\"},"
                             "\"cpu\":{\"model\":\"EPYC\",\"microcode\":\"0x2\"}}";
static char devices_a[] = "[{\"id\":\"cpu\",\"name\":\"EPYC\",\"driver\":\"Linux\"},"
                          "{\"id\":\"cuda:0\",\"name\":\"H200\",\"driver\":\"550.1\"},{\"id\":7},3]";
static char devices_b[] = "[{\"id\":\"cuda:0\",\"name\":\"H200\",\"driver\":\"570.2\"},"
                          "{\"id\":\"cpu\",\"name\":\"EPYC\",\"driver\":\"Linux\"},"
                          "{\"id\":\"opencl:0\",\"name\":\"Portable\",\"driver\":\"3.1\"}]";

static struct as_run run_a(void)
{
    return (struct as_run){.tool_version = "0.1.0",
                           .tool_commit = "aaaa",
                           .host = "anvil",
                           .precision = 0.01,
                           .trials = 6,
                           .provenance = provenance_a,
                           .devices = devices_a};
}

static void check_differences(const struct as_run *a, const struct as_run *b, bool json, const char *wanted)
{
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    assert_int_equal(as_compare_provenance(a, b, json, &out, &err), AS_OK);
    assert_string_equal(as_buf_get(&out), wanted);
    as_buf_finish(&out);
}

UNIT_TEST(the_same_says_nothing)
{
    const struct as_run a = run_a(), nothing = {0};
    check_differences(&a, &a, false, "");
    check_differences(&a, &a, true, "");
    check_differences(&nothing, &nothing, false, "");
}

UNIT_TEST(every_difference_is_a_line)
{
    const struct as_run a = run_a();
    struct as_run b = a;
    strcpy(b.tool_commit, "bbbb-dirty");
    strcpy(b.host, "bellows");
    b.precision = 0.1;
    b.trials = 3;
    b.provenance = provenance_b;
    b.devices = devices_b;
    check_differences(&a, &b, false,
                      "tool commit: aaaa, then bbbb-dirty\n"
                      "host: anvil, then bellows\n"
                      "kernel: 6.1.0, then 6.9.0\n"
                      "microcode: 0x1, then 0x2\n"
                      "governor: performance, then not recorded\n"
                      "precision requested: 1.00%, then 10.0%\n"
                      "trials requested: 6, then 3\n"
                      "driver of cuda:0: 550.1, then 570.2\n"
                      "device opencl:0: none, then Portable\n");
    check_differences(&b, &a, true,
                      "{\"differs\":\"tool commit\",\"a\":\"bbbb-dirty\",\"b\":\"aaaa\"}\n"
                      "{\"differs\":\"host\",\"a\":\"bellows\",\"b\":\"anvil\"}\n"
                      "{\"differs\":\"kernel\",\"a\":\"6.9.0\",\"b\":\"6.1.0\"}\n"
                      "{\"differs\":\"microcode\",\"a\":\"0x2\",\"b\":\"0x1\"}\n"
                      "{\"differs\":\"governor\",\"a\":null,\"b\":\"performance\"}\n"
                      "{\"differs\":\"precision requested\",\"a\":\"10.0%\",\"b\":\"1.00%\"}\n"
                      "{\"differs\":\"trials requested\",\"a\":\"3\",\"b\":\"6\"}\n"
                      "{\"differs\":\"driver of cuda:0\",\"a\":\"570.2\",\"b\":\"550.1\"}\n"
                      "{\"differs\":\"device opencl:0\",\"a\":\"Portable\",\"b\":\"none\"}\n");
}

UNIT_TEST(hostile_texts_stay_texts)
{
    static char odd[] = "[{\"id\":\"cpu\\u001b[2J\",\"name\":\"\\u001b]0;owned\\u0007\"}]";
    static char broken[] = "{\"host\":";
    static char wrong[] = "{\"host\":[1],\"cpu\":{\"model\":5}}";
    const struct as_run a = {.provenance = broken, .devices = wrong}, b = {.provenance = wrong, .devices = odd};
    check_differences(&a, &b, false, "device cpu\\x1b[2J: none, then \\x1b]0;owned\\x07\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_says_nothing),
                                       cmocka_unit_test(every_difference_is_a_line),
                                       cmocka_unit_test(hostile_texts_stay_texts)};
    return cmocka_run_group_tests_name("cli: compare provenance", tests, NULL, NULL);
}
