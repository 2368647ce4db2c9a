/* Nodes that share no folder: what each has in its own is gathered in rank 0's, by MPI. Beside each rank runs a
 * relay, a process that alone uses MPI, so that what MPI does when a peer dies does not reach the process that
 * measures. The relays carry files of the folder: the state of a node every ten seconds, and its store once both
 * nodes have ended. So what rank 0 waits for, shows and merges are files, wherever they come from. */
#ifndef AS_FLEET_FLEET_GATHER_H
#define AS_FLEET_FLEET_GATHER_H

#include "fleet/fleet_job.h"

#include <signal.h>

struct as_fleet_gather {
    long relay;   /* process; 0: none */
    int to, from; /* ends of pipes */
    int code;     /* once it has ended */
};
/* Starts the relay and waits until all ranks have met; to be called before the lock of the name is taken. request:
 * in: the arguments that this node knows, or empty; out: rank 0's, else those of the first rank that knows any.
 * AS_USAGE: there is one rank, or two have the same name. AS_UNSUPPORTED: no MPI. AS_INTERRUPTED: stop became non-zero.
 */
enum as_status as_fleet_gather_start(struct as_fleet_gather *g, const char *folder, const char *name,
                                     const struct as_fleet_job *job, struct as_buf *request,
                                     const volatile sig_atomic_t *stop, struct as_error *err);
/* This node has ended, and its store is closed; interrupted: the store is not sent. The following take one that was not
 * started. */
void as_fleet_gather_ended(const struct as_fleet_gather *g, bool interrupted);
bool as_fleet_gather_lives(struct as_fleet_gather *g);
/* Of rank 0: ends the launch's relays. Of others: waits until rank 0 has the store. Both end early by stop.
 * AS_FAILED: it is not known to be there, for the reason. */
enum as_status as_fleet_gather_finish(struct as_fleet_gather *g, bool leads, const volatile sig_atomic_t *stop,
                                      struct as_error *err);

#endif
