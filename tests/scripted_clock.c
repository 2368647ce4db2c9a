#include "scripted_clock.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The linker gives the first names to all callers, and the second to the functions themselves (--wrap). */
double __wrap_as_now(void);
uint64_t __wrap_as_now_ns(void);
void __wrap_as_sleep(double seconds);
double __real_as_now(void);
uint64_t __real_as_now_ns(void);
void __real_as_sleep(double seconds);

void (*clock_on_sleep)(double seconds);
static atomic_bool scripted;
static _Atomic uint64_t now_ns, step_ns;

static uint64_t nanoseconds(double seconds)
{
    return seconds > 0 && seconds < 1e9 ? (uint64_t)llround(seconds * 1e9) : 0;
}

void clock_script(double step_s)
{
    if (!scripted)
        now_ns = __real_as_now_ns(); /* time never runs backwards */
    step_ns = nanoseconds(step_s);
    scripted = true;
}

void clock_pass(double seconds)
{
    atomic_fetch_add(&now_ns, nanoseconds(seconds));
}

void clock_real(void)
{
    scripted = false;
    clock_on_sleep = NULL;
}

uint64_t __wrap_as_now_ns(void)
{
    if (!scripted)
        return __real_as_now_ns();
    const uint64_t step = atomic_load(&step_ns);
    return atomic_fetch_add(&now_ns, step) + step;
}

double __wrap_as_now(void)
{
    return scripted ? 1e-9 * (double)__wrap_as_now_ns() : __real_as_now();
}

void __wrap_as_sleep(double seconds)
{
    if (clock_on_sleep)
        clock_on_sleep(seconds);
    if (scripted)
        clock_pass(seconds);
    else
        __real_as_sleep(seconds);
}
