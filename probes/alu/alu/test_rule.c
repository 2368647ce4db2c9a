/* The rule of operation throughput, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda", .warp = 32, .compute_units = 132}, .share = 0.01};

static struct as_cell *rate(const char *op, double value, unsigned ilp, unsigned warps, const char *detail)
{
    char axes[96];
    snprintf(axes, sizeof axes, "op=%s ilp=%u warps=%u operands=0 steps=0", op, ilp, warps);
    struct as_cell *c = made_add(&m, "alu", "ops/cycle", value, axes);
    if (detail)
        c->detail = strdup(detail);
    return c;
}

/* The fastest valid cell counts. */
UNIT_TEST(test_each)
{
    rate("ffma32", 64, 4, 8, NULL);
    rate("ffma32", 128, 4, 0, NULL);
    rate("ffma32", 127, 4, 16, NULL);
    rate("ffma32", 256, 8, 0, NULL)->status = AS_CELL_REJECTED;
    rate("recip32", 16, 4, 0, "{\"link\":\"xor32\"}");
    made_derive(&m);
    made_holds(made_near(&m, "alu.throughput.ffma32", 128, 1e-9), 128);
    assert_null(made_find(&m, "alu.throughput.recip32"));
    assert_null(made_find(&m, "alu.throughput.iadd32"));
    assert_null(made_find(&m, "alu.several"));  /* instructions were not counted */
    assert_null(made_find(&m, "alu.peak.f32")); /* the clock is unknown */
}

/* Cells without a number that may be faster make the rate a bound, those that have less at once do not. */
UNIT_TEST(test_left_out)
{
    static const struct {
        unsigned ilp, warps;
        enum as_cell_status status;
        bool bounds;
    } others[] = {{8, 8, AS_CELL_SKIPPED, true},  {4, 0, AS_CELL_SKIPPED, true},  {4, 16, AS_CELL_PLANNED, true},
                  {2, 8, AS_CELL_SKIPPED, false}, {4, 4, AS_CELL_SKIPPED, false}, {8, 0, AS_CELL_UNSUPPORTED, false},
                  {8, 8, AS_CELL_REJECTED, false}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        m.clock_hz = 2e9;
        rate("ffma32", 64, 4, 8, NULL);
        rate("ffma32", 1, others[i].ilp, others[i].warps, NULL)->status = others[i].status;
        made_derive(&m);
        const enum as_fact_verdict verdict = others[i].bounds ? AS_UNDECIDED : AS_SUPPORTED;
        made_verdict(&m, "alu.throughput.ffma32", verdict);
        made_verdict(&m, "alu.peak.f32", verdict);
        assert_int_equal(strstr(made_get(&m, "alu.throughput.ffma32")->sentence, "executes at least 64") != NULL,
                         others[i].bounds);
        made_end(&m);
    }
}

UNIT_TEST(test_peak)
{
    m.clock_hz = 2e9;
    rate("ffma32", 128, 4, 0, NULL);
    rate("ffma16", 64, 4, 0, NULL);
    rate("ffma2_f16", 256, 4, 0, NULL);
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.peak.f32", 2 * 128 * 132 * 2e9, 1e-9);
    assert_true(f->ci.lo < f->value && f->ci.hi > f->value);
    made_says(f, "132 SMs with ");
    made_says(made_near(&m, "alu.peak.f16", 2 * 256 * 132 * 2e9, 1e-9), "ffma2_f16");
    assert_null(made_find(&m, "alu.peak.f64"));
    m.info.compute_units = 0;
    made_derive(&m);
    assert_null(made_find(&m, "alu.peak.f32"));
    m.info.compute_units = 132;
}

/* The fastest vector width of a CPU is reported, with its name. */
UNIT_TEST(test_widths)
{
    m.clock_hz = 2e9;
    m.info.warp = 1;
    made_add(&m, "alu", "ops/cycle", 2, "op=ffma32 ilp=0 warps=0 width=scalar operands=0 steps=0");
    made_add(&m, "alu", "ops/cycle", 16, "op=ffma32 ilp=0 warps=0 width=256 operands=0 steps=0");
    made_derive(&m);
    made_says(made_near(&m, "alu.throughput.ffma32", 16, 1e-9), "in vectors of 256 bits");
    assert_null(made_find(&m, "alu.peak.f32")); /* a compute unit of this device may be half a core */
    made_add(&m, "alu", "ops/cycle", 32, "op=ffma32 ilp=0 warps=0 width=sve operands=0 steps=0");
    made_derive(&m);
    made_says(made_near(&m, "alu.throughput.ffma32", 32, 1e-9), "of ffma32, in SVE vectors");
    m.info.warp = 32;
}

