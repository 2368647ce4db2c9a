/* The scripted device: what the script says happens, and a damaged script is refused. */
#include "base/clock.h"
#include "check.h"
#include "device/null/null.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    struct as_opened opened;
    struct as_device *d;
    struct as_program *program;
    struct as_kernel *add, *meet;
    struct as_memory *memory;
};

static void add(const struct as_host_call *call)
{
    uint64_t *out = call->args[0];
    for (uint64_t i = 0; i < call->reps; i++)
        out[call->thread] += *(const uint32_t *)call->args[1];
}

/* Two threads that need each other. */
static void meet(const struct as_host_call *call)
{
    _Atomic uint32_t *word = call->args[0];
    for (uint32_t i = 0; i < 100; i++)
        if (call->thread == 0) {
            atomic_store(word, 2 * i + 1);
            while (atomic_load(word) != 2 * i + 2)
                ;
        } else {
            while (atomic_load(word) != 2 * i + 1)
                ;
            atomic_store(word, 2 * i + 2);
        }
}

static const struct as_host_kernel kernels[] = {{"add", add}, {"meet", meet}, {NULL, NULL}};

static char *script_file(const char *json)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/assay-null-%d.json", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(json, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void build(struct bench *b)
{
    struct as_error err = {0};
    check_ok(
        b->d->program->build(b->d, &(struct as_program_desc){.name = "adding", .host = kernels}, &b->program, &err),
        &err);
    check_ok(b->d->program->kernel(b->d, b->program, "add", &b->add, &err), &err);
    check_ok(b->d->program->kernel(b->d, b->program, "meet", &b->meet, &err), &err);
}

static void unbuild(struct bench *b)
{
    b->d->program->kernel_destroy(b->d, b->add);
    b->d->program->kernel_destroy(b->d, b->meet);
    b->d->program->destroy(b->d, b->program);
}

static struct bench *start(const char *json)
{
    static struct bench b;
    struct as_error err = {0};
    char *path = script_file(json);
    setenv("ASSAY_NULL", path, 1);
    check_ok(as_device_open("null", &b.opened, &err), &err);
    unlink(path);
    b.d = &b.opened.device;
    check_ok(b.d->memory->alloc(b.d, &(struct as_memory_desc){.allocator = "malloc", .bytes = 4096, .node = -1},
                                &b.memory, &err),
             &err);
    check_ok(b.d->memory->map(b.d, b.memory, &err), &err);
    memset(b.memory->host, 0, 4096);
    build(&b);
    return &b;
}

static void stop(struct bench *b)
{
    unbuild(b);
    b->d->memory->free(b->d, b->memory);
    as_device_close(&b->opened);
}

static enum as_status launch(struct bench *b, struct as_work work, uint64_t reps, struct as_timing *t,
                             struct as_error *err)
{
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = b->memory}}, {AS_ARG_U32, {.u32 = 3}}};
    struct as_launch l = {
        .kernel = b->add, .args = args, .args_n = 2, .workgroups = 2, .workgroup_size = 1, .reps = reps, .work = work};
    return b->d->queue->launch(b->d, &l, t, err);
}

static double seconds(struct bench *b, struct as_work work, uint64_t reps)
{
    struct as_timing t = {0};
    struct as_error err = {0};
    check_ok(launch(b, work, reps, &t, &err), &err);
    return t.host_s;
}

static double clock_of(struct bench *b)
{
    double hz = 0;
    struct as_error err = {0};
    check_ok(b->d->device->clock(b->d, &hz, &err), &err);
    return hz;
}

static bool near(double a, double b, double within)
{
    return fabs(a / b - 1) <= within;
}

static const char levels[] = "{\"execute\":false,\"launch_ns\":500,\"levels\":["
                             "{\"size\":1000,\"ns\":1,\"gbs\":100},{\"size\":0,\"ns\":50,\"gbs\":10}]}";

