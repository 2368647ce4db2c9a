/* Why a device runs slower than it could: reported by sensors, stored with trials, judged by gates. */
#ifndef AS_BASE_THROTTLE_H
#define AS_BASE_THROTTLE_H

#include "base/buf.h"
#include "base/error.h"

enum as_throttle {
    AS_THROTTLE_IDLE = 1u << 0,        /* nothing to do */
    AS_THROTTLE_SETTING = 1u << 1,     /* the clock was set by a user */
    AS_THROTTLE_SYNC = 1u << 2,        /* synchronised with other devices */
    AS_THROTTLE_POWER_CAP = 1u << 3,   /* the power limit was reached */
    AS_THROTTLE_THERMAL = 1u << 4,     /* the temperature limit was reached */
    AS_THROTTLE_HARDWARE = 1u << 5,    /* slowed down by the board */
    AS_THROTTLE_POWER_BRAKE = 1u << 6, /* requested by the power supply */
    AS_THROTTLE_OTHER = 1u << 7,
    AS_THROTTLE_HARMLESS = AS_THROTTLE_IDLE | AS_THROTTLE_SETTING, /* these invalidate no number */
};
/* "none" or the words of the bits, "power cap, thermal"; "" if bits is -1 (unknown). */
void as_throttle_text(int bits, struct as_buf *out);
/* The bits of such a text; AS_FORMAT naming an unknown word. "" gives -1. */
enum as_status as_throttle_parse(const char *text, int *bits, struct as_error *err);

#endif
