/* The state of a process in which a device is measured: environment variables that a backend's runtime reads when it is
 * loaded (as_backend.environment). A state is a text such as "HSA_XNACK=1", or "HSA_XNACK=1+HSA_ENABLE_SDMA=0"; it is
 * an axis of every probe. Cells without it are measured in the environment that assay was started in. */
#ifndef AS_DEVICE_PROCESS_STATE_H
#define AS_DEVICE_PROCESS_STATE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define AS_STATE_AXIS "state"
enum { AS_STATE_SIZE = 48 /* of an axis value */, AS_STATES_MAX = 8 /* of one device in a run */ };

/* Writes the canonical text of a state for the backend of this device ("hip:0") or of this name ("hip"): variables in
 * the order of its table. AS_USAGE: malformed, or an unknown variable; names the nearest known one.
 * AS_UNSUPPORTED: variables of another backend. */
enum as_status as_state_parse(const char *device, const char *text, char out[static AS_STATE_SIZE],
                              struct as_error *err);
struct as_state_list {
    size_t n;
    char v[AS_STATES_MAX][AS_STATE_SIZE];
};
/* Adds the states of a comma-separated list that are of the device's backend, each once; those of other backends are
 * left out. device NULL: checks the list alone. */
enum as_status as_states_add(struct as_state_list *list, const char *device, const char *text, struct as_error *err);
bool as_states_have(const struct as_state_list *list, const char *state);
/* Sets the state's variables in this process, which must not have loaded the backend's libraries yet, nor have other
 * threads. Refuses what as_state_parse refuses. */
enum as_status as_state_enter(const char *device, const char *text, struct as_error *err);

#endif
