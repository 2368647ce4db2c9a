#include "report/sheet/policy.h"

#include "base/text.h"
#include "device/backend.h"
#include "report/sheet/sheet_counts.h"

#include <fnmatch.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 1024, QUANTITY_NAME_MAX = 64, POLICY_BYTES_MAX = 1 << 22 };

/* ---- reading ---- */

struct policy_parser {
    struct as_policy *policy;
    enum as_status status;
    struct as_error *err;
};

static const struct as_quantity *find_quantity(const char *name, struct as_error *err)
{
    const struct as_quantity *q = as_quantity_named(name);
    const char *names[512];
    size_t n = 0;
    if (q && !q->beside)
        return q;
    for (const struct as_quantity *k = as_quantities; k->name && n + 1 < sizeof names / sizeof *names; k++)
        if (!k->beside)
            names[n++] = k->name;
    names[n] = NULL;
    const char *near = as_nearest(name, names);
    as_fail(err, AS_USAGE,
            near ? "no line of the data sheet is called '%.60s'; did you mean '%s'?"
                 : "no line of the data sheet is called '%.60s'%s: names are those of 'assay export --format sheet'",
            name, near ? near : "");
    return NULL;
}

/* "4.2 TB/s", with ", warn" or without. */
static enum as_status parse_bound(const char *text, struct as_policy_rule *rule, struct as_error *err)
{
    char number[32], unit[32], severity[16] = "fail";
    int end = 0;
    bool whole = sscanf(text, " %31[0-9.eE+-] %31[^, ] %n", number, unit, &end) == 2;
    if (whole && text[end] == ',') {
        const char *behind = text + end + 1;
        whole = sscanf(behind, " %15s %n", severity, &end) == 1 && !behind[end];
    } else {
        whole = whole && !text[end];
    }
    if (!whole || as_parse_double(number, &rule->bound, NULL) || !(rule->bound > 0))
        return as_fail(
            err, AS_USAGE,
            "'%.60s' is not a bound: write a number above 0 and a unit, such as '4.2 TB/s' or '700 ns, warn'", text);
    rule->warns = strcmp(severity, "warn") == 0;
    if (!rule->warns && strcmp(severity, "fail") != 0)
        return as_fail(err, AS_USAGE, "'%.20s' after the bound must be 'warn' or 'fail'", severity);
    const double factor = as_unit_factor(unit, rule->of->unit);
    if (!(factor > 0))
        return as_fail(err, AS_USAGE, "'%s' is measured in %s, not in %s", rule->of->name, rule->of->unit, unit);
    rule->bound *= factor;
    return AS_OK;
}

/* "host_link.replays <= 0": by how much a counter may rise from the first reading of a run to the last. */
static enum as_status parse_count(const char *text, struct as_policy_rule *rule, struct as_error *err)
{
    char number[24] = "", severity[16] = "";
    uint64_t most = 0;
    int end = 0;
    const bool fits = sscanf(text, " %23[0-9] %n , %15[a-z] %n", number, &end, severity, &end) >= 1 && !text[end];
    const bool fails = !severity[0] || strcmp(severity, "fail") == 0;
    rule->warns = strcmp(severity, "warn") == 0;
    if (!fits || as_parse_u64(number, &most, NULL) || (!fails && !rule->warns))
        return as_fail(err, AS_USAGE, "'%.60s' is not a bound of '%s': write a count, such as '0' or '10, warn'", text,
                       rule->of->name);
    rule->bound = (double)most;
    return AS_OK;
}

/* "devices >= 8": how many devices must fit the section's pattern. */
static enum as_status add_count(struct policy_parser *p, const char *device, const char *value)
{
    uint64_t least = 0;
    const size_t n = strlen(device);
    if (as_parse_u64(value, &least, NULL) || least < 1 || least > AS_POLICY_DEVICES_MAX)
        return as_fail(p->err, AS_USAGE, "'%.60s' is not a number of devices from 1 to %d%s", value,
                       AS_POLICY_DEVICES_MAX, strchr(value, ',') ? "; 'devices' takes no ', warn'" : "");
    if (n < 2 || device[n - 1] != '*' || strcspn(device, "*?[") != n - 1)
        return as_fail(p->err, AS_USAGE, "'devices' needs a section such as [cuda:*], not '[%s]'", device);
    if (p->policy->counts_n == AS_POLICY_COUNTS_MAX)
        return as_fail(p->err, AS_USAGE, "more than %d 'devices' lines", AS_POLICY_COUNTS_MAX);
    struct as_policy_count *count = &p->policy->counts[p->policy->counts_n++];
    as_copy_text(count->device, sizeof count->device, device);
    count->least = (size_t)least;
    return AS_OK;
}

