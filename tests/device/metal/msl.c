#include "msl.h"

#include "base/buf.h"
#include "device/dialect/dialect.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, LINE_MAX_BYTES = 2048, COMPLAINTS_MAX = 64 << 10 };

const char *msl_missing(void)
{
    const char *clang = getenv("ASSAY_MSL_CLANG");
    return clang && clang[0] ? NULL : "no clang++ of version 17 or later; install clang-19";
}

/* Runs a command of blank-separated words; its messages go into a file. */
static int run_command(char *line, const char *complaints)
{
    char *words[WORDS_MAX], *save = NULL;
    size_t n = 0;
    int status = -1;
    for (char *w = strtok_r(line, " ", &save); w && n < WORDS_MAX - 1; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    words[n] = NULL;
    pid_t child = n ? fork() : -1;
    if (child == 0) {
        int fd = open(complaints, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0 && dup2(fd, 2) >= 0)
            execvp(words[0], words);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static enum as_status tool(const char *line, const char *folder, struct as_error *err)
{
    char copy[LINE_MAX_BYTES], complaints[64];
    struct as_buf text = AS_BUF_INIT;
    if (strlen(line) >= sizeof copy)
        return as_fail(err, AS_USAGE, "too many options");
    strcpy(copy, line);
    snprintf(complaints, sizeof complaints, "%s/errors", folder);
    if (run_command(copy, complaints) == 0)
        return AS_OK;
    char why[400];
    (void)as_buf_read_file(&text, complaints, COMPLAINTS_MAX, NULL);
    as_dialect_complaint(as_buf_get(&text), why, sizeof why);
    as_buf_finish(&text);
    return as_fail(err, AS_FAILED, "%s", why);
}

static enum as_status write_source(const char *source, const char *folder, struct as_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/k.metal", folder);
    FILE *f = fopen(path, "w");
    bool written = f && fputs(source, f) >= 0;
    written = f && fclose(f) == 0 && written;
    return written ? AS_OK : as_fail(err, AS_IO, "'%s' cannot be written", path);
}

static enum as_status compile(const struct msl_request *r, const char *folder, struct msl_program *program,
                              struct as_error *err)
{
    const char *clang = getenv("ASSAY_MSL_CLANG"), *here = getenv("ASSAY_MSL_FOLDER");
    const char *target = getenv("ASSAY_MSL_TARGET"); /* options if the host is not the compiler's default target */
    char line[LINE_MAX_BYTES], version[48], path[64];
    enum as_status st = write_source(r->source, folder, err);
    snprintf(version, sizeof version, "-D__METAL_VERSION__=%u", r->version);
    snprintf(line, sizeof line, "%s -I -S %s/msl.py %s %s/k.metal %s/k.cpp %s %s", getenv("ASSAY_MSL_PYTHON"), here,
             clang, folder, folder, version, r->defines ? r->defines : "");
    if (!st)
        st = tool(line, folder, err);
    /* Unrolled loops take longer to compile than they save. */
    snprintf(line, sizeof line,
             "%s %s -x c++ -std=c++%s -nostdinc -nostdinc++ -I%s %s -Wall -Werror -Wno-unused -Wno-pass-failed "
             "-ffp-contract=off "
             "-fno-strict-aliasing %s %s %s/k.cpp %s%s%s",
             clang, target ? target : "", r->version < 400 ? "17" : "20", here, version,
             program ? "-fPIC -shared" : "-fsyntax-only",
             r->optimised ? "-O1 -mllvm -pragma-unroll-threshold=0" : "-O0", folder, program ? "-lm -o " : "",
             program ? folder : "", program ? "/k.so" : "");
    if (!st)
        st = tool(line, folder, err);
    snprintf(path, sizeof path, "%s/k.so", folder);
    if (!st && program)
        st = msl_open(path, program, err);
    snprintf(path, sizeof path, "%s/k.cpp", folder);
    return st || !r->translated ? st : as_buf_read_file(r->translated, path, SIZE_MAX, err);
}

enum as_status msl_compile(const struct msl_request *r, struct msl_program *program, struct as_error *err)
{
    static const char *const files[] = {"k.metal", "k.cpp", "k.so", "errors"};
    char folder[] = "/tmp/kernel-msl-XXXXXX", path[64];
    if (!mkdtemp(folder))
        return as_fail(err, AS_IO, "no folder in /tmp");
    enum as_status st = compile(r, folder, program, err);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return st;
}
