/* Facts about caches and on-chip memory from cells of several probes, on synthetic cells of a known device. */
#include "made.h"
#include "tests/unit_test.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Numbers from inside a level count only where no probe says more: a bandwidth cell says more about the L2. */
UNIT_TEST(test_listed)
{
    struct made *m = made_gpu();
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
    made_free(m);
}

/* A guest may have only a part of a cache, and its other loads miss. */
UNIT_TEST(test_listed_is_missed)
{
    struct made *m = made_gpu();
    made_add(m, "topology", "ns", 22, "place=L2 what=latency");
    made_add(m, "topology", "ns", 108, "place=L3 what=latency");
    made_add(m, "topology", "GB/s", 1600, "place=L3 what=bandwidth");
    made_add(m, "topology", "ns", 126, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *missed = made_get(m, "listed.L3.latency");
    assert_int_equal(missed->verdict, AS_UNDECIDED);
    assert_non_null(strstr(missed->sentence, "most of them seem to miss"));
    assert_int_equal(made_get(m, "listed.L2.latency")->verdict, AS_SUPPORTED);
    assert_int_equal(made_get(m, "listed.memory.latency")->verdict, AS_SUPPORTED);
    assert_int_equal(made_get(m, "listed.L3.read")->verdict, AS_SUPPORTED);
    assert_int_equal(missed->evidence_n, 2); /* a cell of memory, too */
    made_free(m);
}

/* A miss takes no longer than a load from memory; a longer time has another cause. */
UNIT_TEST(test_listed_takes_longer_than_memory)
{
    struct made *m = made_gpu();
    made_add(m, "topology", "ns", 700, "place=L2 what=latency");
    made_add(m, "topology", "ns", 350, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *f = made_get(m, "listed.L2.latency");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "longer than from memory (350 ns): misses alone do not explain it");
    assert_null(strstr(f->sentence, "to miss"));
    made_free(m);
}

/* A cache in front of memory has its own name, not the level at which the map draws it. */
UNIT_TEST(test_listed_memory_side)
{
    struct made *m = made_gpu();
    m->info.caches[m->info.caches_n++] = (struct as_cache){
        .level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache", .source = "kfd"};
    made_add(m, "topology", "ns", 200, "place=L3 what=latency");
    made_add(m, "topology", "GB/s", 9000, "place=L3 what=bandwidth");
    made_add(m, "topology", "ns", 400, "place=memory what=latency");
    made_derive(m);
    made_says(made_get(m, "listed.memory_side.latency"), "A dependent load in the Infinity Cache takes 200 ns");
    made_says(made_get(m, "listed.memory_side.read"), "Sequential reads in the Infinity Cache run at 9.00 TB/s");
    assert_string_equal(made_get(m, "listed.memory_side.read")->object, "L3");
    assert_null(made_find(m, "listed.L3.read"));
    made_free(m);
}

/* Without known sizes, the last cache cannot be distinguished from memory. */
UNIT_TEST(test_listed_with_nothing_beside_it)
{
    struct made *m = made_gpu();
    made_add(m, "topology", "ns", 22, "place=L2 what=latency");
    made_add(m, "topology", "ns", 115, "place=L3 what=latency");
    made_derive(m);
    const struct as_fact *alone = made_get(m, "listed.L3.latency");
    assert_int_equal(alone->verdict, AS_UNDECIDED);
    assert_non_null(strstr(alone->sentence, "inconclusive: memory latency is unknown"));
    assert_int_equal(made_get(m, "listed.L2.latency")->verdict, AS_SUPPORTED);
    made_free(m);
}

/* Memory in every compute unit has a roof too: 128 B per cycle of 132 units at 2 GHz. */
UNIT_TEST(test_own_ridges)
{
    struct made *m = made_gpu();
    made_add(m, "roofline", "FLOP/s", 60e12, "type=f32 threads=0 width=best");
    made_add(m, "onchip_bandwidth", "B/cycle", 128, "what=own size=65536 width=128 stride=1 compute_units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 100, "what=own size=65536 width=32 stride=1 compute_units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 120, "what=shared size=0 width=128 stride=1 compute_units=every");
    made_add(m, "onchip_bandwidth", "B/cycle", 124, "what=common size=16777216 width=128 stride=1 compute_units=one");
    made_add(m, "bandwidth", "GB/s", 14000, "op=read level=sweep size=8388608 threads=0 store=regular");
    made_add(m, "onchip_bandwidth", "B/cycle", 40, "what=common size=16777216 width=128 stride=1 compute_units=every");
    made_derive(m);
    const struct as_fact *l1 = made_get(m, "ridge.f32.L1"), *local = made_get(m, "ridge.f32.shared");
    assert_true(fabs(l1->value / (60e12 / (128 * 132 * 2e9)) - 1) < 1e-9);
    assert_true(fabs(local->value / (60e12 / (120 * 132 * 2e9)) - 1) < 1e-9);
    assert_int_equal(l1->evidence[1], 2);
    assert_true(fabs(made_get(m, "ridge.f32.L2")->value / (60e12 / (40 * 132 * 2e9)) - 1) < 1e-9);
    made_free(m);
}

UNIT_TEST(test_local_and_miss)
{
    struct made *m = made_gpu();
    made_add(m, "onchip", "ns", 20, "what=shared size=65536 stride=64 shared=0");
    made_add(m, "onchip", "ns", 11.5, "what=shared size=4096 stride=64 shared=0");
    made_add(m, "l2_latency", "ns", 330, "what=missed compute_unit=0 filler=0");
    made_add(m, "topology", "ns", 310, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *local = made_get(m, "onchip.shared.latency"); /* at 2 GHz */
    assert_string_equal(local->unit, "cycles");
    made_holds(local, 23);
    made_holds(made_get(m, "onchip.memory.latency"), 330);
    assert_null(made_find(m, "listed.memory.latency"));
    made_free(m);
}

/* Meaningless cells give no facts and no crash. */
UNIT_TEST(test_hostile)
{
    struct made *m = made_gpu();
    for (int i = 0; i < 20; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "what=global size=%d stride=64 shared=0", i);
        made_add(m, "onchip", "ns", i % 2 ? 1e300 : 1e-300, axes)->detail = as_strdup("[\"not an object\"");
    }
    made_add(m, "occupancy", "workgroups", 1e18, "threads=0 values=5 shared=0")->detail =
        as_strdup("{\"registers\":\"x\"}");
    made_add(m, "onchip_bandwidth", "B/cycle", 5, "width=128");
    made_add(m, "l2_latency", "ns", 5, "what=near");
    made_add(m, "onchip_lines", "ns", 5, "what=fetch distance=8");
    made_derive(m);
    made_free(m);
}

/* Below four fifths of the memory latency by the medians, perhaps not by the intervals. */
UNIT_TEST(test_listed_may_be_missed)
{
    struct made *m = made_gpu();
    m->share = 0.2;
    made_add(m, "topology", "ns", 90, "place=L3 what=latency");
    made_add(m, "topology", "ns", 126, "place=memory what=latency");
    made_derive(m);
    const struct as_fact *f = made_get(m, "listed.L3.latency");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "whether most of them hit is inconclusive");
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed_may_be_missed),
        cmocka_unit_test(test_listed),
        cmocka_unit_test(test_listed_is_missed),
        cmocka_unit_test(test_listed_takes_longer_than_memory),
        cmocka_unit_test(test_listed_memory_side),
        cmocka_unit_test(test_listed_with_nothing_beside_it),
        cmocka_unit_test(test_own_ridges),
        cmocka_unit_test(test_local_and_miss),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
