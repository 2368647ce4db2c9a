/* Probe concurrency: which cells apply; lost launches, wrong results and too little work are detected. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/toy_device.h"
#include "tests/scripted_clock.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LANES 32
_Thread_local struct as_host_item as_host_item;
#include "probes/runtime/concurrency/concurrency.kernel"

extern const struct as_probe as_probe_concurrency;

/* ---- a toy with queues, whose launches complete on submission ---- */

static struct {
    size_t queues, urgent, waits;
    unsigned last;          /* queue of the last launch */
    bool equal;             /* no priorities */
    bool wrong, idle, slow; /* slow: a wait returns late */
    double work_s;          /* of each kernel, by the scripted clock */
} seen;
static const struct as_queue_ops *toy_queue;

/* A kernel's default length, and the delay of a slow wait. */
static const double WORK_S = 1e-3, LATE_S = 1e-3;

static enum as_status open_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err)
{
    (void)dev;
    if (urgent && seen.equal)
        return as_fail(err, AS_UNSUPPORTED, "all queues are equal");
    seen.queues = n;
    seen.urgent = urgent;
    return AS_OK;
}

static enum as_status submit(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    struct as_timing unused;
    assert_in_range(l->queue, 1, seen.queues);
    seen.last = l->queue;
    as_host_item = (struct as_host_item){.threads = (uint32_t)l->workgroup_size, .workgroups = (uint32_t)l->workgroups};
    return toy_queue->launch(dev, l, &unused, err);
}

/* All in one launch, of which so many run at a time. */
enum { AT_A_TIME = 3 };
static enum as_status launch(struct as_device *dev, const struct as_launch *l, struct as_timing *out,
                             struct as_error *err)
{
    enum as_status st = AS_OK;
    assert_int_equal(l->flags, AS_LAUNCH_TOGETHER);
    assert_true(l->reps <= seen.queues); /* a branch of a graph for each */
    as_host_item = (struct as_host_item){.threads = (uint32_t)l->workgroup_size, .workgroups = (uint32_t)l->workgroups};
    for (uint64_t i = 0; i < l->reps && !st; i++)
        st = toy_queue->launch(dev, l, out, err);
    out->host_s = (double)((l->reps + AT_A_TIME - 1) / AT_A_TIME) * WORK_S;
    return st;
}

static enum as_status wait_queue(struct as_device *dev, unsigned queue, struct as_error *err)
{
    (void)dev, (void)err;
    assert_in_range(queue, 1, seen.queues);
    seen.waits++;
    if (seen.slow && queue == 2)
        clock_pass(LATE_S);
    return AS_OK;
}

static void run_busy(const char *name, void *const *args)
{
    struct as_host_item all = as_host_item;
    assert_string_equal(name, "busy");
    for (uint32_t i = 0; i < all.workgroups * all.threads && !seen.idle; i++) {
        as_host_item = (struct as_host_item){i % all.threads, all.threads, i / all.threads, all.workgroups, NULL};
        busy(args[0], args[1], *(uint32_t *)args[2], *(uint32_t *)args[3], *(uint32_t *)args[4], *(uint32_t *)args[5]);
    }
    if (!seen.idle)
        clock_pass(seen.work_s);
    if (seen.wrong)
        ((uint32_t *)args[0])[*(uint32_t *)args[2]] ^= 1;
}

static void init(struct toy *t)
{
    static struct as_queue_ops queue;
    toy_init(t, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_QUEUES | AS_CAP_TOGETHER);
    t->kernel = run_busy;
    toy_queue = t->dev.queue;
    queue = *toy_queue;
    queue.queues = open_queues;
    queue.submit = submit;
    queue.launch = launch;
    queue.wait_queue = wait_queue;
    t->dev.queue = &queue;
    memset(&seen, 0, sizeof seen);
    seen.work_s = WORK_S;
    clock_script(1e-7);
}

