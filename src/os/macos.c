#include "os/counters.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/memory.h"
#include "os/wait.h"

#include <errno.h>
#include <mach/mach.h>
#include <math.h>
#include <pthread/qos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

/* ---- sysctl ---- */

static uint64_t macos_number_of(const char *name)
{
    union {
        uint32_t narrow;
        uint64_t wide;
    } value = {.wide = 0};
    size_t size = sizeof value;
    if (sysctlbyname(name, &value, &size, NULL, 0))
        return 0;
    return size == sizeof value.narrow ? value.narrow : value.wide;
}

static void macos_text_of(const char *name, char *out, size_t size)
{
    size_t n = size - 1;
    if (sysctlbyname(name, out, &n, NULL, 0))
        n = 0;
    out[n] = 0;
}

static uint64_t number_of_kind(unsigned kind, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, "hw.perflevel%u.%s", kind, name);
    return macos_number_of(whole);
}

/* ---- CPUs: numbered by kind, the fastest first, since programs cannot use the system's numbers ---- */

int as_online_cpus(void)
{
    const uint64_t n = macos_number_of("hw.logicalcpu");
    return n ? (int)n : 1;
}

bool as_thread_cpus(struct as_cpus *out)
{
    *out = (struct as_cpus){{0}};
    for (int cpu = as_online_cpus(); cpu--;)
        as_cpus_add(out, cpu);
    return true;
}

/* Whether the set has no CPU of the fastest kind. */
static bool is_slow_kind(const struct as_cpus *set)
{
    const int fast = (int)number_of_kind(0, "logicalcpu");
    if (fast == 0 || macos_number_of("hw.nperflevels") < 2)
        return false;
    for (int cpu = 0; cpu < fast; cpu++)
        if (as_cpus_has(set, cpu))
            return false;
    return as_cpus_count(set) > 0;
}

/* Threads with the same tag share a cache if possible, those with different tags do not; Intel Macs only. */
static void set_tag(const struct as_cpus *set)
{
    thread_affinity_policy_data_t policy = {.affinity_tag = THREAD_AFFINITY_TAG_NULL};
    for (int cpu = 0; cpu < AS_CPUS_MAX && as_cpus_count(set) == 1; cpu++)
        if (as_cpus_has(set, cpu))
            policy.affinity_tag = cpu + 1;
    (void)thread_policy_set(pthread_mach_thread_np(pthread_self()), THREAD_AFFINITY_POLICY, (thread_policy_t)&policy,
                            THREAD_AFFINITY_POLICY_COUNT);
}

bool as_thread_keep_on(const struct as_cpus *set)
{
    set_tag(set);
    return pthread_set_qos_class_self_np(is_slow_kind(set) ? QOS_CLASS_BACKGROUND : QOS_CLASS_USER_INTERACTIVE, 0) == 0;
}

const char *as_thread_pin_limit(void)
{
    return "macOS cannot pin threads to a CPU: quality-of-service classes choose the kind of core";
}

int as_thread_cpu(void)
{
    return -1;
}

/* ---- waiting: the calls behind the C++ library's atomic waits, since macOS 10.12 ---- */

extern int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout_us);
extern int __ulock_wake(uint32_t operation, void *address, uint64_t value);
enum { COMPARE_AND_WAIT = 1, WAKE_ALL = 0x100, NO_ERRNO = 0x1000000 };

void as_word_wait(_Atomic uint32_t *word, uint32_t seen)
{
    (void)__ulock_wait(COMPARE_AND_WAIT | NO_ERRNO, (void *)word, seen, 0);
}

void as_word_wake_all(_Atomic uint32_t *word)
{
    (void)__ulock_wake(COMPARE_AND_WAIT | WAKE_ALL | NO_ERRNO, (void *)word, 0);
}

int as_condition_init(pthread_cond_t *condition)
{
    return pthread_cond_init(condition, NULL);
}

double as_condition_after(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
}

bool as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end)
{
    const double left = end - as_condition_after(0);
    if (!(left > 0))
        return false;
    const struct timespec rest = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    return pthread_cond_timedwait_relative_np(condition, lock, &rest) != ETIMEDOUT;
}

/* ---- memory ---- */

int as_advise_pages(void *at, size_t bytes, enum as_page_advice advice)
{
    (void)at, (void)bytes;
    if (advice == AS_PAGES_SMALL)
        return 0; /* there are no other nodes */
    errno = ENOTSUP;
    return -1;
}

/* No advice guarantees that the next touch faults; a new mapping at the same address does. */
void as_drop_pages(void *at, size_t bytes)
{
    (void)mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
}

void as_return_freed(void)
{
}

int as_back_pages(void *at, size_t bytes)
{
    (void)at, (void)bytes;
    errno = EINVAL;
    return -1;
}

