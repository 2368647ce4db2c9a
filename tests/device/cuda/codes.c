/* The opcodes by which instructions are counted, calibrated against the compiler: one instruction repeated many times
 * must be counted as often under its own name and under no other. So a compiler or GPU generation that changes an
 * opcode fails here. Skipped without NVRTC. */
#include "real_nvrtc.h"
#include "tests/unit_test.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOGETHER = 16,
    COPIES = 64,
    STRAY = 24
}; /* the compiler's own few instructions: addresses, arguments, the values stored at the end */

static const struct chip {
    unsigned number;
    const char *arch;
} chips[] = {{80, "sm_80"}, {90, "sm_90a"}, {100, "sm_100a"}, {120, "sm_120a"}};

/* %0 is a register that the instruction changes, %1 another of its type, %2 the number of the copy times 16, %3 an
 * address of global memory, %4 one of shared memory. */
enum type { U32, U64, F32, F64 };
static const struct {
    const char *name, *constraint;
} types[] = {[U32] = {"u32", "r"}, [U64] = {"u64", "l"}, [F32] = {"f32", "f"}, [F64] = {"f64", "d"}};

#define MMA32(shape, kinds, a, b)                                                                                      \
    "{.reg .b32 x, y, z; mma.sync.aligned." shape ".row.col." kinds " {%0, x, y, z}, {" a "}, {" b "}, "               \
    "{%0, %0, %0, %0};}"
#define WGMMA(shape, kinds, rest)                                                                                      \
    "{.reg .b32 x, y, z; wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned." shape "." kinds                      \
    " {%0, x, y, z}, %3, %3, " rest "; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;}"

