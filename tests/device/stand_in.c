/* The stand-in of a test program, and devices on it. */
#include "stand_in.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- the stand-in ---- */

void fake(const char *words)
{
    if (stand_in.words)
        setenv(stand_in.words, words, 1);
}

/* A function of a stand-in. The real library lacks it, so the test reports that it found that one instead. */
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
    if (!stand_in.live)
        return 0;
    return fake_live_of(stand_in.library, stand_in.live);
}

void fake_reset(void)
{
    void (*f)(void);
    if (!stand_in.reset)
        return;
    void *at = fake_function(stand_in.library, stand_in.reset);
    memcpy(&f, &at, sizeof f);
    f();
}

static const char *told_by(const char *name)
{
    const char *(*f)(void);
    if (!name)
        return "";
    void *at = fake_function(stand_in.library, name);
    memcpy(&f, &at, sizeof f);
    return f();
}

const char *fake_broken(void)
{
    return told_by(stand_in.broken);
}

const char *fake_failed(void)
{
    return told_by(stand_in.failed);
}

void open_device(struct opened *o, size_t index)
{
    struct as_error err = {0};
    check_ok(stand_in.backend->open_device(o->backend, index, &o->dev, &err), &err);
}

void open_gpu(struct opened *o, size_t index)
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

void close_gpu(struct opened *o)
{
    close_backend(o);
    assert_int_equal(fake_live(), 0);
    assert_string_equal(fake_broken(), "");
}

bool gpu_brief(void)
{
    return getenv("ASSAY_BRIEF") != NULL;
}

struct opened gpu;

int gpu_setup(void **state)
{
    (void)state;
    fake("");
    open_gpu(&gpu, 0);
    return 0;
}

int gpu_teardown(void **state)
{
    (void)state;
    fake("");
    close_gpu(&gpu);
    return 0;
}

enum as_status gpu_get(const char *allocator, uint64_t bytes, const char *owner, struct as_memory **m,
                       struct as_error *err)
{
    const struct as_memory_desc want = {.allocator = allocator, .bytes = bytes, .node = -1, .owner = owner};
    return gpu.dev.memory->alloc(&gpu.dev, &want, m, err);
}
