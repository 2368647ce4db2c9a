/* Counters of a program's memory, from files below a folder: its processes are summed, others are not. */
#include "cli/memory/memory_summary.h"

#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/assay-memory-XXXXXX";
static struct memory_counters counters;

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

static void add_process(long id, const char *name, long parent, long kib)
{
    char path[64], text[300];
    snprintf(path, sizeof path, "/proc/%ld/stat", id);
    snprintf(text, sizeof text, "%ld (%s) S %ld 1 1 0 -1\n", id, name, parent);
    write_file(path, text);
    snprintf(path, sizeof path, "/proc/%ld/status", id);
    snprintf(text, sizeof text,
             "Name:\tx\nVmHWM:\t%ld kB\nVmRSS:\t%ld kB\nRssAnon:\t%ld kB\nRssFile:\t1 kB\nRssShmem:\t2 kB\n"
             "HugetlbPages:\t2048 kB\n",
             2 * kib, kib, kib - 3);
    write_file(path, text);
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", id);
    snprintf(text, sizeof text, "00-ff ---p 0 00:00 0 [rollup]\nRss: %ld kB\nPss: %ld kB\n", kib, kib / 2);
    write_file(path, text);
}

static double value_of(const struct memory_reading *r, const char *name)
{
    for (size_t i = 0; i < counters.n; i++)
        if (strcmp(counters.v[i].name, name) == 0)
            return r->bytes[i];
    fail_msg("there is no counter '%s'", name);
    return NAN;
}

UNIT_TEST(test_processes_of_the_program)
{
    struct memory_reading r;
    add_process(1, "init", 0, 1000);
    add_process(50, "other) S 100", 1, 1000);
    add_process(100, "program", 1, 100);
    add_process(99, "grand child", 101, 30);
    add_process(101, "child) R 1 (", 100, 20);
    as_memory_counters_read(&counters, 100, true, &r);
    assert_int_equal(r.processes, 3);
    assert_true(value_of(&r, "RSS") == 150 * 1024);
    assert_true(value_of(&r, "PSS") == 75 * 1024);
    assert_true(value_of(&r, "anonymous") == 141 * 1024);
    assert_true(value_of(&r, "files") == 3 * 1024);
    assert_true(value_of(&r, "shared memory") == 6 * 1024);
    assert_true(value_of(&r, "huge page pool") == 3 * 2048 * 1024);
    assert_true(r.rss_high == 200 * 1024);
    as_memory_counters_read(&counters, 100, false, &r);
    assert_true(isnan(value_of(&r, "PSS")) && value_of(&r, "RSS") == 150 * 1024);
    as_memory_counters_read(&counters, 0, true, &r);
    assert_true(r.processes == 0 && isnan(value_of(&r, "RSS")));
}

UNIT_TEST(test_system)
{
    struct memory_reading r;
    as_memory_counters_read(&counters, 0, false, &r);
    assert_true(value_of(&r, "in use") == 700 * 1024);
    assert_true(value_of(&r, "page cache") == (200 + 30 - 50) * 1024);
    assert_true(value_of(&r, "NUMA node 0") == 4 * 1024 && value_of(&r, "NUMA node 3") == 2 * 1024);
    assert_true(value_of(&r, "0000:c1:00.0 VRAM") == 4096);
    write_file("/proc/meminfo", "MemTotal: 1000 kB\n");
    as_memory_counters_read(&counters, 0, false, &r);
    assert_true(isnan(value_of(&r, "in use")) && isnan(value_of(&r, "page cache")));
}

/* The peak of RSS is at least what the kernel saw; a counter that is not in every reading keeps its last value. */
UNIT_TEST(test_summary)
{
    struct memory_summary s;
    struct memory_reading r = {.rss_high = 900, .processes = 2, .bytes = {500, 400}};
    struct as_buf text = AS_BUF_INIT, json = AS_BUF_INIT;
    struct memory_reading before;
    as_memory_counters_read(&counters, 0, false, &before);
    as_memory_summary_begin(&s, &before, 0.02);
    as_memory_summary_add(&s, &counters, &r);
    r = (struct memory_reading){.rss_high = 900, .processes = 1, .bytes = {600, NAN}};
    as_memory_summary_add(&s, &counters, &r);
    r.processes = 0;
    as_memory_summary_add(&s, &counters, &r);
    assert_true(s.peak[MEMORY_RSS] == 900 && s.last.bytes[MEMORY_RSS] == 600 && s.first.bytes[MEMORY_RSS] == 500);
    assert_true(s.last.bytes[MEMORY_PSS] == 400 && s.readings == 2 && s.processes == 2);
    const struct as_table_style style = {.width = 140};
    assert_int_equal(as_memory_summary_text(&s, &counters, "exit status 0", &style, &text, NULL), AS_OK);
    assert_non_null(strstr(as_buf_get(&text), "exit status 0 after"));
    assert_non_null(strstr(as_buf_get(&text), "900 B"));
    as_memory_summary_json(&s, &counters, "exit status 0", &json);
    assert_non_null(strstr(as_buf_get(&json), "\"before\":null,\"start\":500,\"peak\":900,\"end\":600,\"after\":null"));
    as_buf_finish(&text);
    as_buf_finish(&json);
}

UNIT_TEST(test_without_proc)
{
    static struct memory_counters none;
    struct as_error err = {0};
    assert_int_equal(as_memory_counters_open("/no/such/folder", &none, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "Linux"));
    as_memory_counters_close(&none);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(root))
        return 1;
    write_file("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 300 kB\nBuffers: 30 kB\n"
                                "Cached: 200 kB\nSwapCached: 7 kB\nShmem: 50 kB\n");
    write_file("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 9 kB\nNode 0 MemFree: 5 kB\n");
    write_file("/sys/devices/system/node/node3/meminfo", "Node 3 MemTotal: 9 kB\nNode 3 MemFree: 7 kB\n");
    write_file("/sys/devices/system/node/online", "0,3\n");
    write_file("/sys/bus/pci/devices/0000:c1:00.0/mem_info_vram_used", "4096\n");
    return as_memory_counters_open(root, &counters, NULL);
}

static int end(void **state)
{
    char command[300];
    (void)state;
    as_memory_counters_close(&counters);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_processes_of_the_program), cmocka_unit_test(test_summary),
                                       cmocka_unit_test(test_system), cmocka_unit_test(test_without_proc)};
    return cmocka_run_group_tests(tests, begin, end);
}