static const struct row {
    const char *words; /* what counts it; in brackets what may count other parts of it; "": nothing does */
    const char *text;
    enum type type;
    unsigned from, until; /* chips that have it; 0: all */
} rows[] = {
    {"load.global", "ld.global.u64 %0, [%0];", U64, 0, 0},
    {"load.global", "ld.u64 %0, [%0];", U64, 0, 0},
    {"load.global", "ld.global.nc.u64 %0, [%0];", U64, 0, 0},
    {"load.global", "ld.global.cg.u64 %0, [%0];", U64, 0, 0},
    {"load.global", "ld.relaxed.sys.global.u64 %0, [%0];", U64, 0, 0},
    {"load.global", "ld.acquire.sys.global.u64 %0, [%0];", U64, 0, 0},
    {"load.global load.global.128 (logic.i32)", "{.reg .u64 a; ld.global.v2.u64 {%0, a}, [%0]; xor.b64 %0, %0, a;}",
     U64, 0, 0},
    {"load.global load.global.128 (logic.i32)",
     "{.reg .u64 a, b, c; ld.global.v4.u64 {%0, a, b, c}, [%0]; xor.b64 %0, %0, a; xor.b64 b, b, c; xor.b64 %0, %0, "
     "b;}",
     U64, 100, 0},
    {"store.global", "st.global.u32 [%3+%2], %0;", U32, 0, 0},
    {"store.global", "st.u64 [%3+%2], %0;", U64, 0, 0},
    {"store.global", "st.release.sys.global.u64 [%3+%2], %0;", U64, 0, 0},
    {"store.global store.global.128", "st.global.v2.u64 [%3+%2], {%0, %0};", U64, 0, 0},
    {"store.global store.global.128", "st.global.v4.u64 [%3+2*%2], {%0, %0, %0, %0};", U64, 100, 0},
    {"load.local", "ld.shared.u32 %0, [%0];", U32, 0, 0},
    {"load.local", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%0];", U32, 0, 0},
    {"store.local", "st.shared.u32 [%4+%2], %0;", U32, 0, 0},
    {"store.local", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%4+%2], {%0};", U32, 90, 0},
    {"load.const", "ld.const.u32 %0, [%0];", U32, 0, 0},
    {"load.async", "cp.async.cg.shared.global [%4+%2], [%3+%2], 16;", U32, 0, 0},
    {"load.async (branch)",
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%4+%2], [%3+%2], 16, [%4];", U32, 90, 0},
    {"load.async (branch)",
     "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%4], [%3, {%0}], [%4];", U32, 90, 0},
    {"atomic.global", "atom.global.exch.b32 %0, [%3+%2], %0;", U32, 0, 0},
    {"atomic.generic", "atom.exch.b32 %0, [%3+%2], %0;", U32, 0, 0},
    {"atomic.global swap.global", "atom.global.cas.b64 %0, [%3+%2], %0, %0;", U64, 0, 0},
    {"atomic.local swap.local", "atom.shared.cas.b64 %0, [%4+%2], %0, %0;", U64, 0, 0},
    {"atomic.generic", "atom.cas.b32 %0, [%3+%2], %0, %0;", U32, 0, 0},
    {"atomic.global", "atom.global.add.f32 %0, [%3+%2], %0;", F32, 0, 0},
    {"atomic.global", "red.global.add.u32 [%3+%2], %0;", U32, 0, 0},
    {"atomic.generic", "red.relaxed.sys.add.u32 [%3+%2], %0;", U32, 0, 0},
    {"atomic.global", "red.relaxed.sys.global.add.u32 [%3+%2], %0;", U32, 0, 0},
    {"atomic.global", "red.global.add.f32 [%3+%2], %0;", F32, 0, 0},
    {"atomic.global", "atom.relaxed.gpu.global.add.u64 %0, [%3+%2], %0;", U64, 0, 0},
    {"atomic.global", "red.relaxed.sys.global.add.u64 [%3+%2], %0;", U64, 0, 0},
    {"atomic.global", "atom.relaxed.sys.global.add.f64 %0, [%3+%2], %0;", F64, 0, 0},
    {"atomic.global", "red.relaxed.gpu.global.add.f64 [%3+%2], %0;", F64, 0, 0},
    {"atomic.local", "atom.shared.exch.b32 %0, [%4+%2], %0;", U32, 0, 0},
    {"atomic.local swap.local", "atom.shared.cas.b32 %0, [%4+%2], %0, %0;", U32, 0, 0},
    {"fma.f16", "fma.rn.f16x2 %0, %0, %1, %1;", U32, 0, 0},
    {"fma.f16", "fma.rn.bf16x2 %0, %0, %1, %1;", U32, 0, 0},
    {"fma.f32", "fma.rn.f32 %0, %0, %1, %1;", F32, 0, 0},
    {"fma.f32", "fma.rn.f32x2 %0, %0, %1, %1;", U64, 100, 100},
    {"fma.f64", "fma.rn.f64 %0, %0, %1, %1;", F64, 0, 0},
    {"add.f32", "add.rn.f32 %0, %0, %1;", F32, 0, 0},
    {"add.f32", "add.rn.f32x2 %0, %0, %1;", U64, 100, 100},
    {"add.f64", "add.rn.f64 %0, %0, %1;", F64, 0, 0},
    {"mul.f32", "mul.rn.f32 %0, %0, %1;", F32, 0, 0},
    {"mul.f32", "mul.rn.f32x2 %0, %0, %1;", U64, 100, 100},
    {"mul.f64", "mul.rn.f64 %0, %0, %1;", F64, 0, 0},
    {"mad.i32", "mad.lo.u32 %0, %0, %1, %1;", U32, 0, 0},
    {"mad.i32", "mul.hi.u32 %0, %0, %1;", U32, 0, 0},
    {"mad.i32", "{.reg .b32 a, b; mov.b64 {a, b}, %0; mul.wide.u32 %0, a, b;}", U64, 0, 0},
    {"add.i32 logic.i32", "{.reg .u32 a; add.u32 a, %0, %1; add.u32 a, a, %4; xor.b32 %0, a, %1;}", U32, 0, 0},
    {"logic.i32", "lop3.b32 %0, %0, %1, %1, 0x37;", U32, 0, 0},
    {"shift.i32", "shf.l.wrap.b32 %0, %0, %1, %1;", U32, 0, 0},
    {"matrix", MMA32("m16n8k16", "f32.f16.f16.f32", "%4, %4, %4, %4", "%4, %4"), F32, 0, 0},
    {"matrix", MMA32("m16n8k8", "f32.tf32.tf32.f32", "%4, %4, %4, %4", "%4, %4"), F32, 0, 0},
    {"matrix", MMA32("m16n8k32", "s32.s8.s8.s32", "%4, %4, %4, %4", "%4, %4"), U32, 0, 0},
    {"matrix", MMA32("m16n8k256", "s32.b1.b1.s32.and.popc", "%4, %4, %4, %4", "%4, %4"), U32, 0, 90},
    {"matrix", "{.reg .f64 x; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, x}, {%1}, {%1}, {%0, %0};}", F64, 0,
     0},
    {"matrix", WGMMA("m64n8k16", "f32.f16.f16", "1, 1, 1, 0, 0"), F32, 90, 90},
    {"matrix", WGMMA("m64n8k32", "f32.e4m3.e4m3", "1, 1, 1"), F32, 90, 90},
    {"matrix", WGMMA("m64n8k32", "s32.s8.s8", "1"), U32, 90, 90},
    {"matrix (branch)", "{.reg .pred q; setp.ne.u32 q, %0, 0; tcgen05.mma.cta_group::1.kind::f16 [%4], %3, %3, %0, q;}",
     U32, 100, 100},
    {"clock store.global", "mov.u64 %0, %%clock64; st.global.u64 [%3+%2], %0;", U64, 0, 0},
    {"clock store.global", "mov.u32 %0, %%clock; st.global.u32 [%3+%2], %0;", U32, 0, 0},
    {"branch store.global",
     "{.reg .pred q; setp.eq.u32 q, %0, %2; @q bra NEXT; st.global.u32 [%3], %0; membar.cta; NEXT: }", U32, 0, 0},
    {"shuffle", "shfl.sync.down.b32 %0, %0, 1, 31, -1;", U32, 0, 0},
    {"barrier", "bar.sync 0;", U32, 0, 0},
    {"special", "ex2.approx.ftz.f32 %0, %0;", F32, 0, 0},
    {"special", "rcp.approx.ftz.f64 %0, %0;", F64, 0, 0},
    {"convert", "cvt.rni.f32.f32 %0, %0;", F32, 0, 0},
    {"convert", "cvt.rni.f64.f64 %0, %0;", F64, 0, 0},
    {"convert", "{.reg .f32 a; cvt.rn.f32.u32 a, %0; mov.b32 %0, a;}", U32, 0, 0},
    {"convert", "{.reg .f32 a; mov.b32 a, %0; cvt.rzi.u32.f32 %0, a;}", U32, 0, 0},
    {"convert", "{.reg .f32 a; mov.b32 a, %0; cvt.rzi.u8.f32 %0, a;}", U32, 0, 0},
    {"convert", "{.reg .s64 a; mov.b64 a, %0; cvt.rn.f64.s64 %0, a;}", F64, 0, 0},
    {"convert", "{.reg .s64 a; cvt.rzi.s64.f64 a, %0; mov.b64 %0, a;}", F64, 0, 0},
    {"convert", "{.reg .f32 a; cvt.rn.f32.f64 a, %0; mov.b64 %0, {a, a};}", F64, 0, 0},
    {"convert", "{.reg .f32 a; mov.b32 a, %0; cvt.rn.f16x2.f32 %0, a, a;}", U32, 0, 0},
    {"convert convert.operand matrix (store.global)",
     "{.reg .b32 a, x, y, z; cvt.rn.f16x2.f32 a, %0, %0; "
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, x, y, z}, {a, a, a, a}, {a, a}, {%0, %0, %0, %0};}",
     F32, 0, 0},
    /* not calibrated: another counter read by the clock's code, a fence, a hint, another operation */
    {"store.global", "mov.u64 %0, %%globaltimer; st.global.u64 [%3+%2], %0;", U64, 0, 0},
    {"any", "membar.sys;", U32, 0, 0},
    {"", "prefetch.global.L2 [%3+%2];", U32, 0, 0},
    {"", "brev.b32 %0, %0;", U32, 0, 0},
    /* packed f16 had this code before sm_100 */
    {"", "add.u64 %0, %0, %1;", U64, 120, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Is `word` among the blank-separated words? */
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == 0 || at[n] == ' '))
            return true;
    return false;
}

