/* The rules of address translation, on synthetic cells. */
#include "base/text.h"
#include "facts/facts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS_MAX = 256 };
static struct as_cell cells[CELLS_MAX];
static size_t cells_n;
static struct as_fact *facts;
static size_t facts_n;
static const struct as_device_info info = {.id = "cpu", .backend = "cpu"};

/* axes: "name=text;name=text", since names of allocators hold spaces; share: half the width of the interval */
static struct as_cell *add(const char *probe, const char *unit, double median, double share, const char *axes)
{
    assert_true(cells_n < CELLS_MAX);
    struct as_cell *c = &cells[cells_n++];
    *c = (struct as_cell){.id = (int64_t)cells_n, .status = AS_CELL_OK, .clock_hz = NAN, .limit = NAN};
    snprintf(c->device, sizeof c->device, "cpu");
    snprintf(c->probe, sizeof c->probe, "%s", probe);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    c->sum = (struct as_summary){.n = 30,
                                 .visits = 3,
                                 .median = median,
                                 .ci = {median * (1 - share), median * (1 + share)},
                                 .min = median,
                                 .max = median};
    char text[256], *save = NULL;
    snprintf(text, sizeof text, "%s", axes);
    for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        char *value = strchr(part, '=');
        *value++ = 0;
        assert_int_equal(as_axes_add(&c->axes, part, value, NULL), AS_OK);
    }
    return c;
}

static void derive(void)
{
    struct as_run run = {.id = 1};
    struct as_fact_input in = {&run, cells, cells_n, &info, 1};
    assert_int_equal(as_facts_derive(&in, &facts, &facts_n, NULL), AS_OK);
}

static int clean(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < cells_n; i++)
        free(cells[i].detail);
    free(facts);
    facts = NULL;
    facts_n = cells_n = 0;
    return 0;
}

static const struct as_fact *get(const char *id)
{
    const struct as_fact *f = as_fact_find(facts, facts_n, "cpu", id);
    for (size_t i = 0; !f && i < facts_n; i++)
        print_message("have %s: %s\n", facts[i].id, facts[i].sentence);
    if (!f)
        fail_msg("no fact %s", id);
    assert_true(f->rule[0] && f->evidence_n > 0);
    return f;
}

static void says(const char *id, const char *part)
{
    const struct as_fact *f = get(id);
    if (!strstr(f->sentence, part))
        fail_msg("%s: '%s' is not in: %s", id, part, f->sentence);
}

static double packed_ns(double pages)
{
    return pages <= 512 ? 1 : pages <= 8192 ? 4 : 10;
}

/* A walk over pages: a first level holds 64 of them, a second one 2048. */
static void add_walk(const char *allocator, const char *stride, double first, double second, double share)
{
    for (double pages = 16; pages <= 16384; pages *= 2) {
        char axes[96];
        const double cost = pages > second ? 27 : pages > first ? 2 : 0;
        snprintf(axes, sizeof axes, "pages=%.0f;stride=%s;allocator=%s", pages, stride, allocator);
        add("tlb", "ns", packed_ns(pages) + cost, share, axes)->clock_hz = 3e9;
    }
}

static void test_levels(void **unused)
{
    (void)unused;
    add_walk("mmap", "4096", 64, 2048, 0.005);
    add_walk("thp", "0", INFINITY, INFINITY, 0.005);
    derive();
    const struct as_fact *f = get("tlb.reach1.mmap.4096");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_string_equal(f->unit, "pages");
    assert_true(f->ci.lo >= 63 && f->ci.lo <= 65 && f->ci.hi >= 127 && f->ci.hi <= 129);
    says("tlb.reach1.mmap.4096", "waits 2.00 ns, 6 cycles longer (mmap, a page every 4 KiB)");
    f = get("tlb.reach1.bytes.mmap.4096");
    assert_true(f->ci.lo >= 63 * 4096 && f->ci.hi <= 129 * 4096);
    f = get("tlb.reach2.mmap.4096");
    assert_true(f->value > 2048 && f->value < 4096);
    says("tlb.reach2.mmap.4096", "25.0 ns, 75 cycles");
    f = get("tlb.cost.mmap.4096");
    assert_true(fabs(f->value - 27) < 1e-9 && f->ci.lo > 26 && f->ci.hi < 28);
    says("tlb.cost.mmap.4096", "Over 16384 pages translations add 27.0 ns");
    assert_null(as_fact_find(facts, facts_n, "cpu", "tlb.reach3.mmap.4096"));
}

