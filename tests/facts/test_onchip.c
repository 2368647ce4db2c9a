/* The rules of what lies on a device's chip, on synthetic cells of a device that is known. */
#include "made.h"

#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KiB 1024.0
#define MiB (1024.0 * 1024)

/* 256 KiB of L1 with shared memory taken off it, lines of 128 bytes; 32 banks; 50 MiB of L2 of which half is near. */
static struct made *start(void)
{
    struct made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->share = 0.002;
    m->clock_hz = 2e9;
    m->info = (struct as_device_info){.id = "cuda:0",
                                      .backend = "cuda",
                                      .compute_units = 132,
                                      .compute_unit_threads = 2048,
                                      .compute_unit_registers = 65536,
                                      .compute_unit_shared = 228 << 10,
                                      .caches_n = 1,
                                      .caches = {{.level = 2, .kind = 'u', .size = 50 << 20}}};
    return m;
}

static void end(struct made *m)
{
    made_end(m);
    free(m);
}

/* A step in the cycle count where `size` goes over `at`, softened as caches do over a tenth. */
static double past(double size, double at)
{
    double t = log(size / at) / log(1.15);
    return t <= 0 ? 0 : t >= 1 ? 1 : t;
}

static void add_walk(struct made *m, const char *what, double from, double to, double local, double stride,
                     const double *ends, const double *cycles, size_t levels)
{
    for (double k = 0, size = from; size <= to; k++, size = from * exp2(k / 4)) {
        char axes[160];
        double c = cycles[0];
        for (size_t i = 0; i < levels; i++)
            c += past(size, ends[i]) * (cycles[i + 1] - cycles[i]);
        snprintf(axes, sizeof axes, "what=%s size=%.0f stride=%.0f local=%.0f", what, round(size), stride, local);
        made_add(m, "onchip", "ns", c / 2, axes);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    struct made *m = start();
    static const double cycles[] = {33, 260, 700}, ends[] = {256 * KiB, 50 * MiB}, carved[] = {156 * KiB, 50 * MiB};
    static const double constant_cycles[] = {27, 90, 240}, constant_ends[] = {2 * KiB, 32 * KiB};
    static const double code_cycles[] = {1, 2.5}, code_ends[] = {128 * KiB};
    add_walk(m, "global", 4 * KiB, 256 * MiB, 0, 64, ends, cycles, 2);
    add_walk(m, "global", 16 * KiB, 512 * KiB, 100 * KiB, 64, carved, cycles, 2);
    add_walk(m, "constant", 512, 64 * KiB, 0, 64, constant_ends, constant_cycles, 2);
    add_walk(m, "code", KiB, MiB, 0, 64, code_ends, code_cycles, 1);
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.size"), 256 * KiB * 1.07);
    made_holds(made_get(m, "onchip.L1.latency"), 33);
    assert_string_equal(made_get(m, "onchip.L1.latency")->unit, "cycles");
    made_holds(made_get(m, "onchip.L2.latency"), 260);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_SUPPORTED);
    assert_true(made_get(m, "onchip.L2.size")->claimed == 50 * MiB);
    made_holds(made_get(m, "onchip.L1.size.local102400"), 156 * KiB * 1.07);
    made_holds(made_get(m, "onchip.constant.L1.size"), 2 * KiB * 1.07);
    made_holds(made_get(m, "onchip.constant.L2.size"), 32 * KiB * 1.07);
    made_holds(made_get(m, "onchip.code.L1.size"), 128 * KiB * 1.07);
    assert_null(made_find(m, "onchip.L3.size"));
    end(m);
}

/* A near and a far part make a step of their own, which must not be taken for the cache's end. */
static void test_part(void **state)
{
    (void)state;
    struct made *m = start();
    static const double cycles[] = {33, 220, 300, 700}, ends[] = {256 * KiB, 12 * MiB, 50 * MiB};
    add_walk(m, "global", 4 * KiB, 512 * MiB, 0, 64, ends, cycles, 3);
    made_derive(m);
    made_holds(made_get(m, "onchip.L2.part.size"), 12 * MiB * 1.07);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_SUPPORTED);
    m->info.caches[0].size = 20 << 20;
    made_derive(m);
    assert_int_equal(made_get(m, "onchip.L2.size")->verdict, AS_REFUTED);
    end(m);
}

