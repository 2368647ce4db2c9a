/* Streams on a toy device: correct results pass, every planted fault is detected. */
#include "lib/stream/stream.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <string.h>

UNIT_TEST(test_operands)
{
    struct as_stream_data d, other;
    enum { N = 5000 };
    static double filled[N];
    as_stream_data_init(&d, 1);
    as_stream_data_init(&other, 2);
    size_t alike = 0;
    for (unsigned a = 0; a < 3; a++)
        for (int output = 0; output < 2; output++) {
            as_stream_fill(&d, a, output, 100, N - 200, filled);
            for (uint64_t i = 100; i < N - 100; i++) {
                double v = as_stream_value(&d, a, output, i);
                assert_true(filled[i - 100] == v);
                assert_true(output ? v != floor(v) : v == floor(v) && v != 0 && fabs(v) < 1024);
                alike += v == as_stream_value(&other, a, output, i);
            }
        }
    assert_true(alike < 6 * N / 50); /* another seed, other operands */
}

/* Arrays that begin anywhere in a block: the same operands, and matching sums. */
UNIT_TEST(test_operands_of_a_place)
{
    static const uint64_t firsts[] = {0, 8, 504, 512, 5000, 1048584}, sizes[] = {8, 496, 504, 512, 520, 10000, 300008};
    struct as_stream_data d, all;
    as_stream_data_init(&all, 7);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            double dot = 0, sum = 0, got[3];
            uint64_t sum_bits = 0;
            as_stream_data_init(&d, 7);
            for (unsigned a = 0; a < AS_STREAM_ARRAYS; a++) {
                d.at[a].array = 0;
                d.at[a].first = firsts[f] + a * (sizes[s] + 80);
            }
            for (uint64_t i = 0; i < sizes[s]; i++) {
                const double x = as_stream_value(&all, 0, false, d.at[0].first + i);
                const double y = as_stream_value(&all, 0, false, d.at[1].first + i);
                uint64_t bits;
                assert_true(x == as_stream_value(&d, 0, false, i) && y == as_stream_value(&d, 1, false, i));
                memcpy(&bits, &x, sizeof bits);
                dot += x * y, sum += x, sum_bits += bits;
            }
            assert_true(as_stream_expected_sum(&d, AS_STREAM_DOT, sizes[s]) == dot);
            assert_true(as_stream_expected_sum(&d, AS_STREAM_READ, sizes[s]) == sum);
            assert_true(as_stream_expected_bits(&d, AS_STREAM_READ, sizes[s]) == sum_bits);
            const struct as_stream_done done = {.s = 3, .reps = 2, .scalars = 5};
            as_stream_expected(&d, AS_STREAM_NSTREAM, &done, sizes[s] - 3, 3, got);
            for (uint64_t k = 0; k < 3; k++) {
                const uint64_t i = sizes[s] - 3 + k;
                assert_true(got[k] == as_stream_value(&d, 0, true, i) + 2 * as_stream_value(&d, 1, false, i) +
                                          5 * as_stream_value(&d, 2, false, i));
            }
        }
}

UNIT_TEST(test_expected_sums)
{
    static const uint64_t sizes[] = {8, 504, 512, 520, 10000, 3000008};
    struct as_stream_data d;
    as_stream_data_init(&d, 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double dot = 0, read = 0;
        uint64_t bits = 0;
        for (uint64_t i = 0; i < sizes[s]; i++) {
            double x = as_stream_value(&d, 0, false, i), y = as_stream_value(&d, 1, false, i);
            uint64_t u;
            memcpy(&u, &x, sizeof u);
            dot += x * y;
            read += x;
            bits += u;
        }
        assert_true(as_stream_expected_sum(&d, AS_STREAM_DOT, sizes[s]) == dot);
        assert_true(as_stream_expected_sum(&d, AS_STREAM_READ, sizes[s]) == read);
        assert_true(as_stream_expected_bits(&d, AS_STREAM_READ, sizes[s]) == bits);
    }
}

struct play {
    struct toy toy;
    struct as_stream stream;
    char why[160];
};

/* Each launch is reported to take launch_s; 0: its real time. */
static void start_with(struct play *p, double launch_s, enum as_stream_op op, unsigned threads, bool nt, uint64_t size)
{
    struct as_error err = {0};
    struct as_stream_desc d = {.op = op,
                               .allocator = "toy",
                               .size = size,
                               .threads = threads,
                               .nontemporal = nt,
                               .choose_width = true,
                               .seed = 5};
    toy_init(&p->toy, AS_CAP_HOST_KERNELS);
    p->toy.launch_s = launch_s;
    if (as_stream_prepare(&p->stream, &p->toy.dev, &d, &err))
        fail_msg("%s", err.text);
}

static void start_play(struct play *p, enum as_stream_op op, unsigned threads, bool nt, uint64_t size)
{
    start_with(p, 0, op, threads, nt, size);
}

static void run_play(struct play *p, uint64_t reps)
{
    double gbs = NAN, seconds = NAN;
    assert_int_equal(as_stream_run(&p->stream, reps, &gbs, &seconds, NULL), AS_OK);
    assert_true(gbs > 0 && seconds > 0);
}

