/* GEMM on this machine's CPU and OpenCL: correct kernels pass the check, each kind of wrong one is detected. */
#include "lib/gemm/cores_internal.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_opened cpu, opencl;
static bool has_opencl;

static int open_devices(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_device_open("cpu", &cpu, &err))
        return -1;
    has_opencl = as_device_open("opencl", &opencl, &err) == AS_OK;
    if (!has_opencl)
        print_message("without OpenCL: %s\n", err.text);
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    as_device_close(&cpu);
    if (has_opencl)
        as_device_close(&opencl);
    return 0;
}

static struct as_gemm_desc desc_of(enum as_gemm_path path, enum as_gemm_type type, uint64_t size)
{
    return (struct as_gemm_desc){.path = path, .type = type, .m = size, .n = size, .k = size, .seed = 42};
}

static void prepare(struct as_gemm *p, struct as_device *dev, const struct as_gemm_desc *d)
{
    struct as_error err = {0};
    if (as_gemm_applies(&dev->info, d, &err) != AS_APPLIES || as_gemm_prepare(p, dev, d, &err))
        fail_msg("%s %s on %s: %s", as_gemm_path_words[d->path], as_gemm_type_words[d->type], dev->info.id, err.text);
}

static void run_gemm(struct as_gemm *p)
{
    struct as_error err = {0};
    struct as_timing t;
    if (as_gemm_run(p, 1, &t, &err))
        fail_msg("%s", err.text);
}

/* QEMU before 9.0 computes SME's integer outer products wrongly: see matrix_cores.c. */
static bool is_wrong_here(const struct as_gemm *p)
{
    const char *emulator = getenv("ASSAY_EMULATED");
    return emulator && atoi(emulator) < 9 && p->cores && p->cores->outer && p->desc.type == AS_GEMM_S8;
}

static void assert_right(struct as_device *dev, const struct as_gemm_desc *d)
{
    struct as_gemm p;
    char why[200] = "";
    prepare(&p, dev, d);
    assert_false(as_gemm_check(&p, why, sizeof why)); /* nothing has been computed yet */
    run_gemm(&p);
    if (!is_wrong_here(&p) && !as_gemm_check(&p, why, sizeof why))
        fail_msg("%s %s %llu on %s: %s", as_gemm_path_words[d->path], as_gemm_type_words[d->type],
                 (unsigned long long)d->n, dev->info.id, why);
    as_gemm_finish(&p);
}

UNIT_TEST(test_cpu)
{
    for (int path = AS_GEMM_TILED; path < AS_GEMM_PATHS; path++)
        for (int type = AS_GEMM_F64; type <= AS_GEMM_F32; type++) {
            struct as_gemm_desc d = desc_of((enum as_gemm_path)path, (enum as_gemm_type)type, 256);
            assert_right(&cpu.device, &d);
            d.m = 128, d.n = 384, d.k = 1040; /* more than one block of K, the last one shorter */
            assert_right(&cpu.device, &d);
            d.zero = true;
            assert_right(&cpu.device, &d);
        }
}

/* Matrix instructions, for each type that this CPU has: sizes that do not fill blocks, parts of K of which the last is
 * shorter, and no results left over from the previous product. */
UNIT_TEST(test_cpu_matrix)
{
    static const uint64_t sizes[][3] = {{16, 16, 16}, {70, 33, 100}, {128, 256, 2600}, {257, 511, 64}};
    size_t ran = 0;
    for (int type = AS_GEMM_F64; type < AS_GEMM_TYPES; type++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct as_gemm_desc d = desc_of(AS_GEMM_MMA, (enum as_gemm_type)type, 0);
            struct as_error err = {0};
            d.m = sizes[i][0], d.n = sizes[i][1], d.k = sizes[i][2];
            enum as_applies can = as_gemm_applies(&cpu.device.info, &d, &err);
            assert_true(can != AS_INAPPLICABLE || strstr(err.text, "CPU"));
            if (can != AS_APPLIES)
                continue;
            assert_right(&cpu.device, &d);
            ran++;
        }
    print_message("%zu products\n", ran);
    if (!ran)
        skip();
}

/* SME's kernel, using the first panel of B for all. */
static const struct as_outer *true_outer;

static void stays_at_first(const struct as_outer_job *job)
{
    struct as_outer_job other = *job;
    other.panel_bytes = 0;
    true_outer->multiply(&other);
}

