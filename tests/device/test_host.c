/* What other devices' backends know of the host. */
#include "check.h"
#include "device/host.h"
#include "os/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

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

/* A kernel may number CPUs far beyond 1024. */
static void test_sets_of_cpus(void **state)
{
    static const int in[] = {0, 63, 64, 1023, 1024, 2047, AS_CPUS_MAX - 1};
    struct as_cpus set = {{0}};
    size_t n = 0;
    (void)state;
    assert_int_equal(as_cpus_next(&set, -1), -1);
    as_cpus_add(&set, AS_CPUS_MAX);
    as_cpus_add(&set, -1);
    assert_int_equal(as_cpus_count(&set), 0);
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        as_cpus_add(&set, in[i]);
    for (int cpu = -1; (cpu = as_cpus_next(&set, cpu)) >= 0; n++)
        assert_int_equal(cpu, in[n]);
    assert_int_equal(n, sizeof in / sizeof *in);
    assert_true(as_cpu_list("4,2000-2047", &set));
    assert_int_equal(as_cpus_count(&set), 49);
}

/* What the system takes and gives is what the set holds. */
static void test_thread_cpus(void **state)
{
    struct as_cpus before, now, one = {{0}};
    (void)state;
    assert_true(as_thread_cpus(&before));
    const int cpu = as_cpus_next(&before, -1);
    assert_true(cpu >= 0);
    if (as_thread_pin_limit())
        skip(); /* a sandbox that binds no thread */
    as_cpus_add(&one, cpu);
    assert_true(as_thread_keep_on(&one) && as_thread_cpus(&now));
    assert_memory_equal(&now, &one, sizeof one);
    assert_int_equal(as_thread_cpu(), cpu);
    assert_true(as_thread_keep_on(&before) && as_thread_cpus(&now));
    assert_memory_equal(&now, &before, sizeof before);
}

static void write_text(const char *root, const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(as_write_file(path, text, strlen(text), NULL), AS_OK);
}

/* Below root node 8 has CPUs 4 to 6 and 12, node 0 gets 0 to 3: on one socket, on two, and on sockets that nobody
 * tells. */
