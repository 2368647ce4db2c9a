/* Probe c2c: which pairs, the game on threads and with a device's kernel, and that a lost pass is seen. */
#include "device/dialect/host_prelude.h"
#include "toy_device.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

_Thread_local struct as_host_item as_host_item;
#include "../../probes/c2c/c2c.kernel"

extern const struct as_probe as_probe_c2c;
static const unsigned host_caps = AS_CAP_HOST_KERNELS | AS_CAP_PIN;
static const unsigned device_caps = AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_SVM_ATOMICS;

static void run_pingpong(const char *name, void *const *a)
{
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    assert_string_equal(name, "pingpong");
    const uint32_t *v[8];
    for (int i = 1; i < 8; i++)
        v[i] = a[i];
    pingpong(a[0], *v[1], *v[2], *v[3], *v[4], *v[5], *v[6], *v[7]);
}

/* The first two CPUs that this process may use; cpus[1] is -1 where there is one only. */
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

/* For tests of two threads that spin: on one CPU they would take a turn of the scheduler for every pass. */
static void need_two_cpus(int cpus[2])
{
    find_cpus(cpus);
    if (cpus[1] >= 0)
        return;
    print_message("skipped: two threads that wait for each other need two CPUs\n");
    skip();
}

static void test_which_cells(void **unused)
{
    struct toy cpu, gpu, plain;
    struct as_error err = {0};
    char axes[96];
    int cpus[2];
    (void)unused;
    find_cpus(cpus);
    toy_init(&cpu, host_caps);
    toy_init(&gpu, device_caps);
    toy_init(&plain, AS_CAP_SOURCE);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=cpu from=2 to=1 op=cas pairs=every", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=device from=0 to=0 op=load pairs=every", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&cpu, &as_probe_c2c, "peer=cpu from=0 to=60000 op=cas pairs=every", &err),
                     AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "may not use CPU"));
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=some", cpus[0]);
    assert_int_equal(toy_applies(&gpu, &as_probe_c2c, axes, &err), AS_APPLIES);
    assert_int_equal(toy_applies(&plain, &as_probe_c2c, axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "atomics on the same memory"));
    assert_int_equal(toy_applies(&gpu, &as_probe_c2c, "peer=cpu from=0 to=1 op=cas pairs=every", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&gpu, &as_probe_c2c, "peer=device from=0 to=1 op=load pairs=every", &err), AS_PRUNED);
}

/* Where there is one CPU the plan has to say why there is nothing to measure, and not be empty. */
static void test_one_cpu(void **unused)
{
    struct toy t;
    struct as_error err = {0};
    cpu_set_t before, one;
    int cpus[2];
    char axes[96];
    (void)unused;
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
    assert_non_null(strstr(err.text, "one CPU only"));
}

static void test_threads_play(void **unused)
{
    static const char *const ops[] = {"cas", "load", "pause"};
    int cpus[2];
    (void)unused;
    need_two_cpus(cpus);
    for (int i = 0; i < 3; i++) {
        struct toy t;
        struct toy_visit v;
        struct as_sample s;
        struct as_error err = {0};
        char axes[96], why[128] = "";
        toy_init(&t, host_caps);
        snprintf(axes, sizeof axes, "peer=cpu from=%d to=%d op=%s pairs=every", cpus[0], cpus[1], ops[i]);
        toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
        for (int n = 0; n < 3; n++) {
            s = (struct as_sample){.value = NAN, .clock_hz = NAN};
            assert_int_equal(as_probe_c2c.sample(v.state, v.vc.min_reps, &s, &err), AS_OK);
            assert_true(s.value > 0 && s.seconds > 0);
        }
        assert_true(as_probe_c2c.check(v.state, why, sizeof why));
        toy_finish(&as_probe_c2c, &v);
        assert_int_equal(t.live, 0);
    }
}

static void test_lost_pass_is_seen(void **unused)
{
    struct toy t;
    struct toy_visit v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char why[128] = "";
    (void)unused;
    toy_init(&t, host_caps);
    toy_prepare(&t, &as_probe_c2c, "peer=cpu from=0 to=1 op=cas pairs=every", &v, NULL);
    t.lose_launches = 1;
    assert_int_equal(as_probe_c2c.sample(v.state, v.vc.min_reps, &s, &err), AS_OK);
    assert_false(as_probe_c2c.check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "was passed 0 times"));
    toy_finish(&as_probe_c2c, &v);
}

static void test_device_plays(void **unused)
{
    struct toy t;
    struct toy_visit v;
    struct as_error err = {0};
    char why[128] = "", axes[96];
    int cpus[2];
    (void)unused;
    need_two_cpus(cpus);
    toy_init(&t, device_caps);
    t.device_cpu = cpus[1];
    t.kernel = run_pingpong;
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=every", cpus[0]);
    toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
    for (int n = 0; n < 2; n++) {
        struct as_sample s = {.value = NAN};
        assert_int_equal(as_probe_c2c.sample(v.state, v.vc.min_reps, &s, &err), AS_OK);
        assert_true(s.value > 0);
    }
    assert_true(as_probe_c2c.check(v.state, why, sizeof why));
    toy_finish(&as_probe_c2c, &v);
    assert_int_equal(t.live, 0);
}

/* A device that never starts must cost a bounded wait and a reason, not a hang. */
static void test_silent_device(void **unused)
{
    struct toy t;
    struct toy_visit v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char axes[96];
    int cpus[2];
    (void)unused;
    find_cpus(cpus);
    toy_init(&t, device_caps);
    snprintf(axes, sizeof axes, "peer=device from=%d to=0 op=load pairs=every", cpus[0]);
    toy_prepare(&t, &as_probe_c2c, axes, &v, NULL);
    t.lose_launches = 1;
    assert_int_equal(as_probe_c2c.sample(v.state, v.vc.min_reps, &s, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "does not start"));
    toy_finish(&as_probe_c2c, &v);
}

/* The device's kernel ends by itself when the host never serves. */
static void test_device_gives_up(void **unused)
{
    static uint32_t memory[3 * 64];
    (void)unused;
    memset(memory, 0, sizeof memory);
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    pingpong(memory, 64, 2, 4, 1, 0, 9, 1000);
    assert_int_equal(memory[0], 9);
    assert_int_equal(memory[1], 1);
    assert_int_equal(memory[64], 0);
}

static void test_out_of_memory(void **unused)
{
    struct toy t;
    struct toy_visit v;
    struct as_error err = {0};
    (void)unused;
    toy_init(&t, host_caps);
    t.deny_memory = true;
    assert_int_equal(toy_prepare(&t, &as_probe_c2c, "peer=cpu from=0 to=1 op=cas pairs=every", &v, &err), AS_NOMEM);
    toy_finish(&as_probe_c2c, &v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),     cmocka_unit_test(test_one_cpu),
        cmocka_unit_test(test_threads_play),    cmocka_unit_test(test_lost_pass_is_seen),
        cmocka_unit_test(test_device_plays),    cmocka_unit_test(test_silent_device),
        cmocka_unit_test(test_device_gives_up), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
