/* Budgets of several devices, simulated in real workers: how a suite's budget grows, and that on every device
 * quantities come first. Events stop the runs, so no test waits for a time. */
#include "fixture.h"

#include "base/text.h"
#include "run/run.h"

#include <math.h>
#include <signal.h>

enum { FIRST_TRIALS = 3, CELLS_MAX = 4096 };

struct bench {
    struct fixture *f;
    char script[128], suite[128];
    struct as_run_result result;
    volatile sig_atomic_t stop;
    bool stop_at_start, to_the_end;
    size_t devices;
    int begun[CELLS_MAX]; /* trials of each cell */
    bool first[CELLS_MAX], swept[CELLS_MAX];
    size_t firsts;        /* cells of quantities that have a trial */
    size_t marked_begun;  /* of these, cells of the quantity that is marked as first */
    size_t before_marked; /* cells of other quantities that were as far when these got a trial */
    size_t before_all;    /* cells of quantities begun when one of them got a second trial, the fewest */
    bool other_begun;     /* the first trial of another cell came after these */
    double budget_s;
    char notes[1024];
};

static int set_up_bench(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    void *fixture;
    if (!b || set_up(&fixture))
        return 1;
    b->f = fixture;
    snprintf(b->script, sizeof b->script, "%s/script.json", b->f->folder);
    snprintf(b->suite, sizeof b->suite, "%s/suite.ini", b->f->folder);
    *state = b;
    return setenv("ASSAY_NULL", b->script, 1);
}

static int tear_down_bench(void **state)
{
    struct bench *b = *state;
    void *fixture = b->f;
    int failed = tear_down(&fixture);
    free(b);
    return failed;
}

/* The quantity memory.read.all is marked as first; that of reads by size is not. */
static bool is_marked(const struct as_cell *cell)
{
    return strcmp(as_axes_text(&cell->axes, "level"), "memory") == 0;
}

/* Reads are quantities, and so are latencies at the sweep's powers of two. */
static bool is_quoted(const struct as_cell *cell)
{
    const uint64_t size = as_axes_u64(&cell->axes, "size");
    return strcmp(cell->probe, "bandwidth") == 0 || (size & (size - 1)) == 0;
}

static void on_event(void *user, const struct as_event *event)
{
    struct bench *b = user;
    if (event->kind == AS_EVENT_RUN_START)
        b->budget_s = event->run->budget_s;
    if (event->kind == AS_EVENT_RUN_START && b->stop_at_start)
        b->stop = 1;
    if (event->kind == AS_EVENT_NOTE)
        strncat(b->notes, event->text, sizeof b->notes - strlen(b->notes) - 1);
    if (event->kind != AS_EVENT_CELL_START || strcmp(event->cell->probe, "sentinel") == 0)
        return;
    assert_in_range(event->cell->index, 0, CELLS_MAX - 1);
    const size_t i = (size_t)event->cell->index;
    b->first[i] = is_quoted(event->cell);
    b->firsts += b->first[i] && b->begun[i] == 0;
    if (b->first[i] && b->begun[i] == 1 && (b->before_all == 0 || b->firsts < b->before_all))
        b->before_all = b->firsts;
    if (is_marked(event->cell)) {
        b->marked_begun += b->begun[i] == 0;
        for (size_t k = 0; k < CELLS_MAX; k++)
            b->before_marked += b->swept[k] && b->begun[k] > b->begun[i];
    }
    b->swept[i] = strcmp(as_axes_text(&event->cell->axes, "level"), "sweep") == 0;
    b->begun[i]++;
    b->other_begun |= !b->first[i];
    b->stop |= b->other_begun && !b->to_the_end;
}

static void start_bench(struct bench *b, const char *suite, double budget_s)
{
    static const char *const lists[] = {NULL, "null", "null,null:1", "null,null:1,null:2"};
    const char *const suites[] = {b->suite};
    char script[200];
    const int n = snprintf(script, sizeof script,
                           "{\"seed\":1,\"devices\":%zu,\"noise\":{\"sd\":0.002},\"info\":{\"threads\":1,"
                           "\"allocators\":[{\"name\":\"mmap\"}]}}",
                           b->devices);
    write_text(b->script, script, (size_t)n);
    write_text(b->suite, suite, strlen(suite));
    const struct as_run_options options = {.suites = suites,
                                           .suites_n = 1,
                                           .devices = lists[b->devices],
                                           .precision = 0.0001,
                                           .budget_s = budget_s,
                                           .trials = FIRST_TRIALS,
                                           .seed = 1,
                                           .has_seed = 1,
                                           .event = on_event,
                                           .user = b,
                                           .stop = &b->stop};
    must_open(b->f, AS_STORE_WRITE);
    check(b->f, as_run_start(b->f->store, &options, &b->result, &b->f->err));
}

