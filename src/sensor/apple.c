/* Apple's chips on macOS, without root: energy and performance states by IOReport, temperature by the SMC, thermal
 * pressure by notify(3). */
#include "base/buf.h"
#include "base/library.h"
#include "base/text.h"
#include "sensor/rails.h"
#include "sensor/sensor.h"
#include "sensor/smc.h"
#include "sensor/states.h"

#include <math.h>
#include <stdlib.h>

/* libkern/OSThermalNotification.h: nominal, moderate, heavy, trapping, sleeping */
static const char pressure_key[] = "com.apple.system.thermalpressurelevel";
enum { PRESSURE_NOMINAL = 0, PRESSURE_LAST = 4 };

struct apple {
    enum as_rail rail; /* the device's rail */
    struct as_ioreport energy;
    struct as_states states;
    struct as_smc smc;
    double last_j;
    bool is_energy_refused; /* it went backwards, so its differences are not trusted */
    bool has_pressure;
    int pressure;
    uint32_t (*get_state)(int token, uint64_t *state); /* notify.h */
    uint32_t (*cancel)(int token);
};

/* ---- one reading ---- */

/* Joules since the sensor was opened. A counter that has not moved since may be one that never moves, such as the CPU's
 * of an M5 and the neural engine's of an M4. */
static double energy_now(struct apple *a)
{
    struct as_rails used;
    double seconds;
    if (!a->energy.base || a->is_energy_refused || as_rails_since(&a->energy, &used, &seconds, NULL))
        return NAN;
    const double joule = used.joule[a->rail];
    a->is_energy_refused = !isfinite(joule) || joule < a->last_j;
    if (a->is_energy_refused || joule == 0)
        return NAN;
    a->last_j = joule;
    return joule;
}

static int apple_throttle_now(const struct apple *a)
{
    uint64_t level = 0;
    if (!a->has_pressure || a->get_state(a->pressure, &level) != 0 || level > PRESSURE_LAST)
        return -1;
    return level > PRESSURE_NOMINAL ? (int)AS_THROTTLE_THERMAL : 0;
}

/* Clock and utilisation are averages since the previous reading. */
static void read_states(struct apple *a, struct as_sensor_reading *out)
{
    struct as_states_seen seen;
    if (!a->states.report.subscription || as_states_since(&a->states, &seen, NULL))
        return;
    out->clock_hz = seen.hz;
    out->utilisation = seen.busy;
}

static void apple_read_now(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    struct apple *a = ctx;
    out->energy_j = energy_now(a);
    out->throttle = apple_throttle_now(a);
    read_states(a, out);
    if (part == AS_SENSOR_ALL)
        out->temperature = as_smc_hottest(&a->smc);
}

/* ---- opening ---- */

/* Keeps the CPU busy until its counter of millijoules moves; a GPU's may stay constant while idle. */
static bool stands_still(struct apple *a)
{
    enum { READINGS = 100 };
    double joule = NAN;
    for (int i = 0; i < READINGS && !(joule > 0); i++)
        joule = energy_now(a);
    return !(joule > 0);
}

static void open_energy(struct apple *a, struct as_buf *why_not)
{
    struct as_error err = {0};
    struct as_rails used;
    double seconds;
    if (as_rails_open(&a->energy, &err) || as_rails_since(&a->energy, &used, &seconds, &err))
        as_sensor_add_reason(why_not, "power", err.text);
    else if (!isfinite(used.joule[a->rail]))
        as_sensor_add_reason(why_not, "power", used.why[a->rail]);
    else {
        if (a->rail == AS_RAIL_CPU && stands_still(a))
            as_sensor_add_reason(why_not, "power", "its counter did not move while the CPU worked");
        return;
    }
    as_ioreport_close(&a->energy);
}

static void open_states(struct apple *a, struct as_buf *why_not)
{
    const bool is_cpu = a->rail == AS_RAIL_CPU;
    struct as_error err = {0};
    struct as_states_seen seen = {.why = ""};
    if (as_states_open(&a->states, is_cpu, &err) || as_states_since(&a->states, &seen, &err)) {
        as_sensor_add_reason(why_not, is_cpu ? "clock" : "clock, utilisation", err.text);
        as_states_close(&a->states);
    } else if (seen.why[0])
        as_sensor_add_reason(why_not, "clock", seen.why);
}

