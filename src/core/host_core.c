#include "core/host_core.h"
#include "core/yardstick.h"

#include "base/clock.h"
#include "device/host.h"

#include <math.h>

/* Steps of a core's clock are 3% each, two of them at most between visits; who shares a core takes 15% of the yardstick
 * or more. */
static const double ROOM = 0.1;
/* A reading stands for so long; so long nothing is sought again where all cores were shared. */
static const double FRESH_S = 200e-6, AGAIN_S = 5e-3;
/* Getting onto a core and reading there takes some 50 us; where it takes so long, another thread of this system runs
 * there, which a reading between two slices would not see. And so long the search goes on. */
static const double QUEUED_S = 500e-6, SEARCH_S = 2e-3;

void as_host_core_init(struct as_host_core *c)
{
    *c = (struct as_host_core){.read = as_yardstick_now,
                               .least = INFINITY,
                               .last_at = -INFINITY,
                               .queued_s = QUEUED_S,
                               .search_s = SEARCH_S,
                               .cpu = AS_CPU_ANY};
}

/* The thread stays on a CPU as long as the system has no reason to move it, so where it may run is narrowed only while
 * it goes there: threads that a driver makes in a sample inherit it. */
static bool go_to(const struct as_host_core *c, size_t cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (!CPU_COUNT(&c->home) || sched_setaffinity(0, sizeof one, &one))
        return false;
    return sched_setaffinity(0, sizeof c->home, &c->home) == 0;
}

double as_host_core_look(struct as_host_core *c)
{
    if (c->cpu >= 0)
        (void)go_to(c, (size_t)c->cpu);
    c->last = c->read();
    c->last_at = as_now();
    c->least = fmin(c->least, c->last);
    return c->last;
}

bool as_host_core_is_shared(const struct as_host_core *c, double ns)
{
    return ns > (1 + ROOM) * c->least;
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

/* The first free one behind that on which the thread is, else the one with the least company. */
static double choose(struct as_host_core *c, double here_ns)
{
    const int here = sched_getcpu();
    if (here < 0)
        return here_ns;
    size_t best = (size_t)here;
    double best_ns = here_ns;
    const double end = as_now() + c->search_s;
    for (size_t k = 1; k < CPU_SETSIZE && as_host_core_is_shared(c, best_ns) && as_now() < end; k++) {
        const size_t cpu = ((size_t)here + k) % CPU_SETSIZE;
        const double ns = CPU_ISSET(cpu, &c->among) ? look_at(c, cpu) : INFINITY;
        if (ns < best_ns)
            best = cpu, best_ns = ns;
    }
    (void)go_to(c, best);
    c->moves += best != (size_t)here;
    c->last = best_ns;
    return best_ns;
}

double as_host_core_seek(struct as_host_core *c)
{
    double ns = as_now() - c->last_at < FRESH_S ? c->last : as_host_core_look(c);
    if (!as_host_core_is_shared(c, ns) || CPU_COUNT(&c->among) < 2 || as_now() - c->in_vain_at < AGAIN_S)
        return ns;
    ns = choose(c, ns);
    if (as_host_core_is_shared(c, ns))
        c->in_vain_at = as_now();
    return ns;
}

/* What a core takes that nobody shares is known once all of them were asked, each in the first visit that may use it.
 */
static void ask_new(struct as_host_core *c)
{
    const int here = sched_getcpu();
    bool went = false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE && here >= 0; cpu++) {
        if (!CPU_ISSET(cpu, &c->among) || CPU_ISSET(cpu, &c->asked))
            continue;
        went = true;
        if (isfinite(look_at(c, cpu)))
            CPU_SET(cpu, &c->asked);
    }
    if (went)
        (void)go_to(c, (size_t)here);
    c->last_at = -INFINITY;
}

void as_host_core_begin(struct as_host_core *c, const char *near_cpus, int cpu)
{
    c->cpu = cpu;
    c->moves = 0;
    c->last_at = c->in_vain_at = -INFINITY;
    CPU_ZERO(&c->among);
    if (sched_getaffinity(0, sizeof c->home, &c->home)) {
        CPU_ZERO(&c->home);
        return;
    }
    if (cpu < 0 && as_cpu_list(near_cpus, &c->among))
        CPU_AND(&c->among, &c->among, &c->home);
    else if (cpu < 0 && !near_cpus[0] && as_host_nodes() < 2)
        c->among = c->home;
    ask_new(c);
}

void as_host_part(struct as_visit_context *vc)
{
    const struct as_device_info *info = &vc->dev->info;
    vc->host_work = true;
    if (!(info->capabilities & AS_CAP_HOST_KERNELS) && !info->is_host_cpu)
        vc->host_cpu = AS_CPU_ANY;
}
