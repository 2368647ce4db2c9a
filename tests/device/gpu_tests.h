/* What the tests of cards share: devices of a stand-in for the driver's library, opened and closed with nothing left
 * over, and tests that are the same whatever the API. */
#ifndef AS_TESTS_DEVICE_CARDS_H
#define AS_TESTS_DEVICE_CARDS_H

#include "check.h"

/* Which library is stood in for; each test program defines it. */
struct stand_in {
    const struct as_backend *backend;
    const char *library;       /* the name under which the backend finds it */
    const char *words;         /* environment variable with the faults to play */
    const char *visible;       /* environment variable that chooses among its devices */
    const char *live, *broken; /* its functions: what was made and not given back, the first rule that was broken */
    const char *reset;         /* and: a new process, as far as it is concerned */
    const char *allocators[2]; /* two that can be on another device, the first the plain one */
    const char *pinned;        /* one that cannot */
    const char *managed;       /* one of which not all that is free may be taken */
    const char *no_path;       /* what is said where devices cannot reach each other */
    const char *no_peer;       /* the error that "peererror" plays */
    const char *free;          /* of each device, in words */
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
void open_card(struct opened *o, size_t index);
/* Another one of a backend that is open. */
void open_device(struct opened *o, size_t index);
void close_backend(struct opened *o);
/* And nothing is left, and no rule was broken. */
void close_card(struct opened *o);

/* Whether a few of the faults planted in kernels will do: a sanitizer sees nothing of what stand-ins compile. */
bool gpu_brief(void);

/* A backend that cannot be opened says so, and `part` of why; visible: what the environment says, NULL nothing. */
void gpu_refuses(const char *words, const char *visible, const char *part);
void gpu_order_is_pci(void **state);
void gpu_topology_is_json(void **state);

/* ---- memory: with a device open ---- */

#define KIB UINT64_C(1024)
#define GIB (UINT64_C(1) << 30)
enum { ROUND_TRIP = 3 * 64 * 1024 + 5 };

extern struct opened card; /* the first device, between the two */
int gpu_setup(void **state);
int gpu_teardown(void **state);
enum as_status gpu_get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                       struct as_error *err);
/* Write, map, change, unmap, read; reads and writes while it is mapped see the same memory. m: ROUND_TRIP bytes. */
void gpu_round_trip(const char *allocator, struct as_memory *m);
void gpu_times(void **state);
void gpu_most(void **state);
void gpu_peer(void **state);
void gpu_copies_cross(void **state);
void gpu_opened_twice(void **state);
void gpu_two_devices(void **state);

#endif
