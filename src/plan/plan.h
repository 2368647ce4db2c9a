/* Plan: suites, grids and axis expressions in, planned cells out. Runs in the parent; touches no device. */
#ifndef AS_PLAN_PLAN_H
#define AS_PLAN_PLAN_H

#include "base/builtin.h"
#include "model/cell.h"
#include "probe/axis.h"

/* One grid of one probe: axis expressions, not yet resolved. */
struct as_grid_axis {
    char name[24];
    char expr[256];
};
struct as_grid {
    const struct as_probe *probe;
    double precision; /* requested; 0: the suite's */
    bool fit;         /* what does not fit the memory is measured at the largest size that does */
    char devices[64]; /* overrides the section's devices; "" all */
    char states[256]; /* of processes (device/process_state.h), a list; "": as assay was started */
    size_t n;
    struct as_grid_axis axis[AS_AXES_MAX];
};

// clang-format off
/* A suite as data (suites/NAME.ini, built in; or a file named by the user).
 *   [suite]                     title=, budget=60s (for the CPU and one device, plus the same for each further device),
 *                               budget_per_device=30s, precision=5%, trials=3, devices=cpu,opencl;
 *                               fallback_state=HSA_XNACK=1: memory of allocators that no process without a
 *                               state can measure is measured in processes with this one
 *   [latency], [latency.NAME]   one grid: axis = expression; grids = quick|full takes the probe's own; devices = ...;
 *                               precision = ... for the cells of this section; state = HSA_XNACK=0,HSA_XNACK=1
 *                               measures each of them in worker processes with that environment (process_state.h);
 *                               fit = yes: a size, number of pages or of elements that does not fit the memory is
 *                               halved until it does */
// clang-format on
struct as_suite {
    char name[64];
    char title[160];
    double budget_s;         /* 0 none */
    double precise_budget_s; /* instead of it where the user asks for a precision; 0: the same */
    double device_budget_s;  /* plus this per device */
    double precision;
    int trials;
    char devices[128];         /* list, or "" for every piece of hardware once */
    char fallback_states[96];  /* list, or "" */
    struct as_grid *grids;     /* owned */
    char (*grid_devices)[128]; /* per grid, "" for the suite's; owned */
    size_t grids_n;
};
/* text: INI of at most 64 KiB. Unknown probes and axes are refused with the nearest name. */
enum as_status as_suite_parse(const char *name, const char *text, struct as_suite *out, struct as_error *err);
void as_suite_finish(struct as_suite *s);
/* The devices of suites that run together: the union of their lists; "each" if none has a list. */
void as_suites_devices(const struct as_suite *suites, size_t n, struct as_buf *out);
/* Parses "probe:NAME" and "suite:NAME"; a plain name may be either. */
const char *as_suite_or_probe(const char *word, bool *suite, bool *probe);
/* Is it, by its plain name or "suite:NAME", a built-in suite? */
bool as_suite_is_built_in(const char *word);
/* Loads a built-in suite, a probe (its quick grids), or an .ini file by path. A name that is both means the
 * suite; the prefixes "probe:" and "suite:" choose explicitly. */
enum as_status as_suite_find(const char *name, struct as_suite *out, struct as_error *err);
/* Built-in suites for `list suites`: name and text; terminated by a NULL name. */
extern const struct as_builtin_text as_suite_texts[];

struct as_plan {
    struct as_cell *cells; /* owned; status planned, or unsupported with a reason */
    size_t n;
    size_t fitted;     /* cells that are smaller than asked, since that does not fit the memory (as_grid.fit) */
    char pruned[256];  /* why probes left out grid points, the first reason per device; "" if none */
    char foreign[256]; /* likewise for grids whose allocators the device lacks: why other allocators do not work either
                        */
};
/* Adds the cells of a suite for one device, those of its process state (as_device_info.state) alone; a device without a
 * state comes first, and has the cells of the states that it is in anyway. sets:
 * "axis=expression" strings that override grids ("probe.axis=expr" for one probe only). A cell planned several times
 * gets the tightest precision. At most 100,000 cells. */
enum as_status as_plan_add(struct as_plan *plan, const struct as_suite *suite, const struct as_device_info *info,
                           const char *const *sets, size_t sets_n, struct as_error *err);
void as_plan_finish(struct as_plan *plan);
/* "3 measurements are reduced to fit in memory"; nothing where none is. */
void as_plan_say_fitted(const struct as_plan *plan, struct as_buf *out);
/* Adds the states in which a suite, with these sets, measures a device, but those that it is in anyway. */
enum as_status as_plan_states(const struct as_suite *suite, const struct as_device_info *info, const char *const *sets,
                              size_t sets_n, struct as_state_list *out, struct as_error *err);

/* Sets axis name of a grid to an expression. AS_USAGE with the nearest name for an unknown axis. */
enum as_status as_grid_set(struct as_grid *grid, const char *name, const char *expr, struct as_error *err);
/* Names of the probes that are not hidden; ends with NULL; valid until the next call. */
const char *const *as_probe_names(void);
/* Refuses "axis=expr" strings that are invalid for these suites: no "=", an axis that no probe of the suites
 * has, an allocator that no device has. */
enum as_status as_plan_check_sets(const struct as_suite *suites, size_t suites_n, const struct as_device_info *infos,
                                  size_t infos_n, const char *const *sets, size_t sets_n, struct as_error *err);

/* Of one such expression: an unknown name is refused with the nearest one, and so are roles alone of which no device
 * has an allocator, with what there is. */
enum as_status as_plan_check_allocators(const struct as_axis *axis, const char *expr,
                                        const struct as_device_info *infos, size_t infos_n, struct as_error *err);

/* Whether this point of a probe's grid applies to the device and its capabilities. err: the reason if not, if known. */
enum as_applies as_plan_applies(const struct as_probe *probe, const struct as_axes *axes,
                                const struct as_device_info *info, struct as_error *err);
/* Checks a cell from an untrusted source. AS_USAGE: this build has no such probe, or an axis is unknown,
 * missing or has an invalid value. AS_UNSUPPORTED: the device cannot measure it, with the reason of as_plan_applies. */
enum as_status as_plan_check(const char *probe, const struct as_axes *axes, const struct as_device_info *info,
                             struct as_error *err);
/* The same for a stored cell, which must also match the device and the unit of this build's probe. */
enum as_status as_plan_check_cell(const struct as_cell *cell, const struct as_device_info *info, struct as_error *err);

#endif
