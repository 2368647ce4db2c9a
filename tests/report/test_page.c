#include "base/text.h"
#include "report/map.h"
#include "report/page.h"
#include "synth.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct as_buf page_of(const char *scenario)
{
    struct as_error err = {0};
    struct as_buf out = AS_BUF_INIT;
    struct synth *s = synth_make(scenario);
    assert_non_null(s);
    enum as_status st = as_report_html(s->runs, s->n, &out, &err);
    if (st != AS_OK)
        fail_msg("%s: %s", scenario, err.text);
    synth_free(s);
    return out;
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void assert_has(const struct as_buf *page, const char *what)
{
    if (!strstr(as_buf_get(page), what))
        fail_msg("the page has no \"%s\"", what);
}

static void assert_hasnt(const struct as_buf *page, const char *what)
{
    const char *at = strstr(as_buf_get(page), what);
    if (at)
        fail_msg("the page has \"%s\": ...%.120s", what, at);
}

/* The JSON text of <script type="application/json" id="...">, parsed; NULL when there is none. */
static json_t *block(const struct as_buf *page, const char *id)
{
    char open[96];
    snprintf(open, sizeof open, "<script type=\"application/json\" id=\"%s\">", id);
    const char *from = strstr(as_buf_get(page), open);
    if (!from)
        return NULL;
    from += strlen(open);
    const char *to = strstr(from, "</script>");
    assert_non_null(to);
    json_error_t why;
    json_t *value = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, &why);
    if (!value)
        fail_msg("the data block \"%s\" is no JSON: %s at %d", id, why.text, why.position);
    return value;
}

/* --- structure --- */

static void every_scenario_has_the_sections_in_order(void **state)
{
    (void)state;
    static const char *const order[] = {"<!doctype html>",
                                        "<html lang=\"en\">",
                                        "Content-Security-Policy",
                                        "<h1>",
                                        "<nav ",
                                        "<main id=\"main\">",
                                        "<section id=\"map\"",
                                        "<section id=\"facts\"",
                                        "<section id=\"missing\"",
                                        "<section id=\"gates\"",
                                        "<section id=\"provenance\"",
                                        "</main>",
                                        "</html>"};
    for (size_t i = 0; synth_scenarios[i]; i++) {
        struct as_buf page = page_of(synth_scenarios[i]);
        const char *at = as_buf_get(&page);
        for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
            const char *found = strstr(at, order[k]);
            if (!found)
                fail_msg("%s: \"%s\" is missing or out of order", synth_scenarios[i], order[k]);
            at = found;
        }
        assert_int_equal(count(as_buf_get(&page), "<h1>"), 1);
        as_buf_finish(&page);
    }
}

static void policy_allows_nothing_but_the_built_in_texts(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    assert_has(&page, "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-");
    assert_hasnt(&page, "unsafe-inline");
    assert_hasnt(&page, "unsafe-eval");
    assert_hasnt(&page, " style=\"");
    assert_hasnt(&page, "<link");
    assert_hasnt(&page, " src=\"");
    as_buf_finish(&page);
}

static void nothing_is_fetched(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    const char *body = strstr(as_buf_get(&page), "<main");
    const char *end = strstr(body, "</main>");
    for (const char *p = body; (p = strstr(p, "http")) && p < end; p++) {
        bool allowed = strncmp(p, "http://www.w3.org/2000/svg", 26) == 0 || strncmp(p, "https://example.org/", 20) == 0;
        if (!allowed)
            fail_msg("an address in the page: %.60s", p);
    }
    as_buf_finish(&page);
}

static void headings_never_skip_a_level(void **state)
{
    (void)state;
    for (size_t i = 0; synth_scenarios[i]; i++) {
        struct as_buf page = page_of(synth_scenarios[i]);
        int level = 0;
        for (const char *p = as_buf_get(&page); (p = strstr(p, "<h")); p += 2) {
            if (p[2] < '1' || p[2] > '6' || (p[3] != '>' && p[3] != ' '))
                continue;
            if (p[2] - '0' > level + 1)
                fail_msg("%s: h%c after h%d: %.60s", synth_scenarios[i], p[2], level, p);
            level = p[2] - '0';
        }
        as_buf_finish(&page);
    }
}