static void levels_give_times(void **state)
{
    (void)state;
    struct bench *b = start(levels);
    assert_true(near(seconds(b, (struct as_work){0, 100, 1000}, 7), 7 * 100e-9, 1e-9));
    assert_true(near(seconds(b, (struct as_work){0, 100, 1001}, 7), 7 * 100 * 50e-9, 1e-9));
    assert_true(near(seconds(b, (struct as_work){1e6, 0, 10}, 2), 2 * 1e6 / 100e9, 1e-9));
    assert_true(near(seconds(b, (struct as_work){1e6, 10, 1e9}, 1), 1e6 / 10e9 + 500e-9, 1e-9));
    assert_true(near(seconds(b, (struct as_work){0, 0, 0}, 10), 10 * 500e-9, 1e-9));
    stop(b);
}

static void kernels_really_run(void **state)
{
    (void)state;
    struct bench *b = start("{}");
    const uint64_t *out = b->memory->host;
    seconds(b, (struct as_work){0}, 5);
    seconds(b, (struct as_work){0}, 5);
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
    stop(b);
    b = start("{\"execute\":\"once\"}");
    out = b->memory->host;
    for (int i = 0; i < 5; i++)
        seconds(b, (struct as_work){0}, 5);
    assert_int_equal(out[0], 15);
    seconds(b, (struct as_work){0}, 6);
    assert_int_equal(out[0], 15 + 18);
    stop(b);
}

static void noise_is_seeded(void **state)
{
    (void)state;
    const char *json = "{\"execute\":false,\"seed\":5,\"noise\":{\"sd\":0.02,\"trial_sd\":0.1},\"launch_ns\":1000}";
    double first[200], sum = 0, squares = 0, trials[2];
    enum { N = 200 };
    for (int round = 0; round < 2; round++) {
        struct bench *b = start(json);
        for (int i = 0; i < N; i++) {
            double s = 1e9 * seconds(b, (struct as_work){0}, 1) / 1000;
            if (round)
                assert_true(s == first[i]);
            first[i] = s;
            sum += s;
            squares += s * s;
        }
        double trial = as_null(b->d)->trial_factor;
        unbuild(b);
        build(b);
        trials[round] = as_null(b->d)->trial_factor;
        assert_true(trial != trials[round]);
        stop(b);
    }
    double mean = sum / (2 * N), sd = sqrt(squares / (2 * N) - mean * mean) / mean;
    assert_true(sd > 0.014 && sd < 0.026); /* 4 standard errors */
    assert_true(trials[0] == trials[1]);
    struct bench *b = start("{\"execute\":false,\"noise\":{\"sd\":0.02}}");
    double unseeded = seconds(b, (struct as_work){0}, 1);
    stop(b);
    b = start("{\"execute\":false,\"noise\":{\"sd\":0.02}}");
    assert_true(seconds(b, (struct as_work){0}, 1) != unseeded);
    stop(b);
}

static void two_modes(void **state)
{
    (void)state;
    struct bench *b =
        start("{\"execute\":false,\"seed\":1,\"modes\":[{\"share\":3,\"factor\":1},{\"share\":1,\"factor\":2}]}");
    int slow = 0;
    for (int i = 0; i < 1000; i++) {
        double s = 1e6 * seconds(b, (struct as_work){0}, 1);
        assert_true(near(s, 1, 1e-9) || near(s, 2, 1e-9));
        slow += s > 1.5;
    }
    assert_true(slow > 190 && slow < 310);
    stop(b);
}

static void drift_by_launches_and_time(void **state)
{
    (void)state;
    struct bench *b = start("{\"execute\":false,\"drift\":{\"factor\":1.5,\"from_launch\":4,\"to_launch\":6}}");
    for (int i = 1; i <= 8; i++)
        assert_true(near(1e6 * seconds(b, (struct as_work){0}, 1), i == 4 || i == 5 ? 1.5 : 1, 1e-9));
    stop(b);
    b = start("{\"execute\":false,\"drift\":{\"factor\":3,\"from_s\":0.2}}");
    bool before = near(1e6 * seconds(b, (struct as_work){0}, 1), 1, 1e-9);
    assert_true(before || as_now() - as_null(b->d)->opened > 0.2);
    as_sleep(0.25);
    assert_true(near(1e6 * seconds(b, (struct as_work){0}, 1), 3, 1e-9));
    stop(b);
}

