/* The machine map and the roofline: what is drawn, which gaps are reported, and that any tree can be drawn. */
#include "base/text.h"
#include "page_asserts.h"
#include "report/map/map.h"
#include "report/page/page.h"
#include "synth.h"
#include "tests/facts/named.h"

#include <math.h>
#include <stdlib.h>

/* The L1 of the plain run, known only to end between 16 and 64 KiB. */
static void map_and_facts_mark_a_size_that_was_only_claimed(void **state)
{
    (void)state;
    struct as_error err;
    for (unsigned width = 360; width <= 1040; width += 680) {
        struct as_buf svg = AS_BUF_INIT;
        struct synth *s = synth_make("plain");
        struct as_fact *f = NULL;
        for (size_t i = 0; i < s->runs[0].facts_n; i++)
            if (strcmp(s->runs[0].facts[i].id, "cache.L1.size") == 0)
                f = &s->runs[0].facts[i];
        assert_non_null(f);
        f->value = 44.2 * 1024;
        f->ci = (struct as_interval){16 * 1024, 64 * 1024};
        f->claimed = 32 * 1024;
        assert_int_equal(as_map_svg(&s->runs[0], width, "map", "map", &svg, &err), AS_OK);
        assert_has(&svg, ">32 KiB</text>");
        assert_has(&svg, ">reported</text>");
        assert_has(&svg, ">size, clock</text>");
        assert_has(&svg, ">16–64 KiB</text>");
        assert_has(&svg, "L1 32 KiB reported (measured 16–64 KiB), 1.46");
        assert_hasnt(&svg, "44.2");
        as_buf_clear(&svg);
        assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
        assert_has(&svg, "<b>32 KiB</b> <span>reported; measured 16–64 KiB</span>");
        f->claimed = 96 * 1024;
        f->verdict = AS_REFUTED;
        as_buf_clear(&svg);
        assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
        assert_has(&svg, ">16–64 KiB</text>");
        assert_has(&svg, ">reported 96 KiB</text>");
        assert_has(&svg, "<b>16–64 KiB</b> <span>reported 96 KiB</span>");
        as_buf_finish(&svg);
        synth_free(s);
    }
}

/* Numbers over the runs of a machine keep what they were counted in, though this run counted nothing. */
static void map_counts_joined_numbers_in_their_unit(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("plain");
    const struct as_quantity_joined joined = {.device = s->runs[0].devices[0].id,
                                              .of = as_quantity_named("L1.latency"),
                                              .unit = "ns",
                                              .value = 1.13,
                                              .counted = 4.17,
                                              .counted_unit = "cycles",
                                              .ci = {1.12, 1.14},
                                              .trials = 10};
    s->runs[0].joined = &joined;
    s->runs[0].joined_n = 1;
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, "4.17 cycles");
    assert_hasnt(&svg, "4.17 B");
    as_buf_finish(&svg);
    synth_free(s);
}

/* A size over the runs of a machine has their interval, whatever this run's says of the reported size. */
static void map_has_joined_sizes(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("plain");
    struct as_quantity_joined joined = {.device = s->runs[0].devices[0].id,
                                        .of = as_quantity_named("L1.capacity"),
                                        .unit = "B",
                                        .value = 96 * 1024,
                                        .counted = NAN,
                                        .counted_unit = "",
                                        .ci = {64 * 1024, 256 * 1024},
                                        .trials = 10};
    for (size_t i = 0; i < s->runs[0].facts_n; i++)
        if (strcmp(s->runs[0].facts[i].id, "cache.L1.size") == 0)
            s->runs[0].facts[i].claimed = 32 * 1024;
    s->runs[0].joined = &joined;
    s->runs[0].joined_n = 1;
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, ">64–256 KiB</text>");
    assert_has(&svg, ">reported 32 KiB</text>");
    joined.ci.lo = 16 * 1024;
    as_buf_clear(&svg);
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, ">32 KiB</text>");
    assert_has(&svg, ">16–256 KiB</text>");
    as_buf_finish(&svg);
    synth_free(s);
}

