/* The true clock of a core, from timed chains of additions. The fastest of several short chains is used, since
 * interrupts only slow them down. */
#include "base/clock.h"
#include "base/chain.h"
#include "device/cpu/cpu.h"
#include "device/cpu/ticks.h"

enum { ROUNDS = 180, CHAINS = 8, LONG_CHAINS = 3, LONGEST = 8 };
#define RATE_NS                                                                                                        \
    5000000u /* minimum interval for the tick counter's rate: a pair of readings is accurate to about 20 ns */
#define FINE_TICKS 200e6 /* per second; with a slower counter (some aarch64), chains are longer */

static uint64_t shortest(uint64_t chains, uint64_t rounds)
{
    uint64_t best = UINT64_MAX;
    for (uint64_t i = 0; i < chains; i++) {
        uint64_t start = as_ticks();
        as_add_chain(rounds);
        uint64_t ticks = as_ticks() - start;
        best = ticks < best ? ticks : best;
    }
    return best;
}

/* Runs on each thread of the team, so that the load stays the same; the first thread's result counts. The difference
 * of a long and a short chain removes the cost of reading the counter and filling the pipeline. */
static void clock_kernel(const struct as_host_call *call)
{
    uint64_t chains = *(const uint64_t *)call->args[1], rounds = *(const uint64_t *)call->args[2];
    uint64_t few = shortest(chains, rounds / 10), many = shortest(chains, rounds);
    if (call->thread == 0)
        *(uint64_t *)call->args[0] = many > few ? many - few : 0;
}

/* Reads both clocks: of several pairs of readings, the one with the shortest gap. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    *ticks = *ns = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t a = as_ticks(), t = as_now_ns(), b = as_ticks();
        if (b - a < best) {
            best = b - a;
            *ticks = a + best / 2;
            *ns = t;
        }
    }
}

void as_cpu_clock_start(struct as_cpu_device *cpu)
{
    read_both(&cpu->ticks_start, &cpu->ns_start);
}

static double ticks_per_second(const struct as_cpu_device *cpu)
{
    uint64_t ticks, ns;
    while (as_now_ns() - cpu->ns_start < RATE_NS)
        as_sleep(1e-9 * RATE_NS / 4);
    read_both(&ticks, &ns);
    return 1e9 * (double)(ticks - cpu->ticks_start) / (double)(ns - cpu->ns_start);
}

enum as_status as_cpu_clock(struct as_device *dev, double *hz, struct as_error *err)
{
    struct as_cpu_device *cpu = as_cpu(dev);
    uint64_t difference = 0, chains = CHAINS, rounds = ROUNDS;
    double rate = ticks_per_second(cpu);
    if (rate > 0 && rate < FINE_TICKS) {
        chains = LONG_CHAINS;
        rounds = (uint64_t)(ROUNDS * (FINE_TICKS / rate < LONGEST ? FINE_TICKS / rate : LONGEST));
    }
    struct as_team_job job = {
        .run = clock_kernel,
        .values = (union as_team_value[]){{.memory = &difference}, {.u64 = chains}, {.u64 = rounds}},
        .is_memory = (const bool[]){true, false, false},
        .args_n = 3,
        .cpus = cpu->clock_cpus_n ? cpu->clock_cpus : cpu->order,
        .threads = cpu->clock_cpus_n ? cpu->clock_cpus_n : 1,
        .reps = 1,
    };
    enum as_status st = as_team_submit(cpu->team, &job, err);
    if (st)
        return st;
    as_team_wait(cpu->team, AS_WAIT_BLOCK, NULL);
    if (difference == 0 || !(rate > 0))
        return as_fail(err, AS_FAILED, "the clock of CPU %d could not be read: its tick counter does not advance",
                       job.cpus[0]);
    uint64_t links = (rounds - rounds / 10) * AS_CHAIN_LINKS;
    *hz = (double)links / ((double)difference / rate);
    return AS_OK;
}
