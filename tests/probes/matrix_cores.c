/* Matrix instructions of this machine's CPU: the table, results against models from the manuals, fragments, peaks
 * and their machine code. Planted errors are detected: exchanged columns, a missing step, another instruction in the
 * loop. */
#include "device/cpu/features.h"
#include "f32_bits.h"
#include "lib/mma/discovery/find.h"
#include "lib/mma/rate/peak.h"
#include "matrix_models.h"
#include "probes/matrix/layout/layout_unit.h"
#include "real_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_opened cpu;

static int open_cpu(void **state)
{
    struct as_error err = {0};
    (void)state;
    return as_device_open("cpu", &cpu, &err) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    as_device_close(&cpu);
    return 0;
}

static bool can_run(const struct as_core *c)
{
    char missing[200];
    return as_core_has(c, missing, sizeof missing);
}

/* QEMU before 9.0 adds up SME's integer outer products for two columns at once, which gives wrong sums: its results are
 * not tested. */
static bool is_right_here(const struct as_core *c)
{
    const char *emulator = getenv("ASSAY_EMULATED"); /* its version */
    return can_run(c) && !(emulator && atoi(emulator) < 9 && strstr(c->name, "mopa") && strstr(c->name, "s32"));
}

/* The first instruction of this CPU with more than one product per sum and step; skips if there is none. */
static const struct as_core *any_core(void)
{
    for (const struct as_core *c = as_cores; c->name; c++)
        if (can_run(c) && as_matrix_find(c->name)->k > 1)
            return c;
    print_message("skipped: this CPU has no matrix instructions\n");
    skip();
    return NULL;
}

/* ---- the table ---- */

UNIT_TEST(test_table)
{
    for (const struct as_core *c = as_cores; c->name; c++) {
        const struct as_matrix *m = as_matrix_find(c->name);
        size_t bodies = 0;
        assert_non_null(m);
        assert_int_equal(m->dialect, AS_DIALECT_HOST);
        assert_ptr_equal(as_core_find(c->name), c); /* so it stands there once */
        assert_non_null(strstr(c->name, m->code));
        for (const struct as_core_body *b = c->bodies; b < c->bodies + AS_CORE_BODIES && b->name; b++, bodies++) {
            assert_ptr_equal(as_core_body(c, b->chains), b);
            assert_int_equal(b->steps % 8, 0); /* halves are whole rounds of the four pairs of operands */
        }
        assert_true(bodies >= 3 && as_core_body(c, 0) == &c->bodies[bodies - 1]);
        assert_null(as_core_body(c, 3));
        assert_true(c->rows >= 2 && c->columns >= 2);
    }
}

/* The measuring process did not plan: it must detect the features of CPU and system itself. */
UNIT_TEST(test_not_planned_here)
{
    for (const struct as_core *c = as_cores; c->name; c++) {
        struct as_error err = {0};
        struct as_peak p = {0};
        struct as_trial_context tc = {.dev = &cpu.device, .seed = 5};
        const struct as_peak_desc d = {.matrix = as_matrix_find(c->name), .n = 0};
        struct as_peak_time t;
        enum as_status st = as_peak_prepare(&p, &tc, &d, &err);
        if (!st)
            st = as_peak_measure(&p, 64, &t, &err);
        if (real_was_disturbed(st, &err))
            st = AS_OK;
        as_peak_finish(&p);
        as_buf_finish(&tc.detail);
        assert_int_equal(st, can_run(c) ? AS_OK : AS_UNSUPPORTED);
        if (st)
            assert_non_null(strstr(err.text, "this CPU lacks "));
    }
}

/* For each instruction that the CPU lacks, the message says what is missing; instructions of other architectures do not
 * appear. */
