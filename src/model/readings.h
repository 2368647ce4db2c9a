/* Sensor readings of a trial as plain data: taken by the worker, judged by gates, stored and reported. */
#ifndef AS_MODEL_READINGS_H
#define AS_MODEL_READINGS_H

#include "base/buf.h"
#include "base/throttle.h"

#include <stddef.h>

/* One trial. Everything is unknown if sensor is ""; otherwise, numbers that the sensor cannot read are NAN. Unless
 * noted, readings are from the time of sampling. */
struct as_readings {
    char sensor[16];  /* its name */
    int throttle;     /* reasons seen, -1 unknown */
    double counted_w; /* mean power by the energy counter, where power_w is by readings; noted, not stored */
    /* Counters of links after the trial, and by how much they grew during it; noted, not stored. Errors and replays of
     * links to other devices, and replays of the link to the host. */
    double link_errors, link_errors_new, link_replays, link_replays_new, pcie_replays, pcie_replays_new;
    double power_w;                               /* mean */
    double temperature_before, temperature_after; /* degrees Celsius, of the whole trial */
    double clock_hz, clock_lo, clock_hi;          /* of the core: median and range without outliers */
    double memory_clock_lo, memory_clock_hi;
    double pcie_generation, pcie_width; /* maximum */
    double pcie_generation_max, pcie_width_max;
    double ecc_corrected, ecc_uncorrected; /* new errors during the trial */
    double users;                          /* other processes on the device */
    double utilisation;                    /* share of time, mean */
    double reads;                          /* number of readings during sampling */
};
/* Sets all numbers to NAN, throttle reasons to unknown, and no sensor. */
void as_readings_clear(struct as_readings *r);
/* The summary in text: "312 W, 54 to 61 C, power cap, PCIe 5.0 x16, 2 ECC errors corrected"; "" without sensor. */
void as_readings_text(const struct as_readings *r, struct as_buf *out);

#endif
