/* Probe tlb: which cells apply, which elements a chase touches, a wrong link is detected; then on this machine's CPU
 * and on OpenCL where available. */
#include "lib/chase/chase.h"
#include "tests/probes/chase_play.h"
#include "tests/probes/real_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_tlb;

static void refused(const struct toy *t, const char *axes, const char *why)
{
    struct as_error err = {0};
    assert_int_equal(toy_applies(t, &as_probe_tlb, axes, &err), AS_INAPPLICABLE);
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' is not in: %s", axes, why, err.text);
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, plain;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&plain, 0);
    assert_int_equal(toy_applies(&cpu, &as_probe_tlb, "pages=64 stride=4096 allocator=toy", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&cpu, &as_probe_tlb, "pages=1000000 stride=0 allocator=toy", &err), AS_APPLIES);
    refused(&cpu, "pages=1000000 stride=4096 allocator=toy", "half of the free 1 GiB");
    refused(&cpu, "pages=64 stride=2048 allocator=toy", "power of two");
    refused(&cpu, "pages=64 stride=12288 allocator=toy", "power of two");
    refused(&plain, "pages=64 stride=4096 allocator=toy", "cannot compile kernels");
    snprintf(cpu.dev.info.allocators[0].why_not, sizeof cpu.dev.info.allocators[0].why_not, "none today");
    refused(&cpu, "pages=64 stride=4096 allocator=toy", "none today");
}

UNIT_TEST(test_agents)
{
    struct toy cpu, gpu;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, 0);
    gpu.dev.info.allocators[0].host_access = true;
    static const char by_cpu[] = "pages=64 stride=4096 allocator=toy agent=cpu touch=cpu";
    assert_int_equal(toy_applies(&cpu, &as_probe_tlb, by_cpu, &err), AS_PRUNED);
    assert_int_equal(toy_applies(&gpu, &as_probe_tlb, by_cpu, &err), AS_APPLIES);
    refused(&gpu, "pages=64 stride=4096 allocator=toy agent=cpu touch=device", "cannot compile kernels");
    refused(&gpu, "pages=64 stride=2048 allocator=toy agent=cpu touch=cpu", "power of two");
    gpu.dev.info.capabilities |= AS_CAP_SOURCE;
    assert_int_equal(
        toy_applies(&gpu, &as_probe_tlb, "pages=64 stride=4096 allocator=toy agent=cpu touch=device", &err),
        AS_APPLIES);
    assert_int_equal(
        toy_applies(&gpu, &as_probe_tlb, "pages=64 stride=4096 allocator=toy agent=own touch=device", &err), AS_PRUNED);
    assert_int_equal(toy_applies(&gpu, &as_probe_tlb, "pages=64 stride=4096 allocator=toy agent=own touch=cpu", &err),
                     AS_APPLIES);
    gpu.dev.info.allocators[0].host_access = false;
    refused(&gpu, by_cpu, "the CPU cannot access this memory");
}

/* A CPU beside the device chases in its memory. */
UNIT_TEST(test_by_cpu)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {.value = NAN};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    toy_prepare(&t, &as_probe_tlb, "pages=100 stride=4096 allocator=toy agent=cpu touch=cpu", &v, NULL);
    const struct as_chase *chase = v.state;
    assert_ptr_not_equal(chase->dev, &t.dev);
    assert_int_equal(v.tc.footprint, 6400);
    assert_true(v.tc.host_work);
    assert_int_equal(as_probe_tlb.sample(v.state, 10, &s, NULL), AS_OK);
    assert_true(s.value > 0);
    assert_true(as_probe_tlb.check(v.state, why, sizeof why));
    toy_finish(&as_probe_tlb, &v);
    assert_int_equal(t.live, 0);
}

/* An element occupies the longest line of the device's caches. */
UNIT_TEST(test_footprint)
{
    static const struct {
        unsigned line;
        const char *axes;
        uint64_t footprint;
    } cases[] = {
        {0, "pages=100 stride=4096 allocator=toy", 6400},
        {0, "pages=100 stride=0 allocator=toy", 6400},
        {128, "pages=100 stride=4096 allocator=toy", 12800},
        {128, "pages=100 stride=0 allocator=toy", 12800},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {.value = NAN};
        char why[160] = "";
        toy_init(&t, AS_CAP_HOST_KERNELS);
        t.dev.info.caches_n = 1;
        t.dev.info.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 32768, .line = cases[i].line};
        toy_prepare(&t, &as_probe_tlb, cases[i].axes, &v, NULL);
        assert_int_equal(v.tc.footprint, cases[i].footprint);
        assert_int_equal(as_probe_tlb.sample(v.state, 10, &s, NULL), AS_OK);
        assert_true(s.value > 0 && s.seconds > 0);
        assert_true(as_probe_tlb.check(v.state, why, sizeof why));
        toy_finish(&as_probe_tlb, &v);
        assert_int_equal(t.live, 0);
    }
}

