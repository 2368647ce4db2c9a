/* Two backends on one piece of hardware: which devices and cells belong together, and what the report says about
 * them. */
#include "base/text.h"
#include "golden.h"
#include "report/backends/backend_pairs.h"
#include "report/terminal/terminal.h"
#include "synth.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_device_info info(const char *backend, const char *uuid, const char *bus)
{
    struct as_device_info d = {.compute_units = 1};
    as_copy_text(d.backend, sizeof d.backend, backend);
    as_copy_text(d.uuid, sizeof d.uuid, uuid);
    as_copy_text(d.bus_id, sizeof d.bus_id, bus);
    return d;
}

static bool twin(struct as_device_info a, struct as_device_info b)
{
    char how[64];
    bool is = as_is_same_hardware(&a, &b, how, sizeof how);
    assert_int_equal(as_is_same_hardware(&b, &a, how, sizeof how), is);
    return is;
}

UNIT_TEST(devices_are_told_by_uuid_then_bus)
{
    const char *uuid = "GPU-5ede5d59-c949-3aca-4b28-11bd00045ab5", *same = "5EDE5D59C9493ACA4B2811BD00045AB5";
    const char *other = "GPU-5ede5d59-c949-3aca-4b28-11bd00045ab6";
    assert_true(twin(info("cuda", uuid, ""), info("opencl", same, "")));
    assert_false(twin(info("cuda", uuid, "0000:01:00.0"), info("opencl", other, "0000:01:00.0"))); /* partitions */
    assert_false(twin(info("cuda", uuid, ""), info("cuda", uuid, "")));
    assert_true(twin(info("cuda", "", "0000:0A:00.0"), info("opencl", "", "0000:0a:00.0")));
    assert_true(twin(info("cuda", uuid, "0000:0a:00.0"), info("opencl", "no uuid", "0000:0a:00.0")));
    assert_false(twin(info("cuda", "", "0000:01:00.0"), info("opencl", "", "0000:02:00.0")));
    assert_false(twin(info("cuda", "", ""), info("opencl", "", "")));
    struct as_device_info cpu = info("cpu", "", ""), pocl = info("opencl", "", ""), gpu = info("opencl", "", "");
    cpu.capabilities = AS_CAP_HOST_KERNELS;
    pocl.is_host_cpu = true;
    assert_true(twin(cpu, pocl));
    assert_false(twin(cpu, gpu));
}

static const struct as_backend_pair *find(const struct as_report_run *r, const char *a, const char *b,
                                          const char *probe, const char *size, size_t *n)
{
    const struct as_backend_pair *found = NULL;
    *n = 0;
    for (size_t i = 0; i < r->backend_pairs_n; i++) {
        const struct as_backend_pair *t = &r->backend_pairs[i];
        if (strcmp(t->a->device, a) != 0 || strcmp(t->b->device, b) != 0)
            continue;
        (*n)++;
        if (strcmp(t->a->probe, probe) == 0 && strcmp(as_axes_text(&t->a->axes, "size"), size) == 0)
            found = t;
    }
    return found;
}

UNIT_TEST(cells_are_matched_and_judged)
{
    size_t n;
    struct synth *s = synth_make("twins");
    assert_non_null(s);
    const struct as_report_run *r = &s->runs[0];
    const struct as_backend_pair *t = find(r, "cuda:0", "opencl:1", "latency", "65536", &n);
    assert_int_equal(n, 8); /* four sizes of two probes */
    assert_non_null(t);
    assert_true(t->allocators_differ);
    assert_string_equal(as_axes_text(&t->a->axes, "allocator"), "cuMemAlloc"); /* the better one */
    assert_true(fabs(t->comparison.ratio - 1.3) < 0.005);
    assert_true(t->comparison.ci.lo > 1.25 && t->comparison.ci.hi < 1.35);
    assert_int_equal(t->comparison.verdict, AS_SLOWER);
    t = find(r, "cuda:0", "opencl:1", "bandwidth", "65536", &n);
    assert_non_null(t);
    assert_false(t->allocators_differ);
    assert_int_equal(t->comparison.verdict, AS_SAME);
    assert_null(find(r, "cuda:0", "opencl:0", "latency", "65536", &n)); /* another GPU of the same kind */
    assert_int_equal(n, 0);
    assert_non_null(find(r, "cpu", "opencl:2", "latency", "4096", &n));
    assert_int_equal(n, 1);
    for (size_t i = 1; i < r->backend_pairs_n; i++) /* pairs that differ come first */
        if (strcmp(r->backend_pairs[i].b->device, r->backend_pairs[i - 1].b->device) == 0)
            assert_true(as_backend_pair_differs(&r->backend_pairs[i - 1]) ||
                        !as_backend_pair_differs(&r->backend_pairs[i]));
    synth_free(s);
}

static void forget(struct as_report_run *r)
{
    free(r->backend_pairs);
    r->backend_pairs = NULL;
    r->backend_pairs_n = 0;
}

