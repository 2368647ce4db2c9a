/* Help texts and the man page, generated from the records of the subcommands. */
#include "cli/cli.h"
#include "run/provenance.h"

#include <string.h>

enum { WIDTH = 80, OPTION_COLUMN = 24, COMMAND_COLUMN = 12, SHORT_COLUMN = 28 };

static const char purpose[] = "measure what a machine really does";
static const char about[] =
    "assay measures memory latency and bandwidth, caches, core-to-core communication, allocation and launch cost of "
    "every device it finds. Every number has a 95% confidence interval and its provenance; a valid one has passed "
    "named checks (gates). All numbers are kept in a store that programs can read.\n\n"
    "A measurement (CELL in commands) is one combination of a probe's axis values on one device; a run is one "
    "execution of suites or probes. "
    "Every "
    "finished trial is stored at once, or within about a second where the disk is slow, so 'assay resume' can continue "
    "a "
    "run that was interrupted or killed.";

struct item {
    const char *name, *text;
};
static const struct item exits[] = {
    {"0", "success"},
    {"1", "assay itself failed, or was interrupted"},
    {"2", "wrong usage: no such option, probe, axis, device, run, measurement or file, an invalid suite, or runs "
          "without a common "
          "measurement"},
    {"3", "check or compare --check found something worse, check found a line missing, or fleet a slow device or node"},
    {"4", "measured, but some measurements were rejected, failed, crashed or timed out, the budget left out most, or a "
          "device was lost"},
    {"5", "no device to measure on, or no measurement is possible on it"},
    {NULL, NULL},
};
static const struct item variables[] = {
    {"ASSAY_STORE", "the store if --store is not given"},
    {"ASSAY_WORKER", "the worker program that measures (default: assay itself)"},
    {"XDG_DATA_HOME, HOME",
     "location of the user's store: assay/assay.db in the first, else in .local/share of the second"},
    {"NO_COLOR", "if not empty, no colours on the terminal"},
    {"COLUMNS", "width of tables"},
    {"LC_ALL, LC_CTYPE, LANG", "a UTF-8 locale allows block characters in plots; numbers never depend on it"},
    {NULL, NULL},
};

/* Appends text wrapped to WIDTH with a left margin; column is the current column of the first line. */
static void add_filled(struct as_buf *out, const char *text, size_t margin, size_t column)
{
    bool fresh = true; /* nothing on this line yet */
    as_buf_repeat(out, ' ', margin > column ? margin - column : 0);
    column = margin > column ? margin : column;
    while (*text) {
        if (*text == '\n') {
            as_buf_char(out, '\n');
            text++;
            column = 0;
            if (*text != '\n') {
                as_buf_repeat(out, ' ', margin);
                column = margin;
            }
            fresh = true;
            continue;
        }
        size_t n = strcspn(text, " \n");
        if (!fresh && column + 1 + n > WIDTH) {
            as_buf_char(out, '\n');
            as_buf_repeat(out, ' ', margin);
            column = margin;
            fresh = true;
        }
        if (!fresh) {
            as_buf_char(out, ' ');
            column++;
        }
        as_buf_add(out, text, n);
        column += n;
        fresh = false;
        text += n;
        text += *text == ' ';
    }
    as_buf_char(out, '\n');
}

static void add_item(struct as_buf *out, const char *name, const char *text, size_t margin)
{
    size_t n = strlen(name);
    as_buf_printf(out, "  %s", name);
    if (n + 4 > margin) {
        as_buf_char(out, '\n');
        n = (size_t)-2;
    }
    add_filled(out, text, margin, n + 2);
}

static void add_items(struct as_buf *out, const char *title, const struct item *items, size_t margin)
{
    as_buf_printf(out, "\n%s:\n", title);
    for (; items->name; items++)
        add_item(out, items->name, items->text, margin);
}

static void option_spelling(const struct as_option *o, struct as_buf *out)
{
    if (o->letter)
        as_buf_printf(out, "-%c, ", o->letter);
    as_buf_printf(out, "--%s", o->name);
    if (o->value)
        as_buf_printf(out, " %s", o->value);
}

