/* struct as_device_info to and from JSON, both by one table of members. */
#include "device/info_json.h"

#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum field_type { TEXT, UNSIGNED, U64, DOUBLE, BOOL };
struct field {
    const char *name;
    enum field_type type;
    size_t offset, size;
};
#define NAMED(s, name, type, member)                                                                                   \
    {                                                                                                                  \
        name, type, offsetof(struct s, member), sizeof(((struct s *)0)->member)                                        \
    }
#define FIELD(s, type, member) NAMED(s, #member, type, member)
#define I(type, member) FIELD(as_device_info, type, member)
#define C(type, member) FIELD(as_cache, type, member)
#define A(type, member) FIELD(as_allocator, type, member)
#define P(type, member) FIELD(as_peer, type, member)
#define W(member) FIELD(as_vocabulary, TEXT, member)

static const struct field info_fields[] = {
    I(TEXT, id),
    I(TEXT, backend),
    I(TEXT, state),
    I(TEXT, name),
    I(TEXT, generation),
    I(TEXT, hypervisor),
    I(TEXT, vendor),
    I(TEXT, driver),
    I(TEXT, uuid),
    I(TEXT, bus_id),
    I(TEXT, ignored),
    I(TEXT, ignored_why),
    NAMED(as_device_info, "units", UNSIGNED, compute_units),
    I(UNSIGNED, threads),
    I(UNSIGNED, warp),
    I(UNSIGNED, vector_bytes),
    NAMED(as_device_info, "unit_threads", UNSIGNED, compute_unit_threads),
    NAMED(as_device_info, "unit_registers", UNSIGNED, compute_unit_registers),
    NAMED(as_device_info, "unit_local", U64, compute_unit_shared),
    NAMED(as_device_info, "group_local", U64, workgroup_shared),
    I(UNSIGNED, unit_threads_published),
    I(UNSIGNED, unit_fma),
    I(TEXT, arch),
    I(TEXT, dialect),
    I(DOUBLE, clock_max_hz),
    I(U64, memory_bytes),
    I(TEXT, memory_by),
    I(U64, memory_free),
    I(U64, max_alloc),
    I(U64, page_size),
    I(U64, huge_page),
    I(DOUBLE, peak_bandwidth),
    I(BOOL, is_host_cpu),
    I(BOOL, is_host_memory),
    I(UNSIGNED, siblings),
    I(UNSIGNED, numa_nodes),
    I(UNSIGNED, memory_node),
    I(UNSIGNED, packages),
    I(TEXT, near_cpus),
    I(TEXT, sensor),
    I(TEXT, sensor_why),
    I(TEXT, demand),
    I(TEXT, demand_why),
    I(DOUBLE, sensor_read_s),
    I(TEXT, bus),
    I(DOUBLE, bus_bandwidth),
    I(TEXT, peer_bus),
    I(DOUBLE, peer_bandwidth),
    I(TEXT, collectives),
    I(TEXT, collectives_why),
    I(DOUBLE, power_limit),
    I(TEXT, unfit),
    I(TEXT, caveats),
    I(U64, host_cache),
    I(BOOL, virtual_machine),
};
static const struct field word_fields[] = {W(compute_unit), W(workgroup), W(subgroup), W(shared_memory), W(queue)};
static const struct field cache_fields[] = {C(UNSIGNED, level), C(U64, size), C(UNSIGNED, line), C(UNSIGNED, ways),
                                            C(UNSIGNED, shared)};
static const struct field side_fields[] = {C(BOOL, memory_side), C(TEXT, name), C(TEXT, source)};
static const struct field allocator_fields[] = {A(TEXT, name),       A(TEXT, why_not),  A(BOOL, host_access),
                                                A(BOOL, on_demand),  A(BOOL, coherent), A(U64, most),
                                                A(TEXT, no_sharing), A(TEXT, moves)};
static const struct field peer_fields[] = {P(UNSIGNED, device), P(BOOL, access),   P(BOOL, atomics),
                                           P(BOOL, arrays),     P(UNSIGNED, rank), P(TEXT, why_not)};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void put_field(const struct field *f, const void *record, struct as_buf *out)
{
    const char *at = (const char *)record + f->offset;
    as_buf_json_str(out, f->name);
    as_buf_char(out, ':');
    if (f->type == TEXT) {
        as_buf_json_str(out, at);
    } else if (f->type == BOOL) {
        as_buf_str(out, *(const bool *)at ? "true" : "false");
    } else if (f->type == UNSIGNED) {
        as_buf_printf(out, "%u", *(const unsigned *)at);
    } else if (f->type == U64) {
        uint64_t v = *(const uint64_t *)at;
        /* JSON readers use signed 64-bit integers; no device has more than 8 EiB */
        as_buf_printf(out, "%llu", (unsigned long long)(v > INT64_MAX ? INT64_MAX : v));
    } else {
        double v = *(const double *)at;
        as_buf_printf(out, "%.17g", isfinite(v) ? v : 0.0);
    }
}

