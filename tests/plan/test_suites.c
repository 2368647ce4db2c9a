/* Suites plan the cells that facts rest on, on stand-ins of an H200, of an Apple GPU with tensors and of an MI300A.
 * Suite tensor plans what the verdict on a matrix unit rests on: for each type and each path whose rate it may judge,
 * the peak of the vector ALU, the older path and the power of both units at one size. Suites quick, full and alu plan
 * the same cells of what has limits, so that these are the same facts. */
#include "device/device.h"
#include "facts/matmul_types.h"
#include "lib/ops/ops.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const matrix_paths[] = {"library", "wgmma", "wgmma_pair", "tensor", "mma"};
enum { PATHS = sizeof matrix_paths / sizeof *matrix_paths };
static const unsigned tensors =
    AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8;

static struct as_plan planned;

static void plan_suite(const char *device, const char *name, struct as_plan *out)
{
    struct as_opened o;
    struct as_suite suite;
    struct as_error err = {0};
    const char *text = NULL;
    for (size_t i = 0; as_suite_texts[i].name; i++)
        text = strcmp(as_suite_texts[i].name, name) == 0 ? as_suite_texts[i].text : text;
    if (as_device_open(device, &o, &err))
        fail_msg("%s", err.text);
    struct as_device_info info = o.device.info;
    as_device_close(&o);
    if (strncmp(device, "metal", 5) == 0)
        info.capabilities |= tensors;
    info.memory_bytes = info.memory_free = UINT64_C(64) << 30;
    info.max_alloc = 0;
    *out = (struct as_plan){0};
    if (as_suite_parse(name, text, &suite, &err) || as_plan_add(out, &suite, &info, NULL, 0, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&suite);
}

static bool is_gemm(const struct as_cell *c, const char *path, const char *type, const char *hold)
{
    return c->status == AS_CELL_PLANNED && strcmp(c->probe, "matmul") == 0 &&
           strcmp(as_axes_text(&c->axes, "path"), path) == 0 && strcmp(as_axes_text(&c->axes, "type"), type) == 0 &&
           strcmp(as_axes_text(&c->axes, "hold"), hold) == 0 &&
           strcmp(as_axes_text(&c->axes, "operands"), "random") == 0;
}

static bool plans_gemm(const char *path, const char *type, const char *hold, double size)
{
    for (size_t i = 0; i < planned.n; i++)
        if (is_gemm(&planned.cells[i], path, type, hold) && as_axes_number(&planned.cells[i].axes, "size") == size)
            return true;
    return false;
}

/* 0: none is planned. */
static double largest_size(const char *type)
{
    double largest = 0;
    for (size_t i = 0; i < planned.n; i++)
        for (size_t p = 0; p < PATHS; p++)
            if (is_gemm(&planned.cells[i], matrix_paths[p], type, "burst"))
                largest = fmax(largest, as_axes_number(&planned.cells[i].axes, "size"));
    return largest;
}

static enum as_cell_status status_of(const char *probe, const char *axis, const char *is)
{
    for (size_t i = 0; i < planned.n; i++) {
        const struct as_cell *c = &planned.cells[i];
        if (strcmp(c->probe, probe) == 0 && (!is || strcmp(as_axes_text(&c->axes, axis), is) == 0))
            return c->status;
    }
    return AS_CELL_SKIPPED;
}

/* Of integers by dot products, or multiply-adds where a cell says that there are none. */
static bool plans_roof(const struct as_matmul_type *t)
{
    if (strcmp(t->word, "s8") != 0)
        return status_of("roofline", "type", t->vector) == AS_CELL_PLANNED;
    const enum as_cell_status dots = status_of("alu", "op", "idp4a32");
    return dots == AS_CELL_PLANNED ||
           (dots == AS_CELL_UNSUPPORTED && status_of("alu", "op", "imad32") == AS_CELL_PLANNED);
}

/* At a common size. */
static bool plans_power(const char *path, const struct as_matmul_type *t)
{
    for (size_t i = 0; i < planned.n; i++)
        if (is_gemm(&planned.cells[i], "tiled", t->vector ? t->vector : t->word, "sustained") &&
            plans_gemm(path, t->word, "sustained", as_axes_number(&planned.cells[i].axes, "size")))
            return true;
    return false;
}

static bool plans_older(const char *path, const char *type)
{
    for (size_t i = 0; i < planned.n; i++)
        if (is_gemm(&planned.cells[i], path, type, "burst") &&
            plans_gemm("mma", type, "burst", as_axes_number(&planned.cells[i].axes, "size")))
            return true;
    return false;
}

static size_t check_type(const char *device, const struct as_matmul_type *t)
{
    const double size = largest_size(t->word);
    size_t n = 0;
    for (size_t p = 0; p < PATHS; p++) {
        const char *path = matrix_paths[p];
        if (!(size > 0) || !plans_gemm(path, t->word, "burst", size))
            continue;
        const bool is_new = strcmp(path, "library") != 0 && strcmp(path, "mma") != 0;
        if (!plans_roof(t))
            fail_msg("%s: %s has no peak of the vector ALU", device, t->word);
        if (!plans_power(path, t))
            fail_msg("%s: %s by %s has no power beside the vector ALU", device, t->word, path);
        if (is_new && plans_gemm("mma", t->word, "burst", 1024) && !plans_older(path, t->word))
            fail_msg("%s: %s by %s has no size in common with the older path", device, t->word, path);
        n++;
    }
    return n;
}

UNIT_TEST(test_three_signals)
{
    static const struct {
        const char *device;
        size_t least; /* paths and types judged */
    } devices[] = {{"cuda:0", 16}, {"metal:0", 8}, {"hip:0", 8}};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        size_t n = 0;
        plan_suite(devices[d].device, "tensor", &planned);
        for (const struct as_matmul_type *t = as_matmul_types; t->word; t++)
            n += check_type(devices[d].device, t);
        if (n < devices[d].least)
            fail_msg("%s: only %zu paths are judged", devices[d].device, n);
        as_plan_finish(&planned);
    }
}

