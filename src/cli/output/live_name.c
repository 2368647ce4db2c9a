/* The name of the measurement that is being made. */
#include "base/text.h"
#include "cli/output/live.h"
#include "probe/probe.h"
#include "quantity/quantity.h"
#include "report/model/load.h"
#include "report/terminal/terminal.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool live_has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (; *text; text++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == n)
            return true;
    }
    return false;
}

static const struct as_quantity *live_name_quantity(const struct as_live *l, const struct as_cell *cell,
                                                    struct as_buf *out)
{
    const struct as_quantity_subject s = {.device = cell->device, .info = as_report_device(&l->run, cell->device)};
    const struct as_quantity *q = s.info ? as_quantity_of_cell(&s, cell, true) : NULL;
    char label[64];
    if (!q)
        return NULL;
    as_quantity_expand(&s, q->label, label, sizeof label);
    if (!live_has_word(label, q->group))
        as_buf_printf(out, "%s ", q->group);
    as_buf_str(out, label);
    return q;
}

/* Is the cell named by the quantity, too? NULL: by its probe. */
static bool is_named_so(const struct as_live *l, const struct as_cell *c, const struct as_quantity *q)
{
    const struct as_quantity_subject s = {.device = c->device, .info = as_report_device(&l->run, c->device)};
    for (const struct as_quantity_source *source = q ? q->sources : NULL; source && source->from; source++)
        if (strchr(source->from, ' ') && as_quantity_is_of_side(&s, source->side) &&
            as_quantity_is_cell_of(&s, c, source->from))
            return true;
    return !q;
}

/* Bit i: another cell of the name has another value of axis i of the probe. */
static unsigned axes_that_vary(const struct as_live *l, const struct as_cell *cell, const struct as_probe *probe,
                               const struct as_quantity *q)
{
    unsigned vary = 0;
    for (size_t k = 0; k < l->run.cells_n; k++) {
        const struct as_cell *c = &l->run.cells[k];
        if (strcmp(c->probe, cell->probe) != 0 || strcmp(c->device, cell->device) != 0 || !is_named_so(l, c, q))
            continue;
        for (unsigned i = 0; probe->axes[i].name; i++)
            if (strcmp(as_axes_text(&c->axes, probe->axes[i].name), as_axes_text(&cell->axes, probe->axes[i].name)) !=
                0)
                vary |= 1u << i;
    }
    return vary;
}

/* "64 MiB", "copy", "threads=2" */
static void live_add_axis(const struct as_axis *axis, const struct as_axis_value *v, const struct as_probe *probe,
                          struct as_buf *out)
{
    as_buf_str(out, ", ");
    if (axis->type == AS_AXIS_COUNT)
        as_buf_printf(out, "%s=", axis->name);
    as_text_axis(out, v, probe);
}

void as_live_name(const struct as_live *l, const struct as_cell *cell, struct as_buf *out)
{
    const struct as_probe *probe = as_probe_find(cell->probe);
    const struct as_quantity *q = l ? live_name_quantity(l, cell, out) : NULL;
    const bool is_hidden = probe && probe->hidden;
    if (!q)
        as_buf_str(out, is_hidden ? "reference measurement" : probe ? probe->title : cell->probe);
    const unsigned vary = l && probe && !is_hidden ? axes_that_vary(l, cell, probe, q) : 0;
    bool has_size = false;
    for (unsigned i = 0; probe && !is_hidden && probe->axes[i].name; i++) {
        const struct as_axis *axis = &probe->axes[i];
        const struct as_axis_value *v = as_axes_get(&cell->axes, axis->name);
        const bool is_size = axis->type == AS_AXIS_SIZE && v && isfinite(v->number);
        const bool is_said = !q && is_size && !has_size; /* whether or not it varies */
        const bool is_usual = !is_size && v && strcmp(v->text, axis->def) == 0;
        if (v && v->text[0] && !is_usual && (vary & 1u << i || is_said))
            live_add_axis(axis, v, probe, out);
        has_size |= is_size;
    }
    if (l && l->run.devices_n > 1)
        as_buf_printf(out, " (%s)", cell->device);
}
