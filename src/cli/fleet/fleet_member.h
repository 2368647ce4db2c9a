/* One process of a fleet: measures its node, writes its state, and as rank 0 looks at the others. */
#ifndef AS_CLI_FLEET_MEMBER_H
#define AS_CLI_FLEET_MEMBER_H

#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_gather.h"

#include <signal.h>

struct as_fleet_member {
    const char *folder;
    struct as_fleet_job job;
    char host[256];
    struct as_fleet_status status;
    struct as_fleet_watch watch; /* of rank 0 among several */
    struct as_fleet_gather gather;
    size_t pending;     /* other nodes that measure yet */
    int lock;           /* descriptor; -1 none */
    bool quiet, is_new; /* is_new: a new run rather than the rest of one */
    double beat_at;     /* of the next writing of the state */
    const volatile sig_atomic_t *stop;
    struct as_buf command; /* as typed */
    double budget_s;       /* of the rest; NAN */
};
void as_fleet_member_begin(struct as_fleet_member *m, const struct as_args *args, const char *folder);
void as_fleet_member_finish(struct as_fleet_member *m);
/* Where the nodes share no folder: meets the other ranks. request: as as_fleet_gather_start. */
enum as_status as_fleet_member_gather(struct as_fleet_member *m, const struct as_args *args, struct as_buf *request,
                                      struct as_error *err);
/* Takes a name in the folder, and the state that was left under it. request: for a new run, or a node without a state.
 * AS_BUSY: a living process has the name. */
enum as_status as_fleet_member_enter(struct as_fleet_member *m, const char *name, const char *request,
                                     struct as_error *err);
/* Measures the node of that name; how it went is in m->status. */
void as_fleet_member_measure(struct as_fleet_member *m);
/* Of rank 0: until the others have ended, or a signal stops it. */
void as_fleet_member_wait(struct as_fleet_member *m);

#endif