static bool is_on(const struct row *row, const struct chip *chip)
{
    return chip->number >= row->from && (!row->until || chip->number <= row->until);
}

static void write_kernel(size_t number, struct as_buf *out)
{
    const struct row *row = &rows[number];
    const char *type = types[row->type].name, *constraint = types[row->type].constraint;
    as_buf_printf(out,
                  "KERNEL(k%zu)(ARG_GLOBAL(0, %s, out), ARG_GLOBAL(1, u64, addresses) ARG_INDICES)\n{\n"
                  "    %s x = out[THREAD], y = out[64 + THREAD];\n"
                  "    u64 p = addresses[0];\n"
                  "    u32 s = (u32)addresses[1];\n",
                  number, type, type);
    for (int i = 0; i < COPIES; i++)
        as_buf_printf(
            out, "    asm volatile(\"%s\" : \"+%s\"(x) : \"%s\"(y), \"n\"(%d), \"l\"(p), \"r\"(s) : \"memory\");\n",
            row->text, constraint, constraint, 16 * i);
    as_buf_str(out, "    out[THREAD] = x;\n    out[64 + THREAD] = y;\n}\n");
}

/* Number of words with a wrong count; prints each. */
static unsigned check_row(size_t number, const struct chip *chip, const unsigned char *cubin, size_t bytes)
{
    const struct row *row = &rows[number];
    struct as_error err = {0};
    unsigned wrong = 0;
    char kernel[16];
    snprintf(kernel, sizeof kernel, "k%zu", number);
    for (size_t w = 0; as_operation_words[w]; w++) {
        char free_to_vary[40];
        uint64_t n = 0;
        const char *word = as_operation_words[w];
        snprintf(free_to_vary, sizeof free_to_vary, "(%s)", word);
        assert_int_equal(as_cubin_count(cubin, bytes, kernel, word, &n, &err), AS_OK);
        bool wanted = has_word(row->words, word), any = strcmp(word, "any") == 0;
        if (any      ? n < COPIES - 1
            : wanted ? n < COPIES - 1 || n > COPIES + STRAY
                     : n > STRAY && !has_word(row->words, free_to_vary)) {
            print_message("'%s' for %s: %d copies, and '%s' counts %llu\n", row->text, chip->arch, (int)COPIES, word,
                          (unsigned long long)n);
            wrong++;
        }
    }
    return wrong;
}

