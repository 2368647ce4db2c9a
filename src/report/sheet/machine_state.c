#include "report/sheet/machine_state.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Members of the provenance that numbers depend on. */
static const struct {
    const char *what, *object, *member;
} members[] = {
    {"kernel", "host", "kernel"},
    {"virtualization", "host", "virtualization"},
    {"microcode", "cpu", "microcode"},
    {"governor", "cpu", "governor"},
    {"SMT", "cpu", "smt"},
    {"usable CPUs", "cpu", "usable"},
    {"CPU quota", "memory", "cpu_quota"},
    {"page size", "memory", "page_size"},
    {"transparent huge pages", "memory", "thp"},
};

struct as_machine_state as_machine_state_of(const struct as_run *run)
{
    return (struct as_machine_state){.run = run,
                                     .provenance = run->provenance ? json_loads(run->provenance, 0, NULL) : NULL,
                                     .devices = run->devices ? json_loads(run->devices, 0, NULL) : NULL};
}

void as_machine_state_finish(struct as_machine_state *s)
{
    json_decref(s->provenance);
    json_decref(s->devices);
    *s = (struct as_machine_state){0};
}

static const json_t *member_of(const struct as_machine_state *s, const char *object, const char *member)
{
    return json_object_get(json_object_get(s->provenance, object), member);
}

/* Text and numbers; the choice in brackets of a file such as "always [madvise] never". "" unknown. */
static void state_text(const json_t *v, char *out, size_t size)
{
    const char *text = json_string_value(v);
    const char *open = text ? strchr(text, '[') : NULL, *close = open ? strchr(open, ']') : NULL;
    out[0] = 0;
    if (open && close)
        as_copy_text(out, (size_t)(close - open) < size ? (size_t)(close - open) : size, open + 1);
    else if (text)
        as_copy_text(out, size, text);
    else if (json_is_number(v))
        snprintf(out, size, "%.10g", json_number_value(v));
}

static void state_add(const char *what, const char *a, const char *b, struct as_buf *out)
{
    if (a[0] && b[0] && strcmp(a, b) != 0)
        as_buf_printf(out, "%s%s %s, then %s", out->len ? "; " : "", what, a, b);
}

bool as_machine_state_is_same_host(const struct as_machine_state *a, const struct as_machine_state *b)
{
    char x[160], y[160];
    state_text(member_of(a, "cpu", "model"), x, sizeof x);
    state_text(member_of(b, "cpu", "model"), y, sizeof y);
    if (x[0] && y[0] && strcmp(x, y) != 0)
        return false;
    state_text(member_of(a, "host", "boot_id"), x, sizeof x);
    state_text(member_of(b, "host", "boot_id"), y, sizeof y);
    return (x[0] && strcmp(x, y) == 0) || strcmp(a->run->host, b->run->host) == 0;
}

void as_machine_state_host(const struct as_machine_state *a, const struct as_machine_state *b, struct as_buf *out)
{
    char x[160], y[160];
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        state_text(member_of(a, members[i].object, members[i].member), x, sizeof x);
        state_text(member_of(b, members[i].object, members[i].member), y, sizeof y);
        state_add(members[i].what, x, y, out);
    }
    state_add("build", a->run->tool_commit, b->run->tool_commit, out);
}

static const json_t *state_device(const struct as_machine_state *s, const char *id)
{
    size_t i;
    const json_t *device;
    json_array_foreach(s->devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "id"));
        if (name && strcmp(name, id) == 0)
            return device;
    }
    return NULL;
}

void as_machine_state_device(const struct as_machine_state *a, const struct as_machine_state *b, const char *id,
                             struct as_buf *out)
{
    static const char *const names[][2] = {{"name", "name"}, {"UUID", "uuid"}, {"bus", "bus_id"}, {"driver", "driver"}};
    const json_t *p = state_device(a, id), *q = state_device(b, id);
    char uuid_a[64], uuid_b[64];
    state_text(json_object_get(p, "uuid"), uuid_a, sizeof uuid_a);
    state_text(json_object_get(q, "uuid"), uuid_b, sizeof uuid_b);
    for (size_t i = 0; p && q && i < sizeof names / sizeof *names; i++) {
        char x[160], y[160], what[64];
        if (uuid_a[0] && uuid_b[0] && strcmp(names[i][1], "bus_id") == 0) /* the same device may be in another slot */
            continue;
        state_text(json_object_get(p, names[i][1]), x, sizeof x);
        state_text(json_object_get(q, names[i][1]), y, sizeof y);
        snprintf(what, sizeof what, "%s of %s", names[i][0], id);
        state_add(what, x, y, out);
    }
}

bool as_machine_state_has(const struct as_machine_state *s, const char *device)
{
    return state_device(s, device) != NULL;
}

double as_machine_state_load(const struct as_machine_state *s)
{
    const json_t *load = member_of(s, "load", "1m");
    return json_is_number(load) ? json_number_value(load) : NAN;
}

bool as_machine_state_rebooted(const struct as_machine_state *a, const struct as_machine_state *b)
{
    char x[160], y[160];
    state_text(member_of(a, "host", "boot_id"), x, sizeof x);
    state_text(member_of(b, "host", "boot_id"), y, sizeof y);
    return x[0] && y[0] && strcmp(x, y) != 0;
}
