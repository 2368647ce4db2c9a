/* The worker process: opens one device, measures trials, answers the parent. Its only ways out are the socket and its
 * exit code; the parent outlives every crash, hang and abort in here. */
#include "worker/worker.h"
#include "base/text.h"
#include "device/device.h"
#include "os/process.h"
#include "refs/bounds.h"
#include "worker/measure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <math.h>

struct worker {
    int fd;
    struct as_opened opened;
    struct as_sensing sensing;
    struct as_reference reference;
    int is_open;
    struct as_device compiler; /* of what is compiled ahead; without a name where there is none */
};

static json_t *refusal(const struct as_error *err)
{
    json_t *text = json_string(err->text);
    return json_pack("{s:b, s:i, s:o}", "ok", 0, "code", (int)err->code, "why",
                     text ? text : json_string("(a reason that is not valid UTF-8)"));
}

/* {"ok":true,"info":{...},"topology":{...}}; topology is absent where the device tells none. */
static json_t *worker_describe(struct as_device *dev, struct as_sensing *sensing)
{
    as_sensing_describe(sensing, &dev->info);
    (void)as_specified_cache(&dev->info, NULL); /* out of memory: it stays unknown */
    struct as_buf info = AS_BUF_INIT, tree = AS_BUF_INIT;
    json_t *j = json_pack("{s:b}", "ok", 1);
    as_info_to_json(&dev->info, &info);
    json_t *parsed = json_loads(as_buf_get(&info), 0, NULL);
    json_object_set_new(j, "info", parsed ? parsed : json_object());
    if (dev->device->topology && !dev->device->topology(dev, &tree, NULL)) {
        json_t *t = json_loads(as_buf_get(&tree), 0, NULL);
        if (t)
            json_object_set_new(j, "topology", t);
    }
    as_buf_finish(&info);
    as_buf_finish(&tree);
    return j;
}

static void close_device(struct worker *w)
{
    if (!w->is_open)
        return;
    as_sensing_close(&w->sensing);
    as_device_close(&w->opened);
    w->is_open = 0;
}

static json_t *do_open(struct worker *w, const json_t *order)
{
    struct as_error err = {0};
    const char *id = json_string_value(json_object_get(order, "device"));
    const char *state = json_string_value(json_object_get(order, AS_STATE_AXIS));
    close_device(w);
    if (state && as_state_enter(id ? id : "", state, &err))
        return refusal(&err);
    if (as_device_open(id ? id : "", &w->opened, &err))
        return refusal(&err);
    w->is_open = 1;
    as_copy_text(w->opened.device.info.state, AS_STATE_SIZE, state ? state : "");
    as_sensing_open(&w->opened.device.info, &w->sensing);
    return worker_describe(&w->opened.device, &w->sensing);
}

static json_t *list_device(const struct as_backend *b, void *ctx, size_t index)
{
    struct as_error err = {0};
    struct as_device dev = {0};
    if (b->open_device(ctx, index, &dev, &err))
        return refusal(&err);
    struct as_sensing sensing;
    as_backend_describe(b, b->count(ctx), &dev.info);
    as_sensing_open(&dev.info, &sensing);
    json_t *j = worker_describe(&dev, &sensing);
    as_sensing_close(&sensing);
    dev.device->close(&dev);
    return j;
}

/* {"ok":true,"devices":[...]}, each as describe or refusal gives it. */
static json_t *do_list(const json_t *order)
{
    struct as_error err = {0};
    const char *name = json_string_value(json_object_get(order, "backend"));
    const struct as_backend *b = name ? as_backend_find(name) : NULL;
    void *ctx = NULL;
    if (!b)
        as_fail(&err, AS_NOTFOUND, "this build has no such backend");
    else if (b->unbuilt)
        as_fail(&err, AS_UNSUPPORTED, "not built: %s", b->unbuilt);
    else if (!as_backend_check(b, &err) && !b->open(&ctx, &err)) {
        json_t *devices = json_array();
        for (size_t i = 0; i < b->count(ctx); i++)
            json_array_append_new(devices, list_device(b, ctx, i));
        b->close(ctx);
        return json_pack("{s:b, s:o}", "ok", 1, "devices", devices);
    }
    return refusal(&err);
}

