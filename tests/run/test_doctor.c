/* What 'assay doctor' says of a machine that others load. */
#include "run/provenance.h"

#include "tests/unit_test.h"

static uint64_t now_ns, readings;

/* A reading takes 30 ns; every fiftieth is preempted for a millisecond. */
static uint64_t preempted(void)
{
    now_ns += 30;
    if (++readings % 50 == 0)
        now_ns += 1000000;
    return now_ns;
}

static uint64_t slow(void)
{
    return now_ns += 900;
}

UNIT_TEST(test_clock_of_a_loaded_machine)
{
    assert_true(as_doctor_clock_ns(preempted) == 30);
    assert_true(as_doctor_clock_ns(slow) == 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clock_of_a_loaded_machine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
