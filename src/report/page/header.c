/* The title and the head of the page: what machine it is about, and its runs. */
#include "base/clock.h"
#include "base/text.h"
#include "report/map/map.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "report/sheet/sheet_header.h"

#include <math.h>
#include <string.h>

bool as_page_has_charts(void)
{
    return as_page_vega_size > 1 && as_page_figures_size > 1;
}

bool as_page_is_of_cpu(const struct as_device_info *info)
{
    return info->is_host_cpu || strcmp(info->backend, "cpu") == 0;
}

static const char *header_name(const struct as_report_run *rr, size_t device)
{
    return as_sheet_device_name(rr, rr->devices[device].id);
}

/* Is it a device of that name that the map draws: one piece of hardware behind several APIs counts once? */
static bool header_is_named(const struct as_report_run *rr, size_t device, bool cpu, const char *name)
{
    return as_hardware_representative(rr, device) == device && as_page_is_of_cpu(&rr->devices[device]) == cpu &&
           strcmp(header_name(rr, device), name) == 0;
}

/* "2 × NVIDIA H100 80GB HBM3, AMD EPYC 9005 (Zen 5)": GPUs before the CPU; the host's name where no device has one. */
static void header_machine(const struct as_report_run *rr, struct as_buf *out)
{
    for (int cpu = 0; cpu < 2; cpu++)
        for (size_t i = 0; i < rr->devices_n; i++) {
            const char *name = header_name(rr, i);
            size_t n = 0, first = rr->devices_n;
            for (size_t k = rr->devices_n; k > 0; k--)
                if (header_is_named(rr, k - 1, cpu, name)) {
                    first = k - 1;
                    n++;
                }
            if (first != i || !name[0])
                continue;
            as_buf_str(out, out->len ? ", " : "");
            if (n > 1)
                as_buf_printf(out, "%zu × ", n);
            as_buf_str(out, name);
        }
    if (!out->len)
        as_buf_str(out, rr->run.host[0] ? rr->run.host : "This machine");
}

/* The machines of all runs, each once: "NVIDIA H200; NVIDIA H100 80GB HBM3". */
static void header_machines(const struct as_page *p, struct as_buf *out)
{
    for (size_t r = 0; r < p->n; r++) {
        struct as_buf own = AS_BUF_INIT, other = AS_BUF_INIT;
        bool before = false;
        header_machine(&p->runs[r], &own);
        for (size_t e = 0; e < r && !before; e++) {
            as_buf_clear(&other);
            header_machine(&p->runs[e], &other);
            before = strcmp(as_buf_get(&own), as_buf_get(&other)) == 0;
        }
        if (!before)
            as_buf_printf(out, "%s%s", out->len ? "; " : "", as_buf_get(&own));
        as_buf_finish(&own);
        as_buf_finish(&other);
    }
}

void as_page_title(struct as_page *p)
{
    struct as_buf machines = AS_BUF_INIT;
    header_machines(p, &machines);
    as_html_open(p->out, "title", NULL);
    as_buf_str(p->out, "assay");
    if (p->n) {
        as_buf_str(p->out, ": ");
        as_buf_html(p->out, as_buf_get(&machines));
        as_buf_str(p->out, p->n == 1 ? " (run " : " (runs ");
        for (size_t r = 0; r < p->n && r < 4; r++)
            as_buf_printf(p->out, "%s%lld", r ? ", " : "", (long long)p->runs[r].run.id);
        as_buf_str(p->out, p->n > 4 ? ", ...)" : ")");
    }
    as_html_close(p->out, "title");
    as_buf_finish(&machines);
}

static void devices_term(struct as_buf *b, const struct as_report_run *rr)
{
    struct as_buf machine = AS_BUF_INIT;
    header_machine(rr, &machine);
    as_html_term(b, "Devices");
    as_buf_html(b, as_buf_get(&machine));
    as_html_term_end(b);
    as_buf_finish(&machine);
}

/* When, how long, and whether to its end. */
static void measured_term(struct as_buf *b, const struct as_run *run)
{
    char when[32];
    as_format_wall(run->started_at, when, sizeof when);
    if (strlen(when) == 20) { /* 2026-11-21T09:05:00Z -> 2026-11-21 09:05 */
        when[10] = ' ';
        when[16] = '\0';
    }
    as_html_term(b, "Measured");
    as_html_open(b, "time", NULL);
    as_buf_html(b, when);
    as_buf_str(b, " UTC");
    as_html_close(b, "time");
    const double length = as_run_length(run);
    if (isfinite(length)) {
        as_buf_str(b, ", ");
        as_format_duration(b, length);
    }
    if (run->state != AS_RUN_COMPLETE) {
        as_buf_char(b, ' ');
        as_html_text(b, "strong", "warn", as_run_state_word(run->state));
    }
    as_html_term_end(b);
}

static void run_line(struct as_page *p, const struct as_report_run *rr)
{
    struct as_buf *b = p->out;
    const struct as_run *run = &rr->run;
    size_t measured = 0, rejected = 0;
    for (size_t i = 0; i < rr->cells_n; i++) {
        measured += as_report_is_measured(&rr->cells[i]);
        rejected += rr->cells[i].status == AS_CELL_REJECTED;
    }
    as_html_open(b, "dl", "run");
    as_html_term(b, "Run");
    as_buf_printf(b, "%lld", (long long)run->id);
    as_html_term_end(b);
    as_html_term(b, "Host");
    as_buf_html(b, run->host[0] ? run->host : "unknown");
    as_html_term_end(b);
    if (p->n > 1)
        devices_term(b, rr);
    as_html_term(b, "Suite");
    as_buf_html(b, run->suite);
    as_html_term_end(b);
    measured_term(b, run);
    as_html_term(b, "Measurements");
    as_buf_printf(b, "%zu of %zu succeeded", measured, rr->cells_n);
    if (rejected) {
        as_buf_str(b, ", ");
        as_html_link(b, "gates", "");
        as_buf_printf(b, "%zu rejected", rejected);
        as_html_close(b, "a");
    }
    as_html_term_end(b);
    as_html_close(b, "dl");
    if (rr->against_earlier)
        as_html_paragraphf(b, "note", "%s.", rr->against_earlier);
}

enum { RUNS_OPEN = 3 };

void as_page_header(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_html_open(b, "header", NULL);
    as_html_paragraph(b, "mark", "assay");
    as_html_open(b, "h1", NULL);
    if (p->n == 0) {
        as_buf_str(b, "No run");
    } else {
        struct as_buf machines = AS_BUF_INIT;
        header_machines(p, &machines);
        as_buf_html(b, as_buf_get(&machines));
        as_buf_finish(&machines);
    }
    as_html_close(b, "h1");
    const bool folded = p->n > RUNS_OPEN;
    if (folded)
        as_html_details(b, "more", "%zu runs", p->n);
    for (size_t r = 0; r < p->n; r++)
        run_line(p, &p->runs[r]);
    if (folded)
        as_html_close(b, "details");
    if (p->n && p->runs[0].renumbered)
        as_html_paragraph(b, "note",
                          "The runs come from several stores; runs and measurements are renumbered on this page.");
    if (!as_page_has_charts())
        as_html_paragraph(
            b, "note",
            "This build of assay has no figures; its tables hold the same numbers. To have figures, install "
            "Node.js and npm, run `npm ci` in `charts/`, and build assay again.");
    as_html_close(b, "header");
}
