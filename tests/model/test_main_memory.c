/* What may be called main memory, on machines whose caches end elsewhere than reported. Latencies are those of random
 * loads, which hit a cache in proportion to the part of the array that it holds; in large arrays a chase follows a part
 * that it did not touch before, and misses. */
#include "base/text.h"
#include "model/gates.h"
#include "probe/main_memory.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS_MAX = 64 };
static const double MIB = 1 << 20;

struct machine {
    struct as_device_info info;
    struct as_cell cells[CELLS_MAX];
    size_t n;
};

static double share_in(double cache, double size)
{
    return fmin(1, cache / size);
}

/* In ns: L1 32 KiB, L2 1 MiB, a last cache of `last` bytes, memory. */
static double latency_of(const struct machine *m, double last_cache, double size)
{
    if (size > 16 * MIB && size >= (double)as_info_memory_least(&m->info, NULL, 1))
        return 100;
    const double l1 = share_in(32 << 10, size), l2 = share_in(1 << 20, size), l3 = share_in(last_cache, size);
    return l1 + 5 * (l2 - l1) + 20 * fmax(0, l3 - l2) + 100 * (1 - fmax(l2, l3));
}

static void add_axis(struct as_cell *c, const char *name, const char *text, double number)
{
    struct as_axis_value *v = &c->axes.v[c->axes.n++];
    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->text, sizeof v->text, "%s", text);
    v->number = number;
}

static struct as_cell *add_cell(struct machine *m, const char *probe, double size, double value, double width)
{
    struct as_cell *c = &m->cells[m->n++];
    char text[32];
    assert_true(m->n <= CELLS_MAX);
    *c = (struct as_cell){.status = AS_CELL_OK, .lower_is_better = strcmp(probe, "latency") == 0};
    snprintf(c->device, sizeof c->device, "cpu");
    snprintf(c->probe, sizeof c->probe, "%s", probe);
    snprintf(text, sizeof text, "%.0f", size);
    add_axis(c, "size", text, size);
    c->sum = (struct as_summary){
        .n = 9, .trials = 3, .median = value, .ci = {value * (1 - width / 2), value * (1 + width / 2)}};
    return c;
}

/* Sizes from 16 KiB, doubling, and the last one. */
static void add_sweep(struct machine *m, double last_cache, double to, const char *allocator, double width,
                      double slower_pages)
{
    for (double size = 16 << 10; to > 0; size = fmin(2 * size, to)) {
        const double paged = size > 64 * MIB ? slower_pages : 1;
        struct as_cell *c = add_cell(m, "latency", size, paged * latency_of(m, last_cache, size), width);
        add_axis(c, "pattern", "random", NAN);
        add_axis(c, "allocator", allocator, NAN);
        if (size >= to)
            return;
    }
}

static const struct as_cell *add_claim(struct machine *m, double size, const char *allocator, double threads)
{
    struct as_cell *c = add_cell(m, "bandwidth", size, 20, 0.02);
    char text[16];
    snprintf(text, sizeof text, "%.0f", threads);
    add_axis(c, "level", "memory", NAN);
    add_axis(c, "threads", text, threads);
    add_axis(c, "allocator", allocator, NAN);
    return c;
}

static struct machine machine_of(double reported, bool is_virtual)
{
    struct machine m = {.info = {.id = "cpu",
                                 .capabilities = AS_CAP_HOST_KERNELS,
                                 .threads = 2,
                                 .virtual_machine = is_virtual,
                                 .allocators_n = 1,
                                 .allocators = {{.name = "malloc"}}}};
    if (reported > 0) {
        m.info.caches_n = 1;
        m.info.caches[0] = (struct as_cache){.level = 3, .kind = 'u', .size = (uint64_t)reported, .shared = 2};
    }
    return m;
}

static enum as_gate_state gate_of(const struct machine *m, const struct as_cell *cell, struct as_buf *text)
{
    struct as_judge_context context = {0};
    const double bytes = as_axes_number(&cell->axes, "size");
    as_main_memory_context(&m->info, (struct as_cell_view){.v = m->cells, .n = m->n}, cell, bytes, &context);
    return as_gates_main_memory(&context, bytes, text);
}