static void ids_are_unique_and_links_lead_somewhere(void **state)
{
    (void)state;
    struct as_buf page = page_of("two");
    const char *text = as_buf_get(&page), *end = strstr(text, "</main>");
    size_t links = 0;
    for (const char *p = text; (p = strstr(p, "href=\"#")) && p < end; p++) {
        char id[64], quoted[80], bare[80], bare_end[80];
        size_t n = strcspn(p + 7, "\"");
        assert_in_range(n, 1, sizeof id - 1);
        snprintf(id, sizeof id, "%.*s", (int)n, p + 7);
        snprintf(quoted, sizeof quoted, " id=\"%s\"", id);
        snprintf(bare, sizeof bare, " id=%s ", id);
        snprintf(bare_end, sizeof bare_end, " id=%s>", id);
        size_t targets = count(text, quoted) + count(text, bare) + count(text, bare_end);
        if (targets != 1)
            fail_msg("\"#%s\" leads to %zu places", id, targets);
        links++;
    }
    assert_true(links > 50);
    as_buf_finish(&page);
}

static void every_measured_cell_has_its_row(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    struct synth *s = synth_make("plain");
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        const struct as_cell *c = &s->runs[0].cells[i];
        char plain[48], untrusted[48];
        snprintf(plain, sizeof plain, "<tr id=c%lld>", (long long)c->id);
        snprintf(untrusted, sizeof untrusted, "<tr id=c%lld class=u>", (long long)c->id);
        size_t n = count(as_buf_get(&page), plain), u = count(as_buf_get(&page), untrusted);
        assert_int_equal(n, c->status == AS_CELL_OK);
        assert_int_equal(u, c->status == AS_CELL_UNTRUSTED);
    }
    synth_free(s);
    as_buf_finish(&page);
}

static void untrusted_rows_name_their_gates(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    const char *row = strstr(as_buf_get(&page), " class=u>");
    assert_non_null(row);
    const char *end = strchr(row, '\n');
    assert_non_null(end);
    char line[512];
    snprintf(line, sizeof line, "%.*s", (int)(end - row), row);
    assert_non_null(strstr(line, "○ no: "));
    assert_non_null(strstr(line, "noise"));
    as_buf_finish(&page);
}

static void missing_cells_are_grouped_by_reason(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    const char *section = strstr(as_buf_get(&page), "<section id=\"missing\"");
    assert_non_null(section);
    assert_non_null(strstr(section, "25 of "));
    assert_int_equal(count(section, "fine-grained SVM: the device has none"), 1);
    assert_non_null(strstr(section, "<td>20<td>"));
    assert_non_null(strstr(section, "and 14 more"));
    assert_non_null(strstr(section, "the run ended before its turn came"));
    as_buf_finish(&page);
}

static void empty_pages_say_so(void **state)
{
    (void)state;
    struct as_buf page = page_of("empty");
    assert_has(&page, "No fact could be derived");
    assert_has(&page, "The plan has no cells");
    assert_has(&page, "The run has no device");
    as_buf_finish(&page);
    page = page_of("none");
    assert_has(&page, "<h1>No run</h1>");
    as_buf_finish(&page);
    page = page_of("unsupported");
    assert_has(&page, "40 of 40 cells of the plan have no number");
    assert_hasnt(&page, "<section class=\"probe\"");
    as_buf_finish(&page);
}

static void runs_stand_beside_each_other(void **state)
{
    (void)state;
    struct as_buf page = page_of("two");
    assert_has(&page, "2 runs beside each other");
    assert_has(&page, "<th scope=\"col\">run\u00a03<th scope=\"col\">run\u00a04<th scope=\"col\">against run\u00a03");
    assert_has(&page, "× worse</b>");
    assert_hasnt(&page, "× better</b>"); /* the second run is 20% slower in all */
    assert_has(&page, "<li class=\"fact again supported\">");
    as_buf_finish(&page);
    page = page_of("three");
    assert_has(&page, "<th scope=\"col\">run\u00a05<th scope=\"col\">against run\u00a03");
    as_buf_finish(&page);
}

