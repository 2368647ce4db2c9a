/* Rules on synthetic cells with known answers, and on hostile ones. */
#include "made.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KiB 1024.0
#define MiB (1024.0 * 1024)

static void start(struct made *m)
{
    *m = (struct made){.share = 0.005,
                       .info = {.id = "cpu",
                                .backend = "cpu",
                                .compute_units = 4,
                                .threads = 4,
                                .clock_max_hz = 2.3e9,
                                .capabilities = AS_CAP_HOST_KERNELS}};
    m->info.caches_n = 4;
    m->info.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 32768, .shared = 1};
    m->info.caches[1] = (struct as_cache){.level = 1, .kind = 'i', .size = 32768, .shared = 1};
    m->info.caches[2] = (struct as_cache){.level = 2, .kind = 'u', .size = 1048576, .shared = 1};
    m->info.caches[3] = (struct as_cache){.level = 3, .kind = 'u', .size = 33554432, .shared = 4};
}

/* The latency of a chase over size bytes; tlb: bytes that the TLB reaches, beyond them 1.5 times as long. */
static double latency_at(double size, double tlb)
{
    double ns = size <= 32 * KiB ? 1.5 : size <= MiB ? 4.8 : size <= 32 * MiB ? 22 : 110;
    return size > tlb ? 1.5 * ns : ns;
}

static void add_curve(struct made *m, const char *allocator, const char *pattern, double tlb, int octave_points)
{
    for (int i = 0; i <= 18 * octave_points; i++) {
        char axes[160];
        double size = round(4 * KiB * exp2((double)i / octave_points));
        snprintf(axes, sizeof axes, "size=%.0f pattern=%s allocator=%s stride=64", size, pattern, allocator);
        made_add(m, "latency", "ns", latency_at(size, tlb), axes)->clock_hz = 3.4e9;
    }
}

static void test_cache(void **state)
{
    (void)state;
    for (int octave_points = 1; octave_points <= 4; octave_points *= 4) {
        struct made m;
        start(&m);
        add_curve(&m, "mmap", "random", 6 * MiB, octave_points);
        add_curve(&m, "thp", "random", INFINITY, octave_points);
        made_derive(&m);
        static const struct {
            const char *level;
            double size, ns;
        } levels[] = {{"L1", 32 * KiB, 1.5}, {"L2", MiB, 4.8}, {"L3", 32 * MiB, 22}};
        for (size_t i = 0; i < 3; i++) {
            char id[64];
            snprintf(id, sizeof id, "cache.%s.size", levels[i].level);
            const struct as_fact *f = made_get(&m, id);
            made_holds(f, levels[i].size);
            assert_true(f->claimed == levels[i].size);
            assert_int_equal(f->verdict, AS_SUPPORTED);
            assert_string_equal(f->object, levels[i].level);
            snprintf(id, sizeof id, "cache.%s.latency", levels[i].level);
            made_near(&m, id, levels[i].ns, 0.01);
            snprintf(id, sizeof id, "cache.%s.latency_cycles", levels[i].level);
            made_near(&m, id, levels[i].ns * 3.4, 0.01);
        }
        assert_string_equal(made_near(&m, "memory.latency", 110, 0.01)->object, "memory");
        assert_int_equal(made_get(&m, "tlb.reach")->verdict, AS_SUPPORTED);
        made_holds(made_get(&m, "tlb.reach"), 6 * MiB);
        assert_int_equal(made_near(&m, "tlb.cost", 1.5, 0.01)->verdict, AS_SUPPORTED);
        assert_int_equal(made_near(&m, "clock.core", 3.4e9, 1e-6)->verdict, AS_REFUTED); /* 2.3 GHz is claimed */
        made_end(&m);
    }
}

/* Rejects cells of more than `above` and less than `below` bytes. */
static void reject(struct made *m, double above, double below)
{
    for (size_t i = 0; i < m->n; i++) {
        const double size = as_axes_number(&m->cells[i].axes, "size");
        if (size > above && size < below)
            m->cells[i].status = AS_CELL_REJECTED;
    }
}

/* A size that is missing or rejected leaves a wide bracket, and no other level's name. */
static void test_cache_with_hole(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    add_curve(&m, "thp", "random", INFINITY, 1);
    reject(&m, 16 * KiB, 64 * KiB);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "cache.L1.size");
    assert_true(f->ci.lo == 16 * KiB && f->ci.hi == 64 * KiB && f->claimed == 32 * KiB);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(made_get(&m, "cache.L2.size")->ci.lo == MiB);
    made_end(&m);
}

/* With hardly a size between two levels any claim fits, which says nothing. */
static void test_cache_with_wide_hole(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    add_curve(&m, "thp", "random", INFINITY, 1);
    reject(&m, 512 * KiB, 8 * MiB);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "cache.L2.size");
    assert_true(f->ci.lo == 512 * KiB && f->ci.hi == 8 * MiB && f->claimed == MiB);
    assert_int_equal(f->verdict, AS_UNDECIDED);
    assert_non_null(strstr(f->sentence, "too few sizes are valid"));
    assert_int_equal(made_get(&m, "cache.L1.size")->verdict, AS_SUPPORTED);
    made_end(&m);
}

