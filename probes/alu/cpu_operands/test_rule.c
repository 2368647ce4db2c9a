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
    made_verdict(&m, "operands.ports.imul.fma", AS_SUPPORTED); /* an answer, too */
    made_says(made_get(&m, "operands.ports.imul.fma"), "imul and fma do not compete for ports");
    made_near(&m, "operands.ports.add.fma", 1.4 / 3, 1e-6);
    made_verdict(&m, "operands.ports.add.fma", AS_UNDECIDED);
    made_says(made_get(&m, "operands.ports.add.fma"), "reach the highest instruction rate of all mixtures");
    made_says(made_get(&m, "operands.latency.imul.2to1"), "imul: 3.00 cycles from operand 2 to operand 1");
}

/* Ends of chains have names; a link that takes longer than is subtracted leaves an upper bound. */
UNIT_TEST(test_memory)
{
    operands_cell("add_r64_m64", "baseto1", 5);
    operands_cell("add_m64_r64", "memtomem", 1);
    operands_cell("adc", "cfto1", 1);
    operands_cell("vmovups", "baseto1", 8)->detail = strdup("{\"at_most\":1}");
    made_derive(&m);
    made_says(made_get(&m, "operands.latency.add_r64_m64.baseto1"),
              "add_r64_m64: 5.00 cycles from the base register to operand 1");
    made_says(made_get(&m, "operands.latency.add_m64_r64.memtomem"), "from memory to memory");
    made_says(made_get(&m, "operands.latency.adc.cfto1"), "from the carry flag to operand 1");
    made_says(made_get(&m, "operands.latency.vmovups.baseto1"),
              "vmovups: at most 8.00 cycles (7.99 to 8.01 cycles) from the base register to operand 1");
}

/* Between shared and apart a part is shared; where the interval reaches one of them, none is claimed. */
UNIT_TEST(test_some_ports)
{
    operands_cell("mul", "raxtordx", 4);
    operands_cell("imul", "throughput", 1);
    operands_cell("pdep", "throughput", 1);
    operands_cell("fma", "throughput", 0.125);
    mixed("imul", "pdep", 4, 4, 6);
    mixed("fma", "imul", 48, 1, 6.1); /* the densest */
    m.cells[1].sum.ci = m.cells[2].sum.ci = (struct as_interval){0.99, 1.01};
    made_derive(&m);
    made_says(made_get(&m, "operands.latency.mul.raxtordx"), "mul: 4.00 cycles from rax to rdx");
    made_says(made_get(&m, "operands.ports.imul.pdep"), "imul and pdep share some ports");
    made_holds(made_get(&m, "operands.ports.imul.pdep"), 0.5);
    m.cells[2].sum.ci = (struct as_interval){0.7, 1.3};
    m.cells[1].sum.ci = (struct as_interval){0.7, 1.3};
    made_derive(&m);
    made_says(made_get(&m, "operands.ports.imul.pdep"), "Whether imul and pdep share ports is inconclusive");
}

/* Four imuls on registers of their own take the three cycles of one, whatever ports the others use. */
UNIT_TEST(test_chains)
{
    operands_cell("imul", "1to1", 3);
    operands_cell("imul", "throughput", 1.0 / 3);
    operands_cell("lea", "throughput", 1.0 / 6);
    operands_cell("crc32", "throughput", 1.0 / 3);
    mixed("imul", "lea", 4, 4, 3);
    mixed("imul", "crc32", 9, 9, 6);
    made_derive(&m);
    made_verdict(&m, "operands.ports.imul.lea", AS_UNDECIDED);
    made_says(made_get(&m, "operands.ports.imul.lea"), "the mixture takes no longer than the latency of one");
    made_verdict(&m, "operands.ports.imul.crc32", AS_SUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {made_test(test_ports, &m), made_test(test_memory, &m),
                                       made_test(test_some_ports, &m), made_test(test_chains, &m)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