UNIT_TEST(test_what_applies)
{
    size_t kinds[3] = {0};
    for (const struct as_matrix *m = as_matrices; m->name; m++) {
        struct as_error err = {0};
        const struct as_core *c = m->dialect == AS_DIALECT_HOST ? as_core_find(m->name) : NULL;
        enum as_applies can = as_matrix_applies(m, &cpu.device.info, &err);
        if (as_cores[0].name)
            assert_int_equal(can, !c ? AS_PRUNED : can_run(c) ? AS_APPLIES : AS_INAPPLICABLE);
        if (can == AS_INAPPLICABLE && as_cores[0].name)
            assert_non_null(strstr(err.text, "this CPU lacks "));
        kinds[can]++;
    }
    print_message("%zu apply, %zu need what this CPU does not have, %zu are none of this kind of CPU\n",
                  kinds[AS_APPLIES], kinds[AS_INAPPLICABLE], kinds[AS_PRUNED]);
    assert_true(kinds[AS_APPLIES] + kinds[AS_INAPPLICABLE] > 0);
}

UNIT_TEST(test_scripted)
{
    struct as_device_info info = cpu.device.info;
    struct as_error err = {0};
    size_t said = 0;
    info.capabilities |= AS_CAP_SIMULATED;
    for (const struct as_matrix *m = as_matrices; m->name; m++) {
        enum as_applies can = as_matrix_applies(m, &info, &err);
        assert_int_not_equal(can, AS_APPLIES);
        said += can == AS_INAPPLICABLE;
    }
    assert_int_equal(said, 1);
}

/* ---- results ---- */

enum { PROBLEMS = 2000 };

/* Products of one problem, by lanes. */
struct problem {
    uint64_t a[2048], b[2048], c[2048], d[2048];
};

/* Any bits except NaN and infinity: large, small and subnormal numbers. */
static uint64_t draw_code(const struct as_number_format *f, struct as_rng *rng)
{
    for (;;) {
        uint64_t code = as_rng_u64(rng) & (f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1);
        if (f->kind == AS_NUMBER_FLOAT && as_rng_below(rng, 2))
            code = as_number_nearest(f, 4 * as_rng_double(rng) - 2);
        if (isfinite(as_number_decode(f, code)))
            return code;
    }
}

static void draw_problem(const struct as_matrix *m, struct as_rng *rng, struct problem *p)
{
    uint64_t *const to[] = {p->a, p->b, p->c};
    for (int w = AS_MATRIX_A; w < AS_MATRIX_OPERANDS; w++)
        for (size_t i = 0; i < as_matrix_count(m, (enum as_matrix_operand)w, 0); i++)
            to[w][i] = draw_code(as_matrix_format(m, (enum as_matrix_operand)w), rng);
}

/* Describes the first difference; false if there is none. */
static bool agrees(struct as_fragments *f, model_fn *model, char *why, size_t size)
{
    static struct problem p;
    const struct as_matrix *m = f->matrix;
    struct as_error err = {0};
    struct as_rng rng;
    uint64_t column[256];
    as_rng_seed(&rng, 7);
    for (int i = 0; i < PROBLEMS; i++) {
        draw_problem(m, &rng, &p);
        if (f->unit.multiply(f->unit.ctx, 1, p.a, p.b, p.c, p.d, &err))
            fail_msg("%s", err.text);
        for (unsigned at = 0; at < m->m * m->n; at++) {
            for (unsigned k = 0; k < m->k; k++)
                column[k] = p.b[k * m->n + at % m->n];
            uint64_t want = model(m, p.a + at / m->n * m->k, column, p.c[at]);
            double got = as_number_decode(f->unit.c, p.d[at]);
            if (p.d[at] == want || (isnan(got) && isnan(as_number_decode(f->unit.c, want))))
                continue;
            snprintf(why, size, "problem %d, row %u, column %u: %llx, not %llx", i, at / m->n, at % m->n,
                     (unsigned long long)p.d[at], (unsigned long long)want);
            return false;
        }
    }
    return true;
}

UNIT_TEST(test_results)
{
    size_t ran = 0;
    for (const struct as_core *c = as_cores; c->name; c++) {
        struct as_fragments f;
        struct as_error err = {0};
        char why[160];
        const struct as_matrix *m = as_matrix_find(c->name);
        if (!is_right_here(c) || !model_of(m))
            continue;
        if (as_fragments_open(&f, &cpu.device, m, 0, &err))
            fail_msg("%s: %s", c->name, err.text);
        if (!agrees(&f, model_of(m), why, sizeof why))
            fail_msg("%s: %s", c->name, why);
        as_fragments_close(&f);
        ran++;
    }
    print_message("%zu instructions\n", ran);
    if (!ran)
        skip();
}

