/* What can be advised on: a table (advice.c) of these. Inside facts only. */
#ifndef AS_FACTS_ADVICE_TOPICS_H
#define AS_FACTS_ADVICE_TOPICS_H

#include "facts/choose.h"

struct as_advice_topic;

/* Fills in the sentence and numbers and returns true, or returns false where valid cells are lacking. */
typedef bool (*advise_fn)(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);

struct as_advice_topic {
    const char *name, *question;
    enum { OF_BOTH, OF_CPU, OF_DEVICE, OF_STATES /* devices that were measured in process states */ } of;
    advise_fn advise;
    struct as_advice_wanted wanted; /* of those that choose among allocators */
    const char *does;               /* "streams at": what the cell of a choice does at its value */
    bool apart;                     /* asks of two sides or memories, which a device on the host's CPU has not */
    enum as_role role;              /* asks of an allocator of this role, unless unknown */
    const char *lacks;              /* what is missing where nothing is said */
    const char *run;                /* what would measure it: probe and settings */
};

/* Was no update by atomics of scope system lost where both sides updated memory of the allocator? */
bool as_advice_atomics_hold(const struct as_rule_context *c, const char *allocator);

bool as_advise_cpu_on_device(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_allocator(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_shared(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_short_lived(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_first_touch(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_prefault_cpu(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_prefault_device(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_copies(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_states(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_counter(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_page_size(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_prefetch(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_applications(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);
bool as_advise_strategies(struct as_rule_context *c, const struct as_advice_topic *t, struct as_advice *a);

#endif
