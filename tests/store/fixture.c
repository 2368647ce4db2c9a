#include "fixture.h"
#include "model/fields.h"

#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

void check(const struct fixture *f, enum as_status st)
{
    if (st)
        fail_msg("%s", f->err.text);
}

int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    sample_folder(f->folder);
    snprintf(f->path, sizeof f->path, "%s/store.db", f->folder);
    *state = f;
    return f == NULL;
}

int tear_down(void **state)
{
    struct fixture *f = *state;
    as_store_close(f->store);
    chmod(f->folder, 0700);
    sample_remove(f->folder);
    free(f);
    return 0;
}

static enum as_status open_as_told(struct fixture *f, enum as_store_mode mode, struct as_store **out)
{
    return as_store_open_as(f->path, mode, f->schema ? f->schema : &as_store_schema, out, &f->err);
}

void must_open(struct fixture *f, enum as_store_mode mode)
{
    as_store_close(f->store);
    f->store = NULL;
    if (open_as_told(f, mode, &f->store))
        fail_msg("%s", f->err.text);
}

void must_close(struct fixture *f)
{
    as_store_close(f->store);
    f->store = NULL;
}

void refused(struct fixture *f, enum as_store_mode mode, enum as_status code, const char *part)
{
    f->err = (struct as_error){0};
    enum as_status st = open_as_told(f, mode, &f->store);
    if (st != code)
        fail_msg("%s instead of %s: %s", as_status_word(st), as_status_word(code), f->err.text);
    assert_null(f->store);
    if (!strstr(f->err.text, f->path) || !strstr(f->err.text, part))
        fail_msg("'%s' does not say '%s' and the path", f->err.text, part);
}

uint64_t content_of(struct fixture *f, enum as_store_mode mode)
{
    struct as_store *store = NULL;
    struct as_run *runs = NULL;
    struct as_buf all = AS_BUF_INIT;
    size_t n = 0;
    if (access(f->path, F_OK))
        return 0;
    if (open_as_told(f, mode, &store)) {
        assert_int_equal(f->err.code, AS_NOTFOUND); /* empty */
        return 0;
    }
    check(f, as_store_verify(store, &f->err));
    check(f, as_store_runs(store, &runs, &n, &f->err));
    for (size_t i = 0; i < n; i++) {
        struct as_buf one = AS_BUF_INIT;
        check(f, as_store_export_json(store, &runs[i], &(struct as_sink){.out = &one}, &f->err));
        as_buf_str(&all, as_buf_get(&one));
        as_buf_finish(&one);
    }
    check(f, as_buf_check(&all, &f->err));
    const uint64_t hash = n ? as_hash(as_buf_get(&all), all.len) : 0;
    as_buf_finish(&all);
    as_runs_free(runs, n);
    as_store_close(store);
    return hash;
}

const struct as_schema *planted_schema(const char *step)
{
    static const char *steps[16];
    static struct as_schema schema;
    assert_true((size_t)as_store_schema.version < sizeof steps / sizeof *steps);
    memcpy(steps, as_store_schema.steps, (size_t)as_store_schema.version * sizeof *steps);
    steps[as_store_schema.version] = step;
    schema = (struct as_schema){as_store_schema.version + 1, steps};
    return &schema;
}

const char *planted_step(void)
{
    static char step[2048];
    static const char head[] = "CREATE TABLE runs";
    const char *columns = as_store_schema.steps[0] + strlen(head);
    assert_memory_equal(as_store_schema.steps[0], head, strlen(head));
    snprintf(step, sizeof step,
             "CREATE TABLE planted%.*s; INSERT INTO planted SELECT * FROM runs; DROP TABLE runs;"
             "ALTER TABLE planted RENAME TO runs; ALTER TABLE runs ADD COLUMN planted TEXT NOT NULL DEFAULT 'yes';"
             "UPDATE trials SET worker = worker + 1; UPDATE trials SET worker = worker - 1;",
             (int)strcspn(columns, ";"), columns);
    return step;
}

void write_text(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return v;
}

