/* assay fleet links: links between the nodes of a launch, into rank 0's store. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/fleet/fleet_links_job.h"
#include "cli/options/session.h"
#include "device/host.h"
#include "fleet/fleet_job.h"
#include "fleet/fleet_link_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIALS = 5, LISTED_MAX = 16 };
static const double PRECISION = 0.05, SAY_S = 10;

/* Buffers of rank 0 for a step. */
struct step_buffers {
    size_t *cells, n;
    int32_t *pairs;
    struct as_link_result *results;
};

static struct as_link_extent extent_of_cells(const struct as_links_job *l)
{
    size_t n = 0;
    struct as_link_extent extent = {0};
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_link_task t = as_links_job_task(&cells[i]);
        extent.most = t.size > extent.most ? t.size : extent.most;
        extent.kinds |= UINT64_C(1) << t.memory;
    }
    return extent;
}

static enum as_status store_trial(struct as_links_job *l, size_t index, const struct as_link_task *task,
                                  const struct as_link_result *result, struct as_error *err)
{
    size_t n = 0;
    const struct as_axes *axes = &as_direct_run_cells(l->run, &n)[index].axes;
    struct as_buf detail = AS_BUF_INIT;
    struct as_trial trial = {
        .status = AS_CELL_OK, .started_at = as_wall(), .clock_hz = NAN, .clock_lo = NAN, .clock_hi = NAN, .limit = NAN};
    trial.n = (size_t)result->n;
    trial.samples = malloc(trial.n * sizeof *trial.samples);
    as_fleet_link_detail(l->hosts[as_axes_u64(axes, "from")], l->hosts[as_axes_u64(axes, "to")], result->window,
                         &detail);
    trial.detail = as_buf_take(&detail);
    if (!trial.samples || !trial.detail) {
        as_trial_finish(&trial);
        return as_nomem(err, trial.n * sizeof *trial.samples, "samples");
    }
    memcpy(trial.samples, result->samples, trial.n * sizeof *trial.samples);
    trial.started_at -= result->took_s;
    trial.duration_s = result->took_s;
    trial.sample_s = result->sample_s;
    trial.sampling_s = result->sample_s * (double)trial.n;
    trial.reps = result->reps;
    trial.footprint = task->size;
    trial.checksum = result->wrong ? AS_GATE_FAIL : AS_GATE_PASS;
    snprintf(trial.checksum_text, sizeof trial.checksum_text,
             "%d bytes or sums of a message over poisoned buffers are wrong", result->wrong);
    return as_direct_run_add(l->run, index, &trial, err);
}

static bool links_are_stopped(struct as_links_job *l)
{
    return l->is_stopped = l->is_stopped || *l->stop;
}

/* The cells of a step that lack a trial of this round: all but those of a resumed run, and those that cannot be. */
static void step_cells(const struct as_links_job *l, size_t step, int round, struct step_buffers *b)
{
    size_t n = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    b->n = 0;
    for (size_t i = l->steps.first[step]; i < l->steps.first[step + 1]; i++) {
        const size_t cell = l->steps.items[i];
        if (cells[cell].status != AS_CELL_UNSUPPORTED && as_direct_run_trials(l->run, cell) <= round)
            b->cells[b->n++] = cell;
    }
}

static enum as_status measure_step(struct as_links_job *l, struct step_buffers *b, uint64_t seed, struct as_error *err)
{
    size_t all = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &all);
    struct as_link_task task = as_links_job_task(&cells[b->cells[0]]);
    task.seed = (int32_t)(seed & 0xffff);
    task.left_s = as_direct_run_deadline(l->run) - as_now();
    task.pairs = as_link_is_of_pair((enum as_link_what)task.what) ? (int32_t)b->n : 0;
    for (size_t i = 0; i < b->n; i++) {
        b->pairs[2 * i] = (int32_t)as_axes_u64(&cells[b->cells[i]].axes, "from");
        b->pairs[2 * i + 1] = (int32_t)as_axes_u64(&cells[b->cells[i]].axes, "to");
    }
    as_link_measure(&l->rank, &task, b->pairs, b->results);
    enum as_status st = AS_OK;
    bool is_cut = false;
    for (size_t i = 0; i < b->n && !st; i++)
        if (b->results[i].n)
            st = store_trial(l, b->cells[i], &task, &b->results[i], err);
        else
            is_cut = true;
    l->is_stopped |= is_cut && as_now() < as_direct_run_deadline(l->run); /* by a signal to another rank */
    l->is_short |= is_cut && !l->is_stopped;
    return st;
}

