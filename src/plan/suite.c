/* Suites: parses INI text into grids of axis expressions. */
#include "base/text.h"
#include "plan/plan.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUITE_TEXT_MAX = 64 * 1024, SUITE_LINE_MAX = 198, GRIDS_MAX = 256 };

static const char *all_probe_names[64];

const char *const *as_probe_names(void)
{
    size_t n = 0;
    for (size_t i = 0; as_probes[i] && n < sizeof all_probe_names / sizeof *all_probe_names - 1; i++)
        if (!as_probes[i]->hidden)
            all_probe_names[n++] = as_probes[i]->name;
    all_probe_names[n] = NULL;
    return all_probe_names;
}

static enum as_status unknown_axis(const struct as_probe *probe, const char *name, struct as_error *err)
{
    const char *names[AS_AXES_MAX + 1] = {0};
    for (size_t i = 0; probe->axes[i].name && i < AS_AXES_MAX; i++)
        names[i] = probe->axes[i].name;
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "probe '%s' has no axis '%s'%s%s%s", probe->name, name,
                   near ? "; did you mean '" : "; see assay explain for its axes", near ? near : "", near ? "'?" : "");
}

static enum as_status set_states(char *out, size_t size, const char *states, struct as_error *err)
{
    if (strlen(states) >= size)
        return as_fail(err, AS_USAGE, "the list of states is longer than %zu characters", size - 1);
    as_copy_text(out, size, states);
    return as_states_add(&(struct as_state_list){0}, NULL, states, err);
}

enum as_status as_grid_set(struct as_grid *grid, const char *name, const char *expr, struct as_error *err)
{
    if (strcmp(name, AS_STATE_AXIS) == 0)
        return set_states(grid->states, sizeof grid->states, expr, err);
    if (!as_probe_axis(grid->probe, name))
        return unknown_axis(grid->probe, name, err);
    if (strlen(expr) >= sizeof grid->axis[0].expr || expr[0] == 0)
        return as_fail(err, AS_USAGE, "axis '%s' needs an expression of 1 to %zu characters", name,
                       sizeof grid->axis[0].expr - 1);
    size_t i = 0;
    while (i < grid->n && strcmp(grid->axis[i].name, name) != 0)
        i++;
    if (i == AS_AXES_MAX)
        return as_fail(err, AS_USAGE, "a grid has at most %d axes", AS_AXES_MAX);
    if (i == grid->n)
        grid->n++;
    as_copy_text(grid->axis[i].name, sizeof grid->axis[i].name, name);
    as_copy_text(grid->axis[i].expr, sizeof grid->axis[i].expr, expr);
    return AS_OK;
}

/* The next "name=" that starts a word at or after s; NULL if there is none. *name_len is the length of name. */
static const char *next_assignment(const char *s, size_t *name_len)
{
    for (const char *p = s; *p; p++) {
        if (p != s && p[-1] != ' ')
            continue;
        size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (n && p[n] == '=') {
            *name_len = n;
            return p;
        }
    }
    return NULL;
}

/* "size=1KiB..4LLC x2 op=triad,copy": an expression may contain blanks, and ends where the next name= starts. devices=
 * is the grid's list of devices, as in a section of a suite. */
static enum as_status grid_from_text(struct as_grid *grid, const char *text, struct as_error *err)
{
    size_t len = 0, next_len = 0;
    const char *at = next_assignment(text, &len);
    if (!at && text[strspn(text, " ")])
        return as_fail(err, AS_FAILED, "probe '%s' has a grid without an axis: '%s'", grid->probe->name, text);
    enum as_status st = AS_OK;
    while (at && !st) {
        char name[24], expr[256];
        const char *value = at + len + 1, *next = next_assignment(value, &next_len);
        size_t n = next ? (size_t)(next - value) : strlen(value);
        while (n && value[n - 1] == ' ')
            n--;
        if (len >= sizeof name || n >= sizeof expr)
            return as_fail(err, AS_USAGE, "an axis or expression is too long in '%s'", text);
        memcpy(name, at, len);
        name[len] = 0;
        memcpy(expr, value, n);
        expr[n] = 0;
        if (strcmp(name, "devices") == 0)
            as_copy_text(grid->devices, sizeof grid->devices, expr);
        else
            st = as_grid_set(grid, name, expr, err);
        at = next;
        len = next_len;
    }
    return st;
}

struct suite_parser {
    struct as_suite *suite;
    char section[64];
    int current;       /* index of the open grid, -1 none */
    int used_preset;   /* the section uses the probe's own grids */
    double precision;  /* of the section; 0: the suite's */
    char devices[128]; /* likewise; "" */
    bool fit;          /* of the section */
    struct as_error *err;
    enum as_status status;
};