/* A third more in front of sizes without a valid number is no end that would refute a claim: twice as much is. */
static void test_cache_that_fades_into_a_hole(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct made m;
        start(&m);
        add_curve(&m, "thp", "random", INFINITY, 1);
        reject(&m, 512 * KiB, 16 * MiB);
        for (size_t i = 0; i < m.n; i++) {
            struct as_summary *s = &m.cells[i].sum;
            if (as_axes_number(&m.cells[i].axes, "size") == 512 * KiB)
                *s = (struct as_summary){.n = s->n,
                                         .trials = s->trials,
                                         .median = twice ? 9.7 : 6.4,
                                         .ci = {twice ? 9.6 : 6.3, twice ? 9.8 : 6.5}};
        }
        made_derive(&m);
        const struct as_fact *f = made_find(&m, "cache.L2.size");
        assert_true(twice ? f && f->verdict == AS_REFUTED : !f);
        made_end(&m);
    }
}

/* A claim that the curve does not bear out, a cache that cannot be told, a rejected curve. */
static void test_cache_claims(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    m.info.caches[3].size = 272629760; /* a slice of it is all that one gets */
    add_curve(&m, "thp", "random", INFINITY, 2);
    made_derive(&m);
    assert_int_equal(made_get(&m, "cache.L3.size")->verdict, AS_REFUTED);
    assert_int_equal(made_get(&m, "cache.L2.size")->verdict, AS_SUPPORTED);
    assert_non_null(made_find(&m, "memory.latency"));
    m.info.capabilities &= ~AS_CAP_HOST_KERNELS; /* one of several units walks: its part is no refutation */
    m.info.compute_units = 2;
    made_derive(&m);
    const struct as_fact *part = made_get(&m, "cache.L3.size");
    assert_int_equal(part->verdict, AS_SUPPORTED);
    assert_true(isnan(part->claimed));
    assert_non_null(strstr(part->sentence, "(reported size 260 MiB)"));
    m.info.capabilities |= AS_CAP_HOST_KERNELS;
    m.info.caches_n = 0;
    made_derive(&m);
    assert_true(isnan(made_get(&m, "cache.L2.size")->claimed));
    made_near(&m, "cache.L2.latency", 4.8, 0.01);
    for (size_t i = 0; i < m.n; i++)
        m.cells[i].status = AS_CELL_REJECTED;
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
    made_end(&m);
}

static void test_tlb_by_pattern(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    add_curve(&m, "mmap", "random", 8 * MiB, 1);
    add_curve(&m, "mmap", "page", INFINITY, 1);
    made_derive(&m);
    assert_int_equal(made_get(&m, "tlb.reach")->verdict, AS_SUPPORTED);
    made_holds(made_get(&m, "tlb.reach"), 8 * MiB);
    made_end(&m);
    start(&m);
    add_curve(&m, "mmap", "random", INFINITY, 1);
    add_curve(&m, "thp", "random", INFINITY, 1);
    made_derive(&m);
    assert_int_equal(made_get(&m, "tlb.reach")->verdict, AS_UNDECIDED);
    assert_true(isnan(made_get(&m, "tlb.reach")->value));
    assert_int_equal(made_get(&m, "tlb.cost")->verdict, AS_UNDECIDED);
    made_end(&m);
}

static void test_bandwidth(void **state)
{
    static const struct {
        const char *op, *level;
        double size;
        int threads;
        const char *store;
        double gbs;
    } cells[] = {
        {"triad", "memory", 512 * MiB, 1, "regular", 14}, {"triad", "memory", 512 * MiB, 1, "nt", 18},
        {"triad", "memory", 512 * MiB, 4, "regular", 50}, {"triad", "sweep", 512 * MiB, 4, "regular", 55},
        {"triad", "memory", 512 * MiB, 4, "nt", 45},      {"copy", "memory", 512 * MiB, 2, "regular", 40},
        {"copy", "memory", 512 * MiB, 2, "nt", 40.1},     {"read", "sweep", 16 * KiB, 1, "regular", 300},
        {"read", "sweep", 8 * KiB, 1, "regular", 290},    {"read", "sweep", 256 * KiB, 1, "regular", 120},
        {"read", "sweep", 8 * MiB, 1, "regular", 60},
    };
    (void)state;
    struct made m;
    start(&m);
    m.info.peak_bandwidth = 100e9;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char axes[160];
        snprintf(axes, sizeof axes, "op=%s level=%s size=%.0f threads=%d store=%s width=64 allocator=thp", cells[i].op,
                 cells[i].level, cells[i].size, cells[i].threads, cells[i].store);
        made_add(&m, "bandwidth", "GB/s", cells[i].gbs, axes);
    }
    made_derive(&m);
    made_near(&m, "bandwidth.memory.triad.1", 18, 0);
    assert_true(made_near(&m, "bandwidth.memory.triad.all", 50, 0)->claimed == 100);
    made_near(&m, "bandwidth.L1.read.1", 300, 0);
    made_near(&m, "bandwidth.L2.read.1", 120, 0);
    made_near(&m, "bandwidth.L3.read.1", 60, 0);
    const struct as_fact *f = made_near(&m, "stores.nontemporal.triad.1", 18.0 / 14, 1e-12);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(f->ci.lo < f->value && f->value < f->ci.hi && f->ci.lo > 1.27);
    assert_int_equal(made_get(&m, "stores.nontemporal.triad.all")->verdict, AS_REFUTED);
    assert_int_equal(made_get(&m, "stores.nontemporal.copy.all")->verdict, AS_UNDECIDED);
    assert_null(made_find(&m, "stores.nontemporal.copy.1"));
    m.info.capabilities = AS_CAP_SOURCE;  /* a device has no threads to choose */
    m.info.compute_unit_shared = 1 << 20; /* what is read there is not told from what is read in the cache behind it */
    made_derive(&m);
    assert_null(made_find(&m, "bandwidth.L2.read.all"));
    assert_null(made_find(&m, "bandwidth.memory.triad.1"));
    assert_null(strstr(made_near(&m, "bandwidth.memory.triad.all", 50, 0)->sentence, "thread"));
    made_end(&m);
}

