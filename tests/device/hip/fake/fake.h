/* What tests may ask the stand-in for the HIP runtime, by dlsym. */
#ifndef AS_TESTS_FAKE_HIP_H
#define AS_TESTS_FAKE_HIP_H

#define API __attribute__((visibility("default")))

/* Things that were made and not given back: streams, events, memory, modules, graphs. */
API int fake_hip_live(void);
/* The first call that broke a rule, also one that the real runtime does not check; "" when there was none. */
API const char *fake_hip_broken(void);
/* Forgets what a lost device left behind. */
API void fake_hip_reset(void);

#endif
