/* The rule of CPU bandwidth in each kind of memory, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

UNIT_TEST(test_nodes)
{
    struct made m = {.share = 0.01};
    made_cpu(&m);
    made_add(&m, "host_bandwidth", "GB/s", 90,
             "from=0 node=0 allocator=thp touch=cpu op=read size=1073741824 threads=0");
    made_add(&m, "host_bandwidth", "GB/s", 12,
             "from=0 node=0 allocator=thp touch=cpu op=read size=1073741824 threads=1");
    made_add(&m, "host_bandwidth", "GB/s", 30,
             "from=0 node=1 allocator=thp touch=cpu op=read size=1073741824 threads=0");
    made_add(&m, "host_bandwidth", "GB/s", 60,
             "from=0 node=2 allocator=thp touch=cpu op=read size=1073741824 threads=0");
    made_add(&m, "host_bandwidth", "GB/s", 25,
             "from=0 node=1 allocator=thp touch=cpu op=triad size=1073741824 threads=0");
    made_derive(&m);
    made_says(made_near(&m, "numa.bandwidth.read.own", 90, 1e-9),
              "CPUs of a NUMA node on local memory, read: 90.0 GB/s");
    made_near(&m, "numa.bandwidth.read.other", 30, 1e-9);
    made_near(&m, "numa.bandwidth.triad.other", 25, 1e-9);
    made_end(&m);
}

UNIT_TEST(test_device)
{
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
    made_add(&m, "host_bandwidth", "GB/s", 12,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=268435456 threads=1");
    made_add(&m, "host_bandwidth", "GB/s", 200,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=268435456 threads=0");
    made_add(&m, "host_bandwidth", "GB/s", 150,
             "from=0 node=0 allocator=cuMemHostAlloc touch=cpu op=triad size=268435456 threads=9");
    made_derive(&m);
    made_says(made_near(&m, "host.bandwidth.triad.malloc.cpu", 200, 1e-9),
              "CPU threads on 'malloc' memory, triad: 200 GB/s");
    made_says(made_near(&m, "host.bandwidth_cost.triad.cuMemHostAlloc.cpu", 0.75, 1e-9),
              "of the bandwidth in 'malloc'");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
