/* The rule of pipes, on cells of simulated compute units. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda", .warp = 32}, .share = 0.002};

static void costs(const char *mix, double cycles)
{
    char axes[120];
    snprintf(axes, sizeof axes, "mix=%s;ilp=0;steps=0", mix);
    made_add(&m, "mix", "cycles", cycles, axes);
}

/* Four instructions per cycle. Multiply-adds run at that rate, integers at half, wide numbers at half on their own
 * pipe, functions at an eighth, and a second kind of function on the same pipe. */
static void unit(double slower)
{
    static const struct {
        const char *mix;
        double cycles;
    } all[] = {
        {"ffma32", 0.25},         {"fadd32", 0.25},         {"iadd32", 0.5},        {"xor32", 0.5},
        {"ffma64", 0.5},          {"recip32", 2},           {"popc32", 2},          {"ffma32+fadd32", 0.5},
        {"ffma32+iadd32", 0.5},   {"ffma32+xor32", 0.5},    {"ffma32+ffma64", 0.5}, {"ffma32+recip32", 2},
        {"ffma32+popc32", 2},     {"fadd32+iadd32", 0.5},   {"fadd32+xor32", 0.5},  {"fadd32+ffma64", 0.5},
        {"fadd32+recip32", 2},    {"fadd32+popc32", 2},     {"iadd32+xor32", 1},    {"iadd32+ffma64", 0.5},
        {"iadd32+recip32", 2},    {"iadd32+popc32", 2},     {"xor32+ffma64", 0.5},  {"xor32+recip32", 2},
        {"xor32+popc32", 2},      {"ffma64+recip32", 2},    {"ffma64+popc32", 2},   {"popc32+recip32", 4},
        {"recip32+4*ffma32", 2},  {"recip32+4*iadd32", 2},  {"popc32+4*ffma32", 2}, {"popc32+4*iadd32", 2},
        {"3*ffma32+iadd32", 1.0}, {"2*ffma32+2*ffma64", 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        costs(all[i].mix, all[i].cycles * (strchr(all[i].mix, '+') ? slower : 1));
}

static void test_pipes(void **unused)
{
    (void)unused;
    unit(1);
    made_derive(&m);
    const struct as_fact *graph = made_near(&m, "pipes", 4, 0.001);
    made_says(graph, "7 operations in 4 pipes");
    assert_int_equal(graph->verdict, AS_SUPPORTED);
    made_says(graph, "sequence costs within 0.0%; the worst, ");
    made_says(graph, "%. In cross-validation 93% are within 5%");
    made_says(made_near(&m, "pipes.issue", 4, 0.001), " sequences whose pipes are known are bound by issue");
    made_says(made_near(&m, "pipes.iadd32", 0.5, 0.001), "executes iadd32, xor32");
    made_says(made_get(&m, "pipes.recip32"), "executes recip32, popc32");
    made_says(made_near(&m, "pipes.iadd32.xor32", 1, 0.01), "iadd32 and xor32 share a pipe");
    const struct as_fact *apart = made_get(&m, "pipes.ffma32.iadd32");
    made_says(apart, "ffma32 and iadd32 run side by side, on different pipes or on several that both can use: "
                     "ffma32+iadd32 costs 0.500 cycles (0.499 to 0.501 cycles), "
                     "alone they cost 0.250 cycles (0.249 to 0.251 cycles) and 0.500 cycles (0.499 to 0.501 cycles)");
    assert_int_equal(apart->verdict, AS_SUPPORTED);
    assert_int_equal(apart->evidence_n, 3);
    made_acts(&m, "pipes.ffma32.iadd32",
              "Mix operations that run side by side: interleaved, ffma32 and iadd32 run 1.5");
    made_says(made_get(&m, "pipes.iadd32.ffma64"), "iadd32 and ffma64 do not share a pipe"); /* neither has a choice */
    const struct as_fact *hidden = made_get(&m, "pipes.ffma32.fadd32");
    made_says(hidden, "are bound by issue");
    assert_int_equal(hidden->verdict, AS_UNDECIDED);
}

/* The same unit, but every mixed sequence takes a quarter longer than its pipes explain. */
static void test_no_pipes(void **unused)
{
    (void)unused;
    unit(1.25);
    made_derive(&m);
    assert_int_equal(made_get(&m, "pipes")->verdict, AS_UNDECIDED);
    assert_int_equal(made_get(&m, "pipes.issue")->verdict, AS_UNDECIDED);
    size_t pairs = 0;
    for (size_t i = 0; i < m.facts_n; i++) {
        const bool is_pair = as_fact_is(&m.facts[i], AS_FACT_PIPES_PAIR, NULL); /* rests on its own sequence */
        pairs += is_pair;
        assert_true(is_pair || m.facts[i].verdict == AS_UNDECIDED);
    }
    assert_true(pairs > 0);
}

static void code_of(const char *mix, const char *instructions)
{
    char note[128];
    snprintf(note, sizeof note, "{\"instructions\":\"each step is %s\"}", instructions);
    for (size_t i = 0; i < m.n; i++)
        if (strcmp(as_axes_text(&m.cells[i].axes, "mix"), mix) == 0)
            m.cells[i].detail = strdup(note);
}

/* Alone, wide numbers alternate between two instructions; beside a multiply-add they are one of them, beside an
 * addition both. */
static void test_other_instructions(void **unused)
{
    (void)unused;
    unit(1);
    code_of("ffma64", "0.5 DFMA, 0.5 DFMA.ALT");
    code_of("ffma32", "1 FFMA");
    code_of("iadd32", "1 IADD3");
    code_of("recip32", "1 LOP3, 1 MUFU");
    code_of("ffma32+ffma64", "1 DFMA, 1 FFMA");
    code_of("2*ffma32+2*ffma64", "2 DFMA, 2 FFMA");
    code_of("iadd32+ffma64", "0.5 DFMA, 0.5 DFMA.ALT, 1 IADD3");
    made_derive(&m);
    assert_null(made_find(&m, "pipes.ffma32.ffma64"));
    assert_non_null(made_find(&m, "pipes.ffma32.iadd32"));
    made_says(made_get(&m, "pipes"), "of 25 sequence costs");
    made_says(made_get(&m, "pipes.recip32"), "One or more SM pipes execute recip32, popc32: recip32 alone costs 2.00");
    made_says(made_get(&m, "pipes.recip32"), ", and each step is 1 LOP3, 1 MUFU");
    made_says(made_get(&m, "pipes.ffma32"), "One SM pipe executes ffma32");
}

/* Sequences that cannot be parsed, or whose operations were not measured alone, give no facts. */
static void test_odd(void **unused)
{
    static const char *const mixes[] = {"",   "+",         "ffma32+",   "0*ffma32", "3",
                                        "3*", "3x+ffma32", "-1*ffma32", "300*a",    "99*a+99*a+99*a"};
    (void)unused;
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        costs(mixes[i], 1);
    costs("ffma32+iadd32", 0.5);
    costs("ffma32+xor32", 0.5);
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
    char name[64];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "op%d+another%d", i, i);
        costs(name, 1);
    }
    costs("ffma32", 0.25);
    costs("iadd32", 0.25);
    made_derive(&m);
    made_get(&m, "pipes");
}

/* A core has one thread: its stalls do not show pipes. */
static void test_core(void **unused)
{
    (void)unused;
    unit(1);
    m.info.is_host_cpu = true;
    made_derive(&m);
    m.info.is_host_cpu = false;
    assert_int_equal(m.facts_n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_pipes, &m), made_test(test_no_pipes, &m),
        made_test(test_core, &m),  made_test(test_other_instructions, &m),
        made_test(test_odd, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
