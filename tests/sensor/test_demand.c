/* Sources of memory traffic on simulated file systems and a stand-in library. */
#include "base/buf.h"
#include "sensor/demand.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct as_demand_source as_demand_uncore, as_demand_resctrl, as_demand_gpm, as_demand_amdgpu,
    as_demand_rapl, as_demand_scopes;
static const struct as_device_info cpu = {.backend = "cpu", .vendor = "any"},
                                   nvidia = {.backend = "cuda", .bus_id = "0000:01:00.0"},
                                   amd = {.backend = "hip", .bus_id = "0000:03:00.0"};
static char root[64];

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/assay-demand-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

/* Writes a file and creates its folders. */
static void write_under_root(const char *path, const char *text)
{
    char full[512];
    const size_t n = strlen(root);
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + n + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void refused(const struct as_demand_source *s, const struct as_device_info *info, const char *why)
{
    struct as_error err = {0};
    void *ctx = NULL;
    assert_int_equal(s->open(root, info, &ctx, &err), AS_UNSUPPORTED);
    assert_null(ctx);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
}

static void *opened(const struct as_demand_source *s, const struct as_device_info *info)
{
    struct as_error err = {0};
    void *ctx = NULL;
    if (s->open(root, info, &ctx, &err))
        fail_msg("%s: %s", s->name, err.text);
    return ctx;
}

static struct as_demand_seen nothing(void)
{
    return (struct as_demand_seen){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

UNIT_TEST(test_nothing_is_there)
{
    struct as_demand d;
    struct as_demand_seen seen;
    struct as_buf available = AS_BUF_INIT, why_not = AS_BUF_INIT;
    as_demand_open(&d, root, &cpu, &available, &why_not);
    assert_string_equal(as_buf_get(&available), "");
    assert_non_null(strstr(as_buf_get(&why_not), "memory controllers of the CPU: the kernel shows no uncore PMU"));
    assert_non_null(strstr(as_buf_get(&why_not), "resctrl is not mounted"));
    as_demand_begin(&d);
    as_demand_end(&d, &seen);
    assert_true(isnan(seen.memory_read) && isnan(seen.cpu_traffic) && isnan(seen.device_memory));
    as_demand_close(&d);
    as_buf_finish(&available);
    as_buf_finish(&why_not);
}

UNIT_TEST(test_resctrl)
{
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "Unavailable\n");
    refused(&as_demand_resctrl, &cpu, "no mbm_total_bytes that can be read");
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "1000\n");
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "500\n");
    void *ctx = opened(&as_demand_resctrl, &cpu);
    as_demand_resctrl.begin(ctx);
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "4500\n");
    struct as_demand_seen seen = nothing();
    as_demand_resctrl.end(ctx, 2, &seen);
    assert_true(seen.cpu_traffic == 2000);
    as_demand_resctrl.begin(ctx);
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "7\n"); /* turned around */
    seen = nothing();
    as_demand_resctrl.end(ctx, 2, &seen);
    assert_true(isnan(seen.cpu_traffic));
    write_under_root("/sys/fs/resctrl/mon_data/mon_L3_01/mbm_total_bytes", "Error\n");
    as_demand_resctrl.end(ctx, 2, &seen);
    assert_true(isnan(seen.cpu_traffic));
    as_demand_resctrl.close(ctx);
}

UNIT_TEST(test_amdgpu)
{
    static const char *const wrong[] = {"", "-1\n", "101\n", "nan\n", "many\n"};
    assert_true(as_demand_amdgpu.serves(&(struct as_device_info){.backend = "opencl", .vendor = "AMD"}));
    assert_false(as_demand_amdgpu.serves(
        &(struct as_device_info){.backend = "cpu", .vendor = "AuthenticAMD", .capabilities = AS_CAP_HOST_KERNELS}));
    assert_false(as_demand_amdgpu.serves(
        &(struct as_device_info){.backend = "opencl", .vendor = "AuthenticAMD", .is_host_cpu = true}));
    refused(&as_demand_amdgpu, &amd, "No such file");
    refused(&as_demand_amdgpu, &cpu, "no PCI bus ID");
    refused(&as_demand_amdgpu, &(struct as_device_info){.bus_id = "../../x"}, "no PCI bus ID");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_under_root("/sys/bus/pci/devices/0000:03:00.0/mem_busy_percent", wrong[i]);
        refused(&as_demand_amdgpu, &amd, "cannot be read");
    }
    write_under_root("/sys/bus/pci/devices/0000:03:00.0/mem_busy_percent", "40\n");
    void *ctx = opened(&as_demand_amdgpu, &amd);
    struct as_demand_seen seen = nothing();
    as_demand_amdgpu.begin(ctx);
    as_demand_amdgpu.end(ctx, 1, &seen);
    assert_true(fabs(seen.device_busy - 0.4) < 1e-12 && isnan(seen.device_memory));
    as_demand_amdgpu.close(ctx);
}

