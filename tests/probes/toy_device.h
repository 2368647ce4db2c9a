/* A device for tests of probes: memory from calloc, native kernels on threads, device kernels supplied by the test, and
 * faults on demand. */
#ifndef TESTS_PROBES_TOY_DEVICE_H
#define TESTS_PROBES_TOY_DEVICE_H

#include "device/device.h"
#include "probe/probe.h"

struct toy {
    struct as_device dev;
    /* runs one device kernel (for a device with AS_CAP_SOURCE); after submit on a separate thread */
    void (*kernel)(const char *name, void *const *args);
    int lose_launches; /* this many launches are not run */
    bool forget;       /* reads return zeros */
    bool deny_memory;  /* allocations fail */
    int device_cpu;    /* CPU of submitted kernels; -1: any */
    uint64_t free_bytes;
    double launch_s;               /* reported time of each launch; 0: real time */
    double alloc_s, first_alloc_s; /* of an allocation; added to the very first one; a free takes twice alloc_s */
    unsigned launches, allocations, live; /* counted */
    size_t workgroups, shared_bytes;      /* of the launch that runs */
    struct toy_running *running;
};
void toy_init(struct toy *t, unsigned capabilities);
/* A GPU like sm_90 with two SMs. */
void toy_init_sm90(struct toy *t, void (*kernel)(const char *name, void *const *args));

struct toy_trial {
    struct as_trial_context tc;
    struct as_axes axes;
    void *state;
};
/* axes: "name=text name=text", or "name=text;name=my text" if a value has spaces */
void toy_axes(struct as_axes *axes, const char *text);
/* Prepares a trial of the probe, which must succeed unless err is given. */
enum as_status toy_prepare(struct toy *t, const struct as_probe *probe, const char *axes, struct toy_trial *v,
                           struct as_error *err);
void toy_finish(const struct as_probe *probe, struct toy_trial *v);
/* Preparing this cell without memory fails, and leaves nothing behind. */
void toy_check_no_memory(const struct as_probe *probe, unsigned capabilities, const char *axes);
enum as_applies toy_applies(const struct toy *t, const struct as_probe *probe, const char *axes, struct as_error *err);

/* AddressSanitizer's malloc returns untouched pages and keeps freed ones. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TOY_MALLOC_IS_REAL false
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TOY_MALLOC_IS_REAL false
#endif
#ifndef TOY_MALLOC_IS_REAL
#define TOY_MALLOC_IS_REAL true
#endif

#endif
