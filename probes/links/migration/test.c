/* Probe migration: which cells apply, and passes over a toy device's memory. */
#include "device/dialect/host_prelude.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

extern const struct as_probe as_probe_migration;

#include "probes/links/migration/migration.kernel"

static bool lose_a_word;
static unsigned sweeps; /* fills of memory larger than the buffer */

/* In one thread. */
static void run(const char *name, void *const *args)
{
    as_host_item = (struct as_host_item){.threads = 1, .workgroups = 1};
    if (strcmp(name, "write_words") == 0) {
        write_words(args[0], *(u64 *)args[1], *(u64 *)args[2]);
        sweeps += *(u64 *)args[1] > 8192;
        if (lose_a_word)
            ((u64 *)args[0])[3] = 0;
    } else if (strcmp(name, "link_lines") == 0) {
        link_lines(args[0], *(u64 *)args[1], *(u64 *)args[2]);
        if (lose_a_word)
            ((u64 *)args[0])[16] = 0;
    } else if (strcmp(name, "follow_lines") == 0) {
        follow_lines(args[0], args[1], *(u64 *)args[2]);
    } else {
        sum_words(args[0], args[1], *(u64 *)args[2]);
    }
}

UNIT_TEST(test_which_cells)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    assert_int_equal(toy_applies(&t, &as_probe_migration,
                                 "allocator=toy touch=cpu agent=device pass=2 size=65536 lines=modified what=bandwidth",
                                 &err),
                     AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_migration,
                                 "allocator=toy touch=cpu agent=cpu pass=2 size=65536 lines=modified what=bandwidth",
                                 &err),
                     AS_PRUNED);
    t.dev.info.allocators[0].host_access = false;
    assert_int_equal(toy_applies(&t, &as_probe_migration,
                                 "allocator=toy touch=cpu agent=device pass=2 size=65536 lines=modified what=bandwidth",
                                 &err),
                     AS_INAPPLICABLE);
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(toy_applies(&t, &as_probe_migration,
                                 "allocator=toy touch=cpu agent=cpu pass=1 size=65536 lines=modified what=bandwidth",
                                 &err),
                     AS_PRUNED);
}

/* Only of memory that both sides use in place, and of first passes. */
UNIT_TEST(test_which_cells_of_lines)
{
    static const struct {
        const char *axes;
        bool coherent, pinned;
        enum as_applies applies;
    } rows[] = {
        {"touch=cpu agent=device pass=1 lines=flushed what=bandwidth", true, false, AS_APPLIES},
        {"touch=device agent=cpu pass=1 lines=modified what=latency", false, true, AS_APPLIES},
        {"touch=cpu agent=cpu pass=1 lines=modified what=latency", true, false, AS_APPLIES},
        {"touch=cpu agent=cpu pass=1 lines=flushed what=latency", true, false, AS_PRUNED},
        {"touch=cpu agent=device pass=2 lines=modified what=latency", true, false, AS_PRUNED},
        {"touch=cpu agent=device pass=1 lines=flushed what=bandwidth", false, false, AS_PRUNED},
        {"touch=device agent=device pass=1 lines=modified what=latency", false, false, AS_APPLIES},
        {"touch=cpu agent=device pass=1 lines=modified what=bandwidth", false, false, AS_APPLIES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        struct as_error err = {0};
        char axes[160];
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.allocators[0].host_access = true;
        t.dev.info.allocators[0].coherent = rows[i].coherent;
        t.dev.info.allocators[0].role = rows[i].pinned ? AS_ROLE_PINNED : AS_ROLE_MANAGED;
        snprintf(axes, sizeof axes, "allocator=toy size=65536 %s", rows[i].axes);
        assert_int_equal(toy_applies(&t, &as_probe_migration, axes, &err), rows[i].applies);
    }
}

UNIT_TEST(test_passes)
{
    static const char *const cells[] = {
        "allocator=toy touch=cpu agent=device pass=1 size=65536 lines=modified what=bandwidth",
        "allocator=toy touch=device agent=cpu pass=3 size=65536 lines=modified what=bandwidth",
        "allocator=toy touch=cpu agent=cpu pass=1 size=65536 lines=modified what=bandwidth",
        "allocator=toy touch=device agent=device pass=1 size=65536 lines=modified what=bandwidth",
        "allocator=toy touch=device agent=cpu pass=1 size=65536 lines=flushed what=bandwidth",
        "allocator=toy touch=device agent=cpu pass=1 size=65536 lines=flushed what=latency",
        "allocator=toy touch=cpu agent=device pass=1 size=65536 lines=flushed what=latency",
        "allocator=toy touch=device agent=device pass=1 size=98304 lines=modified what=latency"};
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
            t.dev.info.caches[0] = (struct as_cache){.level = 2, .kind = 'u', .size = 65536, .shared = 1};
            t.dev.info.caches_n = 1;
            sweeps = 0;
            toy_prepare(&t, &as_probe_migration, cells[i], &v, NULL);
            for (int k = 0; k < 3; k++)
                if (as_probe_migration.sample(v.state, 1, &s, &err))
                    fail_msg("%s: %s", cells[i], err.text);
            assert_true(s.value > 0);
            assert_int_equal(sweeps, strstr(cells[i], "flushed") ? 3 : 0);
            assert_int_equal(as_probe_migration.check(v.state, why, sizeof why), !lose_a_word);
            toy_finish(&as_probe_migration, &v);
            assert_int_equal(t.live, 0);
        }
}

/* The host's clock and neighbours concern a pass only where its CPU reads, or serves the faults of the device. */
UNIT_TEST(test_whose_work_a_pass_is)
{
    static const struct {
        const char *touch, *agent;
        unsigned pass;
        bool on_demand, by_host;
    } rows[] = {{"cpu", "device", 1, true, true},   {"cpu", "device", 2, true, false},
                {"cpu", "device", 1, false, false}, {"device", "device", 1, true, false},
                {"device", "cpu", 1, false, true},  {"device", "cpu", 2, true, true},
                {"cpu", "cpu", 1, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct toy t;
        struct toy_trial v;
        char cell[160];
        toy_init(&t, AS_CAP_SOURCE);
        t.dev.info.allocators[0].host_access = true;
        t.dev.info.allocators[0].on_demand = rows[i].on_demand;
        t.kernel = run;
        snprintf(cell, sizeof cell, "allocator=toy touch=%s agent=%s pass=%u size=65536 lines=modified what=bandwidth",
                 rows[i].touch, rows[i].agent, rows[i].pass);
        toy_prepare(&t, &as_probe_migration, cell, &v, NULL);
        assert_int_equal(v.tc.host_work, rows[i].by_host);
        toy_finish(&as_probe_migration, &v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),
        cmocka_unit_test(test_which_cells_of_lines),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_whose_work_a_pass_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
