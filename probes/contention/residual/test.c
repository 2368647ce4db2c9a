/* Matched blocks by simulation; probe residual on a toy CPU and a toy device, with planted faults. */
#include "lib/arms/arms.h"
#include "stats/order.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern const struct as_probe as_probe_residual;
static const struct as_probe *const probe = &as_probe_residual;

/* ---- blocks ---- */

struct places {
    size_t place, count[3][3]; /* arm, place */
};

static enum as_status note_place(void *user, size_t arm, double *value, struct as_error *err)
{
    struct places *p = user;
    (void)err;
    p->count[arm][p->place++ % 3]++;
    *value = (double)arm + 1;
    return AS_OK;
}

UNIT_TEST(test_every_arm_in_every_place)
{
    struct as_arms b;
    struct places p = {0};
    double value[3];
    as_arms_start(&b, 3, 0, 7);
    for (int i = 0; i < 30; i++)
        assert_int_equal(as_arms_run(&b, note_place, &p, value, NULL), AS_OK);
    for (size_t arm = 0; arm < 3; arm++) {
        assert_true(value[arm] == (double)arm + 1);
        for (size_t place = 0; place < 3; place++)
            assert_int_equal(p.count[arm][place], 10);
    }
}

static enum as_status fail_second(void *user, size_t arm, double *value, struct as_error *err)
{
    (void)user;
    *value = 1;
    return arm == 1 ? as_fail(err, AS_FAILED, "planted") : AS_OK;
}

UNIT_TEST(test_a_failure_ends_the_block)
{
    struct as_arms b;
    struct as_error err;
    double value[2];
    as_arms_start(&b, 2, 0, 1);
    assert_int_equal(as_arms_run(&b, fail_second, NULL, value, &err), AS_FAILED);
    assert_string_equal(err.text, "planted");
}

/* A machine whose speed drifts: arm 1 takes RATIO times as long as arm 0. */
static const double RATIO = 1.1;
struct drifting {
    struct as_rng rng;
    double level; /* logarithm */
};

static enum as_status measure(void *user, size_t arm, double *value, struct as_error *err)
{
    struct drifting *d = user;
    (void)err;
    d->level += 0.03 * as_rng_normal(&d->rng);
    *value = exp(d->level + 0.01 * as_rng_normal(&d->rng)) * (arm ? RATIO : 1);
    return AS_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct as_interval median_interval(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare_doubles);
    return as_median_interval(x, n, 0.95);
}

/* Under drift, which separate medians take for an effect, the interval of the blocks' ratios contains the truth. */
UNIT_TEST(test_drift)
{
    enum { MACHINES = 400, BLOCKS = 40 };
    size_t by_blocks = 0, apart = 0;
    for (uint64_t m = 0; m < MACHINES; m++) {
        double ratio[BLOCKS], alone[2][BLOCKS], value[2], medians[2];
        struct drifting d = {.level = 0};
        struct as_arms b;
        as_rng_seed(&d.rng, m);
        as_arms_start(&b, 2, 0, m);
        for (size_t i = 0; i < BLOCKS; i++) {
            assert_int_equal(as_arms_run(&b, measure, &d, value, NULL), AS_OK);
            ratio[i] = value[1] / value[0];
        }
        const struct as_interval ci = median_interval(ratio, BLOCKS);
        by_blocks += ci.lo <= RATIO && RATIO <= ci.hi;
        for (size_t arm = 0; arm < 2; arm++) /* unmatched: all samples of one arm, then all of the other */
            for (size_t i = 0; i < BLOCKS; i++)
                measure(&d, arm, &alone[arm][i], NULL);
        struct as_interval each[2];
        for (size_t arm = 0; arm < 2; arm++) {
            each[arm] = median_interval(alone[arm], BLOCKS);
            medians[arm] = as_median(alone[arm], BLOCKS);
        }
        const struct as_interval of_two = as_ratio_interval(medians[1], each[1], medians[0], each[0]);
        apart += of_two.lo <= RATIO && RATIO <= of_two.hi;
    }
    assert_in_range(by_blocks, MACHINES * 92 / 100, MACHINES);
    assert_in_range(apart, 0, MACHINES * 70 / 100);
}

/* ---- the probe ---- */

UNIT_TEST(test_which_cells)
{
    static const char axes[] = "op=read touched=65536 size=65536 pattern=linear stride=64 pass=1 delay=0 allocator=toy "
                               "side=cpu control=launch";
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, probe, axes, &err), AS_APPLIES);
    t.dev.info.threads = 1;
    assert_int_equal(toy_applies(&t, probe, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "2 CPUs"));
    t.dev.info.capabilities = 0;
    assert_int_equal(toy_applies(&t, probe, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "compile"));
}

/* Meaningless combinations have no cells. */
UNIT_TEST(test_no_cells)
{
    static const char *const axes[] = {
        ("op=read touched=0 size=65536 pattern=linear stride=131072 pass=1 delay=0 allocator=toy side=cpu "
         "control=launch"),
        "op=read touched=0 size=65536 pattern=random stride=128 pass=1 delay=0 allocator=toy side=cpu control=launch",
        "op=read touched=0 size=65536 pattern=linear stride=64 pass=1 delay=0 allocator=toy side=device control=launch",
    };
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        assert_int_equal(toy_applies(&t, probe, axes[i], &err), AS_PRUNED);
}

static bool run_trial(struct toy *t, const char *axes, char *why, size_t why_size)
{
    struct toy_trial v;
    toy_prepare(t, probe, axes, &v, NULL);
    for (int i = 0; i < 3; i++) {
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        assert_int_equal(probe->sample(v.state, 1, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.seconds > 0);
    }
    const bool right = probe->check(v.state, why, why_size);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"control\":"));
    assert_int_equal(v.tc.max_reps, 1);
    toy_finish(probe, &v);
    assert_int_equal(t->live, 0);
    return right;
}

UNIT_TEST(test_another_core)
{
    static const char *const axes[] = {
        "op=read touched=0 size=65536 pattern=linear stride=64 pass=1 delay=0 allocator=toy side=cpu control=launch",
        ("op=read touched=262144 size=65536 pattern=random stride=64 pass=2 delay=1 allocator=toy side=cpu "
         "control=launch"),
        ("op=write touched=262144 size=65536 pattern=linear stride=64 pass=5 delay=0 allocator=toy side=cpu "
         "control=launch"),
    };
    struct toy t;
    char why[256];
    toy_init(&t, AS_CAP_HOST_KERNELS);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        assert_true(run_trial(&t, axes[i], why, sizeof why));
    t.forget = true; /* the other side's stores are lost */
    assert_false(run_trial(&t, axes[1], why, sizeof why));
    assert_non_null(strstr(why, "the other side loaded a sum of 0"));
    assert_false(run_trial(&t, axes[2], why, sizeof why));
    assert_non_null(strstr(why, "stored to has 0"));
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(probe, AS_CAP_HOST_KERNELS,
                        "op=read touched=65536 size=65536 pattern=linear stride=64 pass=1 delay=0 allocator=toy "
                        "side=cpu control=launch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_arm_in_every_place),
        cmocka_unit_test(test_a_failure_ends_the_block),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_no_cells),
        cmocka_unit_test(test_another_core),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("residual", tests, NULL, NULL);
}
