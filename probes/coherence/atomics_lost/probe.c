/* atomics_lost: how many of a fixed number of updates are lost. See method.md. */
#include "lib/atomics/atomics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TOTAL_MOST = 1 << 22, /* below 2^24, up to which f32 counts exactly */
    TOTAL_LEAST = 1 << 10,
    TRIAL_EACH = 1024,      /* per device thread, to measure its rate */
    COMPARED_MOST = 1 << 20 /* elements checked one by one */
};
static const double RUN_S = 0.06, TRIAL_S = 0.01;

static const char *const op_words[] = {"add", "plain", NULL};
static const struct as_axis axes[] = {
    ATOMICS_AXES("the side that makes updates; concurrent updates have one measurement, the device's"),
    AS_WORD_AXIS("op", op_words, "add", "an atomic addition, or the control: a load, an addition and a store"),
    {0},
};
static const char *const quick[] = {
    "agent=cpu elements=1,1024 type=u32,u64,f32,f64 cpu_threads=2 device_threads=0 allocator=first op=all",
    "agent=device elements=1,1024 type=u32,u64,f32,f64 cpu_threads=0 device_threads=4096,128 scope=all "
    "allocator=first op=add",
    "agent=device elements=1,1024 type=u32,u64,f32,f64 cpu_threads=2 device_threads=4096,128 scope=all "
    "allocator=all op=add",
    "agent=device elements=1 type=u64 cpu_threads=2 device_threads=4096,128 scope=all allocator=all op=plain",
    NULL,
};
static const char *const full[] = {
    "agent=cpu elements=1,1024,1048576,1073741824 type=all cpu_threads=2,8,32,128 device_threads=0 order=all "
    "allocator=all op=all",
    "agent=device elements=1,1024,1048576,1073741824 type=all cpu_threads=0,1,2,8,32,128 "
    "device_threads=64,128,4096,65536 "
    "scope=all order=all allocator=all op=all",
    NULL,
};

struct state {
    struct as_atomics both; /* first: the record's finish casts to it */
    struct as_trial_context *tc;
    uint64_t cpu_each, device_each; /* 0: not chosen yet */
    uint64_t made, in_sum;          /* of the last run */
    bool missing;                   /* one agent did not make its updates */
};

static enum as_applies atomics_lost_applies(const struct as_device_info *info, const struct as_axes *a,
                                            struct as_error *err)
{
    bool both = as_axes_u64(a, "cpu_threads") > 0 && as_axes_u64(a, "device_threads") > 0;
    if (both && as_word_is(a, "agent", "cpu"))
        return AS_PRUNED; /* one sum over both agents */
    if (as_word_is(a, "op", "plain") && as_word_is(a, "order", "seq_cst"))
        return AS_PRUNED;
    return as_atomics_applies(info, a, both, true, err);
}

/* Approximate update rate of each agent. A device without host-visible counters is timed by its second launch. */
static enum as_status try_speed(struct as_atomics *s, struct as_atomics_rates *out, struct as_error *err)
{
    double seconds;
    if (s->cpu)
        return as_atomics_rate(s, TRIAL_S, out, err);
    enum as_status st = as_atomics_run(s, 0, TRIAL_EACH, &seconds, err);
    if (!st)
        st = as_atomics_run(s, 0, TRIAL_EACH, &seconds, err);
    *out = (struct as_atomics_rates){.cpu = (double)s->last.cpu / seconds, .device = (double)s->last.device / seconds};
    return st;
}

static uint64_t each_of(double share, uint64_t threads)
{
    double each = threads ? floor(share / (double)threads) : 0;
    return each >= 1 ? (uint64_t)each : 1;
}

/* The number of updates: a power of two that takes at most RUN_S, split so that both agents end together. */
static enum as_status choose_total(struct state *s, struct as_error *err)
{
    struct as_atomics_rates r;
    enum as_status st = try_speed(&s->both, &r, err);
    if (st)
        return st;
    double all = r.cpu + r.device, total = TOTAL_MOST;
    while (total > TOTAL_LEAST && total > all * RUN_S)
        total /= 2;
    s->cpu_each = each_of(total * r.cpu / all, s->both.cpu_threads);
    s->device_each = each_of(total * r.device / all, s->both.device_threads);
    if (s->both.device)
        s->device_each = as_atomics_device_whole(s->both.device, s->device_each);
    as_note_number(s->tc, "updates_by_cpu", (double)s->both.cpu_threads * (double)s->cpu_each);
    as_note_number(s->tc, "updates_by_device", (double)s->both.device_threads * (double)s->device_each);
    return AS_OK;
}

