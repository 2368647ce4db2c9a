#include "cli/options/lookup.h"

#include "base/text.h"
#include "facts/refs_facts.h"
#include "plan/plan.h"
#include "quantity/quantity.h"
#include "report/model/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXPORT_MAX = 1 << 30 };

enum as_status as_read_export(const char *path, struct as_buf *text, struct as_error *err)
{
    enum as_status st = as_buf_read_file(text, path, EXPORT_MAX, err);
    if (st || !as_is_database(as_buf_get(text), text->len))
        return st;
    return as_fail(err, AS_USAGE,
                   "\"%s\" is a store (an SQLite database), not an export: give a file written by 'assay "
                   "export --store FILE', or pass the store itself to 'assay compare'",
                   path);
}

/* An export is imported into a temporary store, which is removed when it is closed. */
static enum as_status open_export(const char *path, struct as_named_run *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    const char *tmp = getenv("TMPDIR");
    int64_t id = 0;
    int n = snprintf(out->folder, sizeof out->folder, "%s/assay-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || (size_t)n >= sizeof out->folder || !mkdtemp(out->folder)) {
        out->folder[0] = 0;
        return as_fail(err, AS_IO, "cannot create a folder in \"%s\" for reading an export: %s",
                       tmp && *tmp ? tmp : "/tmp", strerror(errno));
    }
    snprintf(out->file, sizeof out->file, "%s/export.db", out->folder);
    enum as_status st = as_read_export(path, &text, err);
    if (!st && as_buf_get(&text)[strspn(as_buf_get(&text), " \t\r\n")] != '{')
        st = as_fail(err, AS_FORMAT, "'%s' is neither a store nor a JSON export", path);
    if (!st)
        st = as_store_open(out->file, AS_STORE_WRITE, &out->store, err);
    if (!st && as_store_import_json(out->store, as_buf_get(&text), text.len, &id, err))
        st = as_fail_in(err, path);
    as_buf_finish(&text);
    return st;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* Only seekable files are inspected: a pipe can be read only once. */
static bool is_database(const char *path)
{
    char head[16] = {0};
    struct stat info;
    FILE *f = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rbe") : NULL;
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f)
        fclose(f);
    return as_is_database(head, n);
}

/* Whether the name cannot be a run's. */
static bool looks_like_file(const char *name)
{
    const size_t n = strlen(name);
    return strchr(name, '/') || (n > 3 && strcmp(name + n - 3, ".db") == 0) ||
           (n > 5 && strcmp(name + n - 5, ".json") == 0);
}

void as_named_run_close(struct as_named_run *n)
{
    as_store_close(n->store);
    if (n->folder[0]) {
        unlink(n->file);
        rmdir(n->folder);
    }
    free(n->run);
    *n = (struct as_named_run){0};
}

/* ---- without a name ---- */

/* Is it of a suite, built in or of a file? */
static bool is_of_suite(const struct as_run *run)
{
    char first[sizeof run->suite];
    as_copy_text(first, sizeof first, run->suite);
    first[strcspn(first, ",")] = '\0';
    return run->state == AS_RUN_COMPLETE && (strstr(first, ".ini") || as_suite_is_built_in(first));
}

static enum as_status run_has(struct as_store *store, const struct as_run *run, const char *probe, bool *has,
                              struct as_error *err)
{
    size_t n = 0;
    *has = !probe && is_of_suite(run);
    enum as_status st = probe ? as_store_count(store, run->id, probe, &n, err) : AS_OK;
    *has |= n > 0 && run->state != AS_RUN_RUNNING;
    return st;
}

/* The default run: the latest that is not in progress. NULL: it is the store's last. */
static const struct as_run *last_measured(const struct as_run *runs, size_t n)
{
    bool skipped = false;
    for (size_t at = n; at > 0; at--) {
        const struct as_run *run = &runs[at - 1];
        if (run->state != AS_RUN_RUNNING && !as_run_is_again(run))
            return skipped ? run : NULL;
        skipped |= run->state == AS_RUN_RUNNING;
    }
    return NULL;
}

