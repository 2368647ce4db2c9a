/* Reading the script: tables of its words say where their values go; a wrong one is named with its place. */
#include "base/text.h"
#include "device/info_json.h"
#include "device/null/null.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum member_type { TEXT, NUMBER, COUNT, BOOL, OBJECT, LIST, OTHER };
struct record;
struct member {
    const char *name;
    enum member_type type;
    size_t offset, size;         /* LIST: of an item */
    const struct record *record; /* of an OBJECT, which lies at the offset; of the items of a LIST */
    size_t max, n_offset;        /* LIST: most items, and the place of their number */
};
struct record {
    const struct member *members; /* ends with a NULL name; NULL: it is no object with members */
    const void *defaults;         /* of an item of a list; NULL: zeros */
    /* (optional) reads and checks what the table does not say */
    enum as_status (*complete)(const json_t *value, void *record, const char *place, struct as_error *err);
};

static const char *const action_words[AS_NULL_ACTIONS_N + 1] = {
    [AS_NULL_CRASH] = "crash", [AS_NULL_HANG] = "hang",   [AS_NULL_EXIT] = "exit", [AS_NULL_FAIL] = "fail",
    [AS_NULL_OOM] = "oom",     [AS_NULL_WRONG] = "wrong", [AS_NULL_SLOW] = "slow", [AS_NULL_CLOCK_HALF] = "clock-half",
    [AS_NULL_STALE] = "stale"};

/* ---- what the tables do not say ---- */

static enum as_status complete_level(const json_t *object, void *record, const char *place, struct as_error *err)
{
    const struct as_null_level *level = record;
    (void)object;
    return level->gbs > 0 ? AS_OK : as_fail(err, AS_FORMAT, "%s: \"gbs\" is 0; write a bandwidth", place);
}

static enum as_status complete_copy(const json_t *object, void *record, const char *place, struct as_error *err)
{
    const struct as_null_copy *copy = record;
    (void)object;
    return copy->gbs > 0 && copy->both_gbs > 0 ? AS_OK : as_fail(err, AS_FORMAT, "%s: a bandwidth is 0", place);
}

/* AS_NULL_ACTIONS_N: no such action. */
static enum as_null_action action_of(const char *word)
{
    int i = 0;
    while (i < AS_NULL_ACTIONS_N && !(word && strcmp(action_words[i], word) == 0))
        i++;
    return (enum as_null_action)i;
}