/* A trial for each cell, steps in random order. */
static enum as_status measure_round(struct as_links_job *l, int round, size_t *order, struct as_rng *rng,
                                    struct step_buffers *b, struct as_error *err)
{
    static double said;
    enum as_status st = AS_OK;
    as_rng_shuffle(rng, order, l->steps.n, sizeof *order);
    for (size_t i = 0; i < l->steps.n && !st && !links_are_stopped(l) && !l->is_short; i++) {
        said = said > 0 ? said : as_now();
        step_cells(l, order[i], round, b);
        l->is_short = b->n && as_now() >= as_direct_run_deadline(l->run);
        if (!b->n || l->is_short)
            continue;
        st = measure_step(l, b, as_rng_u64(rng), err);
        if (l->quiet || as_now() - said < SAY_S)
            continue;
        said = as_now();
        as_cli_note("links: trial %d of %d, step %zu of %zu", round + 1, as_direct_run_record(l->run)->trials, i + 1,
                    l->steps.n);
    }
    return st;
}

/* Rounds in random order, so that a slow minute is no slow link. */
static enum as_status measure_all(struct as_links_job *l, struct as_error *err)
{
    const size_t widest = l->steps.widest + 1;
    size_t *order = calloc(l->steps.n + 1, sizeof *order);
    struct step_buffers b = {.cells = calloc(widest, sizeof *b.cells),
                             .pairs = calloc(2 * widest, sizeof *b.pairs),
                             .results = calloc(widest, sizeof *b.results)};
    enum as_status st =
        order && b.cells && b.pairs && b.results ? AS_OK : as_nomem(err, widest * sizeof *b.results, "results");
    struct as_rng rng;
    as_rng_seed(&rng, l->request.options.seed);
    for (size_t i = 0; i < l->steps.n && !st; i++)
        order[i] = i;
    for (int round = 0; round < as_direct_run_record(l->run)->trials && !st && !links_are_stopped(l) && !l->is_short;
         round++)
        st = measure_round(l, round, order, &rng, &b, err);
    free(order);
    free(b.cells);
    free(b.pairs);
    free(b.results);
    return st;
}

/* Memory that cannot be used. */
static void print_unused(const struct as_links_job *l, struct as_buf *out)
{
    const char *const pinned = l->why[AS_LINK_PINNED], *const device = l->why[AS_LINK_DEVICE];
    const bool is_same = strcmp(pinned, device) == 0;
    if (pinned[0])
        as_buf_printf(out, "Pinned %smemory not measured: ", is_same ? "and device " : "");
    as_buf_terminal(out, pinned);
    as_buf_str(out, pinned[0] ? "\n" : "");
    if (is_same || !device[0])
        return;
    as_buf_str(out, "Device memory not measured: ");
    as_buf_terminal(out, device);
    as_buf_char(out, '\n');
}

/* How many pairs there are of how many, and what of it the budget held. */
static void print_extent(const struct as_links_job *l, const struct as_fleet_links *links, struct as_buf *out)
{
    const size_t size = (size_t)l->mpi.size, all = size * (size - 1) / 2;
    size_t pairs = 0, cells = 0, measured = 0;
    for (size_t i = 0; i < links->n; i++)
        pairs += links->kinds[links->v[i].kind].of_pair && links->v[i].kind == links->v[0].kind;
    (void)as_direct_run_cells(l->run, &cells);
    for (size_t i = 0; i < cells; i++)
        measured += as_direct_run_trials(l->run, i) > 0;
    as_buf_printf(out, "%d ranks, ", l->mpi.size);
    as_buf_terminal(out, l->mpi.version);
    if (pairs)
        as_buf_printf(out, "; %zu of %zu pairs%s", pairs, all, pairs < all ? ", sampled at random" : "");
    if (l->steps.widest > 1)
        as_buf_printf(out, ", up to %zu at once", l->steps.widest);
    as_buf_char(out, '\n');
    print_unused(l, out);
    if (l->is_short)
        as_buf_printf(out, "The budget covered %zu of %zu measurements, some with fewer trials than %d.\n", measured,
                      cells, as_direct_run_record(l->run)->trials);
}

