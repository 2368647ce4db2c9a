#include "assembly.h"

#include "base/buf.h"
#include "base/text.h"
#include "device/dialect/dialect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 48, TEXT_MAX = 64 << 20 };

/* The compiler's process: source in, assembly and complaints out, all by files. */
static int run(char *const *words, const char *complaints)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int fd = open(complaints, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0 && dup2(fd, 2) >= 0)
            execv(words[0], words);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static enum as_status compile(const struct as_program_desc *desc, const char *arch, const char *folder,
                              struct as_buf *text, struct as_error *err)
{
    static const char fixed[] = "-x hip --cuda-device-only -nogpuinc -nogpulib -std=c++17 -O3 -Wno-pass-failed "
                                "-DAS_WALL_KHZ=100000 -S";
    char source[64], out[64], complaints[64], target[64], options[1024];
    char *words[WORDS_MAX], *save = NULL;
    struct as_buf b = AS_BUF_INIT;
    snprintf(source, sizeof source, "%s/k.hip", folder);
    snprintf(out, sizeof out, "%s/k.s", folder);
    snprintf(complaints, sizeof complaints, "%s/errors", folder);
    snprintf(target, sizeof target, "--offload-arch=%s", arch);
    as_dialect_source(AS_DIALECT_HIP, desc->source, &b);
    FILE *f = fopen(source, "w");
    bool written = f && fputs(as_buf_get(&b), f) >= 0;
    written = f && fclose(f) == 0 && written;
    as_buf_finish(&b);
    if (!written)
        return as_fail(err, AS_IO, "'%s' cannot be written", source);
    int length = snprintf(options, sizeof options, "%s %s %s %s -o %s %s", getenv("ASSAY_HIP_CLANG"), fixed, target,
                          desc->defines ? desc->defines : "", out, source);
    if (length < 0 || (size_t)length >= sizeof options)
        return as_fail(err, AS_USAGE, "too many options");
    size_t n = 0;
    for (char *w = strtok_r(options, " ", &save); w && n < WORDS_MAX - 1; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    words[n] = NULL;
    if (n == 0)
        return as_fail(err, AS_USAGE, "ASSAY_HIP_CLANG is empty");
    int status = run(words, complaints);
    if (status == 0)
        return as_buf_read_file(text, out, TEXT_MAX, err);
    (void)as_buf_read_file(text, complaints, 4096, NULL);
    return as_fail(err, AS_FAILED, "%s: %.300s", words[0], as_buf_get(text));
}

enum as_status assembly_of(const struct as_program_desc *desc, const char *arch, unsigned char **text, size_t *bytes,
                           struct as_error *err)
{
    static const char *const files[] = {"k.hip", "k.s", "errors"};
    char folder[] = "/tmp/assay-hip-XXXXXX", path[64];
    struct as_buf b = AS_BUF_INIT;
    *text = NULL;
    if (!mkdtemp(folder))
        return as_fail(err, AS_IO, "no folder in /tmp");
    enum as_status s = compile(desc, arch, folder, &b, err);
    if (!s) {
        *bytes = b.len;
        *text = (unsigned char *)as_strdup(as_buf_get(&b));
        s = *text ? AS_OK : as_nomem(err, b.len, "assembly");
    }
    as_buf_finish(&b);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return s;
}

/* The kernel's first line of code, and where its code ends. */
static const char *find_kernel(const unsigned char *text, const char *kernel, const char **end)
{
    char label[80];
    snprintf(label, sizeof label, "\n%s:", kernel);
    const char *at = strstr((const char *)text, label);
    *end = at ? strstr(at, "\n.Lfunc_end") : NULL;
    return *end ? at + 1 : NULL;
}

static bool starts_with_one(const char *at, const char *names)
{
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (strncmp(at, names, n) == 0)
            return true;
    }
    return false;
}

enum as_status assembly_count(const unsigned char *text, const char *kernel, const char *names, uint64_t *n,
                              struct as_error *err)
{
    const char *end, *at = find_kernel(text, kernel, &end);
    *n = 0;
    if (!at)
        return as_fail(err, AS_FAILED, "there is no kernel '%s'", kernel);
    for (; at && at < end; at = strchr(at, '\n') + 1) {
        const char *word = at + strspn(at, " \t"), *second = strstr(at, ":: ");
        *n += word > at && starts_with_one(word, names);
        if (second && second < strchr(at, '\n')) /* two at once */
            *n += starts_with_one(second + 3, names);
    }
    return AS_OK;
}

/* One instruction of the pairs does the operation twice. */
static const struct {
    const char *operation, *names, *pairs;
} operations[] = {
    {"load.global", "global_load_", NULL},
    {"load.global.128", "global_load_dwordx4 global_load_b128", NULL},
    {"store.global", "global_store_", NULL},
    {"store.global.128", "global_store_dwordx4 global_store_b128", NULL},
    {"load.local", "ds_read ds_load", "ds_read2 ds_load_2addr"},
    {"store.local", "ds_write ds_store", "ds_write2 ds_store_2addr"},
    {"load.const", "s_load_", NULL},
    {"atomic.global", "global_atomic_", NULL},
    {"atomic.generic", "flat_atomic_", NULL},
    {"swap.global", "global_atomic_cmpswap", NULL},
    {"any", "s_ v_ global_ flat_ scratch_ buffer_ ds_", NULL},
    {"add.f32", "v_add_f32 v_dual_add_f32", NULL},
    {"add.f64", "v_add_f64", NULL},
    {"mul.f32", "v_mul_f32 v_dual_mul_f32", NULL},
    {"mul.f64", "v_mul_f64", NULL},
    {"fma.f16", "v_pk_fma_f16", NULL},
    {"fma.f32", "v_fma_f32 v_fmac_f32 v_fmamk_f32 v_fmaak_f32 v_pk_fma_f32 v_dual_fmac_f32", "v_pk_fma_f32"},
    {"fma.f64", "v_fma_f64 v_fmac_f64", NULL},
};

enum as_status assembly_operations(const unsigned char *text, size_t bytes, const char *kernel, const char *operation,
                                   uint64_t *n, struct as_error *err)
{
    (void)bytes;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        uint64_t more = 0;
        if (strcmp(operations[i].operation, operation) != 0)
            continue;
        enum as_status s = assembly_count(text, kernel, operations[i].names, n, err);
        if (!s && operations[i].pairs)
            s = assembly_count(text, kernel, operations[i].pairs, &more, err);
        *n += more;
        return s;
    }
    return as_fail(err, AS_USAGE, "no name of an instruction is known for '%s'", operation);
}

enum as_status assembly_code_bytes(const unsigned char *text, size_t bytes, const char *kernel, uint64_t *n,
                                   struct as_error *err)
{
    const char *end, *at = find_kernel(text, kernel, &end), *size = at ? strstr(end, "; codeLenInByte = ") : NULL;
    (void)bytes;
    if (!size)
        return as_fail(err, AS_FAILED, "there is no kernel '%s'", kernel);
    *n = strtoull(size + strlen("; codeLenInByte = "), NULL, 10);
    return AS_OK;
}
