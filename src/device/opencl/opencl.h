/* Internal header of the OpenCL backend. */
#ifndef AS_DEVICE_OPENCL_OPENCL_H
#define AS_DEVICE_OPENCL_OPENCL_H

#include "device/device.h"
#include "device/opencl/api.h"

/* A device found when the backend was opened. */
struct as_cl_found {
    cl_platform_id platform;
    cl_device_id id;
    char bus_id[24]; /* "" when unknown */
    size_t order;    /* position in the loader's list */
};

struct as_cl_backend {
    struct as_cl_api api;
    struct as_cl_found *found;
    size_t found_n, found_cap;
};

/* Built programs stay until the device is closed, so that the second trial of a cell does not compile again. */
struct as_cl_built {
    struct as_cl_built *next;
    uint64_t key; /* hash of options and source */
    uint64_t binary_hash;
    cl_program program;
};

struct as_cl_device {
    const struct as_cl_api *api;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue back;                /* for a concurrent copy in the other direction; NULL before the first */
    cl_command_queue more[AS_QUEUES_MAX]; /* further queues */
    size_t more_n;
    cl_command_queue unordered; /* out of order; NULL before the first use */
    cl_event last;              /* of the last submitted command, NULL when none is outstanding */
    struct as_cl_built *built;
    cl_device_svm_capabilities svm;
    cl_device_type type;
    const char *language; /* "-cl-std=CL3.0" */
    bool no_counter;      /* AS_CL_COUNTER says so */
    uint64_t total;       /* bytes, as the driver says */
    uint64_t held;        /* bytes held by as_memory objects */
};

/* With "0" kernels read no counter, and cycles come as on devices without one: the two can be compared. */
#define AS_CL_COUNTER "ASSAY_OPENCL_COUNTER"

struct as_program {
    struct as_cl_built *built;
    char name[64];
};

struct as_kernel {
    cl_kernel kernel;
    char name[64];
};

/* Fills dev->info from the driver and, for devices that are the host's CPU, from the host. */
enum as_status as_cl_fill_info(struct as_device *dev, const struct as_cl_found *found, size_t index,
                               struct as_error *err);
/* PCI address of a device as "0000:01:00.0", "" when no extension tells it. */
void as_cl_bus_id(const struct as_cl_api *api, cl_device_id id, char out[24]);
/* A text property, made valid UTF-8 and trimmed; "" if the driver has none. */
void as_cl_device_text(const struct as_cl_api *api, cl_device_id id, cl_device_info what, char *out, size_t size);
/* A number of 1 to 8 bytes; 0 if the driver has none. */
uint64_t as_cl_device_number(const struct as_cl_api *api, cl_device_id id, cl_device_info what);
bool as_cl_has_extension(const struct as_cl_api *api, cl_device_id id, const char *name);

/* Fills the allocators of a device, with reasons why some cannot be used. */
void as_cl_list_allocators(struct as_device *dev);

enum as_status as_cl_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
enum as_status as_cl_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);
enum as_status as_cl_set_memory_arg(struct as_cl_device *cl, cl_kernel kernel, cl_uint index,
                                    const struct as_memory *mem, struct as_error *err);

/* Location of a block of memory, for copies. */
struct as_cl_place {
    cl_mem buffer;
    void *svm;   /* NULL for a buffer */
    bool host;   /* a buffer allocated in host memory */
    bool coarse; /* svm: only one side may access it at a time */
};
struct as_cl_place as_cl_place(const struct as_memory *mem);
enum as_status as_cl_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                          struct as_error *err);
/* ---- queues.c: further queues ---- */

/* The queue of that number; NULL with AS_USAGE in err if there is none. */
cl_command_queue as_cl_queue(const struct as_cl_device *cl, unsigned queue, struct as_error *err);
enum as_status as_cl_queues(struct as_device *dev, size_t n, size_t urgent, struct as_error *err);
enum as_status as_cl_wait_queue(struct as_device *dev, unsigned queue, struct as_error *err);
/* Creates the queue out of order unless there is one. */
enum as_status as_cl_unordered(struct as_cl_device *cl, struct as_error *err);
void as_cl_queues_close(struct as_cl_device *cl);

void as_cl_forget_programs(struct as_cl_device *cl);

extern const struct as_memory_ops as_cl_memory_ops;
/* For CPUs, where faulting pages in is costly: blocks have parts, so that arenas keep them. */
extern const struct as_memory_ops as_cl_cpu_memory_ops;
extern const struct as_program_ops as_cl_program_ops;
extern const struct as_queue_ops as_cl_queue_ops;

#endif
