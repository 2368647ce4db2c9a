/* Probe host_latency: which pairs of ends are cells, and a CPU chase in the memory of another device. */
#include "device/host.h"
#include "lib/chase/chase.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_host_latency;

static const char first[] = "from=0 node=0 allocator=toy touch=cpu size=65536";

static enum as_applies applies(struct toy *t, const char *axes, struct as_error *err)
{
    return toy_applies(t, &as_probe_host_latency, axes, err);
}

UNIT_TEST(test_which_pairs)
{
    struct toy t;
    struct as_error err = {0};
    struct as_cpus nodes;
    as_host_nodes("", &nodes);
    const bool alone = as_cpus_count(&nodes) < 2;
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(applies(&t, first, &err), alone ? AS_INAPPLICABLE : AS_APPLIES);
    if (alone)
        assert_string_equal(err.text, "the host has one NUMA node");
    assert_int_equal(applies(&t, "from=0 node=63 allocator=toy touch=cpu size=65536", &err), AS_PRUNED);
    assert_int_equal(applies(&t, "from=0 node=0 allocator=toy touch=device size=65536", &err), AS_PRUNED);

    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    assert_int_equal(applies(&t, first, &err), AS_APPLIES);
    assert_int_equal(applies(&t, "from=63 node=0 allocator=toy touch=cpu size=65536", &err), AS_PRUNED);
    assert_int_equal(applies(&t, "from=0 node=1 allocator=toy touch=cpu size=65536", &err), AS_PRUNED);
    assert_int_equal(applies(&t, "from=0 node=0 allocator=toy touch=device size=65536", &err), AS_APPLIES);
    t.dev.info.capabilities |= AS_CAP_SIMULATED;
    assert_int_equal(applies(&t, first, &err), AS_PRUNED);
    t.dev.info.capabilities = 0;
    assert_int_equal(applies(&t, "from=0 node=0 allocator=toy touch=device size=65536", &err), AS_INAPPLICABLE);
    t.dev.info.allocators[0].host_access = false;
    assert_int_equal(applies(&t, first, &err), AS_INAPPLICABLE);
    assert_string_equal(err.text, "the CPU cannot access this memory");
}

/* The chase stays in the device's block, and one that is led astray is detected. */
UNIT_TEST(test_trial)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    toy_prepare(&t, &as_probe_host_latency, first, &v, NULL);
    const struct as_chase *c = v.state;
    assert_ptr_not_equal(c->dev, &t.dev); /* the host's CPU */
    assert_int_equal(as_probe_host_latency.sample(v.state, 10, &s, NULL), AS_OK);
    assert_true(s.value > 0 && as_probe_host_latency.check(v.state, why, sizeof why));
    char *base = c->memory->host;
    for (uint64_t i = 0; i < c->cycle.lines; i++) {
        void *self = base + as_chase_offset(c, i);
        memcpy(self, &self, sizeof self);
    }
    assert_int_equal(as_probe_host_latency.sample(v.state, 10, &s, NULL), AS_OK);
    assert_false(as_probe_host_latency.check(v.state, why, sizeof why));
    toy_finish(&as_probe_host_latency, &v);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_pairs),
        cmocka_unit_test(test_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
