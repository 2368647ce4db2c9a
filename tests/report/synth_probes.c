/* A separate registry: the page must not depend on the probes of the build. */
#include "probe/view_role.h"
#include "synth_internal.h"

#include <string.h>

static const char *const patterns[] = {"random", "page", "stride", NULL};
static const char *const ops[] = {"copy", "triad", "read", "write", NULL};
static const char *const whats[] = {"roundtrip", "submit", "stream", NULL};
static const char *const c2c_ops[] = {"cas", "load", "pause", NULL};
static const char *const alloc_ops[] = {"alloc", "free", "touch fresh", NULL};
static const struct as_axis latency_axes[] = {
    {"allocator", "", AS_AXIS_WORD, AS_DOMAIN_ALLOCATOR, 0, 0, "malloc", NULL, NULL, NULL},
    {"pattern", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "random", patterns, NULL, NULL},
    {"size", "", AS_AXIS_SIZE, AS_DOMAIN_NONE, 1024, 0, "1KiB..4LLC", NULL, NULL, NULL},
    {"stride", "", AS_AXIS_SIZE, AS_DOMAIN_NONE, 8, 0, "64", NULL, NULL, NULL},
    {0}};
static const struct as_axis bandwidth_axes[] = {
    {"op", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "triad", ops, NULL, NULL},
    {"store", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "regular", NULL, NULL, NULL},
    {"threads", "", AS_AXIS_COUNT, AS_DOMAIN_THREADS, 1, 0, "all", NULL, NULL, "device"},
    {"size", "", AS_AXIS_SIZE, AS_DOMAIN_NONE, 1024, 0, "1KiB..4LLC", NULL, NULL, NULL},
    {0}};
static const struct as_axis c2c_axes[] = {{"peer", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "all", NULL, NULL, NULL},
                                          {"from", "", AS_AXIS_COUNT, AS_DOMAIN_CPU, 0, 0, "all", NULL, NULL, NULL},
                                          {"to", "", AS_AXIS_COUNT, AS_DOMAIN_CPU, 0, 0, "all", NULL, NULL, NULL},
                                          {"op", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "cas", c2c_ops, NULL, NULL},
                                          {0}};
static const struct as_axis launch_axes[] = {
    {"what", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "roundtrip", whats, NULL, NULL},
    {"wait", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "block", NULL, NULL, NULL},
    {"threads", "", AS_AXIS_COUNT, AS_DOMAIN_THREADS, 1, 0, "1", NULL, NULL, NULL},
    {0}};
static const struct as_axis alloc_axes[] = {
    {"op", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "alloc", alloc_ops, NULL, NULL},
    {"allocator", "", AS_AXIS_WORD, AS_DOMAIN_ALLOCATOR, 0, 0, "all", NULL, NULL, NULL},
    {"size", "", AS_AXIS_SIZE, AS_DOMAIN_NONE, 1, 0, "1MiB", NULL, NULL, NULL},
    {0}};
static const struct as_axis roofline_axes[] = {
    {"type", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "f32", NULL, NULL, NULL},
    {"threads", "", AS_AXIS_COUNT, AS_DOMAIN_THREADS, 0, 0, "0", NULL, NULL, NULL},
    {"width", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "best", NULL, NULL, NULL},
    {0}};
extern const char synth_method[];
const struct as_probe synth_latency = {.name = "latency",
                                       .title = "Memory latency",
                                       .question = "How long does a load wait for its data, by buffer size?",
                                       .metric = "latency",
                                       .unit = "ns",
                                       .lower_is_better = true,
                                       .counts = "time of one dependent load, loop and address included",
                                       .axes = latency_axes};
const struct as_probe synth_bandwidth = {.name = "bandwidth",
                                         .title = "Memory bandwidth",
                                         .question = "How many bytes per second can be moved, by size and threads?",
                                         .metric = "bandwidth",
                                         .unit = "GB/s",
                                         .counts = "bytes read plus bytes written; write-allocate not counted",
                                         .axes = bandwidth_axes};
const struct as_probe synth_c2c = {.name = "c2c",
                                   .title = "Core to core",
                                   .question = "How long does a line take from one core to another?",
                                   .metric = "latency",
                                   .unit = "ns",
                                   .lower_is_better = true,
                                   .counts = "one way: half of the round trip",
                                   .axes = c2c_axes};
const struct as_probe synth_launch = {.name = "launch",
                                      .title = "Kernel launch",
                                      .question = "What does it cost to run an empty kernel?",
                                      .metric = "time",
                                      .unit = "ns",
                                      .lower_is_better = true,
                                      .counts = "one launch",
                                      .axes = launch_axes};
const struct as_probe synth_alloc = {.name = "alloc",
                                     .title = "Allocation",
                                     .question = "What do allocating, freeing and first touching memory cost?",
                                     .metric = "time",
                                     .unit = "ns",
                                     .lower_is_better = true,
                                     .counts = "one block, or one page for touching",
                                     .axes = alloc_axes};
const struct as_probe synth_roofline = {.name = "roofline",
                                        .title = "Peak arithmetic",
                                        .question = "How many operations per second do the units do?",
                                        .metric = "rate",
                                        .unit = "ops/s",
                                        .counts = "a fused multiply-add is two operations",
                                        .axes = roofline_axes};
