/* Output: checked writes to stdout, errors and notes on stderr, terminal capabilities. */
#include "base/text.h"
#include "cli/cli.h"
#include "report/terminal/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NO_TERMINAL = 100, COLUMNS_MIN = 40, COLUMNS_MAX = 400 }; /* columns of text */

static const struct {
    enum as_status status;
    enum as_exit code;
} exits[] = {
    {AS_OK, AS_EXIT_OK},
    {AS_USAGE, AS_EXIT_USAGE},
    {AS_NOTFOUND, AS_EXIT_USAGE},
    {AS_UNSUPPORTED, AS_EXIT_NOTHING},
};

/* Reports that memory ran out, without allocating. */
static void say_plainly(const char *text)
{
    fputs("assay: ", stderr);
    for (; *text; text++)
        fputc(*text < ' ' || *text > '~' ? '?' : *text, stderr);
    fputc('\n', stderr);
}

/* One line, which a terminal gets broken between words. */
static void output_say(const char *text)
{
    struct as_buf line = AS_BUF_INIT, b = AS_BUF_INIT;
    const unsigned width = as_cli_columns(STDERR_FILENO);
    as_buf_str(&line, "assay: ");
    as_buf_terminal(&line, text);
    if (width >= COLUMNS_MIN)
        as_text_hang(&b, as_buf_get(&line), width, 2, 0);
    else
        as_buf_printf(&b, "%s\n", as_buf_get(&line));
    b.failed |= line.failed;
    as_buf_finish(&line);
    if (b.failed)
        say_plainly(text);
    else
        fputs(as_buf_get(&b), stderr);
    as_buf_finish(&b);
}

int as_cli_fail(const struct as_error *err)
{
    output_say(err->text);
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        if (exits[i].status == err->code)
            return exits[i].code;
    return AS_EXIT_FAILED;
}

int as_cli_misuse(const struct as_command *command, const struct as_error *err)
{
    int code = as_cli_fail(err);
    if (code == AS_EXIT_USAGE)
        fprintf(stderr, "See 'assay %s --help'.\n", command->name);
    return code;
}

void as_cli_note(const char *fmt, ...)
{
    struct as_buf b = AS_BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    as_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    output_say(b.failed ? "out of memory for a note" : as_buf_get(&b));
    as_buf_finish(&b);
}

enum as_status as_cli_check_memory(struct as_error *err)
{
    return as_memory_failures() ? as_fail(err, AS_NOMEM, "out of memory for part of the output") : AS_OK;
}

void as_cli_without_micro(struct as_buf *b)
{
    static const char micro[] = "µ";
    struct as_buf out = AS_BUF_INIT;
    const char *from = as_buf_get(b);
    for (const char *at; (at = strstr(from, micro)); from = at + strlen(micro)) {
        as_buf_add(&out, from, (size_t)(at - from));
        as_buf_char(&out, 'u');
    }
    as_buf_str(&out, from);
    out.failed |= b->failed;
    as_buf_finish(b);
    *b = out;
}

int as_cli_print(struct as_buf *b, int code)
{
    struct as_error err = {0};
    const bool is_json = b->len && strchr("{[", as_buf_get(b)[0]);
    if (!is_json && !as_cli_utf8() && strstr(as_buf_get(b), "µ"))
        as_cli_without_micro(b);
    errno = 0;
    if (as_buf_check(b, &err) || as_cli_check_memory(&err))
        code = as_cli_fail(&err);
    else if (as_write_file("-", as_buf_get(b), b->len, &err))
        code = errno == EPIPE ? AS_EXIT_FAILED : as_cli_fail(&err);
    as_buf_finish(b);
    return code;
}

bool as_cli_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            return strstr(v, "UTF-8") || strstr(v, "utf8") || strstr(v, "utf-8") || strstr(v, "UTF8");
    }
    return false;
}

static struct winsize output_size(int fd)
{
    struct winsize size = {0};
    if (!isatty(fd))
        return size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    size.ws_col = size.ws_col ? size.ws_col : 80;
    size.ws_row = size.ws_row ? size.ws_row : 24;
    return size;
}

unsigned as_cli_columns(int fd)
{
    return output_size(fd).ws_col;
}

unsigned as_cli_rows(int fd)
{
    return output_size(fd).ws_row;
}

/* Of the terminal, or as the user says; 0: neither. */
static unsigned asked_width(void)
{
    const char *columns = getenv("COLUMNS");
    unsigned width = as_cli_columns(STDOUT_FILENO);
    uint64_t asked = 0;
    if (columns && as_parse_u64(columns, &asked, NULL) == AS_OK && asked > 0)
        width = asked < COLUMNS_MAX ? (unsigned)asked : COLUMNS_MAX;
    return width == 0 ? 0 : width < COLUMNS_MIN ? COLUMNS_MIN : width > COLUMNS_MAX ? COLUMNS_MAX : width;
}

int as_cli_print_text(struct as_buf *b, int code)
{
    const unsigned width = asked_width();
    if (width && b->len && !strchr("{[", as_buf_get(b)[0])) {
        struct as_buf fitted = AS_BUF_INIT;
        as_text_fit(&fitted, as_buf_get(b), width);
        fitted.failed |= b->failed;
        as_buf_finish(b);
        *b = fitted;
    }
    return as_cli_print(b, code);
}

enum as_status as_cli_style(const struct as_args *args, struct as_table_style *style, struct as_error *err)
{
    static const char *const words[] = {"auto", "always", "never", NULL};
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    const char *when = as_args_value(args, "colour");
    const unsigned width = asked_width();
    bool colour =
        as_cli_columns(STDOUT_FILENO) > 0 && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
    if (when && strcmp(when, "auto") != 0 && strcmp(when, "always") != 0 && strcmp(when, "never") != 0) {
        const char *near = as_nearest(when, words);
        return as_fail(err, AS_USAGE, "--colour is auto, always or never, not '%s'%s%s%s", when,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (when && strcmp(when, "auto") != 0)
        colour = strcmp(when, "always") == 0;
    *style = (struct as_table_style){
        .width = width ? width : NO_TERMINAL,
        .colour = colour,
        .unicode = as_cli_utf8(),
    };
    return AS_OK;
}

/* A store that is named goes into a folder that is there: a misspelt path makes none. */
static enum as_status check_store_folder(const char *path, struct as_error *err)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || (size_t)(slash - path) >= sizeof folder)
        return AS_OK;
    as_copy_text(folder, (size_t)(slash - path) + 1, path);
    if (!access(folder, F_OK))
        return AS_OK;
    return as_fail(err, AS_IO,
                   "there is no folder '%s' for the store '%s': make it, or give another file with --store or "
                   "ASSAY_STORE",
                   folder, path);
}

enum as_status as_cli_store(const struct as_args *args, enum as_store_mode mode, struct as_store **store,
                            struct as_error *err)
{
    const char *path = as_args_value(args, "store");
    if (path && !*path)
        return as_fail(err, AS_USAGE, "--store needs a file name");
    const char *named = path ? path : getenv("ASSAY_STORE");
    const enum as_status st = mode == AS_STORE_WRITE && named && *named ? check_store_folder(named, err) : AS_OK;
    return st ? st : as_store_open(path, mode, store, err);
}

enum as_status as_cli_existing_store(const struct as_args *args, struct as_store **store, struct as_error *err)
{
    enum as_status st = as_cli_store(args, AS_STORE_READ, store, err);
    if (st)
        return st;
    as_store_close(*store);
    *store = NULL;
    return as_cli_store(args, AS_STORE_WRITE, store, err);
}
