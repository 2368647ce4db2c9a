#include "facts/facts.h"

#include "base/json.h"
#include "base/text.h"
#include "facts/engine.h"
#include "probe/main_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *as_fact_verdict_word(enum as_fact_verdict v)
{
    static const char *const words[] = {"supported", "refuted", "inconclusive"};
    size_t i = (size_t)v;
    return i < sizeof words / sizeof *words ? words[i] : "inconclusive";
}

const char *as_fact_verdict_text(enum as_fact_verdict v)
{
    return v == AS_REFUTED ? "not as expected" : as_fact_verdict_word(v);
}

static bool facts_usable(const struct as_cell *cell)
{
    return as_cell_is_evidence(cell) && (cell->sum.median > 0 || as_unit_is_count(cell->unit));
}

/* A claim of main memory that nothing proves: the number is valid, but not of what. */
static bool is_unproved(const struct as_fact_input *in, const struct as_device_info *info, const struct as_cell *cell)
{
    return as_main_memory_claimed(&cell->axes) &&
           !as_main_memory_holds(info, (struct as_cell_view){.v = in->cells, .n = in->cells_n}, cell);
}

static bool is_usable(const struct as_fact_input *in, const struct as_device_info *info, const char *device,
                      const struct as_cell *cell)
{
    return strcmp(cell->device, device) == 0 && facts_usable(cell) && !is_unproved(in, info, cell);
}

/* The devices in the order of the run's list, then those that only cells name. */
static enum as_status facts_list_devices(const struct as_fact_input *in, const char ***out, size_t *n,
                                         struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    void *names = NULL;
    *n = 0;
    for (size_t i = 0; !st && i < in->devices_n + in->cells_n; i++) {
        const char *id = i < in->devices_n ? in->devices[i].id : in->cells[i - in->devices_n].device;
        bool seen = false;
        for (size_t k = 0; k < *n && !seen; k++)
            seen = strcmp(((const char **)names)[k], id) == 0;
        if (seen)
            continue;
        st = as_grow(&names, &cap, *n + 1, sizeof(const char *), err);
        if (!st)
            ((const char **)names)[(*n)++] = id;
    }
    *out = names;
    return st;
}

/* The cells without a process state come first in scratch, those with one from its end, both in order. */
static enum as_status look_at_device(const struct as_fact_input *in, const char *device, const struct as_cell **scratch,
                                     as_device_fn visit, void *user, struct as_error *err)
{
    struct as_rule_context c = {.device = device,
                                .cells = scratch,
                                .all = in->cells,
                                .all_n = in->cells_n,
                                .devices = in->devices,
                                .devices_n = in->devices_n,
                                .err = err};
    size_t last = in->cells_n;
    for (size_t i = 0; i < in->devices_n && !c.info; i++)
        if (strcmp(in->devices[i].id, device) == 0)
            c.info = &in->devices[i];
    for (size_t i = in->cells_n; i-- > 0;)
        if (is_usable(in, c.info, device, &in->cells[i]) && as_axes_get(&in->cells[i].axes, AS_STATE_AXIS))
            scratch[--last] = &in->cells[i];
    for (size_t i = 0; i < in->cells_n; i++)
        if (is_usable(in, c.info, device, &in->cells[i]) && !as_axes_get(&in->cells[i].axes, AS_STATE_AXIS))
            scratch[c.n++] = &in->cells[i];
    c.in_states = scratch + last;
    c.in_states_n = in->cells_n - last;
    return visit(&c, user);
}

enum as_status as_facts_each_device(const struct as_fact_input *in, as_device_fn visit, void *user,
                                    struct as_error *err)
{
    const char **devices = NULL;
    size_t devices_n = 0;
    const struct as_cell **scratch = malloc((in->cells_n + 1) * sizeof *scratch);
    if (!scratch)
        return as_nomem(err, in->cells_n * sizeof *scratch, "cells");
    enum as_status st = facts_list_devices(in, &devices, &devices_n, err);
    for (size_t d = 0; d < devices_n && !st; d++)
        st = look_at_device(in, devices[d], scratch, visit, user, err);
    free(scratch);
    free(devices);
    return st;
}

static void apply_rules(struct as_rule_context *c)
{
    for (size_t t = 0; c->n + c->in_states_n > 0 && as_rule_tables[t]; t++)
        for (c->rule = as_rule_tables[t]; c->rule->name && !c->status; c->rule++)
            c->rule->derive(c);
}

/* Makes a fact one of a process state. What to do about it in another state, its numbers do not say. */
static void put_in_state(struct as_fact *f, const char *state)
{
    char sentence[sizeof f->sentence], id[sizeof f->id];
    as_copy_text(f->state, sizeof f->state, state);
    memcpy(id, f->id, sizeof id);
    memcpy(sentence, f->sentence, sizeof sentence);
    snprintf(f->id, sizeof f->id, "%.*s@%s", (int)(sizeof id - sizeof f->state - 1), id, state);
    snprintf(f->sentence, sizeof f->sentence, "With %s: %.*s", state, (int)(sizeof sentence - sizeof f->state - 8),
             sentence);
    f->act[0] = 0;
    f->gain = NAN;
    f->gain_ci = AS_NO_INTERVAL;
}

