/* Persistent chases: they end where they must, and a counter that stands still is seen. */
#include "chase_play.h"
#include "scripted_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct as_probe as_probe_latency;

static const struct as_queue_ops *toy_queue;

static const unsigned persistent_kinds[] = {AS_CAP_HOST_KERNELS, AS_CAP_SOURCE | AS_CAP_ASYNC};

static void start_persistent(struct play *p, unsigned capabilities, uint64_t size)
{
    struct as_error err = {0};
    struct as_chase_desc d = {.allocator = "toy", .size = size, .stride = 64, .seed = 3, .persistent = true};
    toy_init(&p->toy, capabilities);
    p->toy.kernel = run_kernel;
    if (as_chase_prepare(&p->chase, &p->toy.dev, &d, &err))
        fail_msg("%s", err.text);
}

static void test_persistent_walks_end_where_they_must(void **unused)
{
    static const uint64_t sizes[] = {128, 5000, 65536, 4 << 20};
    (void)unused;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < 2; k++) {
            struct play p;
            start_persistent(&p, persistent_kinds[k], sizes[s]);
            assert_true(walk_and_end(&p));
        }
}

/* The walk is over at its bound although nobody stops it, and long before its counter is read. */
static enum as_status submit_and_end(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    enum as_status s = toy_queue->submit(dev, l, err);
    return s ? s : toy_queue->wait(dev, AS_WAIT_BLOCK, err);
}

static void test_walk_that_nobody_stops_ends(void **unused)
{
    struct play p;
    struct as_error err = {0};
    struct as_queue_ops queue;
    double ns, seconds;
    char why[160];
    (void)unused;
    start_persistent(&p, AS_CAP_SOURCE | AS_CAP_ASYNC, 65536);
    toy_queue = p.toy.dev.queue;
    queue = *toy_queue;
    queue.submit = submit_and_end;
    p.toy.dev.queue = &queue;
    assert_int_equal(as_chase_walk(&p.chase, 100, &ns, &seconds, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "leave a CPU free"));
    assert_true(as_chase_check(&p.chase, why, sizeof why)); /* it walked, as far as it had to */
    p.toy.dev.queue = toy_queue;
    assert_int_equal(as_chase_walk(&p.chase, 100, &ns, &seconds, &err), AS_OK);
    assert_true(walk_and_end(&p));
}

static void test_counter_that_stands_still(void **unused)
{
    struct play p;
    struct as_error err = {0};
    double ns, seconds;
    (void)unused;
    start_persistent(&p, AS_CAP_SOURCE | AS_CAP_ASYNC, 65536);
    p.toy.lose_launches = 1;
    clock_script(0.01);
    assert_int_equal(as_chase_walk(&p.chase, 10, &ns, &seconds, &err), AS_UNSUPPORTED);
    clock_real();
    assert_non_null(strstr(err.text, "does not move"));
    as_chase_finish(&p.chase);
    assert_int_equal(p.toy.live, 0);
}

static const char persistent_axes[] = "size=65536 pattern=random allocator=toy stride=64 instrument=persistent";

static void test_persistent_trial(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {.value = NAN};
        struct as_error err = {0};
        char why[160] = "";
        toy_init(&t, persistent_kinds[k]);
        t.kernel = run_kernel;
        assert_int_equal(toy_applies(&t, &as_probe_latency, persistent_axes, &err), AS_APPLIES);
        toy_prepare(&t, &as_probe_latency, persistent_axes, &v, NULL);
        assert_true(v.vc.sample_s >= 5e-3 && v.vc.sample_s <= 0.5);
        assert_int_equal(as_probe_latency.sample(v.state, 10, &s, &err), AS_OK);
        assert_true(s.value > 0 && s.value * 10 * AS_CHASE_COUNTED <= s.seconds * 1e9 * (1 + 1e-9));
        assert_true(as_probe_latency.check(v.state, why, sizeof why));
        toy_finish(&as_probe_latency, &v);
        assert_int_equal(t.live, 0);
    }
}

static void test_where_a_persistent_walk_cannot_be(void **unused)
{
    static const struct {
        unsigned capabilities, threads;
        bool coherent;
        const char *why; /* NULL: it can */
    } cases[] = {
        {AS_CAP_HOST_KERNELS, 2, false, NULL},
        {AS_CAP_HOST_KERNELS, 1, true, "one CPU only"},
        {AS_CAP_HOST_KERNELS | AS_CAP_SIMULATED, 2, true, "simulated"},
        {AS_CAP_SOURCE | AS_CAP_ASYNC, 1, true, NULL},
        {AS_CAP_SOURCE | AS_CAP_ASYNC, 1, false, "do not see each other"},
        {AS_CAP_SOURCE, 1, true, "do not see each other"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct as_error err = {0};
        toy_init(&t, cases[i].capabilities);
        t.dev.info.threads = cases[i].threads;
        t.dev.info.allocators[0].coherent = cases[i].coherent;
        enum as_applies is = toy_applies(&t, &as_probe_latency, persistent_axes, &err);
        assert_int_equal(is, cases[i].why ? AS_INAPPLICABLE : AS_APPLIES);
        assert_true(!cases[i].why || strstr(err.text, cases[i].why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_persistent_walks_end_where_they_must),
        cmocka_unit_test(test_walk_that_nobody_stops_ends),
        cmocka_unit_test(test_counter_that_stands_still),
        cmocka_unit_test(test_persistent_trial),
        cmocka_unit_test(test_where_a_persistent_walk_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
