/* cmocka, with the headers that it needs before it. */
#ifndef AS_TESTS_UNIT_TEST_H
#define AS_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
