/* The engine: the parent's state during a run. Private to src/run. */
#ifndef AS_RUN_ENGINE_H
#define AS_RUN_ENGINE_H

#include "model/judge.h"
#include "plan/plan.h"
#include "quantity/quantity.h"
#include "run/run.h"
#include "run/worker_process.h"

/* Without a budget, trials beyond the rounds for a cell that stays wide. */
enum { AS_EXTRA_TRIALS = 5 };

struct as_slot {                /* one device of the run, in one process state; those without a state come first */
    struct as_device_info info; /* with the state */
    char *topology;             /* JSON, owned, may be NULL */
    struct as_worker worker;
    int is_open;
    double open_s; /* starting the worker and opening the device took so long; 0 unknown */
    int renewed;   /* workers that replaced one in good order (renewal.c), and what opening took in them */
    double renewing_s;
    bool hung;         /* opening it got no answer in time */
    char refused[256]; /* why it could not be opened in its process state at the start; "" it could */
    bool lost;         /* it cannot be reopened: `resume` measures its cells */
    double need_s;     /* minimum cost of its trials, sentinels excluded */
    int trials;        /* that need_s is of */
};

/* Groups of cells that share the time of a run, each inside the one before it. */
enum { AS_FAIR_ALL, AS_FAIR_MEMORY, AS_FAIR_KIND, AS_FAIR_LEVELS };
struct as_fair {
    size_t group; /* the first cell of its group, which has the following */
    bool has_next;
    size_t next;            /* the place of its next cell in the order */
    double spent_s, next_s; /* time of all trials; what decided for the next cell */
};

struct as_progress {              /* of one cell, beside the cell itself */
    struct as_slot *slot;         /* NULL: its device is gone */
    double prepare_s;             /* all but samples, of its last trial; 0 unknown */
    double fewest_s;              /* time of the fewest samples in its last trial; 0 unknown */
    double took_s;                /* all of its last trial; 0 unknown */
    int trials;                   /* number of the next trial */
    int counted;                  /* trials with samples that count */
    int over;                     /* gets no more trials: crashed, unsupported, skipped ... */
    bool left_out;                /* does not fit the budget */
    bool changed;                 /* changed since it was stored */
    int level;                    /* 0 is the last to be left out */
    size_t place;                 /* among the first: of its quantity in the data sheet */
    unsigned coarse;              /* bit of each axis: a coarse point of the grid, or the first allocator */
    enum as_quantity_order first; /* the table of quantities names it: before others */
    uint64_t arena;               /* cells of one arena follow one another */
    struct as_fair fair[AS_FAIR_LEVELS];
};

/* Trials that were measured and not yet stored (commits.c): no more than a second's. */
struct as_pending {
    struct {
        size_t cell, trial;
    } * v; /* owned */
    size_t n, cap;
    double next_at; /* as_now() of the next commit */
};

struct as_engine {
    struct as_store *store;
    const struct as_run_options *options;
    const char *program;
    struct as_run *run;
    struct as_slot *slots;
    size_t slots_n;
    struct as_cell *cells; /* sentinels are the last of them */
    struct as_progress *progress;
    struct as_trials *trials; /* of each cell, in memory as in the store */
    size_t cells_n, sentinels_first;
    struct as_judge_device *devices; /* one for each slot */
    struct as_judge judge;
    double start, deadline; /* as_now() times; deadline INFINITY without a budget */
    double measured_from;   /* the first trial, after what was compiled ahead */
    double measured_s;      /* of earlier parts of a resumed run */
    double sentinel_at;     /* when the next sentinels are due */
    double stopped_at;      /* as_wall() when a resumed run was left, as far as it tells; else 0 */
    int round, rounds;
    bool first_done;        /* the first round is through with the cells that a data sheet quotes */
    bool is_tight;          /* the budget holds no more than the fewest samples of a trial */
    size_t memory_failures; /* as_memory_failures() at the start: what is lost later must not look like a result */
    struct as_pending pending;
    bool lost; /* one device or more */
    int stopped;
};

/* What a run is to measure. (planning.c) */
struct as_planning {
    struct as_suite *suites;
    size_t suites_n;
    char name[64];
    struct as_slot *slots; /* opened */
    size_t slots_n;
    struct as_buf left_out; /* devices that "each" left out */
    struct as_run run;      /* precision, trials and budget */
    struct as_plan plan;
    size_t sentinels_first;
};
/* Undone by as_planning_finish, also where this fails. */
enum as_status as_planning_make(const struct as_run_options *o, struct as_planning *p, struct as_error *err);
void as_planning_close(struct as_planning *p); /* ends the workers; the run stays */
void as_planning_finish(struct as_planning *p);
/* A suite's budget is for the CPU and one device beside it: how often it counts. */
size_t as_budgets_of(const struct as_slot *slots, size_t n);
/* A new run: its UUID, time, command, seed, host, provenance and the slots' devices. The caller owns it. */
enum as_status as_engine_fill_run(struct as_run *run, const struct as_run_options *o, const char *suite,
                                  const struct as_slot *slots, size_t slots_n, struct as_error *err);
