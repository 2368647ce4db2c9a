/* assay: the entry point. Finds the subcommand, parses its arguments and runs it. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands/commands.h"
#include "cli/output/outputs.h"
#include "os/process.h"
#include "run/provenance.h"
#include "run/run.h"
#include "store/store.h"
#include "worker/message.h"
#include "worker/worker.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int json_memory_code = AS_EXIT_FAILED;

/* jansson does not survive a failed allocation (it drops names and reads out of bounds), so the process exits at once;
 * stores stay whole. */
static void *allocate_json(size_t size)
{
    static const char words[] = "assay: out of memory for JSON; stored trials are safe\n";
    void *p = malloc(size);
    if (p)
        return p;
    ssize_t told = write(STDERR_FILENO, words, sizeof words - 1);
    (void)told;
    _exit(json_memory_code);
}

/* If a standard stream is closed, the store's file would take its descriptor and be overwritten. A closed stdout
 * becomes unwritable, so that lost output is noticed. */
static void hold_standard_streams(void)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return;
}

static int unknown_command(const char *name)
{
    enum { NAMES_MAX = 40 };
    const char *names[NAMES_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; as_commands[i] && n < NAMES_MAX; i++)
        names[n++] = as_commands[i]->name;
    names[n] = NULL;
    const char *near = as_nearest(name, names);
    struct as_error err = {0};
    as_fail(&err, AS_USAGE, "there is no subcommand '%s'%s%s%s", name, near ? "; did you mean '" : "; see 'assay help'",
            near ? near : "", near ? "'?" : "");
    return as_cli_fail(&err);
}

static int run_command(const struct as_command *command, int argc, char **argv, int first)
{
    struct as_args args = {0};
    struct as_error err = {0};
    int code;
    if (as_args_parse(command, argc, argv, first, &args, &err)) {
        code = as_cli_misuse(command, &err);
    } else if (args.help) {
        struct as_buf b = AS_BUF_INIT;
        as_help_text(command, &b);
        code = as_cli_print_text(&b, AS_EXIT_OK);
    } else if (as_check_outputs(&args, &err)) {
        code = as_cli_misuse(command, &err);
    } else {
        code = command->run(command, &args);
    }
    as_args_finish(&args);
    return code;
}

/* `assay --worker FD PARENT`: the parent starts this program again as a worker. */
static int run_worker(int argc, char **argv)
{
    uint64_t fd = 0, parent = 0;
    struct as_error err = {0};
    json_memory_code = AS_WORKER_NO_MEMORY;
    if (argc != 4 || as_parse_u64(argv[2], &fd, NULL) || as_parse_u64(argv[3], &parent, NULL) || fd > INT_MAX ||
        parent > INT_MAX)
        as_fail(&err, AS_USAGE,
                "'--worker' is internal: assay starts its workers with it, a descriptor and a process "
                "ID; see 'assay help' for the subcommands");
    else if (as_worker_main((int)fd, (long)parent, &err) == AS_OK)
        return AS_EXIT_OK;
    return err.code == AS_NOMEM ? AS_WORKER_NO_MEMORY : as_cli_fail(&err);
}

/* The worker is this program, whatever its name and even if its file was replaced, unless the user says
 * otherwise; programs that use assay as a library find it elsewhere. */
static void name_worker(void)
{
    char self[4096];
    const char *given = getenv("ASSAY_WORKER");
    if ((!given || !given[0]) && as_program_again(self, sizeof self))
        (void)setenv("ASSAY_WORKER", self, 1);
}

/* Shows the machine, or the first steps if there is no store yet. */
static int show_or_help(char **argv)
{
    struct as_buf path = AS_BUF_INIT, help = AS_BUF_INIT;
    const bool is_there = as_store_default_path(&path, NULL) == AS_OK && access(as_buf_get(&path), R_OK) == 0;
    as_buf_finish(&path);
    if (is_there)
        return run_command(as_command_find("show"), 1, argv, 1);
    as_help_short(&help);
    return as_cli_print_text(&help, AS_EXIT_OK);
}

int main(int argc, char **argv)
{
    json_set_alloc_funcs(allocate_json, free);
    /* A closed pipe and a file size limit become write errors instead of signals. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    hold_standard_streams();
    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return run_worker(argc, argv);
    if (argc < 2 || strcmp(argv[1], as_command_memory.name) != 0) /* whose program would inherit it */
        name_worker();
    if (argc < 2)
        return show_or_help(argv);
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    else if (strncmp(name, "--", 2) == 0)
        return run_command(&as_command_machine, argc, argv, 1);
    const struct as_command *command = as_command_find(name);
    return command ? run_command(command, argc, argv, 2) : unknown_command(name);
}
