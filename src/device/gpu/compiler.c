/* Common code of run-time compilers. */
#include "device/gpu/compiler.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 1 << 24, CODE_MAX = 1 << 28, OPTIONS_MAX = 48 };

static enum as_status fail_compile(const struct as_gpu_compiler *compiler, struct as_gpu_compilation *source,
                                   int result, const char *name, struct as_error *err)
{
    size_t n = 0;
    char *log = NULL, complaint[380];
    if (source && !compiler->log_bytes(source, &n) && n && n < LOG_MAX)
        log = calloc(n + 1, 1);
    bool has_log = log && !compiler->log(source, log);
    as_dialect_complaint(has_log ? log : NULL, complaint, sizeof complaint);
    free(log);
    const char *words = compiler->words(result);
    return as_fail(err, result == compiler->out_of_memory ? AS_NOMEM : AS_FAILED,
                   "%s: program '%s' does not build (%s): %s", compiler->api, name, words ? words : "no reason given",
                   complaint);
}

static enum as_status gpu_compiler_get_code(const struct as_gpu_compiler *compiler, struct as_gpu_compilation *source,
                                            const char *name, unsigned char **code, size_t *bytes, struct as_error *err)
{
    if (compiler->code_bytes(source, bytes) || *bytes == 0)
        return as_fail(err, AS_FAILED, "%s: %s returned no machine code for program '%s'", compiler->api,
                       compiler->name, name);
    if (*bytes > CODE_MAX)
        return as_fail(err, AS_FAILED, "%s: %s reports program '%s' as %zu bytes of machine code", compiler->api,
                       compiler->name, name, *bytes);
    *code = calloc(*bytes, 1); /* zeroed, since all of it is hashed even if the compiler fills less */
    if (!*code)
        return as_nomem(err, *bytes, "machine code");
    int result = compiler->code(source, (char *)*code);
    if (!result)
        return AS_OK;
    free(*code);
    *code = NULL;
    return fail_compile(compiler, source, result, name, err);
}

/* Splits text at blanks, in place, and appends the words to the n in out. */
static enum as_status gpu_compiler_split(char *text, const char **out, size_t *n, const char *name,
                                         struct as_error *err)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (*n == OPTIONS_MAX)
            return as_fail(err, AS_USAGE, "program '%s' has more than %d options", name, (int)OPTIONS_MAX);
        out[(*n)++] = word;
    }
    return AS_OK;
}

enum as_status as_gpu_compile(const struct as_gpu_compiler *compiler, const struct as_program_desc *desc,
                              const char *const *options, size_t n, unsigned char **code, size_t *bytes,
                              struct as_error *err)
{
    const char *all[OPTIONS_MAX];
    struct as_buf text = AS_BUF_INIT;
    struct as_gpu_compilation *source = NULL;
    *code = NULL;
    *bytes = 0;
    const char *defines = desc->defines ? desc->defines : "";
    char *words = as_strdup(defines);
    if (!words)
        return as_nomem(err, strlen(defines), "options");
    memcpy(all, options, n * sizeof *all);
    as_dialect_source(compiler->dialect, desc->source, &text);
    enum as_status st = as_buf_check(&text, err);
    if (!st)
        st = gpu_compiler_split(words, all, &n, desc->name, err);
    if (st)
        goto done;
    int result = compiler->build(compiler->library, as_buf_get(&text), desc->name, all, (int)n, &source);
    st = result ? fail_compile(compiler, source, result, desc->name, err)
                : gpu_compiler_get_code(compiler, source, desc->name, code, bytes, err);
done:
    if (source)
        compiler->destroy(&source);
    as_buf_finish(&text);
    free(words);
    return st;
}
