/* The scripted device: what the script says happens. */
#include "base/clock.h"
#include "check.h"
#include "device/null/null.h"
#include "null_bench.h"

#include <math.h>

static const char levels[] = "{\"execute\":false,\"launch_ns\":500,\"levels\":["
                             "{\"size\":1000,\"ns\":1,\"gbs\":100},{\"size\":0,\"ns\":50,\"gbs\":10}]}";

static void levels_give_times(void **state)
{
    (void)state;
    struct null_bench *b = null_start(levels);
    assert_true(null_near(null_seconds(b, (struct as_work){0, 100, 1000}, 7), 7 * 100e-9, 1e-9));
    assert_true(null_near(null_seconds(b, (struct as_work){0, 100, 1001}, 7), 7 * 100 * 50e-9, 1e-9));
    assert_true(null_near(null_seconds(b, (struct as_work){1e6, 0, 10}, 2), 2 * 1e6 / 100e9, 1e-9));
    assert_true(null_near(null_seconds(b, (struct as_work){1e6, 10, 1e9}, 1), 1e6 / 10e9 + 500e-9, 1e-9));
    assert_true(null_near(null_seconds(b, (struct as_work){0, 0, 0}, 10), 10 * 500e-9, 1e-9));
    null_stop(b);
}

static void kernels_really_run(void **state)
{
    (void)state;
    struct null_bench *b = null_start("{}");
    const uint64_t *out = b->memory->host;
    null_seconds(b, (struct as_work){0}, 5);
    null_seconds(b, (struct as_work){0}, 5);
    assert_true(out[0] == 30 && out[1] == 30 && out[2] == 0);
    struct as_timing t;
    struct as_error err = {0};
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b->memory}}, {AS_ARG_U32, {.u32 = 3}}};
    memset(b->memory->host, 0, 64);
    struct as_launch l = {
        .kernel = b->meet, .args = args, .args_n = 2, .workgroups = 2, .workgroup_size = 1, .reps = 1};
    check_ok(b->d->queue->launch(b->d, &l, &t, &err), &err); /* ends at all */
    l = (struct as_launch){.kernel = b->add,
                           .args = args,
                           .args_n = 2,
                           .workgroups = 4,
                           .workgroup_size = 1,
                           .reps = 10,
                           .flags = AS_LAUNCH_BARRIER};
    memset(b->memory->host, 0, 64);
    check_ok(b->d->queue->launch(b->d, &l, &t, &err), &err);
    assert_true(out[0] == 30 && out[3] == 30);
    null_stop(b);
    b = null_start("{\"execute\":\"once\"}");
    out = b->memory->host;
    for (int i = 0; i < 5; i++)
        null_seconds(b, (struct as_work){0}, 5);
    assert_int_equal(out[0], 15);
    null_seconds(b, (struct as_work){0}, 6);
    assert_int_equal(out[0], 15 + 18);
    null_stop(b);
}

static void noise_is_seeded(void **state)
{
    (void)state;
    const char *json = "{\"execute\":false,\"seed\":5,\"noise\":{\"sd\":0.02,\"trial_sd\":0.1},\"launch_ns\":1000}";
    double first[200], sum = 0, squares = 0, trials[2];
    enum { N = 200 };
    for (int round = 0; round < 2; round++) {
        struct null_bench *b = null_start(json);
        for (int i = 0; i < N; i++) {
            double s = 1e9 * null_seconds(b, (struct as_work){0}, 1) / 1000;
            if (round)
                assert_true(s == first[i]);
            first[i] = s;
            sum += s;
            squares += s * s;
        }
        double trial = as_null(b->d)->trial_factor;
        null_unbuild(b);
        null_build(b);
        trials[round] = as_null(b->d)->trial_factor;
        assert_true(trial != trials[round]);
        null_stop(b);
    }
    double mean = sum / (2 * N), sd = sqrt(squares / (2 * N) - mean * mean) / mean;
    assert_true(sd > 0.014 && sd < 0.026); /* 4 standard errors */
    assert_true(trials[0] == trials[1]);
    struct null_bench *b = null_start("{\"execute\":false,\"noise\":{\"sd\":0.02}}");
    double unseeded = null_seconds(b, (struct as_work){0}, 1);
    null_stop(b);
    b = null_start("{\"execute\":false,\"noise\":{\"sd\":0.02}}");
    assert_true(null_seconds(b, (struct as_work){0}, 1) != unseeded);
    null_stop(b);
}

