/* Every kernel of the probes compiles for the chips of three generations without a GPU, and its machine code holds what
 * its probe expects; a loop whose work nobody wants holds nothing. Skipped where there is no NVRTC. */
#include "base/buf.h"
#include "device/cuda/cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const archs[] = {"sm_80", "sm_90", "sm_100"};

struct wanted {
    const char *file, *defines, *kernel, *operation;
    uint64_t at_least;
};
static const struct wanted table[] = {
    {"latency/latency.kernel", NULL, "walk", "load.global", 64},
    {"latency/latency.kernel", NULL, "relocate", "store.global", 1},
    {"bandwidth/bandwidth.kernel", "-DOP=0 -DPER_ITEM=1", "stream", "store.global", 1},
    {"bandwidth/bandwidth.kernel", "-DOP=2 -DPER_ITEM=4", "stream", "load.global", 2},
    {"bandwidth/bandwidth.kernel", "-DOP=3 -DPER_ITEM=1", "stream", "fma.f64", 1},
    {"bandwidth/bandwidth.kernel", "-DOP=3 -DPER_ITEM=4", "stream", "fma.f64", 4},
    {"bandwidth/bandwidth.kernel", "-DOP=5 -DPER_ITEM=4", "stream", "load.global", 2},
    {"bandwidth/bandwidth.kernel", "-DOP=6 -DPER_ITEM=4", "stream", "load.global", 1},
    {"bandwidth/bandwidth.kernel", "-DOP=7 -DPER_ITEM=4", "fill", "store.global", 1},
    {"bandwidth/bandwidth.kernel", "-DOP=3 -DPER_ITEM=1 -DUNROLL=4 -DCACHE=0 -DGROUP_SIZE=256", "card", "load.global",
     8},
    {"bandwidth/bandwidth.kernel", "-DOP=3 -DPER_ITEM=1 -DUNROLL=4 -DCACHE=1 -DGROUP_SIZE=256", "card", "fma.f64", 8},
    {"bandwidth/bandwidth.kernel", "-DOP=6 -DPER_ITEM=1 -DUNROLL=8 -DCACHE=2 -DGROUP_SIZE=512", "card", "load.global",
     8},
    {"bandwidth/bandwidth.kernel", "-DOP=4 -DPER_ITEM=1 -DUNROLL=4 -DCACHE=1 -DGROUP_SIZE=256", "card", "store.global",
     4},
    {"c2c/c2c.kernel", NULL, "pingpong", "load.global", 1},
    {"copy/copy.kernel", NULL, NULL, NULL, 0},
    {"launch/launch.kernel", NULL, NULL, NULL, 0},
    {"link_latency/link_latency.kernel", NULL, NULL, NULL, 0},
    {"sentinel/sentinel.kernel", NULL, "memory", "load.global", 1},
    {"roofline/roofline.kernel", "-DTYPE=32 -DCHAINS=8", "peak", "fma.f32", 128},
    {"roofline/roofline.kernel", "-DTYPE=64 -DCHAINS=8", "peak", "fma.f64", 128},
    {"roofline/roofline.kernel", "-DTYPE=16 -DCHAINS=8", "peak", "fma.f16", 128},
};

static struct as_nvrtc_api nvrtc;

static int load(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (as_nvrtc_load(&nvrtc, &err))
        print_message("skipped: %s\n", err.text);
    return 0;
}

static char *read_file(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", AS_PROBES, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void compile(const char *source, const char *name, const char *defines, const char *arch, unsigned char **cubin,
                    size_t *bytes)
{
    struct as_error err = {0};
    const struct as_program_desc desc = {.name = name, .source = source, .defines = defines};
    if (as_cu_compile(&nvrtc, &desc, arch, cubin, bytes, &err))
        fail_msg("%s %s for %s: %s", name, defines ? defines : "", arch, err.text);
}

static void test_kernels(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct wanted *w = &table[i];
        char *source = read_file(w->file);
        for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
            unsigned char *cubin;
            size_t bytes;
            uint64_t n = 0;
            struct as_error err = {0};
            compile(source, w->file, w->defines, archs[a], &cubin, &bytes);
            if (w->kernel && as_cubin_count(cubin, bytes, w->kernel, w->operation, &n, &err))
                fail_msg("%s for %s: %s", w->file, archs[a], err.text);
            if (n < w->at_least)
                fail_msg("%s %s for %s: %llu %s, at least %llu wanted", w->file, w->defines ? w->defines : "", archs[a],
                         (unsigned long long)n, w->operation, (unsigned long long)w->at_least);
            free(cubin);
        }
        free(source);
    }
}

/* The compiler sees that nobody looks at the sum: what is left must not count as work. */
static void test_folded_away(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
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

static void test_words(void **state)
{
    (void)state;
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0;
    if (!nvrtc.library)
        skip();
    const struct as_program_desc broken = {.name = "broken", .source = "KERNEL(k)(ARG_INDICES) { nonsense; }"};
    assert_int_equal(as_cu_compile(&nvrtc, &broken, "sm_90", &cubin, &bytes, &err), AS_FAILED);
    assert_non_null(strstr(err.text, "nonsense"));
    const struct as_program_desc plain = {.name = "plain", .source = "KERNEL(k)(ARG_INDICES) { }"};
    assert_int_equal(as_cu_compile(&nvrtc, &plain, "sm_999", &cubin, &bytes, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "newer"));
    assert_int_equal(as_cu_compile(&nvrtc, &plain, "sm_20", &cubin, &bytes, &err), AS_UNSUPPORTED);
    assert_int_equal(as_cu_compile(&nvrtc, &plain, "gfx942", &cubin, &bytes, &err), AS_USAGE);
    assert_null(cubin);
}

/* Whatever is cut off or wrong in it: an error, and nothing read outside (the sanitizers look). */
static void test_hostile_cubins(void **state)
{
    (void)state;
    if (!nvrtc.library)
        skip();
    unsigned char *cubin;
    size_t bytes;
    uint64_t n, code = 0;
    compile("KERNEL(k)(ARG_GLOBAL(0, u32, out) ARG_INDICES) { out[0] = THREAD; }", "k", NULL, "sm_90", &cubin, &bytes);
    assert_int_equal(as_cubin_code_bytes(cubin, bytes, "k", &code, NULL), AS_OK);
    assert_true(code >= 32 && code % 16 == 0);
    assert_int_equal(as_cubin_count(cubin, bytes, "no", "fma.f32", &n, NULL), AS_NOTFOUND);
    assert_int_equal(as_cubin_count(cubin, bytes, "k", "dance", &n, NULL), AS_USAGE);
    for (size_t cut = 0; cut < bytes; cut++) {
        unsigned char *part = malloc(cut ? cut : 1); /* of that size, so that a byte too far is seen */
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_folded_away),
                                       cmocka_unit_test(test_words), cmocka_unit_test(test_hostile_cubins)};
    return cmocka_run_group_tests(tests, load, NULL);
}
