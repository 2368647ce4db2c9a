/* Probe near_limit on a toy device: which shares apply, what a pass leaves, and that lost work is detected. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "device/dialect/host_prelude.h"

#include <string.h>

extern const struct as_probe as_probe_near_limit;
static const struct as_probe *const probe = &as_probe_near_limit;

_Thread_local struct as_host_item as_host_item;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define write kernel_write
#include "probes/bandwidth/near_limit/near_limit.kernel"
#undef write
#pragma GCC diagnostic pop

static unsigned lost; /* this launch does nothing; 0: none */
static unsigned launched;

static void run_write(const char *name, void *const *args)
{
    uint64_t words;
    uint32_t key;
    assert_string_equal(name, "write");
    if (++launched == lost)
        return;
    memcpy(&words, args[1], sizeof words);
    memcpy(&key, args[2], sizeof key);
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    kernel_write(args[0], words, key);
}

static void open_toy(struct toy *t)
{
    toy_init(t, AS_CAP_SOURCE | AS_CAP_RECOMMENDED);
    t->kernel = run_write;
    t->dev.info.memory_bytes = t->dev.info.memory_free = t->free_bytes = 8 << 20;
    launched = lost = 0;
}

UNIT_TEST(test_which_shares)
{
    struct toy t;
    struct as_error err = {0};
    open_toy(&t);
    assert_int_equal(toy_applies(&t, probe, "share=98 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, probe, "share=110 allocator=toy", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "exceeds the recommended working set"));
    t.dev.info.memory_free = 6 << 20;
    assert_int_equal(toy_applies(&t, probe, "share=50 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, probe, "share=90 allocator=toy", &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "7 MiB requested, but only 6 MiB of the recommended working set are free");
    t.dev.info.max_alloc = 1 << 16;
    assert_int_equal(toy_applies(&t, probe, "share=50 allocator=toy", &err), AS_INAPPLICABLE);
    t.dev.info.capabilities = AS_CAP_SOURCE;
    assert_int_equal(toy_applies(&t, probe, "share=50 allocator=toy", &err), AS_PRUNED);
}

/* Other programs may take memory after the plan. */
UNIT_TEST(test_taken_since)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    open_toy(&t);
    t.free_bytes = 1 << 20;
    assert_int_equal(toy_prepare(&t, probe, "share=50 allocator=toy", &v, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "4 MiB requested, but only 1 MiB of the recommended working set are free"));
    toy_finish(probe, &v);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_passes)
{
    for (unsigned lose = 0; lose < 2; lose++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        char why[160] = "";
        open_toy(&t);
        t.launch_s = 1e-3;
        toy_prepare(&t, probe, "share=98 allocator=toy", &v, NULL);
        lost = lose ? 3 * 16 : 0; /* the last launch of the second sample */
        for (int i = 0; i < 2; i++)
            assert_int_equal(probe->sample(v.state, 1, &s, NULL), AS_OK);
        assert_true(s.value > 0.4 && s.value < 0.6); /* of 8 MiB, rounded down, in 16 ms */
        assert_int_equal(probe->check(v.state, why, sizeof why), !lose);
        assert_true(!lose || strstr(why, "word 0 of block 15"));
        toy_finish(probe, &v);
        assert_int_equal(t.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_shares), cmocka_unit_test(test_taken_since),
                                       cmocka_unit_test(test_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
