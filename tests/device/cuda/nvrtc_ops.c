/* Every operation as NVRTC compiles it, without a device: for each architecture that has it the program compiles, and
 * every step of its chains holds the instruction that the operation is about. Skipped where there is no NVRTC. */
#include "code.h"
#include "device/cuda/cuda.h"
#include "sequence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char as_kernel_timed[];
extern const char *const as_mix_words[];

enum { WHOLE = 24, MIX_ILP = 2 /* as probe mix has it */ };
static const struct {
    const char *name;
    unsigned number;
} archs[] = {{"sm_80", 80}, {"sm_90a", 90}, {"sm_100", 100}};

static struct as_nvrtc_api nvrtc;

static int load(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_nvrtc_load(&nvrtc, &err))
        print_message("skipped: %s\n", err.text);
    return 0;
}

/* False with words where it is not as it should be. */
static bool compiles(const struct as_op_sequence *sequence, unsigned ilp, const char *arch, char *why, size_t size)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_error err = {0};
    struct as_instructions half = {0}, whole = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    double each;
    as_buf_str(&text, as_kernel_timed);
    as_op_source(sequence, ilp, WHOLE, false, &text);
    const struct as_program_desc desc = {.name = sequence->part[0].op->name, .source = as_buf_get(&text)};
    enum as_status s = as_cu_compile(&nvrtc, &desc, arch, &cubin, &bytes, &err);
    if (!s)
        s = as_cubin_instructions(cubin, bytes, "half_body", &half, &err);
    if (!s)
        s = as_cubin_instructions(cubin, bytes, "whole_body", &whole, &err);
    as_buf_finish(&text);
    free(cubin);
    if (s) {
        snprintf(why, size, "%s", err.text);
        return false;
    }
    return as_op_code_agrees(&half, &whole, ilp * WHOLE / 2, sequence, AS_DIALECT_CUDA, &each, why, size);
}

static bool has_all(const struct as_op_sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++)
        if (!(sequence->part[i].op->dialects & 1u << AS_DIALECT_CUDA))
            return false;
    return true;
}

static void test_operations(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
    size_t seen = 0, wrong = 0;
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
        for (size_t i = 0; i < as_ops_n; i++) {
            const struct as_op *op = &as_ops[i];
            char why[600];
            if (!(op->dialects & 1u << AS_DIALECT_CUDA) || op->cuda_least > archs[a].number)
                continue;
            seen++;
            const struct as_op_sequence alone = as_op_alone(op, 0);
            if (!compiles(&alone, 1, archs[a].name, why, sizeof why)) {
                print_error("%s for %s: %s\n", op->name, archs[a].name, why);
                wrong++;
            } else if (getenv("ASSAY_SHOW"))
                print_message("%s for %s: %s\n", op->name, archs[a].name, why);
        }
    assert_true(seen > 300);
    assert_int_equal(wrong, 0);
}

/* Of two chains of f16 the compiler makes one of pairs, which the count has to see. */
static bool is_packed(const struct as_op_sequence *sequence)
{
    unsigned halves = 0;
    for (size_t i = 0; i < sequence->n; i++)
        halves += sequence->part[i].op->type == AS_OP_F16 ? sequence->part[i].count : 0;
    return halves * MIX_ILP > 1;
}

/* All sequences that probe mix knows, but those with an operation that CUDA lacks; for one architecture, as each of
 * their operations is compiled for all. */
static void test_sequences(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
    size_t seen = 0, wrong = 0;
    for (const char *const *word = as_mix_words; *word; word++) {
        struct as_op_sequence sequence;
        struct as_error err = {0};
        char why[600];
        if (as_op_sequence_parse(*word, &sequence, &err)) {
            assert_non_null(strstr(*word, "sin_pt_"));
            continue;
        }
        if (!has_all(&sequence))
            continue;
        seen++;
        if (compiles(&sequence, MIX_ILP, "sm_90a", why, sizeof why) == is_packed(&sequence)) {
            print_error("%s: %s\n", *word, why);
            wrong++;
        } else if (getenv("ASSAY_SHOW"))
            print_message("%s: %s\n", *word, why);
    }
    assert_true(seen > 200);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations), cmocka_unit_test(test_sequences)};
    return cmocka_run_group_tests(tests, load, NULL);
}
