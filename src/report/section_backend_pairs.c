/* The page's comparison of two backends on the same hardware. */
#include "report/backend_pairs.h"
#include "report/page.h"

#include <math.h>
#include <string.h>

/* Allocators are named by their APIs; different ones are shown with each value. */
static void axes(struct as_buf *b, const struct as_backend_pair *t)
{
    uint32_t skip = 0;
    for (size_t i = 0; i < t->a->axes.n && i < AS_AXES_MAX; i++)
        if (t->allocators_differ && strcmp(t->a->axes.v[i].name, "allocator") == 0)
            skip |= 1u << i;
    as_page_axes(b, as_probe_find(t->a->probe), &t->a->axes, skip);
}

static void value(struct as_buf *b, const struct as_backend_pair *t, const struct as_cell *c)
{
    as_buf_printf(b, "<td><a href=\"#c%lld\">", (long long)c->id);
    as_page_cell_value(b, c);
    as_buf_str(b, "</a>");
    if (t->allocators_differ && as_axes_get(&c->axes, "allocator")) {
        as_buf_str(b, "<small>");
        as_buf_html(b, as_axes_text(&c->axes, "allocator"));
        as_buf_str(b, "</small>");
    }
}

static void row(struct as_buf *b, const struct as_backend_pair *t)
{
    static const char *const classes[] = {"", "better", "worse", ""};
    const struct as_comparison *c = &t->comparison;
    as_buf_str(b, "<tr><th scope=\"row\">");
    as_buf_html(b, t->a->probe);
    as_buf_str(b, "<td class=\"l\">");
    axes(b, t);
    value(b, t, t->a);
    value(b, t, t->b);
    as_buf_str(b, "<td>");
    as_page_value(b, c->ratio, "x");
    as_buf_str(b, "<td>");
    as_page_interval(b, c->ratio, c->ci, "x");
    as_buf_printf(b, "<td class=\"l %s\">%s\n", classes[c->verdict], as_verdict_word(c->verdict));
}

static void table(struct as_page *p, const struct as_report_run *rr, const struct as_backend_pair *backend_pairs,
                  size_t n)
{
    struct as_buf *b = p->out;
    const struct as_device_info *one = as_report_device(rr, backend_pairs->a->device),
                                *other = as_report_device(rr, backend_pairs->b->device);
    char how[64] = "";
    as_buf_str(b, "<h3><code>");
    as_buf_html(b, backend_pairs->a->device);
    as_buf_str(b, "</code> and <code>");
    as_buf_html(b, backend_pairs->b->device);
    as_buf_str(b, "</code>");
    if (p->n > 1) {
        as_buf_str(b, " <span class=\"of\">");
        as_page_run_name(b, &rr->run);
        as_buf_str(b, "</span>");
    }
    as_buf_str(b, "</h3>\n<p>");
    if (one && other && as_is_same_hardware(one, other, how, sizeof how)) {
        as_buf_html(b, how);
        as_buf_str(b, ". ");
    }
    as_backend_pairs_summary(b, backend_pairs, n);
    as_buf_str(b, ".</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Two backends\"><table "
                  "class=\"twins\"><thead><tr><th scope=\"col\">probe<th scope=\"col\" class=\"l\">cell<th "
                  "scope=\"col\">");
    as_buf_html(b, backend_pairs->a->device);
    as_buf_str(b, "<th scope=\"col\">");
    as_buf_html(b, backend_pairs->b->device);
    as_buf_str(b, "<th scope=\"col\">ratio<th scope=\"col\">95% interval<th scope=\"col\" class=\"l\">");
    as_buf_html(b, backend_pairs->b->device);
    as_buf_str(b, " is\n<tbody>");
    for (size_t i = 0; i < n; i++)
        row(b, &backend_pairs[i]);
    as_buf_str(b, "</table></div>\n");
}

bool as_page_has_backend_pairs(const struct as_page *p)
{
    for (size_t r = 0; r < p->n; r++)
        if (p->runs[r].backend_pairs_n)
            return true;
    return false;
}

void as_page_backend_pairs(struct as_page *p)
{
    if (!as_page_has_backend_pairs(p))
        return;
    as_buf_str(p->out,
               "<section id=\"twins\" aria-labelledby=\"twins-h\"><h2 id=\"twins-h\">Two backends, one "
               "device</h2>\n<p class=\"lead\">The same hardware, driven by two backends: equal cells, "
               "compared from their samples. A difference comes from the backend, its compiler or its driver, "
               "not from the hardware. Where the two have no allocator in common, the best time or rate of each "
               "is compared.</p>\n");
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        for (size_t i = 0, end; i < rr->backend_pairs_n; i = end) {
            end = as_backend_pairs_end(rr, i);
            table(p, rr, &rr->backend_pairs[i], end - i);
        }
    }
    as_buf_str(p->out, "</section>\n");
}
