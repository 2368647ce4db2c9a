/* The rule of migration, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

UNIT_TEST(test_passes)
{
    static const char moved[] = "{\"host_share_before\":1,\"host_share_after\":0}";
    static const char stayed[] = "{\"host_share_before\":1,\"host_share_after\":1}";
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda", .bus_bandwidth = 63e9}};
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
    made_says(made_near(&m, "migration.first.managed.cpu.device.268435456", 4, 1e-9),
              "First pass of device reads of 256 MiB of 'managed' memory that the CPU wrote: 4.00 GB/s");
    made_says(made_near(&m, "migration.gain.managed.cpu.device.268435456", 500, 1e-9),
              "the pages move to their reader");
    made_says(made_get(&m, "migration.gain.mapped.cpu.device.268435456"), "the host keeps its pages");
    made_verdict(&m, "migration.gain.pinned.cpu.device.268435456", AS_SUPPORTED);
    made_says(made_get(&m, "migration.gain.pinned.cpu.device.268435456"), "are alike");
    made_says(made_get(&m, "migration.first.pinned.cpu.cpu.268435456"),
              "CPU reads of 256 MiB of 'pinned' memory that it wrote");
    assert_null(made_find(&m, "migration.gain.pinned.cpu.cpu.268435456"));
    made_end(&m);
}

static const char *const by_share[] = {
    "{\"host_share_before\":0,\"host_share_after\":0}", "{\"host_share_before\":0,\"host_share_after\":1}",
    "{\"host_share_before\":1,\"host_share_after\":0}", "{\"host_share_before\":1,\"host_share_after\":1}",
    "{\"host_share_before\":0,\"host_share_after\":1,\"read_mostly\":\"yes\"}"};
enum { UNMAPPED, TO_HOST, TO_DEVICE, MAPPED, TO_HOST_MOSTLY };

/* A first and a fourth pass. */
static void add_passes(struct made *m, const char *allocator, const char *sides, double first, double last, int share)
{
    for (int pass = 1; pass <= 4; pass += 3) {
        char axes[200];
        snprintf(axes, sizeof axes, "allocator=%s;%s;pass=%d;size=67108864", allocator, sides, pass);
        made_add(m, "migration", "GB/s", pass == 1 ? first : last, axes)->detail = strdup(by_share[share]);
    }
}

static void add_control(struct made *m, const char *allocator, double rate)
{
    char axes[200];
    snprintf(axes, sizeof axes, "allocator=%s;touch=device;agent=device;pass=1;size=67108864", allocator);
    made_add(m, "migration", "GB/s", rate, axes)->detail = strdup(by_share[UNMAPPED]);
}

/* Pages that the CPU has not mapped have moved only where the device reads them faster than the bus. */
UNIT_TEST(test_moves)
{
    static const char to_cpu[] = "touch=device;agent=cpu", to_device[] = "touch=cpu;agent=device";
    static const struct {
        const char *allocator;
        double control, first, last; /* of the device, and of the CPU; 0: none */
        int share;
        unsigned node; /* of the device's memory */
        const char *end;
    } cpu[] =
        {
            {"cuMemAllocManaged", 1700, 17, 200, TO_HOST, 0, ": the pages move to their reader"},
            {"cuMemAllocManaged prefer host", 51, 17, 200, TO_HOST, 0, "the gain of 'cuMemHostAlloc')"},
            {"cuMemAllocManaged prefer host", 62.9, 17, 200, TO_HOST, 0, "the gain of 'cuMemHostAlloc')"},
            {"cuMemAllocManaged", 0, 17, 200, TO_HOST, 0, "the gain of 'cuMemHostAlloc')"},
            {"cuMemAllocManaged read mostly", 1700, 17, 200, TO_HOST_MOSTLY, 0,
             ": the reader gets a copy of the pages"},
            {"cuMemAllocManaged", 1700, 17, 200, UNMAPPED, 0, "the gain of 'cuMemHostAlloc')"},
            {"cuMemAllocManaged", 0, 17, 200, TO_HOST, 1, ": the pages move to their reader"},
            {"cuMemAllocManaged", 0, 17, 200, UNMAPPED, 1, ", and the device keeps its pages"},
        },
      device[] = {
          {"cuMemAllocManaged", 0, 9, 2000, TO_DEVICE, 0, ": the pages move to their reader"},
          {"cuMemAllocManaged", 0, 9, 50, TO_DEVICE, 0, " as fast as the first (5.48 to 5.63x)"},
          {"cuMemAllocManaged", 0, 9, 2000, MAPPED, 0, ": the reader gets a copy of the pages"},
          {"cuMemAllocManaged", 0, 9, 50, MAPPED, 0, ", and the host keeps its pages"},
          {"cuMemAllocManaged", 0, 9, 300, TO_DEVICE, 1, ": the pages move to their reader"},
      };
    const size_t n = sizeof cpu / sizeof *cpu, all = n + sizeof device / sizeof *device;
    for (size_t i = 0; i < all; i++) {
        const bool by_cpu = i < n;
        struct made m = {.share = 0.01,
                         .info = {.id = "cuda:0",
                                  .backend = "cuda",
                                  .bus_bandwidth = 63e9,
                                  .memory_node = by_cpu ? cpu[i].node : device[i - n].node}};
        const char *allocator = by_cpu ? cpu[i].allocator : device[i - n].allocator;
        if (by_cpu) {
            add_passes(&m, allocator, to_cpu, cpu[i].first, cpu[i].last, cpu[i].share);
            add_passes(&m, "cuMemHostAlloc", to_cpu, 80, 200, MAPPED);
            if (cpu[i].control > 0)
                add_control(&m, allocator, cpu[i].control);
        } else {
            add_passes(&m, allocator, to_device, device[i - n].first, device[i - n].last, device[i - n].share);
        }
        made_derive(&m);
        const struct as_fact *f = NULL;
        char object[64];
        snprintf(object, sizeof object, "allocator:%s", allocator);
        for (size_t k = 0; k < m.facts_n; k++)
            if (m.facts[k].relation == AS_FACT_MIGRATION_GAIN && strcmp(m.facts[k].object, object) == 0)
                f = &m.facts[k];
        assert_non_null(f);
        const char *end = by_cpu ? cpu[i].end : device[i - n].end;
        const size_t length = strlen(f->sentence), wanted = strlen(end);
        if (length < wanted || strcmp(f->sentence + length - wanted, end) != 0)
            fail_msg("case %zu: '%s' does not end with '%s'", i, f->sentence, end);
        made_end(&m);
    }
}

