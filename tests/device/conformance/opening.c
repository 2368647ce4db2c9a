/* Opening: the record is whole, refusals say why, devices come in order, what they are told is sane. */
#include "conformance.h"

#include "device/sensor.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* A capability, and whether the slot that does it is there. */
static void check_slot(unsigned capability, bool there)
{
    if (gpu.dev.info.capabilities & capability && !there)
        fail_msg("it claims %s and lacks the slot", as_capability_word(capability));
}

static void check_slots(void)
{
    const struct as_device *d = &gpu.dev;
    check_slot(AS_CAP_ASYNC, d->queue->submit && d->queue->wait);
    check_slot(AS_CAP_QUEUES, d->queue->queues && d->queue->wait_queue);
    check_slot(AS_CAP_COPY, d->queue->copy);
    check_slot(AS_CAP_CLOCK, d->device->clock);
    check_slot(AS_CAP_CODE, d->program->count);
    check_slot(AS_CAP_TEAM, d->team);
}

static void check_allocators(const struct as_device_info *info)
{
    assert_true(info->allocators_n > 0 && info->allocators_n <= AS_ALLOCATORS_MAX);
    for (size_t i = 0; i < info->allocators_n; i++) {
        const struct as_allocator *a = &info->allocators[i];
        assert_true(a->name[0]);
        assert_ptr_equal(as_info_allocator(info, a->name), a); /* no name twice */
        if (stand_in.backend->roles)
            assert_int_not_equal(as_role_in(stand_in.backend->roles, a->name), AS_ROLE_UNKNOWN);
    }
}

static void check_info(const struct as_device_info *info)
{
    struct as_buf json = AS_BUF_INIT;
    struct as_device_info *back = calloc(1, sizeof *back);
    struct as_error err = {0};
    uint64_t bytes = 0;
    assert_non_null(back);
    assert_true(info->name[0] && info->memory_free <= info->memory_bytes);
    assert_true(info->name[0] != ' ' && info->name[strlen(info->name) - 1] != ' '); /* as firmware pads it */
    assert_int_equal(strncmp(info->id, stand_in.backend->name, strlen(stand_in.backend->name)), 0);
    assert_true(info->clock_max_hz >= 0 && isfinite(info->peak_bandwidth));
    for (size_t i = 0; i < info->caches_n; i++)
        assert_true(info->caches[i].size > 0 && strchr("diu", info->caches[i].kind));
    check_allocators(info);
    as_info_to_json(info, &json);
    check_ok(as_info_from_json(as_buf_get(&json), back, &err), &err); /* hostile names too */
    assert_int_equal(back->capabilities, info->capabilities);
    as_buf_finish(&json);
    free(back);
    check_ok(gpu.dev.device->memory_free(&gpu.dev, &bytes, &err), &err);
    assert_true(info->memory_bytes == 0 || bytes <= info->memory_bytes);
    if (gpu.dev.device->alive)
        check_ok(gpu.dev.device->alive(&gpu.dev, &err), &err);
    double hz = 0;
    if (info->capabilities & AS_CAP_CLOCK) {
        check_ok(gpu.dev.device->clock(&gpu.dev, &hz, &err), &err);
        assert_true(hz > 1e6 && isfinite(hz));
    }
}

static void check_sensor(const struct as_sensor *sensor)
{
    struct as_buf why_not = AS_BUF_INIT;
    struct as_sensor_reading reading;
    struct as_error err = {0};
    void *ctx = NULL;
    check_ok(sensor->open(&gpu.dev.info, &ctx, &why_not, &err), &err);
    sensor->read(ctx, AS_SENSOR_ALL, &reading);
    assert_false(reading.utilisation > 1);
    sensor->close(ctx);
    as_buf_finish(&why_not);
}

void conformance_opens(void **state)
{
    struct as_error err = {0};
    (void)state;
    check_ok(as_backend_check(stand_in.backend, &err), &err);
    for (size_t i = 0; conformance_machine(i); i++) {
        const size_t n = stand_in.backend->count(gpu.backend);
        struct as_device none;
        check_ok(as_device_check(&gpu.dev, &err), &err);
        check_slots();
        check_info(&gpu.dev.info);
        if (stand_in.backend->sensor)
            check_sensor(stand_in.backend->sensor);
        if (!stand_in.backend->single) {
            assert_int_equal(stand_in.backend->open_device(gpu.backend, n, &none, &err), AS_NOTFOUND);
            assert_non_null(strstr(err.text, "the last is"));
            assert_null(none.ctx);
        }
        close_gpu(&gpu);
    }
}

