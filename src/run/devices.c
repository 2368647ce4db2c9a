/* Devices of a run: found and opened through workers. */
#include "run/device_names.h"
#include "run/engine.h"

#include "base/clock.h"
#include "base/text.h"
#include "device/backend.h"

#include <stdlib.h>
#include <string.h>

/* Sanity bounds on devices per backend and in all. */
enum { BACKENDS_MAX = 16, DEVICES_EACH_MAX = AS_RUN_DEVICES_MAX / BACKENDS_MAX };
/* Loading a driver takes a second or two, a first start of a runtime more. */
static const double OPEN_S = 60;

static enum as_status take_description(const json_t *reply, struct as_device_info *info, char **topology,
                                       struct as_error *err)
{
    const json_t *j = json_object_get(reply, "info"), *tree = json_object_get(reply, "topology");
    char *text = json_dumps(j ? j : reply, JSON_COMPACT);
    enum as_status st = text ? as_info_from_json(text, info, err) : as_nomem(err, 0, "a device");
    free(text);
    *topology = !st && tree ? json_dumps(tree, JSON_COMPACT) : NULL;
    return !st && tree && !*topology ? as_nomem(err, 0, "the topology of a device") : st;
}

static enum as_status take_refusal(const json_t *reply, struct as_error *err)
{
    const char *why = json_string_value(json_object_get(reply, "why"));
    int code = (int)json_integer_value(json_object_get(reply, "code"));
    return as_fail(err, code > AS_OK && code <= AS_NOTFOUND ? (enum as_status)code : AS_FAILED, "%s",
                   why ? why : "the worker gave no reason");
}

static enum as_status ask_failed(enum as_receive r, const char *what, const char *why, struct as_error *err)
{
    static const enum as_status statuses[] = {
        [AS_STOPPED] = AS_INTERRUPTED, [AS_PEER_GONE] = AS_UNSUPPORTED, [AS_NO_ANSWER] = AS_UNSUPPORTED,
        [AS_NO_MEMORY] = AS_NOMEM,     [AS_PEER_NO_MEMORY] = AS_NOMEM,  [AS_NOT_STARTED] = AS_FAILED};
    return as_fail(err, statuses[r], "%s: %s", what, why);
}

/* Opens the device of the slot's id and state. */
enum as_status as_slot_open(struct as_slot *slot, const char *program, double deadline,
                            const volatile sig_atomic_t *stop, struct as_error *err)
{
    const char *id = slot->info.id, *state = slot->info.state;
    json_t *reply = NULL,
           *order = json_pack("{s:s, s:s, s:s*}", "do", "open", "device", id, AS_STATE_AXIS, state[0] ? state : NULL);
    char why[300] = "";
    slot->is_open = 0;
    slot->hung = false;
    double start = as_now();
    enum as_status st = order ? as_worker_start(&slot->worker, program, err) : as_nomem(err, 0, "an order");
    if (!st) {
        enum as_receive r = as_worker_ask(&slot->worker, order, deadline, stop, &reply, why, sizeof why);
        slot->hung = r == AS_NO_ANSWER;
        if (r != AS_RECEIVED)
            st = ask_failed(r, id, why, err);
        else if (!json_is_true(json_object_get(reply, "ok")))
            st = take_refusal(reply, err);
        else {
            free(slot->topology);
            st = take_description(reply, &slot->info, &slot->topology, err);
        }
    }
    if (st)
        as_worker_stop(&slot->worker);
    slot->is_open = st == AS_OK;
    slot->open_s = as_now() - start;
    json_decref(order);
    json_decref(reply);
    return st;
}

