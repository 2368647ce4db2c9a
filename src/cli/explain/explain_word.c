/* Explains one word of a probe's axes, such as an operation, with its values in the last run. */
#include "cli/explain/explain.h"

#include "base/text.h"
#include "report/model/load.h"
#include "report/operations/operations.h"
#include "report/terminal/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const struct as_axis *axis, const char *name)
{
    for (size_t i = 0; axis->words && axis->words[i]; i++)
        if (strcmp(axis->words[i], name) == 0)
            return true;
    return false;
}

/* The remaining axes once the word is chosen. */
static void other_axes(const struct as_probe *probe, const struct as_word *word, const struct as_table_style *style,
                       struct as_buf *out)
{
    struct as_buf line = AS_BUF_INIT;
    as_text_title(out, "Axes", style);
    for (const struct as_axis *a = probe->axes; a->name; a++) {
        if (has_word(a, word->name))
            continue;
        as_buf_clear(&line);
        as_buf_printf(&line, "%s (default %s): %s", a->name, a->def, a->help);
        as_buf_str(out, "  ");
        as_text_fill(out, as_buf_get(&line), style->width, 4, 2);
    }
    as_buf_finish(&line);
}

static bool has_op(struct as_store *store, int64_t run, const char *op)
{
    struct as_cell_filter filter = {.run_id = run};
    struct as_cell *cells = NULL;
    size_t n = 0;
    bool any = false;
    if (as_store_cells(store, &filter, &cells, &n, NULL))
        return false;
    for (size_t i = 0; i < n && !any; i++)
        any = as_operation_cell(&cells[i]) && strcmp(as_axes_text(&cells[i].axes, "op"), op) == 0;
    as_cells_free(cells, n);
    return any;
}

/* Numbers of the last run that has the word. They are optional: the description needs no store. */
static enum as_status explain_word_measured(struct as_store *store, const struct as_word *word,
                                            const struct as_table_style *style, struct as_buf *out,
                                            struct as_error *err)
{
    enum { LOOKED_AT = 100 };
    struct as_run *runs = NULL;
    struct as_report_run run = {0};
    size_t n = 0, i = 0;
    char id[24];
    if (!store || as_store_runs(store, &runs, &n, NULL))
        return AS_OK;
    while (i < n && i < LOOKED_AT && !has_op(store, runs[n - 1 - i].id, word->name))
        i++;
    const bool found = i < n && i < LOOKED_AT;
    snprintf(id, sizeof id, "%lld", found ? (long long)runs[n - 1 - i].id : 0LL);
    as_runs_free(runs, n);
    if (!found || as_report_load(store, id, &run, NULL))
        return AS_OK;
    as_buf_printf(out, "\nLast measured in run %s:\n", id);
    enum as_status st = as_text_operations(&run, word->name, style, out, err);
    as_report_run_finish(&run);
    return st;
}

enum as_status as_explain_word(struct as_store *store, const struct as_probe *probe, const struct as_word *word,
                               const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    as_paint_on(out, AS_PAINT_STRONG, style);
    as_buf_printf(out, "%s/%s: %s\n", probe->name, word->name, word->title);
    as_paint_off(out, AS_PAINT_STRONG, style);
    as_text_fill(out, probe->question, style->width, 0, 0);
    as_buf_char(out, '\n');
    as_explain_member(out, "kind", word->kind, style);
    for (const char *const *more = word->more; more && more[0]; more += 2)
        as_explain_member(out, more[0], more[1], style);
    other_axes(probe, word, style, out);
    enum as_status st = explain_word_measured(store, word, style, out, err);
    return st ? st : as_buf_check(out, err);
}

enum as_status as_unknown_word(const struct as_probe *probe, const char *name, struct as_error *err)
{
    size_t n = 0;
    while (probe->about && probe->about[n].name)
        n++;
    if (!n)
        return as_fail(err, AS_USAGE, "'%s' of the probe '%s' has no description; 'assay explain %s' shows its axes",
                       name, probe->name, probe->name);
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return as_nomem(err, (n + 1) * sizeof *names, "names");
    for (size_t i = 0; i < n; i++)
        names[i] = probe->about[i].name;
    const char *near = as_nearest(name, names);
    enum as_status st =
        near ? as_fail(err, AS_USAGE, "the probe '%s' has no '%s'; did you mean '%s/%s'?", probe->name, name,
                       probe->name, near)
             : as_fail(err, AS_USAGE, "the probe '%s' has no '%s'; see 'assay list ops'", probe->name, name);
    free((void *)names);
    return st;
}
