/* Which pairs of ranks are measured, and which of them at once. */
#include "fleet/fleet_pairs.h"
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

/* Every item is in one step, a step has items of one kind, and a node takes part in it once. */
static void check_steps(const struct as_link_item *items, size_t n, const int *node, const struct as_link_steps *s)
{
    bool *seen = calloc(n, sizeof *seen);
    assert_int_equal(s->first[0], 0);
    assert_int_equal(s->first[s->n], n);
    for (size_t step = 0; step < s->n; step++) {
        assert_in_range(s->first[step + 1] - s->first[step], 1, s->widest);
        for (size_t i = s->first[step]; i < s->first[step + 1]; i++) {
            const struct as_link_item *a = &items[s->items[i]];
            assert_false(seen[s->items[i]]);
            seen[s->items[i]] = true;
            assert_true(!a->alone || s->first[step + 1] - s->first[step] == 1);
            for (size_t k = s->first[step]; k < i; k++) {
                const struct as_link_item *b = &items[s->items[k]];
                assert_true(a->kind == b->kind);
                for (int end = 0; end < 4; end++)
                    assert_int_not_equal(node[a->rank[end / 2]], node[b->rank[end % 2]]);
            }
        }
    }
    free(seen);
}

static struct as_link_steps steps_of(int ranks, int per_node, bool alone)
{
    int(*pairs)[2] = NULL;
    size_t n = 0;
    struct as_link_steps s;
    int *node = calloc((size_t)ranks, sizeof *node);
    for (int i = 0; i < ranks; i++)
        node[i] = i / per_node;
    assert_int_equal(as_link_pairs(ranks, 16, 7, &pairs, &n, NULL), AS_OK);
    struct as_link_item *items = calloc(2 * n, sizeof *items);
    for (size_t i = 0; i < 2 * n; i++)
        items[i] = (struct as_link_item){{pairs[i / 2][0], pairs[i / 2][1]}, i % 2, alone};
    assert_int_equal(as_link_steps_make(items, 2 * n, node, (size_t)ranks, 3, &s, NULL), AS_OK);
    check_steps(items, 2 * n, node, &s);
    free(items);
    free(pairs);
    free(node);
    return s;
}

UNIT_TEST(test_steps)
{
    /* each of 1,000 nodes has at most 16 pairs, whose partners have 15 others */
    struct as_link_steps s = steps_of(1000, 1, false);
    assert_in_range(s.n, 2 * 16, 2 * 31);
    assert_in_range(s.widest, 400, 500);
    as_link_steps_finish(&s);
    s = steps_of(12, 1, false);
    assert_in_range(s.n, 2 * 11, 2 * 21);
    as_link_steps_finish(&s);
    s = steps_of(12, 12, false); /* on one node nothing is at once */
    assert_int_equal(s.n, 2 * 66);
    as_link_steps_finish(&s);
    s = steps_of(12, 1, true);
    assert_int_equal(s.n, 2 * 66);
    as_link_steps_finish(&s);
    s = steps_of(64, 8, false);
    assert_true(s.widest > 1 && s.widest <= 8);
    as_link_steps_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_tournament),
        cmocka_unit_test(test_odd_number),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
