/* What suites and full grids plan on the stand-ins of the machines of published studies, with a value for every planned
 * cell. */
#ifndef TESTS_FACTS_PLANNED_H
#define TESTS_FACTS_PLANNED_H

#include "facts/refs_facts.h"
#include "plan/plan.h"
#include "report/operations/refs_cells.h"

/* A machine and how assay is started on it. refs: the set of figures that the machine is of, or how its name begins;
 * devices: what --device takes; stand_in: FAKE_HIP of it */
struct planned_start {
    const char *refs, *devices[3], *stand_in;
};
extern const struct planned_start planned_starts[]; /* ends with a NULL refs */

enum { PLANNED_INFOS_MAX = 10 };
/* Its devices, each as it was started, and behind these in the states in which suites measure it. */
struct planned_machine {
    struct as_device_info info[PLANNED_INFOS_MAX];
    size_t n, devices_n;
};

/* Describes a machine of the study's size. */
enum as_status planned_open(const struct planned_start *start, struct planned_machine *m, struct as_error *err);
/* Adds what a suite plans, from its text. */
enum as_status planned_add(struct as_plan *plan, const char *name, const char *text, const struct planned_machine *m,
                           struct as_error *err);
/* Adds all suites and the full grids of probes, but those too large. */
enum as_status planned_add_all(struct as_plan *plan, const struct planned_machine *m, struct as_error *err);
/* Gives every planned cell a value. Returns how many. */
size_t planned_measure(struct as_plan *plan);
/* The facts derived from it; *facts is the caller's (free). */
enum as_status planned_derive(const struct as_plan *plan, const struct planned_machine *m, struct as_fact **facts,
                              size_t *n, struct as_error *err);
/* Is there a cell with these axes (as_ref_cells_find)? */
bool planned_has(const struct as_ref_cells *cells, const struct as_ref *ref);

#endif
