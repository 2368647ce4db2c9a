/* Code objects with all kinds of damage: this program's own file, also an ELF file, serves as one. argv[1]: why its
 * instructions cannot be counted. */
#include "../check.h"
#include "base/buf.h"
#include "device/hip/hip.h"

#include <elf.h>
#include <stdlib.h>

enum { MACHINE_AMDGPU = 0xe0, GFX90A = 0x3f, FLIPS = 20000 };

static struct as_buf file;
static const char *reason = "";

__attribute__((used, noinline)) void as_test_kernel(int *p);
void as_test_kernel(int *p)
{
    for (int i = 0; i < 3; i++)
        p[i] *= i;
}

static int setup(void **state)
{
    const Elf64_Half machine = MACHINE_AMDGPU;
    struct as_error err = {0};
    (void)state;
    check_ok(as_buf_read_file(&file, "/proc/self/exe", 64 << 20, &err), &err);
    memcpy(file.data + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    file.data[offsetof(Elf64_Ehdr, e_flags)] = GFX90A;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    as_buf_finish(&file);
    return 0;
}

static enum as_status bytes_of(const unsigned char *code, size_t n, const char *name, uint64_t *out,
                               struct as_error *err)
{
    /* an exact copy, so that a read past its end is detected */
    unsigned char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, code, n);
    enum as_status st = as_hip_code_bytes(copy, n, name, out, err);
    /* host code labelled as a chip's cannot be decoded, or ends where it ends */
    uint64_t counted = 1;
    enum as_status c = as_hip_count_code(copy, n, name, "any", &counted, NULL);
    assert_true(st ? c != AS_OK && counted == 0 : c == AS_OK ? counted <= *out / 4 : counted == 0);
    /* likewise by name */
    struct as_instructions list;
    uint64_t named = 0;
    assert_int_equal(as_hip_instructions(copy, n, name, &list, NULL), c);
    for (size_t i = 0; i < list.n; i++)
        named += list.list[i].n;
    assert_true(c == AS_OK ? named >= counted : list.n == 0);
    free(copy);
    return st;
}

static void test_whole(void **state)
{
    const unsigned char *code = (const unsigned char *)file.data;
    struct as_error err = {0};
    uint64_t n = 0;
    (void)state;
    check_ok(bytes_of(code, file.len, "as_test_kernel", &n, &err), &err);
    assert_true(n > 4 && n < 4096);
    check_fails(bytes_of(code, file.len, "as_test_no_kernel", &n, &err), AS_NOTFOUND, &err,
                "no kernel 'as_test_no_kernel'");
    assert_int_equal(n, 0);
}

static void test_reason(void **state)
{
    struct as_error err = {0};
    uint64_t n = 1;
    (void)state;
    check_fails(as_hip_count_code((const unsigned char *)file.data, file.len, "as_test_kernel", "any", &n, &err),
                AS_UNSUPPORTED, &err, reason);
    assert_int_equal(n, 0);
}

static void test_cut_short(void **state)
{
    const unsigned char *code = (const unsigned char *)file.data;
    struct as_error err = {0};
    uint64_t n = 0;
    (void)state;
    for (size_t length = 0; length < file.len; length += 1 + length / 8)
        check_fails(bytes_of(code, length, "as_test_kernel", &n, &err), AS_FORMAT, &err, "not a valid code object");
}

/* Whatever the result, nothing outside is read. */
static void test_other_bytes(void **state)
{
    unsigned char *code = malloc(file.len);
    uint64_t n = 0, random = 88172645463325252u, refused = 0;
    (void)state;
    assert_non_null(code);
    memcpy(code, file.data, file.len);
    Elf64_Ehdr head;
    memcpy(&head, code, sizeof head);
    size_t sections = (size_t)head.e_shnum * sizeof(Elf64_Shdr);
    for (int i = 0; i < FLIPS; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        size_t in = random % 4 ? head.e_shoff + random / 4 % sections : random / 4 % sizeof head;
        code[in] = (unsigned char)(random >> 40);
        refused += as_hip_code_bytes(code, file.len, "as_test_kernel", &n, NULL) != AS_OK;
        (void)as_hip_count_code(code, file.len, "as_test_kernel", "any", &n, NULL);
        code[in] = (unsigned char)file.data[in];
    }
    assert_true(refused > 0 && refused < FLIPS);
    free(code);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_reason),
                                       cmocka_unit_test(test_cut_short), cmocka_unit_test(test_other_bytes)};
    reason = argc > 1 ? argv[1] : "";
    return cmocka_run_group_tests(tests, setup, teardown);
}
