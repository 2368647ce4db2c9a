/* Chip properties from a target's name. */
#include "../check.h"
#include "device/hip/hip.h"

static const struct {
    const char *name, *environment, *arch;
    unsigned generation;
    enum as_hip_xnack xnack;
} cases[] = {
    {"gfx90a:sramecc+:xnack-", "1", "gfx90a", 9, AS_HIP_XNACK_OFF},
    {"gfx942:sramecc+:xnack+", NULL, "gfx942", 9, AS_HIP_XNACK_ON},
    {"gfx906:sramecc+:xnack", "1", "gfx906", 9, AS_HIP_XNACK_ON},
    {"gfx906:sramecc+:xnack", NULL, "gfx906", 9, AS_HIP_XNACK_OFF},
    {"gfx1030", "1", "gfx1030", 10, AS_HIP_XNACK_NONE},
    {"gfx1100", NULL, "gfx1100", 11, AS_HIP_XNACK_NONE},
    {"gfx1201", NULL, "gfx1201", 12, AS_HIP_XNACK_NONE},
    {"gfx9", NULL, "gfx9", 0, AS_HIP_XNACK_NONE},
    /* not targets: nothing is derived from them */
    {"", NULL, "", 0, AS_HIP_XNACK_NONE},
    {"sm_90", NULL, "", 0, AS_HIP_XNACK_NONE},
    {"gfx90a -Xclang", NULL, "", 0, AS_HIP_XNACK_NONE},
    {"gfx90aaaaaaaaaaaaaaaa", NULL, "", 0, AS_HIP_XNACK_NONE},
    {"gfx90a:sramecc+:xnack+:xnack+:xnack+:xnack+:xnack+:xnack+:xnack+", NULL, "", 0, AS_HIP_XNACK_NONE},
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_hip_target t;
        as_hip_parse_target(cases[i].name, cases[i].environment, &t);
        assert_string_equal(t.arch, cases[i].arch);
        assert_string_equal(t.name, t.arch[0] ? cases[i].name : "");
        assert_int_equal(t.generation, cases[i].generation);
        assert_int_equal(t.xnack, cases[i].xnack);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
