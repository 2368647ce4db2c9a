/* Is this the machine, and are these the devices, that a stored run was measured on? */
#ifndef AS_RUN_IDENTITY_H
#define AS_RUN_IDENTITY_H

#include "device/device.h"
#include "model/cell.h"

/* Says in out how this host differs from the run's ("it was measured on host 'a', and this is 'b'"); nothing where
 * they are one: running since the same start, or of the same name and CPU model. What is not recorded differs in
 * nothing. */
enum as_status as_identity_host(const struct as_run *run, struct as_buf *out, struct as_error *err);
/* The device of this id as the run recorded it; AS_NOTFOUND: it recorded none. */
enum as_status as_identity_device(const struct as_run *run, const char *id, struct as_device_info *out,
                                  struct as_error *err);
/* Says in out how two descriptions of one id are of different devices ("cuda:0 was 'a' and is 'b' now"); nothing where
 * they are one. A UUID decides before the bus, the bus before the name; compute units and caches have to agree. What
 * either does not know differs in nothing, and a driver may change. */
void as_identity_differs(const struct as_device_info *then, const struct as_device_info *now, struct as_buf *out);
/* Both, for a number of the run that is measured again on a device of the same id. */
enum as_status as_identity_machine(const struct as_run *run, const struct as_device_info *now, struct as_buf *out,
                                   struct as_error *err);

#endif
