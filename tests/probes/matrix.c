/* Matrix instructions: the table, layouts against the documentation lane by lane, and images. */
#include "lib/mma/instructions/layout.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

UNIT_TEST(test_table)
{
    assert_true(as_matrices_n > 80);
    for (size_t i = 0; i < as_matrices_n; i++) {
        const struct as_matrix *m = &as_matrices[i];
        assert_ptr_equal(as_matrix_find(m->name), m);
        assert_string_equal(as_matrix_words[i], m->name);
        for (int which = AS_MATRIX_A; which < AS_MATRIX_OPERANDS; which++)
            assert_non_null(as_matrix_format(m, (enum as_matrix_operand)which));
        assert_true(as_matrix_columns(m, 0) && as_matrix_columns(m, m->n) && !as_matrix_columns(m, m->n + 8));
    }
    const struct as_matrix *f16 = as_matrix_find("wgmma_f16_f32"), *s8 = as_matrix_find("wgmma_s8_s32");
    assert_true(as_matrix_columns(f16, 40) && as_matrix_columns(s8, 24) && as_matrix_columns(s8, 48));
    assert_false(as_matrix_columns(f16, 12) || as_matrix_columns(s8, 40));
    assert_true(as_matrix_documented(f16, "sm_90") == 4096);
    assert_true(as_matrix_documented(as_matrix_find("wgmma_sp_e4m3_f32"), "sm_90") == 16384);
    assert_true(as_matrix_documented(f16, "sm_100") == 0);
    assert_true(as_matrix_documented(f16, "sm_9") == 0);
    assert_true(as_matrix_emulated(as_matrix_find("mma_m16n8k64_s4_s32"), "sm_90"));
    assert_false(as_matrix_emulated(as_matrix_find("mma_m16n8k64_s4_s32"), "sm_80"));
}

