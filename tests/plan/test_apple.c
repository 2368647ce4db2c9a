/* What suites plan on Apple's chips: the stand-in for Metal, with the figures of each chip. */
#include "device/device.h"
#include "device/memory_cache.h"
#include "plan/plan.h"
#include "refs/refs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* GPU cores and memory as Apple's specifications give them for one configuration of each chip; the family of Apple's
 * table of feature sets; what the language of one system has there (macOS 13, 15, 26, 27). */
enum {
    METAL_3_0 = AS_CAP_MATRIX,
    METAL_3_1 = METAL_3_0 | AS_CAP_BF16,
    METAL_4 = METAL_3_1 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS,
    METAL_4_1 = METAL_4 | AS_CAP_TENSOR_FP8
};
static const struct chip {
    const char *name;
    unsigned gpu_cores, family, language;
    uint64_t memory_gib;
} chips[] = {
    {"Apple M1", 8, 7, METAL_3_0, 16},      {"Apple M1 Max", 32, 7, METAL_3_1, 64},
    {"Apple M2", 10, 8, METAL_3_1, 16},     {"Apple M3 Max", 40, 9, METAL_3_1, 64},
    {"Apple M4", 10, 9, METAL_4, 24},       {"Apple M4 Pro", 20, 9, METAL_3_1, 48},
    {"Apple M4 Max", 40, 9, METAL_4_1, 64}, {"Apple M5", 10, 10, METAL_4_1, 24},
};
enum { CHIPS = sizeof chips / sizeof *chips };
static const char *const suites[] = {"quick", "full", "upm", "alu", "tensor", "residual", "residual_full"};
static struct as_device_info stand_in;

static int open_stand_in(void **state)
{
    struct as_opened o;
    struct as_error err = {0};
    (void)state;
    if (as_device_open("metal:0", &o, &err))
        fail_msg("%s", err.text);
    stand_in = o.device.info;
    as_device_close(&o);
    return 0;
}

static struct as_device_info describe(const struct chip *c)
{
    struct as_device_info info = stand_in;
    snprintf(info.name, sizeof info.name, "%s", c->name);
    snprintf(info.arch, sizeof info.arch, "apple%u", c->family);
    info.compute_units = c->gpu_cores;
    info.unit_fma = c->family < 10 ? 128 : 0; /* published up to family apple9 */
    info.capabilities = (info.capabilities & ~(unsigned)METAL_4_1) | c->language;
    info.memory_bytes = info.memory_free = c->memory_gib << 30;
    info.max_alloc = info.memory_bytes / 2;
    info.page_size = 16384;
    info.caches_n = 0;
    for (size_t i = 0; i < info.allocators_n; i++)
        info.allocators[i].most = 0;
    as_memory_cache_describe(&info);
    return info;
}

/* The CPU of such a chip: macOS has no huge pages and binds no thread. Caches: the M1's, of its performance cores
 * (Apple's sysctl hw.perflevel0); plans depend little on them. */
static struct as_device_info describe_cpu(const struct chip *c)
{
    struct as_device_info info = {.capabilities = AS_CAP_HOST_KERNELS | AS_CAP_CLOCK | AS_CAP_FP64 |
                                                  AS_CAP_SVM_ATOMICS | AS_CAP_ASYNC,
                                  .compute_units = 8,
                                  .threads = 8,
                                  .warp = 1,
                                  .page_size = 16384,
                                  .is_host_memory = true,
                                  .caches_n = 3,
                                  .allocators_n = 4};
    static const struct {
        const char *name, *why_not;
        enum as_role role;
    } allocators[] = {{"malloc", "", AS_ROLE_PAGEABLE},
                      {"mmap", "", AS_ROLE_BASE_PAGES},
                      {"thp", "the kernel has no transparent huge pages", AS_ROLE_HUGE_PAGES},
                      {"hugetlb", "macOS has no superpages", AS_ROLE_RESERVED_HUGE_PAGES}};
    snprintf(info.id, sizeof info.id, "cpu");
    snprintf(info.backend, sizeof info.backend, "cpu");
    snprintf(info.name, sizeof info.name, "%s", c->name);
    info.memory_bytes = info.memory_free = info.max_alloc = c->memory_gib << 30;
    info.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 128 << 10, .line = 128, .shared = 1};
    info.caches[1] = (struct as_cache){.level = 1, .kind = 'i', .size = 192 << 10, .line = 128, .shared = 1};
    info.caches[2] = (struct as_cache){.level = 2, .kind = 'u', .size = 12 << 20, .line = 128, .shared = 4};
    for (size_t i = 0; i < info.allocators_n; i++) {
        struct as_allocator *a = &info.allocators[i];
        *a =
            (struct as_allocator){.role = allocators[i].role, .host_access = true, .on_demand = true, .coherent = true};
        snprintf(a->name, sizeof a->name, "%s", allocators[i].name);
        snprintf(a->why_not, sizeof a->why_not, "%s", allocators[i].why_not);
    }
    as_memory_cache_describe(&info);
    return info;
}

