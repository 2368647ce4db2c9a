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

static enum as_status compiler(const char *arguments, const char *folder, struct as_error *err)
{
    char line[1024], complaints[64], *words[WORDS_MAX], *save = NULL;
    struct as_buf text = AS_BUF_INIT;
    size_t n = 0;
    snprintf(complaints, sizeof complaints, "%s/errors", folder);
    int length = snprintf(line, sizeof line, "%s %s", getenv("ASSAY_HIP_CLANG"), arguments);
    if (length < 0 || (size_t)length >= sizeof line)
        return as_fail(err, AS_USAGE, "too many options");
    for (char *w = strtok_r(line, " ", &save); w && n < WORDS_MAX - 1; w = strtok_r(NULL, " ", &save))
        words[n++] = w;
    words[n] = NULL;
    if (n == 0)
        return as_fail(err, AS_USAGE, "ASSAY_HIP_CLANG is empty");
    if (run(words, complaints) == 0)
        return AS_OK;
    (void)as_buf_read_file(&text, complaints, 4096, NULL);
    (void)as_fail(err, AS_FAILED, "%s: %.300s", words[0], as_buf_get(&text));
    as_buf_finish(&text);
    return AS_FAILED;
}

static enum as_status write_source(const struct as_program_desc *desc, const char *folder, struct as_error *err)
{
    char path[64];
    struct as_buf b = AS_BUF_INIT;
    snprintf(path, sizeof path, "%s/k.hip", folder);
    as_dialect_source(AS_DIALECT_HIP, desc->source, &b);
    FILE *f = fopen(path, "w");
    bool written = f && fputs(as_buf_get(&b), f) >= 0;
    written = f && fclose(f) == 0 && written;
    as_buf_finish(&b);
    return written ? AS_OK : as_fail(err, AS_IO, "'%s' cannot be written", path);
}

static enum as_status compile(const struct as_program_desc *desc, const char *arch, const char *folder,
                              struct as_buf *text, struct as_buf *object, struct as_error *err)
{
    char arguments[1024], path[64];
    enum as_status s = write_source(desc, folder, err);
    snprintf(arguments, sizeof arguments,
             "-x hip --cuda-device-only -nogpuinc -nogpulib -std=c++17 -O3 -Wno-pass-failed -DAS_WALL_KHZ=100000 -S "
             "--offload-arch=%s %s -o %s/k.s %s/k.hip",
             arch, desc->defines ? desc->defines : "", folder, folder);
    if (!s)
        s = compiler(arguments, folder, err);
    snprintf(arguments, sizeof arguments, "-x assembler -target amdgcn-amd-amdhsa -mcpu=%s -c -o %s/k.o %s/k.s", arch,
             folder, folder);
    if (!s)
        s = compiler(arguments, folder, err);
    snprintf(path, sizeof path, "%s/k.s", folder);
    if (!s)
        s = as_buf_read_file(text, path, TEXT_MAX, err);
    snprintf(path, sizeof path, "%s/k.o", folder);
    return s ? s : as_buf_read_file(object, path, TEXT_MAX, err);
}

enum as_status assembly_of(const struct as_program_desc *desc, const char *arch, unsigned char **text, size_t *bytes,
                           struct as_error *err)
{
    static const char *const files[] = {"k.hip", "k.s", "k.o", "errors"};
    char folder[] = "/tmp/kernel-hip-XXXXXX", path[64];
    struct as_buf b = AS_BUF_INIT, object = AS_BUF_INIT;
    *text = NULL;
    if (!mkdtemp(folder))
        return as_fail(err, AS_IO, "no folder in /tmp");
    enum as_status s = compile(desc, arch, folder, &b, &object, err);
    if (!s) {
        *bytes = b.len + 1 + object.len;
        *text = malloc(*bytes);
        s = *text ? AS_OK : as_nomem(err, *bytes, "assembly");
    }
    if (!s) {
        memcpy(*text, as_buf_get(&b), b.len + 1);
        memcpy(*text + b.len + 1, object.data, object.len);
    }
    as_buf_finish(&b);
    as_buf_finish(&object);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return s;
}

