/* The data sheet: which number a line has, in which unit, and what is left out. */
#include "sheet_run.h"

#include "base/text.h"
#include "quantity/quantity.h"
#include "report/terminal/terminal.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ(size, more) "{\"op\":\"read\",\"level\":\"memory\",\"threads\":0,\"size\":" size more "}"
#define BEST ",\"store\":\"regular\",\"width\":\"best\",\"way\":\"best\",\"touch\":\"device\""

/* One definition: a cell that differs in any axis is another quantity, however similar. */
static void test_no_other_cell(void **state)
{
    (void)state;
    static const char *const others[] = {
        READ("1073741824", ",\"allocator\":\"cuMemAllocManaged\"" BEST),
        READ("1073741824", ",\"allocator\":\"cuMemAlloc\",\"store\":\"nt\""),
        READ("1073741824", ",\"allocator\":\"cuMemAlloc\",\"store\":\"regular\",\"width\":\"128\""),
        READ("1073741824", ",\"allocator\":\"cuMemAlloc\",\"touch\":\"cpu\""),
        READ("1073741824", ",\"allocator\":\"cuMemAlloc\",\"way\":\"tile\""),
        "{\"op\":\"read\",\"level\":\"sweep\",\"threads\":0,\"size\":1073741824}",
        "{\"op\":\"copy\",\"level\":\"memory\",\"threads\":0,\"size\":1073741824}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_cell("bandwidth", others[i], 9000, "GB/s");
    add_fact("bandwidth.memory.read.all", 9000, "GB/s", NAN); /* the best of them */
    struct as_sheet s = made();
    assert_null(as_sheet_find(&s, "Memory", "read"));
    as_sheet_finish(&s);
    add_cell("bandwidth", READ("1073741824", ",\"allocator\":\"cuMemAlloc\"" BEST), 2900, "GB/s")->status =
        AS_CELL_WIDE;
    s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "read");
    assert_true(row && row->value == 2900 && row->wide && row->cell == 8);
    as_sheet_finish(&s);
}

static const struct as_sheet_gap *gap_of(const struct as_sheet *s, const char *group, const char *label)
{
    for (size_t i = 0; i < s->gaps_n; i++)
        if (strcmp(s->gaps[i].group, group) == 0 && strcmp(s->gaps[i].label, label) == 0)
            return &s->gaps[i];
    return NULL;
}

/* What other work disturbed in every trial is a bound: another cell gives the number, or the bound is the reason. */
static void test_contended(void **state)
{
    (void)state;
    struct as_cell *c = add_cell("bandwidth", READ("1073741824", ",\"allocator\":\"cuMemAlloc\"" BEST), 700, "GB/s");
    c->status = AS_CELL_WIDE;
    c->causes = AS_WIDE_CONTENTION | AS_WIDE_BUSY;
    c->sum.ci = (struct as_interval){690, 11200};
    struct as_sheet s = made();
    assert_null(as_sheet_find(&s, "Memory", "read"));
    assert_string_equal(gap_of(&s, "Memory", "read")->reason, "contended: at least 700 GB/s");
    as_sheet_finish(&s);
    add_cell("bandwidth", READ("536870912", ",\"allocator\":\"cuMemAlloc\"" BEST), 2900, "GB/s");
    s = made();
    assert_true(as_sheet_find(&s, "Memory", "read")->value == 2900);
    as_sheet_finish(&s);
}

#define COPY(from, to, size)                                                                                           \
    "{\"from\":\"" from "\",\"to\":\"" to "\",\"direction\":\"one\",\"how\":\"engine\",\"size\":" size "}"

