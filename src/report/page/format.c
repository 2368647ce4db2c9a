#include "base/text.h"
#include "model/metrics.h"
#include "report/model/column.h"
#include "report/page/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The unit that is shown; a value is to be multiplied by the factor. */
static const char *pick_scale(double v, const char *unit, double *factor)
{
    const struct as_scale *scale = as_scale_of(v, unit);
    *factor = scale ? scale->factor : 1;
    return scale ? scale->shown : unit;
}

static void report_format_add_unit(struct as_buf *b, const char *unit)
{
    if (!unit[0])
        return;
    if (strcmp(unit, "×") != 0)
        as_buf_str(b, "\u00a0");
    as_buf_html(b, unit);
}

static void report_format_number(struct as_buf *b, double v, const char *unit, int digits)
{
    if (as_unit_is_count(unit))
        as_format_count(b, v);
    else
        as_format_number(b, v, as_scale_of(v, unit) ? digits : as_unscaled_digits(v, digits));
}

void as_page_value(struct as_buf *b, double v, const char *unit)
{
    if (!isfinite(v)) {
        as_buf_str(b, "–");
        return;
    }
    if (strcmp(unit, "B") == 0 && v >= 0 && v < 1.8e19) { /* exact if whole: 48 KiB, not 48.0 KiB */
        as_format_size(b, (uint64_t)(v + 0.5));
        return;
    }
    if (unit[0] == '\0' && v == floor(v) && fabs(v) < 1e9) { /* so is a count */
        as_buf_printf(b, "%.0f", v);
        return;
    }
    double factor;
    const char *shown = pick_scale(v, unit, &factor);
    report_format_number(b, v * factor, unit, 3);
    report_format_add_unit(b, shown);
}

void as_page_tick(struct as_buf *b, double v, const char *unit)
{
    double factor;
    const char *shown = pick_scale(v, unit, &factor);
    as_format_number(b, v * factor, 1);
    report_format_add_unit(b, shown);
}

void as_report_failed_gates(const struct as_cell *c, struct as_buf *out)
{
    const char *lead = ": ";
    for (int g = 0; g < AS_GATE_N; g++)
        if (c->gates[g].state == AS_GATE_FAIL) {
            as_buf_printf(out, "%s%s", lead, as_gate_name((enum as_gate)g));
            lead = ", ";
        }
}

/* On the page no space breaks a value from its unit, and a ratio ends in a sign of multiplication. */
static void page_format_write(struct as_buf *b, const char *text, const char *unit)
{
    const bool is_ratio = strcmp(unit, "x") == 0;
    char one[2] = "";
    for (const char *at = text; *at; at++) {
        const bool after_digit = at > text && at[-1] >= '0' && at[-1] <= '9';
        one[0] = *at;
        if (*at == ' ' && after_digit && strncmp(at, " to ", 4) != 0 && strncmp(at, " or ", 4) != 0 &&
            strncmp(at, " trial", 6) != 0)
            as_buf_str(b, "\u00a0");
        else if (*at == 'x' && after_digit && is_ratio)
            as_buf_str(b, "×");
        else if ((unsigned char)*at < 0x80)
            as_buf_html(b, one);
        else
            as_buf_char(b, *at);
    }
}

void as_page_number(struct as_buf *b, const struct as_number *n)
{
    struct as_buf text = AS_BUF_INIT;
    const bool is_plain = !n->bound && (!(n->ci.hi > n->ci.lo) || (!n->unit[0] && n->value == floor(n->value)));
    if (!isfinite(n->value) || (as_number_form(n) == AS_NUMBER_VALUE && is_plain))
        as_page_value(b, n->value, n->unit);
    else {
        as_number_brief(n, &text);
        page_format_write(b, as_buf_get(&text), n->unit);
    }
    b->failed |= text.failed;
    as_buf_finish(&text);
}

void as_page_cell_value(struct as_buf *b, const struct as_cell *cell)
{
    const struct as_number n = as_number_of_cell(cell);
    char answer[64];
    if (as_cell_answer(cell, cell->sum.median, answer))
        as_buf_html(b, answer);
    else
        as_page_number(b, &n);
}

void as_page_cell_interval(struct as_buf *b, const struct as_cell *cell)
{
    const struct as_number n = as_number_of_cell(cell);
    char answer[64];
    if (as_cell_answer(cell, cell->sum.median, answer))
        as_buf_str(b, cell->sum.min == cell->sum.max ? "in every sample" : "not in every sample");
    else
        as_page_interval(b, &n);
}

