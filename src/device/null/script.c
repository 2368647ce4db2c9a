/* Reading the script. Tables say which members there are; a wrong one is named with its place. */
#include "base/text.h"
#include "device/info_json.h"
#include "device/null/null.h"

#include <math.h>
#include <string.h>

enum member_type { TEXT, NUMBER, COUNT, BOOL, OTHER };
struct member {
    const char *name;
    enum member_type type;
    size_t offset, size;
};
#define MEMBER(s, type, name, field)                                                                                   \
    {                                                                                                                  \
        name, type, offsetof(struct s, field), sizeof(((struct s *)0)->field)                                          \
    }
#define OTHERS(name)                                                                                                   \
    {                                                                                                                  \
        name, OTHER, 0, 0                                                                                              \
    }
#define S(type, name, field) MEMBER(as_null_script, type, name, field)
#define F(type, field) MEMBER(as_null_fault, type, #field, field)
#define N(type, field) MEMBER(as_null_sensor_script, type, #field, field)

static const struct member script_members[] = {
    S(TEXT, "why_not", why_not),
    S(COUNT, "seed", seed),
    S(COUNT, "huge_page", huge_page),
    S(BOOL, "sleep", sleep),
    S(BOOL, "cycles", cycles),
    S(NUMBER, "clock_hz", clock_hz),
    S(NUMBER, "launch_ns", launch_ns),
    S(NUMBER, "alloc_ns", alloc_ns),
    S(NUMBER, "free_ns", free_ns),
    S(COUNT, "devices", devices),
    OTHERS("info"),
    OTHERS("open"),
    OTHERS("execute"),
    OTHERS("levels"),
    OTHERS("machine"),
    OTHERS("noise"),
    OTHERS("shared"),
    OTHERS("modes"),
    OTHERS("drift"),
    OTHERS("faults"),
    OTHERS("copies"),
    OTHERS("calls"),
    S(BOOL, "is_device", is_device),
    OTHERS("code"),
    OTHERS("sensor"),
    {0},
};
static const struct member sensor_members[] = {
    N(TEXT, why_not),           N(TEXT, cannot),
    N(TEXT, throttle),          N(NUMBER, power_w),
    N(NUMBER, temperature),     N(NUMBER, clock_hz),
    N(NUMBER, memory_clock_hz), N(NUMBER, users),
    N(NUMBER, ecc_uncorrected), {0},
};
static const struct member noise_members[] = {S(NUMBER, "sd", sd),
                                              S(NUMBER, "trial_sd", trial_sd),
                                              S(NUMBER, "process_sd", process_sd),
                                              S(NUMBER, "walk_sd", walk_sd),
                                              {0}};
static const struct member shared_members[] = {S(COUNT, "size", shared.size),          S(NUMBER, "ns", shared.ns),
                                               S(NUMBER, "restores", shared.restores), S(TEXT, "touch", shared.touch),
                                               S(TEXT, "pass", shared.pass),           {0}};
static const struct member drift_members[] = {
    S(NUMBER, "factor", drift_factor),          S(NUMBER, "from_s", drift_from_s),      S(NUMBER, "to_s", drift_to_s),
    S(COUNT, "from_launch", drift_from_launch), S(COUNT, "to_launch", drift_to_launch), {0},
};
static const struct member level_members[] = {MEMBER(as_null_level, COUNT, "size", size),
                                              MEMBER(as_null_level, NUMBER, "ns", ns),
                                              MEMBER(as_null_level, NUMBER, "gbs", gbs),
                                              MEMBER(as_null_level, NUMBER, "beta", beta),
                                              {0}};
static const struct member machine_members[] = {
    S(NUMBER, "hop_s", hop_s), S(NUMBER, "reading_sd", reading_sd),
    S(NUMBER, "seen", seen),   S(NUMBER, "reading", reading),
    OTHERS("clocks"),          OTHERS("neighbour"),
    OTHERS("episode"),         {0},
};
static const struct member comes_members[] = {MEMBER(as_null_comes, NUMBER, "share", share),
                                              MEMBER(as_null_comes, NUMBER, "length_s", length_s),
                                              MEMBER(as_null_comes, NUMBER, "factor", factor),
                                              {0}};
static const struct member mode_members[] = {
    MEMBER(as_null_mode, NUMBER, "share", share), MEMBER(as_null_mode, NUMBER, "factor", factor), {0}};
