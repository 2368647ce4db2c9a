/* The fleet for programs. */
#include "base/json.h"
#include "base/prometheus.h"
#include "base/text.h"
#include "fleet/fleet.h"

#include <math.h>
#include <string.h>

static void json_finding(const struct as_fleet *f, const struct as_fleet_finding *found, struct as_buf *out)
{
    const struct as_fleet_line *line = &f->lines[found->line];
    const bool is_node = found->device == AS_FLEET_WHOLE_NODE;
    as_buf_char(out, '{');
    as_json_add_text(out, "quantity", line->of->name);
    as_json_add_text(out, "kind", f->kinds[line->kind].name);
    as_json_add_text(out, "device", is_node ? NULL : f->devices[found->device].id);
    as_json_add_bool(out, "worse", found->worse);
    as_json_add_number(out, "deviation", expm1(found->deviation.effect));
    as_json_add_number(out, "ci_low", expm1(found->deviation.ci.lo));
    as_json_add_number(out, "ci_high", expm1(found->deviation.ci.hi));
    as_json_add_number(out, "p", found->deviation.p);
    as_json_add_number(out, "value", found->value);
    as_json_add_number(out, "others", found->others);
    as_json_add_text(out, "unit", line->unit);
    as_buf_char(out, '}');
}

static void json_line(const struct as_fleet *f, const struct as_fleet_judged *j, size_t line, struct as_buf *out)
{
    const struct as_fleet_line *l = &f->lines[line];
    const struct as_fleet_reach *r = &j->reach[line];
    as_buf_char(out, '{');
    as_json_add_text(out, "line", l->label);
    as_json_add_text(out, "quantity", l->of->name);
    as_json_add_text(out, "kind", f->kinds[l->kind].name);
    as_json_add_int(out, "devices", (long long)l->n);
    as_json_add_number(out, "smallest_deviation", r->least);
    as_json_add_text(out, "limited_by", as_fleet_limit_word(r->limit));
    as_buf_str(out, "}\n");
}

void as_fleet_json(const struct as_fleet *f, const struct as_fleet_judged *j, bool all, struct as_buf *out)
{
    for (uint32_t node = 0; node < f->nodes_n; node++) {
        const struct as_fleet_node *n = &f->nodes[node];
        const char *lead = "";
        as_buf_char(out, '{');
        as_json_add_text(out, "node", n->name);
        as_json_add_text(out, "source", n->source);
        as_json_add_text(out, "verdict", as_fleet_verdict(j, node));
        as_json_add_text(out, "reason", n->why);
        as_json_add_int(out, "devices", (long long)n->devices);
        as_json_add_name(out, "findings");
        as_buf_char(out, '[');
        for (size_t i = 0; i < j->n; i++)
            if (j->v[i].node == node) {
                as_buf_str(out, lead);
                json_finding(f, &j->v[i], out);
                lead = ",";
            }
        as_buf_str(out, "]}\n");
    }
    for (size_t i = 0; i < f->lines_n && all; i++)
        json_line(f, j, i, out);
}

static void junit_node(const struct as_fleet *f, const struct as_fleet_judged *j, uint32_t node, struct as_buf *out)
{
    const struct as_fleet_node *n = &f->nodes[node];
    struct as_buf said = AS_BUF_INIT;
    as_buf_str(out, "  <testcase classname=\"assay.fleet\" name=\"");
    as_buf_html(out, n->name);
    as_buf_str(out, "\">");
    for (size_t i = 0; i < j->worse; i++)
        if (j->v[i].node == node) {
            as_buf_str(&said, said.len ? "; " : "");
            as_fleet_say(f, &j->v[i], &said);
        }
    if (said.len || n->why[0]) {
        as_buf_str(out, said.len ? "<failure message=\"" : "<error message=\"");
        as_buf_html(out, said.len ? as_buf_get(&said) : n->why);
        as_buf_str(out, "\"/>");
    }
    as_buf_str(out, "</testcase>\n");
    as_buf_finish(&said);
}

void as_fleet_junit(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out)
{
    size_t slow = 0;
    for (uint32_t node = 0; node < f->nodes_n; node++)
        slow += strcmp(as_fleet_verdict(j, node), "slow") == 0;
    as_buf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"assay fleet\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
                  f->nodes_n, slow, as_fleet_missing(f));
    for (uint32_t node = 0; node < f->nodes_n; node++)
        junit_node(f, j, node, out);
    as_buf_str(out, "</testsuite>\n");
}

void as_fleet_prometheus(const struct as_fleet *f, const struct as_fleet_judged *j, struct as_buf *out)
{
    static const char *const states[] = {"ok", "slow", "unknown", NULL};
    static const char state[] = "assay_node_state", deviation[] = "assay_deviation_ratio";
    as_prometheus_head(out, state, "1 for the node's state, 0 for the others");
    for (uint32_t node = 0; node < f->nodes_n; node++)
        as_prometheus_state(out, state, f->nodes[node].name, "state", states, as_fleet_verdict(j, node));
    as_prometheus_head(out, deviation, "deviation from the median of like devices, -0.04 is 4% below");
    for (size_t i = 0; i < j->n; i++) {
        const struct as_fleet_finding *found = &j->v[i];
        const struct as_fleet_line *line = &f->lines[found->line];
        const struct as_metric_label labels[] = {
            {"node", f->nodes[found->node].name},
            {"device", found->device == AS_FLEET_WHOLE_NODE ? "" : f->devices[found->device].id},
            {"kind", f->kinds[line->kind].name},
            {"quantity", line->of->name},
            {"line", line->label}};
        as_prometheus_sample(out, deviation, labels, sizeof labels / sizeof *labels, expm1(found->deviation.effect));
    }
}
