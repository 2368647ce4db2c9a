/* cmocka, with the headers that it requires. */
#ifndef AS_TESTS_UNIT_TEST_H
#define AS_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Begins a test without state, for cmocka_unit_test. */
#define UNIT_TEST(name) static void name(__attribute__((unused)) void **unused)

#endif
