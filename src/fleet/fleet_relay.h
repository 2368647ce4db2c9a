/* A relay, seen from inside: its messages, and what it does as rank 0 and as another rank. */
#ifndef AS_FLEET_FLEET_RELAY_H
#define AS_FLEET_FLEET_RELAY_H

#include "fleet/fleet_job.h"
#include "mpi/mpi.h"

enum as_relay_kind {
    AS_RELAY_HELLO,   /* to rank 0: name and arguments, as JSON */
    AS_RELAY_WELCOME, /* from rank 0: the file to look for, arguments, or why not, as JSON */
    AS_RELAY_SEEN,    /* to rank 0; flag: the file is there, so the folder is shared */
    AS_RELAY_STATE,   /* to rank 0; flag: AS_RELAY_DIED, AS_RELAY_LAST */
    AS_RELAY_OFFER,   /* to rank 0: size and hash of the store; flag: there is one. After the last state */
    AS_RELAY_WANT,    /* from rank 0: send the store */
    AS_RELAY_ALIVE,   /* from rank 0 */
    AS_RELAY_END,     /* from rank 0; flag: an as_relay_end, what became of the store */
};
enum { AS_RELAY_DIED = 1, AS_RELAY_LAST = 2 };
struct as_relay_head {
    int32_t kind, flag;
    uint64_t size, hash; /* of the store */
    uint64_t payload;    /* bytes that follow, up to AS_RELAY_PIECE */
};
enum { AS_RELAY_PIECE = 1 << 20 };

/* Exit codes of a relay. */
enum as_relay_end {
    AS_RELAY_ARRIVED,
    AS_RELAY_FAILED,
    AS_RELAY_TOO_EARLY, /* rank 0 ended before */
    AS_RELAY_SILENT,    /* nothing was heard of rank 0 */
    AS_RELAY_GIVEN_UP,  /* rank 0 took the node for dead */
    AS_RELAY_NOT_TAKEN, /* rank 0 could not receive or write the store */
    AS_RELAY_ENDS_N
};
struct as_relay {
    const char *folder, *name, *request; /* request: as JSON, or "" */
    const struct as_fleet_job *job;
    struct as_mpi mpi;
    int in, out; /* pipes from and to the process that measures */
    bool has_ended, is_interrupted, has_lost_parent;
    char *piece;                           /* AS_RELAY_PIECE */
    struct as_relay_pending_message *left; /* messages that a peer has not taken or sent: MPI may yet use them */
};
/* What the process that measures has told. */
void as_relay_listen(struct as_relay *c);
/* Tells it that all have met, with the arguments, or why not. Once. */
void as_relay_tell(struct as_relay *c, bool good, const char *text);
/* Messages. They never block in MPI, which would take a CPU. False: the peer takes or sends nothing within `patience`
 * seconds, or there is no memory; no further message of such a peer may be received. A head is followed by
 * head->payload bytes of `payload`. */
bool as_relay_send(struct as_relay *c, int to, const struct as_relay_head *head, const char *payload, double patience);
bool as_relay_receive(struct as_relay *c, int from, void *to, size_t n, double patience);
/* A head and its payload, into c->piece. */
bool as_relay_read(struct as_relay *c, int from, struct as_relay_head *head, double patience);
/* Size, and hash of the hashes of pieces. AS_NOTFOUND: there is none. */
enum as_status as_relay_hash_file(const struct as_relay *c, const char *path, uint64_t *size, uint64_t *hash,
                                  struct as_error *err);
uint64_t as_relay_hash_more(uint64_t hash, const char *piece, size_t n);
/* Seconds. */
extern const double as_relay_poll_s, as_relay_meet_s;

enum as_relay_end as_relay_lead(struct as_relay *c);
enum as_relay_end as_relay_follow(struct as_relay *c);

#endif
