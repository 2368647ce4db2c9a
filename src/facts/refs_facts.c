#include "facts/refs_facts.h"

#include "base/json.h"
#include "base/text.h"
#include "facts/rule.h"

#include <math.h>
#include <string.h>

enum as_status as_refs_check_facts(const struct as_refs *refs, struct as_error *err)
{
    for (size_t i = 0; i < refs->n; i++) {
        const struct as_ref *ref = &refs->v[i];
        if (ref->fact[0] && !as_fact_ids_exist(ref->fact))
            return as_fail(err, AS_FORMAT, "published figures '%s': '%s' of %s: no relation makes an id such as '%s'",
                           refs->name, ref->metric, ref->chip, ref->fact);
    }
    return AS_OK;
}

enum as_status as_refs_load_for_facts(const char *name, struct as_refs *out, struct as_error *err)
{
    enum as_status st = as_refs_load(name, out, err);
    if (!st)
        st = as_refs_check_facts(out, err);
    if (st)
        as_refs_finish(out);
    return st;
}

static bool same_unit(const struct as_ref *ref, const struct as_fact *fact)
{
    return strcmp(ref->unit, fact->unit[0] ? fact->unit : as_fact_field(fact, AS_FIELD_COUNTED)) == 0;
}

bool as_ref_is_beside(const struct as_ref *ref, const struct as_fact *fact)
{
    return same_unit(ref, fact) && isfinite(fact->value) && as_ref_is_of_side(ref, fact->device) &&
           as_fact_has_id(fact, ref->fact);
}

bool as_ref_is_elsewhere(const struct as_ref *ref, const struct as_fact *fact, struct as_buf *out)
{
    bool elsewhere = false;
    for (size_t i = 0; i < AS_EXTENTS; i++) {
        char text[32];
        double at;
        as_ref_axis(ref, as_fact_extents[i], text, sizeof text);
        if (!text[0] || !(fact->most[i] > 0) || as_parse_double(text, &at, NULL) || at == fact->most[i])
            continue;
        as_buf_printf(out, "%s%s=%.0f", elsewhere ? " " : "", as_fact_extents[i], fact->most[i]);
        elsewhere = true;
    }
    return elsewhere;
}

double as_ref_ratio(const struct as_ref *ref, const struct as_fact *fact)
{
    struct as_buf where = AS_BUF_INIT;
    const bool elsewhere = as_ref_is_elsewhere(ref, fact, &where);
    as_buf_finish(&where);
    if (elsewhere)
        return NAN;
    const bool below = strcmp(ref->qualifier, "at most") == 0 || strcmp(ref->qualifier, "below") == 0;
    const bool above = strcmp(ref->qualifier, "at least") == 0;
    if (fact->value > ref->hi && !above)
        return ref->hi > 0 ? fact->value / ref->hi : NAN;
    if (fact->value < ref->lo && !below)
        return ref->lo > 0 ? fact->value / ref->lo : NAN;
    return 1;
}

bool as_ref_is_close(double ratio)
{
    static const double CLOSE = 0.02;
    return fabs(ratio - 1) <= CLOSE;
}

struct as_refs_agreement as_refs_agree(const struct as_refs *refs, const struct as_fact *facts, size_t n)
{
    struct as_refs_agreement sum = {0};
    for (size_t i = 0; i < refs->n; i++)
        for (size_t k = 0; k < n; k++)
            if (as_ref_is_beside(&refs->v[i], &facts[k])) {
                struct as_buf where = AS_BUF_INIT;
                sum.beside += !as_ref_is_elsewhere(&refs->v[i], &facts[k], &where);
                sum.close += as_ref_is_close(as_ref_ratio(&refs->v[i], &facts[k]));
                as_buf_finish(&where);
            }
    return sum;
}

void as_ref_deviation(const struct as_ref *ref, const struct as_fact *fact, struct as_buf *out)
{
    const double ratio = as_ref_ratio(ref, fact);
    const double each = ratio / fact->value;
    char text[96];
    struct as_buf where = AS_BUF_INIT;
    if (as_ref_is_elsewhere(ref, fact, &where))
        as_buf_printf(out, " (not compared: measured at %s)", as_buf_get(&where));
    as_buf_finish(&where);
    if (isfinite(ratio) && !as_ref_is_close(ratio))
        as_buf_printf(out, " (measured: %s)",
                      as_noted_text(ratio, (struct as_interval){fact->ci.lo * each, fact->ci.hi * each}, "x", "", "",
                                    text, sizeof text));
}

void as_refs_agreement_text(const struct as_refs_agreement *agreement, struct as_buf *out)
{
    if (agreement->beside)
        as_buf_printf(out, "%zu of %zu measured number%s within 2%% of the figure beside %s.", agreement->close,
                      agreement->beside, agreement->beside == 1 ? " is" : "s are",
                      agreement->beside == 1 ? "it" : "them");
}

/* {"op":"ffma32","ilp":"2"} */
static void axes_json(const char *axes, struct as_buf *out)
{
    char text[sizeof((struct as_ref *)0)->axes], *save = NULL;
    as_copy_text(text, sizeof text, axes);
    as_json_add_name(out, "axes");
    as_buf_char(out, '{');
    for (char *one = strtok_r(text, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        as_json_add_text(out, one, value);
    }
    as_buf_char(out, '}');
}

static void sheet_json(const struct as_ref *ref, struct as_buf *out)
{
    as_json_add_text(out, "match", ref->match);
    as_json_add_number(out, "units", ref->units ? (double)ref->units : NAN);
    as_json_add_text(out, "group", ref->group);
    as_json_add_text(out, "quantity", ref->quantity);
    as_json_add_text(out, "kind", ref->kind);
    as_json_add_text(out, "url", ref->url);
}

void as_ref_to_json(const struct as_refs *refs, size_t i, const struct as_fact *facts, size_t n, struct as_buf *out)
{
    const struct as_ref *ref = &refs->v[i];
    as_buf_char(out, '{');
    as_json_add_text(out, "refs", refs->name);
    as_json_add_text(out, "chip", ref->chip);
    as_json_add_text(out, "device", ref->device);
    as_json_add_text(out, "metric", ref->metric);
    axes_json(ref->axes, out);
    as_json_add_text(out, "qualifier", ref->qualifier);
    as_json_add_number(out, "low", ref->lo);
    as_json_add_number(out, "high", ref->hi);
    as_json_add_text(out, "unit", ref->unit);
    as_json_add_text(out, "conditions", ref->conditions);
    as_json_add_text(out, "source", ref->source);
    as_json_add_number(out, "line", ref->line ? (double)ref->line : NAN);
    as_json_add_text(out, "printed", ref->printed);
    if (ref->group[0])
        sheet_json(ref, out);
    as_json_add_name(out, "beside");
    as_buf_char(out, '[');
    for (size_t k = 0, said = 0; k < n; k++) {
        if (!as_ref_is_beside(ref, &facts[k]))
            continue;
        as_buf_str(out, said++ ? ",{" : "{");
        as_json_add_text(out, "device", facts[k].device);
        as_json_add_text(out, "fact", facts[k].id);
        as_json_add_number(out, "ratio", as_ref_ratio(ref, &facts[k]));
        as_buf_char(out, '}');
    }
    as_buf_str(out, "]}");
}

void as_refs_to_json(const struct as_refs *refs, const struct as_fact *facts, size_t n, struct as_buf *out)
{
    as_buf_char(out, '[');
    for (size_t i = 0; i < refs->n; i++) {
        as_buf_str(out, i ? "," : "");
        as_ref_to_json(refs, i, facts, n, out);
    }
    as_buf_char(out, ']');
}
