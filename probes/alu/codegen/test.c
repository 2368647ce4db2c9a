/* Probe codegen: decoding of known bytes, what this build's compiler emits for this CPU, and a device that counts its
 * instructions. */
#include "probes/alu/codegen/codegen.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_codegen;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

UNIT_TEST(test_x86)
{
    static const struct {
        unsigned char code[10];
        const char *name;
        enum codegen_op op;
    } rows[] = {
        {{0xf0, 0x0f, 0xc1, 0x07}, "LOCK XADD", OP_ATOMIC_ADD},
        {{0xf0, 0x48, 0x0f, 0xc1, 0x07}, "LOCK XADD", OP_ATOMIC_ADD},
        {{0xf0, 0x01, 0x07}, "LOCK ADD", OP_ATOMIC_ADD},
        {{0xf0, 0x83, 0x07, 0x03}, "LOCK ADD", OP_ATOMIC_ADD},
        {{0xf0, 0x83, 0x0c, 0x24, 0x00}, NULL, OPS}, /* a fence */
        {{0x01, 0x07}, NULL, OPS},                   /* no LOCK prefix */
        {{0x0f, 0xc1, 0x07}, NULL, OPS},
        {{0xf0, 0x48, 0x0f, 0xb1, 0x0f}, "LOCK CMPXCHG", OPS},
        {{0x87, 0x07}, "XCHG", OP_ATOMIC_EXCHANGE},
        {{0x87, 0xc8}, NULL, OPS}, /* registers only */
        {{0xe8, 1, 2, 3, 4}, "CALL", OPS},
        {{0xff, 0x15, 1, 2, 3, 4}, "CALL", OPS},
        {{0xff, 0x25, 1, 2, 3, 4}, NULL, OPS}, /* a jump */
        {{0x48, 0xf7, 0xe1}, "MUL", OP_MULHI},
        {{0xc4, 0xe2, 0xfb, 0xf6, 0xc1}, "MULX", OP_MULHI},
        {{0x48, 0xf7, 0xf1}, "DIV", OP_DIV},
        {{0xf3, 0x48, 0x0f, 0xb8, 0xc1}, "POPCNT", OP_POPCOUNT},
        {{0xf2, 0x0f, 0x58, 0xc1}, "ADDSD", OP_ADD},
        {{0xc5, 0xfb, 0x58, 0xc1}, "ADDSD", OP_ADD},
        {{0xc5, 0xfa, 0x59, 0xc1}, "MULSS", OP_MUL},
        {{0xf3, 0x0f, 0x5e, 0xc1}, "DIVSS", OP_DIV},
        {{0x0f, 0x58, 0xc1}, NULL, OPS}, /* vector */
        {{0xc4, 0xe2, 0xf1, 0x99, 0xc2}, "VFMADD", OP_FMA},
        {{0x62, 0xf2, 0xf5, 0x08, 0xa9, 0xc2}, "VFMADD", OP_FMA},
        {{0x90}, "NOP", OPS},
        {{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, "NOP", OPS},
        {{0xf3, 0x90}, NULL, OPS}, /* PAUSE */
        {{0xc3}, NULL, OPS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct codegen_instruction got = as_codegen_decode_x86(rows[i].code, sizeof rows[i].code);
        if (got.op != rows[i].op || (got.name ? !rows[i].name || strcmp(got.name, rows[i].name) != 0 : !!rows[i].name))
            fail_msg("row %zu is %s", i, got.name ? got.name : "nothing that is known");
        for (size_t n = 0; n < 3; n++) /* truncated: nothing behind n may be read */
            (void)as_codegen_decode_x86(rows[i].code, n);
    }
    assert_int_equal(as_codegen_decode_x86((const unsigned char *)"\xf0", 1).class, CLASS_OTHER);
}

UNIT_TEST(test_arm)
{
    static const struct {
        uint32_t word;
        const char *name;
    } rows[] = {
        {0xb8210002, "LDADD"}, {0xb8e10002, "LDADD"}, {0xf8218002, "SWP"},  {0xb8216002, "LDMAX"},
        {0xb8217002, "LDMIN"}, {0x88a17c02, "CAS"},   {0xc8e1fc02, "CAS"},  {0x88017c02, "STXR"},
        {0x94000001, "BL"},    {0x1f420c20, "FMADD"}, {0x1e622820, "FADD"}, {0x1e220820, "FMUL"},
        {0x9ac20820, "UDIV"},  {0x9bc27c20, "UMULH"}, {0xd503201f, "NOP"},  {0xd65f03c0, NULL},
        {0x885f7c02, NULL},    {0x1e621820, "FDIV"},  {0xd63f0020, "BLR"},  {0x0e205800, "CNT"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = as_codegen_decode_arm(rows[i].word).name;
        if (got ? !rows[i].name || strcmp(got, rows[i].name) != 0 : !!rows[i].name)
            fail_msg("%08x is %s", (unsigned)rows[i].word, got ? got : "nothing that is known");
    }
}

/* Known answers for gcc and clang. Sanitizers insert their own code. */
UNIT_TEST(test_this_cpu)
{
    static const struct {
        struct codegen_case what;
        const char *by;
        enum codegen_kind kind;
    } rows[] = {
#if defined(__x86_64__)
        {{OP_ATOMIC_ADD, TYPE_U32, true, false, false, false}, "LOCK XADD", KIND_NATIVE},
        {{OP_ATOMIC_ADD, TYPE_U32, true, false, true, false}, "LOCK ADD", KIND_NATIVE},
        {{OP_ATOMIC_ADD, TYPE_U64, true, true, false, false}, "LOCK XADD", KIND_NATIVE},
        {{OP_ATOMIC_ADD, TYPE_F32, true, false, false, false}, "LOCK CMPXCHG", KIND_LOOP},
        {{OP_ATOMIC_ADD, TYPE_F64, true, true, true, false}, "LOCK CMPXCHG", KIND_LOOP},
        {{OP_ATOMIC_MIN, TYPE_U32, true, false, false, false}, "LOCK CMPXCHG", KIND_LOOP},
        {{OP_ATOMIC_EXCHANGE, TYPE_U32, true, true, false, false}, "XCHG", KIND_NATIVE},
        {{OP_ADD, TYPE_F64, false, false, false, false}, "ADDSD", KIND_NATIVE},
        {{OP_DIV, TYPE_F32, false, false, false, false}, "DIVSS", KIND_NATIVE},
        {{OP_DIV, TYPE_U64, false, false, false, false}, "DIV", KIND_NATIVE},
        {{OP_MULHI, TYPE_U64, false, false, false, false}, "MUL", KIND_NATIVE},
#else
#if defined(__ARM_FEATURE_ATOMICS)
        {{OP_ATOMIC_ADD, TYPE_U32, true, false, false, false}, "LDADD", KIND_NATIVE},
        {{OP_ATOMIC_EXCHANGE, TYPE_U32, true, true, false, false}, "SWP", KIND_NATIVE},
        {{OP_ATOMIC_ADD, TYPE_F64, true, true, true, false}, "CAS", KIND_LOOP},
#elif !defined(__clang__) /* gcc calls an outline-atomics function; clang does so depending on version and system */
        {{OP_ATOMIC_ADD, TYPE_U32, true, false, false, false}, "a called function", KIND_CALL},
        {{OP_ATOMIC_EXCHANGE, TYPE_U32, true, true, false, false}, "a called function", KIND_CALL},
        {{OP_ATOMIC_ADD, TYPE_F64, true, true, true, false}, "a called function", KIND_CALL},
#endif
        {{OP_ADD, TYPE_F64, false, false, false, false}, "FADD", KIND_NATIVE},
        {{OP_FMA, TYPE_F64, false, false, false, false}, "FMADD", KIND_NATIVE},
        {{OP_DIV, TYPE_F32, false, false, false, false}, "FDIV", KIND_NATIVE},
        {{OP_DIV, TYPE_U64, false, false, false, false}, "UDIV", KIND_NATIVE},
        {{OP_MULHI, TYPE_U64, false, false, false, false}, "UMULH", KIND_NATIVE},
#endif
    };
#if !defined(__x86_64__) && !defined(__aarch64__)
    print_message("skipped: no answers are known for this CPU architecture\n");
    skip();
#endif
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct codegen_found found;
        union codegen_data got, want;
        struct as_error err = {0};
        char why[160] = "";
        if (as_codegen_cpu(&rows[i].what, &found, &got, &err)) {
            print_message("skipped: %s\n", err.text);
            skip();
        }
        as_codegen_expect(&rows[i].what, &want);
        if (!as_codegen_same(&rows[i].what, &got, &want, why, sizeof why))
            fail_msg("row %zu: %s", i, why);
        if (SANITIZED)
            continue;
        const double each = found.wanted + found.swaps + (rows[i].kind == KIND_CALL ? found.calls : 0);
        if (as_codegen_kind_of(&found) != rows[i].kind || strcmp(found.by, rows[i].by) != 0 ||
            found.instructions < each || each != 1)
            fail_msg("row %zu: %s, %g instructions, %g wanted, %g swaps", i, found.by, found.instructions, found.wanted,
                     found.swaps);
    }
}

/* Every function computes what the reference computes; a reference with one copy less is rejected. */
UNIT_TEST(test_references)
{
    size_t n = 0;
    for (int i = 0; i < OPS * TYPES * 4; i++) {
        struct codegen_case c = {.op = (enum codegen_op)(i / (TYPES * 4)), .type = (enum codegen_type)(i / 4 % TYPES)};
        union codegen_data got, want, less;
        char why[160] = "";
        c.seq_cst = i & 1;
        c.dropped = i & 2;
        c.atomic = c.op < OP_ADD;
        const struct codegen_native *f = as_codegen_native_of(&c, true);
        if (!f)
            continue;
        n++;
        as_codegen_start(&c, &got);
        f->run(&got);
        as_codegen_expect(&c, &want);
        as_codegen_start(&c, &less);
        if (!as_codegen_same(&c, &got, &want, why, sizeof why))
            fail_msg("case %d: %s", i, why);
        if (as_codegen_same(&c, &less, &want, why, sizeof why))
            fail_msg("case %d: code that does nothing passes", i);
        assert_true(strstr(why, "after 13 operations"));
    }
    assert_int_equal(n, 28 + 13);
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE | AS_CAP_CODE | AS_CAP_FP64);
#define CELL(op, type, order, scope, rest) "op=" op " type=" type " order=" order " scope=" scope " " rest
    static const struct {
        const char *axes;
        enum as_applies cpu, gpu;
    } rows[] = {
        {CELL("atomic_add", "f64", "relaxed", "system", "result=kept target=build"), AS_APPLIES, AS_APPLIES},
        {CELL("atomic_add", "f64", "relaxed", "device", "result=kept target=build"), AS_PRUNED, AS_APPLIES},
        {CELL("atomic_add", "f64", "none", "system", "result=kept target=build"), AS_PRUNED, AS_PRUNED},
        {CELL("atomic_add", "f64", "relaxed", "none", "result=kept target=build"), AS_PRUNED, AS_PRUNED},
        {CELL("atomic_min", "f64", "relaxed", "system", "result=kept target=build"), AS_PRUNED, AS_PRUNED},
        {CELL("fma", "f64", "none", "none", "result=kept target=build"), AS_APPLIES, AS_APPLIES},
        {CELL("fma", "u32", "none", "none", "result=kept target=build"), AS_PRUNED, AS_PRUNED},
        {CELL("fma", "f64", "none", "none", "result=dropped target=build"), AS_PRUNED, AS_PRUNED},
        {CELL("popcount", "u32", "none", "none", "result=kept target=build"), AS_APPLIES, AS_INAPPLICABLE},
        {CELL("atomic_add", "u32", "relaxed", "system", "result=kept target=v3"), AS_PRUNED, AS_PRUNED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(toy_applies(&cpu, &as_probe_codegen, rows[i].axes, &err), rows[i].cpu);
        assert_int_equal(toy_applies(&gpu, &as_probe_codegen, rows[i].axes, &err), rows[i].gpu);
    }
    gpu.dev.info.capabilities = AS_CAP_SOURCE;
    assert_int_equal(toy_applies(&gpu, &as_probe_codegen, rows[0].axes, &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, AS_CODE_NOT_COUNTED));
    cpu.dev.info.capabilities |= AS_CAP_SIMULATED;
    assert_int_equal(toy_applies(&cpu, &as_probe_codegen, rows[0].axes, &err), AS_INAPPLICABLE);
}

/* ---- a device whose f32 additions are loops of seven instructions, and whose kernels may do nothing ---- */

static bool idle;

static enum as_status count_loop(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                                 struct as_error *err)
{
    uint64_t copies =
        strcmp((const char *)kernel, "few") == 0 ? CODEGEN_FEW : CODEGEN_MANY; /* a toy kernel starts with its name */
    (void)dev, (void)err;
    *n = strcmp(operation, "any") == 0 ? 20 + 7 * copies : copies;
    return AS_OK;
}

static void run_loop(const char *name, void *const *args)
{
    float *memory = args[0], *data = args[1];
    assert_string_equal(name, "many");
    for (int i = 0; i < CODEGEN_MANY && !idle; i++) {
        float old = memory[0];
        memory[0] += data[1];
        data[1] = old;
    }
}

UNIT_TEST(test_device)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    struct as_error err = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE | AS_CAP_CODE);
    struct as_program_ops ops = *t.dev.program;
    ops.count = count_loop;
    t.dev.program = &ops;
    t.kernel = run_loop;
    toy_prepare(&t, &as_probe_codegen, CELL("atomic_add", "f32", "relaxed", "device", "result=kept target=build"), &v,
                NULL);
    assert_int_equal(as_probe_codegen.sample(v.state, 1, &s, &err), AS_OK);
    assert_true(s.value == 7);
    assert_true(as_probe_codegen.check(v.state, why, sizeof why));
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"kind\":\"compare-and-swap loop\""));
    assert_non_null(strstr(as_buf_get(&v.tc.detail), "\"native\":0"));
    idle = true;
    assert_int_equal(as_probe_codegen.sample(v.state, 1, &s, &err), AS_OK);
    assert_false(as_probe_codegen.check(v.state, why, sizeof why));
    toy_finish(&as_probe_codegen, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x86),        cmocka_unit_test(test_arm),         cmocka_unit_test(test_this_cpu),
        cmocka_unit_test(test_references), cmocka_unit_test(test_which_cells), cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
