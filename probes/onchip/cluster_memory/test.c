/* Probe cluster_memory: which cells apply, and what the checks see, on a toy device that copies the kernels' work. */
#include "lib/kernel_timer/kernel_timer.h"
#include "tests/probes/kernel_timer_trials.h"
#include "tests/unit_test.h"

#include <math.h>
#include <string.h>

extern const struct as_probe as_probe_cluster_memory;

UNIT_TEST(test_applies)
{
    struct toy t;
    struct as_error err = {0};
    kernel_timer_toy(&t);
    strcpy(t.dev.info.dialect, "cuda");
    strcpy(t.dev.info.arch, "sm_86");
    assert_int_equal(toy_applies(&t, &as_probe_cluster_memory, "what=latency cluster=2", &err), AS_INAPPLICABLE);
    assert_non_null(strstr(err.text, "from sm_90 on, this is sm_86"));
    strcpy(t.dev.info.arch, "sm_90");
    assert_int_equal(toy_applies(&t, &as_probe_cluster_memory, "what=latency cluster=2", &err), AS_APPLIES);
    assert_int_equal(toy_applies(&t, &as_probe_cluster_memory, "what=latency cluster=3", &err), AS_PRUNED);
    strcpy(t.dev.info.dialect, "hip");
    assert_int_equal(toy_applies(&t, &as_probe_cluster_memory, "what=latency cluster=1", &err), AS_INAPPLICABLE);
    assert_int_equal(toy_applies(&t, &as_probe_cluster_memory, "what=bandwidth cluster=8", &err), AS_PRUNED);
}

/* As in the probe and its kernel. */
enum { STEPS = 16, THREADS = 512, TILE_WORDS = 8192, CHAIN_STEP = 33, CHAIN_WORDS = 1024, UNITS = 11 };
enum { STEP_NS = 200, READ_CYCLES = 1024, TILES = 64, STAGES = 4, ONCE_WORDS = 256, WAIT_CYCLES = 700 };

static struct toy toy;
static unsigned cluster, distance; /* of the block that is read */

static uint32_t tile_sum(const uint32_t *data, unsigned rank)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < TILE_WORDS; i++)
        sum += data[rank * (size_t)TILE_WORDS + i];
    return sum;
}

/* Copies of the last turn, which was `distance` - 1 turns too late. */
static uint32_t copied(const char *name, const uint32_t *data, uint32_t turns, unsigned g)
{
    const uint32_t last = g / cluster * STAGES + turns + distance - 2;
    uint32_t sum = 0;
    for (size_t i = 0; i < ONCE_WORDS && strcmp(name, "multicast_once") == 0; i++)
        sum += data[last % TILES * (size_t)TILE_WORDS + i];
    for (unsigned s = 0; s < STAGES && strcmp(name, "multicast_once") != 0; s++)
        sum += tile_sum(data, (last + s) % TILES);
    return sum;
}

static void run(const char *name, void *const *args)
{
    struct as_record *record = args[0];
    uint32_t turns = 0;
    if (strcmp(name, "chase") == 0) {
        memcpy(&turns, args[1], sizeof turns);
        record[0] = (struct as_record){.value = (uint64_t)turns * STEPS * CHAIN_STEP * distance % CHAIN_WORDS,
                                       .nanos = (uint64_t)turns * STEPS * STEP_NS,
                                       .cycles = 1,
                                       .has = AS_HAS_CYCLES | AS_HAS_NANOS};
    }
    const bool reads = strcmp(name, "read") == 0;
    if (!reads && strncmp(name, "multicast", strlen("multicast")) != 0)
        return;
    memcpy(&turns, args[3], sizeof turns);
    memset(args[1], 0, toy.workgroups * THREADS * sizeof(uint32_t));
    for (unsigned g = 0; g < toy.workgroups; g++) {
        ((uint32_t *)args[1])[g * THREADS + 3] =
            reads ? turns * tile_sum(args[2], (g + distance) % cluster) : copied(name, args[2], turns, g);
        record[g] = (struct as_record){.value = (uint64_t)turns * WAIT_CYCLES,
                                       .cycles = (uint64_t)turns * READ_CYCLES * (g == 5 ? 2 : 1),
                                       .nanos = turns,
                                       .has = AS_HAS_CYCLES | AS_HAS_NANOS};
    }
}

static bool is_right(const char *axes, unsigned reads_at, double *value)
{
    struct toy_trial v;
    struct as_error err = {0};
    struct as_sample out;
    char why[160];
    distance = reads_at;
    toy_init_sm90(&toy, run);
    toy.dev.info.compute_units = UNITS;
    toy_prepare(&toy, &as_probe_cluster_memory, axes, &v, NULL);
    for (uint64_t reps = 1; reps < 200; reps = 7 * reps)
        assert_int_equal(as_probe_cluster_memory.sample(v.state, reps, &out, &err), AS_OK);
    *value = out.value;
    bool right = as_probe_cluster_memory.check(v.state, why, sizeof why);
    toy_finish(&as_probe_cluster_memory, &v);
    assert_int_equal(toy.live, 0);
    return right;
}

UNIT_TEST(test_checks)
{
    double value;
    cluster = 4;
    assert_true(is_right("what=latency cluster=4", 1, &value));
    assert_true(fabs(value - STEP_NS) < 1e-9);
    assert_false(is_right("what=latency cluster=4", 2, &value));
    assert_true(is_right("what=bandwidth cluster=4", 1, &value));
    assert_int_equal(toy.workgroups, 8);
    assert_true(fabs(value - TILE_WORDS * 4.0 / READ_CYCLES / 2) < 1e-9);
    assert_false(is_right("what=bandwidth cluster=4", 0, &value));
    assert_false(is_right("what=bandwidth cluster=4", 2, &value));
    assert_true(is_right("what=multicast cluster=4", 1, &value));
    assert_int_equal(toy.workgroups, 8);
    assert_true(fabs(value - STAGES * TILE_WORDS * 4.0 / READ_CYCLES / 2) < 1e-9);
    assert_false(is_right("what=multicast cluster=4", 2, &value));
    assert_true(is_right("what=multicast_2d cluster=4", 1, &value));
    assert_true(fabs(value - STAGES * TILE_WORDS * 4.0 / READ_CYCLES / 2) < 1e-9);
    assert_false(is_right("what=multicast_2d cluster=4", 2, &value));
    assert_true(is_right("what=multicast_latency cluster=4", 1, &value));
    assert_int_equal(toy.workgroups, 8);
    assert_true(fabs(value - WAIT_CYCLES / (double)READ_CYCLES) < 1e-9); /* a turn takes 1 ns */
    assert_false(is_right("what=multicast_latency cluster=4", 2, &value));
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(&as_probe_cluster_memory, AS_CAP_SOURCE, "what=bandwidth cluster=2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applies),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
