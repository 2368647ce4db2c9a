/* The cache of code in a folder of its own: what was put is got, and whatever is wrong with a file, the folder or the
 * environment, it has nothing and stays usable. */
#include "device/code_cache.h"
#include "tests/unit_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY = 0x1234, BYTES = 1000 };
static char home[] = "/tmp/assay-cache-XXXXXX";
static unsigned char code[BYTES];

static void in_folder(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/cache/assay/%s", home, name);
}

static void remove_all(void)
{
    char path[400], command[500];
    snprintf(path, sizeof path, "%s/cache", home);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    char path[200];
    (void)state;
    if (!mkdtemp(home))
        return 1;
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (unsigned char)(i * 7);
    snprintf(path, sizeof path, "%s/cache", home);
    return setenv("XDG_CACHE_HOME", path, 1) || unsetenv("ASSAY_CACHE");
}

static int tear_down(void **state)
{
    (void)state;
    remove_all();
    return rmdir(home);
}

static bool is_cached(uint64_t key)
{
    unsigned char *got = NULL;
    size_t bytes = 0;
    if (!as_code_cache_get(key, &got, &bytes)) {
        assert_null(got);
        return false;
    }
    assert_int_equal(bytes, sizeof code);
    assert_memory_equal(got, code, sizeof code);
    free(got);
    return true;
}

static size_t count_files(void)
{
    char path[200];
    size_t n = 0;
    in_folder(path, sizeof path, "");
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

UNIT_TEST(test_put_and_get)
{
    struct stat st;
    char path[200];
    assert_false(is_cached(KEY));
    as_code_cache_put(KEY, code, sizeof code);
    assert_true(is_cached(KEY));
    assert_false(is_cached(KEY + 1));
    as_code_cache_put(KEY, code, sizeof code); /* again: replaced, nothing left over */
    assert_true(is_cached(KEY));
    assert_int_equal(count_files(), 1);
    in_folder(path, sizeof path, "");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static size_t read_file(const char *path, unsigned char *out, size_t size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, size, f);
    fclose(f);
    return n;
}

static void write_file(const char *path, const unsigned char *from, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Cut anywhere, or with any byte of its header or some of its body changed, it is not believed; put writes it anew. */
UNIT_TEST(test_damaged)
{
    char path[200];
    unsigned char whole[2 * BYTES];
    as_code_cache_put(KEY, code, sizeof code);
    in_folder(path, sizeof path, "0000000000001234.code");
    size_t n = read_file(path, whole, sizeof whole);
    assert_in_range(n, BYTES + 1, sizeof whole - 1);
    for (size_t cut = 0; cut < n; cut++) {
        write_file(path, whole, cut);
        assert_false(is_cached(KEY));
    }
    for (size_t at = 0; at < n; at += at < n - BYTES ? 1 : 37) {
        whole[at] ^= 0x40;
        write_file(path, whole, n);
        assert_false(is_cached(KEY));
        whole[at] ^= 0x40;
    }
    as_code_cache_put(KEY, code, sizeof code);
    assert_true(is_cached(KEY));
}

/* A file of another key by this key's name is foreign. */
UNIT_TEST(test_renamed)
{
    char from[200], to[200];
    as_code_cache_put(KEY, code, sizeof code);
    in_folder(from, sizeof from, "0000000000001234.code");
    in_folder(to, sizeof to, "0000000000001235.code");
    assert_int_equal(rename(from, to), 0);
    assert_false(is_cached(KEY + 1));
    assert_int_equal(unlink(to), 0);
}

/* What is no plain file is neither waited for nor followed into. */
UNIT_TEST(test_no_plain_file)
{
    char path[200];
    in_folder(path, sizeof path, "0000000000001234.code");
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_cached(KEY));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(is_cached(KEY));
    as_code_cache_put(KEY, code, sizeof code);
    assert_false(is_cached(KEY));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_files(), 0); /* what could not take its name is gone too */
}

/* Code that another process wrote, or could have, is not run. */
UNIT_TEST(test_foreign_file)
{
    char path[200], other[200];
    struct stat st;
    as_code_cache_put(KEY, code, sizeof code);
    in_folder(path, sizeof path, "0000000000001234.code");
    in_folder(other, sizeof other, "elsewhere");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    static const mode_t writable[] = {0660, 0602, 0666};
    for (size_t i = 0; i < sizeof writable / sizeof *writable; i++) {
        assert_int_equal(chmod(path, writable[i]), 0);
        assert_false(is_cached(KEY));
    }
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(is_cached(KEY)); /* to be read by others does no harm */
    assert_int_equal(link(path, other), 0);
    assert_false(is_cached(KEY)); /* it has a second name, by which it may change */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_false(is_cached(KEY));
    as_code_cache_put(KEY, code, sizeof code); /* in the place of the link, not through it */
    assert_true(is_cached(KEY));
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    if (chown(path, geteuid() + 1, (gid_t)-1) == 0) /* only root can give files away */
        assert_false(is_cached(KEY));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
}

