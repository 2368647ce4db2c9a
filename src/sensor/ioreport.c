#include "sensor/ioreport.h"

#include "base/clock.h"
#include "base/library.h"
#include "base/text.h"
#include "device/shared_host.h"

#include <stdlib.h>
#include <string.h>

const char *const as_foundation_names[2] = {"/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
                                            "CoreFoundation.dylib"};
const char *const as_system_names[2] = {"/usr/lib/libSystem.B.dylib", "libSystem.B.dylib"};
static const char *const report_names[] = {"/usr/lib/libIOReport.dylib", "libIOReport.dylib"};

static enum as_status load_foundation(struct as_ioreport_api *a, struct as_error *err)
{
    char why[240] = "";
    const char *found = "", *missing = NULL;
    void *library = as_library_open(as_foundation_names, 2, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "no CoreFoundation on this system: %s", why);
    as_library_function(library, "CFStringCreateWithCString", &a->string, &missing);
    as_library_function(library, "CFStringGetCString", &a->string_text, &missing);
    as_library_function(library, "CFDictionaryGetValue", &a->value, &missing);
    as_library_function(library, "CFArrayGetCount", &a->count, &missing);
    as_library_function(library, "CFArrayGetValueAtIndex", &a->at, &missing);
    as_library_function(library, "CFGetTypeID", &a->type_of, &missing);
    as_library_function(library, "CFStringGetTypeID", &a->string_type, &missing);
    as_library_function(library, "CFArrayGetTypeID", &a->array_type, &missing);
    as_library_function(library, "CFDictionaryGetTypeID", &a->dictionary_type, &missing);
    as_library_function(library, "CFRelease", &a->release, &missing);
    return missing ? as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'", found, missing) : AS_OK;
}

static enum as_status ioreport_load(struct as_ioreport_api *a, struct as_error *err)
{
    char why[240] = "";
    const char *found = "", *missing = NULL;
    void *library = as_library_open(report_names, 2, &found, why, sizeof why);
    if (!library)
        return as_fail(err, AS_UNSUPPORTED, "no IOReport on this system: %s", why);
    as_library_function(library, "IOReportCopyChannelsInGroup", &a->copy_group, &missing);
    as_library_function(library, "IOReportCreateSubscription", &a->subscribe, &missing);
    as_library_function(library, "IOReportCreateSamples", &a->sample, &missing);
    as_library_function(library, "IOReportCreateSamplesDelta", &a->delta, &missing);
    as_library_function(library, "IOReportChannelGetGroup", &a->group, &missing);
    as_library_function(library, "IOReportChannelGetSubGroup", &a->subgroup, &missing);
    as_library_function(library, "IOReportChannelGetChannelName", &a->name, &missing);
    as_library_function(library, "IOReportChannelGetUnitLabel", &a->unit, &missing);
    as_library_function(library, "IOReportChannelGetFormat", &a->format, &missing);
    as_library_function(library, "IOReportSimpleGetIntegerValue", &a->number, &missing);
    as_library_function(library, "IOReportStateGetCount", &a->states, &missing);
    as_library_function(library, "IOReportStateGetNameForIndex", &a->state_name, &missing);
    as_library_function(library, "IOReportStateGetResidency", &a->residency, &missing);
    return missing ? as_fail(err, AS_UNSUPPORTED, "%s has no function '%s'", found, missing) : load_foundation(a, err);
}

static bool ioreport_present(void)
{
    char why[8];
    return as_library_open(report_names, 2, NULL, why, sizeof why) != NULL;
}

bool as_ioreport_serves(const struct as_device_info *info)
{
    return strncmp(info->vendor, "Apple", 5) == 0 && as_info_shares_host(info) && ioreport_present();
}

static void ioreport_drop(const struct as_ioreport_api *a, as_cf *object)
{
    if (*object)
        a->release(*object);
    *object = NULL;
}

void as_ioreport_close(struct as_ioreport *r)
{
    ioreport_drop(&r->api, &r->base);
    ioreport_drop(&r->api, &r->subscribed);
    ioreport_drop(&r->api, &r->subscription);
    ioreport_drop(&r->api, &r->key);
    *r = (struct as_ioreport){.title = NULL};
}

/* The channels of a sample or copy; *list lives as long as the set. */
static enum as_status channels_of(const struct as_ioreport *r, as_cf set, as_cf *list, size_t *n, struct as_error *err)
{
    const struct as_ioreport_api *a = &r->api;
    *n = 0;
    *list = a->type_of(set) == a->dictionary_type() ? a->value(set, r->key) : NULL;
    if (!*list || a->type_of(*list) != a->array_type())
        return as_fail(err, AS_UNSUPPORTED, "IOReport's reply for '%s' has no list of channels", r->title);
    const long count = a->count(*list);
    if (count < 0 || count > AS_IOREPORT_CHANNELS_MAX)
        return as_fail(err, AS_UNSUPPORTED, "IOReport's group '%s' has %ld channels, more than %d", r->title, count,
                       AS_IOREPORT_CHANNELS_MAX);
    *n = (size_t)count;
    return AS_OK;
}

