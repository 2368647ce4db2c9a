/* Export and import: exports come back unchanged, and hostile ones are refused completely, naming the place. */
#include "fixture.h"

#include "base/text.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>

static int set_up_run(void **state)
{
    int failed = set_up(state);
    if (!failed) {
        must_open(*state, AS_STORE_WRITE);
        finished_run(*state, 1);
    }
    return failed;
}

static char *export_json(struct fixture *f, const char *name)
{
    struct as_buf out = AS_BUF_INIT;
    struct as_run run;
    check(f, as_store_run(f->store, name, &run, &f->err));
    check(f, as_store_export_json(f->store, &run, &(struct as_sink){.out = &out}, &f->err));
    as_run_finish(&run);
    char *text = as_buf_take(&out);
    assert_non_null(text);
    return text;
}

/* Another store, beside the first. */
static void second_store(struct fixture *f)
{
    must_close(f);
    snprintf(f->path, sizeof f->path, "%s/second.db", f->folder);
    unlink(f->path);
    must_open(f, AS_STORE_WRITE);
}

static json_t *parse_text(const char *text)
{
    json_error_t why;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!j)
        fail_msg("line %d: %s", why.line, why.text);
    return j;
}

/* Ids belong to the store, all else to the run. */
static void drop_ids(json_t *root)
{
    static const char *const lists[] = {"cells", "sentinels"};
    json_object_set_new(json_object_get(root, "run"), "id", json_integer(0));
    for (size_t l = 0; l < 2; l++) {
        size_t i;
        json_t *cell;
        json_array_foreach(json_object_get(root, lists[l]), i, cell) json_object_set_new(cell, "id", json_integer(0));
    }
}

static void test_export_import_export(void **state)
{
    struct fixture *f = *state;
    int64_t id;
    char *first = export_json(f, "last");
    second_store(f);
    /* so that ids differ */
    finished_run(f, 2);
    check(f, as_store_import_json(f->store, first, strlen(first), &id, &f->err));
    assert_int_equal(id, 2);
    check(f, as_store_verify(f->store, &f->err));
    char *second = export_json(f, "2");
    json_t *a = parse_text(first), *b = parse_text(second);
    drop_ids(a);
    drop_ids(b);
    char *x = json_dumps(a, JSON_INDENT(1)), *y = json_dumps(b, JSON_INDENT(1));
    assert_string_equal(x, y);
    free(x);
    free(y);
    json_decref(a);
    json_decref(b);
    free(second);
    /* into a store with equal ids, the text is equal to the byte */
    second_store(f);
    check(f, as_store_import_json(f->store, first, strlen(first), &id, &f->err));
    char *third = export_json(f, "last");
    assert_string_equal(first, third);
    free(third);
    free(first);
}

static void test_export_content(void **state)
{
    struct fixture *f = *state;
    char *text = export_json(f, "last");
    json_t *j = parse_text(text), *cells = json_object_get(j, "cells"), *cell = json_array_get(cells, 0);
    assert_int_equal(json_integer_value(json_object_get(j, "format_version")), AS_EXPORT_FORMAT);
    assert_int_equal(json_array_size(cells), 8);
    assert_int_equal(json_array_size(json_object_get(j, "sentinels")), 2);
    assert_string_equal(json_string_value(json_object_get(cell, "driver")), "Linux 6.1");
    assert_string_equal(json_string_value(json_object_get(cell, "better")), "less");
    assert_non_null(json_string_value(json_object_get(cell, "counts")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(cell, "axes"), "size")), 1024);
    assert_int_equal(json_integer_value(json_object_get(cell, "n")), 6 + 8);
    assert_int_equal(json_array_size(json_object_get(cell, "samples")), 6 + 8);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(cell, "sample_trials"), 6)), 2);
    json_t *trials = json_object_get(cell, "trials");
    assert_int_equal(json_array_size(trials), 3);
    assert_true(json_is_null(json_object_get(json_array_get(trials, 0), "samples")));
    assert_int_equal(json_array_size(json_object_get(json_array_get(trials, 1), "samples")), 7); /* dropped */
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(json_object_get(cell, "gates"), "limit"), "state")), "pass");
    assert_true(json_real_value(json_object_get(cell, "precision")) == 0.01);
    assert_true(json_real_value(json_object_get(json_array_get(cells, 1), "precision")) == 0.05);
    cell = json_array_get(cells, 2);
    assert_true(json_is_null(json_object_get(cell, "median")));
    assert_true(json_is_null(json_object_get(cell, "started_at")));
    assert_string_equal(json_string_value(json_object_get(cell, "status")), "unsupported");
    json_decref(j);
    free(text);
}