static enum as_status devices_add_found(struct as_found_device **out, size_t *n, const char *backend,
                                        const struct as_error *why, struct as_error *err)
{
    struct as_found_device *d = realloc(*out, (*n + 1) * sizeof *d);
    if (!d)
        return as_nomem(err, (*n + 1) * sizeof *d, "devices");
    *out = d;
    d += (*n)++;
    *d = (struct as_found_device){0};
    as_copy_text(d->info.id, sizeof d->info.id, backend);
    as_copy_text(d->info.backend, sizeof d->info.backend, backend);
    if (why)
        as_copy_text(d->why, sizeof d->why, why->text);
    return AS_OK;
}

static enum as_status take_list(const char *backend, const json_t *reply, struct as_found_device **out, size_t *n,
                                struct as_error *err)
{
    struct as_error why = {0};
    const json_t *devices = json_object_get(reply, "devices");
    if (!json_is_true(json_object_get(reply, "ok"))) {
        take_refusal(reply, &why);
        return devices_add_found(out, n, backend, &why, err);
    }
    if (json_array_size(devices) == 0) {
        as_fail(&why, AS_UNSUPPORTED, "it can be opened, but it has no device");
        return devices_add_found(out, n, backend, &why, err);
    }
    if (json_array_size(devices) > DEVICES_EACH_MAX) {
        as_fail(&why, AS_UNSUPPORTED, "it reports %zu devices; the maximum is %d", json_array_size(devices),
                DEVICES_EACH_MAX);
        return devices_add_found(out, n, backend, &why, err);
    }
    enum as_status st = AS_OK;
    for (size_t i = 0; i < json_array_size(devices) && !st; i++) {
        const json_t *j = json_array_get(devices, i);
        if ((st = devices_add_found(out, n, backend, NULL, err)))
            break;
        struct as_found_device *d = &(*out)[*n - 1];
        why = (struct as_error){0};
        if (!json_is_true(json_object_get(j, "ok")))
            take_refusal(j, &why);
        else if (take_description(j, &d->info, &d->topology, &why) == AS_NOMEM)
            st = as_fail(err, AS_NOMEM, "%s", why.text); /* the device is listed all the same */
        as_copy_text(d->why, sizeof d->why, why.text);
    }
    return st;
}

static void tell_death(struct as_worker *w, struct as_error *err)
{
    char how[300] = "";
    as_worker_end(w, how, sizeof how);
    as_fail(err, AS_UNSUPPORTED, "the process that loaded it died: %s", how);
}

/* One worker per backend, all started first, so that slow runtimes load concurrently. */
enum as_status as_find_devices(const char *program, const volatile sig_atomic_t *stop, struct as_found_device **out,
                               size_t *n, struct as_error *err)
{
    struct as_worker workers[BACKENDS_MAX];
    struct as_error why[BACKENDS_MAX] = {{0}};
    size_t count = 0;
    enum as_status st = AS_OK;
    *out = NULL;
    *n = 0;
    for (; as_backends[count] && count < BACKENDS_MAX; count++) {
        json_t *order = json_pack("{s:s, s:s}", "do", "list", "backend", as_backends[count]->name);
        if (!as_worker_start(&workers[count], program, &why[count]) &&
            as_message_send(workers[count].fd, order, &why[count]))
            tell_death(&workers[count], &why[count]);
        json_decref(order);
    }
    double deadline = as_now() + OPEN_S;
    for (size_t i = 0; i < count; i++) {
        json_t *reply = NULL;
        if (workers[i].pid && !st) {
            enum as_receive r = as_message_receive_from(workers[i].fd, workers[i].pid, deadline, stop, &reply);
            if (r == AS_STOPPED)
                st = as_fail(err, AS_INTERRUPTED, "stopped while devices were searched for");
            else if (r == AS_NO_MEMORY)
                st = as_nomem(err, 0, "devices");
            else if (r == AS_NO_ANSWER)
                as_fail(&why[i], AS_UNSUPPORTED, "it did not answer in time");
            else if (r != AS_RECEIVED)
                tell_death(&workers[i], &why[i]);
        }
        as_worker_stop(&workers[i]);
        if (!st)
            st = reply ? take_list(as_backends[i]->name, reply, out, n, err)
                       : devices_add_found(out, n, as_backends[i]->name, &why[i], err);
        json_decref(reply);
    }
    if (st) {
        as_found_devices_free(*out, *n);
        *out = NULL;
        *n = 0;
    }
    return st;
}

