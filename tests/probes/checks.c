/* Common preparation of probes: words, free memory, bounds. */
#include "lib/checks/checks.h"
#include "lib/checks/nodes.h"
#include "lib/kernel_timer/kernel_timer.h"
#include "tests/unit_test.h"
#include "toy_device.h"

#include <math.h>
#include <string.h>

UNIT_TEST(test_words)
{
    static const char *const words[] = {"near", "far", NULL};
    struct as_axes a;
    toy_axes(&a, "what=far other=farther");
    assert_int_equal(as_word_index(&a, "what", words), 1);
    assert_int_equal(as_word_index(&a, "other", words), 2);
    assert_int_equal(as_word_index(&a, "absent", words), 2);
    assert_true(as_word_is(&a, "what", "far"));
    assert_false(as_word_is(&a, "other", "far"));
}

/* Which values of the axis node are cells, on a host with the nodes 0, 1 and 9, of which the last has no CPUs. */
UNIT_TEST(test_nodes)
{
    struct as_device_info cpu = {.capabilities = AS_CAP_HOST_KERNELS},
                          gpu = {.allocators_n = 3,
                                 .allocators = {{.name = "own"},
                                                {.name = "malloc", .host_access = true, .role = AS_ROLE_PAGEABLE},
                                                {.name = "managed", .host_access = true, .role = AS_ROLE_MANAGED}}};
    struct as_cpus nodes = {{0}}, alone = {{0}};
    static const struct {
        const char *axes;
        int wanted;
        bool cpu, gpu;
    } cases[] = {{"allocator=malloc node=near", -1, true, true}, {"allocator=malloc", -1, true, true},
                 {"allocator=malloc node=1", 1, true, true},     {"allocator=malloc node=9", 9, true, true},
                 {"allocator=malloc node=2", 2, false, false},   {"allocator=managed node=1", 1, true, false},
                 {"allocator=own node=0", 0, true, false}};
    as_cpus_add(&nodes, 0);
    as_cpus_add(&nodes, 1);
    as_cpus_add(&nodes, 9);
    as_cpus_add(&alone, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_axes a;
        toy_axes(&a, cases[i].axes);
        assert_int_equal(as_node_wanted(&a), cases[i].wanted);
        assert_int_equal(as_node_is_among(&cpu, &a, &nodes), cases[i].cpu);
        assert_int_equal(as_node_is_among(&gpu, &a, &nodes), cases[i].gpu);
        assert_int_equal(as_node_is_among(&cpu, &a, &alone), cases[i].wanted < 0);
        cpu.capabilities |= AS_CAP_SIMULATED;
        assert_int_equal(as_node_is_among(&cpu, &a, &nodes), cases[i].wanted < 0);
        cpu.capabilities &= ~(unsigned)AS_CAP_SIMULATED;
    }
}

/* The node that memory came to lie on is noted, and another than the requested one is refused. */
UNIT_TEST(test_other_node)
{
    struct toy t;
    struct as_error err = {0};
    struct as_trial_context tc = {.dev = &t.dev};
    toy_init(&t, AS_CAP_HOST_KERNELS);
    assert_int_equal(as_node_check(&tc, 1, -1, &err), AS_OK);
    assert_string_equal(as_buf_get(&tc.detail), "");
    assert_int_equal(as_node_check(&tc, -1, 3, &err), AS_OK);
    assert_non_null(strstr(as_buf_get(&tc.detail), "\"node\":3"));
    assert_int_equal(as_node_check(&tc, 3, 3, &err), AS_OK);
    assert_int_equal(as_node_check(&tc, 1, 3, &err), AS_UNSUPPORTED);
    assert_string_equal(err.text, "memory was requested on node 1, but is on node 3");
    as_buf_finish(&tc.detail);
}

UNIT_TEST(test_room)
{
    struct toy t;
    struct as_error err = {0};
    toy_init(&t, 0);
    t.free_bytes = 100 << 20;
    assert_int_equal(as_check_room(&t.dev, 50 << 20, 25 << 20, &err), AS_OK);
    assert_int_equal(as_check_room(&t.dev, (50 << 20) + 1, 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "half of the free 100 MiB"));
    t.dev.info.max_alloc = 20 << 20;
    assert_int_equal(as_check_room(&t.dev, 50 << 20, 20 << 20, &err), AS_OK);
    assert_int_equal(as_check_room(&t.dev, 50 << 20, (20 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "largest allocation is 20971520 B"));
}

UNIT_TEST(test_block)
{
    struct as_device_info info = {.memory_free = 100 << 20,
                                  .allocators_n = 2,
                                  .allocators = {{.name = "all"}, {.name = "some", .most = 10 << 20}}};
    struct as_error err = {0};
    assert_int_equal(as_check_block(&info, "all", 50 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "all", (50 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "50 MiB requested, but only half of the free 100 MiB may be used"));
    assert_int_equal(as_check_block(&info, "some", 10 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "some", (10 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "10485761 B requested, but 'some' gives at most 10485760 B"));
    info.max_alloc = 30 << 20;
    assert_int_equal(as_check_block(&info, "all", 30 << 20, &err), AS_OK);
    assert_int_equal(as_check_block(&info, "all", (30 << 20) + 1, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "largest allocation is 31457280 B"));
}

UNIT_TEST(test_one_cycle)
{
    struct as_trial_context tc = {.limit = NAN};
    as_limit_one_cycle(&tc, NAN);
    as_limit_one_cycle(&tc, 0);
    assert_true(isnan(tc.limit));
    as_limit_one_cycle(&tc, 2e9);
    assert_true(fabs(tc.limit - 0.5) < 1e-12);
    assert_non_null(strstr(tc.limit_why, "one cycle"));
}

/* Memory that a program keeps is released with it, and there is no space for more than intended. */
UNIT_TEST(test_kept)
{
    struct toy t;
    struct as_kernel_timer timer;
    struct as_memory *memory;
    struct as_kernel *kernel;
    struct as_error err = {0};
    toy_init(&t, AS_CAP_SOURCE);
    assert_int_equal(as_kernel_timer_prepare(&timer, &t.dev, "kept", "", "", NULL, 1, &err), AS_OK);
    for (int i = 1; i < AS_BUFFERS_MAX; i++) /* the records are one block */
        assert_int_equal(as_kernel_timer_keep_memory(&timer, 64, &memory, &err), AS_OK);
    for (int i = 0; i < AS_BUFFERS_MAX; i++)
        assert_int_equal(as_kernel_timer_keep_kernel(&timer, "kernel", &kernel, &err), AS_OK);
    assert_int_equal(t.live, AS_BUFFERS_MAX);
    assert_int_equal(as_kernel_timer_keep_memory(&timer, 64, &memory, &err), AS_FAILED);
    assert_int_equal(as_kernel_timer_keep_kernel(&timer, "kernel", &kernel, &err), AS_FAILED);
    as_kernel_timer_finish(&timer);
    assert_int_equal(t.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),      cmocka_unit_test(test_nodes),
                                       cmocka_unit_test(test_other_node), cmocka_unit_test(test_room),
                                       cmocka_unit_test(test_block),      cmocka_unit_test(test_one_cycle),
                                       cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
