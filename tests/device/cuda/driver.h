/* The driver's stand-in as seen by GPU tests (struct stand_in), independent of the backend above it. */
#ifndef AS_TESTS_CUDA_DRIVER_H
#define AS_TESTS_CUDA_DRIVER_H

#define AS_FAKE_DRIVER                                                                                                 \
    .library = "libcuda.so.1", .words = "FAKE_CUDA", .visible = "CUDA_VISIBLE_DEVICES", .live = "fake_cuda_live",      \
    .broken = "fake_cuda_broken", .reset = "fake_cuda_reset", .failed = "fake_failed_call"

#endif