static enum as_status atomics_lost_prepare(struct as_trial_context *tc, void *state, struct as_error *err)
{
    struct state *s = state;
    enum as_status st = as_atomics_prepare(&s->both, tc, as_word_is(tc->axes, "op", "plain"), false, err);
    s->tc = tc;
    return st;
}

static enum as_status atomics_lost_sample(void *state, uint64_t reps, struct as_sample *out, struct as_error *err)
{
    struct state *s = state;
    struct as_atomics *b = &s->both;
    (void)reps; /* always 1 */
    enum as_status st = s->cpu_each ? AS_OK : choose_total(s, err);
    if (!st)
        st = as_atomics_array_clear(&b->array, err);
    if (!st)
        st = as_atomics_run(b, s->cpu_each, s->device_each, &out->seconds, err);
    if (!st)
        st = as_atomics_array_sum(&b->array, &s->in_sum, err);
    if (st)
        return st;
    s->made = b->last.cpu + b->last.device;
    s->missing |= s->made != b->cpu_threads * s->cpu_each + b->device_threads * s->device_each;
    out->value = s->made > s->in_sum ? (double)(s->made - s->in_sum) : 0;
    out->further[0] = (struct as_sample_number){"lost_share", 100 * out->value / (double)s->made};
    return AS_OK;
}

/* ---- upper bounds of the elements ---- */

static void replay(uint32_t *most, const struct as_atomics *b, uint64_t thread, uint64_t each)
{
    struct as_atomics_draw r;
    as_atomics_draw_start(&r, b->seed, thread);
    for (uint64_t i = 0; i < each; i++)
        most[atomics_draw_next(&r, b->array.elements)]++;
}

/* Repeats the draws on the host: no element may exceed its count, and the difference of the sums is the number of lost
 * updates. */
static enum as_status atomics_lost_compare(struct state *s, uint64_t *short_by, struct as_error *err)
{
    struct as_atomics *b = &s->both;
    uint32_t *most = calloc(b->array.elements, sizeof *most);
    if (!most)
        return as_nomem(err, b->array.elements * sizeof *most, "the reference");
    for (unsigned t = 0; b->cpu && t < b->cpu_threads; t++)
        replay(most, b, ATOMICS_CPU_THREAD + t, s->cpu_each);
    for (size_t t = 0; b->device && t < b->device_threads; t++)
        replay(most, b, t, s->device_each);
    enum as_status st = as_atomics_array_compare(&b->array, most, short_by, err);
    free(most);
    return st;
}

static bool atomics_lost_check(void *state, char *why, size_t why_size)
{
    struct state *s = state;
    struct as_error err = {0};
    uint64_t short_by = s->made - s->in_sum;
    enum as_status st = as_atomics_array_guards(&s->both.array, &err);
    if (!st && s->both.array.elements <= COMPARED_MOST)
        st = atomics_lost_compare(s, &short_by, &err);
    if (st)
        snprintf(why, why_size, "%s", err.text);
    else if (s->missing)
        snprintf(why, why_size, "not all requested updates were made");
    else if (s->in_sum > s->made || short_by != s->made - s->in_sum)
        snprintf(why, why_size, "%llu updates were made, %llu are in the sum, but the elements lack %llu",
                 (unsigned long long)s->made, (unsigned long long)s->in_sum, (unsigned long long)short_by);
    else {
        snprintf(why, why_size, "%llu of %llu updates are in the array, none in an element that was not drawn",
                 (unsigned long long)s->in_sum, (unsigned long long)s->made);
        return true;
    }
    return false;
}

static const struct as_metric further[] = {
    {"lost_share", "%", true, "of the updates made in the sample; trials differ in how many they make", NULL}, {0}};

const struct as_probe as_probe_atomics_lost = {
    .name = "atomics_lost",
    .title = "Lost updates",
    .question = "Are atomic updates lost when CPU and device, or threads of either, update the same memory?",
    .metric = "lost updates",
    .unit = "updates",
    .lower_is_better = true,
    .counts = "lost updates: additions of 1 missing from the array's sum, out of a fixed number",
    .further = further,
    AS_CELLS(axes, quick, full, atomics_lost_applies),
    .kernel_reaches = as_atomics_by_device,
    .patience = as_atomics_patience,
    AS_TRIAL(struct state, atomics_lost_prepare, atomics_lost_sample, atomics_lost_check, as_atomics_finish),
};