static bool has_cell(const struct as_plan *plan, const struct as_cell *c)
{
    for (size_t i = 0; i < plan->n; i++) {
        const struct as_cell *other = &plan->cells[i];
        size_t same = 0;
        if (strcmp(other->probe, c->probe) != 0 || other->status != c->status || other->axes.n != c->axes.n)
            continue;
        while (same < c->axes.n && strcmp(other->axes.v[same].text, c->axes.v[same].text) == 0)
            same++;
        if (same == c->axes.n)
            return true;
    }
    return false;
}

/* Are all cells of these probes in the other plan? Returns how many there are. */
static size_t check_cells(const char *what, const struct as_plan *plan, const struct as_plan *other)
{
    static const char *const probes[] = {"occupancy", "concurrency"};
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++)
        for (size_t p = 0; p < sizeof probes / sizeof *probes; p++) {
            const struct as_cell *c = &plan->cells[i];
            if (strcmp(c->probe, probes[p]) != 0)
                continue;
            n++;
            if (!has_cell(other, c))
                fail_msg("%s: %s %s=%s %s=%s %s=%s", what, c->probe, c->axes.v[0].name, c->axes.v[0].text,
                         c->axes.v[1].name, c->axes.v[1].text, c->axes.v[2].name, c->axes.v[2].text);
        }
    return n;
}

UNIT_TEST(test_same_limits)
{
    static const char *const devices[] = {"cuda:0", "metal:0", "hip:0"}, *const suites[] = {"full", "alu"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        struct as_plan quick, other;
        char what[96];
        plan_suite(devices[d], "quick", &quick);
        for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
            plan_suite(devices[d], suites[s], &other);
            snprintf(what, sizeof what, "%s, in suite quick and not in %s", devices[d], suites[s]);
            assert_true(check_cells(what, &quick, &other) > 20);
            snprintf(what, sizeof what, "%s, in suite %s and not in quick", devices[d], suites[s]);
            check_cells(what, &other, &quick);
            as_plan_finish(&other);
        }
        as_plan_finish(&quick);
    }
}

/* Registers read with few warps, where latency counts: of both widths of floats and of integers. */
UNIT_TEST(test_operands)
{
    static const char *const ops[] = {"ffma32", "ffma16", "imad32"}, *const operands[] = {"1", "3"};
    plan_suite("metal:0", "alu", &planned);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
            size_t n = 0;
            for (size_t i = 0; i < planned.n; i++) {
                const struct as_axes *a = &planned.cells[i].axes;
                n += planned.cells[i].status == AS_CELL_PLANNED && strcmp(planned.cells[i].probe, "alu") == 0 &&
                     strcmp(as_axes_text(a, "op"), ops[o]) == 0 && strcmp(as_axes_text(a, "warps"), "8") == 0 &&
                     strcmp(as_axes_text(a, "operands"), operands[k]) == 0;
            }
            if (n != 1)
                fail_msg("%s with %s operands: %zu cells", ops[o], operands[k], n);
        }
    as_plan_finish(&planned);
}

/* Two pipes that share packed steps are full with twelve chains: whoever compares rates has a cell with those. */
UNIT_TEST(test_chains_of_packed_operations)
{
    static const struct {
        const char *suite, *probe, *axis;
    } rows[] = {{"alu", "alu", "op"}, {"pipes", "mix", "mix"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t full = 0;
        plan_suite("cuda:0", rows[r].suite, &planned);
        for (size_t i = 0; i < planned.n; i++) {
            const struct as_axes *a = &planned.cells[i].axes;
            if (strcmp(planned.cells[i].probe, rows[r].probe) != 0 ||
                strcmp(as_axes_text(a, rows[r].axis), "ffma2_f16") != 0)
                continue;
            full += as_axes_u64(a, "ilp") == 12 && as_axes_u64(a, "warps") == 24;
            if (as_axes_u64(a, "operands") && as_axes_u64(a, "ilp") != 12)
                fail_msg("operands of ffma2_f16 with %s chains", as_axes_text(a, "ilp"));
        }
        assert_true(full > 0);
        as_plan_finish(&planned);
    }
}

static bool plans_operation(const char *probe, const char *op)
{
    for (size_t i = 0; i < planned.n; i++)
        if (planned.cells[i].status == AS_CELL_PLANNED && strcmp(planned.cells[i].probe, probe) == 0 &&
            strcmp(as_axes_text(&planned.cells[i].axes, "op"), op) == 0)
            return true;
    return false;
}

/* A row of the table of operations has both. */
UNIT_TEST(test_throughput_beside_latency)
{
    static const char *const devices[] = {"cuda:0", "hip:0", "metal:0", "cpu"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        size_t n = 0;
        plan_suite(devices[d], "alu", &planned);
        for (const char *const *op = as_op_words; *op; op++) {
            n += plans_operation("alu_latency", *op);
            if (plans_operation("alu_latency", *op) && !plans_operation("alu", *op))
                fail_msg("%s: %s has a latency and no throughput", devices[d], *op);
        }
        assert_true(n > 100);
        as_plan_finish(&planned);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_signals), cmocka_unit_test(test_same_limits), cmocka_unit_test(test_operands),
        cmocka_unit_test(test_chains_of_packed_operations), cmocka_unit_test(test_throughput_beside_latency)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
