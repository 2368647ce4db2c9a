/* What is recorded of the machine with every run. JSON object with members: tool{version,commit,compiler,flags},
 * host{name,os,kernel,boot_id,virtualization,container},
 * cpu{model,vendor,microcode,governor,cores,threads,smt,flags,topology,pinning},
 * memory{total,cgroup_limit,limited_by,cpu_quota,thp,thp_denied,thp_defrag,hugetlb_free,page_size,numa_nodes,swap},
 * load{1m,others_cpus}, time{zone}, limits{...}; of a resumed run also pauses[{from,until,seconds}] (as_run_add_pause)
 * and notes["..."] (as_run_add_note), of one that measured cells of another again repeats{run} (as_run_set_repeated).
 * Unknown members are absent, never invented. */
#ifndef AS_CORE_PROVENANCE_H
#define AS_CORE_PROVENANCE_H

#include "base/buf.h"
#include "device/info.h"

enum as_status as_provenance_json(struct as_buf *out, struct as_error *err);

/* Conditions that distort measurements on this machine (`assay doctor`). */
enum as_severity { AS_FINE, AS_NOTE, AS_WARNING, AS_ERROR };
struct as_finding {
    enum as_severity severity;
    char what[32];    /* "governor", "load", "smt", "thp", "vm clock", ... */
    char text[360];   /* what was found */
    char remedy[256]; /* what the user can do; "" when fine */
};
enum as_status as_doctor(struct as_finding **findings, size_t *n, struct as_error *err); /* *findings: free */
/* What a reading of the clock costs, in its nanoseconds. */
double as_doctor_clock_ns(uint64_t (*now)(void));
/* What the device's sensor saw when the device was looked up just now. */
void as_doctor_device(const struct as_device_info *info, struct as_finding *f);
/* What tells the traffic of its memories while it is measured. */
void as_doctor_demand(const struct as_device_info *info, struct as_finding *f);

const char *as_version(void); /* "0.1.0" */
const char *as_commit(void);  /* "abc1234" or "abc1234-dirty" or "unknown" */
#endif
