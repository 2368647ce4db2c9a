/* The record of a backend: how its library is loaded and its devices are opened, and what is known without either. The
 * functions of an opened device are in device.h. */
#ifndef AS_DEVICE_BACKEND_H
#define AS_DEVICE_BACKEND_H

#include "device/info.h"

#define AS_DEVICE_ABI 1u /* incremented by the first change of a struct here after a release */

struct as_device;
struct as_sensor;

struct as_backend {
    unsigned abi; /* AS_DEVICE_ABI; first, so that a mismatch can be detected */
    const char *name;
    const char *title; /* "OpenCL, any vendor, by libOpenCL.so.1" */
    /* Loads its libraries; on failure err has the reason (with dlerror's text). *backend is passed to the other
     * functions. */
    enum as_status (*open)(void **backend, struct as_error *err);
    void (*close)(void *backend);
    size_t (*count)(void *backend); /* number of devices, which are in order of PCI bus if they have one */
    enum as_status (*open_device)(void *backend, size_t index, struct as_device *out, struct as_error *err);
    /* (optional) A compile-only device for this info, opened without the driver beside the measuring one. build
     * stores the machine code in the cache (code_cache.h) and returns AS_UNSUPPORTED, as does everything else that
     * needs a device. */
    enum as_status (*open_compiler)(const struct as_device_info *info, struct as_device *out, struct as_error *err);
    const struct as_role_name *roles;  /* of its allocators, even if the backend is not built in */
    const struct as_sensor *sensor;    /* (optional) the only sensor for its devices (sensor.h) */
    const struct as_vocabulary *words; /* NULL: the default terms */
    bool portable;                     /* a vendor-neutral API: another backend may drive the same devices */
    bool on_request;                   /* its devices are used only if requested by name, and never listed */
    bool single;                       /* the id of its first device is the backend's name, without a number */
    /* (optional) Environment variables that decide how its runtime manages and copies memory, or what kernels
     * read; ends with NULL. */
    const char *const *environment;
    /* (optional) Names of the functions by which an MPI library reports that it accepts device pointers of this API;
     * ends with NULL. */
    const char *const *mpi_queries;
    const char *unbuilt; /* why this backend is not built in (all slots are NULL); NULL if it is */
};

/* All backends of this build, in the order in which devices are listed. Terminated by NULL. */
extern const struct as_backend *const as_backends[];
/* The backend of a device ("cuda:0") or of this name ("cuda"); NULL if there is none. */
const struct as_backend *as_backend_find(const char *id);
/* AS_FAILED, naming the first missing required slot or both ABI numbers. */
enum as_status as_backend_check(const struct as_backend *backend, struct as_error *err);
/* "HSA_XNACK=1, HSA_ENABLE_SDMA=0": those of its variables that are set. */
void as_backend_environment(const struct as_backend *backend, struct as_buf *out);
/* Completes the description of one of n devices after the backend has opened it. */
void as_backend_describe(const struct as_backend *backend, size_t n, struct as_device_info *info);

#endif
