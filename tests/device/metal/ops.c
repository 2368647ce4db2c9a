/* Every Metal operation, run on the host without a Mac: each result equals the reference, chains end where single steps
 * end, and a wrong spelling is detected. Skipped without a suitable clang++. */
#include "../ops_batch.h"
#include "msl.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As part.kernel and ops.kernel have them. */
enum { STARTS = 1024, TWELVE = 12, WALK = 0, ONCE = 3 };
/* Several operations per program: compiling one costs as much as running several operations. */
enum { TOGETHER = 40, THREADS = 64, GROUPS = 4 };
static const char *const kernels[] = {"walk", "half_body", "whole_body", "once"};

struct run {
    const struct as_op *op;
    const struct msl_program *program;
    size_t place; /* in the program */
    char starts[STARTS * 8], seconds[STARTS * 8], thirds[STARTS * 8];
    char ends[2][STARTS * 8];
    uint64_t result[GROUPS * 8];
    uint32_t words[1];
};

static void compile(const struct as_op *const *ops, size_t n, struct msl_program *out)
{
    struct ops_batch_part part[TOGETHER];
    struct as_buf text = AS_BUF_INIT, source = AS_BUF_INIT;
    struct as_error err = {0};
    for (size_t i = 0; i < n; i++)
        part[i] = (struct ops_batch_part){
            .sequence = as_op_alone(ops[i], 0), .name = ops[i]->name, .ilp = ops[i]->alone ? 1 : 2};
    ops_batch_source(part, n, true, &text);
    as_dialect_source(AS_DIALECT_METAL, as_buf_get(&text), &source);
    const struct msl_request r = {as_buf_get(&source), "-Wno-macro-redefined", MSL_VERSION, false, NULL};
    if (msl_compile(&r, out, &err))
        fail_msg("%s to %s: %s", ops[0]->name, ops[n - 1]->name, err.text);
    as_buf_finish(&text);
    as_buf_finish(&source);
}

/* ---- one operation ---- */

static void draw_operands(enum as_op_domain domain, enum as_op_type type, struct as_rng *rng, char *block)
{
    size_t bytes = as_op_bytes(type);
    for (size_t i = 0; i < STARTS; i++) {
        union as_op_value v;
        as_op_draw(domain, type, (unsigned)(i % 4), rng, &v);
        memcpy(block + i * bytes, &v, bytes);
    }
}

static void draw_all(struct run *r)
{
    const struct as_op *op = r->op;
    struct as_rng rng;
    union as_op_value word;
    as_rng_seed(&rng, 1);
    draw_operands(op->a, op->type, &rng, r->starts);
    draw_operands(op->b, op->btype, &rng, r->seconds);
    draw_operands(op->c, op->ctype, &rng, r->thirds);
    as_op_draw(op->m, op->type == AS_OP_F16 ? AS_OP_I16 : AS_OP_I32, 0, &rng, &word);
    r->words[0] = op->type == AS_OP_F16 ? word.u16 : word.u32;
}

static void launch(struct run *r, unsigned kernel, uint32_t turns, char *ends, unsigned workgroups)
{
    uint32_t mode = kernel;
    void *const buffers[] = {r->result, r->starts, r->seconds, r->thirds, ends, r->words, &turns, &mode};
    struct as_error err = {0};
    char name[40];
    memset(ends, 0x5a, STARTS * 8);
    snprintf(name, sizeof name, "%s_%zu", kernels[kernel], r->place);
    if (msl_run(r->program, name, buffers, workgroups, THREADS, &err))
        fail_msg("%s", err.text);
}

/* Number of results that differ from the reference. */
static size_t check_once(struct run *r, const struct as_op *reference)
{
    const enum as_op_type types[] = {r->op->type, r->op->btype, r->op->ctype};
    const char *const from[] = {r->starts, r->seconds, r->thirds};
    unsigned lanes = reference->group_reference ? MSL_LANES : 1;
    size_t wrong = 0, bytes = as_op_bytes(r->op->result);
    launch(r, ONCE, 0, r->ends[0], GROUPS);
    for (size_t i = 0; i < GROUPS * THREADS; i += lanes) {
        union as_op_value v[MSL_LANES][3] = {{{0}}};
        for (unsigned lane = 0; lane < lanes; lane++)
            for (int k = 0; k < 3; k++)
                memcpy(&v[lane][k], from[k] + (i + lane) * as_op_bytes(types[k]), as_op_bytes(types[k]));
        for (unsigned lane = 0; lane < lanes; lane++) {
            union as_op_value got = {0};
            char why[400];
            memcpy(&got, r->ends[0] + (i + lane) * bytes, bytes);
            bool good = as_op_agrees(reference, AS_DIALECT_METAL, (const union as_op_value(*)[3])v, lane, lanes, &got,
                                     why, sizeof why);
            if (!good && reference == r->op && wrong == 0)
                print_error("%s\n", why);
            wrong += !good;
        }
    }
    return wrong;
}

static size_t check_chains(struct run *r)
{
    size_t wrong = 0;
    for (unsigned kernel = 1; kernel < ONCE; kernel++) {
        unsigned steps = kernel == 1 ? OPS_BATCH_STEPS / 2 : OPS_BATCH_STEPS;
        launch(r, WALK, 2 * steps / TWELVE, r->ends[0], 1);
        launch(r, kernel, 2, r->ends[1], 1);
        if (memcmp(r->ends[0], r->ends[1], sizeof r->ends[0]) == 0)
            continue;
        print_error("%s: chains of %s do not end where %u steps end\n", r->op->name, kernels[kernel], 2 * steps);
        wrong++;
    }
    return wrong;
}

