#include "device/kfd.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX_BYTES = 64 << 10, NODES_MAX = 256 };
/* KFD puts the partition index in the bits above the PCI function. */
static const uint64_t LOCATION_MASK = 0xffff;

bool as_kfd_property(const char *text, const char *name, uint64_t *out)
{
    const size_t n = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char value[24] = "";
        if (strncmp(line, name, n) != 0 || line[n] != ' ')
            continue;
        const size_t digits = strcspn(line + n + 1, " \n");
        if (digits == 0 || digits >= sizeof value)
            return false;
        memcpy(value, line + n + 1, digits);
        return as_parse_u64(value, out, NULL) == AS_OK;
    }
    return false;
}

bool as_kfd_read(const char *root, unsigned node, const char *file, struct as_buf *out)
{
    char path[256];
    snprintf(path, sizeof path, "%.128s/sys/class/kfd/kfd/topology/nodes/%u/%.64s", root, node, file);
    as_buf_clear(out);
    return as_buf_read_file(out, path, FILE_MAX_BYTES, NULL) == AS_OK;
}

static bool is_node_of(const char *properties, const char *bus_id)
{
    unsigned domain, bus, slot, function;
    uint64_t location, at = 0;
    if (sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
        return false;
    if (!as_kfd_property(properties, "location_id", &location) || location == 0)
        return false;
    as_kfd_property(properties, "domain", &at); /* missing in older drivers */
    return at == domain && (location & LOCATION_MASK) == (bus << 8 | slot << 3 | function);
}

bool as_kfd_find(const char *root, const char *bus_id, unsigned *node, struct as_buf *out)
{
    for (*node = 0; *node < NODES_MAX && bus_id[0]; ++*node) {
        if (!as_kfd_read(root, *node, "properties", out))
            return false;
        if (is_node_of(as_buf_get(out), bus_id))
            return true;
    }
    return false;
}