static void pairs_of_cpus(const char *root)
{
    static const char *const folders[] = {"sys/devices/system/cpu", "sys/devices/system/cpu/cpu1",
                                          "sys/devices/system/cpu/cpu1/topology", "sys/devices/system/cpu/cpu5",
                                          "sys/devices/system/cpu/cpu5/topology"};
    static const char of_1[] = "sys/devices/system/cpu/cpu1/topology/physical_package_id",
                      of_5[] = "sys/devices/system/cpu/cpu5/topology/physical_package_id",
                      of_node_0[] = "sys/devices/system/node/node0/cpulist";
    char text[64] = "old", path[192];
    as_host_pair_nodes(root, 4, 5, text, sizeof text);
    assert_string_equal(text, ""); /* no other node has CPUs */
    write_text(root, of_node_0, "0-3\n");
    as_host_pair_nodes(root, 4, 5, text, sizeof text);
    assert_string_equal(text, "within node 8");
    as_host_pair_nodes(root, 1, 5, text, sizeof text);
    assert_string_equal(text, "nodes 0 and 8");
    as_host_pair_nodes(root, 1, 99, text, sizeof text);
    assert_string_equal(text, "");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    write_text(root, of_1, "0\n");
    write_text(root, of_5, "0\n");
    as_host_pair_nodes(root, 1, 5, text, sizeof text);
    assert_string_equal(text, "nodes 0 and 8, same socket");
    write_text(root, of_5, "1\n");
    as_host_pair_nodes(root, 1, 5, text, sizeof text);
    assert_string_equal(text, "nodes 0 and 8, sockets 0 and 1");
    const char *const files[] = {of_1, of_5, of_node_0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    for (size_t i = sizeof folders / sizeof *folders; i--;) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

static void test_nodes(void **state)
{
    static const char *const folders[] = {"sys",
                                          "sys/devices",
                                          "sys/devices/system",
                                          "sys/devices/system/node",
                                          "sys/devices/system/node/node0",
                                          "sys/devices/system/node/node8",
                                          "sys/devices/system/node/node252"};
    char root[] = "/tmp/assay-nodes-XXXXXX", path[128];
    struct as_cpus nodes;
    (void)state;
    assert_non_null(mkdtemp(root));
    as_host_nodes(root, &nodes);
    assert_true(as_cpus_count(&nodes) == 1 && as_cpus_has(&nodes, 0));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    as_host_nodes(root, &nodes);
    assert_int_equal(as_cpus_count(&nodes), 3);
    assert_true(as_cpus_has(&nodes, 8) && as_cpus_has(&nodes, 252) && !as_cpus_has(&nodes, 1));
    static const char with_memory[] = "0,252\n"; /* node 8 has CPUs only */
    char memory[128];
    snprintf(memory, sizeof memory, "%s/%s/has_memory", root, folders[3]);
    assert_int_equal(as_write_file(memory, with_memory, strlen(with_memory), NULL), AS_OK);
    as_host_nodes(root, &nodes);
    assert_int_equal(as_cpus_count(&nodes), 2);
    assert_true(as_cpus_has(&nodes, 0) && as_cpus_has(&nodes, 252));
    static const char with_cpus[] = "8\n";
    char cpus_too[128];
    snprintf(cpus_too, sizeof cpus_too, "%s/%s/has_cpu", root, folders[3]);
    assert_int_equal(as_write_file(cpus_too, with_cpus, strlen(with_cpus), NULL), AS_OK);
    as_host_node_values(root, &nodes);
    assert_true(as_cpus_count(&nodes) == 3 && as_cpus_has(&nodes, 8));
    assert_int_equal(unlink(cpus_too), 0);
    assert_int_equal(unlink(memory), 0);
    static const char list[] = "4-6,12\n";
    struct as_cpus cpus;
    struct as_error err;
    snprintf(path, sizeof path, "%s/%s/cpulist", root, folders[5]);
    assert_int_equal(as_write_file(path, list, strlen(list), &err), AS_OK);
    as_host_node_cpus(root, 8, &cpus);
    assert_true(as_cpus_count(&cpus) == 4 && as_cpus_has(&cpus, 5) && as_cpus_has(&cpus, 12));
    assert_int_equal(as_host_near_node(root, "5-6"), 8);
    assert_int_equal(as_host_near_node(root, "99"), -1);
    assert_int_equal(as_host_near_node(root, ""), -1);
    as_host_node_cpus(root, 252, &cpus); /* has none */
    assert_int_equal(as_cpus_count(&cpus), 0);
    pairs_of_cpus(root);
    assert_int_equal(unlink(path), 0);
    for (size_t i = sizeof folders / sizeof *folders; i--;) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(rmdir(path), 0);
    }
    rmdir(root);
}

/* Memory is bound to nodes beyond the first 64 by the same call, which only the kernel may refuse. */
static void test_binding_of_memory(void **state)
{
    const size_t bytes = 1 << 16;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct as_cpus nodes;
    (void)state;
    assert_true(at != MAP_FAILED);
    as_host_nodes("", &nodes);
    const int node = as_cpus_next(&nodes, -1);
    const bool allowed = as_bind_memory(at, bytes, node) == 0;
    if (!allowed && (errno == ENOSYS || errno == EPERM)) {
        munmap(at, bytes);
        skip(); /* a kernel or sandbox without mbind */
    }
    assert_true(allowed);
    memset(at, 1, bytes);
    assert_true(as_node_of(at) == node || as_node_of(at) == -1);
    assert_int_equal(as_bind_memory(at, bytes, AS_NODES_MAX), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(as_bind_memory(at, bytes, AS_NODES_MAX - 1), -1); /* no machine has it */
    assert_int_equal(as_take_memory_of(AS_NODES_MAX - 1), -1);
    const bool had = as_memory_has_place();
    assert_int_equal(as_take_memory_of(node), 0);
    assert_true(as_memory_has_place());
    assert_int_equal(as_take_memory_of(-1), 0);
    assert_false(as_memory_has_place() && !had);
    munmap(at, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_such_device),
        cmocka_unit_test(test_devices_of_this_machine),
        cmocka_unit_test(test_sets_of_cpus),
        cmocka_unit_test(test_thread_cpus),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_binding_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
