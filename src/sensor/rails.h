/* Energy of the parts of an Apple chip, by IOReport's group "Energy Model": the names of channels are those that macmon
 * and SiliconScope (kennss/SiliconScope, docs/ioreport-channels.md) read on M1 to M5. */
#ifndef AS_SENSOR_RAILS_H
#define AS_SENSOR_RAILS_H

#include "sensor/ioreport.h"

enum as_rail { AS_RAIL_CPU, AS_RAIL_GPU, AS_RAIL_ANE, AS_RAIL_DRAM, AS_RAILS };
const char *as_rail_word(enum as_rail rail); /* "CPU" */

/* What follows the die in a channel's name: "DIE_1_CPU Energy", "DIE1 ANE0". */
const char *as_rail_past_die(const char *name);

struct as_rails {
    double joule[AS_RAILS];  /* NAN: unknown */
    char why[AS_RAILS][100]; /* of an unknown one; control characters are escaped */
};
enum as_status as_rails_open(struct as_ioreport *r, struct as_error *err); /* and begins */
/* What was used since the begin. A rail is known where all of its channels are: none, an unknown unit, another format
 * or a count below 0 make it unknown. */
enum as_status as_rails_since(struct as_ioreport *r, struct as_rails *out, double *seconds, struct as_error *err);

#endif
