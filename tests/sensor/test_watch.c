/* Watching with a scripted sensor: which readings count, and that the thread stops on request. */
#include "os/wait.h"
#include "scripted_clock.h"
#include "sensor/watch.h"
#include "tests/unit_test.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Except for `quick`, used by one thread at a time: the test uses it before the watch starts and after it ends. */
struct known {
    atomic_int quick;
    int all;
    char thread[16]; /* name of the thread that read first in the trial */
    struct as_sensor_reading says;
    double energy_step, ecc_step;
    double full_s; /* time of a full reading after the energy is read */
};

static void read_known(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    struct known *k = ctx;
    if (part == AS_SENSOR_ALL)
        k->all++;
    else if (!k->quick)
        pthread_getname_np(pthread_self(), k->thread, sizeof k->thread);
    k->says.energy_j += k->energy_step;
    k->says.ecc_uncorrected += part == AS_SENSOR_ALL ? k->ecc_step : 0;
    *out = k->says;
    if (part == AS_SENSOR_ALL)
        clock_pass(k->full_s);
    k->quick += part == AS_SENSOR_QUICK;
}
static const struct as_sensor in_background = {.name = "known", .background = true, .read = read_known};
static const struct as_sensor before_and_after = {.name = "known", .read = read_known};

static struct known known_readings(void)
{
    struct known k = {.all = 0};
    as_sensor_reading_clear(&k.says);
    return k;
}

/* A trial of this many seconds, extended until the thread has read if it is expected to. */
static struct as_readings watch_trial(const struct as_sensor *sensor, struct known *k, bool mark, double seconds)
{
    struct as_sensing s = {.sensor = sensor, .ctx = k};
    struct as_watch w;
    struct as_readings r;
    clock_script(0);
    as_watch_begin(&w, &s, 0.005);
    if (mark)
        as_watch_mark(&w);
    while (mark && sensor->background && !k->quick)
        sched_yield();
    clock_pass(seconds);
    as_watch_end(&w, &r);
    return r;
}

UNIT_TEST(test_in_background)
{
    struct known k = known_readings();
    k.says.power_w = 300;
    k.says.clock_hz = 1.98e9;
    k.says.memory_clock_hz = 3.2e9;
    k.says.temperature = 55;
    k.says.throttle = AS_THROTTLE_POWER_CAP;
    k.says.pcie_generation = 5;
    k.says.users = 2;
    k.says.ecc_uncorrected = 7;
    k.ecc_step = 0;
    struct as_readings r = watch_trial(&in_background, &k, true, 1);
    assert_string_equal(r.sensor, "known");
    assert_true(k.quick >= 2 && r.reads == k.quick); /* the last after the thread's */
    assert_int_equal(k.all, 2);
    assert_string_equal(k.thread, "assay-sensor");
    assert_true(r.power_w == 300 && r.clock_hz == 1.98e9 && r.clock_lo == 1.98e9 && r.clock_hi == 1.98e9);
    assert_true(r.memory_clock_lo == 3.2e9 && r.memory_clock_hi == 3.2e9 && r.pcie_generation == 5);
    assert_true(r.temperature_before == 55 && r.temperature_after == 55 && r.users == 2);
    assert_int_equal(r.throttle, AS_THROTTLE_POWER_CAP);
    assert_true(r.ecc_uncorrected == 0); /* earlier errors do not count */
    assert_true(isnan(r.ecc_corrected) && isnan(r.pcie_width) && isnan(r.utilisation));
}

/* Remaining readings until throttling ends. */
static void read_recovering(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    int *left = ctx;
    (void)part;
    out->throttle = *left > 0 ? (int)(AS_THROTTLE_POWER_CAP | AS_THROTTLE_IDLE) : (int)AS_THROTTLE_IDLE;
    *left -= *left > 0;
}

