/* assay: the public C API. Open a store, enumerate devices, run a probe with axes, read cells.
 *
 * Ownership: what a *_open or *_list call hands out belongs to the caller until the matching *_close or *_free call;
 * strings inside live as long as the object they came with. Nothing here is global: several stores may be open at once.
 * Threads: an object is used by one thread at a time.
 * Errors: functions return 0 (ASSAY_OK) or a code, and put a sentence that says what to do into `error`, which may be
 * NULL. Any other pointer that is not said to be optional must not be NULL: ASSAY_USAGE.
 * Measuring happens in worker processes, which are the assay program: $ASSAY_WORKER, else the installed one. */
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
    const char *name;    /* as the driver says: escape it before you show it */
    const char *driver;
    const char *reason; /* NULL when it can be used, else why it cannot */
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
    size_t n; /* samples; the numbers below are NAN when it is 0 */
    double median, ci_low, ci_high, mad, min, max;
    const double *samples; /* n of them, in order of time */
    double precision;      /* width of the interval that was asked for, as a fraction of the median; NAN unknown */
};

ASSAY_API const char *assay_version(void);

/* path NULL: the user's own store. Created when absent. */
ASSAY_API int assay_store_open(const char *path, struct assay_store **store, struct assay_error *error);
/* NULL is allowed; does nothing in a callback of a call that uses the store. */
ASSAY_API void assay_store_close(struct assay_store *store);

ASSAY_API int assay_devices_list(struct assay_device **devices, size_t *n, struct assay_error *error);
ASSAY_API void assay_devices_free(struct assay_device *devices, size_t n);

struct assay_options {
    size_t size;             /* sizeof(struct assay_options), so that it can grow */
    const char *devices;     /* "cpu", "cpu,opencl:0"; NULL: every piece of hardware once */
    const char *const *sets; /* "size=1KiB..1MiB", NULL-terminated; NULL: none */
    double precision;        /* of every cell; 0: the suite's, which may differ from probe to probe */
    double budget;           /* seconds; 0: the suite's */
    uint64_t seed;           /* 0: drawn, and stored */
};
/* Called after each finished cell, in the thread that called assay_run; a non-zero value ends the run (it can be
 * resumed). The cell lives until the callback returns. */
typedef int (*assay_cell_fn)(void *user, const struct assay_cell *cell);

/* what: a suite ("quick") or a probe ("latency"). options, callback and user may be NULL. *run: number of the new run,
 * 0: none was made. ASSAY_BUSY: called from a run's callback, on any store. ASSAY_INTERRUPTED: the callback ended
 * it, or a device was lost. */
ASSAY_API int assay_run(struct assay_store *store, const char *what, const struct assay_options *options,
                        assay_cell_fn callback, void *user, int64_t *run, struct assay_error *error);

/* Calls back for each cell of a run (0: the last run) in order of the plan; probe NULL: all. */
ASSAY_API int assay_cells(struct assay_store *store, int64_t run, const char *probe, assay_cell_fn callback, void *user,
                          struct assay_error *error);

#ifdef __cplusplus
}
#endif
#endif
