/* Shared by the files that make synthetic runs. */
#ifndef AS_TEST_SYNTH_INSIDE_H
#define AS_TEST_SYNTH_INSIDE_H

#include "base/clock.h"
#include "probe/probe.h"
#include "synth.h"

struct maker {
    struct as_report_run *r;
    struct as_rng rng;
    size_t cells_cap, facts_cap;
    double slower;
    bool failed;
};

/* synth_probes.c */
extern const struct as_probe synth_latency, synth_bandwidth, synth_c2c, synth_launch, synth_alloc, synth_roofline,
    synth_alu, synth_alu_latency, synth_mix;

struct as_cell *synth_cell(struct maker *m, const struct as_probe *probe, const char *device);
void synth_axis_number(struct as_cell *c, const char *name, uint64_t v);
void synth_axis(struct as_cell *c, const char *name, const char *text);
void synth_measured(struct maker *m, struct as_cell *c, double v);
double synth_latency_at(double size);
void synth_latency_cells(struct maker *m, const char *device, double scale, int steps);
void synth_fact(struct maker *m, const char *device, const char *object, const char *id, double v, const char *unit,
                double claimed, const char *sentence);
void synth_cpu_facts(struct maker *m);
struct as_device_info *synth_device(struct as_report_run *r, const char *id, const char *backend, const char *name);
char *synth_machine_json(unsigned packages, unsigned cores, unsigned per_l3);

/* GPUs with links between them; a GPU and a CPU under two backends each. */
void synth_gpus(struct maker *m, unsigned n);
void synth_twins(struct maker *m);
void synth_operations(struct maker *m);
void synth_hostile_operations(struct maker *m);
void synth_matrix(struct maker *m);
void synth_hostile_matrix(struct maker *m);

#endif
