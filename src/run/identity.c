#include "run/identity.h"

#include "device/info_json.h"
#include "run/provenance.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the host ---- */

/* A text of the provenance; "" unknown. */
static const char *identity_known(const json_t *provenance, const char *section, const char *member)
{
    const char *text = json_string_value(json_object_get(json_object_get(provenance, section), member));
    return text ? text : "";
}

static bool is_other(const char *then, const char *now)
{
    return then[0] && now[0] && strcmp(then, now) != 0;
}

static void compare_hosts(const json_t *then, const json_t *now, const char *then_name, const char *now_name,
                          struct as_buf *out)
{
    const char *boot = identity_known(then, "host", "boot_id"), *cpu = identity_known(then, "cpu", "model");
    if (boot[0] &&
        strcmp(boot, identity_known(now, "host", "boot_id")) == 0) /* containers of one host have names of their own */
        return;
    if (is_other(then_name, now_name))
        as_buf_printf(out, "it was measured on host '%s', and this is '%s'", then_name, now_name);
    else if (is_other(cpu, identity_known(now, "cpu", "model")))
        as_buf_printf(out, "it was measured on a CPU '%s', and this is '%s'", cpu, identity_known(now, "cpu", "model"));
}

enum as_status as_identity_host(const struct as_run *run, struct as_buf *out, struct as_error *err)
{
    struct as_buf text = AS_BUF_INIT;
    char name[sizeof run->host] = "";
    enum as_status st = as_provenance_json(&text, err);
    if (gethostname(name, sizeof name - 1))
        name[0] = 0;
    if (!st) {
        json_t *then = run->provenance ? json_loads(run->provenance, 0, NULL) : NULL;
        json_t *now = json_loads(as_buf_get(&text), 0, NULL);
        compare_hosts(then, now, run->host, name, out);
        json_decref(then);
        json_decref(now);
        st = as_buf_check(out, err);
    }
    as_buf_finish(&text);
    return st;
}

/* ---- devices ---- */

enum as_status as_identity_device(const struct as_run *run, const char *id, struct as_device_info *out,
                                  struct as_error *err)
{
    json_t *list = run->devices ? json_loads(run->devices, 0, NULL) : NULL;
    enum as_status st = AS_NOTFOUND;
    *out = (struct as_device_info){0};
    for (size_t i = 0; i < json_array_size(list) && st == AS_NOTFOUND; i++) {
        const json_t *device = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(device, "id"));
        if (name && strcmp(name, id) == 0)
            st = as_info_from_object(device, out, err);
    }
    json_decref(list);
    return st == AS_NOTFOUND ? as_fail(err, st, "run %lld does not describe %s", (long long)run->id, id) : st;
}

static const struct as_cache *same_cache(const struct as_device_info *info, const struct as_cache *cache)
{
    for (size_t i = 0; i < info->caches_n; i++) {
        const struct as_cache *c = &info->caches[i];
        if (c->level == cache->level && c->kind == cache->kind && c->memory_side == cache->memory_side)
            return c;
    }
    return NULL;
}

static void compare_caches(const struct as_device_info *then, const struct as_device_info *now, struct as_buf *out)
{
    for (size_t i = 0; i < then->caches_n && !out->len; i++) {
        const struct as_cache *a = &then->caches[i], *b = same_cache(now, a);
        if (b && a->size && b->size && a->size != b->size)
            as_buf_printf(out, "the L%u cache of %s had %llu bytes and has %llu now", a->level, now->id,
                          (unsigned long long)a->size, (unsigned long long)b->size);
    }
}

void as_identity_differs(const struct as_device_info *then, const struct as_device_info *now, struct as_buf *out)
{
    const struct {
        const char *what, *then, *now;
    } names[] = {{"UUID ", then->uuid, now->uuid}, {"bus ", then->bus_id, now->bus_id}, {"", then->name, now->name}};
    bool decided = false; /* one that is known on both sides: the same GPU may be in another slot */
    for (size_t i = 0; i < sizeof names / sizeof *names && !out->len && !decided; i++) {
        decided = i == 0 && names[i].then[0] && names[i].now[0];
        if (is_other(names[i].then, names[i].now))
            as_buf_printf(out, "%s was %s'%s' and is %s'%s' now", now->id, names[i].what, names[i].then, names[i].what,
                          names[i].now);
    }
    /* how many a process may use of a CPU's cores changes with its affinity */
    const bool host = now->is_host_cpu || (now->capabilities & AS_CAP_HOST_KERNELS);
    if (!out->len && !host && then->compute_units && now->compute_units && then->compute_units != now->compute_units)
        as_buf_printf(out, "%s had %u compute units and has %u now", now->id, then->compute_units, now->compute_units);
    if (!out->len)
        compare_caches(then, now, out);
}

enum as_status as_identity_machine(const struct as_run *run, const struct as_device_info *now, struct as_buf *out,
                                   struct as_error *err)
{
    struct as_device_info then;
    enum as_status st = as_identity_host(run, out, err);
    if (!st && !out->len && !as_identity_device(run, now->id, &then, NULL))
        as_identity_differs(&then, now, out);
    if (!st && out->len)
        as_buf_str(out, "; this compares two machines");
    return st ? st : as_buf_check(out, err);
}
