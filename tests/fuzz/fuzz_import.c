/* Import of exports: any text is refused as a whole with a reason, or the store is sound afterwards and the
 * export of the import survives another import unchanged. */
#include "fuzz.h"
#include "store/store.h"

#include <unistd.h>

static char path[64];
static struct as_store *store;

static void remove_files(void)
{
    char journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(path);
    unlink(journal);
}

static void at_end(void)
{
    as_store_close(store);
    remove_files();
}

/* An empty store in a memory file system if there is one, so that no disk slows down runs. */
static void fresh_store(void)
{
    struct as_error err;
    if (!store)
        atexit(at_end);
    as_store_close(store);
    store = NULL;
    snprintf(path, sizeof path, "%s/assay-fuzz-%ld.db", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
    remove_files();
    if (as_store_open(path, AS_STORE_WRITE, &store, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static char *export_last(void)
{
    struct as_run run;
    struct as_buf out = AS_BUF_INIT;
    fuzz_require(as_store_run(store, "last", &run, NULL) == AS_OK, "the imported run is not there");
    fuzz_require(as_store_export_json(store, &run, &(struct as_sink){.out = &out}, NULL) == AS_OK,
                 "what came in cannot go out");
    as_run_finish(&run);
    return as_buf_take(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct as_error err = {0};
    int64_t id = 0;
    if (!store)
        fresh_store();
    char *text = fuzz_text(data, size);
    enum as_status st = as_store_import_json(store, text, size, &id, &err);
    free(text);
    if (st) {
        struct as_run *runs;
        size_t n;
        fuzz_require(err.text[0] != 0 && err.code == st && id == 0, "refused without a reason");
        fuzz_require(as_store_runs(store, &runs, &n, &err) == AS_OK && n == 0, "a part of what was refused is there");
        as_runs_free(runs, n);
        return 0;
    }
    if (as_store_verify(store, &err)) {
        fprintf(stderr, "%s\n", err.text);
        fuzz_require(0, "the store is not in order after an import");
    }
    char *first = export_last();
    fresh_store();
    if (as_store_import_json(store, first, strlen(first), &id, &err)) {
        fprintf(stderr, "%s\n%s", err.text, first);
        fuzz_require(0, "an export cannot be imported");
    }
    char *second = export_last();
    fuzz_require(strcmp(first, second) == 0, "an export changed on its way through a store");
    free(first);
    free(second);
    fresh_store();
    return 0;
}
