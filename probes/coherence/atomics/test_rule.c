/* The rule of atomic updates, on synthetic cells: rates alone, and the share kept beside the other agent. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static void start(struct made *m)
{
    *m = (struct made){.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};
}

static void rate(struct made *m, double value, const char *agent, int cpu, int device, const char *scope)
{
    char axes[200];
    snprintf(axes, sizeof axes,
             "agent=%s elements=1024 type=u64 cpu_threads=%d device_threads=%d scope=%s order=relaxed allocator=pinned",
             agent, cpu, device, scope);
    made_add(m, "atomics", "updates/s", value, axes);
}

/* What the study of the MI300A found of the CPU: a native addition, and a loop. */
UNIT_TEST(test_types)
{
    struct made m;
    start(&m);
    made_add(&m, "atomics", "updates/s", 3e7, "agent=cpu elements=1 type=u64 cpu_threads=1 device_threads=0 node=near");
    made_add(&m, "atomics", "updates/s", 2e7, "agent=cpu elements=1 type=u64 cpu_threads=6 device_threads=0 node=near");
    made_add(&m, "atomics", "updates/s", 1e7, "agent=cpu elements=1 type=f64 cpu_threads=1 device_threads=0 node=near");
    made_add(&m, "atomics", "updates/s", 5e9,
             "agent=device elements=1 type=u64 cpu_threads=0 device_threads=64 node=near");
    made_derive(&m);
    made_says(made_near(&m, "atomics.types.cpu.1", 3, 1e-9),
              "Atomic additions by the CPU of u64 run at 3.00x (2.96 to 3.04x) the rate of f64 (1 element)");
    assert_null(made_find(&m, "atomics.types.device.1"));
    made_end(&m);
}

UNIT_TEST(test_rates_and_what_is_kept)
{
    struct made m;
    start(&m);
    rate(&m, 1e8, "cpu", 1, 0, "system");
    rate(&m, 4e8, "cpu", 4, 0, "system");
    rate(&m, 2e9, "device", 0, 64, "system");
    rate(&m, 1e9, "device", 0, 64, "device");
    rate(&m, 5e7, "cpu", 1, 64, "device");     /* half; a CPU has no scope */
    rate(&m, 5e7, "cpu", 4, 64, "system");     /* an eighth */
    rate(&m, 8e8, "device", 4, 64, "device");  /* against 1e9 of the same scope */
    rate(&m, 7e8, "device", 4, 128, "device"); /* has no counterpart alone */
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "atomics.cpu.1024.u64");
    assert_true(f->value == 4e8);
    made_says(f, "reach 400 M updates/s");
    made_says(f, "on 1024 elements of u64 (4 threads, 'pinned')");
    assert_true(made_get(&m, "atomics.device.1024.u64")->value == 2e9);
    assert_string_equal(made_get(&m, "atomics.device.1024.u64")->unit, "updates/s");
    f = made_near(&m, "atomics.shared.cpu.1024.u64.pinned", 0.125, 1e-9);
    assert_true(f->ci.lo < 0.125 && f->ci.hi > 0.125);
    made_says(f, "the CPU keeps 12.5% of its rate alone (12.3 to 12.7%) with 4 CPU threads and 64 device threads "
                 "(lowest of 2 pairs; "
                 "highest 50%)");
    made_acts(&m, "atomics.shared.cpu.1024.u64.pinned",
              "Do not let CPU and device update the same array: the CPU is 8.0");
    f = made_near(&m, "atomics.shared.device.1024.u64.pinned", 0.8, 1e-9);
    assert_int_equal(f->evidence_n, 2);
    made_end(&m);
}

/* What both reach on one array, against the better of them with any number of threads. */
UNIT_TEST(test_together)
{
    struct made m;
    start(&m);
    rate(&m, 1e8, "cpu", 1, 0, "system");
    rate(&m, 4e8, "cpu", 4, 0, "system");
    rate(&m, 1e9, "device", 0, 64, "system");
    rate(&m, 2e9, "device", 0, 128, "system");
    rate(&m, 1e8, "cpu", 1, 128, "system"); /* 2 G together */
    rate(&m, 1.9e9, "device", 1, 128, "system");
    rate(&m, 3e8, "cpu", 4, 128, "system"); /* 2.1 G together */
    rate(&m, 1.8e9, "device", 4, 128, "system");
    rate(&m, 4e8, "cpu", 4, 64, "system"); /* 1.4 G together */
    rate(&m, 1e9, "device", 4, 64, "system");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "atomics.together.1024.u64.pinned", 1.05, 1e-9);
    made_says(f, "CPU and device together update 1024 elements of u64 ('pinned') at 2.10 G updates/s");
    made_says(f, "as fast as the device alone");
    made_says(
        f,
        "4 CPU threads and 128 device threads, fastest of 3 pairs of thread counts; 88% of the sum of the rates alone");
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_int_equal(f->evidence_n, 3);
    /* no contradiction: it pays, though each side loses some */
    made_get(&m, "atomics.shared.cpu.1024.u64.pinned");
    assert_string_equal(made_get(&m, "atomics.shared.cpu.1024.u64.pinned")->act, "");
    m.cells[7].sum.median = 5e8; /* 0.8 G, so that the split with 1 CPU thread is the best */
    m.cells[5].sum.median = 9e8;
    for (size_t i = 5; i < 8; i += 2)
        m.cells[i].sum.ci = (struct as_interval){0.99 * m.cells[i].sum.median, 1.01 * m.cells[i].sum.median};
    made_derive(&m);
    f = made_near(&m, "atomics.together.1024.u64.pinned", 0.7, 1e-9);
    made_says(f, "1.43x slower than the device alone");
    made_acts(&m, "atomics.together.1024.u64.pinned",
              "Do not let CPU and device update the same array: together they are ");
    const char *act = made_get(&m, "atomics.shared.cpu.1024.u64.pinned")->act;
    assert_int_equal(strncmp(act, "Do not let CPU and device update the same array: the CPU is ", 60),
                     0); /* one call */
    made_end(&m);
}

