/* Why a device runs slower than it could: said by sensors, stored with trials, judged by gates. */
#ifndef AS_BASE_THROTTLE_H
#define AS_BASE_THROTTLE_H

#include "base/buf.h"
#include "base/error.h"

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

#endif
