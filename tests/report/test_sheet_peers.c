/* The data sheet of what plays with another: pairs of CPUs, and links to several devices. */
#include "sheet_run.h"

#include "base/text.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The nearest and the farthest pair of CPUs are said with their NUMA nodes. */
UNIT_TEST(test_pairs_of_nodes)
{
    static const char *const notes[] = {"within node 0", "nodes 0 and 1"};
    gpu.capabilities = AS_CAP_HOST_KERNELS;
    add_fact("c2c.median", 60, "ns", NAN);
    for (int i = 0; i < 2; i++) {
        char axes[96];
        struct as_buf detail = AS_BUF_INIT;
        snprintf(axes, sizeof axes, "{\"peer\":\"cpu\",\"from\":0,\"to\":%d,\"op\":\"cas\"}", 1 + i);
        struct as_cell *c = add_cell("c2c", axes, i ? 140 : 50, "ns");
        as_buf_printf(&detail, "{\"nodes\": \"%s\"}", notes[i]);
        c->detail = as_buf_take(&detail);
        add_fact(i ? "c2c.max" : "c2c.min", i ? 140 : 50, "ns", NAN);
        facts[run.facts_n - 1].evidence[0] = c->id;
        facts[run.facts_n - 1].evidence_n = 1;
    }
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Cache line", "core to core");
    assert_non_null(row);
    assert_string_equal(details_of(row),
                        "median of pairs, nearest 50.0 ns (within node 0), farthest 140 ns (nodes 0 and 1)");
    as_sheet_finish(&s);
    for (int i = 0; i < 2; i++) {
        free(cells[i].detail);
        cells[i].detail = NULL;
    }
}

/* With several peers the line is the best one's, and names the others; of many it says the range. */
UNIT_TEST(test_every_peer)
{
    static const double rates[] = {396, 45, 390, 380, 370};
    for (size_t peers = 1; peers <= 5; peers += 2) {
        start(NULL);
        for (size_t i = 0; i < peers; i++) {
            char axes[160];
            snprintf(axes, sizeof axes,
                     "{\"peer\":\"%zu\",\"node\":0,\"direction\":\"to\",\"how\":\"engine\",\"size\":268435456,"
                     "\"allocator\":\"cuMemAlloc\"}",
                     i + 1);
            add_cell("link", axes, rates[i], "GB/s");
        }
        struct as_sheet s = made();
        const struct as_sheet_row *row = as_sheet_find(&s, "GPU to GPU", "write");
        assert_non_null(row);
        assert_true(row->value == 396);
        assert_string_equal(details_of(row),
                            peers == 1 ? "copy engine, with device 1"
                            : peers == 3
                                ? "copy engine, with device 1, device 2 45.0 GB/s, device 3 390 GB/s"
                                : "copy engine, with device 1, 4 others 45.0 to 390 GB/s, worst with device 2");
        as_sheet_finish(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_pairs_of_nodes, start),
                                       cmocka_unit_test_setup(test_every_peer, start)};
    return cmocka_run_group_tests_name("data sheet of peers", tests, NULL, NULL);
}
