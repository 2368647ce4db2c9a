/* What the tests of cards share. */
#include "gpu_tests.h"

#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the stand-in ---- */

void fake(const char *words)
{
    setenv(stand_in.words, words, 1);
}

/* A function of a stand-in; the real library has none of that name, so the test says when it was found instead. */
static void *fake_function(const char *library, const char *name)
{
    void *at = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    void *f = at ? dlsym(at, name) : NULL;
    if (at)
        dlclose(at);
    if (!f)
        fail_msg("%s is not the stand-in: it has no %s", library, name);
    return f;
}

int fake_live_of(const char *library, const char *function)
{
    int (*f)(void);
    void *at = fake_function(library, function);
    memcpy(&f, &at, sizeof f);
    return f();
}

int fake_live(void)
{
    return fake_live_of(stand_in.library, stand_in.live);
}

void fake_reset(void)
{
    void (*f)(void);
    void *at = fake_function(stand_in.library, stand_in.reset);
    memcpy(&f, &at, sizeof f);
    f();
}

const char *fake_broken(void)
{
    const char *(*f)(void);
    void *at = fake_function(stand_in.library, stand_in.broken);
    memcpy(&f, &at, sizeof f);
    return f();
}

void open_device(struct opened *o, size_t index)
{
    struct as_error err = {0};
    check_ok(stand_in.backend->open_device(o->backend, index, &o->dev, &err), &err);
}

void open_card(struct opened *o, size_t index)
{
    struct as_error err = {0};
    check_ok(stand_in.backend->open(&o->backend, &err), &err);
    open_device(o, index);
}

void close_backend(struct opened *o)
{
    o->dev.device->close(&o->dev);
    stand_in.backend->close(o->backend);
}

void close_card(struct opened *o)
{
    close_backend(o);
    assert_int_equal(fake_live(), 0);
    assert_string_equal(fake_broken(), "");
}

/* ---- opening ---- */

bool gpu_brief(void)
{
    return getenv("ASSAY_BRIEF") != NULL;
}

void gpu_refuses(const char *words, const char *visible, const char *part)
{
    struct as_error err = {0};
    void *backend = NULL;
    fake(words);
    if (visible)
        setenv(stand_in.visible, visible, 1);
    enum as_status s = stand_in.backend->open(&backend, &err);
    unsetenv(stand_in.visible);
    check_fails(s, AS_UNSUPPORTED, &err, part);
    assert_null(backend);
}

void gpu_order_is_pci(void **state)
{
    static const char *const bus[] = {"0000:0a:03.0", "0000:41:1f.7", "0000:c1:00.0"};
    static const char *const lists[] = {NULL, "0,1,2", "2,1,0", "1,2,0"};
    (void)state;
    fake("");
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        if (lists[l])
            setenv(stand_in.visible, lists[l], 1);
        for (size_t i = 0; i < 3; i++) {
            struct opened o;
            open_card(&o, i);
            assert_int_equal(stand_in.backend->count(o.backend), 3);
            assert_string_equal(o.dev.info.bus_id, bus[i]);
            close_card(&o);
        }
    }
    setenv(stand_in.visible, "0,2", 1);
    struct opened o;
    open_card(&o, 1);
    assert_int_equal(stand_in.backend->count(o.backend), 2);
    assert_string_equal(o.dev.info.bus_id, bus[2]);
    close_card(&o);
    unsetenv(stand_in.visible);
}

static const json_t *first_child(const json_t *node)
{
    return json_array_get(json_object_get(node, "children"), 0);
}

void gpu_topology_is_json(void **state)
{
    struct opened o;
    struct as_error err = {0};
    (void)state;
    fake("");
    for (size_t i = 0; i < 3; i++) {
        struct as_buf json = AS_BUF_INIT;
        open_card(&o, i);
        check_ok(o.dev.device->topology(&o.dev, &json, &err), &err);
        json_error_t why;
        json_t *tree = json_loads(as_buf_get(&json), 0, &why);
        if (!tree)
            fail_msg("%s in %s", why.text, as_buf_get(&json));
        assert_string_equal(json_string_value(json_object_get(tree, "type")), "machine");
        assert_null(strstr(as_buf_get(&json), "<"));
        const json_t *bus = first_child(tree), *device = first_child(bus), *unit = first_child(device);
        assert_string_equal(json_string_value(json_object_get(bus, "bus_id")), o.dev.info.bus_id);
        assert_int_equal(json_integer_value(json_object_get(device, "units")), o.dev.info.compute_units);
        assert_int_equal(json_integer_value(json_object_get(unit, "count")), o.dev.info.compute_units);
        assert_int_equal(json_integer_value(json_object_get(first_child(unit), "count")), o.dev.info.warp);
        json_decref(tree);
        as_buf_finish(&json);
        close_card(&o);
    }
}

