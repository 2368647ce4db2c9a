/* What disturbs measurements on this machine, and what the user can do about it. Changes nothing. */
#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/host.h"
#include "device/host_limits.h"
#include "os/counters.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/memory.h"
#include "run/provenance.h"
#include "run/system_files.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void (*check_fn)(struct as_finding *f);

static void doctor_set(struct as_finding *f, enum as_severity severity, const char *remedy)
{
    f->severity = severity;
    as_copy_text(f->remedy, sizeof f->remedy, remedy);
}

static void check_governor(struct as_finding *f)
{
    char governor[64];
    if (!as_machine_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor)) {
        snprintf(f->text, sizeof f->text, "the frequency governor is not visible (no cpufreq here)");
        doctor_set(f, AS_NOTE, "the core clock is measured around every sample instead, by a chain of dependent adds");
        return;
    }
    snprintf(f->text, sizeof f->text, "the frequency governor is '%s'", governor);
    if (strcmp(governor, "performance") != 0)
        doctor_set(f, AS_WARNING, "set it to 'performance' during runs: cpupower frequency-set -g performance");
}

static void check_load(struct as_finding *f)
{
    double load[1];
    int cpus = as_machine_cpus();
    if (getloadavg(load, 1) != 1) {
        snprintf(f->text, sizeof f->text, "the load average cannot be read");
        doctor_set(f, AS_NOTE, "");
        return;
    }
    snprintf(f->text, sizeof f->text, "the load average of the last minute is %.2f on %d usable CPUs", load[0], cpus);
    if (load[0] > 0.25 * cpus)
        doctor_set(f, AS_WARNING, "stop other programs or wait: contention makes intervals wide");
}

static void check_smt(struct as_finding *f)
{
    char active[16], siblings[64];
    as_machine_line("/sys/devices/system/cpu/smt/active", active, sizeof active);
    if (as_machine_line("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", siblings, sizeof siblings) &&
        strpbrk(siblings, ",-"))
        active[0] = '1';
    if (active[0] == '1') {
        snprintf(f->text, sizeof f->text, "SMT is on: two hardware threads share a core");
        doctor_set(f, AS_NOTE, "probes that measure cores use one thread per core; keep the siblings idle");
    } else
        snprintf(f->text, sizeof f->text, "SMT is off or not visible: one hardware thread per core");
}

static void check_thp(struct as_finding *f)
{
    char enabled[64];
    if (!as_machine_line("/sys/kernel/mm/transparent_hugepage/enabled", enabled, sizeof enabled)) {
        snprintf(f->text, sizeof f->text, "the kernel has no transparent huge pages");
        doctor_set(f, AS_NOTE, "allocator 'thp' is unsupported here");
        return;
    }
    snprintf(f->text, sizeof f->text, "transparent huge pages: %s", enabled);
    if (as_transparent_allowed() == AS_TRANSPARENT_NO) {
        as_copy_text(f->text, sizeof f->text, AS_NO_TRANSPARENT);
        doctor_set(f, AS_WARNING, "start assay from another process; until then the allocator 'thp' is unsupported");
    } else if (strstr(enabled, "[never]"))
        doctor_set(f, AS_WARNING, "large working sets include TLB misses; 'madvise' enables the allocator 'thp'");
    else if (strstr(enabled, "[always]"))
        doctor_set(f, AS_NOTE,
                   "allocator 'malloc' may get huge pages; 'mmap' keeps to base pages, 'thp' requests huge ones");
}

static void check_hugetlb(struct as_finding *f)
{
    uint64_t pages = as_machine_meminfo("HugePages_Free") / 1024;
    snprintf(f->text, sizeof f->text, "%llu hugetlb pages are free", (unsigned long long)pages);
    if (pages == 0)
        doctor_set(f, AS_NOTE,
                   "allocator 'hugetlb' is unsupported until pages are reserved: sysctl vm.nr_hugepages=512");
}

static void check_virtual(struct as_finding *f)
{
    char what[160];
    if (!as_machine_virtualization(what, sizeof what)) {
        snprintf(f->text, sizeof f->text, "no sign of a virtual machine");
        return;
    }
    snprintf(f->text, sizeof f->text, "assay runs in a %s, so contention on the host may be invisible", what);
    doctor_set(f, AS_WARNING,
               "intervals include whatever differs from trial to trial; a dedicated host makes them narrower");
}