static void test_costs(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    made_add(&m, "c2c", "ns", 60, "peer=cpu from=0 to=1 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 50, "peer=cpu from=0 to=2 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 140, "peer=cpu from=0 to=3 op=cas pairs=every");
    made_add(&m, "c2c", "ns", 1, "peer=cpu from=0 to=3 op=load pairs=every");
    made_add(&m, "c2c", "ns", 800, "peer=device from=0 to=0 op=load pairs=some");
    made_add(&m, "c2c", "ns", 310, "peer=unit from=0 to=1 op=load pairs=every allocator=cuMemAlloc");
    made_add(&m, "c2c", "ns", 390, "peer=unit from=0 to=64 op=load pairs=every allocator=cuMemAlloc");
    made_add(&m, "c2c", "ns", 9000, "peer=unit from=0 to=64 op=load pairs=every allocator=cuMemHostAlloc");
    made_derive(&m);
    made_near(&m, "c2c.median", 60, 0);
    made_near(&m, "c2c.max", 140, 0);
    made_near(&m, "c2c.device.median", 800, 0);
    made_says(made_near(&m, "c2c.min", 50, 0), "CPUs 0 and 2");
    made_near(&m, "c2c.unit.min", 310, 0);
    made_says(made_near(&m, "c2c.unit.max", 390, 0), "cores 0 and 64"); /* of the same memory */
    made_end(&m);
}

static void test_json(void **state)
{
    (void)state;
    struct made m;
    start(&m);
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
    assert_non_null(strstr(json, "script")); /* the hostile name is in a sentence, escaped */
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

/* Nothing, one cell, no devices, and numbers that are none */
static void test_hostile(void **state)
{
    (void)state;
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
        start(&m);
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

static void test_many(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    char axes[160];
    struct as_rng r;
    as_rng_seed(&r, 2);
    static const char *const ops[] = {"copy", "triad", "read", "write"};
    for (int i = 0; i < 2500; i++) {
        snprintf(axes, sizeof axes, "size=%d pattern=random allocator=%s stride=64", 4096 + i * 4096,
                 i % 2 ? "mmap" : "thp");
        made_add(&m, "latency", "ns", latency_at(i * 4096.0, INFINITY) * (1 + 0.01 * as_rng_double(&r)), axes)
            ->clock_hz = 3e9;
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

/* Above the maximum by the median of clocks, and steps between levels by medians of latencies: no interval says so. */
static void test_undecided_by_medians(void **state)
{
    (void)state;
    struct made m;
    start(&m);
    m.share = 0.6;
    add_curve(&m, "thp", "random", INFINITY, 2);
    for (size_t i = 0; i < m.n; i++) {
        m.cells[i].sum.median = m.cells[i].sum.median > 20 ? 12 : 10;
        m.cells[i].clock_hz = i % 2 ? 2.2e9 : 2.6e9;
        m.cells[i].sum.ci = (struct as_interval){6, 16};
    }
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "clock.core");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "whether within its reported maximum is undecided");
    for (size_t i = 0; i < m.facts_n; i++)
        assert_null(strstr(m.facts[i].id, ".size"));
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_undecided_by_medians),
                                       cmocka_unit_test(test_cache),
                                       cmocka_unit_test(test_cache_claims),
                                       cmocka_unit_test(test_cache_with_hole),
                                       cmocka_unit_test(test_cache_with_wide_hole),
                                       cmocka_unit_test(test_cache_that_fades_into_a_hole),
                                       cmocka_unit_test(test_tlb_by_pattern),
                                       cmocka_unit_test(test_bandwidth),
                                       cmocka_unit_test(test_costs),
                                       cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_hostile),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
