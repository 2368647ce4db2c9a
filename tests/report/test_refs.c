/* Published figures on the page: those beside a fact with what was measured, the others folded away, all of it escaped.
 */
#include "page_asserts.h"
#include "report/report.h"
#include "synth.h"

#define HEADER "chip,device,fact,metric,axes,qualifier,value,unit,conditions,source,line,printed\n"

static struct as_buf page_of(const char *text)
{
    struct as_error err = {0};
    struct as_buf page = AS_BUF_INIT;
    struct as_refs refs;
    struct synth *s = synth_make("plain");
    assert_non_null(s);
    if (as_refs_parse("made", text, strlen(text), &refs, &err) != AS_OK)
        fail_msg("%s", err.text);
    s->runs[0].refs = &refs;
    assert_int_equal(as_report_html(s->runs, s->n, &page, &err), AS_OK);
    as_refs_finish(&refs);
    synth_free(s);
    return page;
}

static void figures_stand_beside_their_facts(void **state)
{
    (void)state;
    struct as_buf page =
        page_of(HEADER "A<b>,cpu,cache.L1.size,size <i>,op=fadd32 ilp=2,about,32768 to 49152,B,when <u>,"
                       "who <s>,7,~32-48 KB\n"
                       "B,device,,clock,,,1278000000,Hz,always,someone,,\n");
    assert_has(&page, "<a href=\"#refs\">Published figures</a>");
    assert_has(&page, "<tr><td>A&lt;b&gt;, CPU</td><td>size &lt;i&gt;, op=fadd32 ilp=2</td>"
                      "<td class=\"n\">about 32 to 48\u00a0KiB</td><td>");
    assert_has(&page, "<code>cpu cache.L1.size</code></td><td>when &lt;u&gt;</td><td>who &lt;s&gt;</td></tr>");
    assert_has(&page, "<summary>1 figure without a matching fact on this page</summary>");
    assert_has(&page, "<tr><td>B, device</td><td>clock</td><td class=\"n\">1.278\u00a0GHz</td><td>always</td>");
    assert_int_equal(count(as_buf_get(&page), "<th>Measured here</th>"), 1);
    as_buf_finish(&page);
}

static void a_table_without_rows_is_left_out(void **state)
{
    (void)state;
    struct as_buf page = page_of(HEADER "A,any,cache.L1.size,size,,,1,B,c,s,,\n");
    assert_hasnt(&page, "without a matching fact");
    as_buf_finish(&page);
    page = page_of(HEADER "A,any,,size,,,1,B,c,s,,\nB,any,,size,,,2,B,c,s,,\n");
    assert_has(&page, "<summary>2 figures without a matching fact on this page</summary>");
    assert_hasnt(&page, "<th>Measured here</th>");
    as_buf_finish(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_stand_beside_their_facts),
        cmocka_unit_test(a_table_without_rows_is_left_out),
    };
    return cmocka_run_group_tests_name("report: published figures", tests, NULL, NULL);
}
