#include "report/sheet/sheet_export.h"

#include "base/json.h"
#include "report/model/load.h"
#include "report/sheet/machine_sheet.h"
#include "report/sheet/sheet.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef void (*write_fn)(const struct as_report_run *run, const struct as_machine_sheet *m, struct as_buf *out);

static enum as_status export_by(write_fn write, struct as_store *store, const struct as_run *run,
                                const struct as_sink *sink, struct as_error *err)
{
    struct as_report_run loaded;
    char name[24];
    snprintf(name, sizeof name, "%lld", (long long)run->id);
    enum as_status st = as_report_load(store, name, &loaded, err);
    if (st)
        return st;
    struct as_machine_sheet m;
    st = as_machine_sheet_make(&loaded, &m, err);
    if (!st) {
        write(&loaded, &m, sink->out);
        as_machine_sheet_finish(&m);
        st = as_buf_check(sink->out, err);
    }
    if (!st && sink->write)
        st = sink->write(sink->user, as_buf_get(sink->out), sink->out->len, err);
    as_report_run_finish(&loaded);
    return st;
}

/* ---- JSON ---- */

/* A value and who says so: {"value":4800,"unit":"GB/s","source":"...","conditions":"...","url":"..."}; null: none. */
static void figure_json(const char *name, double value, const struct as_ref *ref, struct as_buf *out)
{
    as_json_add_number(out, name, value);
    as_json_add_name(out, strcmp(name, "specified") == 0 ? "specified_by" : "published_by");
    if (!isfinite(value)) {
        as_buf_str(out, "null");
        return;
    }
    as_buf_char(out, '{');
    as_json_add_text(out, "chip", ref ? ref->chip : "");
    as_json_add_text(out, "source", ref ? ref->source : "driver");
    as_json_add_text(out, "conditions", ref ? ref->conditions : "");
    as_json_add_text(out, "url", ref ? ref->url : "");
    if (ref)
        as_json_add_text(out, "unit", ref->unit);
    as_buf_char(out, '}');
}

void as_sheet_row_json(const struct as_sheet_row *row, struct as_buf *out)
{
    as_json_add_text(out, "name", row->of->name);
    as_json_add_text(out, "group", row->group);
    as_json_add_text(out, "quantity", row->label);
    as_json_add_number(out, "value", row->value);
    as_json_add_text(out, "unit", row->unit);
    as_json_add_number(out, "ci_low", row->ci.lo);
    as_json_add_number(out, "ci_high", row->ci.hi);
    as_json_add_bool(out, "wide", row->wide);
    as_json_add_int(out, "trials", (long long)row->trials);
    as_json_add_number(out, "clock_exponent", row->clock_exponent);
    figure_json("specified", as_sheet_shows_specified(row) ? row->specified : NAN, row->specified_by, out);
    figure_json("published", row->published ? row->published->lo : NAN, row->published, out);
    as_json_add_text(out, "further", row->remark);
    as_json_add_int(out, "cell", (long long)row->cell);
    as_json_add_text(out, "fact", row->fact);
}

/* Lines without a number, and why. */
static void json_gaps(const struct as_sheet *sheet, struct as_buf *out)
{
    as_json_add_name(out, "missing");
    for (size_t i = 0; i < sheet->gaps_n; i++) {
        const struct as_sheet_gap *gap = &sheet->gaps[i];
        as_buf_str(out, i ? ",\n{" : "[\n{");
        as_json_add_text(out, "name", gap->of->name);
        as_json_add_text(out, "group", gap->group);
        as_json_add_text(out, "quantity", gap->label);
        as_json_add_text(out, "reason", gap->reason[0] ? gap->reason : "not in this suite");
        as_buf_char(out, '}');
    }
    as_buf_str(out, sheet->gaps_n ? "]" : "[]");
}

/* What sensors saw of the device in a tenth of its trials or more. */
static void json_seen(const struct as_report_run *run, const char *device, struct as_buf *out)
{
    const char *lead = "[";
    as_json_add_name(out, "seen");
    for (size_t i = 0; i < run->seen_n; i++) {
        if (strcmp(run->seen[i].device, device) != 0)
            continue;
        as_buf_printf(out, "%s{", lead);
        as_json_add_text(out, "what", run->seen[i].what);
        as_json_add_int(out, "trials", (long long)run->seen[i].trials);
        as_json_add_int(out, "of", (long long)run->seen[i].of);
        as_buf_char(out, '}');
        lead = ",\n";
    }
    as_buf_str(out, lead[0] == '[' ? "[]" : "]");
}

