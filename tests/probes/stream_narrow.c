/* Streams over f32, with this machine's OpenCL as a device without f64: results are correct, faults are detected. */
#include "lib/stream/stream.h"
#include "tests/unit_test.h"

#include <string.h>

static struct as_opened real;

static int open_device(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_device_open("opencl:0", &real, &err))
        print_message("skipped: %s\n", err.text);
    else
        real.device.info.capabilities &= ~(unsigned)AS_CAP_FP64;
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    as_device_close(&real);
    return 0;
}

static void start_stream(struct as_stream *s, int op, bool barrier, uint64_t size)
{
    struct as_error err = {0};
    const struct as_stream_desc d = {.op = (enum as_stream_op)op,
                                     .allocator = real.device.info.allocators[0].name,
                                     .size = size,
                                     .choose_width = true,
                                     .barrier = barrier,
                                     .device_first = op % 2 == 0,
                                     .seed = 9};
    if (as_stream_prepare(s, &real.device, &d, &err))
        fail_msg("%s", err.text);
    assert_int_equal(s->element, 4);
    assert_string_equal(as_stream_type(s), "f32");
    assert_int_equal(s->footprint, s->n * 4 * as_stream_shapes[op].arrays);
}

static void run_stream(struct as_stream *s, uint64_t reps)
{
    double gbs, seconds;
    struct as_error err = {0};
    if (as_stream_run(s, reps, &gbs, &seconds, &err))
        fail_msg("%s", err.text);
    assert_true(gbs > 0);
}

static bool end_stream(struct as_stream *s, char *why, size_t size)
{
    const bool right = as_stream_check(s, why, size);
    as_stream_finish(s);
    return right;
}

UNIT_TEST(test_right)
{
    char why[160];
    if (!real.backend)
        skip();
    for (int op = 0; op < AS_STREAM_OPS; op++)
        for (int barrier = 0; barrier < 2; barrier++) {
            struct as_stream s;
            start_stream(&s, op, barrier, 100000);
            run_stream(&s, 1);
            run_stream(&s, 300);
            run_stream(&s, 2);
            if (!end_stream(&s, why, sizeof why))
                fail_msg("%s: %s", as_stream_shapes[op].name, why);
        }
}

/* Outputs of nstream grow until f32 cannot represent them; before that it restarts. */
UNIT_TEST(test_many_repetitions)
{
    struct as_stream s;
    char why[160];
    if (!real.backend)
        skip();
    start_stream(&s, AS_STREAM_NSTREAM, false, 3 * 1024);
    const uint64_t most = as_stream_reps_max(&s);
    assert_in_range(most, 100000, 1 << 20);
    for (int i = 0; i < 3; i++) {
        run_stream(&s, most - 1);
        run_stream(&s, 7);
        assert_true(s.reps <= (double)most);
    }
    if (!end_stream(&s, why, sizeof why))
        fail_msg("%s", why);
    start_stream(&s, AS_STREAM_TRIAD, false, 3 * 1024);
    assert_int_equal(as_stream_reps_max(&s), 1 << 24);
    as_stream_finish(&s);
}

/* Changes one element of an output, or of an operand of a sum. */
UNIT_TEST(test_wrong)
{
    if (!real.backend)
        skip();
    for (int op = 0; op < AS_STREAM_OPS; op++) {
        struct as_stream s;
        struct as_error err = {0};
        char why[160];
        float v;
        const struct as_stream_shape *shape = &as_stream_shapes[op];
        start_stream(&s, op, false, 100000);
        run_stream(&s, 3);
        const uint64_t at = ((shape->writes ? shape->out : shape->x) * s.pitch + s.n / 3) * sizeof v;
        assert_int_equal(real.device.memory->read(&real.device, s.memory, at, &v, sizeof v, &err), AS_OK);
        v += 1;
        assert_int_equal(real.device.memory->write(&real.device, s.memory, at, &v, sizeof v, &err), AS_OK);
        if (!shape->writes)
            run_stream(&s, 3);
        assert_false(end_stream(&s, why, sizeof why));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_many_repetitions),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
