/* Text for terminals: columns are counted, hostile text is neutralised, plots agree with the numbers. */
#include "report/terminal/terminal.h"
#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct as_table_style plain = {.width = 80}, fancy = {.width = 80, .unicode = 1};

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(as_text_width(""), 0);
    assert_int_equal(as_text_width("abc"), 3);
    assert_int_equal(as_text_width("\xc2\xb5s"), 2);    /* two bytes, one column */
    assert_int_equal(as_text_width("\xe6\xb8\xac"), 2); /* wide */
    assert_int_equal(as_text_width("e\xcc\x81"), 1);    /* combining */
    assert_int_equal(as_text_width("\xff\xfe"), 2);     /* not UTF-8 */
}

static void test_cut(void **state)
{
    static const struct {
        const char *text;
        unsigned width;
        int unicode;
        const char *want;
    } cases[] = {
        {"abcdef", 6, 0, "abcdef"}, {"abcdef", 5, 0, "abcd~"}, {"abcdef", 1, 0, "~"},
        {"abcdef", 0, 0, ""},       {"abcdef", 5, 1, "abcd…"}, {"測測測", 4, 0, "測~"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_buf b = AS_BUF_INIT;
        as_text_cut(&b, cases[i].text, cases[i].width, cases[i].unicode);
        assert_string_equal(as_buf_get(&b), cases[i].want);
        as_buf_finish(&b);
    }
}

static void test_table(void **state)
{
    static const char *const heads[] = {"name", ">value", "note", NULL};
    struct as_table t;
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    as_table_init(&t, heads);
    as_table_add(&t, "latency", AS_PAINT_NONE);
    as_table_add(&t, "1.5 ns", AS_PAINT_NONE);
    as_table_add(&t, "", AS_PAINT_NONE);
    as_table_add(&t, "c2c", AS_PAINT_NONE);
    as_table_add(&t, "112 ns", AS_PAINT_NONE);
    as_table_add(&t, "a\x1b[31m\nb", AS_PAINT_BAD);
    assert_int_equal(as_table_write(&t, &plain, &b, NULL), AS_OK);
    assert_string_equal(as_buf_get(&b), "name      value  note\n"
                                        "-------------------------------\n"
                                        "latency  1.5 ns\n"
                                        "c2c      112 ns  a\\x1b[31m\\x0ab\n");
    as_table_finish(&t);
    as_buf_finish(&b);
}

static void test_table_too_wide(void **state)
{
    static const char *const heads[] = {"a", "b", ">n", NULL};
    struct as_table_style narrow = {.width = 40, .unicode = 1};
    struct as_table t;
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    as_table_init(&t, heads);
    as_table_addf(&t, AS_PAINT_NONE, "%0200d", 1);
    as_table_add(&t, "short", AS_PAINT_NONE);
    as_table_add(&t, "123456", AS_PAINT_NONE);
    assert_int_equal(as_table_write(&t, &narrow, &b, NULL), AS_OK);
    for (const char *line = as_buf_get(&b); *line; line += strcspn(line, "\n") + 1) {
        char one[512];
        as_copy_text(one, strcspn(line, "\n") + 1, line);
        assert_true(as_text_width(one) <= 40);
    }
    assert_non_null(strstr(as_buf_get(&b), "123456")); /* numbers are never cut */
    as_table_finish(&t);
    as_buf_finish(&b);
}

/* A heading takes no column, and is wrapped if it is too wide. */
static void test_table_headings(void **state)
{
    static const char *const heads[] = {"cell", ">a", NULL};
    struct as_table_style narrow = {.width = 30};
    struct as_table t;
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    as_table_init(&t, heads);
    as_table_heading(&t, "latency cpu pattern=random allocator=mmap");
    as_table_add(&t, "size=1 KiB", AS_PAINT_NONE);
    as_table_add(&t, "1.5 ns", AS_PAINT_NONE);
    as_table_heading(&t, "c2c\ncpu");
    as_table_add(&t, "from=0", AS_PAINT_NONE);
    as_table_add(&t, "112 ns", AS_PAINT_NONE);
    assert_int_equal(as_table_write(&t, &narrow, &b, NULL), AS_OK);
    assert_string_equal(as_buf_get(&b), "  cell             a\n"
                                        "--------------------\n"
                                        "latency cpu pattern=random\n"
                                        "  allocator=mmap\n"
                                        "  size=1 KiB  1.5 ns\n"
                                        "c2c\\x0acpu\n"
                                        "  from=0      112 ns\n");
    as_table_finish(&t);
    as_buf_finish(&b);
}

static void check_table(unsigned width, const char *wanted)
{
    static const char *const heads[] = {"name", ">value", "?>samples", "status", NULL};
    struct as_table_style style = {.width = width};
    struct as_table t;
    struct as_buf b = AS_BUF_INIT;
    as_table_init(&t, heads);
    as_table_add(&t, "clCreateBuffer", AS_PAINT_NONE);
    as_table_add(&t, "1.5 ns", AS_PAINT_NONE);
    as_table_add(&t, "30", AS_PAINT_NONE);
    as_table_add(&t, "rejected: noise; two modes 1.5 ns and 2 us", AS_PAINT_NONE);
    assert_int_equal(as_table_write(&t, &style, &b, NULL), AS_OK);
    assert_string_equal(as_buf_get(&b), wanted);
    as_table_finish(&t);
    as_buf_finish(&b);
}

/* Words and numbers with units are not split while a column can be dropped. */
static void test_table_spares_columns(void **state)
{
    (void)state;
    check_table(60, "name             value  samples  status\n"
                    "------------------------------------------------------------\n"
                    "clCreateBuffer  1.5 ns       30  rejected: noise; two modes\n"
                    "                                 1.5 ns and 2 us\n");
    check_table(46, "name             value  status\n"
                    "----------------------------------------------\n"
                    "clCreateBuffer  1.5 ns  rejected: noise; two\n"
                    "                        modes 1.5 ns and 2 us\n");
}

static void write_table(const char *const *heads, const char *const *cells, unsigned width, struct as_buf *b)
{
    const struct as_table_style style = {.width = width, .unicode = 1};
    struct as_table t;
    as_table_init(&t, heads);
    for (; *cells; cells++)
        as_table_add(&t, *cells, AS_PAINT_NONE);
    assert_int_equal(as_table_write(&t, &style, b, NULL), AS_OK);
    as_table_finish(&t);
}

static void check_remarks(unsigned width, bool leaves_out, const char *wanted)
{
    static const char *const heads[] = {"", "", ">measured", "?>another run", ">share", "?", "/", NULL};
    static const char *const cells[] = {"Memory",  "read, 16 threads",
                                        "98 GB/s", "74 to 128 GB/s",
                                        "",        "###",
                                        "short",   "",
                                        "triad",   "111 GB/s",
                                        "24%",     "",
                                        "####",    "stores that leave out the caches",
                                        NULL};
    const struct as_table_style style = {.width = width};
    struct as_table t;
    struct as_buf b = AS_BUF_INIT;
    as_table_init(&t, heads);
    for (const char *const *c = cells; *c; c++)
        as_table_add(&t, *c, AS_PAINT_NONE);
    assert_int_equal(as_table_leaves_out(&t, 3, &style), leaves_out);
    assert_int_equal(as_table_write(&t, &style, &b, NULL), AS_OK);
    assert_string_equal(as_buf_get(&b), wanted);
    as_table_finish(&t);
    as_buf_finish(&b);
}

/* Remarks stand beside their rows, or below them, before numbers go; bars and empty columns make room for them. */
static void test_table_remarks(void **state)
{
    (void)state;
    check_remarks(
        110, false,
        "                          measured     another run  share\n"
        "-------------------------------------------------------------------------------------------------\n"
        "Memory  read, 16 threads   98 GB/s  74 to 128 GB/s         ###   short\n"
        "        triad             111 GB/s             24%         ####  stores that leave out the caches\n");
    check_remarks(70, false,
                  "                          measured     another run\n"
                  "----------------------------------------------------------------------\n"
                  "Memory  read, 16 threads   98 GB/s  74 to 128 GB/s  short\n"
                  "        triad             111 GB/s             24%\n"
                  "          stores that leave out the caches\n");
    check_remarks(40, true,
                  "                          measured\n"
                  "----------------------------------------\n"
                  "Memory  read, 16 threads   98 GB/s\n"
                  "          short\n"
                  "        triad             111 GB/s\n"
                  "          stores that leave out the\n"
                  "          caches\n");
}

/* Where no columns fit, a row is a record: what it is about, then a field per column that has text. */
static void test_table_as_records(void **state)
{
    static const char *const heads[] = {"", "", ">measured", ">±", ">ratio", "verdict", NULL};
    static const char *const cells[] = {
        "Memory",        "read", "34.0 GB/s", "1.1%", "inconclusive", "inconclusive", "", "latency", "110 ns",
        "1 of 8 trials", "",     "",          NULL};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    write_table(heads, cells, 30, &b);
    assert_string_equal(as_buf_get(&b), "Memory read: measured 34.0\n"
                                        "    GB/s ±1.1%; ratio\n"
                                        "    inconclusive; verdict\n"
                                        "    inconclusive\n"
                                        "Memory latency: measured 110\n"
                                        "    ns, 1 of 8 trials\n");
    as_buf_finish(&b);
}

/* A word that has to be broken is so where it has parts. */
static void test_table_breaks_words_at_their_parts(void **state)
{
    static const char *const heads[] = {"cell", ">a", NULL};
    static const char *const cells[] = {"allocator=hugetlb", "1234567890 GB/s", NULL};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    write_table(heads, cells, 33, &b);
    assert_non_null(strstr(as_buf_get(&b), "allocator=        1234567890 GB/s\nhugetlb\n"));
    as_buf_finish(&b);
}

static void test_colour(void **state)
{
    static const char *const heads[] = {"a", NULL};
    struct as_table_style coloured = {.width = 80, .colour = 1};
    struct as_table t;
    struct as_buf with = AS_BUF_INIT, without = AS_BUF_INIT;
    (void)state;
    as_table_init(&t, heads);
    as_table_add(&t, "bad", AS_PAINT_BAD);
    as_table_write(&t, &coloured, &with, NULL);
    as_table_write(&t, &plain, &without, NULL);
    assert_non_null(strstr(as_buf_get(&with), "\x1b[31mbad\x1b[0m"));
    assert_null(strchr(as_buf_get(&without), '\x1b'));
    as_table_finish(&t);
    as_buf_finish(&with);
    as_buf_finish(&without);
}

static void test_spark(void **state)
{
    static const double v[] = {1, 2, 3, 4, 5, 6, 7, 8}, gap[] = {1, NAN, 8};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    as_text_spark(&b, v, 8, 1);
    assert_string_equal(as_buf_get(&b), "▁▂▃▄▅▆▇█");
    as_buf_clear(&b);
    as_text_spark(&b, gap, 3, 0);
    assert_string_equal(as_buf_get(&b), "_ #");
    as_buf_finish(&b);
}

/* The column of the first mark in a row; -1 if it has none. */
static int mark_in_row(const char *text, int row, const char *mark)
{
    for (; row > 0 && *text; row--)
        text += strcspn(text, "\n") + 1;
    const char *at = strstr(text, mark), *end = strchr(text, '\n');
    return at && end && at < end ? (int)(at - text) : -1;
}

static void test_plot(void **state)
{
    static const double x[] = {1024, 4096, 16384, 65536, 1048576}, y[] = {1, 1, 4, 10, 100};
    struct as_series s = {"cpu", x, y, NULL, 5};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    as_text_plot(&b, &s, 1, "ns", &plain);
    int top = mark_in_row(as_buf_get(&b), 0, "o"), bottom = mark_in_row(as_buf_get(&b), 11, "o");
    assert_true(top > 0 && bottom > 0 && top > bottom); /* the largest value is on the right */
    assert_non_null(strstr(as_buf_get(&b), "100 ns |"));
    assert_non_null(strstr(as_buf_get(&b), "1 KiB"));
    assert_non_null(strstr(as_buf_get(&b), "1 MiB"));
    as_buf_clear(&b);
    as_text_plot(&b, &s, 1, "ns", &fancy);
    assert_non_null(strstr(as_buf_get(&b), "●"));
    assert_null(strstr(as_buf_get(&b), "○"));
    as_buf_clear(&b);
    s.hollow = (const bool[]){false, false, true, false, false};
    as_text_plot(&b, &s, 1, "ns", &fancy);
    assert_non_null(strstr(as_buf_get(&b), "○ rejected"));
    as_buf_finish(&b);
}

/* Values that cannot be plotted are left out without a crash. */
static void test_plot_of_nothing(void **state)
{
    static const double x[] = {1024, 2048}, none[] = {NAN, NAN}, same_x[] = {1024, 1024}, y[] = {1, 2},
                        bad_x[] = {0, -5}, huge[] = {1e-300, 1e300}, inf[] = {INFINITY, 1};
    struct as_series s[] = {
        {"a", x, none, NULL, 2}, {"b", same_x, y, NULL, 2}, {"c", bad_x, y, NULL, 2}, {"d", x, y, NULL, 0}};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        as_text_plot(&b, &s[i], 1, "ns", &plain);
        assert_int_equal(b.len, 0);
    }
    struct as_series odd[] = {{"e", x, huge, NULL, 2}, {"f", x, inf, NULL, 2}};
    for (size_t i = 0; i < 2; i++)
        as_text_plot(&b, &odd[i], 1, "ns", &plain);
    assert_false(b.failed);
    as_buf_finish(&b);
}

