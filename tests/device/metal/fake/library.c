/* The stand-in's compiler: the strict one for kernels in the Metal Shading Language (msl.py), which generates host
 * code. */
#include "../msl.h"
#include "metal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct fake_object object;
    bool safe;
};

/* Programs that this process has compiled, with the results: devices try the same programs whenever they are opened,
 * and a compilation takes a second. */
static struct compiled {
    struct compiled *next;
    unsigned version;
    char *source;
    struct msl_program program;
    struct as_error err; /* code: AS_OK: it is a program */
} * compiled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct compiled *compile_once(const char *source, unsigned version)
{
    const struct msl_request r = {source, NULL, version, true, NULL};
    pthread_mutex_lock(&lock);
    struct compiled *c = compiled;
    while (c && (c->version != version || strcmp(c->source, source) != 0))
        c = c->next;
    if (!c) {
        c = calloc(1, sizeof *c);
        *c = (struct compiled){.next = compiled, .version = version, .source = strdup(source)};
        compiled = c;
        if (msl_missing())
            as_fail(&c->err, AS_UNSUPPORTED, "%s", msl_missing());
        else
            (void)msl_compile(&r, &c->program, &c->err);
    }
    pthread_mutex_unlock(&lock);
    return c;
}

static void function_dealloc(id self)
{
    fake_drop(&((struct function *)self)->library->object);
}

static void pipeline_dealloc(id self)
{
    fake_drop(&((struct pipeline *)self)->function->object);
}

static struct fake_class options_class = {.name = "MTLCompileOptions", .size = sizeof(struct options)};
struct fake_class fake_library_class = {.name = "FakeLibrary", .size = sizeof(struct library)};
struct fake_class fake_function_class = {
    .name = "FakeFunction", .size = sizeof(struct function), .dealloc = function_dealloc};
struct fake_class fake_pipeline_class = {
    .name = "FakePipeline", .size = sizeof(struct pipeline), .dealloc = pipeline_dealloc};

static BOOL options_responds(id self, SEL sel, SEL asked)
{
    (void)self, (void)sel;
    return strcmp(asked, "setMathMode:") == 0 && !fake_asked("old");
}

static void options_math(id self, SEL sel, NSInteger mode)
{
    if (fake_asked("old"))
        fake_broke("this system has no such option", sel);
    ((struct options *)self)->safe = mode == 0;
}

static void options_fast(id self, SEL sel, BOOL fast)
{
    if (!fake_asked("old"))
        fake_broke("the option is deprecated here", sel);
    ((struct options *)self)->safe = !fast;
}

static id device_library(id self, SEL sel, id source, id options, id *error)
{
    (void)self;
    if (!fake_is(options, &options_class) || !((struct options *)options)->safe)
        fake_broke("compiled with fast math", sel);
    if (fake_asked("nolibrary")) {
        *error = NULL;
        return NULL;
    }
    /* Without a compiler there are only the programs with which the backend opens a device. */
    if (msl_missing() && strstr(fake_chars(source), "kernel void nothing(")) {
        static const struct msl_kernel kernels[] = {{"nothing", NULL, 1, 0}, {NULL, NULL, 0, 0}};
        struct library *bare = (struct library *)fake_new(&fake_library_class);
        bare->program = (struct msl_program){.kernels = kernels};
        return &bare->object;
    }
    if (fake_asked("nomatrix") && strstr(fake_chars(source), "simdgroup_half8x8")) {
        *error = fake_error("error: unknown type name 'simdgroup_half8x8'", 3);
        return NULL;
    }
    if (fake_asked("nofragments") && strstr(fake_chars(source), "cooperative_tensor_left_input_t")) {
        *error = fake_error("error: no template named 'cooperative_tensor_left_input_t'", 3);
        return NULL;
    }
    if (fake_asked("nompp") && strstr(fake_chars(source), "MetalPerformancePrimitives")) {
        *error = fake_error("error: 'MetalPerformancePrimitives.h' file not found", 3);
        return NULL;
    }
    const unsigned version = fake_asked("old")       ? OLD_VERSION
                             : fake_asked("metal41") ? METAL41_VERSION
                             : fake_asked("metal4")  ? METAL4_VERSION
                                                     : MSL_VERSION;
    const struct compiled *c = compile_once(fake_chars(source), version);
    if (c->err.code) {
        *error = fake_error(c->err.text, 3);
        return NULL;
    }
    struct library *l = (struct library *)fake_new(&fake_library_class);
    l->program = c->program;
    return &l->object;
}

static id library_function(id self, SEL sel, id name)
{
    struct library *l = (struct library *)self;
    const struct msl_kernel *k = msl_find(&l->program, fake_chars(name));
    (void)sel;
    if (!k)
        return NULL;
    struct function *f = (struct function *)fake_new(&fake_function_class);
    f->library = (struct library *)fake_retain(self);
    f->kernel = k;
    return &f->object;
}

static id device_pipeline(id self, SEL sel, id function, id *error)
{
    (void)self;
    if (!fake_is(function, &fake_function_class)) {
        fake_broke("no function", sel);
        return NULL;
    }
    if (fake_asked("nopipeline")) {
        *error = fake_error("Compiler encountered an internal \x1b[1merror\n", 2);
        return NULL;
    }
    if (((struct function *)function)->kernel->shared > GROUP_BYTES) {
        *error = fake_error("Threadgroup memory size exceeds the maximum threadgroup memory allowed (32768)", 3);
        return NULL;
    }
    struct pipeline *p = (struct pipeline *)fake_new(&fake_pipeline_class);
    p->function = (struct function *)fake_retain(function);
    return &p->object;
}

static NSUInteger pipeline_threads(id self, SEL sel)
{
    (void)self, (void)sel;
    return fake_asked("registers") ? 448 : GROUP_MOST;
}

static NSUInteger pipeline_lanes(id self, SEL sel)
{
    (void)self, (void)sel;
    return LANES;
}

static NSUInteger pipeline_memory(id self, SEL sel)
{
    (void)sel;
    return ((struct pipeline *)self)->function->kernel->shared;
}

static const struct fake_method methods[] = {
    FAKE_METHOD(&options_class, "respondsToSelector:", options_responds),
    FAKE_METHOD(&options_class, "setMathMode:", options_math),
    FAKE_METHOD(&options_class, "setFastMathEnabled:", options_fast),
    FAKE_METHOD(&fake_device_class, "newLibraryWithSource:options:error:", device_library),
    FAKE_METHOD(&fake_device_class, "newComputePipelineStateWithFunction:error:", device_pipeline),
    FAKE_METHOD(&fake_library_class, "newFunctionWithName:", library_function),
    FAKE_METHOD(&fake_pipeline_class, "maxTotalThreadsPerThreadgroup", pipeline_threads),
    FAKE_METHOD(&fake_pipeline_class, "threadExecutionWidth", pipeline_lanes),
    FAKE_METHOD(&fake_pipeline_class, "staticThreadgroupMemoryLength", pipeline_memory),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&options_class, &fake_library_class, &fake_function_class,
                                              &fake_pipeline_class, NULL};
    fake_classes(list);
    fake_methods(methods);
}
