/* Which operations devices have, and which chains of them are measured. */
#include "lib/ops/code.h"
#include "lib/ops/trial.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct as_device_info gpu_info(const char *arch, unsigned warp)
{
    struct as_device_info info = {.dialect = "cuda", .warp = warp, .threads = 1024, .capabilities = AS_CAP_CYCLES};
    snprintf(info.arch, sizeof info.arch, "%s", arch);
    return info;
}

/* What HIP composes of ballots and shuffles OpenCL does too, where the device has the extensions. */
UNIT_TEST(test_subgroups_of_dialects)
{
    static const struct {
        const char *name;
        unsigned needs;
    } ops[] = {{"quad_vote_any32", AS_CAP_SUBGROUP_BALLOT},       {"quad_vote_all32", AS_CAP_SUBGROUP_BALLOT},
               {"quad_fcmp_ballot32", AS_CAP_SUBGROUP_BALLOT},    {"quad_prefix_sum16", AS_CAP_SUBGROUP_SHUFFLE},
               {"quad_prefix_feprod32", AS_CAP_SUBGROUP_SHUFFLE}, {"quad_reduce_min16", AS_CAP_SUBGROUP_CLUSTERED},
               {"quad_reduce_max16", AS_CAP_SUBGROUP_CLUSTERED},  {"quad_reduce_and16", AS_CAP_SUBGROUP_CLUSTERED},
               {"quad_reduce_or16", AS_CAP_SUBGROUP_CLUSTERED}};
    const unsigned hip = 1u << AS_DIALECT_HIP, opencl = 1u << AS_DIALECT_OPENCL;
    for (const struct as_op *op = as_ops; op->name; op++)
        if (op->group_reference && op->dialects & hip && !(op->dialects & opencl))
            fail_msg("%s has a text for HIP and none for OpenCL", op->name);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const struct as_op *op = as_op_find(ops[i].name);
        if (!op)
            fail_msg("there is no %s", ops[i].name);
        assert_int_equal(op->subgroups, AS_CAP_SUBGROUPS | ops[i].needs);
    }
}

/* Groups have at most as many lanes as the check has room for. */
UNIT_TEST(test_which_groups)
{
    static const struct {
        unsigned warp;
        enum as_applies applies;
    } workgroups[] = {{32, AS_APPLIES}, {64, AS_APPLIES}, {48, AS_INAPPLICABLE}, {128, AS_INAPPLICABLE}};
    struct as_error err = {0};
    for (size_t i = 0; i < sizeof workgroups / sizeof *workgroups; i++) {
        const struct as_device_info info = gpu_info("sm_90", workgroups[i].warp);
        struct as_chains_desc d = {.sequence = as_op_alone(as_op_find("ballot32"), 0), .ilp = 1, .threads = 1};
        assert_int_equal(as_chains_apply(&info, &d, &err), workgroups[i].applies);
        d.sequence = as_op_alone(as_op_find("iadd32"), 0);
        assert_int_equal(as_chains_apply(&info, &d, &err), AS_APPLIES);
    }
    assert_non_null(strstr(err.text, "here it is 128"));
}

/* Four warp instructions per cycle; SMs before sm_70 have no such bound. */
UNIT_TEST(test_issue)
{
    static const struct {
        const char *arch, *op;
        double limit;
    } compute_units[] = {{"sm_70", "ffma32", 128}, {"sm_90", "ffma2_f16", 256}, {"sm_61", "ffma32", NAN}};
    for (size_t i = 0; i < sizeof compute_units / sizeof *compute_units; i++) {
        struct as_device dev = {.info = gpu_info(compute_units[i].arch, 32)};
        struct as_trial_context tc = {.dev = &dev, .limit = NAN};
        const struct as_chains_desc d = {.sequence = as_op_alone(as_op_find(compute_units[i].op), 0)};
        as_limit_issue(&tc, &d);
        assert_true(isnan(compute_units[i].limit) ? isnan(tc.limit) : tc.limit == compute_units[i].limit);
    }
}

/* A core takes a cycle per dependent step; a GPU's instructions are counted, and a conversion may be a free move. */
UNIT_TEST(test_chain_limit)
{
    static const char *const names[] = {"icmpsel64", "cvt_i32_f32", "icmpsel64"};
    for (int i = 0; i < 3; i++) { /* of a GPU, then of a core */
        struct as_device dev = {.info = gpu_info("sm_90", 32)};
        struct as_trial_context tc = {.dev = &dev, .limit = NAN};
        dev.info.vector_bytes = i ? 64 : 0;
        as_ops_limit_chain(&tc, &(struct as_chains_desc){.sequence = as_op_alone(as_op_find(names[i]), 0)});
        assert_true(i < 2 ? isnan(tc.limit) : tc.limit == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subgroups_of_dialects),
        cmocka_unit_test(test_which_groups),
        cmocka_unit_test(test_issue),
        cmocka_unit_test(test_chain_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