static double seconds_of(struct bench *b, struct as_kernel *kernel, double footprint)
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
    struct bench *b =
        start("{\"execute\":false,\"levels\":[{\"size\":0,\"ns\":1,\"gbs\":1}],"
              "\"shared\":{\"size\":1000,\"ns\":2,\"restores\":0.75,\"pass\":\"add\",\"touch\":\"meet\"}}");
    assert_true(near(seconds_of(b, b->add, 400), 100, 1e-9));
    seconds_of(b, b->meet, 600); /* both fit */
    assert_true(near(seconds_of(b, b->add, 400), 100, 1e-9));
    seconds_of(b, b->meet, 800); /* half of the 400 do not */
    assert_true(near(seconds_of(b, b->add, 400), 200, 1e-9));
    assert_true(near(seconds_of(b, b->add, 400), 125, 1e-9));
    seconds_of(b, b->meet, 5000);
    assert_true(near(seconds_of(b, b->add, 400), 300, 1e-9));
    stop(b);
}

static void a_speed_that_wanders(void **state)
{
    (void)state;
    struct bench *b = start("{\"execute\":false,\"seed\":1,\"noise\":{\"walk_sd\":0.1}}");
    double least = INFINITY, most = 0;
    for (int i = 0; i < 1000; i++) {
        const double s = 1e6 * seconds(b, (struct as_work){0}, 1);
        least = fmin(least, s);
        most = fmax(most, s);
    }
    assert_true(least >= 0.5 && least < 0.7 && most > 1.4 && most <= 2);
    stop(b);
}

