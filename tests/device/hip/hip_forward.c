/* The HIP backend on the library that forwards to CUDA, over the stand-in for the driver and the real NVRTC: devices by
 * name and numbers, every allocator, a kernel launched, and the machine code that the CUDA backend would have had. */
#include "device/cuda/cuda.h"
#include "device/hip/hip.h"

#include "../cuda/driver.h"
#include "../stand_in.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

extern const struct as_backend as_backend_hip;

/* What is made and not given back is told by the driver. */
const struct stand_in stand_in = {
    .backend = &as_backend_hip,
    AS_FAKE_DRIVER,
    .allocators = {"hipMalloc", "hipMalloc"},
    .pinned = "hipHostMalloc",
};

/* Each launch counts. */
static const char counting[] = "KERNEL(count)(ARG_GLOBAL(0, atomic_u32, n) ARG_INDICES)\n"
                               "{ if (GLOBAL_THREAD == 0) ATOMIC_ADD(n, 1u, ORDER_RELAXED, SCOPE_DEVICE); }\n";

static bool has_nvrtc(void)
{
    struct as_nvrtc_api nvrtc;
    return as_nvrtc_load(&nvrtc, NULL) == AS_OK;
}

static int setup(void **state)
{
    (void)state;
    fake("runs");
    open_card(&card, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_backend(&card);
    assert_string_equal(fake_broken(), "");
    return 0;
}

/* As a runtime does, the library keeps what it has of a device for as long as the process lives. */
static void test_given_back(void **state)
{
    (void)state;
    int before = fake_live();
    struct opened second;
    open_card(&second, 0);
    assert_true(fake_live() > before);
    close_backend(&second);
    assert_int_equal(fake_live(), before);
}

static void test_devices(void **state)
{
    const struct as_device_info *info = &card.dev.info;
    (void)state;
    assert_int_equal(stand_in.backend->count(card.backend), 3);
    assert_non_null(strstr(info->name, "HIP forwarded to CUDA: "));
    assert_non_null(strstr(info->driver, "HIP 0.0."));
    assert_non_null(strstr(info->driver, "XNACK on"));
    assert_string_equal(info->arch, "gfx9c90");
    assert_string_equal(info->bus_id, "0000:0a:03.0");
    assert_int_equal(info->compute_units, 132);
    assert_int_equal(info->warp, 32);
    assert_int_equal(info->workgroup_shared, 232448);
    assert_int_equal(info->compute_unit_threads, 2048);
    assert_true(info->capabilities & AS_CAP_CYCLES);
    assert_int_equal(info->memory_bytes, 141 * GIB);
    assert_true(info->peak_bandwidth == 2.0 * 3201e6 * 6144 / 8);
}

/* Where the driver is missing, that is what is said. */
static void test_no_device(void **state)
{
    (void)state;
    gpu_refuses("none", NULL, "/dev/kfd");
    fake("runs");
}

static void test_allocators(void **state)
{
    static const struct {
        const char *name, *why_not;
    } table[] = {
        {"hipMalloc", NULL},
        {"hipExtMallocWithFlags fine-grained", "hipDeviceAttributeFineGrainSupport"},
        {"hipMallocManaged", "XNACK is on"},
        {"hipMallocManaged XNACK", NULL},
        {"hipHostMalloc", NULL},
        {"hipHostMalloc coherent", NULL},
        {"hipHostMalloc non-coherent", "(801)"},
        {"hipHostRegister malloc", NULL},
        {"malloc", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct as_error err = {0};
        struct as_memory *m = NULL;
        enum as_status s = gpu_get(table[i].name, ROUND_TRIP, NULL, &m, &err);
        if (table[i].why_not) {
            check_fails(s, AS_UNSUPPORTED, &err, table[i].why_not);
            continue;
        }
        check_ok(s, &err);
        gpu_round_trip(table[i].name, m);
        card.dev.memory->free(&card.dev, m);
    }
}

static void test_launch(void **state)
{
    const struct as_program_desc desc = {.name = "counting", .source = counting};
    const struct as_memory_desc want = {.allocator = "hipMalloc", .bytes = 4096, .node = -1};
    struct as_program *program = NULL;
    struct as_kernel *kernel = NULL;
    struct as_memory *m = NULL;
    struct as_error err = {0};
    struct as_timing t;
    uint32_t n = 0;
    (void)state;
    if (!has_nvrtc())
        skip();
    check_ok(card.dev.program->build(&card.dev, &desc, &program, &err), &err);
    check_ok(card.dev.program->kernel(&card.dev, program, "count", &kernel, &err), &err);
    check_ok(card.dev.memory->alloc(&card.dev, &want, &m, &err), &err);
    check_ok(card.dev.memory->write(&card.dev, m, 0, &n, sizeof n, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = m}}};
    const struct as_launch l = {
        .kernel = kernel, .args = args, .args_n = 1, .workgroups = 3, .workgroup_size = 64, .reps = 5};
    check_ok(card.dev.queue->launch(&card.dev, &l, &t, &err), &err);
    check_ok(card.dev.memory->read(&card.dev, m, 0, &n, sizeof n, &err), &err);
    assert_int_equal(n, 5);
    assert_true(t.host_s > 0);
    card.dev.memory->free(&card.dev, m);
    card.dev.program->kernel_destroy(&card.dev, kernel);
    card.dev.program->destroy(&card.dev, program);
}

/* The bytes of one section, which is there. */
static const unsigned char *section(const unsigned char *code, size_t bytes, const char *name, size_t *n)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    assert_true(bytes > sizeof head);
    memcpy(&head, code, sizeof head);
    memcpy(&names, code + head.e_shoff + (size_t)head.e_shstrndx * sizeof names, sizeof names);
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&s, code + head.e_shoff + i * sizeof s, sizeof s);
        *n = s.sh_size;
        if (strcmp((const char *)code + names.sh_offset + s.sh_name, name) == 0)
            return code + s.sh_offset;
    }
    fail_msg("there is no section %s", name);
    return NULL;
}

