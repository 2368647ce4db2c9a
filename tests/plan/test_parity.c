/* What a suite plans for one GPU backend it plans for the others too, unless the backend gives a reason. The devices
 * are those of the stand-ins for the driver libraries. */
#include "base/text.h"
#include "device/device.h"
#include "device/process_state.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

enum { GPUS_MAX = 4 };
static struct as_device_info gpus[GPUS_MAX];
static size_t gpus_n;

static int open_all(void **state)
{
    static const char *const ids[] = {"cuda:0", "hip:0", "opencl:0", "metal:0"};
    (void)state;
    for (size_t i = 0; i < GPUS_MAX; i++) {
        struct as_opened o;
        struct as_error err = {0};
        const struct as_backend *backend = as_backend_find(ids[i]);
        if (!backend || backend->unbuilt)
            continue;
        if (as_device_open(ids[i], &o, &err))
            fail_msg("%s: %s", ids[i], err.text);
        gpus[gpus_n] = o.device.info;
        if (gpus[gpus_n].compute_units == 0) { /* a driver that reports less than others is no gap */
            gpus[gpus_n].compute_units = 8;
            gpus[gpus_n].workgroup_shared = 64 << 10;
        }
        gpus_n++;
        as_device_close(&o);
    }
    return gpus_n < 2;
}

/* Cells of one grid. why: the probe's reason for the cells left out. */
static size_t cells_of(const struct as_suite *suite, size_t grid, bool everywhere, const struct as_device_info *info,
                       char why[256])
{
    static char all[128];
    struct as_grid one = suite->grids[grid];
    struct as_suite alone = {.grids = &one,
                             .grid_devices = everywhere ? &all : &suite->grid_devices[grid],
                             .grids_n = 1,
                             .precision = suite->precision};
    struct as_plan plan = {0};
    struct as_error err = {0};
    if (everywhere)
        one.devices[0] = 0;
    if (as_plan_add(&plan, &alone, info, NULL, 0, &err))
        fail_msg("%s: %s", suite->name, err.text);
    const size_t n = plan.n;
    snprintf(why, 256, "%s", plan.pruned);
    as_plan_finish(&plan);
    return n;
}

static const char *expression(const struct as_grid *grid, const struct as_axis *axis)
{
    for (size_t i = 0; i < grid->n; i++)
        if (strcmp(grid->axis[i].name, axis->name) == 0)
            return grid->axis[i].expr;
    return axis->def;
}

