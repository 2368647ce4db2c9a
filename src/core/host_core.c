#include "core/host_core.h"
#include "core/yardstick.h"

#include "base/clock.h"
#include "device/host.h"

#include <math.h>
#include <string.h>

/* Who shares a core takes 15% of the yardstick or more; the clock moves by less within a visit, in steps of 3% to 9%.
 */
static const double ROOM = 1.12;
/* A reading stands for so long; so long nothing is sought again where all cores were shared. */
static const double FRESH_S = 200e-6, AGAIN_S = 20e-3;
/* Getting onto a core and reading there takes some 100 us; where it takes so long, another thread of this system runs
 * there, which a reading between two slices would not see. And so long the search goes on. */
static const double QUEUED_S = 500e-6, SEARCH_S = 2e-3;
/* Of so many others what they take is asked before a visit: that all are shared is then rare, even where half of them
 * are. */
enum { ASKED = 4 };

void as_host_core_init(struct as_host_core *c)
{
    *c = (struct as_host_core){.read = as_yardstick_now,
                               .least = INFINITY,
                               .last_at = -INFINITY,
                               .queued_s = QUEUED_S,
                               .search_s = SEARCH_S,
                               .cpu = AS_CPU_ANY};
    if (sched_getaffinity(0, sizeof c->all, &c->all))
        CPU_ZERO(&c->all);
}

/* The thread stays on a CPU as long as the system has no reason to move it, so where it may run is narrowed only while
 * it goes there: threads that a driver makes in a sample inherit it. */
static bool go_to(const struct as_host_core *c, size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (!CPU_COUNT(&c->home) || sched_setaffinity(0, sizeof set, &set))
        return false;
    if (sched_setaffinity(0, sizeof c->home, &c->home)) { /* all of them were taken away meanwhile: what there is */
        memset(&set, 0xFF, sizeof set);
        (void)sched_setaffinity(0, sizeof set, &set);
    }
    return true;
}

double as_host_core_look(struct as_host_core *c)
{
    if (c->cpu >= 0)
        (void)go_to(c, (size_t)c->cpu);
    c->last = c->read();
    c->last_at = as_now();
    /* cores that are not to be used may have another clock */
    const int here = CPU_COUNT(&c->among) ? sched_getcpu() : -1;
    if (here < 0 || CPU_ISSET((size_t)here, &c->among))
        c->least = fmin(c->least, c->last);
    return c->last;
}

bool as_host_core_is_shared(const struct as_host_core *c, double ns)
{
    return ns > ROOM * c->least;
}

/* The reading of a CPU, INFINITY of one that cannot be had or is used by another thread of this system. */
static double look_at(struct as_host_core *c, size_t cpu)
{
    const double start = as_now();
    if (!go_to(c, cpu))
        return INFINITY;
    const double ns = as_host_core_look(c);
    return as_now() - start > c->queued_s ? INFINITY : ns;
}

/* Goes to the first free CPU behind this one, else to the one with the least company: the caches that are left behind
 * are worth no smaller step. At least so many are asked. */
static double choose(struct as_host_core *c, int here, double here_ns, unsigned ask)
{
    size_t best = (size_t)here;
    double best_ns = here_ns;
    const double end = as_now() + c->search_s;
    for (size_t k = 1; k < CPU_SETSIZE && as_now() < end; k++) {
        const size_t cpu = ((size_t)here + k) % CPU_SETSIZE;
        if (!CPU_ISSET(cpu, &c->among))
            continue;
        if (!ask && !as_host_core_is_shared(c, best_ns))
            break;
        const double ns = look_at(c, cpu);
        ask -= ask > 0;
        if (ROOM * ns < best_ns || (as_host_core_is_shared(c, best_ns) && !as_host_core_is_shared(c, ns)))
            best = cpu, best_ns = ns;
    }
    (void)go_to(c, best);
    c->moves += best != (size_t)here;
    c->last = best_ns;
    return best_ns;
}

/* What a reading on this CPU is worth: nothing where the thread should not stay. */
static double worth(const struct as_host_core *c, int here, double ns)
{
    return CPU_ISSET((size_t)here, &c->among) ? ns : INFINITY;
}

double as_host_core_seek(struct as_host_core *c)
{
    double ns = as_now() - c->last_at < FRESH_S ? c->last : as_host_core_look(c);
    const int here = sched_getcpu();
    if (here < 0 || CPU_COUNT(&c->among) == 0 || !as_host_core_is_shared(c, worth(c, here, ns)) ||
        as_now() - c->in_vain_at < AGAIN_S)
        return ns;
    ns = choose(c, here, worth(c, here, ns), 0);
    if (as_host_core_is_shared(c, ns))
        c->in_vain_at = as_now();
    return ns;
}

void as_host_core_begin(struct as_host_core *c, const char *near_cpus, int cpu)
{
    c->cpu = cpu;
    c->last_at = c->in_vain_at = -INFINITY;
    c->least = INFINITY;
    CPU_ZERO(&c->among);
    CPU_ZERO(&c->home);
    if (sched_getaffinity(0, sizeof c->found, &c->found)) {
        CPU_ZERO(&c->found);
        return;
    }
    c->home = cpu < 0 ? c->all : c->found; /* a team of threads may have sent the caller away from it */
    if (cpu < 0 && as_cpu_list(near_cpus, &c->among))
        CPU_AND(&c->among, &c->among, &c->home);
    else if (cpu < 0 && !near_cpus[0] && as_host_nodes() < 2)
        c->among = c->home;
    const int here = sched_getcpu();
    if (here >= 0 && CPU_COUNT(&c->among))
        (void)choose(c, here, worth(c, here, as_host_core_look(c)), ASKED);
    c->last_at = -INFINITY;
    c->moves = 0;
}

void as_host_core_end(struct as_host_core *c)
{
    if (CPU_COUNT(&c->found))
        (void)sched_setaffinity(0, sizeof c->found, &c->found);
}

void as_host_part(struct as_visit_context *vc)
{
    const struct as_device_info *info = &vc->dev->info;
    vc->host_work = true;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && !info->is_host_cpu)
        vc->host_cpu = AS_CPU_ANY;
}