/* A product without its last step of K, and one with packed words at wrong positions. */
UNIT_TEST(test_cpu_matrix_wrong)
{
    for (int type = AS_GEMM_F64; type <= AS_GEMM_S8; type++) {
        struct as_gemm p = {.dev = NULL};
        struct as_error err = {0};
        char why[200], text[200];
        const struct as_gemm_desc d = desc_of(AS_GEMM_MMA, (enum as_gemm_type)type, 512);
        if (as_gemm_applies(&cpu.device.info, &d, &err) != AS_APPLIES)
            continue;
        prepare(&p, &cpu.device, &d);
        if (!p.cores) {
            fail();
            return;
        }
        assert_int_not_equal(as_gemm_cores_gate(&p, text, sizeof text), AS_GATE_FAIL);
        p.cores->steps--;
        run_gemm(&p);
        assert_false(as_gemm_check(&p, why, sizeof why));
        assert_non_null(strstr(why, "results are wrong"));
        p.cores->steps++;
        if (p.cores->outer) {
            true_outer = p.cores->outer;
            struct as_outer other = *true_outer;
            other.multiply = stays_at_first;
            p.cores->outer = &other;
            run_gemm(&p);
            assert_false(as_gemm_check(&p, why, sizeof why));
            as_gemm_finish(&p);
            continue;
        }
        unsigned *place[] = {p.cores->b.place[0], p.cores->b.place[1]}, first = place[0][0];
        place[0][0] = place[1][0];
        place[1][0] = first;
        run_gemm(&p);
        assert_false(as_gemm_check(&p, why, sizeof why));
        as_gemm_finish(&p);
    }
}

/* This machine's BLAS, if it has one. */
UNIT_TEST(test_library)
{
    struct as_gemm p;
    struct as_error err = {0};
    struct as_gemm_desc d = desc_of(AS_GEMM_LIBRARY, AS_GEMM_F32, 256);
    d.n = 384; /* so that exchanged rows and columns show */
    enum as_status st = as_gemm_prepare(&p, &cpu.device, &d, &err);
    as_gemm_finish(&p);
    if (st == AS_UNSUPPORTED) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_right(&cpu.device, &d);
    d.type = AS_GEMM_F64;
    assert_right(&cpu.device, &d);
    d.type = AS_GEMM_F16;
    assert_int_equal(as_gemm_prepare(&p, &cpu.device, &d, &err), AS_UNSUPPORTED);
    as_gemm_finish(&p);
}

/* Types composed of bits, the tiled kernel, and an epilogue. CPU compilers take long over each. */
UNIT_TEST(test_opencl)
{
    static const struct {
        enum as_gemm_path path;
        enum as_gemm_type type;
        enum as_gemm_epilogue epilogue;
    } cases[] = {{AS_GEMM_NAIVE, AS_GEMM_E4M3, AS_GEMM_PLAIN},
                 {AS_GEMM_NAIVE, AS_GEMM_S8, AS_GEMM_PLAIN},
                 {AS_GEMM_NAIVE, AS_GEMM_BF16, AS_GEMM_GELU},
                 {AS_GEMM_TILED, AS_GEMM_F16, AS_GEMM_BIAS},
                 {AS_GEMM_TILED, AS_GEMM_F64, AS_GEMM_PLAIN}};
    if (!has_opencl)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_gemm_desc d = desc_of(cases[i].path, cases[i].type, 128);
        d.k = 48;
        d.epilogue = cases[i].epilogue;
        assert_right(&opencl.device, &d);
    }
}

/* ---- the four-byte dot product, emulated on a device without it ---- */

static const char dot_by_arithmetic[] = "#undef DOT_4X8_S8\n"
                                        "#define DOT_4X8_S8(a, b) by_arithmetic(a, b)\n"
                                        "FUNCTION i32 by_arithmetic(u32 a, u32 b)\n"
                                        "{\n"
                                        "    i32 sum = 0;\n"
                                        "    for (u32 i = 0; i < 32; i += 8)\n"
                                        "        sum += (i32)(i8)(u8)(a >> i & 255u) * (i32)(i8)(u8)(b >> i & 255u);\n"
                                        "    return sum;\n"
                                        "}\n";

