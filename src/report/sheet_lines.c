#include "report/sheet_lines.h"

#include <stddef.h>
#include <string.h>

#define LATENCY(name)                                                                                                  \
    {                                                                                                                  \
        name, "latency", {"onchip." name ".latency", "cache." name ".latency"},                                        \
        {                                                                                                              \
            {                                                                                                          \
                "", "cache." name ".latency_cycles", ""                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
#define CAPACITY(name)                                                                                                 \
    {                                                                                                                  \
        name, "capacity", {"onchip.whole." name ".size|cache." name ".size|onchip." name ".size"},                     \
        {                                                                                                              \
            {                                                                                                          \
                0                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
/* on_chip: the source where a device has kernels that read this level alone */
#define READ(name, on_chip)                                                                                            \
    {name, "read", {on_chip, "bandwidth." name ".read.all"}, {{0}}},                                                   \
    {                                                                                                                  \
        name, "read, 1 thread", {"bandwidth." name ".read.1"},                                                         \
        {                                                                                                              \
            {                                                                                                          \
                0                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ON_CHIP(what) "onchip_bandwidth what=" what " width=128 stride=1 compute_units=every"
/* GEMM of one size, so that runs agree; random operands. Own kernels: the first of these paths that a device has. */
#define GEMM(path, type, hold) "matmul path=" path " type=" type " size=8192 operands=random hold=" hold
#define OWN_GEMM(type)                                                                                                 \
    GEMM("wgmma", type, "burst")                                                                                       \
    "|" GEMM("tensor", type, "burst") "|" GEMM("mma", type, "burst") "|" GEMM("dot", type, "burst")
#define MATRIX(label, type)                                                                                            \
    {"Matrix", label, {GEMM("library", type, "burst")}, {{0}}},                                                        \
        {"Matrix", label " sustained", {GEMM("library", type, "sustained")}, {{0}}},                                   \
    {                                                                                                                  \
        "Matrix", label " own kernel", {OWN_GEMM(type)},                                                               \
        {                                                                                                              \
            {                                                                                                          \
                "", "matmul.peak." type, "per {unit}"                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }

#define AFTER_64_MIB " op=read touched=67108864 size=16777216 pattern=linear stride=64 delay=0 control=launch "
#define AT_ONCE " buffers=separate threads=0 priority=normal load=100"

const struct as_sheet_line as_sheet_lines[] = {
    {"Clock", "core", {"clock.core"}, {{0}}},
    {"Compute", "FP64", {"arithmetic.peak.f64"}, {{0}}},
    {"Compute", "FP32", {"arithmetic.peak.f32"}, {{0}}},
    {"Compute", "FP16", {"arithmetic.peak.f16"}, {{0}}},
    MATRIX("FP64", "f64"),
    MATRIX("TF32", "tf32"),
    MATRIX("FP16", "f16"),
    MATRIX("BF16", "bf16"),
    MATRIX("FP8", "e4m3"),
    MATRIX("INT8", "s8"),
    {"Memory", "read", {"bandwidth.memory.read.all", "bandwidth level=memory op=read threads=@all"}, {{0}}},
    {"Memory", "read, 1 thread", {"bandwidth.memory.read.1"}, {{0}}},
    {"Memory", "write", {"bandwidth level=memory op=write threads=@all"}, {{0}}},
    {"Memory", "copy", {"bandwidth.memory.copy.all", "bandwidth level=memory op=copy threads=@all"}, {{0}}},
    {"Memory",
     "triad",
     {"bandwidth.memory.triad.all", "bandwidth level=memory op=triad threads=@all"},
     {{"1 thread", "bandwidth.memory.triad.1", ""}}},
    {"Memory",
     "latency",
     {"onchip.memory.latency|memory.latency", "topology place=memory what=latency", "loaded_latency op=none"},
     {{0}}},
    {"Memory", "latency under full load", {"loaded_latency op=read delay=0 threads=@all"}, {{0}}},
    {AS_SHEET_MEMORY_SIDE, "capacity", {"cache.memory_side.size"}, {{0}}},
    {AS_SHEET_MEMORY_SIDE,
     "latency",
     {"cache.memory_side.latency", "listed.memory_side.latency"},
     {{"", "cache.memory_side.latency_cycles", ""}}},
    {AS_SHEET_MEMORY_SIDE, "read", {"bandwidth.memory_side.read.all", "listed.memory_side.read"}, {{0}}},
    {AS_SHEET_MEMORY_SIDE, "read, 1 thread", {"bandwidth.memory_side.read.1"}, {{0}}},
    CAPACITY("L3"),
    LATENCY("L3"),
    READ("L3", NULL),
    CAPACITY("L2"),
    LATENCY("L2"),
    READ("L2", ON_CHIP("common size=16777216")),
    CAPACITY("L1"),
    LATENCY("L1"),
    READ("L1", ON_CHIP("own size=65536")),
    {"Shared memory", "capacity", {"onchip.unit.shared"}, {{0}}},
    {"Shared memory", "latency", {"onchip.shared.latency"}, {{0}}},
    {"Shared memory", "read", {"onchip.shared.bandwidth"}, {{0}}},
    {"Host link",
     "to device",
     {"link.host-0.to", "copy.engine.@pinned.@device"},
     {{"pageable", "copy from=host to=@device how=engine size=67108864", ""}}},
    {"Host link",
     "from device",
     {"link.host-0.from", "copy.engine.@device.@pinned"},
     {{"pageable", "copy from=@device to=host how=engine size=67108864", ""}}},
    {"Host link", "bidirectional", {"link.host-0.both", "copy from=@device to=@pinned direction=both"}, {{0}}},
    {"Host link", "load latency", {"link.latency.host-0.load"}, {{"atomic add", "link.latency.host-0.atomic", ""}}},
    {"Launch",
     "launch + sync",
     {"launch.roundtrip.spin"},
     {{"submit", "launch.submit.block", ""}, {"100-node graph:", "launch.graph-100.block", "per kernel"}}},
    {"Cache line", "core to core", {"c2c.median"}, {{"nearest", "c2c.min", ""}, {"farthest", "c2c.max", ""}}},
    {"Cache line",
     "{unit} to {unit}",
     {"c2c.unit.median"},
     {{"nearest", "c2c.unit.min", ""}, {"farthest", "c2c.unit.max", ""}}},
    {"Cache line", "CPU to device", {"c2c.device.median"}, {{0}}},
    {"Atomics", "64-bit add", {"atomics.device.1024.u64", "atomics.cpu.1024.u64"}, {{0}}},
    {"Allocate 16 MiB",
     "device",
     {"alloc op=alloc allocator=@device size=16777216"},
     {{"free", "alloc op=free allocator=@device size=16777216", ""}}},
    {"Allocate 16 MiB",
     "pinned",
     {"alloc op=alloc allocator=@pinned size=16777216"},
     {{"free", "alloc op=free allocator=@pinned size=16777216", ""}}},
    {"Allocate 16 MiB",
     "managed",
     {"alloc op=alloc allocator=@managed size=16777216"},
     {{"free", "alloc op=free allocator=@managed size=16777216", ""}}},
    {"Page fault", "one page", {"fault.latency.cpu-one.@base_pages", "memory.fault.@base_pages"}, {{0}}},
    {"Eviction",
     "CPU pass after 64 MiB",
     {"residual side=cpu" AFTER_64_MIB "pass=1"},
     {{"second pass", "residual side=cpu" AFTER_64_MIB "pass=2", ""}}},
    {"Eviction", "device pass after 64 MiB", {"residual side=device" AFTER_64_MIB "pass=1"}, {{0}}},
    {"Interference",
     "CPU chase",
     {"interference victim=cpu op=chase aggressor=read" AT_ONCE " allocator=@pinned",
      "interference victim=cpu op=chase aggressor=read" AT_ONCE},
     {{"beside writes", "interference victim=cpu op=chase aggressor=write" AT_ONCE, ""}}},
    {"Interference",
     "CPU read",
     {"interference victim=cpu op=read aggressor=d2h" AT_ONCE,
      "interference victim=cpu op=read aggressor=write" AT_ONCE},
     {{0}}},
    {"Interference", "device read", {"interference victim=device op=read aggressor=write" AT_ONCE}, {{0}}},
    {0},
};

bool as_sheet_line_is_of_host(const char *group, const char *label)
{
    static const char *const groups[] = {"Host link", "Launch", "Allocate 16 MiB", "Page fault"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i], group) == 0)
            return true;
    return strcmp(label, "CPU to device") == 0;
}
