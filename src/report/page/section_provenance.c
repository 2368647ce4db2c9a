/* Provenance: what was recorded with the run, as nested lists of terms. Members are shown as stored, with readable
 * names. */
#include "base/clock.h"
#include "base/text.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/sheet_header.h"

#include <jansson.h>
#include <string.h>

enum { DEPTH_MAX = 6 };

static const char *member_words(const char *name, char *out, size_t size)
{
    as_copy_text(out, size, name);
    for (char *s = out; *s; s++)
        if (*s == '_')
            *s = ' ';
    return out;
}

/* Members that count bytes are shown as sizes. */
static bool is_bytes(const char *name)
{
    static const char *const names[] = {"total",        "cgroup_limit", "page_size",   "swap",
                                        "memory_bytes", "max_alloc",    "memory_free", "available"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void json_value_text(struct as_buf *b, const char *name, const json_t *v, int depth);

static void json_object_list(struct as_buf *b, const json_t *o, int depth)
{
    const char *name;
    json_t *v;
    char words[64];
    as_html_open(b, "dl", NULL);
    json_object_foreach((json_t *)o, name, v)
    {
        as_html_term(b, member_words(name, words, sizeof words));
        json_value_text(b, name, v, depth + 1);
        as_html_term_end(b);
    }
    as_html_close(b, "dl");
}

static void json_value_text(struct as_buf *b, const char *name, const json_t *v, int depth)
{
    if (depth > DEPTH_MAX) {
        as_buf_str(b, "…");
    } else if (json_is_object(v)) {
        json_object_list(b, v, depth);
    } else if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            as_buf_str(b, i ? ", " : "");
            json_value_text(b, name, json_array_get(v, i), depth + 1);
        }
    } else if (json_is_string(v)) {
        as_buf_html(b, json_string_value(v));
    } else if (json_is_integer(v) && is_bytes(name) && json_integer_value(v) >= 0) {
        as_format_size(b, (uint64_t)json_integer_value(v));
    } else if (json_is_integer(v)) {
        as_buf_printf(b, "%lld", (long long)json_integer_value(v));
    } else if (json_is_real(v)) {
        as_format_number(b, json_real_value(v), 3);
    } else {
        as_buf_str(b, json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "–");
    }
}

static void text_term(struct as_buf *b, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    as_html_term(b, name);
    as_buf_html(b, text);
    as_html_term_end(b);
}

