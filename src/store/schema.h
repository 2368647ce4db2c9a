/* The schema as steps: step i brings a store from version i to i + 1, the first one makes the tables. New stores run
 * all of them, so that they share one code path with those of an earlier version. */
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
    AS_SCHEMA_EARLIER,
    AS_SCHEMA_CURRENT,
};
/* What the open file is. Foreign, newer and damaged ones are refused (AS_FORMAT). */
enum as_status as_schema_look(const struct as_schema *schema, const char *path, sqlite3 *db, enum as_schema_kind *kind,
                              struct as_error *err);
/* Brings an empty store, or one of an earlier schema, up to date, in one transaction. */
enum as_status as_schema_migrate(const struct as_schema *schema, const char *path, sqlite3 *db, struct as_error *err);

#endif
