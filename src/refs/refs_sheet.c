/* Figures for lines of the data sheet: which of them apply to a device or a chip. */
#include "base/builtin.h"
#include "base/text.h"
#include "refs/refs.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Calls keep for each built-in figure of the data sheet and collects those that it accepts, which it may scale. */
typedef bool (*keep_fn)(void *what, struct as_ref *ref);

extern const struct as_builtin_text as_refs_texts[]; /* ends with a NULL name */

static enum as_status refs_sheet_collect(keep_fn keep, void *what, struct as_refs *out, struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    *out = (struct as_refs){0};
    for (const struct as_builtin_text *t = as_refs_texts; t->name && !st; t++) {
        struct as_refs set = {0};
        if (strncmp(t->text, "match,", 6) != 0)
            continue;
        st = as_refs_parse(t->name, t->text, strlen(t->text), &set, err);
        for (size_t k = 0; set.v && k < set.n && !st; k++) {
            if (!keep(what, &set.v[k]))
                continue;
            st = as_grow((void **)&out->v, &cap, out->n + 1, sizeof *out->v, err);
            if (!st)
                out->v[out->n++] = set.v[k];
        }
        as_refs_finish(&set);
    }
    if (st)
        as_refs_finish(out);
    return st;
}

/* Is it one of the words, separated by '|'? as_glob: they are globs. */
static bool refs_sheet_is_one_of(const char *words, const char *text, bool as_glob)
{
    char list[sizeof((struct as_ref *)0)->match], *save = NULL;
    as_copy_text(list, sizeof list, words);
    for (char *one = strtok_r(list, "|", &save); one; one = strtok_r(NULL, "|", &save))
        if (as_glob ? fnmatch(one, text, FNM_NOESCAPE) == 0 : strcmp(one, text) == 0)
            return true;
    return false;
}

static bool is_of_device(void *what, struct as_ref *ref)
{
    const struct as_device_info *info = what;
    if (!as_ref_is_of_side(ref, info->id) || !refs_sheet_is_one_of(ref->match, info->name, true))
        return false;
    if (!ref->units || !info->compute_units)
        return true;
    const unsigned chips = (unsigned)(info->compute_units / ref->units);
    if (chips * ref->units != info->compute_units)
        return false;
    if (chips > 1 && strcmp(info->id, "cpu") != 0)
        return false;
    if (info->packages && chips != info->packages) /* parts of several sockets, which reach the memory of each */
        return false;
    ref->lo *= chips;
    ref->hi *= chips;
    return chips > 0;
}

enum as_status as_refs_of_device(const struct as_device_info *info, struct as_refs *out, struct as_error *err)
{
    struct as_device_info copy = *info;
    copy.name[sizeof copy.name - 1] = '\0';
    return refs_sheet_collect(is_of_device, &copy, out, err);
}

enum as_status as_refs_of_side(const struct as_refs *refs, const char *device, struct as_refs *out,
                               struct as_error *err)
{
    size_t cap = 0;
    enum as_status st = AS_OK;
    *out = (struct as_refs){0};
    for (size_t i = 0; i < refs->n && !st; i++) {
        if (!as_ref_is_of_side(&refs->v[i], device))
            continue;
        st = as_grow((void **)&out->v, &cap, out->n + 1, sizeof *out->v, err);
        if (!st)
            out->v[out->n++] = refs->v[i];
    }
    if (st)
        as_refs_finish(out);
    return st;
}

/* How a chip's name continues after this, case and blanks aside; NULL: it does not begin so. */
static const char *rest_after(const char *chip, const char *with)
{
    for (;; chip++) {
        with += strspn(with, " ");
        if (!*with)
            return chip;
        chip += strspn(chip, " ");
        if (tolower((unsigned char)*chip) != tolower((unsigned char)*with++))
            return NULL;
    }
}

struct wanted {
    const char *chip;
    bool whole;
    char first[sizeof((struct as_ref *)0)->chip]; /* the chip that was found */
};

static bool is_of_chip(void *what, struct as_ref *ref)
{
    struct wanted *w = what;
    const char *rest = w->first[0] ? NULL : rest_after(ref->chip, w->chip);
    if (rest && (!*rest || (!w->whole && *rest == ' '))) /* "h100" names the first H100, "h10" none */
        as_copy_text(w->first, sizeof w->first, ref->chip);
    return w->first[0] && strcmp(w->first, ref->chip) == 0;
}

enum as_status as_refs_of_chip(const char *chip, struct as_refs *out, struct as_error *err)
{
    enum as_status st = AS_OK;
    *out = (struct as_refs){0};
    for (int whole = 1; whole >= 0 && !st && !out->n && chip[strspn(chip, " ")]; whole--) {
        struct wanted w = {.chip = chip, .whole = whole};
        st = refs_sheet_collect(is_of_chip, &w, out, err);
    }
    if (!st && !out->n)
        return as_fail(err, AS_NOTFOUND, "no data sheet for chip '%s'; see 'assay list refs'", chip);
    if (!st)
        as_copy_text(out->name, sizeof out->name, out->v[0].chip);
    return st;
}

static bool begins_like(void *what, struct as_ref *ref)
{
    return rest_after(ref->chip, what);
}

enum as_status as_refs_chips_like(const char *name, struct as_buf *out, struct as_error *err)
{
    char part[sizeof((struct as_ref *)0)->chip];
    struct as_refs found = {0};
    enum as_status st = AS_OK;
    as_copy_text(part, sizeof part, name);
    for (size_t n = strlen(part); n >= 3 && 2 * n > strlen(name) && !found.n && !st; part[--n] = '\0')
        st = refs_sheet_collect(begins_like, part, &found, err);
    as_refs_chips(&found, out);
    as_refs_finish(&found);
    return st;
}

/* Sets beside facts, by names or generations of devices; the first that fits counts. */
static const struct {
    const char *match, *set;
} studies[] = {
    {"Apple M4 Pro*", "m4pro"},
    {"Apple M4*", "rigel"},
    {"Apple M[12]*|Apple A*", "metal_benchmarks"},
    {"*MI300A*", "mi300a"},
    {"*Zen 4*|AMD EPYC 9[0-6]?4 *", "zen4"},
    {"*Sapphire Rapids*", "golden_cove"},
    {"*Ice Lake*", "ice_lake"},
    {"*Cascade Lake*", "cascade_lake"},
};

const char *as_refs_about(const struct as_device_info *info)
{
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++)
        if (refs_sheet_is_one_of(studies[i].match, info->name, true) ||
            refs_sheet_is_one_of(studies[i].match, info->generation, true))
            return studies[i].set;
    return NULL;
}

bool as_ref_has_quantity(const struct as_ref *ref, const char *label)
{
    return refs_sheet_is_one_of(ref->quantity, label, false);
}

const struct as_ref *as_refs_find_line(const struct as_refs *refs, const char *kind, const char *group,
                                       const char *label, const char *unit)
{
    for (size_t i = 0; i < refs->n; i++) {
        const struct as_ref *ref = &refs->v[i];
        if (strcmp(ref->kind, kind) == 0 && strcmp(ref->group, group) == 0 && strcmp(ref->unit, unit) == 0 &&
            as_ref_has_quantity(ref, label))
            return ref;
    }
    return NULL;
}
