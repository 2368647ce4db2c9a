#include "base/clock.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/shared_host.h"
#include "sensor/sensor.h"

#include <math.h>
#include <stdio.h>

extern const struct as_sensor as_sensor_nvml, as_sensor_amdgpu, as_sensor_apple_gpu, as_sensor_apple_cpu,
    as_sensor_host;
const struct as_sensor *const as_sensors[] = {&as_sensor_nvml,      &as_sensor_amdgpu, &as_sensor_apple_gpu,
                                              &as_sensor_apple_cpu, &as_sensor_host,   NULL};

const struct as_sensor *as_sensor_of(const struct as_device_info *info)
{
    const struct as_backend *backend = as_backend_find(info->backend);
    size_t i = 0;
    if (backend && backend->sensor)
        return backend->sensor;
    while (as_sensors[i] && !as_sensors[i]->serves(info))
        i++;
    return as_sensors[i];
}

void as_sensor_reading_clear(struct as_sensor_reading *r)
{
    *r = (struct as_sensor_reading){.clock_hz = NAN,
                                    .memory_clock_hz = NAN,
                                    .power_w = NAN,
                                    .power_limit_w = NAN,
                                    .energy_j = NAN,
                                    .temperature = NAN,
                                    .throttle = -1,
                                    .pcie_generation = NAN,
                                    .pcie_width = NAN,
                                    .pcie_generation_max = NAN,
                                    .pcie_width_max = NAN,
                                    .ecc_corrected = NAN,
                                    .ecc_uncorrected = NAN,
                                    .link_errors = NAN,
                                    .link_replays = NAN,
                                    .pcie_replays = NAN,
                                    .users = NAN,
                                    .utilisation = NAN};
}

void as_sensor_add_reason(struct as_buf *why_not, const char *what, const char *why)
{
    as_buf_printf(why_not, "%s%s: %s", why_not->len ? "; " : "", what, why);
}

void as_sensor_list_unknown(const struct as_sensor_reading *r, struct as_buf *why_not)
{
    const struct {
        const char *what;
        bool known;
    } parts[] = {{"clock", isfinite(r->clock_hz)},
                 {"memory clock", isfinite(r->memory_clock_hz)},
                 {"power", isfinite(r->power_w)},
                 {"temperature", isfinite(r->temperature)},
                 {"throttling", r->throttle >= 0},
                 {"PCIe link", isfinite(r->pcie_generation) && isfinite(r->pcie_width)},
                 {"ECC errors", isfinite(r->ecc_uncorrected)},
                 {"other processes", isfinite(r->users)},
                 {"utilisation", isfinite(r->utilisation)}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!parts[i].known)
            as_buf_printf(why_not, "%s%s", why_not->len ? ", " : "not reported by the driver: ", parts[i].what);
}

/* Minimum of a few, since the first call loads libraries and others may be interrupted. */
static double cost_of_reading(struct as_sensing *s)
{
    enum { TRIALS = 4 };
    double least = INFINITY;
    for (int i = 0; i < TRIALS; i++) {
        struct as_sensor_reading r;
        double start = as_now();
        as_sensing_read(s, AS_SENSOR_QUICK, &r);
        least = fmin(least, as_now() - start);
    }
    return least;
}

static void open_demand(const struct as_device_info *info, struct as_sensing *s)
{
    struct as_buf available = AS_BUF_INIT, why_not = AS_BUF_INIT;
    if (!as_info_shares_host(info)) {
        as_copy_text(s->demand_why, sizeof s->demand_why, "the device is simulated");
        return;
    }
    as_demand_open(&s->demand, "", info, &available, &why_not);
    as_copy_text(s->demand_names, sizeof s->demand_names, as_buf_get(&available));
    as_copy_text(s->demand_why, sizeof s->demand_why, as_buf_get(&why_not));
    as_buf_finish(&available);
    as_buf_finish(&why_not);
}

