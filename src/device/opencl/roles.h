/* Separate from the backend's header, since a build without the backend also has the table. */
#ifndef AS_DEVICE_OPENCL_ROLES_H
#define AS_DEVICE_OPENCL_ROLES_H

#include "device/info.h"

extern const struct as_role_name as_cl_roles[];
extern const struct as_vocabulary as_cl_words;

#endif