static const struct member copy_members[] = {MEMBER(as_null_copy, TEXT, "from", from),
                                             MEMBER(as_null_copy, TEXT, "to", to),
                                             MEMBER(as_null_copy, NUMBER, "gbs", gbs),
                                             MEMBER(as_null_copy, NUMBER, "both_gbs", both_gbs),
                                             {0}};
static const struct member calls_members[] = {MEMBER(as_null_calls, TEXT, "allocator", allocator),
                                              MEMBER(as_null_calls, NUMBER, "alloc_ns", alloc_ns),
                                              MEMBER(as_null_calls, NUMBER, "free_ns", free_ns),
                                              {0}};
static const struct member fault_members[] = {
    F(TEXT, kernel),
    F(TEXT, probe),
    F(TEXT, allocator),
    F(COUNT, min_footprint),
    F(COUNT, max_footprint),
    F(COUNT, launch),
    F(COUNT, from),
    F(NUMBER, factor),
    OTHERS("do"),
    OTHERS("count"),
    {0},
};
static const char *const action_words[AS_NULL_ACTIONS_N + 1] = {
    [AS_NULL_CRASH] = "crash", [AS_NULL_HANG] = "hang",   [AS_NULL_EXIT] = "exit", [AS_NULL_FAIL] = "fail",
    [AS_NULL_OOM] = "oom",     [AS_NULL_WRONG] = "wrong", [AS_NULL_SLOW] = "slow", [AS_NULL_CLOCK_HALF] = "clock-half"};

static const struct member *find_member(const struct member *members, const char *name)
{
    for (; members->name; members++)
        if (strcmp(members->name, name) == 0)
            return members;
    return NULL;
}

static enum as_status get_member(const struct member *m, const json_t *value, void *record, const char *place,
                                 struct as_error *err)
{
    char *at = (char *)record + m->offset;
    double number = json_number_value(value);
    if (m->type == TEXT && json_is_string(value)) {
        as_copy_text(at, m->size, json_string_value(value));
    } else if (m->type == BOOL && json_is_boolean(value)) {
        *(bool *)at = json_is_true(value);
    } else if (m->type == COUNT && json_is_integer(value) && json_integer_value(value) >= 0) {
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
    } else if (m->type == NUMBER && json_is_number(value) && isfinite(number) && number >= 0) {
        *(double *)at = number;
    } else if (m->type != OTHER) {
        static const char *const wanted[] = {[TEXT] = "a text",
                                             [NUMBER] = "a number of at least 0",
                                             [COUNT] = "a whole number of at least 0",
                                             [BOOL] = "true or false"};
        return as_fail(err, AS_FORMAT, "%s: \"%s\" is not %s", place, m->name, wanted[m->type]);
    }
    return AS_OK;
}

static enum as_status get_members(const struct member *members, const json_t *object, void *record, const char *place,
                                  struct as_error *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return as_fail(err, AS_FORMAT, "%s is no object", place);
    json_object_foreach((json_t *)object, name, value)
    {
        const struct member *m = find_member(members, name);
        if (!m) {
            char shown[48];
            as_copy_text(shown, sizeof shown, name);
            return as_fail(err, AS_FORMAT, "%s has an unknown member \"%s\"", place, shown);
        }
        enum as_status st = get_member(m, value, record, place, err);
        if (st)
            return st;
    }
    return AS_OK;
}

typedef enum as_status (*get_item_fn)(const json_t *object, void *item, const char *place, struct as_error *err);

static enum as_status get_items(const json_t *script, const char *name, const char *place, void *items, size_t size,
                                size_t max, size_t *n, get_item_fn get, struct as_error *err)
{
    const json_t *array = json_object_get(script, name);
    if (!array)
        return AS_OK;
    if (!json_is_array(array) || json_array_size(array) > max)
        return as_fail(err, AS_FORMAT, "%s: \"%s\" is not a list of at most %zu", place, name, max);
    *n = json_array_size(array);
    for (size_t i = 0; i < *n; i++) {
        char where[400];
        struct as_buf b = AS_BUF_INIT;
        as_buf_printf(&b, "%s: \"%s\"[%zu]", place, name, i);
        as_copy_text(where, sizeof where, as_buf_get(&b));
        as_buf_finish(&b);
        enum as_status st = get(json_array_get(array, i), (char *)items + i * size, where, err);
        if (st)
            return st;
    }
    return AS_OK;
}