/* Atomic additions see the whole of a cache of which one unit's loads keep a part twice. */
static void test_whole(void **state)
{
    (void)state;
    struct made *m = start();
    static const double loads[] = {33, 260, 700}, loads_end[] = {256 * KiB, 28 * MiB};
    static const double atomics[] = {600, 1100}, atomics_end[] = {50 * MiB};
    add_walk(m, "global", 4 * KiB, 512 * MiB, 0, 64, loads_end, loads, 2);
    add_walk(m, "atomic", 4 * MiB, 512 * MiB, 0, 64, atomics_end, atomics, 1);
    made_derive(m);
    const struct as_fact *whole = made_get(m, "onchip.whole.L2.size"), *part = made_get(m, "onchip.L2.part.size");
    made_holds(whole, 50 * MiB * 1.07);
    assert_string_equal(whole->object, "L2");
    assert_int_equal(whole->verdict, AS_SUPPORTED);
    assert_true(whole->claimed == 50 * MiB);
    made_holds(part, 28 * MiB * 1.07);
    assert_true(isnan(part->claimed));
    made_holds(made_get(m, "onchip.L2.latency"), 260);
    made_holds(made_get(m, "onchip.whole.L2.latency"), 600);
    assert_null(made_find(m, "onchip.L2.size"));
    end(m);
}

static void test_line(void **state)
{
    (void)state;
    struct made *m = start();
    static const double cycles[] = {33, 260};
    const double dense[] = {256 * KiB}, wide[] = {256 * KiB * 288 / 128};
    add_walk(m, "global", 32 * KiB, 4 * MiB, 0, 64, dense, cycles, 1);
    add_walk(m, "global", 32 * KiB, 4 * MiB, 0, 288, wide, cycles, 1);
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.line.stride288"), 128);
    end(m);
}

static void test_sector_and_ways(void **state)
{
    (void)state;
    struct made *m = start();
    static const int distances[] = {8, 16, 24, 32, 48, 64, 128, 256};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=fetch level=L1 distance=%d lines=0", distances[i]);
        made_add(m, "onchip_lines", "ns", distances[i] < 32 ? 75 : 130, axes);
        snprintf(axes, sizeof axes, "what=fetch level=L2 distance=%d lines=0", distances[i]);
        made_add(m, "onchip_lines", "ns", distances[i] < 64 ? 250 : 390, axes);
    }
    for (int distance = 4096; distance <= 65536; distance *= 2)
        for (int lines = 2; lines <= 64; lines *= 2) {
            char axes[96];
            int ways = distance >= 16384 ? 4 : 16;
            snprintf(axes, sizeof axes, "what=ways level=L1 distance=%d lines=%d", distance, lines);
            made_add(m, "onchip_lines", "ns", lines <= ways ? 16 : 130, axes);
        }
    made_derive(m);
    made_holds(made_get(m, "onchip.L1.sector"), 32);
    assert_true(made_get(m, "onchip.L1.sector")->value == 32);
    assert_true(made_get(m, "onchip.L2.sector")->value == 64);
    made_holds(made_get(m, "onchip.L1.ways"), 4);
    assert_true(made_get(m, "onchip.L1.ways")->ci.hi < 8);
    end(m);
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

static void test_bandwidth_and_banks(void **state)
{
    (void)state;
    struct made *m = start();
    for (int stride = 1; stride <= 33; stride++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=local size=0 width=32 stride=%d units=every", stride);
        made_add(m, "onchip_bandwidth", "B/cycle", 127.5 / common_divisor(stride, 32), axes);
    }
    for (int i = 0; i < 12; i++) {
        char axes[96];
        double size = 2 * MiB * exp2(i / 2.0);
        snprintf(axes, sizeof axes, "what=common size=%.0f width=128 stride=1 units=one", round(size));
        made_add(m, "onchip_bandwidth", "B/cycle", 63 - past(size, 24 * MiB) * 20, axes);
    }
    made_add(m, "onchip_bandwidth", "B/cycle", 127, "what=own size=32768 width=128 stride=1 units=every");
    made_derive(m);
    const struct as_fact *banks = made_get(m, "onchip.local.banks");
    assert_true(banks->value == 32 && banks->verdict == AS_SUPPORTED);
    made_holds(made_get(m, "onchip.L2.reach_of_unit"), 24 * MiB * 1.07);
    made_holds(made_get(m, "onchip.L1.bandwidth"), 127);
    made_holds(made_get(m, "onchip.local.bandwidth"), 127.5);
    end(m);
}

