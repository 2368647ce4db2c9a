/* Operations by this CPU's native instructions: results match the references, machine code matches the table. */
#include "native_rows.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static size_t bodies_of(const struct as_native *n)
{
    size_t bodies = 0;
    while (bodies < AS_NATIVE_BODIES && n->bodies[bodies].name)
        bodies++;
    return bodies;
}

/* ---- the table ---- */

UNIT_TEST(test_table)
{
    size_t scalar = 0, vectors = 0;
    for (const struct as_native *n = as_natives; n->op; n++) {
        const struct as_op *op = as_op_find(n->op);
        assert_non_null(op);
        assert_ptr_equal(as_native_find(n->op, n->width), n); /* so it stands there once */
        assert_true((op->reference != NULL) != (op->group_reference != NULL));
        assert_true(op->reference || n->width != AS_NATIVE_SCALAR); /* a register is the subgroup */
        size_t widest =
            as_op_bytes(op->type) > as_op_bytes(op->result) ? as_op_bytes(op->type) : as_op_bytes(op->result);
        const unsigned bytes[AS_NATIVE_WIDTHS] = {0, 16, 32, 64, as_cpu_features().sve_bytes};
        assert_int_equal(as_native_lanes(n), n->width == AS_NATIVE_SCALAR ? 1 : bytes[n->width] / widest);
        assert_true(bytes[n->width] <= AS_NATIVE_SLOT);
        assert_true(bodies_of(n) > 0);
        for (size_t b = 0; b < bodies_of(n); b++) {
            const struct as_native_body *body = &n->bodies[b];
            /* halves are whole turns of the two second operands, and their difference is not rounded */
            assert_true(body->apart || body->steps % 4 == 0);
            assert_true(body->chains >= 1 && body->chains <= AS_NATIVE_CHAINS);
            assert_true(body->apart == (n->link && body->chains > 1));
        }
        scalar += n->width == AS_NATIVE_SCALAR;
        vectors += n->width != AS_NATIVE_SCALAR;
    }
    if (!as_natives[0].op) {
        print_message("skipped: no native kernels for this kind of CPU\n");
        skip();
    }
    assert_true(scalar > 0);
    assert_true(vectors > 0);
}

