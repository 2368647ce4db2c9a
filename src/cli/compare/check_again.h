/* Measures again what 'assay check' found worse. */
#ifndef AS_CLI_CHECK_AGAIN_H
#define AS_CLI_CHECK_AGAIN_H

#include "cli/cli.h"
#include "cli/compare/check_output.h"

/* Checks the lines of c that are worse anew by its runs and repeats, without measuring. */
enum as_status as_check_stored(struct as_checked *c, struct as_error *err);
/* Checks the lines of c that are worse anew with the repeats in c->repeats. What these leave open is measured again
 * where the checked side has the last run of the store, of this machine; else c->not_again says why not.
 * AS_INTERRUPTED: stopped by the user, which was said. */
enum as_status as_check_again(const struct as_args *args, double budget_s, struct as_checked *c, struct as_error *err);

#endif
