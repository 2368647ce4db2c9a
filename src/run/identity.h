/* Is this the machine, and are these the devices, that a stored run was measured on? */
#ifndef AS_RUN_IDENTITY_H
#define AS_RUN_IDENTITY_H

#include "device/info.h"
#include "model/cell.h"

/* Writes to out how this host differs from the run's ("it was measured on host 'a', and this is 'b'"); nothing if the
 * boot ID, or name and CPU model, match. Unrecorded properties match. */
enum as_status as_identity_host(const struct as_run *run, struct as_buf *out, struct as_error *err);
/* The device of this id as the run recorded it; AS_NOTFOUND: it recorded none. */
enum as_status as_identity_device(const struct as_run *run, const char *id, struct as_device_info *out,
                                  struct as_error *err);
/* Writes to out how the device behind an id has changed ("cuda:0 was 'a' and is 'b' now"); nothing if UUID, else bus,
 * else name, and compute units and caches match. Unknown properties match; the driver may differ. */
void as_identity_differs(const struct as_device_info *then, const struct as_device_info *now, struct as_buf *out);
/* Both, for a number of the run that is measured again on a device of the same id. */
enum as_status as_identity_machine(const struct as_run *run, const struct as_device_info *now, struct as_buf *out,
                                   struct as_error *err);

#endif