/* Of the host's CPU, which OpenCL measured more often, the native numbers are drawn where there are any. */
static void map_has_the_native_cpu(void **state)
{
    (void)state;
    struct synth *s = synth_make("twins");
    struct as_report_run *r = &s->runs[0];
    size_t cpu = 0, opencl = 0;
    for (size_t i = 0; i < r->devices_n; i++) {
        cpu = strcmp(r->devices[i].id, "cpu") == 0 ? i : cpu;
        opencl = strcmp(r->devices[i].id, "opencl:2") == 0 ? i : opencl;
    }
    for (size_t i = 0; i < r->cells_n; i++)
        if (strcmp(r->cells[i].device, "opencl:0") == 0)
            as_copy_text(r->cells[i].device, sizeof r->cells[i].device, "opencl:2");
    assert_int_equal(as_hardware_representative(r, opencl), cpu);
    assert_int_equal(as_hardware_representative(r, cpu), cpu);
    for (size_t i = 0; i < r->cells_n; i++)
        if (strcmp(r->cells[i].device, "cpu") == 0)
            r->cells[i].status = AS_CELL_UNSUPPORTED;
    assert_int_equal(as_hardware_representative(r, opencl), opencl);
    assert_int_equal(as_hardware_representative(r, cpu), opencl);
    synth_free(s);
}

static void map_draws_and_collapses(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("server");
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, "<svg xmlns=");
    assert_has(&svg, "package 1");
    assert_has(&svg, "× 8</text>");
    assert_true(count(as_buf_get(&svg), "<rect class=\"node\"") < 60); /* of 128 cores with three caches each */
    assert_has(&svg, "3.41\u00a0GHz");
    assert_has(&svg, "reported 2.30\u00a0GHz");
    assert_has(&svg, "1.46\u00a0ns");
    assert_hasnt(&svg, "nan");
    as_buf_finish(&svg);
    synth_free(s);
}

/* The tooltip of a row with many facts says how many it leaves out. */
static void map_tooltips_are_short(void **state)
{
    enum { MANY = 40 };
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("plain");
    struct as_report_run run = s->runs[0];
    struct as_fact many[MANY];
    assert_true(run.facts_n > 0);
    for (size_t i = 0; i < MANY; i++) {
        many[i] = run.facts[0];
        as_copy_text(many[i].object, sizeof many[i].object, "core");
        as_copy_text(many[i].device, sizeof many[i].device, run.devices[0].id);
    }
    run.facts = many;
    run.facts_n = MANY;
    assert_int_equal(as_map_svg(&run, 1040, "map", "map", &svg, &err), AS_OK);
    assert_int_equal(count(as_buf_get(&svg), many[0].sentence), 16);
    assert_has(&svg, "\nand 24 more facts</title>");
    as_buf_finish(&svg);
    synth_free(s);
}

