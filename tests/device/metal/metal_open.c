/* Opening and memory particular to the Metal backend, on the stand-in for the runtime; the rest is in the conformance
 * suite. */
#include "../stand_in.h"

#include "device/backing.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const names[] = {"MTLStorageModePrivate", "MTLStorageModeShared",
                                    "MTLStorageModeShared WriteCombined", "MTLStorageModeManaged",
                                    "newBufferWithBytesNoCopy"};
static const int options[] = {0x20, 0x00, 0x01, 0x10, 0x00}; /* storage and cache modes from Metal's headers */
enum { KINDS = 5 };

static void open_as(const char *words)
{
    fake(words);
    open_gpu(&gpu, 0);
}

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_gpu(&o, 0);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->id, "metal:0");
    assert_string_equal(i->backend, "metal");
    assert_string_equal(i->dialect, "metal");
    assert_string_equal(i->name, "Apple M4 Pro");
    assert_string_equal(i->vendor, "Apple");
    assert_string_equal(i->arch, "apple9");
    assert_string_equal(i->driver, "Metal 3, macOS Version 15.5 (Build 24F74)");
    assert_string_equal(i->uuid, "0000000100000abc");
    assert_int_equal(i->compute_units, 20);
    assert_int_equal(i->unit_fma, 128);
    assert_int_equal(i->unit_threads_published, 0);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 32);
    assert_int_equal(i->workgroup_shared, 32 << 10);
    assert_int_equal(i->memory_bytes, UINT64_C(8) << 30);
    assert_true(i->memory_free > 0 && i->memory_free <= i->memory_bytes);
    assert_int_equal(i->max_alloc, UINT64_C(4) << 30);
    assert_true(i->is_host_memory && i->page_size > 0);
    assert_int_equal(i->capabilities, AS_CAP_SOURCE | AS_CAP_ASYNC | AS_CAP_EVENTS | AS_CAP_FP16 | AS_CAP_COPY |
                                          AS_CAP_QUEUES | AS_CAP_TOGETHER | AS_CAP_SVM_ATOMICS | AS_CAP_BF16 |
                                          AS_CAP_MATRIX | AS_CAP_RECOMMENDED);
    assert_true(as_info_allocator(i, "MTLStorageModeShared")->coherent);
    assert_false(as_info_allocator(i, "MTLStorageModePrivate")->host_access);
    assert_non_null(strstr(as_info_allocator(i, "MTLStorageModeManaged")->why_not, "unified memory"));
    close_gpu(&o);
}

/* A Mac with a GPU that is not Apple's: dedicated memory, and an older system. */
static void test_intel(void **state)
{
    struct opened o;
    (void)state;
    fake("intel old");
    open_gpu(&o, 0);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->vendor, "");
    assert_string_equal(i->arch, "mac2");
    assert_string_equal(i->driver, "Metal, macOS Version 15.5 (Build 24F74)");
    assert_int_equal(i->capabilities & AS_CAP_SVM_ATOMICS, 0);
    assert_true(!i->is_host_memory && i->page_size == 0);
    assert_string_equal(as_info_allocator(i, "MTLStorageModeManaged")->why_not, "");
    assert_non_null(strstr(as_info_allocator(i, "MTLStorageModeShared")->no_sharing, "over a bus"));
    assert_int_equal(i->memory_free, i->memory_bytes);
    assert_int_equal(i->unit_fma, 0);
    close_gpu(&o);
    fake("apple8"); /* the last family whose resident threads are published */
    open_gpu(&o, 0);
    assert_int_equal(o.dev.info.unit_threads_published, 3072);
    close_gpu(&o);
    fake("future"); /* a family with an unpublished number of cores */
    open_gpu(&o, 0);
    assert_string_equal(o.dev.info.arch, "apple10");
    assert_int_equal(o.dev.info.unit_fma, 0);
    close_gpu(&o);
}

static void test_hostile_text(void **state)
{
    struct opened o;
    struct as_buf json = AS_BUF_INIT;
    struct as_error err = {0};
    (void)state;
    fake("");
    open_gpu(&o, 1);
    assert_string_equal(o.dev.info.name, "\x1b[31mred \xEF\xBF\xBD\xEF\xBF\xBD<script>");
    check_ok(o.dev.device->topology(&o.dev, &json, &err), &err);
    assert_null(strstr(as_buf_get(&json), "<"));
    assert_null(strchr(as_buf_get(&json), 0x1b));
    json_t *tree = json_loads(as_buf_get(&json), 0, NULL);
    const json_t *device = json_array_get(json_object_get(tree, "children"), 0);
    assert_int_equal(json_integer_value(json_object_get(device, "units")), 20);
    assert_int_equal(json_integer_value(json_object_get(device, "lanes")), 32);
    json_decref(tree);
    as_buf_finish(&json);
    close_gpu(&o);
    fake("nameless");
    open_gpu(&o, 0);
    assert_string_equal(o.dev.info.name, "device without a name");
    close_gpu(&o);
}

/* Values that the registry lacks or misreports are unknown. */
static void test_cores(void **state)
{
    static const char *const words[] = {"nocores", "manycores"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct opened o;
        fake(words[i]);
        open_gpu(&o, 0);
        assert_int_equal(o.dev.info.compute_units, 0);
        close_gpu(&o);
    }
}

