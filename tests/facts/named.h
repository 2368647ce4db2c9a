/* Facts that tests create by their printed id. */
#ifndef AS_TESTS_FACTS_NAMED_H
#define AS_TESTS_FACTS_NAMED_H

#include "facts/facts.h"

/* Sets relation, fields and id; false if no relation has such an id. */
bool named_fact(struct as_fact *f, const char *id);

#endif
