/* Probe copy on the scripted device: which cells apply, which bytes count, and wrong copies are detected. */
#include "tests/probes/scripted.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_copy;

#define INFO                                                                                                           \
    "\"info\":{\"capabilities\":[\"copy\"],\"allocators\":[{\"name\":\"own\",\"host_access\":false},"                  \
    "{\"name\":\"pinned\",\"host_access\":true}]}"
#define LEVELS "\"levels\":[{\"size\":0,\"gbs\":20}],"

UNIT_TEST(test_which_cells)
{
    struct scripted s;
    struct as_error err = {0};
    scripted_open(&s, "{}");
    assert_int_equal(scripted_applies(&s, &as_probe_copy, "from=host to=malloc direction=one how=engine size=64", &err),
                     AS_PRUNED); /* a CPU has no copy API */
    scripted_close(&s);
    static const struct {
        const char *axes;
        enum as_applies want;
    } cells[] = {
        {"from=host to=own direction=one how=engine size=64", AS_APPLIES},
        {"from=host to=host direction=one how=engine size=64", AS_PRUNED},
        {"from=host to=own direction=one how=kernel size=64", AS_PRUNED},
        {"from=own to=host direction=both how=engine size=64", AS_PRUNED},
        {"from=own to=pinned direction=both how=engine size=64", AS_APPLIES},
        {"from=pinned to=own direction=both how=engine size=64", AS_PRUNED}, /* the previous cell exchanged */
        {"from=own to=own direction=both how=kernel size=64", AS_APPLIES},
    };
    scripted_open(&s, "{" INFO "}");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_int_equal(scripted_applies(&s, &as_probe_copy, cells[i].axes, &err), cells[i].want);
    strcpy(s.dev->info.allocators[0].name, "zone"); /* names do not matter */
    assert_int_equal(
        scripted_applies(&s, &as_probe_copy, "from=zone to=pinned direction=both how=engine size=64", &err),
        AS_APPLIES);
    assert_int_equal(
        scripted_applies(&s, &as_probe_copy, "from=pinned to=zone direction=both how=engine size=64", &err), AS_PRUNED);
    strcpy(s.dev->info.allocators[0].name, "own");
    s.dev->info.is_host_cpu = true; /* all of its memory is the CPU's */
    assert_int_equal(scripted_applies(&s, &as_probe_copy, cells[0].axes, &err), AS_PRUNED);
    s.dev->info.is_host_cpu = false;
    s.dev->info.capabilities = AS_CAP_SOURCE;
    assert_int_equal(scripted_applies(&s, &as_probe_copy, cells[4].axes, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the backend has no copy call");
    s.dev->info.capabilities = AS_CAP_SOURCE | AS_CAP_COPY | AS_CAP_HOST_KERNELS;
    scripted_close(&s);
}

/* Sizes below and above the limit up to which every byte is checked, and one that is not a multiple of the block
 * size. */
static const char *const sizes[] = {"64", "4160", "3145792"};

UNIT_TEST(test_right_copies)
{
    static const char *const kinds[] = {
        "from=own to=pinned direction=one how=engine",  "from=own to=own direction=one how=kernel",
        "from=own to=pinned direction=both how=engine", "from=own to=pinned direction=both how=kernel",
        "from=host to=own direction=one how=engine",    "from=pinned to=host direction=one how=engine"};
    struct scripted s;
    char why[160], axes[160];
    scripted_open(&s, "{" LEVELS INFO "}");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            double value;
            snprintf(axes, sizeof axes, "%s size=%s", kinds[k], sizes[i]);
            if (!scripted_check(&s, &as_probe_copy, axes, 3, &value, why, sizeof why))
                fail_msg("%s: %s", axes, why);
            if (!strstr(axes, "host")) /* the script's 20 GB/s; each byte counts once */
                assert_true(fabs(value - 20) < 1e-6);
        }
    scripted_close(&s);
}

static bool is_right(const char *script, const char *axes, char *why, size_t size)
{
    struct scripted s;
    double value;
    scripted_open(&s, script);
    bool right = scripted_check(&s, &as_probe_copy, axes, 3, &value, why, size);
    scripted_close(&s);
    return right;
}

UNIT_TEST(test_wrong_copies_are_seen)
{
    static const char damaged[] = "{\"faults\":[{\"do\":\"wrong\",\"kernel\":\"copy\",\"from\":3}]," INFO "}";
    static const char idle[] = "{\"execute\":false," INFO "}", stale[] = "{\"execute\":\"once\"," INFO "}";
    static const char engine[] = "from=own to=pinned direction=both how=engine size=3145792";
    static const char kernel[] = "from=own to=pinned direction=both how=kernel size=3145792";
    char why[160];
    assert_false(is_right(damaged, engine, why, sizeof why));
    assert_non_null(strstr(why, "byte 0 of copy 0 holds"));
    assert_false(is_right(damaged, kernel, why, sizeof why));
    assert_false(is_right(idle, engine, why, sizeof why));
    assert_false(is_right(idle, kernel, why, sizeof why));
    /* the destination holds the data of an earlier copy */
    assert_false(is_right(stale, kernel, why, sizeof why));
    assert_true(is_right("{" INFO "}", kernel, why, sizeof why));
}

UNIT_TEST(test_no_memory)
{
    struct scripted s;
    scripted_open(&s, "{" LEVELS INFO "}");
    struct as_axes axes;
    struct as_error err = {0};
    struct as_trial_context tc = {.dev = s.dev, .axes = &axes};
    void *state = NULL;
    toy_axes(&axes, "from=own to=own direction=one how=engine size=1073741824");
    assert_int_equal(as_probe_prepare(&as_probe_copy, &tc, &state, &err), AS_UNSUPPORTED);
    as_probe_finish(&as_probe_copy, state);
    scripted_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_right_copies),
        cmocka_unit_test(test_wrong_copies_are_seen),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
