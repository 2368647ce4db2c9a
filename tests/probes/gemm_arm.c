/* GEMM kernels of SME and SVE: packing and sums for all block sizes, nothing outside is touched, and the caller's state
 * is preserved as the ABI requires. gemm_arm_mutants.py plants faults in the kernels. */
#include "device/cpu/features.h"
#include "lib/gemm/outer.h"
#include "lib/gemm/tiled_sve.h"
#include "lib/mma/instructions/formats.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 0xa5, MARGIN = 3 /* guard words around the output */ };

static bool can_run(const struct as_outer *o)
{
    char missing[200];
    return as_outer_has(o, missing, sizeof missing);
}

/* QEMU before 9.0 computes integer outer products wrongly: see matrix_cores.c. */
static bool is_right_here(const struct as_outer *o)
{
    const char *emulator = getenv("ASSAY_EMULATED");
    return can_run(o) && !(emulator && atoi(emulator) < 9 && o->type == AS_GEMM_S8);
}

static unsigned words_of(const struct as_outer *o)
{
    return as_cpu_features().sme_bytes / o->word;
}

static void skip_without(void)
{
    if (as_outers[0].code && can_run(as_outer_find(AS_GEMM_F32)))
        return;
    print_message("skipped: this CPU has no SME\n");
    skip();
}

static void *filled(size_t bytes)
{
    unsigned char *block = malloc(bytes ? bytes : 1);
    assert_non_null(block);
    memset(block, GUARD, bytes);
    return block;
}

/* Input that ends at an inaccessible page. */
static size_t pages_of(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void *at_end(size_t bytes)
{
    const size_t all = pages_of(bytes), page = pages_of(1);
    unsigned char *base = mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    assert_true(base != MAP_FAILED && mprotect(base + all, page, PROT_NONE) == 0);
    return base + all - bytes;
}

static void release(unsigned char *block, size_t bytes)
{
    munmap(block + bytes - pages_of(bytes), pages_of(bytes) + pages_of(1));
}

static bool is_guard(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != GUARD)
            return false;
    return true;
}

UNIT_TEST(test_table)
{
    for (const struct as_outer *o = as_outers; o->code; o++) {
        assert_ptr_equal(as_outer_find(o->type), o);
        assert_int_equal(o->rows * o->columns, o->word); /* all tiles of ZA */
    }
}

/* ---- packing ---- */

/* Word w of a line is 1 + line * words + w; vectors of a step have one word between them. */
static void check_packing(const struct as_outer *o, uint64_t lines, uint64_t words)
{
    const uint64_t v = words_of(o), bytes = o->word, step = (v + 1) * bytes, line_bytes = words * bytes;
    unsigned char *from = at_end(lines * line_bytes), *to = filled(words * step + MARGIN * bytes);
    for (uint64_t l = 0; l < lines; l++)
        for (uint64_t w = 0; w < words; w++)
            memcpy(from + l * line_bytes + w * bytes, &(uint64_t){1 + l * words + w}, bytes);
    o->pack(&(struct as_outer_packing){from, to, lines, line_bytes, words, step});
    for (uint64_t w = 0; w < words; w++) {
        for (uint64_t l = 0; l < v; l++) {
            uint64_t got = 0;
            memcpy(&got, to + w * step + l * bytes, bytes);
            if (got != (l < lines ? 1 + l * words + w : 0))
                fail_msg("%u bytes, %d lines of %d words: word %d of line %d is %llu", o->word, (int)lines, (int)words,
                         (int)w, (int)l, (unsigned long long)got);
        }
        assert_true(is_guard(to + w * step + v * bytes, bytes));
    }
    assert_true(is_guard(to + words * step, MARGIN * bytes));
    release(from, lines * line_bytes);
    free(to);
}

UNIT_TEST(test_packing)
{
    skip_without();
    for (const struct as_outer *o = as_outers; o->code; o++) {
        const uint64_t v = words_of(o), counts[] = {0, 1, v - 1, v, v + 1, 3 * v, 3 * v + 1};
        for (size_t l = 0; l < 4; l++)
            for (size_t w = 1; w < sizeof counts / sizeof *counts; w++)
                if (can_run(o) && counts[w])
                    check_packing(o, counts[l], counts[w]);
    }
}

/* ---- sums ---- */

/* Small integers, whose sums are exact in any order. */
static double number_at(uint64_t line, uint64_t k)
{
    return (double)((line * 7 + k * 3 + line * k) % 9) - 4;
}

