/* Probe alloc: which cells apply, the arithmetic of the loops, the source of touched pages, and wrong memory is
 * detected. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "base/host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_alloc;

static const char *touched_pages(const char *op, uint64_t pages)
{
    static char axes[80];
    snprintf(axes, sizeof axes, "op=%s allocator=toy size=%llu", op, (unsigned long long)(pages * as_host_page()));
    return axes;
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE);
    assert_int_equal(toy_applies(&cpu, &as_probe_alloc, "op=alloc allocator=toy size=2", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&cpu, &as_probe_alloc, "op=alloc allocator=toy size=1073741824", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "only half of the free"));
    assert_int_equal(toy_applies(&cpu, &as_probe_alloc, touched_pages("first-touch", 15), &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_alloc, touched_pages("first-touch", 16), &err), AS_APPLIES);
    assert_int_equal(toy_applies(&gpu, &as_probe_alloc, touched_pages("first-touch", 16), &err), AS_PRUNED);
    gpu.dev.info.max_alloc = 1000;
    assert_int_equal(toy_applies(&gpu, &as_probe_alloc, "op=free allocator=toy size=1001", &err), AS_INAPPLICABLE);
    snprintf(gpu.dev.info.allocators[1].why_not, sizeof gpu.dev.info.allocators[1].why_not, "not today");
    assert_int_equal(toy_applies(&gpu, &as_probe_alloc, "op=free allocator=upfront size=8", &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "not today");
}

/* The toy takes 1 us to allocate and 2 us to free. One clock reading is subtracted per 100 chunks. */
UNIT_TEST(test_loops)
{
    static const char *const ops[] = {"alloc", "free"};
    for (int i = 0; i < 2; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        struct as_error err = {0};
        char axes[64], why[128] = "";
        toy_init(&t, AS_CAP_HOST_KERNELS);
        snprintf(axes, sizeof axes, "op=%s allocator=toy size=32", ops[i]);
        toy_prepare(&t, &as_probe_alloc, axes, &v, NULL);
        assert_int_equal(as_probe_alloc.sample(v.state, 7, &s, &err), AS_OK);
        assert_true(s.value <= 1000.0 * (i + 1) && s.value > 900.0 * (i + 1));
        assert_true(fabs(s.seconds - 7 * 100 * 3e-6) < 1e-9);
        assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"count\":100"));
        assert_true(as_probe_alloc.check(v.state, why, sizeof why));
        t.forget = true;
        assert_false(as_probe_alloc.check(v.state, why, sizeof why));
        t.forget = false;
        t.deny_memory = true;
        assert_false(as_probe_alloc.check(v.state, why, sizeof why));
        toy_finish(&as_probe_alloc, &v);
        assert_int_equal(t.live, 0);
    }
}

/* Memory committed at once: 100 chunks of 16 MiB exceed a quarter of the toy's 1 GiB. */
UNIT_TEST(test_count_is_bounded)
{
    struct toy t;
    struct toy_trial v;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, &as_probe_alloc, "op=alloc allocator=upfront size=16777216", &v, NULL);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"count\":10"));
    toy_finish(&as_probe_alloc, &v);
}

/* Slow calls get fewer chunks, in steps; a slow first call, which sets up the allocator, changes nothing. */
UNIT_TEST(test_count_follows_the_cost)
{
    static const struct {
        double first_s, each_s;
        const char *count;
    } cases[] = {{0, 1e-6, "\"count\":100"},    {1, 1e-6, "\"count\":100"}, {0, 0.09e-3, "\"count\":100"},
                 {0, 0.11e-3, "\"count\":30,"}, {0, 1e-3, "\"count\":3,"},  {1, 0.9e-3, "\"count\":10,"},
                 {0, 4e-3, "\"count\":1,"},     {1, 4e-3, "\"count\":1,"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        toy_init(&t, AS_CAP_HOST_KERNELS);
        t.alloc_s = cases[i].each_s; /* and twice that to free */
        t.first_alloc_s = cases[i].first_s;
        toy_prepare(&t, &as_probe_alloc, "op=alloc allocator=toy size=4096", &v, NULL);
        if (!strstr(as_buf_get(&v.tc.detail), cases[i].count))
            fail_msg("%zu: %s is not in %s", i, cases[i].count, as_buf_get(&v.tc.detail));
        toy_finish(&as_probe_alloc, &v);
    }
}

static void touch(struct toy *t, const char *op, int samples, unsigned *live, unsigned *made)
{
    struct toy_trial v;
    struct as_error err = {0};
    char axes[64], why[128] = "";
    snprintf(axes, sizeof axes, "op=%s allocator=toy size=65536", op);
    toy_prepare(t, &as_probe_alloc, axes, &v, NULL);
    unsigned before = t->allocations;
    for (int i = 0; i < samples; i++) {
        struct as_sample s = {0};
        assert_int_equal(as_probe_alloc.sample(v.state, 1, &s, &err), AS_OK);
        assert_true(s.value > 0);
    }
    *made = t->allocations - before;
    *live = t->live;
    assert_true(as_probe_alloc.check(v.state, why, sizeof why));
    toy_finish(&as_probe_alloc, &v);
    assert_int_equal(t->live, 0);
}

UNIT_TEST(test_where_pages_come_from)
{
    struct toy t;
    unsigned live, made, ballast;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    touch(&t, "first-touch", 5, &live, &made);
    assert_int_equal(made, 5); /* all blocks stay allocated, with or without ballast */
    ballast = live - 5;
    assert_true(ballast <= 1);
    touch(&t, "touch-again", 5, &live, &made);
    assert_int_equal(made, 5); /* a new block per sample, and no other */
    assert_int_equal(live, 1);
    touch(&t, "touch-mapped", 5, &live, &made);
    assert_int_equal(made, 0);
    assert_int_equal(live, 1);
}

UNIT_TEST(test_untouched_page_is_seen)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char why[128] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, &as_probe_alloc, touched_pages("touch-again", 16), &v, NULL);
    t.lose_launches = 1;
    assert_int_equal(as_probe_alloc.sample(v.state, 1, &s, &err), AS_OK);
    assert_false(as_probe_alloc.check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "page 0 of 16"));
    toy_finish(&as_probe_alloc, &v);
}

/* Memory that stays allocated is bounded; the sample that exceeds the bound times out. */
UNIT_TEST(test_held_memory_is_bounded)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.free_bytes = 8 * 65536; /* a quarter holds two blocks, but three is the minimum */
    if (toy_prepare(&t, &as_probe_alloc, "op=first-touch allocator=toy size=65536", &v, &err) == AS_OK) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(as_probe_alloc.sample(v.state, 1, &s, &err), AS_OK);
        assert_int_equal(as_probe_alloc.sample(v.state, 1, &s, &err), AS_TIMEOUT);
    } else { /* this process freed more than a quarter of that before */
        assert_int_equal(err.code, AS_UNSUPPORTED);
        assert_non_null(strstr(err.text, "the peak size of this process"));
    }
    toy_finish(&as_probe_alloc, &v);
    t.free_bytes = 65536;
    assert_int_equal(toy_prepare(&t, &as_probe_alloc, "op=first-touch allocator=toy size=65536", &v, &err),
                     AS_UNSUPPORTED);
    toy_finish(&as_probe_alloc, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_count_is_bounded),
        cmocka_unit_test(test_count_follows_the_cost),
        cmocka_unit_test(test_where_pages_come_from),
        cmocka_unit_test(test_untouched_page_is_seen),
        cmocka_unit_test(test_held_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
