#include "base/text.h"
#include "golden.h"
#include "page_asserts.h"
#include "report/page/page.h"
#include "report/sheet/machine_runs.h"
#include "synth.h"
#include "tests/unit_test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The JSON text of <script type="application/json" id="...">, parsed; NULL if there is none. */
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

/* GPUs by number, then the CPU; one behind several APIs counts once. */
static void title_and_heading_name_the_machine(void **state)
{
    (void)state;
    static const char *const scenarios[] = {"gpus", "twins"};
    for (size_t i = 0; i < 2; i++) {
        struct as_buf page = page_of(scenarios[i]);
        assert_has(&page, "<title>assay: 2 × NVIDIA H200, AMD EPYC 9654 96-Core Processor (run 3)</title>");
        assert_has(&page, "<h1>2 × NVIDIA H200, AMD EPYC 9654 96-Core Processor</h1>");
        as_buf_finish(&page);
    }
}

/* Beside the machine's sheet stands what all its runs suggest, though the last one does not. */
static void machine_says_what_is_worth_knowing(void **state)
{
    (void)state;
    struct as_error err;
    struct as_buf page = AS_BUF_INIT;
    struct synth *s = synth_make("plain");
    struct as_report_run *r = &s->runs[0];
    struct as_other_fact other = {.run = 1,
                                  .fact = {.device = "cpu",
                                           .id = "tlb.gain.thp.4096",
                                           .act = "Use huge pages: 4x",
                                           .gain = 4,
                                           .gain_ci = {3.9, 4.1},
                                           .verdict = AS_SUPPORTED}};
    const struct as_machine_runs machine = {
        .fullest = {.run = r->run, .others = &other, .others_n = 1, .of_machine = true}};
    for (size_t i = 0; i < r->facts_n; i++)
        r->facts[i].act[0] = '\0';
    assert_int_equal(as_report_html(r, 1, &page, &err), AS_OK);
    assert_hasnt(&page, "Use huge pages: 4x");
    as_buf_clear(&page);
    r->machine = &machine;
    assert_int_equal(as_report_html(r, 1, &page, &err), AS_OK);
    assert_has(&page, "<li>Use huge pages: 4x; seen once</li>");
    assert_hasnt(&page, "suggests a code change");
    as_buf_finish(&page);
    synth_free(s);
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

/* Probes of one heading are adjacent, and each heading appears once. */
static void contents_are_grouped_by_heading(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    const char *memory = strstr(as_buf_get(&page), "<li class=\"heading\">Memory</li>"),
               *latency = strstr(as_buf_get(&page), "<a href=\"#probe-latency\">"),
               *runtime = strstr(as_buf_get(&page), "<li class=\"heading\">Runtime</li>");
    assert_true(memory && latency && runtime && memory < latency && latency < runtime);
    assert_null(strstr(memory + 1, "<li class=\"heading\">Memory</li>"));
    as_buf_finish(&page);
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
    struct as_buf page = page_of(*state);
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
    assert_true(links > 30);
    as_buf_finish(&page);
}

static void every_measured_cell_has_its_row(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    struct synth *s = synth_make("plain");
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        const struct as_cell *c = &s->runs[0].cells[i];
        char plain[48], rejected[48];
        snprintf(plain, sizeof plain, "<tr id=c%lld>", (long long)c->id);
        snprintf(rejected, sizeof rejected, "<tr id=c%lld class=u>", (long long)c->id);
        size_t n = count(as_buf_get(&page), plain), u = count(as_buf_get(&page), rejected);
        assert_int_equal(n, c->status == AS_CELL_OK);
        assert_int_equal(u, c->status == AS_CELL_REJECTED);
    }
    synth_free(s);
    as_buf_finish(&page);
}

static void rejected_rows_name_their_gates(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain");
    const char *row = strstr(as_buf_get(&page), " class=u>");
    assert_non_null(row);
    const char *end = strchr(row, '\n');
    assert_non_null(end);
    char line[512];
    snprintf(line, sizeof line, "%.*s", (int)(end - row), row);
    assert_non_null(strstr(line, "○ rejected: "));
    assert_non_null(strstr(line, "checksum"));
    as_buf_finish(&page);
}

/* The first section of a comparison; pages of one run and of three have none. */
static void two_runs_have_a_verdict(void **state)
{
    (void)state;
    struct as_buf page = page_of("two"), section = golden_section(&page, "verdict");
    assert_golden("verdict.html", &section);
    as_buf_finish(&section);
    as_buf_finish(&page);
    page = page_of("three");
    assert_hasnt(&page, "id=\"verdict\"");
    as_buf_finish(&page);
}

static void missing_cells_are_grouped_by_reason(void **state)
{
    (void)state;
    struct as_buf page = page_of("plain"), section = golden_section(&page, "missing");
    assert_golden("missing.html", &section);
    as_buf_finish(&section);
    as_buf_finish(&page);
}

static void empty_pages_say_so(void **state)
{
    (void)state;
    struct as_buf page = page_of("empty");
    assert_has(&page, "No fact could be derived");
    assert_has(&page, "Nothing was planned");
    assert_has(&page, "The run has no device");
    as_buf_finish(&page);
    page = page_of("none");
    assert_has(&page, "<h1>No run</h1>");
    as_buf_finish(&page);
    page = page_of("unsupported");
    assert_has(&page, "40 of 40 planned measurements have no result");
    assert_hasnt(&page, "<section class=\"probe\"");
    as_buf_finish(&page);
}

