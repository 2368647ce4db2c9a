/* The registry of macOS, as far as needed for the number of a GPU's cores. */
#include "metal.h"

#include <string.h>

API id IORegistryEntryIDMatching(uint64_t registry_id);
API unsigned IOServiceGetMatchingService(unsigned port, id matching);
API id IORegistryEntryCreateCFProperty(unsigned entry, id key, const void *allocator, unsigned options);
API int IOObjectRelease(unsigned object);

static unsigned open_entries;

id IORegistryEntryIDMatching(uint64_t registry_id)
{
    return fake_number((long long)registry_id);
}

/* It consumes a reference to the matching dictionary. */
unsigned IOServiceGetMatchingService(unsigned port, id matching)
{
    struct number {
        struct fake_object object;
        long long value;
    } *n = (struct number *)matching;
    const bool known =
        port == 0 && n && n->value >= (long long)REGISTRY_ID && n->value < (long long)REGISTRY_ID + DEVICES;
    fake_drop(matching);
    open_entries += known && !fake_asked("nocores");
    return known && !fake_asked("nocores") ? 77 : 0;
}

id IORegistryEntryCreateCFProperty(unsigned entry, id key, const void *allocator, unsigned options)
{
    if (entry != 77 || !open_entries || allocator || options)
        fake_broke("no such entry", "IORegistryEntryCreateCFProperty");
    return strcmp(fake_chars(key), "gpu-core-count") == 0 ? fake_number(fake_asked("manycores") ? -1 : 20) : NULL;
}

int IOObjectRelease(unsigned object)
{
    if (object != 77 || !open_entries)
        fake_broke("released twice", "IOObjectRelease");
    open_entries--;
    return 0;
}
