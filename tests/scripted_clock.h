/* A clock under the control of a test. In programs linked with scripted_clock_dep every caller of as_now(), as_now_ns()
 * and as_sleep() gets this one; it is the real one until clock_script() is called. How busy the machine is then changes
 * nothing: patience, deadlines and measured times follow from what the code under test does. */
#ifndef TESTS_SCRIPTED_CLOCK_H
#define TESTS_SCRIPTED_CLOCK_H

#include "base/clock.h"

/* From now on time passes only by clock_pass(), by as_sleep(), which returns at once, and by step_s per reading, so
 * that loops that wait for a time end. */
void clock_script(double step_s);
void clock_pass(double seconds);
void clock_real(void);
/* Called in as_sleep(), of the scripted or the real clock, before time passes; NULL: nothing. */
extern void (*clock_on_sleep)(double seconds);

#endif
