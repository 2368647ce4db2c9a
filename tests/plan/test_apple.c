/* What suites plan on Apple's chips: the stand-in for Metal with what each system and chip can do. */
#include "device/device.h"
#include "device/memory_cache.h"
#include "plan/plan.h"
#include "refs/refs.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What plans depend on: what the language of each macOS adds (13, 15, 26, 27), and the family of the chip. */
static const struct variant {
    unsigned language;
    bool is_newest; /* apple10, whose cores are not published and which has fragments of tensors */
} variants[] = {
    {AS_CAP_MATRIX, false},
    {AS_CAP_MATRIX | AS_CAP_BF16, false},
    {AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS, false},
    {AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8, true},
};
enum { VARIANTS = sizeof variants / sizeof *variants };
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

static struct as_device_info describe(const struct variant *v)
{
    struct as_device_info info = stand_in;
    const unsigned all = variants[VARIANTS - 1].language;
    info.unit_fma = v->is_newest ? 0 : 128;
    info.capabilities = (info.capabilities & ~all) | v->language;
    snprintf(info.arch, sizeof info.arch, "%s", v->is_newest ? "apple10" : "apple9");
    return info;
}

/* The CPU of such a chip: macOS has no huge pages there and binds no thread. */
static struct as_device_info describe_cpu(void)
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
    snprintf(info.name, sizeof info.name, "%s", stand_in.name);
    info.memory_bytes = info.memory_free = info.max_alloc = UINT64_C(8) << 30;
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

static void plan(const char *name, const char *text, const struct as_device_info *info, struct as_plan *out)
{
    struct as_suite suite;
    struct as_error err = {0};
    *out = (struct as_plan){0};
    if (as_suite_parse(name, text, &suite, &err) || as_plan_add(out, &suite, info, NULL, 0, &err))
        fail_msg("%s on %s: %s", name, info->id, err.text);
    as_suite_finish(&suite);
}

/* A number that can be measured there: it fits the memory, and says memory only beyond the caches. */
static void check_cell(const struct as_cell *c, const struct as_device_info *info)
{
    const double size = as_axes_number(&c->axes, "size");
    if (size > (double)info->memory_bytes / 2)
        fail_msg("%s: %s of %g bytes does not fit", info->name, c->probe, size);
    if (strcmp(as_axes_text(&c->axes, "level"), "memory") == 0 && size < (double)as_info_memory_least(info, NULL, 1))
        fail_msg("%s: %s claims memory with %g bytes", info->name, c->probe, size);
    if (strcmp(as_axes_text(&c->axes, "allocator"), "thp") == 0)
        fail_msg("%s: %s plans huge pages", info->id, c->probe);
    const bool by_cpu = strcmp(as_axes_text(&c->axes, "agent"), "cpu") == 0;
    if (strcmp(as_axes_text(&c->axes, "type"), "f64") == 0 && !by_cpu && !(info->capabilities & AS_CAP_FP64))
        fail_msg("%s: %s plans f64", info->name, c->probe);
}

static void check_plan(const char *name, const char *text, const struct as_device_info *info)
{
    struct as_plan p;
    plan(name, text, info, &p);
    for (size_t n = 0; n < p.n; n++) {
        if (p.cells[n].status == AS_CELL_PLANNED)
            check_cell(&p.cells[n], info);
        else
            assert_true(p.cells[n].reason[0]); /* what cannot be measured says why */
    }
    if (p.n == 0 && !p.pruned[0])
        fail_msg("%s: suite %s has no cell, and no reason", info->id, name);
    as_plan_finish(&p);
}

UNIT_TEST(test_plans)
{
    const struct as_device_info cpu = describe_cpu();
    for (size_t s = 0; as_suite_texts[s].name; s++) {
        const char *name = as_suite_texts[s].name, *text = as_suite_texts[s].text;
        check_plan(name, text, &cpu);
        for (size_t i = 0; i < VARIANTS; i++) {
            const struct as_device_info info = describe(&variants[i]);
            check_plan(name, text, &info);
        }
    }
}

/* Cells of a probe that are planned, of those with this value on an axis; axis NULL: all. */
static size_t count(const struct as_plan *p, const char *probe, const char *axis, const char *value)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->cells[i].status == AS_CELL_PLANNED && strcmp(p->cells[i].probe, probe) == 0 &&
             (!axis || strcmp(as_axes_text(&p->cells[i].axes, axis), value) == 0);
    return n;
}

/* What the suite tensor has for the matrix paths of each chip: instructions of every type that its language has, GEMMs
 * by them and by the library, by tensors where those are; fusion and attention. */