/* --- hostile texts --- */

static void hostile_texts_stay_texts(void **state)
{
    (void)state;
    struct as_buf page = page_of("hostile");
    assert_hasnt(&page, synth_hostile_html);
    assert_hasnt(&page, "<img");
    assert_hasnt(&page, "<script>document");
    assert_hasnt(&page, "<script>1");
    assert_hasnt(&page, "<script>x");
    assert_hasnt(&page, "<script>no");
    assert_hasnt(&page, "<b>\"");
    assert_hasnt(&page, "<i>");
    assert_hasnt(&page, "<u>");
    assert_hasnt(&page, "<s>");
    assert_hasnt(&page, "<x>");
    assert_hasnt(&page, "<h1>size");
    assert_hasnt(&page, "\x1b");
    assert_hasnt(&page, "\xff");
    assert_has(&page, "&lt;img src=x onerror=alert(1)&gt;");
    /* scripts: of the page's own only */
    size_t scripts = as_page_vega_size > 1 ? 4 : 1;
    assert_int_equal(count(as_buf_get(&page), "</script>"), scripts);
    as_buf_finish(&page);
}

static void hostile_data_is_json_without_a_less_than(void **state)
{
    (void)state;
    if (as_page_vega_size <= 1)
        skip();
    struct as_buf page = page_of("hostile");
    json_t *data = block(&page, "data");
    assert_non_null(data);
    assert_true(json_object_size(json_object_get(data, "probes")) >= 2);
    json_decref(data);
    json_decref(block(&page, "figures"));
    const char *from = strstr(as_buf_get(&page), "id=\"data\">") + 10;
    const char *less = strchr(from, '<');
    assert_int_equal(strncmp(less, "</script>", 9), 0);
    as_buf_finish(&page);
}

static bool valid_utf8(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    while (*p) {
        int more = *p < 0x80 ? 0 : *p >> 5 == 6 ? 1 : *p >> 4 == 14 ? 2 : *p >> 3 == 30 ? 3 : -1;
        if (more < 0)
            return false;
        for (p++; more > 0; more--, p++)
            if (*p >> 6 != 2)
                return false;
    }
    return true;
}

static void pages_are_utf8(void **state)
{
    (void)state;
    for (size_t i = 0; synth_scenarios[i]; i++) {
        struct as_buf page = page_of(synth_scenarios[i]);
        assert_int_equal(strlen(as_buf_get(&page)), page.len);
        assert_true(valid_utf8(as_buf_get(&page)));
        as_buf_finish(&page);
    }
}

/* --- size and data --- */

static void ten_thousand_cells_are_less_than_three_megabytes(void **state)
{
    (void)state;
    struct synth *s = synth_make("large");
    size_t measured = 0;
    for (size_t i = 0; i < s->runs[0].cells_n; i++)
        measured += as_page_measured(&s->runs[0].cells[i]);
    assert_true(measured >= 10000);
    synth_free(s);
    struct as_buf page = page_of("large");
    if (page.len >= 3000000)
        fail_msg("the page has %zu bytes", page.len);
    as_buf_finish(&page);
}

static void data_columns_are_as_long_as_the_rows(void **state)
{
    (void)state;
    if (as_page_vega_size <= 1)
        skip();
    struct as_buf page = page_of("plain");
    json_t *data = block(&page, "data");
    const char *name, *field;
    json_t *probe, *column;
    json_object_foreach(json_object_get(data, "probes"), name, probe)
    {
        size_t rows = json_array_size(json_object_get(probe, "id"));
        assert_true(rows > 0);
        assert_int_equal(json_array_size(json_object_get(probe, "run")), rows);
        assert_int_equal(json_array_size(json_object_get(probe, "value")), rows);
        assert_int_equal(json_array_size(json_object_get(probe, "lo")), rows);
        assert_int_equal(json_array_size(json_object_get(probe, "hi")), rows);
        json_object_foreach(json_object_get(probe, "words"), field, column)
        {
            size_t values = json_array_size(json_object_get(column, "v")), i;
            json_t *index = json_object_get(column, "i"), *one;
            assert_true(values == 1 || json_array_size(index) == rows);
            json_array_foreach(index, i, one) assert_in_range(json_integer_value(one), 0, values - 1);
        }
    }
    json_decref(data);
    as_buf_finish(&page);
}

