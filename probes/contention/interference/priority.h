/* Scheduling priorities that a thread can set for itself. The words are the same on all platforms; each platform has a
 * table of those that it supports. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_PRIORITY_H
#define AS_PROBES_CONTENTION_INTERFERENCE_PRIORITY_H

struct priority {
    const char *word;  /* of the axis */
    const char *title; /* "SCHED_IDLE" */
    int (*set)(void);  /* Sets it for the calling thread: 0 or an errno. NULL: the default priority. */
};
extern const char *const priority_words[]; /* Ends with NULL; the first is the default. */
/* NULL: this platform has no priority of that name. */
const struct priority *as_interference_priority(const char *word);

#endif
