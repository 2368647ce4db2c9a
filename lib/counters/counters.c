#include "counters.h"

#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const as_counter_words[] = {"MemAvailable", "NUMA nodes",  "VmRSS",      "smaps_rollup",
                                        "driver",       "amdgpu VRAM", "amdgpu GTT", NULL};

enum { FILE_MAX = 1 << 17 };

double as_counter_field(const char *text, const char *name)
{
    unsigned long long kib;
    size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + n, name))
        if ((at == text || at[-1] == '\n' || at[-1] == ' ') && sscanf(at + n, ": %llu", &kib) == 1)
            return (double)kib * 1024;
    return NAN;
}

static double file_field(const char *root, const char *path, const char *name, char *why, size_t why_size)
{
    struct as_buf file = AS_BUF_INIT, text = AS_BUF_INIT;
    struct as_error err = {0};
    double v = NAN;
    as_buf_printf(&file, "%s%s", root, path);
    if (as_buf_read_file(&text, as_buf_get(&file), FILE_MAX, &err))
        as_copy_text(why, why_size, err.text);
    else if (!isfinite(v = as_counter_field(as_buf_get(&text), name)))
        snprintf(why, why_size, "'%.80s' has no line '%s'", path, name);
    as_buf_finish(&file);
    as_buf_finish(&text);
    return v;
}

/* Sum of all nodes: the allocator chooses the node. */
static double nodes_free(const char *root, struct counter_reading *out, char *why, size_t why_size)
{
    static const char folder[] = "/sys/devices/system/node";
    char path[512], file[512];
    double sum = 0;
    int number;
    snprintf(path, sizeof path, "%s%s", root, folder);
    DIR *d = opendir(path);
    const struct dirent *e;
    while (d && (e = readdir(d)) != NULL && out->nodes_n < COUNTER_NODES_MAX) {
        if (sscanf(e->d_name, "node%d", &number) != 1)
            continue;
        snprintf(file, sizeof file, "%s/node%d/meminfo", folder, number);
        const double free_bytes = file_field(root, file, "MemFree", why, why_size);
        out->node[out->nodes_n] = number;
        out->node_bytes[out->nodes_n++] = -free_bytes;
        sum += free_bytes;
    }
    if (d)
        closedir(d);
    if (out->nodes_n == 0)
        snprintf(why, why_size, "the kernel lists no NUMA nodes in '%s'", folder);
    return out->nodes_n ? sum : NAN;
}

static double driver_free(struct as_device *dev, char *why, size_t why_size)
{
    struct as_error err = {0};
    uint64_t bytes = 0;
    if (!dev || !(dev->info.capabilities & AS_CAP_FREE_COUNT))
        as_copy_text(why, why_size,
                     dev && dev->info.capabilities & AS_CAP_HOST_KERNELS ? "no driver counts CPU memory"
                                                                         : "its driver does not report free memory");
    else if (dev->device->memory_free(dev, &bytes, &err))
        as_copy_text(why, why_size, err.text);
    else
        return (double)bytes;
    return NAN;
}

void as_counters_of_calls(const struct as_system_memory *memory, struct counter_reading *out)
{
    const size_t size = sizeof out->why[0];
    out->bytes[COUNTER_AVAILABLE] = -(double)memory->available;
    out->bytes[COUNTER_NODES] = out->bytes[COUNTER_ROLLUP] = NAN;
    out->bytes[COUNTER_RSS] = memory->resident ? (double)memory->resident : NAN;
    as_copy_text(out->why[COUNTER_NODES], size, "the system has no NUMA nodes");
    as_copy_text(out->why[COUNTER_ROLLUP], size, "the system has no smaps_rollup");
    if (!memory->resident)
        as_copy_text(out->why[COUNTER_RSS], size, "the system does not report this process's resident memory");
}

static void read_files(const char *root, struct counter_reading *out)
{
    const size_t size = sizeof out->why[0];
    out->bytes[COUNTER_AVAILABLE] =
        -file_field(root, "/proc/meminfo", "MemAvailable", out->why[COUNTER_AVAILABLE], size);
    out->bytes[COUNTER_NODES] = -nodes_free(root, out, out->why[COUNTER_NODES], size);
    out->bytes[COUNTER_RSS] = file_field(root, "/proc/self/status", "VmRSS", out->why[COUNTER_RSS], size);
    out->bytes[COUNTER_ROLLUP] = file_field(root, "/proc/self/smaps_rollup", "Rss", out->why[COUNTER_ROLLUP], size);
}

/* Of the kernel's folder of a PCI device; false: it has none. */
static bool counters_device_file(const char *root, const struct as_device_info *info, const char *name, char *out,
                                 size_t size)
{
    char bus[sizeof info->bus_id] = "";
    for (size_t i = 0; info && info->bus_id[i]; i++)
        bus[i] = (char)tolower((unsigned char)info->bus_id[i]);
    snprintf(out, size, "%s/sys/bus/pci/devices/%s/%s", root, bus, name);
    return bus[0] != '\0';
}

static double counters_of_device(const char *root, const struct as_device_info *info, const char *name, char *why,
                                 size_t why_size)
{
    char path[512];
    struct as_buf text = AS_BUF_INIT;
    unsigned long long bytes = 0;
    const bool read = counters_device_file(root, info, name, path, sizeof path) &&
                      !as_buf_read_file(&text, path, FILE_MAX, NULL) && sscanf(as_buf_get(&text), "%llu", &bytes) == 1;
    if (!read)
        snprintf(why, why_size, "the kernel driver does not export '%s' for the device", name);
    as_buf_finish(&text);
    return read ? (double)bytes : NAN;
}

static const char vram_used[] = "mem_info_vram_used", gtt_used[] = "mem_info_gtt_used";

bool as_counters_have_files(const char *root, const struct as_device_info *info)
{
    char path[512];
    return counters_device_file(root, info, vram_used, path, sizeof path) && access(path, R_OK) == 0;
}

void as_counters_read_files(const char *root, const struct as_device_info *info, struct counter_reading *out)
{
    struct as_system_memory memory;
    const size_t size = sizeof out->why[0];
    *out = (struct counter_reading){.nodes_n = 0};
    if (!root[0] && as_system_memory(&memory))
        as_counters_of_calls(&memory, out);
    else
        read_files(root, out);
    out->bytes[COUNTER_VRAM] = counters_of_device(root, info, vram_used, out->why[COUNTER_VRAM], size);
    out->bytes[COUNTER_GTT] = counters_of_device(root, info, gtt_used, out->why[COUNTER_GTT], size);
    out->bytes[COUNTER_DRIVER] = NAN;
}

void as_counters_read(const char *root, struct as_device *dev, struct counter_reading *out)
{
    as_counters_read_files(root, dev ? &dev->info : NULL, out);
    out->bytes[COUNTER_DRIVER] = -driver_free(dev, out->why[COUNTER_DRIVER], sizeof out->why[0]);
}