/* What the caches take more for both is no cost of translation. */
static void test_none(void **unused)
{
    (void)unused;
    add_walk("mmap", "4096", INFINITY, INFINITY, 0.02);
    add_walk("mmap", "0", INFINITY, INFINITY, 0.02);
    derive();
    const struct as_fact *f = get("tlb.reach1.mmap.4096");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    assert_true(isnan(f->value));
    says("tlb.reach1.mmap.4096", "No step in the cost of translations up to 16384 pages");
    assert_int_equal(get("tlb.cost.mmap.4096")->verdict, AS_UNDECIDED);
}

/* A step that is small against the control is no level. */
static void test_small_step(void **unused)
{
    (void)unused;
    for (double pages = 16; pages <= 16384; pages *= 2) {
        char axes[96];
        snprintf(axes, sizeof axes, "pages=%.0f;stride=4096;allocator=mmap", pages);
        add("tlb", "ns", pages > 512 ? 105 : 100, 0.001, axes);
        snprintf(axes, sizeof axes, "pages=%.0f;stride=0;allocator=mmap", pages);
        add("tlb", "ns", 100, 0.001, axes);
    }
    derive();
    assert_int_equal(get("tlb.reach1.mmap.4096")->verdict, AS_UNDECIDED);
    assert_int_equal(get("tlb.cost.mmap.4096")->verdict, AS_SUPPORTED);
}

/* The control on huge pages is taken, and the gain of them is that over the most pages. */
static void test_huge_pages(void **unused)
{
    (void)unused;
    add_walk("mmap", "0", 64, 2048, 0.005);
    add_walk("thp", "0", INFINITY, INFINITY, 0.005);
    add_walk("mmap", "4096", 64, 2048, 0.005);
    add_walk("thp", "4096", INFINITY, INFINITY, 0.005);
    derive();
    assert_true(fabs(get("tlb.cost.mmap.4096")->value - 27) < 1e-9);
    const struct as_fact *f = get("tlb.gain.thp.4096");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(fabs(f->value - 3.7) < 1e-9);
    says("tlb.gain.thp.4096", "from 16384 pages 3.70x");
    assert_null(as_fact_find(facts, facts_n, "cpu", "tlb.gain.thp.0"));
}

static void test_no_control(void **unused)
{
    (void)unused;
    add_walk("mmap", "4096", 64, 2048, 0.005);
    derive();
    assert_null(as_fact_find(facts, facts_n, "cpu", "tlb.cost.mmap.4096"));
    assert_null(as_fact_find(facts, facts_n, "cpu", "tlb.reach1.mmap.4096"));
}

static void test_events(void **unused)
{
    (void)unused;
    static const double misses[][2] = {{16, 3}, {64, 900}, {256, 20000}, {1024, 65000}};
    for (size_t i = 0; i < 4; i++) {
        char axes[128];
        snprintf(axes, sizeof axes, "what=misses;pages=%.0f;stride=4096;allocator=mmap;touch=cpu", misses[i][0]);
        add("page_events", "events", misses[i][1], 0, axes);
    }
    add("page_events", "events", 16, 0, "what=misses;pages=16;stride=4096;allocator=thp;touch=cpu");
    add("page_events", "events", 0, 0, "what=faults;pages=1000;stride=4096;allocator=upfront;touch=cpu");
    add("page_events", "events", 1002, 0, "what=faults;pages=1000;stride=4096;allocator=shared;touch=device");
    derive();
    const struct as_fact *f = get("tlb.misses.mmap.4096");
    assert_true(f->value == 256 && f->ci.lo == 64 && f->ci.hi == 256);
    says("tlb.misses.mmap.4096", "of 1024 pages 99%");
    f = get("tlb.misses.thp.4096");
    assert_true(isnan(f->value));
    says("tlb.misses.thp.4096", "Fewer than one load in ten");
    f = get("page_events.faults.upfront.cpu");
    assert_true(f->value == 0);
    says("page_events.faults.shared.device", "which the device touched first, has 1002 events: 1 minor faults a page");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_levels, clean),     cmocka_unit_test_teardown(test_none, clean),
        cmocka_unit_test_teardown(test_small_step, clean), cmocka_unit_test_teardown(test_huge_pages, clean),
        cmocka_unit_test_teardown(test_no_control, clean), cmocka_unit_test_teardown(test_events, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