/* A line whose cell has no valid number gives the reason, and uses no other cell instead. */
static void test_reasons(void **state)
{
    (void)state;
    static const struct {
        enum as_cell_status status;
        const char *reason, *said;
    } cases[] = {
        {AS_CELL_SKIPPED, "left out: the budget does not suffice", "left out by the budget"},
        {AS_CELL_SKIPPED, "the device was lost", "skipped: the device was lost"},
        {AS_CELL_REJECTED, "limit: 103%", "rejected: limit"},
        {AS_CELL_UNSUPPORTED, "no copy call", "unsupported: no copy call"},
        {AS_CELL_CRASHED, "signal 11", "crashed: signal 11"},
        {AS_CELL_PLANNED, "", "not measured"},
    };
    gpu.words = (struct as_vocabulary){"SM", "block", "warp", "shared memory", "stream"};
    add_cell("copy", COPY("cuMemHostAlloc", "cuMemAlloc", "4096"), 1.61, "GB/s");
    add_cell("copy", COPY("cuMemAlloc", "cuMemHostAlloc", "67108864"), 55, "GB/s");
    struct as_cell *c = add_cell("copy", COPY("cuMemHostAlloc", "cuMemAlloc", "67108864"), NAN, "GB/s");
    c->gates[AS_GATE_LIMIT].state = AS_GATE_FAIL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        c->status = cases[i].status;
        as_copy_text(c->reason, sizeof c->reason, cases[i].reason);
        struct as_sheet s = made();
        const struct as_sheet_gap *gap = gap_of(&s, "Host link", "to device");
        assert_null(as_sheet_find(&s, "Host link", "to device"));
        assert_true(as_sheet_find(&s, "Host link", "from device")->value == 55);
        assert_true(gap && strcmp(gap->reason, cases[i].said) == 0);
        gap = gap_of(&s, "Allocate 16 MiB", "pinned");
        assert_true(gap && !gap->reason[0]);
        as_sheet_finish(&s);
    }
    c->status = AS_CELL_SKIPPED;
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_text_sheet(&run, "cuda:0", &(struct as_table_style){.width = 100}, &out, NULL), AS_OK);
    assert_non_null(strstr(as_buf_get(&out), "Host link  to device"));
    assert_non_null(strstr(as_buf_get(&out), "Not in this suite: Clock; Compute; Matrix; Memory; L2 capacity; "));
    as_buf_finish(&out);
}

/* Load makes no memory faster: then neither number describes the machine. */
static void test_loaded_below_idle(void **state)
{
    (void)state;
    gpu.capabilities = AS_CAP_HOST_KERNELS;
    gpu.threads = 16;
    gpu.caches_n = 1;
    gpu.caches[0] = (struct as_cache){.level = 3, .kind = 'u', .size = 32 << 20, .shared = 16};
    as_copy_text(gpu.id, sizeof gpu.id, "cpu");
    static const char chase[] = "{\"pattern\":\"random\",\"stride\":64,\"instrument\":\"timed\",\"allocator\":\"%s\","
                                "\"size\":1073741824}",
                      load[] = "{\"op\":\"read\",\"delay\":0,\"size\":1073741824,\"threads\":16,\"allocator\":\"%s\"}";
    static const struct {
        const char *chase, *load, *idle;
        double ns;
        bool shown;
    } cases[] = {{"thp", "thp", "latency", 178, false},
                 {"thp", "thp", "latency", 300, true},
                 {"mmap", "thp", "latency, base pages", 178, true}, /* on other pages: not comparable */
                 {"mmap", "mmap", "latency, base pages", 178, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char axes[256];
        run.cells_n = 0;
        memset(cells, 0, sizeof cells);
        snprintf(axes, sizeof axes, chase, cases[i].chase);
        as_copy_text(add_cell("latency", axes, 243, "ns")->device, sizeof cells[0].device, "cpu");
        snprintf(axes, sizeof axes, load, cases[i].load);
        as_copy_text(add_cell("loaded_latency", axes, cases[i].ns, "ns")->device, sizeof cells[0].device, "cpu");
        struct as_sheet s;
        struct as_error err;
        assert_int_equal(as_sheet_make(&run, "cpu", &s, &err), AS_OK);
        assert_true(as_sheet_find(&s, "Memory", cases[i].idle)->value == 243);
        assert_int_equal(as_sheet_find(&s, "Memory", "latency under full load") != NULL, cases[i].shown);
        if (!cases[i].shown)
            assert_string_equal(gap_of(&s, "Memory", "latency under full load")->reason,
                                "unsteady: 178 ns, below the idle 243 ns");
        as_sheet_finish(&s);
    }
}

#define CHASE(size)                                                                                                    \
    "{\"pattern\":\"random\",\"stride\":64,\"instrument\":\"timed\",\"allocator\":\"cuMemAlloc\",\"size\":" size "}"

/* A buffer that exceeds its cache, and memory that a cache holds, do not count. */
static void test_sizes_that_fit(void **state)
{
    (void)state;
    gpu.caches_n = 1;
    gpu.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 6 << 20, .shared = 100};
    add_fact("clock.core", 2e9, "Hz", NAN);
    add_cell("onchip_bandwidth",
             "{\"what\":\"common\",\"size\":16777216,\"width\":\"128\",\"stride\":1,\"compute_units\":\"every\"}", 40,
             "B/cycle");
    add_cell("latency", CHASE("8192"), 1, "ns");
    struct as_sheet s = made();
    assert_null(as_sheet_find(&s, "L2", "read"));
    assert_null(as_sheet_find(&s, "Memory", "latency"));
    as_sheet_finish(&s);
    gpu.caches[0].size = 50 << 20;
    cells[1].axes = (struct as_axes){0};
    assert_int_equal(as_axes_from_json(CHASE("268435456"), &cells[1].axes, NULL), AS_OK);
    s = made();
    assert_non_null(as_sheet_find(&s, "L2", "read"));
    assert_non_null(as_sheet_find(&s, "Memory", "latency"));
    as_sheet_finish(&s);
    gpu.caches_n = 0;
}

