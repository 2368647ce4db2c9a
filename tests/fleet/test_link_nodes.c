/* Links between nodes as they are stored, and as numbers of nodes. */
#include "base/text.h"
#include "fleet/fleet.h"
#include "unit_test.h"

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
        cmocka_unit_test(test_a_slow_node),
        cmocka_unit_test(test_no_slow_node),
        cmocka_unit_test(test_the_slowest_pair),
        cmocka_unit_test(test_other_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
