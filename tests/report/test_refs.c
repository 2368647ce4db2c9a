/* Published figures on the page: those with a comparable measurement beside it, the others folded, all escaped. */
#include "base/text.h"
#include "golden.h"
#include "page_asserts.h"
#include "report/operations/refs_cells.h"
#include "report/report.h"
#include "synth.h"

#define HEADER "chip,device,fact,metric,axes,qualifier,value,unit,conditions,source,line,printed\n"

static struct as_buf page_of(const char *text)
{
    struct as_error err = {0};
    struct as_buf page = AS_BUF_INIT;
    struct as_refs refs;
    struct synth *s = synth_make("plain");
    assert_non_null(s);
    if (as_refs_parse("made", text, strlen(text), &refs, &err) != AS_OK)
        fail_msg("%s", err.text);
    s->runs[0].refs = &refs;
    assert_int_equal(as_report_html(s->runs, s->n, &page, &err), AS_OK);
    as_refs_finish(&refs);
    synth_free(s);
    return page;
}

static void figures_stand_beside_their_facts(void **state)
{
    (void)state;
    struct as_buf page =
        page_of(HEADER "A<b>,cpu,cache.L1.size,size <i>,op=fadd32 ilp=2,about,32768 to 49152,B,when <u>,"
                       "who <s>,7,~32-48 KB\n"
                       "B,device,,clock,,,1278000000,Hz,always,someone,,\n");
    struct as_buf section = golden_section(&page, "refs");
    assert_golden("refs.html", &section);
    as_buf_finish(&section);
    as_buf_finish(&page);
}

static void a_table_without_rows_is_left_out(void **state)
{
    (void)state;
    struct as_buf page = page_of(HEADER "A,any,cache.L1.size,size,,,1,B,c,s,,\n");
    assert_hasnt(&page, "beside nothing measured");
    as_buf_finish(&page);
    page = page_of(HEADER "A,any,,size,,,1,B,c,s,,\nB,any,,size,,,2,B,c,s,,\n");
    assert_has(&page, "<summary>2 figures beside nothing measured here</summary>");
    assert_hasnt(&page, "<th scope=\"col\">Measured here");
    as_buf_finish(&page);
}

/* A run with only these cells. */
static struct as_cell cells[8];
static struct as_report_run run;

static void add_cell(const char *probe, const char *axes, double value, const char *unit)
{
    struct as_cell *c = &cells[run.cells_n++];
    struct as_error err;
    *c = (struct as_cell){.id = (int64_t)run.cells_n, .status = AS_CELL_OK};
    c->sum = (struct as_summary){.n = 10, .median = value, .ci = {value * 0.9, value * 1.1}};
    as_copy_text(c->device, sizeof c->device, "cuda:0");
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
    assert_int_equal(as_axes_from_json(axes, &c->axes, &err), AS_OK);
}

/* The figure's cell, 0: none. */
static int64_t cell_of(const char *metric, const char *axes, const char *unit, double *value)
{
    struct as_ref ref = {.device = "device", .lo = 1, .hi = 1};
    struct as_ref_cells all;
    struct as_ref_cell found;
    struct as_error err;
    as_copy_text(ref.metric, sizeof ref.metric, metric);
    as_copy_text(ref.axes, sizeof ref.axes, axes);
    as_copy_text(ref.unit, sizeof ref.unit, unit);
    assert_int_equal(as_ref_cells_make(&run, &all, &err), AS_OK);
    const bool any = as_ref_cells_find(&all, &ref, &found);
    as_ref_cells_finish(&all);
    *value = any ? found.measured.value : 0;
    return any ? found.cell->id : 0;
}

static void figures_stand_beside_cells(void **state)
{
    (void)state;
    double value;
    run = (struct as_report_run){.cells = cells};
    add_cell("mix", "{\"mix\":\"ffma32\",\"ilp\":2}", 0.25, "cycles");
    add_cell("mix", "{\"mix\":\"ixor32+iadd32\",\"ilp\":2}", 0.8, "cycles");
    add_cell("mix", "{\"mix\":\"ixor32+iadd32\",\"ilp\":3}", 0.5, "cycles");
    add_cell("latency", "{\"size\":536870912,\"allocator\":\"hipMallocManaged XNACK\"}", 230, "ns");
    assert_int_equal(cell_of("throughput", "mix=bitwise32+iadd32", "cycles", &value), 3); /* the cheapest */
    assert_true(value == 2);                                                              /* in cycles of ffma32 */
    assert_int_equal(cell_of("raw latency", "mix=bitwise32+iadd32", "cycles", &value), 0);
    assert_int_equal(cell_of("throughput", "mix=iadd32+ixor32", "cycles", &value), 0);
    assert_int_equal(
        cell_of("any", "probe=latency allocator=malloc/hipMallocManaged_XNACK size=536870912", "ns", &value), 4);
    assert_true(value == 230);
    assert_int_equal(cell_of("any", "probe=latency allocator=malloc size=536870912", "ns", &value), 0);
    assert_int_equal(cell_of("any", "probe=latency size=536870912", "cycles", &value), 0);
    assert_int_equal(cell_of("any", "probe=latency size=536870912 further=p95", "ns", &value), 0);
}

static void names_of_sequences(void **state)
{
    (void)state;
    assert_true(as_ref_same_sequence("4*fadd16/ffma16", "4*ffma16"));
    assert_true(as_ref_same_sequence("imul32+3*bitwise32", "imul32+3*ixor32"));
    assert_true(as_ref_same_sequence("imad32_64+iadd16", "imadlo64+iadd16"));
    static const char *const others[][2] = {{"4*fadd16", "fadd16"},
                                            {"fadd16", "4*fadd16"},
                                            {"a+b", "a"},
                                            {"a", "a+b"},
                                            {"4*a", "40*a"},
                                            {"a/", "b"},
                                            {"", "a"},
                                            {"*", "a"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(as_ref_same_sequence(others[i][0], others[i][1]));
    struct as_ref ref = {.axes = "op=sum_f32 group=quad"};
    assert_true(as_ref_is_of(&ref, "quad_sum32") && !as_ref_is_of(&ref, "sum32"));
    as_copy_text(ref.axes, sizeof ref.axes, "op=broadcast32 group=quad");
    assert_false(as_ref_is_of(&ref, "broadcast32")); /* over all lanes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_stand_beside_their_facts),
        cmocka_unit_test(a_table_without_rows_is_left_out),
        cmocka_unit_test(figures_stand_beside_cells),
        cmocka_unit_test(names_of_sequences),
    };
    return cmocka_run_group_tests_name("report: published figures", tests, NULL, NULL);
}