/* No driver's tree has a cache in front of memory: it is put between memory and the rest, under its name. */
static void map_has_the_memory_side_cache(void **state)
{
    static const struct as_cache side = {
        .level = 4, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity <Cache>", .source = "kfd"};
    (void)state;
    for (unsigned width = 360; width <= 1040; width += 680) {
        struct as_error err;
        struct as_buf svg = AS_BUF_INIT;
        struct synth *s = synth_make("server");
        struct as_device_info *cpu = &s->runs[0].devices[0];
        cpu->caches[cpu->caches_n++] = side;
        assert_int_equal(as_map_svg(&s->runs[0], width, "map", "map", &svg, &err), AS_OK);
        assert_has(&svg, ">Infinity</text>");
        assert_has(&svg, ">&lt;Cache&gt;</text>");
        assert_has(&svg, "256 MiB");
        assert_hasnt(&svg, "<Cache>");
        as_buf_finish(&svg);
        synth_free(s);
    }
}

static void map_without_a_tree_is_drawn_from_the_info(void **state)
{
    (void)state;
    struct as_error err;
    struct as_map_tree t;
    struct as_device_info info = {
        .compute_units = 132,
        .memory_bytes = 1u << 30,
        .caches_n = 2,
        .caches = {{.level = 1, .kind = 'd', .size = 1 << 18, .line = 128, .ways = 0, .shared = 1},
                   {.level = 2, .kind = 'u', .size = 1 << 26, .line = 128, .ways = 0, .shared = 132}}};
    assert_int_equal(as_map_tree_make(&info, NULL, false, &t, &err), AS_OK);
    assert_int_equal(as_map_layout(&t, 12, &err), AS_OK);
    assert_int_equal(t.rows, 1u << AS_MAP_CORE | 1u << 1 | 1u << 2 | 1u << AS_MAP_MEMORY);
    assert_in_range(t.cols, 2, 12);
    unsigned more = 0;
    for (size_t i = 0; i < t.n; i++)
        if (t.nodes[i].level == AS_MAP_MORE)
            more = t.nodes[i].more;
    assert_int_equal(more, 132);
    as_map_tree_finish(&t);
}

/* A compute unit has the one-word name of its vendor, not the name of its parts. */
static void map_names_units_not_their_parts(void **state)
{
    static const char tree[] =
        "{\"type\":\"machine\",\"children\":[{\"type\":\"device\",\"children\":[{\"type\":\"core\","
        "\"name\":\"%s\",\"count\":2,\"children\":[{\"type\":\"core\",\"name\":\"lanes\","
        "\"count\":8}]}]}]}";
    static const struct {
        const char *name, *unit;
    } named[] = {{"SM", "SM"}, {"compute unit", ""}};
    (void)state;
    struct as_error err;
    struct as_device_info info = {.compute_units = 2};
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        struct as_map_tree t;
        struct as_buf json = AS_BUF_INIT;
        as_buf_printf(&json, tree, named[i].name);
        assert_int_equal(as_map_tree_make(&info, as_buf_get(&json), false, &t, &err), AS_OK);
        assert_string_equal(t.unit, named[i].unit);
        as_map_tree_finish(&t);
        as_buf_finish(&json);
    }
}

/* A number that failed a gate does not appear on the map, but is mentioned. */
static void map_says_what_is_rejected(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    struct as_cell *c = &s->runs[0].cells[0];
    for (size_t i = 0; i < s->runs[0].cells_n; i++)
        s->runs[0].cells[i].status = AS_CELL_OK;
    as_copy_text(c->probe, sizeof c->probe, "l2_latency");
    c->status = AS_CELL_REJECTED;
    c->axes = (struct as_axes){.n = 0};
    assert_int_equal(as_axes_add(&c->axes, "what", "missed", &err), AS_OK);
    assert_int_equal(as_axes_add(&c->axes, "compute_unit", "0", &err), AS_OK);
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_int_equal(count(as_buf_get(&svg), ">rejected</text>"), 1);
    as_copy_text(c->probe, sizeof c->probe, "launch");
    as_buf_clear(&svg);
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_int_equal(count(as_buf_get(&svg), ">rejected</text>"), 0);
    as_buf_finish(&svg);
    synth_free(s);
}

/* A latency that only a cell has is in the data sheet, and so on the map. */
static void map_has_the_latency_of_the_data_sheet(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    struct as_cell *c = &s->runs[0].cells[0];
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_hasnt(&svg, "77.7");
    as_copy_text(c->probe, sizeof c->probe, "l2_latency");
    as_copy_text(c->unit, sizeof c->unit, "ns");
    c->status = AS_CELL_OK;
    c->sum = (struct as_summary){.n = 10, .median = 77.7, .ci = {77, 78}};
    c->axes = (struct as_axes){.n = 0};
    assert_int_equal(as_axes_add(&c->axes, "what", "missed", &err), AS_OK);
    assert_int_equal(as_axes_add(&c->axes, "compute_unit", "0", &err), AS_OK);
    as_buf_clear(&svg);
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &svg, &err), AS_OK);
    assert_has(&svg, "77.7\u00a0ns");
    as_buf_finish(&svg);
    synth_free(s);
}