/* ---- memory ---- */

struct opened card;

int gpu_setup(void **state)
{
    (void)state;
    fake("");
    open_card(&card, 0);
    return 0;
}

int gpu_teardown(void **state)
{
    (void)state;
    fake("");
    close_card(&card);
    return 0;
}

enum as_status gpu_get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                       struct as_error *err)
{
    const struct as_memory_desc want = {.allocator = allocator, .bytes = bytes, .node = -1, .owner = owner};
    return card.dev.memory->alloc(&card.dev, &want, m, err);
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 31 + seed);
}

void gpu_round_trip(const char *allocator, struct as_memory *m)
{
    struct as_error err = {0};
    static unsigned char in[ROUND_TRIP], out[ROUND_TRIP];
    const struct as_memory_ops *ops = card.dev.memory;
    assert_int_equal(m->bytes, sizeof in);
    assert_null(m->host);
    fill(in, sizeof in, 1);
    check_ok(ops->write(&card.dev, m, 0, in, sizeof in, &err), &err);
    check_ok(ops->map(&card.dev, m, &err), &err);
    check_ok(ops->map(&card.dev, m, &err), &err);
    assert_non_null(m->host);
    if (memcmp(m->host, in, sizeof in) != 0)
        fail_msg("%s: the map does not show what was written", allocator);
    ((unsigned char *)m->host)[7] = 77;
    in[7] = 77, in[1000] = 78;
    check_ok(ops->write(&card.dev, m, 1000, &in[1000], 1, &err), &err);
    check_ok(ops->read(&card.dev, m, 7, out, 1000, &err), &err);
    assert_memory_equal(out, in + 7, 1000);
    check_ok(ops->unmap(&card.dev, m, &err), &err);
    check_ok(ops->unmap(&card.dev, m, &err), &err);
    assert_null(m->host);
    check_ok(ops->read(&card.dev, m, 0, out, sizeof out, &err), &err);
    if (memcmp(out, in, sizeof in) != 0)
        fail_msg("%s: what was changed while mapped is not there", allocator);
    check_fails(ops->write(&card.dev, m, sizeof in - 1, in, 2, &err), AS_USAGE, &err, "outside of memory");
    check_fails(ops->read(&card.dev, m, UINT64_MAX, out, 2, &err), AS_USAGE, &err, "outside of memory");
}

void gpu_times(void **state)
{
    size_t timed = 0;
    (void)state;
    for (size_t i = 0; i < card.dev.info.allocators_n; i++) {
        const struct as_allocator *a = &card.dev.info.allocators[i];
        struct as_error err = {0};
        double alloc_s = NAN, free_s = NAN;
        if (a->why_not[0])
            continue;
        enum as_status s = card.dev.memory->time_alloc(&card.dev, a->name, 64 * KIB, 16, &alloc_s, &free_s, &err);
        if (strcmp(a->name, "__managed__") == 0) {
            check_fails(s, AS_UNSUPPORTED, &err, "comes with its module");
            continue;
        }
        check_ok(s, &err);
        assert_true(alloc_s > 0 && free_s > 0);
        timed++;
    }
    assert_true(timed > 5);
}

/* What is taken of a kind is known before anything is asked of it, and as much can be had. */
void gpu_most(void **state)
{
    const struct as_device_info *info = &card.dev.info;
    uint64_t most = as_info_allocator(info, stand_in.managed)->most;
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    assert_true(most > 0 && most <= GIB && most <= info->memory_free / 10);
    assert_true(as_info_allocator(info, stand_in.allocators[0])->most == 0);
    check_ok(gpu_get(stand_in.managed, most / 2, NULL, &m, &err), &err);
    card.dev.memory->free(&card.dev, m);
}

/* Id of the n-th device of the backend. */
static const char *id_of(int n, char id[32])
{
    snprintf(id, 32, "%s:%d", stand_in.backend->name, n);
    return id;
}

