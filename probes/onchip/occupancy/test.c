/* Probe occupancy: which cells apply, trials on OpenCL where available, and meetings on a toy device with a known
 * capacity. */
#include "lib/kernel_timer/kernel_timer.h"
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_occupancy;

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    assert_int_equal(toy_applies(&t, &as_probe_occupancy, "threads=64 values=0 shared=65536", &err), AS_PRUNED);
}

enum { UNITS = 10, VALUES = 3, THREADS = 64 };
static struct toy toy;
static size_t resident; /* of the whole device */
static size_t lost;     /* 1 + number of a workgroup that does not run; 0: none */
static bool spoilt;     /* plants a wrong sum */

static void meet(const char *name, void *const *args)
{
    const uint32_t *in = args[0];
    uint32_t *sums = args[1], *meeting = args[2];
    assert_string_equal(name, "meet");
    for (size_t g = 0; g < toy.workgroups; g++)
        for (size_t t = 0; t < THREADS && g + 1 != lost; t++) {
            uint32_t sum = 0;
            for (size_t v = 0; v < VALUES; v++)
                sum += in[v * THREADS + t];
            sums[g * THREADS + t] = sum + spoilt;
        }
    meeting[0] = (uint32_t)(toy.workgroups - (lost > 0));
    meeting[1] = toy.workgroups > resident;
}

static bool found(double *value)
{
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    char why[160];
    kernel_timer_toy(&toy);
    toy.kernel = meet;
    toy.dev.info.capabilities = AS_CAP_SOURCE;
    toy.dev.info.compute_units = UNITS;
    toy.dev.info.is_host_cpu = false;
    toy_prepare(&toy, &as_probe_occupancy, "threads=64 values=3 shared=0", &v, NULL);
    assert_int_equal(as_probe_occupancy.sample(v.state, 1, &out, &err), AS_OK);
    const bool good = as_probe_occupancy.check(v.state, why, sizeof why);
    *value = out.value;
    toy_finish(&as_probe_occupancy, &v);
    assert_int_equal(toy.live, 0);
    return good;
}

UNIT_TEST(test_meetings)
{
    static const struct {
        size_t resident;
        double value;
    } cases[] = {{640, 64}, {9999, 128}, {1280, 128}, {1279, 127}, {480, 48}, {489, 48},
                 {10, 1},   {19, 1},     {9, 0.9},    {2, 0.2},    {0, 0}};
    double value;
    lost = 0, spoilt = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        resident = cases[i].resident;
        assert_true(found(&value));
        assert_true(value == cases[i].value);
    }
}

UNIT_TEST(test_wrong)
{
    double value;
    resident = 480;
    lost = 3;
    assert_false(found(&value));
    lost = 0, spoilt = true;
    assert_false(found(&value));
    spoilt = false;
}

/* Workgroups that stay on compute units of 228 KiB, allocated in pieces of 128 B and 1 KiB more: as many as fit start
 * at once, the others after them. */
static void stay(const char *name, void *const *args)
{
    enum { CAPACITY = 228 << 10, GRAIN = 128, MORE = 1 << 10, STAY = 1000 };
    struct as_record *record = args[0];
    const size_t piece = (toy.shared_bytes + GRAIN - 1) / GRAIN * GRAIN + MORE, fit = CAPACITY / piece;
    if (strcmp(name, "stay") != 0)
        return;
    for (size_t g = 0; g < toy.workgroups; g++) {
        const size_t unit = g % UNITS, start = g / UNITS / fit * STAY;
        record[g] = (struct as_record){.unit = 1 + unit,
                                       .has = AS_HAS_CYCLES | AS_HAS_UNIT | AS_HAS_SHARED,
                                       .cycles = STAY,
                                       .start = start,
                                       .end = start + STAY};
    }
    memset(args[2], 0, toy.workgroups * 32 * sizeof(uint32_t));
}

/* The request at which one workgroup fewer is resident is found to the byte that the device allocates. */
UNIT_TEST(test_step)
{
    static const struct {
        const char *axes;
        double workgroups;
        const char *notes;
    } cases[] = {
        {"threads=32 values=0 shared=7000", 28, "\"shared_most\":7296,\"shared_over\":7312"},
        {"threads=32 values=0 shared=32768", 6, "\"shared_most\":37888,\"shared_over\":37904"},
        {"threads=32 values=0 shared=180000", 1, "\"shared_most\":232448"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy_trial v;
        struct as_error err = {0};
        struct as_sample out;
        kernel_timer_toy(&toy);
        toy.kernel = stay;
        toy.dev.info.compute_units = UNITS;
        toy.dev.info.workgroup_shared = 227 << 10;
        toy_prepare(&toy, &as_probe_occupancy, cases[i].axes, &v, NULL);
        assert_int_equal(as_probe_occupancy.sample(v.state, 1, &out, &err), AS_OK);
        assert_true(out.value == cases[i].workgroups);
        if (!strstr(as_buf_get(&v.tc.detail), cases[i].notes))
            fail_msg("%s: %s, not %s", cases[i].axes, as_buf_get(&v.tc.detail), cases[i].notes);
        toy_finish(&as_probe_occupancy, &v);
        assert_int_equal(toy.live, 0);
    }
}

UNIT_TEST(test_runs)
{
    static const struct kernel_timer_trial trials[] = {
        {"threads=64 values=0 shared=0", 1},
        {"threads=32 values=24 shared=5000", 1},
    };
    kernel_timer_trials("occupancy", trials, sizeof trials / sizeof *trials);
}

UNIT_TEST(test_cpu)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    t.dev.info.capabilities = AS_CAP_SOURCE;
    t.dev.info.is_host_cpu = true;
    assert_int_equal(toy_applies(&t, &as_probe_occupancy, "threads=64 values=0 shared=0", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "one workgroup at a time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies), cmocka_unit_test(test_meetings), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_cpu),     cmocka_unit_test(test_step),     cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