static json_t *do_trial(struct worker *w, const json_t *order_json)
{
    struct as_error err = {0};
    struct as_trial_order order;
    struct as_trial trial;
    if (!w->is_open)
        as_fail(&err, AS_FAILED, "no device is open");
    else if (!as_order_from_json(order_json, &order, &err) &&
             !as_measure_trial(&w->opened.device, &w->sensing, &w->reference, &order, &trial, &err)) {
        const struct as_device *dev = &w->opened.device;
        bool lost = dev->device->alive && dev->device->alive(&w->opened.device, NULL);
        json_t *j = json_pack("{s:b, s:b, s:o}", "ok", 1, "lost", lost, "trial", as_trial_to_json(&trial));
        as_trial_finish(&trial);
        return j;
    }
    return refusal(&err);
}

static void close_compiler(struct worker *w)
{
    if (w->compiler.device)
        w->compiler.device->close(&w->compiler);
    w->compiler = (struct as_device){0};
}

static enum as_status open_compiler(struct worker *w, const json_t *order, struct as_error *err)
{
    struct as_device_info info;
    char *text = json_dumps(json_object_get(order, "info"), JSON_COMPACT);
    enum as_status st = text ? as_info_from_json(text, &info, err) : as_fail(err, AS_FORMAT, "no device is described");
    free(text);
    if (st || (w->compiler.device && strcmp(w->compiler.info.id, info.id) == 0))
        return st;
    close_compiler(w);
    const struct as_backend *b = as_backend_find(info.backend);
    if (!b || !b->open_compiler)
        return as_fail(err, AS_UNSUPPORTED, "backend '%s' compiles nothing ahead", info.backend);
    return b->open_compiler(&info, &w->compiler, err);
}

/* Failures are not reported: they recur in the trial, which reports them. */
static json_t *do_compile(struct worker *w, const json_t *order_json)
{
    struct as_error err = {0};
    struct as_trial_order order;
    if (as_order_from_json(order_json, &order, &err) || open_compiler(w, order_json, &err))
        return refusal(&err);
    as_measure_compile(&w->compiler, &order);
    return json_pack("{s:b}", "ok", 1);
}

static json_t *answer(struct worker *w, const json_t *order)
{
    const char *what = json_string_value(json_object_get(order, "do"));
    struct as_error err = {0};
    if (what && strcmp(what, "open") == 0)
        return do_open(w, order);
    if (what && strcmp(what, "list") == 0)
        return do_list(order);
    if (what && strcmp(what, "trial") == 0)
        return do_trial(w, order);
    if (what && strcmp(what, "compile") == 0)
        return do_compile(w, order);
    as_fail(&err, AS_FAILED, "the worker does not know this order");
    return refusal(&err);
}

/* A reply that lost a part for lack of memory would be wrong. */
static json_t *whole_answer(struct worker *w, const json_t *order)
{
    const size_t before = as_memory_failures();
    struct as_error err = {0};
    json_t *reply = answer(w, order);
    if (as_memory_failures() == before)
        return reply;
    json_decref(reply);
    as_nomem(&err, 0, "an answer");
    return refusal(&err);
}

enum as_status as_worker_main(int fd, long parent, struct as_error *err)
{
    struct worker w = {.fd = fd, .reference = AS_REFERENCE_INIT};
    bool stream;
    if (!as_packet_socket(fd, &stream))
        return as_fail(err, AS_USAGE,
                       "'--worker' is internal, assay starts itself so: descriptor %d is not the socket that it needs; "
                       "see 'assay help' for what can be asked of it",
                       fd);
    as_end_with_parent(parent);
    if (getppid() != parent) /* it died before the line above */
        return as_fail(err, AS_FAILED, "'--worker': the parent, process %ld, is gone", parent);
    /* Processes started by a driver must not hold the socket after this one ends. */
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    enum as_status st = AS_OK;
    while (!st) {
        json_t *order = NULL;
        const enum as_receive how = as_message_receive(fd, INFINITY, NULL, &order);
        if (how != AS_RECEIVED) {
            st = how == AS_NO_MEMORY ? AS_NOMEM : AS_OK;
            break;
        }
        json_t *reply = whole_answer(&w, order);
        json_decref(order);
        st = reply ? as_message_send(fd, reply, NULL) : AS_NOMEM;
        json_decref(reply);
    }
    close_compiler(&w);
    close_device(&w);
    return st == AS_NOMEM ? as_nomem(err, 0, "an answer") : AS_OK;
}
