/* The rules of CPU threads and memory elsewhere, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

UNIT_TEST(test_nodes)
{
    struct made m = {.share = 0.01};
    made_cpu(&m);
    made_add(&m, "host_latency", "ns", 110, "from=0 node=0 allocator=thp touch=cpu size=1073741824");
    made_add(&m, "host_latency", "ns", 112, "from=1 node=1 allocator=thp touch=cpu size=1073741824");
    made_add(&m, "host_latency", "ns", 190, "from=0 node=1 allocator=thp touch=cpu size=1073741824");
    made_add(&m, "host_latency", "ns", 205, "from=1 node=0 allocator=thp touch=cpu size=1073741824");
    made_add(&m, "host_latency", "ns", 400, "from=0 node=2 allocator=thp touch=cpu size=1073741824"); /* no CPUs */
    made_add(&m, "host_latency", "ns", 20, "from=0 node=1 allocator=thp touch=cpu size=1048576");     /* in a cache */
    made_derive(&m);
    made_says(made_near(&m, "numa.latency.own", 110, 1e-9),
              "A load from the local NUMA node takes 110 ns (109 to 111 ns; median of 2 nodes)");
    made_says(made_near(&m, "numa.latency.other", 400, 1e-9), "CPUs of node 0, memory of node 2, the worst of 3 pairs");
    made_end(&m);
    made_cpu(&m);
    made_add(&m, "host_latency", "ns", 110, "from=0 node=0 allocator=thp touch=cpu size=1073741824");
    made_derive(&m);
    assert_null(made_find(&m, "numa.latency.other"));
    made_end(&m);
}

UNIT_TEST(test_device)
{
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
    made_add(&m, "host_latency", "ns", 120, "from=0 node=0 allocator=malloc touch=cpu size=268435456");
    made_add(&m, "host_latency", "ns", 130, "from=1 node=0 allocator=malloc touch=cpu size=268435456");
    made_add(&m, "host_latency", "ns", 122, "from=0 node=0 allocator=cuMemAllocManaged touch=cpu size=268435456");
    made_add(&m, "host_latency", "ns", 600, "from=0 node=0 allocator=cuMemAllocManaged touch=device size=268435456");
    made_add(&m, "host_latency", "ns", 2, "from=0 node=0 allocator=cuMemAllocManaged touch=device size=1024");
    made_derive(&m);
    made_says(made_near(&m, "host.latency.malloc.cpu", 120, 1e-9), "A CPU load from 'malloc' memory takes 120 ns");
    made_says(made_near(&m, "host.latency.cuMemAllocManaged.device", 600, 1e-9),
              "A CPU load from 'cuMemAllocManaged' memory that the device touched first takes 600 ns");
    made_says(made_near(&m, "host.latency_cost.cuMemAllocManaged.device", 5, 1e-9), "as long as from 'malloc'");
    assert_null(made_find(&m, "host.latency_cost.cuMemAllocManaged.cpu")); /* the same within 5% */
    assert_string_equal(made_get(&m, "host.latency_cost.cuMemAllocManaged.device")->act,
                        "Avoid CPU access to 'cuMemAllocManaged' memory that the device touched first: a load is "
                        "5.00x (4.93 to 5.07x) slower than in 'malloc'");
    assert_null(made_find(&m, "numa.latency.own"));
    made_end(&m);
}

UNIT_TEST(test_write_combined)
{
    static const char *const id = "host.cached.cuMemHostAlloc_write-combined";
    static const struct {
        double combined, share;
        enum as_fact_verdict verdict;
        const char *says;
    } of[] = {
        {1.84, 0.01, AS_SUPPORTED, "The CPU caches 'cuMemHostAlloc write-combined' memory"},
        {190, 0.01, AS_SUPPORTED, "The CPU does not cache 'cuMemHostAlloc write-combined' memory: a load over 1 KiB"},
        {12, 0.7, AS_UNDECIDED, "is inconclusive"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct made m = {.share = of[i].share, .info = {.id = "cuda:0", .backend = "cuda"}};
        made_add(&m, "host_latency", "ns", 1.87, "from=0;node=0;allocator=cuMemHostAlloc;touch=cpu;size=1024");
        made_add(&m, "host_latency", "ns", of[i].combined,
                 "from=0;node=0;allocator=cuMemHostAlloc write-combined;touch=cpu;size=1024");
        made_add(&m, "host_latency", "ns", 160, "from=0;node=0;allocator=cuMemHostAlloc;touch=cpu;size=536870912");
        made_add(&m, "host_latency", "ns", 300,
                 "from=0;node=0;allocator=cuMemHostAlloc write-combined;touch=cpu;size=536870912");
        made_derive(&m);
        made_verdict(&m, id, of[i].verdict);
        made_says(made_get(&m, id), of[i].says);
        made_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_write_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
