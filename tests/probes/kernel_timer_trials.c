#include "kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

void kernel_timer_toy(struct toy *t)
{
    toy_init(t, AS_CAP_SOURCE | AS_CAP_CYCLES);
    t->dev.info.warp = 32;
    t->dev.info.compute_units = 132;
    t->dev.info.threads = 1024;
    t->dev.info.workgroup_shared = 48 << 10;
    t->dev.info.is_host_memory = false;
}

/* A device without cycle counters or unit ids ends a trial that needs them with one of these, and a busy host one that
 * subtracts times with the last. */
static bool is_excused(const char *text)
{
    static const char *const excuses[] = {"no cycle counter",
                                          "no unit id",
                                          "size of a kernel's code",
                                          "kernels have no unit id",
                                          "cannot request dynamic shared memory",
                                          "takes no longer than without"};
    for (size_t i = 0; i < sizeof excuses / sizeof *excuses; i++)
        if (strstr(text, excuses[i]))
            return true;
    return false;
}

static void trial(struct as_device *dev, const char *name, const struct kernel_timer_trial *v)
{
    const struct as_probe *probe = as_probe_find(name);
    struct as_axes axes;
    struct as_error err = {0};
    struct as_sample out = {.value = NAN};
    void *state = NULL;
    char why[160] = "";
    toy_axes(&axes, v->axes);
    if (probe->applies(&dev->info, &axes, &err) == AS_INAPPLICABLE) {
        print_message("%s %s: %s\n", name, v->axes, err.text);
        return;
    }
    struct as_trial_context tc = {.dev = dev,
                                  .axes = &axes,
                                  .seed = 7,
                                  .deadline = as_now() + 60,
                                  .limit = NAN,
                                  .min_reps = 1,
                                  .max_reps = UINT64_C(1) << 40};
    enum as_status st = as_probe_prepare(probe, &tc, &state, &err);
    bool prepared = st == AS_OK;
    for (int i = 0; i < 2 && !st; i++)
        st = probe->sample(state, v->reps, &out, &err);
    if (st && !is_excused(err.text))
        fail_msg("%s %s: %s", name, v->axes, err.text);
    if (!st)
        assert_true(isfinite(out.value) && out.value > 0 && out.seconds > 0);
    if (prepared && !probe->check(state, why, sizeof why))
        fail_msg("%s %s: %s", name, v->axes, why);
    print_message("%s %s: %s\n", name, v->axes, st ? err.text : why);
    as_probe_finish(probe, state);
    as_buf_finish(&tc.detail);
}

void kernel_timer_trials(const char *probe, const struct kernel_timer_trial *trials, size_t n)
{
    struct as_opened opened;
    struct as_error err = {0};
    if (as_device_open("opencl:0", &opened, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    for (size_t i = 0; i < n; i++)
        trial(&opened.device, probe, &trials[i]);
    as_device_close(&opened);
}