/* Later passes of the CPU may hit its caches: memory that never moves shows how much that is. */
UNIT_TEST(test_hits_of_the_cpu_are_no_move)
{
    static const char sides[] = "touch=device;agent=cpu";
    static const char managed[] = "migration.gain.cuMemAllocManaged.device.cpu.67108864";
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda", .bus_bandwidth = 63e9}};
    for (int i = 0; i < 3; i++) {
        add_control(&m, "cuMemAllocManaged", 1700);
        add_passes(&m, "cuMemAllocManaged", sides, i == 1 ? 17 : 80, 200, TO_HOST);
        if (i < 2)
            add_passes(&m, "cuMemHostAlloc", sides, 80, 200, MAPPED);
        made_derive(&m);
        made_verdict(&m, managed, i == 1 ? AS_SUPPORTED : AS_UNDECIDED);
        made_says(made_get(&m, managed), i == 1 ? "as fast as the first (11.6 to 11.9x) (4.61 to 4.80x the gain of "
                                                  "'cuMemHostAlloc'): the pages move to their reader"
                                                : "pays for a move is inconclusive: pass 4 is 2.50x as fast as the "
                                                  "first (2.46 to 2.54x), but may hit the CPU's caches");
        if (i < 2) {
            made_verdict(&m, "migration.gain.cuMemHostAlloc.device.cpu.67108864", AS_SUPPORTED);
            assert_null(strchr(made_get(&m, "migration.gain.cuMemHostAlloc.device.cpu.67108864")->sentence, ':'));
        }
        made_end(&m);
    }
}

/* Where the CPU has not mapped a page, the page may be anywhere. */
UNIT_TEST(test_mapped_is_not_located)
{
    for (unsigned node = 0; node < 2; node++) {
        struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda", .memory_node = node}};
        add_control(&m, "cuMemAllocManaged prefer host", 51);
        made_derive(&m);
        made_says(made_get(&m, "migration.first.cuMemAllocManaged_prefer_host.device.device.67108864"),
                  node ? "then 0% of the pages are in the host's memory"
                       : "then 0% of the pages are mapped on the host");
        made_end(&m);
    }
}

/* Facts of two sizes do not contradict one another, and a number that is mostly a launch says so. */
UNIT_TEST(test_sizes_are_told_apart)
{
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
    for (int pass = 1; pass <= 2; pass++)
        for (int large = 0; large < 2; large++) {
            char axes[160];
            snprintf(axes, sizeof axes, "allocator=pinned touch=cpu agent=device pass=%d size=%d", pass,
                     large ? 1 << 26 : 1 << 20);
            made_add(&m, "migration", "GB/s", large ? 50 : 35 * pass, axes);
        }
    made_derive(&m);
    made_says(made_near(&m, "migration.first.pinned.cpu.device.1048576", 35, 1e-9), "35.0 GB/s");
    made_says(made_get(&m, "migration.first.pinned.cpu.device.1048576"), "reads of 1 MiB of 'pinned'");
    made_says(made_get(&m, "migration.first.pinned.cpu.device.1048576"), "launch included)");
    made_near(&m, "migration.first.pinned.cpu.device.67108864", 50, 1e-9);
    assert_null(strstr(made_get(&m, "migration.first.pinned.cpu.device.67108864")->sentence, "launch"));
    made_near(&m, "migration.gain.pinned.cpu.device.1048576", 2, 1e-9);
    made_near(&m, "migration.gain.pinned.cpu.device.67108864", 1, 1e-9);
    made_end(&m);
}

