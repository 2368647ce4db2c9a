/* Fragments from notes, good and damaged. */
#include "tests/unit_test.h"

#include "model/fragment.h"

static bool reads(const char *notes, struct as_fragment *out)
{
    struct as_cell cell = {.detail = (char *)notes};
    return as_fragment_of(&cell, out);
}

static void test_read(void **state)
{
    struct as_fragment f;
    (void)state;
    assert_true(reads("{\"rows\":2,\"columns\":3,\"lanes\":\"0 0 1 1 - 2\",\"places\":\"0 1 0 1 - 7\"}", &f));
    assert_true(f.rows == 2 && f.columns == 3);
    assert_true(f.lanes[0] == 0 && f.lanes[4] == -1 && f.lanes[5] == 2 && f.places[5] == 7);
    as_fragment_finish(&f);
    assert_true(as_fragment_has_note("lanes") && as_fragment_has_note("places") && !as_fragment_has_note("bits"));
}

static void test_damaged(void **state)
{
    static const char *const damaged[] = {
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 0 1\",\"places\":\"0 1 0 1\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 0 1 1 1\",\"places\":\"0 1 0 1\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 0 1 1 \",\"places\":\"0 1 0 1\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0  0 1\",\"places\":\"0 1 0 1\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 x 1 1\",\"places\":\"0 1 0 1\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 -1 1 1\",\"places\":\"0 1 0 1\"}",
        "{\"rows\":1,\"columns\":1,\"lanes\":\"99999999999999999999\",\"places\":\"0\"}",
        "{\"rows\":1,\"columns\":1,\"lanes\":\"2147483647\",\"places\":\"0\"}",
        "{\"rows\":1,\"columns\":1,\"lanes\":\"65535\",\"places\":\"65535\"}",
        "{\"rows\":1,\"columns\":1,\"lanes\":\"\",\"places\":\"0\"}",
        "{\"rows\":1,\"columns\":1,\"lanes\":0,\"places\":0}",
        "{\"rows\":-1,\"columns\":-1,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"rows\":4294967296,\"columns\":4294967296,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"rows\":65536,\"columns\":65536,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"columns\":1,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"rows\":1,",
        "[]",
        "",
        NULL,
    };
    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct as_fragment f;
        assert_false(reads(damaged[i], &f));
        assert_true(!f.lanes && !f.places);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