static void two_modes(void **state)
{
    (void)state;
    struct null_bench *b =
        null_start("{\"execute\":false,\"seed\":1,\"modes\":[{\"share\":3,\"factor\":1},{\"share\":1,\"factor\":2}]}");
    int slow = 0;
    for (int i = 0; i < 1000; i++) {
        double s = 1e6 * null_seconds(b, (struct as_work){0}, 1);
        assert_true(null_near(s, 1, 1e-9) || null_near(s, 2, 1e-9));
        slow += s > 1.5;
    }
    assert_true(slow > 190 && slow < 310);
    null_stop(b);
}

static void drift_by_launches_and_time(void **state)
{
    (void)state;
    struct null_bench *b =
        null_start("{\"execute\":false,\"drift\":{\"factor\":1.5,\"from_launch\":4,\"to_launch\":6}}");
    for (int i = 1; i <= 8; i++)
        assert_true(null_near(1e6 * null_seconds(b, (struct as_work){0}, 1), i == 4 || i == 5 ? 1.5 : 1, 1e-9));
    null_stop(b);
    b = null_start("{\"execute\":false,\"drift\":{\"factor\":3,\"from_s\":0.2}}");
    bool before = null_near(1e6 * null_seconds(b, (struct as_work){0}, 1), 1, 1e-9);
    assert_true(before || as_now() - as_null(b->d)->opened > 0.2);
    as_sleep(0.25);
    assert_true(null_near(1e6 * null_seconds(b, (struct as_work){0}, 1), 3, 1e-9));
    null_stop(b);
}

static double seconds_of(struct null_bench *b, struct as_kernel *kernel, double footprint)
{
    struct as_timing t = {0};
    struct as_error err = {0};
    const struct as_arg args[] = {{.kind = AS_ARG_MEMORY, .u.memory = b->memory}};
    const struct as_launch l = {.kernel = kernel,
                                .args = args,
                                .args_n = 1,
                                .workgroups = 1,
                                .reps = 1,
                                .work = {.accesses = 100, .footprint = footprint}};
    check_ok(b->d->queue->launch(b->d, &l, &t, &err), &err);
    return 1e9 * t.host_s;
}

static void a_cache_of_both_sides(void **state)
{
    (void)state;
    struct null_bench *b =
        null_start("{\"execute\":false,\"levels\":[{\"size\":0,\"ns\":1,\"gbs\":1}],"
                   "\"shared\":{\"size\":1000,\"ns\":2,\"restores\":0.75,\"pass\":\"add\",\"touch\":\"meet\"}}");
    assert_true(null_near(seconds_of(b, b->add, 400), 100, 1e-9));
    seconds_of(b, b->meet, 600); /* both fit */
    assert_true(null_near(seconds_of(b, b->add, 400), 100, 1e-9));
    seconds_of(b, b->meet, 800); /* half of the 400 do not */
    assert_true(null_near(seconds_of(b, b->add, 400), 200, 1e-9));
    assert_true(null_near(seconds_of(b, b->add, 400), 125, 1e-9));
    seconds_of(b, b->meet, 5000);
    assert_true(null_near(seconds_of(b, b->add, 400), 300, 1e-9));
    null_stop(b);
}

