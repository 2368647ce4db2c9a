/* Published figures: which are built in, why a damaged file is refused, and which facts a figure is compared with. */
#include "base/text.h"
#include "facts/refs_facts.h"
#include "named.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEADER "chip,device,fact,metric,axes,qualifier,value,unit,conditions,source,line,printed\n"

static struct as_refs refs;
static struct as_error err;

static int empty_run(void **unused)
{
    (void)unused;
    as_refs_finish(&refs);
    err = (struct as_error){0};
    return 0;
}

static enum as_status parse_refs(const char *text)
{
    as_refs_finish(&refs);
    enum as_status st = as_refs_parse("t", text, strlen(text), &refs, &err);
    if (!st && (st = as_refs_check_facts(&refs, &err)))
        as_refs_finish(&refs);
    return st;
}

static void refused(const char *text, const char *why)
{
    assert_int_equal(parse_refs(text), AS_FORMAT);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_null(refs.v);
}

static const struct as_ref *find_ref(const char *device, const char *metric)
{
    for (size_t i = 0; i < refs.n; i++)
        if (strcmp(refs.v[i].metric, metric) == 0 && strcmp(refs.v[i].device, device) == 0)
            return &refs.v[i];
    fail_msg("there is no figure '%s' of %s", metric, device);
    return NULL;
}

UNIT_TEST(test_figures_that_are_built_in)
{
    assert_string_equal(as_refs_name(0), "cpus");
    assert_string_equal(as_refs_name(2), "mi300a");
    assert_string_equal(as_refs_name(6), "rigel");
    assert_string_equal(as_refs_name(7), "m4pro");
    assert_string_equal(as_refs_name(8), "zen4");
    assert_string_equal(as_refs_name(9), "golden_cove");
    assert_null(as_refs_name(12));
    assert_int_equal(as_refs_load("mi300a", &refs, &err), AS_OK);
    assert_true(refs.n > 60);
    const struct as_ref *f = find_ref("device", "latency of L2");
    assert_true(f->lo == 100 && f->hi == 108);
    assert_string_equal(f->unit, "ns");
    assert_true(find_ref("any", "allocation of 32 B, malloc")->lo == 14);
    assert_true(find_ref("any", "bandwidth, HIP allocators")->hi == 208);
    for (size_t i = 0; i < refs.n; i++) {
        assert_string_equal(refs.v[i].chip, "MI300A");
        assert_non_null(strstr(refs.v[i].source, "Wahlgren et al. 2025, "));
    }
}

static const struct known {
    const char *chip, *metric, *axes, *qualifier;
    double lo, hi;
    const char *unit, *printed;
} known[] = {
    {"M1 Max", "throughput", "op=fadd32", "", 1, 1, "cycles", "1"},
    {"A14", "throughput", "op=fadd32", "", 2, 2, "cycles", "2"},
    {"M1 Max", "raw latency", "op=fadd32 warps=4", "", 3.90, 3.90, "cycles", "3.50-3.90"},
    {"M1 Max", "adjusted latency", "op=fadd32", "", 2.20, 2.20, "cycles", "2.20"},
    {"M1 Max", "adjusted latency", "op=trunc32", "about", 4, 4, "cycles", "~4"},
    {"M1 Max", "throughput", "op=sin_pt_1", "below", 10, 10, "cycles", "<10"},
    {"M1 Max", "throughput", "op=div32_precise", "at most", 30.65, 30.65, "cycles", "≤30.65"},
    {"M1 Max", "optimal repetitions", "op=fmed32", "", 360, 480, "repetitions", "360-480"},
    {"M1 Max", "instructions of a sequence", "op=imulhi64", "at least", 12, 12, "instructions", "≥12 instructions"},
    {"M1 Max", "throughput", "mix=imul32+3*fmul32", "", 5.20, 5.20, "cycles", "5.20"},
    {"M1 Max", "throughput", "op=prefix_esum_i32 group=quad", "", 2.69, 2.69, "cycles", "2.69"},
    {"M1 Max", "cycles per instruction", "op=ffma32 ilp=2 warps=4", "", 8.36, 8.36, "cycles", "8.36"},
    {"M1 Max", "control group", "bits=32 repetitions=1440", "at least", 1.27, 1.70, "cycles", "≥1.27-1.70"},
    {"A14", "clock of the GPU", "", "", 1278e6, 1278e6, "Hz", "1.278"},
    {"M1 Ultra", "cores of the GPU", "", "", 64, 64, "cores", "64"},
    {"Apple 7, 8", "registers of a core", "", "about", 53248, 53248, "registers", "~208 KB"},
    {"Turing", "shared memory of a core", "", "", 32768, 65536, "B", "32-64 KB"},
    {"Turing", "instructions per core-cycle", "op=imul32", "", 64, 64, "ops/cycle", "64"},
    {"A15+, M1+", "matrix FMAs per core-cycle", "op=ffma16", "", 102.5, 102.5, "ops/cycle", "102.5"},
    {"Apple GPU", "power of one active simd", "warps=1", "", 0.8, 0.8, "W", "800 mW"},
};

