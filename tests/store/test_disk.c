/* A disk that fails or loses power, at each of its calls. Reported data is in the store, complete and once; of
 * unreported data, nothing or all of it is; and a failed step can be repeated.
 *
 * ASSAY_INJECT other than "sample": every failing call, and ten further outcomes of each power failure. */
#include "disk.h"
#include "fixture.h"

#include "base/text.h"
#include "store/schema.h"

#include <limits.h>

enum { CELLS = 3, STEPS_MAX = 24 };

extern const char export_of_another[]; /* from the corpus of the import fuzzer */

struct world {
    struct fixture *f;
    struct as_run run;
    struct as_cell *cells;
    struct as_trial trials[CELLS][4];
};
typedef enum as_status (*step_fn)(struct world *w);

/* Each step is at most one transaction, and repeating it changes nothing. */
static enum as_status open_store(struct world *w)
{
    as_store_close(w->f->store);
    w->f->store = NULL;
    return as_store_open_as(w->f->path, AS_STORE_WRITE, w->f->schema ? w->f->schema : &as_store_schema, &w->f->store,
                            &w->f->err);
}

static void forget_run(struct world *w)
{
    for (size_t i = 0; i < CELLS; i++)
        for (size_t k = 0; k < 4; k++)
            as_trial_finish(&w->trials[i][k]);
    as_cells_free(w->cells, w->cells ? CELLS : 0);
    as_run_finish(&w->run);
    w->cells = NULL;
}

static enum as_status begin_run(struct world *w)
{
    forget_run(w);
    sample_run(&w->run, 2);
    w->cells = calloc(CELLS, sizeof *w->cells);
    assert_non_null(w->cells);
    for (int i = 0; i < CELLS; i++)
        sample_cell(&w->cells[i], i);
    return as_store_begin_run(w->f->store, &w->run, w->cells, CELLS, &w->f->err);
}

static enum as_status add_trial(struct world *w, size_t cell, int number)
{
    struct as_trial *v = &w->trials[cell][number];
    struct as_rng rng;
    as_rng_seed(&rng, 10 * cell + (size_t)number);
    as_trial_finish(v);
    w->cells[cell].trials_done = number;
    sample_trial(v, &w->cells[cell], 200, &rng);
    sample_measured(&w->cells[cell], w->trials[cell], (size_t)number + 1);
    return as_store_add_trials(w->f->store, &(struct as_stored_trial){v, &w->cells[cell]}, 1, &w->f->err);
}

static enum as_status trial_0_0(struct world *w)
{
    return add_trial(w, 0, 0);
}

static enum as_status trial_1_0(struct world *w)
{
    return add_trial(w, 1, 0);
}

static enum as_status trial_0_1(struct world *w)
{
    return add_trial(w, 0, 1);
}

static enum as_status skip_cell(struct world *w)
{
    w->cells[2].status = AS_CELL_SKIPPED;
    as_copy_text(w->cells[2].reason, sizeof w->cells[2].reason, "the time budget ended before it");
    return as_store_update_cells(w->f->store, w->cells, NULL, CELLS, &w->f->err);
}

static enum as_status end_run(struct world *w)
{
    w->run.state = AS_RUN_COMPLETE;
    w->run.ended_at = w->run.started_at + 10;
    return as_store_update_run(w->f->store, &w->run, &w->f->err);
}

static enum as_status import(struct world *w)
{
    int64_t id;
    return as_store_import_json(w->f->store, export_of_another, strlen(export_of_another), &id, &w->f->err);
}

static enum as_status close_store(struct world *w)
{
    must_close(w->f);
    return AS_OK;
}

static const step_fn new_store[] = {open_store, begin_run, trial_0_0,   trial_1_0,  open_store, trial_0_1,
                                    skip_cell,  end_run,   close_store, open_store, import,     NULL};
static const step_fn earlier_store[] = {open_store, begin_run, trial_0_0, close_store, NULL};

/* What is at the path before the first step; NULL: nothing. */
static void place_file(struct fixture *f, const struct as_buf *before)
{
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", f->path);
    unlink(journal);
    unlink(f->path);
    if (before)
        write_text(f->path, before->data, before->len);
}

/* Runs steps until one fails: returns which one, or their number. */
static size_t carry_out(struct world *w, const step_fn *steps, size_t from)
{
    while (steps[from] && !steps[from](w))
        from++;
    return from;
}

static void close_world(struct world *w)
{
    must_close(w->f);
    forget_run(w);
}

/* What the store holds after each step, without trouble. */
static void record_contents(struct fixture *f, const step_fn *steps, const struct as_buf *before, uint64_t *after)
{
    struct world w = {.f = f};
    place_file(f, before);
    after[0] = content_of(f, AS_STORE_READ);
    for (size_t i = 0; steps[i]; i++) {
        assert_true(i + 2 < STEPS_MAX);
        check(f, steps[i](&w));
        after[i + 1] = content_of(f, AS_STORE_READ);
    }
    close_world(&w);
}

/* In brief mode, a sample of the points. */
static unsigned long sample_step(unsigned long brief, unsigned long full)
{
    return getenv("ASSAY_BRIEF") ? brief : full;
}

static bool is_sample(void)
{
    const char *how = getenv("ASSAY_INJECT");
    return !how || strcmp(how, "sample") == 0;
}

