/* assay fleet links: links between the nodes of a launch, into rank 0's store. */
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/fleet/fleet_verbs.h"
#include "cli/options/session.h"
#include "fleet/fleet_job.h"
#include "fleet/fleet_links.h"
#include "model/number.h"
#include "run/direct_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALL_PAIRS_UP_TO = 16, TRIALS = 5, HOST_BYTES = 64 };
static const double PRECISION = 0.05, SAMPLE_S = 2e-3;
/* Of each pair, and of all ranks together. */
static const char *const of_pairs[][2] = {{"latency", "8"}, {"bandwidth", "256KiB"}, {"both", "256KiB"}};
static const char *const of_all[][2] = {{"bisection", "256KiB"}, {"allreduce", "8,256KiB"}};

struct links {
    const struct as_args *args;
    struct as_mpi mpi;
    char (*hosts)[HOST_BYTES]; /* owned; of each rank; of rank 0 */
    struct as_link_rank rank;
    struct as_run_request request;
    struct as_plan plan;
    struct as_direct_run *run;
    const volatile sig_atomic_t *stop;
    bool quiet, whole;
};

/* Cells of a pair, or of all ranks, by the words of an axis and sizes. */
static enum as_status plan_links(struct links *l, const struct as_device_info *info, const char *const words[2],
                                 const int ranks[2], struct as_error *err)
{
    struct as_grid grid = {.probe = as_probe_find("node_link")};
    char devices[1][128] = {""}, from[16], to[16];
    const struct as_suite suite = {
        .grids = &grid, .grids_n = 1, .grid_devices = devices, .precision = l->request.options.precision};
    snprintf(from, sizeof from, "%d", ranks[0]);
    snprintf(to, sizeof to, "%d", ranks[1]);
    enum as_status st = as_grid_set(&grid, "what", words[0], err);
    if (!st)
        st = as_grid_set(&grid, "size", words[1], err);
    if (!st)
        st = as_grid_set(&grid, "from", from, err);
    if (!st)
        st = as_grid_set(&grid, "to", to, err);
    if (!st)
        st = as_plan_add(&l->plan, &suite, info, l->request.options.sets, l->request.options.sets_n, err);
    return st;
}

static enum as_status plan_all(struct links *l, const struct as_device_info *info, struct as_error *err)
{
    int(*pairs)[2] = NULL;
    size_t n = 0;
    const int all[2] = {0, l->mpi.size - 1};
    enum as_status st = as_link_pairs(l->mpi.size, ALL_PAIRS_UP_TO, l->request.options.seed, &pairs, &n, err);
    for (size_t i = 0; i < n && !st; i++)
        for (size_t k = 0; k < sizeof of_pairs / sizeof *of_pairs && !st; k++)
            st = plan_links(l, info, of_pairs[k], pairs[i], err);
    for (size_t k = 0; k < sizeof of_all / sizeof *of_all && !st; k++)
        st = plan_links(l, info, of_all[k], all, err);
    free(pairs);
    if (!st && !l->plan.n)
        st = as_fail(err, AS_USAGE, "nothing to measure: %s", l->plan.pruned);
    return st;
}

static uint64_t largest(const struct as_plan *plan)
{
    uint64_t most = 0;
    for (size_t i = 0; i < plan->n; i++)
        if (as_axes_u64(&plan->cells[i].axes, "size") > most)
            most = as_axes_u64(&plan->cells[i].axes, "size");
    return most;
}

/* Rank 0 learns the hosts. */
static enum as_status gather_hosts(struct links *l, struct as_error *err)
{
    char own[HOST_BYTES] = "";
    if (gethostname(own, sizeof own - 1))
        own[0] = 0;
    l->hosts = calloc((size_t)l->mpi.size, sizeof *l->hosts);
    if (!l->hosts)
        return as_nomem(err, (size_t)l->mpi.size * sizeof *l->hosts, "host names");
    if (l->mpi.rank)
        as_mpi_send(&l->mpi, own, sizeof own, 0);
    else
        memcpy(l->hosts[0], own, sizeof own);
    for (int i = 1; i < l->mpi.size && !l->mpi.rank; i++) {
        as_mpi_recv(&l->mpi, l->hosts[i], HOST_BYTES, i);
        l->hosts[i][HOST_BYTES - 1] = 0;
    }
    return AS_OK;
}