/* The rows from `first` on as kernels of one program, which pays the compiler's startup once. */
static unsigned check_rows(size_t first, const struct chip *chip)
{
    struct as_buf source = AS_BUF_INIT;
    struct as_error err = {0};
    unsigned char *cubin = NULL;
    size_t bytes = 0, end = first + TOGETHER < ROWS ? first + TOGETHER : ROWS;
    unsigned wrong = 0;
    for (size_t r = first; r < end; r++)
        if (is_on(&rows[r], chip))
            write_kernel(r, &source);
    const struct as_program_desc desc = {.name = "codes", .source = as_buf_get(&source)};
    if (nvrtc_compile(&desc, chip->arch, &cubin, &bytes, &err))
        fail_msg("from '%s' on for %s: %s", rows[first].text, chip->arch, err.text);
    for (size_t r = first; r < end; r++)
        if (is_on(&rows[r], chip))
            wrong += check_row(r, chip, cubin, bytes);
    free(cubin);
    as_buf_finish(&source);
    return wrong;
}

UNIT_TEST(test_codes)
{
    unsigned wrong = 0;
    need_nvrtc();
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++)
        for (size_t first = 0; first < ROWS; first += TOGETHER)
            wrong += check_rows(first, &chips[c]);
    assert_int_equal(wrong, 0);
}

/* Every word has a row that calibrates it on each chip. */
UNIT_TEST(test_every_word)
{
    for (size_t w = 0; as_operation_words[w]; w++)
        for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
            size_t r = 0;
            while (r < ROWS && !(has_word(rows[r].words, as_operation_words[w]) && is_on(&rows[r], &chips[c])))
                r++;
            if (r == ROWS)
                fail_msg("nothing calibrates '%s' for %s", as_operation_words[w], chips[c].arch);
        }
}

/* The clock's code zeroes two f64 at once; the code of products makes constants and copies registers. */
UNIT_TEST(test_by_the_way)
{
    static const char source[] =
        "KERNEL(k)(ARG_GLOBAL(0, f64, out), ARG_GLOBAL(1, const f64, in), ARG_VALUE(2, u32, n) ARG_INDICES)\n{\n"
        "    f64 s[16];\n"
        "    for (u32 j = 0; j < 16; j++)\n        s[j] = 0;\n"
        "    for (u32 i = 0; i < n; i++)\n        for (u32 j = 0; j < 16; j++)\n            s[j] += in[i * 16 + j];\n"
        "    for (u32 j = 0; j < 16; j++)\n        out[j] = s[j];\n}\n";
    static const char *const none[] = {"clock", "fma.f16", "load.const"};
    need_nvrtc();
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
        const struct as_program_desc desc = {.name = "sums", .source = source};
        struct as_error err = {0};
        unsigned char *cubin = NULL;
        size_t bytes = 0;
        if (nvrtc_compile(&desc, chips[c].arch, &cubin, &bytes, &err))
            fail_msg("%s: %s", chips[c].arch, err.text);
        for (size_t w = 0; w < sizeof none / sizeof *none; w++) {
            uint64_t n = 1;
            assert_int_equal(as_cubin_count(cubin, bytes, "k", none[w], &n, &err), AS_OK);
            if (n)
                fail_msg("%s: '%s' counts %llu where there is none", chips[c].arch, none[w], (unsigned long long)n);
        }
        free(cubin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_word), cmocka_unit_test(test_codes),
                                       cmocka_unit_test(test_by_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
