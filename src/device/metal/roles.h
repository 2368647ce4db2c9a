/* Roles of Metal's allocators, and Metal's terms. */
#ifndef AS_DEVICE_METAL_ROLES_H
#define AS_DEVICE_METAL_ROLES_H

#include "device/info.h"

extern const struct as_role_name as_mtl_roles[];
extern const struct as_vocabulary as_mtl_words;

#endif