static enum as_status build_with_dot(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                     struct as_error *err)
{
    struct as_buf source = AS_BUF_INIT;
    struct as_program_desc with = *desc;
    (void)dev;
    as_buf_str(&source, dot_by_arithmetic);
    as_buf_str(&source, desc->source);
    with.source = as_buf_get(&source);
    enum as_status st = opencl.device.program->build(&opencl.device, &with, out, err);
    as_buf_finish(&source);
    return st;
}

UNIT_TEST(test_dot)
{
    struct as_gemm_desc d = desc_of(AS_GEMM_DOT, AS_GEMM_S8, 256);
    struct as_error err = {0};
    struct as_gemm p = {.dev = NULL};
    char why[200];
    if (!has_opencl)
        skip();
    struct as_device dev = opencl.device;
    struct as_program_ops ops = *opencl.device.program;
    ops.build = build_with_dot;
    dev.program = &ops;
    dev.info.capabilities |= AS_CAP_DOT_4X8;
    d.n = 128, d.k = 192; /* three pieces of K */
    assert_right(&dev, &d);
    /* K is one piece shorter. */
    prepare(&p, &dev, &d);
    p.args[6].u.u32 -= 16;
    run_gemm(&p);
    assert_false(as_gemm_check(&p, why, sizeof why));
    as_gemm_finish(&p);
    d.k = 224;
    assert_int_equal(as_gemm_applies(&dev.info, &d, &err), AS_INAPPLICABLE);
    d = desc_of(AS_GEMM_DOT, AS_GEMM_F16, 256);
    assert_int_equal(as_gemm_applies(&dev.info, &d, &err), AS_PRUNED);
    d.type = AS_GEMM_S8;
    dev.info.capabilities &= ~(unsigned)AS_CAP_DOT_4X8;
    assert_int_equal(as_gemm_applies(&dev.info, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "does not announce cl_khr_integer_dot_product"));
}

/* Kernels that skip the last step of K, use the wrong row, or add to old content. */
UNIT_TEST(test_wrong)
{
    struct as_gemm p;
    char why[200];
    const struct as_gemm_desc d = desc_of(AS_GEMM_TILED, AS_GEMM_F32, 512);
    prepare(&p, &cpu.device, &d);
    run_gemm(&p);
    assert_true(as_gemm_check(&p, why, sizeof why));
    uint32_t row[512], other[512];
    assert_int_equal(p.dev->memory->read(p.dev, p.d, 7 * sizeof row, row, sizeof row, NULL), AS_OK);
    assert_int_equal(p.dev->memory->read(p.dev, p.d, 8 * sizeof row, other, sizeof row, NULL), AS_OK);
    assert_int_not_equal(memcmp(row, other, sizeof row), 0);
    /* every row is the next one: the checked rows are anywhere */
    for (uint64_t r = 0; r + 1 < 512; r++) {
        p.dev->memory->read(p.dev, p.d, (r + 1) * sizeof row, row, sizeof row, NULL);
        p.dev->memory->write(p.dev, p.d, r * sizeof row, row, sizeof row, NULL);
    }
    assert_false(as_gemm_check(&p, why, sizeof why));
    assert_non_null(strstr(why, "results are wrong, the first in row"));
    p.args[6].u.u32 -= 16;
    run_gemm(&p);
    assert_false(as_gemm_check(&p, why, sizeof why));
    p.args[6].u.u32 += 16;
    run_gemm(&p);
    assert_true(as_gemm_check(&p, why, sizeof why));
    as_gemm_finish(&p);
}

/* One step of K less, for each type at the size with the largest tolerance: the operands of that step are set to 0. */
UNIT_TEST(test_skipped_step)
{
    for (int type = AS_GEMM_F64; type < AS_GEMM_TYPES; type++) {
        struct as_gemm p = {.dev = &cpu.device, .desc = desc_of(AS_GEMM_MMA, (enum as_gemm_type)type, 1)};
        const struct as_gemm_format *f = &as_gemm_formats[type];
        const struct as_number_format *out = as_number_format(f->out);
        const uint64_t k = 8192, step = 64 / f->in_bytes;
        struct as_error err = {0};
        char why[200];
        unsigned char result[64 * 8];
        p.desc.n = 64;
        p.desc.k = k;
        const struct as_memory_desc want = {
            .allocator = cpu.device.info.allocators[0].name, .bytes = sizeof result, .node = -1};
        assert_int_equal(p.dev->memory->alloc(p.dev, &want, &p.d, &err), AS_OK);
        as_gemm_draw(&p);
        for (int skip_it = 0; skip_it < 2; skip_it++) {
            for (uint64_t c = 0; c < p.desc.n; c++) {
                double sum = 0;
                for (uint64_t i = 0; i < k - (skip_it ? step : 0); i++)
                    sum += p.drawn[as_gemm_index(i, AS_SEED_A)] * p.drawn[as_gemm_index(c * k + i, AS_SEED_B)];
                uint64_t code = as_number_nearest(out, sum);
                memcpy(result + c * f->out_bytes, &code, f->out_bytes);
            }
            p.dev->memory->write(p.dev, p.d, 0, result, sizeof result, NULL);
            assert_int_equal(as_gemm_check(&p, why, sizeof why), !skip_it);
        }
        p.dev->memory->free(p.dev, p.d);
    }
}

