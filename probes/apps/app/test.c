/* Probe app: its kernels on a toy device and on OpenCL against the references, and wrong results are detected. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "app.h"

#include <math.h>
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
static bool check_strategy(struct toy *t, const char *app, const char *version, const char *strategy)
{
    char axes[160], why[160] = "";
    struct toy_trial v;
    struct as_sample s = {0};
    snprintf(axes, sizeof axes, "app=%s version=%s strategy=%s allocator=toy size=1048576", app, version, strategy);
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

static bool check(struct toy *t, const char *app, const char *version)
{
    return check_strategy(t, app, version, "none");
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

/* What each strategy allocates, copies and reads in place gives the same result. */
UNIT_TEST(test_strategies)
{
    static const char *const cells[][3] = {
        {"heartwall", "unified", "double-buffering"},
        {"heartwall", "unified", "static"},
        {"nn", "explicit", "memory-check"},
        {"nn", "unified", "memory-check"},
        {"nn", "explicit", "hidden-allocator"},
        {"nn", "unified", "hidden-allocator"},
        {"dwt2d", "explicit", "partial-transfers"},
        {"srad_v1", "unified", "stack"},
        {"hotspot", "unified", "static"},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct toy t;
        open_toy(&t);
        t.dev.info.allocators[1].role = AS_ROLE_PAGEABLE;
        if (!check_strategy(&t, cells[i][0], cells[i][1], cells[i][2]))
            fail_msg("%s %s with %s is wrong", cells[i][0], cells[i][1], cells[i][2]);
        idle = strcmp(cells[i][0], "nn") == 0 ? "nearest" : "derive";
        if (strcmp(cells[i][0], "nn") == 0 || strcmp(cells[i][2], "stack") == 0)
            assert_false(check_strategy(&t, cells[i][0], cells[i][1], cells[i][2]));
    }
}

/* The allocations of a sample: the array that grows is allocated again at each doubling, and beside a strategy runs the
 * same without it. */
UNIT_TEST(test_allocations)
{
    static const struct {
        const char *axes;
        unsigned allocations;
    } runs[] = {
        {"app=nn version=unified strategy=none allocator=toy size=1048576", 2},
        {"app=nn version=unified strategy=hidden-allocator allocator=toy size=1048576", 2 + 5 + 2},
        {"app=nn version=explicit strategy=hidden-allocator allocator=toy size=1048576", 2 + 2},
        {"app=heartwall version=unified strategy=none allocator=toy size=1048576", 4},
        {"app=heartwall version=unified strategy=double-buffering allocator=toy size=1048576", 5 + 4},
        {"app=nn version=unified strategy=static allocator=toy size=1048576", 1 + 2}, /* one block, and its parts */
        {"app=nn version=host strategy=none allocator=toy size=1048576", 0},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        char why[160];
        open_toy(&t);
        toy_prepare(&t, &as_probe_app, runs[i].axes, &v, NULL);
        const unsigned before = t.allocations;
        assert_int_equal(as_probe_app.sample(v.state, 1, &s, NULL), AS_OK);
        assert_int_equal(t.allocations - before, runs[i].allocations);
        assert_true(as_probe_app.check(v.state, why, sizeof why));
        toy_finish(&as_probe_app, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_memory_check)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    open_toy(&t);
    toy_prepare(&t, &as_probe_app, "app=nn version=unified strategy=memory-check allocator=toy size=4194304", &v, NULL);
    t.free_bytes = 3 << 20; /* taken by another program since */
    assert_int_equal(as_probe_app.sample(v.state, 1, &s, &err), AS_NOMEM);
    assert_string_equal(err.text, "the application needs 4.00 MiB, and 3 MiB are free");
    toy_finish(&as_probe_app, &v);
    assert_int_equal(t.live, 0);
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
    assert_int_equal(
        toy_applies(&t, &as_probe_app, "app=nn version=unified strategy=none allocator=upfront size=1048576", &err),
        AS_INAPPLICABLE);
    assert_string_equal(err.text, "the CPU cannot access this memory");
    assert_int_equal(
        toy_applies(&t, &as_probe_app, "app=nn version=explicit strategy=none allocator=upfront size=1048576", &err),
        AS_APPLIES);
    assert_int_equal(
        toy_applies(&t, &as_probe_app, "app=nn version=host strategy=none allocator=upfront size=1048576", &err),
        AS_APPLIES);
    static const char *const none[] = {
        "app=hotspot version=explicit strategy=double-buffering allocator=toy size=1048576",
        "app=nn version=unified strategy=static allocator=toy size=1048576",
        "app=nn version=host strategy=memory-check allocator=toy size=1048576"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(toy_applies(&t, &as_probe_app, none[i], &err), AS_PRUNED);
    static const char stack[] = "app=srad_v1 version=unified strategy=stack allocator=toy size=1048576";
    assert_int_equal(toy_applies(&t, &as_probe_app, stack, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "its kernels cannot access the host's stack");
    t.dev.info.allocators[1].role = AS_ROLE_PAGEABLE;
    assert_int_equal(toy_applies(&t, &as_probe_app, stack, &err), AS_APPLIES);
    t.dev.info.allocators[0].role = AS_ROLE_MANAGED_STATIC;
    assert_int_equal(toy_applies(&t, &as_probe_app, none[1], &err), AS_APPLIES);
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    assert_int_equal(
        toy_applies(&t, &as_probe_app, "app=nn version=explicit strategy=none allocator=upfront size=1048576", &err),
        AS_PRUNED);
}

/* A rise that is smaller than the arrays is that of other processes. */
UNIT_TEST(test_peaks)
{
    struct app_run r = {.arrays = {{.bytes = 100}, {.bytes = 50, .scratch = true}}};
    assert_true(as_app_peak_is_whole(&r, 250) && as_app_peak_is_whole(&r, 240) && as_app_peak_is_whole(&r, 9000));
    assert_false(as_app_peak_is_whole(&r, 150) || as_app_peak_is_whole(&r, NAN) || as_app_peak_is_whole(&r, 0));
    r.unified = true;
    assert_true(as_app_peak_is_whole(&r, 150));
    assert_false(as_app_peak_is_whole(&r, 75));
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(&as_probe_app, AS_CAP_SOURCE,
                        "app=nn version=explicit strategy=none allocator=toy size=1048576");
}

UNIT_TEST(test_opencl)
{
    static const char *const apps[] = {"hotspot", "nn", "backprop", "srad_v1", "dwt2d", "heartwall"};
    char axes[120];
    struct real r;
    for (size_t a = 0; a < sizeof apps / sizeof *apps; a++)
        for (size_t k = 0; k < 2; k++) {
            snprintf(axes, sizeof axes, "app=%s version=%s strategy=none allocator=clCreateBuffer size=1048576",
                     apps[a], versions[k]);
            if (real_trial(&as_probe_app, "opencl", axes, 2, 1, &r))
                assert_true(r.sample.value > 0);
        }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategies), cmocka_unit_test(test_allocations), cmocka_unit_test(test_memory_check),
        cmocka_unit_test(test_right),      cmocka_unit_test(test_wrong),       cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_peaks),       cmocka_unit_test(test_opencl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
