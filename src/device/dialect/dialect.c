/* The preludes, embedded as text. */
#include "device/dialect/dialect.h"

extern const char as_prelude_opencl[];
extern const char as_prelude_host[];
extern const char as_prelude_cuda[];
extern const char as_prelude_hip[];

static const char *const preludes[AS_DIALECT_N] = {
    [AS_DIALECT_OPENCL] = as_prelude_opencl,
    [AS_DIALECT_HOST] = as_prelude_host,
    [AS_DIALECT_CUDA] = as_prelude_cuda,
    [AS_DIALECT_HIP] = as_prelude_hip,
};

const char *as_dialect_prelude(enum as_dialect d)
{
    return preludes[d];
}

void as_dialect_source(enum as_dialect d, const char *source, struct as_buf *out)
{
    as_buf_str(out, preludes[d]);
    as_buf_str(out, "#line 1\n");
    as_buf_str(out, source);
}
