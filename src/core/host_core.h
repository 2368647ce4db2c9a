/* The core of the host that does its part of a sample. On a machine that is shared somebody else may have the other
 * thread of that core: a call into a driver then takes 1.4 times as long, for a tenth of a second or for some, and a
 * moment later it is another core. The yardstick tells, so the thread goes where nobody is before a sample, and a
 * sample that found company all the same does not count while there are others. */
#ifndef AS_CORE_HOST_CORE_H
#define AS_CORE_HOST_CORE_H

#include "core/probe.h"

#include <sched.h>

struct as_host_core {
    double (*read)(void);  /* nanoseconds of the yardstick; set by as_host_core_init */
    double least;          /* what it took at least in this process, INFINITY: never read */
    double last, last_at;  /* the newest reading, and as_now() of it */
    double queued_s;       /* getting onto a CPU took so long: another thread of this system is there */
    double search_s;       /* for one search */
    double in_vain_at;     /* as_now() when all cores were last found shared */
    cpu_set_t home, among; /* where the thread may run, and where it may be moved */
    cpu_set_t asked;       /* CPUs that `least` is of */
    int cpu;               /* on which the host's part is done, or AS_CPU_ANY */
    unsigned moves;        /* since as_host_core_begin */
};
void as_host_core_init(struct as_host_core *c);
/* For the samples of one visit. cpu: a CPU, or AS_CPU_ANY. near_cpus: a list of CPUs ("0-15,32") to stay among, where
 * one is near a device; "" unknown: on a host of several memory nodes the thread then stays where it is. */
void as_host_core_begin(struct as_host_core *c, const char *near_cpus, int cpu);
/* Before a sample: goes to a core that nobody shares, where there is one. The reading there, in nanoseconds. */
double as_host_core_seek(struct as_host_core *c);
/* After a sample: the reading where the thread is, or on the CPU that was named. */
double as_host_core_look(struct as_host_core *c);
/* Does a reading say that somebody else was on the core? */
bool as_host_core_is_shared(const struct as_host_core *c, double ns);

#endif
