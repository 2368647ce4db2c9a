/* Access to IOKit: properties of the device tree, and driver calls. Functions are declared as in Apple's
 * IOKitLib.h. A port is a number, owned by the caller of the function that returns it. */
#ifndef AS_SENSOR_IOKIT_H
#define AS_SENSOR_IOKIT_H

#include "sensor/ioreport.h"

enum { AS_IOKIT_NAME = 128 }; /* io_name_t */

struct as_iokit {
    as_cf (*matching)(const char *class_name);                               /* owned */
    int (*services)(uint32_t main_port, as_cf matching, uint32_t *found);    /* consumes the reference */
    uint32_t (*next)(uint32_t iterator);                                     /* 0: no more */
    int (*name)(uint32_t entry, char out[AS_IOKIT_NAME]);                    /* of the registry's entry */
    as_cf (*property)(uint32_t entry, as_cf key, as_cf allocator, uint32_t); /* owned */
    int (*release_port)(uint32_t port);
    int (*open)(uint32_t service, uint32_t task, uint32_t type, uint32_t *connection);
    int (*close)(uint32_t connection);
    int (*call)(uint32_t connection, uint32_t selector, const void *in, size_t in_size, void *out, size_t *out_size);
    const uint32_t *task; /* mach_task_self_ of mach_init.h */
    /* CoreFoundation: CFString.h, CFData.h, CFBase.h */
    as_cf (*string)(as_cf allocator, const char *text, uint32_t encoding); /* owned */
    unsigned long (*type_of)(as_cf object);
    unsigned long (*data_type)(void);
    long (*length)(as_cf data);
    const unsigned char *(*bytes)(as_cf data);
    void (*release)(as_cf object);
};

enum as_status as_iokit_load(struct as_iokit *io, struct as_error *err);
/* Calls `each` with the services of a class until it returns true; returns its last result. Services are borrowed. */
typedef bool (*as_iokit_fn)(const struct as_iokit *io, uint32_t service, void *user);
bool as_iokit_each(const struct as_iokit *io, const char *class_name, as_iokit_fn each, void *user);
/* Copies the bytes of an entry's property and returns their number; 0 if it is missing, has another type or exceeds
 * size. */
size_t as_iokit_property(const struct as_iokit *io, uint32_t entry, const char *key, void *out, size_t size);

#endif
