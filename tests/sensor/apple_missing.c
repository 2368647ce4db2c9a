/* Without IOReport, or with one that lacks functions, an Apple GPU has no sensor or one that reports so, and a CPU
 * has the host's. */
#include "base/buf.h"
#include "sensor/sensor.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const struct as_device_info gpu = {.backend = "metal", .vendor = "Apple"};
    const struct as_device_info cpu = {.backend = "cpu", .vendor = "Apple", .capabilities = AS_CAP_HOST_KERNELS};
    const char *word = argc > 1 ? argv[1] : "";
    const bool is_there = strstr(word, "CopyChannels") != NULL;
    struct as_sensing s;
    struct as_sensor_reading r;
    as_sensing_open(&gpu, &s);
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    bool bad = !strstr(s.why_not, word) || r.energy_j == r.energy_j || r.utilisation == r.utilisation;
    bad |= (s.sensor != NULL) != is_there || (is_there && !strstr(s.demand_why, word));
    printf("%s\n%s\n", s.why_not, s.demand_why);
    as_sensing_close(&s);
    const struct as_sensor *of_cpu = as_sensor_of(&cpu);
    bad |= !of_cpu || strcmp(of_cpu->name, is_there ? "ioreport" : "host") != 0;
    return bad;
}
