/* The sensor and the sources of memory traffic of Apple's chips, on a stand-in that counts references and has lists of
 * channels (apple/lists). */
#include "apple/use.h"
#include "base/buf.h"
#include "sensor/rails.h"
#include "sensor/watch.h"

static void test_numbers(void **state)
{
    (void)state;
    use("m1", "");
    struct as_sensing s = open_on(&gpu);
    assert_string_equal(s.sensor->name, "ioreport");
    assert_string_equal(s.why_not, "other processes: macOS does not report which ones use the GPU");
    assert_string_equal(s.demand_names, "AMC Stats, Energy Model");
    assert_string_equal(s.demand_why, ""); /* what only Linux has is not missing here */
    struct as_sensor_reading r = read_at(&s, 3);
    is_near(r.energy_j, 24);
    is_near(r.utilisation, 0.75);
    assert_int_equal(r.throttle, 0);
    is_near(r.clock_hz, 484e6);
    assert_true(isnan(r.power_w) && isnan(r.temperature)); /* the reading is slow */
    r = read_at(&s, 3);                                    /* no time has passed since then */
    assert_true(isnan(r.utilisation) && isnan(r.clock_hz));
    is_near(read_at(&s, 4).energy_j, 32);
    as_sensing_close(&s);
    use("m1", "moving");
    s = open_on(&cpu);
    assert_string_equal(s.why_not, "");
    r = read_at(&s, 101); /* the first sample was at 1 */
    is_near(r.energy_j, 250);
    is_near(r.clock_hz, 3096e6);
    assert_true(isnan(r.utilisation));
    as_sensing_close(&s);
}

static void test_units_and_dies(void **state)
{
    (void)state;
    use("ultra", "");
    struct as_demand_seen seen;
    struct as_sensing s = open_on(&cpu);
    is_near(read_at(&s, 1).energy_j, 10);
    clock_script(0);
    as_demand_begin(&s.demand);
    fake_time(3);
    clock_pass(4);
    as_demand_end(&s.demand, &seen);
    is_near(seen.cpu_power, 5);
    is_near(seen.gpu_power, 15);
    is_near(seen.ane_power, 0.1);
    is_near(seen.dram_power, 1.5); /* the channel for all dies */
    is_near(seen.memory_read, 1500);
    is_near(seen.memory_written, 15);
    as_sensing_close(&s);
    use("m4pro", "");
    s = open_on(&gpu);
    is_near(read_at(&s, 2).energy_j, 60);
    is_near(read_at(&s, 3).utilisation, 1);
    as_sensing_close(&s);
}

static void test_demand(void **state)
{
    (void)state;
    struct as_demand_seen seen;
    use("m1", "");
    clock_script(0);
    struct as_sensing s = open_on(&gpu);
    fake_time(10);
    as_demand_begin(&s.demand);
    fake_time(14);
    clock_pass(2);
    as_demand_end(&s.demand, &seen);
    is_near(seen.memory_read, 120e9);
    is_near(seen.memory_written, 40e9);
    is_near(seen.cpu_power, 5);
    is_near(seen.gpu_power, 16);
    is_near(seen.ane_power, 0.6);
    assert_true(isnan(seen.dram_power) && isnan(seen.cpu_traffic) && isnan(seen.device_memory));
    as_demand_begin(&s.demand); /* at one moment */
    as_demand_end(&s.demand, &seen);
    assert_true(isnan(seen.memory_read) && isnan(seen.cpu_power));
    as_sensing_close(&s);
}

static void test_refused_group(void **state)
{
    (void)state;
    struct as_demand_seen seen;
    use("m4pro", "");
    clock_script(0);
    struct as_sensing s = open_on(&gpu);
    assert_string_equal(s.demand_names, "Energy Model");
    says(s.demand_why, "memory controllers of Apple's chip: IOReportCreateSubscription refuses 'AMC Stats'");
    as_demand_begin(&s.demand);
    fake_time(1);
    clock_pass(0.5);
    as_demand_end(&s.demand, &seen);
    assert_true(isnan(seen.memory_read) && isnan(seen.memory_written));
    is_near(seen.cpu_power, 40);
    is_near(seen.dram_power, 4);
    assert_true(isnan(seen.ane_power)); /* a counter that does not move is not trusted */
    as_sensing_close(&s);
}

static void test_trial(void **state)
{
    (void)state;
    struct as_watch w;
    struct as_readings r;
    use("m1", "");
    clock_script(0);
    struct as_sensing s = open_on(&cpu);
    fake_time(1);
    as_watch_begin(&w, &s, 0);
    as_watch_mark(&w);
    fake_time(5);
    fake_pressure(2);
    clock_pass(2);
    as_watch_end(&w, &r);
    assert_string_equal(r.sensor, "ioreport");
    is_near(r.power_w, 5);
    assert_int_equal(r.throttle, AS_THROTTLE_THERMAL);
    as_sensing_close(&s);
}