/* Every device gets its sentinels, behind the requested cells. */
enum as_status as_engine_add_sentinels(struct as_plan *plan, const struct as_slot *slots, size_t n, double precision,
                                       struct as_error *err);
/* A stored cell as it was planned, without numbers; refused if no plan could contain it. (again.c) */
enum as_status as_engine_plan_again(const struct as_cell *old, const struct as_slot *slot, struct as_cell *out,
                                    struct as_error *err);
/* Progress, judge and the deadline, of cells, slots and a run that are set; undone by as_engine_finish, also where this
 * fails. */
enum as_status as_engine_make(struct as_engine *e, struct as_error *err);
void as_engine_finish(struct as_engine *e);
/* Runs a stored plan to its stored end. */
enum as_status as_engine_carry_out(struct as_engine *e, struct as_run_result *result, struct as_error *err);
/* The end of it, once nothing more is measured. */
enum as_status as_engine_end(struct as_engine *e, struct as_run_result *result, struct as_error *err);
/* Does any of these devices measure the machine, which only one run may do at a time? */
bool as_engine_needs_lock(const struct as_slot *slots, size_t n);
/* Has the user stopped the run? */
bool as_engine_stopped(struct as_engine *e);

/* Opens the device of a slot in a new worker and fills info and topology. deadline: as_now() time. */
enum as_status as_slot_open(struct as_slot *slot, const char *program, double deadline,
                            const volatile sig_atomic_t *stop, struct as_error *err);
/* Reopens a device during a run, with retries within the budget; a device that stays unusable is lost, and its
 * remaining cells are skipped. AS_INTERRUPTED: stopped by the user or the budget. (lost_device.c) */
enum as_status as_engine_reopen(struct as_engine *e, struct as_slot *slot, struct as_error *err);
/* Between rounds: a new worker process for each device that has cells in order[0..n) in which processes differ, as far
 * as that is cheap. (renewal.c) */
void as_engine_renew_workers(struct as_engine *e, const size_t *order, size_t n);
/* Devices for a list such as "cpu,opencl", opened. "all": every one that can be used; "each" or "": every piece of
 * hardware once, by its native backend (as_found_same), and what that leaves out is said in left_out (which may be
 * NULL). any: of a list "cuda,hip,metal" those that can be used are opened, as a suite means it; AS_UNSUPPORTED with
 * each reason if there is none. Otherwise every word has to mean a device that can be used. */
enum as_status as_slots_open(const char *list, bool any, const char *program, const volatile sig_atomic_t *stop,
                             struct as_slot **slots, size_t *n, struct as_buf *left_out, struct as_error *err);
void as_slots_close(struct as_slot *slots, size_t n);
/* Adds a slot, not opened, that describes a device of the list in a process state, unless there is one. */
enum as_status as_slots_describe_state(struct as_slot **slots, size_t *n, const char *device, const char *state,
                                       const char *refused, struct as_error *err);
/* Adds a slot for an open device in a process state, unless there is one; refused like as_state_parse. Where the device
 * cannot be opened in that state, the slot has the reason and the description without the state. */
enum as_status as_slots_add_state(struct as_slot **slots, size_t *n, const char *device, const char *state,
                                  const char *program, const volatile sig_atomic_t *stop, struct as_error *err);
/* The same for the states of stored cells, whose devices are open. */
enum as_status as_slots_add_states_of(struct as_slot **slots, size_t *n, const struct as_cell *cells, size_t cells_n,
                                      const char *program, const volatile sig_atomic_t *stop, struct as_error *err);
/* The slot of a cell's device and state; NULL: there is none. */
struct as_slot *as_slot_of_cell(struct as_slot *slots, size_t n, const struct as_cell *cell);

enum { AS_COMPILE_WORTH = 8 };
/* Compiles the kernels of cells[0..n) in that order on all CPUs while nothing is measured, if the backend can
 * (as_backend.open_compiler), for at most this share of the time left; fewer than AS_COMPILE_WORTH are left to their
 * trials. Only saves time: a trial compiles what is missing. (precompile.c) */
