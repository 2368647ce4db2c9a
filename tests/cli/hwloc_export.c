/* The XML for hwloc, read back by hwloc. */
#include "cli/output/hwloc_export.h"
#include "base/text.h"
#include "tests/unit_test.h"

#include <hwloc.h>
#include <hwloc/memattrs.h>
#include <math.h>
#include <string.h>

static const struct as_quantity read_all = {.name = "memory.read.all"}, latency = {.name = "memory.latency"},
                                foreign = {.name = "foreign"}, write_all = {.name = "memory.write.all"};
static struct as_sheet_row rows[] = {
    {.of = &read_all, .group = "Memory", .label = "read", .value = 20.97152, .ci = {20.9, 21.1}, .unit = "GB/s"},
    {.of = &latency, .group = "Memory", .label = "latency", .value = 123.4, .ci = {123.1, 123.7}, .unit = "ns"},
    {.of = &foreign, .group = "Memory", .label = "a<b\x1b", .value = 2, .unit = "n\ns"},
    {.of = &write_all,
     .group = "Memory",
     .label = "write",
     .value = 55.3858,
     .ci = {8, 264},
     .trials = 2,
     .unit = "GB/s"},
};
static struct as_device_sheet cpu = {.id = "cpu", .name = "CPU", .sheet = {.rows = rows, .n = 4}};
static const struct as_machine_sheet machine = {.v = &cpu, .n = 1, .runs = 1};

static void check_attributes(hwloc_topology_t t)
{
    hwloc_obj_t node = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 0);
    hwloc_uint64_t value = 0;
    assert_non_null(node);
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET, .location.cpuset = node->cpuset};
    const bool one = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE) == 1;
    const int got = hwloc_memattr_get_value(t, HWLOC_MEMATTR_ID_READ_BANDWIDTH, node, &from, 0, &value);
    assert_true((got == 0) == one);
    if (!one)
        return;
    assert_int_equal(value, 20000); /* MiB/s */
    assert_int_equal(hwloc_memattr_get_value(t, HWLOC_MEMATTR_ID_LATENCY, node, &from, 0, &value), 0);
    assert_int_equal(value, 123);
    assert_int_not_equal(hwloc_memattr_get_value(t, HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, node, &from, 0, &value), 0);
}

UNIT_TEST(test_read_back)
{
    struct as_buf xml = AS_BUF_INIT;
    struct as_error err;
    hwloc_topology_t t;
    assert_int_equal(as_hwloc_xml(&machine, &xml, &err), AS_OK);
    assert_int_equal(hwloc_topology_init(&t), 0);
    assert_int_equal(hwloc_topology_set_xmlbuffer(t, as_buf_get(&xml), (int)xml.len + 1), 0);
    assert_int_equal(hwloc_topology_load(t), 0);
    check_attributes(t);
    const char *info = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "assay Memory latency");
    assert_non_null(info);
    assert_string_equal(info, "123 ns");
    assert_null(hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "assay Memory write")); /* too noisy */
    info = hwloc_obj_get_info_by_name(hwloc_get_root_obj(t), "assay Memory a<b\\x1b");
    assert_non_null(info);
    assert_string_equal(info, "2 n\\x0as");
    hwloc_topology_destroy(t);
    as_buf_finish(&xml);
}

UNIT_TEST(test_another_machine)
{
    struct as_run run = {.id = 3};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err;
    as_copy_text(run.host, sizeof run.host, "elsewhere, with a name that no host here has");
    assert_int_equal(as_export_hwloc(NULL, &run, &(struct as_sink){.out = &out}, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "export it there"));
    as_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_another_machine),
    };
    return cmocka_run_group_tests_name("export for hwloc", tests, NULL, NULL);
}
