/* Suite files: parsed or refused with a reason, and a suite that was accepted names only what there is. */
#include "core/plan.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_suite(const struct as_suite *suite)
{
    fuzz_require(suite->grids_n >= 1 && suite->grids_n <= 256, "a suite without grids, or with too many");
    fuzz_require(suite->precision > 0 && suite->precision <= 1, "a precision that is none");
    fuzz_require(suite->visits >= 1 && suite->visits <= 100, "visits out of range");
    fuzz_require(suite->budget_s >= 0, "a budget below zero");
    for (size_t i = 0; i < suite->grids_n; i++) {
        const struct as_grid *g = &suite->grids[i];
        fuzz_require(g->probe != NULL && g->n <= AS_AXES_MAX, "a grid without probe or with too many axes");
        for (size_t k = 0; k < g->n; k++) {
            fuzz_require(as_probe_axis(g->probe, g->axis[k].name) != NULL, "an axis that the probe lacks");
            fuzz_require(g->axis[k].expr[0] != 0, "an empty expression");
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct as_suite suite;
    struct as_error err = {0};
    enum as_status s = as_suite_parse("fuzz", text, &suite, &err);
    if (s == AS_OK)
        check_suite(&suite);
    else
        fuzz_require(err.text[0] != 0 && err.code == s, "refused without a reason");
    as_suite_finish(&suite);
    free(text);
    return 0;
}
