/* What is worth knowing: ranked by the effect that is sure, reproduced in other runs, and never denied by one. */
#include "sheet_run.h"

#include "base/text.h"
#include "report/sheet/worth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct as_worth worth[AS_WORTH_MAX];

/* A fact with something to do whose ratio of two ways lies between lo and hi. */
static struct as_fact *add_act(const char *id, const char *act, double lo, double hi)
{
    struct as_fact *f = add_fact(id, 1, "x", NAN);
    f->gain = sqrt(lo * hi);
    f->gain_ci = (struct as_interval){lo, hi};
    as_copy_text(f->act, sizeof f->act, act);
    return f;
}

static size_t look(void)
{
    return as_worth_knowing(&run, worth, AS_WORTH_MAX);
}

static bool is_listed(const char *id)
{
    bool found = false;
    for (size_t i = 0, n = look(); i < n; i++)
        found |= strcmp(worth[i].fact->id, id) == 0;
    return found;
}

static const char *text_of(size_t at, char out[320])
{
    struct as_buf text = AS_BUF_INIT;
    as_worth_text(&worth[at], &text);
    as_copy_text(out, 320, as_buf_get(&text));
    as_buf_finish(&text);
    return out;
}

/* The end nearest to no effect counts, so that an imprecise effect does not win; below 1 the inverse. */
static void test_ranked_by_sure_effect(void **state)
{
    (void)state;
    add_act("refill.alias", "a: x", 1.2, 90);
    add_act("stores.nontemporal.triad.all", "b: x", 2.0, 2.2);
    add_act("fault.prefault.device-minor.mmap", "c: x", 0.2, 0.25);
    assert_int_equal(look(), 3);
    assert_string_equal(worth[0].fact->id, "fault.prefault.device-minor.mmap");
    assert_string_equal(worth[1].fact->id, "stores.nontemporal.triad.all");
    assert_string_equal(worth[2].fact->id, "refill.alias");
    assert_int_equal(as_worth_knowing(&run, worth, 1), 1);
}

static void set_gain(struct as_fact *f, double lo, double hi)
{
    f->gain = sqrt(lo * hi);
    f->gain_ci = (struct as_interval){lo, hi};
}

/* What is to be done on nearly any machine is told where nothing else is: two lines at most. */
static void test_usual_effects_fill_up(void **state)
{
    (void)state;
    add_act("matmul.accelerated.e4m3", "a: x", 1.98, 2.02);
    add_act("matmul.accelerated.bf16", "b: x", 1.91, 1.95);
    add_act("launch.graph-10.block", "c: x", 0.3, 0.4);
    assert_int_equal(look(), 2);
    assert_string_equal(worth[0].fact->id, "launch.graph-10.block");
    assert_string_equal(worth[1].fact->id, "matmul.accelerated.e4m3");
    add_act("stores.nontemporal.triad.all", "d: x", 1.2, 1.3);
    assert_int_equal(look(), 2);
    assert_string_equal(worth[0].fact->id, "stores.nontemporal.triad.all");
    assert_string_equal(worth[1].fact->id, "launch.graph-10.block");
    add_act("refill.alias", "e: x", 1.5, 1.6);
    assert_int_equal(look(), 2);
    assert_false(is_listed("launch.graph-10.block"));
}

/* Its size is news beyond one and a half times what is usual, to either side, and in all runs that show it. */
static void test_unusual_sizes_are_told(void **state)
{
    (void)state;
    static const struct {
        double lo, hi;
        bool is_told;
    } sizes[] = {{1.98, 2.02, false}, {2.9, 3.4, false}, {3.2, 3.4, true}, {1.2, 1.25, true}, {1.2, 1.4, false}};
    add_act("stores.nontemporal.triad.all", "a: x", 1.2, 1.3);
    add_act("refill.alias", "b: x", 1.2, 1.3);
    struct as_fact *f = add_act("matmul.accelerated.e4m3", "c: x", 2, 2);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        set_gain(f, sizes[i].lo, sizes[i].hi);
        assert_int_equal(is_listed(f->id), sizes[i].is_told);
    }
    set_gain(f, 3.2, 3.4);
    struct as_other_fact other = {.run = 7, .fact = *f};
    run.others = &other;
    run.others_n = 1;
    assert_true(is_listed(f->id));
    set_gain(&other.fact, 2, 2.1);
    assert_false(is_listed(f->id));
    set_gain(f, 0.3, 0.4); /* the other way is the better one */
    run.others_n = 0;
    assert_true(is_listed(f->id));
}

