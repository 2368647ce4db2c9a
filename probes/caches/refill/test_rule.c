/* The rules of misses and conflicts, on cells of a toy cache with known geometry. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A cache with LRU replacement of `sets` sets; a miss fetches `sector` bytes, aligned. */
enum { LINE = 64, SETS_MAX = 256, WAYS_MAX = 16 };
static const double HIT_NS = 1, MISS_NS = 40;
struct cache {
    unsigned sets, ways, sector;
    bool next; /* a miss also fetches the next line */
    long tag[SETS_MAX][WAYS_MAX];
};
static struct cache cache;
static struct made m;

static void bring(long line)
{
    long *tag = cache.tag[line % cache.sets];
    unsigned at = 0;
    while (at + 1 < cache.ways && tag[at] != line + 1)
        at++;
    memmove(tag + 1, tag, at * sizeof *tag);
    tag[0] = line + 1;
}

static double load(long address)
{
    const long line = address / LINE;
    const long *tag = cache.tag[line % cache.sets];
    for (unsigned i = 0; i < cache.ways; i++)
        if (tag[i] == line + 1) {
            bring(line);
            return HIT_NS;
        }
    const long lines = cache.sector / LINE;
    for (long i = 0; i < lines; i++)
        bring(line / lines * lines + i);
    if (cache.next)
        bring(line + 1);
    return MISS_NS;
}

static void plant(unsigned sets, unsigned ways, unsigned sector)
{
    made_end(&m);
    m = (struct made){.info = {.id = "cpu", .backend = "cpu", .capabilities = AS_CAP_HOST_KERNELS, .caches_n = 1},
                      .share = 0.02,
                      .clock_hz = 4e9};
    m.info.caches[0] =
        (struct as_cache){.level = 1, .kind = 'd', .size = (uint64_t)sets * ways * LINE, .line = LINE, .ways = ways};
    cache = (struct cache){.sets = sets, .ways = ways, .sector = sector};
}

static void add(const char *what, long distance, long start, long lines, double ns, const char *detail)
{
    char axes[160];
    snprintf(axes, sizeof axes, "what=%s level=%s distance=%ld start=%ld lines=%ld allocator=thp", what,
             strcmp(what, "sector") == 0 ? "LLC" : "L1", distance, start, lines);
    made_add(&m, "refill", "ns", ns, axes)->detail = strdup(detail);
}

static void sector(long distance, long start)
{
    char detail[96];
    const long at = 1 << 20 | start;
    memset(cache.tag, 0, sizeof cache.tag);
    const double first = load(at), second = load(at + distance), again = load(at + distance);
    snprintf(detail, sizeof detail, "{\"first\":%g,\"again\":%g}", first, again);
    add("sector", distance, start, 0, second, detail);
}

static void conflict(long distance, long lines)
{
    double ns = 0;
    memset(cache.tag, 0, sizeof cache.tag);
    for (int lap = 0; lap < 2; lap++) {
        ns = 0;
        for (long i = 0; i < lines; i++)
            ns += load(i * distance);
    }
    add("conflict", distance, 0, lines, ns / (double)lines, "{}");
}

static void sectors(void)
{
    for (long distance = 8; distance <= 512; distance *= 2)
        sector(distance, 0);
    sector(64, 64);
}

UNIT_TEST(test_one_line)
{
    plant(64, 8, 64);
    sectors();
    made_derive(&m);
    made_near(&m, "refill.LLC.sector", 64, 0);
    made_verdict(&m, "refill.LLC.sector", AS_SUPPORTED);
    made_says(made_get(&m, "refill.LLC.sector"), "(40 to 64 B; reported line: 64 B)");
    made_says(made_get(&m, "refill.LLC.pairs"), "brings in one line");
}

UNIT_TEST(test_pairs_of_lines)
{
    plant(64, 8, 128);
    sectors();
    made_derive(&m);
    made_near(&m, "refill.LLC.sector", 128, 0);
    made_verdict(&m, "refill.LLC.sector", AS_SUPPORTED); /* a prefetcher loaded the other line */
    made_says(made_get(&m, "refill.LLC.pairs"), "brings in a pair of lines, 128 B");
    plant(64, 8, 64);
    cache.next = true;
    sectors();
    made_derive(&m);
    made_says(made_get(&m, "refill.LLC.pairs"), "the next line too");
}

/* An unclear distance widens the interval; a hit beyond a miss is a contradiction, which the sentence states. */
UNIT_TEST(test_contradiction)
{
    plant(64, 8, 64);
    add("sector", 32, 0, 0, 1, "{\"first\":40,\"again\":1}");
    add("sector", 64, 0, 0, 6.3, "{\"first\":40,\"again\":1}");
    add("sector", 128, 0, 0, 40, "{\"first\":40,\"again\":1}");
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "refill.LLC.sector");
    assert_true(f->ci.lo == 40 && f->ci.hi == 128);
    add("sector", 256, 0, 0, 1, "{\"first\":40,\"again\":1}");
    made_derive(&m);
    f = made_get(&m, "refill.LLC.sector");
    assert_true(isnan(f->value) && f->verdict == AS_UNDECIDED);
    made_says(f, "misses 128 B away and hits 256 B away");
}