/* Values whose ratio and difference overflow a double are still placed, the smallest at the bottom. */
static void test_plot_of_extremes(void **state)
{
    static const double far[] = {1e-200, 1e-150, 1e150, 1e200}, wide[] = {-1.7e308, -1e300, 1e300, 1.7e308},
                        tiny[] = {5e-324, 1e-320, 1e-310, 1e-308}, same[] = {1.7e308, 1.7e308, 1.7e308, 1.7e308},
                        zero[] = {0, 0, 0, 1e308}, x[] = {1024, 2048, 4096, 8192}, odd[] = {1e-300, 1, 1e25, 1e300};
    static const double *const all[] = {far, wide, tiny, same, zero};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct as_series s = {"a", x, all[i], NULL, 4}, beyond = {"a", odd, all[i], NULL, 4};
        struct as_buf b = AS_BUF_INIT;
        as_text_plot(&b, &s, 1, "ns", &plain);
        assert_true(mark_in_row(as_buf_get(&b), 11, "o") > 0);
        assert_true(all[i] == same || mark_in_row(as_buf_get(&b), 0, "o") > 0);
        assert_null(strstr(as_buf_get(&b), "nan"));
        assert_null(strstr(as_buf_get(&b), "inf"));
        as_text_plot(&b, &beyond, 1, "ns", &plain);
        as_buf_clear(&b);
        as_text_spark(&b, all[i], 4, 0);
        assert_int_equal(b.len, 4);
        assert_int_equal(as_buf_get(&b)[3], all[i] == same ? '_' : '#');
        as_buf_finish(&b);
    }
}

