/* Advice on synthetic cells of a CPU and a device. */
#ifndef AS_TESTS_FACTS_MADE_ADVICE_H
#define AS_TESTS_FACTS_MADE_ADVICE_H

#include "made.h"
#include "tests/unit_test.h"

#include "facts/advice.h"

extern struct made m;
extern struct as_device_info infos[2]; /* "cpu", and "hip:0" with four allocators */

struct as_cell *add(const char *device, const char *probe, const char *unit, double median, const char *axes);
struct as_cell *triad(const char *device, double value, const char *allocator, int threads, const char *touch);
/* Of 10000 pages. */
void fault(const char *device, double ns, const char *scenario, const char *allocator);

/* Advice is derived when it is first asked for; NULL: there is none. */
const struct as_advice *find_advice(const char *device, const char *topic);
const struct as_advice *get_advice(const char *device, const char *topic); /* which must exist */
const struct as_advice *all_advice(size_t *n);
void forget_advice(void); /* after cells changed */
/* It is known, its sentence contains this, and what it names first is among its first numbers. */
void says(const struct as_advice *a, const char *what);

/* cmocka setup and teardown. */
int advice_start(void **unused);
int advice_end(void **unused);
#define ADVICE_TEST(name) cmocka_unit_test_setup_teardown(name, advice_start, advice_end)

#endif
