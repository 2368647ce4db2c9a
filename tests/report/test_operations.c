/* Operations: throughput and latency in one row, what follows from both, and published figures. */
#include "base/text.h"
#include "golden.h"
#include "page_asserts.h"
#include "report/operations/operations.h"
#include "report/page/page.h"
#include "report/terminal/terminal.h"
#include "synth.h"

#include <math.h>
#include <stdlib.h>

#define HEADER "chip,device,fact,metric,axes,qualifier,value,unit,conditions,source,line,printed\n"

static struct as_error err;

static const struct as_operation *row_of(const struct as_operation *rows, size_t n, const char *name, const char *form)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].name, name) == 0 && strcmp(rows[i].form, form) == 0)
            return &rows[i];
    fail_msg("no row of %s, %s", name, form);
    return NULL;
}

static void close_to(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g, not %.12g", value, wanted);
}

static void near(struct as_measure m, double value, double lo, double hi)
{
    close_to(m.value, value);
    close_to(m.ci.lo, lo);
    close_to(m.ci.hi, hi);
}

/* A CPU's usual form stands beside those of its vectors. */
static void cpus_have_a_scalar_form(void **state)
{
    (void)state;
    struct synth *s = synth_make("operations");
    struct as_operation *rows = NULL;
    size_t n = 0;
    assert_non_null(s);
    for (size_t i = 0; i < s->runs[0].devices_n; i++) {
        s->runs[0].devices[i].capabilities = AS_CAP_HOST_KERNELS;
        s->runs[0].devices[i].is_host_cpu = true;
    }
    assert_int_equal(as_operations_make(&s->runs[0], &rows, &n, &err), AS_OK);
    assert_non_null(row_of(rows, n, "ffma32", "scalar"));
    free(rows);
    synth_free(s);
}

static struct as_cell cell_of(double value, double lo, double hi, unsigned causes, bool lower_is_better)
{
    return (struct as_cell){
        .status = causes ? AS_CELL_WIDE : AS_CELL_OK,
        .causes = causes,
        .lower_is_better = lower_is_better,
        .exponent = 1,
        .sum = {.n = 9, .trials = 3, .median = value, .min = value, .max = value, .ci = {lo, hi}, .modes = 1}};
}

/* Contention makes a number a bound: a row shows it only where the bound itself beats what was measured undisturbed, so
 * that the table names the number of the fact. */
static void bounds_beat_only_what_they_exceed(void **state)
{
    (void)state;
    const struct as_cell quiet = cell_of(0.249, 0.231, 0.269, 0, false),
                         noisy = cell_of(0.507, 0.175, 57, AS_WIDE_BUSY, false),
                         above = cell_of(0.507, 0.5, 57, AS_WIDE_BUSY, false), slow = cell_of(4, 3.9, 4.1, 0, true),
                         below = cell_of(2, 0.1, 9, AS_WIDE_BUSY, true);
    assert_true(as_operation_beats(&quiet, &noisy) && !as_operation_beats(&noisy, &quiet));
    assert_true(as_operation_beats(&above, &quiet) && !as_operation_beats(&quiet, &above));
    assert_true(as_operation_beats(&slow, &below) && !as_operation_beats(&below, &slow));
    assert_true(as_operation_beats(&noisy, NULL) && !as_operation_beats(NULL, &noisy));
}