/* What differs is only what the dialect's words and options make different: nothing. */
static void test_same_machine_code(void **state)
{
    static const struct as_hip_target target = {.name = "gfx9c90:xnack+", .arch = "gfx9c90", .wall_khz = 1000000};
    const struct as_program_desc desc = {.name = "counting", .source = counting};
    struct as_nvrtc_api nvrtc;
    struct as_hiprtc_api rtc;
    struct as_error err = {0};
    unsigned char *by_cuda = NULL, *by_hip = NULL;
    size_t cuda_bytes = 0, hip_bytes = 0, n = 0, m = 0;
    (void)state;
    if (as_nvrtc_load(&nvrtc, NULL))
        skip();
    void *library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    check_ok(as_hiprtc_load(&rtc, library, &err), &err);
    check_ok(as_cu_compile(&nvrtc, &desc, "sm_90", &by_cuda, &cuda_bytes, &err), &err);
    check_ok(as_hip_compile(&rtc, &desc, &target, &by_hip, &hip_bytes, &err), &err);
    const unsigned char *ours = section(by_hip, hip_bytes, ".text.count", &n);
    const unsigned char *theirs = section(by_cuda, cuda_bytes, ".text.count", &m);
    assert_int_equal(n, m);
    assert_true(n >= 32);
    assert_memory_equal(ours, theirs, n);
    free(by_cuda);
    free(by_hip);
    const struct as_program_desc wrong = {.name = "wrong", .source = "KERNEL(k)(ARG_INDICES)\n{ nonsense(); }\n"};
    check_fails(as_hip_compile(&rtc, &wrong, &target, &by_hip, &hip_bytes, &err), AS_FAILED, &err, "nonsense");
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices), cmocka_unit_test(test_allocators), cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_launch),  cmocka_unit_test(test_no_device),  cmocka_unit_test(test_same_machine_code),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