void conformance_refuses(void **state)
{
    (void)state;
    for (const struct open_refusal *r = stand_in.refusals; r && r->code; r++) {
        struct as_error err = {0};
        struct as_device dev = {.ctx = NULL};
        void *backend = NULL;
        if (r->device)
            conformance_fake("");
        else
            fake(r->words);
        if (r->visible)
            setenv(stand_in.visible, r->visible, 1);
        enum as_status st = stand_in.backend->open(&backend, &err);
        if (r->device) {
            check_ok(st, &err);
            fake(r->words);
            st = stand_in.backend->open_device(backend, 0, &dev, &err);
            assert_null(dev.ctx);
            stand_in.backend->close(backend);
        } else {
            assert_null(backend);
        }
        if (r->visible)
            unsetenv(stand_in.visible);
        check_fails(st, r->code, &err, r->part);
        if (r->device) {
            assert_int_equal(fake_live(), 0);
            assert_string_equal(fake_broken(), "");
        }
    }
}

/* Devices come by PCI address, whatever the environment chooses and in which order. */
void conformance_order(void **state)
{
    static const char *const lists[] = {NULL, "0,1,2", "2,1,0", "1,2,0"};
    const char *const *bus = stand_in.bus_ids;
    (void)state;
    if (!bus)
        skip();
    fake("");
    for (size_t l = 0; l < (stand_in.visible ? 4 : 1); l++) {
        if (lists[l])
            setenv(stand_in.visible, lists[l], 1);
        for (size_t i = 0; bus[i]; i++) {
            struct opened o;
            open_gpu(&o, i);
            assert_int_equal(stand_in.backend->count(o.backend), 3);
            assert_string_equal(o.dev.info.bus_id, bus[i]);
            close_gpu(&o);
        }
    }
    if (!stand_in.visible)
        return;
    setenv(stand_in.visible, "0,2", 1);
    struct opened o;
    open_gpu(&o, 1);
    assert_int_equal(stand_in.backend->count(o.backend), 2);
    assert_string_equal(o.dev.info.bus_id, bus[2]);
    close_gpu(&o);
    unsetenv(stand_in.visible);
}

/* Negative numbers and unterminated names of a driver do not reach the device's description. */
static void check_sane(const struct as_device_info *info)
{
    enum { MOST = 1 << 24 };
    assert_true(memchr(info->name, 0, sizeof info->name) && memchr(info->uuid, 0, sizeof info->uuid));
    assert_true(info->compute_units < MOST && info->threads < MOST && info->warp < MOST);
    assert_true(info->compute_unit_threads < MOST && info->compute_unit_registers < MOST);
    assert_true(info->compute_unit_shared < GIB && info->workgroup_shared < GIB);
    assert_true(info->peak_bandwidth >= 0 && info->clock_max_hz >= 0 && info->caches_n <= AS_CACHES_MAX);
}

/* Of every device, however hostile its name: JSON with nothing in it that a page or a terminal would act on. */
void conformance_topology(void **state)
{
    const size_t n = stand_in.backend->count(gpu.backend);
    (void)state;
    if (!gpu.dev.device->topology)
        skip();
    for (size_t i = 0; i < n; i++) {
        struct opened o = {.backend = gpu.backend};
        struct as_buf json = AS_BUF_INIT;
        struct as_error err = {0};
        json_error_t why;
        open_device(&o, i);
        check_sane(&o.dev.info);
        check_ok(o.dev.device->topology(&o.dev, &json, &err), &err);
        json_t *tree = json_loads(as_buf_get(&json), 0, &why);
        if (!tree)
            fail_msg("%s in %s", why.text, as_buf_get(&json));
        assert_string_equal(json_string_value(json_object_get(tree, "type")), "machine");
        assert_non_null(json_array_get(json_object_get(tree, "children"), 0));
        assert_null(strpbrk(as_buf_get(&json), "<\x1b"));
        json_decref(tree);
        as_buf_finish(&json);
        o.dev.device->close(&o.dev);
    }
}