/* A misspelt section would look like a lost device. */
static enum as_status check_section(const char *device, struct as_error *err)
{
    const char *names[32];
    char api[32];
    size_t n = 0;
    const size_t len = strcspn(device, ":*?[");
    as_copy_text(api, len + 1 < sizeof api ? len + 1 : sizeof api, device);
    for (size_t i = 0; as_backends[i] && n + 1 < sizeof names / sizeof *names; i++)
        names[n++] = as_backends[i]->name;
    names[n] = NULL;
    for (size_t i = 0; i < n; i++)
        if (device[len] == ':' || !device[len] ? strcmp(names[i], api) == 0 : strncmp(names[i], api, len) == 0)
            return AS_OK;
    const char *near = as_nearest(api, names);
    return as_fail(err, AS_USAGE, "[%.40s] names no API; %s%s%s", device, near ? "did you mean '" : "see ",
                   near ? near : "'assay devices'", near ? "'?" : "");
}

static enum as_status add_rule(struct policy_parser *p, const char *device, const char *name, const char *value)
{
    char quantity[QUANTITY_NAME_MAX];
    const size_t n = strcspn(name, " <>");
    const char *sign = name + n + strspn(name + n, " ");
    struct as_policy_rule rule = {.warns = false};
    if (!device[0])
        return as_fail(p->err, AS_USAGE, "'%.60s' is before the first [device]", name);
    if (strlen(device) >= sizeof rule.device || p->policy->n >= RULES_MAX)
        return as_fail(p->err, AS_USAGE, "a device name longer than %zu characters, or more than %d lines",
                       sizeof rule.device - 1, RULES_MAX);
    if (check_section(device, p->err))
        return AS_USAGE;
    if (n >= sizeof quantity || (strcmp(sign, "<") != 0 && strcmp(sign, ">") != 0))
        return as_fail(p->err, AS_USAGE, "write 'QUANTITY >= BOUND' or 'QUANTITY <= BOUND'");
    as_copy_text(quantity, n + 1, name);
    if (strcmp(quantity, "devices") == 0)
        return *sign == '>' ? add_count(p, device, value) : as_fail(p->err, AS_USAGE, "write 'devices >= NUMBER'");
    as_copy_text(rule.device, sizeof rule.device, device);
    const struct as_quantity *count = as_link_count_named(quantity);
    rule.of = count ? count : find_quantity(quantity, p->err);
    if (!rule.of)
        return AS_USAGE;
    if (rule.of->kind == AS_KIND_CAPACITY)
        return as_fail(p->err, AS_USAGE, "'%s' is a capacity range, which cannot be bounded", quantity);
    const char *fits = as_quantity_lower_is_better(rule.of) ? "<" : ">";
    if (strcmp(sign, fits) != 0)
        return as_fail(p->err, AS_USAGE, "for '%s', %s is better: write '%s %s= BOUND'", quantity,
                       fits[0] == '>' ? "higher" : "lower", quantity, fits);
    enum as_status st = count ? parse_count(value, &rule, p->err) : parse_bound(value, &rule, p->err);
    struct as_policy_rule *v = st ? NULL : realloc(p->policy->v, (p->policy->n + 1) * sizeof *v);
    if (!st && !v)
        return as_nomem(p->err, (p->policy->n + 1) * sizeof *v, "a policy");
    if (!st) {
        p->policy->v = v;
        v[p->policy->n++] = rule;
    }
    return st;
}

static int policy_line(void *user, const char *section, const char *name, const char *value)
{
    struct policy_parser *p = user;
    if (!p->status && name && name[0])
        p->status = add_rule(p, section, name, value ? value : "");
    return p->status == AS_OK;
}

