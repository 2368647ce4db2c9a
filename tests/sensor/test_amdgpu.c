/* The sensor of AMD GPUs on simulated file systems: available values are read, missing ones have a reason, and
 * implausible ones are unknown. */
#include "sensor/amdgpu.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 120, STATUS = 112 };
static const char bus_id[] = "0000:c1:00.0";
static char root[64];

static void put_at(const char *folder, const char *path, const void *bytes, size_t n)
{
    char whole[300], command[700];
    snprintf(whole, sizeof whole, "%s/sys/%s/%s", root, folder, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", whole);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put_bytes(const char *path, const void *bytes, size_t n)
{
    char folder[64];
    snprintf(folder, sizeof folder, "bus/pci/devices/%s", bus_id);
    put_at(folder, path, bytes, n);
}

static void write_under_root(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static void put_table(unsigned format, unsigned content, unsigned size, uint64_t status)
{
    unsigned char table[TABLE] = {(unsigned char)size, (unsigned char)(size >> 8), (unsigned char)format,
                                  (unsigned char)content};
    for (size_t i = 0; i < 8; i++)
        table[STATUS + i] = (unsigned char)(status >> 8 * i);
    put_bytes("gpu_metrics", table, sizeof table);
}

static void put_all(void)
{
    static const char *const files[][2] = {
        {"vendor", "0x1002\n"},
        {"current_link_speed", "8.0 GT/s PCIe\n"},
        {"current_link_width", "8\n"},
        {"max_link_speed", "16.0 GT/s PCIe\n"},
        {"max_link_width", "16\n"},
        {"gpu_busy_percent", "42\n"},
        {"ras/umc_err_count", "ue: 1\nce: 12\n"},
        {"ras/xgmi_wafl_err_count", "ue: 2\nce: 3\n"},
        {"pcie_replay_count", "7\n"},
        {"xgmi_error", "9\n"},
        {"hwmon/hwmon7/name", "amdgpu\n"},
        {"hwmon/hwmon7/temp1_label", "edge\n"},
        {"hwmon/hwmon7/temp1_input", "41000\n"},
        {"hwmon/hwmon7/temp2_label", "junction\n"},
        {"hwmon/hwmon7/temp2_input", "58500\n"},
        {"hwmon/hwmon7/power1_average", "312000000\n"},
        {"hwmon/hwmon7/power1_cap", "750000000\n"},
        {"hwmon/hwmon7/freq1_label", "sclk\n"},
        {"hwmon/hwmon7/freq1_input", "1700000000\n"},
        {"hwmon/hwmon7/freq2_label", "mclk\n"},
        {"hwmon/hwmon7/freq2_input", "1600000000\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_under_root(files[i][0], files[i][1]);
    put_table(1, 3, TABLE, 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/assay-amdgpu-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    char command[120];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static struct as_sensor_reading look(struct as_buf *why_not)
{
    struct as_sensor_reading r;
    struct as_error err = {0};
    void *ctx = NULL;
    as_buf_clear(why_not);
    if (as_amdgpu_open_at(root, bus_id, &ctx, why_not, &err))
        fail_msg("%s", err.text);
    as_sensor_reading_clear(&r);
    as_sensor_amdgpu.read(ctx, AS_SENSOR_ALL, &r);
    as_sensor_amdgpu.close(ctx);
    return r;
}

UNIT_TEST(test_everything_there)
{
    struct as_buf why_not = AS_BUF_INIT;
    put_all();
    struct as_sensor_reading r = look(&why_not);
    assert_string_equal(as_buf_get(&why_not), "not reported by the driver: other processes");
    assert_true(r.link_errors == 5 && isnan(r.link_replays) && r.pcie_replays == 7);
    assert_true(r.clock_hz == 1.7e9 && r.memory_clock_hz == 1.6e9);
    assert_true(fabs(r.power_w - 312) < 1e-9 && fabs(r.temperature - 58.5) < 1e-9);
    assert_true(r.pcie_generation == 3 && r.pcie_width == 8);
    assert_true(r.pcie_generation_max == 4 && r.pcie_width_max == 16);
    assert_true(r.ecc_uncorrected == 1 && r.ecc_corrected == 12);
    assert_true(fabs(r.utilisation - 0.42) < 1e-9 && isnan(r.users) && isnan(r.energy_j));
    assert_int_equal(r.throttle, 0);
    write_under_root("hwmon/hwmon7/power1_input", "300000000\n"); /* of now, where the driver has it */
    write_under_root("hwmon/hwmon7/temp2_label", "mem\n");
    r = look(&why_not);
    assert_true(fabs(r.power_w - 300) < 1e-9 && fabs(r.temperature - 41) < 1e-9);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_throttling)
{
    static const struct {
        unsigned format, content, size;
        uint64_t status;
        int wanted;
    } rows[] = {
        {1, 3, TABLE, UINT64_C(1) << 0, AS_THROTTLE_POWER_CAP},
        {1, 3, TABLE, UINT64_C(1) << 16, AS_THROTTLE_HARDWARE},
        {1, 3, TABLE, UINT64_C(1) << 36, AS_THROTTLE_THERMAL},
        {1, 3, TABLE, UINT64_C(1) << 47, AS_THROTTLE_HARDWARE},
        {1, 3, TABLE, UINT64_C(1) << 56, AS_THROTTLE_OTHER},
        {1, 3, TABLE, UINT64_C(1) << 36 | 1, AS_THROTTLE_THERMAL | AS_THROTTLE_POWER_CAP},
        {1, 3, TABLE, UINT64_MAX, -1},
        {1, 3, TABLE - 8, 1, -1},
        {1, 2, TABLE, 1, -1},
        {1, 5, TABLE, 1, -1},
        {2, 3, TABLE, 1, -1},
    };
    struct as_buf why_not = AS_BUF_INIT;
    put_all();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_table(rows[i].format, rows[i].content, rows[i].size, rows[i].status);
        assert_int_equal(look(&why_not).throttle, rows[i].wanted);
        assert_true((strstr(as_buf_get(&why_not), "throttling") != NULL) == (rows[i].wanted < 0));
    }
    write_under_root("gpu_metrics", "short");
    assert_int_equal(look(&why_not).throttle, -1);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_nothing_there)
{
    struct as_buf why_not = AS_BUF_INIT;
    write_under_root("vendor", "0x1002\n");
    struct as_sensor_reading r = look(&why_not);
    assert_true(isnan(r.temperature) && isnan(r.power_w) && isnan(r.clock_hz) && isnan(r.pcie_width));
    assert_int_equal(r.throttle, -1);
    assert_string_equal(
        as_buf_get(&why_not),
        "not reported by the driver: clock, memory clock, power, temperature, throttling, PCIe link, ECC "
        "errors, other processes, utilisation");
    as_buf_finish(&why_not);
}

UNIT_TEST(test_hostile_files)
{
    static const char *const files[][2] = {
        {"current_link_speed", "Unknown"},
        {"current_link_width", "255\n"},
        {"max_link_speed", "16.00000000000000000000000000000000000000000000000000\n"},
        {"gpu_busy_percent", "101\n"},
        {"ras/umc_err_count", "value: 1"},
        {"hwmon/hwmon7/temp2_input", "-273000\n"},
        {"hwmon/hwmon7/power1_average", "hot\x1B[2J"},
        {"hwmon/hwmon7/freq1_input", "99999999999999999999999999999999999999999999999999\n"},
        {"hwmon/hwmon7/freq2_input", ""},
    };
    struct as_buf why_not = AS_BUF_INIT;
    put_all();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_under_root(files[i][0], files[i][1]);
    struct as_sensor_reading r = look(&why_not);
    assert_true(isnan(r.pcie_generation) && isnan(r.pcie_width) && isnan(r.pcie_generation_max));
    assert_true(isnan(r.utilisation) && isnan(r.ecc_corrected) && isnan(r.ecc_uncorrected));
    assert_true(isnan(r.temperature) && isnan(r.power_w) && isnan(r.clock_hz) && isnan(r.memory_clock_hz));
    assert_null(strchr(as_buf_get(&why_not), 0x1B));
    write_under_root("hwmon/hwmon7/name", "nvme\n");
    assert_true(isnan(look(&why_not).temperature));
    as_buf_finish(&why_not);
}

/* ---- links to other GPUs ---- */

enum { NODE_CPU, NODE_SELF, NODE_PEER, NODE_OTHER };

static void put_in_kfd(unsigned node, const char *path, const char *text)
{
    char folder[64];
    snprintf(folder, sizeof folder, "class/kfd/kfd/topology/nodes/%u", node);
    put_at(folder, path, text, strlen(text));
}

static void put_link(unsigned index, unsigned type, unsigned to, unsigned least, unsigned most)
{
    char path[48], text[200];
    snprintf(path, sizeof path, "io_links/%u/properties", index);
    snprintf(text, sizeof text,
             "type %u\nversion_major 0\nnode_from %d\nnode_to %u\nweight 15\nmin_bandwidth %u\nmax_bandwidth %u\n",
             type, NODE_SELF, to, least, most);
    put_in_kfd(NODE_SELF, path, text);
}

/* A machine of a CPU and three GPUs, the first of which is the sensor's. */
static void put_nodes(void)
{
    write_under_root("vendor", "0x1002\n");
    put_in_kfd(NODE_CPU, "properties", "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\n");
    put_in_kfd(NODE_SELF, "properties", "cpu_cores_count 0\nsimd_count 440\nlocation_id 49408\ndomain 0\n");
    put_in_kfd(NODE_PEER, "properties", "cpu_cores_count 0\nsimd_count 440\nlocation_id 49664\ndomain 0\n");
    put_in_kfd(NODE_OTHER, "properties", "cpu_cores_count 0\nsimd_count 440\nlocation_id 49920\ndomain 0\n");
    put_link(0, 11, NODE_CPU, 36000, 36000);
}

static void put_metrics(unsigned content, size_t size, size_t at, unsigned lanes, unsigned gbits)
{
    unsigned char table[512] = {(unsigned char)size, (unsigned char)(size >> 8), 1, (unsigned char)content};
    table[at] = (unsigned char)lanes, table[at + 1] = (unsigned char)(lanes >> 8);
    table[at + 2] = (unsigned char)gbits, table[at + 3] = (unsigned char)(gbits >> 8);
    table[at + 36] = 12; /* replays, of every version */
    put_bytes("gpu_metrics", table, size);
}

static struct as_device_info described(void)
{
    struct as_device_info info = {.bus_id = ""};
    struct as_buf why_not = AS_BUF_INIT;
    void *ctx = NULL;
    assert_int_equal(as_amdgpu_open_at(root, bus_id, &ctx, &why_not, NULL), AS_OK);
    as_sensor_amdgpu.describe(ctx, &info);
    as_sensor_amdgpu.close(ctx);
    as_buf_finish(&why_not);
    return info;
}

static void expect_links(const char *bus, double bandwidth)
{
    const struct as_device_info info = described();
    assert_string_equal(info.peer_bus, bus);
    assert_true(fabs(info.peer_bandwidth - bandwidth) < 1);
}

/* What KFD and the table say of the links, alone and together; links to the CPU and over PCIe are no links to a peer.
 */
UNIT_TEST(test_links)
{
    put_nodes();
    expect_links("", 0);
    put_link(1, 2, NODE_PEER, 32000, 32000);
    expect_links("", 0);
    put_link(1, 11, NODE_PEER, 50000, 50000);
    expect_links("xGMI", 50e9);
    put_link(2, 11, NODE_OTHER, 50000, 200000);
    expect_links("xGMI 4 links", 200e9);
    put_metrics(6, 384, 140, 16, 25);
    expect_links("xGMI 4 links x16", 200e9);
    put_link(2, 11, NODE_OTHER, 50000, 50000);
    static const struct {
        unsigned content;
        size_t size, at;
    } tables[] = {{4, 288, 52}, {5, 360, 116}, {6, 384, 140}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct as_buf why_not = AS_BUF_INIT;
        put_metrics(tables[i].content, tables[i].size, tables[i].at, 16, 32);
        expect_links("xGMI x16", 64e9); /* by the table: the driver assumes 25 Gbit/s */
        assert_true(look(&why_not).pcie_replays == 12);
        as_buf_finish(&why_not);
    }
}

/* Unknown, unpublished and implausible values claim no width and no rate. */
UNIT_TEST(test_unknown_links)
{
    static const struct {
        unsigned content;
        size_t size;
        unsigned lanes, gbits;
    } tables[] = {{6, 384, 0xffff, 0xffff}, {7, 384, 16, 32}, {6, 376, 16, 32}, {6, 384, 0, 32}};
    put_nodes();
    put_link(1, 11, NODE_PEER, 0, 0);
    expect_links("xGMI", 0);
    put_metrics(6, 384, 140, 16, 32);
    expect_links("xGMI x16", 0); /* how many links there are is unknown */
    put_link(1, 11, NODE_PEER, 50000, 50000);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        put_metrics(tables[i].content, tables[i].size, 140, tables[i].lanes, tables[i].gbits);
        expect_links("xGMI", 50e9);
    }
    put_metrics(6, 384, 140, 16, 0xffff);
    expect_links("xGMI x16", 50e9);
    put_link(1, 11, NODE_PEER, 50000, 75000);
    expect_links("xGMI x16", 0);
    put_link(1, 11, 99999, 50000, 50000);
    expect_links("", 0);
    put_in_kfd(NODE_SELF, "io_links/1/properties", "type \x1b[2J\nnode_to -1\n");
    expect_links("", 0);
}

UNIT_TEST(test_not_found)
{
    static const struct {
        const char *bus_id, *vendor, *why;
    } rows[] = {
        {"", "0x1002\n", "no PCI bus ID"},
        {"../../../etc", "0x1002\n", "no PCI bus ID"},
        {"0000:c1:00.0/../x", "0x1002\n", "no PCI bus ID"},
        {"0000:c2:00.0", "0x1002\n", "cannot be read"},
        {bus_id, "0x10de\n", "not an AMD device"},
        {bus_id, "nonsense", "not an AMD device"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_buf why_not = AS_BUF_INIT;
        struct as_error err = {0};
        void *ctx = NULL;
        write_under_root("vendor", rows[i].vendor);
        assert_int_equal(as_amdgpu_open_at(root, rows[i].bus_id, &ctx, &why_not, &err), AS_UNSUPPORTED);
        assert_non_null(strstr(err.text, rows[i].why));
        assert_null(ctx);
        as_buf_finish(&why_not);
    }
}

/* The sensor serves AMD GPUs only, neither NVIDIA GPUs nor AMD CPUs. */
UNIT_TEST(test_serves)
{
    static const struct {
        struct as_device_info info;
        bool wanted;
    } rows[] = {
        {{.backend = "hip", .vendor = "AMD"}, true},
        {{.backend = "opencl", .vendor = "Advanced Micro Devices, Inc.", .bus_id = "0000:c1:00.0"}, true},
        {{.backend = "opencl", .vendor = "Advanced Micro Devices, Inc."}, false},
        {{.backend = "opencl", .vendor = "AuthenticAMD", .bus_id = "0000:c1:00.0"}, false},
        {{.backend = "cuda", .vendor = "NVIDIA", .bus_id = "0000:c1:00.0"}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(as_sensor_amdgpu.serves(&rows[i].info), rows[i].wanted);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_everything_there), TEST(test_throttling), TEST(test_nothing_there),
                                       TEST(test_hostile_files),    TEST(test_links),      TEST(test_unknown_links),
                                       TEST(test_not_found),        TEST(test_serves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
