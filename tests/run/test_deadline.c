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
    assert_true(as_deadline_budget_for_all(22, 63, 71) == 38);
    assert_true(isnan(as_deadline_budget_for_all(22, 0, 4)) && isnan(as_deadline_budget_for_all(25, 13, 111)));
    assert_true(as_deadline_budget_for_all(10, 1000, 1001) == 16 && as_deadline_budget_for_all(1, 1000, 1001) == 2);
}

/* The first round leaves half of its time to cells that turn out costly. */
UNIT_TEST(test_parts)
{
    for (int rounds = 1; rounds < 9; rounds++) {
        assert_true(as_deadline_part(1, rounds) <= AS_DEADLINE_FOR_PILOT / 2);
        assert_true(as_deadline_part(rounds + 1, rounds) == 1);
    }
    assert_true(as_deadline_part(3, 3) == 0.7 && as_deadline_part(2, 3) == 0.35);
}

/* What runs did: more was measured than an earlier bound, of as many trials as were asked for, allowed. */
UNIT_TEST(test_fits)
{
    assert_in_range(as_deadline_fits(15, 1086), 487, 1086);
    assert_in_range(as_deadline_fits(20, 111), 84, 111);
    assert_int_equal(as_deadline_fits(0, 1086), 1086);
    assert_in_range(as_deadline_fits(1.2, 1086), 90, 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_deadline), cmocka_unit_test(test_for_all),
                                       cmocka_unit_test(test_parts), cmocka_unit_test(test_fits)};
    return cmocka_run_group_tests_name("deadlines", tests, NULL, NULL);
}