static enum as_status print_links(struct as_links_job *l, const char *store, struct as_error *err)
{
    struct as_fleet_links links = {0};
    struct as_buf out = AS_BUF_INIT;
    size_t n = 0;
    const struct as_cell *cells = as_direct_run_cells(l->run, &n);
    enum as_status st = AS_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = as_fleet_links_add(&links, &cells[i], err);
    if (!st && n)
        print_extent(l, &links, &out);
    if (!st)
        st = as_fleet_links_text(&links, LISTED_MAX, &l->style, &out, err);
    const bool stopped = links_are_stopped(l);
    as_buf_str(&out, stopped
                         ? "Interrupted; to continue: 'assay fleet links --resume' with the same launcher and folder\n"
                         : "Every trial:  assay show last node_link");
    if (!stopped) {
        as_args_add_store(store, &out);
        as_buf_char(&out, '\n');
    }
    as_fleet_links_finish(&links);
    if (!st)
        l->code = as_cli_print_text(&out, stopped ? AS_EXIT_FAILED : AS_EXIT_OK);
    as_buf_finish(&out);
    return st;
}

static enum as_status links_begin_run(struct as_links_job *l, struct as_store *store, struct as_error *err)
{
    if (!l->is_resumed)
        return as_direct_run_begin(store, &l->request.options, "links", &l->info, &l->plan, &l->run, err);
    size_t n = 0;
    enum as_status st = as_direct_run_resume(store, &l->request.options, &l->info, &l->run, err);
    if (!st)
        st = as_links_job_check_hosts(l, err);
    const struct as_cell *cells = st ? NULL : as_direct_run_cells(l->run, &n);
    return st ? st : as_links_job_check_memory(l, cells, n, err);
}

/* Of rank 0. st: of what came before; the others learn whether there is something to take part in. */
static enum as_status links_measure(struct as_links_job *l, enum as_status st, struct as_error *err)
{
    struct as_link_extent extent = st ? (struct as_link_extent){0} : extent_of_cells(l);
    const enum as_status made = as_link_rank_make(&l->rank, &l->mpi, &l->memory, l->stop, &extent, err);
    if (st || made)
        return st ? st : made;
    st = measure_all(l, err);
    as_link_end(&l->rank);
    return st;
}

/* Rank 0 plans, measures with all others and stores. Whatever fails, the others are told to end. */
static enum as_status links_lead(struct as_links_job *l, struct as_error *err)
{
    struct as_buf path = AS_BUF_INIT, command = AS_BUF_INIT;
    struct as_store *store = NULL;
    struct as_run_result result = {0};
    int lock = -1;
    char name[280];
    as_fleet_job_name(&(struct as_fleet_job){.size = l->mpi.size}, l->hosts[0], name, sizeof name);
    as_fleet_store_path(l->folder, name, &path);
    as_args_command(l->args, &command);
    l->request.options.command = as_buf_get(&command);
    enum as_status st = AS_OK;
    if (l->request.options.devices && l->why[AS_LINK_PINNED][0] && l->why[AS_LINK_DEVICE][0])
        st = as_fail(err, AS_UNSUPPORTED, "--device %s: %s", l->request.options.devices, l->why[AS_LINK_PINNED]);
    if (!st && !l->is_resumed)
        st = as_links_job_plan(l, err);
    if (!st)
        st = as_fleet_folder_enter(l->folder, name, &lock, err);
    if (!st)
        st = as_store_open(as_buf_get(&path), AS_STORE_WRITE, &store, err);
    if (!st)
        st = links_begin_run(l, store, err);
    if (!st)
        st = as_links_job_schedule(l, err);
    st = links_measure(l, st, err);
    st = as_direct_run_end(l->run, st, links_are_stopped(l), &result, err);
    if (!st)
        st = print_links(l, as_buf_get(&path), err);
    as_direct_run_free(l->run);
    as_store_close(store);
    if (lock >= 0)
        close(lock);
    as_buf_finish(&path);
    as_buf_finish(&command);
    return st;
}

static enum as_status links_follow(struct as_links_job *l, struct as_error *err)
{
    struct as_link_extent extent = {0};
    const enum as_status st = as_link_rank_make(&l->rank, &l->mpi, &l->memory, l->stop, &extent, err);
    if (extent.most && !st)
        as_link_serve(&l->rank);
    return st;
}

