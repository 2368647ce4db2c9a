/* Runs that are made up for the rules: cells with known medians of one device, and the facts derived from them. */
#ifndef AS_TESTS_FACTS_MADE_H
#define AS_TESTS_FACTS_MADE_H

#include "facts/facts.h"

struct made {
    struct as_cell *cells; /* what made_add returned is theirs, until the next call of it */
    size_t n, cap;
    struct as_device_info info; /* whose cells they are */
    double share;               /* half the width of each interval, as a share of its median */
    double clock_hz;            /* of each cell, 0: not known */
    struct as_fact *facts;
    size_t facts_n;
};

/* axes: "size=1024 op=read", or "size=1024;allocator=my own" where a text holds spaces */
struct as_cell *made_add(struct made *m, const char *probe, const char *unit, double median, const char *axes);
void made_derive(struct made *m); /* again, where cells or the device were changed */
const struct as_fact *made_find(const struct made *m, const char *id);
/* The fact, which must be there with its sentence, rule and evidence. */
const struct as_fact *made_get(const struct made *m, const char *id);
/* And its value is that, to a share of it. */
const struct as_fact *made_near(const struct made *m, const char *id, double value, double share);
void made_holds(const struct as_fact *f, double value); /* its interval does, to a thousandth */
/* The fact, which must be there, has that verdict. */
void made_verdict(const struct made *m, const char *id, enum as_fact_verdict verdict);
void made_says(const struct as_fact *f, const char *text); /* its sentence holds the text */
void made_end(struct made *m);                             /* no cells and no facts, of the same device */
/* No cells, of a CPU of four cores that is known: caches of 32 KiB, 1 MiB, and 32 MiB that all share. */
void made_cpu(struct made *m);
/* No cells, of a GPU with only an L2 of 50 MiB and three allocators: own, pinned and pool. */
void made_gpu_minimal(struct made *m);
/* On the heap, of a GPU that is known: 256 KiB of L1 with shared memory taken off it, lines of 128 bytes; 32 banks; 50
 * MiB of L2 of which half is near. */
struct made *made_gpu(void);
void made_free(struct made *m);

#endif
