/* What serves where the kernel lacks a system call: a filter answers ENOSYS, as an old kernel does. */
#include "os/facts.h"
#include "os/process.h"
#include "tests/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLOSE_RANGE = 436, FIRST = 20 };

/* From now on these calls fail in this process. */
static int lack(long first, long second)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Exit status of a child that lacks two calls; 77 where the system lets no process filter its calls. */
static int status_of(int (*body)(void), long first, long second)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(first && lack(first, second) ? 77 : body());
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int closes(void)
{
    for (int fd = FIRST; fd < FIRST + 200; fd++)
        if (dup2(0, fd) != fd)
            return 2;
    as_close_from(FIRST);
    for (int fd = FIRST; fd < FIRST + 200; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return 3;
    return fcntl(0, F_GETFD) < 0 ? 4 : 0;
}

static int makes_file(void)
{
    char text[4] = "";
    const int fd = as_unnamed_file("assay-test");
    if (fd < 0 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
        return 2;
    return pwrite(fd, "abc", 3, 0) == 3 && pread(fd, text, 3, 0) == 3 && strcmp(text, "abc") == 0 ? 0 : 3;
}

static int has_random(void)
{
    uint64_t a = 0, b = 0;
    return as_system_random(&a, sizeof a) && as_system_random(&b, sizeof b) && a != b ? 0 : 2;
}

static int has_no_random(void)
{
    uint64_t a = 0;
    return as_system_random(&a, sizeof a) ? 2 : 0;
}

UNIT_TEST(test_here)
{
    assert_int_equal(status_of(closes, 0, 0), 0);
    assert_int_equal(status_of(makes_file, 0, 0), 0);
    assert_int_equal(status_of(has_random, 0, 0), 0);
}

UNIT_TEST(test_old_kernel)
{
    const int closed = status_of(closes, CLOSE_RANGE, CLOSE_RANGE);
    if (closed == 77)
        skip();
    assert_int_equal(closed, 0);
    assert_int_equal(status_of(closes, CLOSE_RANGE, SYS_getdents64), 0);
    assert_int_equal(status_of(makes_file, SYS_memfd_create, SYS_memfd_create), 0);
    assert_int_equal(status_of(has_no_random, SYS_getrandom, SYS_getrandom), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_here), cmocka_unit_test(test_old_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