/* The working set follows from the plan unless bytes is set; sizes in MiB. */
static const struct known {
    const char *what;
    double reported;
    bool is_virtual;
    double real, sweep, bytes;
    enum as_gate_state want;
} answers[] = {
    {"told right", 32, false, 32, 128, 0, AS_GATE_PASS},
    {"told right, nothing else measured", 32, false, 32, 0, 0, AS_GATE_PASS},
    {"within what is told", 32, false, 32, 128, 64, AS_GATE_FAIL},
    {"a guest told too small a cache", 2, true, 32, 256, 0, AS_GATE_PASS},
    {"a guest told too small a cache, four times that", 2, true, 32, 256, 9, AS_GATE_FAIL},
    {"a guest's cache is larger than a quarter of the array", 2, true, 96, 256, 0, AS_GATE_FAIL},
    {"told too small, the array half in the cache", 2, false, 4, 8, 0, AS_GATE_FAIL},
    {"told too small, the array within the cache", 2, false, 32, 256, 0, AS_GATE_FAIL},
    {"a guest with a share of the cache", 480, true, 32, 512, 0, AS_GATE_PASS},
    {"a guest with all of the cache", 480, true, 480, 1024, 0, AS_GATE_FAIL},
    {"a guest with an unknown share", 480, true, 32, 0, 0, AS_GATE_NA},
    {"a guest with an unknown share, below four times the cache", 480, true, 32, 0, 1900, AS_GATE_NA},
    {"a guest with an unknown share, over four times the cache", 480, true, 32, 0, 1920, AS_GATE_PASS},
    {"told nothing", 0, false, 32, 256, 0, AS_GATE_PASS},
    {"told nothing, a small array", 0, false, 32, 256, 1.0 / 16, AS_GATE_FAIL},
    {"told nothing, a large cache", 0, false, 96, 256, 0, AS_GATE_FAIL},
    {"told nothing, a cache that holds a good part", 0, false, 60, 256, 0, AS_GATE_NA},
    {"told nothing, nothing else measured", 0, false, 32, 0, 0, AS_GATE_NA},
    {"told nothing, only small arrays measured", 0, true, 0, 0.5, 0, AS_GATE_NA},
};

UNIT_TEST(test_known_answers)
{
    struct as_buf text = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const struct known *k = &answers[i];
        struct machine m = machine_of(k->reported * MIB, k->is_virtual);
        add_sweep(&m, k->real * MIB, k->sweep * MIB, "malloc", 0.02, 1);
        const double bytes = k->bytes > 0 ? k->bytes * MIB : (double)as_info_memory_least(&m.info, NULL, 2);
        const struct as_cell *cell = add_claim(&m, bytes, "malloc", 2);
        const enum as_gate_state got = gate_of(&m, cell, &text);
        if (got != k->want)
            fail_msg("%s: %s, %s", k->what, as_gate_state_word(got), as_buf_get(&text));
    }
    as_buf_finish(&text);
}

/* Planned sizes, without a measurement. */
UNIT_TEST(test_sizes)
{
    static const struct {
        double reported;
        bool is_virtual;
        uint64_t least;
    } cases[] = {{32, false, 128}, {32, true, 256},  {2, true, 256},     {2, false, 8},    {96, true, 384},
                 {0, true, 256},   {480, true, 512}, {480, false, 1920}, {1016, true, 512}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine m = machine_of(cases[i].reported * MIB, cases[i].is_virtual);
        assert_int_equal(as_info_memory_least(&m.info, NULL, 1), cases[i].least << 20);
        assert_true(as_info_memory_set(&m.info) >= cases[i].least << 20);
    }
    /* A hypervisor does not describe a GPU's own memory, but it does describe the host's. */
    struct as_device_info gpu = {
        .virtual_machine = true,
        .host_cache = 2 << 20,
        .caches_n = 1,
        .caches = {{.level = 2, .kind = 'u', .size = 50 << 20}},
        .allocators_n = 2,
        .allocators = {{.name = "own", .role = AS_ROLE_DEVICE}, {.name = "host", .role = AS_ROLE_PINNED}}};
    assert_int_equal(as_info_memory_least(&gpu, "own", 1), 256 << 20);
    gpu.caches[0].size = 128 << 20;
    assert_int_equal(as_info_memory_least(&gpu, "own", 1), 512 << 20);
}