/* What tells nothing or too little, and facts that nothing is to be done about, are left out. */
static void test_no_effect(void **state)
{
    (void)state;
    add_act("tlb.gain.thp.4096", "a: x", 0.9, 40);
    add_act("stores.nontemporal.triad.all", "b: x", 1.05, 1.06);
    add_act("fault.prefault.device-minor.mmap", "", 3, 4);
    assert_int_equal(look(), 0);
}

/* Of six the weakest is left out, and a stronger one displaces it. */
static void test_planted_effect_displaces(void **state)
{
    (void)state;
    static const char *const ids[] = {"refill.alias",           "stores.nontemporal.triad.all",
                                      "matmul.accelerated.f16", "fusion.bias.mma.f16",
                                      "concurrency.rate",       "matmul.zeros.wgmma_e4m3_f32"};
    for (size_t i = 0; i < 5; i++) {
        char act[] = "a: x";
        act[0] = (char)('a' + i);
        add_act(ids[i], act, 1.5 + (double)i, 1.6 + (double)i);
    }
    assert_true(is_listed(ids[0]));
    struct as_fact *planted = add_act(ids[5], "z: x", 1.2, 1.3);
    assert_false(is_listed(ids[5]));
    planted->gain_ci = (struct as_interval){3, 3.5};
    assert_int_equal(look(), AS_WORTH_MAX);
    assert_true(is_listed(ids[5]));
    assert_false(is_listed(ids[0]));
}

/* A claim that is refuted comes first, whatever its size; one call for the same and two of a relation are enough. */
static void test_claims_and_repetition(void **state)
{
    (void)state;
    add_act("fusion.bias.mma.f16", "Fuse: 2x", 2, 2.1);
    add_act("fusion.bias.wgmma.f16", "Fuse: 3x", 3, 3.1);
    add_act("matmul.accelerated.f16", "Use f16: x", 4, 5);
    add_act("matmul.accelerated.s8", "Use s8: x", 5, 6);
    add_act("matmul.accelerated.e4m3", "Use e4m3: x", 6, 7);
    struct as_fact *lost = add_act("lost.both.pinned", "Do not count: x", NAN, NAN);
    lost->verdict = AS_REFUTED;
    assert_int_equal(look(), 4);
    assert_string_equal(worth[0].fact->id, "lost.both.pinned");
    assert_string_equal(worth[1].fact->id, "matmul.accelerated.e4m3");
    assert_string_equal(worth[2].fact->id, "matmul.accelerated.s8");
    assert_string_equal(worth[3].fact->id, "fusion.bias.wgmma.f16");
}

/* What an earlier run says of the same, and what becomes of it. */
static void test_earlier_runs(void **state)
{
    (void)state;
    static const struct {
        double lo, hi; /* of another run; NAN: it does not tell */
        const char *text;
    } rows[] = {
        {2.9, 3.3, "Use it: 3x; seen in 2 runs"},
        {1.5, 1.6, "Use it: 3x; seen in 2 runs: 1.5 to 3.2x"},
        {0.5, 4.0, "Use it: 3x; seen in 1 of 2 runs"}, /* cannot tell */
        {0.9, 1.1, NULL},                              /* excludes an effect of this size */
        {0.3, 0.4, NULL},                              /* the other way is the better one */
        {NAN, NAN, "Use it: 3x; seen once"},
    };
    struct as_fact *f = add_act("tlb.gain.thp.4096", "Use it: 3x", 2.8, 3.2);
    struct as_other_fact other = {.run = 7, .fact = *f};
    char text[320];
    assert_int_equal(look(), 1);
    assert_string_equal(text_of(0, text), "Use it: 3x; seen once");
    run.others = &other;
    run.others_n = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        other.fact.gain_ci = (struct as_interval){rows[i].lo, rows[i].hi};
        assert_int_equal(look(), rows[i].text != NULL);
        if (rows[i].text)
            assert_string_equal(text_of(0, text), rows[i].text);
    }
}

