/* The driver's stand-in as seen by GPU tests (struct stand_in), independent of the backend above it. */
#ifndef AS_TESTS_CUDA_DRIVER_H
#define AS_TESTS_CUDA_DRIVER_H

#define AS_FAKE_DRIVER                                                                                                 \
    .library = "libcuda.so.1", .words = "FAKE_CUDA", .visible = "CUDA_VISIBLE_DEVICES", .live = "fake_driver_live",    \
    .broken = "fake_driver_broken", .reset = "fake_driver_reset", .failed = "fake_driver_failed"

#endif
