#include "cli/compare/check_again.h"

#include "base/text.h"
#include "cli/options/session.h"
#include "report/model/load.h"
#include "run/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum as_status not_again(struct as_checked *c, const char *why)
{
    as_copy_text(c->not_again, sizeof c->not_again, why);
    return AS_OK;
}

/* ---- may it be measured? ---- */

/* Loads the store's last run if it is the checked one, of this host; why it is not to c->not_again. */
static enum as_status load_last(struct as_store *store, struct as_checked *c, struct as_report_run *last,
                                struct as_error *err)
{
    struct as_buf differs = AS_BUF_INIT;
    enum as_status st = as_report_load_alone(store, "last", last, err);
    if (!st && !as_machine_sheet_has_run(c->now, last->run.uuid))
        not_again(c, "the checked run is not the last run of the store");
    if (!st && !c->not_again[0])
        st = as_identity_host(&last->run, &differs, err);
    if (!st && differs.len) {
        char why[200];
        snprintf(why, sizeof why, "run %lld was measured on host '%s', not on this one", (long long)last->run.id,
                 last->run.host);
        not_again(c, why);
    }
    as_buf_finish(&differs);
    return st;
}

/* ---- which cells? ---- */

struct cells {
    int64_t *v; /* owned */
    size_t n;
};

/* A fact may rest on any cell of its evidence's probes. */
static void add_evidence(const struct as_report_run *run, const char *device, const struct as_fact *fact,
                         struct cells *out)
{
    for (size_t e = 0; e < fact->evidence_n && e < AS_EVIDENCE_MAX; e++) {
        const struct as_cell *of = as_report_cell(run, fact->evidence[e]);
        for (size_t i = 0; i < run->cells_n && of; i++) {
            const struct as_cell *cell = &run->cells[i];
            bool is_new = cell->sum.n > 0 && strcmp(cell->probe, of->probe) == 0 && strcmp(cell->device, device) == 0;
            for (size_t k = 0; k < out->n && is_new; k++)
                is_new = out->v[k] != cell->id;
            if (is_new)
                out->v[out->n++] = cell->id;
        }
    }
}

static void add_line(const struct as_report_run *run, const char *device, const struct as_sheet_row *row,
                     struct cells *out)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i] == row->cell)
            return;
    if (row->cell) {
        out->v[out->n++] = row->cell;
        return;
    }
    for (size_t i = 0; i < run->facts_n; i++)
        if (strcmp(run->facts[i].id, row->fact) == 0 && strcmp(run->facts[i].device, device) == 0)
            add_evidence(run, device, &run->facts[i], out);
}

static enum as_status cells_of_worse(const struct as_report_run *run, const struct as_check *check, struct cells *out,
                                     struct as_error *err)
{
    *out = (struct cells){calloc(run->cells_n + 1, sizeof *out->v), 0};
    enum as_status st = out->v ? AS_OK : as_nomem(err, run->cells_n * sizeof *out->v, "cells");
    for (size_t d = 0; d < run->devices_n && !st; d++) {
        struct as_sheet sheet;
        st = as_sheet_make(run, run->devices[d].id, &sheet, err);
        for (size_t i = 0; i < check->n && !st; i++) {
            const struct as_check_line *line = &check->v[i];
            if (!line->looks_worse || strcmp(line->against->id, run->devices[d].id) != 0)
                continue;
            const struct as_sheet_row *row = as_sheet_find(&sheet, line->now->group, line->now->label);
            if (row)
                add_line(run, run->devices[d].id, row, out);
        }
        if (!st)
            as_sheet_finish(&sheet);
    }
    return st;
}

/* ---- measuring ---- */

static const char *check_again_others(void *user, size_t run, const char *device, const struct as_quantity *q)
{
    struct as_checked *c = user;
    return as_repeats_beside(&c->repeats, run - (c->now->runs - c->repeats.n), device, q);
}

