/* Coverage of stated intervals end to end: the null device plays a machine whose truth is known, and its cells go
 * through worker, reference loop, scheduler, judge and store. Nothing depends on the wall clock, so a seed gives one
 * result. With a number of runs and a first seed, prints the table of docs/statistics.md for these:
 * ASSAY_WORKER=build/assay build/tests/run/test_run_coverage 4 41005 */
#include "fixture.h"

#include "run/run.h"
#include "scripted_clock.h"

#include <math.h>

/* Constants were chosen with other seeds, those of tests/stats. */
enum { FIRST_SEED = 41001, RUNS = 4, SETS_MAX = 6, WIDTHS_MAX = 1 << 14 };
/* Of all scenarios together. Of one, the test counts so few intervals that chance takes some points. */
static const double LEAST = 0.93, MOST = 0.98, LEAST_OF_ONE = 0.88, LEAST_OF_FEW = 0.9, MOST_OF_FEW = 0.99,
                    NOMINAL_HZ = 4.1e9;

#define HOPS "\"clocks\":[3.6e9,3.85e9,4.1e9,4.1e9],\"hop_s\":0.03,\"reading_sd\":0.0005"
#define NEIGHBOUR "\"neighbour\":{\"share\":0.3,\"length_s\":0.2,\"factor\":1.4}"

/* What is measured. The machine is slow, so that a sample runs few instructions. */
static const struct level {
    double size, ns, gbs, beta; /* beta: follows the core's clock, a part of it, or not at all */
} levels[] = {{8 << 10, 400, 10, 1}, {64 << 10, 1200, 10, 1}, {512 << 10, 4000, 10, 0.6}, {0, 15000, 10, 0}};

static const struct work {
    const char *probe, *sets[SETS_MAX];
    size_t sets_n;
    bool is_rate;
} chases =
    {"latency",
     {"latency.pattern=random", "latency.instrument=timed",
      "latency.size=2KiB,3KiB,4KiB,6KiB,8KiB,16KiB,24KiB,32KiB,48KiB,128KiB,192KiB,256KiB,384KiB,2.5MiB,3MiB,3.5MiB"},
     3,
     false},
  copies = {"copy",
            {"copy.from=pinned", "copy.to=device", "copy.how=engine", "copy.direction=one",
             "copy.size=1MiB,1.25MiB,1.5MiB,1.75MiB,2MiB,2.25MiB"},
            5,
            true};

static const struct scenario {
    const char *name, *script;
    const struct work *work;
    double shift;  /* of the true time, as a factor */
    double widest; /* median width; without normalisation intervals still cover, but are wide */
} scenarios[] = {
    {"a level per process",
     "\"machine\":{},\"is_device\":true,\"noise\":{\"sd\":0.005,\"trial_sd\":0.005,\"process_sd\":0.05}", &copies, 1,
     0.2},
    {"quiet", "\"machine\":{},\"noise\":{\"sd\":0.01,\"trial_sd\":0.005}", &chases, 1, 0.03},
    {"clock hops", "\"machine\":{" HOPS "},\"noise\":{\"sd\":0.002,\"trial_sd\":0.002}", &chases, 1, 0.01},
    {"neighbour, seen by the loop",
     "\"machine\":{" HOPS "," NEIGHBOUR ",\"seen\":0.9,\"reading\":0.3},\"noise\":{\"sd\":0.005,\"trial_sd\":0.004}",
     &chases, 1, 0.02},
    {"neighbour, seen by preemptions",
     "\"machine\":{" HOPS "," NEIGHBOUR ",\"seen\":0.9,\"reading\":0},\"noise\":{\"sd\":0.005,\"trial_sd\":0.004}",
     &chases, 1, 0.02},
    {"slow episodes",
     "\"machine\":{\"episode\":{\"share\":0.1,\"length_s\":3,\"factor\":1.25}},\"noise\":{\"sd\":0.02,\"trial_sd\":0."
     "02}",
     &chases, 1, 0.08},
    /* A tenth takes twice as long: the median is the 5/9 quantile of the others. */
    {"a tail",
     "\"machine\":{},\"noise\":{\"sd\":0.005,\"trial_sd\":0.005},"
     "\"modes\":[{\"share\":0.9,\"factor\":1},{\"share\":0.1,\"factor\":2}]",
     &chases, 1 + 0.13971 * 0.005, 0.02},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

/* How runs are requested: this many trials, and more where an interval is wider than the precision. */
static const struct way {
    int trials;
    double precision;
} ways[] = {{3, 0.03}, {3, 0.01}, {6, 0.01}};
enum { WAYS = sizeof ways / sizeof *ways };

struct tally {
    size_t n, inside;
    double width[WIDTHS_MAX];
};

static double truth_of(const struct as_cell *cell, const struct scenario *s, double reference_hz)
{
    const double size = as_axes_number(&cell->axes, "size");
    const struct level *l = levels;
    while (l->size > 0 && l->size < size)
        l++;
    if (s->work->is_rate)
        return l->gbs / s->shift;
    return l->ns * s->shift * pow(isfinite(reference_hz) ? NOMINAL_HZ / reference_hz : 1, l->beta);
}

static void write_script(const char *path, const struct scenario *s, uint64_t seed)
{
    char text[2048];
    int n = snprintf(text, sizeof text,
                     "{\"seed\":%llu,\"clock_hz\":%g,\"execute\":true,%s,"
                     "\"info\":{\"threads\":1,\"compute_units\":1,\"allocators\":[%s],\"memory_bytes\":2000000000,"
                     "\"memory_free\":2000000000,\"max_alloc\":2000000000,"
                     "\"caches\":[{\"level\":1,\"kind\":\"d\",\"size\":8192,\"line\":64,\"shared\":1},"
                     "{\"level\":2,\"kind\":\"u\",\"size\":65536,\"line\":64,\"shared\":1},"
                     "{\"level\":3,\"kind\":\"u\",\"size\":524288,\"line\":64,\"shared\":4}]},\"levels\":[",
                     (unsigned long long)seed, NOMINAL_HZ, s->script,
                     s->work == &copies
                         ? "{\"name\":\"device\"},{\"name\":\"pinned\",\"host_access\":true,\"coherent\":true}"
                         : "{\"name\":\"malloc\",\"host_access\":true}");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{\"size\":%.0f,\"ns\":%g,\"gbs\":%g,\"beta\":%g}",
                      i ? "," : "", levels[i].size, levels[i].ns, levels[i].gbs, levels[i].beta);
    n += snprintf(text + n, sizeof text - (size_t)n, "]}");
    assert_in_range(n, 1, sizeof text - 1);
    write_text(path, text, (size_t)n);
}

/* The parent's clock advances with the trials'. */
static void on_event(void *user, const struct as_event *event)
{
    (void)user;
    if (event->kind == AS_EVENT_CELL_END)
        clock_pass(event->trial->duration_s);
}

static void count_coverage(struct tally *t, const struct as_cell *cell, double truth)
{
    const struct as_interval ci = cell->sum.ci;
    if (cell->status != AS_CELL_OK && cell->status != AS_CELL_WIDE)
        fail_msg("%s %g: %s: %s", cell->probe, as_axes_number(&cell->axes, "size"), as_cell_status_word(cell->status),
                 cell->reason);
    assert_true(t->n < WIDTHS_MAX);
    t->width[t->n++] = log(ci.hi / ci.lo);
    t->inside += ci.lo <= truth && truth <= ci.hi;
}

static void measure(struct fixture *f, const struct scenario *s, const struct way *way, uint64_t seed, struct tally *t)
{
    const struct as_run_options options = {.suites = &s->work->probe,
                                           .suites_n = 1,
                                           .devices = "null",
                                           .sets = s->work->sets,
                                           .sets_n = s->work->sets_n,
                                           .precision = way->precision,
                                           .trials = way->trials,
                                           .seed = seed,
                                           .has_seed = 1,
                                           .event = on_event};
    struct as_run_result result;
    struct as_cell *cells = NULL;
    struct as_run run = {0};
    size_t n = 0;
    clock_script(0);
    check(f, as_run_start(f->store, &options, &result, &f->err));
    clock_real();
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = result.run_id, .probe = s->work->probe},
                            &cells, &n, &f->err));
    check(f, as_store_run(f->store, "last", &run, &f->err));
    assert_true(n > 1);
    for (size_t i = 0; i < n; i++)
        count_coverage(t, &cells[i], truth_of(&cells[i], s, run.reference_hz));
    as_cells_free(cells, n);
    as_run_finish(&run);
}

