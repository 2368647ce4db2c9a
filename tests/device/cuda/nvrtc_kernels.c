/* NVRTC's code for dialect source, without a GPU, and how its cubins are read; the probes' kernels have a separate
 * test. Skipped without NVRTC. */
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const archs[] = {"sm_80", "sm_90a", "sm_100a"};

static void compile(const char *source, const char *name, const char *defines, const char *arch, unsigned char **cubin,
                    size_t *bytes)
{
    struct as_error err = {0};
    const struct as_program_desc desc = {.name = name, .source = source, .defines = defines};
    if (nvrtc_compile(&desc, arch, cubin, bytes, &err))
        fail_msg("%s %s for %s: %s", name, defines ? defines : "", arch, err.text);
}

/* The compiler sees that the sum is unused: what is left must not count as work. */
UNIT_TEST(test_folded_away)
{
    need_nvrtc();
    static const char folded[] = "KERNEL(k)(ARG_GLOBAL(0, f32, out), ARG_GLOBAL(1, const f32, in), ARG_VALUE(2, u32, n)"
                                 " ARG_INDICES)\n{\n"
                                 "f32 s = 0;\n"
                                 "for (u32 i = 0; i < n; i++) s = FMA_F32(s, in[i], 2.0f);\n"
                                 "out[0] = 1;\n}\n";
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        unsigned char *cubin;
        size_t bytes;
        uint64_t loads = 1, fmas = 1;
        compile(folded, "folded", NULL, archs[a], &cubin, &bytes);
        assert_int_equal(as_cubin_count(cubin, bytes, "k", "load.global", &loads, NULL), AS_OK);
        assert_int_equal(as_cubin_count(cubin, bytes, "k", "fma.f32", &fmas, NULL), AS_OK);
        assert_int_equal(loads, 0);
        assert_int_equal(fmas, 0);
        free(cubin);
    }
}

/* Atomics are those of their memory, whatever the order and scope. */
UNIT_TEST(test_atomics)
{
    static const char source[] =
        "#define ALL(p) ATOMIC_ADD(p, 1, ORDER_RELAXED, SCOPE_SYSTEM) + ATOMIC_MIN(p, 2, ORDER_ACQUIRE, SCOPE_DEVICE) "
        "+ \\\n"
        "    ATOMIC_MAX(p, 3, ORDER_RELEASE, SCOPE_GROUP) + ATOMIC_EXCHANGE(p, 4, ORDER_SEQ_CST, SCOPE_SYSTEM)\n"
        "KERNEL(common)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n{\n"
        "    out[1] = ALL(out + THREAD);\n}\n"
        "KERNEL(unused)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n{\n"
        "    ATOMIC_ADD(out, 1, ORDER_RELAXED, SCOPE_DEVICE);\n}\n"
        "KERNEL(own)(ARG_GLOBAL(0, u32, out) ARG_INDICES)\n{\n"
        "    LOCAL atomic_u32 counts[32];\n"
        "    ATOMIC_STORE(counts + THREAD, 0, ORDER_RELEASE, SCOPE_GROUP);\n"
        "    u32 at = out[THREAD];\n"
        "    out[THREAD] = ALL(counts + at) + ATOMIC_LOAD(counts, ORDER_ACQUIRE, SCOPE_GROUP);\n}\n";
    static const struct {
        const char *kernel, *operation;
        uint64_t n;
    } wanted[] = {{"common", "atomic.global", 4}, {"common", "atomic.local", 0},   {"common", "atomic.generic", 0},
                  {"unused", "atomic.global", 1}, {"unused", "atomic.generic", 0}, {"own", "atomic.local", 4},
                  {"own", "atomic.global", 0},    {"own", "atomic.generic", 0},    {"own", "load.local", 1},
                  {"own", "store.local", 1},      {"own", "load.global", 1}};
    need_nvrtc();
    for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
        unsigned char *cubin;
        size_t bytes;
        compile(source, "atomics", NULL, archs[a], &cubin, &bytes);
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            uint64_t n = 99;
            assert_int_equal(as_cubin_count(cubin, bytes, wanted[i].kernel, wanted[i].operation, &n, NULL), AS_OK);
            if (n != wanted[i].n)
                fail_msg("%s for %s: %llu %s, not %llu", wanted[i].kernel, archs[a], (unsigned long long)n,
                         wanted[i].operation, (unsigned long long)wanted[i].n);
        }
        free(cubin);
    }
}