/* A cache in front of memory has its own lines, which name it and the source of its size. */
static void test_memory_side(void **state)
{
    (void)state;
    gpu.caches_n = 1;
    gpu.caches[0] = (struct as_cache){
        .level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache", .source = "kfd"};
    add_fact("cache.memory_side.size", 300e6, "B", 256 << 20);
    add_fact("cache.memory_side.latency", 300, "ns", NAN);
    add_fact("bandwidth.memory_side.read.all", 9500, "GB/s", NAN);
    add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":536870912}", 8000, "GB/s")
        ->gates[AS_GATE_FOOTPRINT]
        .state = AS_GATE_NA;
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, AS_SHEET_MEMORY_SIDE, "capacity");
    assert_true(row && row->specified == 256 << 20);
    assert_string_equal(details_of(row), "Infinity Cache, known from the KFD topology");
    row = as_sheet_find(&s, AS_SHEET_MEMORY_SIDE, "latency");
    assert_true(row && row->value == 300);
    row = as_sheet_find(&s, AS_SHEET_MEMORY_SIDE, "read");
    assert_true(row && row->value == 9500);
    assert_null(as_sheet_find(&s, "L3", "read"));
    assert_null(as_sheet_find(&s, "Memory", "write")); /* twice that cache is not memory */
    as_sheet_finish(&s);
    gpu.caches_n = 0;
}

/* The largest size in memory; not another device's, and none that a gate rejected. */
static void test_choice_of_cells(void **state)
{
    (void)state;
    add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":1073741824}", 5000, "GB/s");
    add_cell("bandwidth",
             "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":4294967296,\"store\":\"regular\"}", 3000,
             "GB/s");
    add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":4294967296,\"store\":\"nt\"}",
             3100, "GB/s");
    add_cell("bandwidth", "{\"level\":\"sweep\",\"op\":\"write\",\"size\":8192}", 9000, "GB/s");
    add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":8589934592}", 9000, "GB/s")
        ->status = AS_CELL_REJECTED;
    strcpy(
        add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":8589934592}", 9000, "GB/s")
            ->device,
        "cpu");
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "write");
    assert_true(row && row->value == 3000 && row->cell == 2);
    assert_null(as_sheet_find(&s, "Memory", "copy"));
    as_sheet_finish(&s);
}

static void add_product(const char *path, const char *hold, int size, double rate)
{
    char axes[160];
    snprintf(axes, sizeof axes,
             "{\"path\":\"%s\",\"type\":\"f16\",\"size\":%d,\"operands\":\"random\",\"hold\":\"%s\"}", path, size,
             hold);
    add_cell("matmul", axes, rate, "FLOP/s");
}

