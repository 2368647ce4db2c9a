/* What other devices' backends know of the host. */
#include "check.h"
#include "device/host.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/sysinfo.h>

static void test_memory(void **state)
{
    struct sysinfo info;
    (void)state;
    assert_int_equal(sysinfo(&info), 0);
    uint64_t total = (uint64_t)info.totalram * info.mem_unit, left = as_host_memory_available();
    assert_true(left > 0);
    assert_true(left == UINT64_MAX || left <= total);
}

static void test_no_such_device(void **state)
{
    static const char *const ids[] = {"", "no address", "fffe:1f:1f.7", "0000:00:"};
    char list[64];
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        strcpy(list, "x");
        as_host_near_cpus(ids[i], list, sizeof list);
        assert_string_equal(list, "");
    }
}

/* A list of CPUs for each display and accelerator that the kernel knows, and never more than there is room for. */
static void test_devices_of_this_machine(void **state)
{
    DIR *all = opendir("/sys/bus/pci/devices");
    (void)state;
    if (!all)
        skip();
    for (struct dirent *d; (d = readdir(all));) {
        char list[64], small[4];
        as_host_near_cpus(d->d_name, list, sizeof list);
        assert_int_equal(strspn(list, "0123456789,-"), strlen(list));
        assert_true(list[0] == 0 || isdigit((unsigned char)list[strlen(list) - 1]));
        as_host_near_cpus(d->d_name, small, sizeof small);
        assert_true(strlen(small) < sizeof small);
    }
    closedir(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_devices_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