/* The fastest of many bursts: a burst in which the process was preempted says nothing of the clock. */
double as_doctor_clock_ns(uint64_t (*now)(void))
{
    enum { BURSTS = 64, READINGS = 32 };
    double least = INFINITY;
    for (int i = 0; i < BURSTS; i++) {
        const uint64_t start = now();
        uint64_t end = start;
        for (int k = 0; k < READINGS; k++)
            end = now();
        least = fmin(least, (double)(end - start) / READINGS);
    }
    return least;
}

static void check_vm_clock(struct as_finding *f)
{
    char source[64];
    if (!as_machine_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source)) {
        snprintf(f->text, sizeof f->text, "the clock source is not visible");
        doctor_set(f, AS_NOTE, "");
        return;
    }
    const double cost = as_doctor_clock_ns(as_now_ns);
    snprintf(f->text, sizeof f->text, "clock source '%s', %.0f ns per reading", source, cost);
    if (cost > 200)
        doctor_set(f, AS_WARNING, "reading the clock is slow, so samples are longer; tsc is the fast source");
}

static void check_steal(struct as_finding *f)
{
    char line[256];
    unsigned long long user, nice, sys, idle, iowait, irq, soft, steal = 0;
    if (!as_machine_line("/proc/stat", line, sizeof line) ||
        sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &sys, &idle, &iowait, &irq, &soft,
               &steal) != 8) {
        snprintf(f->text, sizeof f->text, "steal time is not visible");
        doctor_set(f, AS_NOTE, "");
        return;
    }
    double total = (double)(user + nice + sys + idle + iowait + irq + soft + steal);
    double share = total > 0 ? 100 * (double)steal / total : 0;
    snprintf(f->text, sizeof f->text, "steal time is %.2f%% of the CPU time since boot", share);
    if (share > 0.5)
        doctor_set(f, AS_WARNING, "other guests use the same cores; measure at a quiet time or on a dedicated host");
}

/* The first write to a page that the host has not backed yet also faults in the host; reusing the page costs only the
 * guest's fault. */
static void check_backing(struct as_finding *f)
{
    uint64_t total = as_machine_meminfo("MemTotal"), free_ = as_machine_meminfo("MemFree");
    enum { BYTES = 64 << 20 };
    const size_t page = (size_t)as_host_page();
    if (free_ < 4 * (uint64_t)BYTES) {
        snprintf(f->text, sizeof f->text, "too little free memory to measure the cost of first touch");
        doctor_set(f, AS_NOTE, "");
        return;
    }
    double ns[2] = {0};
    for (int pass = 0; pass < 2; pass++) {
        char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return;
        (void)as_advise_pages(p, BYTES, AS_PAGES_SMALL);
        double t = as_now();
        for (size_t i = 0; i < BYTES; i += page)
            ((volatile char *)p)[i] = 1;
        ns[pass] = (as_now() - t) / (double)(BYTES / page) * 1e9;
        munmap(p, BYTES);
    }
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "first touch takes ");
    as_format_value(&b, ns[0], "ns");
    as_buf_str(&b, " per page, ");
    as_format_value(&b, ns[1], "ns");
    as_buf_printf(&b, " when repeated; %.0f%% of memory is free", 100 * (double)free_ / (double)total);
    as_copy_text(f->text, sizeof f->text, as_buf_get(&b));
    as_buf_finish(&b);
    if (ns[0] > 2 * ns[1])
        doctor_set(
            f, AS_NOTE,
            "memory that the guest never touched also faults in the host; assay touches its memory before it samples");
}

static void check_quota(struct as_finding *f)
{
    struct as_host_limits limits;
    struct as_error err = {0};
    if (as_host_limits_now(&limits, &err)) {
        as_copy_text(f->text, sizeof f->text, err.text);
        doctor_set(f, AS_NOTE, "");
    } else if (limits.quota > 0) {
        snprintf(f->text, sizeof f->text, "%s limits CPU time to %.3g CPUs", limits.quota_by, limits.quota);
        doctor_set(f, AS_WARNING, "raise the quota: throttled threads make intervals wide");
    } else
        snprintf(f->text, sizeof f->text, "no CPU quota is set for this process");
}

