#include "base/text.h"
#include "report/map/map.h"
#include "report/model/access.h"
#include "report/model/pairs.h"
#include "report/model/same_hardware.h"
#include "report/page/markup.h"
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

/* ---- links between the devices of a run ---- */

/* device: NULL for the host, of whose accesses there are none. */
static const struct as_fact *one_way(const struct as_report_run *rr, const struct as_device_info *device,
                                     const struct as_device_info *other, const char *what)
{
    if (!device || (other && strcmp(device->backend, other->backend) != 0))
        return NULL;
    return as_map_link_fact(rr, device->id, other ? as_map_number_of(other) : "host-0", what);
}

static void link_cell(struct as_buf *b, const struct as_fact *gbs, const struct as_fact *latency)
{
    as_html_open(b, "td", NULL);
    if (!gbs && !latency) {
        as_buf_str(b, "not measured");
        return;
    }
    if (gbs)
        as_page_fact_value(b, gbs);
    if (latency) {
        as_html_open(b, "small", NULL);
        as_page_fact_value(b, latency);
        as_html_close(b, "small");
    }
}

/* The data sheet's numbers of the way to the host; where the run has none, the facts about its link to the host. */
static void host_cell(struct as_buf *b, const struct as_report_run *rr, const struct as_device_info *from)
{
    const struct as_quantity_subject s = as_report_subject(rr, from->id);
    struct as_quantity_value gbs, load;
    const bool has_gbs = as_quantity_get(&s, "host_link.from_device", &gbs),
               has_load = as_quantity_get(&s, "host_link.load", &load);
    if (!has_gbs) {
        link_cell(b, one_way(rr, from, NULL, "to"), one_way(rr, from, NULL, "load"));
        return;
    }
    as_html_cite(b, "td", NULL, from->id, gbs.of, gbs.value);
    struct as_number n = as_quantity_number(&gbs);
    as_page_number(b, &n);
    if (!has_load)
        return;
    as_html_cite(b, "small", NULL, from->id, load.of, load.value);
    n = as_quantity_number(&load);
    as_page_number(b, &n);
    as_html_close(b, "small");
}

/* NULL is the host, whose own accesses these probes do not measure. */
static void link_row(struct as_page *p, const struct as_report_run *rr, const struct as_device_info *from)
{
    struct as_buf *b = p->out;
    as_html_row(b, NULL, from ? from->id : "host");
    if (!from)
        as_html_cell(b, NULL, "–");
    else
        host_cell(b, rr, from);
    for (size_t i = 0; i < rr->devices_n; i++) {
        const struct as_device_info *to = &rr->devices[i];
        if (!as_hardware_has_own_memory(to))
            continue;
        if (to == from) {
            as_html_cell(b, NULL, "–");
            continue;
        }
        const struct as_fact *gbs = one_way(rr, from, to, "to");
        gbs = gbs ? gbs : one_way(rr, to, from, "from");
        link_cell(b, gbs, one_way(rr, from, to, "load"));
    }
    as_buf_char(b, '\n');
}

/* Links between more devices than the map draws. */
static void link_table(struct as_page *p, const struct as_report_run *rr)
{
    struct as_buf *b = p->out;
    size_t devices = 0, links = 0;
    for (size_t i = 0; i < rr->devices_n; i++)
        devices += as_hardware_has_own_memory(&rr->devices[i]);
    for (size_t i = 0; i < rr->facts_n; i++)
        links += strncmp(rr->facts[i].object, "link:", 5) == 0;
    if (devices <= AS_MAP_ALIKE_MAX || links == 0)
        return;
    as_html_tag(b, "div", "class='scroll' tabindex='0' role='region' aria-label='Links'");
    as_html_open(b, "table", "figures");
    as_html_text(b, "caption", NULL,
                 "Links: bandwidth of the fastest copy from the row's memory to the column's, and below it the latency "
                 "of a load by the row's device from there");
    as_html_heads(b);
    as_html_head(b, "from");
    as_html_head(b, "to host");
    for (size_t i = 0; i < rr->devices_n; i++) {
        if (!as_hardware_has_own_memory(&rr->devices[i]))
            continue;
        as_html_head(b, "to ");
        as_buf_html(b, rr->devices[i].id);
    }
    as_buf_char(b, '\n');
    as_html_body(b);
    link_row(p, rr, NULL);
    for (size_t i = 0; i < rr->devices_n; i++)
        if (as_hardware_has_own_memory(&rr->devices[i]))
            link_row(p, rr, &rr->devices[i]);
    as_html_table_end(b);
}

/* ---- agents and memories ---- */

static void access_table(struct as_page *p, const struct as_report_run *rr)
{
    struct as_view_table table;
    if (!as_access_any(rr))
        return;
    as_access_view(rr, &table);
    as_html_details(p->out, "more", "Who reaches which memory");
    as_html_region(p->out, "scroll", "figures", "Who reaches which memory");
    as_html_text(p->out, "caption", NULL, as_access_caption);
    as_view_page_rows(&table, p->out);
    as_html_table_end(p->out);
    as_html_close(p->out, "details");
    as_view_finish(&table);
}

