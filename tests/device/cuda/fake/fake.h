/* What tests may ask the stand-in for the CUDA driver, by dlsym. */
#ifndef AS_TESTS_FAKE_CUDA_H
#define AS_TESTS_FAKE_CUDA_H

#define API __attribute__((visibility("default")))

/* Things that were made and not given back: contexts retained, streams, events, memory, modules. */
API int fake_cuda_live(void);
/* The first call that broke a rule, also one that the real driver does not check; "" when there was none. */
API const char *fake_cuda_broken(void);
/* Forgets what a lost context left behind. */
API void fake_cuda_reset(void);

#endif
