/* Every matrix instruction of the given architecture, compiled by NVRTC without a device: the program compiles, and
 * every step of the peak kernels contains the expected machine instruction. Skipped without NVRTC. */
#include "device/cuda/cuda.h"
#include "lib/mma/instructions/matrix.h"
#include "lib/ops/code.h"
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char as_kernel_record[], as_kernel_loaded[];

/* Two accumulators of each, in as few steps as can be halved. */
static const struct as_matrix_body body = {.chains = 2, .steps = 8};
static const char *const names[] = {"multiply",   "half_body",  "whole_body", "loaded",
                                    "fragment_a", "fragment_b", "fragment_c", "where"};

/* Several instructions in one program, which compiles faster than separate ones. */
enum { TOGETHER = 16 };
struct part {
    const struct as_matrix *matrix;
    unsigned n;
};
struct batch {
    const char *arch;
    size_t n, seen, wrong;
    struct part part[TOGETHER];
};

/* A single wide accumulator fills the registers. */
static struct as_matrix_body body_of(const struct part *p)
{
    struct as_matrix_body b = body;
    b.chains = as_matrix_registers(p->matrix, AS_MATRIX_C, p->n) > 64 ? 1 : b.chains;
    return b;
}

/* Appends the text, and then undefines every name that it defined. */
static void add_source(const struct part *p, size_t i, struct as_buf *out)
{
    struct as_buf text = AS_BUF_INIT;
    const struct as_matrix_body b = body_of(p);
    as_matrix_source(p->matrix, p->n, &b, &text);
    if (p->matrix->held[AS_MATRIX_C].held == AS_HELD_LOADED)
        as_buf_str(&text, as_kernel_loaded);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        as_buf_printf(out, "#undef %s\n#define %s %s_%zu\n", names[k], names[k], names[k], i);
    as_buf_str(out, as_buf_get(&text));
    static const char word[] = "#define ";
    for (const char *at = as_buf_get(&text); (at = strstr(at, word)); at++)
        as_buf_printf(out, "#undef %.*s\n", (int)strcspn(at + sizeof word - 1, "( \n"), at + sizeof word - 1);
    as_buf_finish(&text);
}

static enum as_status count_instructions(const unsigned char *cubin, size_t bytes, size_t i, const char *kernel,
                                         struct as_instructions *out, struct as_error *err)
{
    char name[40];
    *out = (struct as_instructions){.n = 0};
    snprintf(name, sizeof name, "%s_%zu", kernel, i);
    return as_cubin_instructions(cubin, bytes, name, out, err);
}

/* False with the reason if the code is not as expected. */
static bool part_holds(const unsigned char *cubin, size_t bytes, const struct part *p, size_t i, char *why, size_t size)
{
    struct as_error err = {0};
    struct as_instructions half, whole;
    const struct as_code_want want = {p->matrix->code, 1};
    const struct as_matrix_body b = body_of(p);
    double each;
    if (!count_instructions(cubin, bytes, i, "half_body", &half, &err) &&
        !count_instructions(cubin, bytes, i, "whole_body", &whole, &err))
        return as_code_agrees(&half, &whole, b.chains * b.steps / 2, &want, 1, 0, &each, why, size);
    snprintf(why, size, "%s", err.text);
    return false;
}

static void check_together(struct batch *b)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    as_buf_str(&text, as_kernel_record);
    for (size_t i = 0; i < b->n; i++)
        add_source(&b->part[i], i, &text);
    const struct as_program_desc desc = {.name = b->part[0].matrix->name, .source = as_buf_get(&text)};
    if (nvrtc_compile(&desc, b->arch, &cubin, &bytes, &err))
        fail_msg("%s to %s for %s: %s", b->part[0].matrix->name, b->part[b->n - 1].matrix->name, b->arch, err.text);
    for (size_t i = 0; i < b->n; i++) {
        char why[600];
        bool good = part_holds(cubin, bytes, &b->part[i], i, why, sizeof why);
        if (!good)
            print_error("%s with %u columns for %s: %s\n", b->part[i].matrix->name, b->part[i].n, b->arch, why);
        else if (getenv("ASSAY_SHOW"))
            print_message("%s with %u columns for %s: %s\n", b->part[i].matrix->name, b->part[i].n, b->arch, why);
        b->wrong += !good;
    }
    as_buf_finish(&text);
    free(cubin);
    b->n = 0;
}

static void add_to_batch(struct batch *b, const struct as_matrix *m, unsigned n)
{
    b->part[b->n++] = (struct part){m, n};
    b->seen++;
    if (b->n == TOGETHER)
        check_together(b);
}

/* With the most columns, whose text takes long to compile, one instruction per kind of factors; the others with
 * fewer. */
static void add_columns(struct batch *b, const struct as_matrix *m)
{
    bool first = !m->sparse && strcmp(m->a, m->b) == 0 &&
                 ((strcmp(m->a, "f16") == 0 && strcmp(m->c, "f32") == 0) || strcmp(m->a, "s8") == 0);
    if (!m->columns || first)
        add_to_batch(b, m, m->n);
    if (m->columns)
        add_to_batch(b, m, 24);
}

static void test_instructions(void **state)
{
    const char *arch = *state;
    struct batch b = {.arch = arch};
    struct as_device_info info = {.dialect = "cuda"};
    need_nvrtc();
    snprintf(info.arch, sizeof info.arch, "%s", arch);
    for (size_t i = 0; i < as_matrices_n; i++)
        if (as_matrix_applies(&as_matrices[i], &info, NULL) == AS_APPLIES && !as_matrix_emulated(&as_matrices[i], arch))
            add_columns(&b, &as_matrices[i]);
    if (b.n)
        check_together(&b);
    assert_int_equal(b.wrong, 0);
    print_message("%zu instructions for %s\n", b.seen, arch);
    assert_true(b.seen > 25);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_instructions, argv[1])};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
