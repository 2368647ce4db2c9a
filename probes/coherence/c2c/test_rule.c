/* The rule of core-to-core latency, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

UNIT_TEST(test_costs)
{
    struct made m;
    made_cpu(&m);
    made_add(&m, "c2c", "ns", 60, "peer=cpu from=0 to=1 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 50, "peer=cpu from=0 to=2 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 140, "peer=cpu from=0 to=3 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 1, "peer=cpu from=0 to=3 op=load pairs=every");
    made_add(&m, "c2c", "ns", 800, "peer=device from=0 to=0 op=load pairs=some");
    made_add(&m, "c2c", "ns", 310, "peer=compute_unit from=0 to=1 op=load pairs=every allocator=cuMemAlloc");
    made_add(&m, "c2c", "ns", 390, "peer=compute_unit from=0 to=64 op=load pairs=every allocator=cuMemAlloc");
    made_add(&m, "c2c", "ns", 9000, "peer=compute_unit from=0 to=64 op=load pairs=every allocator=cuMemHostAlloc");
    made_derive(&m);
    made_near(&m, "c2c.median", 60, 0);
    made_near(&m, "c2c.max", 140, 0);
    made_near(&m, "c2c.device.median", 800, 0);
    made_says(made_near(&m, "c2c.min", 50, 0),
              "The nearest pair of 3, CPUs 0 and 2, has a one-way latency of 50.0 ns (");
    made_says(made_get(&m, "c2c.median"), "median of 3 pairs, by cas)");
    made_acts(&m, "c2c.max",
              "Pin threads that exchange data to nearby CPUs: a cache line takes 2.80x (2.78 to 2.82x) as long between "
              "CPUs 0 and 3 as between 0 and 2");
    made_near(&m, "c2c.unit.min", 310, 0);
    made_says(made_near(&m, "c2c.unit.max", 390, 0), "cores 0 and 64"); /* in the same memory */
    assert_string_equal(made_get(&m, "c2c.unit.max")->act, "");         /* nobody pins threads to compute units */
    made_end(&m);
}

/* A pair is nearest if some other pair is surely farther; of two tied pairs neither is. */
UNIT_TEST(test_tied_pairs)
{
    struct made m;
    made_cpu(&m);
    m.share = 0.2;
    made_add(&m, "c2c", "ns", 60, "peer=cpu from=0 to=1 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 65, "peer=cpu from=0 to=2 op=cas pairs=every");
    made_derive(&m);
    made_near(&m, "c2c.median", 62.5, 1e-9);
    assert_null(made_find(&m, "c2c.min"));
    assert_null(made_find(&m, "c2c.max"));
    made_add(&m, "c2c", "ns", 140, "peer=cpu from=0 to=3 op=cas pairs=every");
    made_derive(&m);
    made_says(made_near(&m, "c2c.min", 60, 0), "1 other statistically tied");
    made_says(made_near(&m, "c2c.max", 140, 0), "The farthest pair of 3");
    made_end(&m);
}

/* Of a host with several NUMA nodes the facts say on which the pairs are. */
UNIT_TEST(test_nodes)
{
    static const char *const nodes[] = {"within node 0", "nodes 0 and 1, same socket",
                                        "nodes 0 and 2, sockets 0 and 1"};
    struct made m;
    made_cpu(&m);
    for (int i = 0; i < 3; i++) {
        char axes[64], detail[80];
        snprintf(axes, sizeof axes, "peer=cpu from=0 to=%d op=cas pairs=every", 1 + i);
        struct as_cell *cell = made_add(&m, "c2c", "ns", 50 + 40 * i, axes);
        snprintf(detail, sizeof detail, "{\"nodes\": \"%s\"}", nodes[i]);
        free(cell->detail);
        cell->detail = strdup(detail);
    }
    made_derive(&m);
    made_says(made_near(&m, "c2c.min", 50, 0), "by cas; within node 0)");
    made_says(made_near(&m, "c2c.max", 130, 0), "by cas; nodes 0 and 2, sockets 0 and 1)");
    made_end(&m);
}

/* A fact without cells for its operation does not fall back to another operation or memory. */
UNIT_TEST(test_one_operation)
{
    struct made m;
    made_cpu(&m);
    made_add(&m, "c2c", "ns", 55, "peer=cpu from=0 to=1 op=load pairs=every");
    made_add(&m, "c2c", "ns", 800, "peer=device from=0 to=0 op=cas pairs=some");
    made_derive(&m);
    assert_null(made_find(&m, "c2c.median"));
    assert_null(made_find(&m, "c2c.device.median"));
    made_end(&m);
    made_gpu_minimal(&m);
    strcpy(m.info.id, "cuda:0"); /* allocators with roles */
    made_add(&m, "c2c", "ns", 400, "peer=device;from=0;to=0;op=load;pairs=some;allocator=cuMemAllocManaged");
    made_add(&m, "c2c", "ns", 900, "peer=device;from=0;to=0;op=load;pairs=some;allocator=cuMemHostAlloc");
    made_derive(&m);
    made_near(&m, "c2c.device.median", 900, 0);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_tied_pairs),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_one_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
