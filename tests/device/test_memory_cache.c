/* Where a memory-side cache is known from: the GPU driver's topology, the kernel's memory nodes, a table by name; and
 * that files which make no sense are no cache. The files are as the kernel writes them. */
#include "check.h"
#include "device/memory_cache.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODE "sys/class/kfd/kfd/topology/nodes/"
/* An APU: a node of the CPU, and one of the GPU at 0000:01:00.0 with its caches. */
#define CPU_NODE                                                                                                       \
    "cpu_cores_count 48\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count 1\ngfx_target_version 0\n"    \
    "vendor_id 0\ndevice_id 0\nlocation_id 0\ndomain 0\n"
#define GPU_NODE(location)                                                                                             \
    "cpu_cores_count 0\nsimd_count 912\nmem_banks_count 1\ncaches_count 3\nio_links_count 1\n"                         \
    "gfx_target_version 90402\nvendor_id 4098\ndevice_id 29856\nlocation_id " location                                 \
    "\ndomain 0\ndrm_render_minor 128\n"
#define CACHE(level, kib)                                                                                              \
    "processor_id_low 2147487744\nlevel " level "\nsize " kib                                                          \
    "\ncache_line_size 128\ncache_lines_per_tag 1\nassociation 16\nlatency 0\ntype 9\nsibling_map 1,1,1,0\n"

static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/assay-kfd-XXXXXX");
    return !mkdtemp(root);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_bytes(const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0777);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void write_under_root(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static void put_gpu(const char *location, const char *last)
{
    write_under_root(NODE "0/properties", CPU_NODE);
    write_under_root(NODE "1/properties", location);
    write_under_root(NODE "1/caches/0/properties", CACHE("1", "32"));
    write_under_root(NODE "1/caches/1/properties", CACHE("2", "4096"));
    write_under_root(NODE "1/caches/2/properties", last);
}

static const struct as_device_info gpu = {.name = "gfx942",
                                          .bus_id = "0000:01:00.0",
                                          .is_host_memory = true,
                                          .caches_n = 1,
                                          .caches = {{.level = 2, .kind = 'u', .size = 4 << 20}}};

static void test_kfd(void **state)
{
    static const char *const locations[] = {GPU_NODE("256"), GPU_NODE("268435712")}; /* the second: partition 1 */
    struct as_cache c;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        put_gpu(locations[i], CACHE("3", "262144"));
        assert_true(as_memory_cache_find(root, &gpu, &c));
        assert_int_equal(c.size, 256 << 20);
        assert_int_equal(c.level, 3);
        assert_true(c.memory_side && c.kind == 'u');
        assert_string_equal(c.name, "Infinity Cache");
        assert_string_equal(c.source, "kfd");
    }
    struct as_device_info other = gpu; /* that of another device is not its own */
    strcpy(other.bus_id, "0000:02:00.0");
    assert_false(as_memory_cache_find(root, &other, &c));
    strcpy(other.bus_id, "0001:01:00.0");
    assert_false(as_memory_cache_find(root, &other, &c));
    strcpy(other.bus_id, "somewhere");
    assert_false(as_memory_cache_find(root, &other, &c));
}

static void test_kfd_without_a_third_level(void **state)
{
    struct as_cache c;
    (void)state;
    put_gpu(GPU_NODE("256"), CACHE("2", "8192"));
    assert_false(as_memory_cache_find(root, &gpu, &c));
}

static void test_hostile_files(void **state)
{
    static const char *const lasts[] = {
        "",
        "level 3\n",
        "size 262144\n",
        "level 3\nsize \n",
        "level 3\nsize -1\n",
        "level 3\nsize 0\n",
        "level 3\nsize 99999999999999999999999999\n",
        CACHE("3", "18446744073709551615"),
        CACHE("3", "18446744073709551616"),
        CACHE("3", "72057594037927937"), /* times 1024 wraps around to 1 KiB */
        CACHE("3", "much"),
        CACHE("three", "262144"),
        CACHE("-3", "262144"),
        "level 3 size 262144",
        "\xff\xfe\nlevel\n\n\n",
    };
    struct as_cache c;
    (void)state;
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        put_gpu(GPU_NODE("256"), lasts[i]);
        if (as_memory_cache_find(root, &gpu, &c))
            fail_msg("file %zu is a cache of %llu B", i, (unsigned long long)c.size);
    }
    char *huge = malloc(1 << 20);
    assert_non_null(huge);
    memset(huge, 'A', 1 << 20);
    put_bytes(NODE "1/caches/2/properties", huge, 1 << 20);
    assert_false(as_memory_cache_find(root, &gpu, &c));
    put_bytes(NODE "1/properties", huge, 1 << 20);
    assert_false(as_memory_cache_find(root, &gpu, &c));
    put_bytes(NODE "1/properties", "location_id 256\0domain 0\n", 25);
    free(huge);
    write_under_root(NODE "1/caches/2/properties", CACHE("3", "262144"));
    assert_true(as_memory_cache_find(root, &gpu, &c)); /* what stands before the byte counts */
}

#define SIDE(node) "sys/devices/system/node/node" node "/memory_side_cache/index1/size"