void as_found_devices_free(struct as_found_device *devices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(devices[i].topology);
    free(devices);
}

static struct as_slot *find_slot(struct as_slot *slots, size_t n, const char *id, const char *state)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(slots[i].info.id, id) == 0 && strcmp(slots[i].info.state, state) == 0)
            return &slots[i];
    return NULL;
}

struct as_slot *as_slot_of_cell(struct as_slot *slots, size_t n, const struct as_cell *cell)
{
    return find_slot(slots, n, cell->device, as_axes_text(&cell->axes, AS_STATE_AXIS));
}

static enum as_status add_slot(struct as_slot **slots, size_t *n, const char *id, const char *state,
                               const char *program, const volatile sig_atomic_t *stop, struct as_error *err)
{
    if (find_slot(*slots, *n, id, state))
        return AS_OK;
    struct as_slot *p = realloc(*slots, (*n + 1) * sizeof *p);
    if (!p)
        return as_nomem(err, (*n + 1) * sizeof *p, "devices");
    *slots = p;
    p += *n;
    *p = (struct as_slot){.worker = AS_WORKER_INIT};
    as_copy_text(p->info.id, sizeof p->info.id, id);
    as_copy_text(p->info.state, sizeof p->info.state, state);
    enum as_status st = as_slot_open(p, program, as_now() + OPEN_S, stop, err);
    if (!st)
        ++*n;
    else
        free(p->topology);
    return st;
}

enum as_status as_slots_describe_state(struct as_slot **slots, size_t *n, const char *device, const char *state,
                                       const char *refused, struct as_error *err)
{
    if (find_slot(*slots, *n, device, state) || !find_slot(*slots, *n, device, ""))
        return AS_OK;
    struct as_slot *p = realloc(*slots, (*n + 1) * sizeof *p);
    if (!p)
        return as_nomem(err, (*n + 1) * sizeof *p, "devices");
    *slots = p;
    p[*n] = (struct as_slot){.worker = AS_WORKER_INIT, .info = find_slot(p, *n, device, "")->info};
    as_copy_text(p[*n].info.state, AS_STATE_SIZE, state);
    as_copy_text(p[*n].refused, sizeof p->refused, refused);
    ++*n;
    return AS_OK;
}

enum as_status as_slots_add_state(struct as_slot **slots, size_t *n, const char *device, const char *state,
                                  const char *program, const volatile sig_atomic_t *stop, struct as_error *err)
{
    char name[AS_STATE_SIZE];
    struct as_error why = {0};
    enum as_status st = as_state_parse(device, state, name, err);
    const struct as_slot *plain = find_slot(*slots, *n, device, "");
    if (!st && plain && as_info_ignores(&plain->info, name)) {
        as_fail(&why, AS_UNSUPPORTED, "%s has no effect here: %s", plain->info.ignored, plain->info.ignored_why);
        return as_slots_describe_state(slots, n, device, name, why.text, err);
    }
    if (st || !(st = add_slot(slots, n, device, name, program, stop, &why)))
        return st;
    if (st != AS_UNSUPPORTED) /* as without a state: what may pass is no answer of the device */
        return as_fail(err, st, "%s", why.text);
    return as_slots_describe_state(slots, n, device, name, why.text, err);
}

enum as_status as_slots_add_states_of(struct as_slot **slots, size_t *n, const struct as_cell *cells, size_t cells_n,
                                      const char *program, const volatile sig_atomic_t *stop, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < cells_n && !st; i++) {
        const char *state = as_axes_text(&cells[i].axes, AS_STATE_AXIS);
        if (state[0] && find_slot(*slots, *n, cells[i].device, ""))
            st = as_slots_add_state(slots, n, cells[i].device, state, program, stop, err);
    }
    return st;
}