/* Wide intervals neither reject nor prove. */
UNIT_TEST(test_noise)
{
    struct as_buf text = AS_BUF_INIT;
    for (int known = 0; known < 2; known++) {
        struct machine m = machine_of(known ? 32 * MIB : 0, false);
        add_sweep(&m, 32 * MIB, 256 * MIB, "malloc", 1.2, 1);
        assert_int_equal(gate_of(&m, add_claim(&m, 256 * MIB, "malloc", 2), &text), known ? AS_GATE_PASS : AS_GATE_NA);
    }
    as_buf_finish(&text);
}

/* Small pages slow down large arrays; with large pages the plateau is visible. */
UNIT_TEST(test_pages)
{
    struct as_buf text = AS_BUF_INIT;
    struct machine m = machine_of(32 * MIB, true);
    add_sweep(&m, 32 * MIB, 128 * MIB, "small pages", 0.02, 1.8);
    assert_int_equal(gate_of(&m, add_claim(&m, 256 * MIB, "small pages", 2), &text), AS_GATE_PASS);
    struct machine both = machine_of(32 * MIB, true);
    add_sweep(&both, 32 * MIB, 256 * MIB, "large pages", 0.02, 1);
    for (size_t i = 0, n = both.n; i < n; i++) { /* equally slower at each doubling */
        struct as_cell *c = &both.cells[both.n++];
        *c = both.cells[i];
        snprintf(c->axes.v[2].text, sizeof c->axes.v[2].text, "small pages");
        const double slower = pow(1.7, fmax(0, log2(c->axes.v[0].number / (32 * MIB))));
        c->sum.median *= slower, c->sum.ci.lo *= slower, c->sum.ci.hi *= slower;
    }
    assert_int_equal(gate_of(&both, add_claim(&both, 256 * MIB, "small pages", 2), &text), AS_GATE_PASS);
    as_buf_finish(&text);
}

/* A budget left out the small sizes of the sweep with the flattest step; the other sweep has the level below. */
UNIT_TEST(test_pages_left_out)
{
    struct as_buf text = AS_BUF_INIT;
    for (int both = 0; both < 2; both++) {
        struct machine m = machine_of(300 * MIB, true);
        for (double size = 64 * MIB; size <= 512 * MIB; size *= 2) {
            struct as_cell *c = add_cell(&m, "latency", size, 150, 0.02);
            add_axis(c, "pattern", "random", NAN);
            add_axis(c, "allocator", "small pages", NAN);
        }
        if (both)
            add_sweep(&m, 32 * MIB, 512 * MIB, "large pages", 0.2, 1);
        assert_int_equal(gate_of(&m, add_claim(&m, 512 * MIB, "small pages", 2), &text),
                         both ? AS_GATE_PASS : AS_GATE_NA);
    }
    as_buf_finish(&text);
}

/* Threads on several caches fill as many; a chase uses one. */
UNIT_TEST(test_threads)
{
    struct as_buf text = AS_BUF_INIT;
    struct machine m = machine_of(32 * MIB, true);
    m.info.threads = 16;
    m.info.caches[0].shared = 2; /* eight caches */
    add_sweep(&m, 32 * MIB, 256 * MIB, "malloc", 0.02, 1);
    assert_int_equal(gate_of(&m, add_claim(&m, 1024 * MIB, "malloc", 16), &text), AS_GATE_PASS);
    assert_int_equal(gate_of(&m, add_claim(&m, 512 * MIB, "malloc", 16), &text), AS_GATE_FAIL);
    as_buf_finish(&text);
}

