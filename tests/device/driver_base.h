/* What the stand-ins for the CUDA driver and the HIP runtime share: words that select faults, devices, memory, and
 * counts of objects that were not released. Each stand-in is a library of its own that contains these files. */
#ifndef AS_TESTS_DEVICE_DRIVER_BASE_H
#define AS_TESTS_DEVICE_DRIVER_BASE_H

#include <stdbool.h>
#include <stddef.h>

#define API __attribute__((visibility("default")))

/* ---- for tests, by dlsym ---- */

/* How many objects were created and not released. */
API int fake_driver_live(void);
/* The first call that broke a rule, including rules that the real library does not check; "" if none did. */
API const char *fake_driver_broken(void);
/* Clears the state that a lost device left behind. */
API void fake_driver_reset(void);
/* Which call failed since the number in "fail=N" was last changed; "" none. */
API const char *fake_driver_failed(void);

/* ---- what each library defines ---- */

extern const char fake_words[], fake_visible[]; /* environment variables: its words, its visible devices */
void fake_forget(void);                         /* its part of a reset */

/* ---- for its calls ---- */

/* Is the word among the library's? */
bool fake_asked(const char *word);
/* Records the first broken rule; returns code. */
int fake_broke(const char *what, int code);
/* Does this call fail: the n-th that can, where "fail=N" is among the words? Calls that release something or ask for
 * a name do not. */
bool fake_fails(const char *function);
/* Adds n to the count of objects that were not released. */
void fake_count(int n);
double fake_now(void);

enum { DEVICES = 3 };
/* How many devices are visible. */
int fake_devices(void);
/* The index of the n-th visible device among all; -1: there is none. */
int fake_real(int device);
/* Hostile texts, by the device's index among all: the last name fills the buffer and is not terminated. */
void fake_name(char *name, int size, int real);
void fake_bus_id(char *id, int size, int real);
struct fake_attribute {
    int attribute, value;
};
/* Of a table; negative on the last device. False: it is not there. */
bool fake_attribute(const struct fake_attribute *table, size_t n, int attribute, int real, int *value);

/* ---- memory ---- */

enum kind { DEVICE_MEMORY, POOLED, MANAGED, PINNED, REGISTERED, RESERVED };
enum { PREFETCHED = 7, ADVICES };
struct block {
    struct block *next;
    char *at;
    size_t size;
    enum kind kind;
    void *owner;
    size_t mapped;   /* RESERVED: bytes */
    unsigned access; /* RESERVED: bits of devices */
    unsigned flags;
    int advised[8];   /* MANAGED: by advice and PREFETCHED, the device + 3; 0 none */
    bool device_maps; /* its pages, since a kernel touched them */
};
/* A block at *at, which is set for all kinds but REGISTERED; NULL: no memory. It is not the C library's, which fills
 * what it hands out in tests (MALLOC_PERTURB_): touching 2 MiB costs more than a test does. */
struct block *fake_block(void **at, size_t size, enum kind kind, void *owner, unsigned flags);
/* The block that holds the range; NULL: none does. */
struct block *fake_find(const void *at, size_t size);
/* Gives back the owner's block of one of these kinds (bits) that begins there; false: there is none. */
bool fake_drop(void *at, unsigned kinds, const void *owner);

#endif