static uint64_t first_seed = FIRST_SEED;

static void tally_runs(struct fixture *f, const struct scenario *s, const struct way *way, size_t n, struct tally *t)
{
    char script[128];
    snprintf(script, sizeof script, "%s/script.json", f->folder);
    assert_int_equal(setenv("ASSAY_NULL", script, 1), 0);
    *t = (struct tally){0};
    for (size_t i = 0; i < n; i++) {
        const uint64_t seed = first_seed + i;
        write_script(script, s, seed);
        measure(f, s, way, seed, t);
    }
}

static size_t runs = RUNS;
static bool is_table; /* prints what it counts, and judges nothing */
static bool is_brief; /* one run per column: its intervals are too few to judge a machine by */

/* Adds the intervals of a scenario to those of all, and prints its row. */
static void covers(struct fixture *f, const struct scenario *s, struct tally *all)
{
    static struct tally t;
    size_t n = 0, inside = 0;
    print_message("| %s |", s->name);
    for (size_t k = 0; k < WAYS; k++) {
        tally_runs(f, s, &ways[k], runs, &t);
        n += t.n;
        inside += t.inside;
        const double width = as_median(t.width, t.n);
        print_message(" %.0f%% (%.2g%%) |", 100.0 * (double)t.inside / (double)t.n, 100 * width);
        const double widest =
            (is_brief ? 2 : 1) * s->widest; /* few intervals of one run vary with the order of cells */
        if (width > widest && !is_table)
            fail_msg("%s: half of the intervals are wider than %.0f%%", s->name, 100 * widest);
    }
    all->n += n;
    all->inside += inside;
    print_message(" %.1f%% of %zu |\n", 100.0 * (double)inside / (double)n, n);
    if (!is_brief && !is_table && (double)inside < LEAST_OF_ONE * (double)n)
        fail_msg("%s: fewer than %.0f%% of intervals contain the truth", s->name, 100 * LEAST_OF_ONE);
}

static void test_coverage(void **state)
{
    static struct tally all;
    must_open(*state, AS_STORE_WRITE);
    for (size_t i = 0; i < SCENARIOS; i++)
        covers(*state, &scenarios[i], &all);
    const double coverage = (double)all.inside / (double)all.n;
    const double least = is_brief ? LEAST_OF_FEW : LEAST, most = is_brief ? MOST_OF_FEW : MOST;
    if (!is_table && (coverage < least || coverage > most))
        fail_msg("%.1f%% of %zu intervals contain the truth, not %.0f to %.0f%%", 100 * coverage, all.n, 100 * least,
                 100 * most);
}

int main(int argc, char **argv)
{
    is_table = argc > 1;
    is_brief = getenv("ASSAY_BRIEF") != NULL;
    runs = argc > 1 ? (size_t)atoi(argv[1]) : is_brief ? 1 : RUNS;
    if (argc > 2)
        first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_coverage, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