static void check_memory(struct as_finding *f)
{
    struct as_host_limits limits;
    struct as_error err = {0};
    struct as_buf b = AS_BUF_INIT;
    if (as_host_limits_now(&limits, &err)) {
        as_copy_text(f->text, sizeof f->text, err.text);
        doctor_set(f, AS_WARNING, "without it no device of the host can be measured");
    } else if (limits.memory_by[0]) {
        as_format_size(&b, limits.total);
        snprintf(f->text, sizeof f->text, "%s limits memory to %s", limits.memory_by, as_buf_get(&b));
        doctor_set(f, AS_NOTE, "measurements whose working sets exceed it are unsupported");
    } else
        snprintf(f->text, sizeof f->text, "no memory limit is set for this process");
    as_buf_finish(&b);
}

static void check_swap(struct as_finding *f)
{
    uint64_t total = as_machine_meminfo("SwapTotal"), free_ = as_machine_meminfo("SwapFree");
    if (total == 0 || free_ > total - total / 20) {
        snprintf(f->text, sizeof f->text, "no swap is in use");
        return;
    }
    snprintf(f->text, sizeof f->text, "%.0f%% of the swap is in use", 100 * (1 - (double)free_ / (double)total));
    doctor_set(f, AS_WARNING, "free memory before the run: pages that are swapped in distort every number");
}

static int holds_device(const char *pid, char *name, size_t size)
{
    char path[300], target[256];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *d = opendir(path);
    int found = 0;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%.16s/fd/%.16s", pid, e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        found = strncmp(target, "/dev/nvidia", 11) == 0 || strcmp(target, "/dev/kfd") == 0 ||
                strncmp(target, "/dev/dri/render", 15) == 0;
    }
    if (d)
        closedir(d);
    if (found) {
        snprintf(path, sizeof path, "/proc/%s/comm", pid);
        as_machine_line(path, name, size);
    }
    return found;
}

static void check_users(struct as_finding *f)
{
    DIR *d = opendir("/proc");
    int others = 0;
    char name[64] = "";
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && atol(e->d_name) != (long)getpid())
            others += holds_device(e->d_name, name, sizeof name);
    if (d)
        closedir(d);
    if (others == 0) {
        snprintf(f->text, sizeof f->text, "no other visible process uses a GPU");
        return;
    }
    snprintf(f->text, sizeof f->text, "other processes that use a GPU: %d, for example '%.40s'", others, name);
    doctor_set(f, AS_WARNING, "stop them during runs: they share its memory and power limit");
}

static void check_counters(struct as_finding *f)
{
    char paranoid[16];
    if (!as_machine_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid)) {
        as_copy_text(f->text, sizeof f->text,
                     as_counter_limit() ? as_counter_limit() : "the kernel has no performance counters");
        doctor_set(f, AS_NOTE, "cycles are computed from the measured clock");
        return;
    }
    snprintf(f->text, sizeof f->text, "perf_event_paranoid is %s", paranoid);
    doctor_set(f, AS_FINE, "");
}

static void check_pinning(struct as_finding *f)
{
    const char *limit = as_thread_pin_limit();
    as_copy_text(f->text, sizeof f->text, limit ? limit : "threads can be kept on CPUs");
    doctor_set(f, limit ? AS_NOTE : AS_FINE,
               limit ? "threads run where the system puts them, so CPU intervals are wider; close other programs" : "");
}

static void check_topology(struct as_finding *f)
{
    char origin[AS_TOPOLOGY_ORIGIN];
    as_host_topology_origin(origin, sizeof origin);
    if (!origin[0]) {
        snprintf(f->text, sizeof f->text, "cores and caches are read from this system");
        return;
    }
    snprintf(f->text, sizeof f->text, "cores, caches and memory nodes are those of %s", origin);
    doctor_set(f, AS_NOTE,
               "threads and memory are placed on this machine all the same; unset it if it describes another");
}