/* Replaces the first occurrence of `from`; takes ownership of the text. */
static char *replaced(char *text, const char *from, const char *to)
{
    struct as_buf b = AS_BUF_INIT;
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("'%s' is not in the export", from);
    as_buf_add(&b, text, (size_t)(at - text));
    as_buf_str(&b, to);
    as_buf_str(&b, at + strlen(from));
    free(text);
    return as_buf_take(&b);
}

static void expect_refused(struct fixture *f, const char *text, size_t len, const char *place)
{
    int64_t id;
    f->err = (struct as_error){0};
    enum as_status st = as_store_import_json(f->store, text, len, &id, &f->err);
    if (st != AS_FORMAT)
        fail_msg("%s for what should say '%s': %s", as_status_word(st), place, f->err.text);
    if (!strstr(f->err.text, place))
        fail_msg("'%s' does not say '%s'", f->err.text, place);
    assert_int_equal(id, 0);
}

static void test_changed_exports_are_refused(void **state)
{
    static const struct {
        const char *from, *to, *place;
    } changes[] = {
        {"\"format_version\":1", "\"format_version\":2",
         "has format 2, which this assay does not read (it reads up to 1)"},
        {"\"format_version\":1", "\"format_version\":\"1\"", "format_version"},
        {"\"format_version\":1,", "", "format_version"},
        {"\"format_version\":1,", "\"format_version\":1,\"format_version\":1,", "line 1"},
        {"\"sentinels\":", "\"guards\":", "sentinels"},
        {"{\"format_version\"", "{\"extra\":1,\"format_version\"", "unknown member"},
        {"\"state\":\"complete\"", "\"state\":\"done\"", "run.state"},
        {"\"seed\":\"", "\"seed\":\"x", "run.seed"},
        {"\"seed\":\"18446744073709551614\"", "\"seed\":\"18446744073709551616\"", "run.seed"},
        {"\"trials\":3", "\"trials\":-3", "run.trials"},
        {"\"trials\":3", "\"trials\":3000000000", "run.trials"},
        {"\"trials\":3", "\"trials\":3.5", "run.trials"},
        {"\"isolate\":false", "\"isolate\":0", "run.isolate"},
        {"\"precision\":0.01", "\"precision\":\"1%\"", "run.precision"},
        {"\"precision\":0.01", "\"precision\":1e999", "line 2"},
        {"\"suite\":\"quick\"", "\"suite\":null", "run.suite"},
        {"\"suite\":\"quick\"", "\"suite\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
         "run.suite"},
        {"\"provenance\":{", "\"provenance\":[],\"other\":{", "run.provenance"},
        {"\"devices\":[{", "\"devices\":[7,{", "run.devices"},
        {"\"devices\":[{", "\"devices\":[{\"units\":-1},{", "run.devices"},
        {"\"position\":0", "\"position\":1", "cells"}, /* a duplicate */
        {"\"backend\":\"cpu\",\"device\"", "\"backend\":7,\"device\"", "cells[0].backend"},
        {"\"status\":\"ok\"", "\"status\":\"better\"", "cells[0].status"},
        {"\"axes\":{\"size\":1024", "\"axes\":{\"size\":2048", "cells[0].key"},
        {"\"axes\":{\"size\":1024", "\"axes\":{\"size\":null", "cells[0].axes"},
        {"\"better\":\"less\"", "\"better\":\"worse\"", "cells[0].better"},
        {"\"n\":14", "\"n\":15", "cells[0].samples"},
        {"\"n\":14", "\"n\":1000000000000", "cells[0].samples"},
        {"\"n\":14", "\"n\":-1", "cells[0].n"},
        {"\"precision\":0.05", "\"precision\":\"5%\"", "cells[1].precision"},
        {"\"precision\":0.05,", "", "cells[1].precision"},
        {"\"modes\":2", "\"modes\":3", "cells[0].modes"},
        {"\"median\":", "\"median\":1e9,\"was\":", "cells[0].was"},
        {"\"gates\":{\"checksum\"", "\"gates\":{\"check\"", "cells[0].gates"},
        {"\"state\":\"pass\"", "\"state\":\"passed\"", "cells[0].gates.checksum.state"},
        {"\"sample_trials\":[0", "\"sample_trials\":[-1", "cells[0].sample_trials"},
        {"\"sample_trials\":[0", "\"sample_trials\":[1", "cells[0]"},
        {"\"number\":1,", "\"number\":0,", "cells[0].trials[1].number"},
        {"\"number\":1,", "\"number\":2,", "cells[0].trials[2].number"},
        {"\"excluded\":true", "\"excluded\":false", "cells[0].trials[1]"},
        {"\"excluded\":false", "\"excluded\":true", "cells[0].trials[0]"},
        {"\"n\":6", "\"n\":7", "cells[0].trials[0].n"},
        {"\"probe\":\"latency\"", "\"probe\":\"sentinel\"", "cells[0].probe"},
        {"\"code\":\"pass\"", "\"code\":\"good\"", "cells[0].trials[0].code"},
        {"\"code_text\":", "\"text\":", "cells[0].trials[0].code_text"},
        {"\"readings\":{", "\"was\":{", "cells[0].trials[0].readings"},
        {"\"readings\":{", "\"readings\":[],\"was\":{", "cells[0].trials[0]"},
        {"\"readings\":null", "\"readings\":7", "cells[0].trials[1]"},
        {"\"sensor\":\"nvml\"", "\"sensor\":\"\"", "cells[0].trials[0].sensor"},
        {"\"sensor\":\"nvml\"", "\"sensor\":\"a name that is too long\"", "cells[0].trials[0].sensor"},
        {"\"throttle\":\"idle", "\"throttle\":\"lazy", "cells[0].trials[0].throttle"},
        {"\"throttle\":\"idle, power cap\"", "\"throttle\":8", "cells[0].trials[0].throttle"},
        {"\"throttle\":\"idle, power cap\"", "\"throttle\":\"\"", "cells[0].trials[0].throttle"},
        {"\"power_w\":1", "\"power_w\":\"1\"", "cells[0].trials[0].power_w"},
        {"\"footprint\":1024", "\"footprint\":99999999999999999999", "line"},
        {"\"footprint\":1024", "\"footprint\":9999999999999999999", "line"},
        {"\"detail\":{", "\"detail\":[", "line"},
    };
    struct fixture *f = *state;
    char *whole = export_json(f, "last");
    second_store(f);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *text = replaced(strdup(whole), changes[i].from, changes[i].to);
        expect_refused(f, text, strlen(text), changes[i].place);
        free(text);
    }
    struct as_run *runs;
    size_t n;
    check(f, as_store_runs(f->store, &runs, &n, &f->err));
    assert_int_equal(n, 0); /* nothing of it remains */
    as_runs_free(runs, n);
    check(f, as_store_verify(f->store, &f->err));
    int64_t id;
    check(f, as_store_import_json(f->store, whole, strlen(whole), &id, &f->err));
    assert_int_equal(as_store_import_json(f->store, whole, strlen(whole), &id, &f->err), AS_USAGE);
    assert_non_null(strstr(f->err.text, "already"));
    free(whole);
}

