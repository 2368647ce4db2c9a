/* The null backend: one device, "null", whose timings are scripted, so that engine, gates, statistics and report can be
 * tested against known answers. It is there only when $ASSAY_NULL names a script. Kernels really run, on threads of
 * their own, so that results can be checked; what is reported is what the script says.
 *
 * The script is one JSON object. Every member may be left out; an unknown one is an error.
 *
 *   "info"       object as as_info_to_json writes it: name, vendor, caches, threads, memory_free, allocators, ...
 *                "capabilities" are added to those that the device always has
 *   "why_not"    text: the device cannot be opened, for this reason
 *   "open"       what opening the device does: crash, hang, exit, fail or oom, as faults do. The script is read at each
 *                opening, so whoever puts another file in its place changes what the next worker finds
 *   "devices"    how many there are, 1 to 16: "null", "null:1", "null:2", ... that all do the same
 *   "seed"       whole number for everything drawn; 0 or absent: different in every worker
 *   "execute"    true: kernels run in every launch; false: never; "once": only where kernel, threads or repetitions
 *                differ from the launch before, enough for kernels that write the same result each time
 *   "sleep"      true: a launch takes as long as it reports, for tests of budgets and progress
 *   "cycles"     true: launches report cycles, seconds x clock
 *   "clock_hz"   number, 2e9
 *   "launch_ns"  number, 1000: a repetition without any work
 *   "alloc_ns"   number, 100: one allocation
 *   "free_ns"    number, 50: one free
 *   "levels"     [{"size": bytes, "ns": 1.0, "gbs": 100}, ...] by rising size, the last with size 0 (no bound). The
 *                first level that holds the footprint of a launch serves it:
 *                seconds = reps x (accesses x ns x 1e-9 + bytes / (gbs x 1e9))
 *                at "clock_hz"; "beta": 1 makes them proportional to clock^-1; without it "machine" does not scale them
 *   "is_device"  true: an accelerator beside the host, not a CPU, with the allocators "device", "pinned", "managed"
 *   "copies"     [{"from": "pinned", "to": "device", "gbs": 50, "both_gbs": 80}, ...]: rates of copies between
 *                allocators, or "host"; "both_gbs": both ways at once, the two together. Other copies, and kernels,
 *                take as long as "levels" say
 *   "together_gbs"  number: bytes/s that copies and kernels of several devices at the same time reach in sum at most
 *   "factors"    [1, 1, 2, ...]: by device, how many times as long everything takes; 1 for those not named
 *   "calls"      [{"allocator": "pinned", "alloc_ns": 9e6, "free_ns": 2e6}, ...]: calls of one allocator
 *   "huge_page"  whole number, 2 MiB: pages that an allocator with the role huge_pages gets; 4096: it gets none
 *   "shared"     {"size": bytes, "ns": 3, "restores": 0.9, "pass": "pass", "touch": "touch"}: a cache that both sides
 *                share and keep filled. A launch of a kernel with the name "touch" evicts what it and the buffer of
 *                the last "pass" exceed the cache by, up to all of the buffer; a pass takes `ns` more for each access
 *                to an evicted part, and restores that share of it
 *   "noise"      {"sd": 0.005, "trial_sd": 0, "process_sd": 0, "walk_sd": 0}: relative standard deviations, of each
 *                launch, of each trial, of each worker process (whatever the seed), and of the step from launch to
 *                launch of a speed that wanders between a half and twice
 *   "machine"    {"clocks": [3.6e9, 4.1e9, ...], "hop_s": 0.03, "reading_sd": 0.0005, "seen": 0.9, "reading": 0.3,
 *                "neighbour": {"share": 0.3, "length_s": 0.2, "factor": 1.4},
 *                "episode": {"share": 0.1, "length_s": 3, "factor": 1.25}}: the machine around the device, on
 *                simulated time, which advances by what launches report and not by the wall clock. What a worker
 *                draws follows from "seed" and its first trial. The clock of all cores hops to another of the list
 *                after hop_s on average. A neighbour and slow episodes are active for "share" of the time, each for
 *                "length_s" on average, and slow all work down by "factor". The reference loop reads the clock with
 *                noise of reading_sd. A fraction "seen" of its readings beside a neighbour detects it: they read
 *                "reading" times the clock, or, where that is 0, count a preemption
 *   "modes"      [{"share": 0.7, "factor": 1}, {"share": 0.3, "factor": 1.1}]: each launch is in one of them
 *   "drift"      {"factor": 1.05, "from_s": 10, "to_s": 20} by seconds since the device was opened, or "from_launch",
 *                "to_launch" by launches since then; the ends may be left out
 *   "code"       {"load.global": 0, ...}: instructions of this kind in the machine code of every kernel; those that
 *                are not named are there as often as any probe wants. Without it the device does not count them
 *   "sensor"     {"throttle": "thermal", "power_w": 300, "temperature": 60, "clock_hz": 1e9, "memory_clock_hz": 2e9,
 *                "users": 1, "ecc_uncorrected": 1, "pcie_replays": 2 (from one reading to the next),
 *                "pcie_replays_before": 9 (when it is opened), "cannot": what it cannot tell, "why_not": it cannot be
 *                opened, for this reason}. Without it there is no sensor
 *   "faults"     [{"do": ..., which launches}, ...]
 *
 * A fault does one of
 *   "crash"       raises SIGSEGV                  "fail"   returns an error
 *   "hang"        never comes back                "oom"    returns that memory ran out
 *   "exit"        ends the process with code 1    "wrong"  changes some bytes of the first memory argument afterwards
 *   "slow"        takes "factor" times as long    "clock-half"  the clock halves, until the trial is over
 *   "stale"       of a collective: rank 1 receives nothing and keeps what it had
 * in launches that match all of
 *   "device"                        glob (fnmatch) for the id of the device, "null:3"
 *   "kernel", "probe"               globs for the names of kernel and program
 *   "min_footprint", "max_footprint"  bytes
 * and of those, counted from 1 in each trial (or with "count": "worker" over the worker's life),
 *   "launch": N                     only the Nth
 *   "from": N                       the Nth and all after it; neither: every one
 * A collective counts as a launch of a kernel with its name ("all_reduce") of program "collective", whose bytes are
 * what each rank sends and receives by the best algorithm; its ranks are "siblings" of "info". A fault with "allocator"
 * (a glob) strikes allocations instead, by the same counting; min_ and max_footprint are their bytes, and only crash,
 * hang, exit, fail and oom make sense.
 *
 * A trial starts when a program is built. */
