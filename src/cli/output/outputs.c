#include "cli/output/outputs.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options of all commands whose value is an output file. */
static const char *const output_options[] = {"output", "report", "junit", "summary", "page", "prometheus"};
enum { OUTPUTS_N = sizeof output_options / sizeof *output_options };

static bool is_output_option(const char *name)
{
    for (size_t i = 0; i < OUTPUTS_N; i++)
        if (strcmp(name, output_options[i]) == 0)
            return true;
    return false;
}

/* The location of an existing or future file. */
struct place {
    bool exists, regular;
    dev_t device;
    ino_t inode;
    char *path; /* absolute, without links; NULL if unknown; owned */
};

static struct place place_of_stat(const struct stat *info)
{
    return (struct place){
        .exists = true, .regular = S_ISREG(info->st_mode), .device = info->st_dev, .inode = info->st_ino};
}

/* The absolute path of a file that may not exist, in an existing folder. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL);
    char *folder = whole ? NULL : as_strdup(path);
    if (!folder)
        return whole;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    char *real = realpath(slash ? folder : ".", NULL);
    struct as_buf b = AS_BUF_INIT;
    if (real)
        as_buf_printf(&b, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash ? path + (slash - folder) + 1 : path);
    free(real);
    free(folder);
    return b.len ? as_buf_take(&b) : NULL;
}

static struct place outputs_place_of(const char *path)
{
    struct stat info;
    struct place p = {.exists = false};
    if (stat(path, &info) == 0)
        p = place_of_stat(&info);
    p.path = resolve(path);
    return p;
}

static bool is_same(const struct place *a, const struct place *b)
{
    if (a->exists && b->exists)
        return a->regular && b->regular && a->device == b->device && a->inode == b->inode;
    return !a->exists && !b->exists && a->path && b->path && strcmp(a->path, b->path) == 0;
}

/* A file, or one that SQLite keeps beside a database. */
static bool is_file_or_journal(const struct place *out, const char *path)
{
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    bool same = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && !same; i++) {
        struct as_buf name = AS_BUF_INIT;
        as_buf_printf(&name, "%s%s", path, suffixes[i]);
        struct place p = outputs_place_of(as_buf_get(&name));
        same = is_same(out, &p);
        free(p.path);
        as_buf_finish(&name);
    }
    return same;
}

static bool is_store(const struct as_args *args, const struct place *out)
{
    struct as_buf usual = AS_BUF_INIT;
    const char *path = as_args_value(args, "store");
    if (!path && as_store_default_path(&usual, NULL) == AS_OK)
        path = as_buf_get(&usual);
    const bool is = path && *path && is_file_or_journal(out, path);
    as_buf_finish(&usual);
    return is;
}

/* A word or value that may name a file: "FILE", "FILE:RUN". */
static bool names_file(const char *word, const struct place *out)
{
    if (access(word, F_OK) == 0)
        return is_file_or_journal(out, word);
    char *path = as_strdup(word);
    char *colon = path ? strrchr(path, ':') : NULL;
    if (colon)
        *colon = 0;
    const bool is = colon && access(path, F_OK) == 0 && is_file_or_journal(out, path);
    free(path);
    return is;
}

static bool is_input(const struct as_args *args, const struct place *out)
{
    const char *topology = getenv("HWLOC_XMLFILE");
    bool is = topology && *topology && names_file(topology, out);
    for (size_t i = 0; i < args->words && !is; i++)
        is = names_file(args->word[i], out);
    for (size_t i = 0; i < args->given_n && !is; i++)
        is = args->given[i].value && !is_output_option(args->given[i].option->name) &&
             names_file(args->given[i].value, out);
    return is;
}

static enum as_status check_access(const char *path, struct as_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return as_fail(err, AS_USAGE, "cannot write \"%s\": it is a folder; give the name of a file in it", path);
        if (access(path, W_OK) != 0)
            return as_fail(err, AS_IO, "cannot write \"%s\": %s", path, strerror(errno));
        return S_ISREG(info.st_mode) ? as_check_no_database(path, err) : AS_OK;
    }
    char *folder = as_strdup(path);
    if (!folder)
        return as_nomem(err, strlen(path), "a path");
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    enum as_status st = AS_OK;
    const bool may = access(slash ? folder : ".", W_OK) == 0;
    const int fd =
        may ? as_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1; /* root may write anywhere, as into /proc */
    if (fd >= 0) {
        close(fd);
        unlink(path);
    } else
        st = as_fail(err, AS_IO, "cannot write into the folder of \"%s\": %s", path, strerror(errno));
    free(folder);
    return st;
}

enum as_status as_check_output(const struct as_args *args, const char *path, struct as_error *err)
{
    if (strcmp(path, "-") == 0)
        return AS_OK;
    struct place out = outputs_place_of(path);
    enum as_status st = AS_OK;
    if (is_store(args, &out))
        st = as_fail(err, AS_USAGE, "cannot write \"%s\": it is the store or its journal; give another file", path);
    else if (is_input(args, &out))
        st = as_fail(err, AS_USAGE, "cannot write \"%s\": this command reads it; give another file", path);
    free(out.path);
    return st ? st : check_access(path, err);
}

/* Appending to the store would damage it too. */
static enum as_status check_stdout(const struct as_args *args, struct as_error *err)
{
    struct stat info;
    if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISREG(info.st_mode))
        return AS_OK;
    const struct place out = place_of_stat(&info);
    return is_store(args, &out) ? as_fail(err, AS_USAGE, "stdout is the store; redirect it to another file") : AS_OK;
}

enum as_status as_check_outputs(const struct as_args *args, struct as_error *err)
{
    struct place places[OUTPUTS_N] = {0};
    size_t n = 0;
    enum as_status st = check_stdout(args, err);
    for (size_t i = 0; i < OUTPUTS_N && !st; i++) {
        const char *path = as_args_value(args, output_options[i]);
        if (!path || (st = as_check_output(args, path, err)))
            continue;
        places[n] = outputs_place_of(path);
        for (size_t k = 0; k < n && !st; k++)
            if (is_same(&places[k], &places[n]))
                st = as_fail(err, AS_USAGE, "\"%s\" is named for two outputs; give each its own file", path);
        n++;
    }
    for (size_t i = 0; i < n; i++)
        free(places[i].path);
    return st;
}
