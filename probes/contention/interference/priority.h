/* Scheduling priorities that a thread can give itself. The words are those of every platform; each platform has a table
 * of those that it knows. */
#ifndef AS_PROBES_CONTENTION_INTERFERENCE_PRIORITY_H
#define AS_PROBES_CONTENTION_INTERFERENCE_PRIORITY_H

struct priority {
    const char *word;  /* of the axis */
    const char *title; /* "SCHED_IDLE" */
    int (*set)(void);  /* of the calling thread: 0, or an errno; NULL: it is what threads start with */
};
extern const char *const priority_words[]; /* ends with NULL; the first is what threads start with */
/* NULL: this platform has none of that word. */
const struct priority *as_interference_priority(const char *word);

#endif
