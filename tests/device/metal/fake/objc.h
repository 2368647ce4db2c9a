/* A stand-in for the Objective-C runtime: reference-counted objects, classes by name, pools, and messages that jump to
 * a method with all registers and the stack as the sender left them. Violations of memory rules are noted. */
#ifndef AS_TESTS_FAKE_OBJC_H
#define AS_TESTS_FAKE_OBJC_H

#include <stdbool.h>
#include <stddef.h>

#define API __attribute__((visibility("default")))

struct fake_class;
struct fake_object {
    const struct fake_class *isa;
    unsigned magic;
    int references;
    struct fake_object *gone; /* list of released objects: the previous one */
};
typedef struct fake_object *id;
typedef const char *SEL;

struct fake_class {
    struct fake_object object; /* isa NULL */
    const char *name;
    size_t size;
    void (*dealloc)(id self); /* (optional) releases what the object holds, not the object */
};
struct fake_method {
    const struct fake_class *of; /* NULL: of every class */
    bool by_class;               /* a class method */
    SEL name;
    void (*function)(void);
};
#define FAKE_METHOD(class, name, function)                                                                             \
    {                                                                                                                  \
        class, false, name, (void (*)(void))(function)                                                                 \
    }
#define FAKE_CLASS_METHOD(class, name, function)                                                                       \
    {                                                                                                                  \
        class, true, name, (void (*)(void))(function)                                                                  \
    }
/* A table that ends with a NULL name, and classes that end with NULL. */
API void fake_methods(const struct fake_method *table);
API void fake_classes(struct fake_class *const *classes);

API id fake_new(const struct fake_class *of); /* one reference, zeroed */
API id fake_retain(id object);                /* accepts NULL */
API void fake_drop(id object);                /* accepts NULL */
API id fake_autorelease(id object);           /* into this thread's pool */
API id fake_string(const char *text);         /* one reference */
API const char *fake_chars(id string);        /* "" for NULL */
API id fake_number(long long value);
/* Is the word in FAKE_METAL? */
API bool fake_asked(const char *word);
/* Notes the first broken rule. */
API void fake_broke(const char *what, const char *name);

/* ---- for tests, by dlsym ---- */

API int fake_metal_live(void); /* number of live objects */
API const char *fake_metal_broken(void);
API void fake_metal_reset(void);

#endif
