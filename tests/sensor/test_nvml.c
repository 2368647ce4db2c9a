/* The sensor of NVIDIA devices on a stand-in library whose behaviour FAKE_NVML selects (fake/fake.c). */
#include "base/buf.h"
#include "base/text.h"
#include "sensor/watch.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct as_device_info device = {
    .backend = "opencl", .vendor = "NVIDIA Corporation", .bus_id = "0000:01:00.0"};

static struct as_sensing open_as(const char *behaviour)
{
    struct as_sensing s;
    setenv("FAKE_NVML", behaviour, 1);
    as_sensing_open(&device, &s);
    return s;
}

static struct as_sensor_reading read_as(const char *behaviour)
{
    struct as_sensing s = open_as(behaviour);
    struct as_sensor_reading r;
    assert_non_null(s.sensor);
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    as_sensing_close(&s);
    return r;
}

UNIT_TEST(test_numbers)
{
    struct as_sensing s = open_as("self");
    assert_non_null(s.sensor);
    assert_string_equal(s.sensor->name, "nvml");
    assert_string_equal(s.why_not, "");
    assert_true(s.read_s > 0);
    as_sensing_close(&s);
    struct as_sensor_reading r = read_as("self");
    assert_true(r.clock_hz == 1980e6 && r.memory_clock_hz == 3201e6 && r.power_w == 250 && r.temperature == 61);
    assert_true(r.power_limit_w == 700);
    assert_true(r.energy_j >= 5 && fmod(r.energy_j, 5) == 0);
    assert_true(isnan(read_as("self no counter").energy_j));
    assert_true(r.pcie_generation == 4 && r.pcie_generation_max == 5 && r.pcie_width == 8 && r.pcie_width_max == 16);
    assert_true(r.ecc_corrected == 7 && r.ecc_uncorrected == 0 && r.utilisation == 0.75 && r.users == 0);
    assert_int_equal(r.throttle, 0);
    assert_true(isnan(r.link_errors) && isnan(r.link_replays) && isnan(r.pcie_replays));
    r = read_as("self counts");
    assert_true(r.link_errors == 4 && r.link_replays == 5 && r.pcie_replays == 9);
    assert_true(isnan(read_as("self nvlink").link_errors));
    r = read_as("self nvlink blackwell");
    assert_true(r.link_errors == 0 + 1 + 2 + 3 + 4 && isnan(r.link_replays));
    assert_true(read_as("self nvlink blackwell counts").link_errors == 4); /* totals, where there are any */
    assert_true(read_as("self instant").power_w == 312.5);
    r = read_as("self c2c"); /* the PCI port is not its link to the host */
    assert_true(r.pcie_generation == 4 && isnan(r.pcie_generation_max) && isnan(r.pcie_width_max));
}

