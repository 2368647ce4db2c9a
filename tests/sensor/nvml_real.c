/* The real library on a real device, if there is one: readings must be plausible. */
#include "base/clock.h"
#include "base/text.h"
#include "sensor/watch.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SKIPPED = 77 };

/* The driver has a folder for each device, named by its bus ID. */
static int find_bus_id(char *out, size_t size)
{
    DIR *d = opendir("/proc/driver/nvidia/gpus");
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));)
        if (strchr(e->d_name, ':')) {
            as_copy_text(out, size, e->d_name);
            found = 1;
        }
    if (d)
        closedir(d);
    return found;
}

static int complain(const char *what, double v)
{
    printf("%s: %g is not possible\n", what, v);
    return 1;
}

int main(int argc, char **argv)
{
    struct as_device_info info = {.vendor = "NVIDIA"};
    struct as_sensing s;
    struct as_sensor_reading r;
    struct as_watch w;
    struct as_readings seen;
    struct as_buf text = AS_BUF_INIT;
    if (argc > 1)
        as_copy_text(info.bus_id, sizeof info.bus_id, argv[1]);
    else if (!find_bus_id(info.bus_id, sizeof info.bus_id)) {
        printf("no device of NVIDIA is shown by the driver\n");
        return SKIPPED;
    }
    as_sensing_open(&info, &s);
    printf("%s, a reading takes %.0f us; unknown: %s\n", s.sensor ? s.sensor->name : "no sensor", 1e6 * s.read_s,
           s.why_not);
    if (!s.sensor)
        return SKIPPED;
    double start = as_now();
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    printf("all of it takes %.0f us\n", 1e6 * (as_now() - start));
    as_watch_begin(&w, &s, 0.01);
    as_watch_mark(&w);
    as_sleep(0.2);
    as_watch_end(&w, &seen);
    as_readings_text(&seen, &text);
    printf("%s, %.0f readings\n", as_buf_get(&text), seen.reads);
    as_buf_finish(&text);
    as_sensing_close(&s);
    int bad = 0;
    if (!(r.power_w > 1 && r.power_w < 5000))
        bad = complain("power in W", r.power_w);
    if (!(r.temperature > 5 && r.temperature < 120))
        bad = complain("temperature in C", r.temperature);
    if (!(r.clock_hz > 5e7 && r.clock_hz < 1e10))
        bad = complain("clock in Hz", r.clock_hz);
    if (isfinite(r.pcie_width) && !(r.pcie_width >= 1 && r.pcie_width <= r.pcie_width_max))
        bad = complain("width of the PCIe link", r.pcie_width);
    if (!(seen.reads >= 1))
        bad = complain("readings", seen.reads);
    return bad;
}
