/* The order of a chase is one unpredictable cycle, and spread elements fill all sets of a cache. */
#include "lib/chase/chase.h"
#include "tests/unit_test.h"

#include <stdlib.h>

UNIT_TEST(test_bijection)
{
    for (uint64_t n = 1; n < 3000; n += n < 300 ? 1 : 97) {
        struct as_bijection b;
        char *seen = calloc(1, n);
        assert_non_null(seen);
        as_bijection_init(&b, n, n * 7919);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t v = as_bijection_at(&b, i);
            assert_true(v < n);
            assert_int_equal(seen[v], 0);
            seen[v] = 1;
            assert_int_equal(as_bijection_index(&b, v), i);
        }
        free(seen);
    }
}

UNIT_TEST(test_bijection_of_huge_ranges)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 26, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 47) + 12345,
                                     UINT64_C(1) << 48};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct as_bijection b;
        as_bijection_init(&b, sizes[s], 42);
        for (uint64_t i = 0; i < sizes[s]; i += sizes[s] / 1000) {
            uint64_t v = as_bijection_at(&b, i);
            assert_true(v < sizes[s]);
            assert_int_equal(as_bijection_index(&b, v), i);
        }
    }
}

/* Follows the cycle by next(): it must reach every line once and return to its start. */
static void check_cycle(enum as_pattern pattern, uint64_t lines, uint64_t stride, uint64_t page)
{
    struct as_cycle c;
    as_cycle_init(&c, pattern, lines, stride, page, lines + 1);
    assert_true(c.lines >= 1 && c.lines <= lines);
    char *seen = calloc(1, c.lines);
    assert_non_null(seen);
    uint64_t line = as_cycle_at(&c, 0);
    for (uint64_t i = 0; i < c.lines; i++) {
        assert_true(line < c.lines);
        assert_int_equal(seen[line], 0);
        assert_int_equal(as_cycle_at(&c, i), line);
        seen[line] = 1;
        line = as_cycle_next(&c, line);
    }
    assert_int_equal(line, as_cycle_at(&c, 0));
    free(seen);
}

UNIT_TEST(test_cycles)
{
    for (uint64_t lines = 1; lines < 2200; lines += lines < 200 ? 1 : 61)
        for (int pattern = AS_PATTERN_RANDOM; pattern <= AS_PATTERN_STRIDE; pattern++) {
            check_cycle((enum as_pattern)pattern, lines, 64, 4096);
            check_cycle((enum as_pattern)pattern, lines, 4096, 4096);
            check_cycle((enum as_pattern)pattern, lines, 192, 4096);
        }
}

UNIT_TEST(test_pages_stay_together)
{
    struct as_cycle c;
    uint64_t changes = 0;
    as_cycle_init(&c, AS_PATTERN_PAGE, 64 * 100, 64, 4096, 9);
    for (uint64_t i = 1; i < c.lines; i++)
        changes += as_cycle_at(&c, i) / 64 != as_cycle_at(&c, i - 1) / 64;
    assert_int_equal(changes, 99);
}

/* Prefetchers must not guess the order: few steps go to a neighbouring line. */
UNIT_TEST(test_random_is_not_local)
{
    struct as_cycle c;
    uint64_t near = 0;
    as_cycle_init(&c, AS_PATTERN_RANDOM, 1 << 16, 64, 4096, 11);
    for (uint64_t i = 1; i < c.lines; i++) {
        int64_t step = (int64_t)as_cycle_at(&c, i) - (int64_t)as_cycle_at(&c, i - 1);
        near += step >= -64 && step <= 64;
    }
    assert_true(near < c.lines / 100);
}

UNIT_TEST(test_another_seed_another_order)
{
    struct as_cycle a, b;
    uint64_t same = 0;
    as_cycle_init(&a, AS_PATTERN_RANDOM, 10000, 64, 4096, 1);
    as_cycle_init(&b, AS_PATTERN_RANDOM, 10000, 64, 4096, 2);
    for (uint64_t i = 0; i < 10000; i++)
        same += as_cycle_at(&a, i) == as_cycle_at(&b, i);
    assert_true(same < 50);
}

/* Each element lies in its own stride, and all are spread evenly over the sets of any cache: with as many sets as
 * elements each set has one. */
UNIT_TEST(test_spread_elements_fill_all_sets)
{
    static const uint64_t strides[] = {4096, 65536, 1 << 21};
    for (size_t i = 0; i < 3; i++)
        for (uint64_t n = 16; n <= 1 << 18; n *= 2) {
            const struct as_chase c = {.stride = strides[i], .spread = 64};
            char *seen = calloc(1, n);
            assert_non_null(seen);
            for (uint64_t e = 0; e < n; e++) {
                uint64_t at = as_chase_offset(&c, e), set = at / 64 % n;
                assert_true(at / strides[i] == e && at % 64 == 0);
                assert_int_equal(seen[set], 0);
                seen[set] = 1;
            }
            free(seen);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bijection),
        cmocka_unit_test(test_bijection_of_huge_ranges),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_pages_stay_together),
        cmocka_unit_test(test_random_is_not_local),
        cmocka_unit_test(test_another_seed_another_order),
        cmocka_unit_test(test_spread_elements_fill_all_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
