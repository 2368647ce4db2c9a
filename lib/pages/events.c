#include "events.h"

#include "os/counters.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum as_counter counter;
} kinds[] = {
    [AS_EVENT_TLB_MISSES] = {"data TLB misses", AS_COUNT_DTLB_MISSES},
    [AS_EVENT_L1D_MISSES] = {"L1D load misses", AS_COUNT_L1D_MISSES},
    [AS_EVENT_MINOR_FAULTS] = {"minor faults", AS_COUNT_MINOR_FAULTS},
};

static enum as_status refused(enum as_event event, int code, struct as_error *err)
{
    const char *name = kinds[event].name;
    if (code == EACCES || code == EPERM)
        return as_fail(err, AS_UNSUPPORTED,
                       "this process may not count %s; kernel.perf_event_paranoid=2 or less allows it", name);
    if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV || code == EINVAL)
        return as_fail(err, AS_UNSUPPORTED, "this CPU, or the virtual machine around it, has no counter for %s", name);
    return as_fail(err, AS_UNSUPPORTED, "%s cannot be counted: %s", name, strerror(code));
}

static enum as_status add_thread(struct as_events *e, enum as_event event, int thread, struct as_error *err)
{
    if (e->n == AS_EVENT_THREADS_MAX)
        return as_fail(err, AS_UNSUPPORTED, "the process has more than %d threads", AS_EVENT_THREADS_MAX);
    const int fd = as_counter_open_thread(kinds[event].counter, thread);
    if (fd >= 0)
        e->fd[e->n++] = fd;
    else if (errno != ESRCH) /* the thread has ended in the meantime */
        return refused(event, errno, err);
    return AS_OK;
}

const char *as_events_why_not(enum as_event event)
{
    static struct as_error why[AS_EVENTS];
    static bool asked[AS_EVENTS];
    if (!asked[event]) {
        struct as_events e;
        (void)as_events_open(&e, event, &why[event]);
        as_events_close(&e);
        asked[event] = true;
    }
    return why[event].text;
}

enum as_status as_events_open(struct as_events *e, enum as_event event, struct as_error *err)
{
    const struct dirent *entry;
    enum as_status st = AS_OK;
    e->n = 0;
    if (as_counter_limit())
        return as_fail(err, AS_UNSUPPORTED, "%s", as_counter_limit());
    DIR *d = opendir("/proc/self/task");
    if (!d)
        return as_fail(err, AS_UNSUPPORTED, "the threads of the process are not listed in /proc: %s", strerror(errno));
    while (!st && (entry = readdir(d)) != NULL) {
        char *end;
        long thread = strtol(entry->d_name, &end, 10);
        if (thread > 0 && *end == 0)
            st = add_thread(e, event, (int)thread, err);
    }
    closedir(d);
    if (st)
        as_events_close(e);
    return st;
}

enum as_status as_events_read(const struct as_events *e, uint64_t *count, struct as_error *err)
{
    *count = 0;
    for (size_t i = 0; i < e->n; i++) {
        struct as_counter_reading r;
        if (read(e->fd[i], &r, sizeof r) != (ssize_t)sizeof r)
            return as_fail(err, AS_UNSUPPORTED, "an event counter cannot be read: %s", strerror(errno));
        if (r.running < r.enabled)
            return as_fail(err, AS_UNSUPPORTED,
                           "the event counters are multiplexed with another program; end other profilers");
        *count += r.value;
    }
    return AS_OK;
}

void as_events_close(struct as_events *e)
{
    while (e->n)
        close(e->fd[--e->n]);
}