static void test_hostile_texts(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "null",
                                        "[]",
                                        "{}",
                                        "7",
                                        "\"x\"",
                                        "{",
                                        "{\"format_version\":1}",
                                        "\xff\xfe",
                                        "{\"format_version\":1,\"run\":1,\"cells\":[],\"sentinels\":[]}",
                                        "{\"format_version\":1,\"run\":{},\"cells\":{},\"sentinels\":[]}",
                                        "{\"format_version\":99999999999,\"run\":{}}",
                                        "{\"format_version\":-1}"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_refused(f, texts[i], strlen(texts[i]), "");
    enum { DEEP = 4 << 20 };
    char *deep = malloc(DEEP);
    assert_non_null(deep);
    memset(deep, '[', DEEP);
    expect_refused(f, deep, DEEP, "line 1");
    for (size_t i = 0; i < DEEP; i++)
        deep[i] = "{\"a\":"[i % 5];
    expect_refused(f, deep, DEEP, "line 1");
    free(deep);
    expect_refused(f, "", (size_t)1 << 30, "MiB"); /* never read that far */
    char *cut = export_json(f, "last");
    for (size_t len = strlen(cut) - 2; len > 0; len = len * 9 / 10)
        expect_refused(f, cut, len, "line");
    free(cut);
}

