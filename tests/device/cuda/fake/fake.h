/* Queries of tests to the stand-in for the CUDA driver, by dlsym. */
#ifndef AS_TESTS_FAKE_CUDA_H
#define AS_TESTS_FAKE_CUDA_H

#define API __attribute__((visibility("default")))

/* Objects created and not released: contexts retained, streams, events, memory, modules. */
API int fake_cuda_live(void);
/* The first call that broke a rule, including rules that the real driver does not check; "" if there was none. */
API const char *fake_cuda_broken(void);
/* Forgets objects left behind by a lost context. */
API void fake_cuda_reset(void);

#endif