/* Missing devices are reported by their bounds: without a bound, too few would pass. */
static enum as_status check_counts(const struct as_policy *p, struct as_error *err)
{
    for (size_t i = 0; i < p->counts_n; i++) {
        char id[40];
        bool any = false;
        snprintf(id, sizeof id, "%.*s0", (int)strlen(p->counts[i].device) - 1, p->counts[i].device);
        for (size_t k = 0; k < p->n; k++)
            any |= fnmatch(p->v[k].device, id, 0) == 0;
        if (!any)
            return as_fail(err, AS_USAGE, "'devices >= %zu' needs a bound for the same devices, [%s]",
                           p->counts[i].least, p->counts[i].device);
    }
    return AS_OK;
}

enum as_status as_policy_parse(const char *text, struct as_policy *out, struct as_error *err)
{
    *out = (struct as_policy){0};
    struct policy_parser p = {.policy = out, .err = err};
    struct as_buf lines = AS_BUF_INIT;
    as_buf_unindented(&lines, text);
    enum as_status st = as_buf_check(&lines, err);
    const int line = st ? 0 : ini_parse_string(as_buf_get(&lines), policy_line, &p);
    as_buf_finish(&lines);
    st = st ? st : p.status;
    if (!st && line)
        st = as_fail(err, AS_USAGE, "expected [DEVICE] or 'QUANTITY >= BOUND'");
    else if (!st && out->n == 0)
        st = as_fail(err, AS_USAGE, "it has no line such as 'memory.read.all >= 4.2 TB/s'");
    else if (!st)
        st = check_counts(out, err);
    if (st) {
        char where[32] = "policy";
        if (line > 0)
            snprintf(where, sizeof where, "policy, line %d", line);
        as_fail_in(err, where);
        as_policy_finish(out);
    }
    return st;
}

enum as_status as_policy_read(const char *path, struct as_policy *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_buf_read_file(&text, path, POLICY_BYTES_MAX, err);
    if (!st && (st = as_policy_parse(as_buf_get(&text), out, err)))
        as_fail_in(err, path);
    as_buf_finish(&text);
    return st;
}

void as_policy_finish(struct as_policy *p)
{
    free(p->v);
    *p = (struct as_policy){0};
}

/* ---- as a data sheet ---- */

/* The label of the quantity, in the device's words where it has or lacks the line. */
static const char *label_on(const struct as_device_sheet *d, const struct as_quantity *q)
{
    for (size_t i = 0; i < d->sheet.n; i++)
        if (d->sheet.rows[i].of == q)
            return d->sheet.rows[i].label;
    for (size_t i = 0; i < d->sheet.gaps_n; i++)
        if (d->sheet.gaps[i].of == q)
            return d->sheet.gaps[i].label;
    return q->label;
}

static void set_bound(struct as_device_sheet *d, const struct as_policy_rule *rule, const char *label)
{
    size_t at = 0;
    const size_t count = as_link_count_index(rule->of);
    if (count < AS_COUNTERS_N) {
        d->sheet.counts[count] = (struct as_link_count){.known = true, .warns = rule->warns, .grown = rule->bound};
        return;
    }
    while (at < d->sheet.n && d->sheet.rows[at].of != rule->of)
        at++;
    struct as_sheet_row *row = &d->sheet.rows[at];
    d->sheet.n += at == d->sheet.n;
    *row = (struct as_sheet_row){.group = rule->of->group,
                                 .value = rule->bound,
                                 .ci = {rule->bound, rule->bound},
                                 .warns = rule->warns,
                                 .clock_exponent = NAN,
                                 .specified = NAN,
                                 .counted = NAN,
                                 .of = rule->of};
    as_copy_text(row->title, sizeof row->title, rule->of->group);
    as_copy_text(row->label, sizeof row->label, label);
    as_copy_text(row->unit, sizeof row->unit, rule->of->unit);
}

