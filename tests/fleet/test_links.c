/* Which pairs of ranks are measured. */
#include "fleet/fleet_links.h"
#include "unit_test.h"

#include <stdlib.h>

static size_t pairs_of(int ranks, int all_up_to, int *met)
{
    int(*pairs)[2] = NULL;
    size_t n = 0;
    assert_int_equal(as_link_pairs(ranks, all_up_to, 7, &pairs, &n, NULL), AS_OK);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(pairs[i][0], 0, ranks - 1);
        assert_true(pairs[i][0] < pairs[i][1] && pairs[i][1] < ranks);
        if (i) /* sorted, and none twice */
            assert_true(pairs[i - 1][0] < pairs[i][0] ||
                        (pairs[i - 1][0] == pairs[i][0] && pairs[i - 1][1] < pairs[i][1]));
        met[pairs[i][0]]++;
        met[pairs[i][1]]++;
    }
    free(pairs);
    return n;
}

UNIT_TEST(test_all_pairs)
{
    int met[16] = {0};
    assert_int_equal(pairs_of(16, 16, met), 120);
    for (int i = 0; i < 16; i++)
        assert_int_equal(met[i], 15);
    assert_int_equal(pairs_of(2, 16, met), 1);
}

UNIT_TEST(test_tournament)
{
    enum { RANKS = 1000 };
    static int met[RANKS];
    const size_t n = pairs_of(RANKS, 16, met);
    assert_in_range(n, 7900, 8000); /* a pair may be drawn twice */
    for (int i = 0; i < RANKS; i++)
        assert_in_range(met[i], 12, 16);
}

UNIT_TEST(test_odd_number)
{
    static int met[101];
    (void)pairs_of(101, 16, met);
    for (int i = 0; i < 101; i++)
        assert_in_range(met[i], 8, 16); /* one rests in each round */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_tournament),
        cmocka_unit_test(test_odd_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
