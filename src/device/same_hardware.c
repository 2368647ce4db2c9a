/* Which devices are the same hardware. */
#include "device/info.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { UUID_DIGITS = 32 };

/* "GPU-5ede5d59-c949-..." and "5ede5d59c949..." are the same 128 bits. */
static bool uuid_digits(const char *text, char out[UUID_DIGITS + 1])
{
    size_t n = 0;
    for (; *text; text++) {
        if (!isxdigit((unsigned char)*text))
            continue;
        if (n == UUID_DIGITS)
            return false;
        out[n++] = (char)tolower((unsigned char)*text);
    }
    out[n] = '\0';
    return n == UUID_DIGITS;
}

/* An OpenCL CPU device is the same hardware as the native CPU, or as another OpenCL CPU device. */
static bool is_host_cpu_twice(const struct as_device_info *a, const struct as_device_info *b)
{
    return (a->is_host_cpu && (b->is_host_cpu || b->capabilities & AS_CAP_HOST_KERNELS)) ||
           (b->is_host_cpu && a->capabilities & AS_CAP_HOST_KERNELS);
}

bool as_info_same_hardware(const struct as_device_info *a, const struct as_device_info *b, char *how, size_t size)
{
    char ua[UUID_DIGITS + 1], ub[UUID_DIGITS + 1];
    if (is_host_cpu_twice(a, b)) {
        snprintf(how, size, "Both are the host's CPU");
        return true;
    }
    if (uuid_digits(a->uuid, ua) && uuid_digits(b->uuid, ub)) {
        snprintf(how, size, "UUID %s", a->uuid);
        return strcmp(ua, ub) == 0;
    }
    snprintf(how, size, "bus %s", a->bus_id);
    return a->bus_id[0] && strcasecmp(a->bus_id, b->bus_id) == 0;
}
