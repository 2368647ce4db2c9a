/* The CPU's sensor on simulated file systems: available values are read, missing ones have a reason. */
#include "sensor/host.h"
#include "tests/unit_test.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64];

static void write_under_root(const char *path, const char *text)
{
    char whole[300], command[700];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s)\"", whole);
    assert_int_equal(system(command), 0);
    FILE *f = fopen(whole, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The first usable CPU, whose files the sensor reads. */
static void put_cpu(const char *rest, const char *text)
{
    char path[200];
    cpu_set_t set;
    int i = 0;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    while (!CPU_ISSET(i, &set))
        i++;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", i, rest);
    write_under_root(path, text);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/assay-host-XXXXXX");
    return mkdtemp(root) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    char command[120];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void *opened(struct as_buf *why_not)
{
    void *ctx = NULL;
    as_buf_clear(why_not);
    assert_int_equal(as_host_open_at(root, &ctx, why_not, NULL), AS_OK);
    return ctx;
}

static void look(void *ctx, struct as_sensor_reading *r)
{
    as_sensor_reading_clear(r);
    as_sensor_host.read(ctx, AS_SENSOR_ALL, r);
}

UNIT_TEST(test_nothing_there)
{
    struct as_buf why_not = AS_BUF_INIT;
    struct as_sensor_reading r;
    void *ctx = opened(&why_not);
    look(ctx, &r);
    assert_true(isnan(r.temperature) && isnan(r.energy_j) && isnan(r.power_w));
    assert_int_equal(r.throttle, -1);
    static const char *const parts[] = {"clock: ", "temperature: ", "power: ", "throttling: "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(as_buf_get(&why_not), parts[i]));
    as_sensor_host.close(ctx);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_everything_there)
{
    struct as_buf why_not = AS_BUF_INIT;
    struct as_sensor_reading a, b;
    put_cpu("cpufreq/scaling_cur_freq", "3400000\n");
    put_cpu("thermal_throttle/package_throttle_count", "5\n");
    write_under_root("/sys/class/hwmon/hwmon0/name", "nvme\n");
    write_under_root("/sys/class/hwmon/hwmon0/temp1_input", "99000\n");
    write_under_root("/sys/class/hwmon/hwmon1/name", "coretemp\n");
    write_under_root("/sys/class/hwmon/hwmon1/temp1_input", "51500\n");
    write_under_root("/sys/class/powercap/intel-rapl:0/energy_uj", "90000000\n");
    write_under_root("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "100000000\n");
    write_under_root("/sys/class/powercap/intel-rapl:1/energy_uj", "1000000\n");
    write_under_root("/sys/class/powercap/intel-rapl:1/max_energy_range_uj", "100000000\n");
    write_under_root("/sys/class/powercap/intel-rapl:2/name", "psys\n"); /* contains both packages */
    write_under_root("/sys/class/powercap/intel-rapl:2/energy_uj", "500000000\n");
    void *ctx = opened(&why_not);
    assert_null(strstr(as_buf_get(&why_not), "clock: "));
    assert_null(strstr(as_buf_get(&why_not), "power: "));
    look(ctx, &a);
    assert_true(a.clock_hz > 0 && a.temperature == 51.5);
    assert_true(fabs(a.energy_j - 91) < 1e-6);
    assert_int_equal(a.throttle, 0);                                              /* the five events are old */
    write_under_root("/sys/class/powercap/intel-rapl:0/energy_uj", "10000000\n"); /* has wrapped around */
    put_cpu("thermal_throttle/package_throttle_count", "6\n");
    look(ctx, &b);
    assert_true(fabs(b.energy_j - a.energy_j - 20) < 1e-6);
    assert_int_equal(b.throttle, AS_THROTTLE_THERMAL);
    look(ctx, &b);
    assert_int_equal(b.throttle, 0);
    as_sensor_host.close(ctx);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_hostile_files)
{
    struct as_buf why_not = AS_BUF_INIT;
    struct as_sensor_reading r;
    put_cpu("cpufreq/scaling_cur_freq", "-3400000\n");
    put_cpu("thermal_throttle/package_throttle_count", "99999999999999999999999999999999999999999999999999999\n");
    write_under_root("/sys/class/hwmon/hwmon0/name", "k10temp\n");
    write_under_root("/sys/class/hwmon/hwmon0/temp1_input", "hot\x1B[2J");
    write_under_root("/sys/class/powercap/intel-rapl:0/energy_uj", "");
    void *ctx = opened(&why_not);
    look(ctx, &r);
    assert_true(isnan(r.temperature) && isnan(r.energy_j));
    assert_non_null(strstr(as_buf_get(&why_not), "power: "));
    as_sensor_host.close(ctx);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_energy_for_root_only)
{
    struct as_buf why_not = AS_BUF_INIT;
    char path[200];
    if (geteuid() == 0)
        skip(); /* root can read everything */
    write_under_root("/sys/class/powercap/intel-rapl:0/energy_uj", "1");
    snprintf(path, sizeof path, "chmod 0 %s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(system(path), 0);
    void *ctx = opened(&why_not);
    assert_non_null(strstr(as_buf_get(&why_not), "by root only"));
    as_sensor_host.close(ctx);
    as_buf_finish(&why_not);
}

/* On any machine: a reported clock is plausible. */
UNIT_TEST(test_this_machine)
{
    const struct as_device_info info = {.capabilities = AS_CAP_HOST_KERNELS};
    struct as_sensing s;
    struct as_sensor_reading r;
    as_sensing_open(&info, &s);
    assert_ptr_equal(s.sensor, &as_sensor_host);
    assert_true(s.read_s > 0);
    volatile double x = 1;
    for (int i = 0; i < 3000000; i++)
        x = x * 1.0000001;
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    assert_true(isnan(r.clock_hz) || (r.clock_hz > 1e8 && r.clock_hz < 1e10));
    assert_true(isnan(r.temperature) || (r.temperature > 0 && r.temperature < 130));
    as_sensing_close(&s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_there),        TEST(test_everything_there), TEST(test_hostile_files),
        TEST(test_energy_for_root_only), TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