static struct as_link_task task_of(const struct as_cell *c, uint64_t seed)
{
    const struct as_axis *what = as_probe_axis(as_probe_find("node_link"), "what");
    struct as_link_task t = {.first = (int32_t)as_axes_u64(&c->axes, "from"),
                             .second = (int32_t)as_axes_u64(&c->axes, "to"),
                             .size = as_axes_u64(&c->axes, "size"),
                             .seed = (int32_t)(seed & 0xffff),
                             .sample_s = SAMPLE_S};
    while (what->words[t.what] && strcmp(what->words[t.what], as_axes_text(&c->axes, "what")) != 0)
        t.what++;
    return t;
}

static void add_hosts(const struct links *l, const struct as_link_task *t, struct as_buf *out)
{
    as_json_add_text(out, "from", l->hosts[t->first]);
    as_json_add_text(out, "to", l->hosts[t->second]);
}

static enum as_status measure_link(struct links *l, size_t index, uint64_t seed, struct as_error *err)
{
    size_t n = 0;
    const struct as_link_task task = task_of(&as_direct_run_cells(l->run, &n)[index], seed);
    struct as_link_result result;
    struct as_buf detail = AS_BUF_INIT;
    struct as_trial trial = {
        .status = AS_CELL_OK, .started_at = as_wall(), .clock_hz = NAN, .clock_lo = NAN, .clock_hi = NAN, .limit = NAN};
    as_link_measure(&l->rank, &task, &result);
    trial.n = (size_t)result.n;
    trial.samples = malloc(trial.n * sizeof *trial.samples);
    as_buf_char(&detail, '{');
    add_hosts(l, &task, &detail);
    as_buf_char(&detail, '}');
    trial.detail = as_buf_take(&detail);
    if (!trial.samples || !trial.detail) {
        as_trial_finish(&trial);
        return as_nomem(err, trial.n * sizeof *trial.samples, "samples");
    }
    memcpy(trial.samples, result.samples, trial.n * sizeof *trial.samples);
    trial.duration_s = result.took_s;
    trial.sample_s = result.sample_s;
    trial.sampling_s = result.sample_s * (double)trial.n;
    trial.reps = result.reps;
    trial.footprint = task.size;
    trial.checksum = result.wrong ? AS_GATE_FAIL : AS_GATE_PASS;
    snprintf(trial.checksum_text, sizeof trial.checksum_text, "%d of the last message's bytes or sums are wrong",
             result.wrong);
    return as_direct_run_add(l->run, index, &trial, err);
}

/* Rounds in random order, so that a slow minute is no slow link. */
static enum as_status measure_all(struct links *l, struct as_error *err)
{
    size_t n = 0;
    (void)as_direct_run_cells(l->run, &n);
    size_t *order = calloc(n, sizeof *order);
    struct as_rng rng;
    enum as_status st = order ? AS_OK : as_nomem(err, n * sizeof *order, "an order");
    double said = as_now();
    as_rng_seed(&rng, l->request.options.seed);
    for (size_t i = 0; i < n && order; i++)
        order[i] = i;
    for (int round = 0; round < l->request.options.trials && !st && !*l->stop; round++) {
        as_rng_shuffle(&rng, order, n, sizeof *order);
        for (size_t i = 0; i < n && !st && !*l->stop; i++) {
            st = measure_link(l, order[i], as_rng_u64(&rng), err);
            if (l->quiet || as_now() - said < 10)
                continue;
            said = as_now();
            as_cli_note("links: trial %d of %d, %zu of %zu measurements", round + 1, l->request.options.trials, i + 1,
                        n);
        }
    }
    l->whole = !*l->stop;
    free(order);
    return st;
}

static int print_links(const struct links *l, const char *store, int code)
{
    struct as_buf out = AS_BUF_INIT;
    size_t n = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    as_buf_printf(&out, "%d ranks, %s\n", l->mpi.size, l->mpi.version);
    for (size_t i = 0; i < n; i++) {
        const struct as_link_task t = task_of(&cells[i], 0);
        as_buf_printf(&out, "%s, ", as_axes_text(&cells[i].axes, "what"));
        as_format_size(&out, t.size);
        if (t.what >= AS_LINK_BISECTION)
            as_buf_str(&out, ", all ranks");
        else {
            as_buf_printf(&out, ", rank %d (", t.first);
            as_buf_terminal(&out, l->hosts[t.first]);
            as_buf_printf(&out, ") and %d (", t.second);
            as_buf_terminal(&out, l->hosts[t.second]);
            as_buf_char(&out, ')');
        }
        as_buf_str(&out, ": ");
        const struct as_number number = as_number_of_cell(&cells[i]);
        as_number_prose(&number, "", "", &out);
        as_buf_char(&out, '\n');
    }
    as_buf_str(&out, "Every trial:  assay show last node_link");
    as_args_add_store(store, &out);
    as_buf_char(&out, '\n');
    return as_cli_print_text(&out, code);
}

