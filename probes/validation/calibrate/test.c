/* Probe calibrate on a toy CPU and a toy device: which cells apply, the rule's iterations, notes, planted faults. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_calibrate;
static const struct as_probe *const probe = &as_probe_calibrate;

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies on_cpu, on_device;
    } cases[] = {
        {"rule=stream op=scale size=65536 threads=2 store=regular allocator=toy", AS_APPLIES, AS_PRUNED},
        {"rule=stream op=copy size=65536 threads=2 store=nt allocator=toy", AS_APPLIES, AS_PRUNED},
        {"rule=stream op=mul size=65536 threads=2 store=regular allocator=toy", AS_PRUNED, AS_PRUNED},
        {"rule=stream op=dot size=65536 threads=2 store=regular allocator=toy", AS_PRUNED, AS_PRUNED},
        {"rule=babelstream op=scale size=65536 threads=2 store=regular allocator=toy", AS_PRUNED, AS_PRUNED},
        {"rule=babelstream op=dot size=65536 threads=2 store=regular allocator=toy", AS_APPLIES, AS_PRUNED},
        {"rule=babelstream op=dot size=65536 threads=2 store=nt allocator=toy", AS_PRUNED, AS_PRUNED},
        {"rule=babelstream op=mul size=65536 threads=0 store=regular allocator=toy", AS_PRUNED, AS_APPLIES},
        {"rule=stream op=triad size=65536 threads=0 store=regular allocator=toy", AS_PRUNED, AS_PRUNED},
    };
    struct toy cpu, device, poor;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE | AS_CAP_FP64);
    toy_init(&poor, AS_CAP_SOURCE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(toy_applies(&cpu, probe, cases[i].axes, &err), cases[i].on_cpu);
        assert_int_equal(toy_applies(&device, probe, cases[i].axes, &err), cases[i].on_device);
    }
    assert_int_equal(toy_applies(&poor, probe, cases[7].axes, &err), AS_APPLIES); /* as f32 */
}

static double noted(const struct toy_trial *v, const char *name)
{
    const char *at = strstr(as_buf_get(&v->tc.detail), name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

static void iterate(const struct toy_trial *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        assert_int_equal(probe->sample(v->state, 1, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.seconds > 0);
    }
}

/* Bytes counted by the rule, the best of exactly its number of iterations. */
UNIT_TEST(test_iterations)
{
    static const struct {
        const char *axes;
        unsigned iterations;
        double bytes; /* per element */
    } cases[] = {
        {"rule=stream op=copy size=65536 threads=2 store=regular allocator=toy", 9, 16},
        {"rule=stream op=scale size=65536 threads=1 store=regular allocator=toy", 9, 16},
        {"rule=stream op=add size=65536 threads=2 store=regular allocator=toy", 9, 24},
        {"rule=stream op=triad size=65536 threads=2 store=nt allocator=toy", 9, 24},
        {"rule=babelstream op=mul size=65536 threads=2 store=regular allocator=toy", 99, 16},
        {"rule=babelstream op=dot size=65536 threads=2 store=regular allocator=toy", 99, 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s;
        struct as_error err = {0};
        char why[200] = "";
        toy_init(&t, AS_CAP_HOST_KERNELS);
        toy_prepare(&t, probe, cases[i].axes, &v, NULL);
        assert_int_equal(v.tc.samples, cases[i].iterations);
        assert_int_equal(v.tc.claims_memory, strstr(cases[i].axes, "rule=stream") != NULL);
        iterate(&v, cases[i].iterations);
        assert_int_equal(probe->sample(v.state, 1, &s, &err), AS_TIMEOUT);
        assert_true(probe->check(v.state, why, sizeof why));
        const double elements = noted(&v, "\"elements\":"), least = noted(&v, "\"min_time\":");
        assert_true(elements == 8192);
        assert_true(fabs(noted(&v, "\"best_rate\":") * least - cases[i].bytes * elements) < 1e-3 * elements);
        assert_true(least <= noted(&v, "\"avg_time\":") && noted(&v, "\"avg_time\":") <= noted(&v, "\"max_time\":"));
        toy_finish(probe, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_faults_are_seen)
{
    static const char axes[] = "rule=stream op=triad size=65536 threads=2 store=regular allocator=toy";
    struct toy t;
    struct toy_trial v;
    char why[200] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, probe, axes, &v, NULL);
    iterate(&v, 3);
    assert_false(probe->check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "3 of 9 iterations"));
    iterate(&v, 5);
    t.lose_launches = 1;
    iterate(&v, 1);
    assert_false(probe->check(v.state, why, sizeof why));
    toy_finish(probe, &v);
    t.free_bytes = UINT64_C(1) << 17;
    struct as_error err = {0};
    assert_int_equal(toy_prepare(&t, probe, axes, &v, &err), AS_UNSUPPORTED);
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_faults_are_seen),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
