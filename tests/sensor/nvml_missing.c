/* A missing, damaged or foreign library disables only the sensor; the reason names the problem. */
#include "sensor/sensor.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const struct as_device_info info = {.vendor = "NVIDIA Corporation", .bus_id = "0000:01:00.0"};
    struct as_sensing s;
    struct as_sensor_reading r;
    as_sensing_open(&info, &s);
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    int bad = s.sensor || !strstr(s.why_not, argc > 1 ? argv[1] : "") || strncmp(s.why_not, "nvml: ", 6) != 0 ||
              r.power_w == r.power_w || r.throttle != -1;
    printf("%s\n", s.why_not);
    as_sensing_close(&s);
    return bad;
}
