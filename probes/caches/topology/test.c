/* Probe topology: which levels apply, with which working set, and a wrong link is detected. */
#include "model/gates.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_topology;

static void add_cache(struct toy *t, unsigned level, char kind, uint64_t size)
{
    t->dev.info.caches[t->dev.info.caches_n++] = (struct as_cache){.level = level, .kind = kind, .size = size};
}

static void make_cpu(struct toy *t)
{
    toy_init(t, AS_CAP_HOST_KERNELS);
    add_cache(t, 1, 'd', 32 << 10);
    add_cache(t, 1, 'i', 64 << 10);
    add_cache(t, 2, 'u', 1 << 20);
    add_cache(t, 3, 'u', 2 << 20);
}

static enum as_applies ask(const struct toy *t, const char *axes, struct as_error *err)
{
    return toy_applies(t, &as_probe_topology, axes, err);
}

UNIT_TEST(test_which_levels)
{
    struct toy t;
    struct as_error err = {0};
    make_cpu(&t);
    assert_int_equal(ask(&t, "place=L1 what=latency", &err), AS_APPLIES);
    assert_int_equal(ask(&t, "place=L2 what=bandwidth", &err), AS_APPLIES);
    assert_int_equal(ask(&t, "place=L3 what=latency", &err), AS_INAPPLICABLE); /* half of L2's size */
    assert_non_null(strstr(err.text, "too close to the level below"));
    assert_int_equal(ask(&t, "place=L4 what=latency", &err), AS_PRUNED);
    assert_int_equal(ask(&t, "place=memory what=latency", &err), AS_APPLIES);
    t.dev.info.memory_free = 8 << 20;
    assert_int_equal(ask(&t, "place=memory what=latency", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "free memory"));
}

UNIT_TEST(test_levels_of_a_device)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE);
    add_cache(&t, 1, 'd', 32 << 10);
    add_cache(&t, 2, 'u', 4 << 20);
    t.dev.info.is_host_memory = t.dev.info.is_host_cpu = true; /* the CPU's levels are measured on the CPU */
    assert_int_equal(ask(&t, "place=L1 what=latency", &err), AS_PRUNED);
    t.dev.info.is_host_memory = t.dev.info.is_host_cpu = false;
    assert_int_equal(ask(&t, "place=L1 what=latency", &err), AS_APPLIES);
    assert_int_equal(ask(&t, "place=L1 what=bandwidth", &err), AS_PRUNED);
    assert_int_equal(ask(&t, "place=L2 what=bandwidth", &err), AS_APPLIES);
    t.dev.info.max_alloc = 1 << 20;
    assert_int_equal(ask(&t, "place=memory what=bandwidth", &err), AS_INAPPLICABLE);
}

UNIT_TEST(test_working_sets)
{
    static const struct {
        const char *axes;
        uint64_t bytes;
        bool memory;
    } cases[] = {{"place=L1 what=latency", 16 << 10, false},
                 {"place=L2 what=latency", 512 << 10, false},
                 {"place=memory what=latency", 8 << 20, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        make_cpu(&t);
        toy_prepare(&t, &as_probe_topology, cases[i].axes, &v, NULL);
        assert_int_equal(v.tc.footprint, cases[i].bytes);
        assert_int_equal(v.tc.claims_memory, cases[i].memory);
        toy_finish(&as_probe_topology, &v);
        assert_int_equal(t.live, 0);
    }
}

/* A shared cache may be partitioned: one compute unit chases over a quarter, all of them read half. */
UNIT_TEST(test_units_have_a_part)
{
    static const struct {
        const char *axes;
        uint64_t bytes;
    } cases[] = {{"place=L2 what=latency", 15 << 20}, {"place=L2 what=bandwidth", 30 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_error err = {0};
        toy_init(&t, AS_CAP_SOURCE | AS_CAP_FP64);
        t.dev.info.is_host_memory = false;
        t.deny_memory = true; /* only the size matters here */
        add_cache(&t, 2, 'u', 60 << 20);
        assert_int_equal(toy_prepare(&t, &as_probe_topology, cases[i].axes, &v, &err), AS_NOMEM);
        assert_int_equal(v.tc.footprint, cases[i].bytes);
        toy_finish(&as_probe_topology, &v);
    }
}

/* Cells that claim to measure memory pass its gate, even if a GPU's driver reports less cache than there may be. */
UNIT_TEST(test_memory_suits_its_gate)
{
    static const uint64_t caches[] = {0, 60 << 20, 96 << 20};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_error err = {0};
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.is_host_memory = false;
        t.deny_memory = true; /* only the size matters here */
        if (caches[i])
            add_cache(&t, 2, 'u', caches[i]);
        assert_int_equal(toy_prepare(&t, &as_probe_topology, "place=memory what=latency", &v, &err), AS_NOMEM);
        assert_true(v.tc.claims_memory);
        assert_true(v.tc.footprint >= as_info_memory_least(&t.dev.info, NULL, 1));
        assert_true(v.tc.footprint >= 256 << 20);
        toy_finish(&as_probe_topology, &v);
    }
}

UNIT_TEST(test_chases_are_checked)
{
    for (int lost = 0; lost < 2; lost++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        char why[128] = "";
        make_cpu(&t);
        toy_prepare(&t, &as_probe_topology, "place=L1 what=latency", &v, NULL);
        t.lose_launches = lost;
        assert_int_equal(as_probe_topology.sample(v.state, 3, &s, &err), AS_OK);
        assert_true(s.value > 0);
        assert_int_equal(as_probe_topology.check(v.state, why, sizeof why), !lost);
        toy_finish(&as_probe_topology, &v);
    }
}

/* A cell's metric follows from its axes. */
UNIT_TEST(test_metrics)
{
    struct as_axes axes;
    toy_axes(&axes, "place=L1 what=latency");
    assert_string_equal(as_probe_metric(&as_probe_topology, &axes).unit, "ns");
    toy_axes(&axes, "place=L1 what=bandwidth");
    const struct as_metric bandwidth = as_probe_metric(&as_probe_topology, &axes);
    assert_string_equal(bandwidth.name, "bandwidth");
    assert_string_equal(bandwidth.unit, "GB/s");
    assert_false(bandwidth.lower_is_better);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_which_levels),
        cmocka_unit_test(test_levels_of_a_device),
        cmocka_unit_test(test_working_sets),
        cmocka_unit_test(test_units_have_a_part),
        cmocka_unit_test(test_chases_are_checked),
        cmocka_unit_test(test_memory_suits_its_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