void as_sensing_open(const struct as_device_info *info, struct as_sensing *out)
{
    *out = (struct as_sensing){.read_s = NAN};
    struct as_buf why_not = AS_BUF_INIT;
    struct as_error err = {0};
    const struct as_sensor *sensor = as_sensor_of(info);
    if (!sensor)
        as_copy_text(out->why_not, sizeof out->why_not, "no sensor supports devices of this kind");
    else if (sensor->open(info, &out->ctx, &why_not, &err)) {
        as_fail_in(&err, sensor->name);
        as_copy_text(out->why_not, sizeof out->why_not, err.text);
    } else {
        out->sensor = sensor;
        as_copy_text(out->why_not, sizeof out->why_not, as_buf_get(&why_not));
        out->read_s = cost_of_reading(out);
    }
    open_demand(info, out);
    as_buf_finish(&why_not);
}

void as_sensing_read(struct as_sensing *s, enum as_sensor_part part, struct as_sensor_reading *out)
{
    as_sensor_reading_clear(out);
    if (s->sensor)
        s->sensor->read(s->ctx, part, out);
}

void as_sensing_close(struct as_sensing *s)
{
    as_demand_close(&s->demand);
    if (s->sensor)
        s->sensor->close(s->ctx);
    *s = (struct as_sensing){.read_s = NAN};
}

/* Transfers per second and lane by generation, and the share of data bits (PCI Express base specifications
 * 1.0 to 6.0: 8b/10b, 128b/130b, and 242 of the 256 bytes of a flit). */
static void describe_bus(const struct as_sensor_reading *now, struct as_device_info *info)
{
    static const struct {
        double transfers, data;
    } generations[] = {{2.5e9, 8 / 10.0},   {5e9, 8 / 10.0},     {8e9, 128 / 130.0},
                       {16e9, 128 / 130.0}, {32e9, 128 / 130.0}, {64e9, 242 / 256.0}};
    double generation = now->pcie_generation_max, width = now->pcie_width_max;
    if (!(generation >= 1 && generation <= sizeof generations / sizeof *generations && width >= 1 && width <= 64))
        return;
    size_t i = (size_t)generation - 1;
    snprintf(info->bus, sizeof info->bus, "PCIe %zu.0 x%.0f", i + 1, width);
    info->bus_bandwidth = generations[i].transfers * generations[i].data * width / 8;
}

void as_sensing_describe(struct as_sensing *s, struct as_device_info *info)
{
    struct as_sensor_reading now;
    struct as_buf b = AS_BUF_INIT;
    as_copy_text(info->sensor, sizeof info->sensor, s->sensor ? s->sensor->name : "");
    as_copy_text(info->sensor_why, sizeof info->sensor_why, s->why_not);
    as_copy_text(info->demand, sizeof info->demand, s->demand_names);
    as_copy_text(info->demand_why, sizeof info->demand_why, s->demand_why);
    info->sensor_read_s = isfinite(s->read_s) ? s->read_s : 0;
    as_sensing_read(s, AS_SENSOR_ALL, &now);
    describe_bus(&now, info);
    if (s->sensor && s->sensor->describe)
        s->sensor->describe(s->ctx, info);
    info->power_limit = isfinite(now.power_limit_w) ? now.power_limit_w : 0;
    int slowed = now.throttle > 0 ? now.throttle & ~(int)AS_THROTTLE_HARMLESS : 0;
    if (slowed) {
        as_buf_str(&b, "throttled by ");
        as_throttle_text(slowed, &b);
    }
    if (now.users > 0)
        as_buf_printf(&b, "%s%.0f other process%s on it", b.len ? ", " : "", now.users, now.users == 1 ? "" : "es");
    if (now.ecc_uncorrected > 0)
        as_buf_printf(&b, "%s%.0f ECC errors not corrected since the driver was loaded", b.len ? ", " : "",
                      now.ecc_uncorrected);
    as_copy_text(info->unfit, sizeof info->unfit, as_buf_get(&b));
    as_buf_finish(&b);
}
