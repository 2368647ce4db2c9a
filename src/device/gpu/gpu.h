/* What the backends of cards whose API has contexts or current devices, streams, events and modules do alike: all but
 * what their libraries do differently, which is in struct as_gpu_api. Nothing outside such backends includes it. */
#ifndef AS_DEVICE_GPU_GPU_H
#define AS_DEVICE_GPU_GPU_H

#include "device/device.h"
#include "device/dialect/dialect.h"
#include "device/gpu/functions.h"

enum { AS_GPUS_MAX = 64, AS_GPU_TENSOR_BYTES = 128 };

struct as_gpu;
struct as_gpu_allocator;
struct as_gpu_backend;

/* Where memory lies and streams are: on this device or on another one that it reaches. */
struct as_gpu_place {
    int device;                     /* the library's number of it */
    struct as_gpu_context *context; /* NULL where the API has none */
};

struct as_gpu_status {
    int code;
    enum as_status status;
};

/* One API: its constants, and what its library does in its own way. A function that gives int gives the library's error
 * code, 0 for none. */
struct as_gpu_api {
    const char *name; /* of the backend: "cuda" */
    const char *lost; /* what an error that stays ends: "the context" */
    const char *unit; /* what the maker of its devices calls a unit: "SM" */
    enum as_dialect dialect;
    const struct as_gpu_status *statuses;           /* of errors that are not AS_FAILED; ends with code 0 */
    const int *sticky;                              /* after these nothing more can be done in a process; ends with 0 */
    int not_ready, not_found, peer_already_enabled; /* errors that are answers */
    int capture_mode;                               /* other threads may go on meanwhile */
    unsigned non_blocking;                          /* a stream that does not wait for the default one */
    unsigned blocking_event, untimed_event;
    unsigned host_mapped, register_mapped; /* host memory that devices see */
    struct {
        int registers, shared_bytes, private_bytes, max_threads;
    } kernel; /* attributes of functions */

    /* An error by its name and in words; either may be left NULL. */
    void (*words)(const struct as_gpu_backend *backend, int code, const char **name, const char **text);
    /* Makes it current for the calling thread. */
    int (*enter)(const struct as_gpu *card, const struct as_gpu_place *place);
    const char *enter_name;
    /* (optional) Makes the context of another device; it is given back by release, which takes one without. */
    enum as_status (*retain)(struct as_gpu *card, struct as_gpu_place *place, struct as_error *err);
    void (*release)(const struct as_gpu *card, struct as_gpu_place *place);
    /* Lets the device of the current place reach the memory of another. */
    int (*enable_peer)(const struct as_gpu *card, const struct as_gpu_place *place);
    const char *enable_peer_name;

    /* Where the device sees memory of host_alloc or host_register. */
    int (*host_address)(const struct as_gpu *card, void *host, unsigned long long *address);
    /* Queued on the card's stream, copy on any of the card's or of a peer's. Addresses are as devices see them, but for
     * those of the host in read and write, which has to keep them until the stream is waited for. */
    int (*read)(const struct as_gpu *card, void *to, unsigned long long from, uint64_t bytes);
    int (*write)(const struct as_gpu *card, unsigned long long to, const void *from, uint64_t bytes);
    int (*copy)(const struct as_gpu *card, unsigned long long to, unsigned long long from, uint64_t bytes,
                struct as_gpu_stream *stream);
    const char *host_address_name, *read_name, *write_name, *copy_name;
    const struct as_gpu_allocator *allocators; /* in the order of as_device_info; ends with a NULL name */

    /* (optional) What a kernel takes by value to copy boxes of the memory: AS_GPU_TENSOR_BYTES, on such a boundary. */
    enum as_status (*tensor)(const struct as_gpu *card, const struct as_tensor *tensor, void *out,
                             struct as_error *err);

    /* A graph made ready for launches, to be given to graph_exec_destroy; *out stays NULL where it fails. */
    enum as_status (*instantiate)(struct as_gpu *card, struct as_gpu_graph *graph, struct as_gpu_graph_exec **out,
                                  struct as_error *err);
    /* Allows a kernel this much dynamic shared memory; AS_UNSUPPORTED for more than the device has. */
    enum as_status (*allow_shared)(struct as_device *dev, struct as_kernel *kernel, size_t bytes, struct as_error *err);

