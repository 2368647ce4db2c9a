/* Probe migration: which cells apply, and passes over a toy device's memory. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <string.h>

extern const struct as_probe as_probe_migration;

#include "probes/links/migration/migration.kernel"

static bool lose_a_word;

/* In one thread. */
static void run(const char *name, void *const *args)
{
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    if (strcmp(name, "fill") == 0) {
        fill(args[0], *(u64 *)args[1], *(u64 *)args[2]);
        if (lose_a_word)
            ((u64 *)args[0])[3] = 0;
    } else {
        sum(args[0], args[1], *(u64 *)args[2]);
    }
}

UNIT_TEST(test_which_cells)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    assert_int_equal(
        toy_applies(&t, &as_probe_migration, "allocator=toy touch=cpu agent=device pass=2 size=65536", &err),
        AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_migration, "allocator=toy touch=cpu agent=cpu pass=2 size=65536", &err),
                     AS_PRUNED);
    t.dev.info.allocators[0].host_access = false;
    assert_int_equal(
        toy_applies(&t, &as_probe_migration, "allocator=toy touch=cpu agent=device pass=2 size=65536", &err),
        AS_INAPPLICABLE);
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, &as_probe_migration, "allocator=toy touch=cpu agent=cpu pass=1 size=65536", &err),
                     AS_PRUNED);
}

UNIT_TEST(test_passes)
{
    static const char *const cells[] = {"allocator=toy touch=cpu agent=device pass=1 size=65536",
                                        "allocator=toy touch=device agent=cpu pass=3 size=65536",
                                        "allocator=toy touch=cpu agent=cpu pass=1 size=65536",
                                        "allocator=toy touch=device agent=device pass=1 size=65536"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (int lost = 0; lost < 2; lost++) {
            struct toy t;
            struct toy_trial v;
            struct as_sample s = {0};
            struct as_error err = {0};
            char why[160] = "";
            toy_init(&t, AS_CAP_SOURCE);
            t.dev.info.allocators[0].host_access = true;
            t.kernel = run;
            lose_a_word = lost && strstr(cells[i], "touch=device");
            toy_prepare(&t, &as_probe_migration, cells[i], &v, NULL);
            for (int k = 0; k < 3; k++)
                if (as_probe_migration.sample(v.state, 1, &s, &err))
                    fail_msg("%s: %s", cells[i], err.text);
            assert_true(s.value > 0);
            assert_int_equal(as_probe_migration.check(v.state, why, sizeof why), !lose_a_word);
            toy_finish(&as_probe_migration, &v);
            assert_int_equal(t.live, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
