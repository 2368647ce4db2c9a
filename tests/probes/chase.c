/* Pointer chases end at the expected line, and a wrong link is detected. */
#include "chase_play.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start_play(struct play *p, unsigned capabilities, uint64_t size, uint64_t stride, enum as_pattern pattern)
{
    struct as_error err = {0};
    struct as_chase_desc d = {.allocator = "toy", .size = size, .stride = stride, .pattern = pattern, .seed = 3};
    toy_init(&p->toy, capabilities);
    p->toy.kernel = run_kernel;
    if (as_chase_prepare(&p->chase, &p->toy.dev, &d, &err))
        fail_msg("%s", err.text);
}

static const unsigned kinds[] = {AS_CAP_HOST_KERNELS, AS_CAP_SOURCE};

UNIT_TEST(test_chases_end_at_the_expected_line)
{
    static const uint64_t sizes[] = {128, 1024, 1000, 5000, 65536, 100001, 4 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int pattern = AS_PATTERN_RANDOM; pattern <= AS_PATTERN_STRIDE; pattern++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                struct play p;
                start_play(&p, kinds[k], sizes[s], 64, (enum as_pattern)pattern);
                assert_true(run_and_check(&p));
            }
}

/* pattern=page keeps the lines of a page of the memory together: the CPU's; of a GPU with memory of its own 4 KiB. */
UNIT_TEST(test_pages_of_the_memory)
{
    static const struct {
        unsigned capabilities;
        uint64_t page;
        bool is_host_memory;
        uint64_t lines;
    } cases[] = {{AS_CAP_HOST_KERNELS, 4096, true, 64},
                 {AS_CAP_HOST_KERNELS, 16384, true, 256},
                 {AS_CAP_HOST_KERNELS, 65536, true, 1024},
                 {AS_CAP_SOURCE, 2 << 20, false, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct as_chase_desc d = {
            .allocator = "toy", .size = 1 << 20, .stride = 64, .pattern = AS_PATTERN_PAGE, .seed = 3};
        struct as_error err = {0};
        struct play p;
        toy_init(&p.toy, cases[i].capabilities);
        p.toy.kernel = run_kernel;
        p.toy.dev.info.page_size = cases[i].page;
        p.toy.dev.info.is_host_memory = cases[i].is_host_memory;
        if (as_chase_prepare(&p.chase, &p.toy.dev, &d, &err))
            fail_msg("%s", err.text);
        assert_int_equal(p.chase.cycle.per_page, cases[i].lines);
        assert_true(run_and_check(&p));
    }
}

/* ---- linked only as far as the chase goes ---- */

enum { LINES_LAZY = 1 << 19, LINE_BYTES = 64 };

static void start_lazy(struct play *p, bool persistent)
{
    struct as_error err = {0};
    const struct as_chase_desc d = {.allocator = "toy",
                                    .size = (uint64_t)LINES_LAZY * LINE_BYTES,
                                    .stride = LINE_BYTES,
                                    .persistent = persistent,
                                    .seed = 3};
    toy_init(&p->toy, AS_CAP_HOST_KERNELS);
    p->toy.dev.info.caches_n = 1;
    p->toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20, .shared = 1};
    if (as_chase_prepare(&p->chase, &p->toy.dev, &d, &err))
        fail_msg("%s", err.text);
}

/* The line that a line points to; -1 if none. */
static int64_t target_of(const struct as_chase *c, uint64_t line)
{
    const char *base = c->memory->host, *to;
    memcpy(&to, base + line * LINE_BYTES, sizeof to);
    return to ? (to - base) / LINE_BYTES : -1;
}

/* The linked part of the cycle covers distinct lines, spread evenly over the buffer. */
UNIT_TEST(test_lazy_path)
{
    enum { BINS = 16 };
    struct play p;
    uint64_t bins[BINS] = {0};
    uint8_t *seen = calloc(LINES_LAZY, 1);
    assert_non_null(seen);
    start_lazy(&p, false);
    const uint64_t linked = p.chase.linked;
    assert_true(linked >= 100000 && linked < LINES_LAZY);
    uint64_t line = p.chase.at;
    for (uint64_t i = 0; i < linked; i++) {
        assert_int_equal(seen[line]++, 0);
        bins[line * BINS / LINES_LAZY]++;
        const int64_t next = target_of(&p.chase, line);
        assert_true(next >= 0 && next < LINES_LAZY);
        line = (uint64_t)next;
    }
    assert_int_equal(seen[line], 0);
    for (int b = 0; b < BINS; b++) /* five standard deviations of randomly drawn lines */
        assert_true(fabs((double)bins[b] - (double)linked / BINS) < 5 * sqrt((double)linked / BINS));
    assert_true(run_and_check(&p));
    free(seen);
}

