/* assay: the public C API. Open a store, enumerate devices, run a probe with axes, read cells.
 *
 * Ownership: objects returned by *_open and *_list calls belong to the caller until the matching *_close or *_free
 * call; strings inside live as long as their object. There is no global state: several stores may be open at once.
 * Threads: an object is used by one thread at a time.
 * Errors: functions return 0 (ASSAY_OK) or a code, and write a message that says what to do to `error`, which may be
 * NULL. Other pointers must not be NULL unless documented as optional: ASSAY_USAGE.
 * Worker processes measure; they run the assay program: $ASSAY_WORKER, else the installed one. */
#ifndef ASSAY_H
#define ASSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_API __attribute__((visibility("default")))

enum assay_code {
    ASSAY_OK = 0,
    ASSAY_FAILED,
    ASSAY_USAGE,
    ASSAY_UNSUPPORTED,
    ASSAY_NOMEM,
    ASSAY_IO,
    ASSAY_FORMAT,
    ASSAY_BUSY,
    ASSAY_TIMEOUT,
    ASSAY_INTERRUPTED,
    ASSAY_NOTFOUND
};

struct assay_error {
    int code;
    char text[512];
};

struct assay_store;

struct assay_device {
    const char *id;      /* "cpu", "opencl:0" */
    const char *backend; /* "cpu", "opencl" */
    const char *name;    /* as reported by the driver: escape it before display */
    const char *driver;
    const char *reason; /* NULL if it can be used, else why it cannot */
};

struct assay_axis {
    const char *name, *text;
    double number; /* NAN for words */
};

struct assay_cell {
    int64_t id, run;
    const char *backend, *device, *probe, *metric, *unit;
    const char *counts; /* what the number counts, in words */
    const char
        *status; /* "ok", "wide", "rejected", "unsupported", "failed", "crashed", "timeout", "skipped", "planned" */
    const char *reason; /* "" for ok */
    const struct assay_axis *axes;
    size_t axes_n;
    size_t n; /* samples; if 0, the numbers below are NAN */
    double median, ci_low, ci_high, mad, min, max;
    const double *samples; /* n of them, in order of time */
    double precision;      /* requested interval width as a fraction of the median; NAN unknown */
};

ASSAY_API const char *assay_version(void);

/* path NULL: the user's default store. Created if missing. */
ASSAY_API int assay_store_open(const char *path, struct assay_store **store, struct assay_error *error);
/* Accepts NULL; does nothing in a callback of a call that uses the store. */
ASSAY_API void assay_store_close(struct assay_store *store);

ASSAY_API int assay_devices_list(struct assay_device **devices, size_t *n, struct assay_error *error);
ASSAY_API void assay_devices_free(struct assay_device *devices, size_t n);

struct assay_options {
    size_t size;             /* sizeof(struct assay_options), so that it can grow */
    const char *devices;     /* "cpu", "cpu,opencl:0"; NULL: every piece of hardware once */
    const char *const *sets; /* "size=1KiB..1MiB", NULL-terminated; NULL: none */
    double precision;        /* of every cell; 0: the suite's, which may differ between probes */
    double budget;           /* seconds; 0: the suite's */
    uint64_t seed;           /* 0: random, and stored */
};
/* Called after each finished cell, in the thread that called assay_run; a non-zero value ends the run (it can be
 * resumed). The cell lives until the callback returns. */
typedef int (*assay_cell_fn)(void *user, const struct assay_cell *cell);

/* what: a suite ("quick") or a probe ("latency"). options, callback and user may be NULL. *run: number of the new run,
 * 0 if none was created. ASSAY_BUSY: called from a run's callback, on any store. ASSAY_INTERRUPTED: the callback ended
 * it, or a device was lost. */
ASSAY_API int assay_run(struct assay_store *store, const char *what, const struct assay_options *options,
                        assay_cell_fn callback, void *user, int64_t *run, struct assay_error *error);

/* Calls the callback for each cell of a run (0: the last) in order of the plan; probe NULL: all probes. */
ASSAY_API int assay_cells(struct assay_store *store, int64_t run, const char *probe, assay_cell_fn callback, void *user,
                          struct assay_error *error);

#ifdef __cplusplus
}
#endif
#endif