static struct as_device_info mpi_info(const struct links *l)
{
    struct as_device_info info = {.id = "mpi", .backend = "mpi", .threads = 1};
    as_copy_text(info.name, sizeof info.name, l->mpi.version);
    return info;
}

/* Rank 0 plans, measures with all others and stores. Whatever fails, the others are told to end. */
static int lead(struct links *l, const char *folder, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT, command = AS_BUF_INIT;
    struct as_store *store = NULL;
    struct as_run_result result = {0};
    const struct as_device_info info = mpi_info(l);
    int lock = -1, code = AS_EXIT_FAILED;
    char name[280];
    as_fleet_job_name(&(struct as_fleet_job){.size = l->mpi.size}, l->hosts[0], name, sizeof name);
    as_fleet_store_path(folder, name, &path);
    as_args_command(l->args, &command);
    l->request.options.command = as_buf_get(&command);
    enum as_status st = plan_all(l, &info, err);
    if (!st)
        st = as_fleet_folder_enter(folder, name, &lock, err);
    if (!st)
        st = as_store_open(as_buf_get(&path), AS_STORE_WRITE, &store, err);
    if (!st)
        st = as_direct_run_begin(store, &l->request.options, "links", &info, &l->plan, &l->run, err);
    size_t n = 0;
    uint64_t most =
        st ? 0 : largest(&(struct as_plan){.cells = (struct as_cell *)as_direct_run_cells(l->run, &n), .n = n});
    as_mpi_broadcast(&l->mpi, &most, sizeof most);
    if (!st)
        st = as_link_rank_make(&l->rank, &l->mpi, most, err);
    if (!st)
        st = measure_all(l, err);
    if (most)
        as_link_end(&l->rank);
    if (!st)
        code = print_links(l, as_buf_get(&path), l->whole ? AS_EXIT_OK : AS_EXIT_FAILED);
    st = as_direct_run_end(l->run, st, l->whole, &result, err);
    as_store_close(store);
    if (lock >= 0)
        close(lock);
    as_buf_finish(&path);
    as_buf_finish(&command);
    return st ? AS_EXIT_FAILED : code;
}

static enum as_status follow(struct links *l, struct as_error *err)
{
    uint64_t most = 0;
    as_mpi_broadcast(&l->mpi, &most, sizeof most);
    const enum as_status st = most ? as_link_rank_make(&l->rank, &l->mpi, most, err) : AS_OK;
    if (most && !st)
        as_link_serve(&l->rank);
    return st;
}

static enum as_status links_begin(struct links *l, const char *folder, struct as_error *err)
{
    struct as_args words = *l->args;
    words.word++;
    words.words--;
    struct as_fleet_job job;
    as_fleet_job_find(&job);
    enum as_status st =
        folder ? AS_OK : as_fail(err, AS_USAGE, "links needs --folder FOLDER, e.g. that of 'fleet run'");
    if (!st)
        st = as_run_request_read(&words, &l->request, err);
    struct as_run_options *o = &l->request.options;
    o->trials = o->trials ? o->trials : TRIALS;
    o->precision = isfinite(o->precision) ? o->precision : PRECISION;
    o->seed = o->has_seed ? o->seed : as_rng_entropy() >> 1;
    o->has_seed = true;
    if (!st && job.size < 2)
        st = as_fail(err, AS_USAGE, "links needs two ranks or more: start it with mpirun or srun");
    if (!st)
        st = as_mpi_start(&l->mpi, job.size, err);
    return st;
}

int as_fleet_verb_links(const struct as_command *command, const struct as_args *args)
{
    const char *folder = as_args_value(args, "folder");
    struct links l = {.args = args, .quiet = as_args_flag(args, "quiet"), .stop = as_session_stop_by_signals()};
    struct as_error err = {0};
    int code = AS_EXIT_OK;
    enum as_status st = links_begin(&l, folder, &err);
    if (!st)
        st = gather_hosts(&l, &err);
    if (!st && l.mpi.rank)
        st = follow(&l, &err);
    else if (!st)
        code = lead(&l, folder, &err);
    as_mpi_end(&l.mpi);
    as_link_rank_finish(&l.rank);
    as_plan_finish(&l.plan);
    as_run_request_finish(&l.request);
    free(l.hosts);
    return st || err.code ? as_cli_misuse(command, &err) : code;
}
