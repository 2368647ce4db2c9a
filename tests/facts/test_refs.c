/* Published figures: what is built in, what a damaged file is refused for, and which facts a figure stands beside. */
#include "base/text.h"
#include "facts/refs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HEADER "chip,device,fact,metric,value,unit,conditions,source\n"

static struct as_refs refs;
static struct as_error err;

static int clean(void **unused)
{
    (void)unused;
    as_refs_finish(&refs);
    err = (struct as_error){0};
    return 0;
}

static enum as_status parse(const char *text)
{
    as_refs_finish(&refs);
    return as_refs_parse("t", text, strlen(text), &refs, &err);
}

static void refused(const char *text, const char *why)
{
    assert_int_equal(parse(text), AS_FORMAT);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_null(refs.v);
}

static const struct as_ref *find(const char *device, const char *metric)
{
    for (size_t i = 0; i < refs.n; i++)
        if (strcmp(refs.v[i].metric, metric) == 0 && strcmp(refs.v[i].device, device) == 0)
            return &refs.v[i];
    fail_msg("there is no figure '%s' of %s", metric, device);
    return NULL;
}

static void test_figures_that_are_built_in(void **unused)
{
    (void)unused;
    assert_string_equal(as_refs_name(0), "mi300a");
    assert_null(as_refs_name(1));
    assert_int_equal(as_refs_load("mi300a", &refs, &err), AS_OK);
    assert_true(refs.n > 60);
    const struct as_ref *f = find("device", "latency of L2");
    assert_true(f->lo == 100 && f->hi == 108);
    assert_string_equal(f->unit, "ns");
    assert_true(find("any", "allocation of 32 B, malloc")->lo == 14);
    assert_true(find("cpu", "bandwidth, HIP allocators")->hi == 208);
    for (size_t i = 0; i < refs.n; i++) {
        assert_string_equal(refs.v[i].chip, "MI300A");
        assert_non_null(strstr(refs.v[i].source, "Wahlgren et al. 2025, "));
    }
}

static void test_quotes_ranges_and_line_ends(void **unused)
{
    (void)unused;
    assert_int_equal(parse(HEADER "\"A \"\"x\"\", B\",cpu,,what,-1.5e3 to 2,ns,when,\"who, 2\"\r\nC,any,a b,w,7,x,c,s"),
                     AS_OK);
    assert_int_equal(refs.n, 2);
    assert_string_equal(refs.v[0].chip, "A \"x\", B");
    assert_true(refs.v[0].lo == -1500 && refs.v[0].hi == 2);
    assert_string_equal(refs.v[0].source, "who, 2");
    assert_true(refs.v[1].lo == 7 && refs.v[1].hi == 7);
    struct as_buf b = AS_BUF_INIT;
    as_ref_value(&(struct as_ref){.lo = 100, .hi = 108, .unit = "ns"}, &b);
    assert_string_equal(as_buf_get(&b), "100 ns to 108 ns");
    as_buf_finish(&b);
}

static void test_damaged_files(void **unused)
{
    (void)unused;
    refused("", "lacks the column 'chip'");
    refused(HEADER, "no figure");
    refused("chip,device,fact\nA,cpu,x\n", "too few columns, after 'fact'");
    refused("name,device\n", "lacks the column 'chip'");
    refused(HEADER "A,cpu,,w,1,ns,c\n", "line 2: too few columns, after 'conditions'");
    refused(HEADER "A,cpu,,w,1,ns,c,s,more\n", "line 2: too many columns");
    refused(HEADER "A,cpu,,w,1,ns,c,s\nA,gpu,,w,1,ns,c,s\n", "line 3: the device is cpu, device or any, not 'gpu'");
    refused(HEADER "A,cpu,,w,fast,ns,c,s\n", "the value is no number 'fast'");
    refused(HEADER "A,cpu,,w,nan,ns,c,s\n", "the value is no number 'nan'");
    refused(HEADER "A,cpu,,w,1e999,ns,c,s\n", "the value is no number");
    refused(HEADER "A,cpu,,w,1 to ,ns,c,s\n", "the value is no number '1 to '");
    refused(HEADER "A,cpu,,w,2 to 1,ns,c,s\n", "the wrong way round");
    refused(HEADER "A,cpu,,w,1,,c,s\n", "nothing in the column 'unit'");
    refused(HEADER "A,cpu,,w,1,ns,c,\n", "nothing in the column 'source'");
    refused(HEADER "A,cpu,,w,1,a unit of many words,c,s\n", "than there is room for in the column 'unit'");
    refused(HEADER "\"A,cpu,,w,1,ns,c,s\n", "control character, or a quoted field that does not end");
    refused(HEADER "\"A", "a quoted field does not end");
    refused(HEADER "\"A\"x,cpu,,w,1,ns,c,s\n", "text beside a quoted field");
    refused(HEADER "A\"x,cpu,,w,1,ns,c,s\n", "text beside a quoted field");
    refused(HEADER "A\x1b[2J,cpu,,w,1,ns,c,s\n", "a control character");
    static const char nul[] = HEADER "A\0,cpu,,w,1,ns,c,s\n";
    assert_int_equal(as_refs_parse("t", nul, sizeof nul - 1, &refs, &err), AS_FORMAT);
}

static void test_names_that_are_not_there(void **unused)
{
    (void)unused;
    assert_int_equal(as_refs_load("mi300b", &refs, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "did you mean 'mi300a'?"));
    assert_int_equal(as_refs_load("something", &refs, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "see 'assay list refs'"));
    assert_int_equal(as_refs_load("/nowhere/at/all.csv", &refs, &err), AS_IO);
}

static void test_what_a_figure_stands_beside(void **unused)
{
    (void)unused;
    struct as_fact f = {.id = "fault.throughput.cpu-one.mmap", .device = "cpu", .value = 1, .unit = "pages/s"};
    struct as_ref r = {.device = "cpu", .fact = "other fault.*.cpu-one.mmap", .unit = "pages/s"};
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
    strcpy(r.fact, "");
    assert_false(as_ref_is_beside(&r, &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_figures_that_are_built_in, clean),
        cmocka_unit_test_teardown(test_quotes_ranges_and_line_ends, clean),
        cmocka_unit_test_teardown(test_damaged_files, clean),
        cmocka_unit_test_teardown(test_names_that_are_not_there, clean),
        cmocka_unit_test_teardown(test_what_a_figure_stands_beside, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