static enum as_status complete_fault(const json_t *object, void *record, const char *place, struct as_error *err)
{
    struct as_null_fault *fault = record;
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

static enum as_status get_open(const json_t *value, const char *place, struct as_null_script *s, struct as_error *err)
{
    s->open.action = action_of(json_string_value(value));
    return !value || s->open.action < AS_NULL_WRONG
               ? AS_OK
               : as_fail(err, AS_FORMAT, "%s: \"open\" is none of crash, hang, exit, fail, oom", place);
}

static enum as_status complete_code(const json_t *object, void *record, const char *place, struct as_error *err)
{
    const char *name;
    json_t *value;
    struct as_null_script *s = record;
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

static enum as_status complete_positive(const json_t *value, void *record, const char *place, struct as_error *err)
{
    *(double *)record = json_number_value(value);
    return json_number_value(value) > 0 ? AS_OK : as_fail(err, AS_FORMAT, "%s must be a number above 0", place);
}

/* Its share of the time is below 1 and its length above 0, so it ends and returns. */
static enum as_status complete_disturbance(const json_t *object, void *record, const char *place, struct as_error *err)
{
    const struct as_null_disturbance *d = record;
    (void)object;
    if (d->share < 1 && d->length_s > 0 && d->factor > 0)
        return AS_OK;
    return as_fail(err, AS_FORMAT, "%s needs \"share\" below 1, and \"length_s\" and \"factor\" above 0", place);
}

static enum as_status complete_script(const json_t *json, void *record, const char *place, struct as_error *err)
{
    struct as_null_script *s = record;
    s->drift = json_object_get(json, "drift") != NULL;
    s->has_machine = json_object_get(json, "machine") != NULL;
    s->sensor.there = json_object_get(json, "sensor") != NULL;
    enum as_status st = get_execute(json_object_get(json, "execute"), place, &s->execute, err);
    if (!st)
        st = get_open(json_object_get(json, "open"), place, s, err);
    for (size_t i = 0; !st && i < s->levels_n; i++) {
        bool last = i + 1 == s->levels_n;
        if (last ? s->levels[i].size != 0 : s->levels[i].size == 0 || (i && s->levels[i].size <= s->levels[i - 1].size))
            st = as_fail(err, AS_FORMAT, "%s: \"levels\" need rising sizes and a last one of size 0", place);
    }
    return st;
}

/* ---- the words of the language ---- */

/* clang-format off */
#define FIELD(s, type, field) #field, type, offsetof(struct s, field), sizeof(((struct s *)0)->field), NULL, 0, 0
#define NAMED(name, type, field) name, type, offsetof(struct as_null_script, field), sizeof(((struct as_null_script *)0)->field), NULL, 0, 0
#define PART(field, record) #field, OBJECT, offsetof(struct as_null_script, field), 0, &record, 0, 0
#define FLAT(name, record) name, OBJECT, 0, 0, &record, 0, 0
#define ITEMS(field, record) \
    #field, LIST, offsetof(struct as_null_script, field), sizeof(((struct as_null_script *)0)->field[0]), &record, \
    sizeof(((struct as_null_script *)0)->field) / sizeof(((struct as_null_script *)0)->field[0]), \
    offsetof(struct as_null_script, field##_n)
#define ELSEWHERE(name) name, OTHER, 0, 0, NULL, 0, 0

static const struct member level_members[] = {
    {FIELD(as_null_level, COUNT,  size)},
    {FIELD(as_null_level, NUMBER, ns)},
    {FIELD(as_null_level, NUMBER, gbs)},
    {FIELD(as_null_level, NUMBER, beta)},
    {0}};
static const struct member mode_members[] = {
    {FIELD(as_null_mode, NUMBER, share)},
    {FIELD(as_null_mode, NUMBER, factor)},
    {0}};
static const struct member copy_members[] = {
    {FIELD(as_null_copy, TEXT,   from)},
    {FIELD(as_null_copy, TEXT,   to)},
    {FIELD(as_null_copy, NUMBER, gbs)},
    {FIELD(as_null_copy, NUMBER, both_gbs)},
    {0}};
static const struct member calls_members[] = {
    {FIELD(as_null_calls, TEXT,   allocator)},
    {FIELD(as_null_calls, NUMBER, alloc_ns)},
    {FIELD(as_null_calls, NUMBER, free_ns)},
    {0}};
static const struct member fault_members[] = {
    {FIELD(as_null_fault, TEXT,   device)},
    {FIELD(as_null_fault, TEXT,   kernel)},
    {FIELD(as_null_fault, TEXT,   probe)},
    {FIELD(as_null_fault, TEXT,   allocator)},
    {FIELD(as_null_fault, COUNT,  min_footprint)},
    {FIELD(as_null_fault, COUNT,  max_footprint)},
    {FIELD(as_null_fault, COUNT,  launch)},
    {FIELD(as_null_fault, COUNT,  from)},
    {FIELD(as_null_fault, NUMBER, factor)},
    {ELSEWHERE("do")},
    {ELSEWHERE("count")},
    {0}};
static const struct as_null_fault usual_fault = {
    .device = "*", .kernel = "*", .probe = "*", .max_footprint = UINT64_MAX, .factor = 1};
static const struct member disturbance_members[] = {
    {FIELD(as_null_disturbance, NUMBER, share)},
    {FIELD(as_null_disturbance, NUMBER, length_s)},
    {FIELD(as_null_disturbance, NUMBER, factor)},
    {0}};
static const struct member sensor_members[] = {
    {FIELD(as_null_sensor_script, TEXT,   why_not)},
    {FIELD(as_null_sensor_script, TEXT,   cannot)},
    {FIELD(as_null_sensor_script, TEXT,   throttle)},
    {FIELD(as_null_sensor_script, NUMBER, power_w)},
    {FIELD(as_null_sensor_script, NUMBER, temperature)},
    {FIELD(as_null_sensor_script, NUMBER, clock_hz)},
    {FIELD(as_null_sensor_script, NUMBER, memory_clock_hz)},
    {FIELD(as_null_sensor_script, NUMBER, users)},
    {FIELD(as_null_sensor_script, NUMBER, ecc_uncorrected)},
    {FIELD(as_null_sensor_script, NUMBER, pcie_replays)},
    {FIELD(as_null_sensor_script, NUMBER, pcie_replays_before)},
    {0}};
static const struct member shared_members[] = {
    {FIELD(as_null_shared, COUNT,  size)},
    {FIELD(as_null_shared, NUMBER, ns)},
    {FIELD(as_null_shared, NUMBER, restores)},
    {FIELD(as_null_shared, TEXT,   touch)},
    {FIELD(as_null_shared, TEXT,   pass)},
    {0}};
static const struct member noise_members[] = {
    {FIELD(as_null_script, NUMBER, sd)},
    {FIELD(as_null_script, NUMBER, trial_sd)},
    {FIELD(as_null_script, NUMBER, process_sd)},
    {FIELD(as_null_script, NUMBER, walk_sd)},
    {0}};
static const struct member drift_members[] = {
    {NAMED("factor",      NUMBER, drift_factor)},
    {NAMED("from_s",      NUMBER, drift_from_s)},
    {NAMED("to_s",        NUMBER, drift_to_s)},
    {NAMED("from_launch", COUNT,  drift_from_launch)},
    {NAMED("to_launch",   COUNT,  drift_to_launch)},
    {0}};
static const struct record
    level_record       = {level_members, &(const struct as_null_level){.ns = 1, .gbs = 10}, complete_level},
    mode_record        = {mode_members, &(const struct as_null_mode){.share = 1, .factor = 1}, NULL},
    copy_record        = {copy_members, &(const struct as_null_copy){.gbs = 10, .both_gbs = 20}, complete_copy},
    calls_record       = {calls_members, &(const struct as_null_calls){.alloc_ns = 100, .free_ns = 50}, NULL},
    fault_record       = {fault_members, &usual_fault, complete_fault},
    clock_record       = {NULL, NULL, complete_positive},
    factor_record      = {NULL, NULL, complete_positive},
    code_record        = {NULL, NULL, complete_code},
    disturbance_record = {disturbance_members, NULL, complete_disturbance},
    drift_record       = {drift_members, NULL, NULL},
    noise_record       = {noise_members, NULL, NULL},
    sensor_record      = {sensor_members, NULL, NULL},
    shared_record      = {shared_members, NULL, NULL};

static const struct member machine_members[] = {
    {FIELD(as_null_script, NUMBER, hop_s)},
    {FIELD(as_null_script, NUMBER, reading_sd)},
    {FIELD(as_null_script, NUMBER, seen)},
    {FIELD(as_null_script, NUMBER, reading)},
    {ITEMS(clocks,    clock_record)},
    {PART(neighbour,  disturbance_record)},
    {PART(episode,    disturbance_record)},
    {0}};
static const struct record machine_record = {machine_members, NULL, NULL};

static const struct member script_members[] = {
    {FIELD(as_null_script, TEXT,   why_not)},
    {FIELD(as_null_script, COUNT,  seed)},
    {FIELD(as_null_script, COUNT,  devices)},
    {FIELD(as_null_script, COUNT,  huge_page)},
    {FIELD(as_null_script, BOOL,   sleep)},
    {FIELD(as_null_script, BOOL,   cycles)},
    {FIELD(as_null_script, BOOL,   is_device)},
    {FIELD(as_null_script, NUMBER, clock_hz)},
    {FIELD(as_null_script, NUMBER, launch_ns)},
    {FIELD(as_null_script, NUMBER, alloc_ns)},
    {FIELD(as_null_script, NUMBER, free_ns)},
    {FIELD(as_null_script, NUMBER, together_gbs)},
    {ITEMS(levels,    level_record)},
    {ITEMS(factors,   factor_record)},
    {ITEMS(modes,     mode_record)},
    {ITEMS(copies,    copy_record)},
    {ITEMS(calls,     calls_record)},
    {ITEMS(faults,    fault_record)},
    {PART(sensor,     sensor_record)},
    {PART(shared,     shared_record)},
    {FLAT("noise",    noise_record)},
    {FLAT("drift",    drift_record)},
    {FLAT("machine",  machine_record)},
    {FLAT("code",     code_record)},
    {ELSEWHERE("execute")},
    {ELSEWHERE("open")},
    {ELSEWHERE("info")},
    {0}};
static const struct record script_record = {script_members, NULL, complete_script};
/* clang-format on */

/* ---- reading ---- */

static const struct member *find_member(const struct member *members, const char *name)
{
    for (; members->name; members++)
        if (strcmp(members->name, name) == 0)
            return members;
    return NULL;
}

static enum as_status get_record(const struct record *r, const json_t *value, void *record, const char *place,
                                 struct as_error *err);

static enum as_status get_items(const struct member *m, const json_t *array, void *record, const char *place,
                                struct as_error *err)
{
    char *items = (char *)record + m->offset;
    if (!json_is_array(array) || json_array_size(array) > m->max)
        return as_fail(err, AS_FORMAT, "%s: \"%s\" is not a list of at most %zu", place, m->name, m->max);
    const size_t n = json_array_size(array);
    *(size_t *)((char *)record + m->n_offset) = n;
    for (size_t i = 0; i < n; i++) {
        char where[400];
        snprintf(where, sizeof where, "%s: \"%s\"[%zu]", place, m->name, i);
        if (m->record->defaults)
            memcpy(items + i * m->size, m->record->defaults, m->size);
        enum as_status st = get_record(m->record, json_array_get(array, i), items + i * m->size, where, err);
        if (st)
            return st;
    }
    return AS_OK;
}

static enum as_status get_member(const struct member *m, const json_t *value, void *record, const char *place,
                                 struct as_error *err)
{
    char *at = (char *)record + m->offset;
    double number = json_number_value(value);
    if (m->type == OBJECT) {
        return get_record(m->record, value, at, place, err);
    } else if (m->type == LIST) {
        return get_items(m, value, record, place, err);
    } else if (m->type == TEXT && json_is_string(value)) {
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

static enum as_status get_record(const struct record *r, const json_t *value, void *record, const char *place,
                                 struct as_error *err)
{
    const enum as_status st = r->members ? get_members(r->members, value, record, place, err) : AS_OK;
    return !st && r->complete ? r->complete(value, record, place, err) : st;
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
                   .ecc_uncorrected = NAN,
                   .pcie_replays = NAN},
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
    enum as_status st = get_record(&script_record, json, script, place, err);
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
                          AS_CAP_SVM_ATOMICS | AS_CAP_ASYNC | AS_CAP_SIMULATED | AS_CAP_PEERS | AS_CAP_TEAM |
                          (script->has_code ? AS_CAP_CODE : 0);
    return st;
}
