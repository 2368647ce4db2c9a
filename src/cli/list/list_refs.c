/* assay list refs: sets of published figures, or the figures of one of them. */
#include "cli/list/list.h"

#include "base/json.h"
#include "facts/refs_facts.h"

#include <string.h>

static void add_set(const struct as_listing *l, const struct as_refs *refs, struct as_table *t)
{
    struct as_buf chips = AS_BUF_INIT, source = AS_BUF_INIT, line = AS_BUF_INIT;
    as_refs_chips(refs, &chips);
    as_buf_add(&source, refs->v[0].source, as_refs_source(refs));
    if (l->json) {
        as_buf_char(&line, '{');
        as_json_add_text(&line, "refs", refs->name);
        as_json_add_text(&line, "chips", as_buf_get(&chips));
        as_json_add_int(&line, "figures", (long long)refs->n);
        as_json_add_text(&line, "source", as_buf_get(&source));
        as_list_json_line(&line, l->out);
    } else {
        as_table_add(t, refs->name, AS_PAINT_STRONG);
        as_table_addf(t, AS_PAINT_NONE, "%zu", refs->n);
        as_table_add(t, as_buf_get(&chips), AS_PAINT_NONE);
        as_table_add(t, as_buf_get(&source), AS_PAINT_NONE);
    }
    as_buf_finish(&chips);
    as_buf_finish(&source);
    as_buf_finish(&line);
}

static enum as_status list_sets(const struct as_listing *l, struct as_error *err)
{
    static const char *const heads[] = {"refs", ">figures", "chips", "source", NULL};
    struct as_table t;
    enum as_status st = AS_OK;
    as_table_init(&t, heads);
    for (size_t i = 0; as_refs_name(i) && !st; i++) {
        struct as_refs refs;
        st = as_refs_load_for_facts(as_refs_name(i), &refs, err);
        if (!st)
            add_set(l, &refs, &t);
        as_refs_finish(&refs);
    }
    if (!st && !l->json)
        st = as_table_write(&t, l->style, l->out, err);
    as_table_finish(&t);
    return st;
}

/* The prefix shared by all sources (set and publication) is printed once; the column shows the rest. */
static enum as_status figures_table(const struct as_listing *l, const struct as_refs *refs, struct as_error *err)
{
    static const char *const heads[] = {"of", "what", ">published", "conditions", "in", NULL};
    struct as_buf text = AS_BUF_INIT;
    struct as_table t;
    const size_t shared = as_refs_source(refs);
    as_buf_printf(&text, "%s: %zu figures", refs->name, refs->n);
    if (shared)
        as_buf_printf(&text, " of %.*s", (int)shared, refs->v[0].source);
    as_paint_on(l->out, AS_PAINT_STRONG, l->style);
    as_buf_terminal(l->out, as_buf_get(&text));
    as_paint_off(l->out, AS_PAINT_STRONG, l->style);
    as_buf_str(l->out, "\n\n");
    as_table_init(&t, heads);
    for (size_t i = 0; i < refs->n; i++) {
        const struct as_ref *ref = &refs->v[i];
        const char *behind = ref->source + shared;
        as_table_addf(&t, AS_PAINT_NONE, "%s, %s", ref->chip, ref->device);
        as_buf_clear(&text);
        as_ref_what(ref, &text);
        as_table_add(&t, as_buf_get(&text), AS_PAINT_NONE);
        as_buf_clear(&text);
        as_ref_value(ref, false, &text);
        as_table_add(&t, as_buf_get(&text), AS_PAINT_NONE);
        as_table_add(&t, ref->conditions, AS_PAINT_DIM);
        as_table_add(&t, behind + strspn(behind, ", "), AS_PAINT_DIM);
    }
    enum as_status st = as_table_write(&t, l->style, l->out, err);
    as_table_finish(&t);
    as_buf_finish(&text);
    return st;
}

static enum as_status list_figures(const struct as_listing *l, const char *name, struct as_error *err)
{
    struct as_refs refs;
    enum as_status st = as_refs_load_for_facts(name, &refs, err);
    if (!st && !l->json)
        st = figures_table(l, &refs, err);
    for (size_t i = 0; i < refs.n && !st && l->json; i++) {
        as_ref_to_json(&refs, i, NULL, 0, l->out);
        as_buf_char(l->out, '\n');
    }
    as_refs_finish(&refs);
    return st;
}

enum as_status as_list_refs(const struct as_listing *l, struct as_error *err)
{
    const char *name = as_args_word(l->args, 1);
    return name ? list_figures(l, name, err) : list_sets(l, err);
}