void gpu_peer(void **state)
{
    char id[32];
    const char *plain = stand_in.allocators[0];
    struct as_memory *m = NULL;
    struct as_error err = {0};
    (void)state;
    fake("nopeer");
    check_fails(gpu_get(plain, 4096, id_of(1, id), &m, &err), AS_UNSUPPORTED, &err, stand_in.no_path);
    fake("peererror");
    check_fails(gpu_get(plain, 4096, id, &m, &err), AS_UNSUPPORTED, &err, stand_in.no_peer);
    fake("");
    for (size_t i = 0; i < 2; i++) {
        for (int owner = 0; owner < 3; owner++) {
            check_ok(gpu_get(stand_in.allocators[i], ROUND_TRIP, id_of(owner, id), &m, &err), &err);
            gpu_round_trip(stand_in.allocators[i], m);
            card.dev.memory->free(&card.dev, m);
        }
    }
    check_fails(gpu_get(plain, 200 * GIB, id_of(2, id), &m, &err), AS_UNSUPPORTED, &err, stand_in.free);
    check_fails(gpu_get(stand_in.pinned, 4096, id_of(1, id), &m, &err), AS_UNSUPPORTED, &err,
                "no memory of another device");
    check_fails(gpu_get(plain, 4096, id_of(3, id), &m, &err), AS_NOTFOUND, &err, "there is no device '");
    check_fails(gpu_get(plain, 4096, "opencl:0", &m, &err), AS_NOTFOUND, &err, "no device 'opencl:0'");
}

/* Both ways at once, within the device's own memory and between it and another device's: each arrives. */
void gpu_copies_cross(void **state)
{
    enum { BYTES = 4096, BLOCKS = 4 };
    char ids[2][32];
    const char *const others[] = {id_of(0, ids[0]), id_of(1, ids[1])}, *const *kinds = stand_in.allocators;
    static unsigned char in[BYTES], out[BYTES];
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        struct as_memory *m[BLOCKS];
        struct as_timing t;
        struct as_error err = {0};
        for (size_t i = 0; i < BLOCKS; i++) {
            check_ok(gpu_get(kinds[k / 2], BYTES, others[i % 2 ? k % 2 : 0], &m[i], &err), &err);
            fill(in, sizeof in, (unsigned)i);
            check_ok(card.dev.memory->write(&card.dev, m[i], 0, in, sizeof in, &err), &err);
        }
        struct as_copy copy = {.to = m[1], .from = m[0], .back_to = m[2], .back_from = m[3], .bytes = BYTES, .reps = 3};
        check_ok(card.dev.queue->copy(&card.dev, &copy, &t, &err), &err);
        for (size_t i = 1; i < 3; i++) {
            fill(in, sizeof in, i == 1 ? 0 : 3);
            check_ok(card.dev.memory->read(&card.dev, m[i], 0, out, sizeof out, &err), &err);
            assert_memory_equal(in, out, sizeof in);
        }
        copy.back_from = m[0], copy.bytes = BYTES + 1;
        check_fails(card.dev.queue->copy(&card.dev, &copy, &t, &err), AS_USAGE, &err, "does not fit");
        for (size_t i = 0; i < BLOCKS; i++)
            card.dev.memory->free(&card.dev, m[i]);
    }
}

/* The same device twice: it reaches the other device already. */
void gpu_opened_twice(void **state)
{
    struct opened other = {.backend = card.backend};
    struct as_memory *m = NULL;
    struct as_error err = {0};
    char id[32];
    const struct as_memory_desc want = {
        .allocator = stand_in.allocators[0], .bytes = 64, .node = -1, .owner = id_of(1, id)};
    (void)state;
    open_device(&other, 0);
    check_ok(gpu_get(stand_in.allocators[0], ROUND_TRIP, id, &m, &err), &err);
    gpu_round_trip(stand_in.allocators[0], m);
    card.dev.memory->free(&card.dev, m);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &m, &err), &err);
    other.dev.memory->free(&other.dev, m);
    other.dev.device->close(&other.dev);
}

/* Two devices on one thread: each call works on its own. */
void gpu_two_devices(void **state)
{
    struct opened other = {.backend = card.backend};
    struct as_memory *here = NULL, *there = NULL;
    struct as_error err = {0};
    const struct as_memory_desc want = {.allocator = stand_in.allocators[0], .bytes = ROUND_TRIP, .node = -1};
    (void)state;
    open_device(&other, 1);
    check_ok(card.dev.memory->alloc(&card.dev, &want, &here, &err), &err);
    check_ok(other.dev.memory->alloc(&other.dev, &want, &there, &err), &err);
    gpu_round_trip(stand_in.allocators[0], here);
    other.dev.memory->free(&other.dev, there);
    card.dev.memory->free(&card.dev, here);
    other.dev.device->close(&other.dev);
}
