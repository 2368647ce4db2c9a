#include "team.h"

#include "stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double ALIKE = 0.98; /* slowest over fastest: a single number describes all */

enum as_status as_transfer_team_add(struct as_transfer_team *team, struct as_device *dev,
                                    const struct as_transfer_desc *desc, struct as_error *err)
{
    if (team->n == AS_TRANSFER_TEAM)
        return as_fail(err, AS_UNSUPPORTED, "at most %d devices can copy at the same time", AS_TRANSFER_TEAM);
    struct as_transfer_desc own = *desc;
    own.seed += team->n; /* no member has another's data */
    return as_transfer_prepare(&team->member[team->n++], dev, &own, err);
}

void as_transfer_team_finish(struct as_transfer_team *team)
{
    for (size_t k = 0; k < team->n; k++)
        as_transfer_finish(&team->member[k]);
    team->n = 0;
}

static double member_bytes(const struct as_transfer *t, uint64_t reps)
{
    return (double)(t->desc.lanes * t->desc.bytes) * (double)reps;
}

enum as_status as_transfer_team_sample(struct as_transfer_team *team, uint64_t reps, struct as_sample *out,
                                       struct as_error *err)
{
    struct as_transfer_work work[AS_TRANSFER_TEAM];
    struct as_part parts[AS_TRANSFER_TEAM];
    struct as_timing timing;
    double bytes = 0;
    for (size_t k = 0; k < team->n; k++) {
        enum as_status st = as_transfer_mark(&team->member[k], err);
        if (st)
            return st;
        parts[k] = as_transfer_part(&team->member[k], reps, &work[k]);
        bytes += member_bytes(&team->member[k], reps);
    }
    enum as_status st = team->member[0].dev->team->run(parts, team->n, &timing, err);
    if (st)
        return st;
    if (reps != team->reps)
        team->samples = 0;
    team->reps = reps;
    for (size_t k = 0; k < team->n; k++)
        team->rate[k][team->samples % AS_TRANSFER_KEPT] =
            member_bytes(&team->member[k], reps) / parts[k].seconds * 1e-9;
    team->samples++;
    out->seconds = as_timing_seconds(&timing);
    out->value = bytes / out->seconds * 1e-9;
    return AS_OK;
}

bool as_transfer_team_check(struct as_transfer_team *team, char *why, size_t size)
{
    char text[160];
    for (size_t k = 0; k < team->n; k++)
        if (!as_transfer_check(&team->member[k], text, sizeof text)) {
            snprintf(why, size, "%s: %s", team->member[k].dev->info.id, text);
            return false;
        }
    snprintf(why, size, "%zu devices: %s", team->n, text);
    return true;
}

void as_transfer_team_note(const struct as_transfer_team *team, struct as_trial_context *tc)
{
    const size_t kept = team->samples < AS_TRANSFER_KEPT ? (size_t)team->samples : AS_TRANSFER_KEPT;
    struct as_buf list = AS_BUF_INIT;
    double slowest = INFINITY, fastest = 0, sum = 0;
    for (size_t k = 0; k < team->n && kept; k++) {
        const double rate = as_median(team->rate[k], kept);
        slowest = fmin(slowest, rate);
        fastest = fmax(fastest, rate);
        sum += rate;
        as_buf_printf(&list, "%s%.3g", k ? ", " : "", rate);
    }
    if (fastest > 0) {
        if (slowest > ALIKE * fastest) {
            as_buf_clear(&list);
            as_buf_printf(&list, "%zu x %.3g", team->n, sum / (double)team->n);
        }
        as_buf_str(&list, " GB/s");
        as_note(tc, "device_bandwidths", as_buf_get(&list));
        as_note_number(tc, "slowest_device", slowest);
        as_note_number(tc, "fastest_device", fastest);
    }
    as_buf_finish(&list);
}
