#include "report/load.h"
#include "report/shown.h"
#include "report/twins.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct as_device_info *as_report_device(const struct as_report_run *r, const char *id)
{
    for (size_t i = 0; i < r->devices_n; i++)
        if (strcmp(r->devices[i].id, id) == 0)
            return &r->devices[i];
    return NULL;
}

const char *as_report_device_name(const struct as_report_run *r, const char *id)
{
    const struct as_device_info *info = as_report_device(r, id);
    return info ? info->name : "";
}

void as_report_run_finish(struct as_report_run *r)
{
    for (size_t i = 0; r->topologies && i < r->devices_n; i++)
        free(r->topologies[i]);
    free(r->topologies);
    free(r->devices);
    free(r->facts);
    free(r->advice);
    free(r->twins);
    as_cells_free(r->cells, r->cells_n);
    as_run_finish(&r->run);
    *r = (struct as_report_run){0};
}

static enum as_status take_device(const json_t *j, struct as_device_info *info, char **topology, struct as_error *err)
{
    char *text = json_dumps(j, JSON_COMPACT);
    if (!text)
        return as_fail(err, AS_FORMAT, "not an object");
    enum as_status s = as_info_from_json(text, info, err);
    free(text);
    const json_t *tree = json_object_get(j, "topology");
    if (!s && json_is_object(tree) && !(*topology = json_dumps(tree, JSON_COMPACT)))
        s = as_nomem(err, 0, "a topology");
    return s;
}

/* The devices as they were when the run began, out of the run's own record. */
static enum as_status load_devices(struct as_report_run *r, struct as_error *err)
{
    if (!r->run.devices || !r->run.devices[0])
        return AS_OK;
    json_error_t why;
    enum as_status s = AS_OK;
    json_t *list = json_loads(r->run.devices, 0, &why);
    size_t n = json_array_size(list);
    if (!json_is_array(list)) {
        s = as_fail(err, AS_FORMAT, "%s", list ? "not an array" : why.text);
        goto done;
    }
    r->devices = calloc(n + 1, sizeof *r->devices);
    r->topologies = calloc(n + 1, sizeof *r->topologies);
    if (!r->devices || !r->topologies) {
        s = as_nomem(err, n * sizeof *r->devices, "devices");
        goto done;
    }
    for (; r->devices_n < n && !s; r->devices_n++)
        s = take_device(json_array_get(list, r->devices_n), &r->devices[r->devices_n], &r->topologies[r->devices_n],
                        err);
done:
    json_decref(list);
    return s;
}

static enum as_status samples_of(void *context, int64_t cell_id, struct as_cell *out, struct as_error *err)
{
    enum as_status s = as_store_cell(context, cell_id, 1, out, err);
    if (!s)
        as_shown_cell(out);
    return s;
}

enum as_status as_report_load(struct as_store *store, const char *name, struct as_report_run *out, struct as_error *err)
{
    *out = (struct as_report_run){0};
    enum as_status s = as_store_run(store, name, &out->run, err);
    if (!s)
        s = as_store_cells(store, &(struct as_cell_filter){.run_id = out->run.id}, &out->cells, &out->cells_n, err);
    if (!s && (s = load_devices(out, err)) == AS_FORMAT)
        as_fail(err, s, "the store '%s' is damaged: devices of run %lld: %s", as_store_path(store),
                (long long)out->run.id, err ? err->text : "");
    const struct as_fact_input input = {.run = &out->run,
                                        .cells = out->cells,
                                        .cells_n = out->cells_n,
                                        .devices = out->devices,
                                        .devices_n = out->devices_n};
    if (!s)
        s = as_facts_derive(&input, &out->facts, &out->facts_n, err);
    if (!s)
        s = as_advice_derive(&input, out->facts, out->facts_n, &out->advice, &out->advice_n, err);
    for (size_t i = 0; i < out->cells_n && !s; i++) /* behind the facts, whose rules read cells as they are stored */
        as_shown_cell(&out->cells[i]);
    if (!s)
        s = as_twins_make(out, samples_of, store, err);
    if (s)
        as_report_run_finish(out);
    return s;
}
