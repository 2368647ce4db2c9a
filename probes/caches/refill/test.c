/* Probe refill on a toy CPU: which cells apply, results, planted faults; then on this machine's CPU. */
#include "probes/caches/refill/pairs.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_refill;
static const struct as_probe *const probe = &as_probe_refill;

#define SECTOR(level, distance, start)                                                                                 \
    "what=sector level=" level " distance=" distance " start=" start " lines=0 allocator=toy"
#define ALIAS(distance) "what=alias level=L1 distance=" distance " start=0 lines=0 allocator=toy"
#define CONFLICT(distance, lines) "what=conflict level=L1 distance=" distance " start=0 lines=" lines " allocator=toy"

static void add_caches(struct toy *t, size_t n)
{
    static const struct as_cache caches[] = {{.level = 1, .kind = 'd', .size = 1 << 15, .line = 64},
                                             {.level = 2, .kind = 'u', .size = 1 << 18, .line = 64},
                                             {.level = 3, .kind = 'u', .size = 1 << 20, .line = 64}};
    memcpy(t->dev.info.caches, caches, sizeof caches);
    t->dev.info.caches_n = n;
}

static void refused(const struct toy *t, const char *axes, const char *why)
{
    struct as_error err = {0};
    assert_int_equal(toy_applies(t, probe, axes, &err), AS_INAPPLICABLE);
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' is not in: %s", axes, why, err.text);
}

UNIT_TEST(test_which_cells)
{
    static const struct {
        const char *axes;
        enum as_applies applies;
    } cases[] = {
        {SECTOR("L1", "64", "0"), AS_APPLIES},
        {SECTOR("L2", "1024", "64"), AS_APPLIES},
        {SECTOR("LLC", "8", "0"), AS_APPLIES},
        {SECTOR("LLC", "2048", "0"), AS_PRUNED},
        {SECTOR("LLC", "12", "0"), AS_INAPPLICABLE},
        {ALIAS("1048576"), AS_APPLIES},
        {ALIAS("2097152"), AS_PRUNED},
        {"what=alias level=L2 distance=64 start=0 lines=0 allocator=toy", AS_PRUNED},
        {"what=alias level=L1 distance=64 start=64 lines=0 allocator=toy", AS_PRUNED},
        {"what=alias level=L1 distance=64 start=0 lines=2 allocator=toy", AS_PRUNED},
        {CONFLICT("2097152", "32"), AS_APPLIES},
        {CONFLICT("4096", "1"), AS_PRUNED},
        {CONFLICT("32", "2"), AS_PRUNED},
    };
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    refused(&t, SECTOR("L1", "64", "0"), "sizes of an L1 and an L2");
    add_caches(&t, 2);
    refused(&t, SECTOR("L2", "64", "0"), "level=LLC");
    add_caches(&t, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(toy_applies(&t, probe, cases[i].axes, &err), cases[i].applies);
    t.dev.info.capabilities = AS_CAP_SOURCE;
    refused(&t, ALIAS("64"), "onchip_lines");
    t.dev.info.capabilities = AS_CAP_SOURCE | AS_CAP_SIMULATED;
    refused(&t, ALIAS("64"), "simulated");
}

/* Two samples, with the planted fault before the second. */
static bool run_trial(struct toy *t, const char *axes, bool forgets, int lost, char *why, size_t why_size)
{
    struct toy_trial v;
    toy_prepare(t, probe, axes, &v, NULL);
    for (int i = 0; i < 2; i++) {
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        assert_int_equal(probe->sample(v.state, 3, &s, &err), AS_OK);
        assert_true(isfinite(s.value) && s.seconds > 0);
        assert_true(!strstr(axes, "sector") || (s.further[0].value > 0 && isfinite(s.further[1].value)));
        t->forget = forgets;
        t->lose_launches = lost;
    }
    const bool right = probe->check(v.state, why, why_size);
    t->forget = false;
    t->lose_launches = 0;
    toy_finish(probe, &v);
    assert_int_equal(t->live, 0);
    return right;
}

UNIT_TEST(test_faults_are_seen)
{
    static const char *const axes[] = {
        SECTOR("L1", "8", "0"), SECTOR("L2", "1024", "64"), SECTOR("LLC", "64", "0"), ALIAS("8"),
        ALIAS("1048576"),       CONFLICT("4096", "13"),     CONFLICT("2097152", "3"), CONFLICT("64", "2")};
    struct toy t;
    char why[200];
    toy_init(&t, AS_CAP_HOST_KERNELS);
    add_caches(&t, 3);
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        assert_true(run_trial(&t, axes[i], false, 0, why, sizeof why));
        assert_false(run_trial(&t, axes[i], false, 1, why, sizeof why));
        assert_non_null(strstr(why, "wrong") ? strstr(why, "wrong") : strstr(why, "unexpected"));
    }
    assert_false(run_trial(&t, axes[3], true, 0, why, sizeof why)); /* the result reads as zero */
    assert_false(run_trial(&t, axes[5], true, 0, why, sizeof why));
    t.deny_memory = true;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct toy_trial v;
        struct as_error err = {0};
        assert_int_equal(toy_prepare(&t, probe, axes[i], &v, &err), AS_NOMEM);
        toy_finish(probe, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_footprint)
{
    static const struct {
        const char *axes;
        uint64_t least, most;
    } cases[] = {
        {SECTOR("L1", "64", "0"), 4 << 15, (4 << 15) + (1 << 17)},
        {SECTOR("L2", "64", "0"), 4 << 18, (4 << 18) + (1 << 19)},
        {SECTOR("LLC", "64", "0"), 0, 0},
        {ALIAS("4096"), 128, 128},
        {CONFLICT("16384", "13"), 13 * 64, 13 * 64},
    };
    struct toy t;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    add_caches(&t, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy_trial v;
        toy_prepare(&t, probe, cases[i].axes, &v, NULL);
        assert_in_range(v.tc.footprint, cases[i].least, cases[i].most);
        toy_finish(probe, &v);
    }
}

UNIT_TEST(test_real)
{
    static const char *const axes[] = {
        "what=sector level=L1 distance=64 start=0 lines=0 allocator=mmap",
        "what=sector level=LLC distance=128 start=64 lines=0 allocator=thp",
        "what=alias level=L1 distance=4096 start=0 lines=0 allocator=malloc",
        "what=conflict level=L1 distance=4096 start=0 lines=13 allocator=thp",
    };
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct real r;
        if (real_trial(probe, "cpu", axes[i], 3, 20, &r) && strstr(axes[i], "conflict"))
            assert_true(r.sample.further[0].name || strstr(r.detail, "\"refills_why_not\":"));
    }
    real_or_skip();
}

UNIT_TEST(test_interrupted_reading)
{
    uint64_t least = UINT32_MAX;
    assert_int_equal(as_refill_pairs_reading(&least, 30), 30);
    assert_int_equal(as_refill_pairs_reading(&least, 26), 26);
    assert_int_equal(as_refill_pairs_reading(&least, 34), 34);
    assert_int_equal(as_refill_pairs_reading(&least, 9000), 26);
    least = UINT32_MAX; /* a counter whose tick is longer than a reading */
    assert_int_equal(as_refill_pairs_reading(&least, 0), 0);
    assert_int_equal(as_refill_pairs_reading(&least, 1), 1);
    assert_int_equal(as_refill_pairs_reading(&least, 72), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells), cmocka_unit_test(test_faults_are_seen),
        cmocka_unit_test(test_footprint),   cmocka_unit_test(test_interrupted_reading),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests_name("refill", tests, NULL, NULL);
}