/* Three trials of all its cells exceed the budget on any machine: each has at least 12 ms of samples. */
static void quoted_first(struct bench *b, size_t devices)
{
    static const char suite[] = "[suite]\nbudget = 15s\ndevices = all\n[latency]\nsize = 1KiB..1MiB x64\n"
                                "[bandwidth]\nop = read\nlevel = sweep,memory\nsize = 4MiB\n";
    b->devices = devices;
    start_bench(b, suite, devices == 1 ? 15 : 30);
    if (!b->other_begun) { /* other programs left no time for 39 trials per device */
        print_message("too little of the CPUs for this test\n");
        skip();
    }
    assert_int_equal(b->firsts, devices * 13); /* 11 sizes, 2 levels of reading */
    assert_int_equal(b->marked_begun, devices);
    assert_int_equal(b->before_marked, 0);
    assert_int_equal(b->before_all, b->firsts); /* a whole sheet before a narrow part of it */
    for (size_t i = 0; i < CELLS_MAX; i++)
        if (b->first[i])
            assert_int_equal(b->begun[i], FIRST_TRIALS);
}

static void what_is_quoted_comes_first(void **state)
{
    quoted_first(*state, 1);
}

static void what_is_quoted_comes_first_on_every_device(void **state)
{
    quoted_first(*state, 3);
}

#define SMALL_SUITE "[latency]\nsize = 1KiB\n"

static void a_budget_grows_with_devices(void **state)
{
    struct bench *b = *state;
    b->stop_at_start = true;
    for (b->devices = 1; b->devices <= 3; b->devices++) {
        b->notes[0] = b->stop = 0;
        start_bench(b, "[suite]\nbudget = 7s\n" SMALL_SUITE, NAN);
        assert_true(b->budget_s == 7 * (double)b->devices);
        assert_true((strstr(b->notes, "budget is") != NULL) == (b->devices > 1));
    }
    b->devices = 3;
    b->notes[0] = b->stop = 0;
    start_bench(b, "[suite]\nbudget = 7s\n" SMALL_SUITE, 5); /* as requested */
    assert_true(b->budget_s == 5 && !strstr(b->notes, "budget is"));
}

/* What a run says of its budget is what it stored. */
static void what_is_left_out_is_counted(void **state)
{
    static const char suite[] = "[suite]\nbudget = 1s\n[latency]\nsize = 1KiB..1MiB x64\n"
                                "[bandwidth]\nop = read,write\nlevel = sweep\nsize = 4KiB..4MiB x8\n";
    struct bench *b = *state;
    struct as_cell *cells;
    size_t n, unmeasured = 0, of[2] = {0};
    char said[120];
    b->devices = 1;
    b->to_the_end = true;
    start_bench(b, suite, 1);
    check(b->f,
          as_store_cells(b->f->store, &(struct as_cell_filter){.run_id = b->result.run_id}, &cells, &n, &b->f->err));
    size_t possible = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i].probe, "sentinel") == 0)
            continue;
        possible += cells[i].status != AS_CELL_UNSUPPORTED;
        unmeasured += cells[i].status == AS_CELL_SKIPPED;
        of[strcmp(cells[i].probe, "bandwidth") == 0] += cells[i].status == AS_CELL_SKIPPED;
    }
    as_cells_free(cells, n);
    assert_true(possible > unmeasured && unmeasured > 0);
    snprintf(said, sizeof said, "covered %zu of %zu measurements", possible - unmeasured, possible);
    assert_int_equal(strstr(b->notes, said) != NULL, unmeasured > 0);
    snprintf(said, sizeof said, "%zu of latency", of[0]);
    assert_int_equal(strstr(b->notes, said) != NULL, of[0] > 0);
    snprintf(said, sizeof said, "%zu of bandwidth", of[1]);
    assert_int_equal(strstr(b->notes, said) != NULL, of[1] > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_bench, tear_down_bench)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_quoted_comes_first),
        TEST(what_is_quoted_comes_first_on_every_device),
        TEST(a_budget_grows_with_devices),
        TEST(what_is_left_out_is_counted),
    };
    return cmocka_run_group_tests_name("run: budgets", tests, NULL, NULL);
}
