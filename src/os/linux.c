#include "os/counters.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older kernels answer EINVAL */
#endif

/* ---- CPUs ---- */

_Static_assert(sizeof(unsigned long) == sizeof(uint64_t), "the words of a set are the kernel's");

bool as_thread_cpus(struct as_cpus *out)
{
    *out = (struct as_cpus){{0}};
    return sched_getaffinity(0, sizeof out->words, (cpu_set_t *)(void *)out->words) == 0;
}

static int linux_keep_on(const struct as_cpus *set)
{
    return sched_setaffinity(0, sizeof set->words, (const cpu_set_t *)(const void *)set->words);
}

bool as_thread_keep_on(const struct as_cpus *set)
{
    return as_thread_pin_limit() != NULL || linux_keep_on(set) == 0;
}

/* Sets the current affinity again: a system call filter refuses even that. EINVAL only concerns the CPUs. */
static char pin_limit[200];
static void find_pin_limit(void)
{
    struct as_cpus now;
    if (as_thread_cpus(&now) && linux_keep_on(&now) && errno != EINVAL)
        snprintf(pin_limit, sizeof pin_limit,
                 "the system does not let this process bind threads (sched_setaffinity: %s); allow that system call "
                 "in its seccomp filter",
                 strerror(errno));
}

const char *as_thread_pin_limit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_pin_limit);
    return pin_limit[0] ? pin_limit : NULL;
}

int as_thread_cpu(void)
{
    return sched_getcpu();
}

int as_online_cpus(void)
{
    return get_nprocs();
}

/* ---- waiting ---- */

void as_word_wait(_Atomic uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void as_word_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int as_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    int e = pthread_condattr_init(&monotonic);
    if (e)
        return e;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    e = pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return e;
}

double as_condition_after(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
}