static void rows_join_both_probes(void **state)
{
    (void)state;
    struct synth *s = synth_make("operations");
    struct as_operation *rows = NULL;
    size_t n = 0;
    assert_non_null(s);
    assert_int_equal(as_operations_make(&s->runs[0], &rows, &n, &err), AS_OK);
    const struct as_operation *fma = row_of(rows, n, "ffma32", "usual");
    near((struct as_measure){fma->throughput->sum.median, fma->throughput->sum.ci}, 128, 128 * 0.99, 128 * 1.01);
    near(fma->warp, 32 / 128.0, 32 / (128 * 1.01), 32 / (128 * 0.99));
    near(fma->adjusted, 4, 3.96, 4.04);
    assert_null(fma->link);
    assert_string_equal(fma->steps, "1 FFMA");
    close_to(row_of(rows, n, "ffma32", "all differ")->adjusted.value, 4.5);
    const struct as_operation *recip = row_of(rows, n, "recip32", "usual");
    close_to(recip->adjusted.value, 18);
    assert_true(isnan(recip->adjusted.ci.lo) && isnan(recip->adjusted.ci.hi)); /* from pipe to pipe takes cycles too */
    near(recip->relative, 16 / 128.0, 16 * 0.99 / (128 * 1.01), 16 * 1.01 / (128 * 0.99));
    assert_string_equal(recip->link_name, "xor32");
    assert_string_equal(recip->steps, "1 MUFU, 1 LOP3");
    /* a pair: two results per instruction */
    near(row_of(rows, n, "fadd2_f16", "usual")->warp, 2 * 32 / 256.0, 64 / (256 * 1.01), 64 / (256 * 0.99));
    const struct as_operation *wide =
        row_of(rows, n, "iadd32", "256 bits"); /* a separate row, with eight results each */
    near(wide->warp, 8 / 160.0, 8 / (160 * 1.01), 8 / (160 * 0.99));
    assert_true(isnan(wide->relative.value)); /* no ffma32 of that width */
    /* unknown values stay empty */
    assert_true(isnan(row_of(rows, n, "popc32", "usual")->adjusted.value));
    assert_true(isnan(row_of(rows, n, "popc32", "usual")->warp.value));
    assert_true(isnan(row_of(rows, n, "fadd64", "usual")->warp.value));
    assert_null(row_of(rows, n, "frob32", "usual")->word);
    assert_ptr_equal(&rows[n - 1], row_of(rows, n, "frob32", "usual"));        /* after the known ones */
    assert_false(row_of(rows, n, "iadd32", "usual")->latency->sum.median > 4); /* the minimum over several bodies */
    free(rows);
    synth_free(s);
}

/* A sheet of few lines is followed by the operations people ask for, one row over all forms; a full one is not. */
static void main_operations_stand_below_a_short_sheet(void **state)
{
    (void)state;
    struct synth *s = synth_make("operations");
    struct as_operation *rows = NULL;
    size_t n = 0;
    assert_non_null(s);
    const char *device = s->runs[0].devices[0].id;
    assert_int_equal(as_operations_main(&s->runs[0], device, &rows, &n, &err), AS_OK);
    assert_true(n >= 2);
    assert_string_equal(rows[0].name, "ffma32");
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].throughput || rows[i].latency);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rows[i].name, rows[k].name);
    }
    free(rows);
    const struct as_table_style style = {.width = 100};
    struct as_buf shown = AS_BUF_INIT;
    assert_int_equal(as_text_main_results(&s->runs[0], device, &(struct as_sheet){.n = 1}, &style, &shown, &err),
                     AS_OK);
    assert_non_null(strstr(as_buf_get(&shown), "Main results"));
    assert_non_null(strstr(as_buf_get(&shown), "ffma32"));
    assert_non_null(strstr(as_buf_get(&shown), "All operations: assay show "));
    as_buf_clear(&shown);
    struct as_sheet_row *lines = calloc(40, sizeof *lines);
    assert_non_null(lines);
    const struct as_sheet full = {.rows = lines, .n = 40};
    assert_int_equal(as_text_main_results(&s->runs[0], device, &full, &style, &shown, &err), AS_OK);
    assert_int_equal(shown.len, 0);
    free(lines);
    as_buf_finish(&shown);
    synth_free(s);
}

static struct as_view_cell *view_of(const struct as_view_table *t, const char *op, size_t column)
{
    for (size_t r = 0; r < t->rows_n; r++)
        if (strcmp(t->cells[r * t->columns_n].text, op) == 0)
            return &t->cells[r * t->columns_n + column];
    fail_msg("no row of %s", op);
    return NULL;
}

static void note(struct synth *s, const char *probe, const char *op, const char *detail)
{
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        struct as_cell *c = &s->runs[0].cells[i];
        if (strcmp(c->probe, probe) != 0 || strcmp(as_axes_text(&c->axes, "op"), op) != 0)
            continue;
        free(c->detail);
        c->detail = as_strdup(detail);
    }
}

