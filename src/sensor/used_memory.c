#include "sensor/used_memory.h"

#include "base/buf.h"
#include "base/text.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 4096 };

static struct as_used_counter *used_counter_new(struct as_used_memory *m)
{
    return m->n < AS_USED_COUNTERS_MAX ? &m->v[m->n++] : NULL;
}

/* ---- the files of AMD's kernel driver ---- */

static void used_add_file(const char *folder, const char *device, const char *file, const char *what,
                          const char *counts, struct as_used_memory *m)
{
    char path[sizeof m->v[0].path];
    const int n = snprintf(path, sizeof path, "%s/%s/%s", folder, device, file);
    if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) != 0)
        return;
    struct as_used_counter *c = used_counter_new(m);
    if (!c)
        return;
    as_copy_text(c->path, sizeof c->path, path);
    snprintf(c->name, sizeof c->name, "%.32s %s", device, what);
    c->counts = counts;
}

static void used_find_files(const char *root, struct as_used_memory *m)
{
    char folder[240];
    struct dirent **devices = NULL;
    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices", root);
    const int n = scandir(folder, &devices, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = devices[i]->d_name;
        used_add_file(folder, name, "mem_info_vram_used", "VRAM",
                      "device memory; on an APU, the reserved part of system memory", m);
        used_add_file(folder, name, "mem_info_gtt_used", "GTT", "system memory mapped for the device", m);
        free(devices[i]);
    }
    free((void *)devices);
}

static double used_of_file(const char *path)
{
    struct as_buf text = AS_BUF_INIT;
    unsigned long long bytes = 0;
    const bool read =
        as_buf_read_file(&text, path, FILE_MAX, NULL) == AS_OK && sscanf(as_buf_get(&text), "%llu", &bytes) == 1;
    as_buf_finish(&text);
    return read ? (double)bytes : NAN;
}

/* ---- NVIDIA's library ---- */

static double used_of_nvml(const struct as_used_memory *m, nvml_device device)
{
    struct nvml_memory memory;
    return m->nvml.memory(device, &memory) == NVML_SUCCESS ? (double)memory.used : NAN;
}

static void used_find_nvml(struct as_used_memory *m)
{
    struct as_error err = {0};
    unsigned n = 0;
    const enum as_status st = as_nvml_load(&m->nvml, &err);
    const nvml_return init = st ? NVML_SUCCESS : m->nvml.init();
    if (st || init != NVML_SUCCESS) {
        as_copy_text(m->why_not, sizeof m->why_not, st ? err.text : "NVML cannot be initialised");
        as_nvml_unload(&m->nvml);
        return;
    }
    if (!m->nvml.count || !m->nvml.by_index || !m->nvml.memory || m->nvml.count(&n) != NVML_SUCCESS) {
        as_copy_text(m->why_not, sizeof m->why_not, "NVML lists no devices");
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        nvml_device device;
        const bool known = m->nvml.by_index(i, &device) == NVML_SUCCESS;
        if (!known || isnan(used_of_nvml(m, device))) { /* so with GPUs that use system memory */
            snprintf(m->why_not, sizeof m->why_not, "NVML does not report the memory of GPU %u", i);
            continue;
        }
        struct as_used_counter *c = used_counter_new(m);
        if (!c)
            continue;
        c->device = device;
        c->counts = "device memory by NVML, including driver reserve and contexts";
        snprintf(c->name, sizeof c->name, "GPU %u", i);
    }
}

void as_used_memory_open(const char *root, struct as_used_memory *out)
{
    char driver[240];
    *out = (struct as_used_memory){.n = 0};
    used_find_nvml(out);
    snprintf(driver, sizeof driver, "%s/proc/driver/nvidia/version", root);
    if (access(driver, F_OK) != 0)
        out->why_not[0] = 0; /* there is no such GPU to miss */
    used_find_files(root, out);
}

double as_used_memory_read(const struct as_used_memory *m, size_t i)
{
    return m->v[i].path[0] ? used_of_file(m->v[i].path) : used_of_nvml(m, m->v[i].device);
}

void as_used_memory_close(struct as_used_memory *m)
{
    if (m->nvml.library)
        (void)m->nvml.shutdown();
    as_nvml_unload(&m->nvml);
    m->n = 0;
}