/* Longer chases get further links, until the cycle is closed; the expected end is correct throughout. */
UNIT_TEST(test_lazy_path_goes_on)
{
    for (int persistent = 0; persistent < 2; persistent++) {
        struct play p;
        double ns, seconds;
        start_lazy(&p, persistent);
        const uint64_t first = p.chase.linked;
        for (int i = 0; i < 30; i++)
            assert_int_equal(as_chase_run(&p.chase, persistent ? 50 : 1000, &ns, &seconds, NULL), AS_OK);
        assert_true(p.chase.linked > first);
        assert_int_equal(p.chase.linked, LINES_LAZY);
        assert_true(run_and_check(&p));
    }
}

UNIT_TEST(test_wrong_link_of_a_lazy_path_is_detected)
{
    struct play p;
    double ns, seconds;
    char why[160];
    start_lazy(&p, false);
    char *base = p.chase.memory->host;
    const uint64_t a = as_cycle_at(&p.chase.cycle, 10), b = as_cycle_at(&p.chase.cycle, 500);
    void *to = base + b * LINE_BYTES;
    memcpy(base + a * LINE_BYTES, &to, sizeof to);
    assert_int_equal(as_chase_run(&p.chase, 100, &ns, &seconds, NULL), AS_OK);
    assert_false(as_chase_check(&p.chase, why, sizeof why));
    as_chase_finish(&p.chase);
}

UNIT_TEST(test_wrong_link_is_detected)
{
    struct play p;
    start_play(&p, AS_CAP_HOST_KERNELS, 65536, 64, AS_PATTERN_RANDOM);
    /* two lines exchange their successors: the cycle falls apart into two */
    char *base = p.chase.memory->host;
    uint64_t a = as_cycle_at(&p.chase.cycle, 10), b = as_cycle_at(&p.chase.cycle, 500);
    void *x, *y;
    memcpy(&x, base + a * 64, sizeof x);
    memcpy(&y, base + b * 64, sizeof y);
    memcpy(base + a * 64, &y, sizeof y);
    memcpy(base + b * 64, &x, sizeof x);
    assert_false(run_and_check(&p));
}

UNIT_TEST(test_lost_launch_is_detected)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct play p;
        start_play(&p, kinds[k], 65536, 64, AS_PATTERN_RANDOM);
        p.toy.lose_launches = 1;
        assert_false(run_and_check(&p));
    }
}

/* A cycle that may fit the first-level cache is chased once before timing; a longer one for one repetition. */
UNIT_TEST(test_device_warms_up)
{
    static const struct {
        uint64_t size, before;
    } cases[] = {{1024, 64}, {64 * 100, 128}, {65536, 1024}, {2 << 20, 1 << 15}, {4 << 20, 64}};
    has_clock = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct play p;
        double ns, seconds;
        start_play(&p, AS_CAP_SOURCE, cases[i].size, 64, AS_PATTERN_RANDOM);
        steps_made = 0;
        assert_int_equal(as_chase_run(&p.chase, 10, &ns, &seconds, NULL), AS_OK);
        assert_int_equal(steps_made, cases[i].before + 10 * AS_CHASE_STEPS);
        assert_true(fabs(ns - STEP_NS) < 1e-9);
        assert_true(fabs(seconds - 10 * AS_CHASE_STEPS * STEP_NS * 1e-9) < 1e-12);
        assert_true(fabs(p.chase.clock_hz - 2e9) < 1);
        assert_true(run_and_check(&p));
    }
    has_clock = false;
}

/* Warm-up before the chase. A buffer that fits the last-level cache: the compute unit reads it element by element. One
 * that fits in part: in chase order, as a host CPU reads any short one. Before a larger one, other data fills the GPU's
 * cache. */