    /* Loads the run-time compiler where it is not yet, and tells its version; AS_UNSUPPORTED where there is none. */
    enum as_status (*find_compiler)(struct as_gpu *card, int *major, int *minor, struct as_error *err);
    /* Machine code for this device; *code is the caller's (free). */
    enum as_status (*compile)(struct as_gpu *card, const struct as_program_desc *desc, unsigned char **code,
                              size_t *bytes, struct as_error *err);
    /* Bytes of one kernel in it; 0 unknown. */
    enum as_status (*code_bytes)(const unsigned char *code, size_t bytes, const char *name, uint64_t *n,
                                 struct as_error *err);
    /* (optional, with AS_CAP_CODE) see as_program_ops.instructions */
    enum as_status (*instructions)(const unsigned char *code, size_t bytes, const char *name,
                                   struct as_instructions *out, struct as_error *err);
    /* (optional, with AS_CAP_CODE) see as_program_ops.count */
    enum as_status (*count)(const unsigned char *code, size_t bytes, const char *name, const char *operation,
                            uint64_t *n, struct as_error *err);
};

/* One device as found at open. */
struct as_gpu_found {
    int id;         /* the library's number */
    uint64_t place; /* domain, bus, device and function as one number */
    char bus_id[24];
};

/* The first member of what a backend keeps. */
struct as_gpu_backend {
    const struct as_gpu_api *api;
    struct as_gpu_functions functions;
    struct as_gpu_found found[AS_GPUS_MAX]; /* in order of PCI address */
    size_t found_n;
};

/* A program that was compiled stays until the device is closed, so that the second trial of a cell does not compile
 * again; its machine code also lies in a cache folder, keyed by source, options, target and the versions of compiler
 * and driver. */
struct as_gpu_built {
    struct as_gpu_built *next;
    uint64_t key, binary_hash;
    struct as_gpu_module *module;
    unsigned char *code; /* owned */
    size_t code_bytes;
};

/* The way back of copies: beside the first stream, driven by the device from whose memory they come. */
struct as_gpu_back {
    struct as_gpu_place place;
    struct as_gpu_stream *stream; /* NULL: there is none */
    struct as_gpu_event *end;     /* of what is queued on it */
};

/* The first member of what a backend keeps for a device. */
struct as_gpu {
    const struct as_gpu_api *api;
    const struct as_gpu_functions *f;
    struct as_gpu_backend *backend;
    struct as_gpu_place here; /* the calling thread's, between two calls of a backend's functions */
    char target[64];          /* what is compiled for */
    bool in_host_memory;      /* what is allocated on it takes from the host's memory */
    struct as_gpu_stream *stream;
    struct as_gpu_event *start, *end;
    struct as_gpu_back back;
    struct as_gpu_stream *more[AS_QUEUES_MAX]; /* further queues */
    size_t more_n;
    struct as_gpu_built *built;
    void *clock_out;                       /* host memory that clock_kernel writes to */
    struct as_gpu_function *clock_kernel;  /* see as_gpu_clock; NULL before its first use */
    struct as_gpu_back peers[AS_GPUS_MAX]; /* of other devices whose memory this one reaches, in found's order */
    int sticky;                            /* an error after which every call fails with its text */
    struct as_error lost;
};

struct as_program {
    struct as_gpu_built *built;
    char name[64];
};

struct as_kernel {
    const struct as_gpu_built *built;
    struct as_gpu_function *function;
    char name[64];
};

/* ---- device.c, info.c, clock.c: errors; devices found, opened and closed ---- */

/* AS_OK for 0; else "<api>: <what>: <name of the error> (2): <the library's words>", with the status that the API's
 * table gives it. */
enum as_status as_gpu_tell(const struct as_gpu_backend *backend, int code, const char *what, struct as_error *err);
/* The same, and an error that stays is noted in card. */
enum as_status as_gpu_check(struct as_gpu *card, int code, const char *what, struct as_error *err);
/* Calls a function of struct as_gpu_functions and checks what it gives, by its own name. */
#define AS_GPU_DO(card, err, slot, ...)                                                                                \
    as_gpu_check((card), (card)->f->slot.call(__VA_ARGS__), (card)->f->slot.name, (err))
