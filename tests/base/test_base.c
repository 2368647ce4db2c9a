/* Errors, buffers, escaping, numbers as text, names, files, libraries, time and randomness. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/library.h"
#include "base/text.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_error(void **state)
{
    (void)state;
    struct as_error err;
    assert_int_equal(as_fail(&err, AS_IO, "cannot open \"%s\"", "x"), AS_IO);
    assert_string_equal(err.text, "cannot open \"x\"");
    assert_int_equal(as_fail_in(&err, "store"), AS_IO);
    assert_string_equal(err.text, "store: cannot open \"x\"");
    assert_int_equal(as_fail(&err, AS_USAGE, "again: %s", err.text), AS_USAGE); /* its own text as argument */
    assert_string_equal(err.text, "again: store: cannot open \"x\"");
    assert_int_equal(as_fail(NULL, AS_NOMEM, "x"), AS_NOMEM);
    assert_int_equal(as_nomem(&err, 12, "samples"), AS_NOMEM);
    assert_string_equal(err.text, "out of memory for 12 bytes of samples");
    /* cut between characters, not inside one */
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

static void test_buf(void **state)
{
    (void)state;
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
    as_buf_repeat(&b, 'x', SIZE_MAX / 2); /* cannot be: sticky */
    assert_true(b.failed);
    as_buf_str(&b, "more");
    assert_int_equal(b.len, 4999);
    assert_int_equal(as_buf_check(&b, NULL), AS_NOMEM);
    assert_null(as_buf_take(&b));
    assert_false(b.failed);
    as_buf_finish(&b);
}

static void test_grow(void **state)
{
    (void)state;
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

static void test_escape(void **state)
{
    (void)state;
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
}

static void test_parse_size(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"123", 123},
                {"1KiB", 1024},
                {"64k", 65536},
                {"4 MiB", 4194304},
                {"1GB", 1000000000},
                {"1.5MiB", 1572864},
                {"0.5KiB", 512},
                {"2kB", 2000},
                {"1.250kB", 1250},
                {"7B", 7},
                {"1G", 1073741824},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "x",
                                      "-1",
                                      "1.5B",
                                      "1XB",
                                      "1.KiB",
                                      "1e3",
                                      "0.3KiB",
                                      "1 2",
                                      "17EiB",
                                      "18446744073709551616",
                                      "1KiBx",
                                      "99999999999999999999999999",
                                      " ",
                                      ".5K"};
    uint64_t v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(as_parse_size(good[i].text, &v, NULL), AS_OK);
        assert_true(v == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct as_error err;
        v = 42;
        if (as_parse_size(bad[i], &v, &err) != AS_USAGE || v != 42)
            fail_msg("\"%s\" gave %llu", bad[i], (unsigned long long)v);
        assert_true(err.text[0]);
    }
}

static void test_parse_numbers(void **state)
{
    (void)state;
    uint64_t u;
    double d;
    assert_int_equal(as_parse_u64("42", &u, NULL), AS_OK);
    assert_int_equal(u, 42);
    static const char *const no_u64[] = {"", "-1", "+1", " 1", "1 ", "0x10", "18446744073709551616"};
    for (size_t i = 0; i < sizeof no_u64 / sizeof *no_u64; i++)
        assert_int_equal(as_parse_u64(no_u64[i], &u, NULL), AS_USAGE);
    assert_int_equal(as_parse_double("-1.5e3", &d, NULL), AS_OK);
    assert_true(d == -1500);
    static const char *const no_double[] = {"", "nan", "inf", "0x1p3", "1,5", "1e999", "1.5x", " 1", "."};
    for (size_t i = 0; i < sizeof no_double / sizeof *no_double; i++)
        assert_int_equal(as_parse_double(no_double[i], &d, NULL), AS_USAGE);
    static const struct {
        const char *text;
        double seconds;
    } durations[] = {{"60s", 60}, {"500ms", 0.5}, {"10m", 600}, {"1h", 3600}, {"2.5", 2.5}, {"3 min", 180}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        assert_int_equal(as_parse_duration(durations[i].text, &d, NULL), AS_OK);
        assert_true(fabs(d - durations[i].seconds) < 1e-12);
    }
    assert_int_equal(as_parse_duration("-1s", &d, NULL), AS_USAGE);
    assert_int_equal(as_parse_duration("1x", &d, NULL), AS_USAGE);
    assert_int_equal(as_parse_percent("1%", &d, NULL), AS_OK);
    assert_true(fabs(d - 0.01) < 1e-15);
    assert_int_equal(as_parse_percent("0.01", &d, NULL), AS_OK);
    assert_true(d == 0.01);
    assert_int_equal(as_parse_percent("100%", &d, NULL), AS_OK);
    assert_true(d == 1);
    assert_int_equal(as_parse_percent("1", &d, NULL), AS_USAGE); /* 1% or all? */
    assert_int_equal(as_parse_percent("x%", &d, NULL), AS_USAGE);
}

