/* Energy of an Apple chip's components, from IOReport's group "Energy Model": channel names as macmon
 * and SiliconScope (kennss/SiliconScope, docs/ioreport-channels.md) read on M1 to M5. */
#ifndef AS_SENSOR_RAILS_H
#define AS_SENSOR_RAILS_H

#include "sensor/ioreport.h"

enum as_rail { AS_RAIL_CPU, AS_RAIL_GPU, AS_RAIL_ANE, AS_RAIL_DRAM, AS_RAILS };

/* The part of a channel's name after the die: "DIE_1_CPU Energy", "DIE1 ANE0". */
const char *as_rail_past_die(const char *name);

struct as_rails {
    double joule[AS_RAILS];  /* NAN: unknown */
    char why[AS_RAILS][100]; /* reason for an unknown rail; control characters are escaped */
};
enum as_status as_rails_open(struct as_ioreport *r, struct as_error *err); /* and begins */
/* Energy used since the start. A rail is known if all of its channels are: no channel, an unknown unit, another format
 * or a count below 0 make it unknown. */
enum as_status as_rails_since(struct as_ioreport *r, struct as_rails *out, double *seconds, struct as_error *err);

#endif
