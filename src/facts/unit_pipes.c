#include "facts/unit_pipes.h"

#include "base/text.h"
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

static const double RESIDUAL_MAX = 0.05;
/* Sequences for each load: with fewer the resources say back what they were made of. */
static const size_t SEQUENCES_EACH = 2;

/* ---- sequences ---- */

/* The number of an operation; AS_PIPES_OPS where there is no room for one more. */
static size_t op_number(struct as_unit_pipes *u, const char *name)
{
    size_t i = 0;
    while (i < u->ops && strcmp(u->name[i], name) != 0)
        i++;
    if (i == u->ops && i < AS_PIPES_OPS) {
        as_copy_text(u->name[i], sizeof u->name[0], name);
        u->ops++;
    }
    return i;
}

/* "imul32+3*ffma32"; false where it is none, or has more operations than there is room for. */
static bool read_mix(struct as_unit_pipes *u, const char *mix, struct as_pipes_sequence *s)
{
    for (const char *at = mix;;) {
        char *behind = NULL, name[sizeof u->name[0]];
        unsigned long count = *at >= '0' && *at <= '9' ? strtoul(at, &behind, 10) : 1;
        if (behind && *behind != '*')
            return false;
        at = behind ? behind + 1 : at;
        size_t length = strcspn(at, "+");
        if (length == 0 || length >= sizeof u->name[0] || count == 0 || count > 100)
            return false;
        memcpy(name, at, length);
        name[length] = 0;
        size_t op = op_number(u, name);
        if (op == AS_PIPES_OPS || s->count[op] + count > UINT8_MAX)
            return false;
        s->count[op] = (uint8_t)(s->count[op] + count);
        if (!at[length])
            return true;
        at += length + 1;
    }
}

/* Of cells of the same sequence (in other forms) the fastest. */
static void add_cell(struct as_unit_pipes *u, const struct as_cell *cell)
{
    struct as_interval ci = as_cell_interval(cell);
    struct as_pipes_sequence s = {.cost = cell->sum.median,
                                  .issued = as_cell_note(cell, "instructions_each"),
                                  .error = (ci.hi - ci.lo) / 2 / cell->sum.median};
    size_t at = 0;
    if (strcmp(cell->unit, "cycles") != 0 || !read_mix(u, as_cell_axis(cell, "mix"), &s))
        return;
    while (at < u->n && memcmp(u->s[at].count, s.count, sizeof s.count) != 0)
        at++;
    if (at < u->n && u->s[at].cost <= s.cost)
        return;
    u->n += at == u->n;
    u->s[at] = s;
    u->cells[at] = cell;
}

/* ---- all of it ---- */

bool as_unit_has_pipes(const struct as_device_info *info)
{
    return !info || !(info->is_host_cpu || info->vector_bytes || info->warp <= 1);
}

enum as_status as_unit_pipes_make(const struct as_cell *const *cells, size_t n, struct as_unit_pipes *out,
                                  struct as_error *err)
{
    memset(out, 0, sizeof *out);
    out->s = calloc(n + 1, sizeof *out->s);
    out->cells = calloc(n + 1, sizeof(*out->cells));
    if (!out->s || !out->cells)
        return as_nomem(err, n * sizeof *out->s, "sequences");
    for (size_t i = 0; i < n; i++)
        if (strcmp(cells[i]->probe, "mix") == 0 && isfinite(cells[i]->sum.median))
            add_cell(out, cells[i]);
    enum as_status st = out->n ? as_pipes_solve(out->s, out->n, out->ops, &out->pipes, err) : AS_OK;
    if (!st && out->pipes.placed)
        st = as_pipes_fit(out->s, out->n, out->ops, &out->pipes, &out->fit, err);
    return st;
}

void as_unit_pipes_finish(struct as_unit_pipes *u)
{
    free(u->s);
    free(u->cells);
}

bool as_unit_pipes_hold(const struct as_unit_pipes *u)
{
    return u->fit.residual <= RESIDUAL_MAX && u->fit.sequences >= SEQUENCES_EACH * u->fit.loads;
}

size_t as_unit_pipes_others(const struct as_unit_pipes *u)
{
    size_t n = 0;
    for (size_t r = u->pipes.pipes; r < u->fit.resources; r++) {
        bool taken = false;
        for (size_t i = 0; i < u->ops; i++)
            taken |= u->fit.load[i][r] > 0;
        n += taken;
    }
    return n;
}