/* What the map prints beside a link has the digits of the data sheet, which are those that the interval supports. */
static void map_has_the_digits_of_the_data_sheet(void **state)
{
    (void)state;
    static const char *const vague[] = {"host_link.to_device", "host_link.from_device", "host_link.atomic"};
    struct as_quantity_joined joined[3];
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    for (size_t i = 0; i < 3; i++)
        joined[i] =
            (struct as_quantity_joined){.device = "cuda:0",
                                        .of = as_quantity_named(vague[i]),
                                        .unit = i < 2 ? "GB/s" : "ns",
                                        .value = i < 2 ? 54.13 : 844.2,
                                        .counted = NAN,
                                        .counted_unit = "",
                                        .ci = i < 2 ? (struct as_interval){50.6, 57.7} : (struct as_interval){790, 900},
                                        .trials = 5};
    s->runs[0].joined = joined;
    s->runs[0].joined_n = 3;
    for (unsigned width = 360; width <= 1040; width += 680) {
        as_buf_clear(&svg);
        assert_int_equal(as_map_svg(&s->runs[0], width, "map", "map", &svg, &err), AS_OK);
        assert_has(&svg, "to device 54<");
        assert_has(&svg, "atomic 840\u00a0ns");
        assert_hasnt(&svg, "844");
    }
    as_buf_finish(&svg);
    synth_free(s);
}

static void map_of_many_devices_draws_the_first(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf page = AS_BUF_INIT;
    struct synth *s = synth_make("eight");
    assert_int_equal(as_map_svg(&s->runs[0], 1040, "map", "map", &page, &err), AS_OK);
    assert_has(&page, "cuda:1, 132 SMs");
    assert_hasnt(&page, "cuda:2, 132 SMs");
    assert_has(&page, "memory of 7 other devices</text>");
    assert_has(&page, ">370–382\u00a0GB/s</text>");
    as_buf_clear(&page);
    assert_int_equal(as_report_html(s->runs, 1, &page, &err), AS_OK);
    assert_has(&page, "<tr><th scope=\"row\">cuda:7<td>0000:08:00.0<td data-device=\"cuda:7\" "
                      "data-quantity=\"clock.core\" data-value=\"1.98e+09\">1.98\u00a0GHz<td");
    as_buf_finish(&page);
    synth_free(s);
}

static void roofline_is_drawn_and_told(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf page = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    assert_int_equal(as_report_html(s->runs, 1, &page, &err), AS_OK);
    const char *from = strstr(as_buf_get(&page), "Roofline of <code>cuda:0"), *to;
    assert_non_null(from);
    assert_non_null(to = strstr(from, "Roofline of <code>cuda:1"));
    struct as_buf one = AS_BUF_INIT;
    as_buf_add(&one, from, (size_t)(to - from));
    assert_int_equal(count(as_buf_get(&one), "<svg class=\"roofline"), 2); /* wide and narrow */
    assert_int_equal(count(as_buf_get(&one), "<circle "), 2 * 2 * 4);      /* types by levels */
    assert_has(&one, ">FP32 66.3\u00a0TFLOP/s</tspan>");
    assert_has(&one, ">L1 read 33.5\u00a0TB/s</tspan>, <tspan"); /* too close for labels */
    assert_has(&one, " data-quantity=\"memory.read.all\" data-value=\"4570\">memory read 4.57\u00a0TB/s</tspan>");
    assert_has(&one, "<th scope=\"col\">memory read<small data-device=\"cuda:0\" data-quantity=\"memory.read.all\" "
                     "data-value=\"4570\">4.57\u00a0TB/s</small>");
    assert_has(&one, "<td>6.74<small>6.54 to 6.87</small>");
    assert_hasnt(&one, "nan");
    assert_hasnt(&one, "inf");
    as_buf_finish(&one);
    assert_non_null(strstr(to, "Not drawn: there is no valid bandwidth of all threads or units."));
    as_buf_finish(&page);
    synth_free(s);
}

