/* Queries of tests to the stand-in for the HIP runtime, by dlsym. */
#ifndef AS_TESTS_FAKE_HIP_H
#define AS_TESTS_FAKE_HIP_H

#define API __attribute__((visibility("default")))

/* Objects created and not released: streams, events, memory, modules, graphs. */
API int fake_hip_live(void);
/* The first call that broke a rule, including rules that the real runtime does not check; "" if there was none. */
API const char *fake_hip_broken(void);
/* Forgets objects left behind by a lost device. */
API void fake_hip_reset(void);

#endif
