/* Selects the cells to measure first: those that a data sheet quotes. */
#include "plan/plan.h"

#include "base/text.h"

#include <string.h>

/* Whether the value matches one of the words in text[0..n): "4KiB,64MiB", "16MiB.." or "pinned,host". */
static bool first_fits(const struct as_cell *cell, const struct as_axis *axis, const char *text, size_t n)
{
    const char *value = as_axes_text(&cell->axes, axis->name);
    for (size_t at = 0, len; at < n; at += len + 1) {
        char word[64];
        uint64_t bytes;
        len = strcspn(text + at, ", ");
        as_copy_text(word, len + 1 < sizeof word ? len + 1 : sizeof word, text + at);
        if (strcmp(value, word) == 0)
            return true;
        const size_t end = strlen(word);
        const bool open = end > 2 && strcmp(word + end - 2, "..") == 0;
        if (open)
            word[end - 2] = '\0';
        const uint64_t own = as_axes_u64(&cell->axes, axis->name);
        if (axis->type == AS_AXIS_SIZE && !as_parse_size(word, &bytes, NULL) && (open ? own >= bytes : own == bytes))
            return true;
        const enum as_role role = axis->domain == AS_DOMAIN_ALLOCATOR ? as_role_find(word) : AS_ROLE_UNKNOWN;
        if (role != AS_ROLE_UNKNOWN && as_allocator_role(cell->device, value) == role)
            return true;
    }
    return false;
}

/* AS_FIRST_NOT if an axis does not match or is missing in the probe. */
static enum as_first first_match(const struct as_probe *probe, const struct as_cell *cell, const char *pattern)
{
    enum as_first found = AS_FIRST_COARSE;
    while (*pattern) {
        char name[24];
        const size_t len = strcspn(pattern, " "), eq = strcspn(pattern, "=");
        as_copy_text(name, eq + 1 < sizeof name ? eq + 1 : sizeof name, pattern);
        const struct as_axis *axis = as_probe_axis(probe, name);
        if (!axis || eq >= len || !first_fits(cell, axis, pattern + eq + 1, len - eq - 1))
            return AS_FIRST_NOT;
        if (axis->type != AS_AXIS_WORD)
            found = AS_FIRST;
        pattern += len;
        pattern += strspn(pattern, " ");
    }
    return found;
}

enum as_first as_plan_first(const struct as_probe *probe, const struct as_cell *cell)
{
    enum as_first best = AS_FIRST_NOT;
    for (const char *const *p = probe->first; p && *p; p++) {
        const enum as_first found = first_match(probe, cell, *p);
        best = found > best ? found : best;
    }
    return best;
}
