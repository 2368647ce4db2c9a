/* A worker process, seen from the parent. */
#ifndef AS_RUN_WORKER_PROCESS_H
#define AS_RUN_WORKER_PROCESS_H

#include "worker/message.h"

#include <sys/types.h>

struct as_worker {
    pid_t pid;          /* 0: not running */
    int fd;             /* socket */
    int log;            /* unnamed file that takes its stdout and stderr */
    uint64_t oom_kills; /* as_host_oom_kills when it was started */
};
#define AS_WORKER_INIT                                                                                                 \
    {                                                                                                                  \
        0, -1, -1, 0                                                                                                   \
    }

/* program NULL: $ASSAY_WORKER, this program when it is assay, the assay beside it, the installed one, the one on
 * PATH. */
enum as_status as_worker_start(struct as_worker *w, const char *program, struct as_error *err);
/* Asks and waits for the answer. All but AS_RECEIVED and AS_STOPPED: the worker is killed and reaped, and how it ended
 * is in why ("killed by signal 11 (Segmentation fault): last words"). AS_STOPPED: likewise, for stop. */
enum as_receive as_worker_ask(struct as_worker *w, const json_t *order, double deadline,
                              const volatile sig_atomic_t *stop, json_t **reply, char *why, size_t why_size);
void as_worker_stop(struct as_worker *w); /* at once; takes one that is not running */
/* Reaps a worker that is gone, and says how it ended. */
enum as_receive as_worker_end(struct as_worker *w, char *why, size_t size);

#endif