static void pairs_table(struct as_page *p, const struct as_report_run *rr)
{
    struct as_view_table table;
    struct as_buf line = AS_BUF_INIT;
    if (!as_pairs_any(rr))
        return;
    as_pairs_summary(rr, &line);
    as_pairs_view(rr, &table);
    as_html_details(p->out, "more", "%s", line.len ? as_buf_get(&line) : "Pairs of GPUs");
    p->out->failed |= line.failed;
    as_buf_finish(&line);
    as_html_region(p->out, "scroll", "figures", "Pairs of GPUs");
    as_html_text(p->out, "caption", NULL, as_pairs_caption);
    as_view_page_rows(&table, p->out);
    as_html_table_end(p->out);
    as_html_close(p->out, "details");
    as_view_finish(&table);
}

/* ---- devices that are alike, of which the map draws the first only ---- */

static void alike_row(struct as_page *p, const struct as_report_run *rr, const struct as_device_info *info)
{
    static const struct {
        int row;
        enum as_map_kind kind;
    } columns[] = {{AS_MAP_CORE, AS_MAP_HOLDS},
                   {2, AS_MAP_LATENCY},
                   {2, AS_MAP_BANDWIDTH},
                   {AS_MAP_MEMORY, AS_MAP_LATENCY},
                   {AS_MAP_MEMORY, AS_MAP_BANDWIDTH}};
    struct as_map_numbers n;
    as_map_numbers_find(rr, info, &n);
    as_html_row(p->out, NULL, info->id);
    as_html_cell(p->out, NULL, info->bus_id);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct as_map_number *number = &n.row[columns[i].row][columns[i].kind];
        if (number->of)
            as_html_cite(p->out, "td", NULL, info->id, number->of, number->value);
        else
            as_html_open(p->out, "td", NULL);
        as_map_number_text(p->out, number);
    }
    as_buf_char(p->out, '\n');
}

/* "opencl:0 drives the same hardware as cuda:0." */
static void same_hardware_lines(struct as_page *p, const struct as_report_run *rr)
{
    for (size_t i = 0; i < rr->devices_n; i++) {
        const size_t drawn = as_hardware_representative(rr, i);
        if (drawn == i)
            continue;
        as_html_open(p->out, "p", "meta");
        as_html_text(p->out, "code", NULL, rr->devices[i].id);
        as_buf_str(p->out, " drives the same hardware as ");
        as_html_text(p->out, "code", NULL, rr->devices[drawn].id);
        as_buf_str(p->out, ".");
        as_html_close(p->out, "p");
    }
}

static void alike_table(struct as_page *p, const struct as_report_run *rr)
{
    struct as_buf *b = p->out;
    size_t most = 0;
    for (size_t i = 0; i < rr->devices_n; i++) {
        size_t before = as_map_alike_before(rr, i);
        most = before > most ? before : most;
    }
    if (most < AS_MAP_ALIKE_MAX)
        return;
    static const char *const heads[] = {
        "device", "bus", "clock", "L2 latency", "L2 bandwidth", "memory latency", "memory bandwidth"};
    as_html_region(b, "scroll", "figures", "Devices");
    as_html_open(b, "caption", NULL);
    as_buf_printf(b, "Every device with memory of its own. Of those that are alike the map draws the first %d.",
                  (int)AS_MAP_ALIKE_MAX);
    as_html_close(b, "caption");
    as_html_heads(b);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        as_html_head(b, heads[i]);
    as_html_body(b);
    for (size_t i = 0; i < rr->devices_n; i++)
        if (as_hardware_has_own_memory(&rr->devices[i]))
            alike_row(p, rr, &rr->devices[i]);
    as_html_table_end(b);
}

enum as_status as_page_maps(struct as_page *p)
{
    struct as_buf *b = p->out;
    as_html_part(b, p->n > 1, "map", p->n == 1 ? "Machine map" : "Machine maps", NULL);
    for (size_t r = 0; r < p->n; r++) {
        const struct as_report_run *rr = &p->runs[r];
        char id[32];
        if (p->n > 1) {
            as_html_open(b, "h3", NULL);
            as_page_run_name(b, &rr->run);
            as_buf_char(b, ' ');
            as_html_text(b, "span", "of", rr->run.host);
            as_html_close(b, "h3");
        }
        if (as_map_devices(rr) == 0) {
            as_html_paragraph(b, "note",
                              rr->devices_n ? "The run measured links between nodes, which no map of one machine shows."
                                            : "The run has no device.");
            continue;
        }
        snprintf(id, sizeof id, "map-w%zu", r);
        enum as_status st = as_map_svg(rr, 1040, "map wide", id, b, p->err);
        snprintf(id, sizeof id, "map-n%zu", r);
        if (st == AS_OK)
            st = as_map_svg(rr, 360, "map narrow", id, b, p->err);
        snprintf(id, sizeof id, "map-b%zu", r);
        if (st == AS_OK && as_page_has_sheets_beside(p))
            st = as_map_svg(rr, AS_MAP_BESIDE, "map row", id, b, p->err);
        if (st != AS_OK)
            return st;
        same_hardware_lines(p, rr);
        alike_table(p, rr);
        access_table(p, rr);
        pairs_table(p, rr);
        link_table(p, rr);
    }
    as_html_details(b, "more", "How to read the map");
    as_html_paragraph(
        b, "lead",
        "Boxes are drawn as the operating system or the driver describes the machine; the numbers are "
        "measured unless marked as reported. The width of a line is the bandwidth of what it leads to; "
        "dashed boxes are remote memory that the device reaches over a link, or the CPU on another NUMA node.");
    as_html_close(b, "details");
    as_html_part_end(b, p->n > 1);
    return AS_OK;
}
