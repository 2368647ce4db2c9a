/* Accepts former names of probes, axes and values in suites and --set. */
#include "base/text.h"
#include "model/renames.h"
#include "plan/plan.h"

#include <string.h>

void as_renamed_note(struct as_buf *out, const char *what, const char *former, const char *current)
{
    as_buf_printf(out, "%s%s '%s' is now '%s'", out->len ? "; " : "", what, former, current);
}

const struct as_axis *as_renamed_axis_of(const struct as_probe *probe, const char *name)
{
    const struct as_axis *axis = as_probe_axis(probe, name);
    const char *current = axis ? NULL : as_renamed_axis(probe->name, name);
    return current ? as_probe_axis(probe, current) : axis;
}

static bool is_word_of(const struct as_axis *axis, const char *word)
{
    for (const char *const *w = axis->words; w && *w; w++)
        if (strcmp(*w, word) == 0)
            return true;
    return false;
}

/* Probes that a --set may address. */
struct probes {
    const struct as_probe *v[128];
    size_t n;
};

/* The current value for a former one of any of the probes; NULL if the value is current in one of them. */
static const char *current_word(const struct probes *probes, const char *axis_name, const char *word)
{
    const char *current = NULL;
    for (size_t i = 0; i < probes->n; i++) {
        const struct as_axis *axis = as_probe_axis(probes->v[i], axis_name);
        if (axis && is_word_of(axis, word))
            return NULL;
        if (axis && !current)
            current = as_renamed_word(probes->v[i]->name, axis_name, word);
    }
    return current;
}

static void rename_words(const struct probes *probes, const char *axis, const char *expr, struct as_buf *out,
                         struct as_buf *notes)
{
    while (*expr) {
        char word[64];
        const size_t n = strcspn(expr, ", ");
        const char *current = NULL;
        if (n < sizeof word) {
            memcpy(word, expr, n);
            word[n] = 0;
            current = current_word(probes, axis, word);
        }
        if (current) {
            as_buf_str(out, current);
            as_renamed_note(notes, "value", word, current);
        } else
            as_buf_add(out, expr, n);
        expr += n;
        while (*expr == ',' || *expr == ' ')
            as_buf_char(out, *expr++);
    }
}

void as_renamed_expr(const struct as_probe *probe, const struct as_axis *axis, const char *expr, struct as_buf *out,
                     struct as_buf *notes)
{
    rename_words(&(struct probes){.v = {probe}, .n = 1}, axis->name, expr, out, notes);
}

/* "probe.axis=expr" or "axis=expr". */
struct set {
    char probe[32], axis[32];
    const char *expr;
};

static bool split(const char *text, struct set *out)
{
    const char *eq = strchr(text, '='), *dot = eq ? memchr(text, '.', (size_t)(eq - text)) : NULL;
    const char *start = dot ? dot + 1 : text;
    *out = (struct set){.expr = eq ? eq + 1 : NULL};
    if (!eq || (size_t)(eq - start) >= sizeof out->axis || (dot && (size_t)(dot - text) >= sizeof out->probe))
        return false;
    memcpy(out->axis, start, (size_t)(eq - start));
    if (dot)
        memcpy(out->probe, text, (size_t)(dot - text));
    return true;
}

static bool has(const struct probes *probes, const struct as_probe *probe)
{
    for (size_t i = 0; i < probes->n; i++)
        if (probes->v[i] == probe)
            return true;
    return false;
}

/* Probes of the suites: the one of this name, or all where it is "". */
static void list_probes(const struct as_suite *suites, size_t n, const char *name, struct probes *out)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < suites[i].grids_n; k++) {
            const struct as_probe *probe = suites[i].grids[k].probe;
            const bool meant = !name[0] || strcmp(probe->name, name) == 0;
            if (meant && !has(out, probe) && out->n < sizeof out->v / sizeof *out->v)
                out->v[out->n++] = probe;
        }
}

/* The current name of an axis of the probes; current names take precedence over former ones. NULL: none has it. */
static const char *current_axis(const struct probes *probes, const char *name)
{
    const struct as_axis *renamed = NULL;
    for (size_t i = 0; i < probes->n; i++) {
        if (as_probe_axis(probes->v[i], name))
            return name;
        renamed = renamed ? renamed : as_renamed_axis_of(probes->v[i], name);
    }
    return renamed ? renamed->name : NULL;
}

void as_renamed_set(const struct as_suite *suites, size_t n, const char *text, struct as_buf *out, struct as_buf *notes)
{
    struct set set;
    struct probes probes = {.n = 0};
    const bool well_formed = split(text, &set);
    const char *probe = well_formed ? as_renamed_probe(set.probe) : NULL;
    if (well_formed)
        list_probes(suites, n, probe ? probe : set.probe, &probes);
    const char *axis = well_formed ? current_axis(&probes, set.axis) : NULL;
    as_buf_clear(out);
    if (!axis) {
        as_buf_str(out, text);
        return;
    }
    if (set.probe[0])
        as_buf_printf(out, "%s.", probe ? probe : set.probe);
    as_buf_printf(out, "%s=", axis);
    if (probe)
        as_renamed_note(notes, "probe", set.probe, probe);
    if (strcmp(axis, set.axis) != 0)
        as_renamed_note(notes, "axis", set.axis, axis);
    rename_words(&probes, axis, set.expr, out, notes);
}