static void help_command(const struct as_command *c, struct as_buf *out)
{
    struct as_buf name = AS_BUF_INIT;
    as_buf_printf(out, "assay %s: %s\n\nUsage: assay %s%s%s%s\n\n", c->name, c->summary, c->name,
                  c->options->name ? " [OPTION]..." : "", *c->args ? " " : "", c->args);
    add_filled(out, c->about, 0, 0);
    as_buf_str(out, "\nOptions:\n");
    for (const struct as_option *o = c->options; o->name; o++) {
        as_buf_clear(&name);
        option_spelling(o, &name);
        if (o->many)
            as_buf_str(&name, "...");
        add_item(out, as_buf_get(&name), o->help, OPTION_COLUMN);
    }
    add_item(out, "-h, --help", "this text", OPTION_COLUMN);
    if (*c->example) {
        as_buf_str(out, "\nExamples:\n");
        for (const char *line = c->example; *line; line += strcspn(line, "\n"), line += *line == '\n')
            as_buf_printf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
    }
    as_buf_finish(&name);
}

void as_help_text(const struct as_command *command, struct as_buf *out)
{
    if (command) {
        help_command(command, out);
        return;
    }
    as_buf_printf(out, "assay %s: %s\n\nUsage: assay SUBCOMMAND [OPTION]... [ARGUMENT]...\n\n", as_version(), purpose);
    add_filled(out, about, 0, 0);
    as_buf_str(out, "\nSubcommands:\n");
    for (size_t i = 0; as_commands[i]; i++)
        add_item(out, as_commands[i]->name, as_commands[i]->summary, COMMAND_COLUMN);
    add_items(out, "Exit codes", exits, COMMAND_COLUMN);
    add_items(out, "Environment", variables, OPTION_COLUMN);
    as_buf_str(out, "\n'assay help SUBCOMMAND' describes a subcommand.\n");
}

void as_help_short(struct as_buf *out)
{
    as_buf_printf(out, "assay %s: %s\n\n", as_version(), purpose);
    add_item(out, "assay run quick", "measure this machine, about a minute", SHORT_COLUMN);
    add_item(out, "assay", "show the data sheet of the last run", SHORT_COLUMN);
    add_item(out, "assay report -o page.html", "a report of the last run as a web page", SHORT_COLUMN);
    as_buf_str(out, "\n'assay help' lists all subcommands.\n");
}

/* Escapes text for roff: requests and escapes are protected, "-" stays a minus sign. */
static void add_roff(struct as_buf *out, const char *s)
{
    bool start = true;
    for (; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            as_buf_str(out, "\\&");
        start = *s == '\n';
        if (*s == '\\')
            as_buf_str(out, "\\e");
        else if (*s == '-')
            as_buf_str(out, "\\-");
        else if (s[0] == '\n' && s[1] == '\n') {
            as_buf_str(out, "\n.PP\n");
            s++;
        } else
            as_buf_char(out, *s);
    }
    as_buf_char(out, '\n');
}

static void man_item(struct as_buf *out, const char *name, const char *text)
{
    as_buf_str(out, ".TP\n.B ");
    add_roff(out, name);
    add_roff(out, text);
}

static void man_command(const struct as_command *c, struct as_buf *out)
{
    struct as_buf name = AS_BUF_INIT;
    as_buf_printf(out, ".SS assay %s %s\n", c->name, c->args);
    as_buf_char(&name,
                c->summary[0] >= 'a' && c->summary[0] <= 'z' ? (char)(c->summary[0] - 'a' + 'A') : c->summary[0]);
    as_buf_printf(&name, "%s.\n\n%s", c->summary + 1, c->about);
    add_roff(out, as_buf_get(&name));
    for (const struct as_option *o = c->options; o->name; o++) {
        as_buf_clear(&name);
        option_spelling(o, &name);
        man_item(out, as_buf_get(&name), o->help);
    }
    if (*c->example) {
        as_buf_str(out, ".PP\n.nf\n.RS\n");
        add_roff(out, c->example);
        as_buf_str(out, ".RE\n.fi\n");
    }
    as_buf_finish(&name);
}

void as_help_man(struct as_buf *out)
{
    as_buf_printf(out, ".TH ASSAY 1 \"\" \"assay %s\" \"User Commands\"\n", as_version());
    as_buf_printf(out, ".SH NAME\nassay \\- %s\n", purpose);
    as_buf_str(out, ".SH SYNOPSIS\n.B assay\n.I SUBCOMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n");
    as_buf_str(out, ".SH DESCRIPTION\n");
    add_roff(out, about);
    as_buf_str(out, ".SH SUBCOMMANDS\n");
    for (size_t i = 0; as_commands[i]; i++)
        man_command(as_commands[i], out);
    as_buf_str(out, ".SH EXIT STATUS\n");
    for (const struct item *e = exits; e->name; e++)
        man_item(out, e->name, e->text);
    as_buf_str(out, ".SH ENVIRONMENT\n");
    for (const struct item *v = variables; v->name; v++)
        man_item(out, v->name, v->text);
}