static void term_printf(struct as_buf *b, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void term_printf(struct as_buf *b, const char *name, const char *fmt, ...)
{
    va_list ap;
    as_html_term(b, name);
    va_start(ap, fmt);
    as_buf_vprintf(b, fmt, ap);
    va_end(ap);
    as_html_term_end(b);
}

static void run_terms(struct as_buf *b, const struct as_run *run)
{
    char when[32];
    as_html_open(b, "dl", NULL);
    text_term(b, "identity", run->uuid);
    as_format_wall(run->started_at, when, sizeof when);
    text_term(b, "started", when);
    if (run->ended_at > 0) {
        as_format_wall(run->ended_at, when, sizeof when);
        text_term(b, "ended", when);
    }
    text_term(b, "state", as_run_state_word(run->state));
    text_term(b, "suite", run->suite);
    if (run->command && run->command[0]) {
        as_html_term(b, "command");
        as_html_text(b, "code", NULL, run->command);
        as_html_term_end(b);
    }
    term_printf(b, "seed", "%llu", (unsigned long long)run->seed);
    if (run->precision > 0)
        term_printf(b, "requested precision", "%.3g%%", 100 * run->precision);
    if (run->budget_s > 0) {
        as_html_term(b, "time budget");
        as_format_duration(b, run->budget_s);
        as_html_term_end(b);
    }
    if (run->trials > 0)
        term_printf(b, "trials per measurement", "%d", run->trials);
    text_term(b, "measured again alone", run->isolate ? "yes" : "");
    text_term(b, "assay", run->tool_version);
    text_term(b, "commit", run->tool_commit);
    as_html_close(b, "dl");
}

static void size_term(struct as_buf *b, const char *name, uint64_t bytes)
{
    if (!bytes)
        return;
    as_html_term(b, name);
    as_format_size(b, bytes);
    as_html_term_end(b);
}

/* "Infinity Cache: 256 MiB (known from the KFD topology)" */
static void memory_side_term(struct as_buf *b, const struct as_device_info *d)
{
    const struct as_cache *c = as_info_memory_side(d);
    char label[24];
    if (!c)
        return;
    as_cache_label(c, label);
    as_html_term(b, label);
    as_format_size(b, c->size);
    as_html_printf(b, " (known from %s)", as_cache_source_text(c));
    as_html_term_end(b);
}

static void count_term(struct as_buf *b, const char *name, unsigned n)
{
    if (n)
        term_printf(b, name, "%u", n);
}

static void number_term(struct as_buf *b, const char *name, double v, const char *unit)
{
    if (!(v > 0))
        return;
    as_html_term(b, name);
    as_page_value(b, v, unit);
    as_html_term_end(b);
}

static void allocators_term(struct as_buf *b, const struct as_device_info *d)
{
    size_t n = d->allocators_n < AS_ALLOCATORS_MAX ? d->allocators_n : AS_ALLOCATORS_MAX;
    if (n == 0)
        return;
    as_html_term(b, "allocators");
    as_html_open(b, "ul", NULL);
    for (size_t i = 0; i < n; i++) {
        as_html_open(b, "li", NULL);
        as_buf_html(b, d->allocators[i].name);
        if (d->allocators[i].why_not[0]) {
            as_buf_char(b, ' ');
            as_html_open(b, "span", "of");
            as_buf_str(b, "not usable: ");
            as_buf_html(b, d->allocators[i].why_not);
            as_html_close(b, "span");
        }
    }
    as_html_close(b, "ul");
    as_html_term_end(b);
}

/* The sensor, the cost of a reading, and missing values. */
static void sensor_terms(struct as_buf *b, const struct as_device_info *d)
{
    if (d->sensor[0]) {
        as_html_term(b, "sensor");
        as_buf_html(b, d->sensor);
        if (d->sensor_read_s > 0) {
            as_buf_str(b, ", a reading takes ");
            as_page_value(b, 1e9 * d->sensor_read_s, "ns");
        }
        as_html_term_end(b);
    }
    text_term(b, d->sensor[0] ? "not reported" : "no sensor", d->sensor_why);
    text_term(b, "counters during trials", d->demand);
    text_term(b, "counters not read", d->demand_why);
    text_term(b, "state before the run", d->unfit);
    text_term(b, "limits of its numbers", d->caveats);
}

static void cycles_term(struct as_buf *b, const struct as_device_info *d)
{
    char text[120];
    if (!(d->capabilities & AS_CAP_SOURCE) || (d->capabilities & AS_CAP_CYCLES))
        return;
    if (d->unit_fma)
        snprintf(text, sizeof text,
                 "no counter in kernels; by calibration, with %u f32 fused multiply-adds per %s and cycle as published",
                 d->unit_fma, as_info_words(d)->compute_unit);
    const char *host = "no counter in kernels; by calibration, one dependent addition per cycle";
    const char *found = "no counter in kernels; by dependent chains that take whole cycles, else by the reported "
                        "clock: see the notes of a measurement";
    text_term(b, "cycles", d->unit_fma ? text : d->is_host_cpu ? host : found);
}

static void device_terms(struct as_buf *b, const struct as_report_run *rr, const struct as_device_info *d)
{
    as_html_open(b, "h4", NULL);
    as_html_text(b, "code", NULL, d->id);
    as_buf_char(b, ' ');
    as_buf_html(b, as_sheet_device_name(rr, d->id));
    as_html_close(b, "h4");
    as_html_open(b, "dl", NULL);
    text_term(b, "reported name", d->name);
    text_term(b, "vendor", d->vendor);
    text_term(b, "driver", d->driver);
    text_term(b, "bus", d->bus_id);
    text_term(b, "UUID", d->uuid);
    count_term(b, "units", d->compute_units);
    count_term(b, "threads", d->threads);
    number_term(b, "reported clock", d->clock_max_hz, "Hz");
    cycles_term(b, d);
    number_term(b, "reported peak bandwidth", d->peak_bandwidth / 1e9, "GB/s");
    size_term(b, "memory", d->memory_bytes);
    size_term(b, "memory free at the start", d->memory_free);
    size_term(b, "page", d->page_size);
    text_term(b, "memory is the host's", d->is_host_memory ? "yes" : "no");
    memory_side_term(b, d);
    sensor_terms(b, d);
    allocators_term(b, d);
    as_html_close(b, "dl");
}

void as_page_provenance(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_html_fold(b, "provenance", "Provenance",
                 "What was recorded with the numbers: the request, the tool and the machine.");
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        as_html_open(b, "h3", NULL);
        if (p->n > 1)
            as_page_run_name(b, &rr->run);
        else
            as_buf_str(b, "Run");
        as_html_close(b, "h3");
        as_html_open(b, "div", "prov");
        run_terms(b, &rr->run);
        json_t *root = rr->run.provenance ? json_loads(rr->run.provenance, 0, NULL) : NULL;
        if (json_is_object(root))
            json_object_list(b, root, 0);
        else
            as_html_paragraph(b, "note", "No record of the host was stored.");
        json_decref(root);
        for (size_t i = 0; i < rr->devices_n; i++)
            device_terms(b, rr, &rr->devices[i]);
        as_html_close(b, "div");
    }
    as_html_fold_end(b);
}
