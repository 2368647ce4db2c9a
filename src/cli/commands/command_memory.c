/* assay memory: the memory that a user's program takes while it runs */
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/memory/memory_program.h"
#include "cli/memory/memory_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double PERIOD_S = 0.02, SHARE_MOST = 0.05; /* of the time, for readings */

struct watched {
    struct memory_counters counters;
    struct memory_program program;
    struct memory_series series;
    struct memory_summary summary;
    enum as_status written; /* of the series; the program runs on without it */
    struct as_error write_err;
};

static void memory_read_once(struct watched *w, double start, bool with_pss)
{
    struct memory_reading reading;
    as_memory_counters_read(&w->counters, w->program.id, with_pss, &reading);
    reading.seconds = as_now() - start;
    as_memory_summary_add(&w->summary, &w->counters, &reading);
    if (!w->written)
        w->written = as_memory_series_add(&w->series, &w->counters, &reading, &w->write_err);
}

static double memory_cpu_seconds(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads until the program ends. Pauses grow with what a reading took: CPU time, and for the PSS the time during which
 * the kernel walks the page tables and the program cannot map memory. */
static void memory_follow(struct watched *w)
{
    const double start = as_now();
    double pss_due = start, rest = 0;
    do {
        const double begin = as_now(), cpu = memory_cpu_seconds();
        const bool with_pss = begin >= pss_due;
        memory_read_once(w, start, with_pss);
        const double took = as_now() - begin;
        if (with_pss)
            pss_due = as_now() + took / SHARE_MOST;
        rest = fmax(w->summary.period - took, (memory_cpu_seconds() - cpu) / SHARE_MOST);
    } while (!as_memory_program_wait(&w->program, rest));
    as_memory_counters_read(&w->counters, 0, false, &w->summary.after);
    w->summary.after.seconds = as_now() - start;
}

static void memory_describe_end(int status, char *out, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(out, size, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "exit status %d", WEXITSTATUS(status));
}

/* The table goes to stderr: stdout is the program's. */
static enum as_status memory_tell(struct watched *w, struct as_error *err)
{
    const unsigned width = as_cli_columns(STDERR_FILENO);
    const struct as_table_style style = {.width = width ? width : 140, .unicode = as_cli_utf8()};
    char end[96];
    struct as_buf out = AS_BUF_INIT;
    memory_describe_end(w->program.status, end, sizeof end);
    enum as_status st = as_memory_summary_text(&w->summary, &w->counters, end, &style, &out, err);
    if (!st)
        fputs(as_buf_get(&out), stderr);
    as_buf_finish(&out);
    *err = w->written ? w->write_err : *err;
    return as_memory_series_close(&w->series, w->written ? w->written : st, &w->summary, &w->counters, end, err);
}

/* The program's exit status, unless it was not started, or was 0 and the readings could not be reported. */
static int memory_of_program(const struct as_args *args, struct watched *w, char **argv, struct as_error *err)
{
    struct memory_reading before;
    int code = AS_EXIT_FAILED;
    if (as_memory_counters_open("", &w->counters, err) ||
        as_memory_series_open(&w->series, as_args_value(args, "output"), as_args_value(args, "format"), &w->counters,
                              err))
        return code;
    as_memory_counters_read(&w->counters, 0, false, &before);
    as_memory_summary_begin(&w->summary, &before, w->summary.period);
    if (as_memory_program_start(&w->program, argv, &code, err))
        return code;
    memory_follow(w);
    const int failed = memory_tell(w, err) ? as_cli_fail(err) : AS_EXIT_OK;
    *err = (struct as_error){0};
    code = as_memory_program_exit(&w->program);
    return code ? code : failed;
}

static int run_memory(const struct as_command *command, const struct as_args *args)
{
    static const struct as_args_range periods = {as_parse_duration, 1e-3, 3600, "1ms to 1h"};
    struct as_error err = {0};
    struct watched *w = calloc(1, sizeof *w);
    char **argv = calloc(args->words + 1, sizeof *argv);
    int code = AS_EXIT_FAILED;
    if (!w || !argv) {
        as_nomem(&err, sizeof *w, "readings of memory");
    } else {
        w->summary.period = PERIOD_S;
        w->series.fd = -1;
        for (size_t i = 0; i < args->words; i++)
            argv[i] = (char *)(uintptr_t)args->word[i]; /* as main and execvp have them */
        if (!as_args_number(args, "period", &periods, &w->summary.period, &err))
            code = memory_of_program(args, w, argv, &err);
        as_memory_counters_close(&w->counters);
    }
    if (err.code) {
        const int wrong = as_cli_misuse(command, &err);
        code = code == AS_EXIT_FAILED ? wrong : code;
    }
    free(w);
    free((void *)argv);
    return code;
}

static const struct as_option options[] = {
    {"period", 0, "TIME", "interval between readings, 1ms to 1h (default: 20ms)", false},
    {"output", 'o', "FILE", "write every reading to this file", false},
    {"format", 'f', "FORMAT",
     "format of that file: csv (a row per reading) or json (an object per line; the last is the table) (default: csv)",
     false},
    AS_OPTION_END,
};
const struct as_command as_command_memory = {
    .name = "memory",
    .args = "[--] PROGRAM [ARGUMENT]...",
    .summary = "run a program and show how much memory it takes",
    .about =
        "Runs PROGRAM and reads memory counters while it runs: of the program and its child processes, of the system "
        "per NUMA node, and of each GPU. When it ends, a table goes to stderr: each counter before the program "
        "started, at the first reading, at its peak, at the last reading and after the end, and its rise. No counter "
        "sees all memory:\n\n"
        "RSS, PSS and their parts count what the program's page tables map: 'malloc' after the first touch, files and "
        "shared memory, but neither GPU memory (hipMalloc, cuMemAlloc) nor the pool of huge pages. The peak of RSS "
        "includes what the kernel recorded between readings. Child processes whose parent has ended are no longer "
        "counted.\n\n"
        "'in use', 'page cache' and the NUMA nodes count the whole system, including other programs. On an APU the "
        "NUMA nodes include GPU memory, so their rise includes the program's GPU allocations.\n\n"
        "GPUs: on AMD, VRAM and GTT from the kernel driver; on NVIDIA, used memory from NVML, including what the "
        "driver reserves (nvidia-smi may leave that out); all processes together. assay creates no GPU context.\n\n"
        "Readings take at most 5% of a CPU: where they are slow, they are less frequent than --period. 'assay run "
        "accounting' measures which counter sees which allocator.\n\n"
        "Exits with the program's exit status, or by the signal that ended it; 126 or 127 if it cannot be started, 1 "
        "if readings cannot be written. Signals are passed on to the program.",
    .example = "assay memory ./app input.dat\nassay memory --period 100ms -o memory.csv -- mpirun -n 4 ./app\n"
               "assay memory -f json -o memory.json python3 train.py",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .ends_options = true,
    .run = run_memory,
};