/* The table of the main operations, of cells in which the run left out the widest form of iadd32. */
static void view_main(struct synth *s, struct as_view_table *t)
{
    struct as_operation *rows = NULL;
    size_t n = 0;
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        struct as_cell *c = &s->runs[0].cells[i];
        if (strcmp(as_axes_text(&c->axes, "width"), "256") == 0) {
            c->status = AS_CELL_SKIPPED;
            c->sum = (struct as_summary){.median = NAN, .ci = {NAN, NAN}};
        }
    }
    assert_int_equal(as_operations_main(&s->runs[0], s->runs[0].devices[0].id, &rows, &n, &err), AS_OK);
    as_operations_main_view(rows, n, &s->runs[0].devices[0], t);
    free(rows);
}

/* A rate is a bound where forms were left out, a latency is without its link, or the remark says so, and two kinds of
 * instructions are told. */
static void main_operations_say_what_their_numbers_are_of(void **state)
{
    (void)state;
    enum { RATE = 2, LATENCY = 4, REMARK };
    struct synth *s = synth_make("operations");
    struct as_view_table t;
    assert_non_null(s);
    note(s, "alu", "iadd32", "{\"instructions\":\"each step is 0.5 IADD3, 0.5 IMAD.IADD\"}");
    view_main(s, &t);
    assert_int_equal(view_of(&t, "iadd32", RATE)->bound, 1);
    assert_string_equal(view_of(&t, "iadd32", REMARK)->text, "1 form left out; each step is 0.5 IADD3, 0.5 IMAD.IADD");
    assert_int_equal(view_of(&t, "ffma32", RATE)->bound, 0);
    assert_string_equal(view_of(&t, "ffma32", REMARK)->text, "");
    close_to(view_of(&t, "popc32", LATENCY)->cell->sum.median, 20);
    assert_string_equal(view_of(&t, "popc32", REMARK)->text, "latency includes that of andor32");
    as_view_finish(&t);
    note(s, "alu_latency", "popc32", "{\"link\":\"xor32\"}");
    view_main(s, &t);
    close_to(view_of(&t, "popc32", LATENCY)->measure.value, 16);
    assert_string_equal(view_of(&t, "popc32", REMARK)->text, "");
    as_view_finish(&t);
    const struct as_table_style style = {.width = 100};
    struct as_buf shown = AS_BUF_INIT;
    assert_int_equal(
        as_text_main_results(&s->runs[0], s->runs[0].devices[0].id, &(struct as_sheet){.n = 1}, &style, &shown, &err),
        AS_OK);
    assert_non_null(strstr(as_buf_get(&shown), "at least 64"));
    as_buf_finish(&shown);
    synth_free(s);
}

static void rejected_counts_where_nothing_else_is(void **state)
{
    (void)state;
    struct synth *s = synth_make("operations");
    struct as_operation *rows = NULL;
    size_t n = 0;
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < s->runs[0].cells_n; i++) {
        struct as_cell *c = &s->runs[0].cells[i];
        if (strcmp(c->probe, "alu") == 0 && strcmp(as_axes_text(&c->axes, "op"), "recip32") == 0) {
            c->status = AS_CELL_REJECTED;
            c->gates[AS_GATE_CHECKSUM].state = AS_GATE_FAIL;
        }
    }
    assert_int_equal(as_operations_make(&s->runs[0], &rows, &n, &err), AS_OK);
    const struct as_operation *recip = row_of(rows, n, "recip32", "usual");
    as_operation_status(recip, &text);
    assert_string_equal(as_buf_get(&text), "rejected: checksum; latency ok");
    assert_false(as_operation_is_valid(recip));
    assert_true(as_operation_is_valid(row_of(rows, n, "ffma32", "usual"))); /* the rejected one is faster */
    as_buf_finish(&text);
    free(rows);
    synth_free(s);
}

static struct as_buf page_with(const char *figures)
{
    struct as_buf page = AS_BUF_INIT;
    struct as_refs refs = {0};
    struct synth *s = synth_make("operations");
    assert_non_null(s);
    if (figures && as_refs_parse("made", figures, strlen(figures), &refs, &err))
        fail_msg("%s", err.text);
    s->runs[0].refs = figures ? &refs : NULL;
    assert_int_equal(as_report_html(s->runs, s->n, &page, &err), AS_OK);
    as_refs_finish(&refs);
    synth_free(s);
    return page;
}