UNIT_TEST(test_caches_are_settled)
{
    static const struct {
        uint64_t size, stride, spread;
        int alone, all;
        bool around, is_host_cpu;
    } cases[] = {{1 << 20, 64, 0, 3, 0, false, false},     {3 << 20, 96, 0, 3, 0, false, false},
                 {128 << 20, 4096, 0, 0, 1, false, false}, {1 << 20, 4096, 64, 0, 0, false, false},
                 {31 << 20, 512, 0, 3, 0, false, false},   {32 << 20, 512, 0, 0, 0, true, false},
                 {33 << 20, 512, 0, 0, 0, true, true},     {72 << 20, 64, 0, 3, 0, false, true},
                 {127 << 20, 512, 0, 0, 0, true, false},   {64 << 20, 128, 64, 0, 0, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct play p;
        struct as_error err = {0};
        struct as_chase_desc d = {
            .allocator = "toy", .size = cases[i].size, .stride = cases[i].stride, .spread = cases[i].spread, .seed = 3};
        toy_init(&p.toy, AS_CAP_SOURCE);
        p.toy.kernel = run_kernel;
        p.toy.dev.info.is_host_cpu = cases[i].is_host_cpu;
        p.toy.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 64 << 20, .shared = 1};
        p.toy.dev.info.caches_n = 1;
        memset(&swept, 0, sizeof swept);
        steps_made = 0;
        if (as_chase_prepare(&p.chase, &p.toy.dev, &d, &err))
            fail_msg("%s", err.text);
        assert_int_equal(swept.alone, cases[i].alone);
        assert_int_equal(swept.all, cases[i].all);
        assert_int_equal(swept.before_steps, 0);
        assert_int_equal(swept.listed, p.chase.laps * p.chase.cycle.lines);
        assert_true(cases[i].around ? p.chase.laps >= 2 : p.chase.laps == 0);
        assert_false(swept.astray);
        if (cases[i].alone) {
            assert_int_equal(swept.elements, cases[i].size / cases[i].stride);
            assert_int_equal(swept.words, cases[i].stride / 8);
        }
        assert_true(run_and_check(&p));
    }
}

/* ---- spread elements ---- */

UNIT_TEST(test_spread_chases)
{
    static const uint64_t counts[] = {2, 16, 1000, 4097};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++) {
            struct play p;
            struct as_error err = {0};
            struct as_chase_desc d = {
                .allocator = "toy", .size = counts[i] * 4096, .stride = 4096, .spread = 64, .seed = 3};
            toy_init(&p.toy, kinds[k]);
            p.toy.kernel = run_kernel;
            if (as_chase_prepare(&p.chase, &p.toy.dev, &d, &err))
                fail_msg("%s", err.text);
            assert_int_equal(p.chase.footprint, counts[i] * 64);
            assert_true(run_and_check(&p));
        }
}

UNIT_TEST(test_refusals)
{
    static const struct as_chase_desc wrong[] = {
        {.allocator = "toy", .size = 64, .stride = 64},
        {.allocator = "toy", .size = 1024, .stride = 12},
        {.allocator = "toy", .size = 1024, .stride = 0},
        {.allocator = "toy", .size = 1 << 20, .stride = 4096, .spread = 96},
        {.allocator = "toy", .size = 1 << 20, .stride = 4096 + 64, .spread = 64},
        {.allocator = "toy", .size = 1 << 20, .stride = 64, .spread = 128},
        {.allocator = "toy", .size = 1 << 20, .stride = 4096, .spread = 64, .persistent = true},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct toy t;
        struct as_chase c;
        struct as_error err = {0};
        toy_init(&t, AS_CAP_HOST_KERNELS);
        assert_int_equal(as_chase_prepare(&c, &t.dev, &wrong[i], &err), AS_USAGE);
        assert_true(err.text[0] != 0);
        as_chase_finish(&c);
        assert_int_equal(t.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chases_end_at_the_expected_line),
        cmocka_unit_test(test_pages_of_the_memory),
        cmocka_unit_test(test_lazy_path),
        cmocka_unit_test(test_lazy_path_goes_on),
        cmocka_unit_test(test_wrong_link_of_a_lazy_path_is_detected),
        cmocka_unit_test(test_wrong_link_is_detected),
        cmocka_unit_test(test_lost_launch_is_detected),
        cmocka_unit_test(test_device_warms_up),
        cmocka_unit_test(test_caches_are_settled),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_spread_chases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