UNIT_TEST(test_known_figures_of_arithmetic)
{
    assert_int_equal(as_refs_load("metal_benchmarks", &refs, &err), AS_OK);
    assert_true(refs.n > 1000);
    for (const struct known *k = known; k < known + sizeof known / sizeof *known; k++) {
        const struct as_ref *f = refs.v;
        while (f < refs.v + refs.n &&
               (strcmp(f->chip, k->chip) != 0 || strcmp(f->metric, k->metric) != 0 || strcmp(f->axes, k->axes) != 0))
            f++;
        if (f == refs.v + refs.n)
            fail_msg("there is no '%s' of %s at '%s'", k->metric, k->chip, k->axes);
        assert_string_equal(f->qualifier, k->qualifier);
        assert_true(f->lo == k->lo && f->hi == k->hi);
        assert_string_equal(f->unit, k->unit);
        assert_string_equal(f->printed, k->printed);
        assert_true(f->line > 0);
    }
    as_refs_finish(&refs);
    assert_int_equal(as_refs_load("metal_benchmarks_early", &refs, &err), AS_OK);
    assert_true(refs.n > 500);
}

UNIT_TEST(test_quotes_ranges_and_line_ends)
{
    assert_int_equal(parse_refs(HEADER "\"A \"\"x\"\", B\",cpu,,what,,,-1.5e3 to 2,ns,when,\"who, 2\",,\r\n"
                                       "C,any,pipes tlb.*,w,op=f size=1,about,7,x,c,s,12,~7"),
                     AS_OK);
    assert_int_equal(refs.n, 2);
    assert_string_equal(refs.v[0].chip, "A \"x\", B");
    assert_true(refs.v[0].lo == -1500 && refs.v[0].hi == 2);
    assert_string_equal(refs.v[0].source, "who, 2");
    assert_true(refs.v[1].lo == 7 && refs.v[1].hi == 7);
    assert_string_equal(refs.v[1].axes, "op=f size=1");
    assert_string_equal(refs.v[1].qualifier, "about");
    assert_string_equal(refs.v[1].printed, "~7");
    assert_true(refs.v[0].line == 0 && refs.v[1].line == 12);
}

static void shows(struct as_ref ref, bool typeset, const char *value)
{
    struct as_buf b = AS_BUF_INIT;
    as_ref_value(&ref, typeset, &b);
    assert_string_equal(as_buf_get(&b), value);
    as_buf_finish(&b);
}

