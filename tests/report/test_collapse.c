/* Many facts about one object are folded, few are not. */
#include "base/text.h"
#include "report/model/collapse.h"
#include "tests/unit_test.h"

#include <stdio.h>

enum { COPIES = 12, FACTS = COPIES + 3 };

static size_t collapsed(const struct as_fact *facts, size_t n)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += as_fact_is_collapsed(facts, n, i);
    return all;
}

UNIT_TEST(many_of_an_object_are_folded)
{
    static struct as_fact facts[FACTS];
    for (size_t i = 0; i < FACTS; i++) {
        bool copy = i > 0 && i <= COPIES;
        as_copy_text(facts[i].device, sizeof facts[i].device, "cuda:0");
        as_copy_text(facts[i].object, sizeof facts[i].object, copy ? "copy" : "L2");
        as_copy_text(facts[i].id, sizeof facts[i].id, copy ? "copy.engine" : "cache.L2.size");
    }
    for (size_t i = 0; i < FACTS; i++)
        assert_int_equal(as_fact_is_collapsed(facts, FACTS, i), i > 6 && i <= COPIES);
    assert_int_equal(collapsed(facts, FACTS), 6);
    assert_int_equal(collapsed(facts, 8), 0);
    as_copy_text(facts[12].device, sizeof facts[12].device, "cuda:1"); /* of another device: none of them folded */
    assert_false(as_fact_is_collapsed(facts, FACTS, 12));
    assert_int_equal(collapsed(facts, FACTS), 5);
}

UNIT_TEST(all_allocators_are_one_matter)
{
    static struct as_fact facts[20];
    for (size_t i = 0; i < 20; i++) {
        snprintf(facts[i].object, sizeof facts[i].object, "allocator:%zu", i);
        facts[i].matter = "the cost of allocators";
    }
    assert_int_equal(collapsed(facts, 20), 14);
}

/* Rates and losses of atomic updates have one object but are two matters. */
UNIT_TEST(lost_updates_stand_beside_rates)
{
    static struct as_fact facts[24];
    for (size_t i = 0; i < 24; i++) {
        as_copy_text(facts[i].object, sizeof facts[i].object, "atomics");
        facts[i].matter = i < 12 ? NULL : "lost updates";
        facts[i].verdict = i < 12 ? AS_SUPPORTED : AS_REFUTED;
    }
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(as_fact_is_collapsed(facts, 24, i), i % 12 >= 6);
    assert_int_equal(collapsed(facts, 24), 12);
}

UNIT_TEST(what_is_undecided_takes_no_place)
{
    static struct as_fact facts[12];
    for (size_t i = 0; i < 12; i++) {
        as_copy_text(facts[i].object, sizeof facts[i].object, "copy");
        facts[i].verdict = i < 4 ? AS_UNDECIDED : AS_SUPPORTED;
    }
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(as_fact_is_collapsed(facts, 12, i), i < 4 || i >= 10);
    assert_int_equal(collapsed(facts, 12), 6);
    for (size_t i = 4; i < 12; i++)
        facts[i].verdict = i < 6 ? AS_REFUTED : AS_UNDECIDED;
    assert_int_equal(collapsed(facts, 12), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_of_an_object_are_folded),
        cmocka_unit_test(lost_updates_stand_beside_rates),
        cmocka_unit_test(all_allocators_are_one_matter),
        cmocka_unit_test(what_is_undecided_takes_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