/* All of them, also those without a model here: the arithmetic found must explain their results. */
UNIT_TEST(test_numerics)
{
    any_core();
    for (const struct as_core *c = as_cores; c->name; c++) {
        struct as_fragments f;
        struct as_matrix_found found;
        struct as_error err = {0};
        const struct as_matrix *m = as_matrix_find(c->name);
        if (!is_right_here(c) || m->k == 1 || strcmp(m->c, "s64") == 0)
            continue;
        if (as_fragments_open(&f, &cpu.device, m, 0, &err) || as_arithmetic_find(&f.unit, 3, &found, &err))
            fail_msg("%s: %s", c->name, err.text);
        as_fragments_close(&f);
        if (found.unequal)
            fail_msg("%s: %s", c->name, found.first);
        if (strstr(c->name, "dpbf16ps")) { /* of vectors, and of tiles */
            assert_true(found.property[AS_PROPERTY_SUMS].value == (c->name[0] == 't' ? 2 : 1));
            assert_true(found.property[AS_PROPERTY_ACCUMULATOR].value == 24);
            assert_true(found.property[AS_PROPERTY_ROUNDING].value == AS_CUT_NEAREST_EVEN);
            assert_true(found.property[AS_PROPERTY_STEP].value == 1);
            assert_true(found.how.flush_a && found.how.flush_b && found.how.flush_c && found.how.flush_d);
        }
    }
}

UNIT_TEST(test_layouts)
{
    any_core();
    for (const struct as_core *c = as_cores; c->name; c++) {
        struct layout_unit u;
        struct as_slots documented, found;
        struct as_slots_difference difference;
        struct as_error err = {0};
        if (!is_right_here(c))
            continue;
        if (as_layout_open(&u, &cpu.device, as_matrix_find(c->name), 0, &err) ||
            as_layout_documented(&u, &documented, &err) || as_slots_find(&u.unit, &found, &err) ||
            as_slots_compare(&found, &documented, &difference, &err))
            fail_msg("%s: %s", c->name, err.text);
        if (difference.first[0])
            fail_msg("%s: %s", c->name, difference.first);
        as_slots_finish(&found);
        as_slots_finish(&documented);
        as_layout_close(&u);
    }
}

/* ---- peaks ---- */

static void prepare(struct as_peak *p, struct as_trial_context *tc, const struct as_matrix *m, unsigned chains)
{
    struct as_error err = {0};
    const struct as_peak_desc d = {.matrix = m, .chains = chains};
    *tc = (struct as_trial_context){.dev = &cpu.device, .seed = 11};
    if (as_peak_applies(&cpu.device.info, &d, &err) != AS_APPLIES || as_peak_prepare(p, tc, &d, &err))
        fail_msg("%s: %s", m->name, err.text);
}

UNIT_TEST(test_peaks)
{
    any_core();
    for (const struct as_core *c = as_cores; c->name; c++)
        for (const struct as_core_body *b = c->bodies; is_right_here(c) && b < c->bodies + AS_CORE_BODIES && b->name;
             b++) {
            struct as_peak p;
            struct as_trial_context tc;
            struct as_peak_time t;
            struct as_error err = {0};
            char why[200] = "";
            prepare(&p, &tc, as_matrix_find(c->name), b->chains);
            const enum as_status st = as_peak_measure(&p, 4096, &t, &err);
            if (st && !real_was_disturbed(st, &err))
                fail_msg("%s: %s", b->name, err.text);
            assert_true(st || (t.cycles > 0 && t.rate > 0 && t.operations > 0));
            if (!as_peak_check(&p, why, sizeof why))
                fail_msg("%s: %s", b->name, why);
            as_peak_finish(&p);
            as_buf_finish(&tc.detail);
        }
}

