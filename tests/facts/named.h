/* Facts that tests make up by the id that people see. */
#ifndef AS_TESTS_FACTS_NAMED_H
#define AS_TESTS_FACTS_NAMED_H

#include "facts/facts.h"

/* Sets relation, fields and id; false where no relation makes such an id. */
bool named_fact(struct as_fact *f, const char *id);

#endif
