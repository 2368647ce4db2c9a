/* struct as_device_info from a part of a larger JSON document: the scripted device has one in its script. */
#ifndef AS_DEVICE_INFO_JSON_H
#define AS_DEVICE_INFO_JSON_H

#include "device/device.h"

#include <jansson.h>

/* Sets the members of info that object has. The text is untrusted: wrong types, numbers out of range and too many
 * elements are AS_FORMAT; long texts are truncated. */
enum as_status as_info_from_object(const json_t *object, struct as_device_info *info, struct as_error *err);

#endif