#ifndef AS_DEVICE_NULL_NULL_H
#define AS_DEVICE_NULL_NULL_H

#include "base/clock.h"
#include "device/native_program.h"
#include "device/sensor.h"

enum as_null_action {
    AS_NULL_CRASH,
    AS_NULL_HANG,
    AS_NULL_EXIT,
    AS_NULL_FAIL,
    AS_NULL_OOM,
    AS_NULL_WRONG,
    AS_NULL_SLOW,
    AS_NULL_CLOCK_HALF,
    AS_NULL_STALE,
    AS_NULL_ACTIONS_N
};
enum as_null_execute { AS_NULL_NEVER, AS_NULL_ALWAYS, AS_NULL_ONCE };
enum {
    AS_NULL_LEVELS_MAX = 16,
    AS_NULL_MODES_MAX = 8,
    AS_NULL_FAULTS_MAX = 32,
    AS_NULL_COPIES_MAX = 16,
    AS_NULL_CLOCKS_MAX = 8,
    AS_NULL_DEVICES_MAX = 16,
    AS_NULL_RANKS_MAX = 64,
    AS_NULL_OPERATIONS_MAX = 64,
    AS_NULL_OPERATIONS = 4096, /* instructions of a kind that the script does not name: as many as any probe wants */
};

struct as_null_level {
    uint64_t size;
    double ns, gbs, beta;
};
struct as_null_mode {
    double share, factor;
};
struct as_null_fault {
    char device[32], kernel[64], probe[64], allocator[40];
    uint64_t min_footprint, max_footprint;
    uint64_t launch, from; /* 0: not given */
    bool of_worker, of_allocations;
    enum as_null_action action;
    double factor;
    uint64_t seen; /* launches that matched so far, in this trial or worker */
};
/* Copies between two kinds of memory. */
struct as_null_copy {
    char from[40], to[40];
    double gbs, both_gbs;
};
/* Calls of an allocator; NAN: as the script says in general. */
struct as_null_calls {
    char allocator[40];
    double alloc_ns, free_ns;
};
/* A shared cache; size 0: there is none. */
struct as_null_shared {
    char touch[64], pass[64]; /* kernels */
    uint64_t size;
    double ns, restores;
};
/* An on-off disturbance. */
struct as_null_disturbance {
    double share, length_s, factor;
};
/* What its sensor says. */
struct as_null_sensor_script {
    bool there;
    char why_not[160], cannot[160];
    char throttle[64];
    double power_w, temperature, clock_hz, memory_clock_hz, users, ecc_uncorrected, pcie_replays; /* NAN unknown */
    double pcie_replays_before;
};
struct as_null_script {
    char why_not[160];
    struct as_null_fault open; /* only its action counts; AS_NULL_ACTIONS_N: none */
    uint64_t seed, devices;
    enum as_null_execute execute;
    bool sleep, cycles;
    uint64_t huge_page; /* bytes of the pages that memory with the role of huge pages gets */
    double clock_hz, launch_ns, alloc_ns, free_ns;
    double sd, trial_sd, process_sd, walk_sd;
    struct as_null_shared shared;
    double drift_factor, drift_from_s, drift_to_s;
    uint64_t drift_from_launch, drift_to_launch;
    bool drift, has_machine;
    struct as_null_disturbance neighbour, episode;
    double clocks[AS_NULL_CLOCKS_MAX], factors[AS_NULL_DEVICES_MAX];
    double together_gbs; /* 0: no limit */
    double hop_s, reading_sd, seen, reading;
    size_t clocks_n, factors_n;
    bool is_device; /* without kernels that the probes count as the host's own */
    size_t levels_n, modes_n, faults_n, copies_n, calls_n;
    struct as_null_copy copies[AS_NULL_COPIES_MAX];
    struct as_null_calls calls[AS_NULL_COPIES_MAX];
    struct as_null_level levels[AS_NULL_LEVELS_MAX];
    struct as_null_mode modes[AS_NULL_MODES_MAX];
    struct as_null_fault faults[AS_NULL_FAULTS_MAX];
    struct as_null_sensor_script sensor;
    bool has_code;
    uint64_t code[AS_NULL_OPERATIONS_MAX]; /* in the order of as_operation_words */
};