/* Utilisation counts from the mark, without waiting, even in a trial shorter than the thread's first nap. */
static void test_short_trial(void **state)
{
    (void)state;
    struct as_watch w;
    struct as_readings r;
    use("m1", "");
    clock_script(0);
    struct as_sensing s = open_on(&gpu);
    fake_time(10);
    as_watch_begin(&w, &s, 3600);
    fake_time(20);
    as_watch_mark(&w);
    fake_time(24);
    clock_pass(0.001);
    as_watch_end(&w, &r);
    is_near(r.utilisation, 0.75);
    is_near(r.clock_hi, 484e6);
    assert_true(r.reads == 1 && fabs(r.power_w * 0.001 - 32) < 1e-3);
    as_sensing_close(&s);
}

static void test_pressure(void **state)
{
    (void)state;
    static const struct {
        uint64_t level;
        int throttle;
    } rows[] = {
        {0, 0},  {1, AS_THROTTLE_THERMAL}, {2, AS_THROTTLE_THERMAL}, {3, AS_THROTTLE_THERMAL}, {4, AS_THROTTLE_THERMAL},
        {5, -1}, {UINT64_MAX, -1}};
    use("m1", "");
    struct as_sensing s = open_on(&gpu);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fake_pressure(rows[i].level);
        assert_int_equal(read_at(&s, 1).throttle, rows[i].throttle);
    }
    as_sensing_close(&s);
    s = open_on(&gpu);
    says(s.why_not, "throttling: a thermal pressure that macOS does not define");
    as_sensing_close(&s);
}

static void test_standing_still(void **state)
{
    (void)state;
    use("m1", "");
    struct as_sensing s = open_on(&cpu);
    says(s.why_not, "power: its counter did not move while the CPU worked");
    is_near(read_at(&s, 2).energy_j, 5); /* the counter moves now */
    as_sensing_close(&s);
    s = open_on(&gpu);
    assert_null(strstr(s.why_not, "power")); /* it has nothing to do */
    as_sensing_close(&s);
}

/* A counter that never moves, and one that goes backwards permanently. */
static void test_energy_refused(void **state)
{
    (void)state;
    use("m1", "");
    struct as_sensing s = open_on(&gpu);
    assert_true(isnan(read_at(&s, 0).energy_j));
    is_near(read_at(&s, 5).energy_j, 40);
    is_near(read_at(&s, 5).energy_j, 40);
    assert_true(isnan(read_at(&s, 4).energy_j));
    assert_true(isnan(read_at(&s, 9).energy_j));
    as_sensing_close(&s);
    s = open_on(&gpu);
    assert_true(isnan(read_at(&s, 8).energy_j)); /* below its first value */
    assert_true(isnan(read_at(&s, 12).energy_j));
    as_sensing_close(&s);
}

static void test_hostile(void **state)
{
    (void)state;
    struct as_demand_seen seen;
    use("hostile", "");
    clock_script(0);
    struct as_sensing s = open_on(&cpu);
    says(s.why_not, "power: channel 'CPU Energy' counts in an unknown unit: '\\x1b[2JkWh'");
    says(s.demand_why, "channel 'DCS RD' has a negative difference, its unit is 'B'");
    assert_null(strchr(s.why_not, 0x1b));
    assert_string_equal(s.demand_names, "Energy Model"); /* of what follows no number but the ANE's, till it sinks */
    as_demand_begin(&s.demand);
    fake_time(1);
    clock_pass(1);
    as_demand_end(&s.demand, &seen);
    assert_true(isnan(seen.cpu_power) && isnan(seen.gpu_power) && isnan(seen.ane_power) && isnan(seen.dram_power));
    assert_true(isnan(seen.memory_read) && isnan(seen.memory_written));
    assert_true(isnan(read_at(&s, 2).energy_j));
    as_sensing_close(&s);
    s = open_on(&gpu);
    says(s.why_not, "power: channel 'GPU Energy' is not a simple counter");
    says(s.why_not, "clock, utilisation: 'GPU Stats' has no states of 'GPUPH'");
    as_sensing_close(&s);
    use("twice", "");
    s = open_on(&cpu);
    says(s.why_not, "power: channel 'CPU Energy' occurs twice");
    says(s.demand_why, "channel 'DCS RD' counts no bytes, its unit is '\\x1b[31mlines'");
    as_sensing_close(&s);
    s = open_on(&gpu);
    struct as_sensor_reading r = read_at(&s, 3);
    is_near(r.energy_j, 21);
    assert_true(isnan(r.utilisation)); /* time went backwards in a state */
    as_demand_begin(&s.demand);
    fake_time(4);
    clock_pass(1);
    as_demand_end(&s.demand, &seen);
    is_near(seen.gpu_power, 7);
    assert_true(isnan(seen.dram_power)); /* one of two sinks */
    as_sensing_close(&s);
}

