/* A fleet that measures itself: which rank this process is, what each node says of its state in the folder that they
 * share, and how far they all are. The folder is the channel (fleet_gather.h fills it where none is shared):
 * FOLDER/NAME.db is a node's store, FOLDER/status/NAME.json its state, and FOLDER/status/NAME.lock is locked as long as
 * its process lives. */
#ifndef AS_FLEET_FLEET_JOB_H
#define AS_FLEET_FLEET_JOB_H

#include "base/buf.h"

#include <stdint.h>

/* By the launcher's environment. */
struct as_fleet_job {
    const char *launcher; /* "mpirun", "srun", ...; NULL: started by hand */
    int rank, size;       /* 0 of 1 without a launcher */
    int local;            /* rank among those of this host */
    char id[64];          /* of the launch; "" unknown */
};
void as_fleet_job_find(struct as_fleet_job *out);
/* The name of this process's files: the host's, and behind it the local rank where it is not the first: "node03",
 * "node03-1". */
void as_fleet_job_name(const struct as_fleet_job *job, const char *host, char *out, size_t size);

enum as_fleet_state {
    AS_FLEET_STARTING,
    AS_FLEET_MEASURING,
    AS_FLEET_MEASURED, /* of another node that shares no folder: its results are not here yet */
    AS_FLEET_INTERRUPTED,
    AS_FLEET_FAILED, /* nothing could be measured; why */
    AS_FLEET_COMPLETE,
    AS_FLEET_STATES_N
};
const char *as_fleet_state_word(enum as_fleet_state state);

struct as_fleet_status {
    char name[280]; /* as_fleet_job_name; read from the file's name */
    char host[256];
    struct as_fleet_job job; /* launcher is not kept */
    enum as_fleet_state state;
    char why[256];
    char run[40];        /* its UUID in the node's store; "" none yet */
    double share, eta_s; /* done, of 1; NAN unknown */
    char now[96];        /* what is measured */
    uint64_t beat;       /* rises with each writing */
    bool locked;         /* the lock file could be locked: so others can see that the process lives */
    char *request;       /* owned: the arguments of `assay run` as a JSON array of strings */
    bool lives;          /* as seen when it was read: the lock is held */
};
void as_fleet_status_finish(struct as_fleet_status *s);
enum as_status as_fleet_status_write(const char *folder, struct as_fleet_status *s, struct as_error *err);
/* AS_NOTFOUND: there is none. AS_FORMAT: it is none of this version. */
enum as_status as_fleet_status_read(const char *folder, const char *name, struct as_fleet_status *out,
                                    struct as_error *err);
/* The same of a state's text. */
enum as_status as_fleet_status_from_text(const char *text, size_t len, const char *name, struct as_fleet_status *out,
                                         struct as_error *err);
/* FOLDER/status/NAME.json */
void as_fleet_status_path(const char *folder, const char *name, struct as_buf *out);
enum { AS_FLEET_STATUS_BYTES_MAX = 1 << 16 };
/* A state that is there and cannot be read. */
struct as_fleet_unread {
    char name[280], why[256];
    bool lives; /* the lock is held */
};
/* All of the folder, by name. */
struct as_fleet_statuses {
    struct as_fleet_status *v; /* owned */
    size_t n, cap;
    struct as_fleet_unread *unread; /* owned */
    size_t unread_n, unread_cap;
};
enum as_status as_fleet_statuses_read(const char *folder, struct as_fleet_statuses *out, struct as_error *err);
void as_fleet_statuses_finish(struct as_fleet_statuses *s);

/* With its folder for states. */
enum as_status as_fleet_folder_make(const char *folder, struct as_error *err);
/* Makes the folder and takes the lock of this name. *lock: a descriptor to close at the end, or -1 where the file
 * system has no locks. AS_BUSY: a living process has the same name. */
enum as_status as_fleet_folder_enter(const char *folder, const char *name, int *lock, struct as_error *err);
/* FOLDER/NAME.db */
void as_fleet_store_path(const char *folder, const char *name, struct as_buf *out);

/* Rank 0's view of the others. */
struct as_fleet_watch {
    const char *folder;
    const struct as_fleet_job *job;
    const char *own;   /* its own name */
    double began;      /* as_now() */
    double next_at;    /* of the next look */
    double printed_at; /* of the last lines about those that measure */
    uint64_t looks;
    bool told_missing; /* it was said that some left no state */
    struct as_fleet_seen {
        char name[280];
        enum as_fleet_state state;
        uint64_t beat, look; /* look: the last one that could read it */
        double changed_at;
        bool locked;
        bool told; /* that it cannot be read, since it could last */
        bool over; /* has ended, or died */
    } * seen;      /* owned */
    size_t seen_n, seen_cap;
};
void as_fleet_watch_finish(struct as_fleet_watch *w);
/* Looks where it is time, and appends lines for what changed; *pending: nodes that still measure or have not been seen
 * and may yet be. */
enum as_status as_fleet_watch_look(struct as_fleet_watch *w, size_t *pending, struct as_buf *out, struct as_error *err);

#endif