static void map_survives_any_topology(void **state)
{
    (void)state;
    static const char *const trees[] = {
        "",
        "[]",
        "7",
        "{",
        "{\"type\":5}",
        "{\"type\":\"machine\"}",
        "{\"type\":\"machine\",\"children\":{\"a\":1}}",
        ("{\"type\":\"machine\",\"children\":[null,1,\"x\",{},{\"type\":\"\"},{\"type\":\"L9\"},{\"type\":\"L\"},"
         "{\"type\":\"memory\",\"size\":1e99},{\"type\":\"core\",\"os_index\":99999999999999999}]}"),
        "{\"type\":\"device\",\"children\":[{\"type\":\"device\",\"children\":[{\"type\":\"core\"}]}]}",
    };
    struct as_error err;
    struct as_device_info info = {.compute_units = 0};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct as_map_tree t;
        assert_int_equal(as_map_tree_make(&info, trees[i], false, &t, &err), AS_OK);
        assert_int_equal(as_map_layout(&t, 12, &err), AS_OK);
        assert_true(t.cols >= 1);
        as_map_tree_finish(&t);
    }
}

static void map_of_a_deep_or_wide_tree_is_bounded(void **state)
{
    (void)state;
    struct as_error err;
    struct as_device_info info = {.compute_units = 1};
    struct as_map_tree t;
    struct as_buf json = AS_BUF_INIT;
    for (int i = 0; i < 1000; i++)
        as_buf_str(&json, "{\"type\":\"package\",\"children\":[");
    as_buf_str(&json, "{\"type\":\"core\"}");
    for (int i = 0; i < 1000; i++)
        as_buf_str(&json, "]}");
    assert_int_equal(as_map_tree_make(&info, as_buf_get(&json), false, &t, &err), AS_OK);
    assert_int_equal(as_map_layout(&t, 12, &err), AS_OK);
    assert_true(t.n < 40);
    as_map_tree_finish(&t);
    as_buf_clear(&json);
    as_buf_str(&json, "{\"type\":\"machine\",\"children\":[{\"type\":\"core\"}");
    for (int i = 0; i < 20000; i++)
        as_buf_printf(&json, ",{\"type\":\"L2\",\"size\":%d,\"children\":[{\"type\":\"core\"}]}", i % 2);
    as_buf_str(&json, "]}");
    assert_int_equal(as_map_tree_make(&info, as_buf_get(&json), false, &t, &err), AS_OK);
    assert_int_equal(as_map_layout(&t, 12, &err), AS_OK);
    as_map_tree_finish(&t);
    as_buf_finish(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_and_facts_mark_a_size_that_was_only_claimed),
        cmocka_unit_test(map_counts_joined_numbers_in_their_unit),
        cmocka_unit_test(map_has_joined_sizes),
        cmocka_unit_test(map_has_the_native_cpu),
        cmocka_unit_test(map_draws_and_collapses),
        cmocka_unit_test(map_tooltips_are_short),
        cmocka_unit_test(map_has_the_memory_side_cache),
        cmocka_unit_test(map_without_a_tree_is_drawn_from_the_info),
        cmocka_unit_test(map_names_units_not_their_parts),
        cmocka_unit_test(map_says_what_is_rejected),
        cmocka_unit_test(map_has_the_latency_of_the_data_sheet),
        cmocka_unit_test(map_has_the_digits_of_the_data_sheet),
        cmocka_unit_test(map_of_many_devices_draws_the_first),
        cmocka_unit_test(roofline_is_drawn_and_told),
        cmocka_unit_test(map_survives_any_topology),
        cmocka_unit_test(map_of_a_deep_or_wide_tree_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
