/* Synthetic runs for the rules: cells of one device with known medians, and the facts derived from them. */
#ifndef AS_TESTS_FACTS_MADE_H
#define AS_TESTS_FACTS_MADE_H

#include "facts/facts.h"

struct made {
    struct as_cell *cells; /* owns what made_add returned, until its next call */
    size_t n, cap;
    struct as_device_info info; /* the device of the cells */
    double share;               /* half the width of each interval, as a share of its median */
    double clock_hz;            /* clock of each cell, 0: unknown */
    struct as_fact *facts;
    size_t facts_n;
};

/* axes: "size=1024 op=read", or "size=1024;allocator=my own" if a value has spaces */
struct as_cell *made_add(struct made *m, const char *probe, const char *unit, double median, const char *axes);
void made_derive(struct made *m); /* again, after cells or the device changed */
const struct as_fact *made_find(const struct made *m, const char *id);
/* The fact, which must exist with a sentence, rule and evidence. */
const struct as_fact *made_get(const struct made *m, const char *id);
/* The same with this value, within a relative tolerance. */
const struct as_fact *made_near(const struct made *m, const char *id, double value, double share);
void made_holds(const struct as_fact *f, double value); /* its interval is this, within a thousandth */
/* The fact, which must exist with this verdict. */
void made_verdict(const struct made *m, const char *id, enum as_fact_verdict verdict);
void made_says(const struct as_fact *f, const char *text);              /* its sentence contains the text */
void made_acts(const struct made *m, const char *id, const char *text); /* what to do by this fact contains the text */
void made_end(struct made *m);                                          /* no cells and no facts, same device */
/* No cells, a CPU of four cores with caches of 32 KiB, 1 MiB, and a shared one of 32 MiB. */
void made_cpu(struct made *m);
/* No cells, a GPU with only an L2 of 50 MiB and three allocators: own, pinned and pool. */
void made_gpu_minimal(struct made *m);
/* On the heap, a known GPU: 256 KiB of L1 that shares storage with shared memory, lines of 128 bytes; 32 banks; 50 MiB
 * of L2, half of it near. */
struct made *made_gpu(void);
void made_free(struct made *m);

/* A cmocka teardown for tests whose state is their struct made: made_end, and no clock. */
int made_teardown(void **state);
#define made_test(test, made) made_test_from(test, NULL, made)
#define made_test_from(test, setup, made) cmocka_unit_test_prestate_setup_teardown(test, setup, made_teardown, made)

#endif
