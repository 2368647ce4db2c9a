/* The rule of what compilers emit, on synthetic cells. */
#include "base/text.h"
#include "facts/facts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS_MAX = 256 };
static struct as_cell cells[CELLS_MAX];
static size_t cells_n;
static struct as_fact *facts;
static size_t facts_n;
static const struct as_device_info info = {.id = "cpu", .backend = "cpu"};

/* axes: "name=text;name=text", since names of allocators hold spaces; share: half the width of the interval */
static struct as_cell *add(const char *probe, const char *unit, double median, double share, const char *axes)
{
    assert_true(cells_n < CELLS_MAX);
    struct as_cell *c = &cells[cells_n++];
    *c = (struct as_cell){.id = (int64_t)cells_n, .status = AS_CELL_OK, .clock_hz = NAN, .limit = NAN};
    snprintf(c->device, sizeof c->device, "cpu");
    snprintf(c->probe, sizeof c->probe, "%s", probe);
    snprintf(c->unit, sizeof c->unit, "%s", unit);
    c->sum = (struct as_summary){.n = 30,
                                 .visits = 3,
                                 .median = median,
                                 .ci = {median * (1 - share), median * (1 + share)},
                                 .min = median,
                                 .max = median};
    char text[256], *save = NULL;
    snprintf(text, sizeof text, "%s", axes);
    for (char *part = strtok_r(text, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
        char *value = strchr(part, '=');
        *value++ = 0;
        assert_int_equal(as_axes_add(&c->axes, part, value, NULL), AS_OK);
    }
    return c;
}

static void derive(void)
{
    struct as_run run = {.id = 1};
    struct as_fact_input in = {&run, cells, cells_n, &info, 1};
    assert_int_equal(as_facts_derive(&in, &facts, &facts_n, NULL), AS_OK);
}

static int clean(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < cells_n; i++)
        free(cells[i].detail);
    free(facts);
    facts = NULL;
    facts_n = cells_n = 0;
    return 0;
}

static const struct as_fact *get(const char *id)
{
    const struct as_fact *f = as_fact_find(facts, facts_n, "cpu", id);
    for (size_t i = 0; !f && i < facts_n; i++)
        print_message("have %s: %s\n", facts[i].id, facts[i].sentence);
    if (!f)
        fail_msg("no fact %s", id);
    assert_true(f->rule[0] && f->evidence_n > 0);
    return f;
}

static void says(const char *id, const char *part)
{
    const struct as_fact *f = get(id);
    if (!strstr(f->sentence, part))
        fail_msg("%s: '%s' is not in: %s", id, part, f->sentence);
}

static void emitted(const char *op, const char *type, const char *order, const char *target, const char *detail)
{
    char axes[160];
    snprintf(axes, sizeof axes, "op=%s;type=%s;order=%s;scope=system;result=kept;target=%s", op, type, order, target);
    add("codegen", "instructions", 3, 0, axes)->detail = strdup(detail);
}
#define NATIVE "{\"native\":1,\"swaps\":0,\"calls\":0}"
#define LOOP "{\"native\":0,\"swaps\":1,\"calls\":0}"
#define CALL "{\"native\":0,\"swaps\":0,\"calls\":1}"
#define SEQUENCE "{\"native\":0,\"swaps\":0,\"calls\":null}"

static void test_kinds(void **unused)
{
    (void)unused;
    emitted("atomic_add", "u32", "relaxed", "build", NATIVE);
    emitted("atomic_add", "u32", "seq_cst", "build", NATIVE);
    emitted("atomic_add", "u64", "relaxed", "build", NATIVE);
    emitted("atomic_add", "f64", "relaxed", "build", LOOP);
    emitted("fma", "f64", "none", "build", CALL);
    emitted("fma", "f64", "none", "v3", NATIVE);
    emitted("div", "f64", "none", "build", SEQUENCE);
    derive();
    assert_int_equal(facts_n, 5);
    says("codegen.atomics.native", ": atomic_add u32, atomic_add u64");
    assert_int_equal(get("codegen.atomics.native")->evidence_n, 3);
    assert_null(strstr(get("codegen.atomics.native")->sentence, "u64,"));
    says("codegen.atomics.loops", "NOT native");
    says("codegen.atomics.loops", ": atomic_add f64");
    says("codegen.arithmetic.calls", ": fma f64");
    says("codegen.arithmetic.native", ": fma f64 (x86-64-v3)");
    says("codegen.arithmetic.sequences", ": div f64");
}

static void test_many(void **unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++) {
        char op[24];
        snprintf(op, sizeof op, "operation%d", i);
        emitted(op, "f64", "none", "build", NATIVE);
    }
    derive();
    assert_int_equal(facts_n, 1);
    says("codegen.arithmetic.native", "operation0 f64, operation1 f64");
    says("codegen.arithmetic.native", " more");
}

static void test_untrusted(void **unused)
{
    (void)unused;
    emitted("atomic_add", "f32", "relaxed", "build", LOOP);
    cells[0].status = AS_CELL_UNTRUSTED;
    derive();
    assert_int_equal(facts_n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_kinds, clean),
        cmocka_unit_test_teardown(test_many, clean),
        cmocka_unit_test_teardown(test_untrusted, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
