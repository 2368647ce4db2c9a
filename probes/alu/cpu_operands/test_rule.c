/* The rule of instructions by operand, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cpu:0", .backend = "cpu"}, .share = 0.001};

static struct as_cell *operands_cell(const char *form, const char *what, double cycles)
{
    char axes[120];
    snprintf(axes, sizeof axes, "instruction=%s what=%s", form, what);
    return made_add(&m, "cpu_operands", "cycles", cycles, axes);
}

static void mixed(const char *a, const char *b, int first, int second, double cycles)
{
    char notes[64];
    snprintf(notes, sizeof notes, "{\"first\":%d,\"second\":%d}", first, second);
    operands_cell(a, b, cycles)->detail = strdup(notes);
}

/* Two on one port add up, two on other ports do not, and the densest mixture says nothing more. */
UNIT_TEST(test_ports)
{
    operands_cell("imul", "2to1", 3);
    operands_cell("imul", "throughput", 1);
    operands_cell("pdep", "throughput", 1);
    operands_cell("fma", "throughput", 0.5);
    operands_cell("add", "throughput", 0.25);
    mixed("imul", "pdep", 4, 4, 8);
    mixed("imul", "fma", 4, 4, 4);
    mixed("add", "fma", 12, 6, 4.4);
    made_derive(&m);
    made_near(&m, "operands.latency.imul.2to1", 3, 1e-9);
    made_near(&m, "operands.throughput.imul", 1, 1e-9);
    made_verdict(&m, "operands.ports.imul.pdep", AS_SUPPORTED);
    made_near(&m, "operands.ports.imul.pdep", 1, 1e-6);
    made_verdict(&m, "operands.ports.imul.fma", AS_REFUTED);
    made_near(&m, "operands.ports.add.fma", 1.4 / 3, 1e-6);
    made_verdict(&m, "operands.ports.add.fma", AS_UNDECIDED);
    made_says(made_get(&m, "operands.ports.add.fma"), "as dense as the core dispatches");
}

int main(void)
{
    const struct CMUnitTest tests[] = {made_test(test_ports, &m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
