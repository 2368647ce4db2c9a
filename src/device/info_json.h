/* struct as_device_info from a part of a larger JSON document: the scripted device has one in its script. */
#ifndef AS_DEVICE_INFO_JSON_H
#define AS_DEVICE_INFO_JSON_H

#include "device/device.h"

#include <jansson.h>

/* Sets the members of info that object has and leaves the others as they are. Nothing of the text is trusted: a wrong
 * type, a number out of range or too many elements are AS_FORMAT, longer texts are cut. */
enum as_status as_info_from_object(const json_t *object, struct as_device_info *info, struct as_error *err);

#endif
