/* The priorities of macOS: priority.c compiled as there, on a stand-in for the call that sets a QoS class. */
#include "tests/unit_test.h"

#include <errno.h>

#undef __linux__
#ifndef __APPLE__
#define __APPLE__ 1
#endif
#include "probes/contention/interference/priority.c"

static int seen, relative;

int pthread_set_qos_class_self_np(qos_class_t qos_class, int relative_priority)
{
    seen = (int)qos_class;
    relative = relative_priority;
    return qos_class == QOS_CLASS_BACKGROUND ? EPERM : 0;
}

UNIT_TEST(test_classes)
{
    static const struct {
        const char *word;
        int value, result;
    } rows[] = {{"qos_user_interactive", 0x21, 0},
                {"qos_user_initiated", 0x19, 0},
                {"qos_utility", 0x11, 0},
                {"qos_background", 0x09, EPERM}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct priority *p = as_interference_priority(rows[i].word);
        assert_non_null(p);
        assert_int_equal(p->set(), rows[i].result);
        assert_int_equal(seen, rows[i].value);
        assert_int_equal(relative, 0);
    }
    assert_null(as_interference_priority("normal")->set);
    assert_null(as_interference_priority("nice_19")); /* of Linux only */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
