/* Streams in memory kept between trials, on this machine's CPU. */
#include "lib/stream/stream.h"
#include "tests/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct as_opened real;

static struct as_stream_desc kept_desc(enum as_stream_op op, uint64_t size, bool whole_check)
{
    return (struct as_stream_desc){.op = op,
                                   .allocator = "mmap",
                                   .size = size,
                                   .threads = 1,
                                   .choose_width = true,
                                   .whole_check = whole_check,
                                   .seed = 5};
}

static void start_kept(struct as_stream *s, uint64_t trial, const struct as_stream_desc *d)
{
    struct as_error err = {0};
    as_arenas_begin(&real.device, trial, trial); /* a different cell each time; the arena stays */
    if (as_stream_prepare(s, &real.device, d, &err))
        fail_msg("%s", err.text);
    assert_non_null(s->content.pieces);
}

static bool run_kept(struct as_stream *s, unsigned times)
{
    double gbs, seconds;
    char why[160];
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(as_stream_run(s, 2, &gbs, &seconds, NULL), AS_OK);
    return as_stream_check(s, why, sizeof why);
}

static double *array_of(struct as_stream *s, unsigned array)
{
    struct as_error err;
    if (real.device.memory->map(&real.device, s->memory, &err))
        fail_msg("%s", err.text);
    return (double *)s->memory->host + array * s->pitch;
}

/* Trials of other sizes at other places of the same memory: each finds correct data. */
UNIT_TEST(test_kept_memory_is_right)
{
    uint64_t trial = 0;
    for (int round = 0; round < 2; round++)
        for (int op = 0; op < AS_STREAM_OPS; op++)
            for (int whole = 0; whole < 2; whole++) {
                struct as_stream s;
                const struct as_stream_desc d =
                    kept_desc((enum as_stream_op)op, (UINT64_C(12) << 20) + (UINT64_C(72) << 10) * (trial % 7), whole);
                start_kept(&s, ++trial, &d);
                if (!run_kept(&s, 2))
                    fail_msg("%s in trial %d", as_stream_shapes[op].name, (int)trial);
                as_stream_finish(&s);
            }
}

/* Operands are kept from the previous trial and not written again. */
UNIT_TEST(test_kept_operands_stay)
{
    struct as_stream s;
    const struct as_stream_desc d = kept_desc(AS_STREAM_READ, 16 << 20, false);
    start_kept(&s, 1000, &d);
    assert_true(run_kept(&s, 1));
    array_of(&s, 0)[s.n / 2] += 1;
    as_stream_finish(&s);
    start_kept(&s, 1001, &d);
    assert_false(run_kept(&s, 1)); /* a place that no trial has written since */
    as_stream_finish(&s);
    start_kept(&s, 1002, &d);
    assert_true(run_kept(&s, 1)); /* wrong data is written again */
    as_stream_finish(&s);
}

/* Results of the previous trial do not pass for those of a trial that stored nothing. */
UNIT_TEST(test_stale_results_of_kept_memory_are_seen)
{
    for (int whole = 0; whole < 2; whole++) {
        struct as_stream s;
        char why[160];
        const struct as_stream_desc d = kept_desc(AS_STREAM_COPY, 16 << 20, whole);
        start_kept(&s, 2000, &d);
        assert_true(run_kept(&s, 1));
        as_stream_finish(&s);
        start_kept(&s, 2001, &d);
        assert_false(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

/* A planted fault is detected in a later trial as in the first. */
UNIT_TEST(test_faults_in_kept_memory_are_seen)
{
    struct as_stream s;
    const struct as_stream_desc d = kept_desc(AS_STREAM_TRIAD, 16 << 20, false);
    char why[160];
    for (uint64_t trial = 0; trial < 3; trial++) {
        start_kept(&s, 3000 + trial, &d);
        assert_true(run_kept(&s, 1));
        double *out = array_of(&s, 0);
        for (uint64_t i = s.n / 4; i < s.n / 2; i++)
            out[i] = as_stream_value(s.data, 0, true, i);
        assert_false(as_stream_check(&s, why, sizeof why));
        as_stream_finish(&s);
    }
}

static int open_cpu(void **state)
{
    struct as_error err;
    (void)state;
    return as_device_open("cpu", &real, &err) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    as_device_close(&real);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kept_memory_is_right, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_kept_operands_stay, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_stale_results_of_kept_memory_are_seen, open_cpu, close_cpu),
        cmocka_unit_test_setup_teardown(test_faults_in_kept_memory_are_seen, open_cpu, close_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
