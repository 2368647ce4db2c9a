/* What is the HIP backend's own, on the stand-in for its runtime; the rest is in the conformance suite. */
#include "../stand_in.h"
#include "base/host.h"
#include "device/backing.h"
#include "device/gpu/memory.h"
#include "os/memory.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

static void test_info(void **state)
{
    struct opened o;
    (void)state;
    fake("");
    open_gpu(&o, 2);
    const struct as_device_info *i = &o.dev.info;
    assert_string_equal(i->id, "hip:2");
    assert_string_equal(i->backend, "hip");
    assert_string_equal(i->name, "<script>alert(1)</script>");
    assert_string_equal(i->uuid, "GPU-26ac62ca0b1a4f5d");
    assert_string_equal(i->driver, "HIP 6.3.42134, XNACK off");
    assert_string_equal(i->arch, "gfx90a");
    assert_int_equal(i->compute_units, 2);
    assert_int_equal(i->threads, 1024);
    assert_int_equal(i->warp, 64);
    assert_int_equal(i->compute_unit_threads, 2048);
    assert_int_equal(i->compute_unit_shared, 64 << 10);
    assert_int_equal(i->workgroup_shared, 64 << 10);
    assert_int_equal(as_info_last_cache(i), 1 << 20);
    assert_int_equal(i->memory_bytes, UINT64_C(4) << 30);
    assert_int_equal(i->memory_free, UINT64_C(3) << 30);
    assert_true(fabs(i->peak_bandwidth - 1638.4e9) < 1e6);
    assert_true(fabs(i->clock_max_hz - 1.7e9) < 1);
    assert_false(i->is_host_memory);
    assert_true(i->capabilities & AS_CAP_COPY && i->capabilities & AS_CAP_FP16 && i->capabilities & AS_CAP_CYCLES);
    assert_true(i->capabilities & AS_CAP_SVM_ATOMICS);
    assert_true(i->capabilities & AS_CAP_CODE);
    close_gpu(&o);
}

/* A chip whose name is none: nothing is known of it, and nothing is compiled for it. */
static void test_unknown_chip(void **state)
{
    static const struct as_program_desc desc = {.name = "any", .source = "KERNEL(any)(ARG_GLOBAL(0, u32, p)) { }"};
    struct opened o;
    struct as_program *p = NULL;
    struct as_error err = {0};
    (void)state;
    fake("unknown");
    open_gpu(&o, 0);
    assert_string_equal(o.dev.info.arch, "");
    assert_string_equal(o.dev.info.driver, "HIP 6.3.42134");
    assert_false(o.dev.info.capabilities & (AS_CAP_CYCLES | AS_CAP_CLOCK));
    check_fails(o.dev.program->build(&o.dev, &desc, &p, &err), AS_UNSUPPORTED, &err, "does not tell what chip");
    close_gpu(&o);
}

/* What can be used on a GPU that does not replay page faults, and on a chip that shares the host's memory and does. */
static const char *const on_card[] = {"hipMalloc",
                                      "hipMallocAsync",
                                      "hipMemCreate",
                                      "hipExtMallocWithFlags fine-grained",
                                      "hipMallocManaged",
                                      "hipMallocManaged prefer device",
                                      "hipMallocManaged prefer host",
                                      "hipMallocManaged read mostly",
                                      "hipMallocManaged accessed by device",
                                      "hipMallocManaged coarse-grained",
                                      "hipMallocManaged prefetch",
                                      "hipMallocManaged prefetch to host",
                                      "hipHostMalloc",
                                      "hipHostMalloc coherent",
                                      "hipHostMalloc non-coherent",
                                      "hipHostMalloc portable",
                                      "hipHostRegister malloc",
                                      "__managed__",
                                      NULL};
static const char *const on_apu[] = {"hipMalloc",
                                     "hipMallocAsync",
                                     "hipMemCreate",
                                     "hipExtMallocWithFlags fine-grained",
                                     "hipMallocManaged XNACK",
                                     "hipMallocManaged prefer device",
                                     "hipMallocManaged prefer host",
                                     "hipMallocManaged read mostly",
                                     "hipMallocManaged accessed by device",
                                     "hipMallocManaged coarse-grained",
                                     "hipMallocManaged prefetch",
                                     "hipMallocManaged prefetch to host",
                                     "hipHostMalloc",
                                     "hipHostMalloc coherent",
                                     "hipHostMalloc non-coherent",
                                     "hipHostMalloc portable",
                                     "hipHostRegister malloc",
                                     "malloc",
                                     "malloc huge pages",
                                     "hugetlb",
                                     "__managed__",
                                     NULL};

/* Some hosts have no transparent huge pages, and most have reserved none. */
static bool lacks_pages(const char *allocator)
{
    return (strcmp(allocator, "malloc huge pages") == 0 && !as_backing_huge_page()) ||
           (strcmp(allocator, "hugetlb") == 0 && as_backing_pool_limit());
}

