/* The schema as a row of steps: step i brings a store from version i to version i + 1. A new store takes all of them,
 * so the way that an old store takes is always the same code. */
#ifndef AS_STORE_SCHEMA_H
#define AS_STORE_SCHEMA_H

#include "base/error.h"

#include <sqlite3.h>

enum { AS_STORE_APPLICATION = 0x41534159 }; /* "ASAY" */

struct as_schema {
    int version;              /* how many steps there are */
    const char *const *steps; /* SQL of each */
};
extern const struct as_schema as_store_schema;

enum as_schema_kind {
    AS_SCHEMA_EMPTY, /* nothing in it yet */
    AS_SCHEMA_OLDER,
    AS_SCHEMA_CURRENT,
};
/* What the open file is. Foreign, newer and damaged ones are refused (AS_FORMAT). */
enum as_status as_schema_look(const struct as_schema *schema, const char *path, sqlite3 *db, enum as_schema_kind *kind,
                              struct as_error *err);
/* What no SQL can do after the steps, in their transaction. from: the version before, 0 of an empty store. */
typedef enum as_status (*as_schema_fn)(void *user, int from, struct as_error *err);
/* Brings an empty or older store up to date, in one transaction. after may be NULL. */
enum as_status as_schema_migrate(const struct as_schema *schema, const char *path, sqlite3 *db, as_schema_fn after,
                                 void *user, struct as_error *err);

#endif
