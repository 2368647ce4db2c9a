#include "real_device.h"
#include "tests/unit_test.h"

#include "base/text.h"
#include "toy_device.h"

#include <malloc.h>
#include <math.h>
#include <string.h>

static size_t measured;

void real_leave_untouched(void)
{
    (void)mallopt(M_PERTURB, 0);
}

static enum as_status measure(const struct as_probe *probe, struct as_trial_context *tc, int samples, uint64_t reps,
                              struct real *out, struct as_error *err)
{
    void *state = NULL;
    char why[160] = "";
    enum as_status st = as_probe_prepare(probe, tc, &state, err);
    for (int i = 0; i < samples && !st; i++)
        st = probe->sample(state, reps, &out->sample, err);
    if (!st && !probe->check(state, why, sizeof why))
        st = as_fail(err, AS_FAILED, "%s", why);
    as_probe_finish(probe, state);
    return st;
}

/* Does the probe itself know it, as the stack's memory? */
static bool is_own_word(const struct as_probe *probe, const char *allocator)
{
    for (const struct as_axis *axis = probe->axes; axis->name; axis++)
        for (size_t i = 0; strcmp(axis->name, "allocator") == 0 && axis->words && axis->words[i]; i++)
            if (strcmp(axis->words[i], allocator) == 0)
                return true;
    return false;
}

bool real_trial(const struct as_probe *probe, const char *device, const char *axes_text, int samples, uint64_t reps,
                struct real *out)
{
    struct as_opened opened;
    struct as_axes axes;
    struct as_error err = {0};
    *out = (struct real){.sample = {.value = NAN}};
    enum as_status st = as_device_open(device, &opened, &err);
    if (st) {
        print_message("skipped: %s\n", err.text);
        return false;
    }
    toy_axes(&axes, axes_text);
    const struct as_allocator *a = as_info_allocator(&opened.device.info, as_axes_text(&axes, "allocator"));
    if (a ? a->why_not[0] != 0 : !is_own_word(probe, as_axes_text(&axes, "allocator")))
        st = as_fail(&err, AS_UNSUPPORTED, "%s", a ? a->why_not : "no such allocator");
    else if (probe->applies(&opened.device.info, &axes, &err) != AS_APPLIES)
        st = AS_UNSUPPORTED;
    struct as_trial_context tc = {
        .dev = &opened.device, .axes = &axes, .seed = 7, .deadline = as_now() + 1, .limit = NAN};
    if (!st)
        st = measure(probe, &tc, samples, reps, out, &err);
    as_copy_text(out->detail, sizeof out->detail, as_buf_get(&tc.detail));
    as_buf_finish(&tc.detail);
    as_device_close(&opened);
    if (st == AS_UNSUPPORTED)
        print_message("skipped: %s %s: %s\n", device, axes_text, err.text);
    else if (st)
        fail_msg("%s %s: %s", device, axes_text, err.text);
    measured += st == AS_OK;
    return st == AS_OK;
}

bool real_was_disturbed(enum as_status st, const struct as_error *err)
{
    return st == AS_UNSUPPORTED && strstr(err->text, "take no longer than");
}

void real_or_skip(void)
{
    size_t n = measured;
    measured = 0;
    if (n)
        return;
    print_message("skipped: none of its cells could be measured here, for the reasons above\n");
    skip();
}
