/* What suites and grids plan as main memory goes beyond every cache on its way: on the stand-in of an APU whose L2
 * cache of 4 MiB has a memory-side cache of 256 MiB behind it, of which its API says nothing. */
#include "device/device.h"
#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t L2 = UINT64_C(4) << 20, BEHIND = UINT64_C(256) << 20, LEAST = UINT64_C(1) << 30;
static struct as_device_info apu;

static int open_apu(void **state)
{
    struct as_opened o;
    struct as_error err = {0};
    (void)state;
    setenv("FAKE_HIP", "apu mi300a xnack", 1);
    if (as_device_open("hip:0", &o, &err))
        fail_msg("%s", err.text);
    apu = o.device.info;
    as_device_close(&o);
    /* The stand-in is small. */
    apu.memory_bytes = apu.memory_free = UINT64_C(128) << 30;
    apu.max_alloc = 0;
    for (size_t i = 0; i < apu.allocators_n; i++)
        apu.allocators[i].most = 0;
    apu.compute_units = apu.compute_units ? apu.compute_units : 228;
    apu.host_cache = UINT64_C(96) << 20;
    return 0;
}

static void test_what_is_known(void **unused)
{
    (void)unused;
    const struct as_cache *c = as_info_memory_side(&apu);
    assert_non_null(c);
    assert_int_equal(c->size, BEHIND);
    assert_int_equal(c->level, 3);
    assert_string_equal(c->name, "Infinity Cache");
    assert_string_equal(c->source, "table");
    assert_int_equal(as_info_last_cache(&apu), L2);
    assert_int_equal(as_info_memory_least(&apu, NULL, 1), LEAST);
}

/* Cells that claim main memory: by their level or place, and those of chases that facts and data sheet call so. */
static bool claims_memory(const struct as_cell *c)
{
    return strcmp(as_axes_text(&c->axes, "level"), "memory") == 0;
}

static void add(struct as_plan *plan, const char *text)
{
    struct as_suite suite;
    struct as_error err = {0};
    if (as_suite_parse("planned", text, &suite, &err) || as_plan_add(plan, &suite, &apu, NULL, 0, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&suite);
}

static double largest_of(const struct as_plan *plan, const char *probe)
{
    double largest = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const double size = as_axes_number(&plan->cells[i].axes, "size");
        if (strcmp(plan->cells[i].probe, probe) == 0 && size > largest)
            largest = size;
    }
    return largest;
}

static size_t count_between(const struct as_plan *plan, const char *probe)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const double size = as_axes_number(&plan->cells[i].axes, "size");
        n += strcmp(plan->cells[i].probe, probe) == 0 && size >= 2 * (double)L2 && size <= 0.75 * (double)BEHIND;
    }
    return n;
}

static void test_memory_cells(void **unused)
{
    static const char *const grids[] = {"quick", "full"};
    (void)unused;
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct as_plan plan = {0};
        char text[256];
        size_t claims = 0;
        snprintf(
            text, sizeof text,
            "[bandwidth]\ngrids = %s\n[latency]\ngrids = %s\n[topology]\ngrids = %s\n[loaded_latency]\ngrids = %s\n",
            grids[g], grids[g], grids[g], grids[g]);
        add(&plan, text);
        for (size_t i = 0; i < plan.n; i++) {
            const struct as_cell *c = &plan.cells[i];
            if (!claims_memory(c) || c->status != AS_CELL_PLANNED)
                continue;
            claims++;
            if (as_axes_u64(&c->axes, "size") < LEAST)
                fail_msg("%s claims main memory with %s B", c->probe, as_axes_text(&c->axes, "size"));
        }
        assert_true(claims >= 4);
        assert_true(largest_of(&plan, "latency") >= (double)LEAST);
        assert_true(largest_of(&plan, "loaded_latency") >= (double)LEAST);
        /* and sizes that only the memory-side cache holds */
        assert_true(count_between(&plan, "latency") >= 3);
        assert_true(count_between(&plan, "bandwidth") >= 3);
        as_plan_finish(&plan);
    }
}

/* Every suite, also those that name sizes themselves. */
static void test_suites(void **unused)
{
    (void)unused;
    for (size_t i = 0; as_suite_texts[i].name; i++) {
        struct as_plan plan = {0};
        add(&plan, as_suite_texts[i].text);
        for (size_t k = 0; k < plan.n; k++)
            if (claims_memory(&plan.cells[k]) && as_axes_u64(&plan.cells[k].axes, "size") < LEAST)
                fail_msg("suite %s: %s B", as_suite_texts[i].name, as_axes_text(&plan.cells[k].axes, "size"));
        as_plan_finish(&plan);
    }
}

/* What moves back to the CPU is timed on each API whose device and host can both touch managed memory. */
static void test_touch_after_device(void **unused)
{
    static const char *const ids[] = {"cuda:0", "hip:0"};
    (void)unused;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct as_suite suite;
        struct as_plan plan = {0};
        struct as_opened o;
        struct as_error err = {0};
        size_t planned = 0;
        if (as_device_open(ids[i], &o, &err) ||
            as_suite_parse("planned", "[fault]\ngrids = quick\n[page_events]\ngrids = quick\n", &suite, &err) ||
            as_plan_add(&plan, &suite, &o.device.info, NULL, 0, &err))
            fail_msg("%s: %s", ids[i], err.text);
        for (size_t k = 0; k < plan.n; k++)
            planned += plan.cells[k].status == AS_CELL_PLANNED &&
                       strcmp(as_axes_text(&plan.cells[k].axes, "scenario"), "cpu-after-device") == 0 &&
                       as_allocator_role(ids[i], as_axes_text(&plan.cells[k].axes, "allocator")) == AS_ROLE_MANAGED;
        if (planned < 2)
            fail_msg("%s: %zu cells", ids[i], planned);
        as_plan_finish(&plan);
        as_suite_finish(&suite);
        as_device_close(&o);
    }
}

/* A suite that plans with the L2 cache alone would be seen. */
static void test_planted(void **unused)
{
    struct as_plan plan = {0};
    (void)unused;
    add(&plan, "[bandwidth]\nop = triad\nlevel = memory\nthreads = 0\nsize = 4.5L2\nallocator = device\n");
    assert_int_equal(plan.n, 1);
    assert_true(claims_memory(&plan.cells[0]) && as_axes_u64(&plan.cells[0].axes, "size") == 18 << 20);
    as_plan_finish(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_known),      cmocka_unit_test(test_memory_cells), cmocka_unit_test(test_suites),
        cmocka_unit_test(test_touch_after_device), cmocka_unit_test(test_planted),
    };
    return cmocka_run_group_tests(tests, open_apu, NULL);
}
