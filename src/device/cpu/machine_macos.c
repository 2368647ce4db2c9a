/* The machine as macOS reports it: kinds of cores, with CPUs numbered from the fastest kind on. A CPU's number
 * selects only its kind: see as_thread_pin_limit. */
#include "base/text.h"
#include "device/cpu/cpu.h"
#include "device/host.h"
#include "os/cpus.h"
#include "os/facts.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 8 };
struct as_cpu_machine {
    struct as_core_kind kinds[KINDS_MAX];
    unsigned kinds_n, threads;
};

enum as_status as_cpu_machine_open(struct as_cpu_machine **out, struct as_error *err)
{
    struct as_cpu_machine *m = *out = calloc(1, sizeof *m);
    if (!m)
        return as_nomem(err, sizeof *m, "the machine's topology");
    while (m->kinds_n < KINDS_MAX && as_system_core_kind(m->kinds_n, &m->kinds[m->kinds_n]))
        m->threads += m->kinds[m->kinds_n++].threads;
    if (m->threads)
        return AS_OK;
    free(m);
    *out = NULL;
    return as_fail(err, AS_UNSUPPORTED, "the system reports no CPU");
}

void as_cpu_machine_close(struct as_cpu_machine *m)
{
    free(m);
}

/* On an Intel Mac, threads 2n and 2n + 1 share a core. */
enum as_status as_cpu_machine_order(const struct as_cpu_machine *m, int **out, size_t *n, struct as_error *err)
{
    int *order = calloc(m->threads, sizeof *order);
    if (!order)
        return as_nomem(err, m->threads * sizeof *order, "the list of CPUs");
    *n = 0;
    for (unsigned sibling = 0, most = 1; sibling < most; sibling++) {
        unsigned first = 0;
        for (unsigned k = 0; k < m->kinds_n; first += m->kinds[k++].threads) {
            const unsigned cores = m->kinds[k].cores, threads = m->kinds[k].threads;
            const unsigned step = cores && threads > cores ? threads / cores : 1;
            most = step > most ? step : most;
            for (unsigned i = sibling; sibling < step && i < threads; i += step)
                order[(*n)++] = (int)(first + i);
        }
    }
    *out = order;
    return AS_OK;
}

bool as_cpu_machine_allows(const struct as_cpu_machine *m, int cpu)
{
    return cpu >= 0 && (unsigned)cpu < m->threads;
}

unsigned as_cpu_machine_packages(const struct as_cpu_machine *m)
{
    (void)m;
    return 1;
}

unsigned as_cpu_machine_cores(const struct as_cpu_machine *m)
{
    unsigned n = 0;
    for (unsigned k = 0; k < m->kinds_n; k++)
        n += m->kinds[k].cores;
    return n;
}

unsigned as_cpu_machine_nodes(const struct as_cpu_machine *m)
{
    (void)m;
    return 1;
}

void as_cpu_machine_keep_away(struct as_cpu_machine *m, const int *cpus, size_t n)
{
    (void)m, (void)cpus, (void)n;
}

void as_cpu_machine_release(struct as_cpu_machine *m)
{
    (void)m;
}

enum as_status as_cpu_machine_place(void *at, size_t bytes, int node, struct as_error *err)
{
    (void)at, (void)bytes;
    return node == 0 ? AS_OK : as_fail(err, AS_USAGE, "there is no NUMA node %d", node);
}

static void cpu_machine_macos_add(struct as_device_info *info, const struct as_cache *c)
{
    if (c->size && info->caches_n < AS_CACHES_MAX)
        info->caches[info->caches_n++] = *c;
}

static const struct as_core_kind *cpu_machine_macos_kind_of(const struct as_cpu_machine *m, int cpu)
{
    unsigned k = 0, end = m->kinds[0].threads;
    while (k + 1 < m->kinds_n && (unsigned)cpu >= end)
        end += m->kinds[++k].threads;
    return &m->kinds[k];
}

static unsigned threads_per_core(const struct as_core_kind *kind)
{
    return kind->cores && kind->threads > kind->cores ? kind->threads / kind->cores : 1;
}

static unsigned threads_per_l2(const struct as_core_kind *kind)
{
    return (kind->cores_per_l2 ? kind->cores_per_l2 : 1) * threads_per_core(kind);
}

