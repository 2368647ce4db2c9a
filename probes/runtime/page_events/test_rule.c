/* The rule of page faults and migrations, on synthetic cells. */
#include "model/metrics.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu"}};

static int start(void **unused)
{
    (void)unused;
    m.share = 0.005;
    return 0;
}

static struct as_cell *misses_of(const char *allocator, double pages, double n)
{
    char axes[128];
    snprintf(axes, sizeof axes, "what=misses;pages=%.0f;stride=4096;allocator=%s;touch=cpu", pages, allocator);
    return made_add(&m, "page_events", "events", n, axes);
}

/* What the study of the MI300A counted: the CPU's faults of ten triads, and its misses in a device's memory. */
UNIT_TEST(test_cpu_in_device_memory)
{
    struct made apu = {.share = 0.005, .info = {.id = "hip:0", .backend = "hip"}};
    made_add(&apu, "page_events", "events", 472000, "what=triads pages=468480 stride=4096 allocator=malloc touch=cpu");
    made_add(&apu, "page_events", "events", 4100, "what=triads pages=468480 stride=4096 allocator=hipMalloc touch=cpu");
    made_add(&apu, "page_events", "events", 8500,
             "what=triads pages=468480 stride=4096 allocator=hipMalloc touch=device");
    made_add(&apu, "page_events", "events", 60000,
             "what=misses pages=4096 stride=4096 allocator=hipMalloc touch=device")
        ->detail = strdup("{\"loads\": 65536}");
    made_derive(&apu);
    made_near(&apu, "page_events.triads.malloc.cpu", 472000, 1e-9);
    made_says(made_get(&apu, "page_events.triads.malloc.cpu"),
              "Ten CPU triads over 468480 pages of 'malloc': 472000 minor faults, 1.01 per page");
    made_says(made_near(&apu, "page_events.triads.hipMalloc.device", 8500, 1e-9), "that the device touched first");
    made_says(made_get(&apu, "tlb.misses.hipMalloc.4096.device"), "CPU in hipMalloc after the device");
    made_end(&apu);
}

UNIT_TEST(test_events)
{
    m.share = 0;
    static const double misses[][2] = {{16, 3}, {64, 900}, {256, 20000}, {1024, 65000}};
    for (size_t i = 0; i < 4; i++)
        misses_of("mmap", misses[i][0], misses[i][1])->detail = strdup("{\"loads\": 65536}");
    misses_of("thp", 16, 16)->detail = strdup("{\"loads\": 65536}");
    misses_of("untold", 16, 16); /* unknown number of loads */
    made_add(&m, "page_events", "events", 32, "what=faults;pages=16384;stride=4096;allocator=huge;touch=cpu");
    made_add(&m, "page_events", "events", 0, "what=faults;pages=1000;stride=4096;allocator=upfront;touch=cpu");
    made_add(&m, "page_events", "events", 1002, "what=faults;pages=1000;stride=4096;allocator=shared;touch=device");
    static const struct as_metric_value fetched[] = {
        {.name = "minor_faults", .unit = "events", .counts = "c", .value = 0, .ci = {0, 0}, .trials = 3},
        {.name = "major_faults", .unit = "events", .counts = "c", .value = 192, .ci = {192, 192}, .trials = 3},
        {.name = "read_time", .unit = "ns", .counts = "c", .value = 1200, .ci = {1100, 1300}, .trials = 3}};
    struct as_cell *managed = made_add(&m, "page_events", "events", 192,
                                       "what=faults;pages=16384;stride=4096;allocator=managed;touch=device");
    assert_int_equal(as_cell_set_metrics(managed, fetched, 3, NULL), AS_OK);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "tlb.misses.mmap.4096");
    assert_true(f->value == 256 && f->ci.lo == 64 && f->ci.hi == 256);
    made_says(made_get(&m, "tlb.misses.mmap.4096"), "over 1024 pages 99%");
    f = made_get(&m, "tlb.misses.thp.4096");
    assert_true(isnan(f->value));
    made_says(made_get(&m, "tlb.misses.thp.4096"), "Fewer than one load in ten");
    assert_null(made_find(&m, "tlb.misses.untold.4096"));
    f = made_get(&m, "page_events.faults.upfront.cpu");
    assert_true(f->value == 0 && !strstr(f->sentence, "per fault"));
    made_says(made_get(&m, "page_events.faults.huge.cpu"), "32 minor faults, 0.00195 per page, 2 MiB per fault");
    made_says(made_get(&m, "page_events.faults.shared.device"),
              "CPU reads of 1000 pages of 'shared' that the device touched first: 1002 minor faults, 1 per page");
    made_says(made_get(&m, "page_events.faults.managed.device"),
              "CPU reads of 16384 pages of 'managed' that the device touched first: 192 page faults (0 minor, 192 "
              "major), 0.0117 per page; reading them takes 1.20 µs");
}

/* A prefetch brought the pages to the device: the driver moves them at the CPU's first touch. */
UNIT_TEST(test_touch_of_pages_on_the_device)
{
    static const double major[] = {192, 0};
    for (size_t i = 0; i < 2; i++) {
        struct made gpu = {.info = {.id = "cuda:0", .backend = "cuda"}};
        const struct as_metric_value faults[] = {{.name = "minor_faults",
                                                  .unit = "events",
                                                  .counts = "c",
                                                  .value = 192 - major[i],
                                                  .ci = {192 - major[i], 192 - major[i]},
                                                  .trials = 3},
                                                 {.name = "major_faults",
                                                  .unit = "events",
                                                  .counts = "c",
                                                  .value = major[i],
                                                  .ci = {major[i], major[i]},
                                                  .trials = 3}};
        struct as_cell *c = made_add(&gpu, "page_events", "events", 192,
                                     "what=faults;pages=16384;stride=4096;allocator=__managed__;touch=cpu");
        assert_int_equal(as_cell_set_metrics(c, faults, 2, NULL), AS_OK);
        made_derive(&gpu);
        made_says(made_get(&gpu, "page_events.faults.__managed__.cpu"),
                  i ? "CPU first touch of 16384 pages of '__managed__': 192 page faults (192 minor"
                    : "CPU touch of 16384 pages of '__managed__', which were on the device before: 192 page faults (0");
        made_end(&gpu);
    }
}

UNIT_TEST(test_events_that_may_be_few)
{
    struct as_cell *c =
        made_add(&m, "page_events", "events", 7000, "what=misses;pages=1024;stride=4096;allocator=mmap;touch=cpu");
    c->detail = strdup("{\"loads\": 65536}");
    c->sum.ci = (struct as_interval){5000, 9000};
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "tlb.misses.mmap.4096");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "is inconclusive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_in_device_memory),
        made_test_from(test_events, start, &m),
        cmocka_unit_test(test_touch_of_pages_on_the_device),
        made_test_from(test_events_that_may_be_few, start, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
