/* The host of a device: available memory, lists of CPUs, NUMA nodes. */
#include "device/host.h"

#include "base/text.h"
#include "device/host_limits.h"
#include "os/facts.h"
#include "os/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { LIST_MAX = 256 };

uint64_t as_host_memory_available(void)
{
    struct as_host_limits limits;
    return as_host_limits_now(&limits, NULL) ? UINT64_MAX : limits.free;
}

bool as_cpu_list(const char *list, struct as_cpus *out)
{
    char text[LIST_MAX];
    *out = (struct as_cpus){{0}};
    if (!list[0] || strlen(list) >= sizeof text)
        return false;
    as_copy_text(text, sizeof text, list);
    for (char *rest = text, *item; (item = strsep(&rest, ","));) {
        uint64_t low, high;
        char *dash = strchr(item, '-');
        if (dash)
            *dash++ = 0;
        if (as_parse_u64(item, &low, NULL) || as_parse_u64(dash ? dash : item, &high, NULL) || low > high ||
            high >= AS_CPUS_MAX)
            return false;
        for (uint64_t cpu = low; cpu <= high; cpu++)
            as_cpus_add(out, (int)cpu);
    }
    return true;
}

bool as_host_is_virtual(void)
{
#if defined(__x86_64__)
    static const unsigned features = 1, hypervisor = 1u << 31;
    unsigned a, b, c = 0, d;
    if (__get_cpuid(features, &a, &b, &c, &d) && c & hypervisor)
        return true;
#endif
    struct as_system_fact facts[AS_SYSTEM_FACTS_MAX];
    const size_t n = as_system_facts(facts);
    for (size_t i = 0; i < n; i++)
        if (strcmp(facts[i].name, "virtualization") == 0)
            return true;
    return access("/proc/device-tree/hypervisor", F_OK) == 0 || access("/sys/hypervisor/type", F_OK) == 0;
}

void as_host_caveats(char *out, size_t size)
{
    struct as_buf b = AS_BUF_INIT;
    char origin[AS_TOPOLOGY_ORIGIN];
    as_host_topology_origin(origin, sizeof origin);
    if (as_thread_pin_limit())
        as_buf_str(&b, as_thread_pin_limit());
    if (origin[0])
        as_buf_printf(&b, "%scores, caches and memory nodes are those of %s, not those found on this system",
                      b.len ? "; " : "", origin);
    if (as_transparent_allowed() == AS_TRANSPARENT_NO)
        as_buf_printf(&b, "%s%s", b.len ? "; " : "", AS_NO_TRANSPARENT);
    as_copy_text(out, size, as_buf_get(&b));
    as_buf_finish(&b);
}

/* A list of nodes or CPUs in a file of the folder of nodes; false: there is none. */
static bool host_node_list(const char *root, const char *name, struct as_cpus *out)
{
    char path[256], list[LIST_MAX] = "";
    struct as_buf text = AS_BUF_INIT;
    snprintf(path, sizeof path, "%.128s/sys/devices/system/node/%.64s", root, name);
    if (!as_buf_read_file(&text, path, sizeof list - 1, NULL)) {
        as_copy_text(list, sizeof list, as_buf_get(&text));
        list[strcspn(list, "\n")] = '\0';
    }
    const bool good = !text.failed && as_cpu_list(list, out);
    if (!good)
        *out = (struct as_cpus){{0}};
    as_buf_finish(&text);
    return good;
}

static void host_nodes_listed(const char *root, struct as_cpus *out)
{
    char path[256];
    int number;
    snprintf(path, sizeof path, "%.128s/sys/devices/system/node", root);
    DIR *all = opendir(path);
    for (const struct dirent *e; all && (e = readdir(all));)
        if (sscanf(e->d_name, "node%d", &number) == 1)
            as_cpus_add(out, number);
    if (all)
        closedir(all);
}

void as_host_nodes(const char *root, struct as_cpus *out)
{
    if (!host_node_list(root, "has_memory", out))
        host_nodes_listed(root, out);
    if (!as_cpus_count(out))
        as_cpus_add(out, 0);
}

void as_host_node_values(const char *root, struct as_cpus *out)
{
    struct as_cpus with_cpus;
    as_host_nodes(root, out);
    (void)host_node_list(root, "has_cpu", &with_cpus);
    for (int node = -1; (node = as_cpus_next(&with_cpus, node)) >= 0;)
        as_cpus_add(out, node);
    as_cpus_add(out, 0);
}

void as_host_node_cpus(const char *root, int node, struct as_cpus *out)
{
    char name[48];
    snprintf(name, sizeof name, "node%d/cpulist", node);
    (void)host_node_list(root, name, out);
}

int as_host_near_node(const char *root, const char *near_cpus)
{
    struct as_cpus near, nodes, of_node;
    as_host_nodes(root, &nodes);
    if (as_cpus_count(&nodes) < 2 || !as_cpu_list(near_cpus, &near))
        return -1;
    const int cpu = as_cpus_next(&near, -1);
    for (int node = -1; cpu >= 0 && (node = as_cpus_next(&nodes, node)) >= 0;) {
        as_host_node_cpus(root, node, &of_node);
        if (as_cpus_has(&of_node, cpu))
            return node;
    }
    return -1;
}

/* The node of a CPU, -1 unknown. *n: nodes that have CPUs. */
static int host_node_of_cpu(const char *root, int cpu, int *n)
{
    struct as_cpus nodes, of_node;
    int found = -1;
    *n = 0;
    as_host_node_values(root, &nodes);
    for (int node = -1; (node = as_cpus_next(&nodes, node)) >= 0;) {
        as_host_node_cpus(root, node, &of_node);
        *n += as_cpus_count(&of_node) > 0;
        found = as_cpus_has(&of_node, cpu) ? node : found;
    }
    return found;
}

/* -1 unknown */
static int host_socket_of_cpu(const char *root, int cpu)
{
    char path[256];
    struct as_buf text = AS_BUF_INIT;
    int socket = -1;
    snprintf(path, sizeof path, "%.128s/sys/devices/system/cpu/cpu%d/topology/physical_package_id", root, cpu);
    if (as_buf_read_file(&text, path, 64, NULL) || sscanf(as_buf_get(&text), "%d", &socket) != 1)
        socket = -1;
    as_buf_finish(&text);
    return socket;
}

void as_host_pair_nodes(const char *root, int a, int b, char *out, size_t size)
{
    int nodes;
    const int node_a = host_node_of_cpu(root, a, &nodes), node_b = host_node_of_cpu(root, b, &nodes);
    const int socket_a = host_socket_of_cpu(root, a), socket_b = host_socket_of_cpu(root, b);
    const bool known = socket_a >= 0 && socket_b >= 0;
    out[0] = '\0';
    if (nodes < 2 || node_a < 0 || node_b < 0)
        return;
    if (node_a == node_b)
        snprintf(out, size, "within node %d", node_a);
    else if (known && socket_a == socket_b)
        snprintf(out, size, "nodes %d and %d, same socket", node_a, node_b);
    else if (known)
        snprintf(out, size, "nodes %d and %d, sockets %d and %d", node_a, node_b, socket_a, socket_b);
    else
        snprintf(out, size, "nodes %d and %d", node_a, node_b);
}
