/* The rule of CPU bandwidth in each kind of memory, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

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

/* What the study of the MI300A found: malloc costs the CPU 13% of triad, unless the device touches it first. */
UNIT_TEST(test_against_device_memory)
{
    struct made m = {.share = 0.01, .info = {.id = "hip:0", .backend = "hip"}};
    made_add(&m, "host_bandwidth", "GB/s", 181,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=9");
    made_add(&m, "host_bandwidth", "GB/s", 174,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=24");
    made_add(&m, "host_bandwidth", "GB/s", 208,
             "from=0 node=0 allocator=malloc touch=device op=triad size=639631360 threads=24");
    made_add(&m, "host_bandwidth", "GB/s", 208,
             "from=0 node=0 allocator=hipMalloc touch=cpu op=triad size=639631360 threads=24");
    made_derive(&m);
    const char *id = "host.bandwidth_cost.triad.malloc.cpu";
    made_says(made_near(&m, id, 181. / 208, 1e-9), "CPU threads on 'malloc' memory, triad: 0.870x of the bandwidth in "
                                                   "'hipMalloc'");
    assert_null(strstr(made_get(&m, id)->sentence, "fault"));
    assert_non_null(
        strstr(made_get(&m, id)->act, "Use 'hipMalloc' for memory that the CPU uses heavily: triad is 1.15x"));
    made_near(&m, "host.bandwidth_cost.triad.malloc.device", 208. / 181, 1e-9);
    made_says(made_near(&m, "host.bandwidth_threads.triad.malloc.cpu", 9, 0),
              "9 of 24 CPU threads come within 10% of the best triad bandwidth in 'malloc' memory that the CPU "
              "touched first");
    assert_null(made_find(&m, "host.bandwidth_threads.triad.hipMalloc.cpu")); /* one number of threads */
    made_add(&m, "page_events", "events", 472000, "what=triads pages=468480 stride=4096 allocator=malloc touch=cpu");
    made_add(&m, "page_events", "events", 4100, "what=triads pages=468480 stride=4096 allocator=hipMalloc touch=cpu");
    made_derive(&m);
    made_says(made_get(&m, id), "; ten triads fault 472000 times in 'malloc', 4100 times in 'hipMalloc'");
    made_end(&m);
}

/* Wide intervals that overlap do not make nine threads as fast as sixteen. */
UNIT_TEST(test_threads_that_may_be_slower)
{
    struct made m = {.share = 0.3, .info = {.id = "cuda:0", .backend = "cuda"}};
    made_add(&m, "host_bandwidth", "GB/s", 10,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=1");
    made_add(&m, "host_bandwidth", "GB/s", 75,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=9");
    made_add(&m, "host_bandwidth", "GB/s", 100,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=16");
    made_derive(&m);
    made_verdict(&m, "host.bandwidth_threads.triad.malloc.cpu", AS_UNDECIDED);
    made_says(made_get(&m, "host.bandwidth_threads.triad.malloc.cpu"), "is inconclusive: 9 threads may reach it, too");
    assert_true(isnan(made_get(&m, "host.bandwidth_threads.triad.malloc.cpu")->value));
    made_end(&m);
}

/* All CPUs of the node count as well, with the number that the cell tells. */
UNIT_TEST(test_threads_of_all)
{
    struct made m = {.share = 0.01, .info = {.id = "hip:0", .backend = "hip"}};
    made_add(&m, "host_bandwidth", "GB/s", 181,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=9");
    made_add(&m, "host_bandwidth", "GB/s", 210,
             "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=0")
        ->detail = strdup("{\"threads\":24}");
    made_derive(&m);
    made_says(made_near(&m, "host.bandwidth_threads.triad.malloc.cpu", 24, 0), "24 of 24 CPU threads");
    made_end(&m);
}

/* A number of threads that the budget left out may have been enough: no number of threads is stated. */
UNIT_TEST(test_threads_left_out)
{
    for (int other = 0; other < 2; other++) {
        struct made m = {.share = 0.01, .info = {.id = "hip:0", .backend = "hip"}};
        made_add(&m, "host_bandwidth", "GB/s", 20,
                 "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=1");
        made_add(&m, "host_bandwidth", "GB/s", 210,
                 "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=0")
            ->detail = strdup("{\"threads\":16}");
        made_add(&m, "host_bandwidth", "GB/s", 1,
                 other ? "from=0 node=0 allocator=malloc touch=device op=triad size=639631360 threads=9"
                       : "from=0 node=0 allocator=malloc touch=cpu op=triad size=639631360 threads=9")
            ->status = AS_CELL_SKIPPED;
        made_derive(&m);
        const struct as_fact *f = made_get(&m, "host.bandwidth_threads.triad.malloc.cpu");
        assert_int_equal(f->verdict, other ? AS_SUPPORTED : AS_UNDECIDED);
        assert_int_equal(isnan(f->value), !other);
        made_says(f, other ? "16 of 16 CPU threads" : "is inconclusive: 1 planned number of threads was not measured");
        made_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_against_device_memory),
        cmocka_unit_test(test_threads_that_may_be_slower),
        cmocka_unit_test(test_threads_of_all),
        cmocka_unit_test(test_threads_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