static enum as_status get_level(const json_t *object, void *item, const char *place, struct as_error *err)
{
    struct as_null_level *level = item;
    *level = (struct as_null_level){.ns = 1, .gbs = 10};
    enum as_status st = get_members(level_members, object, level, place, err);
    if (!st && !(level->gbs > 0))
        st = as_fail(err, AS_FORMAT, "%s: \"gbs\" is 0; write a bandwidth", place);
    return st;
}

static enum as_status get_mode(const json_t *object, void *item, const char *place, struct as_error *err)
{
    struct as_null_mode *mode = item;
    *mode = (struct as_null_mode){.share = 1, .factor = 1};
    return get_members(mode_members, object, mode, place, err);
}

static enum as_status get_copy(const json_t *object, void *item, const char *place, struct as_error *err)
{
    struct as_null_copy *copy = item;
    *copy = (struct as_null_copy){.gbs = 10, .both_gbs = 20};
    enum as_status st = get_members(copy_members, object, copy, place, err);
    if (!st && !(copy->gbs > 0 && copy->both_gbs > 0))
        st = as_fail(err, AS_FORMAT, "%s: a bandwidth is 0", place);
    return st;
}

static enum as_status get_calls(const json_t *object, void *item, const char *place, struct as_error *err)
{
    struct as_null_calls *calls = item;
    *calls = (struct as_null_calls){.alloc_ns = 100, .free_ns = 50};
    return get_members(calls_members, object, calls, place, err);
}

/* AS_NULL_ACTIONS_N: no such action. */
static enum as_null_action action_of(const char *word)
{
    int i = 0;
    while (i < AS_NULL_ACTIONS_N && !(word && strcmp(action_words[i], word) == 0))
        i++;
    return (enum as_null_action)i;
}

static enum as_status get_fault(const json_t *object, void *item, const char *place, struct as_error *err)
{
    struct as_null_fault *fault = item;
    *fault = (struct as_null_fault){.kernel = "*", .probe = "*", .max_footprint = UINT64_MAX, .factor = 1};
    enum as_status st = get_members(fault_members, object, fault, place, err);
    if (st)
        return st;
    const char *action = json_string_value(json_object_get(object, "do"));
    const char *count = json_string_value(json_object_get(object, "count"));
    fault->action = action_of(action);
    if (fault->action == AS_NULL_ACTIONS_N)
        return as_fail(err, AS_FORMAT, "%s: \"do\" is none of crash, hang, exit, fail, oom, wrong, slow, clock-half",
                       place);
    if (json_object_get(object, "count") && (!count || (strcmp(count, "worker") != 0 && strcmp(count, "trial") != 0)))
        return as_fail(err, AS_FORMAT, "%s: \"count\" is neither \"trial\" nor \"worker\"", place);
    if (fault->launch && fault->from)
        return as_fail(err, AS_FORMAT, "%s has both \"launch\" and \"from\"", place);
    fault->of_worker = count && strcmp(count, "worker") == 0;
    fault->of_allocations = json_object_get(object, "allocator") != NULL;
    if (fault->of_allocations && fault->action >= AS_NULL_WRONG)
        return as_fail(err, AS_FORMAT, "%s: an allocation cannot be \"%s\"", place, action);
    return AS_OK;
}

static enum as_status get_execute(const json_t *value, const char *place, enum as_null_execute *out,
                                  struct as_error *err)
{
    const char *word = json_string_value(value);
    if (value && !json_is_boolean(value) && !(word && strcmp(word, "once") == 0))
        return as_fail(err, AS_FORMAT, "%s: \"execute\" is not true, false or \"once\"", place);
    if (value)
        *out = word ? AS_NULL_ONCE : json_is_true(value) ? AS_NULL_ALWAYS : AS_NULL_NEVER;
    return AS_OK;
}

