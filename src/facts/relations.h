/* The closed list of relations between quantities that facts state, and the fields that distinguish facts of one
 * relation. Only relations.c knows the form of an id: others compare fields. */
#ifndef AS_FACTS_RELATIONS_H
#define AS_FACTS_RELATIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_relation {
#define RELATION(name, id, object, unit, states) AS_FACT_##name,
#include "facts/relations.inc"
#undef RELATION
    AS_RELATIONS_N
};

/* What the number of a relation is, where several relations state the same. */
enum as_fact_states {
    AS_STATES_OTHER,
    AS_STATES_CLOCK,
    AS_STATES_CAPACITY,         /* of a cache */
    AS_STATES_UNIT_CAPACITY,    /* of a compute unit */
    AS_STATES_LATENCY,          /* of a dependent load from a cache or memory */
    AS_STATES_BANDWIDTH,        /* of a cache or memory */
    AS_STATES_LISTED_BANDWIDTH, /* of a level as the system lists it */
    AS_STATES_UNIT_BANDWIDTH,   /* per compute unit while all are active */
};

/* Fields, and the closed set of values of those that have one, separated by '|'; NULL: a text of the cell, the device
 * or the rule. No fact has another value. */
#define AS_LEVELS                                                                                                      \
    "L1|L2|L3|L4|L5|L6|L7|L8|LLC|level 1|level 2|level 3|level 4|level 5|level 6|level 7|level 8|"                     \
    "memory|memory_side|shared"
#define AS_FACT_FIELDS(FIELD)                                                                                          \
    FIELD(ACCESS, access, "load")                                                                                      \
    FIELD(AGENT, agent, "cpu|device")                                                                                  \
    FIELD(AGGRESSOR, aggressor, NULL)                                                                                  \
    FIELD(ALLOCATOR, allocator, NULL)                                                                                  \
    FIELD(BUFFERS, buffers, NULL)                                                                                      \
    FIELD(COMPUTE_UNIT, compute_unit, NULL)                                                                            \
    FIELD(COUNTED, counted, NULL) /* what a number without a unit counts: "threads" */                                 \
    FIELD(DIRECTION, direction, "to|from|both")                                                                        \
    FIELD(ELEMENTS, elements, NULL)                                                                                    \
    FIELD(ENDS, ends, "device|unit")                                                                                   \
    FIELD(FROM, from, NULL)                                                                                            \
    FIELD(HEADS, heads, NULL)                                                                                          \
    FIELD(HOW, how, "engine|kernel")                                                                                   \
    FIELD(ILP, ilp, NULL)                                                                                              \
    FIELD(INSTRUCTION, instruction, NULL)                                                                              \
    FIELD(LEVEL, level, AS_LEVELS)                                                                                     \
    FIELD(LOAD, load, NULL)                                                                                            \
    FIELD(MEMORY, memory, "global|shared")                                                                             \
    FIELD(NODE, node, NULL)                                                                                            \
    FIELD(OP, op, NULL)                                                                                                \
    FIELD(OPERATION, operation, NULL)                                                                                  \
    FIELD(ORDER, order, "1|2|3|4|5|6|7|8")                                                                             \
    FIELD(OTHER, other, NULL) /* second of a pair */                                                                   \
    FIELD(PART, part, "part")                                                                                          \
    FIELD(PATH, path, NULL)                                                                                            \
    FIELD(PATTERN, pattern, NULL)                                                                                      \
    FIELD(PEER, peer, NULL) /* "host-0", "1" */                                                                        \
    FIELD(PRIORITY, priority, NULL)                                                                                    \
    FIELD(PROBE, probe, NULL)                                                                                          \
    FIELD(RESULT, result, "dropped|kept")                                                                              \
    FIELD(SCENARIO, scenario, NULL)                                                                                    \
    FIELD(SCOPE, scope, "device|system")                                                                               \
    FIELD(SHARED, shared, NULL)                                                                                        \
    FIELD(SIDE, side, "cpu|device")                                                                                    \
    FIELD(SIDES, sides, "cpu|device|both")                                                                             \
    FIELD(SIZE, size, NULL)                                                                                            \
    FIELD(STATE, state, NULL)                                                                                          \
    FIELD(STRIDE, stride, NULL)                                                                                        \
    FIELD(THREADS, threads, NULL) /* "1", "all" */                                                                     \
    FIELD(TO, to, NULL)                                                                                                \
    FIELD(TOOL, tool, NULL)                                                                                            \
    FIELD(TOUCH, touch, "cpu|device")                                                                                  \
    FIELD(TOUCHED, touched, NULL)                                                                                      \
    FIELD(TYPE, type, NULL)                                                                                            \
    FIELD(VICTIM, victim, "cpu|device")                                                                                \
    FIELD(WAIT, wait, NULL)                                                                                            \
    FIELD(WARPS, warps, NULL)                                                                                          \
    FIELD(WHAT, what, NULL)

enum as_fact_field {
#define FIELD(NAME, name, set) AS_FIELD_##NAME,
    AS_FACT_FIELDS(FIELD)
#undef FIELD
        AS_FACT_FIELDS_N
};

/* Values of fields; NULL: not given. */
struct as_fact_fields {
    const char *object, *unit; /* of the fact */
#define FIELD(NAME, name, set) const char *name;
    AS_FACT_FIELDS(FIELD)
#undef FIELD
};
#define AS_BY(...) (&(struct as_fact_fields){__VA_ARGS__})

struct as_fact;

/* "" where the fact has no such field. */
const char *as_fact_field(const struct as_fact *f, enum as_fact_field field);
/* The same by a name of len bytes, not necessarily terminated; "?" where no field has it. */
const char *as_fact_field_named(const struct as_fact *f, const char *name, size_t len);
/* Does it have that relation and those values, of assay's own environment and no other process state? Fields that are
 * not given match any value. by: NULL for none. */
bool as_fact_is(const struct as_fact *f, enum as_relation relation, const struct as_fact_fields *by);
enum as_fact_states as_fact_states(const struct as_fact *f);
/* The first that is, NULL when there is none. */
const struct as_fact *as_fact_of(const struct as_fact *facts, size_t n, const char *device, enum as_relation relation,
                                 const struct as_fact_fields *by);

/* What a field is where the rule does not give it, "" for nothing. */
typedef const char *(*as_field_fn)(const void *from, const char *name);
/* Sets relation, fields, id, object and unit of an empty fact. by and from may be NULL; unit: where neither by nor the
 * relation gives one. false: a field has a value that is not in its closed set, as of cells that a later version
 * stored. */
bool as_fact_name(struct as_fact *f, enum as_relation relation, const struct as_fact_fields *by, as_field_fn otherwise,
                  const void *from, const char *unit);

/* Length of the subject with which the id begins: "onchip" of "onchip.L1.size". */
size_t as_fact_subject(const struct as_fact *f);
bool as_facts_share_subject(const struct as_fact *a, const struct as_fact *b);
/* Does its id begin with the text, up to a dot? NULL: all do. */
bool as_fact_is_about(const struct as_fact *f, const char *subject);
/* Does one of these match its id, with the process state or without? Globs of '*' and '?', separated by blanks. */
bool as_fact_has_id(const struct as_fact *f, const char *globs);
/* Could facts have such ids, each of them, with values of closed sets? An id that no relation makes is an error of the
 * reader. */
bool as_fact_ids_exist(const char *globs);
/* Are all fields in the list of relations, or in this id of one, those that facts have? */
enum as_status as_relations_check(struct as_error *err);
enum as_status as_relation_check_id(const char *id, struct as_error *err);

#endif
