/* The matrix path of a GPU: GEMMs by several paths, instructions with and without a documented rate, known and unknown
 * fragment layouts, and gains from fusion. */
#include "base/text.h"
#include "synth_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct as_cell *cell(struct maker *m, const char *probe, const char *axes, double value, const char *detail)
{
    struct as_cell *c = synth_cell(m, &synth_roofline, m->r->devices[0].id);
    char text[160], *save = NULL;
    if (!c)
        return NULL;
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(text, sizeof text, axes);
    for (char *part = strtok_r(text, " ", &save); part; part = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(part, '=');
        *equals = 0;
        uint64_t number;
        if (as_parse_u64(equals + 1, &number, NULL) == AS_OK)
            synth_axis_number(c, part, number);
        else
            synth_axis(c, part, equals + 1);
    }
    synth_measured(m, c, value);
    c->status = AS_CELL_OK;
    c->gates[AS_GATE_CHECKSUM].state = AS_GATE_PASS;
    c->limit = NAN;
    c->sum.median = value;
    c->sum.ci = (struct as_interval){value * 0.99, value * 1.01};
    c->detail = detail ? as_strdup(detail) : NULL;
    return c;
}

static void peak(struct maker *m, const char *instruction, const char *operands, double value, double documented)
{
    char axes[120];
    snprintf(axes, sizeof axes, "instruction=%s n=0 chains=0 warps=0 operands=%s", instruction, operands);
    struct as_cell *c = cell(m, "matmul_peak", axes, value, NULL);
    if (c)
        c->limit = documented;
}

/* C of m16n8k16: row = l2 l3 l4 r1, column = r0 l0 l1. */
static void fragment(struct maker *m)
{
    struct as_buf detail = AS_BUF_INIT;
    for (int places = 0; places < 2; places++) {
        as_buf_str(&detail, places ? "\",\"places\":\"" : "{\"rows\":16,\"columns\":8,\"bits\":\"l2\",\"lanes\":\"");
        for (unsigned i = 0; i < 128; i++) {
            unsigned row = i / 8, column = i % 8;
            as_buf_printf(&detail, i ? " %u" : "%u", places ? column % 2 + 2 * (row / 8) : row % 8 * 4 + column / 2);
        }
    }
    as_buf_str(&detail, "\"}");
    cell(m, "layout", "instruction=mma_m16n8k16_f16_f32 n=8 operand=c", 0, as_buf_get(&detail));
    as_buf_finish(&detail);
}

void synth_hostile_matrix(struct maker *m)
{
    static const char *const details[] = {
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 1 2 <u>\",\"places\":\"0 0 0 0\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 1 2\",\"places\":\"0 0 0 0\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 1 2 3 4\",\"places\":\"0 0 0 0\"}",
        "{\"rows\":2,\"columns\":2,\"lanes\":\"0 1 2 99999999999\",\"places\":\"0 0 0 0\"}",
        "{\"rows\":1e300,\"columns\":1e300,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"rows\":4096,\"columns\":4096,\"lanes\":\"0\",\"places\":\"0\"}",
        "{\"lanes\":7}",
        "<u>",
    };
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        cell(m, "layout", "instruction=<u>lay n=8 operand=<u>a", 1, details[i]);
    cell(m, "matmul", "path=<u>path type=f16 size=1 operands=random hold=burst", 1e308, NULL);
    cell(m, "matmul", "path=<u>path type=f16 size=18446744073709551615 operands=random hold=burst", 1, NULL);
    cell(m, "matmul", "path=<u>path type=f16 size=512 operands=random hold=burst", 1e9, NULL);
    cell(m, "numerics", "instruction=<u>ins n=8 property=product", 3, "{\"found\":\"<u>found \\u001b[31m\"}");
    cell(m, "numerics", "instruction=<u>ins n=8 property=cut", 3, "[1");
    cell(m, "fusion", "path=<u>p type=f16 size=512 operation=<u>o", 1e308, NULL);
    cell(m, "attention", "path=<u>p length=512 heads=1", 5e12, NULL);
    peak(m, "<u>instruction", "random", 1e308, 1e-308);
}

void synth_matrix(struct maker *m)
{
    struct as_device_info *d = synth_device(m->r, "cuda:0", "cuda", "NVIDIA H200");
    d->compute_units = 132;
    d->is_host_memory = false;
    for (unsigned size = 512; size <= 8192; size *= 2) {
        static const struct {
            const char *path, *type;
            double tera;
        } rows[] = {{"library", "f16", 749},
                    {"wgmma", "f16", 753},
                    {"mma", "f16", 345},
                    {"tiled", "f16", 28},
                    {"wgmma", "e4m3", 1500}};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char axes[120];
            snprintf(axes, sizeof axes, "path=%s type=%s size=%u operands=random hold=burst", rows[i].path,
                     rows[i].type, size);
            cell(m, "matmul", axes, rows[i].tera * 1e12 * size / 8192, NULL);
        }
    }
    cell(m, "matmul", "path=naive type=f16 size=512 operands=random hold=burst", 4.8e11, NULL)->status =
        AS_CELL_REJECTED;
    cell(m, "roofline", "type=f16 threads=0 width=best", 132e12, NULL);
    cell(m, "roofline", "type=f32 threads=0 width=best", 66e12, NULL);
    peak(m, "mma_m16n8k16_f16_f32", "random", 2730.6, 4096);
    peak(m, "wgmma_f16_f32", "random", 4096, 4096);
    peak(m, "wgmma_f16_f32", "zero", 4095, 4096);
    peak(m, "mma_m16n8k256_b1_s32", "random", 43690, NAN);
    cell(m, "numerics", "instruction=wgmma_e4m3_f32 n=8 property=accumulator", 14, "{\"found\":\"14 bits of 24\"}");
    cell(m, "numerics", "instruction=wgmma_e4m3_f32 n=8 property=step", 32, NULL);
    cell(m, "numerics", "instruction=wgmma_e4m3_f32 n=8 property=nan", 1, "{\"found\":\"one code\"}");
    cell(m, "numerics", "instruction=wgmma_e4m3_f32 n=8 property=aligned", 2, "{\"found\":\"the largest\"}");
    fragment(m);
    cell(m, "fusion", "path=wgmma type=f16 size=1024 operation=bias_gelu", 1.13, NULL);
    cell(m, "fusion", "path=tiled type=f16 size=1024 operation=bias", 0.98, NULL);
    cell(m, "attention", "path=flash length=8192 heads=16", 300e12, NULL);
    cell(m, "attention", "path=decomposed length=8192 heads=16", 120e12, NULL);
}
