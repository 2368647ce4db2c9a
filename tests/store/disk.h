/* A disk under SQLite that fails and loses power: a VFS in front of the usual one. Files are as the system sees them;
 * beside each, in order, are its synced content and the changes since. */
#ifndef AS_TESTS_STORE_DISK_H
#define AS_TESTS_STORE_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum disk_trouble {
    DISK_NONE,
    DISK_POWER,  /* power fails before the change or sync of this number; nothing works after it */
    DISK_FAIL,   /* the call of this number fails, including reads and locks; a write has then written half */
    DISK_BROKEN, /* that call and all later ones fail */
};

/* Replaces the usual disk. Numbers count from 1. seed: selects the error of a call. */
void disk_start(enum disk_trouble trouble, unsigned long at, uint64_t seed);
/* Restores the usual disk and leaves the files as they are. Returns the number of calls or changes. */
unsigned long disk_stop(void);
/* Did the trouble occur? */
bool disk_struck(void);
/* After disk_stop: makes the files as they may be after a power failure. seed 0: nothing unsynced survives; 1:
 * everything does; else each changed sector may be new, old, partial, or have other bytes. */
void disk_power_back(uint64_t seed);
/* Forgets the files. */
void disk_forget(void);

#endif
