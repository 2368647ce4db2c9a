#include "cli/output/deliver.h"

#include "base/text.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool as_is_terminal(const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO);
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return false;
    int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool is = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is;
}

void as_make_readable(struct as_buf *b)
{
    struct as_buf lines = AS_BUF_INIT;
    as_buf_terminal_lines(&lines, as_buf_get(b));
    lines.failed |= b->failed;
    as_buf_finish(b);
    *b = lines;
}

int as_deliver(struct as_buf *b, const char *path)
{
    struct as_error err = {0};
    if (as_is_terminal(path))
        as_make_readable(b);
    if (strcmp(path, "-") == 0)
        return as_cli_print(b, AS_EXIT_OK);
    enum as_status st = as_buf_check(b, &err);
    if (!st)
        st = as_cli_check_memory(&err);
    if (!st)
        st = as_write_file(path, as_buf_get(b), b->len, &err);
    as_buf_finish(b);
    if (st)
        return as_cli_fail(&err);
    as_cli_note("wrote %s", path);
    return AS_EXIT_OK;
}

enum as_status as_open_in_browser(const char *path, struct as_error *err)
{
#ifdef __APPLE__
    extern char **environ;
    static const char opener[] = "open";
#else
    static const char opener[] = "xdg-open";
#endif
    struct as_buf absolute = AS_BUF_INIT;
    as_buf_printf(&absolute, "%s%s", path[0] == '/' ? "" : "./", path); /* a leading '-' is not an option */
    enum as_status st = as_buf_check(&absolute, err);
    char *argv[] = {(char *)opener, (char *)as_buf_get(&absolute), NULL};
    pid_t child = 0;
    int how = 0;
    const int failed = st ? 0 : posix_spawnp(&child, opener, NULL, NULL, argv, environ);
    if (failed)
        st = as_fail(err, AS_UNSUPPORTED, "cannot run %s (%s); open \"%s\" yourself", opener, strerror(failed), path);
    else if (!st && (waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 0))
        st = as_fail(err, AS_UNSUPPORTED, "%s cannot open a page here; open \"%s\" yourself", opener, path);
    as_buf_finish(&absolute);
    return st;
}
