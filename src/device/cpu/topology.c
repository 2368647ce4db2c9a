/* The machine as a tree, for the map in the report. */
#include "device/cpu/machine_hwloc.h"
#include "device/host_hwloc.h"

#include <stdio.h>

enum { DEPTH_MAX = 64 };

static const char *type_word(hwloc_obj_t o, char *text, size_t size)
{
    if (hwloc_obj_type_is_icache(o->type))
        snprintf(text, size, "L%ui", o->attr->cache.depth);
    else if (o->type == HWLOC_OBJ_L1CACHE && o->attr->cache.type == HWLOC_OBJ_CACHE_DATA)
        snprintf(text, size, "L1d");
    else if (hwloc_obj_type_is_cache(o->type))
        snprintf(text, size, "L%u", o->attr->cache.depth);
    else
        switch (o->type) {
        case HWLOC_OBJ_MACHINE:
            return "machine";
        case HWLOC_OBJ_PACKAGE:
            return "package";
        case HWLOC_OBJ_CORE:
            return "core";
        case HWLOC_OBJ_PU:
            return "pu";
        case HWLOC_OBJ_NUMANODE:
            return "memory";
        case HWLOC_OBJ_PCI_DEVICE:
            return "pci";
        case HWLOC_OBJ_OS_DEVICE:
            return "device";
        default:
            return NULL; /* groups, dies, bridges: replaced by their children */
        }
    return text;
}

/* Kind of device by the upper byte of a PCI class. */
static const char *pci_class(unsigned short id)
{
    static const char *const words[] = {
        [0x01] = "storage", [0x02] = "network",   [0x03] = "display",    [0x04] = "multimedia",  [0x05] = "memory",
        [0x06] = "bridge",  [0x0b] = "processor", [0x0c] = "serial bus", [0x12] = "accelerator",
    };
    size_t c = id >> 8;
    return c < sizeof words / sizeof words[0] && words[c] ? words[c] : "PCI device";
}

static void put_name(hwloc_obj_t o, struct as_buf *json)
{
    char text[160];
    const char *name = o->name, *model = hwloc_obj_get_info_by_name(o, "CPUModel");
    if (o->type == HWLOC_OBJ_PACKAGE && model)
        name = model;
    if (o->type == HWLOC_OBJ_NUMANODE) {
        snprintf(text, sizeof text, "NUMA node %u", o->os_index);
        name = text;
    }
    if (o->type == HWLOC_OBJ_PCI_DEVICE) {
        const struct hwloc_pcidev_attr_s *p = &o->attr->pcidev;
        snprintf(text, sizeof text, "%s %04x:%04x", pci_class(p->class_id), p->vendor_id, p->device_id);
        name = text;
    }
    if (name && name[0]) {
        as_buf_str(json, ",\"name\":");
        as_buf_json_str(json, name);
    }
}

/* Totals needed while the tree is written. */
struct whole {
    uint64_t memory; /* bytes */
    unsigned nodes;  /* that have memory */
};

/* Some virtual machines report less memory for a node than the machine has; a single node has all of it. */
static uint64_t node_memory(hwloc_obj_t o, const struct whole *whole)
{
    uint64_t bytes = o->attr->numanode.local_memory;
    return whole->nodes <= 1 && whole->memory > bytes ? whole->memory : bytes;
}

/* A number that a driver reserves for memory that it may add. */
static bool is_empty_node(hwloc_obj_t o, const struct whole *whole)
{
    return o->type == HWLOC_OBJ_NUMANODE && whole->nodes && o->attr->numanode.local_memory == 0;
}

static void put_numbers(hwloc_obj_t o, const struct whole *whole, struct as_buf *json)
{
    if (o->os_index != HWLOC_UNKNOWN_INDEX)
        as_buf_printf(json, ",\"os_index\":%u", o->os_index);
    if (o->type == HWLOC_OBJ_NUMANODE)
        as_buf_printf(json, ",\"size\":%llu", (unsigned long long)node_memory(o, whole));
    if (o->type == HWLOC_OBJ_PCI_DEVICE) {
        const struct hwloc_pcidev_attr_s *p = &o->attr->pcidev;
        as_buf_printf(json, ",\"bus_id\":\"%04x:%02x:%02x.%01x\"", (unsigned)p->domain, p->bus, p->dev, p->func);
    }
    if (!hwloc_obj_type_is_cache(o->type) && !hwloc_obj_type_is_icache(o->type))
        return;
    const struct hwloc_cache_attr_s *c = &o->attr->cache;
    if (as_cache_is_possible(c->size))
        as_buf_printf(json, ",\"size\":%llu", (unsigned long long)c->size);
    if (c->linesize)
        as_buf_printf(json, ",\"line\":%u", c->linesize);
    if (c->associativity > 0)
        as_buf_printf(json, ",\"ways\":%d", c->associativity);
}

static void put_object(hwloc_obj_t o, const struct whole *whole, int depth, bool *first, struct as_buf *json);

static void put_children(hwloc_obj_t o, const struct whole *whole, int depth, bool *first, struct as_buf *json)
{
    const hwloc_obj_t lists[] = {o->memory_first_child, o->first_child, o->io_first_child};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (hwloc_obj_t c = lists[i]; c; c = c->next_sibling)
            put_object(c, whole, depth, first, json);
}

static void put_object(hwloc_obj_t o, const struct whole *whole, int depth, bool *first, struct as_buf *json)
{
    char text[16];
    const char *type = type_word(o, text, sizeof text);
    bool none = true;
    if (depth > DEPTH_MAX)
        return;
    if (!type || is_empty_node(o, whole)) {
        put_children(o, whole, depth + 1, first, json);
        return;
    }
    as_buf_printf(json, "%s{\"type\":\"%s\"", *first ? "" : ",", type);
    *first = false;
    put_name(o, json);
    put_numbers(o, whole, json);
    as_buf_str(json, ",\"children\":[");
    put_children(o, whole, depth + 1, &none, json);
    as_buf_str(json, "]}");
}

unsigned as_cpu_topology_nodes(hwloc_topology_t topology)
{
    unsigned n = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, o));)
        n += o->attr->numanode.local_memory != 0;
    return n;
}

void as_cpu_topology_json(hwloc_topology_t topology, uint64_t memory, struct as_buf *json)
{
    bool first = true;
    struct whole whole = {memory, as_cpu_topology_nodes(topology)};
    put_object(hwloc_get_root_obj(topology), &whole, 0, &first, json);
}

/* Loads I/O devices, which would be too slow when a device is opened. */
enum as_status as_cpu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    hwloc_topology_t t;
    enum as_status st = as_host_topology(AS_TOPOLOGY_CODE | AS_TOPOLOGY_IO, &t, err);
    if (st)
        return st;
    as_cpu_topology_json(t, dev->info.memory_bytes, json);
    hwloc_topology_destroy(t);
    return as_buf_check(json, err);
}