static enum as_status get_code(const json_t *object, const char *place, struct as_null_script *s, struct as_error *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return as_fail(err, AS_FORMAT, "%s: \"code\" is no object", place);
    s->has_code = true;
    json_object_foreach((json_t *)object, name, value)
    {
        size_t i = 0;
        while (i < AS_NULL_OPERATIONS_MAX && as_operation_words[i] && strcmp(as_operation_words[i], name) != 0)
            i++;
        if (i == AS_NULL_OPERATIONS_MAX || !as_operation_words[i] || !json_is_integer(value) ||
            json_integer_value(value) < 0)
            return as_fail(err, AS_FORMAT, "%s: \"code\": \"%.40s\" is no operation with a whole number", place, name);
        s->code[i] = (uint64_t)json_integer_value(value);
    }
    return AS_OK;
}

static enum as_status get_open(const json_t *value, const char *place, struct as_null_script *s, struct as_error *err)
{
    s->open.action = action_of(json_string_value(value));
    return !value || s->open.action < AS_NULL_WRONG
               ? AS_OK
               : as_fail(err, AS_FORMAT, "%s: \"open\" is none of crash, hang, exit, fail, oom", place);
}

static enum as_status get_watched(const json_t *json, const char *place, struct as_null_script *s, struct as_error *err)
{
    const json_t *code = json_object_get(json, "code"), *sensor = json_object_get(json, "sensor");
    enum as_status st = code ? get_code(code, place, s, err) : AS_OK;
    if (!st && sensor)
        st = get_members(sensor_members, sensor, &s->sensor, place, err);
    s->sensor.there = sensor != NULL;
    return st;
}

static enum as_status get_clock(const json_t *value, void *item, const char *place, struct as_error *err)
{
    *(double *)item = json_number_value(value);
    return json_number_value(value) > 0 ? AS_OK : as_fail(err, AS_FORMAT, "%s is not a clock in Hz", place);
}

/* Its share of the time is below 1 and its length above 0, so it ends and returns. */
static enum as_status get_comes(const json_t *machine, const char *name, const char *place, struct as_null_comes *c,
                                struct as_error *err)
{
    const json_t *object = json_object_get(machine, name);
    const enum as_status st = object ? get_members(comes_members, object, c, place, err) : AS_OK;
    if (!st && object && !(c->share < 1 && c->length_s > 0 && c->factor > 0))
        return as_fail(err, AS_FORMAT, "%s: \"%s\" needs \"share\" below 1, and \"length_s\" and \"factor\" above 0",
                       place, name);
    return st;
}

static enum as_status get_machine(const json_t *json, const char *place, struct as_null_script *s, struct as_error *err)
{
    const json_t *machine = json_object_get(json, "machine");
    enum as_status st = machine ? get_members(machine_members, machine, s, place, err) : AS_OK;
    if (!st && machine)
        st = get_items(machine, "clocks", place, s->clocks, sizeof s->clocks[0], AS_NULL_CLOCKS_MAX, &s->clocks_n,
                       get_clock, err);
    if (!st && machine)
        st = get_comes(machine, "neighbour", place, &s->neighbour, err);
    if (!st && machine)
        st = get_comes(machine, "episode", place, &s->episode, err);
    s->has_machine = machine != NULL;
    return st;
}

static enum as_status get_parts(const json_t *json, const char *place, struct as_null_script *s, struct as_error *err)
{
    const json_t *noise = json_object_get(json, "noise"), *drift = json_object_get(json, "drift"),
                 *shared = json_object_get(json, "shared");
    enum as_status st = get_execute(json_object_get(json, "execute"), place, &s->execute, err);
    if (!st)
        st = get_open(json_object_get(json, "open"), place, s, err);
    if (!st && noise)
        st = get_members(noise_members, noise, s, place, err);
    if (!st && drift)
        st = get_members(drift_members, drift, s, place, err);
    if (!st && shared)
        st = get_members(shared_members, shared, s, place, err);
    s->drift = drift != NULL;
    if (!st)
        st = get_watched(json, place, s, err);
    if (!st)
        st = get_machine(json, place, s, err);
    if (!st)
        st = get_items(json, "levels", place, s->levels, sizeof s->levels[0], AS_NULL_LEVELS_MAX, &s->levels_n,
                       get_level, err);
    for (size_t i = 0; !st && i < s->levels_n; i++) {
        bool last = i + 1 == s->levels_n;
        if (last ? s->levels[i].size != 0 : s->levels[i].size == 0 || (i && s->levels[i].size <= s->levels[i - 1].size))
            st = as_fail(err, AS_FORMAT, "%s: \"levels\" need rising sizes and a last one of size 0", place);
    }
    if (!st)
        st = get_items(json, "modes", place, s->modes, sizeof s->modes[0], AS_NULL_MODES_MAX, &s->modes_n, get_mode,
                       err);
    if (!st)
        st = get_items(json, "faults", place, s->faults, sizeof s->faults[0], AS_NULL_FAULTS_MAX, &s->faults_n,
                       get_fault, err);
    if (!st)
        st = get_items(json, "copies", place, s->copies, sizeof s->copies[0], AS_NULL_COPIES_MAX, &s->copies_n,
                       get_copy, err);
    if (!st)
        st = get_items(json, "calls", place, s->calls, sizeof s->calls[0], AS_NULL_COPIES_MAX, &s->calls_n, get_calls,
                       err);
    return st;
}

