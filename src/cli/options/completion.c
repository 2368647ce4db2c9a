/* Shell completion scripts, generated from the records of the help. */
#include "base/text.h"
#include "cli/cli.h"
#include "plan/plan.h"

#include <string.h>

/* Subcommands that take names of probes; all but show also take suites. */
static bool takes_names(const struct as_command *c)
{
    static const char *const names[] = {"run", "plan", "show", "explain"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(c->name, names[i]) == 0)
            return true;
    return false;
}

static void completion_add_names(const struct as_command *c, struct as_buf *out)
{
    for (const struct as_builtin_text *s = as_suite_texts; s->name && strcmp(c->name, "show") != 0; s++)
        as_buf_printf(out, " %s", s->name);
    for (const char *const *p = as_probe_names(); *p; p++)
        as_buf_printf(out, " %s", *p);
}

static void write_bash(struct as_buf *out)
{
    as_buf_str(out, "_assay() {\n    local words cur=${COMP_WORDS[COMP_CWORD]}\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; as_commands[i]; i++) {
        as_buf_printf(out, "    %s) words=\"", as_commands[i]->name);
        for (const struct as_option *o = as_commands[i]->options; o && o->name; o++)
            as_buf_printf(out, "--%s ", o->name);
        as_buf_str(out, "--help");
        if (takes_names(as_commands[i]))
            completion_add_names(as_commands[i], out);
        as_buf_str(out, "\" ;;\n");
    }
    as_buf_str(out, "    esac\n    [ \"$COMP_CWORD\" -eq 1 ] && words=\"");
    for (size_t i = 0; as_commands[i]; i++)
        as_buf_printf(out, i ? " %s" : "%s", as_commands[i]->name);
    as_buf_str(out,
               "\"\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _assay assay\n");
}

static void write_zsh(struct as_buf *out)
{
    as_buf_str(out, "#compdef assay\nautoload -U +X bashcompinit && bashcompinit\n");
    write_bash(out);
}

/* Text in single quotes for fish. */
static void add_quoted(const char *text, struct as_buf *out)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            as_buf_char(out, '\\');
        as_buf_char(out, *text);
    }
}

static void write_fish(struct as_buf *out)
{
    for (size_t i = 0; as_commands[i]; i++) {
        const struct as_command *c = as_commands[i];
        as_buf_printf(out, "complete -c assay -n __fish_use_subcommand -a %s -d '", c->name);
        add_quoted(c->summary, out);
        as_buf_str(out, "'\n");
        for (const struct as_option *o = c->options; o && o->name; o++) {
            as_buf_printf(out, "complete -c assay -n '__fish_seen_subcommand_from %s' -l %s%s -d '", c->name, o->name,
                          o->value ? " -r" : "");
            add_quoted(o->help, out);
            as_buf_str(out, "'\n");
        }
        if (!takes_names(c))
            continue;
        as_buf_printf(out, "complete -c assay -n '__fish_seen_subcommand_from %s' -a '", c->name);
        completion_add_names(c, out);
        as_buf_str(out, "'\n");
    }
}

enum as_status as_help_completion(const char *shell, struct as_buf *out, struct as_error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct as_buf *out);
    } shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].write(out);
            return AS_OK;
        }
    const char *const names[] = {shells[0].name, shells[1].name, shells[2].name, NULL};
    const char *near = as_nearest(shell, names);
    return as_fail(err, AS_USAGE, "--completion is for bash, zsh or fish, not '%s'%s%s%s", shell,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}