static enum as_status suite_add_grid(struct suite_parser *p, const struct as_probe *probe)
{
    struct as_suite *s = p->suite;
    if (s->grids_n >= GRIDS_MAX)
        return as_fail(p->err, AS_USAGE, "a suite has at most %d grids", GRIDS_MAX);
    struct as_grid *grids = realloc(s->grids, (s->grids_n + 1) * sizeof *grids);
    if (!grids)
        return as_nomem(p->err, (s->grids_n + 1) * sizeof *grids, "a suite");
    s->grids = grids;
    char(*devices)[128] = realloc(s->grid_devices, (s->grids_n + 1) * sizeof *devices);
    if (!devices)
        return as_nomem(p->err, (s->grids_n + 1) * sizeof *devices, "a suite");
    s->grid_devices = devices;
    s->grids[s->grids_n] = (struct as_grid){.probe = probe, .precision = p->precision, .fit = p->fit};
    memcpy(s->grid_devices[s->grids_n], p->devices, sizeof p->devices);
    p->current = (int)s->grids_n++;
    return AS_OK;
}

static enum as_status add_preset(struct suite_parser *p, const struct as_probe *probe, const char *const *grids)
{
    static const char *const one[] = {"", NULL};
    enum as_status st = AS_OK;
    for (const char *const *g = grids ? grids : one; *g && !st; g++)
        if (!(st = suite_add_grid(p, probe)))
            st = grid_from_text(&p->suite->grids[p->current], *g, p->err);
    return st;
}

static enum as_status unknown_probe(const char *name, struct as_error *err)
{
    const char *near = as_nearest(name, as_probe_names());
    return as_fail(err, AS_USAGE, "there is no probe '%s'%s%s%s", name,
                   near ? "; did you mean '" : "; see assay list probes", near ? near : "", near ? "'?" : "");
}

static enum as_status parse_precision(const char *value, double *out, struct as_error *err)
{
    double d;
    enum as_status st = as_parse_percent(value, &d, err);
    if (!st && !(d > 0 && d <= 1))
        st = as_fail(err, AS_USAGE, "precision '%s' is not between 0 and 100%%", value);
    if (!st)
        *out = d;
    return st;
}

