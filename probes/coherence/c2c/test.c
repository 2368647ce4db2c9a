/* Probe c2c: which pairs apply, the exchange between threads and with a device's kernel, and a lost pass is
 * detected. */
#include "probes/coherence/c2c/c2c.h"
#include "tests/probes/c2c_toy.h"
#include "tests/scripted_clock.h"
#include "tests/unit_test.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_c2c;
static const unsigned host_caps = AS_CAP_HOST_KERNELS | AS_CAP_PIN;

/* The first two CPUs that this process may use; cpus[1] is -1 if there is only one. */
static void find_cpus(int cpus[2])
{
    cpu_set_t set;
    int n = 0;
    cpus[1] = -1;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && n < 2; cpu++)
        if (CPU_ISSET((size_t)cpu, &set))
            cpus[n++] = cpu;
}

/* Tests with two spinning threads: on one CPU every pass would cost a scheduler time slice. */
static void need_two_cpus(int cpus[2])
{
    find_cpus(cpus);
    if (cpus[1] >= 0)
        return;
    print_message("skipped: two threads that wait for each other need two CPUs\n");
    skip();
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu, plain;
    struct as_error err = {0};
    char axes[128];
    int cpus[2];
    find_cpus(cpus);
    toy_init(&cpu, host_caps);
    c2c_toy_device(&gpu);
    toy_init(&plain, AS_CAP_SOURCE | AS_CAP_ASYNC);
    plain.dev.info.allocators[0].coherent = false;
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=cpu from=2 to=1 op=cas pairs=every", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=device from=0 to=0 op=load pairs=every", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=cpu from=0 to=60000 op=cas pairs=every", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "may not use CPU"));
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=some allocator=upfront", cpus[0]);
    assert_int_equal(toy_applies(&gpu, &as_probe_c2c, axes, &err), AS_APPLIES);
    assert_int_equal(toy_applies(&plain, &as_probe_c2c, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "do not see each other's stores to 'upfront'"));
    assert_int_equal(toy_applies(&gpu, &as_probe_c2c, "peer=cpu from=0 to=1 op=cas pairs=every", &err), AS_PRUNED);
    assert_int_equal(
        toy_applies(&gpu, &as_probe_c2c, "peer=device from=0 to=1 op=load pairs=every allocator=upfront", &err),
        AS_PRUNED);
}

UNIT_TEST(test_threads_that_move)
{
    struct toy cpu;
    struct as_error err = {0};
    char axes[96];
    int cpus[2];
    find_cpus(cpus);
    if (cpus[1] < 0)
        return; /* the reason "one CPU" takes precedence */
    toy_init(&cpu, host_caps & ~(unsigned)AS_CAP_PIN);
    snprintf(axes, sizeof axes, "peer=cpu from=%d to=%d op=cas pairs=every", cpus[0], cpus[1]);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "stay on no CPU"));
}

/* With one CPU the plan must say why nothing can be measured instead of being empty. */
UNIT_TEST(test_one_cpu)
{
    struct toy t;
    struct as_error err = {0};
    cpu_set_t before, one;
    int cpus[2];
    char axes[128];
    toy_init(&t, host_caps);
    find_cpus(cpus);
    snprintf(axes, sizeof axes, "peer=cpu from=%d to=%d op=cas pairs=some", cpus[0], cpus[0]);
    if (cpus[1] >= 0)
        assert_int_equal(toy_applies(&t, &as_probe_c2c, axes, &err), AS_PRUNED);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)cpus[0], &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    enum as_applies applies = toy_applies(&t, &as_probe_c2c, axes, &err);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(applies, AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "is bound to one"));
}

/* The CPU device keeps the calling thread off the CPUs that work. That must not restrict the CPUs that may be
 * measured. */