static struct as_cell make_cell(int64_t id, const char *size, const char *op, double median)
{
    struct as_cell c = {
        .id = id, .run_id = 1, .lower_is_better = 1, .status = AS_CELL_OK, .limit = NAN, .clock_hz = NAN};
    strcpy(c.backend, "cpu");
    strcpy(c.device, "cpu");
    strcpy(c.probe, "chase");
    strcpy(c.metric, "latency");
    strcpy(c.unit, "ns");
    strcpy(c.counts, "one load");
    as_axes_add(&c.axes, "size", size, NULL);
    as_axes_add(&c.axes, "op", op, NULL);
    c.sum = (struct as_summary){.n = 30,
                                .trials = 3,
                                .median = median,
                                .ci = {median * 0.99, median * 1.01},
                                .min = median,
                                .max = median,
                                .modes = 1};
    return c;
}

static void test_probe(void **state)
{
    struct as_cell cells[] = {
        make_cell(1, "1024", "read", 1.5), make_cell(2, "2048", "read", 1.5), make_cell(3, "4096", "read", 5),
        make_cell(4, "8192", "read", 100), make_cell(5, "16384", "read", 3),
    };
    struct as_report_run run = {.cells = cells, .cells_n = 5};
    struct as_buf b = AS_BUF_INIT;
    struct as_error err = {0};
    (void)state;
    run.run.id = 1;
    cells[4].status = AS_CELL_REJECTED;
    cells[4].gates[AS_GATE_FOOTPRINT].state = AS_GATE_FAIL;
    strcpy(cells[4].reason, "drift: 40% off\x1b[2J");
    assert_int_equal(as_report_probe(&run, "chase", &plain, &b, &err), AS_OK);
    const char *text = as_buf_get(&b);
    assert_non_null(strstr(text, "in all rows: device=cpu op=read"));
    assert_non_null(strstr(text, "1 KiB  1.50 ns  1.0%       30       3  ok"));
    assert_non_null(strstr(text, "rejected: drift"));
    assert_null(strchr(text, '\x1b'));
    assert_int_equal(as_report_probe(&run, "nothing", &plain, &b, &err), AS_NOTFOUND);
    as_buf_clear(&b);
    assert_int_equal(as_report_terminal(&run, NULL, &plain, &b, &err), AS_OK);
    text = as_buf_get(&b);
    assert_non_null(strstr(text, "4 ok, 1 rejected"));
    assert_non_null(strstr(text, "1.50 ns"));
    assert_non_null(strstr(text, "40% off\\x1b[2J"));
    assert_null(strchr(text, '\x1b'));
    as_buf_finish(&b);
}

