/* Like devices of a run beside each other: a slow one is named with its interval, and none where none is. */
#include "base/clock.h"
#include "made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 8, NONE = -1 };
static double scatter = 0.002; /* of a device's number, and its standard error */
#define STREAM(op)                                                                                                     \
    "op=" op                                                                                                           \
    ";level=memory;size=4294967296;threads=0;store=regular;width=best;way=best;touch=device;allocator=cuMemAlloc"

static const struct {
    const char *probe, *unit, *axes;
    double value;
    bool lower_is_better;
} quantities[] = {
    {"bandwidth", "GB/s", STREAM("read"), 3170, false},
    {"bandwidth", "GB/s", STREAM("write"), 3290, false},
    {"bandwidth", "GB/s", STREAM("copy"), 3020, false},
    {"bandwidth", "GB/s", STREAM("triad"), 3070, false},
    {"roofline", "FLOP/s", "type=f32;threads=0;width=best", 66e12, false},
    {"roofline", "FLOP/s", "type=f64;threads=0;width=best", 33e12, false},
    {"l2_latency", "ns", "what=missed;compute_unit=0;filler=0", 345, true},
};
enum { READ = 0, FLOAT = 4, LATENCY = 6, QUANTITIES = sizeof quantities / sizeof *quantities };

struct node {
    struct made m;
    struct as_device_info devices[GPUS];
    struct as_fact *facts;
    size_t n;
};

/* Eight devices, of which `slow` takes `factor` times as long for one quantity, at a clock of its own. */
static void make_node(struct node *node, uint64_t seed, size_t gpus, int slow, size_t quantity, double factor,
                      double clock)
{
    struct as_rng rng;
    as_rng_seed(&rng, seed);
    *node = (struct node){.facts = NULL};
    made_gpu_minimal(&node->m);
    node->m.share = 1.96 * scatter;
    for (size_t i = 0; i < gpus; i++) {
        node->devices[i] = node->m.info;
        snprintf(node->devices[i].id, sizeof node->devices[i].id, "cuda:%zu", i);
        snprintf(node->devices[i].backend, sizeof node->devices[i].backend, "cuda");
        snprintf(node->devices[i].name, sizeof node->devices[i].name, "GPU");
    }
    for (size_t i = 0; i < gpus; i++)
        for (size_t q = 0; q < QUANTITIES; q++) {
            const double worse = (int)i == slow && q == quantity ? factor : 1;
            const double value = quantities[q].value * exp(scatter * as_rng_normal(&rng));
            node->m.info = node->devices[i];
            node->m.clock_hz = (int)i == slow ? clock : 1.98e9;
            made_add(&node->m, quantities[q].probe, quantities[q].unit,
                     quantities[q].lower_is_better ? value * worse : value / worse, quantities[q].axes)
                ->lower_is_better = quantities[q].lower_is_better;
        }
}

static void derive(struct node *node, size_t gpus)
{
    struct as_run run = {.id = 1};
    const struct as_fact_input in = {&run, node->m.cells, node->m.n, node->devices, gpus};
    assert_int_equal(as_facts_derive(&in, &node->facts, &node->n, NULL), AS_OK);
}

static void end_node(struct node *node)
{
    free(node->facts);
    made_end(&node->m);
}

/* The only finding; NULL: there is none. */
static const struct as_fact *finding(const struct node *node)
{
    const struct as_fact *found = NULL;
    for (size_t i = 0; i < node->n; i++)
        if (node->facts[i].relation == AS_FACT_ALIKE) {
            if (found)
                fail_msg("a second finding: %s", node->facts[i].sentence);
            found = &node->facts[i];
        }
    return found;
}

