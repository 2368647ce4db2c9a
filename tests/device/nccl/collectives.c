/* Collectives by a stand-in for NCCL or RCCL over the stand-in's devices: results, errors, and that nothing is left.
 * The argument is the library's name. */
#include "../stand_in.h"

#include "probe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

extern const struct as_probe as_probe_collective;

static const char *library;

static int setup(void **state)
{
    (void)state;
    fake("");
    setenv("FAKE_NCCL", "", 1);
    open_gpu(&gpu, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    close_gpu(&gpu);
    assert_int_equal(fake_live_of(library, "fake_nccl_live"), 0);
    return 0;
}

static void make_axes(struct as_axes *a, const char *op, uint64_t size)
{
    *a = (struct as_axes){.n = 2};
    snprintf(a->v[0].name, sizeof a->v[0].name, "op");
    snprintf(a->v[0].text, sizeof a->v[0].text, "%s", op);
    a->v[0].number = NAN;
    snprintf(a->v[1].name, sizeof a->v[1].name, "size");
    snprintf(a->v[1].text, sizeof a->v[1].text, "%ju", (uintmax_t)size);
    a->v[1].number = (double)size;
}

/* A trial of three samples; how it ends, with what the check says or the error. */
static enum as_status play(const char *op, uint64_t size, bool *right, char *why, size_t why_size)
{
    struct as_axes axes;
    struct as_error err = {0};
    void *state = NULL;
    make_axes(&axes, op, size);
    struct as_trial_context tc = {.dev = &gpu.dev, .axes = &axes, .seed = 7, .trial = 1};
    enum as_status st = as_probe_prepare(&as_probe_collective, &tc, &state, &err);
    for (int i = 0; i < 3 && !st; i++) {
        struct as_sample sample = {.value = NAN};
        st = as_probe_collective.sample(state, 2, &sample, &err);
        assert_true(st || sample.value > 0);
    }
    *right = !st && as_probe_collective.check(state, why, why_size);
    if (st)
        snprintf(why, why_size, "%s", err.text);
    as_probe_finish(&as_probe_collective, state);
    as_buf_finish(&tc.detail);
    return st;
}

static void test_results(void **state)
{
    static const char *const ops[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"};
    static const uint64_t sizes[] = {1024, 100000, 4 << 20};
    char why[sizeof((struct as_error *)0)->text];
    bool right;
    (void)state;
    assert_non_null(strstr(gpu.dev.info.collectives, "CCL 2.27.3"));
    assert_string_equal(gpu.dev.info.collectives_why, "");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (play(ops[i], sizes[k], &right, why, sizeof why) || !right)
                fail_msg("%s of %ju bytes: %s", ops[i], (uintmax_t)sizes[k], why);
    setenv("FAKE_NCCL", "wrong", 1);
    assert_int_equal(play("all_reduce", 100000, &right, why, sizeof why), AS_OK);
    assert_false(right);
    assert_non_null(strstr(why, "of device 2 is "));
}

/* After each the ranks join anew. */
static void test_errors(void **state)
{
    static const struct {
        const char *words, *part;
    } faults[] = {{"refuses", "ncclCommInitAll: unhandled system error (2); set NCCL_DEBUG=WARN"},
                  {"fails", "ncclAllReduce: some error (1)"},
                  {"late", "ncclAllReduce: some error (6)"},
                  {"breaks", "ncclAllReduce: some error (6)"},
                  {"denies", "ncclAllReduce: unhandled system error (2)"},
                  {"fails silent", "ncclAllReduce: no description (1)"}};
    char why[sizeof((struct as_error *)0)->text];
    bool right;
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        setenv("FAKE_NCCL", faults[i].words, 1);
        assert_int_equal(play("all_reduce", 4096, &right, why, sizeof why), AS_FAILED);
        if (!strstr(why, faults[i].part))
            fail_msg("%s: %s", faults[i].words, why);
        setenv("FAKE_NCCL", "", 1);
        assert_int_equal(play("all_reduce", 4096, &right, why, sizeof why), AS_OK);
        assert_true(right);
    }
}

/* Without access of one device to another's memory the library moves data by the host. */
static void test_no_peer_access(void **state)
{
    char why[sizeof((struct as_error *)0)->text];
    bool right;
    (void)state;
    fake("nopeer");
    assert_int_equal(play("all_gather", 4096, &right, why, sizeof why), AS_OK);
    assert_true(right);
}

static void test_only_the_first(void **state)
{
    struct as_error err = {0};
    struct as_ranks ranks;
    struct opened second = {.backend = gpu.backend};
    (void)state;
    open_device(&second, 1);
    assert_string_equal(second.dev.info.collectives, "");
    assert_string_equal(second.dev.info.collectives_why, "");
    assert_int_equal(second.dev.collective->join(&second.dev, &ranks, &err), AS_UNSUPPORTED);
    second.dev.device->close(&second.dev);
}

static void test_single_device(void **state)
{
    struct opened o;
    (void)state;
    setenv(stand_in.visible, "1", 1);
    open_gpu(&o, 0);
    assert_non_null(strstr(o.dev.info.collectives_why, "has one"));
    close_gpu(&o);
    unsetenv(stand_in.visible);
}

static void test_old_version(void **state)
{
    struct opened o;
    (void)state;
    setenv("FAKE_NCCL", "old", 1);
    open_gpu(&o, 0);
    assert_non_null(strstr(o.dev.info.collectives, "CCL 2.7.8"));
    close_gpu(&o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_results, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_peer_access, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_the_first, setup, teardown),
        cmocka_unit_test(test_single_device),
        cmocka_unit_test(test_old_version),
    };
    library = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
