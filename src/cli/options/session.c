#include "cli/options/session.h"
#include "cli/output/ndjson.h"

#include "base/text.h"
#include "report/model/load.h"
#include "report/model/overview.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;
static volatile sig_atomic_t asked_at; /* seconds of the monotonic clock; 0: no signal came yet */

/* Async-signal-safe. Signals in quick succession (a held key, a process group) count as one. */
static void on_signal(int number)
{
    static const char words[] = "\nassay: stopped; 'assay resume' continues the run\n";
    enum { REPEATS_S = 2 };
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (!asked_at) {
        stop_asked = number;
        asked_at = now.tv_sec > 0 ? (sig_atomic_t)now.tv_sec : 1;
    } else if ((sig_atomic_t)now.tv_sec - asked_at >= REPEATS_S) {
        ssize_t told = write(STDERR_FILENO, words, sizeof words - 1);
        (void)told;
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static volatile sig_atomic_t continued;

static void on_continue(int number)
{
    (void)number;
    continued = 1;
}

/* The first signal stops after the current cell, a second one ends assay. Ignored signals (nohup) stay ignored. */
const volatile sig_atomic_t *as_session_stop_by_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now = {0}, take = {.sa_handler = on_signal};
        sigemptyset(&take.sa_mask);
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(signals[i], &take, NULL);
    }
    struct sigaction go_on = {.sa_handler = on_continue};
    sigemptyset(&go_on.sa_mask);
    sigaction(SIGCONT, &go_on, NULL);
    return &stop_asked;
}