static void faults_that_return(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_timing t;
    struct bench *b = start("{\"faults\":[{\"kernel\":\"a*\",\"probe\":\"add?ng\",\"launch\":2,\"do\":\"fail\"},"
                            "{\"launch\":3,\"do\":\"oom\"},{\"launch\":4,\"do\":\"slow\",\"factor\":1.02},"
                            "{\"launch\":5,\"do\":\"wrong\"},{\"from\":6,\"do\":\"clock-half\"},"
                            "{\"kernel\":\"other\",\"do\":\"crash\"},{\"probe\":\"other\",\"do\":\"crash\"},"
                            "{\"min_footprint\":1000,\"do\":\"fail\"}]}");
    const uint64_t *out = b->memory->host;
    for (int trial = 0; trial < 2; trial++) {
        memset(b->memory->host, 0, 4096);
        check_ok(launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(near(t.host_s, 1e-6, 1e-9) && near(clock_of(b), 2e9, 0.01));
        check_fails(launch(b, (struct as_work){0}, 1, &t, &err), AS_FAILED, &err, "add failed");
        check_fails(launch(b, (struct as_work){0}, 1, &t, &err), AS_NOMEM, &err, "out of memory");
        check_ok(launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(near(t.host_s, 1.02e-6, 1e-9));
        assert_int_equal(out[0], 6);
        check_ok(launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_int_not_equal(out[0], 9);
        check_ok(launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(near(t.host_s, 2e-6, 1e-9) && near(clock_of(b), 1e9, 0.01));
        unbuild(b); /* the next trial counts anew */
        build(b);
    }
    check_fails(launch(b, (struct as_work){0, 1, 1000}, 1, &t, &err), AS_FAILED, &err, "add failed");
    stop(b);
}

static void faults_by_worker(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_timing t;
    struct bench *b = start("{\"execute\":false,\"faults\":[{\"launch\":2,\"count\":\"worker\",\"do\":\"fail\"}]}");
    for (int i = 1; i <= 4; i++) {
        if (i == 2)
            check_fails(launch(b, (struct as_work){0}, 1, &t, &err), AS_FAILED, &err, "add failed");
        else
            check_ok(launch(b, (struct as_work){0}, 1, &t, &err), &err);
        unbuild(b);
        build(b);
    }
    stop(b);
}

/* Status of a process that opens the script and launches once. */
static int status_of(const char *json, bool hangs)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct bench *b = start(json);
        alarm(hangs ? 1 : 0);
        seconds(b, (struct as_work){0}, 1);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void faults_that_do_not_return(void **state)
{
    (void)state;
    int status = status_of("{\"faults\":[{\"do\":\"crash\"}]}", false);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = status_of("{\"faults\":[{\"do\":\"exit\"}]}", false);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    status = status_of("{\"faults\":[{\"do\":\"hang\"}]}", true);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    status = status_of("{\"faults\":[{\"do\":\"crash\",\"from\":2}]}", false);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void memory_is_as_scripted(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    struct bench *b = start("{\"info\":{\"memory_free\":10000,\"allocators\":[{\"name\":\"malloc\"},{\"name\":\"no\","
                            "\"why_not\":\"because\"},{\"name\":\"some\"}]},\"alloc_ns\":70,\"free_ns\":30,"
                            "\"faults\":[{\"allocator\":\"so*\",\"min_footprint\":100,\"do\":\"oom\"}]}");
    struct as_device *d = b->d;
    uint64_t left = 0;
    check_ok(d->device->memory_free(d, &left, &err), &err);
    assert_int_equal(left, 10000 - 4096);
    check_fails(
        d->memory->alloc(d, &(struct as_memory_desc){.allocator = "malloc", .bytes = 6000, .node = -1}, &m, &err),
        AS_NOMEM, &err, "6000");
    check_fails(
        d->memory->alloc(d, &(struct as_memory_desc){.allocator = "malloc", .bytes = UINT64_MAX, .node = -1}, &m, &err),
        AS_NOMEM, &err, "");
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "no", .bytes = 6, .node = -1}, &m, &err),
                AS_UNSUPPORTED, &err, "because");
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "other", .bytes = 6, .node = -1}, &m, &err),
                AS_USAGE, &err, "\"other\"");
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "some", .bytes = 100, .node = -1}, &m, &err),
                AS_NOMEM, &err, "script");
    check_ok(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "some", .bytes = 99, .node = -1}, &m, &err),
             &err);
    check_ok(d->memory->write(d, m, 98, "x", 1, &err), &err);
    check_fails(d->memory->read(d, m, 98, &(char[2]){0}, 2, &err), AS_USAGE, &err, "outside");
    d->memory->free(d, m);
    double a = 0, f = 0;
    check_ok(d->memory->time_alloc(d, "malloc", 64, 100, &a, &f, &err), &err);
    assert_true(near(a, 7e-6, 1e-9) && near(f, 3e-6, 1e-9));
    stop(b);
}

static void device_is_as_scripted(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_buf json = AS_BUF_INIT;
    struct bench *b =
        start("{\"clock_hz\":3e9,\"cycles\":true,\"info\":{\"id\":\"cpu\",\"name\":\"<script>\\u001b[2J\","
              "\"threads\":2,\"units\":4,\"capabilities\":[],\"caches\":[{\"kind\":\"u\",\"level\":2,\"size\":"
              "1048576,\"shared\":2},{\"kind\":\"d\",\"level\":1,\"size\":32768,\"shared\":1}]}}");
    const struct as_device_info *i = &b->d->info;
    assert_string_equal(i->id, "null");
    assert_string_equal(i->name, "<script>\x1b[2J");
    assert_true(i->capabilities & AS_CAP_SIMULATED && i->capabilities & AS_CAP_HOST_KERNELS);
    assert_int_equal(as_info_last_cache(i), 1 << 20);
    assert_true(near(clock_of(b), 3e9, 0.01));
    struct as_timing t;
    check_ok(launch(b, (struct as_work){0}, 1000, &t, &err), &err);
    assert_true(near(t.cycles, 1e-3 * 3e9, 1e-9) && isnan(t.device_s));
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
    stop(b);
}