UNIT_TEST(test_settling)
{
    static const struct as_sensor recovering = {.name = "r", .background = true, .read = read_recovering};
    int left = 3;
    struct as_sensing s = {.sensor = &recovering, .ctx = &left};
    clock_script(0);
    double start = as_now();
    as_watch_settle(&s);
    assert_int_equal(left, 0); /* as_watch_settle waited */
    assert_false(s.stays_slow);
    left = 1000000; /* permanent: waited for only once */
    as_watch_settle(&s);
    assert_true(s.stays_slow);
    assert_true(as_now() - start >= AS_WATCH_SETTLE_S);
    int before = left;
    as_watch_settle(&s);
    assert_int_equal(left, before - 1);
    left = 0;
    as_watch_settle(&s);
    assert_false(s.stays_slow);
}

/* Power read before the samples does not count. */
UNIT_TEST(test_lag)
{
    static const struct as_sensor slow = {.name = "slow", .background = true, .lag_s = 3600, .read = read_known};
    struct known k = known_readings();
    k.says.power_w = 700;
    k.says.utilisation = 1;
    k.says.clock_hz = 1.4e9;
    k.says.throttle = AS_THROTTLE_POWER_CAP;
    struct as_readings r = watch_trial(&slow, &k, true, 1);
    assert_true(isnan(r.power_w) && isnan(r.utilisation));
    assert_true(r.clock_hz == 1.4e9);
    assert_int_equal(r.throttle, AS_THROTTLE_POWER_CAP);
}

UNIT_TEST(test_nothing_counts_before_the_samples)
{
    struct known k = known_readings();
    k.says.power_w = 80;
    k.says.throttle = AS_THROTTLE_THERMAL;
    struct as_readings r = watch_trial(&in_background, &k, false, 1);
    assert_int_equal(k.quick, 1); /* at the end */
    assert_true(r.reads == 0 && isnan(r.power_w));
    assert_int_equal(r.throttle, -1);
}

UNIT_TEST(test_before_and_after)
{
    struct known k = known_readings();
    k.says.energy_j = 100;
    k.energy_step = 5;
    k.says.ecc_uncorrected = 3;
    k.ecc_step = 1;
    k.says.throttle = 0;
    struct as_readings r = watch_trial(&before_and_after, &k, true, 0.5);
    assert_int_equal(k.quick, 2); /* at the mark and the end */
    assert_int_equal(k.all, 2);
    assert_true(fabs(r.power_w - 10) < 1e-6); /* 5 J in half a second, without energy from before the samples */
    assert_true(r.ecc_uncorrected == 1);
    assert_int_equal(r.throttle, 0);
    k.energy_step = -20; /* a counter that was reset */
    k.ecc_step = -1;
    r = watch_trial(&before_and_after, &k, true, 0.5);
    assert_true(isnan(r.power_w) && isnan(r.ecc_uncorrected));
}

/* Beside readings of power, a counter gives a number of its own, in trials longer than its age. */
UNIT_TEST(test_counted)
{
    struct known k = known_readings();
    struct as_sensor sensor = {.name = "known", .read = read_known, .lag_s = 0.1};
    k.says.power_w = 12;
    k.says.energy_j = 100;
    k.energy_step = 5;
    assert_true(fabs(watch_trial(&sensor, &k, true, 0.5).counted_w - 10) < 1e-6);
    assert_true(isnan(watch_trial(&sensor, &k, true, 0.05).counted_w));
    k.says.power_w = NAN;
    const struct as_readings r = watch_trial(&sensor, &k, true, 0.5);
    assert_true(fabs(r.power_w - 10) < 1e-6 && isnan(r.counted_w));
}

/* Temperatures and errors are read after the energy interval has ended. */
UNIT_TEST(test_full_reading_takes_long)
{
    struct known k = known_readings();
    k.says.energy_j = 100;
    k.energy_step = 5;
    k.full_s = 7;
    const struct as_readings r = watch_trial(&before_and_after, &k, true, 0.5);
    assert_true(fabs(r.power_w - 10) < 1e-6);
}

/* A sensor whose readings are averages since the previous one; a full reading right after a quick one covers no time.
 */
