/* The rule of operation latency, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include "model/metrics.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda", .warp = 32, .compute_units = 132}, .share = 0.01};

static struct as_cell *wait(const char *op, double value)
{
    char axes[96];
    snprintf(axes, sizeof axes, "op=%s operands=0 steps=0", op);
    struct as_cell *c = made_add(&m, "alu_latency", "cycles", value, axes);
    c->lower_is_better = true;
    return c;
}

/* The fastest valid cell counts. */
UNIT_TEST(test_each)
{
    wait("ffma32", 4.5);
    wait("ffma32", 4);
    wait("ffma32", 3)->status = AS_CELL_REJECTED;
    made_derive(&m);
    made_says(made_near(&m, "alu.latency.ffma32", 4, 1e-9), "4.00 cycles");
    assert_null(made_find(&m, "alu.latency.iadd32"));
}

/* A chain of two kinds of instructions crosses pipes: its mean is the latency of neither. */
UNIT_TEST(test_mixed_steps)
{
    wait("iadd32", 5)->detail = strdup("{\"instructions\":\"each step is 0.5 IADD3, 0.5 IMAD.IADD\"}");
    wait("ffma32", 4)->detail = strdup("{\"instructions\":\"each step is 1 FFMA\"}");
    made_derive(&m);
    made_says(made_get(&m, "alu.latency.iadd32"), "A chain of iadd32 takes 5.00 cycles");
    made_says(made_get(&m, "alu.latency.iadd32"), "different instructions: each step is 0.5 IADD3, 0.5 IMAD.IADD");
    assert_null(strstr(made_get(&m, "alu.latency.iadd32")->sentence, "alone"));
    wait("imad32", 6)->detail = strdup("{\"instructions\":\"each step is 1 IMAD.IADD, 1 SHF\"}");
    wait("iadd32_imad", 4.5)->detail = strdup("{\"instructions\":\"each step is 1 IMAD.IADD\"}");
    wait("iadd3_32", 4)->detail = strdup("{\"instructions\":\"each step is 1 IADD3\"}");
    made_derive(&m);
    made_says(made_get(&m, "alu.latency.iadd32"), "0.5 IMAD.IADD; IADD3 alone takes 4.00 cycles");
    made_says(made_get(&m, "alu.latency.imad32"), " cycles); each step is 1 IMAD.IADD, 1 SHF");
    assert_int_equal(made_get(&m, "alu.latency.iadd32")->evidence_n, 2);
    assert_null(strstr(made_get(&m, "alu.latency.ffma32")->sentence, "each step"));
}

/* On a CPU the latency of the scalar counts. */
UNIT_TEST(test_widths)
{
    m.info.warp = 1;
    made_add(&m, "alu_latency", "cycles", 3.9, "op=ffma32 width=256 operands=0 steps=0")->lower_is_better = true;
    made_add(&m, "alu_latency", "cycles", 4, "op=ffma32 width=scalar operands=0 steps=0")->lower_is_better = true;
    made_derive(&m);
    made_near(&m, "alu.latency.ffma32", 4, 1e-9);
    m.info.warp = 32;
}

UNIT_TEST(test_loop)
{
    struct as_error err = {0};
    const struct as_metric_value v = {
        .name = "loop", .unit = "cycles", .lower_is_better = true, .value = 16, .ci = {15, 17}, .trials = 3};
    struct as_cell *c = wait("ffma32", 4);
    c->detail = strdup("{\"steps\":768}");
    assert_int_equal(as_cell_set_metrics(c, &v, 1, &err), AS_OK);
    made_derive(&m);
    made_says(made_near(&m, "alu.loop", 16, 1e-9), ") per iteration of 768 dependent ffma32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_loop, &m),
        made_test(test_each, &m),
        made_test(test_mixed_steps, &m),
        made_test(test_widths, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
