/* Provenance: what was recorded with the run, as nested lists of terms. Members are shown as stored, with readable
 * names. */
#include "base/clock.h"
#include "base/text.h"
#include "report/page.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 6 };

static void member_name(struct as_buf *b, const char *name)
{
    char plain[64];
    as_copy_text(plain, sizeof plain, name);
    for (char *s = plain; *s; s++)
        if (*s == '_')
            *s = ' ';
    as_buf_html(b, plain);
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

static void value(struct as_buf *b, const char *name, const json_t *v, int depth);

static void object(struct as_buf *b, const json_t *o, int depth)
{
    const char *name;
    json_t *v;
    as_buf_str(b, "<dl>");
    json_object_foreach((json_t *)o, name, v)
    {
        as_buf_str(b, "<div><dt>");
        member_name(b, name);
        as_buf_str(b, "</dt><dd>");
        value(b, name, v, depth + 1);
        as_buf_str(b, "</dd></div>");
    }
    as_buf_str(b, "</dl>");
}

static void value(struct as_buf *b, const char *name, const json_t *v, int depth)
{
    if (depth > DEPTH_MAX) {
        as_buf_str(b, "…");
    } else if (json_is_object(v)) {
        object(b, v, depth);
    } else if (json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++) {
            as_buf_str(b, i ? ", " : "");
            value(b, name, json_array_get(v, i), depth + 1);
        }
    } else if (json_is_string(v)) {
        as_buf_html(b, json_string_value(v));
    } else if (json_is_integer(v) && is_bytes(name) && json_integer_value(v) >= 0) {
        as_format_size(b, (uint64_t)json_integer_value(v));
    } else if (json_is_integer(v)) {
        as_buf_printf(b, "%lld", (long long)json_integer_value(v));
    } else if (json_is_real(v)) {
        as_buf_printf(b, "%.6g", json_real_value(v));
    } else {
        as_buf_str(b, json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "–");
    }
}

static void pair(struct as_buf *b, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    as_buf_printf(b, "<div><dt>%s</dt><dd>", name);
    as_buf_html(b, text);
    as_buf_str(b, "</dd></div>");
}

static void settings(struct as_page *p, const struct as_run *run)
{
    struct as_buf *b = p->out;
    char when[32];
    as_buf_str(b, "<dl>");
    pair(b, "identity", run->uuid);
    as_format_wall(run->started_at, when, sizeof when);
    pair(b, "started", when);
    if (run->ended_at > 0) {
        as_format_wall(run->ended_at, when, sizeof when);
        pair(b, "ended", when);
    }
    pair(b, "state", as_run_state_word(run->state));
    pair(b, "suite", run->suite);
    if (run->command && run->command[0]) {
        as_buf_str(b, "<div><dt>command</dt><dd><code>");
        as_buf_html(b, run->command);
        as_buf_str(b, "</code></dd></div>");
    }
    as_buf_printf(b, "<div><dt>seed</dt><dd>%llu</dd></div>", (unsigned long long)run->seed);
    if (run->precision > 0) {
        as_buf_str(b, "<div><dt>requested precision</dt><dd>");
        as_buf_printf(b, "%.3g%%</dd></div>", 100 * run->precision);
    }
    if (run->budget_s > 0) {
        as_buf_str(b, "<div><dt>time budget</dt><dd>");
        as_format_duration(b, run->budget_s);
        as_buf_str(b, "</dd></div>");
    }
    if (run->trials > 0)
        as_buf_printf(b, "<div><dt>trials per cell</dt><dd>%d</dd></div>", run->trials);
    pair(b, "measured again alone", run->isolate ? "yes" : "");
    pair(b, "assay", run->tool_version);
    pair(b, "commit", run->tool_commit);
    as_buf_str(b, "</dl>\n");
}

static void size_pair(struct as_buf *b, const char *name, uint64_t bytes)
{
    if (!bytes)
        return;
    as_buf_printf(b, "<div><dt>%s</dt><dd>", name);
    as_format_size(b, bytes);
    as_buf_str(b, "</dd></div>");
}

/* "Infinity Cache: 256 MiB (known from the KFD topology)" */
static void memory_side(struct as_buf *b, const struct as_device_info *d)
{
    const struct as_cache *c = as_info_memory_side(d);
    char label[24];
    if (!c)
        return;
    as_cache_label(c, label);
    as_buf_str(b, "<div><dt>");
    as_buf_html(b, label);
    as_buf_str(b, "</dt><dd>");
    as_format_size(b, c->size);
    as_buf_str(b, " (known from ");
    as_buf_html(b, as_cache_source_text(c));
    as_buf_str(b, ")</dd></div>");
}

static void count_pair(struct as_buf *b, const char *name, unsigned n)
{
    if (n)
        as_buf_printf(b, "<div><dt>%s</dt><dd>%u</dd></div>", name, n);
}