static const char *value(double v, const char *unit)
{
    static char out[64];
    struct as_buf b = AS_BUF_INIT;
    as_format_value(&b, v, unit);
    as_copy_text(out, sizeof out, as_buf_get(&b));
    as_buf_finish(&b);
    return out;
}

static void test_format(void **state)
{
    (void)state;
    assert_string_equal(value(5, "a\x1b[2J\xff"), "5.00 a\\x1b[2J\\xff"); /* a stored unit may be anything */
    assert_string_equal(value(112.3, "ns"), "112 ns");
    assert_string_equal(value(15321, "ns"), "15.3 us");
    assert_string_equal(value(1380, "ns"), "1380 ns");
    assert_string_equal(value(153.2, "GB/s"), "153 GB/s");
    assert_string_equal(value(4372, "GB/s"), "4.37 TB/s");
    assert_string_equal(value(0.0123, "GB/s"), "12.3 MB/s");
    assert_string_equal(value(3.4e9, "Hz"), "3.40 GHz");
    assert_string_equal(value(1.5, "x"), "1.50x");
    assert_string_equal(value(NAN, "ns"), "-");
    assert_string_equal(value(-3, "ns"), "-3.00 ns");
    assert_string_equal(value(0, "ns"), "0 ns");
    assert_string_equal(value(9.996, "cycles"), "10.0 cycles");
    assert_string_equal(value(16384, "events"), "16384 events");
    assert_string_equal(value(16383.9999, "events"), "16384 events");
    assert_string_equal(value(0.5, "updates"), "0.5 updates");
    assert_string_equal(value(4095.7, "ops/cycle"), "4096 ops/cycle");
    assert_string_equal(value(127.53, "B/cycle"), "128 B/cycle");
    assert_string_equal(value(65536, "ops/cycle"), "65536 ops/cycle");
    assert_string_equal(value(1234567, "ops/cycle"), "1230000 ops/cycle");
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {1536, "1.5 KiB"},
                 {33554432, "32 MiB"},
                 {1179648, "1.125 MiB"},
                 {23168, "22.6 KiB"},
                 {220416, "215 KiB"},
                 {371200, "362.5 KiB"},
                 {1048575, "1 MiB"},
                 {46341, "45.3 KiB"},
                 {UINT64_MAX, "16 EiB"},
                 {272629760, "260 MiB"}};
    struct as_buf b = AS_BUF_INIT;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        as_buf_clear(&b);
        as_format_size(&b, sizes[i].bytes);
        assert_string_equal(as_buf_get(&b), sizes[i].text);
    }
    static const struct {
        double seconds;
        const char *text;
    } durations[] = {{0.85, "850 ms"}, {42, "42 s"}, {200, "3 min 20 s"}, {3900, "1 h 5 min"}, {4.24, "4.2 s"},
                     {59.7, "1 min"},  {-1, "-"}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        as_buf_clear(&b);
        as_format_duration(&b, durations[i].seconds);
        assert_string_equal(as_buf_get(&b), durations[i].text);
    }
    as_buf_finish(&b);
}

