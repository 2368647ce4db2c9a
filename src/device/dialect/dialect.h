/* The kernel dialect: device code is written once, in C with the macros that the preludes define. */
#ifndef AS_DEVICE_DIALECT_DIALECT_H
#define AS_DEVICE_DIALECT_DIALECT_H

#include "base/buf.h"

enum as_dialect { AS_DIALECT_OPENCL, AS_DIALECT_HOST, AS_DIALECT_N };
const char *as_dialect_prelude(enum as_dialect d);
/* prelude + "#line 1" + source into out */
void as_dialect_source(enum as_dialect d, const char *source, struct as_buf *out);
#endif