/* A GEMM line is for one path, size and duration; none replaces a missing one. */
static void test_products(void **state)
{
    static const struct {
        const char *path, *hold;
        int size;
        const char *label; /* of the cell's only line; NULL: none */
    } rows[] = {
        {"library", "burst", 8192, "FP16"},
        {"library", "sustained", 8192, "FP16 sustained"},
        {"wgmma", "burst", 8192, "FP16 own kernel"},
        {"mma", "burst", 8192, "FP16 own kernel"},
        {"dot", "burst", 8192, "FP16 own kernel"},
        {"library", "burst", 512, NULL},
        {"wgmma", "sustained", 8192, NULL},
        {"tiled", "burst", 8192, NULL},
        {"naive", "burst", 8192, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run.cells_n = 0;
        cells[0] = (struct as_cell){0};
        add_product(rows[i].path, rows[i].hold, rows[i].size, 9e12);
        struct as_sheet s = made();
        assert_int_equal(s.n, rows[i].label != NULL);
        if (rows[i].label)
            assert_string_equal(s.rows[0].label, rows[i].label);
        as_sheet_finish(&s);
    }
    run.cells_n = 0;
    cells[0] = cells[1] = (struct as_cell){0};
    add_product("library", "sustained", 8192, 8e12);
    cells[0].clock_hz = 1.5e9;
    cells[0].detail = strdup("{\"library\":\"BLAS 1.2, the 3. of 8\",\"throttled_by\":\"power cap\",\"power_w\":735}");
    cells[0].metrics = strdup("[{\"name\":\"gpu_power\",\"unit\":\"W\",\"better\":\"less\",\"counts\":null,"
                              "\"trials\":3,\"value\":655,\"ci_low\":640,\"ci_high\":670}]");
    add_fact("matmul.peak.f16", 4096, "FLOP/cycle", NAN);
    add_product("wgmma", "burst", 8192, 9e12);
    struct as_sheet s = made();
    assert_int_equal(s.n, 2);
    assert_string_equal(details_of(&s.rows[0]), "BLAS 1.2, 1.50 GHz, 655 W, power cap"); /* of all trials */
    assert_string_equal(details_of(&s.rows[1]), "by wgmma, instruction: 4096 FLOP/cycle per SM");
    as_sheet_finish(&s);
    free(cells[0].detail);
    free(cells[0].metrics);
    cells[0].detail = cells[0].metrics = NULL;
}

/* Titles of groups use the device API's terms; the names that find and store lines do not change. */
static void test_groups_in_the_device_s_words(void **state)
{
    (void)state;
    add_fact("onchip.unit.shared", 32768, "B", NAN);
    add_cell("copy", COPY("cuMemHostAlloc", "cuMemAlloc", "67108864"), 20, "GB/s");
    gpu.words = (struct as_vocabulary){"core", "threadgroup", "simdgroup", "threadgroup memory", "queue"};
    struct as_sheet s = made();
    assert_string_equal(as_sheet_find(&s, "Shared memory", "capacity")->title, "Threadgroup memory");
    assert_string_equal(as_sheet_find(&s, "Host link", "to device")->title, "Host link");
    as_sheet_finish(&s);
    gpu.is_host_memory = true;
    s = made();
    assert_string_equal(as_sheet_find(&s, "Host link", "to device")->title, "Host copies");
    as_sheet_finish(&s);
}

/* A number from one thread is not a number of the whole CPU. */
static void test_one_thread(void **state)
{
    (void)state;
    gpu.capabilities = AS_CAP_HOST_KERNELS;
    gpu.threads = 16;
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"read\",\"size\":1073741824,\"threads\":1}", 13, "GB/s");
    add_fact("bandwidth.memory.read.1", 13, "GB/s", NAN);
    struct as_sheet s = made();
    assert_null(as_sheet_find(&s, "Memory", "read"));
    assert_non_null(as_sheet_find(&s, "Memory", "read, 1 thread"));
    as_sheet_finish(&s);
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"read\",\"size\":1073741824,\"threads\":16}", 99, "GB/s");
    s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "read");
    assert_true(row && row->value == 99);
    as_sheet_finish(&s);
}

/* With caches of unknown size the gate proves nothing: the number is kept, but not as memory. */
static void test_unproved_memory(void **state)
{
    (void)state;
    gpu.capabilities = AS_CAP_HOST_KERNELS;
    gpu.threads = 16;
    gpu.caches_n = 0;
    add_cell("bandwidth", "{\"level\":\"memory\",\"op\":\"write\",\"size\":1073741824,\"threads\":16}", 550, "GB/s")
        ->gates[AS_GATE_FOOTPRINT]
        .state = AS_GATE_NA;
    add_cell("loaded_latency", "{\"op\":\"none\",\"delay\":0,\"size\":1073741824,\"threads\":16}", 90, "ns");
    struct as_sheet s = made();
    assert_null(as_sheet_find(&s, "Memory", "write"));
    assert_null(as_sheet_find(&s, "Memory", "latency"));
    as_sheet_finish(&s);
}

static void test_units_and_words(void **state)
{
    (void)state;
    add_fact("clock.core", 2e9, "Hz", NAN);
    add_fact("onchip.L1.latency", 32, "cycles", NAN);
    add_fact("cache.L1.latency_cycles", 33, "cycles", NAN); /* the same again */
    add_cell("onchip_bandwidth",
             "{\"what\":\"shared\",\"size\":0,\"width\":\"128\",\"stride\":1,\"compute_units\":\"every\"}", 128,
             "B/cycle");
    add_fact("c2c.unit.median", 600, "ns", NAN);
    add_cell("alloc", "{\"op\":\"alloc\",\"allocator\":\"cuMemAlloc\",\"size\":16777216}", 4e4, "ns");
    add_cell("alloc", "{\"op\":\"free\",\"allocator\":\"cuMemAlloc\",\"size\":16777216}", 3e4, "ns");
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "L1", "latency");
    assert_true(row && row->value == 16);
    assert_string_equal(row->unit, "ns");
    assert_string_equal(details_of(row), "32.0 cycles");
    row = as_sheet_find(&s, "Shared memory", "read");
    assert_true(row && fabs(row->value - 25600) < 1e-6);
    assert_string_equal(row->unit, "GB/s");
    assert_string_equal(details_of(row), "128 B/cycle per SM");
    assert_non_null(as_sheet_find(&s, "Cache line", "SM to SM"));
    row = as_sheet_find(&s, "Allocate 16 MiB", "device");
    assert_true(row && row->value == 4e4);
    assert_string_equal(details_of(row), "free 30.0 µs");
    as_sheet_finish(&s);
}