const unsigned char *assembly_object(const unsigned char *text, size_t bytes, size_t *object_bytes)
{
    size_t n = strlen((const char *)text) + 1;
    *object_bytes = bytes - n;
    return text + n;
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

static enum as_status count(const unsigned char *text, const char *kernel, const char *names, bool halves, uint64_t *n,
                            struct as_error *err)
{
    const char *end, *at = find_kernel(text, kernel, &end);
    *n = 0;
    if (!at)
        return as_fail(err, AS_FAILED, "there is no kernel '%s'", kernel);
    for (; at && at < end; at = strchr(at, '\n') + 1) {
        const char *word = at + strspn(at, " \t"), *second = halves ? strstr(at, ":: ") : NULL;
        *n += word > at && starts_with_one(word, names);
        if (second && second < strchr(at, '\n')) /* two at once */
            *n += starts_with_one(second + 3, names);
    }
    return AS_OK;
}

enum as_status assembly_count(const unsigned char *text, const char *kernel, const char *names, uint64_t *n,
                              struct as_error *err)
{
    return count(text, kernel, names, true, n, err);
}

/* One instruction of the pairs does the operation twice, and one of `not` is none. */
static const struct {
    const char *operation, *names, *pairs, *not ;
} operations[] = {
    {"load.global", "global_load_ flat_load_", NULL, "global_load_lds_"},
    {"load.global.128", "global_load_dwordx4 global_load_b128 flat_load_dwordx4 flat_load_b128", NULL, NULL},
    {"store.global", "global_store_ flat_store_", NULL, NULL},
    {"store.global.128", "global_store_dwordx4 global_store_b128 flat_store_dwordx4 flat_store_b128", NULL, NULL},
    {"load.local", "ds_read ds_load", "ds_read2 ds_load_2addr", NULL},
    {"store.local", "ds_write ds_store_", "ds_write2 ds_store_2addr", NULL},
    {"load.const", "s_load_", NULL, NULL},
    {"atomic.global", "global_atomic_", NULL, NULL},
    {"atomic.generic", "flat_atomic_", NULL, NULL},
    {"atomic.local",
     "ds_add ds_sub ds_rsub ds_inc ds_dec ds_min ds_max ds_and ds_or ds_xor ds_mskor ds_cmpst ds_pk_add ds_wrap "
     "ds_wrxchg ds_storexchg ds_condxchg",
     NULL, NULL},
    {"swap.global", "global_atomic_cmpswap", NULL, NULL},
    {"any", "s_ v_ global_ flat_ scratch_ buffer_ ds_", NULL, "s_nop s_code_end"},
    {"add.f32", "v_add_f32 v_dual_add_f32 v_pk_add_f32", "v_pk_add_f32", NULL},
    {"add.f64", "v_add_f64", NULL, NULL},
    {"mul.f32", "v_mul_f32 v_dual_mul_f32 v_pk_mul_f32", "v_pk_mul_f32", NULL},
    {"mul.f64", "v_mul_f64", NULL, NULL},
    {"fma.f16", "v_pk_fma_f16 v_pk_fmac_f16", NULL, NULL},
    {"fma.f32",
     "v_fma_f32 v_fmac_f32 v_fmamk_f32 v_fmaak_f32 v_pk_fma_f32 v_dual_fmac_f32 v_dual_fmamk_f32 v_dual_fmaak_f32",
     "v_pk_fma_f32", NULL},
    {"fma.f64", "v_fma_f64 v_fmac_f64", NULL, NULL},
    {"matrix", "v_mfma_ v_smfmac_ v_wmma_", NULL, NULL},
    {"clock", "s_memtime", NULL, NULL},
    {"branch", "s_branch s_cbranch_", NULL, NULL},
    {"barrier", "s_barrier", NULL, NULL},
};

enum as_status assembly_operations(const unsigned char *text, const char *kernel, const char *operation, uint64_t *n,
                                   struct as_error *err)
{
    size_t i = 0;
    uint64_t more = 0, less = 0;
    while (i < sizeof operations / sizeof *operations && strcmp(operations[i].operation, operation) != 0)
        i++;
    if (i == sizeof operations / sizeof *operations)
        return as_fail(err, AS_NOTFOUND, "no name of an instruction is known for '%s'", operation);
    /* two in one instruction are one instruction */
    enum as_status s = count(text, kernel, operations[i].names, strcmp(operation, "any") != 0, n, err);
    if (!s && operations[i].pairs)
        s = assembly_count(text, kernel, operations[i].pairs, &more, err);
    if (!s && operations[i].not )
        s = assembly_count(text, kernel, operations[i].not, &less, err);
    *n += more - less;
    return s;
}

/* Names in the code say nothing of the encoding. */
static void add_name(const char *at, struct as_instructions *out)
{
    static const char *const endings[] = {"_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp"};
    char name[sizeof out->list->name];
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    for (size_t i = sizeof endings / sizeof *endings; i-- > 0;) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = 0;
    }
    as_instructions_add(out, name);
}

enum as_status assembly_instructions(const unsigned char *text, const char *kernel, struct as_instructions *out,
                                     struct as_error *err)
{
    static const char begins[] = "s_ v_ global_ flat_ scratch_ buffer_ ds_", nothing[] = "s_nop s_code_end";
    const char *end, *at = find_kernel(text, kernel, &end);
    *out = (struct as_instructions){.n = 0};
    if (!at)
        return as_fail(err, AS_FAILED, "there is no kernel '%s'", kernel);
    for (; at && at < end; at = strchr(at, '\n') + 1) {
        const char *word = at + strspn(at, " \t"), *second = strstr(at, ":: ");
        if (word == at || !starts_with_one(word, begins) || starts_with_one(word, nothing))
            continue;
        add_name(word, out);
        if (second && second < strchr(at, '\n'))
            add_name(second + 3, out);
    }
    return AS_OK;
}