/* A failure to show progress does not end a run. */
static void write_stderr(struct as_buf *b)
{
    const char *at = as_buf_get(b);
    size_t left = b->len;
    while (left > 0) {
        ssize_t n = write(STDERR_FILENO, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += n;
        left -= (size_t)n;
    }
    as_buf_clear(b);
}

/* Sentinels monitor the machine; they are not results. */
static bool session_is_hidden(const struct as_cell *c)
{
    const struct as_probe *probe = c ? as_probe_find(c->probe) : NULL;
    return probe && probe->hidden;
}

static void session_print(struct as_session *s, struct as_buf *line)
{
    if (s->output == AS_EXIT_OK)
        s->output = as_cli_print(line, AS_EXIT_OK);
    if (s->output != AS_EXIT_OK)
        stop_asked = SIGPIPE;
    as_buf_finish(line);
}

/* The terminal as it is now: people resize it, and a stopped run that goes on finds other text on it. */
static void session_look_at_terminal(struct as_session *s)
{
    const char *term = getenv("TERM");
    s->progress.width = term && strcmp(term, "dumb") == 0 ? 0 : as_cli_columns(STDERR_FILENO);
    s->progress.height = as_cli_rows(STDERR_FILENO);
    if (continued)
        s->progress.shown = false;
    continued = 0;
}

/* What changed in the data sheet. Where that cannot be made the run goes on, and so it does where stdout is closed. */
static bool session_follow_sheet(struct as_session *s, const struct as_event *event, struct as_buf *lines)
{
    struct as_buf json = AS_BUF_INIT;
    struct as_error why;
    bool changed = false;
    if (s->sheet && as_live_event(&s->live, event, lines, s->json ? &json : NULL, &changed, &why)) {
        s->sheet = false;
        as_cli_note("the data sheet is printed at the end only: %s", why.text);
    }
    if (json.len)
        session_print(s, &json);
    as_buf_finish(&json);
    return changed;
}

static void session_on_event(void *user, const struct as_event *event)
{
    struct as_session *s = user;
    struct as_buf lines = AS_BUF_INIT;
    if (s->json && event->kind != AS_EVENT_RUN_END && !session_is_hidden(event->cell)) {
        struct as_buf line = AS_BUF_INIT;
        as_ndjson_event(&line, event);
        session_print(s, &line);
    }
    const bool changed = session_follow_sheet(s, event, &lines);
    if (s->json && event->kind == AS_EVENT_RUN_END) {
        struct as_buf line = AS_BUF_INIT;
        as_ndjson_event(&line, event);
        session_print(s, &line);
    }
    s->elapsed_s = event->elapsed_s;
    session_look_at_terminal(s);
    as_progress_event(&s->progress, event, s->sheet ? &s->live : NULL, changed, &lines, &s->buf);
    as_buf_finish(&lines);
    if (!s->progress.unicode)
        as_cli_without_micro(&s->buf);
    write_stderr(&s->buf);
}

enum as_status as_session_begin(struct as_session *s, const struct as_args *args, enum as_session_shows shows,
                                struct as_run_options *options, struct as_error *err)
{
    *s = (struct as_session){.json = as_args_flag(args, "json")};
    enum as_status st = as_cli_style(args, &s->style, err);
    if (st)
        return st;
    session_look_at_terminal(s);
    s->progress.unicode = s->live.unicode = as_cli_utf8();
    s->progress.quiet = as_args_flag(args, "quiet");
    s->sheet = shows == AS_SESSION_SHEET && (s->json || !s->progress.quiet);
    as_args_command(args, &s->command);
    s->store = as_args_value(args, "store");
    options->command = as_buf_get(&s->command);
    options->event = session_on_event;
    options->user = s;
    options->stop = as_session_stop_by_signals();
    options->wait = !as_args_flag(args, "no-wait");
    return as_buf_check(&s->command, err);
}

int as_session_code(const struct as_run_result *result)
{
    const size_t *n = result->by_status;
    size_t numbers = n[AS_CELL_OK] + n[AS_CELL_WIDE] + n[AS_CELL_REJECTED];
    size_t broken = n[AS_CELL_FAILED] + n[AS_CELL_CRASHED] + n[AS_CELL_TIMEOUT];
    if (result->lost)
        return numbers ? AS_EXIT_PARTLY : AS_EXIT_FAILED;
    if (result->state == AS_RUN_INTERRUPTED)
        return AS_EXIT_FAILED;
    if (numbers == 0)
        return broken ? AS_EXIT_FAILED : n[AS_CELL_SKIPPED] ? AS_EXIT_PARTLY : AS_EXIT_NOTHING;
    return n[AS_CELL_REJECTED] || broken || n[AS_CELL_SKIPPED] > numbers ? AS_EXIT_PARTLY : AS_EXIT_OK;
}

int as_session_end(struct as_session *s, const struct as_command *command, enum as_status st,
                   const struct as_error *err, const struct as_run_result *result)
{
    int code;
    bool interrupted = st == AS_INTERRUPTED || result->state == AS_RUN_INTERRUPTED;
    if (result->run_id > 0 && (st == AS_OK || interrupted))
        as_progress_end(&s->progress, result, s->elapsed_s, &s->buf);
    write_stderr(&s->buf);
    if (st && !interrupted) {
        code = as_cli_misuse(command, err);
    } else {
        code = st ? AS_EXIT_FAILED : as_session_code(result);
        if (interrupted && result->run_id > 0) {
            as_buf_clear(&s->buf);
            as_args_add_store(s->store, &s->buf);
            as_cli_note("%s; finished trials are stored; to continue: assay resume %lld%s",
                        result->lost ? "a device was lost" : "interrupted", (long long)result->run_id,
                        as_buf_get(&s->buf));
        } else if (interrupted)
            as_cli_note("interrupted before anything was measured");
    }
    as_buf_finish(&s->buf);
    as_buf_finish(&s->command);
    as_live_finish(&s->live);
    return s->output ? s->output : code;
}

static enum as_status session_write_page(const struct as_report_run *run, const char *path, struct as_error *err)
{
    struct as_buf page = AS_BUF_INIT;
    enum as_status st = as_report_html(run, 1, &page, err);
    if (!st)
        st = as_cli_check_memory(err);
    if (!st)
        st = as_write_file(path, as_buf_get(&page), page.len, err);
    as_buf_finish(&page);
    return st;
}

/* The probe of all cells, "PROBE" if there are several, NULL if there is none; and the number of wide cells. */
static const char *only_probe(const struct as_report_run *run, size_t *wide)
{
    const char *probe = NULL;
    *wide = 0;
    if (run->overview) {
        const struct as_overview *o = run->overview;
        *wide = run->overview->by_status[AS_CELL_WIDE];
        return o->probes_n == 1 ? o->probes[0].name : o->probes_n ? "PROBE" : NULL;
    }
    for (size_t i = 0; i < run->cells_n; i++) {
        const struct as_cell *cell = &run->cells[i];
        if (session_is_hidden(cell))
            continue;
        probe = !probe || strcmp(probe, cell->probe) == 0 ? cell->probe : "PROBE";
        *wide += cell->status == AS_CELL_WIDE;
    }
    return probe;
}

/* Is there a device besides the CPU, which porting advice needs? */
static bool has_porting_advice(const struct as_report_run *run)
{
    size_t i = 0;
    while (i < run->devices_n && (run->devices[i].capabilities & AS_CAP_HOST_KERNELS))
        i++;
    return i < run->devices_n && run->facts_n > 0;
}

/* Suggested next commands, one per line for copying. */
static void add_commands(const struct as_session *s, const struct as_report_run *run, const char *name,
                         const char *report, struct as_buf *out)
{
    size_t wide;
    const char *probe = only_probe(run, &wide);
    as_buf_printf(out, "\nDetails:     assay show %s %s", name, probe ? probe : "PROBE");
    as_args_add_store(s->store, out);
    if (has_porting_advice(run)) {
        as_buf_printf(out, "\nPorting:     assay advise %s", name);
        as_args_add_store(s->store, out);
    }
    if (report) {
        as_buf_str(out, "\nThe page:    ");
        as_buf_terminal(out, report);
    } else {
        as_buf_printf(out, "\nAs a page:   assay report %s -o report.html", name);
        as_args_add_store(s->store, out);
    }
    if (wide)
        as_buf_str(out, "\nWhat makes intervals wide (~) on this machine:  assay doctor");
    as_buf_char(out, '\n');
}

int as_session_views(const struct as_session *s, struct as_store *store, const struct as_run_result *result,
                     const char *report, int code)
{
    struct as_report_run run = {0};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    char name[32];
    if (result->run_id <= 0 || (s->json && !report))
        return code;
    snprintf(name, sizeof name, "%lld", (long long)result->run_id);
    enum as_status st =
        report ? as_report_load(store, name, &run, &err) : as_report_load_short(store, name, &run, &err);
    if (!st && !s->json)
        st = as_report_terminal(&run, NULL, &s->style, &out, &err);
    if (!st && report)
        st = session_write_page(&run, report, &err);
    if (!st && !s->json) {
        add_commands(s, &run, name, report, &out);
    }
    as_report_run_finish(&run);
    if (st) {
        as_buf_finish(&out);
        return as_cli_fail(&err);
    }
    return s->json ? code : as_cli_print_text(&out, code);
}
