/* Resume: what a run reads from its store, up to the first order to a worker. A run that an import accepted and that
 * was cut off is resumed, and the store is sound afterwards; a store with undetected false data is refused with a
 * reason or resumed. */
#include "forged.h"

#include "run/engine.h"

#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

static char path[64];

static void remove_files(void)
{
    char journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(path);
    unlink(journal);
}

static void begin(void)
{
    const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, sizeof path, "%s/assay-resume-%ld.db", folder, (long)getpid());
    setenv("ASSAY_CACHE", "off", 1); /* else compilers are started ahead */
    atexit(remove_files);
}

static void require_ok(enum as_status st, const struct as_error *err, const char *what)
{
    if (!st)
        return;
    fprintf(stderr, "%s\n", err->text);
    fuzz_require(0, what);
}

/* Whether it is accepted. */
static bool import(const json_t *root)
{
    struct as_store *store = NULL;
    struct as_error err = {0};
    int64_t id = 0;
    char *text = json_dumps(root, JSON_COMPACT);
    if (!text)
        return false;
    require_ok(as_store_open(path, AS_STORE_WRITE, &store, &err), &err, "no store");
    const bool good = as_store_import_json(store, text, strlen(text), &id, &err) == AS_OK;
    free(text);
    as_store_close(store);
    return good;
}

/* Some of its cells have no number yet, or no longer all of their trials. */
static void cut_off(struct fuzz_bytes *b)
{
    sqlite3 *db;
    char sql[1000];
    const unsigned planned = fuzz_byte(b), skipped = fuzz_byte(b), when = fuzz_byte(b);
    /* as in the schema for unmeasured cells */
    static const char empty[] = "n = 0, trials = 0, trials_done = 0, median = NULL, ci_low = NULL, ci_high = NULL, "
                                "mad = NULL, min = NULL, max = NULL, modes = 0, mode_low = NULL, mode_high = NULL, "
                                "mode_share = NULL, raw_low = NULL, raw_high = NULL, exponent = NULL, causes = ''";
    if (sqlite3_open(path, &db) != SQLITE_OK)
        exit(1);
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
             "DELETE FROM trials WHERE cell_id %% 8 IN(%u, %u);"
             "UPDATE cells SET status = 'planned', reason = '', %s WHERE id %% 8 = %u;"
             "UPDATE cells SET status = 'skipped', reason = 'cut', %s WHERE id %% 8 = %u;"
             "UPDATE runs SET cells_ok = NULL, state = '%s', ended_at = %s, host = '', "
             "provenance = json_remove(provenance, '$.cpu')", /* of this host, as far as it says */
             planned % 16, skipped % 16, empty, planned % 16, empty, skipped % 16, when % 2 ? "interrupted" : "running",
             when % 4 > 1 ? "started_at + 1" : "0");
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(1);
    }
    sqlite3_close(db);
}

/* The run's devices, as if workers had opened them. */
static void fill_slots(struct as_engine *e)
{
    json_t *devices = json_loads(e->run->devices ? e->run->devices : "", 0, NULL);
    const size_t n = json_array_size(devices) < 16 ? json_array_size(devices) : 16;
    struct as_error err;
    e->slots = calloc(n + 1, sizeof *e->slots);
    fuzz_require(e->slots != NULL, "out of memory");
    for (size_t i = 0; i < n; i++) {
        char *text = json_dumps(json_array_get(devices, i), JSON_COMPACT | JSON_ENCODE_ANY);
        e->slots[e->slots_n] = (struct as_slot){.worker = AS_WORKER_INIT};
        if (text && as_info_from_json(text, &e->slots[e->slots_n].info, &err) == AS_OK)
            e->slots_n++;
        free(text);
    }
    json_decref(devices);
}

/* The order of measurement. */
static void put_in_order(struct as_engine *e)
{
    size_t *order = calloc(e->cells_n + 1, sizeof *order), n = 0;
    fuzz_require(order != NULL, "out of memory");
    as_engine_by_gain(e, order, &n);
    fuzz_require(n <= e->cells_n, "more cells than there are");
    as_engine_shuffle(e, order, n, e->run->seed, AS_ORDER_FIRST_ROUND);
    for (size_t i = 0; i < n; i++)
        fuzz_require(order[i] < e->cells_n, "no cell");
    free(order);
}

/* As `assay resume` that is interrupted at once. */
static void take_up(bool sound)
{
    static const volatile sig_atomic_t stop = 1;
    const struct as_run_options options = {.budget_s = NAN, .stop = &stop, .worker = "/nonexistent"};
    struct as_engine e = {.options = &options, .program = options.worker};
    struct as_run run = {0};
    struct as_run_result result;
    struct as_error err = {0};
    enum as_status st = as_store_open(path, AS_STORE_WRITE, &e.store, &err);
    if (!st)
        st = as_engine_claim_run(&e, NULL, &run, &err);
    if (!st) {
        fill_slots(&e);
        st = as_engine_take_up(&e, &err);
    }
    if (!st)
        put_in_order(&e);
    if (!st)
        st = as_engine_carry_out(&e, &result, &err);
    if (!st && sound)
        st = as_store_verify(e.store, &err);
    if (st && getenv("FUZZ_TELL"))
        fprintf(stderr, "%s\n", err.text);
    fuzz_require(!st || err.text[0], "refused without a reason");
    if (sound)
        require_ok(st, &err, "a sound run cannot be resumed");
    as_engine_finish(&e);
    as_slots_close(e.slots, e.slots_n);
    as_cells_free(e.cells, e.cells_n);
    as_run_finish(&run);
    as_store_close(e.store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    if (!path[0])
        begin();
    /* The same file each time, since descriptors of claims stay open (claim.c) and would run out. */
    (void)!truncate(path, 0);
    json_t *root = forged_sample(&bytes);
    forged_in_export(root, &bytes);
    const bool accepted = import(root);
    json_decref(root);
    if (!accepted)
        return 0;
    cut_off(&bytes);
    take_up(true);
    if (!bytes.left)
        return 0;
    forged_in_unfinished(path, &bytes);
    take_up(false);
    return 0;
}