/* Lines of one operand packed as `count` panels of `vectors`. */
static unsigned char *packed(const struct as_outer *o, unsigned vectors, uint64_t count, uint64_t steps, uint64_t first)
{
    const struct as_gemm_format *f = &as_gemm_formats[o->type];
    const struct as_number_format *in = as_number_format(f->in);
    const uint64_t v = words_of(o), in_step = o->word / f->in_bytes;
    unsigned char *to = at_end(count * steps * vectors * v * o->word), *at = to;
    for (uint64_t panel = 0; panel < count; panel++)
        for (uint64_t s = 0; s < steps; s++)
            for (uint64_t l = panel * vectors * v; l < (panel + 1) * vectors * v; l++)
                for (uint64_t e = 0; e < in_step; e++, at += f->in_bytes)
                    memcpy(at, &(uint64_t){as_number_nearest(in, number_at(first + l, s * in_step + e))}, f->in_bytes);
    return to;
}

struct shape {
    uint64_t rows, columns, steps;
    bool add;
};

static double expected(const struct as_outer *o, const struct shape *z, uint64_t row, uint64_t column)
{
    double sum = z->add ? (double)(row + column) : 0;
    for (uint64_t k = 0; k < z->steps * (o->word / as_gemm_formats[o->type].in_bytes); k++)
        sum += number_at(row, k) * number_at(1000 + column, k);
    return sum;
}

static void compare(const struct as_outer *o, const struct shape *z, const unsigned char *d, uint64_t row_bytes)
{
    const struct as_number_format *sum = as_number_format(as_gemm_formats[o->type].sum);
    for (uint64_t i = 0; i < z->rows; i++) {
        for (uint64_t j = 0; j < z->columns; j++) {
            uint64_t code = 0;
            memcpy(&code, d + i * row_bytes + j * o->word, o->word);
            const double got = as_number_decode(sum, code), want = expected(o, z, i, j);
            if (!(got == want))
                fail_msg("%s: %d x %d, %d steps%s: row %d, column %d is %g, not %g", o->symbol, (int)z->rows,
                         (int)z->columns, (int)z->steps, z->add ? ", added" : "", (int)i, (int)j, got, want);
        }
        assert_true(is_guard(d + i * row_bytes + z->columns * o->word, MARGIN * o->word));
    }
    assert_true(is_guard(d + z->rows * row_bytes, row_bytes));
}

static void check_sums(const struct as_outer *o, const struct shape *z)
{
    const uint64_t v = words_of(o), panels = (z->columns + o->columns * v - 1) / (o->columns * v);
    const uint64_t row_bytes = (z->columns + MARGIN) * o->word;
    const struct as_number_format *sum = as_number_format(as_gemm_formats[o->type].sum);
    unsigned char *a = packed(o, o->rows, 1, z->steps, 0), *b = packed(o, o->columns, panels, z->steps, 1000);
    unsigned char *d = filled((z->rows + 1) * row_bytes);
    for (uint64_t i = 0; i < z->rows && z->add; i++)
        for (uint64_t j = 0; j < z->columns; j++)
            memcpy(d + i * row_bytes + j * o->word, &(uint64_t){as_number_nearest(sum, (double)(i + j))}, o->word);
    o->multiply(&(struct as_outer_job){.a = a,
                                       .b = b,
                                       .d = d,
                                       .steps = z->steps,
                                       .rows = z->rows,
                                       .columns = z->columns,
                                       .row_bytes = row_bytes,
                                       .panel_bytes = z->steps * o->columns * v * o->word,
                                       .add = z->add});
    compare(o, z, d, row_bytes);
    release(a, z->steps * o->rows * v * o->word);
    release(b, panels * z->steps * o->columns * v * o->word);
    free(d);
}

UNIT_TEST(test_sums)
{
    skip_without();
    for (const struct as_outer *o = as_outers; o->code; o++) {
        const uint64_t v = words_of(o);
        const struct shape shapes[] = {
            {1, 1, 1, false},
            {o->rows * v, o->columns * v, 8, false},
            {o->rows * v, o->columns * v, 7, true},
            {o->rows * v - 1, v + 1, 3, false},
            {v, v, 6, true},
            {v + 1, 5 * v - 1, 5, true}, /* three panels of B */
            {2, 4 * v, 2, false},
        };
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes && is_right_here(o); i++)
            check_sums(o, &shapes[i]);
    }
}

/* ---- path tiled ---- */

#if defined(__aarch64__)
/* Element e of a row, of f32 or f64. */
static void set_element(unsigned char *row, uint64_t e, unsigned bytes, double value)
{
    memcpy(row + e * bytes, bytes == 4 ? (const void *)&(float){(float)value} : &value, bytes);
}

static double element_of(const unsigned char *row, uint64_t e, unsigned bytes)
{
    double value = 0;
    float narrow = 0;
    memcpy(bytes == 4 ? (void *)&narrow : &value, row + e * bytes, bytes);
    return bytes == 4 ? narrow : value;
}