UNIT_TEST(test_bound_caller)
{
    extern const struct as_probe as_probe_sentinel;
    struct as_opened opened;
    struct as_axes axes;
    struct as_error err = {0};
    void *state = NULL;
    struct as_sample s;
    char text[128];
    cpu_set_t now;
    int cpus[2];
    need_two_cpus(cpus);
    assert_int_equal(as_device_open("cpu", &opened, &err), AS_OK);
    toy_axes(&axes, "what=core");
    struct as_trial_context tc = {.dev = &opened.device, .axes = &axes, .limit = NAN, .deadline = INFINITY};
    assert_int_equal(as_probe_prepare(&as_probe_sentinel, &tc, &state, &err), AS_OK);
    assert_int_equal(as_probe_sentinel.sample(state, 1, &s, &err), AS_OK);
    as_probe_finish(&as_probe_sentinel, state);
    as_buf_finish(&tc.detail);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_false(CPU_ISSET(cpus[0], &now) && CPU_ISSET(cpus[1], &now));
    snprintf(text, sizeof text, "peer=cpu from=%d to=%d op=cas pairs=every", cpus[0], cpus[1]);
    toy_axes(&axes, text);
    assert_int_equal(as_probe_c2c.applies(&opened.device.info, &axes, &err), AS_APPLIES);
    as_device_close(&opened);
}

UNIT_TEST(test_threads_play)
{
    static const char *const ops[] = {"cas", "load", "pause"};
    int cpus[2];
    need_two_cpus(cpus);
    for (int i = 0; i < 3; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s;
        struct as_error err = {0};
        char axes[128], why[128] = "";
        toy_init(&t, host_caps);
        snprintf(axes, sizeof axes, "peer=cpu from=%d to=%d op=%s pairs=every", cpus[0], cpus[1], ops[i]);
        toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
        for (int n = 0; n < 3; n++) {
            s = (struct as_sample){.value = NAN, .clock_hz = NAN};
            assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_OK);
            assert_true(s.value > 0 && s.seconds > 0);
        }
        assert_true(as_probe_c2c.check(v.state, why, sizeof why));
        toy_finish(&as_probe_c2c, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_lost_pass_is_seen)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char why[128] = "";
    toy_init(&t, host_caps);
    toy_prepare(&t, &as_probe_c2c, "peer=cpu from=0 to=1 op=cas pairs=every", &v, NULL);
    t.lose_launches = 1;
    assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_OK);
    assert_false(as_probe_c2c.check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "was passed 0 times"));
    toy_finish(&as_probe_c2c, &v);
}

UNIT_TEST(test_device_plays)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    char why[128] = "", axes[128];
    int cpus[2];
    need_two_cpus(cpus);
    c2c_toy_device(&t);
    t.device_cpu = cpus[1];
    t.kernel = c2c_toy_pingpong;
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=every allocator=upfront", cpus[0]);
    toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
    /* Neither agent gives up, however long a loaded machine delays it: no time passes on the host's clock. */
    ((struct c2c *)v.state)->patience = UINT32_MAX;
    clock_script(1e-9);
    for (int n = 0; n < 2; n++) {
        struct as_sample s = {.value = NAN};
        assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_OK);
        assert_true(s.value > 0);
    }
    clock_real();
    assert_true(as_probe_c2c.check(v.state, why, sizeof why));
    toy_finish(&as_probe_c2c, &v);
    assert_int_equal(t.live, 0);
}

/* Workgroups of a GPU poll slower than a core, also in host memory: with a core's patience, a launch whose other
 * workgroup never starts would take minutes. */
UNIT_TEST(test_patience)
{
    static const char device[] = "peer=device from=0 to=0 op=load pairs=every allocator=upfront";
    static const char unit[] = "peer=compute_unit from=0 to=1 op=load pairs=every allocator=toy";
    static const struct {
        bool is_host_cpu, is_host_memory;
        uint32_t device, unit;
    } cases[] = {
        {true, true, 1u << 27, 1u << 27}, {false, true, 1u << 27, 1u << 18}, {false, false, 1u << 22, 1u << 18}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        struct toy t;
        struct toy_trial v;
        c2c_toy_gpu(&t, true);
        t.dev.info.is_host_cpu = cases[i / 2].is_host_cpu;
        t.dev.info.is_host_memory = cases[i / 2].is_host_memory;
        toy_prepare(&t, &as_probe_c2c, i % 2 ? unit : device, &v, NULL);
        assert_int_equal(((struct c2c *)v.state)->patience, i % 2 ? cases[i / 2].unit : cases[i / 2].device);
        toy_finish(&as_probe_c2c, &v);
    }
}

