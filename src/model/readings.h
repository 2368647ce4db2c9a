/* Sensor readings of a trial, as plain data: made by the worker, judged by gates, stored and reported. */
#ifndef AS_MODEL_READINGS_H
#define AS_MODEL_READINGS_H

#include "base/buf.h"
#include "base/throttle.h"

#include <stddef.h>

/* One trial. All of it is unknown when sensor is ""; else a number that the sensor cannot tell is NAN. Numbers of what
 * a device does are those seen while samples were taken. */
struct as_readings {
    char sensor[16];                              /* its name */
    int throttle;                                 /* reasons seen, -1 unknown */
    double power_w;                               /* mean */
    double temperature_before, temperature_after; /* degrees Celsius, of the whole trial */
    double clock_hz, clock_lo, clock_hi;          /* of the core: median and range without the odd outlier */
    double memory_clock_lo, memory_clock_hi;
    double pcie_generation, pcie_width; /* maximum */
    double pcie_generation_max, pcie_width_max;
    double ecc_corrected, ecc_uncorrected; /* new errors during the trial */
    double users;                          /* other processes on the device */
    double utilisation;                    /* share of the time, mean */
    double reads;                          /* while samples were taken */
};
/* Every number NAN, the throttle reasons unknown, no sensor. */
void as_readings_clear(struct as_readings *r);
/* "312 W, 54 to 61 C, power cap, PCIe 5.0 x16, 2 ECC errors corrected": the summary for people. "" without sensor. */
void as_readings_text(const struct as_readings *r, struct as_buf *out);

#endif
