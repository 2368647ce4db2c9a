/* Sensor readings of a trial, as plain data: made by the worker, judged by gates, stored and reported. */
#ifndef AS_MODEL_READINGS_H
#define AS_MODEL_READINGS_H

#include "base/buf.h"

#include <stddef.h>

/* Throttle reasons. */
enum as_throttle {
    AS_THROTTLE_IDLE = 1u << 0,        /* nothing to do */
    AS_THROTTLE_SETTING = 1u << 1,     /* clock limited by a user setting */
    AS_THROTTLE_SYNC = 1u << 2,        /* sync boost group */
    AS_THROTTLE_POWER_CAP = 1u << 3,   /* power limit */
    AS_THROTTLE_THERMAL = 1u << 4,     /* it is too hot */
    AS_THROTTLE_HARDWARE = 1u << 5,    /* hardware slowdown */
    AS_THROTTLE_POWER_BRAKE = 1u << 6, /* power brake asserted by the power supply */
    AS_THROTTLE_OTHER = 1u << 7,
    AS_THROTTLE_HARMLESS = AS_THROTTLE_IDLE | AS_THROTTLE_SETTING, /* harmless to measurements */
};
/* "none" or the words of the bits, "power cap, thermal"; "" when bits is -1 (unknown). */
void as_throttle_text(int bits, struct as_buf *out);
/* The bits of such a text; AS_FORMAT naming a word that is none. "" is -1. */
enum as_status as_throttle_parse(const char *text, int *bits, struct as_error *err);

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
/* Its numbers, for whatever writes or reads all of them. */
struct as_readings_member {
    const char *name; /* "power_w" */
    size_t offset;    /* of a double */
};
extern const struct as_readings_member as_readings_members[];
extern const size_t as_readings_members_n;
static inline double *as_readings_at(struct as_readings *r, size_t member)
{
    return (double *)(void *)((char *)r + as_readings_members[member].offset);
}
static inline double as_readings_get(const struct as_readings *r, size_t member)
{
    return *(const double *)(const void *)((const char *)r + as_readings_members[member].offset);
}
/* Every number NAN, the throttle reasons unknown, no sensor. */
void as_readings_clear(struct as_readings *r);
/* "312 W, 54 to 61 C, power cap, PCIe 5.0 x16, 2 ECC errors corrected": the summary for people. "" without sensor. */
void as_readings_text(const struct as_readings *r, struct as_buf *out);

#endif