/* A device that never starts must cost a bounded wait and give a reason. */
UNIT_TEST(test_silent_device)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char axes[128];
    int cpus[2];
    find_cpus(cpus);
    c2c_toy_device(&t);
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=every allocator=upfront", cpus[0]);
    toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
    t.lose_launches = 1;
    clock_script(0.1);
    assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_UNSUPPORTED);
    clock_real();
    assert_non_null(strstr(err.text, "does not start"));
    toy_finish(&as_probe_c2c, &v);
}

/* The device's kernel ends by itself if the host never answers. */
UNIT_TEST(test_device_gives_up)
{
    static uint32_t memory[3 * 64];
    uint32_t numbers[] = {64, 2, 4, 1, 0, 9, 1000}; /* a thousand polls */
    void *args[8] = {memory};
    for (int i = 0; i < 7; i++)
        args[1 + i] = &numbers[i];
    memset(memory, 0, sizeof memory);
    c2c_toy_pingpong("pingpong", args);
    assert_int_equal(memory[0], 9);
    assert_int_equal(memory[64], 0);
}

/* ---- between compute units ---- */

UNIT_TEST(test_which_units)
{
    static const struct {
        const char *axes;
        enum as_applies gpu, portable;
    } cases[] = {
        {"peer=compute_unit from=0 to=1 op=load pairs=every allocator=toy", AS_APPLIES, AS_APPLIES},
        {"peer=compute_unit from=1 to=3 op=relaxed pairs=every allocator=upfront", AS_APPLIES, AS_PRUNED},
        {"peer=compute_unit from=1 to=4 op=load pairs=every allocator=toy", AS_PRUNED, AS_PRUNED}, /* four units */
        {"peer=compute_unit from=2 to=1 op=load pairs=every allocator=toy", AS_PRUNED, AS_PRUNED},
        {"peer=compute_unit from=1 to=1 op=load pairs=every allocator=toy", AS_PRUNED, AS_PRUNED},
        {"peer=compute_unit from=0 to=1 op=cas pairs=every allocator=toy", AS_PRUNED, AS_PRUNED},
        {"peer=compute_unit from=0 to=1 op=load pairs=some allocator=toy", AS_PRUNED, AS_PRUNED},
    };
    struct toy gpu, portable, cpu;
    struct as_error err = {0};
    c2c_toy_gpu(&gpu, true);
    c2c_toy_device(&portable);
    toy_init(&cpu, host_caps);
    cpu.dev.info.compute_units = 4;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(toy_applies(&gpu, &as_probe_c2c, cases[i].axes, &err), cases[i].gpu);
        assert_int_equal(toy_applies(&portable, &as_probe_c2c, cases[i].axes, &err), cases[i].portable);
        assert_int_equal(toy_applies(&cpu, &as_probe_c2c, cases[i].axes, &err), AS_PRUNED);
    }
    portable.dev.info.is_host_cpu = true;
    assert_int_equal(toy_applies(&portable, &as_probe_c2c, cases[0].axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "threads of the host CPU"));
}

UNIT_TEST(test_units_play)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    char why[128] = "";
    int cpus[2];
    need_two_cpus(cpus);
    c2c_toy_gpu(&t, true);
    toy_prepare(&t, &as_probe_c2c, "peer=compute_unit from=1 to=2 op=load pairs=every allocator=toy", &v, NULL);
    assert_true(fabs(v.tc.limit - 0.5) < 1e-9);
    for (int n = 0; n < 2; n++) {
        struct as_sample s = {.value = NAN};
        c2c_toy_leave_out(1, 1); /* a launch that misses a unit is repeated */
        assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_OK);
        assert_true(s.value > 0);
        assert_int_equal(c2c_toy_left_out(), 0);
    }
    assert_true(as_probe_c2c.check(v.state, why, sizeof why));
    assert_string_equal(why, "each of 64 lines was passed 128 times");
    t.forget = true;
    assert_false(as_probe_c2c.check(v.state, why, sizeof why));
    toy_finish(&as_probe_c2c, &v);
    assert_int_equal(t.live, 0);
}

