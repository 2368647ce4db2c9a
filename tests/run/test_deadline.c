/* The arithmetic of budgets. */
#include "run/deadline.h"
#include "tests/unit_test.h"

#include <math.h>

UNIT_TEST(test_deadline)
{
    assert_true(as_deadline_of(100, 8, 0) == 108);
    assert_true(as_deadline_of(100, 8, 2) == 106);
    assert_true(as_deadline_of(100, 8, 7) == 108); /* else nothing could be measured */
    assert_true(isinf(as_deadline_of(100, 0, 2)));
}

/* Nobody is told to spend what did not suffice, or less. */
UNIT_TEST(test_for_all)
{
    assert_true(as_deadline_budget_for_all(17, 22, 63, 71) == 25);
    assert_true(as_deadline_budget_for_all(90.2, 22, 63, 71) == 91);
    assert_true(as_deadline_budget_for_all(0, 22, 0, 4) == 88);
    assert_true(as_deadline_budget_for_all(0, 10, 1000, 1001) == 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deadline), cmocka_unit_test(test_for_all)};
    return cmocka_run_group_tests_name("deadlines", tests, NULL, NULL);
}