/* Each storage mode is requested by Metal's own options. */
static void test_options(void **state)
{
    (void)state;
    open_as("intel");
    assert_int_equal(gpu.dev.info.allocators_n, KINDS);
    for (size_t i = 0; i < KINDS; i++) {
        struct as_memory *mem = NULL;
        struct as_error err = {0};
        assert_string_equal(gpu.dev.info.allocators[i].name, names[i]);
        check_ok(gpu_get(names[i], 4096, NULL, &mem, &err), &err);
        assert_int_equal(fake_live_of("Metal.dylib", "fake_metal_options"), options[i]);
        gpu.dev.memory->free(&gpu.dev, mem);
    }
    close_gpu(&gpu);
}

/* More than fits the staging buffer at once. */
static void test_large_private(void **state)
{
    enum { WORDS = (5 << 20) / 4 + 1 };
    struct as_memory *mem = NULL;
    struct as_error err = {0};
    uint32_t *words = malloc(WORDS * 4), at = 0;
    (void)state;
    assert_non_null(words);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
    open_as("");
    check_ok(gpu_get(names[0], WORDS * 4, NULL, &mem, &err), &err);
    check_ok(gpu.dev.memory->write(&gpu.dev, mem, 0, words, WORDS * 4, &err), &err);
    memset(words, 0, WORDS * 4);
    check_ok(gpu.dev.memory->read(&gpu.dev, mem, 0, words, WORDS * 4, &err), &err);
    while (at < WORDS && words[at] == at * 2654435761u)
        at++;
    assert_int_equal(at, WORDS);
    gpu.dev.memory->free(&gpu.dev, mem);
    free(words);
    close_gpu(&gpu);
}

static void test_no_memory_for_copies(void **state)
{
    (void)state;
    open_as("intel");
    for (size_t i = 0; i < KINDS; i++) {
        struct as_memory *mem = NULL;
        struct as_error err = {0};
        char byte = 1;
        fake("intel");
        check_ok(gpu_get(names[i], 64, NULL, &mem, &err), &err);
        fake("intel nomem");
        enum as_status st = gpu.dev.memory->write(&gpu.dev, mem, 0, &byte, 1, &err);
        assert_int_equal(st, i == 0 ? AS_NOMEM : AS_OK); /* private memory goes through another buffer */
        st = gpu.dev.memory->map(&gpu.dev, mem, &err);
        assert_int_equal(st, i == 0 ? AS_NOMEM : AS_OK);
        assert_int_equal(mem->host == NULL, i == 0);
        fake("intel");
        gpu.dev.memory->free(&gpu.dev, mem); /* also while mapped */
    }
    close_gpu(&gpu);
}

/* A buffer over memory of the process: its pages come with their first touch, by whoever makes it. */
static void test_untouched_pages(void **state)
{
    enum { BYTES = 1 << 20 };
    struct as_memory *mem = NULL;
    struct as_error err = {0};
    (void)state;
    open_as("");
    for (size_t i = 0; i < KINDS; i++)
        assert_int_equal(gpu.dev.info.allocators[i].on_demand, i == KINDS - 1);
    check_ok(gpu_get(names[KINDS - 1], BYTES, NULL, &mem, &err), &err);
    check_ok(gpu.dev.memory->map(&gpu.dev, mem, &err), &err);
    assert_int_equal(as_backing_page(mem->host, BYTES), 0);
    memset(mem->host, 1, BYTES);
    assert_true(as_backing_page(mem->host, BYTES) > 0);
    check_ok(gpu.dev.memory->unmap(&gpu.dev, mem, &err), &err);
    gpu.dev.memory->free(&gpu.dev, mem);
    close_gpu(&gpu);
    open_as("intel"); /* the device has memory of its own */
    assert_false(gpu.dev.info.allocators[KINDS - 1].on_demand);
    close_gpu(&gpu);
}

/* Up to what Metal recommends for all buffers together, and no further. */
static void test_working_set(void **state)
{
    struct as_memory *halves[2] = {NULL}, *more = NULL;
    struct as_error err = {0};
    (void)state;
    open_as("");
    const uint64_t half = gpu.dev.info.memory_bytes / 2;
    for (size_t i = 0; i < 2; i++)
        check_ok(gpu_get(names[KINDS - 1], half, NULL, &halves[i], &err), &err);
    for (size_t i = 0; i < KINDS; i++) {
        if (gpu.dev.info.allocators[i].why_not[0])
            continue;
        assert_int_equal(gpu_get(names[i], 4096, NULL, &more, &err), AS_NOMEM);
        assert_non_null(strstr(err.text, "recommendedMaxWorkingSetSize"));
    }
    gpu.dev.memory->free(&gpu.dev, halves[0]);
    check_ok(gpu_get(names[0], 4096, NULL, &more, &err), &err);
    gpu.dev.memory->free(&gpu.dev, more);
    gpu.dev.memory->free(&gpu.dev, halves[1]);
    close_gpu(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_intel),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_large_private),
        cmocka_unit_test(test_untouched_pages),
        cmocka_unit_test(test_working_set),
        cmocka_unit_test(test_no_memory_for_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
