/* Probe node_link: a worker of one machine has no such cells, and refuses one that it is given. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_node_link;
static const struct as_probe *const probe = &as_probe_node_link;

static enum as_applies applies(const char *backend, const char *text, struct as_error *err)
{
    struct as_device_info info = {.id = "x"};
    struct as_axes axes;
    *err = (struct as_error){0};
    as_copy_text(info.backend, sizeof info.backend, backend);
    toy_axes(&axes, text);
    return probe->applies(&info, &axes, err);
}

UNIT_TEST(test_applies)
{
    struct as_error err;
    static const char cell[] = "what=latency size=8 pairs=together from=0 to=1",
                      odd[] = "what=allreduce size=12 pairs=alone from=0 to=3",
                      whole[] = "what=allreduce size=16 pairs=alone from=0 to=3",
                      beside[] = "what=bisection size=16 pairs=together from=0 to=3";
    assert_int_equal(applies("mpi", cell, &err), AS_APPLIES);
    assert_int_equal(applies("mpi", whole, &err), AS_APPLIES);
    assert_int_equal(applies("mpi", odd, &err), AS_PRUNED);    /* no whole number of doubles */
    assert_int_equal(applies("mpi", beside, &err), AS_PRUNED); /* all ranks take part: none is beside it */
    assert_int_equal(applies("cuda", cell, &err), AS_PRUNED);
    assert_non_null(strstr(err.text, "assay fleet links"));
}

UNIT_TEST(test_refused)
{
    struct as_trial_context tc = {.seed = 1};
    struct as_error err = {0};
    char state;
    assert_int_equal(probe->prepare(&tc, &state, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "assay fleet links"));
    probe->finish(&state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_applies), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
