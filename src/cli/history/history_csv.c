/* 'assay history' for programs. */
#include "base/clock.h"
#include "cli/history/history.h"
#include "cli/output/ndjson.h"

#include <math.h>

const char *as_run_place_word(enum as_run_place place)
{
    static const char *const words[] = {
        [AS_RUN_STEADY] = "steady", [AS_RUN_CHANGED] = "changed", [AS_RUN_ALONE] = "outlier"};
    return words[place];
}

static void history_add_line(const struct as_history *h, struct as_buf *out)
{
    as_json_add_text(out, "device", h->device->id);
    as_json_add_text(out, "name", h->row->of->name);
    as_json_add_text(out, "group", h->row->group);
    as_json_add_text(out, "quantity", h->row->label);
    as_json_add_text(out, "unit", h->row->unit);
}

/* A capacity is its range. */
static double point_of(const struct as_history *h, const struct as_estimated *run)
{
    const struct as_number n = {.value = run->value, .ci = run->ci, .unit = h->row->unit};
    return as_number_point(&n);
}

/* The states between which the line goes from run to run, the lower one first; [] one level. */
static void json_states(const struct as_history *h, struct as_buf *out)
{
    as_json_add_name(out, "states");
    as_buf_char(out, '[');
    for (size_t i = 0; i < h->states.n; i++) {
        as_buf_str(out, i ? ",{" : "{");
        as_json_add_number(out, "value", h->states.of[i].value);
        as_ndjson_interval(out, "ci", h->states.of[i].ci);
        as_ndjson_interval(out, "another_run", h->states.of[i].another);
        as_json_add_int(out, "runs", (long long)h->states.runs[i]);
        as_buf_char(out, '}');
    }
    as_buf_char(out, ']');
}

static void json_run(const struct as_history *h, const struct as_history_run *r, struct as_buf *out)
{
    as_buf_char(out, '{');
    history_add_line(h, out);
    as_json_add_int(out, "run", (long long)r->run->id);
    as_json_add_number(out, "started_at", r->run->started_at);
    as_json_add_number(out, "value", point_of(h, &r->number));
    as_json_add_number(out, "ci_low", r->number.ci.lo);
    as_json_add_number(out, "ci_high", r->number.ci.hi);
    as_json_add_number(out, "clock_hz", as_history_clock(h, r));
    as_json_add_text(out, "place", as_run_place_word(r->place));
    as_json_add_text(out, "recorded", r->cause);
    as_buf_str(out, "}\n");
}

void as_history_json(const struct as_history *h, struct as_buf *out)
{
    for (size_t i = 0; i < h->n; i++)
        json_run(h, &h->v[i], out);
    as_buf_char(out, '{');
    history_add_line(h, out);
    as_json_add_int(out, "since_run", h->n ? (long long)h->v[h->since].run->id : 0);
    as_json_add_int(out, "runs", (long long)(h->n - h->since));
    as_json_add_number(out, "now", h->states.n ? NAN : h->now.value);
    as_ndjson_interval(out, "now_ci", h->now.ci);
    as_ndjson_interval(out, "another_run", h->now.another);
    json_states(h, out);
    as_json_add_number(out, "before", h->before.value);
    as_ndjson_interval(out, "ratio_ci", h->ratio);
    as_buf_str(out, "}\n");
}

void as_history_csv_head(struct as_buf *out)
{
    as_buf_str(out, "device,name,group,quantity,unit,run,started,value,ci_low,ci_high,clock_hz,place,recorded\r\n");
}

static void csv_text(const char *text, struct as_buf *out)
{
    as_buf_csv(out, text);
    as_buf_char(out, ',');
}

static void csv_number(double v, struct as_buf *out)
{
    if (isfinite(v))
        as_json_number(out, v);
    as_buf_char(out, ',');
}

void as_history_csv(const struct as_history *h, struct as_buf *out)
{
    char started[32];
    for (size_t i = 0; i < h->n; i++) {
        const struct as_history_run *r = &h->v[i];
        as_format_wall(r->run->started_at, started, sizeof started);
        csv_text(h->device->id, out);
        csv_text(h->row->of->name, out);
        csv_text(h->row->group, out);
        csv_text(h->row->label, out);
        csv_text(h->row->unit, out);
        as_buf_printf(out, "%lld,", (long long)r->run->id);
        csv_text(started, out);
        csv_number(point_of(h, &r->number), out);
        csv_number(r->number.ci.lo, out);
        csv_number(r->number.ci.hi, out);
        csv_number(as_history_clock(h, r), out);
        csv_text(as_run_place_word(r->place), out);
        as_buf_csv(out, r->cause);
        as_buf_str(out, "\r\n");
    }
}
