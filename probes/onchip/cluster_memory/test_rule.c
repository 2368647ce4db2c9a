/* The rule of shared memory of a cluster, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <string.h>

UNIT_TEST(test_cluster)
{
    struct made *m = made_gpu();
    made_add(m, "cluster_memory", "ns", 20, "what=latency cluster=1");
    made_add(m, "cluster_memory", "ns", 110, "what=latency cluster=2");
    made_add(m, "cluster_memory", "B/cycle", 30, "what=bandwidth cluster=8")->detail = strdup("{\"volatile_loads\":1}");
    made_add(m, "cluster_memory", "B/cycle", 50, "what=multicast cluster=1");
    made_add(m, "cluster_memory", "B/cycle", 100, "what=multicast cluster=4");
    made_add(m, "cluster_memory", "B/cycle", 40, "what=multicast_2d cluster=1");
    made_add(m, "cluster_memory", "B/cycle", 60, "what=multicast_2d cluster=4");
    made_add(m, "cluster_memory", "ns", 900, "what=multicast_latency cluster=4");
    made_add(m, "cluster_memory", "B/cycle", 440, "what=bandwidth cluster=2");
    made_derive(m);
    assert_null(made_find(m, "cluster.2.bandwidth")); /* the loads had left the loop */
    made_holds(made_get(m, "cluster.4.multicast"), 100);
    made_says(made_get(m, "cluster.4.multicast"), "Each SM receives 100");
    made_says(made_get(m, "cluster.4.multicast"), "of multicasts to a cluster of 4, 2.00x");
    made_says(made_get(m, "cluster.4.multicast_2d"), "of multicasts of a 2D tensor to a cluster of 4, 1.50x");
    made_holds(made_get(m, "cluster.4.multicast_latency"), 900);
    assert_null(made_find(m, "cluster.1.multicast"));
    made_holds(made_get(m, "cluster.2.latency"), 110);
    made_says(made_get(m, "cluster.2.latency"), "in a cluster of 2, 5.5");
    made_says(made_get(m, "cluster.2.latency"), "that of the block's own");
    made_says(made_get(m, "cluster.8.bandwidth"), "Each SM loads 30");
    assert_null(made_find(m, "cluster.1.latency"));
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cluster)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