static void runs_stand_beside_each_other(void **state)
{
    (void)state;
    struct as_buf page = page_of("two");
    assert_has(&page, ", INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz</h1>"); /* one machine */
    assert_has(&page, "<th scope=\"col\">run\u00a03<th scope=\"col\">run\u00a04<th scope=\"col\">against run\u00a03");
    assert_has(&page, "× worse</b>");
    assert_hasnt(&page, "× better</b>"); /* the second run is 20% slower in all */
    assert_has(&page, "<li class=\"fact again supported\" id=\"");
    as_buf_finish(&page);
    page = page_of("three");
    assert_has(&page, "<th scope=\"col\">run\u00a05<th scope=\"col\">against run\u00a03");
    as_buf_finish(&page);
}

/* --- methods --- */

static void methods_are_safe_html(void **state)
{
    (void)state;
    static const char *const rendered[] = {
        "<h3>How it is measured</h3>\n<p>A chain of <em>dependent</em> loads over a <strong>random",
        "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>\n<tr>\n<th>level</th>",
        "<a rel=\"noreferrer\" href=\"https://example.org/multichase\">multichase</a>, not <a",
        "<a rel=\"noreferrer\" href=\"\">this</a>, <!-- raw HTML omitted -->nor this",
        "<pre tabindex=\"0\"><code>while (reps--)\n    p = *(void **)p; /* &lt;not a tag&gt; */\n</code></pre>",
    };
    struct as_buf page = page_of("plain");
    assert_has(&page, "<details class=\"method\"><summary>Method</summary>");
    assert_hasnt(&page, "<b onclick");
    assert_hasnt(&page, "href=\"javascript");
    if (HAVE_CMARK)
        for (size_t i = 0; i < sizeof rendered / sizeof *rendered; i++)
            assert_has(&page, rendered[i]);
    else
        assert_has(&page, "<pre tabindex=\"0\"># How it is measured\n\nA chain of *dependent* loads");
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
    /* scripts: only the page's own */
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
        measured += as_report_is_measured(&s->runs[0].cells[i]);
    assert_true(measured >= 10000);
    synth_free(s);
    struct as_buf page = page_of("large");
    if (page.len >= 3000000)
        fail_msg("the page has %zu bytes", page.len);
    as_buf_finish(&page);
}

/* Of every chart: made runs whose intervals reach beyond what is possible. */
static void bands_end_at_the_bound(void **state)
{
    (void)state;
    if (as_page_vega_size <= 1)
        skip();
    struct as_error err;
    struct as_buf page = AS_BUF_INIT;
    struct synth *s = synth_make("plain");
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        struct as_cell *c = &s->runs[0].cells[i];
        c->limit = 0.9 * c->sum.median;
        c->lower_is_better = true;
        c->sum.ci.lo = 0.1 * c->sum.median;
    }
    assert_int_equal(as_report_html(s->runs, 1, &page, &err), AS_OK);
    json_t *data = block(&page, "data"), *probe, *lo, *value;
    const char *name;
    size_t i, seen = 0;
    json_object_foreach(json_object_get(data, "probes"), name, probe)
    {
        value = json_object_get(probe, "value");
        json_array_foreach(json_object_get(probe, "lo"), i, lo)
        {
            const double v = json_number_value(json_array_get(value, i));
            assert_true(v <= 0 || json_number_value(lo) > 0.89 * v);
            seen += v > 0;
        }
    }
    assert_true(seen > 0);
    json_decref(data);
    as_buf_finish(&page);
    synth_free(s);
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
        json_object_foreach(json_object_get(probe, "further"), field, column)
            assert_int_equal(json_array_size(column), rows);
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

int main(void)
{
    static char two[] = "two", operations[] = "operations";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_have_a_verdict),
        cmocka_unit_test(title_and_heading_name_the_machine),
        cmocka_unit_test(machine_says_what_is_worth_knowing),
        cmocka_unit_test(every_scenario_has_the_sections_in_order),
        cmocka_unit_test(contents_are_grouped_by_heading),
        cmocka_unit_test(policy_allows_nothing_but_the_built_in_texts),
        cmocka_unit_test(nothing_is_fetched),
        cmocka_unit_test(headings_never_skip_a_level),
        cmocka_unit_test_prestate(ids_are_unique_and_links_lead_somewhere, two),
        cmocka_unit_test_prestate(ids_are_unique_and_links_lead_somewhere, operations),
        cmocka_unit_test(every_measured_cell_has_its_row),
        cmocka_unit_test(rejected_rows_name_their_gates),
        cmocka_unit_test(missing_cells_are_grouped_by_reason),
        cmocka_unit_test(empty_pages_say_so),
        cmocka_unit_test(runs_stand_beside_each_other),
        cmocka_unit_test(methods_are_safe_html),
        cmocka_unit_test(hostile_texts_stay_texts),
        cmocka_unit_test(hostile_data_is_json_without_a_less_than),
        cmocka_unit_test(pages_are_utf8),
        cmocka_unit_test(ten_thousand_cells_are_less_than_three_megabytes),
        cmocka_unit_test(bands_end_at_the_bound),
        cmocka_unit_test(data_columns_are_as_long_as_the_rows),
    };
    return cmocka_run_group_tests_name("report: page", tests, NULL, NULL);
}