/* Adds what only the cells of one state give; scratch is for these. */
static enum as_status derive_state(const struct as_rule_context *plain, const char *state,
                                   const struct as_cell **scratch)
{
    struct as_fact_list own = {0}, *all = plain->facts;
    struct as_rule_context c = *plain;
    c.facts = &own;
    c.cells = scratch;
    c.n = c.in_states_n = 0;
    c.state = state;
    for (size_t i = 0; i < plain->in_states_n; i++)
        if (strcmp(as_axes_text(&plain->in_states[i]->axes, AS_STATE_AXIS), state) == 0)
            scratch[c.n++] = plain->in_states[i];
    apply_rules(&c);
    for (size_t i = 0; i < own.n && !c.status; i++) {
        void *grown = all->v;
        if (as_fact_find(all->v, all->n, c.device, own.v[i].id))
            continue;
        if ((c.status = as_grow(&grown, &all->cap, all->n + 1, sizeof *all->v, c.err)))
            break;
        all->v = grown;
        all->v[all->n] = own.v[i];
        put_in_state(&all->v[all->n++], state);
    }
    free(own.v);
    return c.status;
}

static enum as_status derive_device(struct as_rule_context *c, void *facts)
{
    const struct as_cell **scratch = malloc((c->in_states_n + 1) * sizeof *scratch);
    if (!scratch)
        return as_nomem(c->err, c->in_states_n * sizeof *scratch, "cells");
    c->facts = facts;
    apply_rules(c);
    for (size_t i = 0; i < c->in_states_n && !c->status; i++) {
        const char *state = as_axes_text(&c->in_states[i]->axes, AS_STATE_AXIS);
        size_t k = 0;
        while (strcmp(as_axes_text(&c->in_states[k]->axes, AS_STATE_AXIS), state) != 0)
            k++;
        if (k == i) /* the first of its state */
            c->status = derive_state(c, state, scratch);
    }
    free(scratch);
    return c->status;
}

const char *const as_fact_extents[AS_EXTENTS] = {"size", "pages", "elements"};

static void find_extents(const struct as_fact_input *in, struct as_fact *f)
{
    for (size_t i = 0; i < in->cells_n; i++)
        for (size_t k = 0; k < f->evidence_n && k < AS_EVIDENCE_MAX; k++)
            for (size_t e = 0; in->cells[i].id == f->evidence[k] && e < AS_EXTENTS; e++)
                f->most[e] = fmax(f->most[e], as_axes_number(&in->cells[i].axes, as_fact_extents[e]));
}

enum as_status as_facts_derive(const struct as_fact_input *in, struct as_fact **facts, size_t *n, struct as_error *err)
{
    struct as_fact_list list = {0};
    *facts = NULL;
    *n = 0;
    enum as_status st = as_relations_check(err);
    if (!st)
        st = as_facts_each_device(in, derive_device, &list, err);
    if (st) {
        free(list.v);
        return st;
    }
    for (size_t i = 0; i < list.n; i++)
        find_extents(in, &list.v[i]);
    *facts = list.v;
    *n = list.n;
    return AS_OK;
}

const struct as_fact *as_fact_find(const struct as_fact *facts, size_t n, const char *device, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(facts[i].id, id) == 0 && strcmp(facts[i].device, device) == 0)
            return &facts[i];
    return NULL;
}

void as_facts_to_json(const struct as_fact *facts, size_t n, struct as_buf *out)
{
    as_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct as_fact *f = &facts[i];
        as_buf_str(out, i ? ",{" : "{");
        as_json_add_text(out, "id", f->id);
        as_json_add_text(out, "device", f->device);
        if (f->state[0])
            as_json_add_text(out, "state", f->state);
        as_json_add_text(out, "object", f->object);
        as_json_add_text(out, "sentence", f->sentence);
        as_json_add_text(out, "act", f->act);
        as_json_add_number(out, "gain", f->gain);
        as_json_add_number(out, "gain_low", f->gain_ci.lo);
        as_json_add_number(out, "gain_high", f->gain_ci.hi);
        as_json_add_text(out, "verdict", as_fact_verdict_word(f->verdict));
        const struct as_number number = {.value = f->value, .ci = f->ci, .unit = f->unit};
        as_json_add_number(out, "value", as_number_point(&number));
        as_json_add_number(out, "ci_low", f->ci.lo);
        as_json_add_number(out, "ci_high", f->ci.hi);
        as_json_add_text(out, "unit", f->unit);
        as_json_add_number(out, "claimed", f->claimed);
        as_json_add_text(out, "rule", f->rule);
        as_json_add_text(out, "refuted_by", f->refuted_by);
        as_json_add_name(out, "evidence");
        as_buf_char(out, '[');
        for (size_t k = 0; k < f->evidence_n; k++)
            as_buf_printf(out, "%s%lld", k ? "," : "", (long long)f->evidence[k]);
        as_buf_str(out, "]}");
    }
    as_buf_char(out, ']');
}
