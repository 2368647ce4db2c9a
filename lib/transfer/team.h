/* Transfers of several devices of one backend at the same time, each driven by its own device. */
#ifndef AS_LIB_TRANSFER_TEAM_H
#define AS_LIB_TRANSFER_TEAM_H

#include "transfer.h"

#include "probe/probe.h"

enum { AS_TRANSFER_TEAM = 32, AS_TRANSFER_KEPT = 32 };

struct as_transfer_team {
    struct as_transfer member[AS_TRANSFER_TEAM];
    size_t n;
    uint64_t reps, samples; /* of the last sample; with as many repetitions, so that calibration is left out */
    double rate[AS_TRANSFER_TEAM][AS_TRANSFER_KEPT]; /* GB/s of each member in the last samples */
};

/* Adds a transfer of the device, which has none yet. The team begins as zeros; finish accepts it after an error. */
enum as_status as_transfer_team_add(struct as_transfer_team *team, struct as_device *dev,
                                    const struct as_transfer_desc *desc, struct as_error *err);
void as_transfer_team_finish(struct as_transfer_team *team);

/* All bytes of all members over the time from the first start to the last end, in GB/s. */
enum as_status as_transfer_team_sample(struct as_transfer_team *team, uint64_t reps, struct as_sample *out,
                                       struct as_error *err);
bool as_transfer_team_check(struct as_transfer_team *team, char *why, size_t size);

/* Notes what each member reached, medians over the last samples: "device_bandwidths" ("4 x 52.1 GB/s", or a list where
 * the members differ), "slowest_device" and "fastest_device" in GB/s. */
void as_transfer_team_note(const struct as_transfer_team *team, struct as_trial_context *tc);

#endif