bool as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end)
{
    const struct timespec until = {.tv_sec = (time_t)end, .tv_nsec = (long)((end - floor(end)) * 1e9)};
    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

/* ---- processes and threads ---- */

static const char self[] = "/proc/self/exe";

bool as_program_path(char *out, size_t size)
{
    const ssize_t n = size > 1 ? readlink(self, out, size - 1) : 0;
    if (n <= 0 || (size_t)n == size - 1)
        return false;
    out[n] = 0;
    return true;
}

bool as_program_again(char *out, size_t size)
{
    if (size < sizeof self || access(self, X_OK))
        return false;
    memcpy(out, self, sizeof self);
    return true;
}

int as_packet_pair(int pair[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

bool as_packet_socket(int fd, bool *stream)
{
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
        return false;
    *stream = type == SOCK_STREAM;
    return type == SOCK_SEQPACKET;
}

void as_end_with_parent(long parent)
{
    (void)parent;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

uintptr_t as_signal_address(const void *context)
{
    const ucontext_t *u = context;
#if defined(__x86_64__)
    return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)u->uc_mcontext.pc;
#else
    (void)u;
    return 0;
#endif
}

bool as_function_bounds(const void *function, const unsigned char **start, const unsigned char **stop)
{
    (void)function;
    *start = *stop = NULL;
    return false;
}

void as_thread_name(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

uint64_t as_thread_preemptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : (uint64_t)usage.ru_nivcsw;
}

double as_thread_cpu_s(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? NAN : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- memory ---- */

int as_advise_pages(void *at, size_t bytes, enum as_page_advice advice)
{
    return madvise(at, bytes, advice == AS_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void as_drop_pages(void *at, size_t bytes)
{
    madvise(at, bytes, MADV_DONTNEED);
}

void as_return_freed(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

int as_back_pages(void *at, size_t bytes)
{
    return madvise(at, bytes, MADV_POPULATE_WRITE);
}

static void *linux_mapped(size_t bytes, int access, int flags)
{
    void *p = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *as_map_reserve(size_t bytes)
{
    return linux_mapped(bytes, PROT_NONE, MAP_NORESERVE);
}

void *as_map_huge(size_t bytes)
{
    return linux_mapped(bytes, PROT_READ | PROT_WRITE, MAP_HUGETLB);
}

const char *as_map_huge_limit(void)
{
    return NULL;
}

uint64_t as_map_huge_page(void)
{
    return 0;
}

uint64_t as_transparent_page(void)
{
    unsigned long long page = 0;
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re");
    if (f && fscanf(f, "%llu", &page) != 1)
        page = 0;
    if (f)
        fclose(f);
    return page;
}

enum as_transparent as_transparent_allowed(void)
{
    enum { DISABLED = 1, EXCEPT_ADVISED = 2 };
    const int set = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    if (set <= 0 || !(set & DISABLED))
        return AS_TRANSPARENT_YES;
    return set & EXCEPT_ADVISED ? AS_TRANSPARENT_IF_ADVISED : AS_TRANSPARENT_NO;
}

/* 0: none, or larger than useful for this many bytes. */
static size_t huge_page_for(size_t bytes)
{
    enum { ALWAYS_OF_USE = 2 << 20 };
    const uint64_t page = as_transparent_page();
    return page > ALWAYS_OF_USE && page > bytes ? 0 : (size_t)page;
}

void *as_take_large(size_t bytes)
{
    const size_t huge = huge_page_for(bytes), page = huge ? huge : (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = bytes > SIZE_MAX / 2 ? SIZE_MAX / 2 / page * page : (bytes + page - 1) / page * page;
    void *at = aligned_alloc(page, room ? room : page);
    if (at && huge)
        (void)as_advise_pages(at, room, AS_PAGES_HUGE);
    return at;
}

int as_node_of(const void *address)
{
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)4095);
    int node = -1;
    if (!address || syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0))
        return -1;
    return node >= 0 ? node : -1;
}

/* Constants of the system calls, defined here to avoid libnuma. */
enum { POLICY_DEFAULT = 0, POLICY_BIND = 2, POLICY_STRICT = 1, WORD_BITS = 8 * sizeof(unsigned long) };

/* The kernel uses one bit less than the count passed. */
struct node_mask {
    unsigned long words[AS_NODES_MAX / WORD_BITS + 1];
};

static bool mask_of(int node, struct node_mask *out)
{
    *out = (struct node_mask){{0}};
    if (node < 0 || node >= AS_NODES_MAX) {
        errno = EINVAL;
        return false;
    }
    out->words[node / WORD_BITS] = 1ul << node % WORD_BITS;
    return true;
}

int as_take_memory_of(int node)
{
    struct node_mask mask;
    if (node < 0)
        return (int)syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0ul);
    return mask_of(node, &mask) ? (int)syscall(SYS_set_mempolicy, POLICY_BIND, mask.words, AS_NODES_MAX + 1ul) : -1;
}

bool as_memory_has_place(void)
{
    int policy = POLICY_DEFAULT;
    return !syscall(SYS_get_mempolicy, &policy, NULL, 0ul, NULL, 0ul) && policy != POLICY_DEFAULT;
}

int as_bind_memory(void *at, size_t bytes, int node)
{
    struct node_mask mask;
    const size_t before = (uintptr_t)at % (size_t)sysconf(_SC_PAGESIZE);
    if (node < 0)
        return (int)syscall(SYS_mbind, (char *)at - before, bytes + before, POLICY_DEFAULT, NULL, 0ul, 0);
    if (!mask_of(node, &mask))
        return -1;
    return (int)syscall(SYS_mbind, (char *)at - before, bytes + before, POLICY_BIND, mask.words, AS_NODES_MAX + 1ul,
                        POLICY_STRICT);
}

/* ---- counters ---- */

const char *as_counter_limit(void)
{
    return NULL;
}

static const struct {
    uint32_t type;
    uint64_t config;
} counters[] = {
    [AS_COUNT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [AS_COUNT_TASK_NS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [AS_COUNT_DTLB_MISSES] = {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                                      PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
    [AS_COUNT_L1D_MISSES] = {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
                                                     PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
    [AS_COUNT_MINOR_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
};

static int linux_open_counter(struct perf_event_attr *a, int thread, int cpu)
{
    a->size = sizeof *a;
    return (int)syscall(SYS_perf_event_open, a, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int as_counter_open(enum as_counter what)
{
    struct perf_event_attr a = {.type = counters[what].type, .config = counters[what].config, .inherit = 1};
    return linux_open_counter(&a, 0, -1);
}

int as_counter_open_thread(enum as_counter what, int thread)
{
    struct perf_event_attr a = {.type = counters[what].type,
                                .config = counters[what].config,
                                .exclude_kernel = 1,
                                .exclude_hv = 1,
                                .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return linux_open_counter(&a, thread, -1);
}

int as_counter_open_unit(uint32_t unit, uint64_t event, int cpu)
{
    struct perf_event_attr a = {.type = unit, .config = event};
    return linux_open_counter(&a, -1, cpu);
}

/* ---- facts ---- */

int64_t as_file_changed_ns(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

/* The kernel reports everything in files, which are read where needed. */
size_t as_system_facts(struct as_system_fact out[AS_SYSTEM_FACTS_MAX])
{
    (void)out;
    return 0;
}

bool as_system_has(const char *feature)
{
    (void)feature;
    return false;
}

bool as_system_memory(struct as_system_memory *out)
{
    *out = (struct as_system_memory){0};
    return false;
}

bool as_system_core_kind(unsigned kind, struct as_core_kind *out)
{
    (void)kind;
    *out = (struct as_core_kind){0};
    return false;
}