static void test_many(void **state)
{
    (void)state;
    use("many", "");
    struct as_sensing s = open_on(&gpu);
    says(s.why_not, "power: IOReport's group 'Energy Model' has 4097 channels, more than 4096");
    says(s.why_not, "clock, utilisation: IOReport's group 'GPU Stats' has 9000 channels");
    says(s.demand_why, "'AMC Stats' has no channels 'DCS RD' and 'DCS WR'");
    as_sensing_close(&s);
    use("m1", "manystates");
    s = open_on(&gpu);
    assert_true(isnan(read_at(&s, 1).utilisation));
    as_sensing_close(&s);
}

static void test_behaviours(void **state)
{
    static const struct {
        const char *behaviour, *power, *states;
    } rows[] = {
        {"empty", "IOReport's group 'Energy Model' is empty", "IOReport's group 'GPU Stats' is empty"},
        {"nosubscription", "IOReportCreateSubscription refuses 'Energy Model'", "refuses 'GPU Stats'"},
        {"nosubscribed", "IOReportCreateSubscription refuses 'Energy Model'", "refuses 'GPU Stats'"},
        {"nosample", "IOReportCreateSamples returned no sample of 'Energy Model'", "no sample of 'GPU Stats'"},
        {"nodelta", "IOReportCreateSamplesDelta returned nothing for 'Energy Model'",
         "Delta returned nothing for 'GPU Stats'"},
        {"nolist", "IOReport's reply for 'Energy Model' has no list", "for 'GPU Stats' has no list"},
        {"wronglist", "IOReport's reply for 'Energy Model' has no list", "for 'GPU Stats' has no list"},
        {"wrongchannel", "'Energy Model' has no GPU channel", "no states of 'GPUPH'"},
        {"wrongtext", "'Energy Model' has no GPU channel", "no states of 'GPUPH'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use("m1", rows[i].behaviour);
        struct as_sensing s = open_on(&gpu);
        says(s.why_not, rows[i].power);
        says(s.why_not, rows[i].states);
        assert_string_equal(s.demand_names, "");
        struct as_sensor_reading r = read_at(&s, 1);
        assert_true(isnan(r.energy_j) && isnan(r.utilisation));
        assert_int_equal(r.throttle, 0);
        as_sensing_close(&s);
    }
}

/* A sensor that failed to open is closed. */
static void test_not_opened(void **state)
{
    (void)state;
    struct as_ioreport r;
    struct as_error err = {0};
    use("m1", "");
    assert_int_equal(as_ioreport_open(&r, "Energy", NULL, &err), AS_UNSUPPORTED);
    assert_string_equal(err.text, "IOReportCopyChannelsInGroup found no group 'Energy'");
    assert_int_equal(fake_live(), 0);
    use("m1", "nosample");
    assert_int_equal(as_rails_open(&r, &err), AS_UNSUPPORTED);
    assert_int_equal(fake_live(), 0);
    as_ioreport_close(&r);
}

/* Makes all calls of a worker; returns whether something was not reported. */
static bool whole(const struct as_device_info *info)
{
    struct as_watch w;
    struct as_readings r;
    struct as_sensing s = open_on(info);
    bool lacks =
        strcmp(s.why_not, info == &gpu ? "other processes: macOS does not report which ones use the GPU" : "") != 0;
    lacks |= strcmp(s.demand_names, "AMC Stats, Energy Model") != 0;
    fake_time(1000);
    as_watch_begin(&w, &s, 1e6);
    fake_time(2000);
    as_watch_mark(&w);
    fake_time(4000);
    clock_pass(1);
    as_watch_end(&w, &r);
    lacks |= isnan(r.power_w) || r.throttle < 0 || isnan(w.demand.memory_read) || isnan(w.demand.memory_written);
    lacks |= isnan(r.clock_hz) || isnan(r.temperature_before) || isnan(r.temperature_after);
    lacks |= isnan(w.demand.cpu_power) || isnan(w.demand.gpu_power) || isnan(w.demand.ane_power);
    as_sensing_close(&s);
    return lacks;
}

/* Each call fails once: nothing leaks, nothing is used after release, and the sensor behaves as if the value were
 * missing. */
static void test_every_call(void **state)
{
    (void)state;
    int lacked = 0, n = 1;
    use("m1", "moving");
    clock_script(0);
    assert_false(whole(&cpu));
    const int calls = fake_fail(0);
    assert_true(calls > 100);
    for (; n <= calls; n++) {
        use("m1", "moving");
        fake_fail(n);
        lacked += whole(&cpu);
        if (fake_broken() || fake_live())
            fail_msg("call %d of %d: %s, %d objects left", n, calls, fake_broken(), fake_live());
    }
    assert_true(lacked > 40); /* some of the others repeat a reading, or read unused names */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, check_end)
    const struct CMUnitTest tests[] = {
        TEST(test_numbers),        TEST(test_units_and_dies), TEST(test_demand),     TEST(test_refused_group),
        TEST(test_trial),          TEST(test_pressure),       TEST(test_hostile),    TEST(test_many),
        TEST(test_energy_refused), TEST(test_behaviours),     TEST(test_every_call), TEST(test_not_opened),
        TEST(test_standing_still), TEST(test_short_trial),
    };
    return cmocka_run_group_tests_name("Apple's chips", tests, NULL, NULL);
}
