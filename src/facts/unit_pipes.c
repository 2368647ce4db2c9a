#include "facts/unit_pipes.h"

#include "base/text.h"
#include "facts/rule.h"
#include "model/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RESIDUAL_MAX = 0.05;
/* Instructions per operation by which the code of a sequence may differ from that of its operations: notes are rounded
 * to three digits. */
static const double OPCODES_APART = 0.02;
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

/* ---- sequences of other instructions than their operations alone ---- */

enum { OPCODES_MAX = 32 };
struct opcodes {
    char name[OPCODES_MAX][32];
    double n[OPCODES_MAX];
    size_t kinds;
};

/* Adds those of a cell's note, "each step is 0.5 IADD3, 0.5 IMAD.IADD", so many times; false: it has none, or more than
 * there is room for. */
static bool opcodes_add(struct opcodes *o, const struct as_cell *cell, double times)
{
    static const char lead[] = "each step is ";
    char *text = as_cell_note_text(cell, "instructions"), *rest = NULL;
    bool is_known = text && strncmp(text, lead, strlen(lead)) == 0;
    char *one = is_known ? strtok_r(text + strlen(lead), ",", &rest) : NULL;
    for (; one && is_known; one = strtok_r(NULL, ",", &rest)) {
        char name[sizeof o->name[0]];
        double n;
        size_t at = 0;
        is_known = sscanf(one, "%lf %31s", &n, name) == 2;
        while (is_known && at < o->kinds && strcmp(o->name[at], name) != 0)
            at++;
        is_known &= at < OPCODES_MAX;
        if (!is_known)
            break;
        as_copy_text(o->name[at], sizeof o->name[0], name);
        o->n[at] += times * n;
        o->kinds += at == o->kinds;
    }
    free(text);
    return is_known;
}

static const struct as_cell *cell_alone(const struct as_unit_pipes *u, size_t op, unsigned *count)
{
    for (size_t k = 0; k < u->n; k++) {
        size_t kinds = 0;
        for (size_t i = 0; i < u->ops; i++)
            kinds += u->s[k].count[i] > 0;
        *count = u->s[k].count[op];
        if (kinds == 1 && *count)
            return u->cells[k];
    }
    return NULL;
}

/* Did the compiler make other instructions of the sequence than of its operations alone? Then its cost tells nothing of
 * theirs. False where the instructions of one are unknown. */
static bool has_other_instructions(const struct as_unit_pipes *u, size_t sequence)
{
    struct opcodes o = {.kinds = 0};
    double all = 0;
    if (!opcodes_add(&o, u->cells[sequence], 1))
        return false;
    for (size_t i = 0; i < u->ops; i++) {
        unsigned count = 0;
        const struct as_cell *alone = u->s[sequence].count[i] ? cell_alone(u, i, &count) : NULL;
        if (u->s[sequence].count[i] && (!alone || !opcodes_add(&o, alone, -(double)u->s[sequence].count[i] / count)))
            return false;
        all += u->s[sequence].count[i];
    }
    for (size_t i = 0; i < o.kinds; i++)
        if (fabs(o.n[i]) > OPCODES_APART * all)
            return true;
    return false;
}

/* In place: a sequence of one operation, which others are compared with, is never dropped. */
static void drop_other_instructions(struct as_unit_pipes *u)
{
    size_t kept = 0;
    for (size_t k = 0; k < u->n; k++)
        if (!has_other_instructions(u, k)) {
            u->s[kept] = u->s[k];
            u->cells[kept++] = u->cells[k];
        }
    u->n = kept;
}

bool as_unit_pipes_is_mixed(const struct as_cell *alone)
{
    struct opcodes o = {.kinds = 0};
    return opcodes_add(&o, alone, 1) && o.kinds > 1;
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
    drop_other_instructions(out);
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
