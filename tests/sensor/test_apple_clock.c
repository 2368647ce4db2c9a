/* Clock and temperature of Apple chips, on the stand-in. */
#include "apple/use.h"
#include "sensor/smc.h"
#include "sensor/states.h"
#include "sensor/watch.h"

#include <float.h>

/* The clock at a time of the list's counts; the sensor must have a clock. */
static double clock_at(const struct as_device_info *info, int64_t time)
{
    struct as_sensing s = open_on(info);
    assert_null(strstr(s.why_not, "clock"));
    const double hz = read_at(&s, time).clock_hz;
    as_sensing_close(&s);
    return hz;
}

static double temperature_of(const struct as_device_info *info)
{
    struct as_sensor_reading r;
    struct as_sensing s = open_on(info);
    as_sensing_read(&s, AS_SENSOR_ALL, &r);
    as_sensing_close(&s);
    return r.temperature;
}

static void test_clocks(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        double cpu, gpu;
    } rows[] = {
        {"m1", 3096e6, 484e6},                               /* both kinds worked */
        {"m2max", (30 * 3408e6 + 10 * 3504e6) / 40, 1398e6}, /* the slow kind and one of two fast clusters */
        {"m4pro", 4320e6, (338e6 + 3 * 1578e6) / 4},         /* 4512 MHz requested, by a table in kHz */
        {"m5pro", (4332e6 + 4380e6) / 2, (338e6 + 1578e6 + 3 * 1620e6) / 5}, /* the fastest kind idled */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use(rows[i].list, "");
        is_near(clock_at(&gpu, 2), rows[i].gpu);
        use(rows[i].list, "moving");
        struct as_sensing s = open_on(&cpu);
        assert_null(strstr(s.why_not, "clock"));
        is_near(read_at(&s, 1000).clock_hz, rows[i].cpu);
        assert_true(isnan(read_at(&s, 1000).clock_hz)); /* since then no time has passed */
        is_near(read_at(&s, 1001).clock_hz, rows[i].cpu);
        as_sensing_close(&s);
    }
    use("ultra", "moving");
    struct as_sensing s = open_on(&cpu);
    is_near(read_at(&s, 1000).clock_hz, (3408e6 + 3504e6) / 2); /* both dies */
    as_sensing_close(&s);
}

static void test_nothing_works(void **state)
{
    (void)state;
    use("idle", "");
    assert_true(isnan(clock_at(&gpu, 1)));
    use("idle", "");
    assert_true(isnan(clock_at(&cpu, 1))); /* 29 of 40 ticks are not enough */
}

/* Preparation does not count in the trial's energy, even without an energy counter. */
static void test_trial(void **state)
{
    (void)state;
    struct as_watch w;
    struct as_readings r;
    use("m5pro", "");
    struct as_sensing s = open_on(&cpu);
    for (int64_t worked = 0; worked < 2; worked++) {
        as_watch_begin(&w, &s, 0);
        fake_time(100 * worked + 10);
        as_watch_mark(&w);
        fake_time(100 * worked + 10 + worked);
        as_watch_end(&w, &r);
        assert_true(isnan(r.power_w));
        is_near(r.temperature_after, 79.5);
        if (worked)
            is_near(r.clock_hz, (4332e6 + 4380e6) / 2);
        else
            assert_true(isnan(r.clock_hz));
    }
    as_sensing_close(&s);
}

/* Each list has one missing or wrong item. */
static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const struct as_device_info *info;
        const char *list, *why;
    } rows[] = {
        {&cpu, "clock_unit", "clock: 'voltage-states5-sram' is not a clock table in Hz or kHz"},
        {&gpu, "clock_unit", "clock: 'voltage-states9' is not a clock table in Hz or kHz"},
        {&cpu, "clock_falls", "clock: 'voltage-states5-sram' is not a clock table in Hz or kHz"},
        {&cpu, "clock_zero_falls", "clock: 'voltage-states5-sram' is not a clock table in Hz or kHz"},
        {&gpu, "clock_falls", "clock: entry 0 of 'voltage-states9' is not off"},
        {&cpu, "clock_count", "clock: state 'V0P2' of 'PCPM' has no entry in 'voltage-states5-sram'"},
        {&cpu, "clock_name", "clock: state 'F0P1' of 'PCPM' has no entry in 'voltage-states5-sram'"},
        {&cpu, "clock_size", "clock: 'voltage-states5-sram' has 23 bytes: not a clock table"},
        {&gpu, "clock_size", "clock: the device tree has no usable 'voltage-states9'"}, /* too long a one */
        {&cpu, "clock_pair",
         "clock: cluster 'P1': 1 channels with requested states, 0 with actual states; expected one each"},
        {&gpu, "clock_twice", "clock: channel 'GPUPH' occurs twice"},
        {&cpu, "clock_twice",
         "clock: cluster 'P0': 1 channels with requested states, 2 with actual states; expected one each"},
        {&cpu, "clock_kind", "clock: no clock table is known for cluster 'S0'"},
        {&cpu, "clock_no_tree", "clock: the device tree has no 'pmgr'"},
        {&gpu, "clock_no_tree", "clock: the device tree has no 'pmgr'"},
        {&cpu, "clock_no_states", "clock: 'CPU Stats' has no states of a cluster"},
        {&cpu, "hostile", "clock: state '\\x1b[2JV1P0' of 'PCPM' has no entry in 'voltage-states5-sram'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use(rows[i].list, "moving");
        struct as_sensing s = open_on(rows[i].info);
        says(s.why_not, rows[i].why);
        assert_true(isnan(read_at(&s, 1000).clock_hz));
        as_sensing_close(&s);
    }
}