UNIT_TEST(test_how_a_figure_is_shown)
{
    shows((struct as_ref){.lo = 100, .hi = 108, .unit = "ns"}, false, "100 to 108 ns");
    shows((struct as_ref){.lo = 1278e6, .hi = 1278e6, .unit = "Hz"}, false, "1.278 GHz"); /* no digit is lost */
    shows((struct as_ref){.lo = 10617e9, .hi = 10617e9, .unit = "FLOP/s"}, false, "10.617 TFLOP/s");
    shows((struct as_ref){.lo = 212992, .hi = 212992, .unit = "B", .qualifier = "about"}, false, "about 208 KiB");
    shows((struct as_ref){.lo = 1.27, .hi = 1.7, .unit = "cycles", .qualifier = "at least"}, true,
          "at least 1.27 to 1.7\u00a0cycles");
    shows((struct as_ref){.lo = 0, .hi = 0, .unit = "x"}, false, "0x");
    shows((struct as_ref){.lo = 2.5, .hi = 2.5, .unit = "x"}, true, "2.5×");
    struct as_buf b = AS_BUF_INIT;
    as_ref_what(&(struct as_ref){.metric = "latency"}, &b);
    as_buf_char(&b, ';');
    as_ref_what(&(struct as_ref){.metric = "latency", .axes = "op=ffma32 ilp=2"}, &b);
    assert_string_equal(as_buf_get(&b), "latency;latency, op=ffma32 ilp=2");
    as_buf_finish(&b);
    assert_int_equal(parse_refs(HEADER "A,cpu,,w,op=a b=2,,1,ns,c,s,,\nA,cpu,,w,,,1,ns,c,s,7,1"), AS_OK);
    as_refs_to_json(&refs, NULL, 0, &b);
    assert_non_null(strstr(as_buf_get(&b), "\"axes\":{\"op\":\"a\",\"b\":\"2\"},"));
    assert_non_null(strstr(as_buf_get(&b), "\"axes\":{},"));
    assert_non_null(strstr(as_buf_get(&b), "\"line\":null,\"printed\":\"\","));
    assert_non_null(strstr(as_buf_get(&b), "\"line\":7,\"printed\":\"1\","));
    as_buf_finish(&b);
}

UNIT_TEST(test_what_a_set_is_of)
{
    static const struct {
        const char *a, *b, *shared;
    } rows[] = {{"A, b, I", "A, b, II", "A, b"},
                {"A, b", "A, b, II", "A, b"},
                {"A, b", "A, bc", "A"},
                {"A b", "A b", "A b"},
                {"A b", "B", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 HEADER "X,cpu,,w,,,1,ns,c,\"%s\",,\n\"Y, Z\",cpu,,w,,,1,ns,c,\"%s\",,\nX,cpu,,v,,,1,ns,c,\"%s\",,\n",
                 rows[i].a, rows[i].b, rows[i].a);
        assert_int_equal(parse_refs(text), AS_OK);
        struct as_buf b = AS_BUF_INIT;
        as_buf_add(&b, refs.v[0].source, as_refs_source(&refs));
        assert_string_equal(as_buf_get(&b), rows[i].shared);
        as_buf_clear(&b);
        as_refs_chips(&refs, &b);
        assert_string_equal(as_buf_get(&b), "X; Y, Z");
        as_buf_finish(&b);
        as_refs_finish(&refs);
    }
}

UNIT_TEST(test_damaged_files)
{
    refused("", "lacks the column 'chip'");
    refused(HEADER, "no figure");
    refused("chip,device,fact\nA,cpu,x\n", "too few columns, after 'fact'");
    refused(HEADER "A,cpu,pipes cache.L2.sise,w,,,7,x,c,s,12,~7\n", "no relation makes an id such as");
    refused("name,device\n", "lacks the column 'chip'");
    refused(HEADER "A,cpu,,w,,,1,ns,c\n", "line 2: too few columns, after 'conditions'");
    refused(HEADER "A,cpu,,w,,,1,ns,c,s,,,more\n", "line 2: too many columns");
    refused(HEADER "A,cpu,,w,,,1,ns,c,s,,\nA,gpu,,w,,,1,ns,c,s,,\n",
            "line 3: the device is cpu, device or any, not 'gpu'");
    refused(HEADER "A,cpu,,w,,,fast,ns,c,s,,\n", "the value is no number 'fast'");
    refused(HEADER "A,cpu,,w,,,nan,ns,c,s,,\n", "the value is no number 'nan'");
    refused(HEADER "A,cpu,,w,,,1e999,ns,c,s,,\n", "the value is no number");
    refused(HEADER "A,cpu,,w,,,1 to ,ns,c,s,,\n", "the value is no number '1 to '");
    refused(HEADER "A,cpu,,w,,,2 to 1,ns,c,s,,\n", "the wrong way round");
    refused(HEADER "A,cpu,,w,,,1,,c,s,,\n", "nothing in the column 'unit'");
    refused(HEADER "A,cpu,,w,,,1,ns,c,,,\n", "nothing in the column 'source'");
    refused(HEADER "A,cpu,,w,,,1,a unit of many words,c,s,,\n", "than there is room for in the column 'unit'");
    refused(HEADER "\"A,cpu,,w,,,1,ns,c,s,,\n", "control character, or a quoted field that does not end");
    refused(HEADER "\"A", "a quoted field does not end");
    refused(HEADER "\"A\"x,cpu,,w,,,1,ns,c,s,,\n", "text beside a quoted field");
    refused(HEADER "A\"x,cpu,,w,,,1,ns,c,s,,\n", "text beside a quoted field");
    refused(HEADER "A\x1b[2J,cpu,,w,,,1,ns,c,s,,\n", "a control character");
    refused(HEADER "A,cpu,,w,,some,1,ns,c,s,,\n", "the qualifier is about, at least, at most or below, not 'some'");
    refused(HEADER "A,cpu,,w,,,1,ns,c,s,0,\n", "the line is no number from 1 on '0'");
    refused(HEADER "A,cpu,,w,,,1,ns,c,s,x,\n", "the line is no number from 1 on 'x'");
    static const char *const axes[] = {"op", "op=", "=a", "Op=a", "op=a ", " op=a", "op=a  b=c", "op= b=c"};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char text[256];
        snprintf(text, sizeof text, HEADER "A,cpu,,w,%s,,1,ns,c,s,,\n", axes[i]);
        refused(text, "the axes are no 'name=value'");
    }
    refused(HEADER "A,cpu,,w,op=a b=c op=d,,1,ns,c,s,,\n", "an axis stands twice in 'op=a b=c op=d'");
    assert_int_equal(parse_refs(HEADER "A,cpu,,w,op=a opt=b,,1,ns,c,s,,\n"), AS_OK);
    as_refs_finish(&refs);
    static const char nul[] = HEADER "A\0,cpu,,w,,,1,ns,c,s,,\n";
    assert_int_equal(as_refs_parse("t", nul, sizeof nul - 1, &refs, &err), AS_FORMAT);
}

