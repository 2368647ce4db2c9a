/* The rule of what compilers emit, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu", .backend = "cpu"}};

static void emitted(const char *op, const char *type, const char *order, const char *target, const char *detail)
{
    char axes[160];
    snprintf(axes, sizeof axes, "op=%s;type=%s;order=%s;scope=system;result=kept;target=%s", op, type, order, target);
    made_add(&m, "codegen", "instructions", 3, axes)->detail = strdup(detail);
}
#define NATIVE "{\"native\":1,\"swaps\":0,\"calls\":0}"
#define LOOP "{\"native\":0,\"swaps\":1,\"calls\":0}"
#define CALL "{\"native\":0,\"swaps\":0,\"calls\":1}"
#define SEQUENCE "{\"native\":0,\"swaps\":0,\"calls\":null}"

UNIT_TEST(test_kinds)
{
    emitted("atomic_add", "u32", "relaxed", "build", NATIVE);
    emitted("atomic_add", "u32", "seq_cst", "build", NATIVE);
    emitted("atomic_add", "u64", "relaxed", "build", NATIVE);
    emitted("atomic_add", "f64", "relaxed", "build", LOOP);
    emitted("fma", "f64", "none", "build", CALL);
    emitted("fma", "f64", "none", "v3", NATIVE);
    emitted("div", "f64", "none", "build", SEQUENCE);
    made_derive(&m);
    assert_int_equal(m.facts_n, 5);
    made_says(made_get(&m, "codegen.atomics.native"), ": atomic_add u32, atomic_add u64");
    assert_int_equal(made_get(&m, "codegen.atomics.native")->evidence_n, 3);
    assert_null(strstr(made_get(&m, "codegen.atomics.native")->sentence, "u64,"));
    made_says(made_get(&m, "codegen.atomics.loops"), "NOT native");
    made_says(made_get(&m, "codegen.atomics.loops"), ": atomic_add f64");
    made_says(made_get(&m, "codegen.arithmetic.calls"), ": fma f64");
    made_says(made_get(&m, "codegen.arithmetic.native"), ": fma f64 (x86-64-v3)");
    made_says(made_get(&m, "codegen.arithmetic.sequences"), ": div f64");
}

UNIT_TEST(test_many)
{
    for (int i = 0; i < 40; i++) {
        char op[24];
        snprintf(op, sizeof op, "operation%d", i);
        emitted(op, "f64", "none", "build", NATIVE);
    }
    made_derive(&m);
    assert_int_equal(m.facts_n, 1);
    made_says(made_get(&m, "codegen.arithmetic.native"), "operation0 f64, operation1 f64");
    made_says(made_get(&m, "codegen.arithmetic.native"), " more");
}

UNIT_TEST(test_rejected)
{
    emitted("atomic_add", "f32", "relaxed", "build", LOOP);
    m.cells[0].status = AS_CELL_REJECTED;
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_kinds, &m),
        made_test(test_many, &m),
        made_test(test_rejected, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
