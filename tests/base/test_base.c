/* Errors, buffers, escaping, JSON, files, libraries, time and randomness. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/library.h"
#include "base/text.h"
#include "tests/unit_test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

UNIT_TEST(test_error)
{
    struct as_error err;
    assert_int_equal(as_fail(&err, AS_IO, "cannot open \"%s\"", "x"), AS_IO);
    assert_string_equal(err.text, "cannot open \"x\"");
    assert_int_equal(as_fail_in(&err, "store"), AS_IO);
    assert_string_equal(err.text, "store: cannot open \"x\"");
    assert_int_equal(as_fail(&err, AS_USAGE, "again: %s", err.text), AS_USAGE); /* its own text as an argument */
    assert_string_equal(err.text, "again: store: cannot open \"x\"");
    assert_int_equal(as_fail(NULL, AS_NOMEM, "x"), AS_NOMEM);
    assert_int_equal(as_nomem(&err, 12, "samples"), AS_NOMEM);
    assert_string_equal(err.text, "out of memory for 12 bytes of samples");
    /* cut between characters, not within one */
    char longer[700];
    for (size_t i = 0; i < sizeof longer - 2; i += 2)
        memcpy(longer + i, "\xc3\xa9", 2);
    longer[sizeof longer - 2] = '\0';
    as_fail(&err, AS_IO, "%s", longer);
    assert_int_equal(strlen(err.text), 510);
    as_fail(&err, AS_IO, "x%s", longer);
    assert_int_equal(strlen(err.text), 511);
    for (int c = 0; c <= AS_NOTFOUND; c++)
        assert_true(as_status_word((enum as_status)c)[0]);
    assert_string_equal(as_status_word((enum as_status)99), "unknown");
}

UNIT_TEST(test_buf)
{
    struct as_buf b = AS_BUF_INIT;
    assert_string_equal(as_buf_get(&b), "");
    as_buf_str(&b, NULL);
    assert_null(b.data);
    for (int i = 0; i < 1000; i++)
        as_buf_printf(&b, "%d,", i);
    assert_int_equal(b.len, 3890);
    as_buf_clear(&b);
    as_buf_repeat(&b, '-', 500);
    as_buf_printf(&b, "%s", as_buf_get(&(struct as_buf){.data = (char[]){"long"}, .len = 4}));
    assert_int_equal(b.len, 504);
    char *taken = as_buf_take(&b);
    assert_int_equal(strlen(taken), 504);
    free(taken);
    assert_null(b.data);
    taken = as_buf_take(&b);
    assert_string_equal(taken, "");
    free(taken);
    char *text = malloc(5000);
    assert_non_null(text);
    memset(text, 'y', 4999);
    text[4999] = '\0';
    as_buf_printf(&b, "%s", text);
    assert_int_equal(b.len, 4999);
    free(text);
    as_buf_repeat(&b, 'x', SIZE_MAX / 2); /* too large: the error is sticky */
    assert_true(b.failed);
    as_buf_str(&b, "more");
    assert_int_equal(b.len, 4999);
    assert_int_equal(as_buf_check(&b, NULL), AS_NOMEM);
    assert_null(as_buf_take(&b));
    assert_false(b.failed);
    as_buf_finish(&b);
}

UNIT_TEST(test_grow)
{
    void *items = NULL;
    size_t cap = 0;
    assert_int_equal(as_grow(&items, &cap, 100, 24, NULL), AS_OK);
    assert_true(cap >= 100);
    assert_int_equal(as_grow(&items, &cap, SIZE_MAX / 2, 24, NULL), AS_NOMEM);
    assert_true(cap >= 100 && items);
    free(items);
}

typedef void escape_fn(struct as_buf *b, const char *s);

static void escapes(escape_fn *escape, const char *in, const char *expect)
{
    struct as_buf b = AS_BUF_INIT;
    escape(&b, in);
    assert_string_equal(as_buf_get(&b), expect);
    as_buf_finish(&b);
}

