/* The budget that a run asks for where its own did not suffice: a second run with it measures everything. On a
 * simulated machine with the parent's clock scripted: what a trial costs follows from the script alone. */
#include "fixture.h"

#include "run/run.h"
#include "scripted_clock.h"

#include <jansson.h>
#include <math.h>

/* What trials cost beside their samples. */
static const struct cost {
    const char *name;
    double per_trial_s, per_byte_s; /* of every trial; of its size */
    double first_s;                 /* the run's start, until its first trial */
    double budget_s;                /* that does not suffice */
} costs[] = {
    {"samples alone", 0, 0, 0, 2},        {"a trial's preparation", 0.2, 0, 0, 22},
    {"filling memory", 0.02, 2e-6, 0, 8}, {"filling memory, the costliest left out", 0.02, 2e-6, 0, 14},
    {"a slow start", 0.05, 0, 3, 10},     {"a slow start and filling memory", 0.01, 8e-6, 2, 40},
};
enum { COSTS = sizeof costs / sizeof *costs };

static const char suite_text[] = "[suite]\nbudget = 1s\ntrials = 3\n"
                                 "[latency]\nsize = 1KiB..256KiB x6\n"
                                 "[bandwidth]\nop = read\nlevel = sweep\nsize = 4KiB..256KiB x3\n";

struct bench {
    const struct cost *cost;
    bool has_begun;
};

static void on_event(void *user, const struct as_event *event)
{
    struct bench *b = user;
    if (event->kind != AS_EVENT_CELL_END)
        return;
    if (!b->has_begun)
        clock_pass(b->cost->first_s);
    b->has_begun = true;
    clock_pass(event->trial->duration_s);
    if (strcmp(event->cell->probe, "sentinel") != 0)
        clock_pass(b->cost->per_trial_s + b->cost->per_byte_s * as_axes_number(&event->cell->axes, "size"));
}

/* The budget that a run with this one asks for; 0: it measured everything, NAN: it cannot tell. */
static double hint_of(struct fixture *f, const char *suite, const struct cost *cost, double budget_s, uint64_t seed)
{
    struct bench b = {.cost = cost};
    const struct as_run_options options = {.suites = &suite,
                                           .suites_n = 1,
                                           .devices = "null",
                                           .precision = 0.5,
                                           .budget_s = budget_s,
                                           .seed = seed,
                                           .has_seed = 1,
                                           .event = on_event,
                                           .user = &b};
    struct as_run_result result;
    struct as_run run = {0};
    clock_script(0);
    check(f, as_run_start(f->store, &options, &result, &f->err));
    clock_real();
    check(f, as_store_run(f->store, "last", &run, &f->err));
    json_t *left_out = run.left_out ? json_loads(run.left_out, 0, NULL) : NULL;
    const json_t *hint = json_object_get(left_out, "budget_s_for_all");
    const double hint_s = !run.left_out ? 0 : hint ? json_number_value(hint) : NAN;
    json_decref(left_out);
    as_run_finish(&run);
    return hint_s;
}

static void test_hint_suffices(void **state)
{
    struct fixture *f = *state;
    char script[128], suite[128], text[512];
    size_t failed = 0;
    snprintf(script, sizeof script, "%s/script.json", f->folder);
    snprintf(suite, sizeof suite, "%s/suite.ini", f->folder);
    write_text(suite, suite_text, strlen(suite_text));
    assert_int_equal(setenv("ASSAY_NULL", script, 1), 0);
    must_open(f, AS_STORE_WRITE);
    for (size_t c = 0; c < COSTS; c++) {
        const uint64_t seed = 1 + c;
        const int n = snprintf(text, sizeof text,
                               "{\"seed\":%d,\"machine\":{},\"execute\":\"once\",\"noise\":{\"sd\":0.02},"
                               "\"levels\":[{\"size\":0,\"ns\":4000,\"gbs\":10}],"
                               "\"info\":{\"threads\":1,\"compute_units\":1,\"allocators\":[{\"name\":\"mmap\"}]}}",
                               (int)seed);
        write_text(script, text, (size_t)n);
        const double hint_s = hint_of(f, suite, &costs[c], costs[c].budget_s, seed);
        const double then_s = hint_s > 0 ? hint_of(f, suite, &costs[c], hint_s, seed + 100) : 0;
        print_message("%s, %g s: %g s, then %g s\n", costs[c].name, costs[c].budget_s, hint_s, then_s);
        failed += !(hint_s > 0) || then_s != 0;
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_hint_suffices, set_up, tear_down)};
    return cmocka_run_group_tests_name("run: hinted budgets", tests, NULL, NULL);
}
