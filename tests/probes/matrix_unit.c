/* A device that models the documented layouts of matrix instructions and runs its kernels on the host by images: the
 * small unit and the peak's check, with planted errors that must be detected. */
#include "lib/mma/instructions/fragments.h"
#include "lib/mma/rate/peak.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const struct as_matrix *matrix;
    unsigned n, chains, steps;
    size_t teams;
    int skip;         /* steps missing in the long body */
    bool swap;        /* exchanges two rows of A */
    int keep_bits;    /* > 0: error of a sum */
    size_t bad_group; /* 1 + workgroup that leaves its accumulators unchanged */
} model;

static size_t sizes(enum as_matrix_operand which)
{
    return as_matrix_count(model.matrix, which, model.n);
}

static double narrow(double x)
{
    if (model.keep_bits <= 0 || x == 0)
        return x;
    int exponent;
    double f = frexp(x, &exponent);
    return ldexp(trunc(ldexp(f, model.keep_bits)), exponent - model.keep_bits);
}

/* The second of two operands that share shared memory lines lies beside the first: moves it to the first one's
 * place. */
static void fetch(enum as_matrix_operand which, const unsigned char *images, unsigned set, size_t image, double *out)
{
    const struct as_matrix *m = model.matrix;
    size_t bytes = as_image_bytes(m, which, model.n), count = sizes(which);
    uint64_t *codes = calloc(count, sizeof *codes);
    unsigned char *own = malloc(bytes);
    memcpy(own, images + image * bytes, bytes);
    if (m->held[which].held == AS_HELD_SHARED && set) {
        unsigned line_bytes = m->k * as_matrix_format(m, which)->bits / 8 / (which == AS_MATRIX_A && m->sparse ? 2 : 1);
        for (unsigned line = 0; line < bytes / AS_LAYOUT_LINE; line++)
            for (unsigned at = 0; at < line_bytes; at++)
                own[as_layout_shared(line, at)] = images[as_layout_shared(line, line_bytes + at)];
    }
    as_image_unpack(m, which, model.n, own, codes);
    for (size_t i = 0; i < count; i++)
        out[i] = as_number_decode(as_matrix_format(m, which), codes[i]);
    free(own);
    free(codes);
}

static void multiply_add(const double *a, const double *b, double *c)
{
    const struct as_matrix *m = model.matrix;
    for (unsigned i = 0; i < m->m; i++)
        for (unsigned j = 0; j < model.n; j++) {
            double sum = c[i * model.n + j];
            for (unsigned k = 0; k < m->k; k++)
                sum += a[(model.swap && i < 2 ? 1 - i : i) * m->k + k] * b[k * model.n + j];
            c[i * model.n + j] = narrow(sum);
        }
}

static void keep(const double *c, unsigned char *image)
{
    size_t count = sizes(AS_MATRIX_C);
    uint64_t *codes = calloc(count, sizeof *codes);
    for (size_t i = 0; i < count; i++)
        codes[i] = as_number_nearest(as_matrix_format(model.matrix, AS_MATRIX_C), c[i]);
    as_image_pack(model.matrix, AS_MATRIX_C, model.n, 0, codes, image);
    free(codes);
}

static void run_multiply(void *const *args, size_t workgroups)
{
    double *x[AS_MATRIX_OPERANDS];
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
        x[w] = calloc(sizes((enum as_matrix_operand)w), sizeof(double));
    size_t bytes = as_image_bytes(model.matrix, AS_MATRIX_C, model.n);
    for (size_t g = 0; g < workgroups; g++) {
        for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
            fetch((enum as_matrix_operand)w, args[w], 0, g, x[w]);
        multiply_add(x[AS_MATRIX_A], x[AS_MATRIX_B], x[AS_MATRIX_C]);
        keep(x[AS_MATRIX_C], (unsigned char *)args[AS_MATRIX_C] + g * bytes);
    }
    for (int w = 0; w < AS_MATRIX_OPERANDS; w++)
        free(x[w]);
}

static size_t image_of(enum as_matrix_operand which, size_t variant, unsigned set)
{
    return model.matrix->held[which].held == AS_HELD_SHARED ? 0 : 2 * variant + set;
}

static void run_team(void *const *args, size_t variant, unsigned steps, double *c, double *a[2], double *b[2])
{
    for (unsigned set = 0; set < 2; set++) {
        fetch(AS_MATRIX_A, args[1], set, image_of(AS_MATRIX_A, variant, set), a[set]);
        fetch(AS_MATRIX_B, args[2], set, image_of(AS_MATRIX_B, variant, set), b[set]);
    }
    memset(c, 0, sizes(AS_MATRIX_C) * sizeof *c);
    for (unsigned s = 0; s < steps; s++)
        multiply_add(a[s & 1], b[(s ^ s >> 1) & 1], c);
}

