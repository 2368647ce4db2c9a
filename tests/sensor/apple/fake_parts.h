/* What the stand-in's files share. */
#ifndef TEST_SENSOR_APPLE_FAKE_PARTS_H
#define TEST_SENSOR_APPLE_FAKE_PARTS_H

#include "fake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SUBSCRIPTION = 1, STRING, ARRAY, DICTIONARY, DATA };
enum { LINES_MAX = 128, STATES_MAX = 32, FIELD = 480, FIELDS = 6, DATA_MAX = 600, MAGIC = 0x0b1ec7 };

struct line {
    char field[FIELDS][FIELD];
    int copies, format;
};
struct object {
    uint32_t magic;
    struct object *next; /* all, also released ones, so that their use is seen */
    enum kind kind;
    int references;
    char text[FIELD];
    struct object **parts; /* of an array; owned with it. A set's only one is its array. */
    long n;
    const struct line *line; /* of a channel */
    struct object *texts[4 + STATES_MAX];
    int64_t counts[STATES_MAX];
    unsigned char data[DATA_MAX];
    long length;
};
typedef const void *ref;

extern struct line fake_lines[LINES_MAX];
extern size_t fake_lines_n;
extern char fake_refused[FIELD];
extern int64_t fake_now;
extern bool fake_is_moving;
extern int fake_ports; /* of IOKit, owned */
extern void CFRelease(ref object);

bool fake_asked(const char *word);
void fake_misuse(const char *what);
bool fake_fails(void); /* this call is the one that has to */
struct object *fake_make(enum kind kind);
/* NULL, and a misuse, where it is none, gone or of another kind than that, if one is named. */
struct object *fake_object(ref at, enum kind kind, const char *where);
void fake_iokit_use(void); /* starts anew */

#endif