/* --- numbers --- */

static void check_value(double v, const char *unit, const char *wanted)
{
    struct as_buf b = AS_BUF_INIT;
    as_page_value(&b, v, unit);
    assert_string_equal(as_buf_get(&b), wanted);
    as_buf_finish(&b);
}

static void values_have_three_digits_and_a_scale(void **state)
{
    (void)state;
    check_value(1.4631, "ns", "1.46\u00a0ns");
    check_value(50123, "ns", "50.1\u00a0µs");
    check_value(3.41e9, "Hz", "3.41\u00a0GHz");
    check_value(4372, "GB/s", "4.37\u00a0TB/s");
    check_value(0.0123, "GB/s", "12.3\u00a0MB/s");
    check_value(49152, "B", "48 KiB");
    check_value(1.456, "x", "1.46×");
    check_value(NAN, "ns", "–");
    check_value(INFINITY, "B", "–");
    check_value(7, "<&", "7.00\u00a0&lt;&amp;");
}

static void intervals_keep_the_scale_of_the_value(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    as_page_interval(&b, 1010, (struct as_interval){990, 1030}, "ns");
    assert_string_equal(as_buf_get(&b), "0.990 to 1.03\u00a0µs");
    as_buf_clear(&b);
    as_page_interval(&b, 1010, (struct as_interval){NAN, NAN}, "ns");
    assert_string_equal(as_buf_get(&b), "–");
    as_buf_finish(&b);
}

static struct as_fact size_fact(double v, double lo, double hi, double claimed)
{
    return (struct as_fact){
        .device = "cpu", .object = "L1", .unit = "B", .value = v, .ci = {lo, hi}, .claimed = claimed};
}

static void check_fact(struct as_fact f, enum as_said said, const char *wanted)
{
    struct as_buf b = AS_BUF_INIT;
    assert_int_equal(as_page_said(&f), said);
    as_page_fact_value(&b, &f);
    assert_string_equal(as_buf_get(&b), wanted);
    as_buf_finish(&b);
}

static void a_wide_size_has_no_middle(void **state)
{
    (void)state;
    const double k = 1024, m = k * k;
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, 32 * k), AS_SAID_CLAIMED, "32 KiB");
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, 16 * k), AS_SAID_CLAIMED, "16 KiB");
    check_fact(size_fact(44.2 * k, 40 * k, 64 * k, 32 * k), AS_SAID_BRACKET, "40–64 KiB");
    check_fact(size_fact(44.2 * k, 16 * k, 64 * k, NAN), AS_SAID_BRACKET, "16–64 KiB");
    check_fact(size_fact(m, 512 * k, 2 * m, NAN), AS_SAID_BRACKET, "512 KiB–2 MiB");
    check_fact(size_fact(32 * k, 31 * k, 33 * k, 64 * k), AS_SAID_VALUE, "32 KiB");
    check_fact(size_fact(32 * k, NAN, NAN, 64 * k), AS_SAID_VALUE, "32 KiB");
    struct as_fact clock = size_fact(3e9, 2e9, 4e9, 2.5e9);
    as_copy_text(clock.unit, sizeof clock.unit, "Hz");
    check_fact(clock, AS_SAID_VALUE, "3.00\u00a0GHz");
}

/* --- the map --- */

