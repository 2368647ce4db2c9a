#include "model/metrics.h"
#include "model/fields.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS_MAX = 16 };

const struct as_metric as_demand_metrics[] = {
    {"memory_read", "GB/s", false, "read from memory by all requesters, by the CPU's memory controllers", NULL},
    {"memory_written", "GB/s", false, "written to memory by all requesters, by the CPU's memory controllers", NULL},
    {"cpu_traffic", "GB/s", false, "between the CPU's last-level cache and memory, of resctrl's default group", NULL},
    {"device_memory", "%", false,
     "share of the device's peak memory bandwidth, mean over the samples with all their arms", NULL},
    {"device_memory_busy", "%", false, "share of time that the device's memory was busy, the driver's average", NULL},
    {"bus_received", "GB/s", false, "received by the device over its PCIe link", NULL},
    {"bus_sent", "GB/s", false, "sent by the device over its PCIe link", NULL},
    {"cpu_power", "W", true, "power of the CPU: its package (RAPL), or the chip's CPU cores (Apple)", NULL},
    {"gpu_power", "W", true, "power of the GPU: NVML's scope GPU, or the chip's GPU (Apple)", NULL},
    {"ane_power", "W", true, "power of the chip's neural engine", NULL},
    {"dram_power", "W", true, "power of the memory: RAPL's domain, or the chip's memory (Apple)", NULL},
    {"cores_power", "W", true, "power of the CPU's cores, by RAPL", NULL},
    {"platform_power", "W", true, "power of the whole platform, by RAPL's domain psys", NULL},
    {"device_memory_power", "W", true, "power of the GPU's memory, by NVML's scope memory", NULL},
    {"module_power", "W", true, "power of the module with CPU and GPU, by NVML's scope module", NULL},
    {0},
};

bool as_is_demand_metric(const char *name)
{
    size_t i = 0;
    while (as_demand_metrics[i].name && strcmp(as_demand_metrics[i].name, name) != 0)
        i++;
    return as_demand_metrics[i].name != NULL;
}

bool as_answers_valid(const json_t *list)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (!json_is_string(one) || i >= ANSWERS_MAX)
            return false;
    }
    return json_is_array(list);
}

const char *as_cell_answer(const struct as_cell *cell, double v, char out[64])
{
    if (strcmp(cell->unit, AS_UNIT_ANSWER) != 0 || !cell->answers || !(v >= 1 && v <= ANSWERS_MAX) || v != floor(v))
        return NULL;
    json_t *list = json_loads(cell->answers, 0, NULL);
    const char *text = json_string_value(json_array_get(list, (size_t)v - 1));
    if (text)
        as_copy_text(out, 64, text);
    json_decref(list);
    return text ? out : NULL;
}

enum as_status as_cell_set_answers(struct as_cell *cell, const char *const *answers, struct as_error *err)
{
    struct as_buf out = AS_BUF_INIT;
    for (size_t i = 0; answers && answers[i]; i++) {
        as_buf_char(&out, i ? ',' : '[');
        as_buf_json_str(&out, answers[i]);
    }
    if (out.len)
        as_buf_char(&out, ']');
    enum as_status st = as_buf_check(&out, err);
    if (!st) {
        free(cell->answers);
        cell->answers = out.len ? as_buf_take(&out) : NULL;
    }
    as_buf_finish(&out);
    return st;
}

static bool metrics_read_one(const json_t *j, struct as_metric_value *out)
{
    static const struct as_place place = {.text = "metrics"};
    struct as_error err;
    *out = (struct as_metric_value){0};
    return as_fields_read(&as_metric_fields, j, &place, out, &err) == AS_OK && out->name[0] && isfinite(out->value) &&
           out->ci.lo <= out->value && out->value <= out->ci.hi;
}

/* *rest: number of elements that are malformed or exceed the maximum. */
static size_t read_metrics(const json_t *list, struct as_metric_value out[AS_METRICS_MAX], size_t *rest)
{
    size_t n = 0, i;
    json_t *one;
    *rest = 0;
    json_array_foreach(list, i, one)
    {
        if (n < AS_METRICS_MAX && metrics_read_one(one, &out[n]))
            n++;
        else
            ++*rest;
    }
    return n;
}

size_t as_cell_metrics(const struct as_cell *cell, struct as_metric_value out[AS_METRICS_MAX])
{
    size_t rest;
    json_t *list = cell->metrics ? json_loads(cell->metrics, 0, NULL) : NULL;
    const size_t n = read_metrics(list, out, &rest);
    json_decref(list);
    return n;
}

bool as_metrics_valid(const json_t *list)
{
    struct as_metric_value v[AS_METRICS_MAX];
    size_t rest;
    read_metrics(list, v, &rest);
    return json_is_array(list) && rest == 0;
}

bool as_cell_metric(const struct as_cell *cell, const char *name, struct as_metric_value *out)
{
    struct as_metric_value v[AS_METRICS_MAX];
    const size_t n = as_cell_metrics(cell, v);
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, name) == 0) {
            *out = v[i];
            return true;
        }
    return false;
}

bool as_cell_power(const struct as_cell *cell, struct as_metric_value *out)
{
    return as_cell_metric(cell, "gpu_power", out) || as_cell_metric(cell, "power_w", out);
}

static void write_metrics(const struct as_metric_value *v, size_t n, struct as_buf *out)
{
    as_buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        as_buf_str(out, i ? "," : "");
        as_fields_write(&as_metric_fields, &v[i], NULL, NULL, out, NULL); /* these kinds cannot fail */
    }
    as_buf_char(out, ']');
}

void as_cell_metrics_to_json(const struct as_cell *cell, struct as_buf *out)
{
    struct as_metric_value v[AS_METRICS_MAX];
    write_metrics(v, as_cell_metrics(cell, v), out);
}

enum as_status as_cell_set_metrics(struct as_cell *cell, const struct as_metric_value *v, size_t n,
                                   struct as_error *err)
{
    struct as_buf out = AS_BUF_INIT;
    write_metrics(v, n, &out);
    enum as_status st = as_buf_check(&out, err);
    if (!st) {
        free(cell->metrics);
        cell->metrics = n ? as_buf_take(&out) : NULL;
    }
    as_buf_finish(&out);
    return st;
}

double as_detail_number(const char *detail, const char *name)
{
    json_t *notes = detail ? json_loads(detail, 0, NULL) : NULL;
    const json_t *v = json_object_get(notes, name);
    const double number = json_is_number(v) ? json_number_value(v) : NAN;
    json_decref(notes);
    return number;
}

char *as_cell_note_text(const struct as_cell *cell, const char *name)
{
    json_t *notes = cell->detail ? json_loads(cell->detail, 0, NULL) : NULL;
    const char *text = json_string_value(json_object_get(notes, name));
    char *copy = text ? as_strdup(text) : NULL;
    json_decref(notes);
    return copy;
}

enum as_status as_cell_set_note(struct as_cell *cell, const char *name, const char *text, struct as_error *err)
{
    json_t *notes = json_loads(cell->detail, 0, NULL);
    char *detail =
        notes && json_object_set_new(notes, name, json_string(text)) == 0 ? json_dumps(notes, JSON_COMPACT) : NULL;
    json_decref(notes);
    if (!detail)
        return as_nomem(err, strlen(text), "a measurement's notes");
    free(cell->detail);
    cell->detail = detail;
    return AS_OK;
}
