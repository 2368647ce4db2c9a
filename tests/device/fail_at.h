/* One call of a stand-in fails: the n-th that can, if "fail=N" is among its words. */
#ifndef AS_TESTS_DEVICE_FAIL_AT_H
#define AS_TESTS_DEVICE_FAIL_AT_H

#include <stdbool.h>

/* Must this call fail, under the stand-in's words? Calls that release something or query a name do not. */
bool fail_at(const char *words, const char *function);
/* The call that failed since the number last changed; "": none. */
__attribute__((visibility("default"))) const char *fake_failed_call(void);

#endif