/* No fact if the first load did not miss or the interval spans both. */
UNIT_TEST(test_undecided)
{
    plant(64, 8, 64);
    add("sector", 32, 0, 0, 1, "{\"first\":1.5,\"again\":1}");
    add("sector", 64, 0, 0, 40, "{\"first\":1.5,\"again\":1}");
    add("sector", 64, 64, 0, 40, "{\"first\":1.5,\"again\":1}");
    made_derive(&m);
    assert_null(made_find(&m, "refill.LLC.sector"));
    assert_null(made_find(&m, "refill.LLC.pairs"));
    plant(64, 8, 64);
    m.share = 0.5;
    add("sector", 32, 0, 0, 1, "{\"first\":40,\"again\":1}");
    add("sector", 64, 0, 0, 7, "{\"first\":40,\"again\":1}");
    made_derive(&m);
    assert_null(made_find(&m, "refill.LLC.sector"));
}

static void conflicts(void)
{
    static const long lines[] = {2, 4, 5, 8, 9, 12, 13, 16, 17};
    for (long distance = 1024; distance <= 65536; distance *= 2)
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            conflict(distance, lines[i]);
}

UNIT_TEST(test_ways)
{
    plant(64, 8, 64);
    conflicts();
    made_derive(&m);
    made_near(&m, "refill.L1.ways", 8, 0);
    made_near(&m, "refill.L1.way_size", 4096, 0);
    made_verdict(&m, "refill.L1.way_size", AS_SUPPORTED);
    made_says(made_get(&m, "refill.L1.ways"), "has 8 ways: so many lines 4 KiB apart hit; reported: 8");
    plant(128, 12, 64);
    m.info.caches[0].ways = 8; /* the system reports a wrong value */
    conflicts();
    made_derive(&m);
    made_near(&m, "refill.L1.ways", 12, 0);
    made_verdict(&m, "refill.L1.ways", AS_REFUTED);
    made_near(&m, "refill.L1.way_size", 8192, 0);
    made_verdict(&m, "refill.L1.way_size", AS_REFUTED);
}

/* An inconclusive number of lines is no lower bound. A distance with the fewest conflicting lines does not count unless
 * a larger distance was measured. */
UNIT_TEST(test_ways_of_few_cells)
{
    static const long lines[] = {2, 4, 8, 12, 16};
    plant(64, 8, 64);
    for (long distance = 4096; distance <= 16384; distance *= 2)
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            conflict(distance, lines[i]);
            if (lines[i] == 8)
                m.cells[m.n - 1].sum.ci.hi = 20;
        }
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "refill.L1.ways");
    assert_true(f->ci.lo == 4 && f->ci.hi == 11);
    made_says(f, "has 4 to 11 ways");
    plant(64, 8, 64);
    for (long n = 2; n <= 20; n += 2)
        conflict(2048, n); /* in two sets */
    made_derive(&m);
    assert_null(made_find(&m, "refill.L1.ways"));
}

/* Conflicts of a TLB, and one slow cell among fast ones, do not show the cache's ways. */
UNIT_TEST(test_what_is_no_way)
{
    plant(64, 8, 64);
    for (long lines = 1; lines <= 7; lines++) {
        add("conflict", 4096, 0, lines, lines == 3 ? 9 : 1, "{}");
        add("conflict", 65536, 0, lines, lines > 4 ? 3 : 1, "{}");
    }
    made_derive(&m);
    assert_null(made_find(&m, "refill.L1.ways"));
}

UNIT_TEST(test_alias)
{
    plant(64, 8, 64);
    add("alias", 2048, 0, 0, 1.25, "{}");
    add("alias", 4096, 0, 0, 3, "{}");
    add("alias", 4104, 0, 0, 9, "{}"); /* within a line of an alias: not a control */
    made_derive(&m);
    made_near(&m, "refill.alias", 1.75, 1e-9);
    made_verdict(&m, "refill.alias", AS_SUPPORTED);
    made_says(made_get(&m, "refill.alias"), "7.0 cycles) longer");
    made_acts(&m, "refill.alias", "Avoid loads 4 KiB above recent stores: such a load takes 2.40x");
    plant(64, 8, 64);
    add("alias", 2048, 0, 0, 1.25, "{}");
    add("alias", 4096, 0, 0, 1.25, "{}");
    made_derive(&m);
    made_verdict(&m, "refill.alias", AS_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contradiction),  cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_pairs_of_lines), cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_ways),           cmocka_unit_test(test_ways_of_few_cells),
        cmocka_unit_test(test_what_is_no_way), cmocka_unit_test(test_alias),
    };
    const int failed = cmocka_run_group_tests_name("rules of refills", tests, NULL, NULL);
    made_end(&m);
    return failed;
}
