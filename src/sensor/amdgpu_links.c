/* xGMI links of AMD GPUs: which GPUs they lead to, by KFD's topology, and their lanes and rate, by gpu_metrics. */
#include "device/kfd.h"
#include "sensor/amdgpu.h"

#include <math.h>
#include <stdio.h>

enum { LINKS_MAX = 64, TYPE_XGMI = 11, LANES_MAX = 64, GBIT_MAX = 400, COUNT_MAX = 16 };

/* ---- the table ---- */

/* Versions whose layout is published (kgd_pp_interface.h), with their offsets. */
static const struct table_layout {
    unsigned content;
    size_t size, xgmi, replays;
} layouts[] = {{4, 288, 52, 88}, {5, 360, 116, 152}, {6, 384, 140, 176}};

uint64_t as_amdgpu_table_number(const unsigned char *table, size_t at, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | table[at + i];
    return v;
}

bool as_amdgpu_table_is(const unsigned char *table, size_t size, unsigned format, unsigned content, size_t least)
{
    return size >= least && as_amdgpu_table_number(table, 0, 2) >= least && table[2] == format && table[3] == content;
}

static const struct table_layout *layout_of(const unsigned char *table, size_t size)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (as_amdgpu_table_is(table, size, 1, layouts[i].content, layouts[i].size))
            return &layouts[i];
    return NULL;
}

double as_amdgpu_table_replays(const unsigned char *table, size_t size)
{
    const struct table_layout *layout = layout_of(table, size);
    const uint64_t n = layout ? as_amdgpu_table_number(table, layout->replays, 8) : UINT64_MAX;
    return n == UINT64_MAX ? NAN : (double)n;
}

/* Lanes of a link, and Gbit/s of a lane; 0 where the table does not say. */
struct xgmi_lanes {
    unsigned n, gbits;
};

static struct xgmi_lanes lanes_of(const unsigned char *table, size_t size)
{
    struct xgmi_lanes out = {0, 0};
    const struct table_layout *layout = layout_of(table, size);
    if (!layout)
        return out;
    const uint64_t n = as_amdgpu_table_number(table, layout->xgmi, 2);
    const uint64_t gbits = as_amdgpu_table_number(table, layout->xgmi + 2, 2);
    if (n >= 1 && n <= LANES_MAX)
        out.n = (unsigned)n;
    if (out.n && gbits >= 1 && gbits <= GBIT_MAX)
        out.gbits = (unsigned)gbits;
    return out;
}

/* ---- KFD ---- */

struct xgmi_peers {
    bool any;
    unsigned links;   /* most of them to one GPU; 0 unknown */
    double bandwidth; /* bytes/s of these per direction as KFD has it; 0 unknown */
};

static bool is_gpu(const char *root, uint64_t node, struct as_buf *text)
{
    uint64_t simds = 0;
    return node <= UINT16_MAX && as_kfd_read(root, (unsigned)node, "properties", text) &&
           as_kfd_property(as_buf_get(text), "simd_count", &simds) && simds > 0;
}

/* KFD gives the bandwidth of one link as the minimum, and that of all as the maximum, in MB/s. Both are 0 where the
 * route leads over a third GPU, and for partitions of a GPU. */
static void add_link(struct xgmi_peers *out, uint64_t least, uint64_t most)
{
    const bool whole = least && most >= least && most % least == 0 && most / least <= COUNT_MAX;
    out->any = true;
    if (!whole || 1e6 * (double)most <= out->bandwidth)
        return;
    out->links = (unsigned)(most / least);
    out->bandwidth = 1e6 * (double)most;
}

static struct xgmi_peers peers_of(const char *root, const char *bus_id)
{
    struct xgmi_peers out = {.any = false};
    struct as_buf text = AS_BUF_INIT;
    unsigned node = 0;
    const bool found = as_kfd_find(root, bus_id, &node, &text);
    for (unsigned i = 0; found && i < LINKS_MAX; i++) {
        char file[48];
        uint64_t type = 0, to = 0, least = 0, most = 0;
        snprintf(file, sizeof file, "io_links/%u/properties", i);
        if (!as_kfd_read(root, node, file, &text))
            break;
        const char *link = as_buf_get(&text);
        const bool is_xgmi = as_kfd_property(link, "type", &type) && type == TYPE_XGMI &&
                             as_kfd_property(link, "node_to", &to) && to != node;
        as_kfd_property(link, "min_bandwidth", &least);
        as_kfd_property(link, "max_bandwidth", &most);
        if (is_xgmi && is_gpu(root, to, &text))
            add_link(&out, least, most);
    }
    as_buf_finish(&text);
    return out;
}

/* "xGMI x16", "xGMI 4 links x16". Older drivers assume one rate for all chips, so the faster source counts: the rate
 * also bounds what is measured. */
void as_amdgpu_describe_links(const char *root, const char *bus_id, const unsigned char *table, size_t size,
                              struct as_device_info *info)
{
    const struct xgmi_peers peers = peers_of(root, bus_id);
    const struct xgmi_lanes lanes = lanes_of(table, size);
    char count[24] = "", width[16] = "";
    if (!peers.any)
        return;
    if (peers.links > 1)
        snprintf(count, sizeof count, " %u links", peers.links);
    if (lanes.n)
        snprintf(width, sizeof width, " x%u", lanes.n);
    snprintf(info->peer_bus, sizeof info->peer_bus, "xGMI%.10s%.8s", count, width);
    info->peer_bandwidth = fmax(peers.bandwidth, peers.links * lanes.n * (lanes.gbits * 1e9 / 8));
}
