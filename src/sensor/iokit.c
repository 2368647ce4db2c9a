#include "sensor/iokit.h"

#include "base/library.h"

#include <string.h>

static const char *const iokit_names[] = {"/System/Library/Frameworks/IOKit.framework/IOKit", "IOKit.dylib"};

static void load_functions(struct as_iokit *io, void *kit, void *foundation, void *system, const char **missing)
{
    as_library_function(kit, "IOServiceMatching", &io->matching, missing);
    as_library_function(kit, "IOServiceGetMatchingServices", &io->services, missing);
    as_library_function(kit, "IOIteratorNext", &io->next, missing);
    as_library_function(kit, "IORegistryEntryGetName", &io->name, missing);
    as_library_function(kit, "IORegistryEntryCreateCFProperty", &io->property, missing);
    as_library_function(kit, "IOObjectRelease", &io->release_port, missing);
    as_library_function(kit, "IOServiceOpen", &io->open, missing);
    as_library_function(kit, "IOServiceClose", &io->close, missing);
    as_library_function(kit, "IOConnectCallStructMethod", &io->call, missing);
    as_library_function(system, "mach_task_self_", &io->task, missing);
    as_library_function(foundation, "CFStringCreateWithCString", &io->string, missing);
    as_library_function(foundation, "CFGetTypeID", &io->type_of, missing);
    as_library_function(foundation, "CFDataGetTypeID", &io->data_type, missing);
    as_library_function(foundation, "CFDataGetLength", &io->length, missing);
    as_library_function(foundation, "CFDataGetBytePtr", &io->bytes, missing);
    as_library_function(foundation, "CFRelease", &io->release, missing);
}

enum as_status as_iokit_load(struct as_iokit *io, struct as_error *err)
{
    char why[240] = "";
    const char *missing = NULL;
    void *kit = as_library_open(iokit_names, 2, NULL, why, sizeof why);
    void *foundation = kit ? as_library_open(as_foundation_names, 2, NULL, why, sizeof why) : NULL;
    void *system = foundation ? as_library_open(as_system_names, 2, NULL, why, sizeof why) : NULL;
    if (!system)
        return as_fail(err, AS_UNSUPPORTED, "no IOKit on this system: %s", why);
    load_functions(io, kit, foundation, system, &missing);
    return missing ? as_fail(err, AS_UNSUPPORTED, "IOKit has no function '%s'", missing) : AS_OK;
}

bool as_iokit_each(const struct as_iokit *io, const char *class_name, as_iokit_fn each, void *user)
{
    uint32_t found = 0, service;
    bool done = false;
    as_cf matching = io->matching(class_name);
    if (!matching || io->services(0, matching, &found) != 0 || !found)
        return false;
    while (!done && (service = io->next(found))) {
        done = each(io, service, user);
        io->release_port(service);
    }
    io->release_port(found);
    return done;
}

size_t as_iokit_property(const struct as_iokit *io, uint32_t entry, const char *key, void *out, size_t size)
{
    as_cf name = io->string(NULL, key, AS_CF_UTF8), data = name ? io->property(entry, name, NULL, 0) : NULL;
    size_t n = 0;
    if (data && io->type_of(data) == io->data_type()) {
        const long length = io->length(data);
        const unsigned char *bytes = io->bytes(data);
        n = bytes && length > 0 && (size_t)length <= size ? (size_t)length : 0;
        if (n)
            memcpy(out, bytes, n);
    }
    if (data)
        io->release(data);
    if (name)
        io->release(name);
    return n;
}
