#include "base/text.h"
#include "cli/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "memory read, 1 thread" of the words. */
static void join_words(const struct as_args *args, struct as_buf *out)
{
    for (size_t i = 0; i < args->words; i++)
        as_buf_printf(out, "%s%s", i ? " " : "", args->word[i]);
}

/* The nearest name, line or group, if the text is a typing error. */
static enum as_status no_quantity(const char *text, struct as_error *err)
{
    size_t n = 0, quantities = 0;
    while (as_quantities[quantities].name)
        quantities++;
    char **lines = calloc(quantities + 1, sizeof *lines);
    const char **names = calloc(3 * quantities + 1, sizeof *names);
    for (size_t i = 0; lines && names && i < quantities; i++) {
        struct as_buf line = AS_BUF_INIT;
        as_buf_printf(&line, "%s %s", as_quantities[i].group, as_quantities[i].label);
        lines[i] = as_buf_take(&line);
        names[n++] = as_quantities[i].name;
        names[n++] = lines[i] ? lines[i] : "";
        names[n++] = as_quantities[i].group;
    }
    const char *near = names ? as_nearest(text, names) : NULL;
    const enum as_status st = as_fail(err, AS_NOTFOUND, "there is no quantity '%.80s'%s%s%s", text,
                                      near ? "; did you mean '" : "; 'assay history' lists those that were measured",
                                      near ? near : "", near ? "'?" : "");
    for (size_t i = 0; lines && i < quantities; i++)
        free(lines[i]);
    free(lines);
    free(names);
    return st;
}

enum as_status as_history_find(const struct as_args *args, struct as_history_asked *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    enum as_status st = AS_OK;
    *out = (struct as_history_asked){.device = as_args_value(args, "device")};
    join_words(args, &text);
    if (!text.len) {
        as_buf_finish(&text);
        return AS_OK;
    }
    out->quantity = as_quantity_named(as_buf_get(&text));
    for (const struct as_quantity *q = as_quantities; q->name && !out->quantity; q++)
        if (as_quantity_is_called(q, as_buf_get(&text)))
            out->quantity = q;
    for (const struct as_quantity *q = as_quantities; q->name && !out->quantity && !out->group; q++)
        if (strcasecmp(q->group, as_buf_get(&text)) == 0)
            out->group = q->group;
    if (out->quantity && out->quantity->beside)
        st = as_fail(err, AS_USAGE, "'%s' is no line of the data sheet: it is said beside '%s'", out->quantity->name,
                     out->quantity->beside->name);
    else if (!out->quantity && !out->group)
        st = no_quantity(as_buf_get(&text), err);
    as_buf_finish(&text);
    return st;
}

bool as_history_is_asked(const struct as_history *h, const struct as_history_asked *asked)
{
    return (!asked->device || strcmp(asked->device, h->device->id) == 0) &&
           (!asked->quantity || asked->quantity == h->row->of) &&
           (!asked->group || strcmp(asked->group, h->row->group) == 0);
}

double as_history_clock(const struct as_history *h, const struct as_history_run *run)
{
    const bool has = strcmp(h->device->id, "cpu") == 0 || h->row->clock_exponent > 0;
    return has ? run->run->clock_hz : NAN;
}
