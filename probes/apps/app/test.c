/* Probe app: its kernels on a toy device and on OpenCL against the references, and wrong results are detected. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_app;

_Thread_local struct as_host_item as_host_item;

#define hotspot kernel_hotspot
#include "probes/apps/app/app.kernel"
#undef hotspot

#define ARG(type, k) (*(const type *)args[k])
static const char *idle; /* a kernel that does nothing; NULL: none */
static bool is_damaged;  /* hotspot's output has one wrong bit */

static void run_kernel(const char *name, void *const *args)
{
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    if (idle && strcmp(name, idle) == 0)
        return;
    if (strcmp(name, "hotspot") == 0)
        kernel_hotspot(args[0], args[1], args[2], ARG(u32, 3));
    else if (strcmp(name, "nearest") == 0)
        nearest(args[0], args[1], ARG(u64, 2), ARG(u32, 3), ARG(u32, 4));
    else if (strcmp(name, "sum_inputs") == 0)
        sum_inputs(args[0], args[1], args[2], ARG(u64, 3), ARG(u32, 4));
    else if (strcmp(name, "adjust_weights") == 0)
        adjust_weights(args[0], args[1], args[2], args[3], ARG(u64, 4));
    else if (strcmp(name, "sum_squares") == 0)
        sum_squares(args[0], args[1], ARG(u64, 2), ARG(u32, 3));
    else if (strcmp(name, "derive") == 0)
        derive(args[0], args[1], args[2], args[3], ARG(u32, 4));
    else if (strcmp(name, "diffuse") == 0)
        diffuse(args[0], args[1], args[2], ARG(u32, 3));
    else if (strcmp(name, "lift") == 0)
        lift(args[0], args[1], ARG(u64, 2), ARG(u32, 3), ARG(u32, 4), ARG(u32, 5));
    else if (strcmp(name, "match") == 0)
        match(args[0], args[1], args[2], args[3], ARG(u32, 4), ARG(u32, 5));
    else
        fail_msg("no kernel '%s'", name);
    if (is_damaged && strcmp(name, "hotspot") == 0)
        ((i32 *)args[2])[5] ^= 1;
}

static void open_toy(struct toy *t)
{
    idle = NULL;
    is_damaged = false;
    toy_init(t, AS_CAP_SOURCE | AS_CAP_ASYNC);
    t->kernel = run_kernel;
    t->dev.info.allocators[0].host_access = true;
}

/* Is the result right? */
static bool check(struct toy *t, const char *app, const char *version)
{
    char axes[120], why[160] = "";
    struct toy_trial v;
    struct as_sample s = {0};
    snprintf(axes, sizeof axes, "app=%s version=%s allocator=toy size=1048576", app, version);
    toy_prepare(t, &as_probe_app, axes, &v, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(as_probe_app.sample(v.state, 1, &s, NULL), AS_OK);
    const bool right = as_probe_app.check(v.state, why, sizeof why);
    assert_true(s.value > 0);
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"transfer\""));
    toy_finish(&as_probe_app, &v);
    assert_int_equal(t->live, 0);
    return right;
}

static const char *const versions[] = {"explicit", "unified"};

UNIT_TEST(test_right)
{
    static const char *const apps[] = {"hotspot", "nn", "backprop", "srad_v1", "dwt2d", "heartwall"};
    for (size_t a = 0; a < sizeof apps / sizeof *apps; a++)
        for (size_t k = 0; k < 2; k++) {
            struct toy t;
            open_toy(&t);
            if (!check(&t, apps[a], versions[k]))
                fail_msg("%s %s is wrong", apps[a], versions[k]);
        }
}

UNIT_TEST(test_wrong)
{
    static const char *const idles[][2] = {
        {"hotspot", "hotspot"},         {"nn", "nearest"},          {"backprop", "sum_inputs"},
        {"backprop", "adjust_weights"}, {"srad_v1", "sum_squares"}, {"srad_v1", "derive"},
        {"srad_v1", "diffuse"},         {"dwt2d", "lift"},          {"heartwall", "match"}};
    struct toy t;
    for (size_t k = 0; k < 2; k++) {
        for (size_t a = 0; a < sizeof idles / sizeof *idles; a++) {
            open_toy(&t);
            idle = idles[a][1];
            assert_false(check(&t, idles[a][0], versions[k]));
        }
        open_toy(&t);
        is_damaged = true;
        assert_false(check(&t, "hotspot", versions[k]));
    }
    open_toy(&t);
    t.forget = true; /* copies from the device bring nothing */
    assert_false(check(&t, "hotspot", "explicit"));
    assert_true(check(&t, "hotspot", "unified")); /* there are none */
}

UNIT_TEST(test_which_cells)
{
    struct toy t;
    struct as_error err = {0};
    open_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_app, "app=nn version=unified allocator=upfront size=1048576", &err),
                     AS_INAPPLICABLE);
    assert_string_equal(err.text, "the CPU cannot access this memory");
    assert_int_equal(toy_applies(&t, &as_probe_app, "app=nn version=explicit allocator=upfront size=1048576", &err),
                     AS_APPLIES);
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    assert_int_equal(toy_applies(&t, &as_probe_app, "app=nn version=explicit allocator=upfront size=1048576", &err),
                     AS_PRUNED);
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(&as_probe_app, AS_CAP_SOURCE, "app=nn version=explicit allocator=toy size=1048576");
}

UNIT_TEST(test_opencl)
{
    static const char *const apps[] = {"hotspot", "nn", "backprop", "srad_v1", "dwt2d", "heartwall"};
    char axes[120];
    struct real r;
    for (size_t a = 0; a < sizeof apps / sizeof *apps; a++)
        for (size_t k = 0; k < 2; k++) {
            snprintf(axes, sizeof axes, "app=%s version=%s allocator=clCreateBuffer size=1048576", apps[a],
                     versions[k]);
            if (real_trial(&as_probe_app, "opencl", axes, 2, 1, &r))
                assert_true(r.sample.value > 0);
        }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),     cmocka_unit_test(test_wrong),  cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
