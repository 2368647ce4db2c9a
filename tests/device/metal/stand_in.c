/* The stand-in for the Objective-C runtime and Metal: its faults, and the backend's messages for them. */
#include "../stand_in.h"

#include <stdlib.h>

extern const struct as_backend as_backend_metal;

static const char *const machines[] = {"", "intel", "intel old", NULL};

static const struct open_refusal refusals[] = {
    {"none", NULL, false, AS_UNSUPPORTED, "names no device"},
    {"noqueue", NULL, true, AS_FAILED, "newCommandQueue made no queue"},
    {"nolibrary", NULL, true, AS_FAILED, "program 'nothing' does not build: no reason is given"},
    {"nopipeline", NULL, true, AS_FAILED,
     "cannot create a pipeline for kernel 'nothing': Compiler encountered an internal"},
    {"notext nopipeline", NULL, true, AS_FAILED, "no reason is given"},
    {0},
};

static const struct size_limit limits[] = {
    {"MTLStorageModePrivate", 4 * GIB + 1, AS_UNSUPPORTED, "maxBufferLength"},
    {0},
};

static const struct driver_fault faults[] = {
    {"nocommands", AS_FAILED, "made no command buffer", DOES_ALL, false, NULL},
    {"noencoder", AS_FAILED, "encoder", DOES_ALL, false, NULL},
    {"fault", AS_FAILED, "Caused GPU Address Fault Error", DOES_ALL, false, NULL},
    {"oom", AS_NOMEM, "Insufficient Memory", DOES_ALL, false, NULL},
    {"timeout", AS_TIMEOUT, "Caused GPU Timeout Error", DOES_ALL, false, NULL},
    {"fault speechless", AS_FAILED, "no reason is given", DOES_ALL, false, NULL},
    {"oom notext", AS_NOMEM, "no reason is given", DOES_ALL, false, NULL},
    {"revoked", AS_FAILED, "Ignored (for causing prior/excessive GPU errors)", DOES_ALL, true, "has lost the device"},
    {"removed", AS_FAILED, "Device removed", DOES_ALL, true, "has lost the device"},
    {0},
};

const struct stand_in stand_in = {
    .backend = &as_backend_metal,
    .library = "libobjc.A.dylib",
    .words = "FAKE_METAL",
    .visible = "FAKE_METAL_VISIBLE",
    .live = "fake_metal_live",
    .broken = "fake_metal_broken",
    .reset = "fake_metal_reset",
    .no_memory = "no buffer",
    .runs = RUNS_ALL,
    .machines = machines,
    .refusals = refusals,
    .limits = limits,
    .faults = faults,
};