static void write_json(const struct as_report_run *run, const struct as_machine_sheet *m, struct as_buf *out)
{
    as_buf_char(out, '{');
    as_json_add_int(out, "sheet_version", AS_SHEET_VERSION);
    as_json_add_text(out, "run", run->run.uuid);
    as_json_add_text(out, "host", run->run.host);
    as_json_add_text(out, "suite", run->run.suite);
    as_json_add_number(out, "started_at", run->run.started_at);
    as_json_add_bool(out, "virtual_machine", m->virtual_machine);
    as_json_add_number(out, "reference_clock_hz", m->clock_hz);
    as_json_add_name(out, "devices");
    for (size_t i = 0; i < m->n; i++) {
        as_buf_str(out, i ? ",\n{" : "[\n{");
        as_json_add_text(out, "id", m->v[i].id);
        as_json_add_text(out, "name", m->v[i].name);
        as_json_add_name(out, "lines");
        for (size_t k = 0; k < m->v[i].sheet.n; k++) {
            as_buf_str(out, k ? ",\n" : "[\n");
            as_buf_char(out, '{');
            as_sheet_row_json(&m->v[i].sheet.rows[k], out);
            as_buf_char(out, '}');
        }
        as_buf_str(out, m->v[i].sheet.n ? "]" : "[]");
        json_gaps(&m->v[i].sheet, out);
        json_seen(run, m->v[i].id, out);
        as_buf_char(out, '}');
    }
    as_buf_str(out, m->n ? "]}\n" : "[]}\n");
}

/* ---- C header ---- */

/* Letters and digits as they are, in upper case; "/" as _PER_, and one _ for anything else. */
static void sheet_export_add_word(const char *text, struct as_buf *out)
{
    as_buf_char(out, '_');
    for (; *text; text++) {
        const bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (letter)
            as_buf_char(out, (char)(*text & ~0x20));
        else if (*text >= '0' && *text <= '9')
            as_buf_char(out, *text);
        else if (*text == '/')
            as_buf_str(out, "_PER_");
        else if (as_buf_get(out)[out->len - 1] != '_')
            as_buf_char(out, '_');
    }
}

/* ", +- 10%", ", one trial", ", 27 to 121 ns" */
static void header_add_interval(const struct as_number *n, struct as_buf *out)
{
    const enum as_number_form form = as_number_form(n);
    if (form == AS_NUMBER_VALUE && !as_number_has_interval(n))
        return;
    as_buf_str(out, form == AS_NUMBER_VALUE ? ", +- " : ", ");
    if (form == AS_NUMBER_VALUE || form == AS_NUMBER_ONE_TRIAL)
        as_number_precision(n, out);
    else
        as_number_text(n, out);
}

static void write_header(const struct as_report_run *run, const struct as_machine_sheet *m, struct as_buf *out)
{
    as_buf_str(out, "/* Measured by assay, run ");
    as_buf_c_comment(out, run->run.uuid);
    as_buf_str(out, ": values with the half-width of their 95% intervals. */\n"
                    "#ifndef ASSAY_MACHINE_H\n#define ASSAY_MACHINE_H\n");
    for (size_t i = 0; i < m->n; i++) {
        as_buf_str(out, "\n/* Device ");
        as_buf_c_comment(out, m->v[i].id);
        as_buf_str(out, " */\n");
        for (size_t k = 0; k < m->v[i].sheet.n; k++) {
            const struct as_sheet_row *row = &m->v[i].sheet.rows[k];
            const struct as_number n = as_sheet_number(row);
            as_buf_str(out, "#define ASSAY");
            sheet_export_add_word(m->v[i].id, out);
            sheet_export_add_word(row->group, out);
            sheet_export_add_word(row->label, out);
            sheet_export_add_word(row->unit, out);
            as_buf_printf(out, " %.6g", row->value);
            as_buf_printf(out, " /* %s", row->of->name);
            header_add_interval(&n, out);
            as_buf_str(out, " */\n");
        }
    }
    as_buf_str(out, "\n#endif\n");
}

enum as_status as_export_sheet(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                               struct as_error *err)
{
    return export_by(write_json, store, run, sink, err);
}

enum as_status as_export_header(struct as_store *store, const struct as_run *run, const struct as_sink *sink,
                                struct as_error *err)
{
    return export_by(write_header, store, run, sink, err);
}
