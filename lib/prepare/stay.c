#include "stay.h"

void as_stay_begin(struct as_stay *s)
{
    const int cpu = sched_getcpu();
    cpu_set_t here;
    CPU_ZERO(&here);
    s->held = false;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof s->before, &s->before))
        return;
    CPU_SET((size_t)cpu, &here);
    s->held = sched_setaffinity(0, sizeof here, &here) == 0;
}

void as_stay_end(struct as_stay *s)
{
    if (s->held)
        sched_setaffinity(0, sizeof s->before, &s->before);
    s->held = false;
}
