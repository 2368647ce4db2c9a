/* Rank 0's view of the others: what cannot be read is said, and waited for as long as its process lives. */
#include "base/text.h"
#include "fleet/fleet_job.h"
#include "scripted_clock.h"
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static const struct as_fleet_job job = {.size = 2, .id = "7"};
static struct as_fleet_watch watch;
static size_t pending;

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/assay-watch-XXXXXX");
    clock_script(0);
    watch = (struct as_fleet_watch){.folder = folder, .job = &job, .own = "n0", .began = as_now()};
    watch.printed_at = as_now() + 1e6; /* no lines of progress */
    return mkdtemp(folder) == NULL;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    as_fleet_watch_finish(&watch);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT(cert-env33-c) */
}

/* The lock of the process. */
static int write_state(const char *name, enum as_fleet_state state)
{
    int lock;
    struct as_fleet_status s = {.job = job, .state = state, .locked = true, .request = strdup("[]")};
    as_copy_text(s.name, sizeof s.name, name);
    assert_int_equal(as_fleet_folder_enter(folder, name, &lock, NULL), AS_OK);
    assert_int_equal(as_fleet_status_write(folder, &s, NULL), AS_OK);
    as_fleet_status_finish(&s);
    return lock;
}

static void damage(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/status/%s.json", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("{\"status_ver", file);
    fclose(file);
}

/* Looks after so many seconds: how many are pending, and what is said. */
static void looks(double seconds, size_t want, const char *words)
{
    struct as_buf out = AS_BUF_INIT;
    clock_pass(seconds);
    assert_int_equal(as_fleet_watch_look(&watch, &pending, &out, NULL), AS_OK);
    assert_int_equal(pending, want);
    if (*words)
        assert_non_null(strstr(as_buf_get(&out), words));
    else
        assert_string_equal(as_buf_get(&out), "");
    as_buf_finish(&out);
}

UNIT_TEST(test_unread_later)
{
    const int lock = write_state("n1", AS_FLEET_MEASURING);
    looks(1, 1, "");
    damage("n1");
    looks(5, 1, ""); /* written just now */
    looks(70, 1, "n1: cannot read its state: ");
    looks(70, 1, ""); /* said once */
    close(lock);
    looks(1, 0, "n1: its process has died, cannot read its state");
    looks(100, 0, "");
}

UNIT_TEST(test_unread_from_the_start)
{
    const int lock = write_state("n1", AS_FLEET_MEASURING);
    damage("n1");
    looks(1, 1, "");
    looks(70, 1, "n1: cannot read its state: ");
    close(write_state("n2", AS_FLEET_MEASURING)); /* of a process that has ended */
    damage("n2");
    looks(70, 1, "");
    close(lock);
}

UNIT_TEST(test_readable_again)
{
    const int lock = write_state("n1", AS_FLEET_MEASURING);
    looks(1, 1, "");
    damage("n1");
    looks(70, 1, "n1: cannot read its state: ");
    close(lock);
    close(write_state("n1", AS_FLEET_COMPLETE));
    looks(1, 0, "n1: complete");
}

UNIT_TEST(test_gone)
{
    char path[128];
    close(write_state("n1", AS_FLEET_MEASURING));
    const int lock = write_state("n1", AS_FLEET_MEASURING);
    looks(1, 1, "");
    snprintf(path, sizeof path, "%s/status/n1.json", folder);
    assert_int_equal(unlink(path), 0);
    looks(70, 1, "n1: cannot read its state: the file is gone");
    looks(1000, 0, "n1: silent, ");
    close(lock);
}

UNIT_TEST(test_never_there)
{
    close(write_state("n0", AS_FLEET_COMPLETE));
    looks(1, 1, "");
    looks(70, 0, "1 of 2 ranks left no state");
    looks(70, 0, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unread_later), TEST(test_unread_from_the_start), TEST(test_readable_again),
        TEST(test_gone),         TEST(test_never_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