void as_page_interval(struct as_buf *b, const struct as_number *n)
{
    struct as_buf text = AS_BUF_INIT;
    if (!as_number_has_interval(n)) { /* "one trial" */
        as_number_precision(n, &text);
        as_buf_str(b, text.len ? as_buf_get(&text) : "–");
    } else {
        as_number_interval(n, &text);
        page_format_write(b, as_buf_get(&text), n->unit);
    }
    b->failed |= text.failed;
    as_buf_finish(&text);
}

bool as_page_drawable(double lo, double hi)
{
    return lo >= 1e-60 && hi <= 1e60 && lo < hi;
}

enum as_said as_page_said(const struct as_number *n, double claimed)
{
    const double wide = 0.10; /* relative width above which a midpoint would pretend precision */
    const bool whole = strcmp(n->unit, "B") == 0 || n->unit[0] == '\0';
    if (!whole || !isfinite(n->ci.lo) || !isfinite(n->ci.hi) || !isfinite(n->value) ||
        n->ci.hi - n->ci.lo <= wide * n->value)
        return AS_SAID_VALUE;
    return isfinite(claimed) && claimed >= n->ci.lo && claimed <= n->ci.hi ? AS_SAID_CLAIMED : AS_SAID_BRACKET;
}

void as_page_range(struct as_buf *b, double low, double high, const char *unit)
{
    struct as_buf lo = AS_BUF_INIT, hi = AS_BUF_INIT;
    as_page_value(&lo, as_range_end(low, unit), unit);
    as_page_value(&hi, as_range_end(high, unit), unit);
    size_t number = strspn(as_buf_get(&lo), "0123456789.");
    bool same = strcmp(as_buf_get(&lo) + number, as_buf_get(&hi) + strspn(as_buf_get(&hi), "0123456789.")) == 0;
    as_buf_add(b, as_buf_get(&lo), same ? number : lo.len);
    as_buf_str(b, "–");
    as_buf_str(b, as_buf_get(&hi));
    b->failed |= lo.failed || hi.failed;
    as_buf_finish(&lo);
    as_buf_finish(&hi);
}

void as_page_fact_value(struct as_buf *b, const struct as_fact *f)
{
    const struct as_number n = {.value = f->value, .ci = f->ci, .unit = f->unit};
    const enum as_said said = as_page_said(&n, f->claimed);
    if (said == AS_SAID_BRACKET)
        as_page_range(b, f->ci.lo, f->ci.hi, f->unit);
    else if (said == AS_SAID_CLAIMED)
        as_page_value(b, f->claimed, f->unit);
    else
        as_page_number(b, &n);
}

void as_page_axis(struct as_buf *b, const struct as_axis *axis, const struct as_axis_value *v)
{
    as_axis_write(b, axis, v, as_buf_html);
}

void as_page_axes(struct as_buf *b, const struct as_probe *probe, const struct as_axes *axes)
{
    for (size_t i = 0; i < axes->n && i < AS_AXES_MAX; i++) {
        as_buf_str(b, i ? ", " : "");
        as_buf_html(b, axes->v[i].name);
        as_buf_char(b, ' ');
        as_page_axis(b, probe ? as_probe_axis(probe, axes->v[i].name) : NULL, &axes->v[i]);
    }
}

void as_page_slug(struct as_buf *b, const char *s)
{
    for (; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        as_buf_char(b, plain ? *s : '-');
    }
}

void as_page_run_name(struct as_buf *b, const struct as_run *run)
{
    as_buf_printf(b, "run\u00a0%lld", (long long)run->id);
}

bool as_page_has_probe(const struct as_page *p, const char *probe)
{
    for (size_t r = 0; r < p->n; r++)
        for (size_t i = 0; i < p->runs[r].cells_n; i++)
            if (strcmp(p->runs[r].cells[i].probe, probe) == 0 && as_report_is_measured(&p->runs[r].cells[i]))
                return true;
    return false;
}

const char *as_figure_find(const char *name, size_t *len)
{
    size_t n = strlen(name);
    for (const char *line = as_page_figures; *line;) {
        const char *end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) : strlen(line);
        if (size > n && line[n] == '\t' && memcmp(line, name, n) == 0) {
            *len = size - n - 1;
            return line + n + 1;
        }
        line += size + (end ? 1 : 0);
    }
    return NULL;
}

const char *as_page_local_name(const struct as_device_info *info, char out[static 24])
{
    const char *name = as_info_words(info)->shared_memory;
    snprintf(out, 24, "%.*s", (int)strcspn(name, " "), name);
    return out;
}