static void *macos_mapped(size_t bytes, int access, int fd_or_flags)
{
    void *p = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANON, fd_or_flags, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *as_map_reserve(size_t bytes)
{
    return macos_mapped(bytes, PROT_NONE, -1);
}

/* XNU maps superpages on Intel's processors only (vm_map_enter); Rosetta 2 runs on Apple's kernel. */
const char *as_map_huge_limit(void)
{
#if defined(__x86_64__)
    if (!macos_number_of("sysctl.proc_translated"))
        return NULL;
#endif
    return "macOS has no superpages on Apple silicon, only pages of 16 KiB";
}

void *as_map_huge(size_t bytes)
{
    if (!as_map_huge_limit())
        return macos_mapped(bytes, PROT_READ | PROT_WRITE, VM_FLAGS_SUPERPAGE_SIZE_2MB);
    errno = ENOTSUP;
    return NULL;
}

uint64_t as_map_huge_page(void)
{
    return as_map_huge_limit() ? 0 : UINT64_C(2) << 20;
}

uint64_t as_transparent_page(void)
{
    return 0;
}

enum as_transparent as_transparent_allowed(void)
{
    return AS_TRANSPARENT_YES;
}

void *as_take_large(size_t bytes)
{
    void *at = NULL;
    errno = posix_memalign(&at, (size_t)getpagesize(), bytes);
    return at;
}

int as_node_of(const void *address)
{
    (void)address;
    return -1;
}

int as_take_memory_of(int node)
{
    errno = ENOTSUP;
    return node <= 0 ? 0 : -1;
}

bool as_memory_has_place(void)
{
    return false;
}

int as_bind_memory(void *at, size_t bytes, int node)
{
    (void)at, (void)bytes;
    return as_take_memory_of(node);
}

/* ---- counters ---- */

const char *as_counter_limit(void)
{
    return "macOS permits only the superuser to count events";
}

int as_counter_open(enum as_counter what)
{
    (void)what;
    errno = EPERM;
    return -1;
}

int as_counter_open_thread(enum as_counter what, int thread)
{
    (void)thread;
    return as_counter_open(what);
}

int as_counter_open_unit(uint32_t unit, uint64_t event, int cpu)
{
    (void)unit, (void)event, (void)cpu;
    errno = EPERM;
    return -1;
}

/* ---- facts ---- */

bool as_system_random(void *bytes, size_t n)
{
    return getentropy(bytes, n) == 0;
}

int64_t as_file_changed_ns(const struct stat *info)
{
    return (int64_t)info->st_mtimespec.tv_sec * 1000000000 + info->st_mtimespec.tv_nsec;
}

size_t as_system_facts(struct as_system_fact out[AS_SYSTEM_FACTS_MAX])
{
    static const struct {
        const char *section, *name, *key, *front;
    } rows[] = {
        {"host", "os", "kern.osproductversion", "macOS "},
        {"host", "os_build", "kern.osversion", ""},
        {"host", "model", "hw.model", ""},
        {"cpu", "model", "machdep.cpu.brand_string", ""},
        {"cpu", "vendor", "machdep.cpu.vendor", ""},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[160];
        macos_text_of(rows[i].key, text, sizeof text);
        if (!text[0])
            continue;
        out[n] = (struct as_system_fact){.section = rows[i].section, .name = rows[i].name};
        snprintf(out[n].text, sizeof out[n].text, "%s%s", rows[i].front, text);
        n++;
    }
    if (macos_number_of("sysctl.proc_translated"))
        out[n++] = (struct as_system_fact){"cpu", "translated", "Rosetta 2"};
    if (macos_number_of("kern.hv_vmm_present"))
        out[n++] = (struct as_system_fact){"host", "virtualization", "virtual machine"};
    return n;
}

bool as_system_has(const char *feature)
{
    char name[64];
    snprintf(name, sizeof name, "hw.optional.arm.%s", feature);
    return macos_number_of(name) != 0;
}

bool as_system_memory(struct as_system_memory *out)
{
    const mach_port_t host = mach_host_self();
    vm_statistics64_data_t vm;
    mach_task_basic_info_data_t task;
    mach_msg_type_number_t n = HOST_VM_INFO64_COUNT, task_n = MACH_TASK_BASIC_INFO_COUNT;
    const uint64_t page = vm_kernel_page_size;
    *out = (struct as_system_memory){.total = macos_number_of("hw.memsize")};
    const bool good = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&vm, &n) == KERN_SUCCESS;
    mach_port_deallocate(mach_task_self(), host);
    if (!good || !out->total)
        return false;
    /* Speculative pages count as free. */
    out->free = page * (vm.free_count - (vm.speculative_count < vm.free_count ? vm.speculative_count : 0));
    out->available = page * ((uint64_t)vm.free_count + vm.external_page_count + vm.purgeable_count);
    out->available = out->available < out->total ? out->available : out->total;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&task, &task_n) == KERN_SUCCESS)
        out->resident = task.resident_size;
    return true;
}

/* An Intel Mac has no performance levels: keys without a level describe the only kind. */
bool as_system_core_kind(unsigned kind, struct as_core_kind *out)
{
    const uint64_t kinds = macos_number_of("hw.nperflevels");
    char name[64];
    *out = (struct as_core_kind){.line = (unsigned)macos_number_of("hw.cachelinesize")};
    if (kinds == 0 && kind == 0) {
        out->cores = (unsigned)macos_number_of("hw.physicalcpu");
        out->threads = (unsigned)macos_number_of("hw.logicalcpu");
        out->l1i = macos_number_of("hw.l1icachesize");
        out->l1d = macos_number_of("hw.l1dcachesize");
        out->l2 = macos_number_of("hw.l2cachesize");
        out->l3 = macos_number_of("hw.l3cachesize");
        out->cores_per_l2 = 1;
        return out->threads > 0;
    }
    if (kind >= kinds)
        return false;
    snprintf(name, sizeof name, "hw.perflevel%u.name", kind);
    macos_text_of(name, out->name, sizeof out->name);
    out->cores = (unsigned)number_of_kind(kind, "physicalcpu");
    out->threads = (unsigned)number_of_kind(kind, "logicalcpu");
    out->l1i = number_of_kind(kind, "l1icachesize");
    out->l1d = number_of_kind(kind, "l1dcachesize");
    out->l2 = number_of_kind(kind, "l2cachesize");
    out->l3 = number_of_kind(kind, "l3cachesize");
    out->cores_per_l2 = (unsigned)number_of_kind(kind, "cpusperl2");
    return out->threads > 0;
}
