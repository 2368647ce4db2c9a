/* Links between nodes as they are stored, and as numbers of nodes. */
#include "base/text.h"
#include "fleet/fleet.h"
#include "unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 12 };

static void add_link(struct as_fleet_links *l, const char *what, int from, int to, double value, bool is_latency)
{
    struct as_cell cell = {.status = AS_CELL_OK, .lower_is_better = is_latency};
    char text[16], detail[80];
    const char *const axes[][2] = {{"what", what}, {"size", "8"}, {"pairs", "together"}};
    strcpy(cell.unit, is_latency ? "ns" : "GB/s");
    cell.sum = (struct as_summary){.n = 60,
                                   .trials = 5,
                                   .median = value,
                                   .ci = {value * 0.999, value * 1.001},
                                   .min = value,
                                   .max = value,
                                   .modes = 1};
    cell.trials_done = 5;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(as_axes_add(&cell.axes, axes[i][0], axes[i][1], NULL), AS_OK);
    snprintf(text, sizeof text, "%d", from);
    assert_int_equal(as_axes_add(&cell.axes, "from", text, NULL), AS_OK);
    snprintf(text, sizeof text, "%d", to);
    assert_int_equal(as_axes_add(&cell.axes, "to", text, NULL), AS_OK);
    snprintf(detail, sizeof detail, "{\"from\":\"n%d\",\"to\":\"n%d\"}", from, to);
    cell.detail = detail;
    for (int i = 1; i < 3; i++) /* a size is a number */
        cell.axes.v[i].number = 8;
    cell.axes.v[3].number = from;
    cell.axes.v[4].number = to;
    assert_int_equal(as_fleet_links_add(l, &cell, NULL), AS_OK);
}

/* All pairs of a fleet whose links differ a little, but for those of one node and one pair. */
static void make_fleet(struct as_fleet *f, int slow)
{
    for (int i = 0; i < NODES; i++) {
        struct as_machine_sheet m = {.n = 0};
        snprintf(m.host, sizeof m.host, "n%d", i);
        assert_int_equal(as_fleet_add(f, "x", &m, NULL), AS_OK);
    }
    for (int i = 0; i < NODES; i++)
        for (int k = i + 1; k < NODES; k++) {
            const double by = 1 + 1e-3 * ((7 * i + 3 * k) % 5);
            const double latency = 1000 * by * (i == slow || k == slow ? 1.5 : 1) * (i == 2 && k == 3 ? 3 : 1);
            add_link(&f->links, "latency", i, k, latency, true);
            add_link(&f->links, "both", i, k, 20 * by, false);
        }
}

UNIT_TEST(test_a_slow_node)
{
    struct as_fleet f = {0};
    struct as_fleet_judged j;
    struct as_buf said = AS_BUF_INIT;
    const struct as_fleet_asked asked = {0.01, 0.005};
    make_fleet(&f, 7);
    assert_int_equal(as_fleet_use_links(&f, NULL), AS_OK);
    assert_int_equal(f.lines_n, 2);
    as_fleet_sort(&f);
    assert_int_equal(as_fleet_judge(&f, &asked, &j, NULL), AS_OK);
    assert_int_equal(j.worse, 1);
    assert_string_equal(f.nodes[j.v[0].node].name, "n7");
    as_fleet_say(&f, &j.v[0], &said);
    assert_non_null(strstr(as_buf_get(&said), "Message latency, 8 B, concurrent pairs, over its links is 50% ("));
    as_buf_clear(&said);
    as_fleet_summary(&f, &j, &said);
    assert_null(strstr(as_buf_get(&said), "x links")); /* no device */
    as_buf_finish(&said);
    as_fleet_judged_finish(&j);
    as_fleet_finish(&f);
}

/* A node without numbers of its own is not judged by its links. */
UNIT_TEST(test_a_failed_node)
{
    struct as_fleet f = {0};
    struct as_fleet_judged j;
    const struct as_fleet_asked asked = {0.01, 0.005};
    make_fleet(&f, 7);
    strcpy(f.nodes[7].why, "failed: planted");
    assert_int_equal(as_fleet_use_links(&f, NULL), AS_OK);
    assert_int_equal(as_fleet_judge(&f, &asked, &j, NULL), AS_OK);
    assert_int_equal(j.worse, 0);
    assert_int_equal(f.nodes[7].numbers, 0);
    assert_string_equal(as_fleet_verdict(&j, 7), "unknown");
    as_fleet_judged_finish(&j);
    as_fleet_finish(&f);
}

UNIT_TEST(test_no_slow_node)
{
    struct as_fleet f = {0};
    struct as_fleet_judged j;
    const struct as_fleet_asked asked = {0.01, 0.005};
    make_fleet(&f, -1);
    assert_int_equal(as_fleet_use_links(&f, NULL), AS_OK);
    assert_int_equal(as_fleet_judge(&f, &asked, &j, NULL), AS_OK);
    assert_int_equal(j.worse, 0); /* a slow pair is no slow node */
    as_fleet_judged_finish(&j);
    as_fleet_finish(&f);
}

