#include "c2c_toy.h"
#include "tests/unit_test.h"

#include "base/clock.h"
#include "device/dialect/host_prelude.h"
#include "lib/kernel_timer/kernel_timer.h"

#include <pthread.h>

/* Both programs of the probe, as it builds them, with an abridged head of the timed one. */
#define SCOPE SCOPE_DEVICE
#define TAKE ORDER_ACQUIRE
#define GIVE ORDER_RELEASE
#define CYCLES_NOW() 0
#define NANOS_NOW() now_ns()
#define HAVE_UNIT 1
#define UNIT() unit_here
static _Thread_local u32 unit_here;
static u64 now_ns(void)
{
    return as_now_ns();
}
static bool units_told;
static void timed_record(u64 *r, u64 value, u64 c0, u64 c1, u64 n0, u64 n1)
{
    r[0] = value;
    r[1] = c1 - c0;
    r[2] = n1 - n0;
    r[3] = 1 + unit_here;
    r[4] = AS_HAS_NANOS | (units_told ? AS_HAS_UNIT : 0);
}

_Thread_local struct as_host_item as_host_item;
#include "probes/coherence/c2c/c2c.kernel"
#define BETWEEN_UNITS
#define sees sees_between
#define answers answers_between
#include "probes/coherence/c2c/c2c.kernel"

void c2c_toy_device(struct toy *t)
{
    toy_init(t, AS_CAP_SOURCE | AS_CAP_ASYNC);
    t->dev.info.compute_units = 4;
    t->dev.info.allocators[1].host_access = true;
    t->dev.info.allocators[1].coherent = true;
}

void c2c_toy_pingpong(const char *name, void *const *a)
{
    as_host_item = (struct as_host_item){0, 1, 0, 1, NULL};
    assert_string_equal(name, "pingpong");
    const uint32_t *v[8];
    for (int i = 1; i < 8; i++)
        v[i] = a[i];
    pingpong(a[0], *v[1], *v[2], *v[3], *v[4], *v[5], *v[6], *v[7]);
}

/* ---- between compute units: two workgroups of one thread on each unit ---- */

struct group {
    pthread_t thread;
    void *const *args;
    u32 unit, patience;
};
static u32 unit_missing; /* no workgroup starts on unit number - 1, for this many launches */
static int launches_missing;

static void *run_group(void *arg)
{
    struct group *g = arg;
    void *const *a = g->args;
    const u32 *v[11];
    unit_here = g->unit;
    as_host_item = (struct as_host_item){0, 1, g->unit, 4, NULL};
    for (int i = 3; i < 11; i++)
        v[i] = a[i];
    between(a[0], a[1], a[2], *v[3], *v[4], *v[5], *v[6], *v[7], *v[8], *v[9], *v[10], g->patience);
    return NULL;
}

/* Two workgroups on each of four compute units. */
static void run_between(const char *name, void *const *args)
{
    struct group workgroups[8];
    u32 missing = launches_missing > 0 ? unit_missing : 0;
    assert_string_equal(name, "between");
    if (*(const u32 *)args[8] && launches_missing > 0)
        launches_missing--;
    for (u32 i = 0; i < 8; i++) {
        /* A loaded machine may delay a thread for long: only one that waits in vain gives up. */
        workgroups[i] = (struct group){.args = args, .unit = i % 4, .patience = missing ? 1000 : UINT32_MAX};
        if (1 + i % 4 != missing)
            assert_int_equal(pthread_create(&workgroups[i].thread, NULL, run_group, &workgroups[i]), 0);
    }
    for (u32 i = 0; i < 8; i++)
        if (1 + i % 4 != missing)
            pthread_join(workgroups[i].thread, NULL);
}

void c2c_toy_gpu(struct toy *t, bool told)
{
    c2c_toy_device(t);
    t->dev.info.capabilities |= AS_CAP_CYCLES;
    t->dev.info.clock_max_hz = 2e9;
    t->dev.info.is_host_memory = false;
    t->kernel = run_between;
    units_told = told;
    launches_missing = 0;
}

void c2c_toy_leave_out(unsigned unit, int launches)
{
    unit_missing = 1 + unit;
    launches_missing = launches;
}

int c2c_toy_left_out(void)
{
    return launches_missing;
}