/* A form has what its instructions need, those too whose last letter is the type's: "vpmins$i" of i64 is AVX-512. */
UNIT_TEST(test_needs)
{
#if defined(__x86_64__)
    static const struct {
        const char *op;
        enum as_native_width width;
        as_cpu_sets needs;
    } rows[] = {{"imin64", AS_NATIVE_128, AS_CPU_AVX512F | AS_CPU_AVX512VL},
                {"imax64", AS_NATIVE_256, AS_CPU_AVX512F | AS_CPU_AVX512VL},
                {"imin32", AS_NATIVE_256, AS_CPU_AVX2},
                {"iadd16", AS_NATIVE_512, AS_CPU_AVX512F | AS_CPU_AVX512BW},
                {"imul64", AS_NATIVE_256, AS_CPU_AVX512DQ | AS_CPU_AVX512VL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct as_native *n = as_native_find(rows[i].op, rows[i].width);
        assert_non_null(n);
        if (n->needs != (rows[i].needs | AS_CPU_AVX))
            fail_msg("%s in %s", n->op, as_native_width_words[n->width]);
    }
#else
    skip();
#endif
}

static const char *told(const struct as_word *about, const char *name)
{
    const char *const *more = about->more;
    while (more[0] && strcmp(more[0], name) != 0)
        more += 2;
    return more[0] ? more[1] : NULL;
}

/* The printed descriptions match the rows. */
UNIT_TEST(test_about)
{
#if defined(__x86_64__)
    static const char machine[] = "x86-64";
#else
    static const char machine[] = "aarch64";
#endif
    if (!as_natives[0].op) {
        print_message("skipped: no native kernels for this kind of CPU\n");
        skip();
    }
    for (const struct as_word *about = as_op_about; about->name; about++) {
        const struct as_native *native = NULL;
        for (unsigned w = 0; w < AS_NATIVE_WIDTHS && !native; w++)
            native = as_native_find(about->name, (enum as_native_width)w);
        const char *text = told(about, machine);
        assert_non_null(text);
        char width[16];
        snprintf(width, sizeof width, "%s", native ? as_native_width_words[native->width] : "");
        if ((native != NULL) != (strstr(about->dialects, machine) != NULL) ||
            (native != NULL) != (strstr(text, "no instruction") == NULL) || strncmp(text, width, strlen(width)) != 0)
            fail_msg("%s: %s; %s", about->name, about->dialects, text);
    }
}

/* They tell where a CPU's operands are other ones than a device's, and by how much its results may be off. */
UNIT_TEST(test_about_operands)
{
    for (const struct as_native *n = as_natives; n->op; n++) {
        const struct as_op *op = as_op_find(n->op);
        const struct as_word *about = as_op_about;
        while (about->name && strcmp(about->name, n->op) != 0)
            about++;
        assert_non_null(about->name);
        const char *values = told(about, "CPU values"), *error = told(about, "allowed error");
        const bool other = n->a != op->a || (op->args > 1 && n->b != op->b) || (op->args > 2 && n->c != op->c);
        if (!values ? other || n->values : other && strcmp(values, n->values ? n->values : "") == 0)
            fail_msg("%s: CPU values: %s", n->op, values ? values : "not told");
        assert_true(!n->values || strstr(values, n->values));
        const bool is_off = op->ulp[AS_DIALECT_HOST] > 0;
        if (is_off != (strstr(error, "on a CPU") != NULL))
            fail_msg("%s: allowed error: %s", n->op, error);
    }
    if (!as_natives[0].op)
        skip();
}

/* ---- correct ---- */

UNIT_TEST(test_all_agree)
{
    size_t ran = 0, other = 0;
    for (const struct as_native *n = as_natives; n->op; n++) {
        if (!native_can_run(n)) {
            other++;
            continue;
        }
        for (size_t b = 0; b < bodies_of(n); b++) {
            char why[256];
            if (!as_native_check(n, as_op_find(n->op), &n->bodies[b], 1 + ran, why, sizeof why))
                fail_msg("%s in %s: %s", n->op, as_native_width_words[n->width], why);
        }
        ran++;
    }
    print_message("%zu rows ran, %zu need what this CPU does not have\n", ran, other);
    if (!ran)
        skip();
}

UNIT_TEST(test_all_code)
{
    if (as_native_codes_why[0] || !as_natives[0].op) {
        print_message("skipped: %s\n", as_native_codes_why);
        skip();
    }
    for (const struct as_native *n = as_natives; n->op; n++)
        for (size_t b = 0; b < bodies_of(n); b++) {
            char text[200];
            if (as_native_code_gate(n, &n->bodies[b], text, sizeof text) != AS_GATE_PASS)
                fail_msg("%s: %s", n->bodies[b].name, text);
        }
}

/* ---- which cells ---- */

UNIT_TEST(test_which_cells)
{
    struct as_device_info cpu = {.capabilities = AS_CAP_HOST_KERNELS};
    struct as_error err = {0};
    if (!as_natives[0].op)
        skip();
    struct as_native_desc d = {.op = as_op_find("iadd32"), .width = AS_NATIVE_SCALAR, .chains = 1};
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_APPLIES);
    d.chains = 3;
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_PRUNED);
    assert_non_null(strstr(err.text, "axis 'ilp': '3' is not one of 0, 1, 2, 4"));
    d.op = as_op_find("sin32"); /* and not because an instruction is missing */
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_PRUNED);
    assert_non_null(strstr(err.text, "'3' is not one of"));
    d = (struct as_native_desc){.op = as_op_find("sin32"), .width = AS_NATIVE_SCALAR, .chains = 1};
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "no instruction for it"));
    d.width = AS_NATIVE_256; /* reported once */
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_PRUNED);
    d = (struct as_native_desc){.op = as_op_find("iadd32"), .width = AS_NATIVE_SVE};
#if defined(__aarch64__)
    assert_int_equal(as_native_apply(&cpu, &d, &err), as_cpu_features().sve ? AS_APPLIES : AS_INAPPLICABLE);
    if (!as_cpu_features().sve)
        assert_string_equal(err.text, "this CPU lacks SVE");
    d.chains = 18; /* specific to SVE vectors */
    d.width = AS_NATIVE_128;
#endif
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_PRUNED);
    cpu.capabilities |= AS_CAP_SIMULATED;
    d.width = AS_NATIVE_SCALAR;
    assert_int_equal(as_native_apply(&cpu, &d, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "simulated"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_needs),       cmocka_unit_test(test_all_agree),
        cmocka_unit_test(test_all_code),       cmocka_unit_test(test_which_cells), cmocka_unit_test(test_about),
        cmocka_unit_test(test_about_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
