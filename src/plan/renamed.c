/* Earlier names of probes, axes and words in what a person asks for. */
#include "base/text.h"
#include "model/renames.h"
#include "plan/plan.h"

#include <string.h>

void as_renamed_say(struct as_buf *out, const char *what, const char *before, const char *now)
{
    as_buf_printf(out, "%s%s '%s' is now '%s'", out->len ? "; " : "", what, before, now);
}

const struct as_axis *as_renamed_axis_of(const struct as_probe *probe, const char *name)
{
    const struct as_axis *axis = as_probe_axis(probe, name);
    const char *now = axis ? NULL : as_renamed_axis(probe->name, name);
    return now ? as_probe_axis(probe, now) : axis;
}

static bool is_word_of(const struct as_axis *axis, const char *word)
{
    for (const char *const *w = axis->words; w && *w; w++)
        if (strcmp(*w, word) == 0)
            return true;
    return false;
}

void as_renamed_expr(const struct as_probe *probe, const struct as_axis *axis, const char *expr, struct as_buf *out,
                     struct as_buf *said)
{
    while (*expr) {
        char word[64];
        const size_t n = strcspn(expr, ", ");
        const char *now = NULL;
        if (n < sizeof word) {
            memcpy(word, expr, n);
            word[n] = 0;
            now = is_word_of(axis, word) ? NULL : as_renamed_word(probe->name, axis->name, word);
        }
        if (now) {
            as_buf_str(out, now);
            as_renamed_say(said, "value", word, now);
        } else
            as_buf_add(out, expr, n);
        expr += n;
        while (*expr == ',' || *expr == ' ')
            as_buf_char(out, *expr++);
    }
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

/* Writes the set by the names that the probe has today; false: nothing of it was renamed. */
static bool rename_for(const struct as_probe *probe, const struct set *set, struct as_buf *out, struct as_buf *said)
{
    const size_t before = said->len;
    const char *now = as_renamed_probe(set->probe);
    const struct as_axis *axis = as_renamed_axis_of(probe, set->axis);
    if (!axis || (set->probe[0] && strcmp(now ? now : set->probe, probe->name) != 0))
        return false;
    as_buf_clear(out);
    if (set->probe[0])
        as_buf_printf(out, "%s.", probe->name);
    as_buf_printf(out, "%s=", axis->name);
    if (now)
        as_renamed_say(said, "probe", set->probe, now);
    if (strcmp(axis->name, set->axis) != 0)
        as_renamed_say(said, "axis", set->axis, axis->name);
    as_renamed_expr(probe, axis, set->expr, out, said);
    return said->len > before;
}

void as_renamed_set(const struct as_suite *suites, size_t n, const char *text, struct as_buf *out, struct as_buf *said)
{
    struct set set;
    for (size_t i = 0; split(text, &set) && i < n; i++)
        for (size_t k = 0; k < suites[i].grids_n; k++)
            if (rename_for(suites[i].grids[k].probe, &set, out, said))
                return;
    as_buf_clear(out);
    as_buf_str(out, text);
}
