/* Planted errors in operations are detected on this machine's OpenCL: a wrong reference, a step dropped by a compiler,
 * a truncated chain. */
#include "lib/ops/trial.h"
#include "real_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct as_opened opened;

static int open_device(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_device_open("opencl:0", &opened, &err))
        print_message("skipped: %s\n", err.text);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    as_device_close(&opened);
    return 0;
}

static struct as_trial_context trial_of(uint64_t seed)
{
    return (struct as_trial_context){.dev = &opened.device, .seed = seed, .limit = NAN};
}

static struct as_chains_desc chains_of(const struct as_op *op)
{
    const unsigned threads = opened.device.info.is_host_cpu ? 1 : 64;
    return (struct as_chains_desc){.sequence = as_op_alone(op, 3), .ilp = 2, .steps = 24, .threads = threads};
}

/* The check's result for chains of an operation; *measured is the status of a measurement. */
static bool checked(const struct as_op *op, char *why, size_t size, enum as_status *measured)
{
    struct as_error err = {0};
    struct as_trial_context tc = trial_of(7);
    struct as_chains c;
    struct as_chains_time time;
    const struct as_chains_desc desc = chains_of(op);
    if (as_chains_prepare(&c, &tc, &desc, &err))
        fail_msg("%s: %s", op->name, err.text);
    bool good = as_chains_check(&c, why, size);
    *measured = as_chains_measure(&c, 4096, &time, &err);
    if (real_was_disturbed(*measured, &err))
        *measured = AS_OK;
    if (*measured)
        snprintf(why + strlen(why), size - strlen(why), "; %s", err.text);
    as_chains_finish(&c);
    as_buf_finish(&tc.detail);
    return good;
}

UNIT_TEST(test_right)
{
    static const char *const names[] = {"iadd32", "ffma32", "cvt_f32_i32"};
    char why[512] = "";
    enum as_status measured;
    if (!opened.backend)
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool good = checked(as_op_find(names[i]), why, sizeof why, &measured);
        if (!good || measured)
            fail_msg("%s: %s", names[i], why);
    }
}

/* Another operation, direction of a shift, lane or kind of scan. */
UNIT_TEST(test_wrong_reference)
{
    static const char *const pairs[][2] = {{"iadd32", "isub32"},
                                           {"shl32", "shr32"},
                                           {"shlc32", "shrc32"},
                                           {"imulhi32", "imul32"},
                                           {"fmin32", "fmax32"},
                                           {"clz32", "ctz32"},
                                           {"shuffle_up32", "shuffle_down32"},
                                           {"prefix_sum32", "prefix_esum32"},
                                           {"quad_prefix_esum32", "quad_prefix_sum32"},
                                           {"prefix_fsum32", "prefix_fesum32"}};
    size_t ran = 0;
    if (!opened.backend)
        skip();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char why[512] = "";
        enum as_status measured;
        struct as_error err = {0};
        const struct as_op *right = as_op_find(pairs[i][0]), *other = as_op_find(pairs[i][1]);
        assert_true(right && other);
        const struct as_chains_desc desc = chains_of(right);
        if (as_chains_apply(&opened.device.info, &desc, &err) != AS_APPLIES) {
            print_message("%s: %s\n", right->name, err.text);
            continue;
        }
        struct as_op wrong = *right;
        wrong.reference = other->reference;
        wrong.group_reference = other->group_reference;
        if (checked(&wrong, why, sizeof why, &measured))
            fail_msg("%s passes for %s", right->name, other->name);
        if (!strstr(why, "gave "))
            fail_msg("%s: %s", right->name, why);
        ran++;
    }
    assert_true(ran > 4);
}

/* Steps of the long body do nothing, or do not depend on the previous one. */
UNIT_TEST(test_wrong_bodies)
{
    static const char *const heads[] = {
        "#define OP$(d, a, b, c) (d) = mode == 2u ? (a) : (a) + (b)",
        "#define OP$(d, a, b, c) (d) = mode == 2u ? (TR$)7 : (a) + (b)",
    };
    if (!opened.backend)
        skip();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char head[256], why[512] = "";
        enum as_status measured;
        struct as_op wrong = *as_op_find("iadd32");
        snprintf(head, sizeof head, "#define TA$ u32\n#define TB$ u32\n#define TC$ u32\n#define TR$ u32\n%s\n",
                 heads[i]);
        wrong.head = head;
        assert_false(checked(&wrong, why, sizeof why, &measured));
        assert_non_null(strstr(why, "long body"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_wrong_reference),
        cmocka_unit_test(test_wrong_bodies),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