static enum as_status add_device(struct as_machine_sheet *out, const struct as_policy *p, const char *id,
                                 const char *name, struct as_error *err)
{
    struct as_device_sheet *d = &out->v[out->n++];
    as_copy_text(d->id, sizeof d->id, id);
    as_copy_text(d->name, sizeof d->name, name);
    d->sheet.rows = calloc(p->n + 1, sizeof *d->sheet.rows);
    return d->sheet.rows ? AS_OK : as_nomem(err, p->n * sizeof *d->sheet.rows, "a policy");
}

/* Lines of patterns that fit no device. used: of each rule, whether it was applied. */
static enum as_status add_unmatched(const struct as_policy *p, const bool *used, struct as_machine_sheet *out,
                                    struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < p->n && !st; i++) {
        if (used[i])
            continue;
        if (!as_machine_sheet_device(out, p->v[i].device))
            st = add_device(out, p, p->v[i].device, "", err);
        if (!st)
            set_bound(as_machine_sheet_device(out, p->v[i].device), &p->v[i], p->v[i].of->label);
    }
    return st;
}

/* A device with the bounds whose sections it fits. m: the device that was measured; NULL: there is none. */
static enum as_status add_bounded(const struct as_policy *p, const char *id, const struct as_device_sheet *m,
                                  bool *used, struct as_machine_sheet *out, struct as_error *err)
{
    enum as_status st = add_device(out, p, id, m ? m->name : "", err);
    for (size_t i = 0; i < p->n && !st; i++) {
        if (fnmatch(p->v[i].device, id, 0) != 0)
            continue;
        used[i] = true;
        set_bound(&out->v[out->n - 1], &p->v[i], m ? label_on(m, p->v[i].of) : p->v[i].of->label);
    }
    return st;
}

/* Devices that the pattern asks for and that were not measured: "cuda:7". */
static enum as_status add_lacking(const struct as_policy *p, const struct as_policy_count *count,
                                  const struct as_machine_sheet *m, bool *used, struct as_machine_sheet *out,
                                  struct as_error *err)
{
    size_t there = 0;
    enum as_status st = AS_OK;
    for (size_t d = 0; d < m->n; d++)
        there += fnmatch(count->device, m->v[d].id, 0) == 0;
    for (size_t i = 0; i < count->least && there < count->least && !st; i++) {
        char id[sizeof m->v->id];
        snprintf(id, sizeof id, "%.*s%zu", (int)strlen(count->device) - 1, count->device, i);
        if (as_machine_sheet_device(out, id))
            continue;
        there++;
        st = add_bounded(p, id, NULL, used, out, err);
        for (size_t k = 0; k < out->v[out->n - 1].sheet.n && !st; k++)
            out->v[out->n - 1].sheet.rows[k].warns = false; /* the device itself is required */
        for (size_t k = 0; k < AS_COUNTERS_N && !st; k++)
            out->v[out->n - 1].sheet.counts[k].warns = false;
    }
    return st;
}

enum as_status as_policy_sheet(const struct as_policy *p, const struct as_machine_sheet *m,
                               struct as_machine_sheet *out, struct as_error *err)
{
    bool *used = calloc(p->n + 1, sizeof *used);
    *out = (struct as_machine_sheet){0};
    size_t lacking = 0;
    for (size_t i = 0; i < p->counts_n; i++)
        lacking += p->counts[i].least;
    enum as_status st = as_machine_sheet_reserve(out, m->n + p->n + lacking, err);
    st = st || used ? st : as_nomem(err, p->n, "a policy");
    as_copy_text(out->suite, sizeof out->suite, "policy");
    out->bounds = true;
    out->virtual_machine = m->virtual_machine;
    out->clock_hz = NAN;
    for (size_t d = 0; d < m->n && !st; d++)
        st = add_bounded(p, m->v[d].id, &m->v[d], used, out, err);
    for (size_t i = 0; i < p->counts_n && !st; i++)
        st = add_lacking(p, &p->counts[i], m, used, out, err);
    if (!st)
        st = add_unmatched(p, used, out, err);
    for (size_t d = 0; d < out->n && !st; d++)
        st = as_device_sheet_add_run(&out->v[d], err);
    free(used);
    if (st)
        as_machine_sheet_finish(out);
    return st;
}
