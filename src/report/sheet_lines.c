#include "report/sheet_lines.h"

#include <stddef.h>
#include <string.h>

#define BOTH AS_SHEET_BOTH
#define CPU AS_SHEET_CPU
#define DEVICE AS_SHEET_DEVICE

#define CURVE(allocator) "latency pattern=random stride=64 instrument=timed allocator=" allocator
#define TIMED "chase timed from the host"
/* Caches of a GPU by the chase that reads the cycle counter, where its kernels have one. */
#define LATENCY(name)                                                                                                  \
    {                                                                                                                  \
        name, "latency",                                                                                               \
            {{.side = DEVICE, .from = "onchip." name ".latency", .cells = "onchip what=global"},                       \
             {.side = DEVICE, .from = "cache." name ".latency", .cells = "latency", .said = TIMED},                    \
             {.side = CPU, .from = "cache." name ".latency", .cells = "latency"}},                                     \
        {                                                                                                              \
            {                                                                                                          \
                BOTH, "", "cache." name ".latency_cycles", ""                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }
/* Loads may keep a line of a far part of a cache in the near one too; atomic adds see the whole of it. */
#define BY_ADDS "by atomic adds"
#define WHOLE(name)                                                                                                    \
    {.side = DEVICE, .from = "onchip.whole." name ".size", .cells = "onchip what=atomic", .said = BY_ADDS},
/* whole: a first source, or nothing */
#define CAPACITY(name, whole)                                                                                          \
    {                                                                                                                  \
        name, "capacity",                                                                                              \
            {whole{.side = DEVICE, .from = "onchip." name ".size", .cells = "onchip what=global"},                     \
             {.side = DEVICE, .from = "cache." name ".size", .cells = "latency", .said = TIMED},                       \
             {.side = CPU, .from = "cache." name ".size", .cells = "latency"}},                                        \
        {                                                                                                              \
            {                                                                                                          \
                0                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define SWEEP "bandwidth level=sweep op=read"
#define READ_1(name)                                                                                                   \
    {                                                                                                                  \
        name, "read, 1 thread",                                                                                        \
            {{.side = CPU, .from = "bandwidth." name ".read.1", .cells = SWEEP " threads=1", .named = "size"}},        \
        {                                                                                                              \
            {                                                                                                          \
                0                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ON_CHIP(what) "onchip_bandwidth what=" what " width=128 stride=1 compute_units=every"
#define READ(name, on_chip)                                                                                            \
    {name,                                                                                                             \
     "read",                                                                                                           \
     {{.side = DEVICE, .from = ON_CHIP(on_chip)},                                                                      \
      {.side = DEVICE, .from = "bandwidth." name ".read.all", .cells = SWEEP, .said = "sequential", .named = "size"},  \
      {.side = CPU, .from = "bandwidth." name ".read.all", .cells = SWEEP " threads=@all", .named = "size"}},          \
     {{0}}},                                                                                                           \
        READ_1(name)
/* GEMM of one size, so that runs agree; random operands. Own kernels: the first of these paths that a device has. */
#define GEMM(path, type, hold)                                                                                         \
    {                                                                                                                  \
        .side = BOTH, .from = "matmul path=" path " type=" type " size=8192 operands=random hold=" hold                \
    }
#define MATRIX(label, type)                                                                                            \
    {"Matrix", label, {GEMM("library", type, "burst")}, {{0}}},                                                        \
        {"Matrix", label " sustained", {GEMM("library", type, "sustained")}, {{0}}},                                   \
    {                                                                                                                  \
        "Matrix", label " own kernel",                                                                                 \
            {GEMM("wgmma", type, "burst"), GEMM("tensor", type, "burst"), GEMM("mma", type, "burst"),                  \
             GEMM("dot", type, "burst")},                                                                              \
        {                                                                                                              \
            {                                                                                                          \
                DEVICE, "", "matmul.peak." type, "per {unit}"                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }

/* The fastest kernel of these that a short test finds, on memory that this side touched first. */
#define STREAM(op, threads, store, allocator, touch)                                                                   \
    "bandwidth level=memory op=" op " threads=" threads " store=" store " width=best way=best touch=" touch            \
    " allocator=" allocator
#define CPU_READ(threads, fact_)                                                                                       \
    {.side = CPU, .from = STREAM("read", threads, "regular", "@huge_pages", "cpu"), .fact = fact_},                    \
    {                                                                                                                  \
        CPU, STREAM("read", threads, "regular", "@base_pages", "cpu"), .said = "base pages", .fact = fact_             \
    }
/* Non-temporal stores are what STREAM's rules count: no line is read before it is written. */
#define CPU_WRITE(op, threads, fact_)                                                                                  \
    {.side = CPU,                                                                                                      \
     .from = STREAM(op, threads, "nt", "@huge_pages", "cpu"),                                                          \
     .said = "non-temporal stores",                                                                                    \
     .fact = fact_},                                                                                                   \
        {.side = CPU,                                                                                                  \
         .from = STREAM(op, threads, "nt", "@base_pages", "cpu"),                                                      \
         .said = "non-temporal stores, base pages",                                                                    \
         .fact = fact_},                                                                                               \
        {.side = CPU,                                                                                                  \
         .from = STREAM(op, threads, "regular", "@huge_pages", "cpu"),                                                 \
         .said = "regular stores",                                                                                     \
         .fact = fact_},                                                                                               \
    {                                                                                                                  \
        CPU, STREAM(op, threads, "regular", "@base_pages", "cpu"), .said = "regular stores, base pages", .fact = fact_ \
    }
#define REGULAR(op, threads)                                                                                           \
    {                                                                                                                  \
        CPU, "regular stores", STREAM(op, threads, "regular", "@huge_pages", "cpu"), ""                                \
    }
#define OF_DEVICE(op, fact_)                                                                                           \
    {                                                                                                                  \
        .side = DEVICE, .from = STREAM(op, "@all", "regular", "@device", "device"), .fact = fact_                      \
    }

#define LOADED(op, threads, allocator) "loaded_latency op=" op " delay=0 threads=" threads " allocator=" allocator
#define COPY(from, to, direction) "copy from=" from " to=" to " direction=" direction " how=engine size=67108864"
#define HOST_LINK(what) "link_latency peer=host node=0 allocator=@pinned size=2097152 stride=128 what=" what
#define LAUNCH(what, wait) "launch what=" what " wait=" wait " threads=1"
#define ALLOCATE(role)                                                                                                 \
    {                                                                                                                  \
        "Allocate 16 MiB", role, {{.side = DEVICE, .from = "alloc op=alloc size=16777216 allocator=@" role}},          \
        {                                                                                                              \
            {                                                                                                          \
                DEVICE, "free", "alloc op=free size=16777216 allocator=@" role, ""                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
#define ATOMICS(by, cpu_threads, device_threads, scope, allocator)                                                     \
    "atomics agent=" by " elements=1024 type=u64 order=relaxed cpu_threads=" cpu_threads                               \
    " device_threads=" device_threads " scope=" scope " allocator=" allocator
#define AFTER_64_MIB(side, pass)                                                                                       \
    "residual op=read touched=67108864 size=16777216 pattern=linear stride=64 delay=0 control=launch side=" side       \
    " pass=" pass
#define BESIDE(victim, op, aggressor, allocator)                                                                       \
    "interference buffers=separate threads=0 priority=normal load=100 size=67108864 victim=" victim " op=" op          \
    " aggressor=" aggressor " allocator=" allocator

const struct as_sheet_line as_sheet_lines[] = {
    {"Clock", "core", {{.side = BOTH, .from = "clock.core"}}, {{0}}},
    {"Compute",
     "FP64",
     {{.side = BOTH, .from = "roofline type=f64 threads=@all width=best", .fact = "arithmetic.peak.f64"}},
     {{0}}},
    {"Compute",
     "FP32",
     {{.side = BOTH, .from = "roofline type=f32 threads=@all width=best", .fact = "arithmetic.peak.f32"}},
     {{0}}},
    {"Compute",
     "FP16",
     {{.side = BOTH, .from = "roofline type=f16 threads=@all width=best", .fact = "arithmetic.peak.f16"}},
     {{0}}},
    MATRIX("FP64", "f64"),
    MATRIX("TF32", "tf32"),
    MATRIX("FP16", "f16"),
    MATRIX("BF16", "bf16"),
    MATRIX("FP8", "e4m3"),
    MATRIX("INT8", "s8"),
    {"Memory",
     "read",
     {OF_DEVICE("read", "bandwidth.memory.read.all"), CPU_READ("@all", "bandwidth.memory.read.all")},
     {{0}}},
    {"Memory", "read, 1 thread", {CPU_READ("1", "bandwidth.memory.read.1")}, {{0}}},
    {"Memory", "write", {OF_DEVICE("write", NULL), CPU_WRITE("write", "@all", NULL)}, {REGULAR("write", "@all")}},
    {"Memory",
     "copy",
     {OF_DEVICE("copy", "bandwidth.memory.copy.all"), CPU_WRITE("copy", "@all", "bandwidth.memory.copy.all")},
     {REGULAR("copy", "@all")}},
    {"Memory",
     "triad",
     {OF_DEVICE("triad", "bandwidth.memory.triad.all"), CPU_WRITE("triad", "@all", "bandwidth.memory.triad.all")},
     {REGULAR("triad", "@all"), {CPU, "1 thread", STREAM("triad", "1", "nt", "@huge_pages", "cpu"), ""}}},
    {"Memory",
     "latency",
     {{.side = DEVICE, .from = "l2_latency what=missed compute_unit=0 filler=0", .fact = "onchip.memory.latency"},
      {.side = DEVICE, .from = CURVE("@device"), .said = TIMED, .fact = "memory.latency"},
      {.side = CPU, .from = CURVE("@huge_pages"), .said = "huge pages", .fact = "memory.latency"}},
     {{0}}},
    {"Memory", "latency, base pages", {{.side = CPU, .from = CURVE("@base_pages")}}, {{0}}},
    {"Memory",
     "latency under full load",
     {{.side = DEVICE, .from = LOADED("read", "@all", "@device")},
      {.side = CPU, .from = LOADED("read", "@all", "@huge_pages"), .said = "huge pages"},
      {.side = CPU, .from = LOADED("read", "@all", "@base_pages"), .said = "base pages"}},
     {{0}}},
    {AS_SHEET_MEMORY_SIDE, "capacity", {{.side = BOTH, .from = "cache.memory_side.size", .cells = "latency"}}, {{0}}},
    {AS_SHEET_MEMORY_SIDE,
     "latency",
     {{.side = BOTH, .from = "cache.memory_side.latency", .cells = "latency"},
      {.side = BOTH,
       .from = "listed.memory_side.latency",
       .cells = "topology what=latency",
       .said = "at its listed size"}},
     {{BOTH, "", "cache.memory_side.latency_cycles", ""}}},
    {AS_SHEET_MEMORY_SIDE,
     "read",
     {{.side = BOTH, .from = "bandwidth.memory_side.read.all", .cells = SWEEP, .named = "size"},
      {.side = BOTH,
       .from = "listed.memory_side.read",
       .cells = "topology what=bandwidth",
       .said = "at its listed size"}},
     {{0}}},
    {AS_SHEET_MEMORY_SIDE,
     "read, 1 thread",
     {{.side = CPU, .from = "bandwidth.memory_side.read.1", .cells = SWEEP " threads=1", .named = "size"}},
     {{0}}},
    CAPACITY("L3", ),
    LATENCY("L3"),
    {"L3",
     "read",
     {{.side = BOTH, .from = "bandwidth.L3.read.all", .cells = SWEEP " threads=@all", .named = "size"}},
     {{0}}},
    READ_1("L3"),
    {"L2",
     "capacity",
     {{.side = DEVICE, .from = "onchip.whole.L2.size", .cells = "onchip what=atomic"},
      {.side = DEVICE, .from = "onchip.L2.size", .cells = "onchip what=global", .said = "seen by one {unit}"},
      {.side = DEVICE, .from = "cache.L2.size", .cells = "latency", .said = TIMED},
      {.side = CPU, .from = "cache.L2.size", .cells = "latency"}},
     {{0}}},
    LATENCY("L2"),
    READ("L2", "common size=16777216"),
    CAPACITY("L1", ),
    LATENCY("L1"),
    READ("L1", "own size=65536"),
    {"Shared memory",
     "capacity",
     {{.side = DEVICE, .from = "onchip.unit.shared", .cells = "occupancy shared=16384"}},
     {{0}}},
    {"Shared memory",
     "latency",
     {{.side = DEVICE, .from = "onchip.shared.latency", .cells = "onchip what=shared"}},
     {{0}}},
    {"Shared memory",
     "read",
     {{.side = DEVICE, .from = ON_CHIP("shared size=0"), .fact = "onchip.shared.bandwidth"}},
     {{0}}},
    {"Host link",
     "to device",
     {{.side = DEVICE, .from = COPY("@pinned", "@device", "one")}},
     {{DEVICE, "pageable", COPY("host", "@device", "one"), ""}}},
    {"Host link",
     "from device",
     {{.side = DEVICE, .from = COPY("@device", "@pinned", "one")}},
     {{DEVICE, "pageable", COPY("@device", "host", "one"), ""}}},
    {"Host link", "bidirectional", {{.side = DEVICE, .from = COPY("@device", "@pinned", "both")}}, {{0}}},
    {"Host link",
     "load latency",
     {{.side = DEVICE, .from = HOST_LINK("load"), .fact = "link.latency.host-0.load"}},
     {{DEVICE, "atomic add", HOST_LINK("atomic"), ""}}},
    {"Launch",
     "launch + sync",
     {{.side = BOTH, .from = LAUNCH("roundtrip", "spin"), .fact = "launch.roundtrip.spin"}},
     {{BOTH, "submit", LAUNCH("submit", "block"), ""},
      {DEVICE, "100-node graph:", LAUNCH("graph-100", "block"), "per kernel"}}},
    {"Cache line",
     "core to core",
     {{.side = CPU, .from = "c2c.median", .cells = "c2c peer=cpu op=cas"}},
     {{CPU, "nearest", "c2c.min", ""}, {CPU, "farthest", "c2c.max", ""}}},
    {"Cache line",
     "{unit} to {unit}",
     {{.side = DEVICE, .from = "c2c.unit.median", .cells = "c2c peer=compute_unit op=load"}},
     {{DEVICE, "nearest", "c2c.unit.min", ""}, {DEVICE, "farthest", "c2c.unit.max", ""}}},
    {"Cache line",
     "CPU to device",
     {{.side = DEVICE, .from = "c2c.device.median", .cells = "c2c peer=device op=load"}},
     {{0}}},
    {"Atomics",
     "64-bit add",
     {{.side = DEVICE, .from = ATOMICS("device", "0", "65536", "device", "@device"), .said = "65,536 threads"},
      {.side = CPU, .from = ATOMICS("cpu", "1", "0", "system", "@pageable"), .said = "1 thread"}},
     {{0}}},
    ALLOCATE("device"),
    ALLOCATE("pinned"),
    ALLOCATE("managed"),
    {"Page fault",
     "one page",
     {{.side = CPU, .from = "memory.fault.@base_pages", .cells = "alloc size=16777216"}},
     {{0}}},
    {"Eviction",
     "CPU pass after 64 MiB",
     {{.side = DEVICE, .from = AFTER_64_MIB("cpu", "1") " allocator=@device"},
      {.side = CPU, .from = AFTER_64_MIB("cpu", "1") " allocator=@pageable"}},
     {{DEVICE, "second pass", AFTER_64_MIB("cpu", "2") " allocator=@device", ""},
      {CPU, "second pass", AFTER_64_MIB("cpu", "2") " allocator=@pageable", ""}}},
    {"Eviction",
     "device pass after 64 MiB",
     {{.side = DEVICE, .from = AFTER_64_MIB("device", "1") " allocator=@device"}},
     {{0}}},
    {"Interference",
     "CPU chase",
     {{.side = DEVICE, .from = BESIDE("cpu", "chase", "read", "@pinned"), .said = "beside reads of pinned memory"},
      {.side = CPU, .from = BESIDE("cpu", "chase", "read", "@huge_pages"), .said = "beside reads"}},
     {{DEVICE, "beside writes of device memory", BESIDE("cpu", "chase", "write", "@device"), ""},
      {CPU, "beside writes", BESIDE("cpu", "chase", "write", "@huge_pages"), ""}}},
    {"Interference",
     "CPU read",
     {{.side = DEVICE, .from = BESIDE("cpu", "read", "d2h", "@pinned"), .said = "beside copies from the device"},
      {.side = CPU, .from = BESIDE("cpu", "read", "write", "@huge_pages"), .said = "beside writes"}},
     {{0}}},
    {"Interference",
     "device read",
     {{.side = DEVICE, .from = BESIDE("device", "read", "write", "@device"), .said = "beside writes of the CPU"}},
     {{0}}},
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