UNIT_TEST(test_slow_memory)
{
    struct node node;
    make_node(&node, 1, GPUS, 3, READ, 1 / 0.96, 1.98e9);
    derive(&node, GPUS);
    const struct as_fact *f = finding(&node);
    assert_non_null(f);
    assert_string_equal(f->device, "cuda:3");
    assert_string_equal(f->id, "alike.memory.read.all");
    assert_true(fabs(f->value - 0.96) < 0.006 && f->ci.lo < 0.96 && f->ci.hi > 0.96);
    made_says(f, "Memory read is ");
    made_says(f, "%) below the other seven, at the same clock");
    assert_string_equal(f->act, "Check its memory: clock, ECC errors and remapped rows");
    assert_int_equal(f->evidence_n, GPUS);
    end_node(&node);
}

UNIT_TEST(test_slow_at_another_clock)
{
    struct node node;
    make_node(&node, 2, GPUS, 0, LATENCY, 1.1, 1.41e9);
    derive(&node, GPUS);
    const struct as_fact *f = finding(&node);
    assert_non_null(f);
    assert_string_equal(f->device, "cuda:0");
    made_says(f, "Memory latency is ");
    made_says(f, "above the other seven, at 1.41 GHz, the others at 1.98 GHz");
    assert_string_equal(f->act, "Check its power cap, cooling and clock settings");
    end_node(&node);
    make_node(&node, 2, GPUS, 0, LATENCY, 1.1, 1.41e9);
    node.m.cells[LATENCY].detail = strdup("{\"throttled_by\":\"power cap\"}");
    derive(&node, GPUS);
    f = finding(&node);
    assert_non_null(f);
    assert_string_equal(f->act, "Check what throttles it: power cap");
    end_node(&node);
    make_node(&node, 2, GPUS, 0, LATENCY, 1.1, NAN);
    derive(&node, GPUS);
    f = finding(&node);
    assert_non_null(f);
    assert_string_equal(f->act, "Check its power cap, cooling and clock settings");
    end_node(&node);
    make_node(&node, 2, GPUS, 0, FLOAT, 1.1, 1.98e9);
    derive(&node, GPUS);
    f = finding(&node);
    assert_non_null(f);
    assert_string_equal(f->act, "Check for other work on it: its clock does not explain the difference");
    end_node(&node);
}

/* Fifty nodes without a slow device, each with new scatter: far below the deviation that counts, and twice that, where
 * only the rate of false discoveries keeps the worst of 56 numbers from being named. */
UNIT_TEST(test_none_is_slow)
{
    static const double each[] = {0.002, 0.02};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        scatter = each[i];
        for (uint64_t seed = 100; seed < 150; seed++) {
            struct node node;
            make_node(&node, seed, GPUS, NONE, READ, 1, 1.98e9);
            derive(&node, GPUS);
            if (finding(&node))
                fail_msg("node %ju: %s", (uintmax_t)seed, finding(&node)->sentence);
            end_node(&node);
        }
    }
    scatter = each[0];
}

/* A better one, less than 1%, too few others, and devices of another model are no findings. */
UNIT_TEST(test_what_is_no_finding)
{
    struct node node;
    make_node(&node, 3, GPUS, 3, READ, 0.96, 1.98e9);
    derive(&node, GPUS);
    assert_null(finding(&node));
    end_node(&node);
    make_node(&node, 4, GPUS, 3, READ, 1.007, 1.98e9);
    derive(&node, GPUS);
    assert_null(finding(&node));
    end_node(&node);
    make_node(&node, 5, 3, 1, READ, 1.2, 1.98e9);
    derive(&node, 3);
    assert_null(finding(&node));
    end_node(&node);
    make_node(&node, 6, GPUS, 3, READ, 1.2, 1.98e9);
    for (size_t i = 0; i < GPUS; i++)
        snprintf(node.devices[i].name, sizeof node.devices[i].name, "GPU %zu", i / 3);
    derive(&node, GPUS);
    assert_null(finding(&node));
    end_node(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_memory),
        cmocka_unit_test(test_slow_at_another_clock),
        cmocka_unit_test(test_none_is_slow),
        cmocka_unit_test(test_what_is_no_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
