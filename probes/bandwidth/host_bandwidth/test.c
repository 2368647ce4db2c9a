/* Probe host_bandwidth: which cells apply, and CPU threads in the memory of another device. */
#include "lib/stream/stream.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

extern const struct as_probe as_probe_host_bandwidth;

static const char first[] = "from=0 node=0 allocator=toy touch=cpu op=triad size=393216 threads=1";

UNIT_TEST(test_which_cells)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    assert_int_equal(toy_applies(&t, &as_probe_host_bandwidth, first, &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_host_bandwidth,
                                 "from=0 node=0 allocator=toy touch=cpu op=triad size=393216000 threads=4096", &err),
                     AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_host_bandwidth,
                                 "from=0 node=0 allocator=toy touch=cpu op=triad size=393216 threads=0", &err),
                     AS_APPLIES);
    t.dev.info.allocators[0].host_access = false; /* said once: of triad by all threads */
    assert_int_equal(toy_applies(&t, &as_probe_host_bandwidth, first, &err), AS_PRUNED);
    assert_int_equal(toy_applies(&t, &as_probe_host_bandwidth,
                                 "from=0 node=0 allocator=toy touch=cpu op=triad size=393216 threads=0", &err),
                     AS_INAPPLICABLE);
}

UNIT_TEST(test_trial)
{
    static const char *const cells[] = {first, "from=0 node=0 allocator=toy touch=cpu op=read size=393216 threads=0",
                                        "from=0 node=0 allocator=toy touch=cpu op=copy size=4194304 threads=0"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        char why[160] = "";
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.allocators[0].host_access = true;
        toy_prepare(&t, &as_probe_host_bandwidth, cells[i], &v, NULL);
        struct as_stream *stream = v.state;
        assert_ptr_not_equal(stream->dev, &t.dev);
        assert_int_equal(as_probe_host_bandwidth.sample(v.state, 3, &s, NULL), AS_OK);
        if (!as_probe_host_bandwidth.check(v.state, why, sizeof why))
            fail_msg("%s: %s", cells[i], why);
        assert_true(s.value > 0);
        if (as_stream_shapes[stream->desc.op].writes) { /* an element that was not computed */
            *(double *)stream->desc.at = 0.25;
            assert_false(as_probe_host_bandwidth.check(v.state, why, sizeof why));
        }
        toy_finish(&as_probe_host_bandwidth, &v);
        assert_int_equal(t.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
