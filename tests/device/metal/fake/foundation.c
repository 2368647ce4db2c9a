/* Foundation in the stand-in: strings, numbers, the process, and messages that every object answers. */
#include "objc.h"

#include <stdlib.h>
#include <string.h>

struct string {
    struct fake_object object;
    char *chars;
};
struct number {
    struct fake_object object;
    long long value;
};

static void string_dealloc(id self)
{
    free(((struct string *)self)->chars);
    ((struct string *)self)->chars = NULL;
}

static struct fake_class string_class = {.name = "NSString", .size = sizeof(struct string), .dealloc = string_dealloc};
static struct fake_class number_class = {.name = "NSNumber", .size = sizeof(struct number)};
static struct fake_class process_class = {.name = "NSProcessInfo", .size = sizeof(struct fake_object)};

id fake_string(const char *text)
{
    struct string *s = (struct string *)fake_new(&string_class);
    s->chars = strdup(text);
    return &s->object;
}

const char *fake_chars(id string)
{
    return string ? ((struct string *)string)->chars : "";
}

id fake_number(long long value)
{
    struct number *n = (struct number *)fake_new(&number_class);
    n->value = value;
    return &n->object;
}

static id object_retain(id self, SEL sel)
{
    (void)sel;
    return fake_retain(self);
}

static void object_release(id self, SEL sel)
{
    (void)sel;
    fake_drop(self);
}

static id class_new(const struct fake_class *self, SEL sel)
{
    (void)sel;
    return fake_new(self);
}

static id string_with(id self, SEL sel, const char *text)
{
    (void)self, (void)sel;
    return text ? fake_autorelease(fake_string(text)) : NULL;
}

static const char *string_utf8(id self, SEL sel)
{
    (void)sel;
    return fake_asked("notext") ? NULL : ((struct string *)self)->chars;
}

static long long number_value(id self, SEL sel)
{
    (void)sel;
    return ((struct number *)self)->value;
}

static id process_info(id self, SEL sel)
{
    (void)self, (void)sel;
    return fake_autorelease(fake_new(&process_class));
}

static id process_version(id self, SEL sel)
{
    (void)self, (void)sel;
    return fake_autorelease(fake_string("Version 15.5 (Build 24F74)"));
}

static const struct fake_method methods[] = {
    FAKE_METHOD(NULL, "retain", object_retain),
    FAKE_METHOD(NULL, "release", object_release),
    FAKE_CLASS_METHOD(NULL, "new", class_new),
    FAKE_CLASS_METHOD(&string_class, "stringWithUTF8String:", string_with),
    FAKE_METHOD(&string_class, "UTF8String", string_utf8),
    FAKE_METHOD(&number_class, "longLongValue", number_value),
    FAKE_CLASS_METHOD(&process_class, "processInfo", process_info),
    FAKE_METHOD(&process_class, "operatingSystemVersionString", process_version),
    {0},
};

static __attribute__((constructor)) void load(void)
{
    static struct fake_class *const list[] = {&string_class, &number_class, &process_class, NULL};
    fake_classes(list);
    fake_methods(methods);
}
