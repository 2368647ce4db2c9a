#include "priority.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

const char *const priority_words[] = {"normal", "nice_19", "sched_idle", NULL};

#if defined(__linux__)

#include <sched.h>
#include <sys/resource.h>

/* On Linux, nice is per thread. */
static int set_nice(void)
{
    return setpriority(PRIO_PROCESS, 0, 19) ? errno : 0;
}

static int set_idle(void)
{
    const struct sched_param none = {0};
    return sched_setscheduler(0, SCHED_IDLE, &none) ? errno : 0;
}
static const struct priority priorities[] = {
    {"normal", "normal priority", NULL}, {"nice_19", "nice +19", set_nice}, {"sched_idle", "SCHED_IDLE", set_idle}};

#else

static const struct priority priorities[] = {{"normal", "normal priority", NULL}};

#endif

const struct priority *as_interference_priority(const char *word)
{
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (strcmp(priorities[i].word, word) == 0)
            return &priorities[i];
    return NULL;
}
