/* Memory and CPU limits of control groups, from made-up /proc and /sys folders. */
#include "check.h"
#include "device/host_limits.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB (1ull << 30)

static char root[] = "/tmp/assay-limits-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int start(void **state)
{
    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes root/path, with the folders above it. */
static void write_under_root(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *p = full + sizeof root; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static bool ends_with(const char *text, const char *end_)
{
    const size_t n = strlen(text), m = strlen(end_);
    return n >= m && strcmp(text + n - m, end_) == 0;
}

static struct as_host_limits limits(void)
{
    char proc[300], sys[300];
    struct as_host_limits l = {0};
    struct as_error err = {0};
    snprintf(proc, sizeof proc, "%s/proc", root);
    snprintf(sys, sizeof sys, "%s/sys", root);
    struct as_host_groups *g = as_host_groups_create(proc, sys);
    assert_non_null(g);
    check_ok(as_host_limits_read(g, &l, &err), &err);
    as_host_groups_destroy(g);
    return l;
}

static void put_machine(void)
{
    write_under_root("proc/meminfo",
                     "MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:   12582912 kB\n");
}

static void no_groups(void **state)
{
    (void)state;
    put_machine();
    struct as_host_limits l = limits();
    assert_true(l.total == 16 * GIB && l.free == 12 * GIB && l.quota == 0);
    assert_string_equal(l.memory_by, "");
    assert_string_equal(l.quota_by, "");
    write_under_root("proc/self/cgroup", "");
    l = limits();
    assert_true(l.total == 16 * GIB);
}

static void version_2(void **state)
{
    (void)state;
    put_machine();
    write_under_root("proc/self/cgroup", "0::/user/job\n");
    write_under_root("sys/cgroup.controllers", "cpu memory\n");
    write_under_root("sys/user/memory.max", "4294967296\n");
    write_under_root("sys/user/memory.current", "2147483648\n");
    write_under_root("sys/user/memory.stat", "anon 5\ninactive_file 1073741824\nactive_file 7\n");
    write_under_root("sys/user/cpu.max", "150000 100000\n");
    write_under_root("sys/user/job/memory.max", "max\n");
    write_under_root("sys/user/job/cpu.max", "max 100000\n");
    struct as_host_limits l = limits();
    assert_true(l.total == 4 * GIB);
    assert_true(l.free == 3 * GIB); /* files in the cache give way */
    assert_true(l.quota == 1.5);
    assert_true(ends_with(l.memory_by, "/sys/user/memory.max'") && ends_with(l.quota_by, "/sys/user/cpu.max'"));
    write_under_root("sys/user/job/memory.high", "1073741824\n");
    write_under_root("sys/user/job/memory.current", "2147483648\n");
    l = limits();
    assert_true(l.total == GIB && l.free == 0);
    assert_true(ends_with(l.memory_by, "/sys/user/job/memory.high'"));
    char text[256];
    as_host_limits_memory_text(&l, text, sizeof text);
    assert_non_null(strstr(text, "may use 1 GiB by '/"));
    assert_true(ends_with(text, "memory.high'; raise that limit"));
    write_under_root("sys/user/job/memory.high",
                     "max\n"); /* the group itself has room, what is above it has little left */
    write_under_root("sys/user/job/memory.max", "2147483648\n");
    write_under_root("sys/user/job/memory.current", "0\n");
    write_under_root("sys/user/memory.current", "4294967296\n");
    l = limits();
    assert_true(l.total == 2 * GIB && l.free == GIB);
}

static void version_1(void **state)
{
    (void)state;
    put_machine();
    write_under_root("proc/self/cgroup", "9:name=systemd:/\n4:memory:/a/b\n2:cpuacct,cpu:/c\n0::/\n");
    write_under_root("sys/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_under_root("sys/memory/a/b/memory.limit_in_bytes", "2147483648\n");
    write_under_root("sys/memory/a/b/memory.usage_in_bytes", "536870912\n");
    write_under_root("sys/memory/a/b/memory.stat", "cache 1\ntotal_inactive_file 0\n");
    write_under_root("sys/cpu/c/cpu.cfs_quota_us", "300000\n");
    write_under_root("sys/cpu/c/cpu.cfs_period_us", "100000\n");
    write_under_root("sys/cpu/cpu.cfs_quota_us", "-1\n");
    write_under_root("sys/cpu/cpu.cfs_period_us", "100000\n");
    struct as_host_limits l = limits();
    assert_true(l.total == 2 * GIB && l.free == GIB + GIB / 2 && l.quota == 3);
    assert_true(ends_with(l.memory_by, "/sys/memory/a/b/memory.limit_in_bytes'"));
    assert_true(ends_with(l.quota_by, "/sys/cpu/c/cpu.cfs_quota_us'"));
}

/* The path is that of the host; what is mounted is the group itself. */
static void container(void **state)
{
    (void)state;
    put_machine();
    write_under_root("proc/self/cgroup", "4:memory:/docker/abc\n0::/../../elsewhere\n");
    write_under_root("sys/memory/memory.limit_in_bytes", "1073741824\n");
    write_under_root("sys/memory/memory.usage_in_bytes", "0\n");
    struct as_host_limits l = limits();
    assert_true(l.total == GIB && l.free == GIB);
}

static void damaged_files(void **state)
{
    (void)state;
    char proc[300];
    struct as_error err = {0};
    struct as_host_limits l;
    put_machine();
    write_under_root("proc/self/cgroup", "nonsense\n::\n0:\n0::relative\n4:memory\n\n0::/x\n");
    write_under_root("sys/cgroup.controllers", "");
    write_under_root("sys/x/memory.max", "lots\n");
    write_under_root("sys/x/cpu.max", "100000\n");
    l = limits();
    assert_true(l.total == 16 * GIB && l.quota == 0);
    write_under_root("sys/x/cpu.max", "100000 0\n");
    assert_true(limits().quota == 0);
    const char *const bad[] = {"", "MemTotal: x kB\n", "MemTotal: 99999999999999999999999 kB\nMemAvailable: 1 kB\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_under_root("proc/meminfo", bad[i]);
        snprintf(proc, sizeof proc, "%s/proc", root);
        struct as_host_groups *g = as_host_groups_create(proc, root);
        assert_non_null(g);
        check_fails(as_host_limits_read(g, &l, &err), AS_IO, &err, "meminfo");
        as_host_groups_destroy(g);
    }
    as_host_groups_destroy(NULL);
}

static uint64_t kills(void)
{
    char proc[300], sys[300];
    snprintf(proc, sizeof proc, "%s/proc", root);
    snprintf(sys, sizeof sys, "%s/sys", root);
    struct as_host_groups *g = as_host_groups_create(proc, sys);
    assert_non_null(g);
    const uint64_t n = as_host_groups_oom_kills(g);
    as_host_groups_destroy(g);
    return n;
}

/* Of the process's own group, in both versions; of the machine where no group counts. */
static void kills_for_lack_of_memory(void **state)
{
    (void)state;
    put_machine();
    assert_int_equal(kills(), 0);
    write_under_root("proc/vmstat", "nr_free_pages 7\noom_kill 3\n");
    assert_int_equal(kills(), 3);
    write_under_root("proc/self/cgroup", "0::/user/job\n");
    write_under_root("sys/cgroup.controllers", "memory\n");
    write_under_root("sys/user/memory.events", "low 0\noom 9\noom_kill 8\n");
    write_under_root("sys/user/job/memory.events", "low 0\noom 4\noom_kill 5\noom_group_kill 0\n");
    assert_int_equal(kills(), 5);
    write_under_root("proc/self/cgroup", "4:cpu:/c\n3:memory:/a\n");
    write_under_root("sys/memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    assert_int_equal(kills(), 2);
}

/* An address space that is limited bounds what may be allocated as a control group does; in a process of its own. */
static void limits_of_the_process(void **state)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    (void)state;
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &pages), 1);
    fclose(f);
    if (pages > 1ull << 28)
        skip(); /* a sanitizer maps terabytes */
    const pid_t pid = fork();
    if (pid == 0) {
        struct as_host_limits l;
        struct rlimit r = {.rlim_cur = 1ull << 42, .rlim_max = RLIM_INFINITY};
        if (setrlimit(RLIMIT_AS, &r) || as_host_limits_now(&l, NULL))
            _exit(1);
        if (strstr(l.memory_by, "RLIMIT"))
            _exit(2); /* more than the machine has is no limit */
        r.rlim_cur = as_host_resident() + (96 << 20);
        if (setrlimit(RLIMIT_DATA, &r) || as_host_limits_now(&l, NULL))
            _exit(3);
        _exit(strstr(l.memory_by, "RLIMIT_DATA") && l.total == r.rlim_cur && l.free < l.total ? 0 : 4);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void resident_memory_grows(void **state)
{
    (void)state;
    uint64_t before = as_host_resident();
    size_t bytes = 64u << 20;
    char *p = malloc(bytes);
    assert_non_null(p);
    for (size_t i = 0; i < bytes; i += 1024)
        ((volatile char *)p)[i] = 1;
    uint64_t after = as_host_resident();
    free(p);
    assert_true(before > 0 && after > before + bytes / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_groups, start, end),
        cmocka_unit_test_setup_teardown(version_2, start, end),
        cmocka_unit_test_setup_teardown(version_1, start, end),
        cmocka_unit_test_setup_teardown(container, start, end),
        cmocka_unit_test_setup_teardown(damaged_files, start, end),
        cmocka_unit_test_setup_teardown(kills_for_lack_of_memory, start, end),
        cmocka_unit_test(limits_of_the_process),
        cmocka_unit_test(resident_memory_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