/* A line contradicted by an earlier run is unsteady; a run beside another process contradicts nothing. */
static void test_earlier_runs(void **state)
{
    (void)state;
    static const char axes[] = "{\"op\":\"alloc\",\"allocator\":\"cuMemAlloc\",\"size\":16777216}";
    static struct as_seen cap = {.device = "cuda:0", .what = "power cap", .trials = 5, .of = 10},
                          other = {.device = "cuda:0", .what = "another process", .is_shared = true, .of = 10};
    static const struct {
        double earlier;
        struct as_seen *seen;
        size_t unsteady;
    } rows[] = {{4e4, NULL, 0}, {4.02e4, NULL, 0}, {5e4, NULL, 1}, {5e4, &cap, 1}, {5e4, &other, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_error err;
        run.cells_n = 0;
        add_cell("alloc", axes, 4e4, "ns");
        struct as_cell then = cells[0];
        then.sum.median = then.sum.ci.lo = then.sum.ci.hi = rows[i].earlier;
        struct as_report_run earlier = run;
        earlier.cells = &then;
        earlier.seen = rows[i].seen;
        earlier.seen_n = rows[i].seen != NULL;
        assert_int_equal(as_sheet_compare_earlier(&run, &earlier, 1, &err), AS_OK);
        assert_int_equal(run.unsteady_n, rows[i].unsteady);
        if (rows[i].unsteady) {
            struct as_sheet s = made();
            assert_string_equal(details_of(as_sheet_find(&s, "Allocate 16 MiB", "device")),
                                "unsteady: 40.0 to 50.0 µs in 2 runs");
            as_sheet_finish(&s);
        }
        free(run.unsteady);
        run.unsteady = NULL;
        run.unsteady_n = 0;
    }
}

/* A misspelt id would leave its line empty. */
static void test_quantities_name_facts_that_exist(void **state)
{
    (void)state;
    for (const struct as_quantity *q = as_quantities; q->name; q++)
        for (const struct as_quantity_source *from = q->sources; from->from; from++) {
            const char *id = from->fact ? from->fact : from->from;
            if (!strpbrk(id, "@ ") && !as_fact_ids_exist(id))
                fail_msg("no rule makes a fact %s", id);
        }
}

/* Hardware behind two APIs, of which one reports no bandwidth, has one figure. */
static void test_hardware_has_one_figure(void **state)
{
    (void)state;
    struct as_device_info both[2] = {{.id = "cuda:0", .backend = "cuda", .bus_id = "0000:06:00.0"},
                                     {.id = "opencl:0", .backend = "opencl", .bus_id = "0000:06:00.0"}};
    both[1].peak_bandwidth = 4.81e12;
    run.devices = both;
    run.devices_n = 2;
    add_cell("bandwidth", READ("1073741824", ",\"allocator\":\"cuMemAlloc\"" BEST), 2900, "GB/s");
    struct as_sheet s = made();
    assert_int_equal(s.n, 1);
    assert_true(s.rows[0].specified == 4810);
    as_sheet_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantities_name_facts_that_exist),
        cmocka_unit_test_setup(test_no_other_cell, start),
        cmocka_unit_test_setup(test_contended, start),
        cmocka_unit_test_setup(test_reasons, start),
        cmocka_unit_test_setup(test_loaded_below_idle, start),
        cmocka_unit_test_setup(test_sizes_that_fit, start),
        cmocka_unit_test_setup(test_memory_side, start),
        cmocka_unit_test_setup(test_choice_of_cells, start),
        cmocka_unit_test_setup(test_products, start),
        cmocka_unit_test_setup(test_groups_in_the_device_s_words, start),
        cmocka_unit_test_setup(test_one_thread, start),
        cmocka_unit_test_setup(test_unproved_memory, start),
        cmocka_unit_test_setup(test_units_and_words, start),
        cmocka_unit_test_setup(test_earlier_runs, start),
        cmocka_unit_test_setup(test_hardware_has_one_figure, start),
    };
    return cmocka_run_group_tests_name("data sheet", tests, NULL, NULL);
}