static bool play(struct toy *t, const char *axes, double *value, char *why, size_t size)
{
    struct toy_trial v;
    struct as_sample out = {.clock_hz = NAN};
    struct as_error err = {0};
    assert_int_equal(toy_prepare(t, &as_probe_concurrency, axes, &v, NULL), AS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(as_probe_concurrency.sample(v.state, 3, &out, &err), AS_OK);
    *value = out.value;
    bool right = as_probe_concurrency.check(v.state, why, size);
    toy_finish(&as_probe_concurrency, &v);
    assert_int_equal(t->live, 0);
    assert_int_equal(seen.queues, 0); /* closed */
    return right;
}

/* ---- the tests ---- */

static enum as_applies ask(const struct toy *t, const char *axes, struct as_error *err)
{
    return toy_applies(t, &as_probe_concurrency, axes, err);
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, device;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    init(&device);
    assert_int_equal(ask(&cpu, "what=rate queues=1 priority=same", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "one in-order queue"));
    assert_int_equal(ask(&cpu, "what=rate queues=8 priority=same", &err), AS_PRUNED);
    assert_int_equal(ask(&device, "what=rate queues=8 priority=same", &err), AS_APPLIES);
    assert_int_equal(ask(&device, "what=busy queues=8 priority=high", &err), AS_PRUNED);
    assert_int_equal(ask(&device, "what=queued queues=8 priority=high", &err), AS_PRUNED);
    assert_int_equal(ask(&device, "what=queued queues=1 priority=high", &err), AS_APPLIES);
    assert_int_equal(ask(&device, "what=busy queues=129 priority=same", &err), AS_INAPPLICABLE);
}

UNIT_TEST(test_all_queues_are_filled)
{
    struct toy t;
    char why[160] = "";
    double value;
    init(&t);
    assert_true(play(&t, "what=rate queues=5 priority=same", &value, why, sizeof why));
    assert_int_equal(t.launches, 2 * 3 * 256);
    assert_int_equal(seen.waits, 2 * 3 * 5);
    init(&t);
    assert_true(play(&t, "what=busy queues=3 priority=same", &value, why, sizeof why));
    assert_int_equal(t.launches, 2 * 3 * 3);
    assert_true(fabs(value - 1e9 * WORK_S) < 1e3); /* a kernel */
    init(&t);
    assert_true(play(&t, "what=queued queues=1 priority=same", &value, why, sizeof why));
    assert_int_equal(t.launches, 2 * 3 * 3 + 2 * 2); /* two of work and the timed one; the work alone, twice */
    assert_int_equal(seen.last, 2);
}

UNIT_TEST(test_kernels_of_one_queue_or_submission)
{
    struct toy t;
    char why[160] = "";
    double value;
    init(&t);
    assert_true(play(&t, "what=in_queue queues=6 priority=same", &value, why, sizeof why));
    assert_int_equal(t.launches, 2 * 3 * 6);
    assert_int_equal(seen.last, 1);
    assert_int_equal(seen.waits, 2 * 3);           /* for the one queue */
    assert_true(fabs(value - 1e9 * WORK_S) < 1e3); /* one after another */
    init(&t);
    assert_true(play(&t, "what=together queues=6 priority=same", &value, why, sizeof why));
    assert_int_equal(t.launches, 2 * 3 * 6);
    assert_int_equal(seen.waits, 0);
    assert_true(fabs(value - 1e9 * WORK_S / AT_A_TIME) < 1e3);
    init(&t);
    t.lose_launches = 1; /* one of six in one submission */
    assert_false(play(&t, "what=together queues=6 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "kernels of queue 1 ran"));
    init(&t);
    t.dev.info.capabilities &= ~(unsigned)AS_CAP_TOGETHER;
    struct as_error err = {0};
    assert_int_equal(ask(&t, "what=together queues=6 priority=same", &err), AS_INAPPLICABLE);
}

UNIT_TEST(test_priority_is_asked_for)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    init(&t);
    assert_int_equal(toy_prepare(&t, &as_probe_concurrency, "what=queued queues=1 priority=high", &v, NULL), AS_OK);
    assert_int_equal(seen.queues, 2);
    assert_int_equal(seen.urgent, 1);
    toy_finish(&as_probe_concurrency, &v);
    seen.equal = true;
    assert_int_equal(toy_prepare(&t, &as_probe_concurrency, "what=queued queues=1 priority=high", &v, &err),
                     AS_UNSUPPORTED);
    assert_string_equal(err.text, "all queues are equal");
    toy_finish(&as_probe_concurrency, &v);
    assert_int_equal(t.live, 0);
}

UNIT_TEST(test_faults_are_seen)
{
    struct toy t;
    char why[160] = "";
    double value;
    init(&t);
    t.lose_launches = 1;
    assert_false(play(&t, "what=rate queues=2 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "kernels of queue 1 ran"));
    init(&t);
    seen.wrong = true;
    assert_false(play(&t, "what=busy queues=2 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "thread 0 of queue 1 ends at"));
    init(&t);
    seen.idle = true;
    assert_false(play(&t, "what=queued queues=1 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "lasts only"));
    init(&t);
    seen.work_s = 0.15e-3; /* two kernels of work, a head start of 0.2 ms, and the readings of the clock */
    assert_false(play(&t, "what=queued queues=1 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "lasts only 30"));
    init(&t);
    seen.work_s = 0.25e-3;
    assert_true(play(&t, "what=queued queues=1 priority=same", &value, why, sizeof why));
    init(&t);
    seen.idle = seen.slow = true; /* the work ends long before the wait for the timed kernel */
    assert_false(play(&t, "what=queued queues=1 priority=same", &value, why, sizeof why));
    assert_non_null(strstr(why, "lasts only"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_all_queues_are_filled),
        cmocka_unit_test(test_kernels_of_one_queue_or_submission),
        cmocka_unit_test(test_priority_is_asked_for),
        cmocka_unit_test(test_faults_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