UNIT_TEST(test_where_it_applies)
{
    static const struct {
        const char *dialect, *arch, *name;
        enum as_applies want;
        unsigned capabilities;
    } rows[] = {
        {"cuda", "sm_80", "mma_m16n8k16_f16_f32", AS_APPLIES, 0},
        {"cuda", "sm_75", "mma_m16n8k16_f16_f32", AS_INAPPLICABLE, 0},
        {"cuda", "sm_90", "wgmma_f16_f32", AS_APPLIES, 0},
        {"cuda", "sm_100", "wgmma_f16_f32", AS_INAPPLICABLE, 0},
        {"cuda", "sm_80", "mma_m16n8k16_f64", AS_INAPPLICABLE, 0},
        {"hip", "gfx942", "mma_m16n8k16_f16_f32", AS_PRUNED, 0},
        {"opencl", "", "mma_m16n8k16_f16_f32", AS_INAPPLICABLE, 0},
        {"opencl", "", "wgmma_f16_f32", AS_PRUNED, 0},
        {"metal", "apple7", "wgmma_f16_f32", AS_PRUNED, AS_CAP_MATRIX},
        {"metal", "apple6", "simdgroup_m8n8k8_f16_f32", AS_INAPPLICABLE, AS_CAP_MATRIX},
        {"metal", "mac2", "simdgroup_m8n8k8_f16_f32", AS_INAPPLICABLE, AS_CAP_MATRIX},
        {"metal", "apple7", "simdgroup_m8n8k8_f16_f32", AS_INAPPLICABLE, AS_CAP_BF16},
        {"metal", "apple7", "simdgroup_m8n8k8_f16_f32", AS_APPLIES, AS_CAP_MATRIX},
        {"metal", "apple7", "simdgroup_m8n8k8_bf16_f32", AS_INAPPLICABLE, AS_CAP_MATRIX},
        {"metal", "apple10", "simdgroup_m8n8k8_bf16_f32", AS_APPLIES, AS_CAP_MATRIX | AS_CAP_BF16},
        {"cuda", "sm_90", "simdgroup_m8n8k8_f16_f32", AS_PRUNED, 0},
        {"metal", "apple9", "matmul2d_m16n32k16_f16_f32", AS_INAPPLICABLE, AS_CAP_MATRIX | AS_CAP_TENSOR_OPS},
        {"metal", "apple9", "matmul2d_m16n32k16_e4m3_f32", AS_INAPPLICABLE, AS_CAP_TENSOR_FRAGMENTS},
        {"metal", "apple9", "matmul2d_m16n32k16_e4m3_f32", AS_APPLIES, AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8},
        {"metal", "apple9", "matmul2d_frag8_m16n32k16_f16_f32", AS_APPLIES, AS_CAP_TENSOR_FRAGMENTS},
        {"metal", "apple9", "matmul2d_frag16_m16n32k16_f16_f32", AS_INAPPLICABLE, AS_CAP_TENSOR_FRAGMENTS},
        {"metal", "apple10", "matmul2d_frag16_m16n32k16_f16_f32", AS_APPLIES, AS_CAP_TENSOR_FRAGMENTS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_device_info info = {.compute_units = 1, .capabilities = rows[i].capabilities};
        struct as_error err = {0};
        snprintf(info.dialect, sizeof info.dialect, "%s", rows[i].dialect);
        snprintf(info.arch, sizeof info.arch, "%s", rows[i].arch);
        assert_int_equal(as_matrix_applies(as_matrix_find(rows[i].name), &info, &err), rows[i].want);
        assert_true(rows[i].want == AS_APPLIES || err.text[0]);
    }
}

/* ---- layouts by the formulas of the PTX ISA; i is the index of a lane's element ---- */

struct at {
    unsigned row, column;
};
static struct at a_16x16_f16(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i < 2 || (i >= 4 && i < 6) ? 0 : 8), lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}
static struct at b_16x8_f16(unsigned lane, unsigned i)
{
    return (struct at){lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8), lane / 4};
}
static struct at c_16x8(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}
static struct at a_16x8_tf32(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i == 0 || i == 2 ? 0 : 8), lane % 4 + (i < 2 ? 0 : 4)};
}
static struct at b_8x8_tf32(unsigned lane, unsigned i)
{
    return (struct at){lane % 4 + (i == 0 ? 0 : 4), lane / 4};
}
static struct at a_16x32_8(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i < 4 || (i >= 8 && i < 12) ? 0 : 8), lane % 4 * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}
static struct at b_32x8_8(unsigned lane, unsigned i)
{
    return (struct at){lane % 4 * 4 + (i & 3) + (i < 4 ? 0 : 16), lane / 4};
}
static struct at a_16x64_4(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i < 8 || (i >= 16 && i < 24) ? 0 : 8), lane % 4 * 8 + (i & 7) + (i < 16 ? 0 : 32)};
}
static struct at a_16x256_1(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i < 32 || (i >= 64 && i < 96) ? 0 : 8),
                       lane % 4 * 32 + (i & 31) + (i < 64 ? 0 : 128)};
}
static struct at a_8x4_f64(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + i, lane % 4};
}
static struct at a_16x16_f64(unsigned lane, unsigned i)
{
    return (struct at){lane / 4 + (i % 2 ? 8 : 0), (i % 2 ? i * 2 - 2 : i * 2) + lane % 4};
}
static struct at b_16x8_f64(unsigned lane, unsigned i)
{
    return (struct at){lane % 4 + 4 * i, lane / 4};
}
static struct at d_64xn(unsigned lane, unsigned i)
{
    return (struct at){16 * (lane / 32) + lane % 32 / 4 + (i % 4 < 2 ? 0 : 8), 8 * (i / 4) + lane % 4 * 2 + (i & 1)};
}
static struct at a_64x16_f16(unsigned lane, unsigned i)
{
    struct at p = a_16x16_f16(lane % 32, i);
    return (struct at){16 * (lane / 32) + p.row, p.column};
}
static struct at a_64x32_8(unsigned lane, unsigned i)
{
    struct at p = a_16x32_8(lane % 32, i);
    return (struct at){16 * (lane / 32) + p.row, p.column};
}
/* Of two elements the first, and of four bytes the first two. */
static struct at a_sparse_16x16_tf32(unsigned lane, unsigned i)
{
    struct at p = a_16x8_tf32(lane, i);
    return (struct at){p.row, p.column * 2};
}
static struct at a_sparse_16x64_8(unsigned lane, unsigned i)
{
    struct at p = a_16x32_8(lane, i);
    return (struct at){p.row, p.column / 2 * 4 + p.column % 2};
}
/* Of the two kept out of four, the first two: columns 0 and 1 of each four. */
static struct at a_sparse_16x32_f16(unsigned lane, unsigned i)
{
    struct at p = a_16x16_f16(lane, i);
    return (struct at){p.row, p.column / 2 * 4 + p.column % 2};
}

/* RDNA 3 Instruction Set Architecture, WMMA: lanes 16 to 31 hold what lanes 0 to 15 hold of A (a row each) and of B (a
 * column each); of the result in f32 register i has the rows 2 i and, in the other half of the lanes, 2 i + 1. */
static struct at a_wmma_gfx11(unsigned lane, unsigned i)
{
    return (struct at){lane % 16, i};
}
static struct at b_wmma_gfx11(unsigned lane, unsigned i)
{
    return (struct at){i, lane % 16};
}
static struct at c_wmma_gfx11(unsigned lane, unsigned i)
{
    return (struct at){2 * i + lane / 16, lane % 16};
}
/* MLX, steel/gemm/mma.h: get_coord of the fragments of 8 x 8. */
static struct at simdgroup_8x8(unsigned lane, unsigned i)
{
    const unsigned quad = lane / 4;
    return (struct at){(quad & 4) + lane / 2 % 4, (quad & 2) * 2 + lane % 2 * 2 + i};
}