static enum as_status suite_member(struct as_suite *s, const char *name, const char *value, struct as_error *err)
{
    enum as_status st;
    if (strcmp(name, "title") == 0) {
        as_copy_text(s->title, sizeof s->title, value);
        return AS_OK;
    }
    if (strcmp(name, "devices") == 0) {
        as_copy_text(s->devices, sizeof s->devices, value);
        return AS_OK;
    }
    if (strcmp(name, "budget") == 0)
        return as_parse_duration(value, &s->budget_s, err);
    if (strcmp(name, "budget_per_device") == 0)
        return as_parse_duration(value, &s->device_budget_s, err);
    if (strcmp(name, "precision") == 0)
        return parse_precision(value, &s->precision, err);
    if (strcmp(name, "fallback_state") == 0)
        return set_states(s->fallback_states, sizeof s->fallback_states, value, err);
    if (strcmp(name, "trials") == 0) {
        uint64_t v;
        if ((st = as_parse_u64(value, &v, err)))
            return st;
        if (v < 1 || v > 100)
            return as_fail(err, AS_USAGE, "trials '%s' is not between 1 and 100", value);
        s->trials = (int)v;
        return AS_OK;
    }
    static const char *const names[] = {"title",     "devices", "budget",         "budget_per_device",
                                        "precision", "trials",  "fallback_state", NULL};
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "a suite has no setting '%s'%s%s%s", name, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

/* "latency.sweep" names a second grid of the probe "latency". */
static enum as_status open_section(struct suite_parser *p, const char *section)
{
    char probe_name[64];
    as_copy_text(p->section, sizeof p->section, section);
    as_copy_text(probe_name, sizeof probe_name, section);
    probe_name[strcspn(probe_name, ".")] = 0;
    p->used_preset = 0;
    p->precision = 0;
    p->devices[0] = 0;
    p->fit = false;
    p->current = -1;
    if (strcmp(section, "suite") == 0)
        return AS_OK;
    const struct as_probe *probe = as_probe_find(probe_name);
    if (!probe)
        return unknown_probe(probe_name, p->err);
    return suite_add_grid(p, probe);
}

/* Settings of every grid of the section, including grids that a preset adds later. */
static enum as_status section_member(struct suite_parser *p, const char *name, const char *value)
{
    enum as_status st = AS_OK;
    if (strcmp(name, "devices") == 0)
        as_copy_text(p->devices, sizeof p->devices, value);
    else if (strcmp(name, "fit") != 0)
        st = parse_precision(value, &p->precision, p->err);
    else if (strcmp(value, "yes") == 0 || strcmp(value, "no") == 0)
        p->fit = strcmp(value, "yes") == 0;
    else
        st = as_fail(p->err, AS_USAGE, "fit is 'yes' or 'no', not '%s'", value);
    for (size_t i = (size_t)p->current; i < p->suite->grids_n; i++) {
        memcpy(p->suite->grid_devices[i], p->devices, sizeof p->devices);
        p->suite->grids[i].precision = p->precision;
        p->suite->grids[i].fit = p->fit;
    }
    return st;
}

static enum as_status grid_member(struct suite_parser *p, const char *name, const char *value)
{
    struct as_grid *g = &p->suite->grids[p->current];
    if (strcmp(name, "devices") == 0 || strcmp(name, "precision") == 0 || strcmp(name, "fit") == 0)
        return section_member(p, name, value);
    int preset = strcmp(name, "grids") == 0;
    if (p->used_preset || (preset && g->n))
        return as_fail(p->err, AS_USAGE, "'grids' must be alone in its section; put other axes in a separate section");
    if (!preset)
        return as_grid_set(g, name, value, p->err);
    int quick = strcmp(value, "quick") == 0;
    if (!quick && strcmp(value, "full") != 0)
        return as_fail(p->err, AS_USAGE, "grids is 'quick' or 'full', not '%s'", value);
    const struct as_probe *probe = g->probe;
    int first = p->current;
    p->suite->grids_n = (size_t)first;
    p->used_preset = 1;
    enum as_status st = add_preset(p, probe, quick ? probe->quick : probe->full);
    p->current = first;
    return st;
}

static int on_member(void *user, const char *section, const char *name, const char *value)
{
    struct suite_parser *p = user;
    if (p->status)
        return 0;
    if (section[0] == 0)
        p->status = as_fail(p->err, AS_USAGE, "'%s' is before the first [section]", name ? name : "");
    else if (strcmp(section, p->section) != 0)
        p->status = open_section(p, section);
    if (p->status || !name || !name[0])
        return p->status == AS_OK;
    p->status = strcmp(section, "suite") == 0 ? suite_member(p->suite, name, value ? value : "", p->err)
                                              : grid_member(p, name, value ? value : "");
    return p->status == AS_OK;
}

/* The INI reader does not report empty sections, whose probes would be left out silently. */
static enum as_status check_sections(const char *text, struct as_error *err)
{
    char section[64] = "";
    int members = 1;
    for (const char *p = text; p;) {
        p += strspn(p, " \t\r");
        if (*p == '[') {
            if (!members)
                break;
            size_t n = strcspn(p + 1, "]\n") + 1;
            as_copy_text(section, n < sizeof section ? n : sizeof section, p + 1);
            members = 0;
        } else if (!strchr(";#\n", *p))
            members = 1;
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    return members ? AS_OK
                   : as_fail(err, AS_USAGE, "section '[%s]' is empty; 'grids = quick' takes the probe's own grids",
                             section);
}

/* The INI reader divides longer ones, and takes the rest for a line of its own. The number of the first, 0: none. */
static int line_too_long(const char *text)
{
    int line = 1;
    for (const char *p = text; *p; line++) {
        const size_t n = strcspn(p, "\n");
        if (n > SUITE_LINE_MAX)
            return line;
        p += n + (p[n] == '\n');
    }
    return 0;
}

enum as_status as_suite_parse(const char *name, const char *text, struct as_suite *out, struct as_error *err)
{
    *out = (struct as_suite){.precision = 0.01, .trials = 3};
    as_copy_text(out->name, sizeof out->name, name);
    if (strlen(text) > SUITE_TEXT_MAX)
        return as_fail(err, AS_USAGE, "suite '%s' is longer than %d KiB", name, SUITE_TEXT_MAX / 1024);
    struct suite_parser p = {.suite = out, .current = -1, .err = err};
    enum as_status st = check_sections(text, err);
    int line = st ? 0 : line_too_long(text);
    if (line)
        st =
            as_fail(err, AS_USAGE, "longer than %d characters; divide its values between two sections", SUITE_LINE_MAX);
    struct as_buf lines = AS_BUF_INIT;
    as_buf_unindented(&lines, text);
    st = st ? st : as_buf_check(&lines, err);
    line = st ? line : ini_parse_string(as_buf_get(&lines), on_member, &p);
    as_buf_finish(&lines);
    st = st ? st : p.status;
    if (!st && line)
        st = as_fail(err, AS_USAGE, "neither a [section] nor 'name = value'");
    else if (!st && out->grids_n == 0)
        st = as_fail(err, AS_USAGE, "no probe is named; add a section such as [latency]");
    if (st) {
        struct as_buf where = AS_BUF_INIT;
        as_buf_printf(&where, line > 0 ? "suite '%s', line %d" : "suite '%s'", name, line);
        as_fail_in(err, as_buf_get(&where));
        as_buf_finish(&where);
        as_suite_finish(out);
    }
    return st;
}

void as_suites_devices(const struct as_suite *suites, size_t n, struct as_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        bool known = !suites[i].devices[0];
        for (size_t k = 0; k < i && !known; k++)
            known = strcmp(suites[k].devices, suites[i].devices) == 0;
        if (!known)
            as_buf_printf(out, "%s%s", out->len ? "," : "", suites[i].devices);
    }
    if (out->len == 0)
        as_buf_str(out, "each");
}

void as_suite_finish(struct as_suite *s)
{
    free(s->grids);
    free(s->grid_devices);
    s->grids = NULL;
    s->grid_devices = NULL;
    s->grids_n = 0;
}

/* A single probe: its quick grids, somewhat finer than in a suite of many, in a minute; in ten where a precision is to
 * be reached. */
static enum as_status suite_of_probe(const struct as_probe *probe, struct as_suite *out, struct as_error *err)
{
    *out = (struct as_suite){.precision = 0.02, .trials = 3, .budget_s = 60, .precise_budget_s = 600};
    as_copy_text(out->name, sizeof out->name, probe->name);
    as_copy_text(out->title, sizeof out->title, probe->title);
    struct suite_parser p = {.suite = out, .current = -1, .err = err};
    enum as_status st = add_preset(&p, probe, probe->quick);
    if (st)
        as_suite_finish(out);
    return st;
}

static enum as_status suite_from_file(const char *path, struct as_suite *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = as_buf_read_file(&text, path, SUITE_TEXT_MAX, err);
    if (!st && memchr(as_buf_get(&text), 0, text.len))
        st = as_fail(err, AS_USAGE, "'%s' is not a text file", path);
    if (!st)
        st = as_suite_parse(path, as_buf_get(&text), out, err);
    as_buf_finish(&text);
    return st;
}

const char *as_suite_or_probe(const char *word, bool *suite, bool *probe)
{
    static const char is_probe[] = "probe:", is_suite[] = "suite:";
    *suite = strncmp(word, is_probe, sizeof is_probe - 1) != 0;
    *probe = strncmp(word, is_suite, sizeof is_suite - 1) != 0;
    return word + (!*suite ? sizeof is_probe - 1 : !*probe ? sizeof is_suite - 1 : 0);
}

bool as_suite_is_built_in(const char *word)
{
    bool suites, probes, is = false;
    const char *name = as_suite_or_probe(word, &suites, &probes);
    for (size_t i = 0; suites && as_suite_texts[i].name; i++)
        is |= strcmp(as_suite_texts[i].name, name) == 0;
    return is;
}

enum as_status as_suite_find(const char *name, struct as_suite *out, struct as_error *err)
{
    bool suites, probes;
    const char *names[128];
    size_t n = 0;
    *out = (struct as_suite){0};
    name = as_suite_or_probe(name, &suites, &probes);
    for (size_t i = 0; suites && as_suite_texts[i].name; i++) {
        if (strcmp(as_suite_texts[i].name, name) == 0)
            return as_suite_parse(name, as_suite_texts[i].text, out, err);
        if (n < 60)
            names[n++] = as_suite_texts[i].name;
    }
    const struct as_probe *probe = probes ? as_probe_find(name) : NULL;
    if (probe && !probe->hidden)
        return suite_of_probe(probe, out, err);
    size_t len = strlen(name);
    if (strchr(name, '/') || (len > 4 && strcmp(name + len - 4, ".ini") == 0))
        return suite_from_file(name, out, err);
    for (const char *const *p = as_probe_names(); probes && *p; p++)
        names[n++] = *p;
    names[n] = NULL;
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "there is no %s '%s'%s%s%s",
                   suites && probes ? "suite or probe"
                   : suites         ? "suite"
                                    : "probe",
                   name, near ? "; did you mean '" : "; see assay list suites and assay list probes", near ? near : "",
                   near ? "'?" : "");
}