static void put_fields(const struct field *fields, size_t n, const void *record, struct as_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (i)
            as_buf_char(out, ',');
        put_field(&fields[i], record, out);
    }
}

static void put_capabilities(unsigned capabilities, struct as_buf *out)
{
    bool first = true;
    as_buf_str(out, ",\"capabilities\":[");
    for (unsigned bit = 1; as_capability_word(bit); bit <<= 1) {
        if (!(capabilities & bit))
            continue;
        if (!first)
            as_buf_char(out, ',');
        as_buf_json_str(out, as_capability_word(bit));
        first = false;
    }
    as_buf_char(out, ']');
}

void as_info_to_json(const struct as_device_info *info, struct as_buf *out)
{
    as_buf_char(out, '{');
    put_fields(info_fields, COUNT(info_fields), info, out);
    put_capabilities(info->capabilities, out);
    if (info->words.compute_unit[0]) {
        as_buf_str(out, ",\"words\":{");
        put_fields(word_fields, COUNT(word_fields), &info->words, out);
        as_buf_char(out, '}');
    }
    as_buf_str(out, ",\"caches\":[");
    for (size_t i = 0; i < info->caches_n; i++) {
        as_buf_printf(out, "%s{\"kind\":\"%c\",", i ? "," : "", info->caches[i].kind);
        put_fields(cache_fields, COUNT(cache_fields), &info->caches[i], out);
        if (info->caches[i].memory_side || info->caches[i].source[0]) {
            as_buf_char(out, ',');
            put_fields(side_fields, COUNT(side_fields), &info->caches[i], out);
        }
        as_buf_char(out, '}');
    }
    as_buf_str(out, "],\"allocators\":[");
    for (size_t i = 0; i < info->allocators_n; i++) {
        as_buf_str(out, i ? ",{" : "{");
        if (info->allocators[i].role)
            as_buf_printf(out, "\"role\":\"%s\",", as_role_word(info->allocators[i].role));
        put_fields(allocator_fields, COUNT(allocator_fields), &info->allocators[i], out);
        as_buf_char(out, '}');
    }
    as_buf_char(out, ']');
    for (size_t i = 0; i < info->peers_n; i++) {
        as_buf_str(out, i ? ",{" : ",\"peers\":[{");
        put_fields(peer_fields, COUNT(peer_fields), &info->peers[i], out);
        as_buf_char(out, '}');
    }
    as_buf_str(out, info->peers_n ? "]}" : "}");
}

static enum as_status info_json_get_number(const struct field *f, const json_t *value, char *at, struct as_error *err)
{
    if (f->type == DOUBLE) {
        double v = json_number_value(value);
        if (!json_is_number(value) || v < 0)
            return as_fail(err, AS_FORMAT, "device information: \"%s\" is not a number of at least 0", f->name);
        memcpy(at, &v, sizeof v);
        return AS_OK;
    }
    json_int_t most = f->type == UNSIGNED ? (json_int_t)UINT_MAX : (json_int_t)INT64_MAX;
    json_int_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < 0 || v > most)
        return as_fail(err, AS_FORMAT, "device information: \"%s\" is not a whole number from 0 to %lld", f->name,
                       (long long)most);
    if (f->type == UNSIGNED)
        memcpy(at, &(unsigned){(unsigned)v}, sizeof(unsigned));
    else
        memcpy(at, &(uint64_t){(uint64_t)v}, sizeof(uint64_t));
    return AS_OK;
}

static enum as_status get_fields(const struct field *fields, size_t n, const json_t *object, void *record,
                                 struct as_error *err)
{
    if (!json_is_object(object))
        return as_fail(err, AS_FORMAT, "device information: not an object");
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &fields[i];
        const json_t *value = json_object_get(object, f->name);
        char *at = (char *)record + f->offset;
        enum as_status st = AS_OK;
        if (!value)
            continue;
        if (f->type == TEXT && json_is_string(value))
            as_copy_text(at, f->size, json_string_value(value));
        else if (f->type == BOOL && json_is_boolean(value))
            *(bool *)at = json_is_true(value);
        else if (f->type == TEXT || f->type == BOOL)
            st = as_fail(err, AS_FORMAT, "device information: \"%s\" is not %s", f->name,
                         f->type == TEXT ? "a string" : "true or false");
        else
            st = info_json_get_number(f, value, at, err);
        if (st)
            return st;
    }
    return AS_OK;
}

