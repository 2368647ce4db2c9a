/* Memory in use of GPUs: the files of AMD's driver below a folder, NVIDIA's library as a stand-in. */
#include "sensor/used_memory.h"

#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/assay-used-XXXXXX";

static void write_file(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(name, 0700);
        *slash = '/';
    }
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void check_counter(const struct as_used_memory *m, size_t i, const char *name, double bytes)
{
    assert_true(i < m->n);
    assert_string_equal(m->v[i].name, name);
    assert_true(m->v[i].counts[0] != '\0');
    assert_true(as_used_memory_read(m, i) == bytes);
}

UNIT_TEST(test_both_vendors)
{
    static struct as_used_memory m;
    setenv("FAKE_NVML", "self", 1);
    write_file("/sys/bus/pci/devices/0000:c2:00.0/mem_info_vram_used", "4096\n");
    write_file("/sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "1048576\n");
    write_file("/sys/bus/pci/devices/0000:c1:00.0/mem_info_gtt_used", "8192\n");
    write_file("/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x8086\n");
    as_used_memory_open(root, &m);
    assert_int_equal(m.n, 4);
    assert_string_equal(m.why_not, "");
    check_counter(&m, 0, "GPU 0", 600.0 * (1 << 20));
    check_counter(&m, 1, "0000:c1:00.0 VRAM", 1048576);
    check_counter(&m, 2, "0000:c1:00.0 GTT", 8192);
    check_counter(&m, 3, "0000:c2:00.0 VRAM", 4096);
    write_file("/sys/bus/pci/devices/0000:c2:00.0/mem_info_vram_used", "unknown\n");
    assert_true(isnan(as_used_memory_read(&m, 3)));
    setenv("FAKE_NVML", "lost", 1);
    assert_true(isnan(as_used_memory_read(&m, 0)));
    as_used_memory_close(&m);
    assert_int_equal(m.n, 0);
}

/* Where the kernel drives a GPU that the library does not list, the reason is given; without a GPU none is needed. */
UNIT_TEST(test_missing_library)
{
    static struct as_used_memory m;
    setenv("FAKE_NVML", "noinit", 1);
    as_used_memory_open(root, &m);
    assert_string_equal(m.why_not, "");
    as_used_memory_close(&m);
    write_file("/proc/driver/nvidia/version", "580\n");
    as_used_memory_open(root, &m);
    assert_string_equal(m.why_not, "NVML cannot be initialised");
    as_used_memory_close(&m);
    setenv("FAKE_NVML", "lost", 1);
    as_used_memory_open(root, &m);
    assert_string_equal(m.why_not, "NVML lists no devices");
    as_used_memory_close(&m);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : 1;
}

static int end(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_vendors), cmocka_unit_test(test_missing_library)};
    return cmocka_run_group_tests(tests, begin, end);
}
