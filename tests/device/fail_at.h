/* One call of a stand-in fails: the n-th that can, where "fail=N" is among its words. */
#ifndef AS_TESTS_DEVICE_FAIL_AT_H
#define AS_TESTS_DEVICE_FAIL_AT_H

#include <stdbool.h>

/* Does this call, in a stand-in that is told these words? Calls that give something back or ask for a name do not. */
bool fail_at(const char *words, const char *function);
/* Which one has since the number was last changed; "" none. */
__attribute__((visibility("default"))) const char *fake_failed_call(void);

#endif
