/* Runs a fuzzer without libFuzzer: each file of the corpus unchanged, then mutations, with a fixed seed.
 *     standalone FOLDER [MUTATIONS]
 * With ASSAY_BRIEF, a quarter of the mutations. */
#include "base/buf.h"
#include "base/clock.h"
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>

enum { FILES_MAX = 256, FILE_MAX = 1 << 20, INPUT_MAX = 8192 };

struct corpus {
    struct as_buf files[FILES_MAX];
    size_t n;
};

static int load_corpus(struct corpus *c, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        fprintf(stderr, "%s: cannot be read\n", folder);
        return 1;
    }
    int failed = 0;
    for (struct dirent *e; (e = readdir(dir)) && c->n < FILES_MAX && !failed;) {
        struct as_error err;
        char path[1024];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        failed = as_buf_read_file(&c->files[c->n], path, FILE_MAX, &err) != AS_OK;
        if (failed)
            fprintf(stderr, "%s\n", err.text);
        c->n++;
    }
    closedir(dir);
    return failed;
}

/* A few edits: bytes flipped, cut out, doubled, or taken from another file. */
static size_t mutate(uint8_t *out, const struct corpus *c, struct as_rng *rng)
{
    const struct as_buf *from = &c->files[as_rng_below(rng, c->n)];
    size_t n = from->len < INPUT_MAX ? from->len : INPUT_MAX;
    if (n)
        memcpy(out, from->data, n);
    for (uint64_t edits = 1 + as_rng_below(rng, 6); edits && n; edits--) {
        size_t at = (size_t)as_rng_below(rng, n), span = 1 + (size_t)as_rng_below(rng, 16);
        span = span > n - at ? n - at : span;
        const struct as_buf *other = &c->files[as_rng_below(rng, c->n)];
        switch (as_rng_below(rng, 5)) {
        case 0:
            out[at] ^= (uint8_t)(1u << as_rng_below(rng, 8));
            break;
        case 1:
            out[at] = (uint8_t) "0123456789.,x =[]#;\n\0KMGiB%-+eE"[as_rng_below(rng, 32)];
            break;
        case 2:
            memmove(out + at, out + at + span, n - at - span);
            n -= span;
            break;
        case 3:
            if (n + span <= INPUT_MAX) {
                memmove(out + at + span, out + at, n - at);
                n += span;
            }
            break;
        default:
            for (size_t i = 0; i < span && i < other->len; i++)
                out[at + i] = (uint8_t)other->data[(at + i) % other->len];
        }
    }
    return n;
}

/* The current input, kept for reproduction if it fails. */
static const uint8_t *current;
static size_t current_n;

static void tell_current(int number)
{
    (void)number;
    fprintf(stderr, "input of %zu bytes:", current_n);
    for (size_t i = 0; i < current_n; i++)
        fprintf(stderr, " %02x", current[i]);
    fputc('\n', stderr);
}

static void look_at(const uint8_t *data, size_t n)
{
    current = data;
    current_n = n;
    LLVMFuzzerTestOneInput(data, n);
}

int main(int argc, char **argv)
{
    static struct corpus corpus;
    static uint8_t input[INPUT_MAX];
    if (argc < 2 || load_corpus(&corpus, argv[1]) || corpus.n == 0) {
        fprintf(stderr, "usage: %s FOLDER [MUTATIONS]; the folder holds at least one file\n", argv[0]);
        return 1;
    }
    long mutations = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (getenv("ASSAY_BRIEF"))
        mutations /= 4;
    signal(SIGABRT, tell_current);
    for (size_t i = 0; i < corpus.n; i++)
        look_at((const uint8_t *)as_buf_get(&corpus.files[i]), corpus.files[i].len);
    struct as_rng rng;
    as_rng_seed(&rng, 1);
    for (long i = 0; i < mutations; i++) {
        size_t n = mutate(input, &corpus, &rng);
        look_at(input, n);
    }
    printf("%zu files, %ld mutations\n", corpus.n, mutations);
    for (size_t i = 0; i < corpus.n; i++)
        as_buf_finish(&corpus.files[i]);
    return 0;
}