static void run_peak(void *const *args, size_t workgroups, unsigned steps)
{
    uint32_t turns;
    memcpy(&turns, args[4], sizeof turns);
    double *c = calloc(sizes(AS_MATRIX_C), sizeof *c), *a[2], *b[2];
    size_t bytes = as_image_bytes(model.matrix, AS_MATRIX_C, model.n);
    for (int set = 0; set < 2; set++) {
        a[set] = calloc(sizes(AS_MATRIX_A), sizeof(double));
        b[set] = calloc(sizes(AS_MATRIX_B), sizeof(double));
    }
    /* For random operands the sums of later turns equal those of the first, so the model runs one. */
    for (size_t team = 0; team < model.teams; team++) {
        run_team(args, team % AS_MATRIX_VARIANTS, steps, c, a, b);
        for (size_t g = 0; g < workgroups; g++)
            for (unsigned i = 0; i < model.chains && g + 1 != model.bad_group; i++)
                keep(c, (unsigned char *)args[3] + ((g * model.teams + team) * model.chains + i) * bytes);
    }
    struct as_record *records = args[0];
    for (size_t g = 0; g < workgroups; g++)
        records[g] = (struct as_record){.has = AS_HAS_CYCLES | AS_HAS_NANOS | AS_HAS_UNIT,
                                        .unit = g + 1,
                                        .cycles = 10 + 100 * turns * steps,
                                        .nanos = 10 + 50 * turns * steps,
                                        .start = 1,
                                        .end = 11 + 100 * turns * steps};
    free(c);
    for (int set = 0; set < 2; set++) {
        free(a[set]);
        free(b[set]);
    }
}

static struct toy toy;

static void run_kernel(const char *name, void *const *args)
{
    if (strcmp(name, "multiply") == 0)
        run_multiply(args, toy.workgroups);
    else
        run_peak(args, toy.workgroups,
                 strcmp(name, "half_body") == 0 ? model.steps / 2 : model.steps - (unsigned)model.skip);
}

static void open_model(const char *name, unsigned n)
{
    memset(&model, 0, sizeof model);
    model.matrix = as_matrix_find(name);
    assert_non_null(model.matrix);
    model.n = n ? n : model.matrix->n;
    toy_init_sm90(&toy, run_kernel);
}

static const char *const modelled[] = {"mma_m16n8k16_f16_f32",   "mma_m8n8k4_f64",          "mma_m16n8k32_s8_s32",
                                       "mma_m16n8k256_b1_s32",   "mma_sp_m16n8k32_f16_f32", "mma_m16n8k16_f16",
                                       "mma_m16n8k32_s8_u8_s32", "wgmma_f16_f32",           "wgmma_rs_tf32_f32",
                                       "wgmma_sp_e4m3_f32",      "wmma_m16n16k16_s8_s32",   "wmma_m8n32k16_f16"};
enum { MODELLED = sizeof modelled / sizeof *modelled, COLUMNS = 16 };

/* Problems of small integers through the small unit, against plain sums. */
static void check_unit(const char *name, size_t count)
{
    struct as_fragments f;
    struct as_error err = {0};
    open_model(name, as_matrix_find(name)->columns ? COLUMNS : 0);
    const struct as_matrix *m = model.matrix;
    if (as_fragments_open(&f, &toy.dev, m, model.n, &err))
        fail_msg("%s: %s", name, err.text);
    size_t na = sizes(AS_MATRIX_A), nb = sizes(AS_MATRIX_B), nc = sizes(AS_MATRIX_C);
    uint64_t *a = calloc(count * na, 8), *b = calloc(count * nb, 8), *c = calloc(count * nc, 8),
             *d = calloc(count * nc, 8);
    for (size_t i = 0; i < count * na; i++)
        a[i] = as_image_holds(m, AS_MATRIX_A, (unsigned)(i % na / m->k), (unsigned)(i % m->k))
                   ? as_number_nearest(f.unit.a, (double)(i * 7 % 5 % 2))
                   : 0;
    for (size_t i = 0; i < count * nb; i++)
        b[i] = as_number_nearest(f.unit.b, (double)(i * 11 % 7 % 2));
    for (size_t i = 0; i < count * nc; i++)
        c[i] = as_number_nearest(f.unit.c, (double)(i % 9));
    assert_int_equal(f.unit.multiply(f.unit.ctx, count, a, b, c, d, &err), AS_OK);
    for (size_t p = 0; p < count; p += count - 1)
        for (size_t i = 0; i < m->m; i++)
            for (size_t j = 0; j < model.n; j++) {
                double want = (double)((p * nc + i * model.n + j) % 9);
                for (size_t k = 0; k < m->k; k++)
                    want += as_number_decode(f.unit.a, a[p * na + i * m->k + k]) *
                            as_number_decode(f.unit.b, b[p * nb + k * model.n + j]);
                double got = as_number_decode(f.unit.c, d[p * nc + i * model.n + j]);
                if (got != want)
                    fail_msg("%s: problem %zu, row %zu, column %zu: %g, not %g", name, p, i, j, got, want);
            }
    if (m->sparse) {
        a[m->k - 1] = as_number_nearest(f.unit.a, 1);
        assert_int_equal(f.unit.multiply(f.unit.ctx, 1, a, b, c, d, &err), AS_USAGE);
    }
    as_fragments_close(&f);
    assert_int_equal(toy.live, 0);
    free(a);
    free(b);
    free(c);
    free(d);
}