static void check_usable(const char *const *expected)
{
    for (size_t i = 0; i < gpu.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &gpu.dev.info.allocators[i];
        while (*expected && lacks_pages(*expected))
            expected++;
        if (!a->why_not[0])
            assert_string_equal(a->name, *expected++);
    }
    assert_null(*expected);
}

static void test_card(void **state)
{
    (void)state;
    check_usable(on_card);
    assert_false(as_info_allocator(&gpu.dev.info, "hipMalloc")->host_access);
    assert_false(as_info_allocator(&gpu.dev.info, "hipMallocManaged")->on_demand);
    assert_true(as_info_allocator(&gpu.dev.info, "hipHostMalloc")->coherent);
    assert_false(as_info_allocator(&gpu.dev.info, "hipHostMalloc non-coherent")->coherent);
    assert_non_null(
        strstr(as_info_allocator(&gpu.dev.info, "malloc")->why_not, "hipDeviceAttributePageableMemoryAccess"));
    assert_non_null(strstr(as_info_allocator(&gpu.dev.info, "hipMallocManaged XNACK")->why_not, "HSA_XNACK=1"));
}

/* The environment decides whether memory is coherent whose flags leave it open, and of no other. */
static void test_coherence_by_environment(void **state)
{
    static const struct {
        const char *value;
        bool coherent;
    } cases[] = {{NULL, false}, {"0", false}, {"1", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_memory *m = NULL;
        struct as_error err = {0};
        close_gpu(&gpu);
        if (cases[i].value)
            setenv("HIP_HOST_COHERENT", cases[i].value, 1);
        open_gpu(&gpu, 0);
        unsetenv("HIP_HOST_COHERENT");
        assert_int_equal(as_info_allocator(&gpu.dev.info, "hipHostMalloc portable")->coherent, cases[i].coherent);
        assert_false(as_info_allocator(&gpu.dev.info, "hipHostMalloc non-coherent")->coherent);
        assert_true(as_info_allocator(&gpu.dev.info, "hipHostMalloc")->coherent);
        check_ok(gpu_get("hipHostMalloc portable", 4096, NULL, &m, &err), &err);
        gpu.dev.memory->free(&gpu.dev, m);
        check_ok(gpu_get("hipHostMalloc non-coherent", 4096, NULL, &m, &err), &err);
        gpu.dev.memory->free(&gpu.dev, m);
    }
}

/* Managed memory is capped where its pages move: on demand, by advice or by prefetching. */
static void test_managed_caps(void **state)
{
    const uint64_t cap = UINT64_C(1) << 30;
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    assert_int_equal(as_info_allocator(&gpu.dev.info, "hipMallocManaged")->most, 0);
    check_ok(gpu_get("hipMallocManaged", cap + 1, NULL, &m, &err), &err);
    gpu.dev.memory->free(&gpu.dev, m);
    const uint64_t advised = as_info_allocator(&gpu.dev.info, "hipMallocManaged prefer device")->most;
    assert_true(advised > 0 && advised <= cap);
    check_fails(gpu_get("hipMallocManaged prefetch", cap + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at");
    close_gpu(&gpu);
    fake("card xnack");
    open_gpu(&gpu, 0);
    const uint64_t moved = as_info_allocator(&gpu.dev.info, "hipMallocManaged XNACK")->most;
    assert_true(moved > 0 && moved <= cap);
    check_fails(gpu_get("hipMallocManaged XNACK", cap + 1, NULL, &m, &err), AS_UNSUPPORTED, &err, "capped at");
}

/* The driver says that there is one memory, and a value written by it is not there for the host. */
static void test_memory_apart(void **state)
{
    (void)state;
    close_gpu(&gpu);
    fake("apu xnack apart");
    open_gpu(&gpu, 0);
    const struct as_allocator *own = as_info_allocator(&gpu.dev.info, "hipMalloc");
    assert_true(gpu.dev.info.is_host_memory);
    assert_false(own->host_access);
    assert_non_null(strstr(own->no_sharing, "a value written there was not read by the host"));
    assert_true(as_info_allocator(&gpu.dev.info, "hipHostMalloc")->host_access);
}

/* Stack and other memory of the process through the allocator of such memory, which keeps it; through no other. */
static void test_memory_in_place(void **state)
{
    uint64_t here[8] = {7};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    struct as_memory_desc desc = {.allocator = "malloc", .bytes = sizeof here, .node = -1, .at = here};
    (void)state;
    close_gpu(&gpu);
    fake("apu xnack");
    open_gpu(&gpu, 0);
    check_ok(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), &err);
    assert_true(as_gpu_address(m) == (uintptr_t)here);
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    assert_ptr_equal(m->host, here);
    gpu.dev.memory->free(&gpu.dev, m);
    assert_int_equal(here[0], 7);
    desc.allocator = "hipMalloc";
    check_fails(gpu.dev.memory->alloc(&gpu.dev, &desc, &m, &err), AS_UNSUPPORTED, &err, "cannot use existing memory");
}

static void test_apu(void **state)
{
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    close_gpu(&gpu);
    fake("apu xnack");
    open_gpu(&gpu, 0);
    check_usable(on_apu);
    assert_string_equal(gpu.dev.info.arch, "gfx942");
    assert_true(gpu.dev.info.is_host_memory);
    assert_true(as_info_allocator(&gpu.dev.info, "hipMalloc")->host_access);
    assert_true(as_info_allocator(&gpu.dev.info, "hipMallocManaged XNACK")->on_demand);
    assert_non_null(strstr(as_info_allocator(&gpu.dev.info, "hipMallocManaged")->why_not, "HSA_XNACK=0"));
    check_ok(gpu_get("hipMalloc", 4096, NULL, &m, &err), &err);
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    void *there = m->host;
    ((char *)there)[5] = 3;
    check_ok(gpu.dev.memory->unmap(&gpu.dev, m, &err), &err);
    check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
    assert_ptr_equal(m->host, there); /* in place, not a copy */
    gpu.dev.memory->free(&gpu.dev, m);
}

/* Was the last prefetch or advice for the host? */
static bool settled_for_host(void)
{
    return fake_live_of(stand_in.library, "fake_driver_settled_for") < 0;
}

/* Advice is given once, for the side that its name says; prefetches also come before the use of that side. */
static void test_advice(void **state)
{
    static const struct {
        const char *allocator;
        bool host;
    } rows[] = {{"hipMallocManaged prefer device", false},  {"hipMallocManaged prefer host", true},
                {"hipMallocManaged read mostly", false},    {"hipMallocManaged accessed by device", false},
                {"hipMallocManaged coarse-grained", false}, {"hipMallocManaged prefetch", false},
                {"hipMallocManaged prefetch to host", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_memory *m = NULL, *other = NULL;
        struct as_error err = {0};
        check_ok(gpu_get(rows[i].allocator, 4096, NULL, &m, &err), &err);
        assert_int_equal(settled_for_host(), rows[i].host);
        /* another block's advice, for the other side */
        const char *away = rows[i].host ? "hipMallocManaged prefer device" : "hipMallocManaged prefer host";
        check_ok(gpu_get(away, 4096, NULL, &other, &err), &err);
        check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
        assert_int_equal(settled_for_host() == rows[i].host, strstr(rows[i].allocator, "to host") != NULL);
        check_ok(gpu.dev.memory->unmap(&gpu.dev, m, &err), &err);
        assert_int_equal(settled_for_host() == rows[i].host, strstr(rows[i].allocator, "prefetch") != NULL);
        gpu.dev.memory->free(&gpu.dev, m);
        gpu.dev.memory->free(&gpu.dev, other);
    }
}

/* What the driver says of the pages is what was advised; of other memory it says nothing. */
static void test_attributes(void **state)
{
    static const struct {
        const char *allocator;
        struct as_page_attributes said;
    } rows[] = {
        {"hipMallocManaged", {"none", "none", "none", "no", "fine-grained"}},
        {"hipMallocManaged prefer device", {"none", "device", "none", "no", "fine-grained"}},
        {"hipMallocManaged prefer host", {"none", "host", "none", "no", "fine-grained"}},
        {"hipMallocManaged read mostly", {"none", "none", "none", "yes", "fine-grained"}},
        {"hipMallocManaged accessed by device", {"none", "none", "device", "no", "fine-grained"}},
        {"hipMallocManaged coarse-grained", {"none", "none", "none", "no", "coarse-grained"}},
        {"hipMallocManaged prefetch", {"device", "none", "none", "no", "fine-grained"}},
        {"hipMallocManaged prefetch to host", {"host", "none", "none", "no", "fine-grained"}},
    };
    struct as_memory *m = NULL;
    struct as_error err = {0};
    struct as_page_attributes got;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_ok(gpu_get(rows[i].allocator, 4096, NULL, &m, &err), &err);
        check_ok(gpu.dev.memory->attributes(&gpu.dev, m, &got, &err), &err);
        assert_string_equal(got.last_prefetch, rows[i].said.last_prefetch);
        assert_string_equal(got.preferred, rows[i].said.preferred);
        assert_string_equal(got.accessed_by, rows[i].said.accessed_by);
        assert_string_equal(got.read_mostly, rows[i].said.read_mostly);
        assert_string_equal(got.coherence, rows[i].said.coherence);
        gpu.dev.memory->free(&gpu.dev, m);
    }
    check_ok(gpu_get("hipMalloc", 4096, NULL, &m, &err), &err);
    check_fails(gpu.dev.memory->attributes(&gpu.dev, m, &got, &err), AS_UNSUPPORTED, &err, "no page attributes");
    gpu.dev.memory->free(&gpu.dev, m);
}

/* A page of process memory is one base page, whatever the system's policy: what is counted per page holds of it. */
static void test_pages_of_process_memory(void **state)
{
    enum { BYTES = 8 << 20 };
    struct as_memory *m = NULL;
    struct as_error err = {0};
    const uint64_t page = as_host_page();
    (void)state;
    close_gpu(&gpu);
    fake("apu xnack");
    open_gpu(&gpu, 0);
    for (int huge = 0; huge < (as_backing_huge_page() ? 2 : 1); huge++) {
        check_ok(gpu_get(huge ? "malloc huge pages" : "malloc", BYTES, NULL, &m, &err), &err);
        check_ok(gpu.dev.memory->map(&gpu.dev, m, &err), &err);
        for (uint64_t at = 0; at < BYTES; at += page)
            ((volatile char *)m->host)[at] = 1;
        check_ok(gpu.dev.memory->unmap(&gpu.dev, m, &err), &err);
        if (!huge)
            assert_int_equal(m->page_size, page);
        else if (m->page_size != as_backing_huge_page()) /* it had none left, and says so */
            assert_int_equal(m->page_size, page);
        gpu.dev.memory->free(&gpu.dev, m);
    }
}

/* Whether a process state that sets it means anything is known from the target's name. */
static void test_ignored_variable(void **state)
{
    static const struct {
        const char *words, *ignored, *why;
    } chips[] = {{"rdna3", "HSA_XNACK", "gfx1100 has no XNACK"},
                 {"cdna3", "HSA_XNACK=0", "gfx942 has XNACK off"},
                 {"apu xnack", "HSA_XNACK=1", "gfx942 has XNACK on"},
                 {"unknown", "", ""} /* may have it */};
    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        close_gpu(&gpu);
        fake(chips[i].words);
        open_gpu(&gpu, 0);
        assert_string_equal(gpu.dev.info.ignored, chips[i].ignored);
        assert_string_equal(gpu.dev.info.ignored_why, chips[i].why);
    }
}

static void test_plain(void **state)
{
    struct opened old = {.backend = gpu.backend};
    (void)state;
    fake("plain");
    open_device(&old, 0);
    const struct as_device_info *info = &old.dev.info;
    assert_non_null(strstr(as_info_allocator(info, "__managed__")->why_not, "hipDeviceAttributeManagedMemory"));
    old.dev.device->close(&old.dev);
}

static void test_code(void **state)
{
    const struct as_program_desc desc = {
        .name = "code", .source = "KERNEL(k)(ARG_GLOBAL(0, u32, p) ARG_INDICES) { p[GLOBAL_THREAD] = 1; }"};
    struct as_program *program = NULL;
    struct as_kernel *k = NULL;
    struct as_kernel_info info;
    struct as_error err = {0};
    double hz[15];
    uint64_t n = 0;
    (void)state;
    check_ok(gpu.dev.program->build(&gpu.dev, &desc, &program, &err), &err);
    check_ok(gpu.dev.program->kernel(&gpu.dev, program, "k", &k, &err), &err);
    check_ok(gpu.dev.program->kernel_info(&gpu.dev, k, 96, 0, &info, &err), &err);
    assert_int_equal(info.resident_workgroups, 16);
    assert_true(info.code_bytes > 8 && info.code_bytes < 4096);
    assert_true(gpu.dev.code.binary != 0);
    /* the stand-in's code is the host's, and no AMD chip's */
    check_fails(gpu.dev.program->count(&gpu.dev, k, "any", &n, &err), AS_UNSUPPORTED, &err, "for another chip");
    /* Between timer and counter a thread of the host may lose its CPU: in few of many readings. */
    for (size_t i = 0; i < sizeof hz / sizeof *hz; i++)
        check_ok(gpu.dev.device->clock(&gpu.dev, &hz[i], &err), &err);
    assert_true(fabs(as_median(hz, sizeof hz / sizeof *hz) - 1.5e9) < 1.5e8);
    gpu.dev.program->kernel_destroy(&gpu.dev, k);
    gpu.dev.program->destroy(&gpu.dev, program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_unknown_chip),
        cmocka_unit_test_setup_teardown(test_card, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_managed_caps, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_coherence_by_environment, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_apu, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_memory_apart, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_memory_in_place, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_pages_of_process_memory, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_advice, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_attributes, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_ignored_variable, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_plain, gpu_setup, gpu_teardown),
        cmocka_unit_test_setup_teardown(test_code, gpu_setup, gpu_teardown),
    };
    setenv("ASSAY_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
