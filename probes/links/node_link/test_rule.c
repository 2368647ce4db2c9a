/* The rule of links between nodes, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

UNIT_TEST(test_links)
{
    struct made m = {.share = 0.01, .info = {.id = "mpi", .backend = "mpi"}};
    made_add(&m, "node_link", "ns", 1000, "what=latency size=8 pairs=alone memory=pageable from=0 to=1")
        ->lower_is_better = 1;
    made_add(&m, "node_link", "ns", 1010, "what=latency size=8 pairs=alone memory=pageable from=0 to=2")
        ->lower_is_better = 1;
    made_add(&m, "node_link", "ns", 3000, "what=latency size=8 pairs=alone memory=pageable from=1 to=2")
        ->lower_is_better = 1;
    made_add(&m, "node_link", "ns", 5000, "what=latency size=8 pairs=alone memory=device from=0 to=1")
        ->lower_is_better = 1;
    made_add(&m, "node_link", "GB/s", 20, "what=both size=262144 pairs=alone memory=pageable from=0 to=1");
    made_add(&m, "node_link", "GB/s", 12, "what=both size=262144 pairs=alone memory=pageable from=0 to=2");
    made_add(&m, "node_link", "GB/s", 21, "what=both size=262144 pairs=alone memory=pageable from=1 to=2");
    made_add(&m, "node_link", "GB/s", 40, "what=bisection size=262144 pairs=alone memory=pageable from=0 to=2");
    made_derive(&m);
    made_says(made_near(&m, "node_link.latency.8.pageable", 1010, 1e-9),
              "the median of 3 pairs; the slowest, ranks 1 and 2");
    made_says(made_near(&m, "node_link.latency.8.device", 5000, 1e-9), "from device memory: latency 5.0");
    made_says(made_near(&m, "node_link.both.262144.pageable", 20, 1e-9), "the slowest, ranks 0 and 2, has 12");
    made_says(made_near(&m, "node_link.bisection.262144.pageable", 40, 1e-9), "Messages of 256 KiB between nodes");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