extern const struct as_role_name as_null_roles[];
/* Sets script and info from the text; everything not named gets its default. place is used in messages. */
enum as_status as_null_script_read(const char *json, const char *place, struct as_null_script *script,
                                   struct as_device_info *info, struct as_error *err);

struct as_null_phase {
    double until;
    bool on;
};
/* Current state of the scripted machine. */
struct as_null_machine {
    struct as_rng rng;
    double now, hz, hop_at; /* seconds since it started */
    struct as_null_phase neighbour, episode;
    uint64_t preemptions;
    bool running;
};

/* State left by earlier launches. */
struct as_null_device {
    struct as_null_script script;
    struct as_rng rng;
    double opened; /* as_now() */
    uint64_t launches;
    double process_factor, trial_factor;
    struct as_null_machine machine;
    bool clock_halved;
    double wander;          /* logarithm of the speed's factor */
    double buffer, evicted; /* of the last pass: bytes, and the share that is not in the shared cache */
    uint64_t held;          /* bytes of memory handed out */
    struct as_device *ranks[AS_NULL_RANKS_MAX]; /* of a collective: the device itself */
    size_t index;
    struct as_device members[AS_NULL_DEVICES_MAX]; /* the other devices; without a context: not opened */
    void (*last_run)(const struct as_host_call *call);
    size_t last_groups;
    uint64_t last_reps;
};

/* Starts a trial: resets per-trial state. */
void as_null_trial(struct as_null_device *n);
/* Seconds that the script has for a launch. Draws. */
double as_null_seconds(struct as_null_device *n, const struct as_launch *launch);
/* Of a script with a machine: starts it, anew for every worker by the seed of its first trial; lets so many seconds of
 * work at the script's clock pass, proportional to clock^-beta, and returns what they took; reads the reference loop.
 */
void as_null_machine_start(struct as_null_device *n, uint64_t seed);
double as_null_play(struct as_null_device *n, double seconds, double beta);
double as_null_machine_clock(struct as_null_device *n);
/* Seconds on the device's clock: the machine's, or those of the host. */
double as_null_now(const struct as_null_device *n);
/* The first fault of the script that strikes now, NULL when none does. Counts. */
const struct as_null_fault *as_null_strike(struct as_null_device *n, const char *kernel, const char *probe,
                                           double footprint);
const struct as_null_fault *as_null_strike_allocation(struct as_null_device *n, const char *allocator, uint64_t bytes);
/* Crash, hang, exit, fail and oom; AS_OK for the others and for NULL. */
enum as_status as_null_act(const struct as_null_fault *fault, const char *where, struct as_error *err);
/* Reported clock: with a quarter of a per mille of noise, as measured clocks have. */
double as_null_clock(struct as_null_device *n);
double as_null_noise(struct as_null_device *n, double sd);
double as_null_device_factor(const struct as_null_device *n);

void *as_null_address(const struct as_memory *mem);
const char *as_null_allocator(const struct as_memory *mem);
/* What the script says of copies between these; NULL: nothing. */
const struct as_null_copy *as_null_copy_between(const struct as_null_device *n, const char *from, const char *to);
void as_null_pass_time(double seconds); /* sleeps */

extern const struct as_sensor as_null_sensor;
extern const struct as_memory_ops as_null_memory_ops;
extern const struct as_queue_ops as_null_queue_ops;
extern const struct as_team_ops as_null_team_ops;
/* Opens another device of the same script. */
enum as_status as_null_open_member(const struct as_device *dev, size_t index, struct as_device *out,
                                   struct as_error *err);
extern const struct as_collective_ops as_null_collective_ops; /* the ranks are so many as "siblings" in "info" */
/* Changes bytes of a block, as the fault "wrong" does. */
void as_null_damage(const struct as_memory *mem);

static inline struct as_null_device *as_null(struct as_device *dev)
{
    return dev->ctx;
}

#endif