/* Host memory, in which a GPU's loads get slower with size, says nothing about the GPU's own memory. Bandwidths at
 * other sizes of the same kind count like latencies. */
UNIT_TEST(test_other_memory)
{
    struct as_buf text = AS_BUF_INIT;
    struct machine m = machine_of(32 * MIB, false);
    m.info.capabilities = 0;
    add_sweep(&m, 200 * MIB, 256 * MIB, "pinned", 0.02, 1);
    assert_int_equal(gate_of(&m, add_claim(&m, 256 * MIB, "own", 0), &text), AS_GATE_PASS);
    struct machine own = machine_of(0, false);
    add_claim(&own, 256 * MIB, "malloc", 2);
    own.cells[0].sum = (struct as_summary){.n = 9, .median = 60, .ci = {59, 61}};
    const struct as_cell *slower = add_claim(&own, 512 * MIB, "malloc", 2);
    assert_int_equal(gate_of(&own, slower, &text), AS_GATE_FAIL);
    as_buf_finish(&text);
}

/* Where the CPU uses a device's memory its caches count, and its loads show what they hold: not those of the device. */
UNIT_TEST(test_by_cpu)
{
    struct as_buf text = AS_BUF_INIT;
    for (int cached = 0; cached < 2; cached++) {
        struct machine m = machine_of(32 * MIB, false);
        m.info.capabilities = 0;
        m.info.host_cache = (uint64_t)(64 * MIB);
        struct as_cell *cell = &m.cells[m.n];
        add_claim(&m, 256 * MIB, "own", 0);
        assert_int_equal(gate_of(&m, cell, &text), AS_GATE_PASS);
        as_copy_text(cell->probe, sizeof cell->probe, "host_bandwidth");
        m.info.host_cache *= 2;
        assert_int_equal(gate_of(&m, cell, &text), AS_GATE_FAIL);
        m.info.host_cache /= 2;
        const size_t from = m.n;
        add_sweep(&m, 200 * MIB, 256 * MIB, "own", 0.02, 1);
        for (size_t i = from; i < m.n && cached; i++)
            as_copy_text(m.cells[i].probe, sizeof m.cells[i].probe, "host_latency");
        assert_int_equal(gate_of(&m, cell, &text), cached ? AS_GATE_FAIL : AS_GATE_PASS);
    }
    as_buf_finish(&text);
}

/* Printed numbers: a claim that nothing proves, and a latency of that size. */
static void test_holds(void **state)
{
    (void)state;
    struct machine m = machine_of(0, false);
    const struct as_cell *cell = add_claim(&m, 256 * MIB, "malloc", 2);
    const struct as_cell_view none = {.v = m.cells, .n = m.n};
    assert_true(as_main_memory_claimed(&cell->axes));
    assert_false(as_main_memory_holds(&m.info, none, cell));
    assert_false(as_main_memory_holds(NULL, none, cell));
    add_sweep(&m, 32 * MIB, 256 * MIB, "malloc", 0.02, 1);
    const struct as_cell_view all = {.v = m.cells, .n = m.n};
    assert_true(as_main_memory_holds(&m.info, all, cell));
    assert_true(as_main_memory_holds(NULL, all, cell));
    assert_true(as_main_memory_holds(&m.info, all, &m.cells[m.n - 1]));
    assert_false(as_main_memory_holds(&m.info, all, &m.cells[m.n - 2]));
    m.cells[0].gates[AS_GATE_FOOTPRINT].state = AS_GATE_FAIL;
    assert_false(as_main_memory_holds(&m.info, all, cell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers), cmocka_unit_test(test_sizes),          cmocka_unit_test(test_noise),
        cmocka_unit_test(test_pages),         cmocka_unit_test(test_pages_left_out), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_other_memory),  cmocka_unit_test(test_by_cpu),         cmocka_unit_test(test_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