/* The L1 of the plain run, known to end between 16 and 64 KiB only. */
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
        assert_has(&svg, ">claimed</text>");
        assert_has(&svg, ">size, clock</text>");
        assert_has(&svg, ">measured 16–64 KiB</text>");
        assert_has(&svg, "L1 32 KiB claimed (measured 16–64 KiB), 1.46");
        assert_hasnt(&svg, "44.2");
        as_buf_clear(&svg);
        assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
        assert_has(&svg, "<b>32 KiB</b> <span>claimed; measured 16–64 KiB</span>");
        f->claimed = 96 * 1024;
        f->verdict = AS_REFUTED;
        as_buf_clear(&svg);
        assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
        assert_has(&svg, ">16–64 KiB</text>");
        assert_has(&svg, ">claimed 96 KiB</text>");
        assert_has(&svg, "<b>16–64 KiB</b> <span>claimed 96 KiB</span>");
        as_buf_finish(&svg);
        synth_free(s);
    }
}

static void map_draws_and_collapses(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("server");
    assert_int_equal(as_report_map(&s->runs[0], &svg, &err), AS_OK);
    assert_has(&svg, "<svg xmlns=");
    assert_has(&svg, "package 1");
    assert_has(&svg, "× 8</text>");
    assert_true(count(as_buf_get(&svg), "<rect class=\"node\"") < 60); /* of 128 cores with three caches each */
    assert_has(&svg, "3.41\u00a0GHz");
    assert_has(&svg, "claimed 2.30\u00a0GHz");
    assert_has(&svg, "1.46\u00a0ns");
    assert_hasnt(&svg, "nan");
    as_buf_finish(&svg);
    synth_free(s);
}