/* Devices without hardware for box copies give the reason. */
UNIT_TEST(test_tensors)
{
    struct as_device *const devices[] = {&cpu.device, has_opencl ? &opencl.device : NULL};
    for (size_t i = 0; i < 2 && devices[i]; i++) {
        struct as_gemm p;
        struct as_error err = {0};
        struct as_timing t;
        const struct as_gemm_desc d = desc_of(AS_GEMM_NAIVE, i ? AS_GEMM_S8 : AS_GEMM_F32, 64);
        prepare(&p, devices[i], &d);
        p.tensors[0] = (struct as_tensor){p.a, 1, 64, 64, 16, 16, 0};
        p.args[0] = (struct as_arg){.kind = AS_ARG_TENSOR, .u.tensor = &p.tensors[0]};
        assert_int_equal(as_gemm_run(&p, 1, &t, &err), AS_UNSUPPORTED);
        assert_non_null(strstr(err.text, "takes a tensor, "));
        as_gemm_finish(&p);
    }
}

UNIT_TEST(test_what_applies)
{
    struct as_device_info info = {.capabilities = AS_CAP_SOURCE | AS_CAP_FP64, .arch = "sm_90", .dialect = "cuda"};
    struct as_gemm_desc d = desc_of(AS_GEMM_PAIR, AS_GEMM_F16, 8192);
    struct as_error err = {0};
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_APPLIES);
    d.type = AS_GEMM_F64;
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_PRUNED); /* wgmma has no f64 */
    d.type = AS_GEMM_F16;
    d.m = 384; /* three tiles cannot form pairs */
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_INAPPLICABLE);
    d.path = AS_GEMM_WGMMA;
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_APPLIES);
    snprintf(info.arch, sizeof info.arch, "sm_100");
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "only sm_90a has the instructions of path wgmma, this is sm_100");
    d.path = AS_GEMM_MMA;
    d.type = AS_GEMM_E4M3;
    snprintf(info.arch, sizeof info.arch, "sm_86");
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "path mma has e4m3 from sm_89 on, this is sm_86");
    d = desc_of(AS_GEMM_DOT, AS_GEMM_S8, 8192);
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "path dot needs kernels of OpenCL, and this device's are cuda");
    assert_int_equal(as_gemm_applies(&cpu.device.info, &d, &err), AS_PRUNED);
    d = desc_of(AS_GEMM_NAIVE, AS_GEMM_F32, 16384);
    assert_int_equal(as_gemm_applies(&info, &d, &err), AS_INAPPLICABLE);
    d.path = AS_GEMM_MMA; /* only SME has f32 */
    assert_int_equal(as_gemm_applies(&cpu.device.info, &d, &err),
                     as_outer_find(AS_GEMM_F32) ? AS_INAPPLICABLE : AS_PRUNED);
    d.type = AS_GEMM_S8;
    assert_int_equal(as_gemm_applies(&cpu.device.info, &d, &err), AS_INAPPLICABLE); /* slow, or absent */
    d = desc_of(AS_GEMM_MMA, AS_GEMM_S8, 64);
    d.batch = 2;
    assert_int_equal(as_gemm_applies(&cpu.device.info, &d, &err), AS_PRUNED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),     cmocka_unit_test(test_cpu_matrix),   cmocka_unit_test(test_cpu_matrix_wrong),
        cmocka_unit_test(test_library), cmocka_unit_test(test_opencl),       cmocka_unit_test(test_dot),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_skipped_step), cmocka_unit_test(test_what_applies),
        cmocka_unit_test(test_tensors),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
