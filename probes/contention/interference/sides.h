/* The two kinds of sides: CPU threads, and a device. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_SIDES_H
#define AS_PROBES_CONTENTION_INTERFERENCE_SIDES_H

#include "crew.h"
#include "gpu.h"
#include "host.h"
#include "pair.h"

struct cpu_side {
    struct crew *crew;
    struct host_work work;
    uint64_t pieces; /* of the fixed work, per thread */
    uint64_t before; /* of all threads before that work */
};
struct cpu_side_desc {
    enum op op;
    const struct lines *lines;
    bool keeps; /* as in struct host_work */
    unsigned threads, load;
    const int *cpus;
    const struct priority *priority;
};
enum as_status as_cpu_side_make(struct cpu_side *s, const struct cpu_side_desc *desc, struct as_error *err);
/* Chooses the fixed work to take about this long. */
enum as_status as_cpu_side_calibrate(struct cpu_side *s, double seconds, struct as_error *err);
void as_cpu_side_finish(struct cpu_side *s);

struct device_side {
    struct gpu_work work;
    unsigned load;
    double items;             /* of all launches */
    double from, seconds, at; /* of the last launch: start, length, and the end of the gap after it */
};
enum as_status as_device_side_make(struct device_side *s, const struct gpu_desc *desc, unsigned load,
                                   struct as_error *err);
void as_device_side_finish(struct device_side *s);

extern const struct side_ops cpu_side_ops, device_side_ops;

#endif