static void name_last_measured(const struct as_run *runs, size_t n, struct as_run_name *out)
{
    const struct as_run *other = last_measured(runs, n);
    as_copy_text(out->text, sizeof out->text, "last");
    if (!other)
        return;
    snprintf(out->text, sizeof out->text, "%lld", (long long)other->id);
    as_cli_note("using run %lld (%s): a later run is still in progress", (long long)other->id, other->suite);
}

enum as_status as_last_run(struct as_store *store, struct as_run_name *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    const enum as_status st = as_store_runs(store, &runs, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        as_store_settle_state(store, &runs[i]);
    if (!st)
        name_last_measured(runs, n, out);
    as_runs_free(runs, n);
    return st;
}

enum as_status as_default_run(struct as_store *store, const char *probe, struct as_run_name *out, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0, at = 0;
    bool has = false;
    as_copy_text(out->text, sizeof out->text, "last");
    enum as_status st = as_store_runs(store, &runs, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        as_store_settle_state(store, &runs[i]);
    for (at = n; at > 0 && !has && !st; at--)
        st = run_has(store, &runs[at - 1], probe, &has, err);
    if (!st && !has)
        name_last_measured(runs, n, out);
    if (!st && has)
        snprintf(out->text, sizeof out->text, "%lld", (long long)runs[at].id);
    if (!st && has && at + 1 < n)
        as_cli_note("run %lld (%s), the last %s%s", (long long)runs[at].id, runs[at].suite,
                    probe ? "that measured " : "complete run of a suite", probe ? probe : "");
    as_runs_free(runs, n);
    return st;
}

/* "FILE:RUN" */
static enum as_status open_run_of_file(const char *name, const char *colon, struct as_named_run *out,
                                       struct as_error *err)
{
    char *path = as_strdup(name);
    free(out->run);
    out->run = as_strdup(colon + 1);
    if (!path || !out->run) {
        free(path);
        return as_nomem(err, strlen(name), "a path");
    }
    path[colon - name] = 0;
    enum as_status st = as_store_open(path, AS_STORE_READ, &out->store, err);
    free(path);
    return st;
}

enum as_status as_named_run_open(const struct as_args *args, const char *name, struct as_named_run *out,
                                 struct as_error *err)
{
    const char *colon = name ? strrchr(name, ':') : NULL;
    enum as_status st;
    *out = (struct as_named_run){.run = as_strdup("last")};
    if (!out->run)
        return as_nomem(err, 5, "a name");
    if (!name) {
        struct as_run_name taken = {""};
        st = as_cli_store(args, AS_STORE_READ, &out->store, err);
        if (!st)
            st = as_default_run(out->store, NULL, &taken, err);
        free(out->run);
        out->run = as_strdup(taken.text);
        st = st || out->run ? st : as_nomem(err, sizeof taken.text, "a name");
    } else if (is_file(name))
        st = is_database(name) ? as_store_open(name, AS_STORE_READ, &out->store, err) : open_export(name, out, err);
    else if (colon && colon != name)
        st = open_run_of_file(name, colon, out, err);
    else if (looks_like_file(name))
        st = as_fail(err, AS_NOTFOUND, "there is no file '%s'", name);
    else {
        free(out->run);
        out->run = as_strdup(name);
        st = out->run ? as_cli_store(args, AS_STORE_READ, &out->store, err) : as_nomem(err, strlen(name), "a name");
    }
    if (st)
        as_named_run_close(out);
    return st;
}

enum as_status as_named_report(const struct as_args *args, const char *name, struct as_report_run *out,
                               struct as_error *err)
{
    struct as_named_run named;
    enum as_status st = as_named_run_open(args, name, &named, err);
    if (!st) {
        st = as_report_load(named.store, named.run, out, err);
        if (st == AS_NOTFOUND)
            as_hint_probe(named.run, err);
        as_named_run_close(&named);
    }
    return st;
}

enum as_status as_unknown_probe(const char *name, struct as_error *err)
{
    const char *near = as_nearest(name, as_probe_names());
    return as_fail(err, AS_NOTFOUND, "there is no probe '%s'%s%s%s", name,
                   near ? "; did you mean '" : "; see 'assay list probes'", near ? near : "", near ? "'?" : "");
}

void as_hint_probe(const char *name, struct as_error *err)
{
    const char *near = as_nearest(name, as_probe_names());
    if (err->code == AS_NOTFOUND && is_file(name)) {
        as_fail(err, AS_USAGE, "'%s' is a file; for the runs of a store: --store %s", name, name);
        return;
    }
    if (as_probe_find(name)) {
        as_fail(err, AS_NOTFOUND, "'%s' is a probe; give the number of a run, or nothing for the last", name);
        return;
    }
    if (err->code == AS_NOTFOUND && as_quantity_any_is_meant(name)) {
        as_fail(err, AS_NOTFOUND, "'%s' names lines of the data sheet, not a run; to see them: assay show '%s'", name,
                name);
        return;
    }
    if (near && err->code == AS_NOTFOUND && name[strspn(name, "0123456789abcdef-")])
        as_fail(err, AS_NOTFOUND, "there is no run or probe '%s'; did you mean '%s'?", name, near);
}

enum as_status as_run_and_probe(const struct as_args *args, const char **run, const char **probe, struct as_error *err)
{
    *run = as_args_word(args, 0);
    *probe = as_args_word(args, 1);
    if (*run && as_probe_find(*run)) {
        if (*probe && as_probe_find(*probe))
            return as_fail(err, AS_USAGE, "'%s' and '%s' are both probes; the first word is the run", *run, *probe);
        const char *swap = *probe; /* "latency 3" is as clear as "3 latency" */
        *probe = *run;
        *run = swap;
    }
    return AS_OK;
}

static bool names_lines(const char *text)
{
    return text && as_quantity_any_is_meant(text) && !as_probe_find(text);
}

void as_run_and_lines(const struct as_args *args, const char **run, struct as_buf *lines)
{
    const char *first = as_args_word(args, 0), *second = as_args_word(args, 1);
    as_buf_printf(lines, "%s%s%s", first ? first : "", second ? " " : "", second ? second : "");
    *run = NULL;
    if (names_lines(as_buf_get(lines)))
        return;
    as_buf_clear(lines);
    if (names_lines(second)) {
        as_buf_str(lines, second);
        *run = first;
    }
}

/* The single chip whose figures the data sheet shows. */
static enum as_status check_chip(const struct as_refs *chip, struct as_error *err)
{
    for (size_t i = 1; i < chip->n; i++)
        if (strcmp(chip->v[i].chip, chip->v[0].chip) != 0)
            return as_fail(err, AS_USAGE,
                           "'%s' has figures of several chips: name one, such as '%s'; see 'assay list refs %s'",
                           chip->name, chip->v[0].chip, chip->name);
    return AS_OK;
}

enum as_status as_published_by_itself(const struct as_report_run *run, struct as_refs *refs, struct as_error *err)
{
    *refs = (struct as_refs){0};
    for (size_t i = 0; i < run->devices_n; i++) {
        const char *name = as_refs_about(&run->devices[i]);
        if (name)
            return as_refs_load_for_facts(name, refs, err);
    }
    return AS_OK;
}

enum as_status as_published(const char *name, struct as_refs *refs, struct as_refs *chip, struct as_error *err)
{
    *refs = *chip = (struct as_refs){0};
    enum as_status st = as_refs_load_for_facts(name, refs, err);
    if (st)
        return st;
    if (refs->v[0].group[0]) {
        *chip = *refs;
        *refs = (struct as_refs){0};
        return check_chip(chip, err);
    }
    st = as_refs_of_chip(name, chip, err);
    return st == AS_NOTFOUND ? AS_OK : st;
}