void as_plain_user(struct fixture *f, void (*part)(struct fixture *))
{
    if (geteuid() == 0) {
        assert_int_equal(chown(f->folder, 65534, 65534), 0);
        assert_true(chown(f->path, 65534, 65534) == 0 || errno == ENOENT);
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(2);
        part(f);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

struct as_cell *begin(struct fixture *f, struct as_run *run, uint64_t seed, size_t n)
{
    struct as_cell *cells = calloc(n + 2, sizeof *cells);
    assert_non_null(cells);
    for (size_t i = 0; i < n; i++)
        sample_cell(&cells[i], (int)i);
    for (size_t i = n; i < n + 2; i++)
        sample_sentinel(&cells[i], (int)i);
    sample_run(run, seed);
    check(f, as_store_begin_run(f->store, run, cells, n + 2, &f->err));
    return cells;
}

void trial(struct fixture *f, struct as_cell *cell, struct as_trial *trials, int number, struct as_rng *rng)
{
    sample_trial(&trials[number], cell, 6 + (size_t)number, rng);
    sample_measured(cell, trials, (size_t)number + 1);
    check(f, as_store_add_trials(f->store, &(struct as_stored_trial){&trials[number], cell}, 1, &f->err));
}

void three_trials(struct fixture *f, struct as_cell *cell, struct as_trial *trials, struct as_rng *rng)
{
    trial(f, cell, trials, 0, rng);
    sample_trial(&trials[1], cell, 7, rng);
    trials[1].excluded = 1;
    as_copy_text(trials[1].reason, sizeof trials[1].reason, "drift: off");
    sample_measured(cell, trials, 2);
    check(f, as_store_add_trials(f->store, &(struct as_stored_trial){&trials[1], cell}, 1, &f->err));
    trial(f, cell, trials, 2, rng);
}

void finished_run(struct fixture *f, uint64_t seed)
{
    struct as_run run;
    struct as_rng rng;
    struct as_trial trials[3];
    as_rng_seed(&rng, seed);
    struct as_cell *cells = begin(f, &run, seed, 8);
    three_trials(f, &cells[0], trials, &rng);
    cells[0].sum.modes = 2;
    cells[0].sum.mode[0] = 1;
    cells[0].sum.mode[1] = 2;
    cells[0].sum.mode_share0 = 0.25;
    check(f, as_store_update_cells(f->store, cells, NULL, 1, &f->err));
    for (int v = 0; v < 3; v++)
        as_trial_finish(&trials[v]);
    trial(f, &cells[1], trials, 0, &rng);
    cells[1].status = AS_CELL_REJECTED;
    as_copy_text(cells[1].reason, sizeof cells[1].reason, "=HYPERLINK(\"http://x\"), \"quoted\"\nsecond line");
    cells[1].gates[AS_GATE_CHECKSUM].state = cells[1].gates[AS_GATE_LIMIT].state = AS_GATE_FAIL;
    as_trial_finish(&trials[0]);
    cells[2].status = AS_CELL_UNSUPPORTED;
    as_copy_text(cells[2].reason, sizeof cells[2].reason, "@no such allocator <b>");
    check(f, as_store_update_cells(f->store, cells, NULL, 3, &f->err));
    struct as_trial crashed = {.cell_id = cells[3].id,
                               .started_at = 1.7e9,
                               .prepare_s = NAN,
                               .duration_s = 0.5,
                               .sample_s = NAN,
                               .clock_hz = NAN,
                               .clock_lo = NAN,
                               .clock_hi = NAN,
                               .limit = NAN,
                               .status = AS_CELL_CRASHED,
                               .reason = "killed by signal 11"};
    cells[3].status = AS_CELL_CRASHED;
    cells[3].trials_done = 1;
    as_copy_text(cells[3].reason, sizeof cells[3].reason, crashed.reason);
    check(f, as_store_add_trials(f->store, &(struct as_stored_trial){&crashed, &cells[3]}, 1, &f->err));
    trial(f, &cells[8], trials, 0, &rng); /* a sentinel */
    as_trial_finish(&trials[0]);
    run.state = AS_RUN_COMPLETE;
    run.ended_at = run.started_at + 61.5;
    check(f, as_store_update_run(f->store, &run, &f->err));
    as_cells_free(cells, 10);
    as_run_finish(&run);
}

static enum as_status write_null(void *user, const char *name, struct as_buf *out, struct as_error *err)
{
    (void)user, (void)name, (void)err;
    as_buf_str(out, "null");
    return AS_OK;
}

void same_record(const struct as_fields *fields, const void *a, const void *b)
{
    struct as_buf x = AS_BUF_INIT, y = AS_BUF_INIT;
    struct as_error err;
    assert_int_equal(as_fields_write(fields, a, write_null, NULL, &x, &err), AS_OK);
    assert_int_equal(as_fields_write(fields, b, write_null, NULL, &y, &err), AS_OK);
    assert_string_equal(as_buf_get(&x), as_buf_get(&y));
    as_buf_finish(&x);
    as_buf_finish(&y);
}
