/* The rule of queues, on synthetic cells. */
#include "base/text.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

/* A kernel alone takes 400 us; 16 of them in as many queues take 1 ms, so 6.4 were concurrent. */
UNIT_TEST(test_queues)
{
    struct made m;
    made_gpu_minimal(&m);
    as_copy_text(m.info.backend, sizeof m.info.backend, "opencl"); /* whose queues are queues */
    made_add(&m, "concurrency", "ns", 62.5e3, "what=busy queues=16 priority=same");
    made_derive(&m);
    assert_null(made_find(&m, "concurrency.kernels")); /* no baseline yet */
    made_add(&m, "concurrency", "ns", 400e3, "what=busy queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 200e3, "what=busy queues=2 priority=same");
    made_add(&m, "concurrency", "ns", 2000, "what=rate queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 2500, "what=rate queues=16 priority=same");
    made_add(&m, "concurrency", "ns", 3e6, "what=queued queues=1 priority=same");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "concurrency.kernels", 6.4, 1e-9);
    made_says(f, "6.40 (6.31 to 6.49) single-thread kernels in 16 queues run concurrently");
    assert_null(strstr(f->sentence, "the maximum tested"));
    assert_int_equal(f->evidence_n, 3);
    made_says(made_near(&m, "concurrency.rate", 0.8, 1e-9), "in 16 queues run 1.25x slower than in one queue (");
    assert_null(made_find(&m, "concurrency.priority"));
    made_add(&m, "concurrency", "ns", 0.5e6, "what=queued queues=1 priority=high");
    made_derive(&m);
    f = made_near(&m, "concurrency.priority", 6, 1e-9);
    made_says(f, "a kernel in a high-priority queue finishes 6.00x sooner (");
    assert_int_equal(f->evidence_n, 2);
    made_acts(&m, "concurrency.rate", "Launch small kernels in one queue: 16 queues are 1.25x");
    made_acts(&m, "concurrency.priority",
              "Put urgent kernels into a high-priority queue: behind work that fills the device they take 6.00x");
    m.cells[0].sum.median = 25e3; /* all 16 */
    m.cells[0].sum.ci = (struct as_interval){24.9e3, 25.1e3};
    made_derive(&m);
    made_says(made_near(&m, "concurrency.kernels", 16, 1e-9), "At least 16 single-thread kernels (the maximum tested)");
    m.cells[0].sum.median = 27.5e3; /* still all, with launch overhead */
    m.cells[0].sum.ci = (struct as_interval){27.4e3, 27.6e3};
    made_derive(&m);
    f = made_near(&m, "concurrency.kernels", 16, 1e-9);
    assert_true(f->ci.lo == 16 && f->ci.hi == 16 && f->bound == 1);
    made_says(f, "they take 1.10x");
    as_copy_text(m.info.backend, sizeof m.info.backend, "cuda"); /* of a device whose queues are called streams */
    made_derive(&m);
    made_says(made_get(&m, "concurrency.rate"),
              "Empty kernels round-robin in 16 streams run 1.25x slower than in one stream");
    made_says(made_get(&m, "concurrency.priority"), "in a high-priority stream");
    made_add(&m, "concurrency", "ns", 1000, "what=rate queues=32 priority=same");
    made_derive(&m);
    made_acts(&m, "concurrency.rate", "Spread small kernels over streams: 32 streams run them 2.00x");
    made_end(&m);
}

/* 128 launches of 3.5 us and one kernel of 4.9 ms explain 5.46 ms: all ran at a time, not 115 of them. Where several
 * kernels had to wait, launches cost nothing. */
UNIT_TEST(test_launches_are_no_waiting)
{
    static const struct {
        double each;
        bool all;
    } rows[] = {{42.62e3, true}, {4920e3 / 64, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct made m;
        made_gpu_minimal(&m);
        m.share = 0.03;
        made_add(&m, "concurrency", "ns", 4920e3, "what=busy queues=1 priority=same");
        made_add(&m, "concurrency", "ns", rows[i].each, "what=busy queues=128 priority=same");
        made_add(&m, "concurrency", "ns", 3485, "what=rate queues=1 priority=same");
        made_derive(&m);
        const struct as_fact *f = made_near(&m, "concurrency.kernels", rows[i].all ? 128 : 64, 1e-9);
        assert_int_equal(f->bound, rows[i].all);
        made_says(f, rows[i].all ? "At least 128 single-thread kernels" : "64.0 (");
        made_end(&m);
    }
}

/* By the medians everything is a little faster; the intervals include 1. */
UNIT_TEST(test_queues_that_may_give_nothing)
{
    struct made m;
    made_gpu_minimal(&m);
    m.share = 0.4;
    made_add(&m, "concurrency", "ns", 400e3, "what=busy queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 380e3, "what=busy queues=16 priority=same");
    made_add(&m, "concurrency", "ns", 2000, "what=rate queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 1900, "what=rate queues=16 priority=same");
    made_add(&m, "concurrency", "ns", 3e6, "what=queued queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 2.9e6, "what=queued queues=1 priority=high");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "concurrency.kernels", 400 / 380.0, 1e-9);
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "Whether single-thread kernels run concurrently is inconclusive");
    f = made_get(&m, "concurrency.rate");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "in 16 streams and in one are statistically tied: ");
    f = made_get(&m, "concurrency.priority");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "is inconclusive");
    m.cells[1].sum.median = 25.6e3; /* perhaps not quite all 16 */
    m.cells[1].sum.ci = (struct as_interval){24e3, 40e3};
    made_derive(&m);
    assert_null(strstr(made_get(&m, "concurrency.kernels")->sentence, "the maximum tested"));
    made_end(&m);
}

/* A noisy ratio does not say that more ran than were submitted. */
UNIT_TEST(test_no_more_than_submitted)
{
    struct made m;
    made_gpu_minimal(&m);
    m.share = 0.3;
    made_add(&m, "concurrency", "ns", 400e3, "what=together queues=1 priority=same");
    made_add(&m, "concurrency", "ns", 4e3, "what=together queues=96 priority=same");
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "concurrency.together");
    assert_true(f->value == 96 && f->ci.hi == 96 && f->ci.lo < 96);
    made_says(f, "96 single-thread kernels of 96 submitted as one run concurrently");
    made_end(&m);
}

/* Three answers at once: all over queues, one by one within a queue, 96 of 128 submitted as one. */
UNIT_TEST(test_three_experiments)
{
    struct made m;
    made_gpu_minimal(&m);
    as_copy_text(m.info.backend, sizeof m.info.backend, "metal");
    static const struct {
        const char *what;
        double at_a_time;
    } rows[] = {{"busy", 2}, {"in_queue", 1}, {"together", 96}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char axes[64];
        snprintf(axes, sizeof axes, "what=%s queues=1 priority=same", rows[i].what);
        made_add(&m, "concurrency", "ns", 400e3, axes);
        snprintf(axes, sizeof axes, "what=%s queues=128 priority=same", rows[i].what);
        made_add(&m, "concurrency", "ns", 400e3 / rows[i].at_a_time, axes);
    }
    made_derive(&m);
    made_says(made_near(&m, "concurrency.kernels", 2, 1e-9),
              "single-thread kernels in 128 command queues run concurrently");
    const struct as_fact *f = made_near(&m, "concurrency.in_queue", 1, 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED); /* as a queue promises */
    made_says(f, "Single-thread kernels in one command queue run one after another: 1.00 (0.986 to 1.01) at a time");
    f = made_near(&m, "concurrency.together", 96, 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "single-thread kernels of 128 submitted as one run concurrently");
    m.cells[5].sum.median = 400e3 / 127; /* all of them */
    m.cells[5].sum.ci = (struct as_interval){3140, 3160};
    made_derive(&m);
    made_says(made_near(&m, "concurrency.together", 128, 1e-9),
              "At least 128 single-thread kernels submitted as one (the maximum tested) run concurrently");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues_that_may_give_nothing),
        cmocka_unit_test(test_no_more_than_submitted),
        cmocka_unit_test(test_queues),
        cmocka_unit_test(test_launches_are_no_waiting),
        cmocka_unit_test(test_three_experiments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
