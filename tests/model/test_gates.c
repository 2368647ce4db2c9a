/* Each gate must detect its planted fault, and no other. */
#include "tests/model/scene.h"

#include "device/device.h"
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A value within the interval's uncertainty is not impossible. */
static void test_interval_that_reaches_the_bound(void **state)
{
    struct scene *s = *state;
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] *= t == 0 ? 1 : t == 1 ? 1.5 : 1.3;
    scene_judge(s);
    assert_true(s->cells[0].sum.median > 25 * 1.02);
    assert_int_equal(s->cells[0].gates[AS_GATE_LIMIT].state, AS_GATE_PASS);
    assert_int_equal(s->cells[0].status, AS_CELL_WIDE);
}

/* The bound of one trial, whose clock others disturbed, is not held against what all trials measured. */
static void test_bound_of_a_disturbed_clock(void **state)
{
    static const double loose[] = {25, 19}, strict[] = {0.2, 2500}; /* of a rate, of a time */
    struct scene *s = *state;
    for (int time = 0; time < 2; time++)
        for (int disturbed = 0; disturbed < TRIALS; disturbed++) {
            scene_finish(s);
            scene_set_up(s);
            s->cells[0].lower_is_better = time;
            for (int t = 0; t < TRIALS; t++)
                s->trials[0].v[t].limit = t == disturbed ? strict[time] : loose[time];
            scene_judge(s);
            assert_int_equal(s->cells[0].gates[AS_GATE_LIMIT].state, AS_GATE_PASS);
            assert_true(s->cells[0].limit == loose[time]);
        }
}

static void plant_wrong_result(struct scene *s)
{
    s->trials[0].v[1].checksum = AS_GATE_FAIL;
}

static void plant_missing_instructions(struct scene *s)
{
    s->trials[0].v[2].code = AS_GATE_FAIL;
}

static void plant_impossible_rate(struct scene *s)
{
    for (int t = 0; t < TRIALS; t++)
        for (int i = 0; i < N; i++)
            s->trials[0].v[t].samples[i] *= 50;
}

/* No access can be faster than the limit. */
static void plant_impossible_time(struct scene *s)
{
    s->cells[0].lower_is_better = 1;
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].limit = 22;
}

static void plant_cache_that_claims_memory(struct scene *s)
{
    for (int t = 0; t < TRIALS; t++)
        s->trials[0].v[t].footprint = 64 << 20;
}

static void test_gates(void **state)
{
    static const struct {
        void (*plant)(struct scene *s);
        enum as_gate gate;
    } rows[] = {{plant_wrong_result, AS_GATE_CHECKSUM},
                {plant_missing_instructions, AS_GATE_CODE},
                {plant_impossible_rate, AS_GATE_LIMIT},
                {plant_impossible_time, AS_GATE_LIMIT},
                {plant_cache_that_claims_memory, AS_GATE_FOOTPRINT}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct scene *s = *state;
        const char *name = as_gate_name(rows[r].gate);
        scene_finish(s);
        scene_set_up(s);
        rows[r].plant(s);
        scene_judge(s);
        assert_int_equal(s->cells[0].status, AS_CELL_REJECTED);
        for (int g = 0; g < AS_GATE_N; g++)
            if ((s->cells[0].gates[g].state == AS_GATE_FAIL) != (g == (int)rows[r].gate))
                fail_msg("row %zu, gate %s: %s (%s)", r, as_gate_name((enum as_gate)g),
                         as_gate_state_word(s->cells[0].gates[g].state), s->cells[0].gates[g].text);
        assert_int_equal(strncmp(s->cells[0].reason, name, strlen(name)), 0);
    }
}

/* An APU whose L2 of 4 MiB has a cache of 256 MiB behind it. */
static struct as_device_info an_apu(void)
{
    return (struct as_device_info){
        .is_host_memory = true,
        .host_cache = 96 << 20,
        .caches_n = 2,
        .caches = {{.level = 2, .kind = 'u', .size = 4 << 20},
                   {.level = 3, .kind = 'u', .size = 256 << 20, .memory_side = true, .name = "Infinity Cache"}}};
}

static void test_cache_behind_the_last(void **state)
{
    static const struct {
        uint64_t mib;
        enum as_gate_state want;
    } cases[] = {{18, AS_GATE_FAIL}, {512, AS_GATE_FAIL}, {1024, AS_GATE_PASS}};
    const struct as_device_info info = an_apu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = *state;
        scene_finish(s);
        scene_set_up(s);
        s->context = (struct as_judge_context){.largest_cache = as_info_largest_cache(&info, NULL, 1),
                                               .memory_least = as_info_memory_least(&info, NULL, 1),
                                               .largest_cache_name = as_info_largest_cache_name(&info, NULL, 1)};
        for (int t = 0; t < TRIALS; t++)
            s->trials[0].v[t].footprint = cases[i].mib << 20;
        scene_judge(s);
        assert_int_equal(s->cells[0].gates[AS_GATE_FOOTPRINT].state, cases[i].want);
        assert_int_equal(s->cells[0].status == AS_CELL_REJECTED, cases[i].want == AS_GATE_FAIL);
        assert_non_null(strstr(s->cells[0].gates[AS_GATE_FOOTPRINT].text, "times the Infinity Cache of 256 MiB"));
    }
}

/* A probe's expectation, on a device that counts instructions and on one that does not. */
static enum as_status count_some(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                                 struct as_error *err)
{
    (void)dev, (void)kernel;
    *n = strcmp(operation, "load.global") == 0 ? 64 : 0;
    return strcmp(operation, "nonsense") ? AS_OK : as_fail(err, AS_USAGE, "no such operation");
}

static void test_expectations(void **state)
{
    (void)state;
    static const struct as_program_ops programs = {.count = count_some};
    struct as_device dev = {.program = &programs};
    struct as_trial_context tc = {.dev = &dev};
    as_expect_code(&tc, NULL, "load.global", 1);
    assert_int_equal(tc.code, AS_GATE_NA);
    assert_string_equal(tc.code_text, "this backend does not give the machine code to count in");
    assert_int_equal(tc.detail.len, 0);
    dev.info.capabilities = AS_CAP_CODE;
    as_expect_code(&tc, NULL, "nonsense", 1);
    assert_int_equal(tc.code, AS_GATE_NA);
    as_expect_code(&tc, NULL, "load.global", 64);
    assert_int_equal(tc.code, AS_GATE_PASS);
    as_expect_code(&tc, NULL, "store.global", 0);
    assert_int_equal(tc.code, AS_GATE_PASS);
    assert_non_null(strstr(tc.code_text, "; 0 store.global"));
    as_expect_code(&tc, NULL, "fma.f64", 1);
    assert_int_equal(tc.code, AS_GATE_FAIL);
    as_expect_code(&tc, NULL, "load.global", 1); /* the worst counts */
    assert_int_equal(tc.code, AS_GATE_FAIL);
    assert_string_equal(tc.code_text, "0 fma.f64 in the machine code, at least 1 wanted");
    assert_non_null(strstr(as_buf_get(&tc.detail), "\"code_load_global\":64"));
    as_buf_finish(&tc.detail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_TEST(test_interval_that_reaches_the_bound),
        SCENE_TEST(test_bound_of_a_disturbed_clock),
        SCENE_TEST(test_gates),
        SCENE_TEST(test_cache_behind_the_last),
        cmocka_unit_test(test_expectations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
