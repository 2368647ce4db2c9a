/* All rules together: facts as JSON, hostile cells, and many cells. */
#include "made.h"
#include "tests/unit_test.h"

#include "base/clock.h"
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

UNIT_TEST(test_json)
{
    struct made m;
    made_cpu(&m);
    made_add(&m, "launch", "ns", 50000, "what=roundtrip wait=block threads=1");
    made_add(&m, "copy", "GB/s", 50, "from=<script>\"\x1b[31m to=malloc direction=one how=engine size=65536");
    made_derive(&m);
    struct as_buf out = AS_BUF_INIT;
    as_facts_to_json(m.facts, m.facts_n, &out);
    assert_int_equal(as_buf_check(&out, NULL), AS_OK);
    const char *json = as_buf_get(&out);
    assert_true(json[0] == '[' && json[out.len - 1] == ']');
    assert_null(strchr(json, '<'));
    assert_null(strchr(json, '\x1b'));
    assert_non_null(strstr(json, "script")); /* a sentence has the hostile name, escaped */
    assert_non_null(strstr(json, "\"evidence\":[1]"));
    assert_non_null(strstr(json, "\"claimed\":null"));
    assert_null(strpbrk(m.facts[0].id, "<>\"\x1b "));
    as_buf_clear(&out);
    as_facts_to_json(NULL, 0, &out);
    assert_string_equal(as_buf_get(&out), "[]");
    as_buf_finish(&out);
    made_end(&m);
}

static double hostile_number(struct as_rng *r)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e-300, 1e300, 1};
    return values[as_rng_below(r, sizeof values / sizeof *values)];
}

static void add_hostile(struct made *m, struct as_rng *r)
{
    static const char *const probes[] = {"latency", "bandwidth", "c2c", "launch", "alloc", "topology", "unknown"};
    static const char *const axes[] = {
        "",
        "size=0",
        "size=-5 op=read threads=-1",
        "size=1e308 op=triad store=nt threads=1e308 pattern=random",
        "op=first-touch",
        "op=touch-again allocator=mmap",
        "from=0 to=1",
        "what=roundtrip",
        "size=4096 pattern=random allocator=thp",
        "size=4096 pattern=random allocator=mmap",
    };
    const char *probe = probes[as_rng_below(r, sizeof probes / sizeof *probes)];
    const char *where = axes[as_rng_below(r, sizeof axes / sizeof *axes)];
    struct as_cell *c = made_add(m, probe, "ns", hostile_number(r), where);
    c->sum.ci.lo = hostile_number(r);
    c->sum.ci.hi = hostile_number(r);
    c->clock_hz = hostile_number(r);
    if (as_rng_below(r, 10) == 0)
        c->sum.n = 0;
    if (as_rng_below(r, 10) == 0)
        memset(c->device, 'x', sizeof c->device - 1);
}

/* No cells, one cell, no devices, and values that are no numbers */
/* Which way a number is bounded by cells that were left out, its cells say, not its unit. */
UNIT_TEST(test_left_out_direction)
{
    static const char *const units[] = {"ns", "ns/access", "GB/s", "x"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int lower = 0; lower < 2; lower++) {
            struct as_fact f = {.verdict = AS_SUPPORTED};
            const struct as_cell best = {.lower_is_better = lower};
            as_copy_text(f.unit, sizeof f.unit, units[i]);
            as_fact_left_out(&f, &best, 0);
            assert_int_equal(f.bound, 0);
            as_fact_left_out(&f, &best, 1);
            assert_int_equal(f.bound, lower ? -1 : 1);
            assert_int_equal(f.verdict, AS_UNDECIDED);
        }
}

UNIT_TEST(test_hostile)
{
    struct as_fact *facts;
    size_t n;
    struct as_run run = {0};
    struct as_fact_input none = {&run, NULL, 0, NULL, 0};
    assert_int_equal(as_facts_derive(&none, &facts, &n, NULL), AS_OK);
    assert_int_equal(n, 0);
    assert_null(as_fact_find(facts, n, "cpu", "x"));
    free(facts);
    struct as_rng r;
    as_rng_seed(&r, 1);
    for (int round = 0; round < 300; round++) {
        struct made m;
        made_cpu(&m);
        size_t count = round < 10 ? 1 : 1 + (size_t)as_rng_below(&r, 200);
        for (size_t i = 0; i < count; i++)
            add_hostile(&m, &r);
        for (size_t i = 0; i < 4; i++)
            m.info.caches[i].size = as_rng_below(&r, 3) ? as_rng_u64(&r) : 0;
        m.info.caches_n = round % 3 ? 4 : 0;
        m.info.clock_max_hz = hostile_number(&r);
        struct as_fact_input in = {&run, m.cells, m.n, &m.info, (size_t)(round % 2)};
        assert_int_equal(as_facts_derive(&in, &facts, &n, NULL), AS_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(facts[i].evidence_n <= AS_EVIDENCE_MAX && facts[i].sentence[0]);
            assert_true(isfinite(facts[i].value) || facts[i].verdict == AS_UNDECIDED);
        }
        free(facts);
        made_end(&m);
    }
}

/* The latency of a chase over size bytes. */
static double latency_at(double size)
{
    return size <= 32 << 10 ? 1.5 : size <= 1 << 20 ? 4.8 : size <= 32 << 20 ? 22 : 110;
}

UNIT_TEST(test_many)
{
    struct made m;
    made_cpu(&m);
    char axes[160];
    struct as_rng r;
    as_rng_seed(&r, 2);
    static const char *const ops[] = {"copy", "triad", "read", "write"};
    for (int i = 0; i < 2500; i++) {
        snprintf(axes, sizeof axes, "size=%d pattern=random allocator=%s stride=64", 4096 + i * 4096,
                 i % 2 ? "mmap" : "thp");
        made_add(&m, "latency", "ns", latency_at(i * 4096.0) * (1 + 0.01 * as_rng_double(&r)), axes)->clock_hz = 3e9;
        snprintf(axes, sizeof axes, "op=%s level=memory size=%d threads=%d store=%s width=64 allocator=thp", ops[i % 4],
                 1 << 29, 1 + i / 8, i / 4 % 2 ? "nt" : "regular");
        made_add(&m, "bandwidth", "GB/s", 10 + as_rng_double(&r), axes);
        snprintf(axes, sizeof axes, "peer=cpu from=%d to=%d op=cas pairs=every", i / 50, 50 + i % 50);
        made_add(&m, "c2c", "ns", 50 + as_rng_double(&r), axes);
        snprintf(axes, sizeof axes, "op=%s allocator=a%d size=%d", i % 2 ? "first-touch" : "touch-again", i / 2 % 40,
                 4096 + i);
        made_add(&m, "alloc", "ns", 50 + as_rng_double(&r), axes);
    }
    double start_s = as_now();
    made_derive(&m);
    print_message("%zu cells: %zu facts in %.1f ms\n", m.n, m.facts_n, 1e3 * (as_now() - start_s));
    assert_true(made_find(&m, "c2c.median") && made_find(&m, "bandwidth.memory.read.all"));
    assert_true(m.facts_n < 200);
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_left_out_direction),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