UNIT_TEST(test_matrix_units)
{
    const struct as_builtin_text *suite = as_suite_texts;
    while (strcmp(suite->name, "tensor") != 0)
        suite++;
    for (size_t i = 0; i < VARIANTS; i++) {
        const struct as_device_info info = describe(&variants[i]);
        const bool bf16 = info.capabilities & AS_CAP_BF16, tensors = info.capabilities & AS_CAP_TENSOR_OPS,
                   fp8 = info.capabilities & AS_CAP_TENSOR_FP8;
        struct as_plan p;
        plan(suite->name, suite->text, &info, &p);
        const struct {
            const char *probe, *axis, *value;
            bool want;
        } rows[] = {
            {"matmul_rate", "instruction", "simdgroup_m8n8k8_f16_f32", true},
            {"matmul_rate", "instruction", "simdgroup_m8n8k8_bf16_f32", bf16},
            {"matmul_rate", "instruction", "matmul2d_m16n32k16_s8_s32", tensors},
            {"matmul_peak", NULL, NULL, true},
            {"numerics", "instruction", "simdgroup_m8n8k8_f16_f32", true},
            {"numerics", "instruction", "matmul2d_m16n32k16_f16_f32", tensors},
            {"numerics", "instruction", "matmul2d_m16n32k16_e4m3_f32", fp8},
            {"layout", NULL, NULL, true},
            {"layout", "instruction", "matmul2d_frag16_m16n32k16_f16_f32", tensors && variants[i].is_newest},
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
                fail_msg("variant %zu: %s cells of %s, %s %s", i, rows[r].want ? "no" : "unexpected", rows[r].probe,
                         rows[r].axis ? rows[r].axis : "all", rows[r].value ? rows[r].value : "");
        for (size_t c = 0; c < p.n; c++)
            if (p.cells[c].status == AS_CELL_PLANNED && strcmp(p.cells[c].probe, "matmul") == 0 &&
                strcmp(as_axes_text(&p.cells[c].axes, "path"), "tensor") == 0)
                assert_true(fp8 || as_axes_text(&p.cells[c].axes, "type")[0] != 'e');
        as_plan_finish(&p);
    }
}

/* A device that was studied has a set of figures that is there; of names that begin alike the longer one has its own.
 */
UNIT_TEST(test_references)
{
    static const char *const devices[] = {"Apple M1 Max", "Apple M4", "Apple M4 Pro", "AMD Instinct MI300A"};
    struct as_device_info info = {.compute_units = 1};
    const char *before = NULL;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct as_refs refs;
        struct as_error err = {0};
        snprintf(info.name, sizeof info.name, "%s", devices[i]);
        const char *about = as_refs_about(&info);
        assert_non_null(about);
        if (as_refs_load(about, &refs, &err))
            fail_msg("%s: %s", info.name, err.text);
        as_refs_finish(&refs);
        assert_true(!before || strcmp(about, before) != 0);
        before = about;
    }
    snprintf(info.name, sizeof info.name, "device of no study");
    assert_null(as_refs_about(&info));
}

/* A virtual machine reports "AMD EPYC"; its family and model tell the core. */
UNIT_TEST(test_references_of_cores)
{
    static const struct {
        const char *name, *generation, *set;
    } rows[] = {
        {"AMD EPYC", "AMD EPYC 9004 (Zen 4)", "zen4"},
        {"AMD EPYC", "AMD EPYC 9005 (Zen 5)", NULL},
        {"AMD Instinct MI300A Accelerator", "AMD Instinct MI300A (Zen 4)", "mi300a"},
        {"Intel Xeon Processor", "Intel Xeon Scalable, 4th generation (Sapphire Rapids)", "golden_cove"},
        {"Intel Xeon Processor", "Intel Xeon Scalable, 3rd generation (Ice Lake)", "ice_lake"},
        {"Intel Xeon Processor", "Intel Xeon Scalable, 2nd generation (Cascade Lake)", "cascade_lake"},
        {"Intel Xeon Processor", "", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_device_info info = {.compute_units = 1};
        snprintf(info.name, sizeof info.name, "%s", rows[i].name);
        snprintf(info.generation, sizeof info.generation, "%s", rows[i].generation);
        const char *about = as_refs_about(&info);
        if (rows[i].set ? !about || strcmp(about, rows[i].set) != 0 : about != NULL)
            fail_msg("%s, %s: %s", rows[i].name, rows[i].generation, about ? about : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans), cmocka_unit_test(test_matrix_units),
                                       cmocka_unit_test(test_references), cmocka_unit_test(test_references_of_cores)};
    return cmocka_run_group_tests_name("plans on Apple's chips", tests, open_stand_in, NULL);
}