static const struct as_program_ops *toy_program;
static char built_with[64];

static enum as_status noted_build(struct as_device *dev, const struct as_program_desc *desc, struct as_program **out,
                                  struct as_error *err)
{
    snprintf(built_with, sizeof built_with, "%s", desc->defines ? desc->defines : "");
    return toy_program->build(dev, desc, out, err);
}

/* On a GPU that can, chase and control bypass the caches of the compute unit, and say so. */
UNIT_TEST(test_bypass)
{
    static const struct {
        const char *dialect, *axes;
        bool bypasses;
    } cases[] = {
        {"cuda", "pages=100 stride=4096 allocator=toy", true}, {"cuda", "pages=100 stride=0 allocator=toy", true},
        {"hip", "pages=100 stride=4096 allocator=toy", true},  {"opencl", "pages=100 stride=4096 allocator=toy", false},
        {"metal", "pages=100 stride=0 allocator=toy", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        char why[160] = "";
        struct as_sample s = {.value = NAN};
        toy_init(&t, AS_CAP_SOURCE);
        t.kernel = run_kernel;
        snprintf(t.dev.info.dialect, sizeof t.dev.info.dialect, "%s", cases[i].dialect);
        toy_program = t.dev.program;
        struct as_program_ops program = *toy_program;
        program.build = noted_build;
        t.dev.program = &program;
        toy_prepare(&t, &as_probe_tlb, cases[i].axes, &v, NULL);
        assert_string_equal(built_with, cases[i].bypasses ? "-DPAST_OWN_CACHE" : "");
        assert_int_equal(strstr(as_buf_get(&v.tc.detail), "\"bypasses_own_caches\":1") != NULL, cases[i].bypasses);
        assert_int_equal(as_probe_tlb.sample(v.state, 3, &s, NULL), AS_OK);
        assert_true(as_probe_tlb.check(v.state, why, sizeof why));
        toy_finish(&as_probe_tlb, &v);
        assert_int_equal(t.live, 0);
    }
}

UNIT_TEST(test_lost_launch_is_seen)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {.value = NAN};
    char why[160] = "";
    toy_init(&t, AS_CAP_HOST_KERNELS);
    toy_prepare(&t, &as_probe_tlb, "pages=1000 stride=4096 allocator=toy", &v, NULL);
    t.lose_launches = 1;
    assert_int_equal(as_probe_tlb.sample(v.state, 3, &s, NULL), AS_OK);
    assert_false(as_probe_tlb.check(v.state, why, sizeof why));
    toy_finish(&as_probe_tlb, &v);
    assert_int_equal(t.live, 0);
    toy_check_no_memory(&as_probe_tlb, AS_CAP_HOST_KERNELS, "pages=1000 stride=4096 allocator=toy");
}

/* ---- this machine ---- */

UNIT_TEST(test_real)
{
    static const char *const grids[][2] = {
        {"cpu", "pages=3000 stride=4096 allocator=mmap"},
        {"cpu", "pages=2500 stride=4096 allocator=thp"},
        {"cpu", "pages=20 stride=2097152 allocator=thp"},
        {"cpu", "pages=16384 stride=0 allocator=thp"},
        {"cpu", "pages=20 stride=2097152 allocator=hugetlb"},
        {"opencl:0", "pages=3000 stride=4096 allocator=clCreateBuffer"},
        {"opencl:0", "pages=100 stride=65536 allocator=clCreateBuffer"},
        {"opencl:0", "pages=3000 stride=0 allocator=clCreateBuffer"},
    };
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct real r;
        if (real_trial(&as_probe_tlb, grids[i][0], grids[i][1], 5, 30, &r))
            assert_true(r.sample.value > 0);
    }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells), cmocka_unit_test(test_agents), cmocka_unit_test(test_by_cpu),
        cmocka_unit_test(test_footprint),   cmocka_unit_test(test_bypass), cmocka_unit_test(test_lost_launch_is_seen),
        cmocka_unit_test(test_real),
    };
    real_leave_untouched();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
