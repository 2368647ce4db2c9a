/* An engine whose cells changed, for tests that cannot include its header beside the store's. */
#ifndef AS_TESTS_RUN_ENGINE_CHANGED_H
#define AS_TESTS_RUN_ENGINE_CHANGED_H

#include "store/store.h"

/* Stores those of n cells that changed, as the engine does. */
enum as_status engine_store_changed(struct as_store *store, struct as_run *run, struct as_cell *cells, size_t n,
                                    const bool *changed, struct as_error *err);

#endif
