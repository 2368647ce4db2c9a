#include "pin.h"

void as_pin_begin(struct as_pin *s)
{
    const int cpu = as_thread_cpu();
    struct as_cpus here = {{0}};
    s->held = false;
    if (cpu < 0 || cpu >= AS_CPUS_MAX || !as_thread_cpus(&s->before))
        return;
    as_cpus_add(&here, cpu);
    s->held = as_thread_keep_on(&here);
}

void as_pin_end(struct as_pin *s)
{
    if (s->held)
        as_thread_keep_on(&s->before);
    s->held = false;
}