/* The same of a ratio below 1, and of a claim. */
static void test_denied_below_one(void **state)
{
    (void)state;
    struct as_fact *f = add_act("fault.prefault.device-minor.mmap", "a: x", 0.3, 0.4);
    struct as_other_fact other = {.run = 7, .fact = *f};
    run.others = &other;
    run.others_n = 1;
    other.fact.gain_ci = (struct as_interval){0.35, 0.5};
    assert_int_equal(look(), 1);
    other.fact.gain_ci = (struct as_interval){0.95, 1.3};
    assert_int_equal(look(), 0);
    f = add_act("lost.both.pinned", "b: x", NAN, NAN);
    f->verdict = AS_REFUTED;
    other.fact = *f;
    assert_int_equal(look(), 2);
    other.fact.verdict = AS_SUPPORTED;
    assert_int_equal(look(), 1);
}

/* A claim states its value: where other runs have it beyond that, the whole range is said. */
static void test_range_of_claim(void **state)
{
    (void)state;
    char text[320];
    struct as_fact *f = add_act("cache.L3.size", "Size tiles: 64 to 128 MiB", NAN, NAN);
    f->verdict = AS_REFUTED;
    f->ci = (struct as_interval){64 << 20, 128 << 20};
    as_copy_text(f->unit, sizeof f->unit, "B");
    struct as_other_fact other = {.run = 7, .fact = *f};
    run.others = &other;
    run.others_n = 1;
    assert_int_equal(look(), 1);
    assert_string_equal(text_of(0, text), "Size tiles: 64 to 128 MiB; seen in 2 runs");
    other.fact.ci = (struct as_interval){128 << 20, 256 << 20};
    assert_int_equal(look(), 1);
    assert_string_equal(text_of(0, text), "Size tiles: 64 to 128 MiB; seen in 2 runs: 64 to 256 MiB");
}

/* Of a machine the facts of all its runs count, each once, by the weakest; the latest run is shown. */
static void test_machine(void **state)
{
    (void)state;
    struct as_other_fact others[3];
    for (size_t i = 0; i < 3; i++) {
        others[i] = (struct as_other_fact){.run = (int64_t)i + 1};
        others[i].fact =
            *add_act(i == 2 ? "tlb.cost" : "tlb.gain.thp.4096", i == 2 ? "b: x" : "a: x", 5 - (double)i, 6);
    }
    run.facts_n = 0;
    run.others = others;
    run.others_n = 3;
    run.of_machine = true;
    assert_int_equal(look(), 2);
    assert_ptr_equal(worth[0].fact, &others[0].fact);
    assert_int_equal(worth[0].seen, 2);
    assert_true(worth[0].score < log(4.1));
    assert_int_equal(worth[1].seen, 1);
}

/* A device that is slower than the others of its model: so much of their value. */
static struct as_fact *add_slow(const char *id, const char *act, double lo, double hi)
{
    struct as_fact *f = add_fact(id, sqrt(lo * hi), "x", NAN);
    f->ci = (struct as_interval){lo, hi};
    as_copy_text(f->sentence, sizeof f->sentence, "It is slow");
    as_copy_text(f->act, sizeof f->act, act);
    return f;
}

/* Faults stand apart from what a program can use, however small they are, the largest first, those of all devices. */
static void test_faults_stand_apart(void **state)
{
    (void)state;
    char text[320];
    add_act("tlb.gain.thp.4096", "a: x", 3, 4);
    struct as_fact *replays = add_fact("link.counter.pcie_replays", 2, "", NAN);
    as_copy_text(replays->act, sizeof replays->act, "Check the slot: x");
    as_copy_text(replays->device, sizeof replays->device, "cuda:1");
    add_slow("alike.read", "Check its memory: x", 0.95, 0.97);
    add_slow("alike.write", "Check its memory: x", 0.90, 0.92);
    add_slow("alike.latency", "", 1.2, 1.3);
    assert_int_equal(look(), 1);
    assert_string_equal(worth[0].fact->id, "tlb.gain.thp.4096");
    assert_int_equal(as_worth_faults(&run, worth, AS_WORTH_MAX), 2);
    assert_string_equal(worth[0].fact->id, "link.counter.pcie_replays"); /* links first */
    assert_string_equal(worth[1].fact->id, "alike.write");
    assert_string_equal(text_of(1, text), "cuda:0: It is slow. Check its memory: x; seen once");
    assert_int_equal(as_worth_faults(&run, worth, 1), 1);
}

