/* The strict stand-in for a compiler of the Metal Shading Language: msl.py and clang++, as named by the environment. */
#ifndef AS_TESTS_DEVICE_METAL_MSL_H
#define AS_TESTS_DEVICE_METAL_MSL_H

#include "base/buf.h"
#include "fibers.h"

#include <stdbool.h>

enum { MSL_VERSION = 310 }; /* language version, as in __METAL_VERSION__ */

struct msl_request {
    const char *source;        /* complete, with the prelude */
    const char *defines;       /* (optional) "-DNAME=VALUE ..." */
    unsigned version;          /* of the language */
    bool optimised;            /* compiles more slowly, runs faster */
    struct as_buf *translated; /* (optional) receives the program as C++ */
};
/* Why nothing can be compiled; NULL if it can. */
const char *msl_missing(void);
/* program: receives a program to run; NULL: only check. AS_FAILED with the compiler's messages. */
enum as_status msl_compile(const struct msl_request *r, struct msl_program *program, struct as_error *err);

#endif