static void a_speed_that_wanders(void **state)
{
    (void)state;
    struct null_bench *b = null_start("{\"execute\":false,\"seed\":1,\"noise\":{\"walk_sd\":0.1}}");
    double least = INFINITY, most = 0;
    for (int i = 0; i < 1000; i++) {
        const double s = 1e6 * null_seconds(b, (struct as_work){0}, 1);
        least = fmin(least, s);
        most = fmax(most, s);
    }
    assert_true(least >= 0.5 && least < 0.7 && most > 1.4 && most <= 2);
    null_stop(b);
}

static void memory_is_as_scripted(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    struct null_bench *b = null_start(
        "{\"info\":{\"allocators\":[{\"name\":\"malloc\"},{\"name\":\"some\"}]},\"alloc_ns\":70,\"free_ns\":30,"
        "\"faults\":[{\"allocator\":\"so*\",\"min_footprint\":100,\"do\":\"oom\"}]}");
    struct as_device *d = b->d;
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "some", .bytes = 100, .node = -1}, &m, &err),
                AS_NOMEM, &err, "script");
    check_ok(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "some", .bytes = 99, .node = -1}, &m, &err),
             &err);
    d->memory->free(d, m);
    double a = 0, f = 0;
    check_ok(d->memory->time_alloc(d, "malloc", 64, 100, &a, &f, &err), &err);
    assert_true(null_near(a, 7e-6, 1e-9) && null_near(f, 3e-6, 1e-9));
    null_stop(b);
}

static void device_is_as_scripted(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_buf json = AS_BUF_INIT;
    struct null_bench *b =
        null_start("{\"clock_hz\":3e9,\"cycles\":true,\"info\":{\"id\":\"cpu\",\"name\":\"<script>\\u001b[2J\","
                   "\"threads\":2,\"units\":4,\"capabilities\":[],\"caches\":[{\"kind\":\"u\",\"level\":2,\"size\":"
                   "1048576,\"shared\":2},{\"kind\":\"d\",\"level\":1,\"size\":32768,\"shared\":1}]}}");
    const struct as_device_info *i = &b->d->info;
    assert_string_equal(i->id, "null");
    assert_string_equal(i->name, "<script>\x1b[2J");
    assert_true(i->capabilities & AS_CAP_SIMULATED && i->capabilities & AS_CAP_HOST_KERNELS);
    assert_int_equal(as_info_last_cache(i), 1 << 20);
    assert_true(null_near(null_clock(b), 3e9, 0.01));
    struct as_timing t;
    check_ok(null_launch(b, (struct as_work){0}, 1000, &t, &err), &err);
    assert_true(null_near(t.cycles, 1e-3 * 3e9, 1e-9) && isnan(t.device_s));
    check_ok(b->d->device->topology(b->d, &json, &err), &err);
    unsigned l2 = 0, l1 = 0, pu = 0;
    for (const char *p = as_buf_get(&json); (p = strstr(p, "\"type\":\"")); p++) {
        l2 += strncmp(p + 8, "L2\"", 3) == 0;
        l1 += strncmp(p + 8, "L1d\"", 4) == 0;
        pu += strncmp(p + 8, "pu\"", 3) == 0;
    }
    assert_true(l2 == 2 && l1 == 4 && pu == 4);
    assert_null(strchr(as_buf_get(&json), '<'));
    as_buf_finish(&json);
    null_stop(b);
}

static void sleeping_takes_time(void **state)
{
    (void)state;
    struct null_bench *b = null_start("{\"sleep\":true,\"launch_ns\":20000000}");
    double begin = as_now();
    null_seconds(b, (struct as_work){0}, 1);
    assert_true(as_now() - begin >= 0.02);
    null_stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_give_times),     cmocka_unit_test(kernels_really_run),
        cmocka_unit_test(noise_is_seeded),       cmocka_unit_test(two_modes),
        cmocka_unit_test(a_cache_of_both_sides), cmocka_unit_test(a_speed_that_wanders),
        cmocka_unit_test(memory_is_as_scripted), cmocka_unit_test(drift_by_launches_and_time),
        cmocka_unit_test(sleeping_takes_time),   cmocka_unit_test(device_is_as_scripted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
