/* The rule of occupancy limits, on synthetic cells of a device that is known. */
#include "tests/facts/made.h"

#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void test_groups(void **state)
{
    (void)state;
    struct made *m = made_gpu();
    for (int values = 0; values <= 240; values += 16) {
        char axes[96], detail[64];
        int registers = (values + 16) / 8 * 8;
        int by_registers = 65536 / (registers * 64), groups = by_registers < 32 ? by_registers : 32;
        snprintf(axes, sizeof axes, "threads=64 values=%d shared=0", values);
        struct as_cell *c = made_add(m, "occupancy", "workgroups", groups, axes);
        snprintf(detail, sizeof detail, "{\"registers\":%d,\"spilled_bytes\":0}", registers);
        c->detail = as_strdup(detail);
    }
    made_add(m, "occupancy", "workgroups", 32, "threads=32 values=0 shared=0");
    for (int local = 5000; local < 232000; local = local * 5 / 3) {
        char axes[96];
        int groups = (228 << 10) / (local + 1024);
        snprintf(axes, sizeof axes, "threads=32 values=0 shared=%d", local);
        made_add(m, "occupancy", "workgroups", groups < 32 ? groups : 32, axes);
    }
    made_derive(m);
    const struct as_fact *registers = made_get(m, "onchip.unit.registers");
    made_holds(registers, 65536);
    assert_int_equal(registers->verdict, AS_SUPPORTED);
    const struct as_fact *local = made_get(m, "onchip.unit.shared");
    made_holds(local, 228 << 10);
    assert_true(local->ci.lo > 180 << 10 && local->ci.hi < 280 << 10);
    made_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