#define PMU "/sys/bus/event_source/devices/uncore_imc_0/"

/* Event descriptions that no kernel writes, or that refer to missing bits. */
UNIT_TEST(test_hostile_events)
{
    static const struct {
        const char *event, *format, *scale, *unit;
    } wrong[] = {{"", "config:0-7", "1", "MiB"},
                 {"event=zz", "config:0-7", "1", "MiB"},
                 {"event=0x100", "config:0-7", "1", "MiB"},
                 {"event=4", "config:60-70", "1", "MiB"},
                 {"event=4", "config:7-0", "1", "MiB"},
                 {"event=4", "config1:0-7", "1", "MiB"},
                 {"event=4", "config:", "1", "MiB"},
                 {"other=4", "config:0-7", "1", "MiB"},
                 {"../type=4", "config:0-7", "1", "MiB"},
                 {"event=4", "config:0-7", "-1", "MiB"},
                 {"event=4", "config:0-7", "1", "furlongs"}};
    write_under_root(PMU "type", "1\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_under_root(PMU "format/event", wrong[i].format);
        write_under_root(PMU "events/cas_count_read", wrong[i].event);
        write_under_root(PMU "events/cas_count_read.scale", wrong[i].scale);
        write_under_root(PMU "events/cas_count_read.unit", wrong[i].unit);
        refused(&as_demand_uncore, &cpu, "names no event that counts bytes");
    }
    write_under_root(PMU "format/event", "config:0-7\n");
    write_under_root(PMU "events/cas_count_read", "event=0\n");
    write_under_root(PMU "events/cas_count_read.scale", "1\n");
    write_under_root(PMU "events/cas_count_read.unit", "MiB\n");
    write_under_root(PMU "type", "4294967295\n");
    refused(&as_demand_uncore, &cpu, "counters");
}

/* The kernel's clock event replaces a memory controller; not every user may count it. */
UNIT_TEST(test_uncore)
{
    write_under_root(PMU "type", "1\n");
    write_under_root(PMU "cpumask", "0-1\n");
    write_under_root(PMU "format/event", "config:0-7,32-35\n");
    write_under_root(PMU "events/cas_count_read", "event=0x00\n");
    write_under_root(PMU "events/cas_count_read.scale", "1\n");
    write_under_root(PMU "events/cas_count_read.unit", "MiB\n");
    refused(&as_demand_uncore, &cpu, "counters"); /* a mask that no kernel writes, or no right to count */
    write_under_root(PMU "cpumask", "0,0\n");     /* as of two packages */
    struct as_error err = {0};
    void *ctx = NULL;
    if (as_demand_uncore.open(root, &cpu, &ctx, &err)) {
        assert_non_null(strstr(err.text, "counters"));
        return;
    }
    struct as_demand_seen seen = nothing();
    as_demand_uncore.begin(ctx);
    for (volatile int i = 0; i < 1000000; i++)
        ;
    as_demand_uncore.end(ctx, 1, &seen);
    assert_true(seen.memory_read >= 0 && isnan(seen.memory_written));
    as_demand_uncore.close(ctx);
}