UNIT_TEST(test_words)
{
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    need_nvrtc();
    const struct as_program_desc broken = {.name = "broken", .source = "KERNEL(k)(ARG_INDICES) { nonsense; }"};
    assert_int_equal(nvrtc_compile(&broken, "sm_90", &cubin, &bytes, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "nonsense"));
    const struct as_program_desc plain = {.name = "plain", .source = "KERNEL(k)(ARG_INDICES) { }"};
    assert_int_equal(nvrtc_compile(&plain, "sm_999", &cubin, &bytes, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "newer"));
    assert_int_equal(nvrtc_compile(&plain, "sm_20", &cubin, &bytes, &err), AS_UNSUPPORTED);
    assert_int_equal(nvrtc_compile(&plain, "gfx942", &cubin, &bytes, &err), AS_USAGE);
    char many[600] = ""; /* a missing option would compile another kernel than requested */
    for (size_t i = 0; i < 100; i++)
        memcpy(many + 5 * i, "-DAS ", sizeof "-DAS ");
    const struct as_program_desc crowded = {.name = "crowded", .source = plain.source, .defines = many};
    assert_int_equal(nvrtc_compile(&crowded, "sm_90", &cubin, &bytes, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "'crowded' has more than"));
    assert_null(cubin);
}

/* Additions of a carry are not plain ones, and a code without a name is no name. */
UNIT_TEST(test_names)
{
    static const char *const text =
        "KERNEL(k)(ARG_GLOBAL(0, u64, x), ARG_GLOBAL(1, i32, y) ARG_INDICES)\n{\n    u64 a = x[0], b = x[1];\n"
        "    for (int i = 0; i < 16; i++) {\n        a += b;\n        b += a;\n        asm volatile(\"\" : \"+l\"(a), "
        "\"+l\"(b));\n"
        "    }\n    x[0] = a + b;\n    asm volatile(\"add.sat.s32 %0, %1, %2;\" : \"=r\"(y[0]) : \"r\"(y[1]), "
        "\"r\"(y[2]));\n}";
    need_nvrtc();
    unsigned char *cubin;
    size_t bytes;
    struct as_instructions found = {.n = 0};
    struct as_error err = {0};
    compile(text, "k", NULL, "sm_90a", &cubin, &bytes);
    assert_int_equal(as_cubin_instructions(cubin, bytes, "k", &found, &err), AS_OK);
    for (size_t i = 0; i < found.n; i++)
        if (found.list[i].name[0] >= '0' && found.list[i].name[0] <= '9')
            fail_msg("'%s' is no name", found.list[i].name);
    assert_true(as_instructions_of(&found, "IMAD.X") >= 16);
    assert_true(as_instructions_of(&found, "IMAD.IADD") < 16);
    free(cubin);
}

/* Truncated or damaged anywhere: an error, and no read outside (sanitizers check). */
UNIT_TEST(test_hostile_cubins)
{
    need_nvrtc();
    unsigned char *cubin;
    size_t bytes;
    uint64_t n, code = 0;
    compile("KERNEL(k)(ARG_GLOBAL(0, u32, out) ARG_INDICES) { out[0] = THREAD; }", "k", NULL, "sm_90", &cubin, &bytes);
    assert_int_equal(as_cubin_code_bytes(cubin, bytes, "k", &code, NULL), AS_OK);
    assert_true(code >= 32 && code % 16 == 0);
    assert_int_equal(as_cubin_count(cubin, bytes, "no", "fma.f32", &n, NULL), AS_NOTFOUND);
    assert_int_equal(as_cubin_count(cubin, bytes, "k", "dance", &n, NULL), AS_USAGE);
    for (size_t cut = 0; cut < bytes; cut++) {
        unsigned char *part = malloc(cut ? cut : 1); /* of exact size, so that a read past its end is detected */
        assert_non_null(part);
        memcpy(part, cubin, cut);
        if (as_cubin_count(part, cut, "k", "store.global", &n, NULL) == AS_OK)
            assert_true(n <= 1);
        free(part);
    }
    for (size_t at = 0; at < bytes && at < 64; at++)
        for (int value = 0; value < 256; value += 51) {
            unsigned char was = cubin[at];
            cubin[at] = (unsigned char)value;
            (void)as_cubin_count(cubin, bytes, "k", "store.global", &n, NULL);
            cubin[at] = was;
        }
    for (size_t at = bytes > 4096 ? bytes - 4096 : 0; at < bytes; at++) {
        unsigned char was = cubin[at];
        cubin[at] = 0xff;
        (void)as_cubin_count(cubin, bytes, "k", "store.global", &n, NULL);
        cubin[at] = was;
    }
    free(cubin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folded_away), cmocka_unit_test(test_atomics),
                                       cmocka_unit_test(test_words), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_hostile_cubins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
