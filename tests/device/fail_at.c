#include "fail_at.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long wanted, seen;
static char failed[64];

/* Release calls must succeed, or the test could not detect leaks. Attribute queries have a default. */
static bool can_fail(const char *function)
{
    static const char *const never[] = {"Free",        "Destroy",  "Unload", "Unregister", "Release",   "Query",
                                        "ElapsedTime", "GetError", "Unmap",  "SetCurrent", "SetDevice", "fake_"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(function, never[i]))
            return false;
    return true;
}

bool fail_at(const char *words, const char *function)
{
    const char *word = words ? strstr(words, "fail=") : NULL;
    const unsigned long now = word ? strtoul(word + 5, NULL, 10) : 0;
    bool fails = false;
    pthread_mutex_lock(&lock);
    if (now && now != wanted)
        seen = 0, failed[0] = 0;
    if (now && now != wanted)
        wanted = now;
    if (now && can_fail(function) && ++seen == wanted) {
        snprintf(failed, sizeof failed, "%s", function);
        fails = true;
    }
    pthread_mutex_unlock(&lock);
    return fails;
}

const char *fake_failed_call(void)
{
    return failed;
}
