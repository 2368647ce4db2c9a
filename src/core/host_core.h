/* The core of the host that does its part of a sample. On a machine that is shared somebody else may have the other
 * thread of that core: a call into a driver then takes 1.4 times as long, for a tenth of a second or for some, and a
 * moment later it is another core. The yardstick tells, so a visit begins where nobody is, the thread goes on where
 * somebody comes, and a sample that found company all the same does not count while there are others. What cores take
 * is compared within a visit: their clock, which they have in common, moves from visit to visit. */
#ifndef AS_CORE_HOST_CORE_H
#define AS_CORE_HOST_CORE_H

#include "core/probe.h"

#include <sched.h>

struct as_host_core {
    double (*read)(void); /* nanoseconds of the yardstick; set by as_host_core_init */
    double least;         /* what it took at least in this visit, on any core; INFINITY: not read */
    double last, last_at; /* the newest reading, and as_now() of it */
    double queued_s;      /* getting onto a CPU took so long: another thread of this system is there */
    double search_s;      /* for one search */
    double in_vain_at;    /* as_now() when all cores were last found shared */
    cpu_set_t all;        /* where the thread might run when this was set up */
    cpu_set_t found;      /* where it might run before the visit, and may again after it */
    cpu_set_t home;       /* where it may run in the visit */
    cpu_set_t among;      /* where it may be moved */
    int cpu;              /* on which the host's part is done, or AS_CPU_ANY */
    unsigned moves;       /* in this visit, but for the one to where it begins */
};
/* By the thread that will sample, before anything narrows where it may run. */
void as_host_core_init(struct as_host_core *c);
/* Before the samples of one visit: goes to a core that nobody shares, where one is found among a few. cpu: a CPU, or
 * AS_CPU_ANY. near_cpus: a list of CPUs ("0-15,32") to stay among, where one is near a device; "" unknown: on a host of
 * several memory nodes the thread then stays where it is. */
void as_host_core_begin(struct as_host_core *c, const char *near_cpus, int cpu);
/* After them: the thread may run where it might before. */
void as_host_core_end(struct as_host_core *c);
/* Before a sample: goes on to a core that nobody shares, where there is one. The reading there, in nanoseconds. */
double as_host_core_seek(struct as_host_core *c);
/* After a sample: the reading where the thread is, or on the CPU that was named. */
double as_host_core_look(struct as_host_core *c);
/* Does a reading say that somebody else was on the core? */
bool as_host_core_is_shared(const struct as_host_core *c, double ns);

#endif
