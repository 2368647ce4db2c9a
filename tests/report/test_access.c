/* The matrix of agents and memories: which cells stand where, on machines made up. */
#include "base/text.h"
#include "golden.h"
#include "report/model/access.h"
#include "report/terminal/terminal.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

enum { CELLS_MAX = 32, DEVICES_MAX = 3 };
static struct as_cell cells[CELLS_MAX];
static struct as_device_info devices[DEVICES_MAX];
static struct as_report_run run;

static void begin(unsigned nodes)
{
    run = (struct as_report_run){.cells = cells, .devices = devices, .devices_n = 1};
    devices[0] = (struct as_device_info){.id = "cpu", .backend = "cpu", .numa_nodes = nodes, .is_host_memory = true};
    devices[0].capabilities = AS_CAP_HOST_KERNELS;
}

static void add_gpu(const char *id, const char *backend, bool is_host_memory)
{
    struct as_device_info *d = &devices[run.devices_n++];
    *d = (struct as_device_info){.is_host_memory = is_host_memory};
    as_copy_text(d->id, sizeof d->id, id);
    as_copy_text(d->backend, sizeof d->backend, backend);
    snprintf(d->uuid, sizeof d->uuid, "GPU-%zu", run.devices_n);
}

static struct as_cell *add(const char *device, const char *probe, double value, const char *axes)
{
    const bool rate = strstr(probe, "latency") == NULL;
    struct as_cell *c = &cells[run.cells_n];
    struct as_error err = {0};
    assert_true(run.cells_n < CELLS_MAX);
    *c = (struct as_cell){.id = (int64_t)++run.cells_n, .status = AS_CELL_OK, .lower_is_better = !rate};
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, rate ? "GB/s" : "ns");
    c->sum = (struct as_summary){.n = 30, .trials = 3, .median = value, .ci = {0.99 * value, 1.01 * value}, .modes = 1};
    assert_int_equal(as_axes_from_json(axes, &c->axes, &err), AS_OK);
    return c;
}
#define DRAM "\"size\":1073741824"

static void check_text(const char *golden)
{
    const struct as_table_style style = {.width = 120};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    assert_int_equal(as_text_access(&run, &style, &out, &err), AS_OK);
    assert_golden(golden, &out);
    as_buf_finish(&out);
}

/* Two nodes and two cards: own memory, remote nodes, the host's over a link, a peer's, and what the CPU cannot reach.
 */
UNIT_TEST(cards_and_nodes)
{
    begin(2);
    add_gpu("cuda:0", "cuda", false);
    add_gpu("cuda:1", "cuda", false);
    static const double ns[2][2] = {{90, 140}, {141, 91}}, gbs[2][2] = {{300, 110}, {111, 301}};
    for (int from = 0; from < 2; from++)
        for (int node = 0; node < 2; node++) {
            char axes[160];
            snprintf(axes, sizeof axes,
                     "{\"from\":%d,\"node\":%d,\"allocator\":\"mmap huge\",\"op\":\"read\"," DRAM "}", from, node);
            add("cpu", "host_latency", ns[from][node], axes);
            add("cpu", "host_bandwidth", gbs[from][node], axes);
        }
    add("cuda:0", "latency", 620, "{\"pattern\":\"random\",\"allocator\":\"cuMemAlloc\"," DRAM "}");
    add("cuda:0", "latency", 300,
        "{\"pattern\":\"random\",\"allocator\":\"cuMemAlloc\",\"size\":1048576}"); /* a cache's */
    add("cuda:0", "latency", 500, "{\"pattern\":\"stride\",\"allocator\":\"cuMemAlloc\"," DRAM "}");
    add("cuda:0", "latency", 900, "{\"pattern\":\"random\",\"allocator\":\"cuMemHostAlloc\"," DRAM "}");
    add("cuda:0", "bandwidth", 4500, "{\"op\":\"read\",\"level\":\"memory\",\"allocator\":\"cuMemAlloc\"," DRAM "}");
    add("cuda:0", "bandwidth", 4800, "{\"op\":\"triad\",\"level\":\"memory\",\"allocator\":\"cuMemAlloc\"," DRAM "}");
    add("cuda:0", "link_latency", 1100,
        "{\"peer\":\"host\",\"node\":0,\"allocator\":\"cuMemHostAlloc\",\"what\":\"load\","
        "\"size\":2097152}");
    add("cuda:0", "link_latency", 1300,
        "{\"peer\":\"host\",\"node\":1,\"allocator\":\"cuMemHostAlloc\",\"what\":\"load\","
        "\"size\":2097152}");
    add("cuda:0", "link_latency", 700,
        "{\"peer\":\"1\",\"node\":0,\"allocator\":\"cuMemAlloc\",\"what\":\"load\","
        "\"size\":2097152}");
    add("cuda:0", "link", 55,
        "{\"peer\":\"host\",\"node\":0,\"allocator\":\"cuMemHostAlloc\",\"direction\":\"from\","
        "\"how\":\"kernel\",\"size\":67108864}");
    add("cuda:0", "link", 57,
        "{\"peer\":\"host\",\"node\":0,\"allocator\":\"cuMemHostAlloc\",\"direction\":\"from\","
        "\"how\":\"engine\",\"size\":67108864}");
    add("cuda:0", "link", 370,
        "{\"peer\":\"1\",\"node\":0,\"allocator\":\"cuMemAlloc\",\"direction\":\"from\","
        "\"how\":\"kernel\",\"size\":268435456}");
    add("cuda:0", "host_latency", 0, "{\"from\":0,\"node\":0,\"allocator\":\"cuMemAlloc\"," DRAM "}")->status =
        AS_CELL_UNSUPPORTED;
    assert_true(as_access_any(&run));
    check_text("access-cards.txt");
}

