/* The stand-in's compiler: builds a program as a host library, with the clang named by FAKE_HIP_CLANG ("clang"), and
 * labels it as AMD GPU code. */
#include "inside.h"

#include "device/dialect/dialect.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES_MAX = 32, WORDS_MAX = 64, MACHINE_AMDGPU = 0xe0, CODE_MAX = 64 << 20 };

extern const char fake_on_host[], fake_on_host_matrix[];

struct as_gpu_compilation {
    char *source, *log;
    unsigned char *code;
    size_t code_bytes;
};

/* Programs compiled by this process: tests build the same source repeatedly, and a compilation takes a second. */
static struct compiled {
    struct compiled *next;
    char *text; /* options and source */
    unsigned char *code;
    size_t code_bytes;
} * compiled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *text_of(const struct as_gpu_compilation *program, int options_n, const char **options)
{
    struct as_buf b = AS_BUF_INIT;
    for (int i = 0; i < options_n; i++)
        as_buf_printf(&b, "%s\n", options[i]);
    as_buf_str(&b, program->source);
    char *text = strdup(as_buf_get(&b));
    as_buf_finish(&b);
    return text;
}

static bool is_known(struct as_gpu_compilation *program, const char *text)
{
    pthread_mutex_lock(&lock);
    const struct compiled *c = compiled;
    while (c && strcmp(c->text, text) != 0)
        c = c->next;
    pthread_mutex_unlock(&lock);
    if (!c)
        return false;
    program->code = malloc(c->code_bytes);
    memcpy(program->code, c->code, c->code_bytes);
    program->code_bytes = c->code_bytes;
    return true;
}

/* Takes ownership of text. */
static void remember_program(const struct as_gpu_compilation *program, char *text)
{
    struct compiled *c = malloc(sizeof *c);
    *c = (struct compiled){.text = text, .code = malloc(program->code_bytes), .code_bytes = program->code_bytes};
    memcpy(c->code, program->code, program->code_bytes);
    pthread_mutex_lock(&lock);
    c->next = compiled;
    compiled = c;
    pthread_mutex_unlock(&lock);
}

API hiprtcResult hiprtcVersion(int *major, int *minor)
{
    *major = 9;
    *minor = 0;
    return HIPRTC_SUCCESS;
}

API const char *hiprtcGetErrorString(hiprtcResult code)
{
    return code ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_SUCCESS";
}

API hiprtcResult hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name, int headers_n,
                                     const char **headers, const char **header_names)
{
    (void)name, (void)headers, (void)header_names;
    *program = calloc(1, sizeof **program);
    (*program)->source = strdup(source);
    return headers_n ? (hiprtcResult)fake_broke(__func__, 3) : HIPRTC_SUCCESS;
}

API hiprtcResult hiprtcDestroyProgram(hiprtcProgram *program)
{
    free((*program)->source);
    free((*program)->log);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return HIPRTC_SUCCESS;
}

/* "X(walk) X(bind)": each kernel in the source, also those made by a macro, once. */
static void list_names(struct as_buf *out, const char *source)
{
    static const char word[] = "KERNEL(";
    char names[NAMES_MAX][64];
    size_t n = 0;
    for (const char *at = source; (at = strstr(at, word)) && n < NAMES_MAX;) {
        at += sizeof word - 1;
        snprintf(names[n], sizeof *names, "%.*s", (int)strcspn(at, ",)"), at);
        size_t known = 0;
        while (strcmp(names[known], names[n]) != 0)
            known++;
        if (known == n)
            as_buf_printf(out, " X(%s)", names[n++]);
    }
}

/* Replaces the prelude for AMD GPUs before the source by one for the host. */
static bool write_source(const char *path, const char *source)
{
    const char *prelude = as_dialect_prelude(AS_DIALECT_HIP);
    size_t n = strlen(prelude);
    if (strncmp(source, prelude, n) != 0)
        return false;
    struct as_buf b = AS_BUF_INIT;
    as_buf_str(&b, "#include <time.h>\n");
    as_buf_str(&b, as_dialect_prelude(AS_DIALECT_HOST));
    as_buf_str(&b, "\n#define AS_KERNEL_NAMES(X)");
    list_names(&b, source + n);
    as_buf_str(&b, "\n");
    as_buf_str(&b, fake_on_host);
    if (strstr(source, "__builtin_amdgcn_mfma") || strstr(source, "__builtin_amdgcn_wmma"))
        as_buf_str(&b, fake_on_host_matrix);
    as_buf_str(&b, "\nnamespace outer {\nAS_KERNEL_NAMES(FAKE_NONE)\nnamespace inner {\n");
    as_buf_str(&b, source + n);
    as_buf_str(&b, "\nFAKE_TABLE\n}\n}\n");
    FILE *f = fopen(path, "w");
    bool good = f && !b.failed && fputs(as_buf_get(&b), f) >= 0;
    good = f && fclose(f) == 0 && good;
    as_buf_finish(&b);
    return good;
}