UNIT_TEST(test_several)
{
    rate("iadd32", 64, 4, 0, "{\"instructions_each\":1.01}");
    rate("idiv32", 4, 4, 0, "{\"instructions_each\":16.2}");
    rate("idiv32", 3, 1, 0, "{\"instructions_each\":16.2}"); /* a duplicate */
    rate("recip32", 16, 4, 0, "{\"instructions_each\":2,\"link\":\"xor32\"}");
    rate("clz32", 16, 4, 0, "{\"instructions_each\":3,\"link\":\"xor32\"}");
    rate("popc32", 16, 4, 0, "[\"no object\"]");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.several", 2, 1e-9);
    made_says(f, "Of 4 operations 2 are one machine instruction, the others several: idiv32 (16.2), clz32 (2)");
    assert_int_equal(f->evidence_n, 2);
}

UNIT_TEST(test_no_several)
{
    rate("iadd32", 64, 4, 0, "{\"instructions_each\":1}");
    made_derive(&m);
    assert_null(made_find(&m, "alu.several"));
}

/* More operations than the list can hold, with names of the maximum length: the rest is counted and the sentence stays
 * complete. */
UNIT_TEST(test_many)
{
    char op[48];
    for (unsigned i = 0; i < 2 * AS_EVIDENCE_MAX; i++) {
        snprintf(op, sizeof op, "%040u_x", i);
        rate(op, 1, 4, 0, "{\"instructions_each\":9}");
    }
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.several", 2 * AS_EVIDENCE_MAX, 1e-9);
    assert_int_equal(f->evidence_n, AS_EVIDENCE_MAX);
    made_says(f, " more");
}

static struct as_cell *point(unsigned ilp, unsigned warps, unsigned operands, unsigned steps, double value)
{
    char axes[96];
    snprintf(axes, sizeof axes, "op=ffma32 ilp=%u warps=%u operands=%u steps=%u width=scalar", ilp, warps, operands,
             steps);
    return made_add(&m, "alu", "ops/cycle", value, axes);
}

static size_t told(const struct made *made, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < made->facts_n; i++)
        n += strcmp(made->facts[i].id, id) == 0;
    return n;
}

/* Full speed is reached between the last number of warps that is too few for certain and the first that is enough. */
UNIT_TEST(test_fill)
{
    static const unsigned warps[] = {16, 4, 8, 32}; /* in any order */
    for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
        point(1, warps[i], 0, 0, warps[i] >= 16 ? 128 : 8.0 * warps[i]);
    for (size_t i = 0; i < 2; i++)
        point(2, warps[i], 0, 0, 128); /* of a curve of two points nothing follows */
    for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
        point(4, warps[i], 0, 0, 60); /* no number of warps is enough */
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.fill.ffma32.1", 16, 1e-9);
    assert_true(f->ci.lo == 8 && f->ci.hi == 16 && f->evidence_n == 2);
    made_says(f, "With 1 chain per thread 16 warps per SM reach 100% of the best rate of ffma32; 8 reach 50%");
    assert_null(made_find(&m, "alu.fill.ffma32.2"));
    assert_null(made_find(&m, "alu.fill.ffma32.4"));
    for (size_t i = 0; i < sizeof warps / sizeof *warps; i++) /* three registers read at half of the speed */
        point(1, warps[i], 3, 0, warps[i] >= 32 ? 128 : 4.0 * warps[i]);
    made_derive(&m);
    assert_int_equal(told(&m, "alu.fill.ffma32.1"), 1);
    point(1, 12, 0, 0, 121.6)->sum.ci = (struct as_interval){110, 127}; /* may be enough */
    made_derive(&m);
    f = made_near(&m, "alu.fill.ffma32.1", 16, 1e-9);
    assert_true(f->ci.lo == 8 && f->ci.hi == 16);
}