static size_t check_operation(const struct msl_program *program, size_t place, const struct as_op *op)
{
    struct run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->op = op;
    r->program = program;
    r->place = place;
    draw_all(r);
    size_t wrong = check_once(r, op) + check_chains(r);
    free(r);
    return wrong;
}

/* ---- all ---- */

UNIT_TEST(test_operations)
{
    const struct as_op *together[TOGETHER];
    size_t n = 0, seen = 0, wrong = 0;
    for (size_t i = 0; i < as_ops_n; i++) {
        if (as_ops[i].dialects & 1u << AS_DIALECT_METAL) {
            together[n++] = &as_ops[i];
            seen++;
        }
        if (n == TOGETHER || (n && i == as_ops_n - 1)) {
            struct msl_program program;
            compile(together, n, &program);
            for (size_t k = 0; k < n; k++)
                wrong += check_operation(&program, k, together[k]);
            msl_close(&program);
            n = 0;
        }
    }
    print_message("%zu operations\n", seen);
    assert_true(seen > 100);
    assert_int_equal(wrong, 0);
}

/* Operations that the language lacks have no spelling. */
UNIT_TEST(test_absent)
{
    static const char *const names[] = {"ffma64", "fadd64", "cvt_f32_f64", "perm32", "idp4a32", "match_any32"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct as_op *op = as_op_find(names[i]);
        if (!op || op->dialects & 1u << AS_DIALECT_METAL)
            fail_msg("%s", names[i]);
    }
}

/* A different function, lane or sign fails the check. */
UNIT_TEST(test_wrong_spelling)
{
    static const char *const pairs[][2] = {
        {"isub32", "iadd32"},
        {"fdiv32", "fmul32"},
        {"fmin32", "fmax32"},
        {"shl32", "shr32"},
        {"clz32", "ctz32"},
        {"imul32", "imulhi32"},
        {"shuffle_up32", "shuffle_down32"},
        {"reduce_and32", "reduce_or32"},
        {"reduce_min32", "reduce_max32"},
        {"exp2_32", "exp_32"},
        {"shlc32", "shrc32"},
        {"bfidyn32", "bfilen32"},
        {"imulhi16", "imul16"},
        {"prefix_sum32", "prefix_esum32"},
        {"prefix_esum16", "prefix_sum16"},
        {"prefix_fsum32", "prefix_fesum32"},
        {"prefix_feprod16", "prefix_fprod16"},
        {"quad_prefix_prod32", "quad_prefix_eprod32"},
        {"quad_up32", "quad_down32"},
        {"quad_rotate32", "shuffle_rotate32"},
        {"quad_sum16", "sum16"},
        {"vote_all32", "vote_any32"},
        {"quad_vote_all32", "quad_vote_any32"},
        {"quad_ballot32", "ballot32"},
        {"shuffle_up16", "shuffle_down16"},
        {"quad_rotate16", "shuffle_rotate16"},
        {"fshuffle_up32", "fshuffle_down32"},
        {"fbroadcast16", "quad_fbroadcast16"},
        {"quad_frotate32", "fshuffle_rotate32"},
    };
    enum { N = sizeof pairs / sizeof *pairs };
    const struct as_op *ops[N];
    struct msl_program program;
    struct run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    for (size_t i = 0; i < N; i++)
        assert_non_null(ops[i] = as_op_find(pairs[i][0]));
    compile(ops, N, &program);
    for (size_t i = 0; i < N; i++) {
        const struct as_op *other = as_op_find(pairs[i][1]);
        assert_non_null(other);
        r->op = ops[i];
        r->program = &program;
        r->place = i;
        draw_all(r);
        if (check_once(r, other) < GROUPS * THREADS / 8) /* votes of a quad often agree */
            fail_msg("%s passes for %s", pairs[i][0], pairs[i][1]);
    }
    msl_close(&program);
    free(r);
}

/* Threads of a threadgroup that do not all reach a barrier. */
UNIT_TEST(test_divergence)
{
    static const char text[] =
        "KERNEL(together)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n"
        "{\n    LOCAL u32 l[64];\n    l[THREAD] = THREAD;\n    BARRIER();\n    out[THREAD] = l[63 - THREAD];\n}\n"
        "KERNEL(apart)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n"
        "{\n    if (THREAD < 7)\n        BARRIER();\n    out[THREAD] = 0;\n}\n"
        "KERNEL(two_places)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n"
        "{\n    if (THREAD < 7)\n        BARRIER();\n    else\n        out[THREAD] = simd_sum(THREAD);\n}\n";
    uint32_t out[64];
    void *const buffers[] = {out};
    struct as_buf source = AS_BUF_INIT;
    struct as_error err = {0};
    struct msl_program program;
    as_dialect_source(AS_DIALECT_METAL, text, &source);
    const struct msl_request r = {as_buf_get(&source), NULL, MSL_VERSION, false, NULL};
    if (msl_compile(&r, &program, &err))
        fail_msg("%s", err.text);
    assert_int_equal(msl_run(&program, "together", buffers, 1, 64, &err), AS_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 63 - i);
    assert_int_equal(msl_run(&program, "apart", buffers, 1, 64, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "wait for others"));
    assert_int_equal(msl_run(&program, "two_places", buffers, 1, 64, &err), AS_FAILED);
    assert_int_equal(msl_run(&program, "nowhere", buffers, 1, 64, &err), AS_NOTFOUND);
    assert_int_equal(msl_run(&program, "together", buffers, 1, 1025, &err), AS_USAGE);
    msl_close(&program);
    as_buf_finish(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent), cmocka_unit_test(test_divergence),
                                       cmocka_unit_test(test_wrong_spelling), cmocka_unit_test(test_operations)};
    if (msl_missing()) {
        printf("skipped: %s\n", msl_missing());
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