/* Conflicts that nobody saw make no banks. */
static void test_no_banks(void **state)
{
    (void)state;
    struct made *m = start();
    for (int stride = 1; stride <= 33; stride++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=local size=0 width=32 stride=%d units=every", stride);
        made_add(m, "onchip_bandwidth", "B/cycle", 120 - stride * 0.1, axes);
    }
    made_derive(m);
    assert_null(made_find(m, "onchip.local.banks"));
    end(m);
}

static void test_units(void **state)
{
    (void)state;
    struct made *m = start();
    struct as_cell *near = made_add(m, "onchip_units", "ns", 105, "what=near unit=3 filler=0");
    near->detail = as_strdup("{\"near_share\":0.52}");
    made_add(m, "onchip_units", "ns", 140, "what=far unit=3 filler=0");
    made_add(m, "onchip_units", "ns", 380, "what=missed unit=0 filler=0");
    made_add(m, "onchip_units", "ns", 120, "what=found unit=0 filler=0");
    made_add(m, "onchip_units", "ns", 150, "what=found unit=0 filler=64");
    made_add(m, "onchip_units", "ns", 150, "what=found unit=0 filler=8");
    made_derive(m);
    const struct as_fact *far = made_get(m, "onchip.L2.far.unit3");
    made_holds(far, 140.0 / 105);
    assert_non_null(strstr(far->sentence, "52%"));
    const struct as_fact *sharing = made_get(m, "onchip.L2.sharing");
    assert_true(sharing->verdict == AS_SUPPORTED && sharing->value == 2);
    m->cells[4].sum.median = 379;
    m->cells[4].sum.ci = (struct as_interval){378, 380};
    made_derive(m);
    assert_int_equal(made_get(m, "onchip.L2.sharing")->verdict, AS_REFUTED);
    end(m);
}

static void test_groups(void **state)
{
    (void)state;
    struct made *m = start();
    for (int values = 0; values <= 240; values += 16) {
        char axes[96], detail[64];
        int registers = (values + 16) / 8 * 8;
        int by_registers = 65536 / (registers * 64), groups = by_registers < 32 ? by_registers : 32;
        snprintf(axes, sizeof axes, "threads=64 values=%d local=0", values);
        struct as_cell *c = made_add(m, "onchip_groups", "groups", groups, axes);
        snprintf(detail, sizeof detail, "{\"registers\":%d,\"spilled_bytes\":0}", registers);
        c->detail = as_strdup(detail);
    }
    made_add(m, "onchip_groups", "groups", 32, "threads=32 values=0 local=0");
    for (int local = 5000; local < 232000; local = local * 5 / 3) {
        char axes[96];
        int groups = (228 << 10) / (local + 1024);
        snprintf(axes, sizeof axes, "threads=32 values=0 local=%d", local);
        made_add(m, "onchip_groups", "groups", groups < 32 ? groups : 32, axes);
    }
    made_derive(m);
    const struct as_fact *registers = made_get(m, "onchip.unit.registers");
    made_holds(registers, 65536);
    assert_int_equal(registers->verdict, AS_SUPPORTED);
    const struct as_fact *local = made_get(m, "onchip.unit.local");
    made_holds(local, 228 << 10);
    assert_true(local->ci.lo > 180 << 10 && local->ci.hi < 280 << 10);
    end(m);
}

