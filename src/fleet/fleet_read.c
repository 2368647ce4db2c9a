/* Nodes from files: stores, and data sheets as JSON, of which a file may hold one after the other. */
#include "fleet/fleet.h"
#include "report/sheet/sheet_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHEET_BYTES_MAX = 1 << 24 };
static const char sheet_begins[] = "{\"sheet_version\"";

/* What only this file's node lacks is said; out of memory is a failure of all. */
static enum as_status fleet_read_failed(struct as_fleet *f, const char *path, enum as_status st, struct as_error *err)
{
    if (!st || st == AS_NOMEM)
        return st;
    const struct as_error why = *err;
    return as_fleet_add_missing(f, path, why.text, err);
}

/* Writes the sheet, whose numbers need not be kept then. */
static enum as_status add_merged(struct as_fleet *f, struct as_fleet_merged *merged, const char *json, size_t len,
                                 struct as_error *err)
{
    struct as_buf line = AS_BUF_INIT;
    for (size_t i = 0; i < len; i++)
        as_buf_char(&line, json[i] == '\n' || json[i] == '\r' ? ' ' : json[i]);
    as_buf_char(&line, '\n');
    enum as_status st = as_buf_check(&line, err);
    if (!st)
        st = as_writer_add(&merged->file, as_buf_get(&line), line.len, err);
    merged->sheets += !st;
    as_fleet_forget(f);
    as_buf_finish(&line);
    return st;
}

static enum as_status read_sheet(struct as_fleet *f, const char *path, const struct as_buf *text,
                                 struct as_fleet_merged *merged, struct as_error *err)
{
    struct as_machine_sheet m = {0};
    enum as_status st = as_machine_sheet_read(as_buf_get(text), text->len, &m, err);
    if (!st)
        st = as_fleet_add(f, path, &m, err);
    as_machine_sheet_finish(&m);
    if (!st && merged)
        return add_merged(f, merged, as_buf_get(text), text->len, err);
    return fleet_read_failed(f, path, st, err);
}

/* The next sheet of a file; false at its end. `line` holds the line that was read ahead, its length in *len. links:
 * gets those on the way; what is damaged of them is no reason against a node's numbers. */
static bool next_sheet(FILE *file, char **line, size_t *cap, ssize_t *len, struct as_buf *text,
                       struct as_fleet_links *links)
{
    as_buf_clear(text);
    while (*len >= 0) {
        const bool begins = strncmp(*line, sheet_begins, sizeof sheet_begins - 1) == 0;
        if (begins && text->len)
            return true;
        if (as_fleet_link_is_line(*line))
            (void)as_fleet_links_read_line(links, *line, NULL);
        else if (text->len < SHEET_BYTES_MAX)
            as_buf_add(text, *line, (size_t)*len);
        *len = getline(line, cap, file);
    }
    return text->len > 0;
}

static enum as_status read_sheets(struct as_fleet *f, const char *path, FILE *file, struct as_fleet_merged *merged,
                                  struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_fleet_links links = {0};
    char *line = NULL;
    size_t cap = 0, found = 0;
    enum as_status st = AS_OK;
    ssize_t len = getline(&line, &cap, file);
    while (!st && next_sheet(file, &line, &cap, &len, &text, &links)) {
        st = read_sheet(f, path, &text, merged, err);
        found++;
    }
    if (!st && (ferror(file) || !found))
        st = as_fleet_add_missing(f, path, ferror(file) ? strerror(errno) : "the file is empty", err);
    as_fleet_links_prefer(&f->links, &links);
    free(line);
    as_buf_finish(&text);
    return st;
}

static enum as_status take_link(void *user, struct as_cell *cell, struct as_error *err)
{
    return as_fleet_links_add(user, cell, err);
}

/* The best run of links that this store has. A run that was killed hides no earlier one: only where none is complete
 * does it count. */
static enum as_status read_links(struct as_fleet *f, struct as_store *store, struct as_error *err)
{
    struct as_run *runs = NULL;
    size_t n = 0;
    enum as_status st = as_store_runs(store, &runs, &n, err);
    for (size_t i = n; i-- > 0 && !st;) {
        struct as_fleet_links links = {.started_at = runs[i].started_at,
                                       .is_complete = runs[i].state == AS_RUN_COMPLETE};
        size_t cells = 0;
        if ((st = as_store_count(store, runs[i].id, "node_link", &cells, err)) || !cells)
            continue;
        st = as_store_each_cell(store, &(struct as_cell_filter){.run_id = runs[i].id, .probe = "node_link"}, take_link,
                                &links, err);
        if (!st)
            as_fleet_links_prefer(&f->links, &links);
        as_fleet_links_finish(&links);
        if (f->links.is_complete && f->links.started_at >= runs[i].started_at)
            break; /* earlier ones are no better */
    }
    as_runs_free(runs, n);
    return st;
}

static enum as_status read_store(struct as_fleet *f, const char *path, struct as_fleet_merged *merged,
                                 struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_machine_runs m = {0};
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_store_open(path, AS_STORE_READ, &store, err);
    if (!st)
        st = as_machine_runs_load(store, AS_MACHINE_NOW, NULL, &m, err);
    if (!st)
        st = as_fleet_add(f, path, &m.sheet, err);
    if (!st && merged)
        as_machine_to_json(&m, &text);
    if (store && (!st || st == AS_NOTFOUND))
        (void)read_links(f, store, NULL); /* what is damaged there is no reason against the node's numbers */
    as_machine_runs_finish(&m);
    as_store_close(store);
    st = st || !merged ? fleet_read_failed(f, path, st, err) : add_merged(f, merged, as_buf_get(&text), text.len, err);
    as_buf_finish(&text);
    return st;
}

enum as_status as_fleet_read(struct as_fleet *f, const char *path, struct as_fleet_merged *merged, struct as_error *err)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return as_fleet_read_folder(f, path, merged, err);
    FILE *file = fopen(path, "re");
    if (!file) {
        as_fail(err, AS_IO, "cannot open: %s", strerror(errno));
        return fleet_read_failed(f, path, AS_IO, err);
    }
    const bool is_store = fread(head, 1, sizeof magic - 1, file) == sizeof magic - 1 && strcmp(head, magic) == 0;
    rewind(file);
    const enum as_status st = is_store ? AS_OK : read_sheets(f, path, file, merged, err);
    fclose(file);
    return is_store ? read_store(f, path, merged, err) : st;
}