UNIT_TEST(test_names_that_are_not_there)
{
    assert_int_equal(as_refs_load("mi300b", &refs, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "did you mean 'mi300a'?"));
    assert_int_equal(as_refs_load("something", &refs, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "see 'assay list refs'"));
    assert_int_equal(as_refs_load("/nowhere/at/all.csv", &refs, &err), AS_NOTFOUND);
}

/* Over the nearer end; a bound leaves a side open; of nothing there is no ratio. */
UNIT_TEST(test_how_far_a_figure_is)
{
    static const struct {
        const char *qualifier;
        double lo, hi, value, ratio;
    } rows[] = {{"", 4, 4, 4.04, 1.01},   {"", 3, 4, 3.5, 1},         {"", 3, 4, 6, 1.5},        {"", 3, 4, 1.5, 0.5},
                {"at most", 3, 12, 5, 1}, {"at most", 3, 3, 1, 1},    {"at most", 3, 12, 24, 2}, {"below", 3, 3, 1, 1},
                {"at least", 3, 3, 9, 1}, {"at least", 4, 4, 2, 0.5}, {"about", 4, 4, 8, 2},     {"", 0, 0, 0, 1}};
    struct as_fact f = {.device = "cpu", .unit = "pages/s"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_ref r = {.lo = rows[i].lo, .hi = rows[i].hi};
        strcpy(r.qualifier, rows[i].qualifier);
        f.value = rows[i].value;
        assert_true(fabs(as_ref_ratio(&r, &f) - rows[i].ratio) < 1e-9);
        assert_true(as_ref_is_close(rows[i].ratio) == (rows[i].ratio == 1 || rows[i].ratio == 1.01));
    }
    f.value = 1;
    assert_true(isnan(as_ref_ratio(&(struct as_ref){0}, &f)));
    assert_false(as_ref_is_close(NAN));
}

