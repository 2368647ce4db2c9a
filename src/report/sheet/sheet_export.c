#include "report/sheet/sheet_export.h"

#include "base/json.h"
#include "base/text.h"
#include "report/model/load.h"
#include "report/sheet/machine_sheet.h"
#include "report/sheet/sheet.h"
#include "report/sheet/sheet_counts.h"
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

/* A capacity is its range: its value is null. */
void as_sheet_row_json(const struct as_sheet_row *row, struct as_buf *out)
{
    const struct as_number n = as_sheet_number(row);
    as_json_add_text(out, "name", row->of->name);
    as_json_add_text(out, "group", row->group);
    as_json_add_text(out, "quantity", row->label);
    as_json_add_number(out, "value", as_number_point(&n));
    as_json_add_text(out, "unit", row->unit);
    as_json_add_number(out, "ci_low", row->ci.lo);
    as_json_add_number(out, "ci_high", row->ci.hi);
    as_json_add_bool(out, "wide", row->wide);
    as_json_add_int(out, "trials", (long long)row->trials);
    as_json_add_number(out, "clock_exponent", row->clock_exponent);
    figure_json("specified", as_sheet_shows_specified(row) ? row->specified : NAN, row->specified_by, out);
    figure_json("published", row->published ? row->published->lo : NAN, row->published, out);
    struct as_buf details = AS_BUF_INIT;
    as_sheet_details(row, &details);
    as_json_add_text(out, "further", as_buf_get(&details));
    out->failed |= details.failed;
    as_buf_finish(&details);
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
        as_json_add_bool(out, "inconclusive", gap->undecided);
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

/* Counters of its links that a sensor reads. */
static void json_counts(const struct as_sheet *sheet, struct as_buf *out)
{
    const char *lead = "[";
    as_json_add_name(out, "counters");
    for (size_t k = 0; k < AS_COUNTERS_N; k++) {
        const struct as_link_count *c = &sheet->counts[k];
        if (!c->known)
            continue;
        as_buf_printf(out, "%s{", lead);
        as_json_add_text(out, "name", as_link_counts[k].name);
        as_json_add_number(out, "total", c->total);
        as_json_add_number(out, "grown", c->grown);
        as_buf_char(out, '}');
        lead = ",";
    }
    as_buf_str(out, lead[0] == '[' ? "[]" : "]");
}

/* What another run of the machine shows. */
static void json_runs(const struct as_line_runs *runs, struct as_buf *out)
{
    as_json_add_int(out, "runs", (long long)runs->n);
    as_json_add_number(out, "another_low", runs->another.lo);
    as_json_add_number(out, "another_high", runs->another.hi);
    as_json_add_name(out, "states");
    as_buf_char(out, '[');
    for (size_t i = 0; i < runs->states.n; i++)
        as_json_number(out, runs->states.of[i].value), as_buf_str(out, i + 1 < runs->states.n ? "," : "");
    as_buf_char(out, ']');
}

static void json_devices(const struct as_report_run *run, const struct as_machine_sheet *m, bool joined,
                         struct as_buf *out)
{
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
            if (joined)
                json_runs(&m->v[i].runs[k], out);
            as_buf_char(out, '}');
        }
        as_buf_str(out, m->v[i].sheet.n ? "]" : "[]");
        json_gaps(&m->v[i].sheet, out);
        json_counts(&m->v[i].sheet, out);
        json_seen(run, m->v[i].id, out);
        as_buf_char(out, '}');
    }
    as_buf_str(out, m->n ? "]}\n" : "[]}\n");
}

static void json_head(const struct as_report_run *run, const struct as_machine_sheet *m, struct as_buf *out)
{
    as_buf_char(out, '{');
    as_json_add_int(out, "sheet_version", AS_SHEET_VERSION);
    as_json_add_text(out, "run", run->run.uuid);
    as_json_add_text(out, "host", run->run.host);
    as_json_add_text(out, "suite", run->run.suite);
    as_json_add_number(out, "started_at", run->run.started_at);
    as_json_add_bool(out, "virtual_machine", m->virtual_machine);
    as_json_add_number(out, "reference_clock_hz", m->clock_hz > 0 ? m->clock_hz : NAN); /* of links alone: none */
}

