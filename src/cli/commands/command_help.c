/* assay help [SUBCOMMAND], assay version */
#include "base/text.h"
#include "cli/commands/commands.h"
#include "probe/probe.h"
#include "run/provenance.h"

static int run_help(const struct as_command *command, const struct as_args *args)
{
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    (void)command;
    const char *name = as_args_word(args, 0);
    const struct as_command *about = name ? as_command_find(name) : NULL;
    if (name && !about) {
        if (as_probe_find(name)) {
            as_fail(&err, AS_USAGE, "'%s' is a probe: 'assay explain %s' describes it", name, name);
            return as_cli_fail(&err);
        }
        enum { NAMES_MAX = 40 };
        const char *names[NAMES_MAX + 1] = {0};
        for (size_t i = 0; as_commands[i] && i < NAMES_MAX; i++)
            names[i] = as_commands[i]->name;
        const char *near = as_nearest(name, names);
        as_fail(&err, AS_USAGE, "there is no subcommand '%s'%s%s%s", name,
                near ? "; did you mean '" : "; see 'assay help'", near ? near : "", near ? "'?" : "");
        return as_cli_fail(&err);
    }
    const char *shell = as_args_value(args, "completion");
    if (shell && as_help_completion(shell, &out, &err))
        return as_cli_misuse(command, &err);
    if (shell)
        return as_cli_print(&out, AS_EXIT_OK);
    if (as_args_flag(args, "man"))
        as_help_man(&out);
    else
        as_help_text(about, &out);
    return as_args_flag(args, "man") ? as_cli_print(&out, AS_EXIT_OK) : as_cli_print_text(&out, AS_EXIT_OK);
}

static const struct as_option help_options[] = {
    {"man", 0, NULL, "the manual page, in roff", false},
    {"completion", 0, "SHELL", "the completion script for bash, zsh or fish", false},
    AS_OPTION_END,
};
const struct as_command as_command_help = {
    .name = "help",
    .args = "[SUBCOMMAND]",
    .summary = "show the usage of assay or of one subcommand",
    .about = "Without a name, lists all subcommands, exit codes and environment variables.",
    .example = "assay help run",
    .options = help_options,
    .max_args = 1,
    .run = run_help,
};

static int run_version(const struct as_command *command, const struct as_args *args)
{
    struct as_buf out = AS_BUF_INIT;
    (void)command;
    (void)args;
    as_buf_printf(&out, "assay %s (%s)\n", as_version(), as_commit());
    return as_cli_print(&out, AS_EXIT_OK);
}

static const struct as_option no_options[] = {AS_OPTION_END};
const struct as_command as_command_version = {
    .name = "version",
    .args = "",
    .summary = "print the version of assay and the commit it was built from",
    .about = "A commit with '-dirty' had uncommitted changes.",
    .example = "",
    .options = no_options,
    .run = run_version,
};
