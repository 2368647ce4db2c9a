/* What is said about a word that means no device here. */
#include "run/device_names.h"

#include "base/text.h"
#include "device/backend.h"

#include <string.h>
#include <strings.h>

bool as_is_device_id(const char *word)
{
    const struct as_backend *backend = as_backend_find(word);
    return backend && (backend->single || strchr(word, ':'));
}

bool as_is_on_request(const char *name)
{
    const struct as_backend *backend = as_backend_find(name);
    return backend && backend->on_request;
}

static bool is_portable(const struct as_device_info *info)
{
    const struct as_backend *backend = as_backend_find(info->backend);
    return backend && backend->portable;
}

static bool device_names_usable(const struct as_found_device *d)
{
    return !d->why[0] && !as_is_on_request(d->info.backend);
}

const char *as_found_same(const struct as_found_device *found, size_t n, size_t i)
{
    const char *same = NULL;
    char how[96];
    for (size_t k = 0; is_portable(&found[i].info) && k < n; k++) {
        const bool native = !is_portable(&found[k].info);
        if (k == i || !device_names_usable(&found[k]) ||
            !as_info_same_hardware(&found[i].info, &found[k].info, how, sizeof how))
            continue;
        if (native)
            return found[k].info.id;
        if (!same && k < i)
            same = found[k].info.id;
    }
    return same;
}

/* One wrong letter in three is another word ("gpu" is not "cpu"): a name is suggested when one is the beginning of the
 * other, or when a longer word has a single slip. */
static bool surely_meant(const char *word, const char *name)
{
    size_t len = strlen(word), name_len = strlen(name);
    if (strcasecmp(word, name) == 0)
        return true;
    if (len >= 2 && strncmp(word, name, len < name_len ? len : name_len) == 0)
        return true;
    return len >= 4 && as_edit_distance(word, name) <= 1;
}

/* "cpu, opencl:0 (Name of it)" */
static void add_devices(struct as_buf *out, const struct as_found_device *found, size_t n)
{
    enum { SHOWN = 6, NAME_MAX_SHOWN = 41 };
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        char name[NAME_MAX_SHOWN];
        if (!device_names_usable(&found[i]))
            continue;
        if (shown == SHOWN) {
            left++;
            continue;
        }
        as_buf_printf(out, "%s%s", shown++ ? ", " : "", found[i].info.id);
        as_copy_text(name, sizeof name, found[i].info.name);
        if (strcmp(found[i].info.backend, "cpu") != 0 && name[0])
            as_buf_printf(out, " (%s%s)", name, strlen(name) < strlen(found[i].info.name) ? "..." : "");
    }
    if (left)
        as_buf_printf(out, " and %zu more", left);
    as_buf_str(out, shown ? "" : "none");
}

enum as_status as_unknown_device(const char *word, const struct as_found_device *found, size_t n, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    const char *why = NULL, *meant = NULL;
    bool others = false;
    for (size_t i = 0; i < n; i++) {
        if (found[i].why[0] && strcasecmp(found[i].info.backend, word) == 0)
            why = found[i].why;
        if (!meant && (surely_meant(word, found[i].info.id) || surely_meant(word, found[i].info.backend)))
            meant = surely_meant(word, found[i].info.id) ? found[i].info.id : found[i].info.backend;
        others |= found[i].why[0] && !as_is_on_request(found[i].info.backend);
    }
    if (why)
        as_buf_printf(&text, "no device '%.64s' can be used: %s", word, why);
    else
        as_buf_printf(&text, "there is no device '%.64s'", word);
    if (!why && meant)
        as_buf_printf(&text, "; did you mean '%s'", meant);
    as_buf_str(&text, !why && meant ? "? devices here: " : "; devices here: ");
    add_devices(&text, found, n);
    if (!why && others)
        as_buf_str(&text, "; assay devices says why others cannot be used");
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_fail(err, why ? AS_UNSUPPORTED : AS_NOTFOUND, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    return st;
}

bool as_all_unusable(const char *word, const struct as_found_device *found, size_t n)
{
    bool known = false;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(found[i].info.backend, word) != 0 && strcmp(found[i].info.id, word) != 0)
            continue;
        if (!found[i].why[0])
            return false;
        known = true;
    }
    return known;
}

enum as_status as_no_listed_device(const struct as_found_device *found, size_t n, const char *list,
                                   struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    as_buf_str(&text, "no suitable device can be used; devices here: ");
    add_devices(&text, found, n);
    for (const char *word = list + strspn(list, ", "); *word;) {
        const size_t len = strcspn(word, ", ");
        for (size_t i = 0; i < n; i++)
            if (found[i].why[0] && strlen(found[i].info.backend) == len &&
                strncmp(found[i].info.backend, word, len) == 0)
                as_buf_printf(&text, "; %s: %.*s", found[i].info.backend, (int)strcspn(found[i].why, ";"),
                              found[i].why);
        word += len + strspn(word + len, ", ");
    }
    as_buf_str(&text, "; assay devices says what to do");
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = as_fail(err, AS_UNSUPPORTED, "%s", as_buf_get(&text));
    as_buf_finish(&text);
    return st;
}
