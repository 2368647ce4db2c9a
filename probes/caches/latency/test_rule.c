/* The rules of cache levels, on synthetic cells with known answers. */
#include "base/text.h"
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KiB 1024.0
#define MiB (1024.0 * 1024)

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
        struct as_cell *cell = made_add(m, "latency", "ns", latency_at(size, tlb), axes);
        cell->clock_hz = 3.4e9;
        cell->lower_is_better = 1;
    }
}

UNIT_TEST(test_cache)
{
    for (int octave_points = 1; octave_points <= 4; octave_points *= 4) {
        struct made m;
        made_cpu(&m);
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
        made_acts(&m, "tlb.cost", "Use huge pages for random access: over ");
        assert_int_equal(made_near(&m, "clock.core", 3.4e9, 1e-6)->verdict, AS_REFUTED); /* reported maximum: 2.3 GHz */
        made_says(made_get(&m, "clock.core"),
                  "at 3.40 GHz in 90% of measurements, above its reported maximum of 2.30 GHz");
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

/* Each run measures on the same pages, however long the curve on other pages is. */
UNIT_TEST(test_pages)
{
    struct made m;
    made_cpu(&m);
    add_curve(&m, "mmap", "random", 6 * MiB, 4);
    add_curve(&m, "thp", "random", INFINITY, 1);
    made_derive(&m);
    made_says(made_near(&m, "memory.latency", 110, 0.01), "thp, random order");
    made_end(&m);
}

UNIT_TEST(test_cache_with_hole)
{
    struct made m;
    made_cpu(&m);
    add_curve(&m, "thp", "random", INFINITY, 1);
    reject(&m, 16 * KiB, 64 * KiB);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "cache.L1.size");
    assert_true(f->ci.lo == 16 * KiB && f->ci.hi == 64 * KiB && f->claimed == 32 * KiB);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(made_get(&m, "cache.L2.size")->ci.lo == MiB);
    made_end(&m);
}

/* A last cache that others fill has no plateau: the curve rises from L2 to memory, and the middle of the rise lies
 * nearer to L3 than to L2. */
UNIT_TEST(test_cache_with_a_slow_rise)
{
    static const double ns[] = {1.1, 1.1, 1.1, 1.1, 3.85, 3.85, 3.86, 4.89, 9.6, 13.6, 16, 22, 131, 140, 150, 153};
    struct made m;
    made_cpu(&m);
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
        char axes[96];
        snprintf(axes, sizeof axes, "size=%.0f pattern=random allocator=thp stride=64", 4 * KiB * exp2((double)i));
        made_add(&m, "latency", "ns", ns[i], axes);
    }
    made_derive(&m);
    made_near(&m, "cache.L2.latency", 3.85, 0.05);
    assert_null(made_find(&m, "cache.L3.latency"));
    made_end(&m);
}

/* Sizes from 1 KiB on, doubling: nanoseconds, and half the width of the interval as a share. */
struct point {
    double ns, share;
};
enum { POINTS_MAX = 20 };
struct sweep {
    const char *what;
    const char *found; /* levels with a latency */
    struct point at[POINTS_MAX];
    int from; /* doublings of 1 KiB before the first size */
};
#define L1_POINTS                                                                                                      \
    {1.1, .02}, {1.1, .02}, {1.1, .02}, {1.1, .02}, {1.1, .02},                                                        \
    {                                                                                                                  \
        1.2, .02                                                                                                       \
    }
#define L2_POINTS                                                                                                      \
    {3.8, .02}, {3.8, .02}, {3.8, .02}, {4.0, .02},                                                                    \
    {                                                                                                                  \
        4.3, .02                                                                                                       \
    }
#define L3_POINTS                                                                                                      \
    {13, .02}, {13, .02}, {13, .02}, {14, .02},                                                                        \
    {                                                                                                                  \
        20, .02                                                                                                        \
    }
#define MEMORY_POINTS                                                                                                  \
    {150, .1}, {155, .1}, {158, .1},                                                                                   \
    {                                                                                                                  \
        160, .1                                                                                                        \
    }