/* Nothing is read from a folder that others may write to, and nothing is put there. */
static void refuses_folder(void)
{
    assert_false(is_cached(KEY));
    assert_false(as_code_cache_usable());
    as_code_cache_put(KEY + 1, code, sizeof code);
}

UNIT_TEST(test_foreign_folder)
{
    char path[200], moved[200];
    as_code_cache_put(KEY, code, sizeof code);
    in_folder(path, sizeof path, "");
    path[strlen(path) - 1] = 0;
    static const mode_t writable[] = {0770, 0702, 01777};
    for (size_t i = 0; i < sizeof writable / sizeof *writable; i++) {
        assert_int_equal(chmod(path, writable[i]), 0);
        refuses_folder();
    }
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(is_cached(KEY));
    assert_false(is_cached(KEY + 1));
    if (chown(path, geteuid() + 1, (gid_t)-1) == 0) {
        refuses_folder();
        assert_int_equal(chown(path, geteuid(), (gid_t)-1), 0);
    }
    snprintf(moved, sizeof moved, "%s.real", path);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
    refuses_folder();
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(moved, path), 0);
    assert_true(is_cached(KEY));
    assert_false(is_cached(KEY + 1));
}

UNIT_TEST(test_off)
{
    as_code_cache_put(KEY, code, sizeof code);
    assert_int_equal(setenv("ASSAY_CACHE", "off", 1), 0);
    assert_false(is_cached(KEY));
    as_code_cache_put(KEY + 2, code, sizeof code);
    assert_int_equal(unsetenv("ASSAY_CACHE"), 0);
    assert_true(is_cached(KEY));
    assert_false(is_cached(KEY + 2));
}

/* Too many files: the oldest go, the newest stay, what is not the cache's own is left alone. */
UNIT_TEST(test_bounded)
{
    enum { OLD = 4200 };
    char path[200], name[40];
    remove_all();
    as_code_cache_put(KEY, code, sizeof code);
    in_folder(path, sizeof path, "notes.txt");
    write_file(path, code, 1);
    for (int i = 0; i < OLD; i++) {
        snprintf(name, sizeof name, "%016x.code", 0x10000 + i);
        in_folder(path, sizeof path, name);
        write_file(path, code, 1);
        const struct timespec then[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    }
    as_code_cache_put(KEY + 1, code, sizeof code);
    assert_true(is_cached(KEY));
    assert_true(is_cached(KEY + 1));
    assert_in_range(count_files(), 100, 4097);
    in_folder(path, sizeof path, "notes.txt");
    assert_int_equal(access(path, F_OK), 0);
    in_folder(path, sizeof path, "0000000000010000.code"); /* the oldest */
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(name, sizeof name, "%016x.code", 0x10000 + OLD - 1);
    in_folder(path, sizeof path, name);
    assert_int_equal(access(path, F_OK), 0);
}

/* A few large ones are too many as well. */
UNIT_TEST(test_bounded_bytes)
{
    char path[200], name[40];
    remove_all();
    as_code_cache_put(KEY, code, sizeof code);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "%016x.code", 0x10000 + i);
        in_folder(path, sizeof path, name);
        write_file(path, code, 1);
        assert_int_equal(truncate(path, 40 << 20), 0); /* a hole: takes no room */
        const struct timespec then[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
    }
    as_code_cache_put(KEY + 1, code, sizeof code);
    assert_true(is_cached(KEY));
    assert_in_range(count_files(), 3, 8);
    in_folder(path, sizeof path, "0000000000010000.code");
    assert_int_not_equal(access(path, F_OK), 0);
}

/* No home, a home that is a file, a folder that cannot be written: it has nothing and says nothing. */
UNIT_TEST(test_no_folder)
{
    char path[200];
    snprintf(path, sizeof path, "%s/cache/assay/notes", home);
    write_file(path, code, 1);
    assert_int_equal(setenv("XDG_CACHE_HOME", path, 1), 0);
    as_code_cache_put(KEY, code, sizeof code);
    assert_false(is_cached(KEY));
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    as_code_cache_put(KEY, code, sizeof code);
    assert_false(is_cached(KEY));
    assert_int_equal(setenv("HOME", home, 1), 0);
    as_code_cache_put(KEY, code, sizeof code); /* ~/.cache */
    assert_true(is_cached(KEY));
    snprintf(path, sizeof path, "%s/.cache/assay/0000000000001234.code", home);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/.cache/assay", home);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/.cache", home);
    assert_int_equal(rmdir(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put_and_get),   cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_renamed),       cmocka_unit_test(test_no_plain_file),
                                       cmocka_unit_test(test_foreign_file),  cmocka_unit_test(test_foreign_folder),
                                       cmocka_unit_test(test_off),           cmocka_unit_test(test_bounded),
                                       cmocka_unit_test(test_bounded_bytes), cmocka_unit_test(test_no_folder)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
