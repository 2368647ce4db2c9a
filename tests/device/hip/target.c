/* Chip properties from a target's name. */
#include "../check.h"
#include "device/hip/hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void plant(const char *folder, const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* As the kernel's driver shows them; what is no mode is left out. */
static void test_partitions(void **state)
{
    static const char bus_id[] = "0000:0a:03.0", compute[] = "current_compute_partition";
    char root[] = "/tmp/assay-partition-XXXXXX", folder[256], out[32], command[512];
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices/%s", root, bus_id);
    snprintf(command, sizeof command, "mkdir -p '%s'", folder);
    assert_int_equal(system(command), 0);
    as_hip_partition_text(root, bus_id, out, sizeof out);
    assert_string_equal(out, "");
    plant(folder, compute, "CPX\n");
    as_hip_partition_text(root, bus_id, out, sizeof out);
    assert_string_equal(out, ", CPX");
    plant(folder, "current_memory_partition", "NPS4\n");
    as_hip_partition_text(root, bus_id, out, sizeof out);
    assert_string_equal(out, ", CPX, NPS4");
    plant(folder, compute, "<script>\n");
    as_hip_partition_text(root, bus_id, out, sizeof out);
    assert_string_equal(out, ", NPS4");
    as_hip_partition_text(root, "../../0000:0a:03.0", out, sizeof out);
    assert_string_equal(out, "");
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_partitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