/* Four rows by four, of `elements` elements. */
static void check_tiled(unsigned bytes, as_tiled_sve *block, uint64_t elements, bool add)
{
    const uint64_t in_row = elements * bytes, out_row = (4 + MARGIN) * bytes;
    unsigned char *a = at_end(4 * in_row), *b = at_end(4 * in_row), *d = filled(5 * out_row);
    for (uint64_t i = 0; i < 4; i++)
        for (uint64_t e = 0; e < elements; e++) {
            set_element(a + i * in_row, e, bytes, number_at(i, e));
            set_element(b + i * in_row, e, bytes, number_at(1000 + i, e));
        }
    for (uint64_t i = 0; i < 16; i++)
        set_element(d + i / 4 * out_row, i % 4, bytes, add ? (double)i : NAN);
    block(&(struct as_tiled_block){a, b, d, elements, in_row, out_row, add});
    for (uint64_t i = 0; i < 16; i++) {
        double sum = add ? (double)i : 0;
        for (uint64_t e = 0; e < elements; e++)
            sum += number_at(i / 4, e) * number_at(1000 + i % 4, e);
        if (!(element_of(d + i / 4 * out_row, i % 4, bytes) == sum))
            fail_msg("%u bytes, %d elements%s: row %d, column %d is %g, not %g", bytes, (int)elements,
                     add ? ", added" : "", (int)i / 4, (int)i % 4, element_of(d + i / 4 * out_row, i % 4, bytes), sum);
        assert_true(is_guard(d + i / 4 * out_row + 4 * (uint64_t)bytes, MARGIN * bytes));
    }
    assert_true(is_guard(d + 4 * out_row, out_row));
    release(a, 4 * in_row);
    release(b, 4 * in_row);
    free(d);
}

UNIT_TEST(test_tiled)
{
    const struct as_cpu_features has = as_cpu_features();
    if (!has.sve) {
        print_message("skipped: this CPU has no SVE\n");
        skip();
    }
    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        const uint64_t v = has.sve_bytes / bytes, counts[] = {1, v - 1, v, v + 1, 5 * v, 5 * v + 1};
        for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++)
            if (counts[i / 2])
                check_tiled(bytes, bytes == 4 ? as_native_tiled_sve_4 : as_native_tiled_sve_8, counts[i / 2], i % 2);
    }
}
#else
UNIT_TEST(test_tiled)
{
    skip();
}
#endif

/* ---- the caller's state ---- */

#if defined(__aarch64__)
/* 0: not in streaming mode, ZA off. */
static uint64_t mode(void)
{
    uint64_t svcr;
    __asm__ volatile("mrs %0, s3_3_c4_c2_2" : "=r"(svcr));
    return svcr;
}

/* The callee-saved registers d8 to d15 hold `to` at the call, and are stored into it afterwards. */
static void call_with(void (*kernel)(const void *), const void *job, double to[8])
{
    register void (*f)(const void *) __asm__("x20") = kernel;
    register const void *x0 __asm__("x0") = job;
    register double *kept __asm__("x19") = to;
    __asm__ volatile(
        "ldp d8, d9, [x19]\n\tldp d10, d11, [x19, #16]\n\tldp d12, d13, [x19, #32]\n\tldp d14, d15, [x19, #48]\n\t"
        "blr x20\n\t"
        "stp d8, d9, [x19]\n\tstp d10, d11, [x19, #16]\n\tstp d12, d13, [x19, #32]\n\tstp d14, d15, [x19, #48]"
        : "+r"(x0)
        : "r"(f), "r"(kept)
        : "memory", "cc", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
          "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
          "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
          "v28", "v29", "v30", "v31");
}

static void assert_kept(void (*kernel)(const void *), const void *job)
{
    double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    call_with(kernel, job, values);
    assert_int_equal(mode(), 0);
    for (int i = 0; i < 8; i++)
        assert_true(values[i] == i + 1);
}

UNIT_TEST(test_state)
{
    unsigned char a[8 * 256], b[8 * 256], d[8] = {0};
    skip_without();
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (const struct as_outer *o = as_outers; o->code; o++) {
        const struct as_outer_packing packing = {a, b, 1, 8, 1, 8};
        const struct as_outer_job job = {a, b, d, 1, 1, 1, 8, 8, 0};
        if (!can_run(o))
            continue;
        assert_kept((void (*)(const void *))o->pack, &packing);
        assert_kept((void (*)(const void *))o->multiply, &job);
    }
}
#else
UNIT_TEST(test_state)
{
    skip_without();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_packing), cmocka_unit_test(test_sums),
        cmocka_unit_test(test_tiled), cmocka_unit_test(test_state),
    };
    return cmocka_run_group_tests_name("GEMM of Arm", tests, NULL, NULL);
}
