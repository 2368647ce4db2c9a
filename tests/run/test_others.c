/* CPU time of others, from the kernel's counts. */
#include "run/others.h"
#include "tests/unit_test.h"

#include <math.h>

UNIT_TEST(test_kernel_line)
{
    /* user, nice, system, idle, waiting, interrupts, soft interrupts, stolen, guests */
    assert_true(fabs(as_others_of("cpu  100 20 30 4000 500 6 4 40 70 0", 100, 0) - 2.0) < 1e-9);
    assert_true(fabs(as_others_of("cpu  100 20 30 4000 500 6 4 40 70 0", 100, 0.5) - 1.5) < 1e-9);
    assert_true(fabs(as_others_of("cpu  100 20 30 4000", 100, 0) - 1.5) < 1e-9); /* an older kernel */
    assert_true(isnan(as_others_of("cpu  100", 100, 0)));
    assert_true(isnan(as_others_of("cpu0 100 20 30 4000 500 6 4 40", 100, 0)));
    assert_true(isnan(as_others_of("", 100, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernel_line)};
    return cmocka_run_group_tests_name("CPU time of others", tests, NULL, NULL);
}
