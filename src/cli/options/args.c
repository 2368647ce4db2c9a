/* Parses the command line by the option records of a subcommand. */
#include "base/text.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct as_option *option_by_letter(const struct as_command *command, char letter)
{
    for (const struct as_option *o = command->options; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static const struct as_option *option_by_name(const struct as_command *command, const char *name, size_t len)
{
    for (const struct as_option *o = command->options; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static enum as_status unknown_option(const struct as_command *command, const char *name, size_t len,
                                     struct as_error *err)
{
    enum { NAMES_MAX = 32 };
    const char *names[NAMES_MAX + 2];
    size_t n = 0;
    char word[64];
    as_copy_text(word, len + 1 < sizeof word ? len + 1 : sizeof word, name);
    for (const struct as_option *o = command->options; o->name && n < NAMES_MAX; o++)
        names[n++] = o->name;
    names[n++] = "help";
    names[n] = NULL;
    const char *near = as_nearest(word, names);
    return as_fail(err, AS_USAGE, "'%s' has no option '--%s'%s%s%s", command->name, word,
                   near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

/* Lists that are given several times are one list. */
static enum as_status join_lists(struct as_given *given, const char *more, struct as_error *err)
{
    struct as_buf both = AS_BUF_INIT;
    as_buf_printf(&both, "%s,%s", given->value, more);
    free(given->joined);
    given->value = given->joined = as_buf_take(&both);
    return given->joined ? AS_OK : as_nomem(err, strlen(more), "arguments");
}

static enum as_status add_given(struct as_args *out, const struct as_option *option, const char *value,
                                struct as_error *err)
{
    const bool is_list = option->value && strcmp(option->value, "LIST") == 0;
    if (value && !value[0]) /* an unset variable of a script, which no default should stand for */
        return as_fail(err, AS_USAGE, "--%s needs %s: the one given is empty", option->name, option->value);
    for (size_t i = 0; i < out->given_n && !option->many; i++)
        if (out->given[i].option == option)
            return is_list ? join_lists(&out->given[i], value, err)
                           : as_fail(err, AS_USAGE, "'--%s' is given twice", option->name);
    out->given[out->given_n++] = (struct as_given){option, value, NULL};
    return AS_OK;
}

/* One "--name", "--name=value" or "--name value"; *at skips a separate value. */
static enum as_status parse_long(const struct as_command *command, struct as_args *out, int *at, struct as_error *err)
{
    const char *name = out->argv[*at] + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct as_option *o = option_by_name(command, name, len);
    if (!o)
        return unknown_option(command, name, len, err);
    if (!o->value && equals)
        return as_fail(err, AS_USAGE, "'--%s' takes no value", o->name);
    const char *value = equals ? equals + 1 : NULL;
    if (o->value && !value) {
        if (*at + 1 >= out->argc)
            return as_fail(err, AS_USAGE, "'--%s' needs a value: --%s %s", o->name, o->name, o->value);
        value = out->argv[++*at];
        if (strncmp(value, "--", 2) == 0) /* '--name=value' accepts any text */
            return as_fail(err, AS_USAGE, "'--%s' needs %s, not '%s'", o->name, o->value, value);
    }
    return add_given(out, o, value, err);
}

/* "-o FILE" or "-oFILE"; flags may stand together. */
static enum as_status parse_letters(const struct as_command *command, struct as_args *out, int *at,
                                    struct as_error *err)
{
    const char *letters = out->argv[*at] + 1;
    for (size_t i = 0; letters[i]; i++) {
        const struct as_option *o = option_by_letter(command, letters[i]);
        if (!o)
            return as_fail(err, AS_USAGE, "'%s' has no option '-%c'", command->name, letters[i]);
        const char *value = NULL;
        if (o->value) {
            value = letters[i + 1] ? letters + i + 1 : *at + 1 < out->argc ? out->argv[++*at] : NULL;
            if (!value)
                return as_fail(err, AS_USAGE, "'-%c' needs a value: -%c %s", o->letter, o->letter, o->value);
        }
        enum as_status st = add_given(out, o, value, err);
        if (st || value)
            return st;
    }
    return AS_OK;
}

static enum as_status check_words(const struct as_command *command, const struct as_args *args, struct as_error *err)
{
    if ((int)args->words < command->min_args)
        return as_fail(err, AS_USAGE, "'%s' needs %s", command->name, command->args);
    if (command->max_args >= 0 && (int)args->words > command->max_args)
        return as_fail(err, AS_USAGE, "'%s' does not take '%s'", command->name, args->word[command->max_args]);
    const size_t own = command->ends_options && args->words > 1 ? 1 : args->words; /* the others may be empty */
    for (size_t i = 0; i < own; i++)
        if (args->word[i] && !args->word[i][0])
            return as_fail(err, AS_USAGE, "argument %zu of '%s' is empty: %s", i + 1, command->name, command->args);
    return AS_OK;
}

enum as_status as_args_parse(const struct as_command *command, int argc, char **argv, int first, struct as_args *out,
                             struct as_error *err)
{
    *out = (struct as_args){.argc = argc, .argv = argv};
    size_t room = (size_t)argc + 1;
    for (int i = first; i < argc; i++) /* clustered short options */
        room += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 0;
    out->word = calloc(room, sizeof *out->word);
    out->given = calloc(room, sizeof *out->given);
    if (!out->word || !out->given)
        return as_nomem(err, room * sizeof *out->given, "arguments");
    bool options = true;
    enum as_status st = AS_OK;
    for (int i = first; i < argc && !st; i++) {
        const char *a = argv[i];
        if (options && strcmp(a, "--") == 0) {
            options = false;
        } else if (options && (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0)) {
            out->help = true;
        } else if (options && a[0] == '-' && a[1] == '-') {
            st = parse_long(command, out, &i, err);
        } else if (options && a[0] == '-' && a[1] && !(a[1] >= '0' && a[1] <= '9')) { /* "-1" names a run, "-" stdout */
            st = parse_letters(command, out, &i, err);
        } else {
            out->word[out->words++] = a;
            options &= !command->ends_options;
        }
    }
    return st || out->help ? st : check_words(command, out, err);
}

void as_args_finish(struct as_args *args)
{
    for (size_t i = 0; i < args->given_n; i++)
        free(args->given[i].joined);
    free(args->word);
    free(args->given);
    args->word = NULL;
    args->given = NULL;
    args->given_n = 0;
}

static const struct as_given *find_given(const struct as_args *args, const char *option)
{
    for (size_t i = 0; i < args->given_n; i++)
        if (strcmp(args->given[i].option->name, option) == 0)
            return &args->given[i];
    return NULL;
}

const char *as_args_value(const struct as_args *args, const char *option)
{
    const struct as_given *g = find_given(args, option);
    return g ? g->value : NULL;
}

bool as_args_flag(const struct as_args *args, const char *option)
{
    return find_given(args, option) != NULL;
}

enum as_status as_args_values(const struct as_args *args, const char *option, const char ***list, size_t *n,
                              struct as_error *err)
{
    *n = 0;
    *list = calloc(args->given_n + 1, sizeof **list);
    if (!*list)
        return as_nomem(err, (args->given_n + 1) * sizeof **list, "arguments");
    for (size_t i = 0; i < args->given_n; i++)
        if (strcmp(args->given[i].option->name, option) == 0)
            (*list)[(*n)++] = args->given[i].value;
    return AS_OK;
}

const char *as_args_word(const struct as_args *args, size_t i)
{
    return i < args->words ? args->word[i] : NULL;
}

static enum as_status in_option(const char *option, struct as_error *err)
{
    char prefix[48] = "--";
    as_copy_text(prefix + 2, sizeof prefix - 2, option);
    as_fail_in(err, prefix);
    return err->code = AS_USAGE;
}

enum as_status as_args_number(const struct as_args *args, const char *option, const struct as_args_range *range,
                              double *out, struct as_error *err)
{
    const char *text = as_args_value(args, option);
    double v = 0;
    if (!text)
        return AS_OK;
    if (range->parse(text, &v, err))
        return in_option(option, err);
    if (!(v >= range->lo && v <= range->hi)) {
        as_fail(err, AS_USAGE, "'%s' is not within %s", text, range->words);
        return in_option(option, err);
    }
    *out = v;
    return AS_OK;
}

static bool is_whole_number(const char *text)
{
    text += *text == '-';
    return *text && !text[strspn(text, "0123456789")];
}

enum as_status as_args_u64(const struct as_args *args, const char *option, uint64_t lo, uint64_t hi, uint64_t *out,
                           struct as_error *err)
{
    const char *text = as_args_value(args, option);
    uint64_t v = 0;
    if (!text)
        return AS_OK;
    const bool parsed = as_parse_u64(text, &v, err) == AS_OK;
    if (!parsed && !is_whole_number(text))
        return in_option(option, err);
    if (!parsed || v < lo || v > hi) {
        as_fail(err, AS_USAGE, "'%s' is not within %llu to %llu", text, (unsigned long long)lo, (unsigned long long)hi);
        return in_option(option, err);
    }
    *out = v;
    return AS_OK;
}

/* A word, quoted for a shell. */
static void args_quote(const char *word, struct as_buf *out)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:%+@")]) {
        as_buf_str(out, word);
        return;
    }
    as_buf_char(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            as_buf_str(out, "'\\''");
        else
            as_buf_char(out, *word);
    as_buf_char(out, '\'');
}

void as_args_add_store(const char *store, struct as_buf *out)
{
    struct as_buf word = AS_BUF_INIT;
    if (!store)
        return;
    args_quote(store, &word);
    as_buf_str(out, " --store ");
    as_buf_terminal(out, as_buf_get(&word));
    out->failed |= word.failed;
    as_buf_finish(&word);
}

void as_args_command(const struct as_args *args, struct as_buf *out)
{
    as_buf_str(out, "assay");
    for (int i = 1; i < args->argc; i++) {
        as_buf_char(out, ' ');
        args_quote(args->argv[i], out);
    }
}
