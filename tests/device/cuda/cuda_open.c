/* The CUDA backend against a stand-in driver: what it says when there is nothing to open, the order of devices, hostile
 * text, and that all is given back. */
#include "../gpu_tests.h"

#include <math.h>
#include <stdlib.h>

static void test_no_device(void **state)
{
    (void)state;
    gpu_refuses("none", NULL, "/dev/nvidia0");
    gpu_refuses("zero", NULL, "/dev/nvidia0");
    gpu_refuses("", "", "CUDA_VISIBLE_DEVICES is set and empty: no device is visible");
    gpu_refuses("zero", "", "CUDA_VISIBLE_DEVICES is set and empty: no device is visible");
    gpu_refuses("", "7", "CUDA_VISIBLE_DEVICES is '7'");
    gpu_refuses("mismatch", NULL, "different versions");
    gpu_refuses("nameless", NULL, "cuInit: an error without a name (31337)");
}

/* All of them are given back when others are opened and at the end; the stand-in says what was not. */
static void test_further_queues(void **state)
{
    struct as_error err = {0};
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 0);
    const struct as_queue_ops *q = o.dev.queue;
    assert_true(o.dev.info.capabilities & AS_CAP_QUEUES);
    assert_int_equal(q->queues(&o.dev, AS_QUEUES_MAX, 1, &err), AS_OK);
    assert_int_equal(q->wait_queue(&o.dev, AS_QUEUES_MAX, &err), AS_OK);
    assert_int_equal(q->queues(&o.dev, 2, 0, &err), AS_OK);
    check_fails(q->wait_queue(&o.dev, 3, &err), AS_USAGE, &err, "there is no queue 3, the last is 2");
    check_fails(q->queues(&o.dev, 1, 2, &err), AS_USAGE, &err, "2 are urgent");
    fake("equal");
    check_fails(q->queues(&o.dev, 2, 1, &err), AS_UNSUPPORTED, &err, "the device has no priorities");
    assert_int_equal(q->queues(&o.dev, 2, 0, &err), AS_OK);
    close_card(&o);
}

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 2);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->id, "cuda:2");
    assert_string_equal(i->backend, "cuda");
    assert_string_equal(i->name, "<script>alert(1)</script>");
    assert_string_equal(i->uuid, "GPU-dee1e4e7-eaed-f0f3-f6f9-fcff0205080b");
    assert_non_null(strstr(i->driver, "CUDA 13.0"));
    assert_string_equal(i->arch, "sm_90");
    assert_int_equal(i->compute_units, 132);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 32);
    assert_int_equal(i->compute_unit_threads, 2048);
    assert_int_equal(i->compute_unit_registers, 65536);
    assert_int_equal(i->compute_unit_shared, 233472);
    assert_int_equal(i->workgroup_shared, 232448);
    assert_int_equal(as_info_last_cache(i), 60 << 20);
    assert_int_equal(i->memory_bytes, UINT64_C(141) << 30);
    assert_int_equal(i->memory_free, UINT64_C(139) << 30);
    assert_int_equal(i->page_size, 2 << 20);
    assert_true(fabs(i->peak_bandwidth - 4916.736e9) < 1e6);
    assert_true(fabs(i->clock_max_hz - 1.98e9) < 1);
    assert_false(i->is_host_memory);
    assert_true(i->capabilities & AS_CAP_COPY && i->capabilities & AS_CAP_FP16 && i->capabilities & AS_CAP_CODE);
    assert_false(i->capabilities & AS_CAP_SVM_ATOMICS);
    close_card(&o);
}

/* Numbers below zero, a name that does not end, no UUID, an address that is none. */
static void test_hostile_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_card(&o, 0);
    assert_string_equal(o.dev.info.uuid, "");
    assert_int_equal(strncmp(o.dev.info.name, "\x1B[31mred", 8), 0);
    close_card(&o);
    open_card(&o, 1);
    assert_int_equal(strlen(o.dev.info.name), sizeof o.dev.info.name - 1);
    assert_int_equal(o.dev.info.compute_units, 0);
    assert_int_equal(o.dev.info.compute_unit_shared, 0);
    assert_int_equal(o.dev.info.caches_n, 0);
    assert_true(o.dev.info.peak_bandwidth == 0);
    assert_string_equal(o.dev.info.arch, "sm_00");
    assert_false(o.dev.info.capabilities & (AS_CAP_COPY | AS_CAP_FP16));
    close_card(&o);
}

static void test_context_cannot_be_made(void **state)
{
    struct as_error err = {0};
    struct as_device dev;
    void *backend = NULL;
    (void)state;
    fake("busy");
    check_ok(stand_in.backend->open(&backend, &err), &err);
    check_fails(stand_in.backend->open_device(backend, 0, &dev, &err), AS_UNSUPPORTED, &err, "'cuda:0' is taken (46)");
    assert_null(dev.ctx);
    check_fails(stand_in.backend->open_device(backend, 3, &dev, &err), AS_NOTFOUND, &err, "the last is 'cuda:2'");
    stand_in.backend->close(backend);
}

/* An error after which the context is lost: its first words stay, nothing hangs, and a new context is whole. */
static void test_lost_context(void **state)
{
    struct opened o;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    const struct as_memory_desc want = {.allocator = "cuMemAlloc", .bytes = 4096, .node = -1};
    uint64_t free_bytes;
    char c = 1;
    (void)state;
    fake("");
    open_card(&o, 0);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    fake("fault");
    check_fails(o.dev.memory->write(&o.dev, m, 0, &c, 1, &err), AS_FAILED, &err,
                "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered");
    fake("");
    check_fails(o.dev.memory->read(&o.dev, m, 0, &c, 1, &err), AS_FAILED, &err, "the context was lost before");
    check_fails(o.dev.memory->map(&o.dev, m, &err), AS_FAILED, &err, "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    check_fails(o.dev.device->memory_free(&o.dev, &free_bytes, &err), AS_FAILED, &err, "lost before");
    struct as_memory *other = NULL;
    check_fails(o.dev.memory->alloc(&o.dev, &want, &other, &err), AS_FAILED, &err, "lost before");
    assert_null(other);
    o.dev.memory->free(&o.dev, m);
    close_backend(&o);
    fake_reset();
    open_card(&o, 0);
    check_ok(o.dev.memory->alloc(&o.dev, &want, &m, &err), &err);
    o.dev.memory->free(&o.dev, m);
    close_card(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(gpu_order_is_pci),
        cmocka_unit_test(test_further_queues),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_hostile_info),
        cmocka_unit_test(gpu_topology_is_json),
        cmocka_unit_test(test_context_cannot_be_made),
        cmocka_unit_test(test_lost_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
