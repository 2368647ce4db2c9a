/* Probe launch: which cells apply, and a lost launch is detected. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

_Thread_local struct as_host_item as_host_item;
#include "probes/runtime/launch/launch.kernel"

extern const struct as_probe as_probe_launch;

static void run_count(const char *name, void *const *args)
{
    assert_string_equal(name, "count");
    for (uint32_t thread = 0; thread < 4; thread++) {
        as_host_item = (struct as_host_item){thread, 4, 0, 1, NULL};
        count(args[0]);
    }
}

UNIT_TEST(test_which_cells)
{
    struct toy sync, async;
    struct as_error err = {0};
    toy_init(&sync, AS_CAP_HOST_KERNELS);
    toy_init(&async, AS_CAP_SOURCE | AS_CAP_ASYNC);
    assert_int_equal(toy_applies(&sync, &as_probe_launch, "what=roundtrip wait=block threads=1", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&sync, &as_probe_launch, "what=roundtrip wait=spin threads=1", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&sync, &as_probe_launch, "what=submit wait=block threads=1", &err), AS_INAPPLICABLE);
    assert_int_equal(toy_applies(&async, &as_probe_launch, "what=roundtrip wait=yield threads=1", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&async, &as_probe_launch, "what=submit wait=block threads=1", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&async, &as_probe_launch, "what=batch wait=spin threads=1", &err), AS_PRUNED);
}

UNIT_TEST(test_graphs)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_ASYNC);
    assert_int_equal(toy_applies(&t, &as_probe_launch, "what=graph-10 wait=block threads=1", &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the device's API cannot record launches as a graph");
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, &as_probe_launch, "what=graph-10 wait=block threads=1", &err), AS_PRUNED);
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_GRAPHS);
    assert_int_equal(toy_applies(&t, &as_probe_launch, "what=graph-10 wait=block threads=1", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_launch, "what=graph-10 wait=spin threads=1", &err), AS_PRUNED);
}

static bool play(struct toy *t, const char *axes, uint64_t reps, char *why, size_t size)
{
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample s = {.value = NAN};
    toy_prepare(t, &as_probe_launch, axes, &v, NULL);
    assert_int_equal(as_probe_launch.sample(v.state, reps, &s, &err), AS_OK);
    assert_true(s.value > 0 && s.seconds > 0);
    bool good = as_probe_launch.check(v.state, why, size);
    toy_finish(&as_probe_launch, &v);
    assert_int_equal(t->live, 0);
    return good;
}

UNIT_TEST(test_counts)
{
    struct toy t;
    char why[128] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_true(play(&t, "what=roundtrip wait=block threads=2", 5, why, sizeof why));
    assert_int_equal(t.launches, 5);
    assert_true(play(&t, "what=batch wait=block threads=1", 3, why, sizeof why));
    assert_int_equal(t.launches, 8); /* 100 kernels each, as repetitions of one launch */
    toy_init(&t, AS_CAP_HOST_KERNELS | AS_CAP_GRAPHS);
    assert_true(play(&t, "what=graph-100 wait=block threads=1", 3, why, sizeof why));
    assert_int_equal(t.launches, 3);
    t.lose_launches = 1;
    assert_false(play(&t, "what=graph-1000 wait=block threads=1", 2, why, sizeof why));
    assert_string_equal(why, "1000 kernels ran, 2000 were launched");
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_ASYNC);
    t.kernel = run_count;
    assert_true(play(&t, "what=roundtrip wait=spin threads=4", 5, why, sizeof why));
}

UNIT_TEST(test_lost_launch_is_seen)
{
    struct toy t;
    char why[128] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.lose_launches = 1;
    assert_false(play(&t, "what=roundtrip wait=block threads=1", 4, why, sizeof why));
    assert_string_equal(why, "3 kernels ran, 4 were launched");
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_ASYNC);
    t.kernel = run_count;
    t.lose_launches = 2;
    assert_false(play(&t, "what=roundtrip wait=block threads=4", 4, why, sizeof why));
    assert_string_equal(why, "2 kernels ran, 4 were launched");
}

/* A store of another version may have words that this version does not know. */
UNIT_TEST(test_unknown_words)
{
    static const char *const axes[] = {"what=leap wait=block threads=1", "what=roundtrip wait=dance threads=1"};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_error err = {0};
        toy_init(&t, AS_CAP_HOST_KERNELS);
        assert_int_equal(toy_prepare(&t, &as_probe_launch, axes[i], &v, &err), AS_USAGE);
        toy_finish(&as_probe_launch, &v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),         cmocka_unit_test(test_graphs),        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_lost_launch_is_seen), cmocka_unit_test(test_unknown_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
