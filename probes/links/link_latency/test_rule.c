/* The rule of link latency, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

UNIT_TEST(test_latencies)
{
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda", .clock_max_hz = 2e9}};
    made_add(&m, "link_latency", "ns", 900, "peer=1 node=0 allocator=own what=load size=67108864 stride=128");
    made_add(&m, "link_latency", "ns", 800, "peer=1 node=0 allocator=own what=load size=2097152 stride=128");
    made_add(&m, "link_latency", "ns", 1200, "peer=host node=0 allocator=pinned what=atomic size=2097152 stride=128");
    made_derive(&m);
    made_says(made_near(&m, "link.latency.1.load", 800, 1e-9), "A load from memory of device 1 takes 800 ns");
    made_says(made_near(&m, "link.latency.host-0.atomic", 1200, 1e-9), "An atomic add in host memory takes");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
