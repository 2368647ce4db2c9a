/* Operations of a GPU: with and without a measured link, in two forms of which one is unknown to this version, over
 * chains and warps, with bodies of several lengths. */
#include "base/text.h"
#include "synth_internal.h"

#include <math.h>
#include <stdlib.h>

static void valid(struct maker *m, struct as_cell *c, double value)
{
    synth_measured(m, c, value);
    c->status = AS_CELL_OK;
    c->gates[AS_GATE_CHECKSUM].state = AS_GATE_PASS;
    c->sum.median = value;
    c->sum.ci = (struct as_interval){value * 0.99, value * 1.01};
}

static struct as_cell *operation(struct maker *m, const struct as_probe *probe, const char *op, unsigned operands,
                                 unsigned steps, double value, const char *detail)
{
    struct as_cell *c = synth_cell(m, probe, "cuda:0");
    if (!c)
        return NULL;
    synth_axis(c, "op", op);
    synth_axis_number(c, "operands", operands);
    synth_axis_number(c, "steps", steps);
    valid(m, c, value);
    c->detail = detail ? as_strdup(detail) : NULL;
    return c;
}

static struct as_cell *rate(struct maker *m, const char *op, unsigned ilp, unsigned warps, unsigned steps, double value,
                            const char *detail)
{
    struct as_cell *c = operation(m, &synth_alu, op, 0, steps, value, detail);
    synth_axis_number(c, "ilp", ilp);
    synth_axis_number(c, "warps", warps);
    return c;
}

static void unsupported(struct maker *m, const char *op, const char *reason)
{
    struct as_cell *c = rate(m, op, 4, 0, 0, 1, NULL);
    if (!c)
        return;
    c->sum = (struct as_summary){.median = NAN, .ci = {NAN, NAN}};
    c->status = AS_CELL_UNSUPPORTED;
    as_copy_text(c->reason, sizeof c->reason, reason);
}

void synth_hostile_operations(struct maker *m)
{
    static const char *const names[] = {"</script><x>op", "<s>op", "\x1b[31mop"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rate(m, names[i], 4, 0, 0, i ? 5 : 1e308,
             "{\"instructions\":\"each step is <u>1</u> \\u001b]0;x\\u0007\",\"link\":\"<i>link\"}");
        operation(m, &synth_alu_latency, names[i], 0, 0, 3, "{\"link\":\"<i>link\"}");
    }
    operation(m, &synth_alu_latency, "ffma32", 0, 0, 3, "[\"<u>\"");
    unsupported(m, "iadd32", "<u>");
}

/* Two that share a pipe and one that does not. With one chain all are slow, with six some are. */
static void mixes(struct maker *m)
{
    static const struct {
        const char *mix;
        double cost[3];
    } rows[] = {{"ffma32", {2, 0.25, 0.25}}, {"xor32", {2, 0.5, 0.5}},        {"iadd32", {2, 0.5, 0.75}},
                {"iadd32+xor32", {2, 1, 1}}, {"ffma32+xor32", {2, 0.5, 0.5}}, {"ffma32+iadd32", {2, 0.6, 0.5}}};
    static const unsigned ilp[] = {1, 2, 6};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof ilp / sizeof *ilp; k++) {
            struct as_cell *c = synth_cell(m, &synth_mix, "cuda:0");
            if (!c)
                return;
            synth_axis(c, "mix", rows[i].mix);
            synth_axis_number(c, "ilp", ilp[k]);
            valid(m, c, rows[i].cost[k]);
        }
}

void synth_operations(struct maker *m)
{
    struct as_device_info *d = synth_device(m->r, "cuda:0", "cuda", "NVIDIA H200");
    d->compute_units = 132;
    d->warp = 32;
    d->is_host_memory = false;
    for (unsigned ilp = 1; ilp <= 4; ilp *= 2)
        for (unsigned warps = 1; warps <= 32; warps *= 2)
            rate(m, "ffma32", ilp, warps, 0, fmin(127, 8.0 * ilp * warps), NULL);
    rate(m, "ffma32", 4, 0, 0, 128, "{\"instructions\":\"each step is 1 FFMA\"}");
    struct as_cell *rejected = rate(m, "ffma32", 8, 0, 0, 512, NULL);
    if (rejected) {
        rejected->status = AS_CELL_REJECTED;
        rejected->gates[AS_GATE_CODE].state = AS_GATE_FAIL;
    }
    for (unsigned steps = 24; steps <= 1536; steps *= 4)
        rate(m, "iadd32", 4, 0, steps, steps > 400 ? 30 : 63, NULL);
    rate(m, "iadd32", 4, 0, 0, 64, "{\"instructions\":\"each step is 1 IADD3\"}");
    rate(m, "recip32", 4, 0, 0, 16, "{\"instructions\":\"each step is 1 MUFU, 1 LOP3\",\"link\":\"xor32\"}");
    rate(m, "xor32", 4, 0, 0, 64, NULL);
    rate(m, "fadd2_f16", 4, 0, 0, 256, NULL);
    rate(m, "frob32", 4, 0, 0, 2, NULL);
    operation(m, &synth_alu_latency, "ffma32", 0, 0, 4, NULL);
    operation(m, &synth_alu_latency, "ffma32", 3, 0, 4.5, NULL);
    operation(m, &synth_alu_latency, "iadd32", 0, 24, 4.25, NULL);
    operation(m, &synth_alu_latency, "iadd32", 0, 96, 4, NULL);
    operation(m, &synth_alu_latency, "xor32", 0, 0, 4, NULL);
    operation(m, &synth_alu_latency, "recip32", 0, 0, 22, "{\"link\":\"xor32\"}");
    operation(m, &synth_alu_latency, "popc32", 0, 0, 20, "{\"link\":\"andor32\"}");
    struct as_cell *wide = rate(m, "iadd32", 4, 0, 0, 160, "{\"lanes\":8}");
    synth_axis(wide, "width", "256");
    unsupported(m, "fadd64", "the device has no f64");
    mixes(m);
}
