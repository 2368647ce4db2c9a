/* Messages between the parent and a worker: JSON objects over a pair of sockets (as_packet_pair), cut into packets,
 * since a packet has a largest size and a topology or a trial may be larger. */
#ifndef AS_WORKER_MESSAGE_H
#define AS_WORKER_MESSAGE_H

#include "base/error.h"
#include "model/cell.h"

#include <jansson.h>
#include <signal.h>
#include <sys/types.h>

/* What a trial is asked to do. */
struct as_trial_order {
    char probe[32];
    struct as_axes axes;
    uint64_t seed;
    int number;
    double precision; /* stop when the interval is this narrow */
    int alone;        /* the cell gets this trial only */
    double share_s;   /* time for sampling, after the preparation */
};

enum as_receive {
    AS_RECEIVED,
    AS_PEER_GONE,
    AS_NO_ANSWER,
    AS_STOPPED,
    AS_NO_MEMORY,      /* on this side */
    AS_PEER_NO_MEMORY, /* as_worker_ask: the worker ended for lack of it */
    AS_NOT_STARTED,    /* as_worker_ask: by its exit code the worker never became one */
};
/* Exit codes of a worker beside 0. */
enum { AS_WORKER_NO_MEMORY = 125, AS_WORKER_NOT_READY = 126, AS_WORKER_NO_PROGRAM = 127 };

/* AS_NOMEM: it was not sent. AS_IO: the peer is gone. */
enum as_status as_message_send(int fd, const json_t *message, struct as_error *err);
/* Waits until deadline (as_now() time; INFINITY: for ever). stop may be NULL. *message belongs to the caller.
 * Damaged packets count as AS_PEER_GONE. */
enum as_receive as_message_receive(int fd, double deadline, const volatile sig_atomic_t *stop, json_t **message);
/* The same from a child of this process: AS_PEER_GONE also when the child has ended, even if its children hold the
 * socket. It is not reaped. */
enum as_receive as_message_receive_from(int fd, pid_t child, double deadline, const volatile sig_atomic_t *stop,
                                        json_t **message);

/* Has this child of the process ended? It is left unreaped for the caller's wait. */
bool as_child_ended(pid_t child);

json_t *as_order_to_json(const struct as_trial_order *order); /* new reference, NULL when out of memory */
enum as_status as_order_from_json(const json_t *j, struct as_trial_order *order, struct as_error *err);
json_t *as_trial_to_json(const struct as_trial *trial);
enum as_status as_trial_from_json(const json_t *j, struct as_trial *trial, struct as_error *err);

#endif