static enum as_status get_capabilities(const json_t *array, unsigned *out, struct as_error *err)
{
    size_t i;
    json_t *item;
    unsigned bits = 0;
    if (!json_is_array(array))
        return as_fail(err, AS_FORMAT, "device information: \"capabilities\" is not a list");
    json_array_foreach(array, i, item)
    {
        if (!json_is_string(item))
            return as_fail(err, AS_FORMAT, "device information: element %zu of \"capabilities\" is not a string", i);
        const char *word = strcmp(json_string_value(item), "scripted") == 0 ? "simulated" /* in stores of version 0.1 */
                                                                            : json_string_value(item);
        for (unsigned bit = 1; as_capability_word(bit); bit <<= 1)
            if (strcmp(as_capability_word(bit), word) == 0)
                bits |= bit;
    }
    *out = bits;
    return AS_OK;
}

static enum as_status get_cache(const json_t *object, void *record, struct as_error *err)
{
    struct as_cache *c = record;
    enum as_status st = get_fields(cache_fields, COUNT(cache_fields), object, c, err);
    if (!st)
        st = get_fields(side_fields, COUNT(side_fields), object, c, err);
    if (st)
        return st;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    if (!kind || strlen(kind) != 1 || !strchr("diu", kind[0]))
        return as_fail(err, AS_FORMAT, "device information: the \"kind\" of a cache is not \"d\", \"i\" or \"u\"");
    c->kind = kind[0];
    return AS_OK;
}

static enum as_status get_allocator(const json_t *object, void *record, struct as_error *err)
{
    struct as_allocator *a = record;
    enum as_status st = get_fields(allocator_fields, COUNT(allocator_fields), object, a, err);
    const json_t *role = json_object_get(object, "role");
    if (!st && role && !json_is_string(role))
        st = as_fail(err, AS_FORMAT, "device information: the \"role\" of an allocator is no text");
    else if (!st && role) /* roles of later builds are unknown here */
        a->role = as_role_find(json_string_value(role));
    if (!st && !a->name[0])
        st = as_fail(err, AS_FORMAT, "device information: an allocator has no \"name\"");
    return st;
}

static enum as_status get_peer(const json_t *object, void *record, struct as_error *err)
{
    return get_fields(peer_fields, COUNT(peer_fields), object, record, err);
}

static enum as_status get_list(const json_t *object, const char *name, void *items, size_t size, size_t max, size_t *n,
                               enum as_status (*get)(const json_t *, void *, struct as_error *), struct as_error *err)
{
    const json_t *array = json_object_get(object, name);
    if (!array)
        return AS_OK;
    if (!json_is_array(array) || json_array_size(array) > max)
        return as_fail(err, AS_FORMAT, "device information: \"%s\" is not a list of at most %zu", name, max);
    memset(items, 0, size * max);
    *n = json_array_size(array);
    for (size_t i = 0; i < *n; i++) {
        enum as_status st = get(json_array_get(array, i), (char *)items + i * size, err);
        if (st)
            return st;
    }
    return AS_OK;
}

enum as_status as_info_from_object(const json_t *object, struct as_device_info *info, struct as_error *err)
{
    enum as_status st = get_fields(info_fields, COUNT(info_fields), object, info, err);
    const json_t *capabilities = json_object_get(object, "capabilities"), *words = json_object_get(object, "words");
    if (!st && words)
        st = get_fields(word_fields, COUNT(word_fields), words, &info->words, err);
    if (!st && capabilities)
        st = get_capabilities(capabilities, &info->capabilities, err);
    if (!st)
        st = get_list(object, "caches", info->caches, sizeof info->caches[0], AS_CACHES_MAX, &info->caches_n, get_cache,
                      err);
    if (!st)
        st = get_list(object, "allocators", info->allocators, sizeof info->allocators[0], AS_ALLOCATORS_MAX,
                      &info->allocators_n, get_allocator, err);
    if (!st)
        st = get_list(object, "peers", info->peers, sizeof info->peers[0], AS_PEERS_MAX, &info->peers_n, get_peer, err);
    return st;
}

enum as_status as_info_from_json(const char *json, struct as_device_info *info, struct as_error *err)
{
    json_error_t where;
    *info = (struct as_device_info){0};
    json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, &where);
    if (!object)
        return as_fail(err, AS_FORMAT, "device information: line %d, column %d: %s", where.line, where.column,
                       where.text);
    enum as_status st = as_info_from_object(object, info, err);
    json_decref(object);
    if (st)
        *info = (struct as_device_info){0};
    return st;
}
