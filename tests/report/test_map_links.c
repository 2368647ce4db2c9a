/* What a device reaches on the machine map: links, their counters, and memory of other nodes. */
#include "base/text.h"
#include "page_asserts.h"
#include "report/map/map.h"
#include "report/page/page.h"
#include "synth.h"
#include "tests/facts/named.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Memory of another NUMA node is a link of the CPU, with the node's own numbers beside it. */
UNIT_TEST(map_has_other_nodes)
{
    static const struct {
        const char *id, *unit;
        double value;
    } found[] = {{"numa.latency.own", "ns", 98},
                 {"numa.latency.other", "ns", 141},
                 {"numa.bandwidth.read.own", "GB/s", 211},
                 {"numa.bandwidth.read.other", "GB/s", 62}};
    enum { FOUND = sizeof found / sizeof *found };
    for (unsigned width = 360; width <= 1040; width += 680) {
        struct as_error err;
        struct as_buf svg = AS_BUF_INIT;
        struct synth *s = synth_make("plain");
        struct as_report_run run = s->runs[0];
        struct as_fact facts[FOUND];
        assert_int_equal(as_map_svg(&run, width, "map", "map", &svg, &err), AS_OK);
        assert_hasnt(&svg, "NUMA node");
        for (size_t i = 0; i < FOUND; i++) {
            facts[i] = run.facts[0];
            assert_true(named_fact(&facts[i], found[i].id));
            as_copy_text(facts[i].device, sizeof facts[i].device, "cpu");
            as_copy_text(facts[i].unit, sizeof facts[i].unit, found[i].unit);
            facts[i].value = found[i].value;
            facts[i].ci = (struct as_interval){0.99 * found[i].value, 1.01 * found[i].value};
            facts[i].verdict = AS_SUPPORTED;
            facts[i].evidence_n = 0;
        }
        s->runs[0].devices[0].capabilities = AS_CAP_HOST_KERNELS;
        run.facts = facts;
        run.facts_n = FOUND;
        as_buf_clear(&svg);
        assert_int_equal(as_map_svg(&run, width, "map", "map", &svg, &err), AS_OK);
        assert_has(&svg, "141\u00a0ns");
        assert_has(&svg, "62.0\u00a0GB/s");
        assert_has(&svg, "own node 98.0\u00a0ns");
        assert_has(&svg, "own node 211\u00a0GB/s");
        assert_has(&svg, "memory of another NUMA node");
        as_buf_finish(&svg);
        synth_free(s);
    }
}

/* The driver counts errors over all links of a device: they are beside its name, whichever links are drawn. */
UNIT_TEST(map_has_link_counters_of_devices)
{
    static const char *const scenarios[] = {"gpus", "eight"};
    static const char *const readings[] = {
        "{\"link_errors_readings\":\"1:1:2 2:5:4\",\"pcie_replays_readings\":\"1:1:9\"}",
        "{\"link_errors_readings\":\"1:1:2 2:5:4\",\"pcie_replays_readings\":\"1:1:1\"}"};
    static const char *const texts[] = {"4 link errors (+2), 9 PCIe replays</text>",
                                        "4 link errors (+2), 1 PCIe replay</text>"};
    for (size_t k = 0; k < 2; k++)
        for (unsigned width = 360; width <= 1040; width += 680) {
            struct as_error err;
            struct as_buf svg = AS_BUF_INIT;
            struct synth *s = synth_make(scenarios[k]);
            struct as_cell *cell = NULL;
            size_t at = 0;
            while (!as_hardware_has_own_memory(&s->runs[0].devices[at]))
                at++;
            for (size_t i = 0; i < s->runs[0].cells_n && !cell; i++)
                if (strcmp(s->runs[0].cells[i].device, s->runs[0].devices[at].id) == 0)
                    cell = &s->runs[0].cells[i];
            assert_non_null(cell);
            free(cell->detail);
            cell->detail = strdup(readings[k]);
            assert_int_equal(as_map_svg(&s->runs[0], width, "map", "map", &svg, &err), AS_OK);
            assert_int_equal(count(as_buf_get(&svg), texts[k]), 1);
            assert_int_equal(count(as_buf_get(&svg), "errors"), 1);
            as_buf_finish(&svg);
            synth_free(s);
        }
}

/* Everything between a compute unit and the far ends of the links, including what is missing. */
UNIT_TEST(map_shows_what_a_device_reaches)
{
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, "132 SMs");
    assert_has(&svg, ">SM</text>");
    assert_has(&svg, ">shared</text>");
    assert_has(&svg, ">228 KiB</text>");
    assert_has(&svg, ">16.2\u00a0ns</text>"); /* 32 cycles at 1.98 GHz */
    assert_has(&svg, ">32.0 cycles</text>");
    assert_has(&svg, ">33.5\u00a0TB/s</text>"); /* 128 B per cycle of 132 units */
    assert_has(&svg, ">163\u00a0ns</text>");
    assert_has(&svg, ">host memory</text>");
    assert_has(&svg, ">to device 54.1</text>"); /* as on the data sheet */
    assert_has(&svg, ">from device 55.3</text>");
    assert_hasnt(&svg, ">memory of cuda:1</text>"); /* it stands beside it */
    assert_has(&svg, ">→ 370\u00a0GB/s</text>");
    assert_has(&svg, ">load by cuda:0 710\u00a0ns</text>");
    assert_hasnt(&svg, "load by cuda:1");
    assert_has(&svg, ">not measured</text>");
    assert_hasnt(&svg, ">32 B</text>"); /* a sector is no size of a cache */
    assert_hasnt(&svg, "nan");
    as_buf_clear(&svg);
    assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
    assert_has(&svg, ">memory of cuda:1</text>"); /* a narrow map has the first only */
    as_buf_finish(&svg);
    synth_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(map_has_other_nodes),
                                       cmocka_unit_test(map_has_link_counters_of_devices),
                                       cmocka_unit_test(map_shows_what_a_device_reaches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
