/* The rule of migration, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

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
    static const char handed[] = "{\"handover_seconds\":0.012}";
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
        made_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_prefetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