void as_cpu_machine_caches(const struct as_cpu_machine *m, int cpu, struct as_device_info *info)
{
    const struct as_core_kind *kind = cpu_machine_macos_kind_of(m, cpu);
    const unsigned smt = threads_per_core(kind), near = threads_per_l2(kind);
    cpu_machine_macos_add(
        info, &(struct as_cache){.level = 1, .kind = 'd', .size = kind->l1d, .line = kind->line, .shared = smt});
    cpu_machine_macos_add(
        info, &(struct as_cache){.level = 1, .kind = 'i', .size = kind->l1i, .line = kind->line, .shared = smt});
    cpu_machine_macos_add(
        info, &(struct as_cache){.level = 2, .kind = 'u', .size = kind->l2, .line = kind->line, .shared = near});
    cpu_machine_macos_add(
        info,
        &(struct as_cache){.level = 3, .kind = 'u', .size = kind->l3, .line = kind->line, .shared = kind->threads});
}

void as_cpu_machine_names(const struct as_cpu_machine *m, struct as_device_info *info)
{
    struct as_system_fact facts[AS_SYSTEM_FACTS_MAX];
    const size_t n = as_system_facts(facts);
    (void)m;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(facts[i].section, "cpu") != 0)
            continue;
        if (strcmp(facts[i].name, "model") == 0)
            as_copy_clean(info->name, sizeof info->name, facts[i].text);
        if (strcmp(facts[i].name, "vendor") == 0)
            as_copy_text(info->vendor, sizeof info->vendor, facts[i].text);
    }
    if (!info->vendor[0] && strncmp(info->name, "Apple", 5) == 0)
        as_copy_text(info->vendor, sizeof info->vendor, "Apple");
}

/* ---- the tree ---- */

static void put_cache(struct as_buf *json, const char *type, uint64_t size, unsigned line)
{
    as_buf_printf(json, "{\"type\":\"%s\",\"size\":%llu", type, (unsigned long long)size);
    if (line)
        as_buf_printf(json, ",\"line\":%u", line);
    as_buf_str(json, ",\"children\":[");
}

static void put_core(struct as_buf *json, const struct as_core_kind *kind, unsigned first)
{
    const unsigned smt = threads_per_core(kind);
    if (kind->l1d)
        put_cache(json, "L1d", kind->l1d, kind->line);
    as_buf_printf(json, "{\"type\":\"core\",\"os_index\":%u", first / smt);
    if (kind->name[0]) {
        as_buf_str(json, ",\"name\":");
        as_buf_json_str(json, kind->name);
    }
    as_buf_str(json, ",\"children\":[");
    for (unsigned i = 0; i < smt; i++)
        as_buf_printf(json, "%s{\"type\":\"pu\",\"os_index\":%u,\"children\":[]}", i ? "," : "", first + i);
    as_buf_str(json, kind->l1d ? "]}]}" : "]}");
}

static void put_kind(struct as_buf *json, const struct as_core_kind *kind, unsigned first)
{
    const unsigned smt = threads_per_core(kind), near = threads_per_l2(kind);
    for (unsigned i = 0; i < kind->threads; i += smt) {
        const bool begins = kind->l2 && i % near == 0;
        as_buf_str(json, i ? "," : "");
        if (begins)
            put_cache(json, "L2", kind->l2, kind->line);
        put_core(json, kind, first + i);
        if (kind->l2 && ((i + smt) % near == 0 || i + smt >= kind->threads))
            as_buf_str(json, "]}");
    }
}

enum as_status as_cpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    const struct as_cpu_machine *m = as_cpu(dev)->machine;
    as_buf_str(json, "{\"type\":\"machine\",\"children\":[{\"type\":\"package\",\"name\":");
    as_buf_json_str(json, dev->info.name);
    as_buf_printf(json, ",\"children\":[{\"type\":\"memory\",\"size\":%llu,\"children\":[]}",
                  (unsigned long long)dev->info.memory_bytes);
    for (unsigned k = 0, first = 0; k < m->kinds_n; first += m->kinds[k++].threads) {
        as_buf_str(json, ",");
        if (m->kinds[k].l3)
            put_cache(json, "L3", m->kinds[k].l3, m->kinds[k].line);
        put_kind(json, &m->kinds[k], first);
        if (m->kinds[k].l3)
            as_buf_str(json, "]}");
    }
    as_buf_str(json, "]}]}");
    return as_buf_check(json, err);
}