static atomic_int means;

static void read_mean(void *ctx, enum as_sensor_part part, struct as_sensor_reading *out)
{
    (void)ctx;
    out->clock_hz = part == AS_SENSOR_ALL ? 1e9 : 2e9;
    out->utilisation = part == AS_SENSOR_ALL ? 0 : 1;
    out->temperature = part == AS_SENSOR_ALL ? 70 : NAN;
    means += part == AS_SENSOR_QUICK;
}
static const struct as_sensor mean_in_background = {
    .name = "mean", .background = true, .is_mean = true, .read = read_mean};

/* The watch whose thread's waits after the mark are counted. */
static struct as_watch napping;
static atomic_int naps;
bool __wrap_as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end);
bool __real_as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end);

bool __wrap_as_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, double end)
{
    if (lock == &napping.lock)
        naps += napping.marked;
    return __real_as_condition_wait_until(condition, lock, end);
}

/* The thread reads once the mark wakes it; the average covers the time since the mark. */
UNIT_TEST(test_first_mean)
{
    static const double every_s[] = {3600, 0.002};
    struct as_sensing s = {.sensor = &mean_in_background};
    struct as_readings r;
    clock_real();
    for (int i = 0; i < 2; i++) {
        naps = means = 0;
        as_watch_begin(&napping, &s, every_s[i]);
        as_watch_mark(&napping);
        while (!naps || (i && means < 3))
            sched_yield();
        if (!i)
            assert_int_equal(means, 1); /* the mark's */
        as_watch_end(&napping, &r);
        assert_true(r.reads == means - 1);
        assert_true(r.clock_lo == 2e9 && r.clock_hi == 2e9 && r.utilisation == 1 && r.temperature_after == 70);
    }
}

UNIT_TEST(test_without_sensor)
{
    struct as_sensing s = {.sensor = NULL};
    struct as_watch w;
    struct as_readings r;
    as_watch_begin(&w, &s, 0);
    as_watch_mark(&w);
    as_watch_end(&w, &r);
    assert_string_equal(r.sensor, "");
    assert_true(isnan(r.power_w));
}

/* The thread sleeps for an hour after its first reading; without a wake-up the test would time out. */
UNIT_TEST(test_stops_at_once)
{
    struct known k = known_readings();
    clock_real();
    for (int i = 0; i < 200; i++) {
        struct as_sensing s = {.sensor = &in_background, .ctx = &k};
        struct as_watch w;
        struct as_readings r;
        as_watch_begin(&w, &s, 3600);
        if (i % 3)
            as_watch_mark(&w);
        if (i % 2)
            as_sleep(0.0005);
        as_watch_end(&w, &r);
        assert_true(r.reads <= 2);
    }
}

UNIT_TEST(test_clock_range)
{
    double hz[20], middle, lo, hi;
    for (int i = 0; i < 20; i++)
        hz[i] = 2e9;
    hz[7] = 1e9; /* a disturbed reading */
    as_clock_range(hz, 20, &middle, &lo, &hi);
    assert_true(middle == 2e9 && lo == 2e9 && hi == 2e9);
    for (int i = 0; i < 5; i++)
        hz[i] = 1e9;
    as_clock_range(hz, 20, &middle, &lo, &hi);
    assert_true(lo == 1e9 && hi == 2e9);
    as_clock_range(hz, 2, &middle, &lo, &hi);
    assert_true(lo == 1e9);
    as_clock_range(hz, 0, &middle, &lo, &hi);
    assert_true(isnan(middle) && isnan(lo) && isnan(hi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settling),
        cmocka_unit_test(test_lag),
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_in_background),
        cmocka_unit_test(test_nothing_counts_before_the_samples),
        cmocka_unit_test(test_before_and_after),
        cmocka_unit_test(test_without_sensor),
        cmocka_unit_test(test_stops_at_once),
        cmocka_unit_test(test_clock_range),
        cmocka_unit_test(test_first_mean),
        cmocka_unit_test(test_full_reading_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
