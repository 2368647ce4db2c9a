/* The number of a GPU's cores. Metal does not report it; the I/O registry of macOS has it under the driver that Metal
 * names. */
#include "device/metal/metal.h"

#include "base/library.h"

static const char *const names[] = {"/System/Library/Frameworks/IOKit.framework/IOKit", "IOKit.dylib"};

struct io_kit {
    as_objc_id (*matching)(uint64_t registry_id);              /* IOServiceGetMatchingService consumes it */
    unsigned (*find)(unsigned main_port, as_objc_id matching); /* 0: not found */
    as_objc_id (*property)(unsigned entry, as_objc_id key, const void *allocator, unsigned options);
    int (*release)(unsigned object);
};

static bool metal_cores_load(struct io_kit *io)
{
    char why[8];
    const char *missing = NULL;
    void *library = as_library_open(names, sizeof names / sizeof *names, NULL, why, sizeof why);
    if (!library)
        return false;
    as_library_function(library, "IORegistryEntryIDMatching", &io->matching, &missing);
    as_library_function(library, "IOServiceGetMatchingService", &io->find, &missing);
    as_library_function(library, "IORegistryEntryCreateCFProperty", &io->property, &missing);
    as_library_function(library, "IOObjectRelease", &io->release, &missing);
    return !missing;
}

unsigned as_mtl_cores(const struct as_mtl_api *m, uint64_t registry_id)
{
    struct io_kit io;
    if (!metal_cores_load(&io))
        return 0;
    unsigned entry = io.find(0, io.matching(registry_id));
    /* A CFNumber is an NSNumber, a CFString an NSString. */
    as_objc_id number = entry ? io.property(entry, as_mtl_string(m, "gpu-core-count"), NULL, 0) : NULL;
    const long long n = number ? AS_SEND(m, long_value, number) : 0;
    as_mtl_release(m, &number);
    if (entry)
        io.release(entry);
    return n > 0 && n < 4096 ? (unsigned)n : 0;
}