static void check_translation(struct as_finding *f)
{
    struct as_system_fact facts[AS_SYSTEM_FACTS_MAX];
    const size_t n = as_system_facts(facts);
    as_copy_text(f->text, sizeof f->text, "assay runs natively");
    doctor_set(f, AS_FINE, "");
    for (size_t i = 0; i < n; i++)
        if (strcmp(facts[i].name, "translated") == 0) {
            snprintf(f->text, sizeof f->text, "assay's code is translated by %s", facts[i].text);
            doctor_set(f, AS_WARNING, "build it for this processor: what the CPU backend measures is the translation");
        }
}

static void check_environment(struct as_finding *f)
{
    struct as_buf all = AS_BUF_INIT;
    for (size_t i = 0; as_backends[i]; i++)
        as_backend_environment(as_backends[i], &all);
    if (all.len) {
        snprintf(f->text, sizeof f->text, "environment: %.150s", as_buf_get(&all));
        doctor_set(f, AS_NOTE, "these override how the drivers' runtimes manage or copy memory");
    } else
        snprintf(f->text, sizeof f->text, "no environment variable changes how the drivers' runtimes manage memory");
    as_buf_finish(&all);
}

static const struct {
    const char *what;
    check_fn check;
} checks[] = {
    {"governor", check_governor},
    {"load", check_load},
    {"smt", check_smt},
    {"thp", check_thp},
    {"runtimes", check_environment},
    {"hugetlb", check_hugetlb},
    {"virtual machine", check_virtual},
    {"clock source", check_vm_clock},
    {"steal", check_steal},
    {"first touch", check_backing},
    {"cpu quota", check_quota},
    {"memory limit", check_memory},
    {"swap", check_swap},
    {"device users", check_users},
    {"counters", check_counters},
    {"pinning", check_pinning},
    {"topology", check_topology},
    {"translation", check_translation},
};

enum as_status as_doctor(struct as_finding **findings, size_t *n, struct as_error *err)
{
    *n = sizeof checks / sizeof *checks;
    *findings = calloc(*n, sizeof **findings);
    if (!*findings) {
        size_t bytes = *n * sizeof **findings;
        *n = 0;
        return as_nomem(err, bytes, "findings");
    }
    for (size_t i = 0; i < *n; i++) {
        as_copy_text((*findings)[i].what, sizeof(*findings)[i].what, checks[i].what);
        checks[i].check(&(*findings)[i]);
    }
    return AS_OK;
}

void as_doctor_demand(const struct as_device_info *info, struct as_finding *f)
{
    struct as_buf b = AS_BUF_INIT;
    *f = (struct as_finding){.severity = info->demand[0] ? AS_FINE : AS_NOTE};
    snprintf(f->what, sizeof f->what, "%.20s", info->id);
    if (info->demand[0])
        as_buf_printf(&b, "during trials, counters are read from %s", info->demand);
    else
        as_buf_str(&b, "memory traffic during trials is not visible");
    if (info->demand_why[0])
        as_buf_printf(&b, "%s%s", info->demand[0] ? "; without " : ": ", info->demand_why);
    as_copy_text(f->text, sizeof f->text, as_buf_get(&b));
    as_buf_finish(&b);
}

void as_doctor_device(const struct as_device_info *info, struct as_finding *f)
{
    struct as_buf b = AS_BUF_INIT;
    *f = (struct as_finding){.severity = AS_FINE};
    as_copy_text(f->what, sizeof f->what, info->id);
    if (info->unfit[0]) {
        as_buf_str(&b, info->unfit);
        doctor_set(f, AS_WARNING, "cool it, check its power limit, stop other processes: they make intervals wide");
    } else if (!info->sensor[0]) {
        as_buf_printf(&b, "throttling and other processes are not visible: %s", info->sensor_why);
        doctor_set(f, AS_NOTE, "");
    } else if (info->sensor_why[0]) {
        as_buf_printf(&b, "its sensor '%s' does not report everything: %s", info->sensor, info->sensor_why);
        doctor_set(f, AS_NOTE, "");
    } else /* no sensor of a CPU counts its other users */
        as_buf_printf(&b, "not throttled%s, by its sensor '%s'",
                      info->capabilities & AS_CAP_HOST_KERNELS ? "" : " and used by no other process", info->sensor);
    as_copy_text(f->text, sizeof f->text, as_buf_get(&b));
    as_buf_finish(&b);
}