/* Checks anew with the repeats. first: the verdicts without them. */
static enum as_status check_anew(struct as_checked *c, const struct as_check *first, struct as_error *err)
{
    as_check_finish(&c->check);
    const enum as_status st = as_sheet_check(c->base, c->now, c->tolerance, &c->check, err);
    if (!st)
        as_check_confirm(&c->check, first, c->now->runs - c->repeats.n, c->tolerance, check_again_others, c);
    return st;
}

static enum as_status measure(const struct as_args *args, struct as_store *store, const struct as_run *last,
                              const struct cells *cells, double budget_s, struct as_checked *c, struct as_error *err)
{
    struct as_session session;
    struct as_run_options options = {.precision = NAN, .budget_s = budget_s};
    struct as_run_result result = {0};
    struct as_error why = {0};
    enum as_status st = as_session_begin(&session, args, AS_SESSION_PROGRESS, &options, err);
    if (st)
        return st;
    session.json = false; /* stdout is the check's */
    st = as_run_again(store, last, cells->v, cells->n, &options, &result, &why);
    const bool stopped = st == AS_INTERRUPTED || (!st && result.state == AS_RUN_INTERRUPTED);
    if (!st || stopped)
        as_session_end(&session, NULL, st, &why, &result);
    else {
        as_buf_finish(&session.buf);
        as_buf_finish(&session.command);
    }
    if (stopped)
        return as_fail(err, AS_INTERRUPTED, "interrupted");
    if (st)
        return st == AS_NOMEM ? as_fail(err, st, "%s", why.text) : not_again(c, why.text);
    return as_repeats_add(store, result.run_id, &c->repeats, err);
}

/* Measures what looks worse again, where that is possible; else c->not_again says why not. */
static enum as_status measure_worse(const struct as_args *args, double budget_s, struct as_checked *c,
                                    struct as_error *err)
{
    struct as_store *store = NULL;
    struct as_report_run last = {0};
    struct cells cells = {0};
    struct as_error why = {0};
    if (as_args_flag(args, "no-measure"))
        return not_again(c, "--no-measure");
    if (c->now->runs >= AS_MACHINE_RUNS_MAX)
        return not_again(c, "the checked side already has the maximum number of runs");
    if (as_cli_store(args, AS_STORE_READ, &store, &why))
        return not_again(c, "the checked data is not from a store");
    enum as_status st = load_last(store, c, &last, err);
    if (!st && !c->not_again[0])
        st = cells_of_worse(&last, &c->check, &cells, err);
    as_store_close(store);
    store = NULL;
    if (!st && !c->not_again[0] && as_cli_existing_store(args, &store, &why))
        not_again(c, why.text);
    if (!st && !c->not_again[0])
        st = cells.n ? measure(args, store, &last.run, &cells, budget_s, c, err)
                     : not_again(c, "the last run did not measure these lines");
    as_store_close(store);
    free(cells.v);
    as_report_run_finish(&last);
    return st;
}

enum as_status as_check_stored(struct as_checked *c, struct as_error *err)
{
    struct as_check first = c->check;
    c->check = (struct as_check){0};
    enum as_status st = as_repeats_merge(&c->repeats, 0, c->base, c->now, err);
    if (!st)
        st = check_anew(c, &first, err);
    as_check_finish(&first);
    return st;
}

enum as_status as_check_again(const struct as_args *args, double budget_s, struct as_checked *c, struct as_error *err)
{
    struct as_check first = c->check;
    c->check = (struct as_check){0};
    enum as_status st = as_repeats_merge(&c->repeats, 0, c->base, c->now, err);
    if (!st)
        st = check_anew(c, &first, err);
    const size_t stored = c->repeats.n;
    if (!st && c->check.looks_worse)
        st = measure_worse(args, budget_s, c, err);
    if (!st && c->repeats.n > stored)
        st = as_repeats_merge(&c->repeats, stored, c->base, c->now, err);
    if (!st && c->repeats.n > stored)
        st = check_anew(c, &first, err);
    as_check_finish(&first);
    return st;
}