/* A unit on which nothing ever starts ends the cell with a reason. */
UNIT_TEST(test_unit_never_starts)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    c2c_toy_gpu(&t, true);
    toy_prepare(&t, &as_probe_c2c, "peer=compute_unit from=1 to=2 op=load pairs=every allocator=toy", &v, NULL);
    c2c_toy_leave_out(2, 1000);
    assert_int_equal(as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "units 1 and 2"));
    toy_finish(&as_probe_c2c, &v);
    assert_int_equal(t.live, 0);
}

/* If a kernel cannot read its unit id, only the pair of any two workgroups applies. */
UNIT_TEST(test_units_not_told)
{
    struct toy t;
    struct toy_trial v;
    struct as_error err = {0};
    c2c_toy_gpu(&t, false);
    assert_int_equal(
        toy_prepare(&t, &as_probe_c2c, "peer=compute_unit from=1 to=2 op=load pairs=every allocator=toy", &v, &err),
        AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no unit id"));
    toy_finish(&as_probe_c2c, &v);
    assert_int_equal(
        toy_prepare(&t, &as_probe_c2c, "peer=compute_unit from=0 to=1 op=load pairs=every allocator=toy", &v, &err),
        AS_OK);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "kernels have no unit id"));
    toy_finish(&as_probe_c2c, &v);
}

/* On any OpenCL device of this machine: a number with all passes counted, or a reason. */
UNIT_TEST(test_on_opencl)
{
    static const char *const cells[] = {
        "peer=compute_unit from=0 to=1 op=load pairs=every allocator=clCreateBuffer",
        "peer=compute_unit from=0 to=1 op=relaxed pairs=every allocator=clCreateBuffer"};
    struct as_opened opened;
    struct as_error err = {0};
    size_t measured = 0;
    if (as_device_open("opencl:0", &opened, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct toy t = {.dev = opened.device};
        struct toy_trial v;
        struct as_sample s = {.value = NAN};
        char why[128] = "";
        enum as_status st = toy_prepare(&t, &as_probe_c2c, cells[i], &v, &err);
        if (st)
            fail_msg("%s: %s", cells[i], err.text);
        st = as_probe_c2c.sample(v.state, v.tc.min_reps, &s, &err);
        if (st && !strstr(err.text, "at the same time"))
            fail_msg("%s: %s", cells[i], err.text);
        if (!st) {
            assert_true(s.value > 0 && isfinite(s.value));
            if (!as_probe_c2c.check(v.state, why, sizeof why))
                fail_msg("%s: %s", cells[i], why);
            measured++;
        }
        print_message("%s: %s %.0f ns\n", cells[i], st ? err.text : why, s.value);
        toy_finish(&as_probe_c2c, &v);
    }
    as_device_close(&opened);
    if (!measured) {
        print_message("skipped: no two groups ran at the same time\n");
        skip();
    }
}

UNIT_TEST(test_out_of_memory)
{
    toy_check_no_memory(&as_probe_c2c, host_caps, "peer=cpu from=0 to=1 op=cas pairs=every");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),    cmocka_unit_test(test_threads_that_move),
        cmocka_unit_test(test_one_cpu),        cmocka_unit_test(test_bound_caller),
        cmocka_unit_test(test_threads_play),   cmocka_unit_test(test_lost_pass_is_seen),
        cmocka_unit_test(test_device_plays),   cmocka_unit_test(test_silent_device),
        cmocka_unit_test(test_patience),       cmocka_unit_test(test_device_gives_up),
        cmocka_unit_test(test_out_of_memory),  cmocka_unit_test(test_which_units),
        cmocka_unit_test(test_units_play),     cmocka_unit_test(test_unit_never_starts),
        cmocka_unit_test(test_units_not_told), cmocka_unit_test(test_on_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
