/* Probe link_latency on the scripted device: which pairs apply, which accesses count, and faults are detected. */
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>

extern const struct as_probe as_probe_link_latency;

#define INFO(n)                                                                                                        \
    "\"info\":{\"siblings\":" #n ",\"capabilities\":[\"copy\"],\"allocators\":[{\"name\":\"own\",\"host_access\":"     \
    "false},{\"name\":\"pinned\",\"host_access\":true}]}"
#define LEVELS "\"levels\":[{\"size\":0,\"gbs\":20,\"ns\":500}],"

static bool is_right(const char *script, const char *axes, double *value)
{
    struct scripted s;
    char why[160] = "";
    scripted_open(&s, script);
    bool right = scripted_check(&s, &as_probe_link_latency, axes, 3, value, why, sizeof why);
    scripted_close(&s);
    if (!right)
        print_message("%s: %s\n", axes, why);
    return right;
}

UNIT_TEST(test_which_pairs)
{
    static const char axes[] = "peer=1 node=0 allocator=own what=load size=2097152 stride=128";
    struct scripted s;
    struct as_error err = {0};
    scripted_open(&s, "{" INFO(1) "}");
    assert_int_equal(scripted_applies(&s, &as_probe_link_latency, axes, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "backend 'null' has only one device: there is no pair to measure");
    s.dev->info.siblings = 16;
    assert_int_equal(scripted_applies(&s, &as_probe_link_latency, axes, &err), AS_APPLIES);
    s.dev->info.capabilities &= ~(unsigned)AS_CAP_PEERS;
    assert_int_equal(scripted_applies(&s, &as_probe_link_latency, axes, &err), AS_INAPPLICABLE); /* in one cell */
    assert_string_equal(err.text, "devices of backend 'null' cannot access each other's memory");
    scripted_close(&s);
}

UNIT_TEST(test_latencies)
{
    static const char atomic[] = "peer=2 node=0 allocator=own what=atomic size=2097152 stride=128";
    static const char load[] = "peer=host node=0 allocator=pinned what=load size=2097152 stride=128";
    double value;
    assert_true(is_right("{" LEVELS INFO(4) "}", load, &value));
    assert_true(fabs(value - 500) < 1);
    assert_true(is_right("{" LEVELS INFO(4) "}", atomic, &value));
    assert_true(value > 400 && value < 600);
    /* additions that were not made, and a result that is not the last addition's */
    assert_false(is_right("{\"execute\":false," INFO(4) "}", atomic, &value));
    assert_false(is_right("{\"faults\":[{\"do\":\"wrong\",\"kernel\":\"add\"}]," INFO(4) "}", atomic, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_pairs),
        cmocka_unit_test(test_latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
