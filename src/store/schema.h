/* The schema as migration steps: step i brings a store from version i to i + 1. New stores run all of them, so old and
 * new stores share one code path. */
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
/* Migration code that SQL cannot express, run after the steps in their transaction. from: the previous version, 0 for
 * an empty store. */
typedef enum as_status (*as_schema_fn)(void *user, int from, struct as_error *err);
/* Brings an empty or older store up to date, in one transaction. after may be NULL. */
enum as_status as_schema_migrate(const struct as_schema *schema, const char *path, sqlite3 *db, as_schema_fn after,
                                 void *user, struct as_error *err);

#endif