/* What "each" left out and no other word of the list opened. */
static void note_devices_left_out(const struct as_found_device *found, size_t found_n, struct as_slot *slots, size_t n,
                                  struct as_buf *left_out)
{
    for (size_t i = 0; left_out && i < found_n; i++) {
        const char *same = found[i].why[0] ? NULL : as_found_same(found, found_n, i);
        if (same && !find_slot(slots, n, found[i].info.id, "") && !as_is_on_request(found[i].info.backend))
            as_buf_printf(left_out, "%s%s is the same hardware as %s",
                          left_out->len ? ", " : "left out: ", found[i].info.id, same);
    }
}

static enum as_status devices_add_word(const char *word, const struct as_found_device *found, size_t found_n,
                                       struct as_slot **slots, size_t *n, const char *program,
                                       const volatile sig_atomic_t *stop, struct as_error *err)
{
    int each = strcmp(word, "each") == 0, all = each || strcmp(word, "all") == 0, any = 0;
    enum as_status st = AS_OK;
    if (as_is_device_id(word) && found_n == 0)
        return add_slot(slots, n, word, "", program, stop, err);
    for (size_t i = 0; i < found_n && !st; i++) {
        int match = strcmp(found[i].info.id, word) == 0 || strcmp(found[i].info.backend, word) == 0;
        if (found[i].why[0] || !(match || (all && !as_is_on_request(found[i].info.backend))))
            continue;
        if (each && as_found_same(found, found_n, i))
            continue;
        any = 1;
        st = add_slot(slots, n, found[i].info.id, "", program, stop, err);
    }
    return st || any || all ? st : as_unknown_device(word, found, found_n, err);
}

enum as_status as_slots_open(const char *list, bool any, const char *program, const volatile sig_atomic_t *stop,
                             struct as_slot **slots, size_t *n, struct as_buf *left_out, struct as_error *err)
{
    char text[512];
    struct as_found_device *found = NULL;
    size_t found_n = 0;
    bool each = false;
    *slots = NULL;
    *n = 0;
    if (strlen(list) >= sizeof text)
        return as_fail(err, AS_USAGE, "the list of devices is too long");
    if (list[0] && !list[strspn(list, ", ")])
        return as_fail(err, AS_USAGE, "the list of devices names none; see assay devices");
    as_copy_text(text, sizeof text, list[0] ? list : "each");
    enum as_status st = AS_OK;
    for (char *rest = text, *word; (word = strsep(&rest, ",")) && !st;)
        if (word[strspn(word, " ")] && !as_is_device_id(word + strspn(word, " ")))
            if ((st = as_find_devices(program, stop, &found, &found_n, err)) == AS_OK)
                break;
    as_copy_text(text, sizeof text, list[0] ? list : "each");
    for (char *rest = text, *word; !st && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        for (size_t len = strlen(word); len && word[len - 1] == ' ';)
            word[--len] = 0;
        if (word[0] && !(any && as_all_unusable(word, found, found_n)))
            st = devices_add_word(word, found, found_n, slots, n, program, stop, err);
        each |= strcmp(word, "each") == 0;
    }
    if (!st && each)
        note_devices_left_out(found, found_n, *slots, *n, left_out);
    if (!st && *n == 0 && any && list[0] && !each)
        st = as_no_listed_device(found, found_n, list, err);
    else if (!st && *n == 0)
        st = as_fail(err, AS_UNSUPPORTED, "there is no device to measure on; assay devices says why");
    as_found_devices_free(found, found_n);
    if (st) {
        as_slots_close(*slots, *n);
        *slots = NULL;
        *n = 0;
    }
    return st;
}

void as_slots_close(struct as_slot *slots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        as_worker_stop(&slots[i].worker);
        free(slots[i].topology);
    }
    free(slots);
}
