/* The environment of a test program: a backend and the library that stands in for its driver. Devices are opened and
 * closed without leaks. */
#ifndef AS_TESTS_DEVICE_STAND_IN_H
#define AS_TESTS_DEVICE_STAND_IN_H

#include "check.h"

enum runs {
    RUNS_NONE,    /* launches are accepted, kernels do nothing */
    RUNS_ORDERED, /* one work-item after the other, within the call; copies too */
    RUNS_ALL
};

/* Opening a backend, or one of its devices, fails. */
struct open_refusal {
    const char *words, *visible; /* visible: value of the environment variable; NULL: unset */
    bool device;                 /* the backend opens, its first device does not */
    enum as_status code;
    const char *part; /* part of the message */
};

/* An allocation that fails by its size. */
struct size_limit {
    const char *allocator;
    uint64_t bytes;
    enum as_status code;
    const char *part;
};

/* Operations of the device, as bits: those that fail while a fault is played. */
enum { DOES_COPIES = 1, DOES_KERNELS = 2, DOES_ALL = 3 };
struct driver_fault {
    const char *words;
    enum as_status code;
    const char *part;
    unsigned does;
    bool lost;         /* from then on every call fails */
    const char *after; /* lost: the message of these */
};

/* Each test program defines it; tables end with a row of zeros, and members that do not apply are 0. */
struct stand_in {
    const struct as_backend *backend;
    const char *library;       /* the name under which the backend finds it; NULL: no stand-in */
    const char *words;         /* environment variable with the faults to play */
    const char *visible;       /* environment variable that selects its devices */
    const char *live, *broken; /* its functions: the number of unreleased objects, the first broken rule */
    const char *reset;         /* and: reset, as in a new process */
    const char *failed;        /* and: the call that failed under "fail=N"; "": none yet */
    /* For the conformance suite: */
    void (*prepare)(void); /* sets further environment */
    bool may_be_missing;   /* skipped if the backend finds no device */
    enum runs runs;
    const char *const *machines; /* words of different devices; NULL: a single one without words */
    const char *const *bus_ids;  /* of the devices, in order */
    const struct open_refusal *refusals;
    const struct size_limit *limits;
    const struct driver_fault *faults;
    const char *no_memory;                  /* message of a failed allocation under "nomem" */
    const char *not_from_driver;            /* how allocators that do not need the driver begin */
    const char *allocators[2];              /* two that can be on another device, the first the plain one */
    const char *pinned;                     /* one that cannot */
    const char *managed;                    /* one of which not all free memory may be used */
    const char *no_path, *no_peer, *capped; /* what is said where devices do not reach each other, the error that
                                               "peererror" plays, and of one that has too little memory */
};
extern const struct stand_in stand_in;

struct opened {
    void *backend;
    struct as_device dev;
};

/* Faults to play from now on; "": none. */
void fake(const char *words);
void fake_reset(void);
/* Number of objects not released. */
int fake_live(void);
/* The same for another stand-in, loaded by the backend, by its function. */
int fake_live_of(const char *library, const char *function);
const char *fake_broken(void);
const char *fake_failed(void);
void open_gpu(struct opened *o, size_t index);
/* Another device of an open backend. */
void open_device(struct opened *o, size_t index);
void close_backend(struct opened *o);
/* And nothing leaked, and no rule was broken. */
void close_gpu(struct opened *o);
/* Do a few of the faults planted in kernels suffice? A sanitizer does not see what stand-ins compile. */
bool gpu_brief(void);

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)

extern struct opened gpu; /* the first device, between the two */
int gpu_setup(void **state);
int gpu_teardown(void **state);
enum as_status gpu_get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                       struct as_error *err);

#endif
