/* Probe oversubscription on a toy device: refused unless accepted, and where pages do not move or the host has no room;
 * a device that slows down beyond its memory shows. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "device/dialect/host_prelude.h"

#include <string.h>

extern const struct as_probe as_probe_oversubscription;
static const struct as_probe *const probe = &as_probe_oversubscription;

#include "probes/bandwidth/oversubscription/oversubscription.kernel"

enum { MEMORY = 8 << 20, SLOWER = 10 };
static struct toy *running;
static bool lose_a_word;

/* A pass takes a millisecond per MiB, and ten times as long where the memory does not fit. */
static void run_update(const char *name, void *const *args)
{
    const u64 words = *(u64 *)args[1];
    assert_string_equal(name, "update");
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    update(args[0], words, *(u64 *)args[2], *(u32 *)args[3]);
    if (lose_a_word)
        ((u64 *)args[0])[0] = 0;
    running->launch_s = 1e-3 * (double)words * 8 / (1 << 20) * (words * 8 > MEMORY ? SLOWER : 1);
}

static void open_toy(struct toy *t)
{
    toy_init(t, AS_CAP_SOURCE);
    t->kernel = run_update;
    t->launch_s = 1;
    t->dev.info.memory_bytes = t->dev.info.memory_free = t->free_bytes = MEMORY;
    t->dev.info.allocators[0].role = AS_ROLE_MANAGED;
    t->dev.info.is_host_memory = false;
    running = t;
    lose_a_word = false;
}

UNIT_TEST(test_refusals)
{
    static const char accepted[] = "allocator=toy share=150 pass=2 risk=accept";
    struct toy t;
    struct as_error err = {0};
    open_toy(&t);
    if (toy_applies(&t, probe, accepted, &err) != AS_APPLIES)
        fail_msg("%s", err.text);
    assert_int_equal(toy_applies(&t, probe, "allocator=toy share=50 pass=1 risk=refuse", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "may make the machine unresponsive"));
    assert_non_null(strstr(err.text, "--set risk=accept"));
    t.dev.info.memory_free = UINT64_C(1) << 60;
    assert_int_equal(toy_applies(&t, probe, accepted, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "the host has room for"));
    open_toy(&t);
    t.dev.info.allocators[0].on_demand = false;
    assert_int_equal(toy_applies(&t, probe, accepted, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "not moved on demand"));
    open_toy(&t);
    t.dev.info.is_host_memory = true;
    assert_int_equal(toy_applies(&t, probe, accepted, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no other memory to evict to"));
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, probe, accepted, &err), AS_PRUNED);
}

static double rate_of(const char *cell)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    char why[160] = "";
    open_toy(&t);
    toy_prepare(&t, probe, cell, &v, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(probe->sample(v.state, 1, &s, NULL), AS_OK);
    assert_true(probe->check(v.state, why, sizeof why));
    lose_a_word = true;
    assert_int_equal(probe->sample(v.state, 1, &s, NULL), AS_OK);
    assert_false(probe->check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "word 0 is"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
    return s.value;
}

/* Within the memory a MiB per millisecond, beyond it a tenth of that. */
UNIT_TEST(test_slowdown)
{
    const double fits = rate_of("allocator=toy share=90 pass=1 risk=accept");
    assert_true(fits > 1.04 && fits < 1.05);
    assert_true(rate_of("allocator=toy share=50 pass=3 risk=accept") > 1.04);
    const double beyond = rate_of("allocator=toy share=110 pass=2 risk=accept");
    assert_true(beyond > 0.104 && beyond < 0.105);
}

/* Other programs may take the host's memory after the plan. */
UNIT_TEST(test_taken_since)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    open_toy(&t);
    t.free_bytes = UINT64_C(1) << 60;
    assert_int_equal(toy_prepare(&t, probe, "allocator=toy share=150 pass=1 risk=accept", &v, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "of evicted pages"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals), cmocka_unit_test(test_slowdown),
                                       cmocka_unit_test(test_taken_since)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
