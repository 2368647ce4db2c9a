/* The stand-in of an APU with 128 GiB, whose L2 cache of 4 MiB has an unreported memory-side cache of 256 MiB behind
 * it. */
#ifndef AS_TESTS_PLAN_APU_H
#define AS_TESTS_PLAN_APU_H

#include "device/device.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <stdlib.h>

static struct as_device_info apu;

static int open_apu(void **state)
{
    struct as_opened o;
    struct as_error err = {0};
    (void)state;
    setenv("FAKE_HIP", "apu mi300a xnack", 1);
    if (as_device_open("hip:0", &o, &err))
        fail_msg("%s", err.text);
    apu = o.device.info;
    as_device_close(&o);
    /* The stand-in has little memory. */
    apu.memory_bytes = apu.memory_free = UINT64_C(128) << 30;
    apu.max_alloc = 0;
    apu.compute_units = apu.compute_units ? apu.compute_units : 228;
    apu.host_cache = UINT64_C(96) << 20;
    return 0;
}

/* set: as of --set; NULL none. */
static void add_set(struct as_plan *plan, const char *text, const char *set)
{
    struct as_suite suite;
    struct as_error err = {0};
    if (as_suite_parse("planned", text, &suite, &err) || as_plan_add(plan, &suite, &apu, &set, set != NULL, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&suite);
}

static void add(struct as_plan *plan, const char *text)
{
    add_set(plan, text, NULL);
}

#endif