/* Errors detected only in a reading: a state without a clock, and time that runs backwards. */
static void test_refused_later(void **state)
{
    (void)state;
    use("clock_late", "");
    struct as_sensing s = open_on(&gpu);
    is_near(read_at(&s, 1).clock_hz, 528e6);
    as_sensing_close(&s);
    static const char *const lists[] = {"clock_beyond", "clock_zero"}; /* in P3, which the table lacks, and in P0 */
    for (size_t i = 0; i < 2; i++) {
        use(lists[i], "");
        s = open_on(&gpu);
        const struct as_sensor_reading r = read_at(&s, 1);
        assert_true(isnan(r.clock_hz));
        is_near(r.utilisation, 1);
        as_sensing_close(&s);
    }
    use("clock_late", "");
    s = open_on(&cpu);
    assert_true(isnan(
        read_at(&s, 1).clock_hz)); /* the fast kind's counter decreases; the slow one's clock does not replace it */
    as_sensing_close(&s);
}

static void check_table(bool is_gpu, const uint32_t *words, size_t n, double first, double last)
{
    unsigned char bytes[8 * (AS_CLOCKS_MAX + 1)] = {0};
    struct as_clock_table t = {.key = "table", .n = 7};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            bytes[8 * i + k] = (unsigned char)(words[i] >> 8 * k);
    as_clock_table_from(bytes, 8 * n, is_gpu, &t);
    assert_int_equal(t.n, isnan(last) ? 0 : n);
    assert_int_equal(t.why[0] != 0, isnan(last));
    if (isnan(last))
        return;
    is_near(t.hz[0], first);
    is_near(t.hz[n - 1], last);
}

static void test_tables(void **state)
{
    (void)state;
    uint32_t many[AS_CLOCKS_MAX + 1];
    for (uint32_t i = 0; i < AS_CLOCKS_MAX + 1; i++)
        many[i] = 1000000 + i;
    check_table(false, many, AS_CLOCKS_MAX, 1e9, (1e6 + AS_CLOCKS_MAX - 1) * 1e3);
    check_table(false, many, AS_CLOCKS_MAX + 1, 0, NAN);
    check_table(false, many, 0, 0, NAN);
    check_table(false, (const uint32_t[]){600000000, 4294967295}, 2, 600e6, 4294967295.0);
    check_table(false, (const uint32_t[]){1260000, 4512000}, 2, 1260e6, 4512e6);
    check_table(true, (const uint32_t[]){0, 1312000000, 1242000000}, 3, 0, 1242e6); /* a GPU's table */
    check_table(false, (const uint32_t[]){0, 1312000000, 1242000000}, 3, 0, NAN);
    check_table(true, (const uint32_t[]){0, 338000}, 2, 0, 338e6);
    check_table(false, (const uint32_t[]){0}, 1, 0, NAN);
    check_table(true, (const uint32_t[]){0, 0, 600000000}, 3, 0, NAN);
    check_table(false, (const uint32_t[]){600000000, 600000000}, 2, 0, NAN);
    check_table(false, (const uint32_t[]){1260000, 451200000}, 2, 0, NAN);   /* two units */
    check_table(false, (const uint32_t[]){109226, 67424, 31752}, 3, 0, NAN); /* reciprocals */
    check_table(false, (const uint32_t[]){31752, 67424, 109226}, 3, 0, NAN);
    check_table(false, (const uint32_t[]){1, 2}, 2, 0, NAN);
    check_table(false, (const uint32_t[]){1000000, 10000001}, 2, 0, NAN); /* more than 10 GHz */
}