/* Does every item of an expression name such an allocator? */
static bool each_is(const struct as_axis *axis, const char *expr, const struct as_device_info *info,
                    bool (*is)(const struct as_axis *, const char *, const struct as_device_info *))
{
    char text[256], *save = NULL;
    snprintf(text, sizeof text, "%s", expr);
    for (char *item = strtok_r(text, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        item += strspn(item, " ");
        if (!is(axis, item, info))
            return false;
    }
    return true;
}

static bool is_no_name(const struct as_axis *axis, const char *item, const struct as_device_info *info)
{
    (void)info;
    for (const char *const *w = axis->words; w && *w; w++)
        if (strcmp(*w, item) == 0)
            return true;
    return strcmp(item, "all") == 0 || strcmp(item, "first") == 0 || strcmp(item, "largest_pages") == 0 ||
           as_role_find(item) != AS_ROLE_UNKNOWN;
}

static bool is_absent_role(const struct as_axis *axis, const char *item, const struct as_device_info *info)
{
    const enum as_role role = as_role_find(item);
    (void)axis;
    for (size_t i = 0; i < info->allocators_n; i++)
        if (info->allocators[i].role == role)
            return false;
    return role != AS_ROLE_UNKNOWN;
}

/* Does the backend lack all allocators of the roles that an axis names? */
static bool lacks_roles(const struct as_grid *grid, const struct as_device_info *info)
{
    for (const struct as_axis *a = grid->probe->axes; a->name; a++)
        if (a->domain == AS_DOMAIN_ALLOCATOR && each_is(a, expression(grid, a), info, is_absent_role))
            return true;
    return false;
}

/* Are all states of the grid of other runtimes? */
static bool lacks_states(const struct as_grid *grid, const struct as_device_info *info)
{
    struct as_state_list states = {0};
    return grid->states[0] && !as_states_add(&states, info->id, grid->states, NULL) && states.n == 0;
}

static void print_gap(const struct as_suite *suite, const struct as_grid *grid, const struct as_device_info *info,
                      const char *why)
{
    print_message("%ssuite %s, %s:", why ? "" : "GAP: ", suite->name, grid->probe->name);
    for (size_t i = 0; i < grid->n; i++)
        print_message(" %s=%s", grid->axis[i].name, grid->axis[i].expr);
    print_message(": no cell on %s: %s\n", info->id, why ? why : "no reason is given");
}

/* Does another section of the suite have cells of this probe for the device? */
static bool has_elsewhere(const struct as_suite *suite, const struct as_probe *probe, const struct as_device_info *info)
{
    char why[256];
    for (size_t i = 0; i < suite->grids_n; i++)
        if (suite->grids[i].probe == probe && cells_of(suite, i, false, info, why))
            return true;
    return false;
}

/* Why a grid that has cells on another backend has none here; NULL if there is no reason. pruned: the probe's
 * reason. */
static const char *reason(const struct as_suite *suite, size_t g, const struct as_device_info *info, const char *pruned)
{
    const struct as_grid *grid = &suite->grids[g];
    char unused[256];
    if (cells_of(suite, g, true, info, unused)) /* excluded by a list of devices */
        return has_elsewhere(suite, grid->probe, info) ? "other grids of this probe are for it" : NULL;
    if (pruned[0])
        return pruned;
    if (lacks_states(grid, info))
        return "its runtime has none of these states";
    return lacks_roles(grid, info) ? "it has no allocator of these roles" : NULL;
}

/* Prints the grids that have no cell on one GPU but cells on another, with and without a reason; counts those
 * without. */
static size_t count_gaps(const struct as_suite *suite)
{
    size_t gaps = 0;
    for (size_t g = 0; g < suite->grids_n; g++) {
        char pruned[GPUS_MAX][256];
        size_t n[GPUS_MAX], most = 0;
        for (size_t i = 0; i < gpus_n; i++) {
            n[i] = cells_of(suite, g, false, &gpus[i], pruned[i]);
            most = n[i] > most ? n[i] : most;
        }
        for (size_t i = 0; i < gpus_n && most; i++) {
            const char *why = n[i] ? "" : reason(suite, g, &gpus[i], pruned[i]);
            if (n[i])
                continue;
            gaps += !why;
            print_gap(suite, &suite->grids[g], &gpus[i], why);
        }
    }
    return gaps;
}

static void parse_suite(const char *name, const char *text, struct as_suite *suite)
{
    struct as_error err = {0};
    if (as_suite_parse(name, text, suite, &err))
        fail_msg("%s", err.text);
}

UNIT_TEST(test_suites_are_alike)
{
    size_t gaps = 0;
    for (size_t i = 0; as_suite_texts[i].name; i++) {
        struct as_suite suite;
        parse_suite(as_suite_texts[i].name, as_suite_texts[i].text, &suite);
        gaps += count_gaps(&suite);
        as_suite_finish(&suite);
    }
    assert_int_equal(gaps, 0);
}

static size_t gaps_of(const char *text)
{
    struct as_suite suite;
    parse_suite("planted", text, &suite);
    const size_t gaps = count_gaps(&suite);
    as_suite_finish(&suite);
    return gaps;
}

/* The test detects planted gaps. */
UNIT_TEST(test_planted_gaps)
{
    assert_int_equal(gaps_of("[copy]\nfrom = device\nto = host\n"), 0);
    assert_int_equal(gaps_of("[copy]\nfrom = cuMemAlloc\nto = host\n"), gpus_n - 1);
    assert_int_equal(gaps_of("[copy]\nfrom = hipMalloc,cuMemAlloc\nto = host\n"), gpus_n - 2);
    assert_int_equal(gaps_of("[bandwidth]\nop = triad\ndevices = cuda\n"), gpus_n - 1);
    assert_int_equal(gaps_of("[bandwidth]\nop = triad\ndevices = cuda\n[bandwidth.all]\nop = triad\n"), 0);
    assert_int_equal(gaps_of("[bandwidth]\nallocator = managed_prefetch\nthreads = 0\n"), 0);
}

/* A CPU probe that also names CPU allocators gives the reason. */
UNIT_TEST(test_foreign_allocator)
{
    struct as_suite suite;
    struct as_plan plan = {0};
    struct as_error err = {0};
    parse_suite("planted", "[refill]\nwhat = alias\nallocator = huge_pages\n", &suite);
    assert_int_equal(as_plan_add(&plan, &suite, &gpus[0], NULL, 0, &err), AS_OK);
    assert_int_equal(plan.n, 0);
    assert_non_null(strstr(plan.foreign, "measured by native kernels of the CPU"));
    as_plan_finish(&plan);
    as_suite_finish(&suite);
}

/* An axis whose expression names an allocator of one API; NULL if there is none. */
static const char *names_an_api(const struct as_suite *suite)
{
    for (size_t g = 0; g < suite->grids_n; g++)
        for (const struct as_axis *a = suite->grids[g].probe->axes; a->name; a++)
            if (a->domain == AS_DOMAIN_ALLOCATOR && !each_is(a, expression(&suite->grids[g], a), NULL, is_no_name))
                return expression(&suite->grids[g], a);
    return NULL;
}

static void check_names(const char *name, const char *text)
{
    struct as_suite suite;
    parse_suite(name, text, &suite);
    const char *named = names_an_api(&suite);
    if (named)
        fail_msg("%s: '%s' names an API's allocator instead of its role", name, named);
    as_suite_finish(&suite);
}

/* A list beside a role hides a name from the count of cells. */
UNIT_TEST(test_nothing_names_an_api)
{
    struct as_suite planted;
    for (size_t i = 0; as_suite_texts[i].name; i++)
        check_names(as_suite_texts[i].name, as_suite_texts[i].text);
    for (size_t i = 0; as_probes[i]; i++) {
        char text[128];
        snprintf(text, sizeof text, "[%s]\ngrids = quick\n[%s.full]\ngrids = full\n", as_probes[i]->name,
                 as_probes[i]->name);
        check_names(as_probes[i]->name, text);
    }
    parse_suite("planted", "[copy]\nfrom = device, hipMalloc\nto = host\n", &planted);
    assert_string_equal(names_an_api(&planted), "device, hipMalloc");
    as_suite_finish(&planted);
}

/* One role, as in its backend's table. */
UNIT_TEST(test_every_allocator_has_a_role)
{
    for (size_t i = 0; i < gpus_n; i++)
        for (size_t k = 0; k < gpus[i].allocators_n; k++) {
            const struct as_allocator *a = &gpus[i].allocators[k];
            if (a->role == AS_ROLE_UNKNOWN)
                fail_msg("'%s' of %s has no role", a->name, gpus[i].id);
            assert_int_equal(as_allocator_role(gpus[i].id, a->name), a->role);
        }
    for (size_t b = 0; as_backends[b]; b++)
        for (const struct as_role_name *r = as_backends[b]->roles; r->allocator; r++)
            for (const struct as_role_name *other = as_backends[b]->roles; other < r; other++)
                assert_string_not_equal(other->allocator, r->allocator);
}

static bool has_state_of(const struct as_plan *plan, const char *variable)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strstr(as_axes_text(&plan->cells[i].axes, AS_STATE_AXIS), variable))
            return true;
    return false;
}

