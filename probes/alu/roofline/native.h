/* Native kernels of fused multiply-adds, by type and vector width. */
#ifndef AS_PROBES_ALU_ROOFLINE_NATIVE_H
#define AS_PROBES_ALU_ROOFLINE_NATIVE_H

#include "device/device.h"
#include "probe/probe.h"

/* Chains per vector lane: at least FMA latency times pipes on known cores, and few enough for 16 registers. SVE has 32,
 * and cores with two pipes of nine cycles. PAIRS: steps per turn, in pairs. */
enum { AS_PEAK_CHAINS = 12, AS_PEAK_SVE_CHAINS = 18, AS_PEAK_PAIRS = 64 };

enum as_peak_width { AS_PEAK_SCALAR, AS_PEAK_128, AS_PEAK_256, AS_PEAK_512, AS_PEAK_SVE, AS_PEAK_WIDTHS };

/* args: 0 result, 1 b (f64), 2 c (f64), 3 key (u32). A thread makes call->reps turns and stores a result per chain and
 * lane. */
extern const struct as_host_kernel as_peak_kernels[];
/* The kernel's name, NULL if this CPU cannot run it. bits: 32 or 64. */
const char *as_peak_kernel(unsigned bits, enum as_peak_width width);
unsigned as_peak_lanes(unsigned bits, enum as_peak_width width);
unsigned as_peak_chains(enum as_peak_width width);
/* Initial value of chain element i. */
unsigned as_peak_start(uint32_t key, uint32_t i);

#endif