static void the_page_has_a_table_and_entries(void **state)
{
    (void)state;
    struct as_buf page = page_with(NULL), section = golden_section(&page, "operations");
    assert_golden("operations.html", &section);
    assert_has(&page, "<a href=\"#operations\">Operations</a>");
    if (as_page_vega_size > 1) /* without pictures there is no data for them */
        assert_has(&page, "\"op_base\":{\"v\":");
    as_buf_finish(&section);
    as_buf_finish(&page);
}

static void figures_stand_beside_what_was_measured(void **state)
{
    (void)state;
    struct as_buf page =
        page_with(HEADER "M<b>,device,,adjusted latency,op=recip32,,7,cycles,<u>,<s>,,\n"
                         "M1,device,,throughput,op=recip32,,6,cycles,c,s,,\n"
                         "M2,device,,cycles per instruction,op=ffma32 ilp=2 warps=4,,8.36,cycles,c,s,,\n"
                         "M3,device,,cycles per instruction,op=ffma32 ilp=3 warps=4,,8.36,cycles,c,s,,\n"
                         "M4,device,,instructions per core-cycle,op=iadd32,about,128,ops/cycle,c,s,,\n"
                         "M5,device,,adjusted latency,op=popc32,,4,cycles,c,s,,\n"
                         "M7,cpu,,adjusted latency,op=recip32,,7,cycles,c,s,,\n"
                         "M6,device,,adjusted latency,op=nothing,,4,cycles,c,s,,\n");
    struct as_buf section = golden_section(&page, "operations"), part = AS_BUF_INIT;
    const char *from = strstr(as_buf_get(&section), "Compared with published figures");
    assert_non_null(from);
    as_buf_add(&part, from, (size_t)(strstr(from, "</table>") - from));
    assert_golden("operations_figures.html", &part);
    as_buf_finish(&part);
    as_buf_finish(&section);
    as_buf_finish(&page);
}

static void the_terminal_has_the_same(void **state)
{
    (void)state;
    const struct as_table_style style = {.width = 140};
    struct synth *s = synth_make("operations");
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_report_probe(&s->runs[0], "alu", &style, &out, &err), AS_OK);
    assert_int_equal(as_text_operations(&s->runs[0], "xor32", &style, &out, &err), AS_OK);
    assert_golden("operations.txt", &out);
    as_buf_clear(&out);
    assert_int_equal(as_text_operations(&s->runs[0], "no such", &style, &out, &err), AS_OK);
    assert_int_equal(out.len, 0);
    as_buf_finish(&out);
    synth_free(s);
}

static void hostile_names_stay_names(void **state)
{
    (void)state;
    const struct as_table_style style = {.width = 100, .unicode = 1};
    struct synth *s = synth_make("hostile");
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_report_probe(&s->runs[0], "alu", &style, &out, &err), AS_OK);
    assert_has(&out, "</script><x>op"); /* harmless in a terminal */
    assert_hasnt(&out, "\x1b");
    assert_hasnt(&out, "\x07");
    as_buf_clear(&out);
    assert_int_equal(as_report_html(s->runs, s->n, &out, &err), AS_OK);
    assert_has(&out, "&lt;/script&gt;&lt;x&gt;op");
    assert_has(&out, "&lt;i&gt;link");
    as_buf_finish(&out);
    synth_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_have_a_scalar_form),
        cmocka_unit_test(bounds_beat_only_what_they_exceed),
        cmocka_unit_test(rows_join_both_probes),
        cmocka_unit_test(main_operations_stand_below_a_short_sheet),
        cmocka_unit_test(main_operations_say_what_their_numbers_are_of),
        cmocka_unit_test(rejected_counts_where_nothing_else_is),
        cmocka_unit_test(the_page_has_a_table_and_entries),
        cmocka_unit_test(figures_stand_beside_what_was_measured),
        cmocka_unit_test(the_terminal_has_the_same),
        cmocka_unit_test(hostile_names_stay_names),
    };
    return cmocka_run_group_tests_name("report: operations", tests, NULL, NULL);
}
