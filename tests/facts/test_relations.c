/* The list of relations: ids from fields, and names that do not exist. */
#include "made.h"
#include "tests/unit_test.h"

#include "base/text.h"
#include "facts/rule.h"

#include <stdlib.h>
#include <string.h>

static const char *axis(const void *from, const char *name)
{
    (void)from;
    return strcmp(name, "allocator") == 0 ? "clSVMAlloc fine" : strcmp(name, "scope") == 0 ? "system" : "";
}

UNIT_TEST(test_id_from_fields)
{
    struct as_fact f = {.value = 1};
    as_fact_name(&f, AS_FACT_BANDWIDTH, AS_BY(.object = "L2", .level = "L2", .op = "read", .threads = "all"), NULL,
                 NULL, "GB/s");
    assert_string_equal(f.id, "bandwidth.L2.read.all");
    assert_string_equal(f.unit, "GB/s");
    assert_string_equal(as_fact_field(&f, AS_FIELD_OP), "read");
    assert_string_equal(as_fact_field(&f, AS_FIELD_ALLOCATOR), "");
    assert_true(as_fact_is(&f, AS_FACT_BANDWIDTH, AS_BY(.level = "L2", .threads = "all")));
    assert_false(as_fact_is(&f, AS_FACT_BANDWIDTH, AS_BY(.threads = "1")));
    assert_false(as_fact_is(&f, AS_FACT_BANDWIDTH, AS_BY(.allocator = "malloc")));
    assert_false(as_fact_is(&f, AS_FACT_LISTED_READ, NULL));
}

/* Fields that a rule does not set come from the cell; those set to "" are left out. */
UNIT_TEST(test_optional_fields)
{
    struct as_fact kind = {.value = 1}, all = {.value = 1};
    as_fact_name(&kind, AS_FACT_LOST, AS_BY(.sides = "both", .type = "u32"), axis, "", "updates");
    as_fact_name(&all, AS_FACT_LOST, AS_BY(.sides = "both", .type = "", .scope = ""), axis, "", "updates");
    assert_string_equal(kind.id, "lost.both.clSVMAlloc_fine.u32.system");
    assert_string_equal(all.id, "lost.both.clSVMAlloc_fine");
    assert_string_equal(as_fact_field(&all, AS_FIELD_ALLOCATOR), "clSVMAlloc fine");
}

UNIT_TEST(test_sentence_from_fields)
{
    struct as_fact f = {.value = 12.5, .ci = {12, 13}, .unit = "GB/s"};
    as_fact_name(&f, AS_FACT_LISTED_READ, AS_BY(.level = "100%d"), NULL, NULL, "GB/s");
    as_fact_say(&f, "%s of {level}: {value}, %d%%", "Reads", 5);
    assert_string_equal(f.sentence, "Reads of 100%d: 12.5 GB/s (12.0 to 13.0 GB/s), 5%");
    as_fact_say(&f, "{levle} {op}{");
    assert_string_equal(f.sentence, "? ?");
}

/* Values that do not fit a fact are cut, not written beyond its end. */
UNIT_TEST(test_long_values)
{
    char text[400];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    struct as_fact f = {.value = 1};
    as_fact_name(&f, AS_FACT_COPY, AS_BY(.how = text, .from = text, .to = text), NULL, NULL, "GB/s");
    assert_int_equal(strlen(f.id), sizeof f.id - 1);
    assert_int_equal(strlen(as_fact_field(&f, AS_FIELD_FROM)), sizeof f.values - 2);
}

/* A field with a closed set has no other value; one without has any. */
UNIT_TEST(test_closed_sets)
{
    struct as_fact level = {.value = 1}, other = {.value = 1}, agent = {.value = 1}, open = {.value = 1};
    assert_true(as_fact_name(&level, AS_FACT_CACHE_SIZE, AS_BY(.level = "level 3"), NULL, NULL, "B"));
    assert_string_equal(level.id, "cache.level_3.size");
    assert_false(as_fact_name(&other, AS_FACT_CACHE_SIZE, AS_BY(.level = "L22"), NULL, NULL, "B"));
    assert_false(as_fact_name(&agent, AS_FACT_ATOMICS, AS_BY(.agent = "cpus"), NULL, NULL, ""));
    assert_true(as_fact_name(&open, AS_FACT_ALU_LATENCY, AS_BY(.op = "any"), NULL, NULL, "ns"));
    assert_true(as_fact_ids_exist("cache.level_3.size cache.*.size atomics.device.*"));
    assert_false(as_fact_ids_exist("cache.L22.size"));
    assert_false(as_fact_ids_exist("cache.L.size"));
    assert_false(as_fact_ids_exist("atomics.cpus.*"));
}

UNIT_TEST(test_misspelt_names)
{
    struct as_error err;
    assert_int_equal(as_relations_check(&err), AS_OK);
    assert_int_equal(as_relation_check_id("cache[.{part}].{levle}.size", &err), AS_FAILED);
    assert_non_null(strstr(err.text, "levle"));
    assert_true(as_fact_ids_exist("cache.L2.size onchip.whole.L2.size"));
    assert_true(as_fact_ids_exist("*.L1.latency onchip.L2.part.size lost.both.malloc"));
    assert_false(as_fact_ids_exist("cache.L2.sise"));
    assert_false(as_fact_ids_exist("cache.L2.size bandwith.memory.read.all"));
    assert_false(as_fact_ids_exist("memory.latncy*"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_from_fields),       cmocka_unit_test(test_optional_fields),
        cmocka_unit_test(test_sentence_from_fields), cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_misspelt_names),       cmocka_unit_test(test_closed_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