static const struct sweep sweeps[] = {
    {"all levels", "L1 L2 L3 memory", {L1_POINTS, L2_POINTS, L3_POINTS, MEMORY_POINTS}, 0},
    {"ends within L1", "L1", {L1_POINTS}, 0},
    {"ends within L2", "L1 L2", {L1_POINTS, {3.8, .02}, {3.8, .02}, {3.9, .02}, {4.0, .02}}, 0},
    {"ends within L2, whose last sizes others disturb",
     "L1 L2",
     {L1_POINTS, {3.9, .5}, {3.8, .5}, {5.2, .5}, {4.8, .5}, {18, .5}},
     0},
    {"the same, but the disturbance is measured well",
     "L1 L2",
     {L1_POINTS, {3.8, .02}, {3.8, .02}, {5.2, .02}, {5.2, .02}},
     0},
    {"ends at the size of L2", "L1 L2", {L1_POINTS, L2_POINTS}, 0},
    {"ends within L3", "L1 L2 L3", {L1_POINTS, L2_POINTS, {13, .02}, {13, .02}, {13, .02}, {13, .02}}, 0},
    {"begins within L2", "L2 L3 memory", {L2_POINTS, L3_POINTS, MEMORY_POINTS}, 6},
    {"no step between sizes of L2 and of L3",
     "",
     {{13, .02}, {13, .02}, {13, .02}, {13, .02}, {13, .02}, {13, .02}},
     9},
    {"no step between L3 and memory",
     "L1 L2 memory",
     {L1_POINTS, L2_POINTS, {130, .3}, {120, .3}, {136, .1}, {136, .1}, {130, .5}, MEMORY_POINTS},
     0},
    {"the step to memory lies inside the reported L3",
     "L1 L2 L3 memory",
     {L1_POINTS, L2_POINTS, {13, .02}, {14, .02}, {60, .5}, {136, .1}, {140, .5}, MEMORY_POINTS},
     0},
    {"L2 disturbed",
     "L1 L2 L3 memory",
     {L1_POINTS, {3.0, .9}, {3.0, .9}, {3.1, .9}, {2.9, .9}, {3.2, .9}, L3_POINTS, MEMORY_POINTS},
     0},
    {"L3 disturbed",
     "L1 L2 memory",
     {L1_POINTS, L2_POINTS, {90, .9}, {90, .9}, {90, .9}, {90, .9}, {90, .9}, MEMORY_POINTS},
     0},
};

static void sweep_add(struct made *m, const struct sweep *sweep)
{
    made_cpu(m);
    for (int i = 0; i < POINTS_MAX && sweep->at[i].ns > 0; i++) {
        const struct point p = sweep->at[i];
        char axes[96];
        snprintf(axes, sizeof axes, "size=%.0f pattern=random allocator=thp stride=64", KiB * exp2(sweep->from + i));
        struct as_cell *cell = made_add(m, "latency", "ns", p.ns, axes);
        cell->sum.ci = (struct as_interval){p.ns * (1 - p.share), p.ns * (1 + p.share)};
    }
    made_derive(m);
}

/* A level's number comes from sizes beyond the cache before it and, of a last cache that others use, only where the
 * curve tells it from memory. */
UNIT_TEST(test_levels_come_from_their_own_sizes)
{
    static const struct {
        const char *id, *name;
        double beyond, within;
    } levels[] = {{"cache.L1.latency", "L1", 0, 32 * KiB},
                  {"cache.L2.latency", "L2", 32 * KiB, MiB},
                  {"cache.L3.latency", "L3", MiB, 32 * MiB},
                  {"memory.latency", "memory", 32 * MiB, INFINITY}};
    for (size_t k = 0; k < sizeof sweeps / sizeof *sweeps; k++) {
        struct made m;
        sweep_add(&m, &sweeps[k]);
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            const struct as_fact *f = made_find(&m, levels[i].id);
            if (!f != !strstr(sweeps[k].found, levels[i].name))
                fail_msg("%s: %s", sweeps[k].what, f ? f->sentence : levels[i].id);
            for (size_t e = 0; f && e < f->evidence_n; e++) {
                const double size = as_axes_number(&m.cells[f->evidence[e] - 1].axes, "size");
                if (!(size > levels[i].beyond && size <= levels[i].within))
                    fail_msg("%s: %s, from %.0f bytes", sweeps[k].what, f->sentence, size);
            }
        }
        made_end(&m);
    }
}