/* One memory for both: a row per agent, one column. In a process state of its own a cell is not the machine's. */
static void one_memory(void **state)
{
    (void)state;
    begin(1);
    add_gpu("hip:0", "hip", true);
    devices[1].caches_n = 1;
    devices[1].caches[0] = (struct as_cache){.level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true};
    add("cpu", "latency", 240, "{\"pattern\":\"random\",\"allocator\":\"mmap huge\"," DRAM "}");
    assert_false(as_access_any(&run)); /* one pair is no matrix */
    add("hip:0", "latency", 340, "{\"pattern\":\"random\",\"allocator\":\"hipMalloc\"," DRAM "}");
    add("hip:0", "latency", 20,
        "{\"pattern\":\"random\",\"allocator\":\"hipMalloc\"," DRAM ",\"state\":\"HSA_XNACK=1\"}");
    add("hip:0", "bandwidth", 3600, "{\"op\":\"read\",\"level\":\"memory\",\"allocator\":\"hipMalloc\"," DRAM "}");
    add("hip:0", "host_bandwidth", 180, "{\"from\":0,\"node\":0,\"op\":\"read\",\"allocator\":\"hipMalloc\"," DRAM "}");
    assert_true(as_access_any(&run));
    check_text("access-apu.txt");
}

/* Four GPUs on a host of two sockets: each GPU's memory is a node, and numbers between them stay empty. */
UNIT_TEST(nodes_of_gpus)
{
    begin(6);
    add_gpu("cuda:0", "cuda", false);
    add_gpu("cuda:1", "cuda", false);
    devices[1].memory_node = 2;
    devices[2].memory_node = 10;
    static const int at[] = {0, 1, 2, 10, 18};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char axes[160];
        snprintf(axes, sizeof axes, "{\"from\":0,\"node\":%d,\"allocator\":\"mmap huge\"," DRAM "}", at[i]);
        add("cpu", "host_latency", 100 + at[i], axes);
    }
    add("cuda:0", "latency", 620, "{\"pattern\":\"random\",\"allocator\":\"cuMemAlloc\"," DRAM "}");
    assert_true(as_access_any(&run));
    check_text("access-coherent.txt");
}

UNIT_TEST(hostile_axes)
{
    begin(1);
    add_gpu("cuda:0", "cuda", false);
    add("cuda:0", "link_latency", 1, "{\"peer\":\"9999\",\"node\":0,\"what\":\"load\",\"size\":2097152}");
    add("cuda:0", "link_latency", 1, "{\"peer\":\"host\",\"node\":4096,\"what\":\"load\",\"size\":2097152}");
    add("cuda:7", "link_latency", 1, "{\"peer\":\"host\",\"node\":0,\"what\":\"load\",\"size\":2097152}");
    add("cuda:0", "link_latency", 1, "{\"what\":\"load\",\"size\":2097152}");
    add("cpu", "host_latency", 1, "{\"from\":-1,\"node\":0," DRAM "}");
    assert_false(as_access_any(&run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_and_nodes),
        cmocka_unit_test(one_memory),
        cmocka_unit_test(nodes_of_gpus),
        cmocka_unit_test(hostile_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
