/* Temperatures of an Apple chip from its system management controller. The call and its record are private; they are
 * declared as macmon (crates/lib/src/platform/smc.rs) and SiliconScope (SMCReader.swift) use them, and keys are named
 * as these and exelban/stats (Modules/Sensors/values.swift) list them for M1 to M5. */
#ifndef AS_SENSOR_SMC_H
#define AS_SENSOR_SMC_H

#include "sensor/iokit.h"

enum { AS_SMC_SENSORS_MAX = 128 };

/* All zero: closed. */
struct as_smc {
    struct as_iokit io;
    uint32_t connection;
    uint32_t keys[AS_SMC_SENSORS_MAX]; /* four letters, the first in the highest byte */
    size_t n;
};
/* Opens the sensors of the CPU's or GPU's cores. AS_UNSUPPORTED: none can be read now. */
enum as_status as_smc_open(struct as_smc *smc, bool is_cpu, struct as_error *err);
/* Degrees Celsius of the hottest core sensor, which decides when clocks drop. NAN: none reads between 0 and 130. */
double as_smc_hottest(const struct as_smc *smc);
void as_smc_close(struct as_smc *smc); /* accepts a closed one */

#endif
