#include "scripted.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void require_ok(enum as_status st, const struct as_error *err, const char *what)
{
    if (!st)
        return;
    fprintf(stderr, "%s: %s\n", what, err->text);
    abort();
}

void scripted_open(struct scripted *s, const char *json)
{
    struct as_error err = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/assay-scripted-%d.json", (int)getpid());
    FILE *f = fopen(path, "w");
    if (!f || fputs(json, f) < 0 || fclose(f))
        abort();
    setenv("ASSAY_NULL", path, 1);
    require_ok(as_device_open("null", &s->opened, &err), &err, "opening");
    unlink(path);
    s->dev = &s->opened.device;
}

void scripted_close(struct scripted *s)
{
    as_device_close(&s->opened);
}

/* As the plan does: a value from a list of words has no number. */
static void make_axes(const struct as_probe *probe, const char *text, struct as_axes *axes)
{
    toy_axes(axes, text);
    for (size_t i = 0; i < axes->n; i++)
        if (as_probe_axis(probe, axes->v[i].name)->type == AS_AXIS_WORD)
            axes->v[i].number = NAN;
}

void scripted_trial(struct scripted *s, const struct as_probe *probe, const char *axes, int samples,
                    struct toy_trial *v, double *value)
{
    struct as_error err = {0};
    *v = (struct toy_trial){0};
    make_axes(probe, axes, &v->axes);
    v->tc = (struct as_trial_context){.dev = s->dev,
                                      .axes = &v->axes,
                                      .seed = 11,
                                      .deadline = as_now() + 0.05,
                                      .limit = NAN,
                                      .min_reps = 1,
                                      .max_reps = UINT64_C(1) << 40};
    require_ok(as_probe_prepare(probe, &v->tc, &v->state, &err), &err, probe->name);
    for (int i = 0; i < samples; i++) {
        struct as_sample sample = {.value = NAN, .clock_hz = NAN};
        require_ok(probe->sample(v->state, 1, &sample, &err), &err, probe->name);
        *value = sample.value;
    }
}

bool scripted_check(struct scripted *s, const struct as_probe *probe, const char *axes, int samples, double *value,
                    char *why, size_t why_size)
{
    struct toy_trial v;
    scripted_trial(s, probe, axes, samples, &v, value);
    bool right = probe->check(v.state, why, why_size);
    toy_finish(probe, &v);
    return right;
}

enum as_applies scripted_applies(const struct scripted *s, const struct as_probe *probe, const char *axes,
                                 struct as_error *err)
{
    struct as_axes a;
    make_axes(probe, axes, &a);
    return probe->applies(&s->dev->info, &a, err);
}