/* What the levels say from inside counts where nothing else says more: a bandwidth cell knows more of the L2. */
static void test_listed(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "topology", "ns", 150, "place=L2 what=latency");
    made_add(m, "topology", "GB/s", 8000, "place=L2 what=bandwidth");
    made_add(m, "topology", "ns", 310, "place=memory what=latency");
    made_add(m, "topology", "GB/s", 4000, "place=memory what=bandwidth");
    made_add(m, "bandwidth", "GB/s", 9000, "op=read level=sweep size=20971520 threads=0 width=best");
    made_derive(m);
    const struct as_fact *read = made_get(m, "listed.memory.read");
    assert_string_equal(read->unit, "GB/s");
    assert_string_equal(read->object, "memory");
    assert_true(fabs(read->value - 4000) < 1 && read->ci.lo < 4000 && read->ci.hi > 4000);
    assert_true(made_get(m, "listed.L2.latency")->value == 150);
    assert_true(made_get(m, "listed.memory.latency")->value == 310);
    assert_non_null(made_get(m, "bandwidth.L2.read.all"));
    assert_null(made_find(m, "listed.L2.read"));
    end(m);
}

/* An API may name a cache and say nothing of who shares it: there may be one. What main memory gave is not the cache's
 * in any case. */
static void test_cache_of_unknown_sharing(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "bandwidth", "GB/s", 4000, "op=read level=sweep size=536870912 threads=0 width=best");
    made_add(m, "bandwidth", "GB/s", 4200, "op=triad level=memory size=25165824 threads=0 width=best");
    made_derive(m);
    assert_null(made_find(m, "bandwidth.L2.read.all"));
    assert_null(made_find(m, "bandwidth.L2.triad.all"));
    made_add(m, "bandwidth", "GB/s", 9000, "op=read level=sweep size=20971520 threads=0 width=best");
    made_derive(m);
    made_near(m, "bandwidth.L2.read.all", 9000, 0);
    end(m);
}

/* A guest may have a part of a cache only, and its loads miss the rest. */
static void test_listed_is_missed(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "topology", "ns", 22, "place=L2 what=latency");
    made_add(m, "topology", "ns", 108, "place=L3 what=latency");
    made_add(m, "topology", "GB/s", 1600, "place=L3 what=bandwidth");
    made_add(m, "topology", "ns", 126, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *missed = made_get(m, "listed.L3.latency");
    assert_int_equal(missed->verdict, AS_UNDECIDED);
    assert_non_null(strstr(missed->sentence, "most of them miss"));
    assert_int_equal(made_get(m, "listed.L2.latency")->verdict, AS_SUPPORTED);
    assert_int_equal(made_get(m, "listed.memory.latency")->verdict, AS_SUPPORTED);
    assert_int_equal(made_get(m, "listed.L3.read")->verdict, AS_SUPPORTED);
    end(m);
}

/* Nor can the last cache be told from memory where that is not known. */
static void test_listed_with_nothing_beside_it(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "topology", "ns", 22, "place=L2 what=latency");
    made_add(m, "topology", "ns", 115, "place=L3 what=latency");
    made_derive(m);
    const struct as_fact *alone = made_get(m, "listed.L3.latency");
    assert_int_equal(alone->verdict, AS_UNDECIDED);
    assert_non_null(strstr(alone->sentence, "no valid memory latency"));
    assert_int_equal(made_get(m, "listed.L2.latency")->verdict, AS_SUPPORTED);
    end(m);
}

/* What every unit has of its own is a roof too: 128 B per cycle of 132 units at 2 GHz. */
static void test_own_ridges(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "roofline", "FLOP/s", 60e12, "type=f32 threads=0 width=best");
    made_add(m, "onchip_bandwidth", "B/cycle", 128, "what=own size=65536 width=128 stride=1 units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 100, "what=own size=65536 width=32 stride=1 units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 120, "what=local size=0 width=128 stride=1 units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 124, "what=common size=16777216 width=128 stride=1 units=one");
    made_derive(m);
    const struct as_fact *l1 = made_get(m, "ridge.f32.L1"), *local = made_get(m, "ridge.f32.LOCAL");
    assert_true(fabs(l1->value / (60e12 / (128 * 132 * 2e9)) - 1) < 1e-9);
    assert_true(fabs(local->value / (60e12 / (120 * 132 * 2e9)) - 1) < 1e-9);
    assert_int_equal(l1->evidence[1], 2);
    assert_null(made_find(m, "ridge.f32.L2"));
    end(m);
}