static const char *text_of(const char *suite)
{
    for (size_t i = 0; as_suite_texts[i].name; i++)
        if (strcmp(as_suite_texts[i].name, suite) == 0)
            return as_suite_texts[i].text;
    fail_msg("no suite %s", suite);
    return NULL;
}

static void plan(const char *name, const struct as_device_info *info, struct as_plan *out)
{
    struct as_suite suite;
    struct as_error err = {0};
    *out = (struct as_plan){0};
    if (as_suite_parse(name, text_of(name), &suite, &err) || as_plan_add(out, &suite, info, NULL, 0, &err))
        fail_msg("%s on %s: %s", name, info->name, err.text);
    as_suite_finish(&suite);
}

/* Each cell can be measured there: it fits the memory, and claims memory only beyond the caches. */
static void check_cell(const struct as_cell *c, const struct as_device_info *info)
{
    const double size = as_axes_number(&c->axes, "size");
    if (size > (double)info->memory_bytes / 2)
        fail_msg("%s: %s of %g bytes does not fit", info->name, c->probe, size);
    if (strcmp(as_axes_text(&c->axes, "level"), "memory") == 0 && size < (double)as_info_memory_least(info, NULL, 1))
        fail_msg("%s: %s claims memory with %g bytes", info->name, c->probe, size);
    if (strcmp(as_axes_text(&c->axes, "type"), "f64") == 0 && !(info->capabilities & AS_CAP_FP64))
        fail_msg("%s: %s plans f64", info->name, c->probe);
}

static void test_plans(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < CHIPS; i++) {
        const struct as_device_info info = describe(&chips[i]);
        for (size_t k = 0; k < sizeof suites / sizeof *suites; k++) {
            struct as_plan p;
            size_t planned = 0;
            plan(suites[k], &info, &p);
            for (size_t n = 0; n < p.n; n++) {
                if (p.cells[n].status != AS_CELL_PLANNED) {
                    assert_true(p.cells[n].reason[0]); /* cells that cannot be measured have a reason */
                    continue;
                }
                planned++;
                check_cell(&p.cells[n], &info);
            }
            if (planned < 5)
                fail_msg("suite %s has %zu cells on %s", suites[k], planned, info.name);
            as_plan_finish(&p);
        }
    }
}

/* Number of planned cells of a probe with this value on an axis; axis NULL: all. */
static size_t count(const struct as_plan *p, const char *probe, const char *axis, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->cells[i].status == AS_CELL_PLANNED && strcmp(p->cells[i].probe, probe) == 0 &&
             (!axis || strcmp(as_axes_text(&p->cells[i].axes, axis), value) == 0);
    return n;
}

/* For everything that the sources measured on the CPUs of these chips, the suites have cells, on base pages. */
static void test_cpus(void **unused)
{
    static const struct {
        const char *suite, *probe;
    } rows[] = {{"quick", "latency"}, {"quick", "bandwidth"}, {"quick", "loaded_latency"}, {"quick", "alloc"},
                {"tensor", "matmul"}, {"full", "latency"},    {"upm", "latency"},          {"upm", "tlb"},
                {"upm", "fault"},     {"upm", "atomics"},     {"upm", "page_events"},      {"upm", "accounting"},
                {"alu", "alu"},       {"residual", "refill"}, {"residual_full", "refill"}};
    (void)unused;
    for (size_t i = 0; i < CHIPS; i++) {
        const struct as_device_info info = describe_cpu(&chips[i]);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            struct as_plan p;
            plan(rows[r].suite, &info, &p);
            for (size_t n = 0; n < p.n; n++)
                if (p.cells[n].status == AS_CELL_PLANNED)
                    check_cell(&p.cells[n], &info);
            if (count(&p, rows[r].probe, NULL, NULL) == 0)
                fail_msg("suite %s has no cell of %s on the CPU of an %s", rows[r].suite, rows[r].probe, info.name);
            assert_int_equal(count(&p, rows[r].probe, "allocator", "thp"), 0);
            as_plan_finish(&p);
        }
    }
}