static void number_pair(struct as_buf *b, const char *name, double v, const char *unit)
{
    if (!(v > 0))
        return;
    as_buf_printf(b, "<div><dt>%s</dt><dd>", name);
    as_page_value(b, v, unit);
    as_buf_str(b, "</dd></div>");
}

static void allocators(struct as_buf *b, const struct as_device_info *d)
{
    size_t n = d->allocators_n < AS_ALLOCATORS_MAX ? d->allocators_n : AS_ALLOCATORS_MAX;
    if (n == 0)
        return;
    as_buf_str(b, "<div><dt>allocators</dt><dd><ul>");
    for (size_t i = 0; i < n; i++) {
        as_buf_str(b, "<li>");
        as_buf_html(b, d->allocators[i].name);
        if (d->allocators[i].why_not[0]) {
            as_buf_str(b, " <span class=\"of\">not usable: ");
            as_buf_html(b, d->allocators[i].why_not);
            as_buf_str(b, "</span>");
        }
    }
    as_buf_str(b, "</ul></dd></div>");
}

/* The sensor, the cost of a reading, and missing values. */
static void sensor(struct as_buf *b, const struct as_device_info *d)
{
    if (d->sensor[0]) {
        as_buf_str(b, "<div><dt>sensor</dt><dd>");
        as_buf_html(b, d->sensor);
        if (d->sensor_read_s > 0) {
            as_buf_str(b, ", a reading takes ");
            as_page_value(b, 1e9 * d->sensor_read_s, "ns");
        }
        as_buf_str(b, "</dd></div>");
    }
    pair(b, d->sensor[0] ? "not reported" : "no sensor", d->sensor_why);
    pair(b, "counters during trials", d->demand);
    pair(b, "counters not read", d->demand_why);
    pair(b, "state before the run", d->unfit);
    pair(b, "limits of its numbers", d->caveats);
}

static void cycles(struct as_buf *b, const struct as_device_info *d)
{
    char text[120];
    if (!(d->capabilities & AS_CAP_SOURCE) || (d->capabilities & AS_CAP_CYCLES))
        return;
    if (d->unit_fma)
        snprintf(text, sizeof text,
                 "no counter in kernels; by calibration, with %u f32 fused multiply-adds per %s and cycle as published",
                 d->unit_fma, as_info_words(d)->compute_unit);
    const char *host = "no counter in kernels; by calibration, one dependent addition per cycle";
    pair(b, "cycles", d->unit_fma ? text : d->is_host_cpu ? host : "no counter in kernels");
}

static void device(struct as_buf *b, const struct as_device_info *d)
{
    as_buf_str(b, "<h4><code>");
    as_buf_html(b, d->id);
    as_buf_str(b, "</code> ");
    as_buf_html(b, d->name);
    as_buf_str(b, "</h4>\n<dl>");
    pair(b, "vendor", d->vendor);
    pair(b, "driver", d->driver);
    pair(b, "bus", d->bus_id);
    pair(b, "UUID", d->uuid);
    count_pair(b, "units", d->compute_units);
    count_pair(b, "threads", d->threads);
    number_pair(b, "reported clock", d->clock_max_hz, "Hz");
    cycles(b, d);
    number_pair(b, "reported peak bandwidth", d->peak_bandwidth / 1e9, "GB/s");
    size_pair(b, "memory", d->memory_bytes);
    size_pair(b, "memory free at the start", d->memory_free);
    size_pair(b, "page", d->page_size);
    pair(b, "memory is the host's", d->is_host_memory ? "yes" : "no");
    memory_side(b, d);
    sensor(b, d);
    allocators(b, d);
    as_buf_str(b, "</dl>\n");
}

void as_page_provenance(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_buf_str(b, "<section id=\"provenance\" aria-labelledby=\"prov-h\"><h2 id=\"prov-h\">Provenance</h2>\n"
                  "<p class=\"lead\">What was recorded with the numbers: the request, the tool and the machine.</p>\n");
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        as_buf_str(b, "<h3>");
        if (p->n > 1)
            as_page_run_name(b, &rr->run);
        else
            as_buf_str(b, "Run");
        as_buf_str(b, "</h3>\n<div class=\"prov\">");
        settings(p, &rr->run);
        json_t *root = rr->run.provenance ? json_loads(rr->run.provenance, 0, NULL) : NULL;
        if (json_is_object(root))
            object(b, root, 0);
        else
            as_buf_str(b, "<p class=\"note\">No record of the host was stored.</p>");
        json_decref(root);
        for (size_t i = 0; i < rr->devices_n; i++)
            device(b, &rr->devices[i]);
        as_buf_str(b, "</div>\n");
    }
    as_buf_str(b, "</section>\n");
}