static void ioreport_text_of(const struct as_ioreport_api *a, as_cf string, char *out, size_t size)
{
    char text[256];
    const bool good = string && a->type_of(string) == a->string_type() &&
                      a->string_text(string, text, (long)sizeof text, AS_CF_UTF8) != 0;
    as_copy_clean(out, size, good ? text : "");
}

/* False if it is not a channel. */
static bool channel_at(const struct as_ioreport *r, as_cf list, size_t i, struct as_ioreport_channel *out)
{
    const struct as_ioreport_api *a = &r->api;
    out->ref = a->at(list, (long)i);
    if (!out->ref || a->type_of(out->ref) != a->dictionary_type())
        return false;
    ioreport_text_of(a, a->group(out->ref), out->group, sizeof out->group);
    ioreport_text_of(a, a->subgroup(out->ref), out->subgroup, sizeof out->subgroup);
    ioreport_text_of(a, a->name(out->ref), out->name, sizeof out->name);
    ioreport_text_of(a, a->unit(out->ref), out->unit, sizeof out->unit);
    out->format = a->format(out->ref);
    return true;
}

/* The channels to subscribe to, owned. */
static enum as_status copy_channels(struct as_ioreport *r, const char *group, const char *subgroup, as_cf *out,
                                    struct as_error *err)
{
    const struct as_ioreport_api *a = &r->api;
    as_cf list, name = a->string(NULL, group, AS_CF_UTF8),
                part = subgroup ? a->string(NULL, subgroup, AS_CF_UTF8) : NULL;
    size_t n = 0;
    r->key = a->string(NULL, "IOReportChannels", AS_CF_UTF8);
    const bool made = r->key && name && (part || !subgroup);
    *out = made ? a->copy_group(name, part, 0, 0, 0) : NULL;
    ioreport_drop(a, &name);
    ioreport_drop(a, &part);
    if (!made)
        return as_fail(err, AS_UNSUPPORTED, "CFStringCreateWithCString failed");
    if (!*out)
        return as_fail(err, AS_UNSUPPORTED, "IOReportCopyChannelsInGroup found no group '%s'", group);
    enum as_status st = channels_of(r, *out, &list, &n, err);
    if (!st && n == 0)
        st = as_fail(err, AS_UNSUPPORTED, "IOReport's group '%s' is empty", group);
    return st;
}

enum as_status as_ioreport_open(struct as_ioreport *r, const char *group, const char *subgroup, struct as_error *err)
{
    as_cf desired = NULL;
    *r = (struct as_ioreport){.title = group};
    enum as_status st = ioreport_load(&r->api, err);
    if (!st)
        st = copy_channels(r, group, subgroup, &desired, err);
    if (!st) {
        r->subscription = r->api.subscribe(NULL, desired, &r->subscribed, 0, NULL);
        if (!r->subscription || !r->subscribed)
            st = as_fail(err, AS_UNSUPPORTED, "IOReportCreateSubscription refuses '%s'", group);
    }
    ioreport_drop(&r->api, &desired);
    if (st)
        as_ioreport_close(r);
    return st;
}

/* A sample, owned, and its time: the middle of the call. */
static as_cf ioreport_sample(const struct as_ioreport *r, double *at)
{
    const double start = as_now();
    as_cf taken = r->api.sample(r->subscription, r->subscribed, NULL);
    *at = start + (as_now() - start) / 2;
    return taken;
}

enum as_status as_ioreport_begin(struct as_ioreport *r, struct as_error *err)
{
    ioreport_drop(&r->api, &r->base);
    r->base = ioreport_sample(r, &r->base_at);
    return r->base ? AS_OK : as_fail(err, AS_UNSUPPORTED, "IOReportCreateSamples returned no sample of '%s'", r->title);
}

/* The difference since the base, owned, and the seconds. */
static enum as_status ioreport_since(struct as_ioreport *r, as_cf *delta, double *seconds, struct as_error *err)
{
    double at;
    *delta = NULL;
    if (!r->base)
        return as_fail(err, AS_UNSUPPORTED, "no base sample of '%s'", r->title);
    as_cf now = ioreport_sample(r, &at);
    if (!now)
        return as_fail(err, AS_UNSUPPORTED, "IOReportCreateSamples returned no sample of '%s'", r->title);
    *delta = r->api.delta(r->base, now, NULL);
    *seconds = at - r->base_at;
    ioreport_drop(&r->api, &now);
    return *delta ? AS_OK
                  : as_fail(err, AS_UNSUPPORTED, "IOReportCreateSamplesDelta returned nothing for '%s'", r->title);
}

enum as_status as_ioreport_each(struct as_ioreport *r, as_ioreport_fn each, void *user, double *seconds,
                                struct as_error *err)
{
    as_cf delta, list;
    size_t n = 0;
    enum as_status st = ioreport_since(r, &delta, seconds, err);
    if (!st)
        st = channels_of(r, delta, &list, &n, err);
    for (size_t i = 0; !st && i < n; i++) {
        struct as_ioreport_channel c;
        if (channel_at(r, list, i, &c))
            each(r, &c, user);
    }
    ioreport_drop(&r->api, &delta);
    return st;
}

void as_ioreport_state(const struct as_ioreport *r, as_cf channel, int i, char *out, size_t size)
{
    ioreport_text_of(&r->api, r->api.state_name(channel, i), out, size);
}
