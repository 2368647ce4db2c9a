/* The description of the CPU. */
#include "base/text.h"
#include "device/cpu/cpu.h"
#include "device/cpu/generation.h"
#include "os/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static void cpu_info_read_line(const char *path, char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    out[0] = 0;
    if (as_buf_read_file(&b, path, 4096, NULL) == AS_OK) {
        as_copy_text(out, size, as_buf_get(&b));
        out[strcspn(out, "\n")] = 0;
    }
    as_buf_finish(&b);
}

/* The value of the first line of /proc/cpuinfo that starts with key; "" if there is none. */
static void cpuinfo(const char *key, char *out, size_t size)
{
    char line[512];
    size_t n = strlen(key);
    out[0] = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && !out[0] && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, n) != 0 || !strchr("\t :", line[n]) || !strchr(line, ':'))
            continue;
        const char *value = strchr(line, ':') + 1;
        line[strcspn(line, "\n")] = 0;
        as_copy_text(out, size, value + strspn(value, " \t"));
    }
    if (f)
        fclose(f);
}

/* Bytes of a CPU's cache of `level` and `kind` ('d' includes 'u') as reported by the kernel; 0 if it reports none. */
static uint64_t sysfs_cache(int cpu, unsigned level, char kind)
{
    for (unsigned i = 0; i < 16; i++) {
        char path[128], text[64];
        unsigned is_level;
        unsigned long long kib;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%u/level", cpu, i);
        cpu_info_read_line(path, text, sizeof text);
        if (!text[0])
            return 0;
        bool same = sscanf(text, "%u", &is_level) == 1 && is_level == level;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%u/type", cpu, i);
        cpu_info_read_line(path, text, sizeof text);
        if (!same || (text[0] == 'I') != (kind == 'i'))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%u/size", cpu, i);
        cpu_info_read_line(path, text, sizeof text);
        return sscanf(text, "%lluK", &kib) == 1 ? (uint64_t)kib << 10 : 0;
    }
    return 0;
}

static void add_cache(struct as_device_info *info, const struct as_cache *c)
{
    if (c->size && info->caches_n < AS_CACHES_MAX)
        info->caches[info->caches_n++] = *c;
}

static bool cpu_info_known(const struct as_device_info *info, unsigned level, char kind)
{
    for (size_t i = 0; i < info->caches_n; i++)
        if (info->caches[i].level == level && (info->caches[i].kind == 'i') == (kind == 'i'))
            return true;
    return false;
}

/* From the core outwards, data before instruction caches. */
static int by_level(const void *a, const void *b)
{
    const struct as_cache *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->kind == 'i') - (y->kind == 'i');
}

/* If the topology has no caches (some virtual machines), they come from the kernel's files. */
static void fill_caches(const struct as_cpu_device *cpu, struct as_device_info *info)
{
    as_cpu_machine_caches(cpu->machine, cpu->order[0], info);
    for (unsigned level = 1; level <= 4; level++)
        for (const char *kind = "di"; *kind; kind++)
            if (!cpu_info_known(info, level, *kind))
                add_cache(info, &(struct as_cache){
                                    .level = level, .kind = *kind, .size = sysfs_cache(cpu->order[0], level, *kind)});
    qsort(info->caches, info->caches_n, sizeof info->caches[0], by_level);
}

static void cpu_info_fill_names(const struct as_cpu_device *cpu, struct as_device_info *info)
{
    char implementer[32], part[32];
    as_cpu_machine_names(cpu->machine, info);
    if (!info->name[0])
        cpuinfo("model name", info->name, sizeof info->name);
    cpuinfo("CPU implementer", implementer, sizeof implementer);
    cpuinfo("CPU part", part, sizeof part);
    if (!info->name[0] && part[0])
        snprintf(info->name, sizeof info->name, "CPU implementer %s part %s", implementer, part);
    if (!info->name[0])
        as_copy_text(info->name, sizeof info->name, "CPU of unknown model");
    struct as_cpu_identity id;
    as_cpu_identify(implementer, part, &id);
    as_cpu_generation(&id, info->name, info->generation, sizeof info->generation);
    as_copy_text(info->hypervisor, sizeof info->hypervisor, as_cpu_hypervisor(&id));
}

