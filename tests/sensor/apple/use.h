/* Shared by the tests on the stand-in. */
#ifndef TEST_SENSOR_APPLE_USE_H
#define TEST_SENSOR_APPLE_USE_H

#include "fake.h"
#include "scripted_clock.h"
#include "sensor/sensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct as_device_info gpu = {.backend = "metal", .vendor = "Apple"},
                                   cpu = {.backend = "cpu", .vendor = "Apple", .capabilities = AS_CAP_HOST_KERNELS};

static inline void use(const char *list, const char *behaviour)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.txt", getenv("ASSAY_LISTS"), list);
    assert_null(fake_broken());
    assert_int_equal(fake_live(), 0);
    fake_use(path, behaviour);
    assert_null(fake_broken());
}

/* Asserts that everything is released and nothing was misused. */
static inline int check_end(void **state)
{
    (void)state;
    if (fake_broken())
        print_error("misuse: %s\n", fake_broken());
    if (fake_live())
        print_error("%d objects are left\n", fake_live());
    const int bad = fake_broken() || fake_live();
    clock_real();
    fake_use(NULL, "");
    return bad;
}

static inline struct as_sensing open_on(const struct as_device_info *info)
{
    struct as_sensing s;
    as_sensing_open(info, &s);
    return s;
}

static inline struct as_sensor_reading read_at(struct as_sensing *s, int64_t time)
{
    struct as_sensor_reading r;
    fake_time(time);
    as_sensing_read(s, AS_SENSOR_QUICK, &r);
    return r;
}

static inline void says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

static inline void is_near(double v, double wanted)
{
    if (!(fabs(v - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g is not %.12g", v, wanted);
}

#endif