void as_engine_compile_ahead(struct as_engine *e, const size_t *cells, size_t n, double share);
/* Is there something to compile before the cell can be measured fast? */
bool as_engine_compiles(const struct as_engine *e, const struct as_cell *cell);
/* Measures the remaining cells until they are precise, the budget is spent or the user stops. (schedule.c) */
enum as_status as_engine_measure(struct as_engine *e, struct as_error *err);
/* Once the budget is spent: skips the cells that have no trial, and says how many. (left_out.c) */
enum as_status as_engine_skip_unmeasured(struct as_engine *e, struct as_error *err);
/* Measures each cell once more alone in a fresh worker and notes in its detail whether it depended on its neighbours.
 * (isolate.c) */
enum as_status as_engine_isolate(struct as_engine *e, struct as_error *err);
/* Judges every cell from all trials of the run and stores those that changed. */
enum as_status as_engine_judge(struct as_engine *e, struct as_error *err);
/* Queues the last trial of a cell for the store; commits the queue when it is due. (commits.c) */
enum as_status as_engine_keep_last(struct as_engine *e, size_t index, struct as_error *err);
/* Before cells are stored, and at the end. */
enum as_status as_engine_store_pending(struct as_engine *e, struct as_error *err);
/* Judges one cell from the trials so far. (trial.c) */
struct as_judge_context as_engine_judge_context(const struct as_engine *e, size_t index);
enum as_status as_engine_judge_cell(struct as_engine *e, size_t index, struct as_error *err);

/* Levels and arenas of all cells. (order.c) */
enum as_status as_engine_rank(struct as_engine *e, struct as_error *err);
/* Puts cells into a random order in which those of one arena follow one another. By share: cells that a data sheet
 * quotes first, in the first round by their place; the others at lower levels and smaller ones first, which
 * as_engine_fair_next is to choose from. */
enum as_order { AS_ORDER_RANDOM, AS_ORDER_BY_SHARE, AS_ORDER_FIRST_ROUND };
void as_engine_shuffle(const struct as_engine *e, size_t *order, size_t n, uint64_t seed, enum as_order by);
/* The groups of all cells. (fair_order.c) */
enum as_status as_engine_group(struct as_engine *e, struct as_error *err);
/* Moves the cell whose turn it is to the front: of the probe's memory (its allocators) with the least time so far, and
 * there of the kind (values of all its word axes) with the least. A probe without allocators counts as one memory. */
void as_engine_fair_next(const struct as_engine *e, size_t *order, size_t n);
/* The most that an axis of the cell says; 0 where the memory is not filled. */
double as_engine_bytes_of(const struct as_cell *cell);
/* Cells whose intervals further trials narrow, those first where a second narrows most; how many into *n. */
void as_engine_by_gain(const struct as_engine *e, size_t *order, size_t *n);

/* AS_NOMEM when memory was short since the start. */
enum as_status as_engine_check_memory(const struct as_engine *e, struct as_error *err);
/* One trial of a cell (trial.c). share_s: time for its samples. */
enum as_status as_engine_trial(struct as_engine *e, size_t index, double share_s, struct as_error *err);
/* Adds a trial to its cell, judges the cell and queues both for the store; *trial is empty afterwards. */
enum as_status as_engine_add_trial(struct as_engine *e, size_t index, struct as_trial *trial, struct as_error *err);
/* Records the minimum cost of the cell's next trial from this one. */
void as_progress_keep_cost(struct as_progress *p, const struct as_trial *trial);
/* When the budget kills a worker that has not answered; INFINITY without a budget. */
double as_engine_cut_off(const struct as_engine *e);
/* Stores the cells that changed, and no others. */
enum as_status as_engine_store_changed(struct as_engine *e, struct as_error *err);
/* Of the cells of a stored run. */
void as_engine_find_sentinels(struct as_engine *e);
/* The unfinished run of this name (NULL: the last of this host that no other process measures), claimed, with its
 * cells; then, once its slots are open, all that a resumed run knows from its store (resume.c). */
enum as_status as_engine_claim_run(struct as_engine *e, const char *name, struct as_run *run, struct as_error *err);
enum as_status as_engine_take_up(struct as_engine *e, struct as_error *err);
/* Reads the stored trials of all cells, and what they took (resume.c). */
enum as_status as_engine_load(struct as_engine *e, struct as_error *err);
void as_engine_event(struct as_engine *e, enum as_event_kind kind, const struct as_cell *cell,
                     const struct as_trial *trial, const char *text);
/* A note before the engine has a run. */
void as_event_note(const struct as_run_options *options, const char *text);
struct as_slot *as_engine_slot(const struct as_engine *e, const struct as_cell *cell);

#endif
