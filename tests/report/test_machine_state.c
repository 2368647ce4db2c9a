/* Is a run of the machine of another, and in the same state? */
#include "report/sheet/machine_state.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

static char provenance[2][1024], devices[2][1024];

/* A run of a host with this provenance and these devices; NULL: not recorded. */
static struct as_run made(int side, const char *host, const char *recorded, const char *list)
{
    struct as_run run = {.id = side + 1};
    snprintf(run.host, sizeof run.host, "%s", host);
    snprintf(run.tool_commit, sizeof run.tool_commit, "abc");
    if (recorded) {
        snprintf(provenance[side], sizeof provenance[side], "%s", recorded);
        run.provenance = provenance[side];
    }
    if (list) {
        snprintf(devices[side], sizeof devices[side], "%s", list);
        run.devices = devices[side];
    }
    return run;
}

static bool same_host(const char *a_host, const char *a, const char *b_host, const char *b)
{
    struct as_run x = made(0, a_host, a, NULL), y = made(1, b_host, b, NULL);
    struct as_machine_state s = as_machine_state_of(&x), t = as_machine_state_of(&y);
    const bool is = as_machine_state_is_same_host(&s, &t);
    as_machine_state_finish(&s);
    as_machine_state_finish(&t);
    return is;
}

UNIT_TEST(test_host)
{
    static const char one[] = "{\"host\":{\"boot_id\":\"1\"},\"cpu\":{\"model\":\"A\"}}",
                      other_boot[] = "{\"host\":{\"boot_id\":\"2\"},\"cpu\":{\"model\":\"A\"}}",
                      other_cpu[] = "{\"host\":{\"boot_id\":\"1\"},\"cpu\":{\"model\":\"B\"}}";
    assert_true(same_host("a", one, "a", one));
    assert_true(same_host("a", one, "b", one)); /* containers of one host have names of their own */
    assert_true(same_host("a", one, "a", other_boot));
    assert_false(same_host("a", one, "b", other_boot));
    assert_false(same_host("a", one, "a", other_cpu));
    assert_true(same_host("a", NULL, "a", one));
    assert_false(same_host("a", NULL, "b", NULL));
    assert_true(same_host("a", "7", "a", "[1]")); /* damaged: nothing is known */
}

static void expect_host(const char *a, const char *b, const char *text)
{
    struct as_run x = made(0, "a", a, NULL), y = made(1, "a", b, NULL);
    struct as_machine_state s = as_machine_state_of(&x), t = as_machine_state_of(&y);
    struct as_buf out = AS_BUF_INIT;
    as_machine_state_host(&s, &t, &out);
    assert_string_equal(as_buf_get(&out), text);
    as_buf_finish(&out);
    as_machine_state_finish(&s);
    as_machine_state_finish(&t);
}

UNIT_TEST(test_host_state)
{
    expect_host("{\"host\":{\"kernel\":\"6.1\"}}", "{\"host\":{\"kernel\":\"6.1\",\"boot_id\":\"2\"}}", "");
    expect_host("{\"host\":{\"kernel\":\"6.1\"},\"cpu\":{\"governor\":\"powersave\"}}",
                "{\"host\":{\"kernel\":\"6.2\"},\"cpu\":{\"governor\":\"performance\"}}",
                "kernel 6.1, then 6.2; governor powersave, then performance");
    expect_host("{\"memory\":{\"thp\":\"always [madvise] never\"}}",
                "{\"memory\":{\"thp\":\"[always] madvise never\"}}", "transparent huge pages madvise, then always");
    expect_host("{\"cpu\":{\"usable\":8}}", "{\"cpu\":{\"usable\":2}}", "usable CPUs 8, then 2");
    expect_host("{\"host\":{}}", "{\"host\":{\"kernel\":\"6.2\"}}", ""); /* not recorded */
    expect_host("{\"host\":{\"kernel\":7}}", "{\"host\":{\"kernel\":[]}}", "");
}

UNIT_TEST(test_build)
{
    struct as_run x = made(0, "a", NULL, NULL), y = made(1, "a", NULL, NULL);
    snprintf(y.tool_commit, sizeof y.tool_commit, "def");
    struct as_machine_state s = as_machine_state_of(&x), t = as_machine_state_of(&y);
    struct as_buf out = AS_BUF_INIT;
    as_machine_state_host(&s, &t, &out);
    assert_string_equal(as_buf_get(&out), "build abc, then def");
    as_buf_finish(&out);
    as_machine_state_finish(&s);
    as_machine_state_finish(&t);
}

static void expect_device(const char *a, const char *b, const char *text)
{
    struct as_run x = made(0, "a", NULL, a), y = made(1, "a", NULL, b);
    struct as_machine_state s = as_machine_state_of(&x), t = as_machine_state_of(&y);
    struct as_buf out = AS_BUF_INIT;
    as_machine_state_device(&s, &t, "cuda:0", &out);
    assert_string_equal(as_buf_get(&out), text);
    as_buf_finish(&out);
    as_machine_state_finish(&s);
    as_machine_state_finish(&t);
}

UNIT_TEST(test_device)
{
    expect_device("[{\"id\":\"cuda:0\",\"driver\":\"570\"}]",
                  "[{\"id\":\"cpu\"},{\"id\":\"cuda:0\",\"driver\":\"580\"}]", "driver of cuda:0 570, then 580");
    expect_device("[{\"id\":\"cuda:0\",\"uuid\":\"u\",\"bus_id\":\"1\"}]",
                  "[{\"id\":\"cuda:0\",\"uuid\":\"u\",\"bus_id\":\"2\"}]", ""); /* in another slot */
    expect_device("[{\"id\":\"cuda:0\",\"bus_id\":\"1\"}]", "[{\"id\":\"cuda:0\",\"bus_id\":\"2\"}]",
                  "bus of cuda:0 1, then 2");
    expect_device("[{\"id\":\"cuda:0\",\"uuid\":\"u\"}]", "[{\"id\":\"cuda:0\",\"uuid\":\"v\"}]",
                  "UUID of cuda:0 u, then v");
    expect_device("[{\"id\":\"cuda:0\",\"driver\":\"570\"}]", "[{\"id\":\"cpu\"}]", "");
    expect_device("[7,{\"id\":3},{}]", "{}", "");
}

UNIT_TEST(test_conditions)
{
    struct as_run x = made(0, "a", "{\"load\":{\"1m\":0.5},\"host\":{\"boot_id\":\"1\"}}", "[{\"id\":\"cpu\"}]"),
                  y = made(1, "a", "{\"host\":{\"boot_id\":\"2\"}}", NULL);
    struct as_machine_state s = as_machine_state_of(&x), t = as_machine_state_of(&y);
    assert_true(as_machine_state_load(&s) == 0.5);
    assert_true(isnan(as_machine_state_load(&t)));
    assert_true(as_machine_state_rebooted(&s, &t));
    assert_false(as_machine_state_rebooted(&s, &s));
    assert_true(as_machine_state_has(&s, "cpu"));
    assert_false(as_machine_state_has(&s, "cuda:0") || as_machine_state_has(&t, "cpu"));
    as_machine_state_finish(&s);
    as_machine_state_finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_host), cmocka_unit_test(test_host_state),
                                       cmocka_unit_test(test_build), cmocka_unit_test(test_device),
                                       cmocka_unit_test(test_conditions)};
    return cmocka_run_group_tests_name("state of a machine", tests, NULL, NULL);
}
