/* What is the CUDA backend's own, on the stand-in for the driver; the rest is in the conformance suite. */
#include "../stand_in.h"

#include "base/host.h"
#include "device/gpu/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_gpu(&o, 2);
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
    close_gpu(&o);
}

/* What was got before the step that fails is given back: teardown counts. */
static void test_half_way(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("noaccess");
    check_fails(gpu_get("cuMemCreate", 4096, NULL, &m, &err), AS_UNSUPPORTED, &err, "cuMemSetAccess");
    assert_null(m);
    setenv("FAKE_CUDA_STATIC", "4096", 1);
    fake("runs");
    check_fails(gpu_get("__managed__", 5000, NULL, &m, &err), AS_FAILED, &err,
                "a static variable of 5000 bytes has 4096");
    assert_null(m);
}

static size_t compilations(const char *log)
{
    char line[128];
    size_t n = 0;
    FILE *f = fopen(log, "r");
    while (f && fgets(line, sizeof line, f))
        n++;
    if (f)
        fclose(f);
    return n;
}

/* Compiling is no part of what a program with static variables pays: only the first of a size compiles. An array may be
 * a part of a variable. */
static void test_static(void **state)
{
    static const struct {
        uint64_t bytes;
        size_t compilations; /* in all */
    } rows[] = {{4096, 1}, {4096, 1}, {2048, 2}, {2048, 2}, {4096, 3}};
    char log[] = "/tmp/assay_static_XXXXXX";
    struct as_memory *m = NULL, *part = NULL;
    struct as_error err = {0};
    const int fd = mkstemp(log);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    setenv("FAKE_NVRTC_LOG", log, 1);
    setenv("FAKE_CUDA_STATIC", "4096", 1);
    fake("runs");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_ok(gpu_get("__managed__", rows[i].bytes, NULL, &m, &err), &err);
        assert_int_equal(compilations(log), rows[i].compilations);
        gpu.dev.memory->free(&gpu.dev, m);
    }
    check_ok(gpu_get("__managed__", 4096, NULL, &m, &err), &err);
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    const struct as_memory_desc desc = {
        .allocator = "__managed__", .bytes = 64, .node = -1, .at = (char *)m->host + 1024};
    check_ok(gpu.dev.memory->alloc(&gpu.dev, &desc, &part, &err), &err);
    assert_true(as_gpu_address(part) == as_gpu_address(m) + 1024);
    gpu.dev.memory->free(&gpu.dev, part);
    memset(m->host, 1, 4096); /* the whole is still there */
    gpu.dev.memory->free(&gpu.dev, m);
    unsetenv("FAKE_NVRTC_LOG");
    remove(log);
}

/* What the driver says of the pages is what was advised; newer drivers name a node of the host. Of other memory it says
 * nothing. */
static void test_attributes(void **state)
{
    static const struct {
        const char *words, *allocator;
        struct as_page_attributes said;
    } rows[] = {
        {"", "cuMemAllocManaged", {"none", "none", "none", "no", ""}},
        {"", "cuMemAllocManaged prefer device", {"none", "device", "none", "no", ""}},
        {"", "cuMemAllocManaged prefer host", {"none", "host", "none", "no", ""}},
        {"numa", "cuMemAllocManaged prefer host", {"none", "NUMA node 1", "none", "no", ""}},
        {"", "cuMemAllocManaged read mostly", {"none", "none", "none", "yes", ""}},
        {"", "cuMemAllocManaged accessed by device", {"none", "none", "device", "no", ""}},
        {"", "cuMemAllocManaged prefetch", {"device", "none", "none", "no", ""}},
        {"", "cuMemAllocManaged prefetch to host", {"host", "none", "none", "no", ""}},
    };
    struct as_memory *m = NULL;
    struct as_error err = {0};
    struct as_page_attributes got;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake(rows[i].words);
        check_ok(gpu_get(rows[i].allocator, 4096, NULL, &m, &err), &err);
        check_ok(gpu.dev.memory->attributes(&gpu.dev, m, &got, &err), &err);
        assert_string_equal(got.last_prefetch, rows[i].said.last_prefetch);
        assert_string_equal(got.preferred, rows[i].said.preferred);
        assert_string_equal(got.accessed_by, rows[i].said.accessed_by);
        assert_string_equal(got.read_mostly, rows[i].said.read_mostly);
        assert_string_equal(got.coherence, "");
        gpu.dev.memory->free(&gpu.dev, m);
    }
    check_ok(gpu_get("cuMemHostAlloc", 4096, NULL, &m, &err), &err);
    check_fails(gpu.dev.memory->attributes(&gpu.dev, m, &got, &err), AS_UNSUPPORTED, &err, "no page attributes");
    gpu.dev.memory->free(&gpu.dev, m);
}

