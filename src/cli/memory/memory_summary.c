#include "cli/memory/memory_summary.h"

#include "base/text.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void as_memory_summary_begin(struct memory_summary *s, const struct memory_reading *before, double period)
{
    *s = (struct memory_summary){.before = *before, .period = period};
    for (size_t i = 0; i < MEMORY_COUNTERS_MAX; i++)
        s->peak[i] = s->first.bytes[i] = s->last.bytes[i] = s->after.bytes[i] = NAN;
}

void as_memory_summary_add(struct memory_summary *s, const struct memory_counters *c,
                           const struct memory_reading *reading)
{
    if (reading->processes == 0)
        return; /* it ended meanwhile */
    for (size_t i = 0; i < c->n; i++) {
        s->peak[i] = fmax(s->peak[i], reading->bytes[i]);
        if (isfinite(reading->bytes[i])) { /* the PSS is not in all */
            s->last.bytes[i] = reading->bytes[i];
            s->first.bytes[i] = s->readings && isfinite(s->first.bytes[i]) ? s->first.bytes[i] : reading->bytes[i];
        }
    }
    s->peak[MEMORY_RSS] = fmax(s->peak[MEMORY_RSS], reading->rss_high);
    s->processes = reading->processes > s->processes ? reading->processes : s->processes;
    s->readings++;
}

static void summary_add_bytes(struct as_table *t, double bytes, bool with_sign)
{
    struct as_buf b = AS_BUF_INIT;
    if (!isfinite(bytes)) {
        as_table_add(t, "-", AS_PAINT_DIM);
        return;
    }
    as_buf_str(&b, bytes < 0 ? "-" : with_sign ? "+" : "");
    as_format_size(&b, (uint64_t)fabs(bytes));
    as_table_add(t, as_buf_get(&b), AS_PAINT_NONE);
    as_buf_finish(&b);
}

static void summary_head(const struct memory_summary *s, const char *end, struct as_buf *out)
{
    as_buf_str(out, end);
    as_buf_str(out, " after ");
    as_format_duration(out, s->after.seconds);
    as_buf_printf(out, "; %zu reading%s", s->readings, s->readings == 1 ? "" : "s");
    as_buf_printf(out, "; at most %zu process%s\n", s->processes, s->processes == 1 ? "" : "es");
    if (!s->readings)
        as_buf_str(out, "The program ended before its memory was read.\n");
}

static void summary_rows(const struct memory_summary *s, const struct memory_counters *c, struct as_table *t)
{
    for (int scope = 0; scope < MEMORY_SCOPES; scope++) {
        bool headed = false;
        for (size_t i = 0; i < c->n; i++) {
            if ((int)c->v[i].scope != scope || !(isfinite(s->before.bytes[i]) || isfinite(s->peak[i])))
                continue;
            if (!headed)
                as_table_heading(t, memory_scope_titles[scope]);
            headed = true;
            as_table_add(t, c->v[i].name, AS_PAINT_NONE);
            summary_add_bytes(t, s->before.bytes[i], false);
            summary_add_bytes(t, s->first.bytes[i], false);
            summary_add_bytes(t, s->peak[i], false);
            summary_add_bytes(t, s->last.bytes[i], false);
            summary_add_bytes(t, s->after.bytes[i], false);
            summary_add_bytes(t, s->peak[i] - s->before.bytes[i], true);
            as_table_add(t, c->v[i].counts, AS_PAINT_DIM);
        }
    }
}

enum as_status as_memory_summary_text(const struct memory_summary *s, const struct memory_counters *c, const char *end,
                                      const struct as_table_style *style, struct as_buf *out, struct as_error *err)
{
    static const char *const heads[] = {"",       ">before", "?>start",   ">peak", "?>end",
                                        ">after", ">rise",   "?includes", NULL};
    struct as_table t;
    as_table_init(&t, heads);
    summary_head(s, end, out);
    summary_rows(s, c, &t);
    const enum as_status st = as_table_write(&t, style, out, err);
    as_table_finish(&t);
    if (c->devices.why_not[0])
        as_buf_printf(out, "NVIDIA GPUs are missing: %s\n", c->devices.why_not);
    return st;
}

static void summary_json_number(struct as_buf *out, const char *name, double v)
{
    as_buf_printf(out, ",\"%s\":", name);
    if (isfinite(v))
        as_buf_printf(out, "%.0f", v);
    else
        as_buf_str(out, "null");
}

void as_memory_summary_json(const struct memory_summary *s, const struct memory_counters *c, const char *end,
                            struct as_buf *out)
{
    as_buf_str(out, "{\"summary\":{\"end\":");
    as_buf_json_str(out, end);
    as_buf_printf(out, ",\"seconds\":%.6f,\"readings\":%zu,\"processes\":%zu,\"counters\":[", s->after.seconds,
                  s->readings, s->processes);
    for (size_t i = 0; i < c->n; i++) {
        as_buf_str(out, i ? ",{\"counter\":" : "{\"counter\":");
        as_buf_json_str(out, c->v[i].name);
        as_buf_str(out, ",\"of\":");
        as_buf_json_str(out, memory_scope_titles[c->v[i].scope]);
        as_buf_str(out, ",\"includes\":");
        as_buf_json_str(out, c->v[i].counts);
        summary_json_number(out, "before", s->before.bytes[i]);
        summary_json_number(out, "start", s->first.bytes[i]);
        summary_json_number(out, "peak", s->peak[i]);
        summary_json_number(out, "end", s->last.bytes[i]);
        summary_json_number(out, "after", s->after.bytes[i]);
        summary_json_number(out, "rise", s->peak[i] - s->before.bytes[i]);
        as_buf_char(out, '}');
    }
    as_buf_str(out, "]}}\n");
}
