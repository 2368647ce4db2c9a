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

/* Programs of several sequences in one source, which is compiled faster than each of them alone. */
enum { TOGETHER = 16 };
static const char *const kernels[] = {"walk", "half_body", "whole_body", "once"};
struct batch {
    const char *arch;
    unsigned ilp;
    size_t together; /* of them in one source, at most TOGETHER */
    size_t n, seen, wrong;
    struct {
        struct as_op_sequence sequence;
        const char *name;
        bool fails; /* is expected to */
    } part[TOGETHER];
};

static enum as_status count(const unsigned char *cubin, size_t bytes, size_t i, const char *kernel,
                            struct as_instructions *out, struct as_error *err)
{
    char name[40];
    *out = (struct as_instructions){.n = 0};
    snprintf(name, sizeof name, "%s_%zu", kernel, i);
    return as_cubin_instructions(cubin, bytes, name, out, err);
}

/* False with words where it is not as it should be. */
static bool holds(const unsigned char *cubin, size_t bytes, const struct batch *b, size_t i, char *why, size_t size)
{
    struct as_error err = {0};
    struct as_instructions half, whole;
    double each;
    if (!count(cubin, bytes, i, "half_body", &half, &err) && !count(cubin, bytes, i, "whole_body", &whole, &err))
        return as_op_code_agrees(&half, &whole, b->ilp * WHOLE / 2, &b->part[i].sequence, AS_DIALECT_CUDA, &each, why,
                                 size);
    snprintf(why, size, "%s", err.text);
    return false;
}

static void check_together(struct batch *b)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    as_buf_str(&text, as_kernel_timed);
    for (size_t i = 0; i < b->n; i++) {
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
            as_buf_printf(&text, "#undef %s\n#define %s %s_%zu\n", kernels[k], kernels[k], kernels[k], i);
        for (size_t k = 0; k < AS_OP_PARTS; k++)
            as_buf_printf(&text, "#undef LINK%zu\n", k);
        as_op_source(&b->part[i].sequence, b->ilp, WHOLE, false, &text);
    }
    const struct as_program_desc desc = {.name = b->part[0].name, .source = as_buf_get(&text)};
    if (as_cu_compile(&nvrtc, &desc, b->arch, &cubin, &bytes, &err))
        fail_msg("%s to %s for %s: %s", b->part[0].name, b->part[b->n - 1].name, b->arch, err.text);
    for (size_t i = 0; i < b->n; i++) {
        char why[600];
        if (holds(cubin, bytes, b, i, why, sizeof why) == b->part[i].fails) {
            print_error("%s for %s: %s\n", b->part[i].name, b->arch, why);
            b->wrong++;
        } else if (getenv("ASSAY_SHOW")) {
            print_message("%s for %s: %s\n", b->part[i].name, b->arch, why);
        }
    }
    as_buf_finish(&text);
    free(cubin);
    b->n = 0;
}

static void add(struct batch *b, const struct as_op_sequence *sequence, const char *name, bool fails)
{
    b->part[b->n].sequence = *sequence;
    b->part[b->n].name = name;
    b->part[b->n++].fails = fails;
    b->seen++;
    if (b->n == b->together)
        check_together(b);
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
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        struct batch b = {.arch = archs[a].name, .ilp = 1, .together = TOGETHER};
        for (size_t i = 0; i < as_ops_n; i++) {
            const struct as_op_sequence alone = as_op_alone(&as_ops[i], 0);
            if (has_all(&alone) && as_ops[i].cuda_least <= archs[a].number)
                add(&b, &alone, as_ops[i].name, false);
        }
        if (b.n)
            check_together(&b);
        assert_true(b.seen > 100);
        assert_int_equal(b.wrong, 0);
    }
}

/* Of two chains of f16 the compiler makes one of pairs, which the count has to see. */
static bool is_packed(const struct as_op_sequence *sequence)
{
    unsigned halves = 0;
    for (size_t i = 0; i < sequence->n; i++)
        halves += sequence->part[i].op->type == AS_OP_F16 ? sequence->part[i].count : 0;
    return halves * MIX_ILP > 1;
}

/* There are many of them, of operations that are each compiled for itself: one in so many is compiled here. */
enum { PAIRS_STEP = 4 };
static bool is_pair(const struct as_op_sequence *sequence)
{
    return sequence->n == 2 && sequence->part[0].count == 1 && sequence->part[1].count == 1;
}

/* Sequences that probe mix knows, but those with an operation that CUDA lacks; for one architecture, as each of their
 * operations is compiled for all. */
static void test_sequences(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
    struct batch b = {.arch = "sm_90a", .ilp = MIX_ILP, .together = 1};
    size_t pairs = 0;
    for (const char *const *word = as_mix_words; *word; word++) {
        struct as_op_sequence sequence;
        struct as_error err = {0};
        if (as_op_sequence_parse(*word, &sequence, &err))
            assert_non_null(strstr(*word, "sin_pt_"));
        else if (has_all(&sequence) && !(is_pair(&sequence) && ++pairs % PAIRS_STEP))
            add(&b, &sequence, *word, is_packed(&sequence));
    }
    if (b.n)
        check_together(&b);
    assert_true(b.seen > 90 && pairs > 100);
    assert_int_equal(b.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations), cmocka_unit_test(test_sequences)};
    return cmocka_run_group_tests(tests, load, NULL);
}
