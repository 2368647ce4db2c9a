/* A courier, seen from inside: its messages, and what it does as rank 0 and as another rank. */
#ifndef AS_FLEET_FLEET_COURIER_H
#define AS_FLEET_FLEET_COURIER_H

#include "fleet/fleet_job.h"
#include "mpi/mpi.h"

enum as_courier_kind {
    AS_COURIER_HELLO,   /* to rank 0: name and arguments, as JSON */
    AS_COURIER_WELCOME, /* from rank 0: the file to look for, arguments, or why not, as JSON */
    AS_COURIER_SEEN,    /* to rank 0; flag: the file is there, so the folder is shared */
    AS_COURIER_STATE,   /* to rank 0; flag: AS_COURIER_DIED, AS_COURIER_LAST */
    AS_COURIER_OFFER,   /* to rank 0: size and hash of the store; flag: there is one. After the last state */
    AS_COURIER_WANT,    /* from rank 0: send the store */
    AS_COURIER_ALIVE,   /* from rank 0 */
    AS_COURIER_END,     /* from rank 0; flag: an as_courier_end, what became of the store */
};
enum { AS_COURIER_DIED = 1, AS_COURIER_LAST = 2 };
struct as_courier_head {
    int32_t kind, flag;
    uint64_t size, hash; /* of the store */
    uint64_t payload;    /* bytes that follow, up to AS_COURIER_PIECE */
};
enum { AS_COURIER_PIECE = 1 << 20 };

/* Exit codes of a courier. */
enum as_courier_end {
    AS_COURIER_ARRIVED,
    AS_COURIER_FAILED,
    AS_COURIER_TOO_EARLY, /* rank 0 ended before */
    AS_COURIER_SILENT,    /* nothing was heard of rank 0 */
    AS_COURIER_GIVEN_UP,  /* rank 0 took the node for dead */
    AS_COURIER_NOT_TAKEN, /* rank 0 could not receive or write the store */
    AS_COURIER_ENDS_N
};
struct as_courier {
    const char *folder, *name, *request; /* request: as JSON, or "" */
    const struct as_fleet_job *job;
    struct as_mpi mpi;
    int in, out; /* pipes from and to the process that measures */
    bool has_ended, is_interrupted, has_lost_parent;
    char *piece;                    /* AS_COURIER_PIECE */
    struct as_courier_parcel *left; /* messages that a peer has not taken or sent: MPI may yet use them */
};
/* What the process that measures has told. */
void as_courier_listen(struct as_courier *c);
/* Tells it that all have met, with the arguments, or why not. Once. */
void as_courier_tell(struct as_courier *c, bool good, const char *text);
/* Messages. They never block in MPI, which would take a CPU. False: the peer takes or sends nothing within `patience`
 * seconds, or there is no memory; no further message of such a peer may be received. A head is followed by
 * head->payload bytes of `payload`. */
bool as_courier_send(struct as_courier *c, int to, const struct as_courier_head *head, const char *payload,
                     double patience);
bool as_courier_receive(struct as_courier *c, int from, void *to, size_t n, double patience);
/* A head and its payload, into c->piece. */
bool as_courier_read(struct as_courier *c, int from, struct as_courier_head *head, double patience);
/* Size, and hash of the hashes of pieces. AS_NOTFOUND: there is none. */
enum as_status as_courier_hash_file(const struct as_courier *c, const char *path, uint64_t *size, uint64_t *hash,
                                    struct as_error *err);
uint64_t as_courier_hash_more(uint64_t hash, const char *piece, size_t n);
/* Seconds. */
extern const double as_courier_poll_s, as_courier_meet_s;

enum as_courier_end as_courier_lead(struct as_courier *c);
enum as_courier_end as_courier_follow(struct as_courier *c);

#endif
