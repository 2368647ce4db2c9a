/* A disk under SQLite that fails and loses its power: a VFS before the usual one. Files are as the system sees them,
 * and beside each is kept what a sync has made safe and what was changed since, in order. */
#ifndef AS_TESTS_STORE_DISK_H
#define AS_TESTS_STORE_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum disk_trouble {
    DISK_NONE,
    DISK_POWER,  /* gone before the change or sync of this number; nothing works after it */
    DISK_FAIL,   /* the call of this number fails, reads and locks too; a write has then written a half */
    DISK_BROKEN, /* it and all after it fail */
};

/* Takes the place of the usual disk. Numbers count from 1. seed: which error a call gives. */
void disk_start(enum disk_trouble trouble, unsigned long at, uint64_t seed);
/* The usual disk again, the files as they are. How many calls or changes there were. */
unsigned long disk_stop(void);
/* Was the trouble met? */
bool disk_struck(void);
/* After disk_stop: the files as they may be once the power is back. seed 0: nothing that was not synced is there, 1:
 * everything, else each changed sector may be, as it was before, in part, or with other bytes. */
void disk_power_back(uint64_t seed);
/* Forgets the files. */
void disk_forget(void);

#endif