static void map_without_a_tree_is_drawn_from_the_info(void **state)
{
    (void)state;
    struct as_error err;
    struct as_map_tree t;
    struct as_device_info info = {.units = 132,
                                  .memory_bytes = 1u << 30,
                                  .caches_n = 2,
                                  .caches = {{1, 'd', 1 << 18, 128, 0, 1}, {2, 'u', 1 << 26, 128, 0, 132}}};
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

/* Everything between a unit and what lies behind the links, with what is missing said. */
static void map_shows_what_a_device_reaches(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    assert_int_equal(as_report_map(&s->runs[0], &svg, &err), AS_OK);
    assert_has(&svg, "132 SMs");
    assert_has(&svg, ">SM</text>");
    assert_has(&svg, ">shared</text>");
    assert_has(&svg, ">228 KiB</text>");
    assert_has(&svg, ">16.2\u00a0ns</text>"); /* 32 cycles at 1.98 GHz */
    assert_has(&svg, ">32.0 cycles</text>");
    assert_has(&svg, ">33.5\u00a0TB/s</text>"); /* 128 B a cycle of 132 units */
    assert_has(&svg, ">163\u00a0ns</text>");
    assert_has(&svg, ">host memory</text>");
    assert_has(&svg, ">to 55.3, from 54.1</text>");
    assert_has(&svg, ">memory of cuda:1</text>");
    assert_has(&svg, ">370\u00a0GB/s</text>");
    assert_has(&svg, ">memory of the other devices</text>"); /* cuda:1 has none measured */
    assert_has(&svg, ">not measured</text>");
    assert_hasnt(&svg, ">32 B</text>"); /* a sector is no size of a cache */
    assert_hasnt(&svg, "nan");
    as_buf_clear(&svg);
    assert_int_equal(as_report_html(s->runs, 1, &svg, &err), AS_OK);
    assert_has(&svg, "<tr><th scope=\"row\">cuda:0<td>55.3\u00a0GB/s<small>1.10\u00a0µs</small>"
                     "<td>–<td>370\u00a0GB/s<small>710\u00a0ns</small>");
    assert_has(&svg, "<tr><th scope=\"row\">cuda:1<td>55.3\u00a0GB/s<small>1.10\u00a0µs</small><td>not measured<td>–");
    as_buf_finish(&svg);
    synth_free(s);
}

/* A number that failed a gate is no number of the map, and is not passed over in silence either. */
static void map_says_what_is_not_trusted(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf svg = AS_BUF_INIT;
    struct synth *s = synth_make("gpus");
    struct as_cell *c = &s->runs[0].cells[0];
    as_copy_text(c->probe, sizeof c->probe, "topology");
    c->status = AS_CELL_UNTRUSTED;
    c->axes = (struct as_axes){.n = 0};
    assert_int_equal(as_axes_add(&c->axes, "place", "memory", &err), AS_OK);
    assert_int_equal(as_axes_add(&c->axes, "what", "latency", &err), AS_OK);
    assert_int_equal(as_report_map(&s->runs[0], &svg, &err), AS_OK);
    assert_int_equal(count(as_buf_get(&svg), ">untrusted</text>"), 1);
    as_buf_finish(&svg);
    synth_free(s);
}

static void map_of_many_devices_draws_the_first(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf page = AS_BUF_INIT;
    struct synth *s = synth_make("eight");
    assert_int_equal(as_report_map(&s->runs[0], &page, &err), AS_OK);
    assert_has(&page, "cuda:1, 132 SMs");
    assert_hasnt(&page, "cuda:2, 132 SMs");
    assert_has(&page, ">7 devices</text>");
    assert_has(&page, ">370–382\u00a0GB/s</text>");
    as_buf_clear(&page);
    assert_int_equal(as_report_html(s->runs, 1, &page, &err), AS_OK);
    assert_has(&page, "<tr><th scope=\"row\">cuda:7<td>0000:08:00.0<td>1.98\u00a0GHz<td>163\u00a0ns<td>not measured");
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
    assert_has(&one, ">f32 66.3\u00a0Top/s</text>");
    assert_has(&one, ">L1 33.5\u00a0TB/s, shared 33.2\u00a0TB/s</text>"); /* too close for a name each */
    assert_has(&one, ">memory 4.57\u00a0TB/s</text>");
    assert_has(&one, "<th scope=\"col\">memory<small>4.57\u00a0TB/s</small>");
    assert_has(&one, "<td>6.74<small>6.54 to 6.87</small>");
    assert_hasnt(&one, "nan");
    assert_hasnt(&one, "inf");
    as_buf_finish(&one);
    assert_non_null(strstr(to, "Not drawn: no bandwidth of all threads or units is trusted."));
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
    struct as_device_info info = {.units = 0};
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
    struct as_device_info info = {.units = 1};
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
        cmocka_unit_test(every_scenario_has_the_sections_in_order),
        cmocka_unit_test(policy_allows_nothing_but_the_built_in_texts),
        cmocka_unit_test(nothing_is_fetched),
        cmocka_unit_test(headings_never_skip_a_level),
        cmocka_unit_test(ids_are_unique_and_links_lead_somewhere),
        cmocka_unit_test(every_measured_cell_has_its_row),
        cmocka_unit_test(untrusted_rows_name_their_gates),
        cmocka_unit_test(missing_cells_are_grouped_by_reason),
        cmocka_unit_test(empty_pages_say_so),
        cmocka_unit_test(runs_stand_beside_each_other),
        cmocka_unit_test(hostile_texts_stay_texts),
        cmocka_unit_test(hostile_data_is_json_without_a_less_than),
        cmocka_unit_test(pages_are_utf8),
        cmocka_unit_test(ten_thousand_cells_are_less_than_three_megabytes),
        cmocka_unit_test(data_columns_are_as_long_as_the_rows),
        cmocka_unit_test(values_have_three_digits_and_a_scale),
        cmocka_unit_test(intervals_keep_the_scale_of_the_value),
        cmocka_unit_test(a_wide_size_has_no_middle),
        cmocka_unit_test(map_and_facts_mark_a_size_that_was_only_claimed),
        cmocka_unit_test(map_draws_and_collapses),
        cmocka_unit_test(map_without_a_tree_is_drawn_from_the_info),
        cmocka_unit_test(map_shows_what_a_device_reaches),
        cmocka_unit_test(map_says_what_is_not_trusted),
        cmocka_unit_test(map_of_many_devices_draws_the_first),
        cmocka_unit_test(roofline_is_drawn_and_told),
        cmocka_unit_test(map_survives_any_topology),
        cmocka_unit_test(map_of_a_deep_or_wide_tree_is_bounded),
    };
    return cmocka_run_group_tests_name("report: page", tests, NULL, NULL);
}
