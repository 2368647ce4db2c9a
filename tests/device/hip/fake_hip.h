/* What the tests of the HIP backend share: devices of the stand-in runtime, opened and closed, with nothing left over.
 */
#ifndef AS_TESTS_FAKE_HIP_OPENED_H
#define AS_TESTS_FAKE_HIP_OPENED_H

#include "../check.h"

#include <dlfcn.h>
#include <stdlib.h>

extern const struct as_backend as_backend_hip;

struct opened {
    void *backend;
    struct as_device dev;
};

static inline void fake(const char *words)
{
    setenv("FAKE_HIP", words, 1);
}

/* A function of the stand-in; the real runtime has none of that name, so the test says when it was found instead. */
static inline void *fake_function(const char *name)
{
    void *library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD);
    void *f = library ? dlsym(library, name) : NULL;
    if (library)
        dlclose(library);
    if (!f)
        fail_msg("libamdhip64.so.7 is not the stand-in: it has no %s", name);
    return f;
}

static inline int fake_live(void)
{
    int (*f)(void);
    void *at = fake_function("fake_hip_live");
    memcpy(&f, &at, sizeof f);
    return f();
}

static inline void fake_reset(void)
{
    void (*f)(void);
    void *at = fake_function("fake_hip_reset");
    memcpy(&f, &at, sizeof f);
    f();
}

static inline const char *fake_broken(void)
{
    const char *(*f)(void);
    void *at = fake_function("fake_hip_broken");
    memcpy(&f, &at, sizeof f);
    return f();
}

static inline void open_device(struct opened *o, size_t index)
{
    struct as_error err = {0};
    check_ok(as_backend_hip.open_device(o->backend, index, &o->dev, &err), &err);
}

static inline void open_hip(struct opened *o, size_t index)
{
    struct as_error err = {0};
    check_ok(as_backend_hip.open(&o->backend, &err), &err);
    open_device(o, index);
}

static inline void close_backend(struct opened *o)
{
    o->dev.device->close(&o->dev);
    as_backend_hip.close(o->backend);
}

/* And nothing is left, and no rule was broken. */
static inline void close_hip(struct opened *o)
{
    close_backend(o);
    assert_int_equal(fake_live(), 0);
    assert_string_equal(fake_broken(), "");
}

#endif