static const struct as_axis touch_axes[] = {
    {.name = "size", .type = AS_AXIS_SIZE}, {.name = "threads", .type = AS_AXIS_COUNT, .zero = "device"}, {0}};
static const struct as_probe touch = {.name = "touch", .axes = touch_axes};

/* 0 is shown as its meaning; sizes and other counts stay numbers. */
static void test_zero(void **state)
{
    static const struct {
        const char *name, *text, *want;
    } cases[] = {{"threads", "0", "device"}, {"threads", "10", "10"}, {"size", "0", "0 B"}, {"size", "64", "64 B"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_axes axes = {0};
        struct as_buf b = AS_BUF_INIT;
        assert_int_equal(as_axes_add(&axes, cases[i].name, cases[i].text, NULL), AS_OK);
        as_text_axis(&b, &axes.v[0], &touch);
        assert_string_equal(as_buf_get(&b), cases[i].want);
        as_buf_finish(&b);
    }
}

/* With several devices, facts are listed under their device. */
static void test_several_devices(void **state)
{
    struct as_cell cells[] = {make_cell(1, "1024", "read", 1.5), make_cell(2, "1024", "write", 2),
                              make_cell(3, "4096", "read", 5), make_cell(4, "8192", "read", 100)};
    struct as_device_info devices[2] = {{.id = "cpu", .name = "EPYC"}, {.id = "gpu:0", .name = "G\x1b[2J"}};
    struct as_fact facts[2] = {{.device = "cpu", .act = "Block: L1 is small", .gain = NAN, .verdict = AS_REFUTED},
                               {.device = "gpu:0", .act = "Block: L1 is odd", .gain = NAN, .verdict = AS_REFUTED}};
    struct as_report_run run = {
        .cells = cells, .cells_n = 4, .devices = devices, .devices_n = 2, .facts = facts, .facts_n = 2};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    strcpy(cells[2].device, "gpu:0");
    strcpy(cells[3].device, "gpu:0");
    assert_int_equal(as_report_terminal(&run, NULL, &plain, &b, NULL), AS_OK);
    assert_non_null(strstr(
        as_buf_get(&b),
        "Worth knowing\ncpu: EPYC\n- Block: L1 is small; seen once\ngpu:0: G\\x1b[2J\n- Block: L1 is odd; seen"));
    assert_non_null(strstr(as_buf_get(&b), "2 facts: assay facts 0\n"));
    as_buf_clear(&b);
    run.devices_n = 1;
    assert_int_equal(as_report_terminal(&run, NULL, &plain, &b, NULL), AS_OK);
    assert_non_null(strstr(as_buf_get(&b), "Worth knowing\n- Block: L1 is small; seen once\n"));
    as_buf_finish(&b);
}

static void test_empty_run(void **state)
{
    struct as_report_run run = {0};
    struct as_buf b = AS_BUF_INIT;
    (void)state;
    assert_int_equal(as_report_terminal(&run, NULL, &plain, &b, NULL), AS_OK);
    assert_non_null(strstr(as_buf_get(&b), "0 measurements"));
    as_buf_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_too_wide),
        cmocka_unit_test(test_table_spares_columns),
        cmocka_unit_test(test_table_remarks),
        cmocka_unit_test(test_table_as_records),
        cmocka_unit_test(test_table_breaks_words_at_their_parts),
        cmocka_unit_test(test_table_headings),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_spark),
        cmocka_unit_test(test_plot),
        cmocka_unit_test(test_plot_of_nothing),
        cmocka_unit_test(test_plot_of_extremes),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_empty_run),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_several_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
