/* The matrix of pairs of GPUs: which cells stand where, for eight of them, and the line that sums it up. */
#include "base/text.h"
#include "golden.h"
#include "report/model/pairs.h"
#include "report/terminal/terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { GPUS = 8, CELLS_MAX = 512 };
static struct as_cell cells[CELLS_MAX];
static struct as_device_info devices[GPUS + 1];
static struct as_report_run run;

static void begin(const char *backend, size_t gpus)
{
    run = (struct as_report_run){.cells = cells, .devices = devices, .devices_n = gpus + 1};
    devices[0] = (struct as_device_info){.id = "cpu", .backend = "cpu"};
    for (size_t i = 0; i < gpus; i++) {
        struct as_device_info *d = &devices[i + 1];
        *d = (struct as_device_info){.peer_bandwidth = 450e9, .peer_bus = "NVLink 4 x18"};
        snprintf(d->id, sizeof d->id, "%s:%zu", backend, i);
        as_copy_text(d->backend, sizeof d->backend, backend);
    }
}

static struct as_cell *add(const char *device, const char *peer, double value, const char *what, uint64_t size)
{
    const bool rate = strstr(what, "direction") != NULL;
    char axes[200];
    struct as_cell *c = &cells[run.cells_n];
    struct as_error err = {0};
    assert_true(run.cells_n < CELLS_MAX);
    *c = (struct as_cell){.id = (int64_t)++run.cells_n, .status = AS_CELL_OK, .lower_is_better = !rate};
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->probe, sizeof c->probe, rate ? "link" : "link_latency");
    as_copy_text(c->unit, sizeof c->unit, rate ? "GB/s" : "ns");
    c->sum = (struct as_summary){.n = 30, .trials = 3, .median = value, .ci = {0.99 * value, 1.01 * value}, .modes = 1};
    snprintf(axes, sizeof axes, "{\"peer\":\"%s\",\"node\":0,%s,\"size\":%ju}", peer, what, (uintmax_t)size);
    assert_int_equal(as_axes_from_json(axes, &c->axes, &err), AS_OK);
    return c;
}
#define COPY(how, direction) "\"how\":\"" how "\",\"direction\":\"" direction "\""
static const char write_engine[] = COPY("engine", "to"), read_kernel[] = COPY("kernel", "from"),
                  both_engine[] = COPY("engine", "both"), load[] = "\"what\":\"load\"",
                  atomic[] = "\"what\":\"atomic\"";
enum { LARGE = 256 << 20, SMALL = 2 << 20 };

/* Every pair of eight: one is slower, one has no number, and what is not between two GPUs does not count. */
static void eight_gpus(void **state)
{
    const struct as_table_style style = {.width = 100};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    (void)state;
    begin("cuda", GPUS);
    for (int i = 0; i < GPUS; i++)
        for (int k = 0; k < GPUS; k++) {
            char device[16], peer[8];
            snprintf(device, sizeof device, "cuda:%d", i);
            snprintf(peer, sizeof peer, "%d", k);
            if (i == k)
                continue;
            add(device, peer, i == 2 && k == 5 ? 390 : 397, write_engine, LARGE);
            add(device, peer, 373, read_kernel, LARGE)->status = i == 0 && k == 1 ? AS_CELL_REJECTED : AS_CELL_OK;
            add(device, peer, 781, both_engine, LARGE);
            add(device, peer, 854 + i, load, SMALL);
            add(device, peer, 840 + k, atomic, SMALL);
        }
    add("cuda:0", "1", 999, write_engine, SMALL);
    add("cuda:0", "1", 999, load, LARGE);
    add("cuda:0", "every", 999, write_engine, LARGE);
    add("cuda:0", "host", 999, write_engine, LARGE);
    add("opencl:0", "1", 999, write_engine, LARGE);
    assert_true(as_pairs_any(&run));
    assert_int_equal(as_text_pairs(&run, &style, &out, &err), AS_OK);
    as_text_pairs_summary(&run, &style, &out);
    assert_golden("pairs-eight.txt", &out);
    as_buf_finish(&out);
}

/* What the driver reports of each pair stands above the numbers. */
static void reported_access(void **state)
{
    const struct as_table_style style = {.width = 100};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    (void)state;
    begin("hip", 3);
    devices[1].peers_n = 2;
    devices[1].peers[0] = (struct as_peer){.device = 1, .access = true, .atomics = true};
    devices[1].peers[1] = (struct as_peer){.device = 2, .access = true};
    devices[2].peers_n = 1;
    devices[2].peers[0] = (struct as_peer){.device = 2, .why_not = "denied"};
    add("hip:0", "1", 50, write_engine, LARGE);
    assert_int_equal(as_text_pairs(&run, &style, &out, &err), AS_OK);
    const char *text = as_buf_get(&out), *heading = strstr(text, "as the driver reports");
    assert_non_null(heading);
    const char *atomics = strstr(heading, "native atomics"), *some = strstr(heading, "no native atomics"),
               *none = strstr(heading, "none");
    assert_true(atomics && some && none && some < none && none < strstr(text, "write, copy engine"));
    as_buf_finish(&out);
}

static void check_summary(const char *text)
{
    struct as_buf out = AS_BUF_INIT;
    as_pairs_summary(&run, &out);
    assert_string_equal(as_buf_get(&out), text);
    as_buf_finish(&out);
}

static void summaries(void **state)
{
    (void)state;
    begin("hip", 1);
    add("hip:0", "host", 50, write_engine, LARGE);
    assert_false(as_pairs_any(&run));
    check_summary("");
    begin("hip", 2);
    devices[1].peer_bandwidth = 0;
    add("hip:0", "1", 50, write_engine, LARGE);
    check_summary("GPU to GPU (write, copy engine, 1 pair): 50.0 GB/s");
    add("hip:1", "0", 40, write_engine, LARGE);
    check_summary("GPU to GPU (write, copy engine, 2 pairs): median 45.0 GB/s; lowest 40.0 GB/s, hip:1 to hip:0");
    begin("hip", 2);
    add("hip:0", "1", 50, write_engine, LARGE);
    add("hip:1", "0", 49.9, write_engine, LARGE);
    check_summary("GPU to GPU (write, copy engine, 2 pairs): median 50.0 GB/s, 11% of NVLink 4 x18");
    begin("hip", 2);
    add("hip:0", "1", 700, load, SMALL);
    assert_true(as_pairs_any(&run));
    check_summary("");
}

static void hostile_peers(void **state)
{
    static const char *const peers[] = {"9999", "-1", "18446744073709551616", "1x"};
    (void)state;
    begin("cuda", 2);
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        add("cuda:0", peers[i], 1, write_engine, LARGE);
    add("cuda:99", "1", 1, write_engine, LARGE);
    add("cudax:0", "1", 1, write_engine, LARGE);
    add("cuda:0", "0", 1, write_engine, LARGE)->status = AS_CELL_REJECTED;
    assert_false(as_pairs_any(&run));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_gpus),
        cmocka_unit_test(summaries),
        cmocka_unit_test(reported_access),
        cmocka_unit_test(hostile_peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
