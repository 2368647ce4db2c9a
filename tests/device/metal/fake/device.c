/* Devices and buffers of the stand-in. */
#include "metal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

API id MTLCopyAllDevices(void);
API int fake_metal_options(void); /* of the latest buffer, for tests */

struct array {
    struct fake_object object;
    id items[DEVICES];
    NSUInteger n;
};
static NSUInteger allocated, last_options;

int fake_metal_options(void)
{
    return (int)last_options;
}

static void array_dealloc(id self)
{
    struct array *a = (struct array *)self;
    for (NSUInteger i = 0; i < a->n; i++)
        fake_drop(a->items[i]);
}

static void buffer_dealloc(id self)
{
    struct buffer *b = (struct buffer *)self;
    __atomic_sub_fetch(&allocated, b->length, __ATOMIC_RELAXED);
    if (!b->borrowed)
        free(b->at);
    free(b->shown);
    b->at = b->shown = NULL;
}

static void error_dealloc(id self)
{
    fake_drop(((struct error *)self)->text);
}

static struct fake_class array_class = {.name = "NSArray", .size = sizeof(struct array), .dealloc = array_dealloc};
struct fake_class fake_device_class = {.name = "FakeDevice", .size = sizeof(struct device)};
struct fake_class fake_buffer_class = {.name = "FakeBuffer", .size = sizeof(struct buffer), .dealloc = buffer_dealloc};
struct fake_class fake_error_class = {.name = "NSError", .size = sizeof(struct error), .dealloc = error_dealloc};

bool fake_is(id object, const struct fake_class *of)
{
    return object && object->isa == of;
}

id fake_error(const char *text, NSInteger code)
{
    struct error *e = (struct error *)fake_new(&fake_error_class);
    e->text = fake_string(text);
    e->code = code;
    return fake_autorelease(&e->object);
}

NSUInteger fake_allocated(void)
{
    return __atomic_load_n(&allocated, __ATOMIC_RELAXED);
}

id MTLCopyAllDevices(void)
{
    struct array *a = (struct array *)fake_new(&array_class);
    for (; a->n < DEVICES && !fake_asked("none"); a->n++) {
        struct device *d = (struct device *)fake_new(&fake_device_class);
        d->index = (unsigned)a->n;
        a->items[a->n] = &d->object;
    }
    return &a->object;
}

static NSUInteger array_count(id self, SEL sel)
{
    (void)sel;
    return ((struct array *)self)->n;
}

static id array_at(id self, SEL sel, NSUInteger index)
{
    const struct array *a = (struct array *)self;
    if (index >= a->n)
        fake_broke("index beyond the end", sel);
    return index < a->n ? a->items[index] : NULL;
}

/* ---- device properties ---- */

static id device_name(id self, SEL sel)
{
    static const char *const names[] = {"Apple M4 Pro", "\x1b[31mred \xc0\xaf<script>"};
    (void)sel;
    return fake_autorelease(fake_string(fake_asked("nameless") ? "" : names[((struct device *)self)->index]));
}

static uint64_t device_registry(id self, SEL sel)
{
    (void)sel;
    return REGISTRY_ID + ((struct device *)self)->index;
}

static BOOL device_family(id self, SEL sel, NSInteger family)
{
    (void)self, (void)sel;
    if (fake_asked("intel"))
        return family == 2002 || family == 3003;
    const bool metal4 = fake_asked("metal4") || fake_asked("metal41");
    const NSInteger newest = fake_asked("apple6")                            ? 1006
                             : fake_asked("apple8")                          ? 1008
                             : fake_asked("apple10") || fake_asked("future") ? 1010
                                                                             : 1009;
    return (family >= 1001 && family <= newest) || (family >= 3001 && family <= 3003) || family == 2002 ||
           family == 5001 || (family == 5002 && metal4);
}

static uint64_t device_working_set(id self, SEL sel)
{
    (void)self, (void)sel;
    return fake_asked("small") ? SMALL_WORKING_SET : WORKING_SET;
}

static BOOL device_unified(id self, SEL sel)
{
    (void)self, (void)sel;
    return !fake_asked("intel");
}

static NSUInteger device_allocated(id self, SEL sel)
{
    (void)self, (void)sel;
    return fake_allocated();
}

static NSUInteger device_buffer_most(id self, SEL sel)
{
    (void)self, (void)sel;
    return BUFFER_MOST;
}

static NSUInteger device_group_memory(id self, SEL sel)
{
    (void)self, (void)sel;
    return GROUP_BYTES;
}

static MTLSize device_group_most(id self, SEL sel)
{
    (void)self, (void)sel;
    return (MTLSize){GROUP_MOST, GROUP_MOST, 64};
}

/* ---- buffers ---- */

