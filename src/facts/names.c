/* Sentences that list names, each once. */
#include "base/text.h"
#include "facts/rule.h"

#include <string.h>

enum { LETTERS = 200 };

void as_names_add(struct as_names *names, const char *name)
{
    struct as_buf line = AS_BUF_INIT;
    as_buf_printf(&line, "\n%s\n", name);
    if (!strstr(as_buf_get(&names->all), as_buf_get(&line))) {
        as_buf_str(&names->all, as_buf_get(&line));
        if (names->text.len + strlen(name) < names->letters)
            as_buf_printf(&names->text, "%s%s", names->text.len ? ", " : "", name);
        else
            names->more++;
    }
    as_buf_finish(&line);
}

const char *as_names_text(struct as_names *names)
{
    if (names->more)
        as_buf_printf(&names->text, " and %zu more", names->more);
    names->more = 0;
    return as_buf_get(&names->text);
}

void as_names_finish(struct as_names *names)
{
    as_buf_finish(&names->text);
    as_buf_finish(&names->all);
}

void as_instruction_name(const struct as_cell *cell, struct as_buf *out)
{
    as_buf_printf(out, "%.40s", as_cell_axis(cell, "instruction"));
    if (as_cell_axis_number(cell, "n") > 0)
        as_buf_printf(out, " n=%.0f", as_cell_axis_number(cell, "n"));
}

struct as_fact *as_fact_list(struct as_rule_context *c, const struct as_cell *const *cells, size_t n,
                             void (*name_of)(const struct as_cell *cell, struct as_buf *out), const void *what,
                             as_takes_fn is, enum as_relation relation, const char *sentence)
{
    struct as_names names = AS_NAMES(LETTERS);
    struct as_buf name = AS_BUF_INIT;
    struct as_fact *f = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is(cells[i], what))
            continue;
        if (!f && !(f = as_fact_add(c, relation, NULL, NULL)))
            break;
        as_fact_evidence(f, cells[i]);
        as_buf_clear(&name);
        name_of(cells[i], &name);
        as_names_add(&names, as_buf_get(&name));
    }
    if (f)
        as_fact_say(f, "%s: %s", sentence, as_names_text(&names));
    as_names_finish(&names);
    as_buf_finish(&name);
    return f;
}
