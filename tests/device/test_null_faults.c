/* The scripted device: faults that a script plants happen, and a damaged script is refused. */
#include "check.h"
#include "null_bench.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void faults_that_return(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_timing t;
    struct null_bench *b =
        null_start("{\"faults\":[{\"kernel\":\"a*\",\"probe\":\"add?ng\",\"launch\":2,\"do\":\"fail\"},"
                   "{\"launch\":3,\"do\":\"oom\"},{\"launch\":4,\"do\":\"slow\",\"factor\":1.02},"
                   "{\"launch\":5,\"do\":\"wrong\"},{\"from\":6,\"do\":\"clock-half\"},"
                   "{\"kernel\":\"other\",\"do\":\"crash\"},{\"probe\":\"other\",\"do\":\"crash\"},"
                   "{\"min_footprint\":1000,\"do\":\"fail\"}]}");
    const uint64_t *out = b->memory->host;
    for (int trial = 0; trial < 2; trial++) {
        memset(b->memory->host, 0, 4096);
        check_ok(null_launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(null_near(t.host_s, 1e-6, 1e-9) && null_near(null_clock(b), 2e9, 0.01));
        check_fails(null_launch(b, (struct as_work){0}, 1, &t, &err), AS_FAILED, &err, "add failed");
        check_fails(null_launch(b, (struct as_work){0}, 1, &t, &err), AS_NOMEM, &err, "out of memory");
        check_ok(null_launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(null_near(t.host_s, 1.02e-6, 1e-9));
        assert_int_equal(out[0], 6);
        check_ok(null_launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_int_not_equal(out[0], 9);
        check_ok(null_launch(b, (struct as_work){0}, 1, &t, &err), &err);
        assert_true(null_near(t.host_s, 2e-6, 1e-9) && null_near(null_clock(b), 1e9, 0.01));
        null_unbuild(b); /* the next trial counts anew */
        null_build(b);
    }
    check_fails(null_launch(b, (struct as_work){0, 1, 1000}, 1, &t, &err), AS_FAILED, &err, "add failed");
    null_stop(b);
}

static void faults_by_worker(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_timing t;
    struct null_bench *b =
        null_start("{\"execute\":false,\"faults\":[{\"launch\":2,\"count\":\"worker\",\"do\":\"fail\"}]}");
    for (int i = 1; i <= 4; i++) {
        if (i == 2)
            check_fails(null_launch(b, (struct as_work){0}, 1, &t, &err), AS_FAILED, &err, "add failed");
        else
            check_ok(null_launch(b, (struct as_work){0}, 1, &t, &err), &err);
        null_unbuild(b);
        null_build(b);
    }
    null_stop(b);
}

/* Status of a process that opens the script and launches once. */
static int status_of(const char *json, bool hangs)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct null_bench *b = null_start(json);
        alarm(hangs ? 1 : 0);
        null_seconds(b, (struct as_work){0}, 1);
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
        char *path = null_script(cases[i].json);
        setenv("ASSAY_NULL", path, 1);
        enum as_status st = as_device_open("null", &o, &err);
        check_fails(st, strstr(cases[i].json, "out of order") ? AS_UNSUPPORTED : AS_FORMAT, &err, cases[i].part);
        if (st == AS_FORMAT)
            assert_non_null(strstr(err.text, path));
        unlink(path);
    }
    struct as_error err = {0};
    char *path = null_script("{\"open\":\"fail\"}");
    setenv("ASSAY_NULL", path, 1);
    check_fails(as_device_open("null", &o, &err), AS_FAILED, &err, "opening the device failed");
    unlink(path);
    setenv("ASSAY_NULL", "/nonexistent/script", 1);
    check_fails(as_device_open("null", &o, &err), AS_NOTFOUND, &err, "/nonexistent/script");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_that_return),
        cmocka_unit_test(faults_by_worker),
        cmocka_unit_test(faults_that_do_not_return),
        cmocka_unit_test(damaged_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
