/* The sensor of the simulated device: readings from the script, for tests. */
#include "device/sensor.h"
#include "base/text.h"
#include "device/null/null.h"

#include <math.h>
#include <stdlib.h>

enum { SCRIPT_MAX = 1 << 20 };

struct scripted {
    struct as_null_sensor_script says;
    int throttle;
    double uncorrected, replays;
};

static enum as_status null_sensor_read_script(struct scripted *s, struct as_error *err)
{
    const char *path = getenv("ASSAY_NULL");
    struct as_null_script script;
    struct as_device_info info;
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_buf_read_file(&text, path ? path : "", SCRIPT_MAX, err);
    if (!st)
        st = as_null_script_read(as_buf_get(&text), "the script", &script, &info, err);
    as_buf_finish(&text);
    if (st)
        return st;
    s->says = script.sensor;
    s->replays = s->says.pcie_replays_before;
    if (!s->says.there)
        return as_fail(err, AS_UNSUPPORTED, "the script has no \"sensor\"");
    if (s->says.why_not[0])
        return as_fail(err, AS_UNSUPPORTED, "%s", s->says.why_not);
    return as_throttle_parse(s->says.throttle, &s->throttle, err);
}

static enum as_status open_script(const struct as_device_info *info, void **ctx, struct as_buf *why_not,
                                  struct as_error *err)
{
    (void)info;
    struct scripted *s = calloc(1, sizeof *s);
    if (!s)
        return as_nomem(err, sizeof *s, "a sensor");
    enum as_status st = null_sensor_read_script(s, err);
    if (st) {
        free(s);
        return st;
    }
    as_buf_str(why_not, s->says.cannot);
    *ctx = s;
    return AS_OK;
}

static void read_now(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    struct scripted *s = ctx;
    out->clock_hz = s->says.clock_hz;
    out->memory_clock_hz = s->says.memory_clock_hz;
    out->power_w = s->says.power_w;
    out->temperature = s->says.temperature;
    out->throttle = s->throttle;
    if (part != AS_SENSOR_ALL)
        return;
    out->users = s->says.users;
    if (isfinite(s->says.ecc_uncorrected)) /* increments per reading */
        out->ecc_uncorrected = s->uncorrected += s->says.ecc_uncorrected;
    if (isfinite(s->says.pcie_replays))
        out->pcie_replays = s->replays += s->says.pcie_replays;
}

const struct as_sensor as_null_sensor = {
    .name = "script",
    .title = "the scripted device's own, for tests",
    .background = true,
    .open = open_script,
    .read = read_now,
    .close = free,
};