static bool compile(const char *folder, int options_n, const char **options)
{
    char source[80], out[80], log[80], *words[WORDS_MAX] = {NULL};
    const char *clang = getenv("FAKE_HIP_CLANG");
    /* Unrolled loops take longer to compile than they save. */
    const char *const fixed[] = {clang ? clang : "clang",
                                 "-x",
                                 "c++",
                                 "-std=c++17",
                                 "-O1",
                                 "-mllvm",
                                 "-pragma-unroll-threshold=0",
                                 "-w",
                                 "-fPIC",
                                 "-shared",
                                 "-fvisibility=hidden",
                                 "-fno-builtin",
                                 "-fno-exceptions",
                                 "-fno-rtti",
                                 "-fno-strict-aliasing",
                                 "-o",
                                 out,
                                 source};
    size_t n = 0;
    int status = -1;
    snprintf(source, sizeof source, "%s/k.cpp", folder);
    snprintf(out, sizeof out, "%s/k.so", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        words[n++] = (char *)(uintptr_t)fixed[i];
    for (int i = 0; i < options_n && n < WORDS_MAX - 1; i++)
        if (strncmp(options[i], "-D", 2) == 0)
            words[n++] = (char *)(uintptr_t)options[i];
    pid_t child = fork();
    if (child == 0) {
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0 && dup2(fd, 2) >= 0)
            execvp(words[0], words);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void put_machine(unsigned char *code, Elf64_Half machine)
{
    memcpy(code + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
}

API hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int options_n, const char **options)
{
    static const char *const files[] = {"k.cpp", "k.so", "log"};
    char folder[] = "/tmp/assay-fake-XXXXXX", path[80];
    struct as_buf b = AS_BUF_INIT;
    const char *once = getenv("FAKE_HIP_ONCE");
    if (fake_asked("abort") && !(once && unlink(once)))
        abort();
    if (options_n < 1 || strncmp(options[0], "--offload-arch=gfx", 18) != 0)
        return fake_broke(__func__, 5);
    char *text = text_of(program, options_n, options);
    if (is_known(program, text) || !mkdtemp(folder)) {
        free(text);
        return program->code_bytes ? HIPRTC_SUCCESS : 11;
    }
    snprintf(path, sizeof path, "%s/k.cpp", folder);
    bool good = write_source(path, program->source) && compile(folder, options_n, options);
    snprintf(path, sizeof path, "%s/%s", folder, good ? "k.so" : "log");
    if (as_buf_read_file(&b, path, CODE_MAX, NULL) == AS_OK) {
        unsigned char **to = good ? &program->code : (unsigned char **)&program->log;
        *to = calloc(b.len + 1, 1);
        memcpy(*to, as_buf_get(&b), b.len);
        program->code_bytes = good ? b.len : 0;
    }
    if (program->code_bytes) {
        put_machine(program->code, MACHINE_AMDGPU);
        remember_program(program, text);
    } else {
        free(text);
    }
    as_buf_finish(&b);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
    return program->code_bytes ? HIPRTC_SUCCESS : 6;
}

API hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, size_t *bytes)
{
    *bytes = program->code_bytes;
    return HIPRTC_SUCCESS;
}

API hiprtcResult hiprtcGetCode(hiprtcProgram program, char *code)
{
    memcpy(code, program->code, program->code_bytes);
    return HIPRTC_SUCCESS;
}

API hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, size_t *bytes)
{
    *bytes = program->log ? strlen(program->log) : 0;
    return HIPRTC_SUCCESS;
}

API hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char *log)
{
    if (program->log)
        memcpy(log, program->log, strlen(program->log));
    return HIPRTC_SUCCESS;
}