UNIT_TEST(test_code)
{
    char text[200];
    double each;
    if (as_cores[0].name && as_core_code_gate(as_matrix_find(as_cores[0].name), &as_cores[0].bodies[0], &each, text,
                                              sizeof text) == AS_GATE_NA) {
        print_message("skipped: %s\n", text);
        skip();
    }
    for (const struct as_core *c = as_cores; c->name; c++)
        for (const struct as_core_body *b = c->bodies; b < c->bodies + AS_CORE_BODIES && b->name; b++)
            if (as_core_code_gate(as_matrix_find(c->name), b, &each, text, sizeof text) != AS_GATE_PASS)
                fail_msg("%s: %s", b->name, text);
    /* A loop of another instruction, and one that is shorter than stated. */
    const struct as_core *c = &as_cores[0], *other = &as_cores[2];
    assert_int_equal(as_core_code_gate(as_matrix_find(c->name), &other->bodies[1], &each, text, sizeof text),
                     AS_GATE_FAIL);
    assert_non_null(strstr(text, "expected 1"));
    struct as_core_body shorter = c->bodies[1];
    shorter.steps *= 2;
    assert_int_equal(as_core_code_gate(as_matrix_find(c->name), &shorter, &each, text, sizeof text), AS_GATE_FAIL);
}

/* ---- planted errors ---- */

static const struct as_core *planted;

/* Exchanges the first two columns of B, if a column is in a lane of its own, with words of 32 bits. */
static void swaps(const void *a, const void *b, void *c, uint64_t n)
{
    const struct as_matrix *m = as_matrix_find(planted->name);
    const size_t bytes[] = {as_image_bytes(m, AS_MATRIX_A, 0), as_image_bytes(m, AS_MATRIX_B, 0),
                            as_image_bytes(m, AS_MATRIX_C, 0)};
    uint32_t words[1024];
    for (uint64_t i = 0; i < n; i++) {
        memcpy(words, (const char *)b + i * bytes[1], bytes[1]);
        uint32_t first = words[0];
        words[0] = words[1];
        words[1] = first;
        planted->multiply((const char *)a + i * bytes[0], words, (char *)c + i * bytes[2], 1);
    }
}

UNIT_TEST(test_wrong_fragment)
{
    struct layout_unit u;
    struct as_slots documented, found;
    struct as_slots_difference difference;
    struct as_error err = {0};
    char why[160];
    planted = any_core();
    struct as_core core = *planted;
    core.multiply = swaps;
    const struct as_matrix *m = as_matrix_find(planted->name);
    assert_int_equal(as_layout_open(&u, &cpu.device, m, 0, &err), AS_OK);
    u.fragments.core = &core;
    assert_int_equal(as_layout_documented(&u, &documented, &err), AS_OK);
    /* Columns are numbered in the order found, and the result has them elsewhere. */
    if (!as_slots_find(&u.unit, &found, &err)) {
        assert_int_equal(as_slots_compare(&found, &documented, &difference, &err), AS_OK);
        assert_true(difference.unequal[0] + difference.unequal[1] + difference.unequal[2] > 0);
        as_slots_finish(&found);
    }
    if (model_of(m))
        assert_false(agrees(&u.fragments, model_of(m), why, sizeof why));
    as_slots_finish(&documented);
    as_layout_close(&u);
}

static const struct as_core_body *planted_body;

static void too_short(const void *a, const void *b, void *c, uint64_t n)
{
    (void)n;
    planted_body->half(a, b, c, 1);
}

UNIT_TEST(test_skipped_steps)
{
    struct as_peak p;
    struct as_trial_context tc;
    struct as_peak_time t;
    struct as_error err = {0};
    char why[200] = "";
    const struct as_core *c = any_core();
    planted_body = as_core_body(c, 0);
    prepare(&p, &tc, as_matrix_find(c->name), 0);
    const enum as_status st = as_peak_measure(&p, 4096, &t, &err);
    if (st && !real_was_disturbed(st, &err))
        fail_msg("%s", err.text);
    assert_true(as_peak_check(&p, why, sizeof why));
    struct as_core_body body = *planted_body;
    body.whole = too_short;
    p.core_body = &body;
    assert_false(as_peak_check(&p, why, sizeof why));
    assert_non_null(strstr(why, "accumulator"));
    as_peak_finish(&p);
    as_buf_finish(&tc.detail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_planned_here),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_what_applies),
        cmocka_unit_test(test_scripted),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_numerics),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_wrong_fragment),
        cmocka_unit_test(test_skipped_steps),
    };
    return cmocka_run_group_tests_name("matrix instructions of the CPU", tests, open_cpu, close_cpu);
}