UNIT_TEST(test_the_slowest_pair)
{
    struct as_fleet f = {0};
    struct as_link_summary s;
    struct as_buf out = AS_BUF_INIT;
    const struct as_table_style style = {.width = 200};
    make_fleet(&f, -1);
    assert_int_equal(f.links.ranks, NODES);
    assert_int_equal(as_link_summarize(&f.links, 0, &s, NULL), AS_OK);
    assert_int_equal(s.n, NODES * (NODES - 1) / 2);
    assert_int_equal(f.links.v[s.worst_at].rank[0], 2);
    assert_int_equal(f.links.v[s.worst_at].rank[1], 3);
    assert_true(s.best >= 1000 && s.best < s.median && s.median < s.worst);
    assert_int_equal(as_fleet_links_text(&f.links, 1, &style, &out, NULL), AS_OK);
    assert_non_null(strstr(as_buf_get(&out), "latency, 8 B, concurrent pairs, 66 pairs: median 1.00 µs"));
    assert_non_null(strstr(as_buf_get(&out), "slowest: rank 2 (n2) and 3 (n3), 3.0"));
    assert_non_null(
        strstr(as_buf_get(&out), "bidirectional bandwidth, 8 B, concurrent pairs, 66 pairs: median 20.0 GB/s"));
    as_buf_finish(&out);
    as_fleet_finish(&f);
}

/* What a merged file has of links is what a store has. */
UNIT_TEST(test_merged)
{
    struct as_fleet f = {0};
    struct as_fleet_links again = {0};
    struct as_buf lines = AS_BUF_INIT, one = AS_BUF_INIT, other = AS_BUF_INIT;
    const struct as_table_style style = {.width = 200};
    make_fleet(&f, 7);
    f.links.started_at = 5;
    f.links.is_complete = true;
    f.links.v[3].number.value = NAN;
    strcpy(f.links.v[3].why, "\"a\" reason");
    f.links.v[4].number.modes = 2;
    f.links.v[4].number.mode[0] = 900;
    f.links.v[4].number.mode[1] = 1900;
    f.links.v[4].number.share0 = 0.4;
    f.links.v[5].number.bound = -1;
    assert_int_equal(as_fleet_links_write(&f.links, &lines, NULL), AS_OK);
    char *rest = as_buf_take(&lines), *const text = rest;
    for (char *line; (line = strsep(&rest, "\n")) && line[0];) {
        assert_true(as_fleet_link_is_line(line));
        assert_int_equal(as_fleet_links_read_line(&again, line, NULL), AS_OK);
    }
    assert_true(again.is_complete && again.started_at == 5 && again.ranks == f.links.ranks);
    assert_int_equal(again.n, f.links.n);
    assert_int_equal(as_fleet_links_text(&f.links, 999, &style, &one, NULL), AS_OK);
    assert_int_equal(as_fleet_links_text(&again, 999, &style, &other, NULL), AS_OK);
    assert_string_equal(as_buf_get(&one), as_buf_get(&other));
    assert_false(as_fleet_link_is_line("{\"sheet_version\":1}"));
    assert_int_not_equal(as_fleet_links_read_line(&again, "{\"link_version\":1,", NULL), AS_OK);
    assert_int_not_equal(as_fleet_links_read_line(&again, "{\"link_version\":9}", NULL), AS_OK);
    free(text);
    as_buf_finish(&one);
    as_buf_finish(&other);
    as_fleet_links_finish(&again);
    as_fleet_finish(&f);
}

/* Of several runs: with numbers before without, complete before killed, then the later; of killed ones the fuller. */
UNIT_TEST(test_the_run_that_counts)
{
    static const struct {
        size_t links;
        double at;
        bool complete, numbers;
    } runs[] = {{1, 9, true, false}, {1, 1, false, true}, {3, 2, false, true},
                {2, 3, false, true}, {1, 2, true, true},  {1, 4, true, true}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            struct as_fleet_links l[2] = {{0}, {0}};
            const size_t of[2] = {i, k};
            for (int side = 0; side < 2; side++) {
                for (size_t n = 0; n < runs[of[side]].links; n++)
                    add_link(&l[side], "latency", (int)n, (int)n + 1, runs[of[side]].numbers ? 1000 : NAN, true);
                l[side].started_at = runs[of[side]].at;
                l[side].is_complete = runs[of[side]].complete;
            }
            as_fleet_links_prefer(&l[0], &l[1]);
            const size_t order[] = {0, 1, 3, 2, 4, 5}; /* from worst to best */
            size_t a = 0, b = 0;
            while (order[a] != i)
                a++;
            while (order[b] != k)
                b++;
            assert_true(l[0].started_at == runs[a > b ? i : k].at || (i == k && l[0].n == runs[i].links));
            assert_int_equal(l[1].n, 0);
            as_fleet_links_finish(&l[0]);
        }
}

UNIT_TEST(test_other_hosts)
{
    struct as_fleet f = {0};
    struct as_machine_sheet m = {.host = "elsewhere"};
    assert_int_equal(as_fleet_add(&f, "x", &m, NULL), AS_OK);
    add_link(&f.links, "latency", 0, 1, 1000, true);
    assert_int_equal(as_fleet_use_links(&f, NULL), AS_OK);
    assert_int_equal(f.kinds_n, 0);
    assert_int_equal(f.lines_n, 0);
    as_fleet_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slow_node),  cmocka_unit_test(test_a_failed_node),
        cmocka_unit_test(test_no_slow_node), cmocka_unit_test(test_the_slowest_pair),
        cmocka_unit_test(test_merged),       cmocka_unit_test(test_the_run_that_counts),
        cmocka_unit_test(test_other_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
