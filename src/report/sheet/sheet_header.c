#include "report/sheet/sheet_header.h"

#include "base/text.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static bool header_is_cpu(const struct as_device_info *info)
{
    return info->capabilities & AS_CAP_HOST_KERNELS;
}

/* A text of the run's provenance; "" where it has none. */
static void header_provenance(const json_t *root, const char *part, const char *name, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(json_object_get(root, part), name));
    as_copy_text(out, size, text ? text : "");
}

static bool header_is_guest(const struct as_report_run *run, const struct as_device_info *info)
{
    json_t *root = run->run.provenance ? json_loads(run->run.provenance, 0, NULL) : NULL;
    char text[128];
    header_provenance(root, "host", "virtualization", text, sizeof text);
    json_decref(root);
    return info->virtual_machine || info->hypervisor[0] || strstr(text, "virtual machine");
}

/* ", 2 vCPUs of a KVM guest", ", 64 cores, 128 threads" */
static void header_add_cpus(const struct as_device_info *info, bool is_guest, struct as_buf *out)
{
    const unsigned cores = info->compute_units;
    if (info->packages > 1)
        as_buf_printf(out, ", %u sockets", info->packages);
    if (is_guest)
        as_buf_printf(out, ", %u vCPU%s of a %s", info->threads, info->threads == 1 ? "" : "s",
                      info->hypervisor[0] ? info->hypervisor : "virtual machine");
    else if (cores && cores < info->threads)
        as_buf_printf(out, ", %u core%s, %u threads", cores, cores == 1 ? "" : "s", info->threads);
    else if (info->threads)
        as_buf_printf(out, ", %u CPU%s", info->threads, info->threads == 1 ? "" : "s");
    as_buf_str(out, is_guest && info->hypervisor[0] ? " guest" : "");
}

const char *as_sheet_device_name(const struct as_report_run *run, const char *device)
{
    const struct as_device_info *info = as_report_device(run, device);
    return info ? as_info_title(info) : as_report_device_name(run, device);
}

void as_sheet_device_text(const struct as_report_run *run, const char *device, struct as_buf *out)
{
    const struct as_device_info *info = as_report_device(run, device);
    as_buf_str(out, as_sheet_device_name(run, device));
    if (info && header_is_cpu(info) && out->len)
        header_add_cpus(info, header_is_guest(run, info), out);
}

struct parts {
    const char *separator;
    struct as_buf *out;
    bool any;
};

static void header_begin(struct parts *p)
{
    as_buf_str(p->out, p->any ? p->separator : "");
    p->any = true;
}

static void header_add(struct parts *p, const char *before, const char *text)
{
    if (!text[0])
        return;
    header_begin(p);
    as_buf_printf(p->out, "%s%s", before, text);
}

/* Of "always [madvise] never" the word in brackets. */
static void header_choice(const char *setting, char *out, size_t size)
{
    const char *open = strchr(setting, '['), *close = open ? strchr(open, ']') : NULL;
    as_copy_text(out, close && (size_t)(close - open) < size ? (size_t)(close - open) : 1, open ? open + 1 : "");
}

static void header_add_memory(struct parts *p, const struct as_device_info *info)
{
    if (!info->memory_bytes)
        return;
    header_begin(p);
    const double gib = (double)info->memory_bytes / 0x1p30;
    as_buf_printf(p->out, gib < 10 ? "%.1f GiB" : "%.0f GiB", gib);
    if (info->numa_nodes > 1)
        as_buf_printf(p->out, " on %u NUMA nodes", info->numa_nodes);
}

static void header_add_host(struct parts *p, const struct as_report_run *run, const struct as_device_info *info)
{
    json_t *root = run->run.provenance ? json_loads(run->run.provenance, 0, NULL) : NULL;
    char text[128], word[32] = "";
    const struct as_cache *l3 = as_info_cache_at(info, 3);
    header_provenance(root, "host", "kernel", text, sizeof text);
    header_add(p, strncmp(info->driver, "Linux", 5) == 0 ? "Linux " : "", text);
    header_provenance(root, "memory", "thp", text, sizeof text);
    header_choice(text, word, sizeof word);
    header_add(p, "THP ", word);
    header_provenance(root, "cpu", "governor", text, sizeof text);
    header_add(p, "governor ", text);
    if (header_is_guest(run, info) && l3 && !l3->memory_side)
        header_add(p, "", "L3 may be shared with other guests");
    if (strstr(info->sensor_why, "no cycle counter"))
        header_add(p, "", "no cycle counter");
    json_decref(root);
}

static void header_add_gpu(struct parts *p, const struct as_device_info *info)
{
    char text[160];
    if (info->power_limit > 0) {
        snprintf(text, sizeof text, "%.0f W", info->power_limit);
        header_add(p, "power limit ", text);
    }
    const bool says = strstr(info->driver, "river") != NULL;
    header_add(p, says ? "" : "driver ", info->driver);
    header_add(p, "", info->bus);
    header_add(p, "", info->peer_bus);
}

void as_sheet_about_text(const struct as_report_run *run, const char *device, const char *separator, struct as_buf *out)
{
    const struct as_device_info *info = as_report_device(run, device);
    struct parts p = {separator, out, false};
    if (!info)
        return;
    if (!header_is_cpu(info) && info->compute_units) {
        header_begin(&p);
        as_buf_printf(out, "%u %s%s", info->compute_units, as_info_words(info)->compute_unit,
                      info->compute_units == 1 ? "" : "s");
    }
    header_add_memory(&p, info);
    if (header_is_cpu(info))
        header_add_host(&p, run, info);
    else
        header_add_gpu(&p, info);
}
