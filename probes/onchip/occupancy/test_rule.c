/* The rule of occupancy limits, on synthetic cells of known devices. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A compute unit of four partitions, whose registers are allocated in eights per thread of a warp. */
struct unit {
    unsigned warp, workgroups, threads, registers, shared, reserved, parts, grain, shared_grain;
};
static const struct unit hopper = {32, 32, 2048, 65536, 228 << 10, 1024, 4, 8, 128},
                         cdna = {64, 16, 2048, 131072, 64 << 10, 0, 4, 8, 512},
                         plain = {32, 32, 2048, 65536, 228 << 10, 1024, 1, 1, 128},
                         ada = {32, 24, 1536, 65536, 100 << 10, 1024, 4, 8, 128},
                         turing = {32, 16, 1024, 65536, 64 << 10, 0, 4, 8, 256};

static unsigned least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned resident(const struct unit *u, unsigned threads, unsigned registers, unsigned shared)
{
    const unsigned warps = (threads + u->warp - 1) / u->warp;
    unsigned n = least_of(u->workgroups, u->threads / (warps * u->warp));
    const unsigned each = (registers + u->grain - 1) / u->grain * u->grain * u->warp;
    if (each)
        n = least_of(n, u->registers / u->parts / each * u->parts / warps);
    const unsigned piece = (shared + u->shared_grain - 1) / u->shared_grain * u->shared_grain + u->reserved;
    return shared ? least_of(n, u->shared / piece) : n;
}

static struct as_cell *add(struct made *m, unsigned threads, unsigned values, unsigned shared, unsigned workgroups)
{
    char axes[96], detail[64];
    snprintf(axes, sizeof axes, "threads=%u values=%u shared=%u", threads, values, shared);
    struct as_cell *c = made_add(m, "occupancy", "workgroups", workgroups, axes);
    snprintf(detail, sizeof detail, "{\"registers\":%u,\"spilled_bytes\":0}", values + 18);
    c->detail = as_strdup(detail);
    return c;
}

/* As a launch that may request shared memory notes it. */
static void add_step(struct made *m, const struct unit *u, unsigned shared)
{
    enum { STEP = 16 };
    const unsigned workgroups = resident(u, 32, 0, shared), largest = u->shared - u->reserved;
    struct as_cell *c = add(m, 32, 0, shared, workgroups);
    char detail[128];
    unsigned most = shared / STEP * STEP;
    while (most + STEP <= largest && resident(u, 32, 0, most + STEP) == workgroups)
        most += STEP;
    const int n = snprintf(detail, sizeof detail, "{\"registers\":18,\"spilled_bytes\":0,\"shared_most\":%u", most);
    if (most + STEP <= largest)
        snprintf(detail + n, sizeof detail - (size_t)n, ",\"shared_over\":%u", most + STEP);
    strcat(detail, "}");
    free(c->detail);
    c->detail = as_strdup(detail);
}

static struct made *made_unit(const struct unit *u)
{
    struct made *m = made_gpu();
    m->info.warp = u->warp;
    m->info.compute_unit_threads = u->threads;
    m->info.compute_unit_registers = u->registers;
    m->info.compute_unit_shared = u->shared;
    return m;
}

/* The grid of every suite. */
static void add_grid(struct made *m, const struct unit *u)
{
    static const struct {
        unsigned threads, values;
    } cells[] = {{32, 0},   {64, 0},   {128, 0},  {416, 0},  {128, 24},  {128, 32},  {128, 36}, {128, 48},
                 {128, 56}, {128, 64}, {128, 76}, {128, 80}, {128, 90},  {128, 128}, {32, 112}, {32, 128},
                 {32, 208}, {64, 96},  {64, 160}, {256, 40}, {256, 224}, {256, 240}};
    static const unsigned sizes[] = {7000, 9000, 11000, 15000, 20000, 25000};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        const unsigned registers = cells[i].values ? cells[i].values + 18 : 0;
        if (registers < 256 && resident(u, cells[i].threads, registers, 0))
            add(m, cells[i].threads, cells[i].values, 0, resident(u, cells[i].threads, registers, 0));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        add_step(m, u, sizes[i]);
}

