/* Bins of single events: notes, good and damaged, their sum over trials, and modes. */
#include "tests/unit_test.h"

#include "model/bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reads(const char *notes, struct as_bins *out)
{
    const struct as_cell cell = {.detail = (char *)notes};
    return as_bins_of(&cell, out);
}

/* Every edge is read as it is written. */
UNIT_TEST(test_edges)
{
    struct as_bins bins = {.count = {0}}, again;
    struct as_buf notes = AS_BUF_INIT;
    for (size_t i = 0; i < AS_BINS_MAX; i++) {
        as_bins_add(&bins, as_bins_edge(i) * 1.01);
        assert_int_equal(bins.count[i], 1);
    }
    as_bins_add(&bins, NAN);
    as_bins_add(&bins, -1);
    as_bins_add(&bins, 1e300);
    assert_int_equal(as_bins_total(&bins), AS_BINS_MAX + 2);
    assert_true(bins.count[0] == 2 && bins.count[AS_BINS_MAX - 1] == 2);
    as_buf_str(&notes, "{\"threads\":1,\"bins\":\"");
    as_bins_write(&bins, &notes);
    as_buf_str(&notes, "\"}");
    assert_true(reads(as_buf_get(&notes), &again));
    assert_memory_equal(&again, &bins, sizeof bins);
    as_buf_finish(&notes);
}

UNIT_TEST(test_damaged)
{
    static const char *const damaged[] = {
        "{\"bins\":\"\"}",
        "{\"bins\":\"8192\"}",
        "{\"bins\":\"8192:\"}",
        "{\"bins\":\"8192:-1\"}",
        "{\"bins\":\"8192:1,9000:1\"}",
        "{\"bins\":\"0.5:1\"}",
        "{\"bins\":\"-3:1\"}",
        "{\"bins\":\"nan:1\"}",
        "{\"bins\":\"inf:1\"}",
        "{\"bins\":\"1e40:1\"}",
        "{\"bins\":\"8192:99999999999999999999999\"}",
        "{\"bins\":\"8192:0\"}",
        "{\"bins\":7}",
        "{\"bins\":",
        "{}",
        "",
    };
    struct as_bins bins;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        if (reads(damaged[i], &bins))
            fail_msg("read: %s", damaged[i]);
    assert_false(reads(NULL, &bins));
}

static void add_trial(struct as_trials *t, int number, const char *detail, enum as_cell_status status)
{
    struct as_error err = {0};
    struct as_trial v = {.number = number,
                         .n = 1,
                         .samples = calloc(1, sizeof(double)),
                         .detail = strdup(detail),
                         .status = status,
                         .limit = NAN,
                         .clock_hz = NAN};
    assert_int_equal(as_trials_add(t, &v, &err), AS_OK);
}

/* Judging again, as each further trial does, counts no trial twice. */
UNIT_TEST(test_sum)
{
    struct as_cell cell = {.detail = strdup("{\"bins\":\"8192:5\",\"node\":0}")};
    struct as_trials t = {0};
    struct as_bins bins;
    add_trial(&t, 0, "{\"bins\":\"0:1 8192:3\"}", AS_CELL_OK);
    add_trial(&t, 1, "{\"bins\":\"8192:1000\"}", AS_CELL_FAILED);
    add_trial(&t, 2, "{\"bins\":\"8192:5 16384:2\",\"node\":0}", AS_CELL_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(as_bins_sum(&cell, &t, NULL), AS_OK);
        assert_string_equal(cell.detail, "{\"bins\":\"0:1 8192:8 16384:2\",\"node\":0}");
    }
    assert_true(as_bins_of(&cell, &bins) && as_bins_total(&bins) == 11);
    as_cell_finish(&cell);
    cell = (struct as_cell){.detail = strdup("{\"node\":0}")};
    assert_int_equal(as_bins_sum(&cell, &t, NULL), AS_OK);
    assert_string_equal(cell.detail, "{\"node\":0}");
    as_cell_finish(&cell);
    as_trials_finish(&t);
}

/* So many events at about this time, spread to both sides. */
static void heap(struct as_bins *b, double at, double spread, int n)
{
    for (int i = 0; i < n; i++)
        as_bins_add(b, at * exp(spread * (sqrt((i + 0.5) / n) - 1) * (i % 2 ? 1 : -1)));
}

UNIT_TEST(test_modes)
{
    struct as_bins two = {.count = {0}}, one = {.count = {0}}, coarse = {.count = {0}}, few = {.count = {0}};
    double mode[2], share;
    heap(&two, 9000, 0.15, 700);
    heap(&two, 17000, 0.15, 300);
    heap(&two, 4e6, 0.5, 40); /* stalls */
    assert_true(as_bins_two_modes(&two, mode, &share));
    assert_true(fabs(mode[0] / 9000 - 1) < 0.1 && fabs(mode[1] / 17000 - 1) < 0.1 && fabs(share - 0.7) < 0.05);
    heap(&one, 9000, 0.5, 1000);
    heap(&one, 4e6, 0.5, 40);
    assert_false(as_bins_two_modes(&one, mode, &share));
    for (int tick = 8; tick < 16; tick++) /* of a clock that steps by 100 */
        for (int i = 0; i < 40 * (5 - abs(tick - 12)); i++)
            as_bins_add(&coarse, 100 * tick);
    assert_false(as_bins_two_modes(&coarse, mode, &share));
    heap(&few, 9000, 0.1, 20);
    heap(&few, 30000, 0.1, 20);
    assert_false(as_bins_two_modes(&few, mode, &share));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
