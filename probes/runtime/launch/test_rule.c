/* The rule of launch cost, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

UNIT_TEST(test_launch_cost)
{
    struct made m = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.005};
    made_add(&m, "launch", "ns", 50000, "what=roundtrip wait=block threads=1");
    made_add(&m, "launch", "ns", 90000, "what=roundtrip wait=block threads=4");
    made_add(&m, "launch", "ns", 3000, "what=submit wait=block threads=1");
    made_add(&m, "launch", "ns", 1120, "what=graph-100 wait=spin threads=1");
    made_add(&m, "launch", "ns", 9000, "what=graph-1 wait=sleep threads=1");
    made_derive(&m);
    made_says(made_near(&m, "launch.roundtrip.block", 50000, 0), ", with blocking synchronisation");
    assert_null(strstr(made_near(&m, "launch.submit.block", 3000, 0)->sentence, "blocking")); /* does not wait */
    made_says(made_get(&m, "launch.graph-100.spin"), "A graph of 100 kernel nodes takes 1.12 µs per node (");
    made_says(made_get(&m, "launch.graph-1.sleep"), "A graph of one kernel node takes 9.00 µs (");
    made_says(made_get(&m, "launch.graph-1.sleep"), "), sleep"); /* an unknown word is printed as it is */
    made_end(&m);
}

/* What to do, and in which direction; nothing where the two ways are alike. */
UNIT_TEST(test_acts)
{
    struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.005};
    struct as_cell *spin;
    made_add(&m, "launch", "ns", 50000, "what=roundtrip wait=block threads=1");
    made_add(&m, "launch", "ns", 4000, "what=batch wait=spin threads=1");
    made_add(&m, "launch", "ns", 1000, "what=graph-100 wait=spin threads=1");
    spin = made_add(&m, "launch", "ns", 10000, "what=roundtrip wait=spin threads=1");
    made_derive(&m);
    assert_string_equal(
        made_get(&m, "launch.roundtrip.block")->act,
        "Spin while waiting for short kernels: blocking synchronisation takes 5.00x (4.96 to 5.04x) as long");
    assert_string_equal(
        made_get(&m, "launch.graph-100.spin")->act,
        "Launch sequences of small kernels as a graph: separate launches take 4.00x (3.97 to 4.03x) as long");
    assert_string_equal(made_get(&m, "launch.roundtrip.spin")->act, "");
    spin->sum.median = 50000;
    spin->sum.ci = (struct as_interval){49000, 51000};
    made_derive(&m);
    assert_string_equal(made_get(&m, "launch.roundtrip.block")->act, "");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch_cost),
        cmocka_unit_test(test_acts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
