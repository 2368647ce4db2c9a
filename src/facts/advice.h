/* Advice for porting to memory that CPU and device share, from the valid cells and facts of one run. Each sentence
 * stands on cells; where those are lacking nothing is advised, but the command named that would measure them. */
#ifndef AS_FACTS_ADVICE_H
#define AS_FACTS_ADVICE_H

#include "facts/facts.h"

enum { AS_ADVICE_NUMBERS_MAX = 32, AS_ADVICE_SHOWN = 10 /* further ones on request */ };

/* A number that an advice rests on. */
struct as_advice_number {
    int64_t cell;
    char what[192];       /* "triad over 1 GiB, 'malloc'" */
    const char *quantity; /* the name of the quantity whose value it is; NULL: of none */
    double value;
    struct as_interval ci;
    char unit[16];
    size_t trials;
};

struct as_advice {
    const char *topic;    /* "device-heavy", "shared", "pre-fault", ... */
    const char *question; /* what it answers */
    char device[32];
    bool known;          /* else valid cells are lacking */
    bool warning;        /* something is wrong with this use of the memory, not only slow */
    double effect;       /* how many times worse it is not to follow it, at least; 1: not sure to be worse */
    char sentence[1536]; /* what to do and why, or what is lacking */
    char command[192];   /* what would measure it; "" when it is known */
    struct as_advice_number numbers[AS_ADVICE_NUMBERS_MAX];
    size_t numbers_n, of_one_trial; /* how many there are; of these from cells with one trial */
};
/* *advice is the caller's (free). facts: those of the same input. Order: warnings, then by effect, then what is not
 * known; equals by device, then by topic. */
enum as_status as_advice_derive(const struct as_fact_input *in, const struct as_fact *facts, size_t facts_n,
                                struct as_advice **advice, size_t *n, struct as_error *err);
/* Bytes of its sentence that say what to do: up to the end of the first statement; of a short one all. */
size_t as_advice_first_statement(const struct as_advice *a);
/* JSON array. */
void as_advice_to_json(const struct as_advice *advice, size_t n, struct as_buf *out);

#endif