#define PROVENANCE(kernel) "{\"host\":{\"kernel\":\"" kernel "\"},\"cpu\":{\"model\":\"X\"}}"

/* Of two that call for the same, the one that other runs show too. */
static void test_reproduced_first(void **state)
{
    (void)state;
    add_act("launch.graph-10.block", "Use a graph: x", 2, 3);
    add_act("launch.graph-100.block", "Use a graph: x", 4, 5);
    struct as_other_fact other = {.run = 7, .fact = facts[0]};
    run.others = &other;
    run.others_n = 1;
    assert_int_equal(look(), 1);
    assert_string_equal(worth[0].fact->id, "launch.graph-10.block");
}

/* Facts of another state of the machine say nothing of this one. */
static void test_other_state(void **state)
{
    (void)state;
    static char texts[][80] = {PROVENANCE("6.1"), PROVENANCE("6.1"), PROVENANCE("6.2")};
    struct as_report_run other = run;
    struct as_worth_runs runs = {0};
    add_act("tlb.gain.thp.4096", "a: x", 2, 3);
    add_fact("clock.core", 2e9, "Hz", NAN)->gain = NAN; /* bears on nothing */
    other.facts_n = run.facts_n;
    run.run.provenance = texts[0];
    for (size_t i = 1; i < 3; i++) {
        struct as_error err;
        other.run.provenance = texts[i];
        assert_int_equal(as_worth_add_run(&runs, &run.run, &other, &err), AS_OK);
        assert_int_equal(runs.n, 1);
    }
    as_worth_runs_finish(&runs);
}

/* A fault counts until a later run that measured the same does not have it. */
static void test_fault_is_gone(void **state)
{
    (void)state;
    static char text[] = PROVENANCE("6.1");
    struct as_worth_runs runs = {0};
    struct as_report_run later, earlier;
    struct as_error err;
    run.run.provenance = text;
    add_cell("bandwidth", "{\"op\":\"read\"}", 3000, "GB/s")->id = 7;
    struct as_fact *slow = add_slow("alike.read", "Check its memory: x", 0.90, 0.92);
    slow->evidence[slow->evidence_n++] = 7;
    earlier = later = run;
    later.cells_n = later.facts_n = 0; /* it measured something else */
    assert_int_equal(as_worth_add_run(&runs, &run.run, &later, &err), AS_OK);
    assert_int_equal(as_worth_add_run(&runs, &run.run, &earlier, &err), AS_OK);
    assert_int_equal(runs.n, 1);
    assert_int_equal(as_worth_add_run(&runs, &run.run, &earlier, &err), AS_OK);
    assert_int_equal(runs.n, 2);
    as_worth_runs_finish(&runs);
    later.cells_n = 1;
    assert_int_equal(as_worth_add_run(&runs, &run.run, &later, &err), AS_OK);
    assert_int_equal(as_worth_add_run(&runs, &run.run, &earlier, &err), AS_OK);
    assert_int_equal(runs.n, 0);
    as_worth_runs_finish(&runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_ranked_by_sure_effect, start),
        cmocka_unit_test_setup(test_usual_effects_fill_up, start),
        cmocka_unit_test_setup(test_unusual_sizes_are_told, start),
        cmocka_unit_test_setup(test_no_effect, start),
        cmocka_unit_test_setup(test_planted_effect_displaces, start),
        cmocka_unit_test_setup(test_claims_and_repetition, start),
        cmocka_unit_test_setup(test_range_of_claim, start),
        cmocka_unit_test_setup(test_earlier_runs, start),
        cmocka_unit_test_setup(test_denied_below_one, start),
        cmocka_unit_test_setup(test_machine, start),
        cmocka_unit_test_setup(test_reproduced_first, start),
        cmocka_unit_test_setup(test_other_state, start),
        cmocka_unit_test_setup(test_faults_stand_apart, start),
        cmocka_unit_test_setup(test_fault_is_gone, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
