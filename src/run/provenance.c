/* Provenance of the machine: read from the system; what cannot be read is absent. */
#include "run/provenance.h"

#include "base/clock.h"
#include "base/host.h"
#include "base/text.h"
#include "device/host.h"
#include "device/host_limits.h"
#include "os/cpus.h"
#include "os/facts.h"
#include "os/memory.h"
#include "run/system_files.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/utsname.h>

#ifndef AS_VERSION
#define AS_VERSION "unknown"
#endif
#ifndef AS_COMPILER_FLAGS
#define AS_COMPILER_FLAGS ""
#endif

extern const char as_build_commit[];

const char *as_version(void)
{
    return AS_VERSION;
}

const char *as_commit(void)
{
    return as_build_commit;
}

static void set_text(json_t *j, const char *name, const char *text)
{
    if (text && text[0])
        json_object_set_new(j, name, json_string(text));
}

static void set_file(json_t *j, const char *name, const char *path)
{
    char text[256];
    if (as_machine_line(path, text, sizeof text))
        set_text(j, name, text);
}

static void set_size(json_t *j, const char *name, uint64_t bytes)
{
    if (bytes)
        json_object_set_new(j, name, json_integer((json_int_t)bytes));
}

static json_t *tool_json(void)
{
    json_t *j = json_object();
    set_text(j, "version", as_version());
    set_text(j, "commit", as_commit());
#if defined(__clang__)
    set_text(j, "compiler", "clang " __clang_version__);
#elif defined(__GNUC__)
    set_text(j, "compiler", "gcc " __VERSION__);
#endif
    set_text(j, "flags", AS_COMPILER_FLAGS);
    return j;
}

static json_t *host_json(void)
{
    json_t *j = json_object();
    struct utsname u;
    char text[256];
    if (uname(&u) == 0) {
        set_text(j, "name", u.nodename);
        set_text(j, "kernel", u.release);
        set_text(j, "arch", u.machine);
    }
    if (as_machine_value("/etc/os-release", "PRETTY_NAME", text, sizeof text))
        set_text(j, "os", text);
    set_text(j, "virtualization", as_machine_virtualization(text, sizeof text) ? text : "none seen");
    set_file(j, "boot_id", "/proc/sys/kernel/random/boot_id");
    set_file(j, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    set_file(j, "cmdline", "/proc/cmdline");
    return j;
}

static json_t *cpu_json(void)
{
    static const char *const members[][2] = {
        {"model", "model name"},
        {"vendor", "vendor_id"},
        {"microcode", "microcode"},
        {"flags", "flags"},
        {"implementer", "CPU implementer"},
        {"part", "CPU part"},
    };
    json_t *j = json_object();
    char text[4096];
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (as_machine_value("/proc/cpuinfo", members[i][1], text, sizeof text))
            set_text(j, members[i][0], text);
    set_file(j, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    set_file(j, "driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
    set_file(j, "smt", "/sys/devices/system/cpu/smt/control");
    set_file(j, "online", "/sys/devices/system/cpu/online");
    set_size(j, "usable", (uint64_t)as_machine_cpus());
    as_host_topology_origin(text, sizeof text);
    set_text(j, "topology", text);
    set_text(j, "pinning", as_thread_pin_limit());
    return j;
}

/* The same limits that bound what a device allocates. */
static void set_limits(json_t *j)
{
    struct as_host_limits limits;
    if (as_host_limits_now(&limits, NULL))
        return;
    if (limits.memory_by[0])
        set_size(j, "cgroup_limit", limits.total);
    set_text(j, "limited_by", limits.memory_by);
    if (limits.quota > 0)
        json_object_set_new(j, "cpu_quota", json_real(limits.quota));
}

static json_t *memory_json(void)
{
    json_t *j = json_object();
    set_size(j, "total", as_machine_meminfo("MemTotal"));
    set_size(j, "available", as_machine_meminfo("MemAvailable"));
    set_size(j, "swap", as_machine_meminfo("SwapTotal"));
    set_size(j, "hugetlb_free", as_machine_meminfo("HugePages_Free") / 1024);
    set_size(j, "hugetlb_size", as_machine_meminfo("Hugepagesize"));
    set_limits(j);
    set_size(j, "page_size", as_host_page());
    set_file(j, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
    if (as_transparent_allowed() == AS_TRANSPARENT_NO)
        set_text(j, "thp_denied", AS_NO_TRANSPARENT);
    set_file(j, "thp_defrag", "/sys/kernel/mm/transparent_hugepage/defrag");
    set_file(j, "numa_balancing", "/proc/sys/kernel/numa_balancing");
    set_file(j, "numa_nodes", "/sys/devices/system/node/online");
    return j;
}

static json_t *load_json(void)
{
    json_t *j = json_object();
    double load[3];
    if (getloadavg(load, 3) == 3) {
        json_object_set_new(j, "1m", json_real(load[0]));
        json_object_set_new(j, "15m", json_real(load[2]));
    }
    return j;
}

static void provenance_add_facts(json_t *j)
{
    struct as_system_fact facts[AS_SYSTEM_FACTS_MAX];
    const size_t n = as_system_facts(facts);
    for (size_t i = 0; i < n; i++)
        set_text(json_object_get(j, facts[i].section), facts[i].name, facts[i].text);
}

enum as_status as_provenance_json(struct as_buf *out, struct as_error *err)
{
    const size_t before = as_memory_failures();
    json_t *j = json_object();
    json_object_set_new(j, "tool", tool_json());
    json_object_set_new(j, "host", host_json());
    json_object_set_new(j, "cpu", cpu_json());
    json_object_set_new(j, "memory", memory_json());
    json_object_set_new(j, "load", load_json());
    provenance_add_facts(j);
    char *text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    if (!text || as_memory_failures() != before) {
        free(text);
        return as_nomem(err, 0, "the provenance");
    }
    as_buf_str(out, text);
    free(text);
    return as_buf_check(out, err);
}