/* One side alone is not measured: nothing to compare with. */
UNIT_TEST(test_together_without_alone)
{
    struct made m;
    start(&m);
    rate(&m, 2e9, "device", 0, 128, "system");
    rate(&m, 3e8, "cpu", 4, 128, "system");
    rate(&m, 1.8e9, "device", 4, 128, "system");
    made_derive(&m);
    assert_null(made_find(&m, "atomics.together.1024.u64.pinned"));
    made_end(&m);
}

/* Cells that fail a gate are not used, and without cells there are no facts. */
UNIT_TEST(test_rejected_cells_say_nothing)
{
    struct made m;
    start(&m);
    rate(&m, 1e8, "cpu", 1, 0, "system");
    m.cells[m.n - 1].status = AS_CELL_REJECTED;
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
    made_end(&m);
}

/* 85% by the medians, possibly 100%. */
UNIT_TEST(test_what_is_kept_may_be_all)
{
    struct made m;
    start(&m);
    m.share = 0.15;
    rate(&m, 1e8, "cpu", 1, 0, "system");
    rate(&m, 8.5e7, "cpu", 1, 64, "system");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "atomics.shared.cpu.1024.u64.pinned", 0.85, 1e-9);
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "the CPU's rate is statistically tied with its rate alone, 0.85");
    assert_null(strstr(f->sentence, "keeps"));
    made_end(&m);
}

/* The lowest median may be 100%; another pair surely keeps less, and takes precedence. */
UNIT_TEST(test_what_is_kept_for_certain_goes_first)
{
    struct made m;
    start(&m);
    rate(&m, 1e8, "cpu", 1, 0, "system");
    rate(&m, 6e7, "cpu", 1, 64, "system");
    rate(&m, 1e7, "cpu", 1, 64, "device");
    m.cells[2].sum.ci = (struct as_interval){1e6, 3e8};
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "atomics.shared.cpu.1024.u64.pinned", 0.6, 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    made_says(f, "keeps 60.0% of its rate alone (59.2 to 60.9%) with");
    made_says(f, "with 1 CPU thread and 64 device threads (the only significant one of 2 pairs)");
    made_end(&m);
}

/* Memory requested on a node is compared with the nearest one, and is not taken for it. */
UNIT_TEST(test_nodes)
{
    struct made m = {.share = 0.01, .info = {.id = "cpu", .backend = "cpu"}};
    static const struct {
        const char *node;
        double rate;
    } cells[] = {{"1", 40e6}, {"near", 100e6}, {"8", 120e6}};
    for (size_t i = 0; i < 3; i++) {
        char axes[200];
        snprintf(axes, sizeof axes,
                 "agent=cpu elements=1024 type=u64 cpu_threads=1 device_threads=0 scope=system order=relaxed "
                 "allocator=mmap node=%s",
                 cells[i].node);
        made_add(&m, "atomics", "updates/s", cells[i].rate, axes);
    }
    made_derive(&m);
    made_near(&m, "atomics.cpu.1024.u64", 100e6, 1e-9);
    made_says(
        made_near(&m, "atomics.node.1.cpu.1024.u64.mmap", 0.4, 1e-9),
        "Atomic updates by the CPU of 1024 elements of u64 on node 1 are 2.50x slower than by default placement (");
    made_near(&m, "atomics.node.8.cpu.1024.u64.mmap", 1.2, 1e-9);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_what_is_kept_for_certain_goes_first),
        cmocka_unit_test(test_what_is_kept_may_be_all),
        cmocka_unit_test(test_rates_and_what_is_kept),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_together_without_alone),
        cmocka_unit_test(test_rejected_cells_say_nothing),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
