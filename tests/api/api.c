/* The public API, on the scripted device. */
#include "tests/unit_test.h"

#include <assay.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char folder[64], path[96];
    struct assay_store *store;
};

static int set_up(void **state)
{
    static struct fixture f;
    struct assay_error error;
    strcpy(f.folder, "/tmp/assay-api-XXXXXX");
    assert_non_null(mkdtemp(f.folder));
    snprintf(f.path, sizeof f.path, "%s/store.db", f.folder);
    assert_int_equal(assay_store_open(f.path, &f.store, &error), ASSAY_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assay_store_close(f->store);
    unlink(f->path);
    return rmdir(f->folder);
}

static int no_cell(void *user, const struct assay_cell *cell)
{
    (void)user;
    fail_msg("no cell was expected, but %s", cell->probe);
    return 0;
}

struct seen {
    size_t n, stop_after;
    double median[16];
    int64_t id[16];
    double precision; /* requested; 0: as in `options` */
};

static int record_cell(void *user, const struct assay_cell *cell)
{
    struct seen *s = user;
    assert_true(s->n < 16);
    assert_string_equal(cell->probe, "latency");
    assert_string_equal(cell->device, "null");
    assert_string_equal(cell->unit, "ns");
    assert_true(strlen(cell->counts) > 0);
    assert_true(cell->axes_n > 0 && strcmp(cell->axes[0].name, "size") == 0);
    assert_true(cell->axes[0].number >= 1024);
    assert_true(cell->n >= 6 && cell->samples);
    for (size_t i = 0; i < cell->n; i++)
        assert_true(cell->samples[i] >= cell->min && cell->samples[i] <= cell->max);
    assert_true(cell->ci_low <= cell->median && cell->median <= cell->ci_high);
    assert_true(cell->precision == (s->precision > 0 ? s->precision : 0.05));
    for (size_t i = 0; i < s->n; i++)
        assert_true(s->id[i] != cell->id); /* each is reported once */
    s->id[s->n] = cell->id;
    s->median[s->n++] = cell->median;
    return s->n == s->stop_after;
}

static const char *const sets[] = {"size=4KiB,64KiB", "allocator=malloc", "pattern=random", NULL};
static const struct assay_options options = {
    .size = sizeof options, .devices = "null", .sets = sets, .precision = 0.05, .seed = 5};

static void test_run(void **state)
{
    struct fixture *f = *state;
    struct assay_error error = {0};
    struct seen first = {0}, again = {0};
    int64_t run = 0;
    int code = assay_run(f->store, "latency", &options, record_cell, &first, &run, &error);
    if (code)
        fail_msg("%s", error.text);
    assert_int_equal(run, 1);
    assert_int_equal(first.n, 2);
    double small = fmin(first.median[0], first.median[1]), large = fmax(first.median[0], first.median[1]);
    assert_true(fabs(small - 1.5) < 0.1 && fabs(large - 5) < 0.3); /* as scripted */
    assert_int_equal(assay_cells(f->store, 0, NULL, record_cell, &again, &error), ASSAY_OK);
    assert_int_equal(again.n, 2);
    assert_int_equal(assay_cells(f->store, run, "bandwidth", no_cell, NULL, &error), ASSAY_OK);
    assert_int_equal(assay_cells(f->store, 99, NULL, no_cell, NULL, &error), ASSAY_NOTFOUND);
    assert_int_equal(assay_cells(f->store, -1, NULL, no_cell, NULL, &error), ASSAY_NOTFOUND);
    struct seen stopped = {.stop_after = 1};
    assert_int_equal(assay_cells(f->store, run, NULL, record_cell, &stopped, &error), ASSAY_OK);
    assert_int_equal(stopped.n, 1);
}

static void test_callback_ends_it(void **state)
{
    struct fixture *f = *state;
    struct assay_error error = {0};
    struct seen seen = {.stop_after = 1, .precision = 1e-9};
    struct assay_options endless = options; /* so that only the callback ends it */
    int64_t run = 0;
    endless.precision = seen.precision;
    endless.budget = 3600;
    assert_int_equal(assay_run(f->store, "latency", &endless, record_cell, &seen, &run, &error), ASSAY_INTERRUPTED);
    assert_int_equal(seen.n, 1);
    assert_true(run > 0);
    assert_non_null(strstr(error.text, "assay resume"));
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct assay_error error = {0};
    struct assay_store *none;
    int64_t run;
    struct assay_options bad = options;
    assert_int_equal(assay_run(f->store, "latncy", &options, NULL, NULL, &run, &error), ASSAY_USAGE);
    assert_int_equal(error.code, ASSAY_USAGE);
    assert_non_null(strstr(error.text, "latency"));
    bad.size = 4;
    assert_int_equal(assay_run(f->store, "latency", &bad, NULL, NULL, &run, &error), ASSAY_USAGE);
    bad = options;
    bad.precision = NAN;
    assert_int_equal(assay_run(f->store, "latency", &bad, NULL, NULL, &run, NULL), ASSAY_USAGE);
    bad = options;
    bad.budget = -1;
    assert_int_equal(assay_run(f->store, "latency", &bad, NULL, NULL, &run, &error), ASSAY_USAGE);
    assert_int_not_equal(assay_store_open("/proc/no/store.db", &none, &error), ASSAY_OK);
    assert_null(none);
    assert_non_null(strstr(error.text, "/proc/no"));
    assay_store_close(NULL);
}

/* A missing required pointer is refused. */
static void test_null(void **state)
{
    struct fixture *f = *state;
    struct assay_error error = {0};
    struct assay_device *devices;
    int64_t run;
    size_t n;
    assert_int_equal(assay_store_open(f->path, NULL, &error), ASSAY_USAGE);
    assert_int_equal(assay_store_open(NULL, NULL, NULL), ASSAY_USAGE);
    assert_int_equal(assay_devices_list(NULL, &n, &error), ASSAY_USAGE);
    assert_int_equal(assay_devices_list(&devices, NULL, &error), ASSAY_USAGE);
    assert_int_equal(assay_run(NULL, "latency", &options, NULL, NULL, &run, &error), ASSAY_USAGE);
    assert_non_null(strstr(error.text, "'store' is NULL"));
    assert_int_equal(assay_run(f->store, NULL, &options, NULL, NULL, &run, &error), ASSAY_USAGE);
    assert_int_equal(assay_run(f->store, "latency", &options, NULL, NULL, NULL, &error), ASSAY_USAGE);
    assert_int_equal(assay_run(NULL, NULL, NULL, NULL, NULL, NULL, NULL), ASSAY_USAGE);
    assert_int_equal(assay_cells(NULL, 0, NULL, no_cell, NULL, &error), ASSAY_USAGE);
    assert_int_equal(assay_cells(f->store, 0, NULL, NULL, NULL, &error), ASSAY_USAGE);
    assay_store_close(NULL);
    assay_devices_free(NULL, 3);
}

struct inner {
    struct fixture *f;
    size_t n;
};

/* Calls that a callback must not make return at once. */
static int call_again(void *user, const struct assay_cell *cell)
{
    struct inner *in = user;
    struct assay_error error = {0};
    struct seen none = {.stop_after = 1};
    int64_t run = 7;
    (void)cell;
    in->n++;
    assert_int_equal(assay_run(in->f->store, "latency", &options, record_cell, &none, &run, &error), ASSAY_BUSY);
    assert_non_null(strstr(error.text, "callback"));
    struct assay_store *other;
    char path[128];
    snprintf(path, sizeof path, "%s/other.db", in->f->folder);
    assert_int_equal(assay_store_open(path, &other, &error), ASSAY_OK);
    assert_int_equal(assay_run(other, "latency", &options, record_cell, &none, &run, &error), ASSAY_BUSY);
    assay_store_close(other);
    unlink(path);
    assert_int_equal(none.n, 0);
    assay_store_close(in->f->store); /* it is not lost */
    return 0;
}

static void test_calls_in_a_callback(void **state)
{
    struct inner in = {.f = *state};
    struct assay_error error = {0};
    int64_t run = 0;
    assert_int_equal(assay_run(in.f->store, "latency", &options, call_again, &in, &run, &error), ASSAY_OK);
    assert_int_equal(in.n, 2);
    struct seen after = {0};
    assert_int_equal(assay_cells(in.f->store, run, NULL, record_cell, &after, &error), ASSAY_OK);
    assert_int_equal(after.n, 2);
    assert_int_equal(assay_run(in.f->store, "latency", &options, NULL, NULL, &run, &error), ASSAY_OK);
}

/* A run that ends is no error, whatever happened in it. */
static void test_hang_within_a_run(void **state)
{
    struct fixture *f = *state;
    struct assay_error error = {.code = 1, .text = "left over"};
    char script[128], *before = strdup(getenv("ASSAY_NULL"));
    int64_t run = 0;
    snprintf(script, sizeof script, "%s/hang.json", f->folder);
    FILE *file = fopen(script, "w");
    assert_true(before && file);
    fputs("{\"execute\":\"once\",\"noise\":{\"sd\":0.002},\"info\":{\"threads\":1},\"faults\":[{\"do\":\"hang\","
          "\"launch\":5}]}",
          file);
    assert_int_equal(fclose(file), 0);
    setenv("ASSAY_NULL", script, 1);
    struct assay_options short_run = options;
    short_run.budget = 3;
    assert_int_equal(assay_run(f->store, "latency", &short_run, NULL, NULL, &run, &error), ASSAY_OK);
    assert_int_equal(error.code, ASSAY_OK);
    assert_string_equal(error.text, "");
    setenv("ASSAY_NULL", before, 1);
    free(before);
    unlink(script);
}

UNIT_TEST(test_devices)
{
    struct assay_device *devices;
    struct assay_error error = {0};
    size_t n, found = 0;
    assert_int_equal(assay_devices_list(&devices, &n, &error), ASSAY_OK);
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(devices[i].id && devices[i].backend && devices[i].name && devices[i].driver);
        assert_true(!devices[i].reason || strlen(devices[i].reason) > 0);
        found += strcmp(devices[i].id, "null") == 0 && !devices[i].reason;
    }
    assert_int_equal(found, 1);
    assay_devices_free(devices, n);
    assay_devices_free(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callback_ends_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_null, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calls_in_a_callback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hang_within_a_run, set_up, tear_down),
        cmocka_unit_test(test_devices),
    };
    assert_true(strlen(assay_version()) > 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