UNIT_TEST(test_gpm)
{
    struct as_demand_seen seen = nothing();
    setenv("FAKE_NVML", "noinit", 1);
    refused(&as_demand_gpm, &nvidia, "NVML does not find the device");
    setenv("FAKE_NVML", "self", 1);
    refused(&as_demand_gpm, &nvidia, "Hopper and later have it");
    setenv("FAKE_NVML", "hopper", 1);
    void *ctx = opened(&as_demand_gpm, &nvidia);
    as_demand_gpm.begin(ctx);
    as_demand_gpm.tick(ctx, 0.05); /* counters then still contain work from before the window */
    as_demand_gpm.end(ctx, 0.3, &seen);
    assert_true(isnan(seen.device_memory));
    as_demand_gpm.begin(ctx);
    as_demand_gpm.tick(ctx, 0.15);
    as_demand_gpm.end(ctx, 0.2, &seen); /* the samples are too close together */
    assert_true(isnan(seen.device_memory));
    as_demand_gpm.end(ctx, 0.3, &seen);
    assert_true(fabs(seen.device_memory - 0.625) < 1e-12);
    assert_true(seen.bus_received == 21.0 * (1 << 20) && seen.bus_sent == 20.0 * (1 << 20));
    setenv("FAKE_NVML", "hopper silent", 1);
    seen = nothing();
    as_demand_gpm.end(ctx, 0.3, &seen);
    assert_true(isnan(seen.device_memory) && isnan(seen.bus_sent));
    setenv("FAKE_NVML", "hopper lost", 1);
    as_demand_gpm.begin(ctx);
    as_demand_gpm.tick(ctx, 0.15);
    as_demand_gpm.end(ctx, 0.3, &seen);
    assert_true(isnan(seen.device_memory));
    as_demand_gpm.close(ctx);
}

#define RAPL "/sys/class/powercap/intel-rapl:"

static void put_domain(const char *zone, const char *name, const char *uj)
{
    char path[96];
    snprintf(path, sizeof path, RAPL "%s/name", zone);
    write_under_root(path, name);
    snprintf(path, sizeof path, RAPL "%s/energy_uj", zone);
    write_under_root(path, uj);
    snprintf(path, sizeof path, RAPL "%s/max_energy_range_uj", zone);
    write_under_root(path, "100000000\n");
}

/* Packages add up; the platform contains them and is apart; a counter wraps around. */
UNIT_TEST(test_rapl)
{
    refused(&as_demand_rapl, &cpu, "no RAPL domains");
    put_domain("0", "package-0\n", "1000000\n");
    put_domain("0:0", "core\n", "500000\n");
    put_domain("0:1", "dram\n", "99000000\n");
    put_domain("0:2", "uncore\n", "1\n");
    put_domain("1", "package-1\n", "2000000\n");
    put_domain("2", "psys\n", "7000000\n");
    void *ctx = opened(&as_demand_rapl, &cpu);
    as_demand_rapl.begin(ctx);
    put_domain("0", "package-0\n", "5000000\n");
    put_domain("0:0", "core\n", "2500000\n");
    put_domain("0:1", "dram\n", "1000000\n");
    put_domain("1", "package-1\n", "8000000\n");
    put_domain("2", "psys\n", "47000000\n");
    struct as_demand_seen seen = nothing();
    as_demand_rapl.end(ctx, 2, &seen);
    assert_true(fabs(seen.cpu_power - 5) < 1e-9 && fabs(seen.cores_power - 1) < 1e-9);
    assert_true(fabs(seen.dram_power - 1) < 1e-9 && fabs(seen.platform_power - 20) < 1e-9);
    assert_true(isnan(seen.gpu_power) && isnan(seen.module_power));
    put_domain("1", "package-1\n", "wrong\n"); /* a part would be taken for all */
    seen = nothing();
    as_demand_rapl.end(ctx, 2, &seen);
    assert_true(isnan(seen.cpu_power) && fabs(seen.cores_power - 1) < 1e-9);
    as_demand_rapl.close(ctx);
}

UNIT_TEST(test_scopes)
{
    setenv("FAKE_NVML", "self", 1);
    refused(&as_demand_scopes, &nvidia, "does not report power by scope");
    setenv("FAKE_NVML", "scopes", 1);
    void *ctx = opened(&as_demand_scopes, &nvidia);
    struct as_demand_seen seen = nothing();
    as_demand_scopes.begin(ctx);
    as_demand_scopes.tick(ctx, 0.05); /* values of earlier work */
    as_demand_scopes.end(ctx, 0.06, &seen);
    assert_true(isnan(seen.gpu_power));
    as_demand_scopes.tick(ctx, 0.15);
    as_demand_scopes.tick(ctx, 0.2);
    as_demand_scopes.end(ctx, 0.3, &seen);
    assert_true(seen.gpu_power == 400 && seen.module_power == 600 && seen.device_memory_power == 80);
    as_demand_scopes.close(ctx);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_there), TEST(test_resctrl), TEST(test_amdgpu), TEST(test_hostile_events),
        TEST(test_uncore),           TEST(test_gpm),     TEST(test_rapl),   TEST(test_scopes)};
    return cmocka_run_group_tests_name("memory traffic", tests, NULL, NULL);
}