/* matmul2d, its second factor transposed. On an M4 Max (Rigel) blocks of 8 x 8 as above; on M5 (MLX, nax.h: get_coord
 * of the fragments of 16 x 16) rows of four, the next four eight rows below. */
static struct at matmul2d_8(unsigned lane, unsigned i, unsigned blocks)
{
    const struct at in = simdgroup_8x8(lane, i % 2);
    return (struct at){in.row + i / 2 / blocks * 8, in.column + i / 2 % blocks * 8};
}
static struct at a_matmul2d_8(unsigned lane, unsigned i)
{
    return matmul2d_8(lane, i, 2);
}
static struct at b_matmul2d_8(unsigned lane, unsigned i)
{
    const struct at p = matmul2d_8(lane, i, 2);
    return (struct at){p.column, p.row};
}
static struct at c_matmul2d_8(unsigned lane, unsigned i)
{
    return matmul2d_8(lane, i, 4);
}
static struct at a_matmul2d_16(unsigned lane, unsigned i)
{
    const unsigned quad = lane >> 2;
    return (struct at){((quad & 4) | (lane >> 1 & 3)) + i / 4 * 8, ((quad & 2) | (lane & 1)) * 4 + i % 4};
}
static struct at b_matmul2d_16(unsigned lane, unsigned i)
{
    const struct at p = a_matmul2d_16(lane, i % 8);
    return (struct at){p.column, p.row + i / 8 * 16};
}
static struct at c_matmul2d_16(unsigned lane, unsigned i)
{
    const struct at p = a_matmul2d_16(lane, i % 8);
    return (struct at){p.row, p.column + i / 8 * 16};
}

UNIT_TEST(test_documented_layouts)
{
    static const struct {
        const char *name;
        enum as_matrix_operand which;
        struct at (*formula)(unsigned lane, unsigned i);
    } rows[] = {
        {"mma_m16n8k16_f16_f32", AS_MATRIX_A, a_16x16_f16},
        {"mma_m16n8k16_f16_f32", AS_MATRIX_B, b_16x8_f16},
        {"mma_m16n8k16_f16_f32", AS_MATRIX_C, c_16x8},
        {"mma_m16n8k16_f16", AS_MATRIX_C, c_16x8},
        {"mma_m16n8k8_tf32_f32", AS_MATRIX_A, a_16x8_tf32},
        {"mma_m16n8k8_tf32_f32", AS_MATRIX_B, b_8x8_tf32},
        {"mma_m16n8k32_e4m3_f32", AS_MATRIX_A, a_16x32_8},
        {"mma_m16n8k32_s8_s32", AS_MATRIX_B, b_32x8_8},
        {"mma_m16n8k64_u4_s32", AS_MATRIX_A, a_16x64_4},
        {"mma_m16n8k256_b1_s32", AS_MATRIX_A, a_16x256_1},
        {"mma_m8n8k4_f64", AS_MATRIX_A, a_8x4_f64},
        {"mma_m16n8k16_f64", AS_MATRIX_A, a_16x16_f64},
        {"mma_m16n8k16_f64", AS_MATRIX_B, b_16x8_f64},
        {"wgmma_f16_f32", AS_MATRIX_C, d_64xn},
        {"wgmma_e4m3_f16", AS_MATRIX_C, d_64xn},
        {"wgmma_rs_bf16_f32", AS_MATRIX_A, a_64x16_f16},
        {"wgmma_rs_s8_s32", AS_MATRIX_A, a_64x32_8},
        {"mma_sp_m16n8k32_f16_f32", AS_MATRIX_A, a_sparse_16x32_f16},
        {"mma_sp_m16n8k16_tf32_f32", AS_MATRIX_A, a_sparse_16x16_tf32},
        {"mma_sp_m16n8k64_s8_s32", AS_MATRIX_A, a_sparse_16x64_8},
        {"wmma_16x16x16_f16_f32", AS_MATRIX_A, a_wmma_gfx11},
        {"wmma_16x16x16_f16_f32", AS_MATRIX_B, b_wmma_gfx11},
        {"wmma_16x16x16_f16_f32", AS_MATRIX_C, c_wmma_gfx11},
        {"wmma_16x16x16_s8_s32", AS_MATRIX_A, a_wmma_gfx11},
        {"wmma_16x16x16_s4_s32", AS_MATRIX_B, b_wmma_gfx11},
        {"simdgroup_m8n8k8_f16_f32", AS_MATRIX_A, simdgroup_8x8},
        {"simdgroup_m8n8k8_f16_f32", AS_MATRIX_C, simdgroup_8x8},
        {"simdgroup_m8n8k8_f16", AS_MATRIX_C, simdgroup_8x8},
        {"simdgroup_m8n8k8_bf16_f32", AS_MATRIX_B, simdgroup_8x8},
        {"simdgroup_m8n8k8_f32", AS_MATRIX_B, simdgroup_8x8},
        {"matmul2d_frag8_m16n32k16_f16_f32", AS_MATRIX_A, a_matmul2d_8},
        {"matmul2d_frag8_m16n32k16_f16_f32", AS_MATRIX_B, b_matmul2d_8},
        {"matmul2d_frag8_m16n32k16_f16_f32", AS_MATRIX_C, c_matmul2d_8},
        {"matmul2d_frag16_m16n32k16_f16_f32", AS_MATRIX_A, a_matmul2d_16},
        {"matmul2d_frag16_m16n32k16_f16_f32", AS_MATRIX_B, b_matmul2d_16},
        {"matmul2d_frag16_m16n32k16_f16_f32", AS_MATRIX_C, c_matmul2d_16},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct as_matrix *m = as_matrix_find(rows[r].name);
        assert_non_null(m);
        const struct as_matrix_held *held = &m->held[rows[r].which];
        unsigned elements = held->register_bits / as_matrix_format(m, rows[r].which)->bits;
        const unsigned copies = as_layout_copies(m, rows[r].which);
        struct as_layout layout;
        assert_true(as_layout_parse(held, &layout));
        assert_int_equal(copies, strncmp(m->name, "wmma_16x16x16", 13) == 0 && rows[r].which != AS_MATRIX_C ? 16 : 0);
        for (unsigned lane = 0; lane < m->lanes; lane++)
            for (unsigned i = 0; i < held->registers * elements; i++) {
                const struct as_layout_place first = {lane & ~copies, i / elements, i % elements};
                struct as_layout_place back;
                const struct at number = rows[r].formula(lane, i);
                if (!as_layout_place(&layout, number.row, number.column, &back) ||
                    memcmp(&back, &first, sizeof back) != 0)
                    fail_msg("%s: number %u of lane %u is not (%u, %u)", m->name, i, lane, number.row, number.column);
            }
    }
}

