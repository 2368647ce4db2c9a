/* Which descriptions are of one device. */
#include "run/identity.h"
#include "tests/unit_test.h"

#include "base/text.h"

#include <string.h>

static const struct as_device_info gpu = {.id = "cuda:0",
                                          .name = "H100",
                                          .uuid = "GPU-1",
                                          .bus_id = "0000:01:00.0",
                                          .driver = "CUDA 12.2",
                                          .compute_units = 132,
                                          .caches_n = 1,
                                          .caches = {{.level = 2, .kind = 'u', .size = 50 << 20}}};

static void expect_differs(const struct as_device_info *then, const struct as_device_info *now, const char *word)
{
    struct as_buf out = AS_BUF_INIT;
    as_identity_differs(then, now, &out);
    if (word ? !strstr(as_buf_get(&out), word) : out.len)
        fail_msg("'%s' instead of '%s'", as_buf_get(&out), word ? word : "");
    as_buf_finish(&out);
}

UNIT_TEST(test_differs)
{
    struct as_device_info other = gpu;
    as_copy_text(other.uuid, sizeof other.uuid, "GPU-2");
    expect_differs(&gpu, &other, "UUID 'GPU-2'");
    other.uuid[0] = 0; /* then the bus decides */
    expect_differs(&gpu, &other, NULL);
    as_copy_text(other.bus_id, sizeof other.bus_id, "0000:02:00.0");
    expect_differs(&gpu, &other, "bus '0000:02:00.0'");
    other.bus_id[0] = 0; /* then the name */
    expect_differs(&gpu, &other, NULL);
    as_copy_text(other.name, sizeof other.name, "H200");
    expect_differs(&gpu, &other, "'H200' now");
    other = gpu;
    other.compute_units = 66; /* a partition of it */
    expect_differs(&gpu, &other, "66 now");
    other = gpu;
    other.caches[0].size = 25 << 20;
    expect_differs(&gpu, &other, "L2 cache");
}

UNIT_TEST(test_same)
{
    struct as_device_info other = gpu;
    as_copy_text(other.bus_id, sizeof other.bus_id, "0000:02:00.0"); /* the GPU moved to another slot */
    as_copy_text(other.name, sizeof other.name, "NVIDIA H100");      /* the driver's name for it changed */
    as_copy_text(other.driver, sizeof other.driver, "CUDA 13.0");
    expect_differs(&gpu, &other, NULL);
    other = gpu;
    other.name[0] = other.uuid[0] = other.bus_id[0] = 0; /* nothing is known */
    other.caches_n = other.compute_units = 0;
    expect_differs(&gpu, &other, NULL);
    expect_differs(&other, &gpu, NULL);
    struct as_device_info cpu = {.id = "cpu", .name = "EPYC", .capabilities = AS_CAP_HOST_KERNELS, .compute_units = 8};
    other = cpu;
    other.compute_units = 2; /* the CPUs that the process may use */
    expect_differs(&cpu, &other, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_differs), cmocka_unit_test(test_same)};
    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