static struct buffer *make_buffer(NSUInteger length, NSUInteger options, const char *sel)
{
    const NSUInteger mode = options & STORAGE_MASK;
    if (length == 0 || length > BUFFER_MOST)
        fake_broke("a length that the device does not have", sel);
    if (options & ~(NSUInteger)(STORAGE_MASK | 1) || mode > STORAGE_PRIVATE)
        fake_broke("unknown options", sel);
    if (mode == STORAGE_PRIVATE && options & CACHE_MASK)
        fake_broke("a cache mode of private memory", sel);
    if (mode == STORAGE_MANAGED && !fake_asked("intel"))
        fake_broke("managed memory where memory is unified", sel);
    if (fake_asked("nomem"))
        return NULL;
    struct buffer *b = (struct buffer *)fake_new(&fake_buffer_class);
    b->length = length;
    b->options = last_options = options;
    __atomic_add_fetch(&allocated, length, __ATOMIC_RELAXED);
    return b;
}

static id device_buffer(id self, SEL sel, NSUInteger length, NSUInteger options)
{
    struct buffer *b = make_buffer(length, options, sel);
    (void)self;
    if (!b)
        return NULL;
    /* fresh memory is page aligned */
    if (posix_memalign((void **)&b->at, (size_t)sysconf(_SC_PAGESIZE), length))
        abort();
    memset(b->at, 0, length);
    if ((options & STORAGE_MASK) == STORAGE_MANAGED)
        b->shown = calloc(1, length);
    return &b->object;
}

static id device_no_copy(id self, SEL sel, void *at, NSUInteger length, NSUInteger options, id deallocator)
{
    const NSUInteger page = (NSUInteger)sysconf(_SC_PAGESIZE);
    (void)self;
    if ((uintptr_t)at % page || length % page || deallocator || options & STORAGE_PRIVATE)
        fake_broke("no whole pages, or memory that cannot be borrowed", sel);
    struct buffer *b = make_buffer(length, options, sel);
    if (!b)
        return NULL;
    b->at = at;
    b->borrowed = true;
    return &b->object;
}

static void *buffer_contents(id self, SEL sel)
{
    struct buffer *b = (struct buffer *)self;
    if ((b->options & STORAGE_MASK) == STORAGE_PRIVATE)
        fake_broke("private memory has no contents for the host", sel);
    return b->shown ? b->shown : (b->options & STORAGE_MASK) == STORAGE_PRIVATE ? NULL : b->at;
}

static void buffer_modified(id self, SEL sel, NSRange range)
{
    struct buffer *b = (struct buffer *)self;
    if (!b->shown || range.location > b->length || range.length > b->length - range.location) {
        fake_broke("a range that is not of managed memory", sel);
        return;
    }
    memcpy(b->at + range.location, b->shown + range.location, range.length);
}

static id error_description(id self, SEL sel)
{
    (void)sel;
    return fake_autorelease(fake_retain(((struct error *)self)->text));
}

static NSInteger error_code(id self, SEL sel)
{
    (void)sel;
    return ((struct error *)self)->code;
}

static const struct fake_method methods[] = {
    FAKE_METHOD(&array_class, "count", array_count),
    FAKE_METHOD(&array_class, "objectAtIndex:", array_at),
    FAKE_METHOD(&fake_device_class, "name", device_name),
    FAKE_METHOD(&fake_device_class, "registryID", device_registry),
    FAKE_METHOD(&fake_device_class, "supportsFamily:", device_family),
    FAKE_METHOD(&fake_device_class, "recommendedMaxWorkingSetSize", device_working_set),
    FAKE_METHOD(&fake_device_class, "hasUnifiedMemory", device_unified),
    FAKE_METHOD(&fake_device_class, "currentAllocatedSize", device_allocated),
    FAKE_METHOD(&fake_device_class, "maxBufferLength", device_buffer_most),
    FAKE_METHOD(&fake_device_class, "maxThreadgroupMemoryLength", device_group_memory),
    FAKE_METHOD(&fake_device_class, "maxThreadsPerThreadgroup", device_group_most),
    FAKE_METHOD(&fake_device_class, "newBufferWithLength:options:", device_buffer),
    FAKE_METHOD(&fake_device_class, "newBufferWithBytesNoCopy:length:options:deallocator:", device_no_copy),
    FAKE_METHOD(&fake_buffer_class, "contents", buffer_contents),
    FAKE_METHOD(&fake_buffer_class, "didModifyRange:", buffer_modified),
    FAKE_METHOD(&fake_error_class, "localizedDescription", error_description),
    FAKE_METHOD(&fake_error_class, "code", error_code),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&array_class, &fake_device_class, &fake_buffer_class, &fake_error_class,
                                              NULL};
    fake_classes(list);
    fake_methods(methods);
}
