/* struct as_device_info from part of a larger JSON document, such as the null device's script. */
#ifndef AS_DEVICE_INFO_JSON_H
#define AS_DEVICE_INFO_JSON_H

#include "device/info.h"

#include <jansson.h>

/* Sets the members of info that are in object. The text is untrusted: wrong types, numbers out of range and too many
 * elements are AS_FORMAT; long texts are truncated. */
enum as_status as_info_from_object(const json_t *object, struct as_device_info *info, struct as_error *err);

#endif
