/* Control of the stand-in for IOReport, IOKit, CoreFoundation and notify(3). */
#ifndef TEST_SENSOR_APPLE_FAKE_H
#define TEST_SENSOR_APPLE_FAKE_H

#include <stdint.h>

/* Starts anew with a list of channels and words: "nosubscribed nodelta"; with "moving" time passes by 1 per sample
 * until it is set. Lines are group|sub-group|channel|format|unit|values where values are "start+rate", "min" for
 * INT64_MIN, or "OFF:5+10;P1:0+30" for states; \xNN is a byte, "*5000 " before a line means so many of it.
 * "refuse|group" lets no one subscribe to it. "pmgr|key|600000000 972000000|n" is a table of the device tree, with n
 * bytes that are not part of it; "smc|Tp01|flt |4|45.5" a key of the controller, its type, size and value. */
void fake_use(const char *list, const char *behaviour);
void fake_time(int64_t time); /* counts are start + rate * time */
void fake_pressure(uint64_t level);
/* The n-th of the calls that can fail does so, from now on; 0: none. Returns how many there were since the last time.
 */
int fake_fail(int n);
int fake_live(void);           /* number of unreleased objects and tokens */
const char *fake_broken(void); /* the first misuse; NULL if none */

#endif