UNIT_TEST(test_loops)
{
    static const struct {
        unsigned steps;
        double rate;
    } loops[] = {{24, 100}, {96, 126}, {768, 128}, {3072, 127}, {6144, 90}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        point(1, 0, 0, loops[i].steps, loops[i].rate);
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "alu.code.ffma32", 3072, 1e-9);
    assert_true(f->ci.lo == 3072 && f->ci.hi == 6144);
    made_says(f, "Loops of 96 to 3072 steps of ffma32 run at full speed");
    m.cells[m.n - 1].sum.median = 128; /* no end is seen: no number */
    m.cells[m.n - 1].sum.ci = (struct as_interval){127, 129};
    made_derive(&m);
    f = made_get(&m, "alu.code.ffma32");
    assert_true(isnan(f->value) && f->verdict == AS_SUPPORTED);
    made_says(f, "up to the longest tried, 6144 steps");
    assert_null(made_find(&m, "alu.repetitions.ffma32"));
    m.cells[m.n - 1].sum.median = 122; /* perhaps its end */
    m.cells[m.n - 1].sum.ci = (struct as_interval){110, 127};
    made_derive(&m);
    f = made_get(&m, "alu.code.ffma32");
    assert_true(isnan(f->value) && f->verdict == AS_UNDECIDED);
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        point(2, 0, 0, loops[i].steps, loops[i].rate);
    made_derive(&m);
    assert_int_equal(told(&m, "alu.code.ffma32"), 1);
}

/* A step of six instructions fills the cache with a sixth of the steps; between the loops tried the answer is a range.
 */
UNIT_TEST(test_lengths)
{
    static const unsigned steps[] = {48, 120, 240, 480, 1440, 2880};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "op=imul64 ilp=1 warps=0 operands=0 steps=%u width=scalar", steps[i]);
        point(1, 0, 0, steps[i], steps[i] <= 1440 ? 128 - 100.0 / steps[i] : 60);
        made_add(&m, "alu", "ops/cycle", steps[i] <= 240 ? 8 - 1.0 / steps[i] : 5, axes);
    }
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "alu.length.imul64");
    assert_true(f->ci.lo == 1440 / 480.0 && f->ci.hi == 2880 / 240.0 && f->value == 6);
    made_says(f, "a loop of 240 operations runs at full speed, one of 480 does not");
    assert_null(made_find(&m, "alu.length.ffma32"));
    f = made_near(&m, "alu.repetitions.imul64", 240, 1e-9);
    assert_true(f->ci.lo == 48 && f->ci.hi == 240);
    made_says(f, "imul64 is fastest in loops of 48 to 240 steps");
}

UNIT_TEST(test_operands)
{
    point(4, 32, 1, 0, 128);
    point(4, 32, 3, 0, 112);
    point(1, 8, 1, 0, 60);
    point(1, 8, 3, 0, 60);
    point(1, 4, 1, 0, 30); /* no other cell with as many chains and warps */
    point(4, 8, 3, 0, 100);
    made_derive(&m);
    assert_int_equal(made_near(&m, "alu.operands.ffma32.4.32", 112.0 / 128, 1e-9)->verdict, AS_SUPPORTED);
    made_says(made_get(&m, "alu.operands.ffma32.4.32"), "ffma32 with 4 chains and 32 warps runs at ");
    assert_int_equal(made_near(&m, "alu.operands.ffma32.1.8", 1, 1e-9)->verdict, AS_UNDECIDED);
    made_says(made_get(&m, "alu.operands.ffma32.1.8"), "with 1 chain and 8 warps");
    assert_null(made_find(&m, "alu.operands.ffma32.1.4"));
    assert_null(made_find(&m, "alu.operands.ffma32.4.8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_each, &m),     made_test(test_peak, &m),       made_test(test_widths, &m),
        made_test(test_several, &m),  made_test(test_no_several, &m), made_test(test_many, &m),
        made_test(test_fill, &m),     made_test(test_loops, &m),      made_test(test_lengths, &m),
        made_test(test_operands, &m), made_test(test_left_out, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
