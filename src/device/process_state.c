/* States of worker processes: which are valid, and how a process enters one. */
#include "device/process_state.h"

#include "base/text.h"
#include "device/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES_MAX = 16 /* of all backends, and of one state */, VALUE_MAX = 16 };

struct assignment {
    char name[AS_STATE_SIZE], value[VALUE_MAX + 1];
};

static size_t all_variables(const char *names[VARIABLES_MAX + 1])
{
    size_t n = 0;
    for (size_t b = 0; as_backends[b]; b++)
        for (const char *const *v = as_backends[b]->environment; v && *v && n < VARIABLES_MAX; v++)
            names[n++] = *v;
    names[n] = NULL;
    return n;
}

/* The variables of all backends of this build: "HSA_XNACK, HSA_ENABLE_SDMA, ...", valid until the next call. */
static const char *state_variables(void)
{
    static char text[256];
    const char *names[VARIABLES_MAX + 1];
    const size_t n = all_variables(names);
    text[0] = 0;
    for (size_t i = 0, used = 0; i < n && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", names[i]);
    return text;
}

static bool is_known(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

static enum as_status check_name(const char *text, const char *name, struct as_error *err)
{
    const char *names[VARIABLES_MAX + 1];
    all_variables(names);
    if (is_known(names, name))
        return AS_OK;
    const char *near = as_nearest(name, names);
    return as_fail(err, AS_USAGE, "state '%s': no runtime that assay drives is known to read '%s'%s%s%s", text, name,
                   near ? "; did you mean '" : "; use one of ", near ? near : state_variables(), near ? "'?" : "");
}

/* The assignment at *at, which moves behind it. */
static enum as_status next_assignment(const char *text, const char **at, struct assignment *out, struct as_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t whole = strcspn(*at, "+"), name = strcspn(*at, "=+"), value = whole - name;
    if (name == whole || name == 0 || name >= sizeof out->name)
        return as_fail(err, AS_USAGE, "state '%s' is not of the form VARIABLE=VALUE, or several of these joined by '+'",
                       text);
    as_copy_text(out->name, name + 1, *at);
    if (value < 2 || value > VALUE_MAX + 1 || strspn(*at + name + 1, letters) != value - 1)
        return as_fail(err, AS_USAGE, "state '%s': the value of '%s' is not 1 to %d letters or digits", text, out->name,
                       VALUE_MAX);
    as_copy_text(out->value, value, *at + name + 1);
    *at += whole + ((*at)[whole] == '+');
    return check_name(text, out->name, err);
}

static enum as_status parse_assignments(const char *text, struct assignment *out, size_t *n, struct as_error *err)
{
    enum as_status st = AS_OK;
    const char *at = text;
    *n = 0;
    if (strlen(text) >= AS_STATE_SIZE || !text[0] || text[strlen(text) - 1] == '+')
        return as_fail(err, AS_USAGE, "state '%.*s' is not 1 to %d characters of VARIABLE=VALUE, joined by '+'",
                       AS_STATE_SIZE, text, AS_STATE_SIZE - 1);
    while (*at && !st) {
        if (*n == VARIABLES_MAX)
            return as_fail(err, AS_USAGE, "state '%s' has more than %d variables", text, VARIABLES_MAX);
        st = next_assignment(text, &at, &out[*n], err);
        for (size_t i = 0; i < *n && !st; i++)
            if (strcmp(out[i].name, out[*n].name) == 0)
                st = as_fail(err, AS_USAGE, "state '%s' sets '%s' twice", text, out[i].name);
        ++*n;
    }
    return st;
}

enum as_status as_state_parse(const char *device, const char *text, char out[static AS_STATE_SIZE],
                              struct as_error *err)
{
    struct assignment a[VARIABLES_MAX];
    size_t n, used = 0;
    const struct as_backend *backend = as_backend_find(device);
    const char *const *table = backend ? backend->environment : NULL;
    enum as_status st = parse_assignments(text, a, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        if (!is_known(table, a[i].name))
            st = as_fail(err, AS_UNSUPPORTED, "state '%s': the runtime of '%s' does not read '%s'", text, device,
                         a[i].name);
    out[0] = 0;
    for (; !st && table && *table; table++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(*table, a[i].name) == 0)
                used += (size_t)snprintf(out + used, AS_STATE_SIZE - used, "%s%s=%s", used ? "+" : "", a[i].name,
                                         a[i].value);
    return st;
}

bool as_states_have(const struct as_state_list *list, const char *state)
{
    size_t i = 0;
    while (i < list->n && strcmp(list->v[i], state) != 0)
        i++;
    return i < list->n;
}

/* One item of a list, without blanks around it. */
static enum as_status add_state(struct as_state_list *list, const char *device, const char *text, struct as_error *err)
{
    struct assignment a[VARIABLES_MAX];
    char state[AS_STATE_SIZE];
    size_t n;
    enum as_status st = device ? as_state_parse(device, text, state, err) : parse_assignments(text, a, &n, err);
    if (st || !device || as_states_have(list, state))
        return st == AS_UNSUPPORTED ? AS_OK : st;
    if (list->n == AS_STATES_MAX)
        return as_fail(err, AS_USAGE, "more than %d states of '%s' in one run", AS_STATES_MAX, device);
    as_copy_text(list->v[list->n++], AS_STATE_SIZE, state);
    return AS_OK;
}

enum as_status as_states_add(struct as_state_list *list, const char *device, const char *text, struct as_error *err)
{
    enum as_status st = AS_OK;
    const char *at = text;
    do {
        char item[256];
        at += strspn(at, " ");
        size_t n = strcspn(at, ",");
        const char *next = at[n] ? at + n + 1 : NULL;
        while (n && at[n - 1] == ' ')
            n--;
        as_copy_text(item, n < sizeof item ? n + 1 : sizeof item, at);
        st = add_state(list, device, item, err);
        at = next;
    } while (at && !st);
    return st;
}

enum as_status as_state_enter(const char *device, const char *text, struct as_error *err)
{
    struct assignment a[VARIABLES_MAX];
    char state[AS_STATE_SIZE];
    size_t n = 0;
    enum as_status st = as_state_parse(device, text, state, err);
    if (!st)
        st = parse_assignments(state, a, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        if (setenv(a[i].name, a[i].value, 1))
            st = as_nomem(err, 0, "the environment");
    return st;
}