static enum as_status links_check_resume(const struct as_links_job *l, struct as_error *err)
{
    static const char *const of_new[] = {"set", "precision", "trials", "seed"};
    for (size_t i = 0; i < sizeof of_new / sizeof *of_new && l->is_resumed; i++)
        if (as_args_flag(l->args, of_new[i]))
            return as_fail(err, AS_USAGE,
                           "--%s does not apply with --resume, which measures what the run was asked for", of_new[i]);
    return AS_OK;
}

static enum as_status links_begin(struct as_links_job *l, struct as_error *err)
{
    struct as_args words = *l->args;
    words.word++;
    words.words--;
    struct as_fleet_job job;
    as_fleet_job_find(&job);
    enum as_status st = l->folder ? links_check_resume(l, err)
                                  : as_fail(err, AS_USAGE, "links needs --folder FOLDER, e.g. that of 'fleet run'");
    if (!st)
        st = as_cli_style(l->args, &l->style, err);
    if (!st)
        st = as_run_request_read(&words, &l->request, err);
    struct as_run_options *o = &l->request.options;
    o->trials = o->trials ? o->trials : TRIALS;
    o->precision = isfinite(o->precision) ? o->precision : PRECISION;
    o->seed = o->has_seed ? o->seed : as_rng_entropy() >> 1;
    o->has_seed = true;
    if (!st && job.size < 2)
        st = as_fail(err, AS_USAGE, "links needs two ranks or more: start it with mpirun or srun");
    if (!st) /* MPI finds the devices that are in use when it starts */
        as_link_memory_open(&l->memory, o->devices, job.local);
    if (!st)
        st = as_mpi_start(&l->mpi, job.size, err);
    if (!st)
        as_link_memory_check_gpu_aware(&l->memory, &l->mpi);
    l->info = (struct as_device_info){
        .id = AS_DIRECT_DEVICE, .backend = AS_DIRECT_DEVICE, .threads = 1, .memory_free = as_host_memory_available()};
    as_copy_text(l->info.name, sizeof l->info.name, l->mpi.version);
    return st;
}

/* All hosts or none, so that launches that share hosts cannot deadlock. */
static enum as_status lock_hosts(struct as_links_job *l, struct as_error *err)
{
    enum { FREE, BUSY, ENDS };
    static const double again_s = 0.5;
    const double budget_s = l->request.options.budget_s;
    const struct as_run_options options = {.command = "assay fleet links", .stop = l->stop};
    for (bool is_said = false;;) {
        const enum as_status st = l->is_first_of_host ? as_lock_machine(&options, budget_s, &l->lock, err) : AS_OK;
        const bool ends = (st && st != AS_BUSY) || *l->stop;
        const int state = (int)as_mpi_max(&l->mpi, ends ? ENDS : st ? BUSY : FREE);
        if (state == FREE)
            return AS_OK;
        if (l->lock >= 0)
            close(l->lock);
        l->lock = -1;
        if (state == ENDS && *l->stop)
            return as_fail(err, AS_INTERRUPTED, "stopped while waiting for another run");
        if (state == ENDS)
            return st && st != AS_BUSY ? st : as_fail(err, AS_FAILED, "another rank cannot lock its host");
        if (st && !is_said) {
            char host[256] = "this host";
            (void)gethostname(host, sizeof host - 1);
            as_cli_note("waiting for another run on %s", host);
            is_said = true;
        }
        as_sleep(again_s * (1 + getpid() % 16 / 16.0)); /* or launches that share hosts stay in step */
    }
}

int as_fleet_verb_links(const struct as_command *command, const struct as_args *args)
{
    struct as_links_job l = {.args = args,
                             .lock = -1,
                             .folder = as_args_value(args, "folder"),
                             .quiet = as_args_flag(args, "quiet"),
                             .is_resumed = as_args_flag(args, "resume"),
                             .stop = as_session_stop_by_signals()};
    struct as_error err = {0};
    enum as_status st = links_begin(&l, &err);
    if (!st)
        st = as_links_job_gather(&l, &err);
    if (!st)
        st = lock_hosts(&l, &err);
    if (!st && l.mpi.rank)
        st = links_follow(&l, &err);
    else if (!st)
        st = links_lead(&l, &err);
    as_mpi_end(&l.mpi);
    as_links_job_finish(&l);
    return st ? as_cli_misuse(command, &err) : l.code;
}
