#include "atomics_trial.h"
#include "tests/unit_test.h"

#include "device/dialect/host_prelude.h"
#include "scripted_clock.h"

#include <math.h>
#include <sched.h>
#include <string.h>

#define VALUE u64
#define ELEMENT atomic_u64
#define ADD ATOMIC_ADD_U64
#define HAS_ADD HAVE_ATOMIC_ADD_U64
#define ORDER ORDER_RELAXED
#define SCOPE SCOPE_SYSTEM
#define PLAIN 0
#define NEEDS_ORDER 1
#define NEEDS_SEQ_CST 0
#define NEEDS_SYSTEM 1
#define CONTROL_WORDS 16
#define CONTROL_SCOPE SCOPE_SYSTEM
_Thread_local struct as_host_item as_host_item;
#include "lib/atomics/atomics.kernel"

struct atomics_faults atomics_planted;

static void run_histogram(void *const *a)
{
    const uint64_t *first = a[2], *elements = a[3], *seed = a[4];
    const uint32_t *batch = a[5], *batches = a[6];
    const uint32_t group = atomics_planted.threads < 64 ? (uint32_t)atomics_planted.threads : 64;
    for (uint32_t g = 0; g < atomics_planted.threads / group; g++)
        for (uint32_t t = 0; t < group; t++) {
            as_host_item = (struct as_host_item){t, group, g, (uint32_t)atomics_planted.threads / group, NULL};
            if (atomics_planted.idle && t == 1)
                continue;
            histogram(a[0], a[1], *first + atomics_planted.next_element, *elements, *seed, *batch,
                      *batches - atomics_planted.lazy);
        }
}

static void run_kernel(const char *name, void *const *args)
{
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    if (strcmp(name, "histogram") == 0) {
        run_histogram(args);
        return;
    }
    assert_string_equal(name, "able");
    able(args[0]);
    if (atomics_planted.unable)
        memset(args[0], 0, sizeof(uint32_t));
}

void atomics_toy(struct toy *t, size_t threads)
{
    atomics_planted = (struct atomics_faults){.threads = threads};
    toy_init(t, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_FP64);
    t->kernel = run_kernel;
    t->dev.info.compute_units = 4;
    t->dev.info.allocators[0].host_access = true;
}

void atomics_begin(struct atomics_one *o, struct as_device *dev, const char *axes)
{
    *o = (struct atomics_one){0};
    toy_axes(&o->trial.axes, axes);
    o->trial.tc = (struct as_trial_context){.dev = dev,
                                            .axes = &o->trial.axes,
                                            .seed = 11,
                                            .deadline = as_now() + 1,
                                            .limit = NAN,
                                            .min_reps = 1,
                                            .max_reps = UINT64_C(1) << 40};
}

/* The agents being timed. Rates are taken over a sleep. On a loaded machine an agent may not run in it, so the sleep
 * lasts until each has. */
static const struct as_atomics *sampled;
static void sleep_until_all_ran(double seconds)
{
    const struct as_atomics *s = seconds < 1e-3 ? NULL : sampled;
    const uint64_t cpu = s && s->cpu ? as_atomics_cpu_count(s->cpu) : 0;
    const uint64_t device = s && s->device ? as_atomics_device_count(s->device) : 0;
    while (s && ((s->cpu && as_atomics_cpu_count(s->cpu) == cpu) ||
                 (s->device && as_atomics_device_count(s->device) == device)))
        sched_yield();
}

void atomics_trial_in(struct atomics_one *o, struct as_device *dev, const struct as_probe *probe, const char *axes,
                      const char *allocator)
{
    atomics_begin(o, dev, axes);
    if (allocator)
        assert_int_equal(as_axes_add(&o->trial.axes, "allocator", allocator, NULL), AS_OK);
    o->status = as_probe_prepare(probe, &o->trial.tc, &o->trial.state, &o->err);
    sampled = probe == &as_probe_atomics ? o->trial.state : NULL; /* its state begins with them */
    clock_on_sleep = sleep_until_all_ran;
    if (!o->status)
        o->status = probe->sample(o->trial.state, 1, &o->sample, &o->err);
    sampled = NULL;
    if (!o->status)
        o->passed = probe->check(o->trial.state, o->why, sizeof o->why);
    o->by_lse = strstr(as_buf_get(&o->trial.tc.detail), "\"lse\":1") != NULL;
    toy_finish(probe, &o->trial);
}

void atomics_trial(struct atomics_one *o, struct as_device *dev, const struct as_probe *probe, const char *axes)
{
    atomics_trial_in(o, dev, probe, axes, NULL);
}

void atomics_expect(const struct toy *t, const struct as_probe *probe, const char *axes, enum as_applies want,
                    const char *why)
{
    struct as_error err = {0};
    if (toy_applies(t, probe, axes, &err) != want)
        fail_msg("%s %s: %s", probe->name, axes, err.text);
    if (why && !strstr(err.text, why))
        fail_msg("%s %s says '%s', not '%s'", probe->name, axes, err.text, why);
}

const char *atomics_open_shared_or_skip(struct as_opened *cl)
{
    atomics_open_or_skip("opencl", cl);
    const struct as_allocator *fine = as_info_allocator(&cl->device.info, "clSVMAlloc fine");
    if (fine && !fine->why_not[0] && !fine->no_sharing[0])
        return fine->name;
    as_device_close(cl);
    print_message("skipped: no memory in which atomics of the CPU and of this device meet\n");
    skip();
    return NULL;
}

void atomics_open_or_skip(const char *id, struct as_opened *dev)
{
    struct as_error err = {0};
    if (as_device_open(id, dev, &err) == AS_OK)
        return;
    print_message("skipped: %s\n", err.text);
    skip();
}
