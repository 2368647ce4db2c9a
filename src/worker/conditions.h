/* What the device and its driver make of a trial: the bound of its number, the pages it got, what sensors saw. */
#ifndef AS_WORKER_CONDITIONS_H
#define AS_WORKER_CONDITIONS_H

#include "probe/probe.h"

/* Sets limit and limit_why to the looser of the probe's own bound and the device's. */
enum as_status as_trial_take_bound(struct as_trial_context *tc, const struct as_probe *probe, struct as_error *err);
/* Rates of arithmetic are bounded at the highest clock that the device reports; a trial that ran above it has as much
 * more. Returns the bound of a trial at its clock. */
double as_trial_bound_at(const struct as_trial_context *tc, const struct as_probe *probe, double clock_hz);
/* AS_UNSUPPORTED: huge pages were requested and base pages came, whose number would be another quantity. */
enum as_status as_trial_check_pages(const struct as_trial_context *tc, struct as_error *err);
/* Lets the probe read the sensor's power, unless its readings are averages between two of them. */
struct as_sensing;
void as_trial_offer_power(struct as_trial_context *tc, struct as_sensing *sensing);
/* Notes power and throttle reasons for facts and the data sheet, which see cells and not their trials. */
void as_trial_note_readings(struct as_trial_context *tc, const struct as_readings *r);
/* Of a probe whose data crosses a link: the counters of the links after the trial, and what they grew by. */
void as_trial_note_links(struct as_trial_context *tc, const struct as_readings *r);

#endif