/* Memory that may exceed the device's is refused where pages do not move, and where the host could not hold them. */
static void test_beyond(void **state)
{
    struct as_memory_desc desc = {.allocator = "cuMemAllocManaged", .bytes = 1 << 20, .node = -1, .beyond = true};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    check_ok(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), &err);
    gpu.dev.memory->free(&gpu.dev, m);
    desc.bytes = UINT64_C(1) << 50;
    check_fails(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), AS_NOMEM, &err, "of evicted pages");
    desc.bytes = 1 << 20;
    desc.allocator = "cuMemHostAlloc";
    check_fails(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), AS_UNSUPPORTED, &err, "not moved on demand");
    desc.allocator = "cuMemAllocManaged";
    for (size_t i = 0; i < gpu.dev.info.allocators_n; i++)
        gpu.dev.info.allocators[i].on_demand = false;
    check_fails(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), AS_UNSUPPORTED, &err, "not moved on demand");
}

static void test_plain(void **state)
{
    static const char *const always[] = {"cuMemAlloc", "cuMemHostAlloc", "cuMemHostAlloc write-combined"};
    struct opened old = {.backend = gpu.backend};
    (void)state;
    fake("plain");
    open_device(&old, 2);
    const struct as_device_info *info = &old.dev.info;
    assert_int_equal(gpu.dev.info.allocators_n, 17);
    for (size_t k = 0; k < sizeof always / sizeof *always; k++)
        assert_string_equal(as_info_allocator(info, always[k])->why_not, "");
    assert_non_null(strstr(as_info_allocator(info, "malloc")->why_not, "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS"));
    old.dev.device->close(&old.dev);
}

/* Whether the host caches write-combined memory is for its page tables: the driver states only what it may do. */
static void test_write_combined(void **state)
{
    static const struct {
        const char *asked, *pinned, *combined;
    } of[] = {{"", "HOST_NATIVE_ATOMIC_SUPPORTED", "HOST_NATIVE_ATOMIC_SUPPORTED"},
              {"grace", "", "may map it uncached"}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct opened o = {.backend = gpu.backend};
        fake(of[i].asked);
        open_device(&o, 2);
        const struct as_device_info *info = &o.dev.info;
        const char *pinned = as_info_allocator(info, "cuMemHostAlloc")->no_sharing;
        const char *combined = as_info_allocator(info, "cuMemHostAlloc write-combined")->no_sharing;
        if (!strstr(pinned, of[i].pinned) || (pinned[0] && !of[i].pinned[0]) || !strstr(combined, of[i].combined))
            fail_msg("'%s': '%s', '%s'", of[i].asked, pinned, combined);
        o.dev.device->close(&o.dev);
    }
}

/* A device in the host's memory, most of which holds files: what the driver counts as free is no bound. */
static void test_integrated(void **state)
{
    struct opened o = {.backend = gpu.backend};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    uint64_t counted = 0, bound = 0;
    const struct as_memory_desc desc = {.allocator = "cuMemAlloc", .bytes = 4 << 20, .node = -1};
    (void)state;
    fake("integrated");
    open_device(&o, 2);
    check_ok(o.dev.device->memory_free(&o.dev, &counted, &err), &err);
    check_ok(as_device_memory_free(&o.dev, &bound, &err), &err);
    assert_int_equal(counted, 1 << 20);
    assert_true(bound > 64 << 20 && o.dev.info.memory_free > 64 << 20);
    check_ok(o.dev.memory->alloc(&o.dev, &desc, &m, &err), &err);
    o.dev.memory->free(&o.dev, m);
    assert_false(as_info_allocator(&o.dev.info, "cuMemAlloc")->host_access);
    o.dev.device->close(&o.dev);
}

/* The driver pins memory as it is registered: its pages are chosen before, and looked up. */
static void test_registered(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    const struct as_memory_desc desc = {.allocator = "cuMemHostRegister malloc", .bytes = 4 << 20, .node = -1};
    (void)state;
    check_ok(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), &err);
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    assert_int_equal(m->page_size, as_host_page());
    gpu.dev.memory->free(&gpu.dev, m);
}

/* Which of the ways by which kernels reach the host's memory. */
static void test_unified_memory(void **state)
{
    static const struct {
        const char *words, *said;
    } cases[] = {{"runs", ", HMM"},
                 {"grace", ", ATS, host access to managed memory on the device"},
                 {"uvm", ", UVM"},
                 {"plain", "CUDA 13.0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened o = {.backend = gpu.backend};
        fake(cases[i].words);
        open_device(&o, 2);
        const char *driver = o.dev.info.driver;
        assert_true(strlen(driver) >= strlen(cases[i].said));
        assert_string_equal(driver + strlen(driver) - strlen(cases[i].said), cases[i].said);
        assert_int_equal(o.dev.info.memory_node != 0, strcmp(cases[i].words, "grace") == 0);
        o.dev.device->close(&o.dev);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test_setup_teardown(test_half_way, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_static, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_attributes, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_beyond, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_plain, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_write_combined, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_integrated, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_registered, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_unified_memory, gpu_setup, gpu_teardown),
    };
    setenv("ASSAY_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
