/* The page's comparison of two backends on the same hardware. */
#include "report/backends/backend_pairs.h"
#include "report/page/markup.h"
#include "report/page/page.h"

static void backend_pairs_write(struct as_page *p, const struct as_report_run *rr, const struct as_backend_pair *pairs,
                                size_t n)
{
    struct as_buf *b = p->out;
    const struct as_device_info *one = as_report_device(rr, pairs->a->device),
                                *other = as_report_device(rr, pairs->b->device);
    char how[64] = "";
    struct as_view_table table;
    as_html_open(b, "h3", NULL);
    as_html_text(b, "code", NULL, pairs->a->device);
    as_buf_str(b, " and ");
    as_html_text(b, "code", NULL, pairs->b->device);
    if (p->n > 1)
        as_html_of_run(b, &rr->run);
    as_html_close(b, "h3");
    as_html_open(b, "p", NULL);
    if (one && other && as_is_same_hardware(one, other, how, sizeof how)) {
        as_buf_html(b, how);
        as_buf_str(b, ". ");
    }
    as_backend_pairs_summary(b, pairs, n);
    as_buf_char(b, '.');
    as_html_close(b, "p");
    as_backend_pairs_view(pairs, n, &table);
    as_view_page(&table, "twins", "Two backends", b);
    as_view_finish(&table);
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
    as_html_fold(
        p->out, "twins", "Two backends, one device",
        "The same hardware, driven by two backends: the same measurements, compared from their samples. A difference "
        "comes from the backend, its compiler or its driver, not from the hardware. Where the two have no "
        "allocator in common, the best time or rate of each is compared.");
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        for (size_t i = 0, end; i < rr->backend_pairs_n; i = end) {
            end = as_backend_pairs_end(rr, i);
            backend_pairs_write(p, rr, &rr->backend_pairs[i], end - i);
        }
    }
    as_html_fold_end(p->out);
}
