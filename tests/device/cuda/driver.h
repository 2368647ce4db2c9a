/* The stand-in for the driver, as tests of GPUs see it (struct stand_in), whichever backend is above it. */
#ifndef AS_TESTS_CUDA_DRIVER_H
#define AS_TESTS_CUDA_DRIVER_H

#define AS_FAKE_DRIVER                                                                                                 \
    .library = "libcuda.so.1", .words = "FAKE_CUDA", .visible = "CUDA_VISIBLE_DEVICES", .live = "fake_cuda_live",      \
    .broken = "fake_cuda_broken", .reset = "fake_cuda_reset", .failed = "fake_failed_call"

#endif
