/* The stand-in for the Objective-C runtime and Metal, as tests of cards want it. */
#include "../gpu_tests.h"

extern const struct as_backend as_backend_metal;

const struct stand_in stand_in = {
    .backend = &as_backend_metal,
    .library = "libobjc.A.dylib",
    .words = "FAKE_METAL",
    .visible = "FAKE_METAL_VISIBLE",
    .live = "fake_metal_live",
    .broken = "fake_metal_broken",
    .reset = "fake_metal_reset",
};
