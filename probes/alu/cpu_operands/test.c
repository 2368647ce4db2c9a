/* Probe cpu_operands: which cells apply, its table, and its cells on this machine's CPU. */
#include "lib/ops/pairs.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_cpu_operands;

/* Every chain names its operands once, and is longer than its link; mixtures have a throughput of both. */
UNIT_TEST(test_table)
{
    for (const struct as_pair_kernel *k = as_pair_kernels; k->form; k++) {
        assert_ptr_equal(as_pair_find(k->form, k->what), k);
        assert_true(k->count >= 1 && k->body.instructions >= k->count && k->body.half && k->body.whole);
        assert_true((k->less > 0) == (k->link[0] != 0));
        assert_true(!k->at_most || k->less > 0);
        if (as_pair_is_mixture(k)) {
            assert_non_null(as_pair_find(k->form, "throughput"));
            assert_non_null(as_pair_find(k->what, "throughput"));
            assert_int_equal(k->body.instructions, k->counts[0] + k->counts[1]);
        }
    }
}

/* Three pipes of three cycles are busy from nine destinations on. */
UNIT_TEST(test_destinations)
{
    static const char *const forms[] = {"imul_r64_r64", "crc32_r64_r64", "add_r64_r64"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct as_pair_kernel *k = as_pair_find(forms[i], "throughput");
        assert_true(!k || k->count >= 9);
    }
}

/* All are counted, and a step of another length is found. */
UNIT_TEST(test_code)
{
    for (const struct as_pair_kernel *k = as_pair_kernels; k->form && !as_native_codes_why[0]; k++) {
        char text[96];
        struct as_pair_kernel longer = *k;
        longer.body.instructions++;
        if (as_pair_code_gate(k, text, sizeof text) != (strcmp(k->form, "nop") ? AS_GATE_PASS : AS_GATE_NA))
            fail_msg("%s %s: %s", k->form, k->what, text);
        assert_int_not_equal(as_pair_code_gate(&longer, text, sizeof text), AS_GATE_PASS);
    }
}

UNIT_TEST(test_value)
{
    const struct as_pair_kernel k = {.count = 2, .less = 1};
    assert_true(as_pair_value(&k, 7) == 3);
}

UNIT_TEST(test_not_on_a_gpu)
{
    struct toy t;
    struct as_error err = {0};
    toy_init_sm90(&t, NULL);
    if (as_pair_kernels[0].form)
        assert_int_equal(toy_applies(&t, &as_probe_cpu_operands, "instruction=imul_r64_r64 what=2to1", &err),
                         AS_PRUNED);
}

/* Every kernel of the table that this CPU can run ends, with the instructions that it should have. */
UNIT_TEST(test_all_run)
{
    for (const struct as_pair_kernel *k = as_pair_kernels; k->form; k++) {
        char axes[160], missing[120];
        struct real r;
        snprintf(axes, sizeof axes, "allocator=malloc instruction=%s what=%s", k->form, k->what);
        if (!as_cpu_has(k->needs, missing, sizeof missing))
            continue;
        if (real_trial(&as_probe_cpu_operands, "cpu", axes, 1, 256, &r))
            assert_true(isfinite(r.sample.value) && r.sample.seconds > 0);
    }
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),        cmocka_unit_test(test_destinations),
                                       cmocka_unit_test(test_code),         cmocka_unit_test(test_value),
                                       cmocka_unit_test(test_not_on_a_gpu), cmocka_unit_test(test_all_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