UNIT_TEST(test_throttling)
{
    static const struct {
        const char *behaviour;
        int bits;
    } cases[] = {{"idle", AS_THROTTLE_IDLE},
                 {"thermal cap", AS_THROTTLE_THERMAL | AS_THROTTLE_POWER_CAP},
                 {"strange", AS_THROTTLE_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(read_as(cases[i].behaviour).throttle, cases[i].bits);
}

UNIT_TEST(test_users)
{
    assert_true(read_as("self other").users == 1); /* counted once, though it draws as well */
    assert_true(read_as("").users == 0);
    assert_true(isnan(read_as("other").users)); /* without our own process the numbers are not ours to judge */
    assert_true(read_as("crowd").users > 100);
    assert_true(isnan(read_as("liar").users));
}

UNIT_TEST(test_lost_device)
{
    struct as_sensing s = open_as("lost");
    struct as_sensor_reading r;
    assert_non_null(s.sensor); /* found, but reports nothing */
    assert_non_null(strstr(s.why_not, "power"));
    assert_non_null(strstr(s.why_not, "other processes"));
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    assert_true(isnan(r.power_w) && isnan(r.temperature) && isnan(r.ecc_uncorrected) && isnan(r.users));
    assert_int_equal(r.throttle, -1);
    as_sensing_close(&s);
}

UNIT_TEST(test_reasons)
{
    struct as_sensing s = open_as("noinit");
    assert_null(s.sensor);
    assert_non_null(strstr(s.why_not, "GPU is lost (code 15)"));
    as_sensing_close(&s);
    s = open_as("noinit hostile"); /* as it comes: who shows it escapes it */
    assert_null(s.sensor);
    struct as_buf shown = AS_BUF_INIT;
    as_buf_terminal(&shown, s.why_not);
    assert_null(strchr(as_buf_get(&shown), '\x1B'));
    as_buf_finish(&shown);
    struct as_device_info other = device;
    strcpy(other.bus_id, "0000:02:00.0");
    setenv("FAKE_NVML", "", 1);
    as_sensing_open(&other, &s);
    assert_null(s.sensor);
    assert_non_null(strstr(s.why_not, "0000:02:00.0"));
    other.bus_id[0] = 0;
    as_sensing_open(&other, &s);
    assert_null(s.sensor);
    assert_non_null(strstr(s.why_not, "no PCI bus ID"));
}

UNIT_TEST(test_watched_trial)
{
    struct as_sensing s = open_as("self other growing cap");
    struct as_watch w;
    struct as_readings r;
    as_watch_begin(&w, &s, 0.001);
    as_watch_mark(&w);
    as_watch_end(&w, &r);
    assert_string_equal(r.sensor, "nvml");
    assert_true(isnan(r.power_w)); /* the trial was shorter than the driver's lag */
    assert_true(r.clock_hz == 1980e6 && r.pcie_generation == 4 && r.users == 1);
    assert_true(r.ecc_uncorrected == 1 && r.ecc_corrected == 0);
    assert_int_equal(r.throttle, AS_THROTTLE_POWER_CAP);
    as_sensing_close(&s);
}

UNIT_TEST(test_described)
{
    struct as_device_info info = device;
    struct as_sensing s = open_as("self other thermal");
    as_sensing_describe(&s, &info);
    assert_string_equal(info.sensor, "nvml");
    assert_string_equal(info.unfit, "throttled by thermal, 1 other process on it");
    as_sensing_close(&s);
    s = open_as("self idle");
    as_sensing_describe(&s, &info);
    assert_string_equal(info.unfit, "");
    assert_string_equal(info.bus, "PCIe 5.0 x16"); /* what it can be, not what an idle GPU has */
    assert_true(info.bus_bandwidth > 63.0e9 && info.bus_bandwidth < 63.1e9);
    assert_string_equal(info.peer_bus, "");
    as_sensing_close(&s);
    static const struct {
        const char *words, *bus;
        double bandwidth;
    } linked[] = {{"self nvlink", "NVLink 4 x2", 2 * 25000e6},
                  {"self nvlink switch", "NVLink 4 x4", 4 * 26562e6},
                  {"self nvlink switch unborn", "NVLink x4", 4 * 26562e6}};
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        s = open_as(linked[i].words);
        as_sensing_describe(&s, &info);
        assert_string_equal(info.peer_bus, linked[i].bus);
        assert_true(info.peer_bandwidth == linked[i].bandwidth);
        as_sensing_close(&s);
    }
    s = open_as("noinit");
    as_sensing_describe(&s, &info);
    assert_string_equal(info.sensor, "");
    assert_true(strlen(info.sensor_why) > 0 && info.sensor_read_s == 0);
}

/* An instance is told from others by its UUID, which CUDA gives for what the process sees. */
UNIT_TEST(test_multi_instance)
{
    static const struct {
        const char *words, *uuid, *driver;
    } divided[] = {
        {"self", "", "CUDA 12.8"},
        {"self mig", "GPU-00112233-4455-6677-8899-AABBCCDDEE02", "CUDA 12.8, MIG 1g.20gb+me"},
        {"self mig", "GPU-00112233-4455-6677-8899-aabbccddee01", "CUDA 12.8, MIG 1g.10gb"},
        {"self mig", "GPU-ffffffff-4455-6677-8899-aabbccddee01", "CUDA 12.8, MIG"},
        {"self mig single", "", "CUDA 12.8, MIG 1g.10gb"},
        {"self mig single nameless", "", "CUDA 12.8, MIG"},
        {"self mig single pending", "", "CUDA 12.8, MIG 1g.10gb until the next reset"},
        {"self pending", "", "CUDA 12.8, MIG after the next reset"},
    };
    for (size_t i = 0; i < sizeof divided / sizeof *divided; i++) {
        struct as_device_info info = device;
        as_copy_text(info.driver, sizeof info.driver, "CUDA 12.8");
        as_copy_text(info.uuid, sizeof info.uuid, divided[i].uuid);
        struct as_sensing s = open_as(divided[i].words);
        as_sensing_describe(&s, &info);
        as_sensing_describe(&s, &info); /* once more changes nothing */
        assert_string_equal(info.driver, divided[i].driver);
        as_sensing_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_throttling),     cmocka_unit_test(test_users),
        cmocka_unit_test(test_lost_device), cmocka_unit_test(test_reasons),        cmocka_unit_test(test_watched_trial),
        cmocka_unit_test(test_described),   cmocka_unit_test(test_multi_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