static void set_defaults(struct as_null_script *s, struct as_device_info *info)
{
    *s = (struct as_null_script){
        .execute = AS_NULL_ALWAYS,
        .huge_page = 2 << 20,
        .clock_hz = 2e9,
        .devices = 1,
        .launch_ns = 1000,
        .alloc_ns = 100,
        .free_ns = 50,
        .drift_factor = 1,
        .drift_to_s = INFINITY,
        .drift_to_launch = UINT64_MAX,
        .shared = {.touch = "touch", .pass = "pass"},
        .levels_n = 3,
        .levels = {{32 << 10, 1.5, 200, 0}, {1 << 20, 5, 80, 0}, {0, 90, 20, 0}},
        .sensor = {.power_w = NAN,
                   .temperature = NAN,
                   .clock_hz = NAN,
                   .memory_clock_hz = NAN,
                   .users = NAN,
                   .ecc_uncorrected = NAN},
    };
    for (size_t i = 0; i < AS_NULL_OPERATIONS_MAX; i++)
        s->code[i] = AS_NULL_OPERATIONS;
    *info = (struct as_device_info){
        .name = "scripted device",
        .vendor = "assay",
        .driver = "script",
        .compute_units = 4,
        .threads = 4,
        .warp = 1,
        .clock_max_hz = 2e9,
        .memory_bytes = 256 << 20,
        .memory_free = 192 << 20,
        .max_alloc = 192 << 20,
        .page_size = 4096,
        .is_host_memory = true,
        .numa_nodes = 1,
        .caches_n = 2,
        .caches = {{.level = 1, .kind = 'd', .size = 32 << 10, .line = 64, .ways = 8, .shared = 1},
                   {.level = 2, .kind = 'u', .size = 1 << 20, .line = 64, .ways = 16, .shared = 4}},
        .allocators_n = 1,
        .allocators = {{.name = "malloc", .host_access = true, .on_demand = true, .coherent = true}},
    };
}

enum as_status as_null_script_read(const char *text, const char *place, struct as_null_script *script,
                                   struct as_device_info *info, struct as_error *err)
{
    json_error_t where;
    set_defaults(script, info);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!json)
        return as_fail(err, AS_FORMAT, "%s: line %d, column %d: %s", place, where.line, where.column, where.text);
    enum as_status st = get_members(script_members, json, script, place, err);
    if (!st)
        st = get_parts(json, place, script, err);
    const json_t *object = json_object_get(json, "info");
    if (!st && object) {
        st = as_info_from_object(object, info, err);
        if (st)
            as_fail_in(err, place);
    }
    json_decref(json);
    if (script->is_device) {
        info->capabilities |= AS_CAP_COPY;
        info->is_host_memory = false;
    }
    for (size_t i = 0; i < info->allocators_n; i++)
        if (!info->allocators[i].role)
            info->allocators[i].role = as_role_in(as_null_roles, info->allocators[i].name);
    as_copy_text(info->id, sizeof info->id, "null");
    as_copy_text(info->backend, sizeof info->backend, "null");
    info->capabilities |= (script->is_device ? 0 : AS_CAP_HOST_KERNELS) | AS_CAP_CLOCK | AS_CAP_PIN | AS_CAP_FP64 |
                          AS_CAP_SVM_ATOMICS | AS_CAP_ASYNC | AS_CAP_SIMULATED | AS_CAP_PEERS |
                          (script->has_code ? AS_CAP_CODE : 0);
    return st;
}