static void holds(const struct made *m, const char *id, double value, double share)
{
    const struct as_fact *f = made_get(m, id);
    made_holds(f, value);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    if (f->ci.hi > value * (1 + share) || f->ci.lo < value * (1 - share))
        fail_msg("%s: %g to %g, not %g", id, f->ci.lo, f->ci.hi, value);
}

/* The scheme that the unit follows is among those that the cells allow, and they exclude at least one other. */
static void holds_between(const struct made *m, const char *id, double value)
{
    const struct as_fact *f = made_get(m, id);
    if (!(f->ci.lo <= value && value <= f->ci.hi))
        fail_msg("%s: %g to %g, not %g", id, f->ci.lo, f->ci.hi, value);
}

/* Limits by workgroups, warps, partitions and grains, which look like limits of another resource. */
UNIT_TEST(test_grid)
{
    static const struct unit *const units[] = {&hopper, &cdna, &plain, &ada, &turing};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct made *m = made_unit(units[i]);
        add_grid(m, units[i]);
        made_derive(m);
        holds(m, "onchip.unit.registers", units[i]->registers, 0.06);
        holds(m, "onchip.unit.shared", units[i]->shared, 0.01);
        holds(m, "onchip.unit.threads", units[i]->threads, 0.13);
        assert_null(made_find(m, "onchip.unit.registers.contradiction"));
        made_near(m, "onchip.unit.workgroups", units[i]->workgroups, 0);
        holds_between(m, "onchip.unit.registers.grain", units[i]->grain * units[i]->warp);
        made_near(m, "onchip.unit.registers.parts", units[i]->parts, 0);
        holds_between(m, "onchip.unit.shared.grain", units[i]->shared_grain);
        made_free(m);
    }
}

/* A request at each step of the number of workgroups tells the capacity, whatever a device adds to it. */
UNIT_TEST(test_steps)
{
    static const struct unit *const units[] = {&hopper, &ada, &turing, &cdna};
    static const unsigned requests[] = {7000, 11000, 15000, 25000};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        struct made *m = made_unit(units[i]);
        add(m, 32, 0, 0, resident(units[i], 32, 0, 0));
        add(m, 64, 0, 0, resident(units[i], 64, 0, 0));
        for (size_t k = 0; k < sizeof requests / sizeof *requests; k++)
            add_step(m, units[i], requests[k]);
        made_derive(m);
        holds(m, "onchip.unit.shared", units[i]->shared, units[i]->shared_grain < 512 ? 0.01 : 0.02);
        holds_between(m, "onchip.unit.shared.grain", units[i]->shared_grain);
        made_free(m);
    }
}

/* If workgroups may be the limit, threads have no upper bound and no number. */
UNIT_TEST(test_no_upper_bound)
{
    struct made *m = made_unit(&hopper);
    add(m, 64, 0, 0, 32);
    made_derive(m);
    const struct as_fact *f = made_get(m, "onchip.unit.threads");
    made_says(f, "at least 2048 resident threads; the driver reports 2048");
    assert_true(isnan(f->value) && f->verdict == AS_UNDECIDED);
    assert_null(made_find(m, "onchip.unit.workgroups"));
    assert_null(made_find(m, "onchip.unit.registers.parts"));
    m->info.compute_unit_threads = 1536;
    made_derive(m);
    made_verdict(m, "onchip.unit.threads", AS_REFUTED);
    made_free(m);
}

/* Numbers that no allocation scheme explains are reported as such. */
UNIT_TEST(test_contradiction)
{
    struct made *m = made_unit(&hopper);
    add_grid(m, &hopper);
    add(m, 192, 0, 0, 5); /* six of 192 threads would need 1152 */
    add(m, 32, 84, 0, 7); /* so would eight of some 100 registers */
    add(m, 32, 0, 6000, 12);
    made_derive(m);
    static const char *const ids[] = {"onchip.unit.threads", "onchip.unit.registers", "onchip.unit.shared"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        char id[64];
        snprintf(id, sizeof id, "%s.contradiction", ids[i]);
        assert_null(made_find(m, ids[i]));
        const struct as_fact *f = made_get(m, id);
        assert_true(isnan(f->value) && f->verdict == AS_UNDECIDED);
        assert_int_equal(f->evidence_n, 2);
    }
    made_says(made_get(m, "onchip.unit.threads.contradiction"), "at least 2048, another fewer than 1152");
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_no_upper_bound),
        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
