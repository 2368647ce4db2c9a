/* Running: the parent side. Owns the store and the order of things; workers load drivers and measure. */
#ifndef AS_RUN_RUN_H
#define AS_RUN_RUN_H

#include "plan/plan.h"
#include "probe/main_memory.h"
#include "store/store.h"

#include <signal.h>

enum as_event_kind {
    AS_EVENT_RUN_START,  /* run, cells_total */
    AS_EVENT_CELL_START, /* cell: a trial begins */
    AS_EVENT_CELL_END,   /* cell with its numbers so far; trial */
    AS_EVENT_NOTE,       /* text: waiting for another run, a worker died, drift seen */
    AS_EVENT_RUN_END,    /* run */
};
struct as_event {
    enum as_event_kind kind;
    const struct as_run *run;
    const struct as_cell *cell;
    const struct as_trial *trial;
    const char *text;
    size_t cells_done, cells_total; /* cells that have a number or a reason */
    int round, rounds;              /* trial round, from 1; above rounds: passes over what these left imprecise */
    double elapsed_s, eta_s;        /* eta NAN unknown */
    bool first_done; /* every cell that a data sheet quotes has had its first trial, as far as the budget allows */
    struct as_cell_view cells; /* of the whole run as they are now, without sentinels; n 0: there is none yet */
};
typedef void (*as_event_fn)(void *user, const struct as_event *event);

struct as_run_options {
    const char *const *suites; /* names of suites or probes or paths */
    size_t suites_n;
    const char *devices; /* "cpu,opencl:0" "all"; NULL: as the suite says */
    const char *const *sets;
    size_t sets_n;
    double precision; /* of every cell; NAN: the suite's */
    double budget_s;  /* NAN: the suite's; 0: none */
    int trials;       /* 0: the suite's */
    uint64_t seed;
    int has_seed;
    int isolate;
    int wait;            /* when another run measures on this machine: 1 wait for it, 0 refuse (AS_BUSY) */
    const char *command; /* as typed, for provenance */
    const char *worker;  /* program that is started as worker; NULL: found beside this one */
    as_event_fn event;
    void *user;
    const volatile sig_atomic_t *stop; /* becomes non-zero: end the cell, keep the rest */
};
struct as_run_result {
    int64_t run_id;
    size_t by_status[AS_CELL_STATUS_N];
    enum as_run_state state;
    int lost; /* devices could not be reopened: `resume` measures their remaining cells */
};
/* AS_OK also when cells failed (see result). AS_UNSUPPORTED: no such device to measure on. */
enum as_status as_run_start(struct as_store *store, const struct as_run_options *options, struct as_run_result *result,
                            struct as_error *err);
/* What such a run would measure. Devices are opened to be asked what they are; nothing is measured or stored. */
struct as_dry_run {
    char suite[64]; /* names of suites and probes, apart by commas */
    double precision, budget_s;
    int trials;
    struct as_plan plan; /* without sentinels */
    struct as_device_info *devices;
    size_t devices_n;
    struct as_buf left_out; /* devices that are the same hardware as others; "" none */
    double estimated_s;     /* the budget; without one, the sampling time of all trials */
};
enum as_status as_run_plan(const struct as_run_options *options, struct as_dry_run *out, struct as_error *err);
void as_dry_run_finish(struct as_dry_run *d); /* also where as_run_plan failed */
/* Resumes an unfinished run (name as for as_store_run; NULL: the last unfinished one of this host). Of options only
 * event, user, stop, wait, worker and budget_s count. AS_USAGE: it was measured on another host, or on other devices
 * (identity.h); where some of its devices are here, the cells of the others are skipped. */
enum as_status as_run_resume(struct as_store *store, const char *name, const struct as_run_options *options,
                             struct as_run_result *result, struct as_error *err);
/* Measures one stored cell again, as it was asked for, in a run of its own; *again is the new cell's id, if that run is
 * complete. A note says if the host or device differs. */
enum as_status as_run_replay(struct as_store *store, int64_t cell_id, const struct as_run_options *options,
                             struct as_run_result *result, int64_t *again, struct as_error *err);

/* Measures cells of a stored run again, as they were asked for, in a run of their own, with those by which numbers of
 * main memory are judged. AS_USAGE: the run was measured on another host or other devices. */
enum as_status as_run_again(struct as_store *store, const struct as_run *old, const int64_t *cells, size_t n,
                            const struct as_run_options *options, struct as_run_result *result, struct as_error *err);

/* Recomputes cells whose values do not match their stored trials, in every run. *cells: how many; *busy: runs that
 * another process is measuring, which are skipped. */
enum as_status as_run_repair(struct as_store *store, size_t *cells, size_t *busy, struct as_error *err);

/* All devices that this machine's backends offer, asked from worker processes. Backends that cannot be opened have
 * id = backend's name, name "" and the reason in why. */
struct as_found_device {
    struct as_device_info info;
    char why[512];  /* "" when it can be used */
    char *topology; /* JSON, NULL when unknown; owned */
};
/* stop, which may be NULL, as in as_run_options: AS_INTERRUPTED. */
enum as_status as_find_devices(const char *worker, const volatile sig_atomic_t *stop, struct as_found_device **out,
                               size_t *n, struct as_error *err);
void as_found_devices_free(struct as_found_device *devices, size_t n);

/* One run per user and machine at a time (lock.c). *lock is a descriptor to close, or -1 with a note: without a lock
 * runs may disturb each other, but results are safe. Of options command, event, user, stop and wait count. */
enum as_status as_lock_machine(const struct as_run_options *options, double budget_s, int *lock, struct as_error *err);

#endif
