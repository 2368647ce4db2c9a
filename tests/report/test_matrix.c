/* The matrix path: its instructions, GEMM, arithmetic, fragments and what fusing pays. */
#include "golden.h"
#include "page_asserts.h"
#include "report/page/matrix_draw.h"
#include "report/page/page.h"
#include "synth.h"

#include <math.h>

static struct as_error err;

/* Only this section. */
static struct as_buf section_of(const char *scenario)
{
    struct synth *s = synth_make(scenario);
    struct as_buf page = AS_BUF_INIT, section = AS_BUF_INIT;
    assert_non_null(s);
    assert_int_equal(as_report_html(s->runs, s->n, &page, &err), AS_OK);
    const char *from = strstr(as_buf_get(&page), "<section id=\"matrix\"");
    const char *to = from ? strstr(from, "</section>") : NULL;
    if (to)
        as_buf_add(&section, from, (size_t)(to - from) + strlen("</section>"));
    as_buf_finish(&page);
    synth_free(s);
    return section;
}

static void tables_are_as_they_were(void **state)
{
    (void)state;
    struct as_buf b = section_of("matrix"), tables = golden_section(&b, "matrix");
    assert_golden("matrix.html", &tables);
    as_buf_finish(&tables);
    as_buf_finish(&b);
}

/* The chart's marks of documented rates need them in its data. */
static void charts_have_documented_rates(void **state)
{
    (void)state;
    struct synth *s = synth_make("matrix");
    struct as_buf page = AS_BUF_INIT;
    assert_non_null(s);
    assert_int_equal(as_report_html(s->runs, s->n, &page, &err), AS_OK);
    const char *data = strstr(as_buf_get(&page), "\"matmul_peak\":{\"id\"");
    assert_non_null(data);
    const char *limits = strstr(data, "\"limit\":{\"");
    assert_non_null(limits);
    assert_true(limits < strstr(data, "\"further\":"));
    as_buf_finish(&page);
    synth_free(s);
}

static void products_have_a_picture_for_each_type(void **state)
{
    (void)state;
    struct as_buf b = section_of("matrix");
    assert_int_equal(count(as_buf_get(&b), "GEMM rate over size"), 2);
    assert_int_equal(count(as_buf_get(&b), "vector ALU, f16: 132"), 2); /* e4m3 has no vector ALU rate */
    assert_has(&b, "naive 512: 480\u00a0GFLOP/s, rejected");
    assert_int_equal(count(as_buf_get(&b), "<circle cx=\"13\""), 8); /* the key */
    as_buf_finish(&b);
}

static void slow_products_have_an_axis(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    const struct as_matrix_point points[] = {{"naive", 256, 5e8, {NAN, NAN}, true},
                                             {"naive", 512, 2e9, {NAN, NAN}, true}};
    as_matrix_draw_gemms(&b, "f64", points, 2, NAN, "");
    assert_has(&b, ">100 M</text>");
    assert_has(&b, ">1 G</text>");
    assert_has(&b, ">10 G</text>");
    as_buf_finish(&b);
}

/* Coordinates must be numbers whatever is drawn, else there is no picture. */
static void extremes_are_no_coordinates(void **state)
{
    (void)state;
    static const double values[] = {5e-324, 1e-308, 1e-200, 1, 1e200, 1.7e308, -1.7e308, 0};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++) {
            struct as_buf b = AS_BUF_INIT;
            const struct as_matrix_point points[] = {{"naive", 256, values[i], {values[i], values[k]}, true},
                                                     {"naive", fabs(values[k]), values[k], {NAN, NAN}, true}};
            const struct as_matrix_bar bars[] = {{"a", "naive", values[i], {values[i], values[k]}, true},
                                                 {"b", "naive", values[k], {NAN, NAN}, false}};
            as_matrix_draw_gemms(&b, "f64", points, 2, values[k], "f32");
            as_matrix_draw_bars(&b, "x", bars, 2, "ns", values[i]);
            assert_hasnt(&b, "nan");
            assert_hasnt(&b, "inf");
            as_buf_finish(&b);
        }
}

