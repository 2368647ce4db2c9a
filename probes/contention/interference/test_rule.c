/* The rule of interference, on cells that are made up. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.02};

static int clean(void **unused)
{
    (void)unused;
    made_end(&m);
    m.info.capabilities = 0;
    return 0;
}

static void add(const char *axes, double slowdown)
{
    char all[200];
    snprintf(all, sizeof all, "%s buffers=separate load=100 size=67108864 allocator=pinned", axes);
    made_add(&m, "interference", "x", slowdown, all);
}
#define REST(threads, priority) #threads ".separate." #priority ".100.pinned.67108864"

UNIT_TEST(test_device)
{
    add("victim=device op=h2d aggressor=write threads=8 priority=normal", 1.25);
    add("victim=device op=chase aggressor=read threads=0 priority=normal", 1.4);
    add("victim=device op=h2d aggressor=write threads=8 priority=sched_idle", 1.01);
    made_derive(&m);
    made_says(made_near(&m, "interference.victim.device.h2d.write." REST(8, normal), 80, 1e-9),
              "The device keeps 80.0% of its host-to-device bandwidth");
    made_says(made_get(&m, "interference.victim.device.h2d.write." REST(8, normal)), "while 8 CPU threads write");
    made_acts(&m, "interference.victim.device.h2d.write." REST(8, normal), "Do not stream on both sides at once: ");
    made_verdict(&m, "interference.victim.device.h2d.write." REST(8, normal), AS_SUPPORTED);
    made_says(made_near(&m, "interference.victim.device.chase.read." REST(0, normal), 1.4, 1e-9),
              "A pointer chase by the device takes 1.40x as long");
    made_says(made_get(&m, "interference.victim.device.chase.read." REST(0, normal)), "while all CPUs but one read");
    made_says(made_get(&m, "interference.victim.device.h2d.write." REST(8, sched_idle)), "priority sched_idle");
    made_says(made_get(&m, "interference.victim.device.h2d.write." REST(8, sched_idle)), "includes no effect");
    made_verdict(&m, "interference.victim.device.h2d.write." REST(8, sched_idle), AS_UNDECIDED);
}

static const char *act_of(const char *id)
{
    return made_get(&m, id)->act;
}

/* What to do, unless the control deviates by as much; that cores share a memory's bandwidth is no news. */
UNIT_TEST(test_acts)
{
    add("victim=cpu op=chase aggressor=write threads=0 priority=normal", 1.4);
    made_derive(&m);
    assert_string_equal(
        act_of("interference.victim.cpu.chase.write." REST(0, normal)),
        "Keep latency-bound threads away from streaming ones: a pointer chase takes 1.40x (1.37 to 1.43x) as "
        "long while the device writes");
    add("victim=cpu op=chase aggressor=none threads=0 priority=normal", 0.7);
    made_derive(&m);
    assert_string_equal(act_of("interference.victim.cpu.chase.write." REST(0, normal)), "");
    made_end(&m);
    m.info.capabilities = AS_CAP_HOST_KERNELS;
    add("victim=cpu op=read aggressor=read threads=0 priority=normal", 3);
    made_derive(&m);
    assert_string_equal(act_of("interference.victim.cpu.read.read." REST(0, normal)), "");
}

UNIT_TEST(test_cpu)
{
    add("victim=cpu op=chase aggressor=d2h threads=0 priority=normal", 1.4);
    add("victim=cpu op=read aggressor=d2h threads=0 priority=normal", 2);
    made_derive(&m);
    made_says(made_get(&m, "interference.victim.cpu.chase.d2h." REST(0, normal)),
              "A pointer chase by one CPU thread takes 1.40x as long");
    made_says(made_get(&m, "interference.victim.cpu.chase.d2h." REST(0, normal)),
              "while the device copies to the host");
    made_says(made_near(&m, "interference.victim.cpu.read.d2h." REST(0, normal), 50, 1e-9),
              "All CPUs but one keep 50.0% of their read bandwidth");
}

UNIT_TEST(test_cores_and_control)
{
    m.info.capabilities = AS_CAP_HOST_KERNELS;
    add("victim=cpu op=read aggressor=write_nt threads=1 priority=normal", 1.5);
    add("victim=cpu op=read aggressor=none threads=0 priority=normal", 1.01);
    add("victim=cpu op=chase aggressor=none threads=0 priority=normal", 1.1);
    made_derive(&m);
    made_says(made_get(&m, "interference.victim.cpu.read.write_nt." REST(1, normal)), "One core keeps 66.7%");
    made_says(made_get(&m, "interference.victim.cpu.read.write_nt." REST(1, normal)),
              "while 1 other core writes with non-temporal stores");
    made_verdict(&m, "interference.control.cpu.read.none." REST(0, normal), AS_UNDECIDED);
    made_verdict(&m, "interference.control.cpu.chase.none." REST(0, normal), AS_REFUTED);
    made_says(made_get(&m, "interference.control.cpu.chase.none." REST(0, normal)), "not 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_device, clean),
        cmocka_unit_test_teardown(test_acts, clean),
        cmocka_unit_test_teardown(test_cpu, clean),
        cmocka_unit_test_teardown(test_cores_and_control, clean),
    };
    return cmocka_run_group_tests_name("rule of interference", tests, NULL, NULL);
}