/* Kernel, microcode, and limits of this process. */
static void cpu_info_fill_driver(const struct as_cpu_device *cpu, const struct as_host_limits *limits,
                                 struct as_device_info *info)
{
    struct as_buf b = AS_BUF_INIT;
    struct utsname u;
    char microcode[64];
    if (uname(&u) == 0)
        as_buf_printf(&b, "%s %s", u.sysname, u.release);
    cpuinfo("microcode", microcode, sizeof microcode);
    if (microcode[0])
        as_buf_printf(&b, ", microcode %s", microcode);
    if (limits->quota > 0)
        as_buf_printf(&b, ", quota of %.2f CPUs", limits->quota);
    for (size_t i = 0; i < info->caches_n; i++) {
        const struct as_cache *c = &info->caches[i];
        uint64_t kernel = sysfs_cache(cpu->order[0], c->level, c->kind);
        if (!kernel || kernel == c->size)
            continue;
        as_buf_printf(&b, ", L%u%s is ", c->level, c->kind == 'u' ? "" : c->kind == 'd' ? "d" : "i");
        as_format_size(&b, kernel);
        as_buf_str(&b, " according to the kernel");
    }
    as_copy_text(info->driver, sizeof info->driver, as_buf_get(&b));
    as_buf_finish(&b);
}

/* Threads that can run concurrently: more would exhaust the CPU quota and be throttled. */
static unsigned usable_threads(const struct as_cpu_device *cpu, const struct as_host_limits *limits)
{
    unsigned n = (unsigned)cpu->order_n;
    if (limits->quota > 0 && limits->quota < n)
        n = limits->quota < 1 ? 1 : (unsigned)limits->quota;
    return n;
}

static double clock_max(int cpu)
{
    char path[128], text[64];
    unsigned long long khz;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
    cpu_info_read_line(path, text, sizeof text);
    return sscanf(text, "%llu", &khz) == 1 ? 1e3 * (double)khz : 0;
}

enum as_status as_cpu_fill_info(struct as_device *dev, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    struct as_device_info *info = &dev->info;
    struct as_host_limits limits;
    enum as_status st = as_host_limits_read(cpu->groups, &limits, err);
    if (st)
        return st;
    const unsigned cores = as_cpu_machine_cores(cpu->machine);
    *info = (struct as_device_info){
        .id = "cpu",
        .backend = "cpu",
        .capabilities = AS_CAP_HOST_KERNELS | AS_CAP_CLOCK | AS_CAP_FP64 | AS_CAP_SVM_ATOMICS | AS_CAP_ASYNC |
                        (as_thread_pin_limit() ? 0 : AS_CAP_PIN),
        .compute_units = cores ? cores : (unsigned)cpu->order_n,
        .threads = usable_threads(cpu, &limits),
        .warp = 1,
        .clock_max_hz = clock_max(cpu->order[0]),
        .memory_bytes = limits.total,
        .page_size = cpu->pages.base,
        .huge_page = cpu->pages.huge ? cpu->pages.huge : cpu->pages.hugetlb,
        .is_host_memory = true,
        .numa_nodes = as_cpu_machine_nodes(cpu->machine),
        .packages = as_cpu_machine_packages(cpu->machine),
    };
    fill_caches(cpu, info);
    cpu_info_fill_names(cpu, info);
    cpu_info_fill_driver(cpu, &limits, info);
    as_cpu_list_allocators(&cpu->pages, info);
    st = as_cpu_memory_free(dev, &info->memory_free, err);
    info->max_alloc = info->memory_free;
    return st;
}