/* Each kind of memory has its facts, however many kinds there are. */
UNIT_TEST(test_all_allocators)
{
    enum { KINDS = 60 };
    struct made m = {.share = 0.01, .info = {.id = "cuda:0", .backend = "cuda"}};
    for (int i = 0; i < KINDS; i++) {
        char allocator[32], axes[160];
        snprintf(allocator, sizeof allocator, "own%d", i);
        add_control(&m, allocator, 2000);
        for (int flushed = 0; flushed < 2; flushed++) {
            snprintf(axes, sizeof axes,
                     "allocator=own%d;touch=cpu;agent=device;pass=1;size=1048576;lines=%s;what=latency", i,
                     flushed ? "flushed" : "modified");
            made_add(&m, "migration", "ns", 1000, axes)->lower_is_better = true;
        }
    }
    made_derive(&m);
    for (int i = 0; i < KINDS; i++) {
        char id[96];
        snprintf(id, sizeof id, "migration.first.own%d.device.device.67108864", i);
        made_get(&m, id);
        snprintf(id, sizeof id, "migration.lines.latency.own%d.cpu.device.1048576", i);
        made_get(&m, id);
    }
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
        made_says(&m.facts[0],
                  "then 0% of the pages are mapped on the host; driver: last prefetch location device, preferred "
                  "location none)");
        made_end(&m);
    }
}

/* Costs of lines that the writer's caches hold: of times and rates alike, and what cannot be told. The CPU reads no
 * cache of a device behind a bus. */
UNIT_TEST(test_lines)
{
    static const char *const lines[] = {"modified", "flushed"};
    static const struct {
        const char *what, *touch, *agent;
        double numbers[2], ratio;
        const char *text, *behind_bus;
    } rows[] = {{"latency", "cpu", "device", {1500, 1000}, 1.5, "takes longer while", "takes longer while"},
                {"bandwidth", "cpu", "device", {10, 20}, 2, "takes longer while", "takes longer while"},
                {"latency",
                 "device",
                 "cpu",
                 {100, 100},
                 1,
                 "as long for modified lines in the writer's caches",
                 "as long right after the write as from memory"},
                {"bandwidth",
                 "device",
                 "cpu",
                 {30, 20},
                 2 / 3.0,
                 "is faster from the writer's caches",
                 "is faster right after the write, when the lines are in the CPU's own caches"}};
    static const struct as_device_info infos[] = {{.id = "hip:0", .backend = "hip", .is_host_memory = true},
                                                  {.id = "hip:0", .backend = "hip", .memory_node = 1},
                                                  {.id = "hip:0", .backend = "hip"}};
    for (size_t d = 0; d < 3; d++) {
        struct made m = {.share = 0.01, .info = infos[d]};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (int k = 0; k < 2; k++) {
                char axes[200];
                const bool time = strcmp(rows[i].what, "latency") == 0;
                snprintf(axes, sizeof axes,
                         "allocator=hipHostMalloc touch=%s agent=%s pass=1 size=1048576 lines=%s what=%s",
                         rows[i].touch, rows[i].agent, lines[k], rows[i].what);
                made_add(&m, "migration", time ? "ns" : "GB/s", rows[i].numbers[k], axes)->lower_is_better = time;
            }
        made_derive(&m);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char id[128];
            snprintf(id, sizeof id, "migration.lines.%s.hipHostMalloc.%s.%s.1048576", rows[i].what, rows[i].touch,
                     rows[i].agent);
            made_says(made_near(&m, id, rows[i].ratio, 1e-9), d == 2 ? rows[i].behind_bus : rows[i].text);
        }
        made_verdict(&m, "migration.lines.latency.hipHostMalloc.cpu.device.1048576", AS_SUPPORTED);
        made_says(made_get(&m, "migration.first.hipHostMalloc.cpu.device.1048576"),
                  "10.0 GB/s"); /* of bandwidth alone */
        made_end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_hits_of_the_cpu_are_no_move),
        cmocka_unit_test(test_mapped_is_not_located),
        cmocka_unit_test(test_sizes_are_told_apart),
        cmocka_unit_test(test_all_allocators),
        cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