static void test_csv(void **state)
{
    struct fixture *f = *state;
    struct as_buf out = AS_BUF_INIT;
    struct as_run run;
    check(f, as_store_run(f->store, "last", &run, &f->err));
    check(f, as_store_export_csv(f->store, &run, &(struct as_sink){.out = &out}, &f->err));
    const char *text = as_buf_get(&out);
    const char *head =
        "run,cell,backend,device,probe,size,pattern,allocator,stride,op,threads,metric,unit,counts,better,"
        "precision,status,causes,reason,n,trials,median,ci_low,ci_high,mad,min,max,modes,clock_exponent,raw_low,raw_"
        "high,"
        "limit,clock_hz,footprint,"
        "started_at,failed_gates,answer,notes\r\n";
    assert_memory_equal(text, head, strlen(head));
    size_t rows = 0;
    for (const char *at = text; (at = strstr(at, "\r\n")); at += 2)
        rows++;
    assert_int_equal(rows, 1 + 8);
    assert_non_null(strstr(text, "\r\n1,1,cpu,cpu,latency,1024,random,malloc,64,,,latency,ns,"));
    /* no cell may start a formula, and quotes and line ends stay inside their field */
    assert_non_null(strstr(text, "\"'=HYPERLINK(\"\"http://x\"\"), \"\"quoted\"\"\nsecond line\""));
    assert_non_null(strstr(text, ",'@no such allocator <b>,"));
    assert_non_null(strstr(text, ",checksum limit,,"));
    assert_non_null(strstr(text, "{\"\""));
    assert_null(strstr(text, "nan"));
    as_buf_finish(&out);
    as_run_finish(&run);
}

/* A stored text that should be JSON but is not. */
static void test_damaged_details(void **state)
{
    static const char *const changes[] = {"UPDATE cells SET detail = '{\"a\":'", "UPDATE cells SET detail = '[]'",
                                          "UPDATE trials SET detail = 'x'", "UPDATE runs SET devices = '{}'",
                                          "UPDATE runs SET provenance = '{\"a\":NaN}'"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        void *own;
        assert_int_equal(set_up_run(&own), 0);
        struct fixture *f = own;
        struct as_buf out = AS_BUF_INIT;
        struct as_run run;
        run_sql(f->path, changes[i]);
        check(f, as_store_run(f->store, "last", &run, &f->err));
        if (as_store_export_json(f->store, &run, &(struct as_sink){.out = &out}, &f->err) != AS_FORMAT)
            fail_msg("not noticed: %s", changes[i]);
        as_run_finish(&run);
        as_buf_finish(&out);
        tear_down(&own);
    }
    (void)state;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_run, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_export_import_export),
        TEST(test_export_content),
        TEST(test_changed_exports_are_refused),
        TEST(test_hostile_texts),
        TEST(test_csv),
        cmocka_unit_test(test_damaged_details),
    };
    setlocale(LC_ALL, "");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
