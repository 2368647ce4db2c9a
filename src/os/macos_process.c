#include "os/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/socket.h>
#include <sys/ucontext.h>
#include <time.h>
#include <unistd.h>

bool as_program_path(char *out, size_t size)
{
    char path[4096];
    uint32_t n = sizeof path;
    char *real = _NSGetExecutablePath(path, &n) == 0 ? realpath(path, NULL) : NULL;
    const bool fits = real && strlen(real) < size;
    if (fits)
        memcpy(out, real, strlen(real) + 1);
    free(real);
    return fits;
}

bool as_program_again(char *out, size_t size)
{
    return as_program_path(out, size) && access(out, X_OK) == 0;
}

/* macOS lacks ordered local packet sockets, so a stream is used. A fork before FD_CLOEXEC is set would keep a copy of
 * one end. */
int as_packet_pair(int pair[2])
{
    enum { ROOM = 256 * 1024 };
    const int yes = 1, room = ROOM;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return -1;
    for (int i = 0; i < 2; i++) {
        (void)fcntl(pair[i], F_SETFD, FD_CLOEXEC);
        (void)setsockopt(pair[i], SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
        (void)setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        (void)setsockopt(pair[i], SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    }
    return 0;
}

bool as_packet_socket(int fd, bool *stream)
{
    int type = 0;
    socklen_t size = sizeof type;
    *stream = true;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

int as_unnamed_file(const char *name)
{
    char folder[512], path[640];
    const size_t n = confstr(_CS_DARWIN_USER_TEMP_DIR, folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s.XXXXXX", n > 0 && n <= sizeof folder ? folder : "/tmp", name);
    const int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

void as_close_from(int first)
{
    struct proc_fdinfo open[256];
    for (bool closed = true; closed;) {
        const int bytes = proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, open, (int)sizeof open);
        closed = false;
        for (int i = 0; i < bytes / (int)sizeof *open; i++)
            if (open[i].proc_fd >= first)
                closed |= close(open[i].proc_fd) == 0;
    }
}

static void *watch_parent(void *user)
{
    const int queue = (int)(intptr_t)user;
    struct kevent event;
    while (kevent(queue, NULL, 0, &event, 1, NULL) < 0 && errno == EINTR)
        ;
    kill(getpid(), SIGKILL);
    return NULL;
}

void as_end_with_parent(long parent)
{
    struct kevent ends;
    pthread_t thread;
    sigset_t all, before;
    const int queue = kqueue();
    EV_SET(&ends, (uintptr_t)parent, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    if (queue < 0 || kevent(queue, &ends, 1, NULL, 0, NULL))
        return;
    (void)fcntl(queue, F_SETFD, FD_CLOEXEC);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (pthread_create(&thread, NULL, watch_parent, (void *)(intptr_t)queue) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

uintptr_t as_signal_address(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext->__ss.__rip;
#else
    return (uintptr_t)u->uc_mcontext->__ss.__pc;
#endif
}

struct image {
    const struct linkedit_data_command *starts;
    const struct segment_command_64 *text, *links;
};

static struct image image_of(const struct mach_header_64 *header)
{
    struct image image = {NULL, NULL, NULL};
    const char *at = (const char *)(header + 1);
    for (uint32_t i = 0; i < header->ncmds; i++) {
        const struct load_command *command = (const void *)at;
        const struct segment_command_64 *segment = (const void *)at;
        if (command->cmd == LC_FUNCTION_STARTS)
            image.starts = (const void *)at;
        else if (command->cmd == LC_SEGMENT_64 && strcmp(segment->segname, SEG_TEXT) == 0)
            image.text = segment;
        else if (command->cmd == LC_SEGMENT_64 && strcmp(segment->segname, SEG_LINKEDIT) == 0)
            image.links = segment;
        at += command->cmdsize;
    }
    return image;
}

/* The table of function starts: distances between functions as LEB128, from the start of the text. */
bool as_function_bounds(const void *function, const unsigned char **start, const unsigned char **stop)
{
    Dl_info found;
    *start = *stop = NULL;
    if (!dladdr(function, &found))
        return false;
    const struct image image = image_of(found.dli_fbase);
    if (!image.starts || !image.text || !image.links)
        return false;
    const uint64_t slide = (uintptr_t)found.dli_fbase - image.text->vmaddr;
    const unsigned char *at =
        (const unsigned char *)(image.links->vmaddr + slide + image.starts->dataoff - image.links->fileoff);
    const unsigned char *end = at + image.starts->datasize, *here = found.dli_fbase;
    while (at < end && *at) {
        uint64_t distance = 0;
        for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
            distance |= (uint64_t)(*at & 127) << shift;
            if (!(*at++ & 128))
                break;
        }
        here += distance;
        if (*start) {
            *stop = here;
            return true;
        }
        if (here == function)
            *start = here;
    }
    return false;
}

void as_thread_name(const char *name)
{
    pthread_setname_np(name);
}

/* The system counts context switches only per task. */
uint64_t as_thread_preemptions(void)
{
    return 0;
}

double as_thread_cpu_s(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? NAN : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