/* What a runtime reads of its environment is measured by suite upm, with the variable set. */
UNIT_TEST(test_every_state_is_in_upm)
{
    struct as_suite upm;
    struct as_error err = {0};
    if (as_suite_find("upm", &upm, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < gpus_n; i++) {
        const char *const *variables = as_backend_find(gpus[i].id)->environment;
        struct as_state_list states = {0};
        if (as_plan_states(&upm, &gpus[i], NULL, 0, &states, &err))
            fail_msg("%s", err.text);
        for (; variables && *variables; variables++) {
            size_t planned = 0;
            for (size_t k = 0; k < states.n; k++) {
                struct as_device_info info = gpus[i];
                struct as_plan plan = {0};
                as_copy_text(info.state, sizeof info.state, states.v[k]);
                if (as_plan_add(&plan, &upm, &info, NULL, 0, &err))
                    fail_msg("%s", err.text);
                planned += has_state_of(&plan, *variables);
                as_plan_finish(&plan);
            }
            if (!planned && strncmp(*variables, "ASSAY_", 6) != 0) /* assay's own compares its ways */
                fail_msg("suite upm has no state of %s", *variables);
        }
    }
    as_suite_finish(&upm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_state_is_in_upm), cmocka_unit_test(test_suites_are_alike),
        cmocka_unit_test(test_planted_gaps),          cmocka_unit_test(test_foreign_allocator),
        cmocka_unit_test(test_nothing_names_an_api),  cmocka_unit_test(test_every_allocator_has_a_role),
    };
    return cmocka_run_group_tests(tests, open_all, NULL);
}
