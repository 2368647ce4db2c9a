/* The rules of GEMM, on synthetic cells. */
#include "tests/facts/made.h"
#include "tests/unit_test.h"

#include "model/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct made m = {.info = {.id = "cuda:0", .backend = "cuda"}, .share = 0.01};

static struct as_cell *gemm(const char *path, const char *type, int size, double tera)
{
    char axes[160];
    snprintf(axes, sizeof axes, "path=%s type=%s size=%d operands=random hold=burst", path, type, size);
    return made_add(&m, "matmul", "FLOP/s", tera * 1e12, axes);
}

/* Its power over all trials, give or take a share. */
static void draw(struct as_cell *cell, const char *metric, double watts, double share)
{
    struct as_error err = {0};
    struct as_metric_value v = {.unit = "W",
                                .lower_is_better = true,
                                .trials = 3,
                                .value = watts,
                                .ci = {watts * (1 - share), watts * (1 + share)}};
    snprintf(v.name, sizeof v.name, "%s", metric);
    assert_int_equal(as_cell_set_metrics(cell, &v, 1, &err), AS_OK);
}

static void held(const char *path, int size, double tera, double watts)
{
    char axes[160];
    snprintf(axes, sizeof axes, "path=%s type=f16 size=%d operands=random hold=sustained", path, size);
    draw(made_add(&m, "matmul", "FLOP/s", tera * 1e12, axes), "gpu_power", watts, 0);
}

/* Trials whose power differs widen the energy's interval; power of one trial alone, in the notes, gives none. */
UNIT_TEST(test_energy_of_all_trials)
{
    gemm("wgmma", "f16", 4096, 600);
    held("wgmma", 4096, 600, 700);
    held("tiled", 4096, 28, 350);
    made_add(&m, "roofline", "FLOP/s", 130e12, "type=f16 threads=0 width=best");
    draw(&m.cells[1], "gpu_power", 700, 0.2);
    made_derive(&m);
    made_says(made_get(&m, "matmul.unit.f16"),
              "wgmma takes 8.0 to 15.0x less energy per operation than tiled, size 4096");
    free(m.cells[1].metrics);
    m.cells[1].metrics = NULL;
    m.cells[1].detail = strdup("{\"power_w\":700}");
    made_derive(&m);
    assert_null(strstr(made_get(&m, "matmul.unit.f16")->sentence, "energy"));
}

