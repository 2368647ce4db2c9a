/* One launch of `assay fleet links`, on any rank. */
#ifndef AS_CLI_FLEET_LINKS_JOB_H
#define AS_CLI_FLEET_LINKS_JOB_H

#include "cli/fleet/fleet_verbs.h"
#include "fleet/fleet_links.h"
#include "fleet/fleet_pairs.h"
#include "run/direct_run.h"

#include <signal.h>

enum { AS_LINKS_ALL_PAIRS_UP_TO = 16, AS_LINKS_HOST_BYTES = 64 };

struct as_links_job {
    const struct as_args *args;
    const char *folder;
    struct as_mpi mpi;
    struct as_link_memory memory;
    struct as_link_rank rank;
    struct as_run_request request;
    struct as_table_style style;
    const volatile sig_atomic_t *stop;
    bool quiet, is_resumed;
    bool is_first_of_host; /* it locks the machine for all ranks of its host */
    int ranks_on_host;     /* ranks on this host */
    int lock;              /* descriptor; -1: none */
    bool has_large;        /* every host has memory for the largest message */
    /* of rank 0 */
    char (*hosts)[AS_LINKS_HOST_BYTES]; /* owned; of each rank */
    int *node;                          /* owned; of each rank: the first rank of its host */
    struct as_device_info info;
    struct as_plan plan;
    struct as_direct_run *run;
    struct as_link_steps steps;
    char why[AS_LINK_MEMORIES][480]; /* why a memory cannot be used on all ranks; "" it can */
    bool is_short;                   /* the budget left something out */
    bool is_stopped;                 /* a signal stopped a rank */
    int code;                        /* exit code */
};
void as_links_job_finish(struct as_links_job *l);
/* On all ranks: rank 0 learns the hosts, and which memory all can use. */
enum as_status as_links_job_gather(struct as_links_job *l, struct as_error *err);
/* Cells into l->plan. AS_USAGE: none is possible. */
enum as_status as_links_job_plan(struct as_links_job *l, struct as_error *err);
/* AS_UNSUPPORTED: a cell's memory cannot be used. */
enum as_status as_links_job_check_memory(const struct as_links_job *l, const struct as_cell *cells, size_t n,
                                         struct as_error *err);
/* AS_USAGE: stored trials are of other ranks or hosts than these. */
enum as_status as_links_job_check_hosts(const struct as_links_job *l, struct as_error *err);
/* Which cells are measured at once, once l->run has them. */
enum as_status as_links_job_schedule(struct as_links_job *l, struct as_error *err);
struct as_link_task as_links_job_task(const struct as_cell *c);

#endif
