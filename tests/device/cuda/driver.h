/* The stand-in for the driver, as tests of GPUs see it (struct stand_in), whichever backend is above it. */
#ifndef AS_TESTS_CUDA_DRIVER_H
#define AS_TESTS_CUDA_DRIVER_H

#define AS_FAKE_DRIVER                                                                                                 \
    .library = "libcuda.so.1", .words = "FAKE_CUDA", .visible = "CUDA_VISIBLE_DEVICES", .live = "fake_driver_live",    \
    .broken = "fake_driver_broken", .reset = "fake_driver_reset", .failed = "fake_driver_failed"

#endif