/* With hardly any size between two levels every reported size fits, so none is confirmed. */
UNIT_TEST(test_cache_with_wide_hole)
{
    struct made m;
    made_cpu(&m);
    add_curve(&m, "thp", "random", INFINITY, 1);
    reject(&m, 512 * KiB, 8 * MiB);
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "cache.L2.size");
    assert_true(f->ci.lo == 512 * KiB && f->ci.hi == 8 * MiB && f->claimed == MiB);
    assert_int_equal(f->verdict, AS_UNDECIDED);
    assert_non_null(strstr(f->sentence, "too wide to confirm the reported"));
    assert_int_equal(made_get(&m, "cache.L1.size")->verdict, AS_SUPPORTED);
    made_end(&m);
}

/* A rise by a third before sizes without a valid number is no end that could refute a reported size; a rise by a factor
 * of two is. */
UNIT_TEST(test_cache_that_fades_into_a_hole)
{
    for (int twice = 0; twice < 2; twice++) {
        struct made m;
        made_cpu(&m);
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

/* A reported size that the curve refutes, a cache that cannot be identified, a rejected curve. */
UNIT_TEST(test_cache_claims)
{
    struct made m;
    made_cpu(&m);
    m.info.caches[3].size = 250 << 20; /* reported in full, but only a slice is usable */
    add_curve(&m, "thp", "random", INFINITY, 2);
    made_derive(&m);
    assert_int_equal(made_get(&m, "cache.L3.size")->verdict, AS_REFUTED);
    made_acts(&m, "cache.L3.size", "Size tiles for the measured L3: ");
    assert_int_equal(made_get(&m, "cache.L2.size")->verdict, AS_SUPPORTED);
    assert_non_null(made_find(&m, "memory.latency"));
    for (size_t i = 0; i < m.n; i++)
        m.cells[i].sum.trials = 1;
    made_derive(&m);
    assert_int_equal(made_get(&m, "cache.L3.size")->verdict, AS_UNDECIDED);
    assert_non_null(
        strstr(made_get(&m, "cache.L3.size")->sentence, "from single trials, which cannot refute the reported"));
    m.info.capabilities &= ~AS_CAP_HOST_KERNELS; /* one of several compute units chases: inconclusive */
    m.info.compute_units = 2;
    made_derive(&m);
    const struct as_fact *part = made_get(&m, "cache.L3.size");
    assert_int_equal(part->verdict, AS_SUPPORTED);
    assert_true(isnan(part->claimed));
    assert_non_null(strstr(part->sentence, "L3 that one core reaches at the lowest "));
    assert_non_null(strstr(part->sentence, " MiB of 250 MiB"));
    m.info.capabilities |= AS_CAP_HOST_KERNELS;
    m.info.caches[0] = m.info.caches[3];
    m.info.caches_n = 1; /* only the last level is reported: the others get no names */
    made_derive(&m);
    made_says(made_get(&m, "cache.level_1.size"), "Capacity of the first cache level: ");
    made_says(made_get(&m, "cache.level_2.latency"), "that hits the second cache level takes ");
    m.info.caches_n = 0;
    made_derive(&m);
    made_says(made_get(&m, "cache.L2.size"), "L2 capacity: ");
    assert_true(isnan(made_get(&m, "cache.L2.size")->claimed));
    made_near(&m, "cache.L2.latency", 4.8, 0.01);
    for (size_t i = 0; i < m.n; i++)
        m.cells[i].status = AS_CELL_REJECTED;
    made_derive(&m);
    assert_int_equal(m.facts_n, 0);
    made_end(&m);
}

/* A plateau behind the last cache of the cores belongs to the memory-side cache, and only sizes four times as large are
 * memory. Without that cache the same curve calls 256 MiB memory. */
UNIT_TEST(test_memory_side)
{
    static const struct {
        const char *source, *says;
    } sources[] = {{"kfd", "Infinity Cache capacity: 256 to 512 MiB, in agreement with the reported 256 MiB"},
                   {"table", "in agreement with the published 256 MiB"}};
    for (size_t k = 0; k < 2; k++) {
        struct made m;
        made_gpu_minimal(&m);
        m.info.caches[0].size = 4 << 20;
        m.info.caches[m.info.caches_n++] = (struct as_cache){
            .level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache"};
        as_copy_text(m.info.caches[1].source, sizeof m.info.caches[1].source, sources[k].source);
        for (int i = 0; i <= 15; i++) { /* up to 2 GiB */
            char axes[160];
            const double size = 64 * KiB * exp2(i);
            snprintf(axes, sizeof axes, "size=%.0f pattern=random allocator=own stride=64", size);
            made_add(&m, "latency", "ns",
                     size <= 4 * MiB     ? 120
                     : size <= 256 * MiB ? 300
                                         : 500 + size / (512 * MiB),
                     axes);
        }
        made_derive(&m);
        made_says(made_get(&m, "cache.memory_side.size"), sources[k].says);
        assert_string_equal(made_get(&m, "cache.memory_side.size")->object, "L3");
        made_says(made_near(&m, "cache.memory_side.latency", 300, 0.01), "that hits the Infinity Cache takes 300 ns");
        made_near(&m, "memory.latency", 503, 0.001); /* median of 1 and 2 GiB, without 512 MiB */
        reject(&m, 512 * MiB, INFINITY);
        made_derive(&m);
        assert_null(made_find(&m, "memory.latency"));
        made_end(&m);
    }
}

UNIT_TEST(test_tlb_by_pattern)
{
    struct made m;
    made_cpu(&m);
    add_curve(&m, "mmap", "random", 8 * MiB, 1);
    add_curve(&m, "mmap", "page", INFINITY, 1);
    made_derive(&m);
    assert_int_equal(made_get(&m, "tlb.reach")->verdict, AS_SUPPORTED);
    made_holds(made_get(&m, "tlb.reach"), 8 * MiB);
    made_end(&m);
    made_cpu(&m);
    add_curve(&m, "mmap", "random", INFINITY, 1);
    add_curve(&m, "thp", "random", INFINITY, 1);
    made_derive(&m);
    assert_int_equal(made_get(&m, "tlb.reach")->verdict, AS_UNDECIDED);
    assert_true(isnan(made_get(&m, "tlb.reach")->value));
    assert_int_equal(made_get(&m, "tlb.cost")->verdict, AS_UNDECIDED);
    made_end(&m);
}

/* By the medians, the clock is above its maximum and there are steps between levels; by the intervals neither. */
UNIT_TEST(test_undecided_by_medians)
{
    struct made m;
    made_cpu(&m);
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
    made_says(f, "whether this exceeds its reported maximum of 2.30 GHz is inconclusive");
    for (size_t i = 0; i < m.facts_n; i++)
        assert_false(as_fact_is(&m.facts[i], AS_FACT_CACHE_SIZE, NULL));
    made_end(&m);
}

/* The scatter of the clock is in the cycles: of 1.5 ns at 3.0 to 3.4 GHz there may be 4.5 to 5.1. */
UNIT_TEST(test_cycles_of_a_scattered_clock)
{
    struct made m;
    made_cpu(&m);
    add_curve(&m, "thp", "random", INFINITY, 2);
    for (size_t i = 0; i < m.n; i++)
        m.cells[i].clock_hz = (3.0 + 0.2 * (double)(i % 3)) * 1e9;
    made_derive(&m);
    const struct as_fact *ns = made_get(&m, "cache.L1.latency"), *f = made_get(&m, "cache.L1.latency_cycles");
    assert_true(f->value > 1.5 * 3.1 && f->value < 1.5 * 3.3);
    assert_true(f->ci.lo < ns->ci.lo * 3.1 && f->ci.hi > ns->ci.hi * 3.3);
    made_end(&m);
}

/* By the medians there is a reach and a cost; by the intervals neither. */
UNIT_TEST(test_tlb_of_wide_intervals)
{
    struct made m = {.info = {.id = "cpu", .backend = "cpu"}, .share = 0.3};
    for (double size = 4096; size <= 1 << 24; size *= 2)
        for (int huge = 0; huge < 2; huge++) {
            char axes[96];
            snprintf(axes, sizeof axes, "size=%.0f;pattern=random;allocator=%s;stride=64", size, huge ? "thp" : "mmap");
            made_add(&m, "latency", "ns", size > 1 << 18 && !huge ? 13 : 10, axes);
        }
    made_derive(&m);
    assert_true(isnan(made_get(&m, "tlb.reach")->value));
    const struct as_fact *f = made_get(&m, "tlb.cost");
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "is inconclusive");
    made_end(&m);
}

/* Caches of unknown size: memory is the plateau behind them, if it is long enough. */
UNIT_TEST(test_unknown_caches)
{
    for (int whole = 0; whole < 2; whole++) {
        struct made m;
        made_cpu(&m);
        m.info.caches_n = 0;
        add_curve(&m, "thp", "random", INFINITY, 1);
        if (!whole)
            reject(&m, 130 * MiB, INFINITY);
        made_derive(&m);
        assert_int_equal(made_find(&m, "memory.latency") != NULL, whole);
        for (size_t i = 0; i < m.n; i++) /* no plateau between L2 and memory */
            if (m.cells[i].sum.median > 20 && m.cells[i].sum.median < 100) {
                m.cells[i].sum.median = 110;
                m.cells[i].sum.ci = (struct as_interval){109, 111};
            }
        made_derive(&m);
        assert_int_equal(made_find(&m, "memory.latency") != NULL, whole);
        assert_null(made_find(&m, "cache.L3.latency"));
        made_end(&m);
    }
}

/* A GPU's first cache, which no driver reports, ends somewhere between sizes far apart: the reported L2 is the level
 * behind it. */
UNIT_TEST(test_coarse_curve_before_the_only_reported_cache)
{
    static const struct {
        double size, ns;
    } points[] = {{KiB, 16.2},       {32 * KiB, 16.2},   {MiB, 136},      {16 * MiB, 143},
                  {64 * MiB, 298.5}, {128 * MiB, 333.4}, {256 * MiB, 333}};
    struct made m;
    size_t named = 0;
    made_cpu(&m);
    m.info.caches[0] = (struct as_cache){.kind = 'u', .level = 2, .size = 60 << 20};
    m.info.caches_n = 1;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char axes[160];
        snprintf(axes, sizeof axes, "size=%.0f pattern=random allocator=thp stride=64", points[i].size);
        made_add(&m, "latency", "ns", points[i].ns, axes)->lower_is_better = 1;
    }
    made_derive(&m);
    for (size_t i = 0; i < m.facts_n; i++)
        named += strcmp(m.facts[i].id, "cache.L2.latency") == 0;
    assert_int_equal(named, 1);
    made_near(&m, "cache.L2.latency", 139.5, 0.05);
    const struct as_fact *size = made_get(&m, "cache.L2.size");
    assert_true(size->ci.lo <= 60 * MiB && size->ci.hi >= 60 * MiB);
    made_near(&m, "cache.L1.latency", 16.2, 1e-9);
    size = made_get(&m, "cache.L1.size");
    assert_true(size->ci.lo == 32 * KiB && size->ci.hi == MiB && size->verdict == AS_UNDECIDED);
    made_says(size, "L1 capacity: 32 KiB to 1 MiB");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undecided_by_medians),
        cmocka_unit_test(test_cycles_of_a_scattered_clock),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_unknown_caches),
        cmocka_unit_test(test_coarse_curve_before_the_only_reported_cache),
        cmocka_unit_test(test_cache_claims),
        cmocka_unit_test(test_memory_side),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_cache_with_hole),
        cmocka_unit_test(test_cache_with_a_slow_rise),
        cmocka_unit_test(test_levels_come_from_their_own_sizes),
        cmocka_unit_test(test_cache_with_wide_hole),
        cmocka_unit_test(test_cache_that_fades_into_a_hole),
        cmocka_unit_test(test_tlb_by_pattern),
        cmocka_unit_test(test_tlb_of_wide_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
