#include "real_device.h"

#include "base/text.h"
#include "toy_device.h"

#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static size_t measured;

void real_leave_untouched(void)
{
    (void)mallopt(M_PERTURB, 0);
}

static enum as_status measure(const struct as_probe *probe, struct as_trial_context *vc, int samples, uint64_t reps,
                              struct real *out, struct as_error *err)
{
    void *state = NULL;
    char why[160] = "";
    enum as_status s = as_probe_prepare(probe, vc, &state, err);
    for (int i = 0; i < samples && !s; i++)
        s = probe->sample(state, reps, &out->sample, err);
    if (!s && !probe->check(state, why, sizeof why))
        s = as_fail(err, AS_FAILED, "%s", why);
    as_probe_finish(probe, state);
    return s;
}

bool real_trial(const struct as_probe *probe, const char *device, const char *axes_text, int samples, uint64_t reps,
                struct real *out)
{
    struct as_opened opened;
    struct as_axes axes;
    struct as_error err = {0};
    *out = (struct real){.sample = {.value = NAN}};
    enum as_status s = as_device_open(device, &opened, &err);
    if (s) {
        print_message("skipped: %s\n", err.text);
        return false;
    }
    toy_axes(&axes, axes_text);
    const struct as_allocator *a = as_info_allocator(&opened.device.info, as_axes_text(&axes, "allocator"));
    if (!a || a->why_not[0])
        s = as_fail(&err, AS_UNSUPPORTED, "%s", a ? a->why_not : "no such allocator");
    else if (probe->applies(&opened.device.info, &axes, &err) != AS_APPLIES)
        s = AS_UNSUPPORTED;
    struct as_trial_context vc = {
        .dev = &opened.device, .axes = &axes, .seed = 7, .deadline = as_now() + 1, .limit = NAN};
    if (!s)
        s = measure(probe, &vc, samples, reps, out, &err);
    as_copy_text(out->detail, sizeof out->detail, as_buf_get(&vc.detail));
    as_buf_finish(&vc.detail);
    as_device_close(&opened);
    if (s == AS_UNSUPPORTED)
        print_message("skipped: %s %s: %s\n", device, axes_text, err.text);
    else if (s)
        fail_msg("%s %s: %s", device, axes_text, err.text);
    measured += s == AS_OK;
    return s == AS_OK;
}

bool real_was_disturbed(enum as_status status, const struct as_error *err)
{
    return status == AS_UNSUPPORTED && strstr(err->text, "take no longer than");
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
