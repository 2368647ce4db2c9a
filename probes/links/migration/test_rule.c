/* The rule of migration, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

UNIT_TEST(test_passes)
{
    static const char moved[] = "{\"host_share_before\":1,\"host_share_after\":0}";
    static const char stayed[] = "{\"host_share_before\":1,\"host_share_after\":1}";
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
    made_add(&m, "migration", "GB/s", 4, "allocator=managed touch=cpu agent=device pass=1 size=268435456");
    made_add(&m, "migration", "GB/s", 1900, "allocator=managed touch=cpu agent=device pass=2 size=268435456");
    made_add(&m, "migration", "GB/s", 2000, "allocator=managed touch=cpu agent=device pass=4 size=268435456")->detail =
        strdup(moved);
    made_add(&m, "migration", "GB/s", 1, "allocator=mapped touch=cpu agent=device pass=1 size=268435456");
    made_add(&m, "migration", "GB/s", 50, "allocator=mapped touch=cpu agent=device pass=2 size=268435456")->detail =
        strdup(stayed);
    made_add(&m, "migration", "GB/s", 50, "allocator=pinned touch=cpu agent=device pass=1 size=268435456");
    made_add(&m, "migration", "GB/s", 51, "allocator=pinned touch=cpu agent=device pass=4 size=268435456");
    made_add(&m, "migration", "GB/s", 90, "allocator=pinned touch=cpu agent=cpu pass=1 size=268435456");
    made_derive(&m);
    made_says(made_near(&m, "migration.first.managed.cpu.device", 4, 1e-9),
              "First pass of device reads of 'managed' memory that the CPU wrote: 4.00 GB/s");
    made_says(made_near(&m, "migration.gain.managed.cpu.device", 500, 1e-9), "the pages move to their reader");
    made_says(made_get(&m, "migration.gain.mapped.cpu.device"), "the host keeps its pages");
    made_verdict(&m, "migration.gain.pinned.cpu.device", AS_SUPPORTED);
    made_says(made_get(&m, "migration.gain.pinned.cpu.device"), "are alike");
    made_says(made_get(&m, "migration.first.pinned.cpu.cpu"), "CPU reads of 'pinned' memory that it wrote");
    assert_null(made_find(&m, "migration.gain.pinned.cpu.cpu"));
    made_end(&m);
}

/* A prefetch is named where it was for the reader, and only there. */
UNIT_TEST(test_prefetch)
{
    static const char handed[] = "{\"handover_seconds\":0.012,\"host_share_after\":0,\"last_prefetch\":\"device\","
                                 "\"preferred_location\":\"none\"}";
    static const struct {
        const char *axes;
        bool said;
    } rows[] = {
        {"allocator=cuMemAllocManaged prefetch to host;touch=device;agent=cpu;pass=1;size=268435456", true},
        {"allocator=cuMemAllocManaged prefetch to host;touch=cpu;agent=device;pass=1;size=268435456", false},
        {"allocator=cuMemAllocManaged prefetch;touch=cpu;agent=device;pass=1;size=268435456", true},
        {"allocator=cuMemAllocManaged prefetch;touch=device;agent=cpu;pass=1;size=268435456", false},
        {"allocator=cuMemAllocManaged prefetch;touch=device;agent=device;pass=1;size=268435456", false},
        {"allocator=cuMemAllocManaged prefetch to host;touch=cpu;agent=cpu;pass=1;size=268435456", false},
        {"allocator=cuMemAllocManaged;touch=cpu;agent=device;pass=1;size=268435456", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
        made_add(&m, "migration", "GB/s", 60, rows[i].axes)->detail = strdup(handed);
        made_derive(&m);
        assert_int_equal(m.facts_n, 1);
        assert_int_equal(strstr(m.facts[0].sentence, ", after a 12.0 ms prefetch") != NULL, rows[i].said);
        made_says(&m.facts[0], "then 0% of the pages are on the host; driver: last prefetch location device, preferred "
                               "location none)");
        made_end(&m);
    }
}

/* Costs of lines that the writer's caches hold: of times and rates alike, and what cannot be told. */
UNIT_TEST(test_lines)
{
    static const char *const lines[] = {"modified", "flushed"};
    static const struct {
        const char *what, *touch, *agent;
        double numbers[2];
    } rows[] = {{"latency", "cpu", "device", {1500, 1000}},
                {"bandwidth", "cpu", "device", {10, 20}},
                {"latency", "device", "cpu", {100, 100}},
                {"bandwidth", "device", "cpu", {30, 20}}};
    struct made m = {.share = 0.01, .info = {.id = "hip:0", .backend = "hip"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 2; k++) {
            char axes[200];
            const bool time = strcmp(rows[i].what, "latency") == 0;
            snprintf(axes, sizeof axes,
                     "allocator=hipHostMalloc touch=%s agent=%s pass=1 size=1048576 lines=%s what=%s", rows[i].touch,
                     rows[i].agent, lines[k], rows[i].what);
            made_add(&m, "migration", time ? "ns" : "GB/s", rows[i].numbers[k], axes)->lower_is_better = time;
        }
    made_derive(&m);
    made_near(&m, "migration.lines.latency.hipHostMalloc.cpu.device.1048576", 1.5, 1e-9);
    made_near(&m, "migration.lines.bandwidth.hipHostMalloc.cpu.device.1048576", 2, 1e-9);
    made_says(made_get(&m, "migration.lines.latency.hipHostMalloc.cpu.device.1048576"), "takes longer while");
    made_says(made_get(&m, "migration.lines.latency.hipHostMalloc.device.cpu.1048576"),
              "takes as long for modified lines");
    made_says(made_get(&m, "migration.lines.bandwidth.hipHostMalloc.device.cpu.1048576"), "is faster from");
    made_verdict(&m, "migration.lines.latency.hipHostMalloc.cpu.device.1048576", AS_SUPPORTED);
    made_get(&m, "migration.first.hipHostMalloc.cpu.device"); /* of the bandwidth of modified lines alone */
    made_says(made_get(&m, "migration.first.hipHostMalloc.cpu.device"), "10.0 GB/s");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