/* A figure at another number of pages than was measured is another point: it is said, and nothing is compared. */
UNIT_TEST(test_figures_of_another_size)
{
    struct as_fact f = {.device = "hip:0", .value = 4e6, .unit = "pages/s", .most = {0, 1250000, 0}};
    struct as_ref r = {.device = "device",
                       .fact = "fault.throughput.device-minor.*",
                       .axes = "pages=10000000",
                       .unit = "pages/s",
                       .lo = 9e6,
                       .hi = 9e6};
    const struct as_refs one = {.v = &r, .n = 1};
    struct as_buf text = AS_BUF_INIT;
    assert_true(named_fact(&f, "fault.throughput.device-minor.malloc"));
    assert_true(as_ref_is_beside(&r, &f));
    assert_true(isnan(as_ref_ratio(&r, &f)));
    as_ref_deviation(&r, &f, &text);
    assert_string_equal(as_buf_get(&text), " (not compared: measured at pages=1250000)");
    assert_int_equal(as_refs_agree(&one, &f, 1).beside, 0);
    as_buf_clear(&text);
    f.most[1] = 10000000;
    as_ref_deviation(&r, &f, &text);
    assert_non_null(strstr(as_buf_get(&text), " (measured: 0.444x"));
    assert_int_equal(as_refs_agree(&one, &f, 1).beside, 1);
    f.most[1] = 0; /* it covers no pages */
    assert_true(isfinite(as_ref_ratio(&r, &f)));
    as_buf_finish(&text);
}

UNIT_TEST(test_what_a_figure_stands_beside)
{
    struct as_fact f = {.device = "cpu", .value = 1, .unit = "pages/s"};
    struct as_ref r = {.device = "cpu", .fact = "other fault.*.cpu-one.mmap", .unit = "pages/s"};
    assert_true(named_fact(&f, "fault.throughput.cpu-one.mmap"));
    assert_true(as_ref_is_beside(&r, &f));
    strcpy(r.unit, "ns");
    assert_false(as_ref_is_beside(&r, &f)); /* never on another scale */
    strcpy(r.unit, "pages/s");
    strcpy(r.device, "device");
    assert_false(as_ref_is_beside(&r, &f));
    strcpy(f.device, "hip:0");
    assert_true(as_ref_is_beside(&r, &f));
    strcpy(r.device, "any");
    assert_true(as_ref_is_beside(&r, &f));
    f.value = NAN;
    assert_false(as_ref_is_beside(&r, &f));
    f.value = 1;
    strcpy(f.unit, "");
    assert_true(named_fact(&f, "onchip.unit.threads")); /* a count has no unit */
    strcpy(r.fact, "onchip.unit.*");
    strcpy(r.unit, "threads");
    assert_true(as_ref_is_beside(&r, &f));
    strcpy(r.unit, "cores");
    assert_false(as_ref_is_beside(&r, &f));
    strcpy(f.unit, "ns");
    strcpy(r.unit, "ns");
    strcpy(r.fact, "");
    assert_false(as_ref_is_beside(&r, &f));
    static const struct {
        const char *globs, *id;
        bool match;
    } rows[] = {
        {"*", "a.b/c", true},   {"a*c?", "abbbcd", true},   {"**x", "x", true},          {"A*", "a.b", false},
        {"a?", "a", false},     {"*ab", "aab.", false},     {"a[1-3].x", "a2.x", false}, {"a[", "a[", true},
        {"a\\*", "a\\b", true}, {"*a\xff", "a\xfe", false}, /* not UTF-8 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        strcpy(r.fact, rows[i].globs);
        strcpy(f.id, rows[i].id);
        assert_int_equal(as_ref_is_beside(&r, &f), rows[i].match);
    }
    /* a file of figures may come from anyone: many stars must not take longer */
    memset(f.id, 'a', sizeof f.id - 1);
    for (size_t i = 0; i + 3 < sizeof r.fact; i += 2)
        strcpy(r.fact + i, "*a");
    strcat(r.fact, "b");
    assert_false(as_ref_is_beside(&r, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_figures_that_are_built_in, empty_run),
        cmocka_unit_test_teardown(test_known_figures_of_arithmetic, empty_run),
        cmocka_unit_test_teardown(test_quotes_ranges_and_line_ends, empty_run),
        cmocka_unit_test_teardown(test_how_a_figure_is_shown, empty_run),
        cmocka_unit_test_teardown(test_what_a_set_is_of, empty_run),
        cmocka_unit_test_teardown(test_damaged_files, empty_run),
        cmocka_unit_test_teardown(test_names_that_are_not_there, empty_run),
        cmocka_unit_test(test_how_far_a_figure_is),
        cmocka_unit_test(test_figures_of_another_size),
        cmocka_unit_test_teardown(test_what_a_figure_stands_beside, empty_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