/* To be called first by all that talks to the library for a device: AS_FAILED with the first words where the device was
 * lost before, else the thread enters it (another one may have been used in between). */
enum as_status as_gpu_alive(const struct as_gpu *card, struct as_error *err);

/* Fills bus_id and place from what the library gives: "0000:01:00.0"; where text is not one, from the numbers. */
void as_gpu_locate(struct as_gpu_found *found, const char *text, unsigned domain, unsigned bus, unsigned device);
/* In order of PCI address. */
void as_gpu_sort(struct as_gpu_backend *backend);
/* AS_NOTFOUND unless that many and one more were found. */
enum as_status as_gpu_check_index(const struct as_gpu_backend *backend, size_t index, struct as_error *err);
/* A device that was found, not opened yet; card is zeroed, backend stays for as long as it. */
void as_gpu_init(struct as_gpu *card, struct as_gpu_backend *backend, size_t index);
/* Streams and events of a device whose place is known. What was opened is closed by as_gpu_close, also after an error.
 */
enum as_status as_gpu_open(struct as_gpu *card, struct as_error *err);
/* All but the place itself. Also after the device was lost: then the library refuses, and the process has little left
 * to do than to end. */
void as_gpu_close(struct as_gpu *card);

/* Its id, backend, PCI address and what follows from that. index: in found's order. */
void as_gpu_fill_info(struct as_device *dev, size_t index);
/* For struct as_device_ops. */
enum as_status as_gpu_device_alive(struct as_device *dev, struct as_error *err);
enum as_status as_gpu_memory_free(struct as_device *dev, uint64_t *bytes, struct as_error *err);
enum as_status as_gpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err);
/* The clock of a unit now: a kernel that reads cycle counter and timer together. */
enum as_status as_gpu_clock(struct as_device *dev, double *hz, struct as_error *err);

/* ---- peers.c ---- */

/* Makes the memory of device `index` (in found's order) reachable from this one and the other way round. own: id of
 * this device, for the words. AS_UNSUPPORTED where the two have no path. */
enum as_status as_gpu_reach_peer(struct as_gpu *card, size_t index, const char *own, struct as_error *err);
/* A stream at back->place, and the event that ends what is queued on it. The thread stays there. */
enum as_status as_gpu_back_create(struct as_gpu *card, struct as_gpu_back *back, struct as_error *err);
/* Takes one that was never created, or not wholly. */
void as_gpu_back_destroy(const struct as_gpu *card, struct as_gpu_back *back);
/* Waits for the streams that copies have been queued on, all over. */
enum as_status as_gpu_settle(struct as_gpu *card, struct as_error *err);
void as_gpu_peers_close(struct as_gpu *card);

/* ---- program.c, queue.c, copy.c ---- */

extern const struct as_program_ops as_gpu_program_ops;
void as_gpu_forget_programs(struct as_gpu *card);
/* Leaves the machine code of a program where build finds it, without building it. Needs of the card its api, its target
 * and what the compiler needs of its backend, and of dev its info. */
enum as_status as_gpu_compile_ahead(struct as_device *dev, const struct as_program_desc *desc, struct as_error *err);

/* ---- compile_only.c: devices that only compile (as_backend.open_compiler) ---- */

/* card is the first member of a block that close gives to free(). */
void as_gpu_become_compiler(struct as_gpu *card, const struct as_device_info *info, struct as_device *out);

extern const struct as_queue_ops as_gpu_queue_ops;
/* Seconds from the start event to the end event; NAN where the library tells nonsense. */
double as_gpu_elapsed(const struct as_gpu *card);
/* Times what `put` queues on the card's stream, and waits for it. name: for messages. */
enum as_status as_gpu_time(struct as_gpu *card, enum as_status (*put)(void *ctx, struct as_error *err), void *ctx,
                           const char *name, struct as_timing *out, struct as_error *err);
enum as_status as_gpu_copy(struct as_device *dev, const struct as_copy *copy, struct as_timing *out,
                           struct as_error *err);
/* The further queues, which have to be empty. */
void as_gpu_queues_close(struct as_gpu *card);

#endif