static const struct as_axis alu_axes[] = {
    {"op", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "all", NULL, NULL, NULL},
    {"operands", "", AS_AXIS_COUNT, AS_DOMAIN_NONE, 0, 3, "0", NULL, NULL, "usual"},
    {"steps", "", AS_AXIS_COUNT, AS_DOMAIN_NONE, 0, 6144, "0", NULL, NULL, "fitting"},
    {"ilp", "", AS_AXIS_COUNT, AS_DOMAIN_NONE, 1, 8, "4", NULL, NULL, NULL},
    {"warps", "", AS_AXIS_COUNT, AS_DOMAIN_NONE, 0, 64, "0", NULL, NULL, "full"},
    {0}};
static const char *const fma_more[] = {"cuda", "fma.rn.f32 d, a, b, c;", "reference", "fma(a, b, c)", NULL};
static const char *const none[] = {NULL};
static const struct as_word operations[] = {
    {"iadd32", "integer add", "integer", "iadd", "i32", 1, "opencl cuda hip", none},
    {"xor32", "exclusive or", "bits", "xor", "i32", 1, "opencl cuda hip", none},
    {"popc32", "number of ones", "bits", "popc", "i32", 1, "opencl cuda hip", none},
    {"ffma32", "fused multiply-add", "float", "ffma", "f32", 1, "opencl cuda hip", fma_more},
    {"fadd64", "floating point add", "float", "fadd", "f64", 1, "opencl cuda hip", none},
    {"fadd2_f16", "add of pairs", "packed", "fadd2", "f16x2", 2, "cuda", none},
    {"recip32", "reciprocal", "math", "recip", "f32", 1, "opencl cuda hip", none},
    {0}};
const struct as_probe synth_alu = {.name = "alu",
                                   .title = "Throughput of operations",
                                   .question = "How many operations does one unit do in a cycle?",
                                   .metric = "throughput",
                                   .unit = "ops/cycle",
                                   .counts = "results of one unit a cycle",
                                   .axes = alu_axes,
                                   .about = operations};
const struct as_probe synth_alu_latency = {.name = "alu_latency",
                                           .title = "Latency of operations",
                                           .question = "After how many cycles can a result be used?",
                                           .metric = "latency",
                                           .unit = "cycles",
                                           .lower_is_better = true,
                                           .counts = "cycles of a step",
                                           .axes = alu_axes,
                                           .about = operations};
static const struct as_axis mix_axes[] = {{"mix", "", AS_AXIS_WORD, AS_DOMAIN_NONE, 0, 0, "all", NULL, NULL, NULL},
                                          {"ilp", "", AS_AXIS_COUNT, AS_DOMAIN_NONE, 0, 8, "0", NULL, NULL, "fitting"},
                                          {0}};
const struct as_probe synth_mix = {.name = "mix",
                                   .title = "Sequences of operations",
                                   .question = "How long does one unit take for operations of several kinds?",
                                   .metric = "cost",
                                   .unit = "cycles",
                                   .lower_is_better = true,
                                   .counts = "cycles of a unit",
                                   .axes = mix_axes};
static const struct as_probe sentinel = {.name = "sentinel", .title = "Sentinel", .hidden = true};
const struct as_probe *const as_probes[] = {&synth_latency, &synth_bandwidth, &synth_c2c, &synth_launch,
                                            &synth_alloc,   &synth_roofline,  &synth_alu, &synth_alu_latency,
                                            &synth_mix,     &sentinel,        NULL};

const char *const as_probe_headings[] = {"Memory",     "Memory",     "Memory",     "Runtime", "Runtime", "Arithmetic",
                                         "Arithmetic", "Arithmetic", "Arithmetic", "Memory",  NULL};

const unsigned as_probe_leads[] = {2, 1, 4, 0, 0, 3, 0, 0, 0, 0};

const char *const as_view_probes[] = {
    [AS_VIEW_OPERATION_THROUGHPUT] = "alu",
    [AS_VIEW_OPERATION_LATENCY] = "alu_latency",
    [AS_VIEW_OPERATION_SEQUENCES] = "mix",
    [AS_VIEW_INSTRUCTION_OPERANDS] = "cpu_operands",
    [AS_VIEW_ROOFLINE] = "roofline",
    [AS_VIEW_MATRIX_INSTRUCTIONS] = "matmul_peak",
    [AS_VIEW_GEMM] = "matmul",
    [AS_VIEW_MATRIX_ARITHMETIC] = "numerics",
    [AS_VIEW_OPERAND_LAYOUT] = "layout",
    [AS_VIEW_FUSED_EPILOGUES] = "fusion",
    [AS_VIEW_ATTENTION] = "attention",
    [AS_VIEW_LINK_BANDWIDTH] = "link",
    [AS_VIEW_LINK_LATENCY] = "link_latency",
    [AS_VIEW_LATENCY] = "latency",
    [AS_VIEW_BANDWIDTH] = "bandwidth",
    [AS_VIEW_HOST_LATENCY] = "host_latency",
    [AS_VIEW_HOST_BANDWIDTH] = "host_bandwidth",
};

const char *const as_probe_methods[] = {synth_method, synth_method, "", "", "", "", "", "", "", "", NULL};

const struct as_probe *as_probe_find(const char *name)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, name) == 0)
            return as_probes[i];
    return NULL;
}

const struct as_axis *as_probe_axis(const struct as_probe *probe, const char *name)
{
    for (size_t i = 0; probe->axes && probe->axes[i].name; i++)
        if (strcmp(probe->axes[i].name, name) == 0)
            return &probe->axes[i];
    return NULL;
}
