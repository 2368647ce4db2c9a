#include "assembly.h"

#include "base/buf.h"
#include "base/text.h"
#include "device/dialect/dialect.h"
#include "device/hip/hip.h"
#include "device/hip/instructions.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 48, TEXT_MAX = 64 << 20 };

/* The compiler process: reads source from a file, writes assembly and messages to files. */
static int run_compiler(char *const *words, const char *complaints)
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
    if (run_compiler(words, complaints) == 0)
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
    enum as_status st = write_source(desc, folder, err);
    snprintf(arguments, sizeof arguments,
             "-x hip --cuda-device-only -nogpuinc -nogpulib -std=c++17 -O3 -Wno-pass-failed -DAS_WALL_KHZ=100000 -S "
             "--offload-arch=%s %s -o %s/k.s %s/k.hip",
             arch, desc->defines ? desc->defines : "", folder, folder);
    if (!st)
        st = compiler(arguments, folder, err);
    snprintf(arguments, sizeof arguments, "-x assembler -target amdgcn-amd-amdhsa -mcpu=%s -c -o %s/k.o %s/k.s", arch,
             folder, folder);
    if (!st)
        st = compiler(arguments, folder, err);
    snprintf(path, sizeof path, "%s/k.s", folder);
    if (!st)
        st = as_buf_read_file(text, path, TEXT_MAX, err);
    snprintf(path, sizeof path, "%s/k.o", folder);
    return st ? st : as_buf_read_file(object, path, TEXT_MAX, err);
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
    enum as_status st = compile(desc, arch, folder, &b, &object, err);
    if (!st) {
        *bytes = b.len + 1 + object.len;
        *text = malloc(*bytes);
        st = *text ? AS_OK : as_nomem(err, *bytes, "assembly");
    }
    if (!st) {
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
    return st;
}

const unsigned char *assembly_object(const unsigned char *text, size_t bytes, size_t *object_bytes)
{
    size_t n = strlen((const char *)text) + 1;
    *object_bytes = bytes - n;
    return text + n;
}

/* The kernel's first line of code, and the end of its code. */
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

/* Every instruction of the kernel as a separate text; names: those with one of these prefixes. */
static enum as_status each(const unsigned char *text, const char *kernel, const char *names,
                           void (*take)(const char *instruction, void *data), void *data, struct as_error *err)
{
    const char *end, *at = find_kernel(text, kernel, &end);
    if (!at)
        return as_fail(err, AS_FAILED, "there is no kernel '%s'", kernel);
    for (; at && at < end; at = strchr(at, '\n') + 1) {
        char line[256];
        const char *word = at + strspn(at, " \t");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(word, ";\n"), word);
        const char *second = strstr(line, ":: "); /* two at once */
        if (word > at && (starts_with_one(line, names) || (second && starts_with_one(second + 3, names))))
            take(line, data);
    }
    return AS_OK;
}

static const char any[] = "s_ v_ global_ flat_ scratch_ buffer_ ds_";

static void add_one(const char *instruction, void *n)
{
    (void)instruction;
    ++*(uint64_t *)n;
}

enum as_status assembly_count(const unsigned char *text, const char *kernel, const char *names, uint64_t *n,
                              struct as_error *err)
{
    *n = 0;
    return each(text, kernel, names, add_one, n, err);
}

struct operation {
    const char *word;
    uint64_t n;
};

static void add_operation(const char *instruction, void *data)
{
    struct operation *o = data;
    o->n += as_amd_does(instruction, o->word);
}

enum as_status assembly_operations(const unsigned char *text, const char *kernel, const char *operation, uint64_t *n,
                                   struct as_error *err)
{
    struct operation o = {operation, 0};
    if (!as_amd_counts(operation))
        return as_fail(err, AS_UNSUPPORTED, "no name of an instruction is known for '%s'", operation);
    enum as_status st = each(text, kernel, any, add_operation, &o, err);
    *n = o.n;
    return st;
}

static void add_names(const char *instruction, void *out)
{
    as_amd_add_names(instruction, out);
}

enum as_status assembly_instructions(const unsigned char *text, const char *kernel, struct as_instructions *out,
                                     struct as_error *err)
{
    *out = (struct as_instructions){.n = 0};
    return each(text, kernel, any, add_names, out, err);
}

/* Neither is an error in the code. Reported once. */
static bool lacks_comgr(enum as_status st, const struct as_error *err)
{
    static bool said;
    bool lacks = st == AS_UNSUPPORTED && (strstr(err->text, "with comgr") || strstr(err->text, "does not support gfx"));
    if (lacks && !said)
        printf("machine code is not compared with the assembly: %s\n", err->text);
    said |= lacks;
    return lacks;
}

enum as_status assembly_compare(const unsigned char *text, size_t bytes, const char *kernel, struct as_error *err)
{
    size_t n;
    struct as_instructions named, coded;
    const unsigned char *object = assembly_object(text, bytes, &n);
    enum as_status st = assembly_instructions(text, kernel, &named, err);
    if (!st)
        st = as_hip_instructions(object, n, kernel, &coded, err);
    if (lacks_comgr(st, err))
        return AS_OK;
    for (size_t i = 0; i < named.n && !st; i++) {
        uint64_t in_code = as_instructions_of(&coded, named.list[i].name);
        if (in_code != named.list[i].n)
            st = as_fail(err, AS_FAILED, "kernel %s has %s %llu times, in its machine code it is found %llu times",
                         kernel, named.list[i].name, (unsigned long long)named.list[i].n, (unsigned long long)in_code);
    }
    if (!st && coded.n != named.n)
        st = as_fail(err, AS_FAILED, "kernel %s: more names in machine code", kernel);
    return st;
}
