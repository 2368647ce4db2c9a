#include "cli/output/ndjson.h"

#include "base/text.h"
#include "model/metrics.h"

#include <math.h>

void as_ndjson_interval(struct as_buf *b, const char *name, struct as_interval v)
{
    as_json_add_name(b, name);
    as_buf_char(b, '[');
    as_json_number(b, v.lo);
    as_buf_char(b, ',');
    as_json_number(b, v.hi);
    as_buf_char(b, ']');
}

static void json_gates(struct as_buf *b, const struct as_cell *c)
{
    as_json_add_name(b, "gates");
    as_buf_char(b, '{');
    for (int g = 0; g < AS_GATE_N; g++) {
        as_json_add_name(b, as_gate_name((enum as_gate)g));
        as_buf_char(b, '{');
        as_json_add_text(b, "state", as_gate_state_word(c->gates[g].state));
        as_json_add_text(b, "text", c->gates[g].text);
        as_buf_char(b, '}');
    }
    as_buf_char(b, '}');
}

void as_ndjson_cell(struct as_buf *b, const struct as_cell *c)
{
    bool measured = c->sum.n > 0;
    as_json_add_int(b, "id", c->id);
    as_json_add_text(b, "backend", c->backend);
    as_json_add_text(b, "device", c->device);
    as_json_add_text(b, "probe", c->probe);
    as_json_add_name(b, "axes");
    as_axes_to_json(&c->axes, b);
    as_json_add_text(b, "status", as_cell_status_word(c->status));
    as_json_add_text(b, "reason", c->reason);
    as_json_add_text(b, "metric", c->metric);
    as_json_add_text(b, "unit", c->unit);
    as_json_add_text(b, "better", c->lower_is_better ? "less" : "more");
    as_json_add_text(b, "counts", c->counts);
    as_json_add_number(b, "precision", c->precision);
    as_json_add_int(b, "n", (long long)c->sum.n);
    as_json_add_int(b, "trials", (long long)c->sum.trials);
    as_json_add_number(b, "median", measured ? c->sum.median : NAN);
    as_json_add_number(b, "ci_low", measured ? c->sum.ci.lo : NAN);
    as_json_add_number(b, "ci_high", measured ? c->sum.ci.hi : NAN);
    as_json_add_number(b, "mad", measured ? c->sum.mad : NAN);
    as_json_add_number(b, "min", measured ? c->sum.min : NAN);
    as_json_add_number(b, "max", measured ? c->sum.max : NAN);
    char answer[64];
    if (as_cell_answer(c, c->sum.median, answer))
        as_json_add_text(b, "answer", answer);
    as_json_add_name(b, "metrics");
    as_cell_metrics_to_json(c, b);
    json_gates(b, c);
}

void as_ndjson_run(struct as_buf *b, const struct as_run *r)
{
    as_json_add_int(b, "id", r->id);
    as_json_add_text(b, "uuid", r->uuid);
    as_json_add_text(b, "suite", r->suite);
    as_json_add_text(b, "state", as_run_state_word(r->state));
    as_json_add_text(b, "host", r->host);
    as_json_add_number(b, "started_at", r->started_at);
    as_json_add_number(b, "ended_at", r->ended_at > 0 ? r->ended_at : NAN);
    as_json_add_name(b, "seed"); /* as text: many JSON readers lose bits of a 64-bit number */
    as_buf_printf(b, "\"%llu\"", (unsigned long long)r->seed);
    as_json_add_number(b, "precision", r->precision);
    as_json_add_number(b, "budget_s", r->budget_s);
}

static const char *const event_words[] = {
    [AS_EVENT_RUN_START] = "run_start", [AS_EVENT_CELL_START] = "cell_start", [AS_EVENT_CELL_END] = "cell_end",
    [AS_EVENT_NOTE] = "note",           [AS_EVENT_RUN_END] = "run_end",
};

void as_ndjson_event(struct as_buf *b, const struct as_event *e)
{
    as_buf_char(b, '{');
    as_json_add_text(b, "event", event_words[e->kind]);
    as_json_add_number(b, "elapsed_s", e->elapsed_s);
    if (e->text)
        as_json_add_text(b, "text", e->text);
    if (e->kind != AS_EVENT_NOTE) {
        as_json_add_int(b, "cells_done", (long long)e->cells_done);
        as_json_add_int(b, "cells_total", (long long)e->cells_total);
        as_json_add_number(b, "eta_s", e->eta_s);
    }
    if (e->round > 0) {
        as_json_add_int(b, "round", e->round < e->rounds ? e->round : e->rounds);
        as_json_add_int(b, "rounds", e->rounds);
        if (e->round > e->rounds) /* extra rounds for cells still imprecise */
            as_json_add_int(b, "extra_pass", e->round - e->rounds);
    }
    if (e->run && (e->kind == AS_EVENT_RUN_START || e->kind == AS_EVENT_RUN_END)) {
        as_json_add_name(b, "run");
        as_buf_char(b, '{');
        as_ndjson_run(b, e->run);
        as_buf_char(b, '}');
    }
    if (e->cell) {
        as_json_add_name(b, "cell");
        as_buf_char(b, '{');
        as_ndjson_cell(b, e->cell);
        as_buf_char(b, '}');
    }
    as_buf_str(b, "}\n");
}
