#include "report/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *in, *out;
} cases[] = {
    {"", ""},
    {"# Title\n", "<h3>Title</h3>\n"},
    {"###### deep\n", "<h6>deep</h6>\n"},
    {"#not a heading", "<p>#not a heading</p>\n"},
    {"one\ntwo\n\nthree", "<p>one two</p>\n<p>three</p>\n"},
    {"a *b* **c** `d*e*`", "<p>a <em>b</em> <strong>c</strong> <code>d*e*</code></p>\n"},
    {"2 * 3 * 4 and a*", "<p>2 * 3 * 4 and a*</p>\n"},
    {"snake_case_word", "<p>snake_case_word</p>\n"},
    {"- a\n- b\n  goes on\n", "<ul>\n<li>a</li>\n<li>b goes on</li>\n</ul>\n"},
    {"1. a\n2. b\n", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"},
    {"```\na < b & c\n```\nafter", "<pre tabindex=\"0\"><code>a &lt; b &amp; c\n</code></pre>\n<p>after</p>\n"},
    {"```\nnever closed", "<pre tabindex=\"0\"><code>never closed\n</code></pre>\n"},
    {"| a | b |\n|---|---|\n| 1 | `2` |\n",
     "<div class=\"scroll\" "
     "tabindex=\"0\"><table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td><code>2</code></td>"
     "</tr>\n</table></div>\n"},
    {"> said\n> so", "<blockquote><p>said so </p></blockquote>\n"},
    {"[a](https://example.org/x)", "<p><a rel=\"noreferrer\" href=\"https://example.org/x\">a</a></p>\n"},
    {"[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"},
    {"[a](https://x\"onclick=y)", "<p><a rel=\"noreferrer\" href=\"https://x&quot;onclick=y\">a</a></p>\n"},
    {"<script>x</script> & \"q\"", "<p>&lt;script&gt;x&lt;/script&gt; &amp; &quot;q&quot;</p>\n"},
    {"line\r\nend\r\n", "<p>line end</p>\n"},
};

static void known_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_buf b = AS_BUF_INIT;
        as_markdown(&b, cases[i].in, 3);
        assert_string_equal(as_buf_get(&b), cases[i].out);
        as_buf_finish(&b);
    }
}

/* Random strings of markers: it ends, and no tag comes out that is not its own. */
static void random_texts(void **state)
{
    (void)state;
    static const char *const parts[] = {"*",  "**",  "`",  "```", "\n",  "\n\n", "[",    "](", ")", "https://a", "|",
                                        "- ", "1. ", "# ", "> ",  "<b>", "\"",   "text", " ",  "é", "\xff"};
    unsigned seed = 7;
    for (int round = 0; round < 3000; round++) {
        struct as_buf in = AS_BUF_INIT, out = AS_BUF_INIT;
        for (int i = 0; i < 40; i++) {
            seed = seed * 1103515245u + 12345u;
            as_buf_str(&in, parts[(seed >> 16) % (sizeof parts / sizeof *parts)]);
        }
        as_markdown(&out, as_buf_get(&in), 3);
        assert_null(strstr(as_buf_get(&out), "<b>"));
        assert_null(strstr(as_buf_get(&out), "<script"));
        assert_true(out.len < 64 * (in.len + 64));
        as_buf_finish(&in);
        as_buf_finish(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_texts), cmocka_unit_test(random_texts)};
    return cmocka_run_group_tests_name("report: markdown", tests, NULL, NULL);
}