static void write_json(const struct as_report_run *run, const struct as_machine_sheet *m, struct as_buf *out)
{
    json_head(run, m, out);
    json_devices(run, m, false, out);
}

void as_machine_to_json(const struct as_machine_runs *m, struct as_buf *out)
{
    bool used[AS_MACHINE_RUNS_MAX];
    json_head(&m->fullest, &m->sheet, out);
    as_json_add_int(out, "runs", (long long)as_machine_runs_used(m, NULL, used));
    json_devices(&m->fullest, &m->sheet, true, out);
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

/* "ASSAY_CPU_MEMORY_READ_GB_PER_S" */
static void header_add_name(const char *device, const struct as_sheet_row *row, struct as_buf *out)
{
    as_buf_str(out, "ASSAY");
    sheet_export_add_word(device, out);
    sheet_export_add_word(row->group, out);
    sheet_export_add_word(row->label, out);
    sheet_export_add_word(row->unit, out);
}

/* Takes the text of a number as a double, whatever its digits. */
static void header_add_double(struct as_buf *text, struct as_buf *out)
{
    as_buf_printf(out, "%s%s", as_buf_get(text), strpbrk(as_buf_get(text), ".e") ? "" : ".0");
    out->failed |= text->failed;
    as_buf_finish(text);
}

/* Capacities are whole numbers. */
static void header_add_end(const struct as_sheet_row *row, double end, struct as_buf *out)
{
    enum { DIGITS = 3 };
    struct as_buf text = AS_BUF_INIT;
    if (row->of->kind == AS_KIND_CAPACITY)
        as_buf_printf(out, "%.0f", end);
    else {
        as_format_number(&text, end, DIGITS);
        header_add_double(&text, out);
    }
}

/* What is no constant: "about 1.1 ns, one trial" as in the sheet. */
static void header_add_words(const struct as_number *n, struct as_buf *out)
{
    struct as_buf precision = AS_BUF_INIT;
    if (as_number_form(n) != AS_NUMBER_NOISY) {
        as_number_text(n, out);
        return;
    }
    as_number_brief(n, out);
    as_number_precision(n, &precision);
    as_buf_printf(out, precision.len ? ", %s" : "%s", as_buf_get(&precision));
    as_buf_finish(&precision);
}

/* A constant of what the sheet states as a value, two of what it states as a range, and a comment of anything else. */
static void header_add_row(const char *device, const struct as_sheet_row *row, struct as_buf *out)
{
    const struct as_number n = as_sheet_number(row);
    const double ends[] = {n.ci.lo, n.ci.hi};
    struct as_buf value = AS_BUF_INIT;
    if (as_number_form(&n) == AS_NUMBER_RANGE) {
        for (int i = 0; i < 2; i++) {
            as_buf_str(out, "#define ");
            header_add_name(device, row, out);
            as_buf_str(out, i ? "_HIGH " : "_LOW ");
            header_add_end(row, ends[i], out);
            as_buf_printf(out, " /* %s */\n", row->of->name);
        }
        return;
    }
    as_buf_str(out, as_number_is_value(&n) ? "#define " : "/* ");
    header_add_name(device, row, out);
    if (as_number_is_value(&n)) {
        as_buf_char(out, ' ');
        as_number_plain(&n, &value);
        header_add_double(&value, out);
        as_buf_printf(out, " /* %s", row->of->name);
        as_buf_clear(&value);
        as_number_precision(&n, &value);
        if (value.len)
            as_buf_str(out, as_number_form(&n) == AS_NUMBER_VALUE && as_number_has_interval(&n) ? ", +- " : ", ");
        as_buf_str(out, as_buf_get(&value));
        as_buf_finish(&value);
    } else {
        as_buf_str(out, ": ");
        header_add_words(&n, out);
    }
    as_buf_str(out, " */\n");
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
        for (size_t k = 0; k < m->v[i].sheet.n; k++)
            header_add_row(m->v[i].id, &m->v[i].sheet.rows[k], out);
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