static void fragments_are_grids(void **state)
{
    (void)state;
    struct as_buf b = section_of("matrix");
    assert_has(&b, "mma_m16n8k16_f16_f32, operand c (as documented)");
    const char *grid = strstr(as_buf_get(&b), "<svg class=\"fragment\"");
    assert_non_null(grid);
    assert_int_equal(count(grid, "<tspan"), 128);
    assert_has(&b, ">31<tspan fill=\"var(--muted)\">:3</tspan>");
    as_buf_finish(&b);
}

static void only_numbers_of_the_right_count_are_a_fragment(void **state)
{
    (void)state;
    struct as_buf b = AS_BUF_INIT;
    assert_true(as_matrix_draw_fragment(&b, "a", 1, 2, "0 31", "0 1"));
    as_buf_clear(&b);
    assert_false(as_matrix_draw_fragment(&b, "a", 1, 2, "0", "0 1"));
    assert_false(as_matrix_draw_fragment(&b, "a", 1, 2, "0 1 2", "0 1"));
    assert_false(as_matrix_draw_fragment(&b, "a", 1, 2, "0 -1", "0 1"));
    assert_false(as_matrix_draw_fragment(&b, "a", 1, 2, "0 1000", "0 1"));
    assert_false(as_matrix_draw_fragment(&b, "a", 1, 2, "0 1", "0 x"));
    assert_false(as_matrix_draw_fragment(&b, "a", 0, 2, "", ""));
    assert_false(as_matrix_draw_fragment(&b, "a", AS_MATRIX_GRID, 2, "0", "0"));
    assert_false(as_matrix_draw_fragment(&b, "a", 0x10000, 0x10000, "0", "0"));
    assert_int_equal(b.len, 0);
    as_buf_finish(&b);
}

static void fusing_pays_to_the_right(void **state)
{
    (void)state;
    struct as_buf b = section_of("matrix");
    assert_has(&b, "bias_gelu, 1024, wgmma");
    assert_has(&b, "1.13×");
    assert_has(&b, "8192, 16, decomposed");
    as_buf_clear(&b);
    const struct as_matrix_bar bars[] = {{"more", "wgmma", 1.5, {1.4, 1.6}, true},
                                         {"less", "mma", 0.6, {NAN, NAN}, false}};
    as_matrix_draw_bars(&b, "two", bars, 2, "x", 1);
    assert_has(&b, "<rect x=\"466.0\" y=\"5.0\" width=\"270.0\""); /* from 1, on a scale from 0.6 to 1.6 */
    assert_has(&b, "<rect x=\"250.0\" y=\"27.0\" width=\"216.0\"");
    assert_has(&b, "0.600× rejected");
    as_buf_clear(&b);
    const struct as_matrix_bar endless = {"endless", "mma", 1.5, {1, INFINITY}, true};
    as_matrix_draw_bars(&b, "endless", &endless, 1, "x", 1);
    assert_hasnt(&b, "nan");
    assert_hasnt(&b, "inf");
    as_buf_finish(&b);
}

static void hostile_cells_stay_text(void **state)
{
    (void)state;
    struct as_buf b = section_of("hostile");
    assert_true(b.len > 0);
    assert_hasnt(&b, "<u>");
    assert_hasnt(&b, "nan");
    assert_hasnt(&b, "inf\"");
    assert_int_equal(count(as_buf_get(&b), "<svg class=\"fragment\""), 0);
    assert_has(&b, "&lt;u&gt;ins");
    as_buf_finish(&b);
}

static void pages_without_it_have_no_section(void **state)
{
    (void)state;
    struct as_buf b = section_of("operations");
    assert_int_equal(b.len, 0);
    as_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_as_they_were),
        cmocka_unit_test(charts_have_documented_rates),
        cmocka_unit_test(products_have_a_picture_for_each_type),
        cmocka_unit_test(slow_products_have_an_axis),
        cmocka_unit_test(extremes_are_no_coordinates),
        cmocka_unit_test(fragments_are_grids),
        cmocka_unit_test(only_numbers_of_the_right_count_are_a_fragment),
        cmocka_unit_test(fusing_pays_to_the_right),
        cmocka_unit_test(hostile_cells_stay_text),
        cmocka_unit_test(pages_without_it_have_no_section),
    };
    return cmocka_run_group_tests_name("report: matrix path", tests, NULL, NULL);
}
