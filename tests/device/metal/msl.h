/* The strict stand-in of a compiler of the Metal Shading Language: msl.py and clang++, which the environment names. */
#ifndef AS_TESTS_DEVICE_METAL_MSL_H
#define AS_TESTS_DEVICE_METAL_MSL_H

#include "base/buf.h"
#include "fibers.h"

#include <stdbool.h>

enum { MSL_VERSION = 310 }; /* of the language, as __METAL_VERSION__ has it */

struct msl_request {
    const char *source;        /* all of it, with the prelude */
    const char *defines;       /* (optional) "-DNAME=VALUE ..." */
    unsigned version;          /* of the language */
    bool optimised;            /* takes longer to compile, and less to run */
    struct as_buf *translated; /* (optional) the program as C++ is added to it */
};
/* Why nothing can be compiled; NULL: it can. */
const char *msl_missing(void);
/* program: ready to be run; NULL: it is only checked. AS_FAILED with what the compiler says. */
enum as_status msl_compile(const struct msl_request *r, struct msl_program *program, struct as_error *err);

#endif