static void test_nodes(void **state)
{
    struct as_device_info cpu = {.name = "a CPU",
                                 .capabilities = AS_CAP_HOST_KERNELS,
                                 .threads = 96,
                                 .numa_nodes = 2,
                                 .caches_n = 1,
                                 .caches = {{.level = 3, .kind = 'u', .size = 32 << 20, .shared = 8}}};
    struct as_cache c;
    (void)state;
    write_under_root(SIDE("0"), "134217728\n");
    write_under_root(SIDE("1"), "134217728\n");
    assert_true(as_memory_cache_find(root, &cpu, &c));
    assert_int_equal(c.size, 128 << 20);
    assert_int_equal(c.level, 4);
    assert_int_equal(c.shared, 48);
    assert_string_equal(c.name, "memory-side cache");
    assert_string_equal(c.source, "sysfs");
    cpu.caches[cpu.caches_n++] = c;
    assert_int_equal(as_info_largest_cache(&cpu, NULL, 1), 128 << 20);
    assert_int_equal(as_info_largest_cache(&cpu, NULL, 96), 384 << 20); /* 12 of the L3 caches */
    struct as_device_info card = gpu; /* a memory of its own is not behind the host's */
    card.is_host_memory = false;
    assert_false(as_memory_cache_find(root, &card, &c));
    assert_true(as_memory_cache_find(root, &gpu, &c));
    write_under_root(SIDE("1"), "many\n"); /* numbers have gaps, and go past 64 */
    write_under_root(SIDE("252"), "134217728\n");
    assert_true(as_memory_cache_find(root, &cpu, &c));
    assert_int_equal(c.shared, 48);
    write_under_root(SIDE("252"), "many\n");
    write_under_root(SIDE("0"), "many\n");
    write_under_root(SIDE("1"), "206158430208\n"); /* 192 GiB: a memory in front of another */
    cpu.caches_n = 1;
    assert_false(as_memory_cache_find(root, &cpu, &c));
}

static bool finds_cache(const char *name, uint64_t mib, const char *called)
{
    struct as_device_info info = {0};
    struct as_cache c;
    snprintf(info.name, sizeof info.name, "%s", name);
    if (!as_memory_cache_find(root, &info, &c))
        return mib == 0;
    assert_string_equal(c.source, "table");
    assert_string_equal(c.name, called);
    return c.size == mib << 20;
}

static void test_table(void **state)
{
    (void)state;
    assert_true(finds_cache("AMD Instinct MI300A", 256, "Infinity Cache"));
    assert_true(finds_cache("AMD Instinct MI300X VF", 256, "Infinity Cache"));
    assert_true(finds_cache("AMD Radeon RX 7900 XTX", 96, "Infinity Cache"));
    assert_true(finds_cache("AMD Radeon RX 7900 XT", 80, "Infinity Cache"));
    assert_true(finds_cache("AMD Radeon RX 6900 XT", 128, "Infinity Cache"));
    assert_true(finds_cache("Apple M1 Max", 48, "system-level cache"));
    assert_true(finds_cache("Apple M1", 8, "system-level cache"));
    assert_true(finds_cache("Intel(R) Core(TM) Ultra 7 258V", 8, "memory-side cache"));
    assert_true(finds_cache("Intel(R) Core(TM) Ultra 7 155H", 0, ""));
    assert_true(finds_cache("AMD Instinct MI250X", 0, ""));
    assert_true(finds_cache("NVIDIA H100 80GB HBM3", 0, ""));
    assert_true(finds_cache("", 0, ""));
    assert_true(finds_cache("match", 0, ""));
}

/* A GPU in the processor by whose name the cache is known. */
static void test_name_of_the_host(void **state)
{
    struct as_device_info integrated = {.name = "Intel(R) Arc(TM) 140V GPU", .is_host_memory = true};
    struct as_cache c;
    (void)state;
    write_under_root("proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Core(TM) Ultra 7 258V\nflags\t\t: fpu\n");
    assert_true(as_memory_cache_find(root, &integrated, &c));
    assert_int_equal(c.size, 8 << 20);
    integrated.is_host_memory = false;
    assert_false(as_memory_cache_find(root, &integrated, &c));
}

/* What a description has stays, and a simulated device has what its script says. */
static void test_describe(void **state)
{
    struct as_device_info info = {.name = "AMD Instinct MI300A", .capabilities = AS_CAP_SIMULATED};
    (void)state;
    as_memory_cache_describe(&info);
    assert_int_equal(info.caches_n, 0);
    info.capabilities = 0;
    as_memory_cache_describe(&info);
    as_memory_cache_describe(&info);
    assert_int_equal(info.caches_n, 1);
    assert_string_equal(info.caches[0].name, "Infinity Cache");
    struct as_device_info full = info;
    full.caches[0].memory_side = false;
    full.caches_n = AS_CACHES_MAX;
    as_memory_cache_describe(&full);
    assert_int_equal(full.caches_n, AS_CACHES_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_kfd),   TEST(test_kfd_without_a_third_level), TEST(test_hostile_files), TEST(test_nodes),
        TEST(test_table), TEST(test_name_of_the_host),          TEST(test_describe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