static bool end_play(struct play *p)
{
    bool right = as_stream_check(&p->stream, p->why, sizeof p->why);
    as_stream_finish(&p->stream);
    assert_int_equal(p->toy.live, 0);
    assert_true(p->why[0] != 0);
    return right;
}

UNIT_TEST(test_right_results_pass)
{
    for (int op = 0; op < AS_STREAM_OPS; op++)
        for (int nt = 0; nt <= (as_stream_shapes[op].writes > 0); nt++)
            for (unsigned threads = 1; threads <= 4; threads++) {
                struct play p;
                start_play(&p, (enum as_stream_op)op, threads, nt, 100000);
                run_play(&p, 1);
                run_play(&p, 3);
                run_play(&p, 2);
                if (!end_play(&p))
                    fail_msg("%s with %u threads: %s", as_stream_shapes[op].name, threads, p.why);
            }
}

/* Beyond 2 MiB a wrong element outside the drawn blocks may be missed, but a missing part is not. */
UNIT_TEST(test_wrong_results_are_seen)
{
    for (int op = 0; op < AS_STREAM_OPS; op++) {
        struct play p;
        start_play(&p, (enum as_stream_op)op, 2, false, 100000);
        run_play(&p, 2);
        if (as_stream_shapes[op].writes) {
            double *out = (double *)p.stream.memory->host + as_stream_shapes[op].out * p.stream.pitch;
            out[p.stream.n / 3] += 1;
        } else {
            double *x = (double *)p.stream.memory->host + as_stream_shapes[op].x * p.stream.pitch;
            x[p.stream.n / 3] += 1;
            run_play(&p, 2);
        }
        assert_false(end_play(&p));
    }
}

UNIT_TEST(test_lost_launch_is_seen)
{
    for (int op = 0; op < AS_STREAM_OPS; op++) {
        struct play p;
        start_play(&p, (enum as_stream_op)op, 1, false, 100000);
        run_play(&p, 2);
        p.toy.lose_launches = 1;
        run_play(&p, 5);
        assert_false(end_play(&p));
    }
}

UNIT_TEST(test_part_left_out_of_large_arrays_is_seen)
{
    struct play p;
    start_play(&p, AS_STREAM_TRIAD, 2, false, UINT64_C(48) << 20);
    run_play(&p, 1);
    double *out = (double *)p.stream.memory->host;
    for (uint64_t i = p.stream.n / 4; i < p.stream.n / 2; i++)
        out[i] = as_stream_value(p.stream.data, 0, true, i);
    assert_false(end_play(&p));
}

UNIT_TEST(test_single_element_of_large_arrays_is_seen_by_whole_check)
{
    struct play p;
    start_play(&p, AS_STREAM_COPY, 1, false, UINT64_C(32) << 20);
    p.stream.whole_check = true;
    run_play(&p, 1);
    ((double *)p.stream.memory->host)[p.stream.n - 12345] += 1;
    assert_false(end_play(&p));
}

static enum as_status refuse(const struct as_stream_desc *d, bool deny)
{
    struct toy t;
    struct as_stream s;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    t.deny_memory = deny;
    enum as_status st = as_stream_prepare(&s, &t.dev, d, &err);
    as_stream_finish(&s);
    assert_int_equal(t.live, 0);
    assert_true(st != AS_OK && err.text[0]);
    return st;
}

/* The search for the best access is limited by time. */
UNIT_TEST(test_slow_trials_are_few)
{
    struct play quick, slow;
    start_with(&quick, 1e-4, AS_STREAM_TRIAD, 1, false, 3 << 20);
    start_with(&slow, 10, AS_STREAM_TRIAD, 1, false, 6 << 20);
    assert_true(quick.toy.launches >= slow.toy.launches + 2);
    run_play(&slow, 1);
    assert_true(end_play(&slow));
    run_play(&quick, 1);
    assert_true(end_play(&quick));
}

UNIT_TEST(test_refusals)
{
    struct as_stream_desc d = {
        .op = AS_STREAM_TRIAD, .allocator = "toy", .size = 1 << 20, .threads = 1, .choose_width = true};
    assert_int_equal(refuse(&d, true), AS_NOMEM);
    d.size = 100;
    assert_int_equal(refuse(&d, false), AS_USAGE);
    d.size = 1 << 20;
    d.threads = 0;
    assert_int_equal(refuse(&d, false), AS_USAGE);
    d.threads = 1;
    d.op = AS_STREAM_DOT;
    d.nontemporal = true;
    assert_int_equal(refuse(&d, false), AS_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_expected_sums),
        cmocka_unit_test(test_right_results_pass),
        cmocka_unit_test(test_wrong_results_are_seen),
        cmocka_unit_test(test_lost_launch_is_seen),
        cmocka_unit_test(test_part_left_out_of_large_arrays_is_seen),
        cmocka_unit_test(test_operands_of_a_place),
        cmocka_unit_test(test_single_element_of_large_arrays_is_seen_by_whole_check),
        cmocka_unit_test(test_slow_trials_are_few),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