UNIT_TEST(test_escape)
{
    escapes(as_buf_html, "<a href=\"x\">&'\x1b\xff\xc3\xa9\n",
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"
            "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\n");
    escapes(as_buf_html, NULL, "");
    escapes(as_buf_html, "\xe2\x80\xae", "\xef\xbf\xbd"); /* right-to-left override */
    escapes(as_buf_json_str, "\"\\\n\x01</script>\xc0\x80",
            "\"\\\"\\\\\\n\\u0001\\u003c/script>\xef\xbf\xbd\xef\xbf\xbd\"");
    escapes(as_buf_json_str, NULL, "\"\"");
    escapes(as_buf_json_str, "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* half a surrogate pair */
    escapes(as_buf_terminal, "a\x1b[31m\xc2\x9bz\xc3\xa9", "a\\x1b[31m\\xc2\\x9bz\xc3\xa9");
    escapes(as_buf_terminal_lines, "a\tb\r\nc\rd\x1b\n", "a\tb\r\nc\\x0dd\\x1b\n");
    escapes(as_buf_json_text, "{\"a\":\n\"\\u001b\xc2\x9b\x7f\xe2\x80\xae\xc3\xa9\"}",
            "{\"a\":\n\"\\u001b\\u009b\\u007f\\u202e\xc3\xa9\"}");
    escapes(as_buf_csv, "plain", "plain");
    escapes(as_buf_csv, "a,\"b\"", "\"a,\"\"b\"\"\"");
    escapes(as_buf_csv, "\x1b[2J\xff", "\xef\xbf\xbd[2J\xef\xbf\xbd");
    escapes(as_buf_csv, "=1+1", "'=1+1");
    escapes(as_buf_csv, "@x,y", "\"'@x,y\"");
    escapes(as_buf_csv, NULL, "");
    escapes(as_buf_markdown, "a|b\n# c\r<d>*\\`[x](y)~~\xff",
            "a\\|b # c\xef\xbf\xbd&lt;d&gt;\\*\\\\\\`\\[x\\](y)\\~\\~"
            "\xef\xbf\xbd");
    escapes(as_buf_markdown, NULL, "");
    escapes(as_buf_metric_label, "a\"} 1\nb\\\r\x1b\xff\xc3\xa9",
            "a\\\"} 1\\nb\\\\\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
    escapes(as_buf_metric_label, NULL, "");
    escapes(as_buf_c_comment, "4b-1 */\n#x /* \\\n?\?/ \xc3\xa9", "4b-1 ___#x __ _____ __");
    escapes(as_buf_c_comment, NULL, "");
}

UNIT_TEST(test_append)
{
    char dir[] = "/tmp/assay-append-XXXXXX", path[128];
    struct as_buf b = AS_BUF_INIT;
    struct as_error err;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/file", dir);
    assert_int_equal(as_append_file(path, "one", 3, &err), AS_OK);
    assert_int_equal(as_append_file(path, "two", 3, &err), AS_OK);
    assert_int_equal(as_buf_read_file(&b, path, 100, &err), AS_OK);
    assert_string_equal(as_buf_get(&b), "onetwo");
    as_buf_finish(&b);
    assert_int_equal(as_append_file("/dev/null", "two", 3, &err), AS_OK);
    assert_int_equal(as_write_file(path, "SQLite format 3", 16, &err), AS_OK); /* with its NUL */
    assert_int_equal(as_write_file(path, "x", 1, &err), AS_USAGE);
    assert_int_equal(as_append_file(path, "x", 1, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "database"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

UNIT_TEST(test_files)
{
    char dir[] = "/tmp/assay-base-XXXXXX", path[128], link[128];
    struct as_buf b = AS_BUF_INIT;
    struct as_error err;
    struct stat info;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/file", dir);
    snprintf(link, sizeof link, "%s/link", dir);
    assert_int_equal(as_write_file(path, "one", 3, &err), AS_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(as_write_file(link, "three", 5, &err), AS_OK); /* through the link, which stays */
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(as_buf_read_file(&b, path, 100, &err), AS_OK);
    assert_string_equal(as_buf_get(&b), "three");
    as_buf_clear(&b);
    assert_int_equal(as_buf_read_file(&b, path, 4, &err), AS_FORMAT);
    assert_int_equal(as_buf_read_file(&b, dir, 100, &err), AS_USAGE);
    assert_int_equal(as_write_file(dir, "x", 1, &err), AS_USAGE);
    assert_int_equal(as_write_file("/tmp/no/such/folder/x", "x", 1, &err), AS_IO);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(as_write_file("/dev/full", "x", 1, &err), AS_IO);
        assert_non_null(strstr(err.text, "/dev/full"));
    }
    as_buf_clear(&b);
    assert_int_equal(as_buf_read_file(&b, "/proc/self/status", 1 << 20, &err), AS_OK);
    assert_true(b.len > 100);
    unlink(link);
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* no temporary file remains */
    as_buf_finish(&b);
}

UNIT_TEST(test_libraries)
{
    static const char *const names[] = {"libassay-none.so.1", "libassay-none.so", "libm.so.6"};
    const char *found = NULL, *missing = NULL;
    char why[64] = "";
    double (*f)(double) = NULL;
    assert_null(as_library_open(names, 2, &found, why, sizeof why));
    assert_non_null(strstr(why, "libassay-none.so.1"));
    void *library = as_library_open(names, 3, &found, why, sizeof why);
    assert_non_null(library);
    assert_string_equal(found, "libm.so.6");
    as_library_function(library, "cos", &f, &missing);
    assert_null(missing);
    assert_true(f && f(0) == 1);
    as_library_function(library, "cosine", &f, NULL);
    assert_null(f);
    as_library_function(library, "sine", &f, &missing);
    as_library_function(library, "tangent", &f, &missing);
    assert_string_equal(missing, "sine");
}

UNIT_TEST(test_json)
{
    struct as_buf b = AS_BUF_INIT;
    as_buf_char(&b, '{');
    as_json_add_text(&b, "text", "a\"b");
    as_json_add_number(&b, "tenth", 0.1);
    as_json_add_number(&b, "third", 1 / 3.0);
    as_json_add_number(&b, "zero", -0.0);
    as_json_add_number(&b, "many", 123456789012.0);
    as_json_add_number(&b, "unknown", NAN);
    as_json_add_int(&b, "int", -3);
    as_json_add_bool(&b, "bool", true);
    as_json_add_name(&b, "list");
    as_buf_str(&b, "[]}");
    assert_string_equal(as_buf_get(&b), "{\"text\":\"a\\\"b\",\"tenth\":0.1,\"third\":0.3333333333333333,\"zero\":0,"
                                        "\"many\":123456789012,\"unknown\":null,\"int\":-3,\"bool\":true,\"list\":[]}");
    as_buf_finish(&b);
}

UNIT_TEST(test_time)
{
    char text[32];
    as_format_wall(1795251900, text, sizeof text);
    assert_string_equal(text, "2026-11-21T09:05:00Z");
    as_format_wall(0, text, sizeof text);
    assert_string_equal(text, "1970-01-01T00:00:00Z");
    as_format_wall(NAN, text, sizeof text);
    assert_string_equal(text, "-");
    as_format_wall(1e18, text, sizeof text);
    assert_string_equal(text, "-");
    as_format_wall(0, text, 5);
    assert_true(strlen(text) < 5);
    double start = as_now();
    as_sleep(0.01);
    as_sleep(-1);
    as_sleep(NAN);
    assert_true(as_now() - start >= 0.005);
    assert_true(as_wall() > 1.7e9);
}

static void test_random(void **state)
{
    (void)state;
    struct as_rng r = {{1, 2, 3, 4}};
    /* the first values of xoshiro256** from this state, by its definition */
    assert_true(as_rng_u64(&r) == 11520);
    assert_true(as_rng_u64(&r) == 0);
    assert_true(as_rng_u64(&r) == 1509978240);
    as_rng_seed(&r, 7);
    struct as_rng same = r;
    size_t counts[7] = {0};
    double mean = 0, square = 0;
    for (int i = 0; i < 70000; i++) {
        counts[as_rng_below(&r, 7)]++;
        double z = as_rng_normal(&r), u = as_rng_double(&r);
        mean += z / 70000;
        square += z * z / 70000;
        assert_true(u >= 0 && u < 1);
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], 9600, 10400);
    assert_true(fabs(mean) < 0.015 && fabs(square - 1) < 0.025);
    assert_int_equal(as_rng_below(&r, 1), 0);
    int items[50];
    for (int i = 0; i < 50; i++)
        items[i] = i;
    as_rng_shuffle(&same, items, 50, sizeof *items);
    int moved = 0, sum = 0;
    for (int i = 0; i < 50; i++) {
        moved += items[i] != i;
        sum += items[i];
    }
    assert_true(moved > 40);
    assert_int_equal(sum, 1225);
    as_rng_shuffle(&same, items, 0, sizeof *items);
    assert_true(as_rng_entropy() != as_rng_entropy());
    char hex[17];
    as_hash_hex(0x0123456789abcdefu, hex);
    assert_string_equal(hex, "0123456789abcdef");
    assert_true(as_hash("", 0) == 0x2d06800538d394c2u); /* XXH3_64bits of nothing */
    assert_true(as_hash("a", 1) != as_hash("b", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_error),  cmocka_unit_test(test_buf),
                                       cmocka_unit_test(test_grow),   cmocka_unit_test(test_escape),
                                       cmocka_unit_test(test_json),   cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_append), cmocka_unit_test(test_time),
                                       cmocka_unit_test(test_random), cmocka_unit_test(test_libraries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
