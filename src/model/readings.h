/* What a sensor saw during a trial, as plain data: the worker makes it, gates judge it, the store keeps it,
 * and the report shows it. Nothing here knows a sensor or a device. */
#ifndef AS_MODEL_READINGS_H
#define AS_MODEL_READINGS_H

#include "base/buf.h"

#include <stddef.h>

/* Why a device runs slower than it could. */
enum as_throttle {
    AS_THROTTLE_IDLE = 1u << 0,        /* nothing to do */
    AS_THROTTLE_SETTING = 1u << 1,     /* someone has set the clock */
    AS_THROTTLE_SYNC = 1u << 2,        /* it waits for others of its group */
    AS_THROTTLE_POWER_CAP = 1u << 3,   /* it would draw more than it may */
    AS_THROTTLE_THERMAL = 1u << 4,     /* it is too hot */
    AS_THROTTLE_HARDWARE = 1u << 5,    /* the board slows it down */
    AS_THROTTLE_POWER_BRAKE = 1u << 6, /* the power supply asks for it */
    AS_THROTTLE_OTHER = 1u << 7,
    AS_THROTTLE_HARMLESS = AS_THROTTLE_IDLE | AS_THROTTLE_SETTING, /* no number is wrong for these */
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
    double pcie_generation, pcie_width; /* the most that was seen */
    double pcie_generation_max, pcie_width_max;
    double ecc_corrected, ecc_uncorrected; /* errors that came during the trial */
    double users;                          /* other processes on the device */
    double utilisation;                    /* share of the time, mean */
    double reads;                          /* while samples were taken */
};
/* Every number NAN, the throttle reasons unknown, no sensor. */
void as_readings_clear(struct as_readings *r);
/* "312 W, 54 to 61 C, power cap, PCIe 5.0 x16, 2 ECC errors corrected": what people want to know. "" without sensor. */
void as_readings_text(const struct as_readings *r, struct as_buf *out);

#endif