/* Cells of suite tensor for the matrix paths of each chip: instructions of every type that its language has, GEMMs by
 * them, by the library and by tensors where available; fusion and attention. */
static void test_matrix_units(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < CHIPS; i++) {
        const struct as_device_info info = describe(&chips[i]);
        const bool bf16 = info.capabilities & AS_CAP_BF16, tensors = info.capabilities & AS_CAP_TENSOR_OPS,
                   fp8 = info.capabilities & AS_CAP_TENSOR_FP8;
        struct as_plan p;
        plan("tensor", &info, &p);
        const struct {
            const char *probe, *axis, *value;
            bool want;
        } rows[] = {
            {"matmul_rate", "instruction", "simdgroup_m8n8k8_f16_f32", true},
            {"matmul_rate", "instruction", "simdgroup_m8n8k8_bf16_f32", bf16},
            {"matmul_rate", "instruction", "matmul2d_m16n32k16_s8_s32", tensors},
            {"matmul_peak", NULL, NULL, info.unit_fma != 0}, /* if the clock can be calibrated */
            {"numerics", "instruction", "simdgroup_m8n8k8_f16_f32", true},
            {"numerics", "instruction", "matmul2d_m16n32k16_f16_f32", tensors},
            {"numerics", "instruction", "matmul2d_m16n32k16_e4m3_f32", fp8},
            {"layout", NULL, NULL, true},
            {"layout", "instruction", "matmul2d_frag16_m16n32k16_f16_f32", tensors && chips[i].family >= 10},
            {"conversion", "op", "f32_f16", true},
            {"conversion", "op", "f32_bf16", bf16},
            {"conversion", "op", "f32_e4m3", fp8},
            {"matmul", "path", "mma", true},
            {"matmul", "path", "library", true},
            {"matmul", "path", "tensor", tensors},
            {"matmul", "path", "wgmma", false},
            {"fusion", "path", "mma", true},
            {"fusion", "path", "tensor", tensors},
            {"attention", "path", "flash", true},
            {"attention", "path", "split", true},
        };
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            if ((count(&p, rows[r].probe, rows[r].axis, rows[r].value) > 0) != rows[r].want)
                fail_msg("%s: %s cells of %s, %s %s", info.name, rows[r].want ? "no" : "unexpected", rows[r].probe,
                         rows[r].axis ? rows[r].axis : "all", rows[r].value ? rows[r].value : "");
        for (size_t c = 0; c < p.n; c++)
            if (p.cells[c].status == AS_CELL_PLANNED && strcmp(p.cells[c].probe, "matmul") == 0 &&
                strcmp(as_axes_text(&p.cells[c].axes, "path"), "tensor") == 0)
                assert_true(fp8 || as_axes_text(&p.cells[c].axes, "type")[0] != 'e');
        as_plan_finish(&p);
    }
}

static void test_references(void **unused)
{
    static const struct {
        const char *device, *about;
    } rows[] = {{"Apple M1 Max", "metal_benchmarks"},
                {"Apple M4", "rigel"},
                {"Apple M4 Pro", "m4pro"},
                {"Apple M5", NULL},
                {"AMD Instinct MI300A", "mi300a"},
                {"NVIDIA H100 80GB HBM3", NULL}};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_device_info info = {.compute_units = 1};
        snprintf(info.name, sizeof info.name, "%s", rows[i].device);
        const char *about = as_refs_about(&info);
        assert_int_equal(about != NULL, rows[i].about != NULL);
        if (about)
            assert_string_equal(about, rows[i].about);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_cpus),
                                       cmocka_unit_test(test_matrix_units), cmocka_unit_test(test_references)};
    return cmocka_run_group_tests_name("plans on Apple's chips", tests, open_stand_in, NULL);
}