static void damaged_scripts(void **state)
{
    (void)state;
    static const struct {
        const char *json, *part;
    } cases[] = {
        {"{", "line 1"},
        {"[]", "no object"},
        {"{\"levles\":[]}", "unknown member \"levles\""},
        {"{\"clock_hz\":\"fast\"}", "\"clock_hz\" is not a number"},
        {"{\"seed\":1.5}", "\"seed\" is not a whole number"},
        {"{\"sleep\":1}", "\"sleep\" is not true or false"},
        {"{\"open\":\"slow\"}", "\"open\" is none of crash"},
        {"{\"open\":1}", "\"open\" is none of crash"},
        {"{\"why_not\":1}", "\"why_not\" is not a text"},
        {"{\"execute\":\"twice\"}", "\"execute\""},
        {"{\"levels\":{}}", "\"levels\" is not a list"},
        {"{\"levels\":[{\"size\":0,\"ns\":-1}]}", "\"levels\"[0]: \"ns\""},
        {"{\"levels\":[{\"size\":0,\"gbs\":0}]}", "\"levels\"[0]: \"gbs\""},
        {"{\"levels\":[{\"size\":10}]}", "size 0"},
        {"{\"levels\":[{\"size\":10},{\"size\":10},{\"size\":0}]}", "rising"},
        {"{\"modes\":[1]}", "\"modes\"[0] is no object"},
        {"{\"noise\":{\"sigma\":1}}", "\"sigma\""},
        {"{\"drift\":3}", "no object"},
        {"{\"faults\":[{}]}", "\"faults\"[0]: \"do\""},
        {"{\"faults\":[{\"do\":\"crash\"},{\"do\":\"crahs\"}]}", "\"faults\"[1]: \"do\""},
        {"{\"faults\":[{\"do\":\"crash\",\"launch\":1,\"from\":2}]}", "both"},
        {"{\"faults\":[{\"do\":\"crash\",\"count\":\"run\"}]}", "\"count\""},
        {"{\"faults\":[{\"do\":\"slow\",\"allocator\":\"m\"}]}", "cannot be \"slow\""},
        {"{\"info\":{\"units\":-1}}", "\"units\""},
        {"{\"info\":[]}", "object"},
        {"{\"why_not\":\"out of order\"}", "out of order"},
    };
    struct as_opened o;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct as_error err = {0};
        char *path = script_file(cases[i].json);
        setenv("ASSAY_NULL", path, 1);
        enum as_status s = as_device_open("null", &o, &err);
        check_fails(s, strstr(cases[i].json, "out of order") ? AS_UNSUPPORTED : AS_FORMAT, &err, cases[i].part);
        if (s == AS_FORMAT)
            assert_non_null(strstr(err.text, path));
        unlink(path);
    }
    struct as_error err = {0};
    char *path = script_file("{\"open\":\"fail\"}");
    setenv("ASSAY_NULL", path, 1);
    check_fails(as_device_open("null", &o, &err), AS_FAILED, &err, "opening the device failed");
    unlink(path);
    setenv("ASSAY_NULL", "/nonexistent/script", 1);
    check_fails(as_device_open("null", &o, &err), AS_NOTFOUND, &err, "/nonexistent/script");
}

static void sleeping_takes_time(void **state)
{
    (void)state;
    struct bench *b = start("{\"sleep\":true,\"launch_ns\":20000000}");
    double begin = as_now();
    seconds(b, (struct as_work){0}, 1);
    assert_true(as_now() - begin >= 0.02);
    stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_give_times),     cmocka_unit_test(kernels_really_run),
        cmocka_unit_test(noise_is_seeded),       cmocka_unit_test(two_modes),
        cmocka_unit_test(a_cache_of_both_sides), cmocka_unit_test(a_speed_that_wanders),
        cmocka_unit_test(faults_that_return),    cmocka_unit_test(drift_by_launches_and_time),
        cmocka_unit_test(faults_by_worker),      cmocka_unit_test(faults_that_do_not_return),
        cmocka_unit_test(damaged_scripts),       cmocka_unit_test(memory_is_as_scripted),
        cmocka_unit_test(sleeping_takes_time),   cmocka_unit_test(device_is_as_scripted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
