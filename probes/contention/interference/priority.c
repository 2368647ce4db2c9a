#include "priority.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

const char *const priority_words[] = {
    "normal",      "nice_19",        "sched_idle", "qos_user_interactive", "qos_user_initiated",
    "qos_utility", "qos_background", NULL};

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

#elif defined(__APPLE__)

#include <pthread/qos.h>

/* A QoS class decides which cores a thread may use, beside its share of them: background means efficiency cores. */
#define QOS(name, class)                                                                                               \
    static int set_##name(void)                                                                                        \
    {                                                                                                                  \
        return pthread_set_qos_class_self_np(class, 0);                                                                \
    }
QOS(user_interactive, QOS_CLASS_USER_INTERACTIVE)
QOS(user_initiated, QOS_CLASS_USER_INITIATED)
QOS(utility, QOS_CLASS_UTILITY)
QOS(background, QOS_CLASS_BACKGROUND)
static const struct priority priorities[] = {
    {"normal", "normal priority", NULL},
    {"qos_user_interactive", "QoS class user-interactive", set_user_interactive},
    {"qos_user_initiated", "QoS class user-initiated", set_user_initiated},
    {"qos_utility", "QoS class utility", set_utility},
    {"qos_background", "QoS class background", set_background}};

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