UNIT_TEST(an_rejected_number_is_not_compared)
{
    size_t n;
    struct as_error err = {0};
    struct synth *s = synth_make("twins");
    struct as_report_run *r = &s->runs[0];
    for (size_t i = 0; i < r->cells_n; i++)
        if (strcmp(r->cells[i].device, "opencl:1") == 0 && strcmp(r->cells[i].probe, "latency") == 0)
            r->cells[i].status = AS_CELL_REJECTED;
    forget(r);
    assert_int_equal(as_backend_pairs_make(r, &err), AS_OK);
    assert_null(find(r, "cuda:0", "opencl:1", "latency", "65536", &n));
    assert_int_equal(n, 4);
    synth_free(s);
}

/* In times and rates, the best allocator represents a device; a count belongs to its allocator. */
UNIT_TEST(counts_of_other_allocators_are_not_compared)
{
    static const char *const compute_units[] = {"events", "x"};
    for (size_t u = 0; u < 2; u++) {
        size_t n;
        struct as_error err = {0};
        struct synth *s = synth_make("twins");
        struct as_report_run *r = &s->runs[0];
        for (size_t i = 0; i < r->cells_n; i++)
            as_copy_text(r->cells[i].unit, sizeof r->cells[i].unit, compute_units[u]);
        forget(r);
        assert_int_equal(as_backend_pairs_make(r, &err), AS_OK);
        assert_null(find(r, "cuda:0", "opencl:1", "latency", "65536", &n));
        assert_non_null(find(r, "cuda:0", "opencl:1", "bandwidth", "65536", &n)); /* the same allocator */
        assert_int_equal(n, 4);
        synth_free(s);
    }
}

/* The block sizes of different allocators are not comparable times. */
UNIT_TEST(times_of_other_allocators_are_not_compared)
{
    size_t n;
    struct as_error err = {0};
    struct synth *s = synth_make("twins");
    struct as_report_run *r = &s->runs[0];
    for (size_t i = 0; i < r->cells_n; i++)
        if (strcmp(r->cells[i].probe, "latency") == 0)
            as_copy_text(r->cells[i].probe, sizeof r->cells[i].probe, "alloc");
    forget(r);
    assert_int_equal(as_backend_pairs_make(r, &err), AS_OK);
    assert_null(find(r, "cuda:0", "opencl:1", "alloc", "65536", &n));
    assert_int_equal(n, 4); /* for bandwidth, if both have the same allocator */
    synth_free(s);
}

/* All threads of a CPU correspond to a device API without a choice. */
UNIT_TEST(all_threads_are_the_whole_device)
{
    size_t n;
    struct as_error err = {0};
    struct synth *s = synth_make("twins");
    struct as_report_run *r = &s->runs[0];
    for (size_t i = 0; i < r->cells_n; i++) {
        const char *device = r->cells[i].device;
        const char *threads = strcmp(device, "cpu") == 0 ? "2" : strcmp(device, "opencl:2") == 0 ? "0" : NULL;
        if (threads)
            assert_int_equal(as_axes_add(&r->cells[i].axes, "threads", threads, &err), AS_OK);
    }
    for (unsigned threads = 2; threads <= 4; threads += 2) {
        r->devices[0].threads = threads;
        forget(r);
        assert_int_equal(as_backend_pairs_make(r, &err), AS_OK);
        find(r, "cpu", "opencl:2", "latency", "4096", &n);
        assert_int_equal(n, threads == 2 ? 1 : 0);
    }
    synth_free(s);
}

UNIT_TEST(page_and_terminal_say_so)
{
    struct as_error err = {0};
    struct as_buf out = AS_BUF_INIT;
    const struct as_table_style style = {.width = 100, .unicode = 1};
    struct synth *s = synth_make("twins");
    assert_int_equal(as_report_html(s->runs, 1, &out, &err), AS_OK);
    struct as_buf section = golden_section(&out, "twins");
    assert_golden("backend_pairs.html", &section);
    as_buf_finish(&section);
    as_buf_clear(&out);
    assert_int_equal(as_text_backend_pairs(&s->runs[0], &style, &out, &err), AS_OK);
    assert_golden("backend_pairs.txt", &out);
    as_buf_clear(&out);
    synth_free(s);
    s = synth_make("plain"); /* two devices not known to be one */
    assert_int_equal(as_report_html(s->runs, 1, &out, &err), AS_OK);
    assert_null(strstr(as_buf_get(&out), "Two backends"));
    as_buf_finish(&out);
    synth_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_told_by_uuid_then_bus),
        cmocka_unit_test(cells_are_matched_and_judged),
        cmocka_unit_test(an_rejected_number_is_not_compared),
        cmocka_unit_test(counts_of_other_allocators_are_not_compared),
        cmocka_unit_test(times_of_other_allocators_are_not_compared),
        cmocka_unit_test(all_threads_are_the_whole_device),
        cmocka_unit_test(page_and_terminal_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