static void open_temperature(struct apple *a, struct as_buf *why_not)
{
    struct as_error err = {0};
    if (as_smc_open(&a->smc, a->rail == AS_RAIL_CPU, &err))
        as_sensor_add_reason(why_not, "temperature", err.text);
}

static void open_pressure(struct apple *a, struct as_buf *why_not)
{
    char why[160] = "";
    const char *missing = NULL;
    uint32_t (*watch)(const char *name, int *token) = NULL;
    void *library = as_library_open(as_system_names, 2, NULL, why, sizeof why);
    uint64_t level = 0;
    if (library) {
        as_library_function(library, "notify_register_check", &watch, &missing);
        as_library_function(library, "notify_get_state", &a->get_state, &missing);
        as_library_function(library, "notify_cancel", &a->cancel, &missing);
    }
    a->has_pressure = library && !missing && watch(pressure_key, &a->pressure) == 0;
    if (!library || missing)
        as_sensor_add_reason(why_not, "throttling", missing ? missing : why);
    else if (!a->has_pressure)
        as_sensor_add_reason(why_not, "throttling", "notify_register_check failed for the thermal pressure");
    else if (a->get_state(a->pressure, &level) != 0)
        as_sensor_add_reason(why_not, "throttling", "notify_get_state failed for the thermal pressure");
    else if (level > PRESSURE_LAST)
        as_sensor_add_reason(why_not, "throttling", "a thermal pressure that macOS does not define");
}

static void close_apple(void *ctx)
{
    struct apple *a = ctx;
    as_ioreport_close(&a->energy);
    as_states_close(&a->states);
    as_smc_close(&a->smc);
    if (a->has_pressure)
        a->cancel(a->pressure);
    free(a);
}

static enum as_status open_rail(enum as_rail rail, void **ctx, struct as_buf *why_not, struct as_error *err)
{
    struct apple *a = calloc(1, sizeof *a);
    if (!a)
        return as_nomem(err, sizeof *a, "a sensor");
    a->rail = rail;
    open_energy(a, why_not);
    open_pressure(a, why_not);
    open_states(a, why_not);
    open_temperature(a, why_not);
    if (rail == AS_RAIL_GPU)
        as_sensor_add_reason(why_not, "other processes", "macOS does not report which ones use the GPU");
    *ctx = a;
    return AS_OK;
}

static bool serves_gpu(const struct as_device_info *info)
{
    return as_ioreport_serves(info) && !(info->capabilities & AS_CAP_HOST_KERNELS);
}

static bool serves_cpu(const struct as_device_info *info)
{
    return as_ioreport_serves(info) && info->capabilities & AS_CAP_HOST_KERNELS;
}

static enum as_status open_gpu(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                               struct as_error *err)
{
    (void)info;
    return open_rail(AS_RAIL_GPU, ctx, why_not, err);
}

static enum as_status open_cpu(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                               struct as_error *err)
{
    (void)info;
    return open_rail(AS_RAIL_CPU, ctx, why_not, err);
}

extern const struct as_sensor as_sensor_apple_gpu, as_sensor_apple_cpu;
const struct as_sensor as_sensor_apple_gpu = {
    .name = "ioreport",
    .title = "GPUs of Apple's chips, by IOReport, SMC and the thermal pressure of macOS",
    .background = true,
    .is_mean = true,
    .serves = serves_gpu,
    .open = open_gpu,
    .read = apple_read_now,
    .close = close_apple,
};
const struct as_sensor as_sensor_apple_cpu = {
    .name = "ioreport",
    .title = "CPUs of Apple's chips, by IOReport, SMC and the thermal pressure of macOS",
    .background = false, /* polling would compete for a core with the measurement */
    .is_mean = true,
    .serves = serves_cpu,
    .open = open_cpu,
    .read = apple_read_now,
    .close = close_apple,
};