UNIT_TEST(test_unit)
{
    for (size_t i = 0; i < MODELLED; i++)
        check_unit(modelled[i], 3);
    check_unit("mma_m8n8k4_f64", 1025); /* more than one launch */
}

UNIT_TEST(test_unit_refuses)
{
    struct as_fragments f;
    struct as_error err = {0};
    open_model("wgmma_f16_f32", 0);
    assert_int_equal(as_fragments_open(&f, &toy.dev, model.matrix, 12, &err), AS_USAGE);
    as_fragments_close(&f);
    snprintf(toy.dev.info.arch, sizeof toy.dev.info.arch, "sm_80");
    assert_int_equal(as_fragments_open(&f, &toy.dev, model.matrix, 0, &err), AS_UNSUPPORTED);
    as_fragments_close(&f);
    assert_int_equal(toy.live, 0);
}

/* Opens a peak on the model, measures, and returns the check's result. */
static bool peak_checks(const char *name, enum as_peak_operands operands, void (*plant)(void), char *why, size_t size)
{
    struct as_peak p;
    struct as_peak_time t;
    struct as_error err = {0};
    struct as_axes axes = {0};
    open_model(name, as_matrix_find(name)->columns ? COLUMNS : 0);
    const struct as_peak_desc desc = {
        .matrix = model.matrix, .n = model.n, .chains = 2, .warps = 8, .operands = operands};
    struct as_trial_context tc = {.dev = &toy.dev, .axes = &axes, .seed = 5};
    if (as_peak_prepare(&p, &tc, &desc, &err))
        fail_msg("%s: %s", name, err.text);
    model.chains = p.body.chains;
    model.steps = p.body.steps;
    model.teams = p.teams;
    if (plant)
        plant();
    assert_int_equal(as_peak_measure(&p, 2, &t, &err), AS_OK);
    /* 100 cycles per step, with 2 m n k operations of each chain of each warp. */
    double want = 2.0 * model.matrix->m * model.n * model.matrix->k * 2 * (double)p.teams;
    if (!plant) {
        assert_true(t.cycles == 100 && t.operations == want);
        assert_true(t.clock_hz > 1.9e9 && t.clock_hz < 2.1e9);
    }
    bool good = as_peak_check(&p, why, size);
    as_peak_finish(&p);
    as_buf_finish(&tc.detail);
    assert_int_equal(toy.live, 0);
    return good;
}

static void plant_skip(void)
{
    model.skip = 1;
}
static void plant_swap(void)
{
    model.swap = true;
}
static void plant_narrow(void)
{
    model.keep_bits = 6;
}
static void plant_group(void)
{
    model.bad_group = 2;
}

UNIT_TEST(test_peak)
{
    static void (*const planted[])(void) = {plant_skip, plant_swap, plant_narrow, plant_group};
    char why[300];
    for (size_t i = 0; i < MODELLED; i++) {
        if (!peak_checks(modelled[i], AS_PEAK_RANDOM, NULL, why, sizeof why))
            fail_msg("%s: %s", modelled[i], why);
    }
    assert_true(peak_checks("mma_m16n8k16_f16_f32", AS_PEAK_ZERO, NULL, why, sizeof why));
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        if (peak_checks("mma_m16n8k16_f16_f32", AS_PEAK_RANDOM, planted[i], why, sizeof why))
            fail_msg("planted error %zu was not seen", i);
    assert_false(peak_checks("wgmma_f16_f32", AS_PEAK_RANDOM, plant_skip, why, sizeof why));
}

UNIT_TEST(test_peak_applies)
{
    struct as_error err = {0};
    open_model("wgmma_f16_f32", 0);
    const struct as_matrix *m = model.matrix;
    const struct as_device_info *info = &toy.dev.info;
    assert_int_equal(as_peak_applies(info, &(struct as_peak_desc){.matrix = m}, &err), AS_APPLIES);
    assert_int_equal(as_peak_applies(info, &(struct as_peak_desc){.matrix = m, .n = 12}, &err), AS_PRUNED);
    assert_int_equal(as_peak_applies(info, &(struct as_peak_desc){.matrix = m, .warps = 3}, &err), AS_PRUNED);
    assert_int_equal(as_peak_applies(info, &(struct as_peak_desc){.matrix = m, .chains = 2}, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "registers"));
    assert_int_equal(as_peak_applies(info, &(struct as_peak_desc){.matrix = m, .warps = 64}, &err), AS_INAPPLICABLE);
    assert_int_equal(
        as_peak_applies(info, &(struct as_peak_desc){.matrix = as_matrix_find("mma_m16n8k32_e4m3_f32")}, &err),
        AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no machine instruction"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_unit_refuses),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_peak_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