static void test_local_and_miss(void **state)
{
    (void)state;
    struct made *m = start();
    made_add(m, "onchip", "ns", 20, "what=local size=65536 stride=64 local=0");
    made_add(m, "onchip", "ns", 11.5, "what=local size=4096 stride=64 local=0");
    made_add(m, "onchip_units", "ns", 330, "what=missed unit=0 filler=0");
    made_add(m, "topology", "ns", 310, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *local = made_get(m, "onchip.local.latency"); /* at 2 GHz */
    assert_string_equal(local->unit, "cycles");
    made_holds(local, 23);
    made_holds(made_get(m, "onchip.memory.latency"), 330);
    assert_null(made_find(m, "listed.memory.latency"));
    end(m);
}

/* Cells that say nonsense make no facts and no fault. */
static void test_hostile(void **state)
{
    (void)state;
    struct made *m = start();
    for (int i = 0; i < 20; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=global size=%d stride=64 local=0", i);
        made_add(m, "onchip", "ns", i % 2 ? 1e300 : 1e-300, axes)->detail = as_strdup("[\"not an object\"");
    }
    made_add(m, "onchip_groups", "groups", 1e18, "threads=0 values=5 local=0")->detail =
        as_strdup("{\"registers\":\"x\"}");
    made_add(m, "onchip_bandwidth", "B/cycle", 5, "width=128");
    made_add(m, "onchip_units", "ns", 5, "what=near");
    made_add(m, "onchip_lines", "ns", 5, "what=fetch distance=8");
    made_derive(m);
    end(m);
}

/* By the medians there are far lines, shared ones, sectors, banks and a reach; the intervals hold none of them. */
static void test_wide_intervals(void **state)
{
    (void)state;
    struct made *m = start();
    char axes[96];
    m->share = 0.4;
    made_add(m, "onchip_units", "ns", 100, "what=near unit=3 filler=0");
    made_add(m, "onchip_units", "ns", 140, "what=far unit=3 filler=0");
    made_add(m, "onchip_units", "ns", 150, "what=missed unit=3 filler=0");
    made_add(m, "onchip_units", "ns", 110, "what=found unit=3 filler=1");
    for (int i = 0; i < 8; i++) {
        snprintf(axes, sizeof axes, "what=fetch level=L2 distance=%d", 8 << i);
        made_add(m, "onchip_lines", "ns", i < 3 ? 100 : 130, axes);
        snprintf(axes, sizeof axes, "what=local units=every width=32 stride=%d", 1 << i);
        made_add(m, "onchip_bandwidth", "B/cycle", i == 5 ? 50 : 100, axes);
        snprintf(axes, sizeof axes, "what=common units=one width=128 stride=1 size=%d", 1 << (20 + i));
        made_add(m, "onchip_bandwidth", "B/cycle", i < 4 ? 60 : 50, axes);
    }
    made_derive(m);
    const struct as_fact *f = made_get(m, "onchip.L2.far.unit3");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "are statistically tied with the near ones");
    f = made_get(m, "onchip.L2.sharing");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "loaded by 0 of 1 others; 1 are undecided");
    assert_null(made_find(m, "onchip.L2.sector"));
    assert_null(made_find(m, "onchip.local.banks"));
    assert_null(made_find(m, "onchip.L2.reach_of_unit"));
    end(m);
}

/* Below four fifths of the memory latency by the medians, and perhaps not. */
static void test_listed_may_be_missed(void **state)
{
    (void)state;
    struct made *m = start();
    m->share = 0.2;
    made_add(m, "topology", "ns", 90, "place=L3 what=latency");
    made_add(m, "topology", "ns", 126, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *f = made_get(m, "listed.L3.latency");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "whether most of them hit is undecided");
    end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed_may_be_missed),
        cmocka_unit_test(test_wide_intervals),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_sector_and_ways),
        cmocka_unit_test(test_bandwidth_and_banks),
        cmocka_unit_test(test_no_banks),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_cache_of_unknown_sharing),
        cmocka_unit_test(test_listed_is_missed),
        cmocka_unit_test(test_listed_with_nothing_beside_it),
        cmocka_unit_test(test_own_ridges),
        cmocka_unit_test(test_local_and_miss),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