UNIT_TEST(test_broken_layouts)
{
    static const char *const broken[] = {"x1 l0", "l0,l1", "e0 l0 l1 l2 l3 l4 l5 l6 r0 r1 r2 r3 r4"};
    struct as_layout layout;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        const struct as_matrix_held held = {.row = broken[i], .column = "l0"};
        assert_false(as_layout_parse(&held, &layout));
    }
    /* Eight lines hold each of their 16-byte pieces once. */
    bool seen[1024] = {false};
    for (unsigned line = 0; line < 8; line++)
        for (unsigned at = 0; at < 128; at++) {
            unsigned byte = as_layout_shared(line, at);
            assert_true(byte < 1024 && !seen[byte] && byte / 128 == line && byte % 16 == at % 16);
            seen[byte] = true;
        }
    assert_int_equal(as_layout_shared(3, 0), 3 * 128 + 3 * 16);
}

/* ---- images ---- */

UNIT_TEST(test_images)
{
    for (size_t i = 0; i < as_matrices_n; i++) {
        const struct as_matrix *m = &as_matrices[i];
        unsigned n = m->columns ? 24 : m->n;
        for (int w = AS_MATRIX_A; w < AS_MATRIX_OPERANDS; w++) {
            enum as_matrix_operand which = (enum as_matrix_operand)w;
            unsigned rows = as_matrix_rows(m, which), columns = as_matrix_cols(m, which, n);
            unsigned bits = as_matrix_format(m, which)->bits;
            size_t bytes = as_image_bytes(m, which, n), held = 0;
            uint64_t *in = calloc((size_t)rows * columns, sizeof *in),
                     *out = calloc((size_t)rows * columns, sizeof *out);
            unsigned char *image = calloc(1, bytes);
            for (unsigned k = 0; k < rows * columns; k++) {
                bool has = as_image_holds(m, which, k / columns, k % columns);
                held += has;
                in[k] = has ? (k * UINT64_C(0x9e3779b97f4a7c15) >> 7) &
                                  (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1)
                            : 0;
            }
            assert_int_equal(held, which == AS_MATRIX_A && m->sparse ? rows * columns / 2 : rows * columns);
            as_image_pack(m, which, n, 0, in, image);
            as_image_unpack(m, which, n, image, out);
            if (memcmp(in, out, (size_t)rows * columns * sizeof *in) != 0)
                fail_msg("%s: operand %c does not come back out of its image", m->name, "ABC"[w]);
            free(in);
            free(out);
            free(image);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_where_it_applies),
        cmocka_unit_test(test_documented_layouts),
        cmocka_unit_test(test_broken_layouts),
        cmocka_unit_test(test_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
