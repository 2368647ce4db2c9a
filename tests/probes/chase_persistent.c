/* Persistent chases end where they must, and a counter that does not move is detected. */
#include "chase_play.h"
#include "scripted_clock.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

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

UNIT_TEST(test_persistent_walks_end_where_they_must)
{
    static const uint64_t sizes[] = {128, 5000, 65536, 4 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < 2; k++) {
            struct play p;
            start_persistent(&p, persistent_kinds[k], sizes[s]);
            assert_true(run_and_check(&p));
        }
}

/* Nobody stops the chase: it ends at its maximum, long before its counter is read. */
static enum as_status submit_and_end(struct as_device *dev, const struct as_launch *l, struct as_error *err)
{
    enum as_status st = toy_queue->submit(dev, l, err);
    return st ? st : toy_queue->wait(dev, AS_WAIT_BLOCK, err);
}

UNIT_TEST(test_unstopped_chase_ends)
{
    struct play p;
    struct as_error err = {0};
    struct as_queue_ops queue;
    double ns, seconds;
    char why[160];
    start_persistent(&p, AS_CAP_SOURCE | AS_CAP_ASYNC, 65536);
    toy_queue = p.toy.dev.queue;
    queue = *toy_queue;
    queue.submit = submit_and_end;
    p.toy.dev.queue = &queue;
    assert_int_equal(as_chase_run(&p.chase, 100, &ns, &seconds, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "leave a CPU free"));
    assert_true(as_chase_check(&p.chase, why, sizeof why)); /* the chase itself was complete */
    p.toy.dev.queue = toy_queue;
    assert_int_equal(as_chase_run(&p.chase, 100, &ns, &seconds, &err), AS_OK);
    assert_true(run_and_check(&p));
}

UNIT_TEST(test_counter_that_stands_still)
{
    struct play p;
    struct as_error err = {0};
    double ns, seconds;
    start_persistent(&p, AS_CAP_SOURCE | AS_CAP_ASYNC, 65536);
    p.toy.lose_launches = 1;
    clock_script(0.01);
    assert_int_equal(as_chase_run(&p.chase, 10, &ns, &seconds, &err), AS_UNSUPPORTED);
    clock_real();
    assert_non_null(strstr(err.text, "does not move"));
    as_chase_finish(&p.chase);
    assert_int_equal(p.toy.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_persistent_walks_end_where_they_must),
        cmocka_unit_test(test_unstopped_chase_ends),
        cmocka_unit_test(test_counter_that_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
