/* What a test program runs against: a backend and the library that stands in for its driver. Devices are opened and
 * closed with nothing left over. */
#ifndef AS_TESTS_DEVICE_STAND_IN_H
#define AS_TESTS_DEVICE_STAND_IN_H

#include "check.h"

enum runs {
    RUNS_NONE,    /* launches are taken, kernels do nothing */
    RUNS_ORDERED, /* one work-item after the other, in the call; copies too */
    RUNS_ALL
};

/* Opening a backend, or one of its devices, fails. */
struct open_refusal {
    const char *words, *visible; /* visible: what the environment says, NULL nothing */
    bool device;                 /* the backend opens, its first device does not */
    enum as_status code;
    const char *part; /* of the message */
};

/* An allocation fails by its size. */
struct size_limit {
    const char *allocator;
    uint64_t bytes;
    enum as_status code;
    const char *part;
};

/* What the device does, as bits: what ends with an error while a fault is played. */
enum { DOES_COPIES = 1, DOES_KERNELS = 2, DOES_ALL = 3 };
struct driver_fault {
    const char *words;
    enum as_status code;
    const char *part;
    unsigned does;
    bool lost;         /* from then on every call fails */
    const char *after; /* lost: what these say */
};

/* Each test program defines it; tables end with a row of zeros, and what is 0 is left out. */
struct stand_in {
    const struct as_backend *backend;
    const char *library;       /* the name under which the backend finds it; NULL: nothing stands in */
    const char *words;         /* environment variable with the faults to play */
    const char *visible;       /* environment variable that chooses among its devices */
    const char *live, *broken; /* its functions: what was made and not given back, the first rule that was broken */
    const char *reset;         /* and: a new process, as far as it is concerned */
    const char *failed;        /* and: which call failed as it was asked for by "fail=N"; "" none yet */
    /* For the conformance suite: */
    void (*prepare)(void); /* sets what the environment needs beside that */
    bool may_be_missing;   /* skipped where the backend finds no device */
    enum runs runs;
    const char *const *machines; /* words of devices that differ; NULL: one of no words */
    const char *const *bus_ids;  /* of the devices, in order */
    const struct open_refusal *refusals;
    const struct size_limit *limits;
    const struct driver_fault *faults;
    const char *no_memory;                  /* what a failed allocation says while "nomem" is played */
    const char *not_from_driver;            /* an allocator that does not need the driver */
    const char *allocators[2];              /* two that can be on another device, the first the plain one */
    const char *pinned;                     /* one that cannot */
    const char *managed;                    /* one of which not all that is free may be taken */
    const char *no_path, *no_peer, *capped; /* what is said where devices do not reach each other, the error that
                                               "peererror" plays, and of one that has too little memory */
};
extern const struct stand_in stand_in;

struct opened {
    void *backend;
    struct as_device dev;
};

/* Faults to play from now on, "" none. */
void fake(const char *words);
void fake_reset(void);
/* What was made and not given back. */
int fake_live(void);
/* The same of another stand-in, which the backend has loaded, by its function. */
int fake_live_of(const char *library, const char *function);
const char *fake_broken(void);
const char *fake_failed(void);
void open_card(struct opened *o, size_t index);
/* Another one of a backend that is open. */
void open_device(struct opened *o, size_t index);
void close_backend(struct opened *o);
/* And nothing is left, and no rule was broken. */
void close_card(struct opened *o);
/* Whether a few of the faults planted in kernels will do: a sanitizer sees nothing of what stand-ins compile. */
bool gpu_brief(void);

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)

extern struct opened gpu; /* the first device, between the two */
int gpu_setup(void **state);
int gpu_teardown(void **state);
enum as_status gpu_get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                       struct as_error *err);

#endif