/* Text and page scale alike, but that text keeps 1380 ns. */
static void test_scales(void **state)
{
    static const struct {
        double v;
        const char *unit, *shown, *typeset;
    } rows[] = {{999, "ns", "ns", "ns"},
                {1000, "ns", "ns", "µs"},
                {1e4, "ns", "us", "µs"},
                {-2e9, "ns", "s", "s"},
                {5e3, "us", "us", "ms"},
                {1e-12, "s", "ns", "ns"},
                {0.5, "GB/s", "MB/s", "MB/s"},
                {1048576, "B", "MiB", "MiB"},
                {2e9, "ops/s", "Gops/s", "Gops/s"},
                {1500, "pages/s", "k pages/s", "k pages/s"},
                {0.25, "x", "x", "×"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(as_scale_of(rows[i].v, rows[i].unit, false)->shown, rows[i].shown);
        assert_string_equal(as_scale_of(rows[i].v, rows[i].unit, true)->typeset, rows[i].typeset);
    }
    assert_null(as_scale_of(1, "updates", true));
}

/* A locale with decimal commas changes nothing. */
static void test_locale(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", NULL};
    const char *set = NULL;
    for (size_t i = 0; commas[i] && !set; i++)
        set = setlocale(LC_ALL, commas[i]);
    if (!set)
        skip(); /* none is installed */
    struct as_buf b = AS_BUF_INIT;
    double d;
    as_buf_printf(&b, "%.2f", 1.5);
    assert_string_equal(as_buf_get(&b), "1.50");
    assert_string_equal(value(112.3, "x"), "112x");
    assert_string_equal(value(1.23, "x"), "1.23x");
    assert_int_equal(as_parse_double("1.5", &d, NULL), AS_OK);
    assert_true(d == 1.5);
    as_buf_finish(&b);
    setlocale(LC_ALL, "C");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(as_glob("*", "") && as_glob("a*c?", "abbbcd") && as_glob("**x", "x") && as_glob("", ""));
    assert_false(as_glob("a", "A") || as_glob("a?", "a") || as_glob("", "a") || as_glob("*ab", "aab."));
    assert_int_equal(as_edit_distance("latency", "latecny"), 1);
    assert_int_equal(as_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(as_edit_distance("", "abc"), 3);
    static const char *const names[] = {"latency", "bandwidth", "launch", "c2c", NULL};
    assert_string_equal(as_nearest("latncy", names), "latency");
    assert_string_equal(as_nearest("band", names), "bandwidth");
    assert_string_equal(as_nearest("lunch", names), "launch");
    assert_null(as_nearest("zebra", names));
    assert_null(as_nearest("", names));
    char small[6];
    assert_string_equal(as_copy_text(small, sizeof small, "abc"), "abc");
    assert_string_equal(as_copy_text(small, sizeof small, "abcd\xc3\xa9"), "abcd");
    assert_string_equal(as_copy_text(small, sizeof small, NULL), "");
    char clean[16];
    assert_string_equal(as_copy_clean(clean, sizeof clean, "  a b  "), "a b");
    assert_string_equal(as_copy_clean(clean, sizeof clean, "   "), "");
    assert_string_equal(as_copy_clean(clean, sizeof clean, "a\xff\xc3\xa9\xed\xa0\x80"), /* the last: a surrogate */
                        "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(as_copy_clean(small, sizeof small, "abc\xff"), "abc"); /* no room for the replacement */
    assert_string_equal(as_copy_clean(small, 1, "abc"), "");
    assert_null(as_strdup(NULL));
}

static void test_files(void **state)
{
    (void)state;
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
    assert_int_equal(as_write_file(link, "three", 5, &err), AS_OK); /* through the link, keeping it and the mode */
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(as_buf_read_file(&b, path, 100, &err), AS_OK);
    assert_string_equal(as_buf_get(&b), "three");
    as_buf_clear(&b);
    assert_int_equal(as_buf_read_file(&b, path, 4, &err), AS_FORMAT);
    assert_int_equal(as_buf_read_file(&b, dir, 100, &err), AS_IO);
    assert_int_equal(as_write_file(dir, "x", 1, &err), AS_IO);
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
    assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
    as_buf_finish(&b);
}

static void test_libraries(void **state)
{
    static const char *const names[] = {"libassay-none.so.1", "libassay-none.so", "libm.so.6"};
    const char *found = NULL, *missing = NULL;
    char why[64] = "";
    double (*f)(double) = NULL;
    (void)state;
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

static void test_json(void **state)
{
    struct as_buf b = AS_BUF_INIT;
    (void)state;
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

static void test_time(void **state)
{
    (void)state;
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),  cmocka_unit_test(test_buf),        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_escape), cmocka_unit_test(test_parse_size), cmocka_unit_test(test_parse_numbers),
        cmocka_unit_test(test_format), cmocka_unit_test(test_json),       cmocka_unit_test(test_scales),
        cmocka_unit_test(test_locale), cmocka_unit_test(test_names),      cmocka_unit_test(test_files),
        cmocka_unit_test(test_time),   cmocka_unit_test(test_random),     cmocka_unit_test(test_libraries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
