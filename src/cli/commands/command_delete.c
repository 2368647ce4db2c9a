/* assay delete: deletes runs from the store */
#include "cli/commands/commands.h"

#include <stdlib.h>

/* All runs are looked up before the first is deleted, since that changes what 'last' means. */
static enum as_status find_all(const struct as_args *args, struct as_store *store, int64_t *ids, size_t *n,
                               struct as_error *err)
{
    enum as_status st = AS_OK;
    *n = 0;
    for (size_t i = 0; i < args->words && !st; i++) {
        struct as_run run = {0};
        st = as_store_run(store, as_args_word(args, i), &run, err);
        size_t k = 0;
        while (k < *n && ids[k] != run.id)
            k++;
        if (!st && k == *n)
            ids[(*n)++] = run.id;
        as_run_finish(&run);
    }
    return st;
}

static int run_delete(const struct as_command *command, const struct as_args *args)
{
    struct as_store *store = NULL;
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    int64_t *ids = calloc(args->words, sizeof *ids);
    size_t n = 0;
    enum as_status st = ids ? AS_OK : as_nomem(&err, args->words * sizeof *ids, "runs");
    if (!st)
        st = as_cli_existing_store(args, &store, &err);
    if (!st)
        st = find_all(args, store, ids, &n, &err);
    for (size_t i = 0; i < n && !st; i++) {
        st = as_store_delete_run(store, ids[i], &err);
        if (!st)
            as_buf_printf(&out, "deleted run %lld\n", (long long)ids[i]);
    }
    as_store_close(store);
    free(ids);
    const int code = as_cli_print_text(&out, AS_EXIT_OK);
    return st ? as_cli_misuse(command, &err) : code;
}

static const struct as_option delete_options[] = {
    AS_OPTION_STORE,
    AS_OPTION_END,
};
const struct as_command as_command_delete = {
    .name = "delete",
    .args = "RUN...",
    .summary = "delete runs from the store",
    .about = "Deletes each RUN with its measurements, trials and samples; only importing an export restores it. A run "
             "that a "
             "process is measuring is not deleted. The file keeps its size; later runs reuse the space.",
    .example = "assay delete 3\nassay export 3 -o run3.json && assay delete 3",
    .options = delete_options,
    .min_args = 1,
    .max_args = -1,
    .run = run_delete,
};
