#include "cli/memory/memory_counters.h"

#include "base/buf.h"
#include "base/text.h"
#include "cli/memory/memory_processes.h"
#include "device/host.h"
#include "lib/counters/counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 17 };
const char *const memory_scope_titles[MEMORY_SCOPES] = {"Program and its child processes", "System, all processes",
                                                        "GPUs, all processes"};

/* Fields of /proc/PID/status, except the PSS, which has a file of its own. */
static const struct {
    const char *name, *field, *counts;
} of_process[] = {
    {"RSS", "VmRSS", "mapped pages; a page that several processes share counts once for each"},
    {"PSS", "Pss", "the same, with shared pages divided among all processes that map them"},
    {"anonymous", "RssAnon", "part of RSS: heap, stacks, private mappings"},
    {"files", "RssFile", "part of RSS: mapped files and the program itself"},
    {"shared memory", "RssShmem", "part of RSS: tmpfs and shared anonymous mappings"},
    {"huge page pool", "HugetlbPages", "mapped pages of the reserved pool; not in RSS"},
};
enum { OF_PROCESS = sizeof of_process / sizeof *of_process, SYSTEM_COUNTERS = 2 };

static struct memory_counter *counter_new(struct memory_counters *c, enum memory_scope scope, const char *name,
                                          const char *counts)
{
    struct memory_counter *v = &c->v[c->n++];
    v->scope = scope;
    v->counts = counts;
    as_copy_text(v->name, sizeof v->name, name);
    return v;
}

static void counters_of_nodes(struct memory_counters *c)
{
    struct as_cpus nodes;
    as_host_nodes(c->root, &nodes);
    for (int i = as_cpus_next(&nodes, -1); i >= 0 && c->n < MEMORY_COUNTERS_MAX - AS_USED_COUNTERS_MAX;
         i = as_cpus_next(&nodes, i)) {
        char name[24];
        snprintf(name, sizeof name, "NUMA node %d", i);
        c->node[c->n] = i;
        counter_new(c, MEMORY_SYSTEM, name, "all but free pages: page cache, kernel and, on an APU, device memory");
    }
}

enum as_status as_memory_counters_open(const char *root, struct memory_counters *c, struct as_error *err)
{
    char status[300];
    *c = (struct memory_counters){.root = root};
    snprintf(status, sizeof status, "%s/proc/meminfo", root);
    if (access(status, R_OK) != 0)
        return as_fail(err, AS_UNSUPPORTED, "the system has no '/proc/meminfo': memory is sampled on Linux only");
    for (size_t i = 0; i < OF_PROCESS; i++)
        counter_new(c, MEMORY_PROGRAM, of_process[i].name, of_process[i].counts);
    counter_new(c, MEMORY_SYSTEM, "in use", "MemTotal - MemAvailable: page cache that can be dropped is not in use");
    counter_new(c, MEMORY_SYSTEM, "page cache", "pages of files, mapped or not; without tmpfs and shared memory");
    c->first_node = c->n;
    counters_of_nodes(c);
    c->first_device = c->n;
    as_used_memory_open(root, &c->devices);
    for (size_t i = 0; i < c->devices.n; i++)
        counter_new(c, MEMORY_DEVICE, c->devices.v[i].name, c->devices.v[i].counts);
    return AS_OK;
}

void as_memory_counters_close(struct memory_counters *c)
{
    as_used_memory_close(&c->devices);
    c->n = 0;
}

/* False: no such file, or not for this user. */
static bool counters_file(struct as_buf *text, const char *root, const char *path)
{
    struct as_buf name = AS_BUF_INIT;
    as_buf_clear(text);
    as_buf_printf(&name, "%s%s", root, path);
    const bool read = as_buf_read_file(text, as_buf_get(&name), FILE_MAX, NULL) == AS_OK;
    as_buf_finish(&name);
    return read;
}

/* Adds what is known to a sum, which is unknown before its first part. */
static void counters_sum(double *sum, double part)
{
    if (isfinite(part))
        *sum = isfinite(*sum) ? *sum + part : part;
}

static void read_process(const struct memory_counters *c, long id, bool with_pss, struct memory_reading *out)
{
    struct as_buf text = AS_BUF_INIT;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", id);
    if (counters_file(&text, c->root, path)) {
        for (size_t i = 0; i < OF_PROCESS; i++)
            if (i != MEMORY_PSS)
                counters_sum(&out->bytes[i], as_counter_field(as_buf_get(&text), of_process[i].field));
        out->rss_high = fmax(out->rss_high, as_counter_field(as_buf_get(&text), "VmHWM"));
        out->processes++;
    }
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", id);
    if (with_pss && counters_file(&text, c->root, path))
        counters_sum(&out->bytes[MEMORY_PSS], as_counter_field(as_buf_get(&text), of_process[MEMORY_PSS].field));
    as_buf_finish(&text);
}

static void read_system(const struct memory_counters *c, struct memory_reading *out)
{
    struct as_buf text = AS_BUF_INIT;
    char path[80];
    if (counters_file(&text, c->root, "/proc/meminfo")) {
        const char *s = as_buf_get(&text);
        out->bytes[OF_PROCESS] = as_counter_field(s, "MemTotal") - as_counter_field(s, "MemAvailable");
        out->bytes[OF_PROCESS + 1] =
            as_counter_field(s, "Cached") + as_counter_field(s, "Buffers") - as_counter_field(s, "Shmem");
    }
    for (size_t i = c->first_node; i < c->first_device; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", c->node[i]);
        if (counters_file(&text, c->root, path))
            out->bytes[i] =
                as_counter_field(as_buf_get(&text), "MemTotal") - as_counter_field(as_buf_get(&text), "MemFree");
    }
    as_buf_finish(&text);
}

void as_memory_counters_read(const struct memory_counters *c, long program, bool with_pss, struct memory_reading *out)
{
    long *list = NULL;
    size_t n = 0;
    *out = (struct memory_reading){.rss_high = NAN};
    for (size_t i = 0; i < MEMORY_COUNTERS_MAX; i++)
        out->bytes[i] = NAN;
    if (program && as_memory_processes(c->root, program, &list, &n, NULL) == AS_OK)
        for (size_t i = 0; i < n; i++)
            read_process(c, list[i], with_pss, out);
    free(list);
    read_system(c, out);
    for (size_t i = c->first_device; i < c->n; i++)
        out->bytes[i] = as_used_memory_read(&c->devices, i - c->first_device);
}
