/* Clock and utilisation of an Apple chip from the time spent in its performance states.
 *
 * GPU: channel "GPUPH" of group "GPU Stats"; its state "P<n>" is entry n of the device tree's table "voltage-states9",
 * whose entry 0 is off (macmon; SiliconScope, GPUSampler.swift).
 *
 * CPU: group "CPU Stats", subgroup "CPU Complex Performance States", where a cluster has two channels. "PCPU1" has the
 * requested states and the idle ones, which gives the cluster's busy time. "PCPM1" has the actual states, which
 * powermetrics reports (socpowerbud, issue 15; oshi, pull request 3675): thermal throttling is
 * visible only there (macmon, issue 78). A state "V<n>P<m>" is entry n of a table of n + m + 1 entries, which serves to
 * check the table: "voltage-states1-sram" of E, "voltage-states5-sram" of P, "voltage-states22-sram" and
 * "voltage-states23-sram" of M0 and M1 on M5 Pro and Max (SiliconScope, docs/ioreport-channels.md). */
#ifndef AS_SENSOR_STATES_H
#define AS_SENSOR_STATES_H

#include "sensor/ioreport.h"

enum { AS_CLOCKS_MAX = 64 };

/* A table of the device tree: Hz by state; 0 in a GPU's first entry, which is off. */
struct as_clock_table {
    const char *key;
    double hz[AS_CLOCKS_MAX];
    size_t n; /* 0: none */
    char why[100];
};
/* Entries are two 32-bit words, the first is the clock: Hz up to the M3 and for all GPUs, kHz for later CPUs. A table
 * that fits neither is not a clock table, nor is a CPU's that does not ascend: neighbouring tables hold
 * reciprocals. A GPU's is sorted by voltage (338, ... 1312, 1242, 1380 MHz on M3 Max and M4 Pro). */
void as_clock_table_from(const unsigned char *bytes, size_t size, bool is_gpu, struct as_clock_table *out);

enum as_states_table { AS_STATES_E, AS_STATES_P, AS_STATES_M0, AS_STATES_M1, AS_STATES_GPU, AS_STATES_TABLES };

/* All zero: closed. */
struct as_states {
    bool is_cpu;
    struct as_ioreport report;
    struct as_clock_table tables[AS_STATES_TABLES];
};
struct as_states_seen {
    double hz;     /* NAN unknown, or all idle */
    double busy;   /* GPU: share of time; NAN unknown */
    char why[120]; /* why the clock is unknown; "" also if all was idle */
};
enum as_status as_states_open(struct as_states *s, bool is_cpu, struct as_error *err); /* and begins */
/* Since the previous call or the opening. */
enum as_status as_states_since(struct as_states *s, struct as_states_seen *out, struct as_error *err);
void as_states_close(struct as_states *s); /* accepts a closed one */

#endif