static void lose_power(struct fixture *f, const step_fn *steps, const struct as_buf *before, const uint64_t *after,
                       unsigned long at, unsigned long *points)
{
    struct world w = {.f = f};
    place_file(f, before);
    disk_start(DISK_POWER, at, 0);
    const size_t told = carry_out(&w, steps, 0);
    close_world(&w);
    disk_stop();
    for (unsigned seed = 0; disk_struck() && seed < (is_sample() ? 3 : 13); seed++) {
        disk_power_back(seed < 2 ? seed : at * 1000 + seed);
        const uint64_t now = content_of(f, seed % 2 ? AS_STORE_READ : AS_STORE_WRITE);
        if (now != after[told] && (!steps[told] || now != after[told + 1]))
            fail_msg("power lost at change %lu, outcome %u: the store matches neither %zu nor %zu steps", at, seed,
                     told, told + 1);
        ++*points;
    }
    disk_forget();
}

static void test_power(struct fixture *f, const step_fn *steps, const struct as_buf *before, const char *name)
{
    uint64_t after[STEPS_MAX];
    const unsigned long every = sample_step(5, 1);
    unsigned long points = 0, at = 1;
    record_contents(f, steps, before, after);
    lose_power(f, steps, before, after, at, &points);
    while (disk_struck())
        lose_power(f, steps, before, after, at += every, &points);
    print_message("# %s: %lu changes, power lost at every %lu. of them, %lu outcomes\n", name, at - 1, every, points);
    assert_true(at > 50);
}

/* The step to be done next. If the very last operation of a commit fails (removing the journal's header), SQLite
 * reports a failure although the data is in the store: complete, and a resumed run finds it. */
static size_t check_failure(struct fixture *f, const uint64_t *after, size_t failed, unsigned long at)
{
    if (f->err.code != AS_IO || !strstr(f->err.text, f->path))
        fail_msg("call %lu fails: %s: '%s'", at, as_status_word(f->err.code), f->err.text);
    const uint64_t now = content_of(f, AS_STORE_READ);
    if (now != after[failed] && now != after[failed + 1])
        fail_msg("call %lu fails: step %zu is stored in part", at, failed);
    return now == after[failed] ? failed : failed + 1;
}

/* One call fails, or all from one on until the disk is repaired. */
static void fail_at(struct fixture *f, const step_fn *steps, const struct as_buf *before, const uint64_t *after,
                    enum disk_trouble trouble, unsigned long at)
{
    struct world w = {.f = f};
    place_file(f, before);
    disk_start(trouble, at, trouble);
    const size_t failed = carry_out(&w, steps, 0);
    disk_start(DISK_NONE, 0, 0);
    const size_t there = steps[failed] ? check_failure(f, after, failed, at) : failed;
    if (!f->store && there && steps[there] && steps[there] != open_store)
        check(f, open_store(&w));
    const size_t last = carry_out(&w, steps, there);
    if (steps[last])
        fail_msg("call %lu fails: step %zu cannot be repeated: %s", at, last, f->err.text);
    close_world(&w);
    disk_stop();
    assert_int_equal(content_of(f, AS_STORE_READ), after[last]);
    disk_forget();
}

static void test_failing(struct fixture *f, const step_fn *steps, const struct as_buf *before, const char *name)
{
    uint64_t after[STEPS_MAX];
    struct world w = {.f = f};
    record_contents(f, steps, before, after);
    place_file(f, before);
    disk_start(DISK_FAIL, ULONG_MAX, 0);
    carry_out(&w, steps, 0);
    close_world(&w);
    const unsigned long calls = disk_stop();
    disk_forget();
    const unsigned long every = is_sample() ? sample_step(20, 4) : 1;
    for (unsigned long at = 1; at <= calls; at += every) {
        fail_at(f, steps, before, after, DISK_FAIL, at);
        fail_at(f, steps, before, after, DISK_BROKEN, at);
    }
    print_message("# %s: %lu calls, every %lu. failed, alone and with all later ones\n", name, calls, every);
}

static void test_new_store_power(void **state)
{
    test_power(*state, new_store, NULL, "a new store");
}

static void test_new_store_failing(void **state)
{
    test_failing(*state, new_store, NULL, "a new store");
}

/* A store with the schema before the planted step, which opening applies. */
static struct as_buf make_earlier(struct fixture *f)
{
    struct as_buf bytes = AS_BUF_INIT;
    must_open(f, AS_STORE_WRITE);
    finished_run(f, 1);
    must_close(f);
    check(f, as_buf_read_file(&bytes, f->path, 1 << 24, &f->err));
    f->schema = planted_schema(planted_step());
    return bytes;
}

static void test_earlier_store_power(void **state)
{
    struct as_buf before = make_earlier(*state);
    test_power(*state, earlier_store, &before, "a store of an earlier schema");
    as_buf_finish(&before);
}

static void test_earlier_store_failing(void **state)
{
    struct as_buf before = make_earlier(*state);
    test_failing(*state, earlier_store, &before, "a store of an earlier schema");
    as_buf_finish(&before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_new_store_power), TEST(test_earlier_store_power),
                                       TEST(test_new_store_failing), TEST(test_earlier_store_failing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