/* Numbers of the published study: half the bytes at nine tenths of the rate. */
UNIT_TEST(test_emulated)
{
    gemm("tiled", "f16", 1024, 14.0);
    gemm("tiled", "f16", 2048, 14.8);
    gemm("tiled", "e4m3", 2048, 13.9);
    gemm("tiled", "f32", 2048, 12.0);
    made_add(&m, "roofline", "FLOP/s", 32e12, "type=f16 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 1e15, "type=f64 threads=0 width=best");
    made_derive(&m);
    made_verdict(&m, "matmul.accelerated.e4m3", AS_REFUTED);
    made_near(&m, "matmul.accelerated.e4m3", 13.9 / 14.8, 1e-6);
    made_says(made_get(&m, "matmul.accelerated.e4m3"), "): less than 1.5 times");
    made_says(made_get(&m, "matmul.accelerated.e4m3"), "(both by tiled)");
    made_acts(&m, "matmul.accelerated.e4m3", "Do not expect e4m3 GEMMs to be faster than f16: f16 runs at 1.06x");
    made_verdict(&m, "matmul.accelerated.f16", AS_REFUTED); /* no tf32: compared with f32 */
    made_verdict(&m, "matmul.unit.f16", AS_REFUTED);
    made_near(&m, "matmul.unit.f16", 14.8 / 32, 1e-6);
    made_says(made_get(&m, "matmul.unit.f16"), "could run on the vector ALU");
    assert_null(made_find(&m, "matmul.accelerated.f32"));
    made_near(&m, "matmul.unit.e4m3", 13.9 / 1000, 1e-6); /* no vector ALU rate for e4m3: the highest one counts */
    assert_null(made_find(&m, "matmul.library.f16"));
}

/* The two paths of one language in the published study. */
UNIT_TEST(test_two_paths)
{
    gemm("mma", "f16", 4096, 12.9);
    gemm("tensor", "f16", 4096, 14.8);
    gemm("tensor", "f16", 8192, 14.9); /* the only one of that size */
    gemm("mma", "bf16", 4096, 14);
    gemm("tensor", "bf16", 4096, 60);
    gemm("mma", "f32", 4096, 12);
    made_add(&m, "roofline", "FLOP/s", 32e12, "type=f16 threads=0 width=best");
    made_derive(&m);
    made_verdict(&m, "matmul.older.f16", AS_SUPPORTED);
    made_near(&m, "matmul.older.f16", 12.9 / 14.8, 1e-6);
    made_says(made_get(&m, "matmul.older.f16"), "matches path tensor in f16: GEMMs of size 4096 by mma run at 0.872x");
    made_verdict(&m, "matmul.older.bf16", AS_REFUTED);
    assert_null(made_find(&m, "matmul.older.f32"));
    made_verdict(&m, "matmul.unit.f16", AS_REFUTED);
    made_says(made_get(&m, "matmul.unit.f16"), "1.15x (1.13 to 1.16x) the older path (tensor over mma)");
}

UNIT_TEST(test_matrix_unit)
{
    draw(gemm("wgmma", "f16", 8192, 753), "gpu_power", 1, 0); /* mostly of a pause */
    gemm("mma", "f16", 8192, 345);
    draw(gemm("tiled", "f16", 8192, 28), "gpu_power", 1, 0);
    held("wgmma", 8192, 650, 710); /* no other path has this size */
    held("wgmma", 4096, 600, 700);
    held("tiled", 4096, 28, 350);
    held("tiled", 2048, 20, 300);
    gemm("library", "f16", 8192, 749);
    gemm("library", "f16", 16384, 900); /* the only one of that size */
    gemm("wgmma", "e4m3", 8192, 1500);
    gemm("wgmma", "tf32", 8192, 421);
    gemm("wgmma", "s8", 8192, 1500);
    made_add(&m, "roofline", "FLOP/s", 130e12, "type=f16 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 66e12, "type=f32 threads=0 width=best");
    made_derive(&m);
    made_verdict(&m, "matmul.accelerated.e4m3", AS_SUPPORTED);
    made_says(made_get(&m, "matmul.accelerated.e4m3"), "the rate of f16 (both by wgmma): 1.5 times or more");
    made_acts(&m, "matmul.accelerated.e4m3", "Use e4m3 GEMMs where their precision suffices: they run at 1.99x");
    made_verdict(&m, "matmul.accelerated.f16", AS_SUPPORTED);
    made_verdict(&m, "matmul.unit.f16", AS_SUPPORTED);
    made_near(&m, "matmul.unit.f16", 753.0 / 130, 1e-6); /* of the data sheet's size */
    made_says(made_get(&m, "matmul.unit.f16"), "2.18x (2.15 to 2.21x) the older path (wgmma over mma)");
    made_says(made_get(&m, "matmul.unit.f16"),
              "; wgmma takes 10.7x less energy per operation (9.6 to 12.0x) than tiled, size 4096");
    made_near(&m, "matmul.unit.tf32", 421.0 / 66, 1e-6); /* not compared with the faster f16 */
    assert_null(made_find(&m, "matmul.unit.s8"));        /* no integer rate is known */
    made_near(&m, "matmul.library.f16", 753.0 / 749, 1e-6);
    made_verdict(&m, "matmul.library.f16", AS_SUPPORTED);
    made_holds(made_get(&m, "matmul.library.f16"), 1);
}

/* The power is that of the path whose rate is judged, not of one that is faster where it was sustained. */
UNIT_TEST(test_signals_of_one_path)
{
    gemm("library", "f16", 8192, 753);
    gemm("wgmma", "f16", 8192, 720);
    held("library", 4096, 590, 700);
    held("wgmma", 4096, 600, 650);
    held("tiled", 4096, 28, 350);
    made_add(&m, "roofline", "FLOP/s", 130e12, "type=f16 threads=0 width=best");
    made_derive(&m);
    made_says(made_get(&m, "matmul.unit.f16"), "; library takes ");
}

/* Rigel's three signals on its own chip: below the ceiling, hardly above the older path, and the energy of the
 * vector ALU on the GPU's rail alone. */
static void signals(double older, double tiled_watts)
{
    gemm("tensor", "f16", 4096, 14.8);
    gemm("mma", "f16", 4096, older);
    made_add(&m, "roofline", "FLOP/s", 32e12, "type=f16 threads=0 width=best");
    held("tensor", 4096, 14.8, 15);
    held("tiled", 4096, 13, tiled_watts);
    made_derive(&m);
}

UNIT_TEST(test_signals)
{
    signals(13, 14);
    made_verdict(&m, "matmul.unit.f16", AS_REFUTED);
    made_says(made_get(&m, "matmul.unit.f16"), "; 3 signals agree");
    made_end(&m);
    signals(13, 60); /* a fifth of the energy: not the same arithmetic */
    made_verdict(&m, "matmul.unit.f16", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.unit.f16"), "signals differ: throughput vector, older path vector, power matrix");
    made_end(&m);
    signals(5, 14);
    made_verdict(&m, "matmul.unit.f16", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.unit.f16"), "signals differ: throughput vector, older path matrix, power vector");
}

/* Metal has no dot product of four bytes: the peak of s8 is that of multiply-adds. Where dot products were merely left
 * out, it is unknown. */
UNIT_TEST(test_integers_without_dots)
{
    m.info.compute_units = 10;
    gemm("tensor", "s8", 4096, 12);
    struct as_cell *dots =
        made_add(&m, "alu", "ops/cycle", 0, "op=idp4a32 ilp=4 warps=0 width=scalar operands=0 steps=0");
    struct as_cell *adds =
        made_add(&m, "alu", "ops/cycle", 32, "op=imad32 ilp=4 warps=0 width=scalar operands=0 steps=0");
    adds->clock_hz = 1e9;
    dots->status = AS_CELL_SKIPPED;
    made_derive(&m);
    assert_null(made_find(&m, "matmul.unit.s8"));
    dots->status = AS_CELL_UNSUPPORTED;
    made_derive(&m);
    made_near(&m, "matmul.unit.s8", 12e12 / (32 * 2 * 1e9 * 10), 1e-6);
    made_says(made_get(&m, "matmul.unit.s8"), "the peak of the vector ALU (imad32)");
    made_near(&m, "matmul.share.tensor.s8", 12e12 / (32 * 2 * 1e9 * 10), 1e-6);
    made_add(&m, "roofline", "FLOP/s", 5.12e12, "type=f32 threads=0 width=best"); /* f32 multiplies bytes exactly */
    made_derive(&m);
    made_near(&m, "matmul.unit.s8", 12e12 / 5.12e12, 1e-6);
    made_says(made_get(&m, "matmul.unit.s8"), "the peak of the vector ALU (f32)");
}

/* Without a wider type by the same path the vector ALU's peak decides, or a reason is stated. */
UNIT_TEST(test_native_by_peak)
{
    gemm("wgmma", "tf32", 8192, 421);
    gemm("mma", "f64", 8192, 43.7);
    gemm("tiled", "f64", 4096, 30);
    gemm("wgmma_pair", "e4m3", 8192, 1500);
    gemm("library", "f32", 8192, 51);
    gemm("library", "f64", 8192, 60);
    made_add(&m, "roofline", "FLOP/s", 66e12, "type=f32 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 33.4e12, "type=f64 threads=0 width=best");
    m.cells[3].detail = strdup("{\"operand_conversions\":96}");
    made_derive(&m);
    made_verdict(&m, "matmul.native.peak.wgmma.tf32", AS_SUPPORTED);
    made_says(made_get(&m, "matmul.native.peak.wgmma.tf32"),
              "tf32 by wgmma is native, a compute feature: 6.38x (6.29 to 6.47x) the peak of the vector ALU (f32)");
    made_verdict(&m, "matmul.native.peak.mma.f64", AS_SUPPORTED);
    assert_null(made_find(&m, "matmul.native.peak.tiled.f64")); /* on the vector ALU itself */
    made_verdict(&m, "matmul.native.peak.wgmma_pair.e4m3", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.native.peak.wgmma_pair.e4m3"), "and operands are converted");
    assert_null(made_find(&m, "matmul.native.peak.library.f32")); /* compared with f64 */
    made_end(&m);
    gemm("wgmma", "s8", 8192, 1500);
    made_derive(&m);
    made_verdict(&m, "matmul.native.peak.wgmma.s8", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.native.peak.wgmma.s8"), "and the peak of the vector ALU is unknown");
}

/* A verdict per path and type: the same type is native by one and emulated by another. */
static void sustained(const char *path, const char *type, double tera, double watts)
{
    char axes[160];
    snprintf(axes, sizeof axes, "path=%s type=%s size=4096 operands=random hold=sustained", path, type);
    draw(made_add(&m, "matmul", "FLOP/s", tera * 1e12, axes), "power_w", watts, 0);
}

/* An H200: f32 by the library only, f64 by mma and the older wmma, s8 against dot products of four bytes. */
UNIT_TEST(test_signals_of_each_type)
{
    static const char *const ids[] = {"matmul.unit.f32", "matmul.unit.f64", "matmul.unit.s8"};
    m.info.compute_units = 132;
    gemm("library", "f32", 8192, 51);
    sustained("library", "f32", 51, 700);
    sustained("tiled", "f32", 32.5, 572);
    gemm("mma", "f64", 4096, 43.7);
    gemm("wmma", "f64", 4096, 28);
    sustained("mma", "f64", 38.3, 694);
    sustained("tiled", "f64", 9.17, 542);
    gemm("wgmma", "s8", 8192, 1584);
    gemm("mma", "s8", 8192, 660);
    sustained("wgmma", "s8", 1179, 698);
    sustained("tiled", "s8", 24.4, 432);
    made_add(&m, "roofline", "FLOP/s", 66.6e12, "type=f32 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 33.4e12, "type=f64 threads=0 width=best");
    made_derive(&m);
    assert_null(made_find(&m, ids[2])); /* the peak of floating-point arithmetic is none of integers */
    struct as_cell *dots =
        made_add(&m, "alu", "ops/cycle", 64, "op=idp4a32 ilp=4 warps=0 width=scalar operands=0 steps=0");
    dots->clock_hz = 1.755e9;
    dots->limit = 66; /* per cycle and unit, as its value: it bounds neither end of the interval */
    made_derive(&m);
    made_verdict(&m, ids[0], AS_REFUTED);
    made_says(made_get(&m, ids[0]), "less energy per operation");
    made_says(made_get(&m, ids[0]), "; 2 signals agree");
    made_verdict(&m, ids[1], AS_SUPPORTED);
    made_says(made_get(&m, ids[1]), "1.56x (1.54 to 1.58x) the older path (mma over wmma)");
    made_says(made_get(&m, ids[1]), "; 3 signals agree");
    made_verdict(&m, ids[2], AS_SUPPORTED);
    made_near(&m, ids[2], 1584e12 / (64 * 8 * 132 * 1.755e9), 1e-9);
    assert_true(made_get(&m, ids[2])->ci.lo < 0.988 * made_get(&m, ids[2])->value);
    made_says(made_get(&m, ids[2]), "the peak of the vector ALU (idp4a32)");
    made_says(made_get(&m, ids[2]), "; 3 signals agree");
    m.info.compute_units = 0;
}

UNIT_TEST(test_paths)
{
    gemm("wgmma", "f16", 1024, 400);
    gemm("wgmma", "f16", 4096, 700);
    gemm("wgmma", "f16", 2048, 600);
    gemm("wgmma", "e4m3", 4096, 1350)->detail = strdup("{\"operand_conversions\":0,\"code_matrix\":4}");
    gemm("mma", "f16", 2048, 360);
    gemm("mma", "f16", 1024, 300);
    gemm("mma", "f16", 4096, 400);
    gemm("mma", "e4m3", 4096, 380)->detail = strdup("{\"operand_conversions\":96,\"code_matrix\":32}");
    gemm("mma", "f64", 4096, 60);
    gemm("tiled", "f16", 4096, 40);
    gemm("tiled", "f32", 4096, 42);
    gemm("naive", "f16", 1024, 2);
    made_add(&m, "roofline", "FLOP/s", 120e12, "type=f16 threads=0 width=best");
    made_derive(&m);
    made_verdict(&m, "matmul.native.wgmma.e4m3", AS_SUPPORTED);
    made_says(made_get(&m, "matmul.native.wgmma.e4m3"), "is native, a compute feature: 1.93x");
    made_says(made_get(&m, "matmul.native.wgmma.e4m3"), "with 0 conversions of operands in the machine code");
    made_verdict(&m, "matmul.native.mma.e4m3", AS_REFUTED);
    made_says(made_get(&m, "matmul.native.mma.e4m3"), "is emulated, a memory-footprint feature: 0.95");
    made_says(made_get(&m, "matmul.native.mma.e4m3"), "with 96 conversions");
    made_verdict(&m, "matmul.native.tiled.f16", AS_REFUTED);
    made_says(made_get(&m, "matmul.native.tiled.f16"), "f16 by tiled is slower: 0.952x");
    assert_null(made_find(&m, "matmul.native.mma.f64"));
    made_near(&m, "matmul.gain.wgmma.mma.f16", 1.75, 1e-6);
    made_says(made_get(&m, "matmul.gain.wgmma.mma.f16"), "; 1.33x (1.31 to 1.35x) at 1024, 1.67x");
    made_near(&m, "matmul.gain.wgmma.tiled.f16", 17.5, 1e-6);
    made_near(&m, "matmul.gain.mma.tiled.f16", 10, 1e-6);
    assert_null(made_find(&m, "matmul.gain.tiled.naive.f16")); /* no common size */
    made_near(&m, "matmul.share.wgmma.f16", 700.0 / 120, 1e-6);
    made_says(made_get(&m, "matmul.share.wgmma.f16"), "; 3.33x (3.29 to 3.38x) at 1024, 5.00x");
    made_verdict(&m, "matmul.share.tiled.f16", AS_SUPPORTED); /* nobody expects more */
}

/* Ratios that another cause explains: loads, a device that is not full, another unit. */
UNIT_TEST(test_native_or_another_cause)
{
    gemm("naive", "f16", 4096, 0.48);
    gemm("naive", "f32", 4096, 0.48);
    gemm("tiled", "s8", 512, 1.13)->detail = strdup("{\"tile\":\"64 x 64\"}");
    gemm("tiled", "f16", 512, 1)->detail = strdup("{\"tile\":\"64 x 64\"}");
    gemm("library", "f32", 8192, 51);
    gemm("library", "f64", 8192, 61);
    made_add(&m, "roofline", "FLOP/s", 66e12, "type=f32 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 33e12, "type=f64 threads=0 width=best");
    m.info.compute_units = 132;
    made_derive(&m);
    m.info.compute_units = 0;
    assert_null(made_find(&m, "matmul.native.naive.f16"));
    made_verdict(&m, "matmul.native.tiled.s8", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.native.tiled.s8"), "at size 512; inconclusive, because 68 of 132 SMs stay idle");
    made_verdict(&m, "matmul.native.library.f32", AS_UNDECIDED);
    made_says(made_get(&m, "matmul.native.library.f32"), "at size 8192; inconclusive, because f64 exceeds the peak of "
                                                         "the vector ALU, so the types may use different units");
}

/* Faster, but it converts for each instruction: not both can be. */
UNIT_TEST(test_converts)
{
    gemm("mma", "f16", 4096, 400);
    gemm("mma", "e4m3", 4096, 780)->detail = strdup("{\"operand_conversions\":96,\"code_matrix\":32}");
    made_derive(&m);
    made_verdict(&m, "matmul.native.mma.e4m3", AS_UNDECIDED);
}

/* First neither above nor below the ceiling; then below it, but with a gain by the newer path: inconclusive. And one of
 * our kernels that is too slow to count. */
UNIT_TEST(test_undecided)
{
    gemm("wgmma", "f16", 1024, 50);
    gemm("mma", "f16", 1024, 20);
    gemm("library", "f16", 1024, 100);
    gemm("library", "f32", 1024, 33.3);
    made_add(&m, "roofline", "FLOP/s", 130e12, "type=f16 threads=0 width=best");
    made_derive(&m);
    made_verdict(&m, "matmul.unit.f16", AS_UNDECIDED);
    made_verdict(&m, "matmul.library.f16", AS_REFUTED);
    made_verdict(&m, "matmul.accelerated.f16", AS_SUPPORTED);
    m.cells[2].sum = m.cells[0].sum;
    made_derive(&m);
    made_verdict(&m, "matmul.accelerated.f16", AS_UNDECIDED); /* 50 / 33.3 is 1.5 within 2% */
}

/* A path that only one of the two types has does not count. */
UNIT_TEST(test_like_paths)
{
    gemm("library", "f32", 512, 0.5);
    gemm("library", "f64", 512, 0.4);
    gemm("tiled", "f64", 512, 7);
    made_derive(&m);
    made_near(&m, "matmul.accelerated.f32", 0.5 / 0.4, 1e-6);
    made_says(made_get(&m, "matmul.accelerated.f32"), "(both by library)");
    made_end(&m);
    gemm("library", "f32", 512, 0.5);
    gemm("tiled", "f64", 512, 7);
    made_derive(&m);
    assert_null(made_find(&m, "matmul.accelerated.f32"));
}

/* With a larger size or without it every statement is the same: of the size that the data sheet takes. */
UNIT_TEST(test_size_of_the_sheet)
{
    static const char *const same[] = {"matmul.accelerated.e4m3",   "matmul.native.wgmma.e4m3",
                                       "matmul.gain.wgmma.mma.f16", "matmul.unit.f16",
                                       "matmul.library.f16",        "matmul.share.wgmma.f16"};
    double value[2][sizeof same / sizeof *same];
    for (size_t larger = 0; larger < 2; larger++) {
        for (int size = 4096; size <= (larger ? 16384 : 8192); size *= 2) {
            gemm("wgmma", "f16", size, 700.0 - size / 100.0);
            gemm("wgmma", "e4m3", size, 1400.0 - size / 50.0);
            gemm("mma", "f16", size, 400);
            gemm("library", "f16", size, 710);
        }
        made_add(&m, "roofline", "FLOP/s", 120e12, "type=f16 threads=0 width=best");
        made_derive(&m);
        for (size_t i = 0; i < sizeof same / sizeof *same; i++)
            value[larger][i] = made_get(&m, same[i])->value;
        made_says(made_get(&m, "matmul.share.wgmma.f16"), larger ? "at size 8192; 5.49x (5.41 to 5.57x) at 4096, 4.47x"
                                                                 : "at size 8192; 5.49x (5.41 to 5.57x) at 4096");
        made_end(&m);
    }
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_float_equal(value[0][i], value[1][i], 1e-9);
}

/* Ratios that may be 1, or on either side of the bar: no difference is stated. */
UNIT_TEST(test_tied)
{
    m.share = 0.1;
    gemm("mma", "f16", 2048, 98);
    gemm("library", "f16", 2048, 100);
    gemm("library", "f32", 2048, 65);
    made_derive(&m);
    m.share = 0.01;
    made_says(made_get(&m, "matmul.library.f16"), "and by the library are statistically tied: 0.98");
    made_says(made_get(&m, "matmul.accelerated.f16"), "): inconclusive, the interval includes 1.5x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        made_test(test_size_of_the_sheet, &m),
        made_test(test_tied, &m),
        made_test(test_energy_of_all_trials, &m),
        made_test(test_emulated, &m),
        made_test(test_two_paths, &m),
        made_test(test_matrix_unit, &m),
        made_test(test_undecided, &m),
        made_test(test_like_paths, &m),
        made_test(test_signals, &m),
        made_test(test_signals_of_one_path, &m),
        made_test(test_signals_of_each_type, &m),
        made_test(test_integers_without_dots, &m),
        made_test(test_paths, &m),
        made_test(test_native_by_peak, &m),
        made_test(test_converts, &m),
        made_test(test_native_or_another_cause, &m),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
