#include "model/fragment.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* n numbers or "-" that are separated by one blank each; NULL: the text is no such list. The caller's. */
static int *numbers_of(const char *text, size_t n)
{
    int *list = text ? calloc(n, sizeof *list) : NULL;
    const char *at = text;
    for (size_t i = 0; list && i < n; i++) {
        char *end = (char *)at + 1;
        const long v = *at == '-' ? -1 : *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : LONG_MAX;
        if (v >= AS_FRAGMENT_ELEMENTS || *end != (i + 1 < n ? ' ' : 0)) {
            free(list);
            return NULL;
        }
        list[i] = (int)v;
        at = end + 1;
    }
    return list;
}

/* One more than the largest number. */
static size_t room_of(const int *list, size_t n)
{
    int most = -1;
    for (size_t i = 0; i < n; i++)
        most = list[i] > most ? list[i] : most;
    return (size_t)(most + 1);
}

static size_t size_in(const json_t *notes, const char *name)
{
    const json_int_t v = json_integer_value(json_object_get(notes, name));
    return v > 0 && v <= AS_FRAGMENT_ELEMENTS ? (size_t)v : 0;
}

bool as_fragment_of(const struct as_cell *cell, struct as_fragment *out)
{
    json_t *notes = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    *out = (struct as_fragment){.rows = size_in(notes, "rows"), .columns = size_in(notes, "columns")};
    const size_t n = out->rows * out->columns;
    if (n && n <= AS_FRAGMENT_ELEMENTS) {
        out->lanes = numbers_of(json_string_value(json_object_get(notes, "lanes")), n);
        out->places = numbers_of(json_string_value(json_object_get(notes, "places")), n);
    }
    json_decref(notes);
    if (out->lanes && out->places) {
        out->lanes_n = room_of(out->lanes, n);
        out->places_n = room_of(out->places, n);
        if (out->lanes_n * out->places_n <= AS_FRAGMENT_ROOM * n)
            return true;
    }
    as_fragment_finish(out);
    return false;
}

void as_fragment_finish(struct as_fragment *f)
{
    free(f->lanes);
    free(f->places);
    *f = (struct as_fragment){0};
}

bool as_fragment_has_note(const char *name)
{
    return strcmp(name, "lanes") == 0 || strcmp(name, "places") == 0;
}
