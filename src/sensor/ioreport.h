/* Channels of macOS's IOReport: counters of Apple's drivers, by group, without root. The library is private. Its
 * functions are declared as in open-source programs: macmon (vladkens/macmon), socpowerbud and
 * IOReport_decompile (dehydratedpotato). No block is needed: samples are dictionaries whose key "IOReportChannels" is
 * an array of channels. */
#ifndef AS_SENSOR_IOREPORT_H
#define AS_SENSOR_IOREPORT_H

#include "device/info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The system's path, which is in dyld's shared cache rather than a file; then a name for the linker's search path. */
extern const char *const as_foundation_names[2], *const as_system_names[2];

typedef const void *as_cf;        /* CFTypeRef */
enum { AS_CF_UTF8 = 0x08000100 }; /* kCFStringEncodingUTF8 */

struct as_ioreport_api {
    /* CoreFoundation: CFString.h, CFDictionary.h, CFArray.h, CFBase.h */
    as_cf (*string)(as_cf allocator, const char *text, uint32_t encoding); /* owned */
    unsigned char (*string_text)(as_cf string, char *out, long size, uint32_t encoding);
    as_cf (*value)(as_cf dictionary, const void *key);
    long (*count)(as_cf array);
    as_cf (*at)(as_cf array, long index);
    unsigned long (*type_of)(as_cf object);
    unsigned long (*string_type)(void);
    unsigned long (*array_type)(void);
    unsigned long (*dictionary_type)(void);
    void (*release)(as_cf object);
    /* IOReport: results of the first four and *subscribed are owned, names and units are not. */
    as_cf (*copy_group)(as_cf group, as_cf subgroup, uint64_t, uint64_t, uint64_t);
    as_cf (*subscribe)(void *, as_cf desired, as_cf *subscribed, uint64_t, as_cf);
    as_cf (*sample)(as_cf subscription, as_cf subscribed, as_cf);
    as_cf (*delta)(as_cf before, as_cf after, as_cf);
    as_cf (*group)(as_cf channel);
    as_cf (*subgroup)(as_cf channel);
    as_cf (*name)(as_cf channel);
    as_cf (*unit)(as_cf channel);
    int (*format)(as_cf channel);
    /* Others declare an int or a pointer here; 0 is valid for both. */
    int64_t (*number)(as_cf channel, void *);
    int (*states)(as_cf channel);
    as_cf (*state_name)(as_cf channel, int index);
    int64_t (*residency)(as_cf channel, int index);
};

/* IOReportTypes.h of XNU */
enum { AS_IOREPORT_SIMPLE = 1, AS_IOREPORT_STATE = 2 };
/* Limit on channels: an M5 has about 9,500 in all groups, 540 in the largest read here. */
enum { AS_IOREPORT_CHANNELS_MAX = 4096, AS_IOREPORT_STATES_MAX = 256 };

/* A subscription to one group. All zero: closed. */
struct as_ioreport {
    struct as_ioreport_api api;
    const char *title; /* the group, for messages */
    as_cf key, subscription, subscribed;
    as_cf base; /* the base sample of differences, NULL: none */
    double base_at;
};

struct as_ioreport_channel {
    as_cf ref;
    char group[48], subgroup[64], name[96], unit[24]; /* valid UTF-8 from the driver; "" if missing */
    int format;
};

/* Whether the device belongs to an Apple chip on macOS; Linux on these chips has other sources. */
bool as_ioreport_serves(const struct as_device_info *info);
/* subgroup NULL: all of them. AS_UNSUPPORTED with the call that failed. */
enum as_status as_ioreport_open(struct as_ioreport *r, const char *group, const char *subgroup, struct as_error *err);
void as_ioreport_close(struct as_ioreport *r); /* accepts a closed one */
/* Takes a base sample for differences; if it fails, there is no base. */
enum as_status as_ioreport_begin(struct as_ioreport *r, struct as_error *err);
/* Calls `each` with every channel's counts since the base, which stays, and sets the seconds. Channels are borrowed. */
typedef void (*as_ioreport_fn)(const struct as_ioreport *r, const struct as_ioreport_channel *c, void *user);
enum as_status as_ioreport_each(struct as_ioreport *r, as_ioreport_fn each, void *user, double *seconds,
                                struct as_error *err);
/* Name of a state, "" if it has none. */
void as_ioreport_state(const struct as_ioreport *r, as_cf channel, int i, char *out, size_t size);

#endif
