/* Kernels that count the cycles of a workgroup, with their text compiled as host C. Threads are fibers, and the clock
 * counts the pieces of work that they have done. Whichever thread runs first between two barriers, the time between the
 * readings is the work of all: a scheduler may let a warp wait while others work. */
#include "device/dialect/host_prelude.h"
#include "tests/unit_test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

enum { FIBERS = 8, STACK_BYTES = 128 << 10, WORDS = 4096 };

_Thread_local struct as_host_item as_host_item;
static ucontext_t home, fiber[FIBERS];
static char *stacks;
static unsigned running;
static u64 elapsed; /* pieces of work that threads have done */
static u64 arrived[FIBERS];
static bool delayed; /* barriers block with delay: a reading after one is taken at arrival */

static void wait_for_others(void)
{
    arrived[running] = elapsed;
    swapcontext(&fiber[running], &home);
    as_host_item.thread = running;
}

static u64 clock_now(void)
{
    return delayed ? arrived[running] : elapsed;
}

/* Definitions that make a piece of work count. */
static u32 work(void)
{
    elapsed++;
    return 1;
}

#undef BARRIER
#define BARRIER() wait_for_others()
#undef HAVE_CYCLES
#define HAVE_CYCLES 1
#define CYCLES() clock_now()
#define HAVE_NANOS 1
#define NANOS() clock_now()
#define HAVE_UNIT 0
#define HAVE_LOCAL_DYNAMIC 0
#include "lib/kernel_timer/record.kernel"

/* What generated text defines for ops.kernel. */
#define TAKE_ALL (void)id, (void)starts, (void)seconds, (void)thirds, (void)ends, (void)words, (void)turns;
#define START_ALL
#define STORE_ALL
#define ONE_RESULT_ALL
#define TWELVE
#define HALF_BODY
#define WHOLE_BODY work();
#include "lib/ops/ops.kernel"

/* And for peak.kernel. */
typedef int fragment_a, fragment_b, fragment_c;
#define UNROLLED
#define CHAINS 1
#define STEPS 2
#define LANES 1
#define VARIANTS 1
#define C_BYTES 4
#define TILE_A
#define TILE_B
#define SHARE_A(a) (void)(a);
#define SHARE_B(b) (void)(b);
#define SEEN()
#define BEGIN()
#define END()
#define A_AT(fragment, a, variant, set) fragment = (int)(variant)
#define B_AT(fragment, b, variant, set) fragment = (int)(variant)
#define CLEAR_C(fragment) fragment = 0
#define HOLD(fragment) (void)(fragment)
#define KEEP_C(fragment, to) (to)[lane] = (u8)(fragment)
#define MULTIPLY(c, a, b) c += (a) * (b) * (int)work();
#define half_body half_peak
#define whole_body whole_peak
#include "lib/mma/rate/peak.kernel"
#undef half_body
#undef whole_body
#undef STEP

/* The same for onchip_bandwidth.kernel, for both kinds of memory. */
#define WIDTH 32
#define UNROLL 1
#define WARP work()
#define TILE FIBERS
#define STRIDE 1
#define GROUP_THREADS FIBERS
#define IN_LOCAL
#define read read_shared
#include "probes/onchip/onchip_bandwidth/onchip_bandwidth.kernel"
#undef IN_LOCAL
#undef STEP
#undef STRIDE
#define STRIDE work()
#undef WIDTH
#undef SUM
#undef LOAD
#undef ADD
#undef TIMES
#undef read
#define WIDTH 32
#define element global_element
#define read read_global
#include "probes/onchip/onchip_bandwidth/onchip_bandwidth.kernel"
#undef read

static u64 words[WORDS];
static u32 sums[FIBERS], numbers[FIBERS];
static atomic_u32 choice[4];

static void of_ops(void)
{
    whole_body(words, NULL, NULL, NULL, NULL, NULL, 2, 2);
}

static void of_peak(void)
{
    whole_peak(words, NULL, NULL, (u8 *)(words + WORDS / 2), 2);
}

static void of_shared(void)
{
    read_shared(words, choice, sums, numbers, 0, 2, 2);
}

static void of_global(void)
{
    read_global(words, choice, sums, numbers, 0, 2, 2, 0, FIBERS, 0);
}

static const struct kernel {
    const char *name;
    void (*call)(void);
    unsigned each; /* pieces of work per thread between the readings */
} kernels[] = {{"ops", of_ops, 2},
               {"peak", of_peak, 4},
               {"onchip_bandwidth, shared", of_shared, 2},
               {"onchip_bandwidth", of_global, 4}};

static void (*call)(void);
static bool ended[FIBERS];

static void begin(void)
{
    as_host_item.thread = running;
    call();
    ended[running] = true;
}

static bool run_one(unsigned thread)
{
    running = thread;
    if (!ended[thread])
        swapcontext(&home, &fiber[thread]);
    return !ended[thread];
}

/* Between two barriers the first thread runs first or last, as the phase's bit says. */
static void run_group(const struct kernel *k, unsigned order)
{
    call = k->call;
    as_host_item = (struct as_host_item){.threads = FIBERS, .workgroups = 1};
    for (unsigned i = 0; i < FIBERS; i++) {
        ended[i] = false;
        getcontext(&fiber[i]);
        fiber[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
        fiber[i].uc_stack.ss_size = STACK_BYTES;
        fiber[i].uc_link = &home;
        makecontext(&fiber[i], begin, 0);
    }
    bool goes_on = true;
    for (unsigned phase = 0; goes_on; phase++) {
        const bool last = order >> phase & 1;
        goes_on = false;
        for (unsigned i = 0; i < FIBERS; i++)
            goes_on |= run_one(last ? FIBERS - 1 - i : i);
    }
}

static void check_orders(const struct kernel *k)
{
    enum { PHASES = 8 };
    for (unsigned order = 0; order < 1u << PHASES; order++) {
        words[5] = words[6] = 0;
        run_group(k, order);
        const u64 cycles = words[6] - words[5];
        if (words[1] != cycles || cycles != k->each * FIBERS)
            fail_msg("%s, %s barriers, order %#x: %u pieces of work in %llu cycles", k->name,
                     delayed ? "delayed" : "prompt", order, k->each * FIBERS, (unsigned long long)cycles);
    }
}

UNIT_TEST(test_clock)
{
    stacks = malloc((size_t)FIBERS * STACK_BYTES);
    assert_non_null(stacks);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int d = 0; d < 2; d++) {
            delayed = d;
            check_orders(&kernels[k]);
        }
    free(stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