static void test_temperatures(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        double cpu, gpu;
    } rows[] = {
        {"m1", 61.25, 47.75}, {"m2max", 71.5, 66.5}, {"m3", 71, 61}, {"m4pro", 91.5, 83.5}, {"m5pro", 79.5, 73}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use(rows[i].list, "");
        is_near(temperature_of(&cpu), rows[i].cpu);
        is_near(temperature_of(&gpu), rows[i].gpu);
    }
}

static void test_no_temperature(void **state)
{
    (void)state;
    static const struct {
        const struct as_device_info *info;
        const char *list, *behaviour, *why;
    } rows[] = {
        {&cpu, "m1", "noopen", "temperature: no service of AppleSMC lets a user read its keys"},
        {&cpu, "m1", "noconnection", "temperature: no service of AppleSMC lets a user read its keys"},
        {&cpu, "m1", "shortreply", "temperature: no service of AppleSMC lets a user read its keys"},
        {&cpu, "twice", "", "temperature: no service of AppleSMC lets a user read its keys"},
        {&cpu, "m1", "manykeys", "temperature: AppleSMC has 1048576 keys, more than 16384"},
        {&gpu, "clock_no_tree", "", "temperature: AppleSMC has no temperature key of the GPU's cores"},
        {&cpu, "hostile", "",
         "temperature: none of AppleSMC's 1 keys of the CPU's cores reads between 0 and 130 \u00b0C"},
        {&gpu, "hostile", "",
         "temperature: none of AppleSMC's 2 keys of the GPU's cores reads between 0 and 130 \u00b0C"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        use(rows[i].list, rows[i].behaviour);
        struct as_smc smc;
        struct as_error err = {0};
        assert_int_equal(as_smc_open(&smc, rows[i].info == &cpu, &err), AS_UNSUPPORTED);
        says(rows[i].why, err.text);
        assert_int_equal(fake_live(), 0);
        as_smc_close(&smc);
        struct as_sensing s = open_on(rows[i].info);
        struct as_sensor_reading r;
        as_sensing_read(&s, AS_SENSOR_ALL, &r);
        assert_true(isnan(r.temperature));
        as_sensing_close(&s);
    }
}

/* Data that is not a clock table. */
static void test_properties(void **state)
{
    static const char *const behaviours[] = {"wrongdata", "longdata"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        use("m1", behaviours[i]);
        struct as_sensing s = open_on(&gpu);
        says(s.why_not, "clock: the device tree has no usable 'voltage-states9'");
        is_near(read_at(&s, 1).utilisation, 0.75); /* utilisation needs no table */
        as_sensing_close(&s);
    }
}

/* A sensor that failed to open is closed. */
static void test_not_opened(void **state)
{
    (void)state;
    struct as_states s;
    struct as_error err = {0};
    use("clock_no_tree", "nosample");
    assert_int_equal(as_states_open(&s, true, &err), AS_UNSUPPORTED);
    assert_int_equal(fake_live(), 0);
    as_states_close(&s);
}

/* Each call fails once: nothing leaks, and there is a value or a reason. */
static void test_every_call(void **state)
{
    (void)state;
    int lacked = 0, calls = 1;
    for (int n = 0; n <= calls; n++) {
        struct as_states states;
        struct as_states_seen seen = {.hz = NAN};
        struct as_smc smc;
        struct as_error err = {0};
        use("m1", "moving");
        fake_fail(n);
        const bool is_open = as_states_open(&states, n % 2 == 0, &err) == AS_OK;
        fake_time(500);
        const bool is_read = is_open && as_states_since(&states, &seen, &err) == AS_OK;
        as_states_close(&states);
        const bool is_warm = as_smc_open(&smc, n % 2 != 0, &err) == AS_OK && as_smc_hottest(&smc) > 0;
        as_smc_close(&smc);
        lacked += !is_read || !is_warm || isnan(seen.hz);
        if (isnan(seen.hz) && is_read && !seen.why[0])
            fail_msg("call %d of %d leaves no clock and no reason", n, calls);
        if (fake_broken() || fake_live())
            fail_msg("call %d of %d: %s, %d objects left", n, calls, fake_broken(), fake_live());
        calls = n == 0 ? fake_fail(0) : calls;
    }
    assert_true(calls > 60);
    assert_true(lacked > 30);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, check_end)
    const struct CMUnitTest tests[] = {
        TEST(test_trial),          TEST(test_clocks),     TEST(test_nothing_works), TEST(test_refused),
        TEST(test_refused_later),  TEST(test_tables),     TEST(test_temperatures),  TEST(test_properties),
        TEST(test_no_temperature), TEST(test_not_opened), TEST(test_every_call),
    };
    return cmocka_run_group_tests_name("clock and temperature of Apple's chips", tests, NULL, NULL);
}
