#include "cli/options/run_request.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A budget of 0 means no limit; less than a second is refused. */
static enum as_status request_parse_budget(const char *text, double *out, struct as_error *err)
{
    enum as_status st = as_parse_duration(text, out, err);
    if (!st && *out > 0 && *out < 1)
        st = as_fail(err, AS_USAGE, "'%s' is less than a second; give 0 for no time limit", text);
    return st;
}

static const struct as_args_range precision_range = {as_parse_percent, 0.0001, 1, "0.01% to 100%"};
const struct as_args_range as_budget_range = {request_parse_budget, 0, 30 * 86400.0, "0 to 720h"};

static enum as_status request_read_options(const struct as_args *args, struct as_run_options *o, struct as_error *err)
{
    uint64_t trials = 0;
    o->precision = NAN;
    o->budget_s = NAN;
    o->devices = as_args_value(args, "device");
    o->isolate = as_args_flag(args, "isolate");
    o->has_seed = as_args_flag(args, "seed");
    enum as_status st = as_args_number(args, "precision", &precision_range, &o->precision, err);
    if (!st)
        st = as_args_number(args, "budget", &as_budget_range, &o->budget_s, err);
    if (!st)
        st = as_args_u64(args, "seed", 0, UINT64_MAX, &o->seed, err);
    if (!st)
        st = as_args_u64(args, "trials", 1, 100, &trials, err);
    o->trials = (int)trials;
    return st;
}

/* Rejects wrong names before a store is created. */
static enum as_status request_check_names(const char *const *names, size_t n, struct as_error *err)
{
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        struct as_suite suite;
        st = as_suite_find(names[i], &suite, err);
        if (st && names[i][0] == 'x' && names[i][1] && !names[i][1 + strspn(names[i] + 1, "0123456789")])
            st = as_fail(err, AS_USAGE,
                         "there is no suite or probe '%s'; as the steps of --set it needs quotes: "
                         "--set 'AXIS=FROM..TO %s'",
                         names[i], names[i]);
        if (!st)
            as_suite_finish(&suite);
    }
    return st;
}

enum as_status as_run_request_read(const struct as_args *args, struct as_run_request *out, struct as_error *err)
{
    static const char *const quick[] = {"quick", NULL};
    struct as_run_options *o = &out->options;
    *out = (struct as_run_request){0};
    enum as_status st = request_read_options(args, o, err);
    if (!st)
        st = as_args_values(args, "set", &out->sets, &o->sets_n, err);
    o->sets = out->sets;
    o->suites = args->words ? args->word : quick;
    o->suites_n = args->words ? args->words : 1;
    return st ? st : request_check_names(o->suites, o->suites_n, err);
}

void as_run_request_finish(struct as_run_request *r)
{
    free(r->sets);
    *r = (struct as_run_request){0};
}
