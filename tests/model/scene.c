#include "tests/model/scene.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

static double *filled(size_t n, double value)
{
    double *x = calloc(n, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

static void add_trial(struct scene *s, size_t cell, int number, struct as_rng *rng)
{
    struct as_error err = {0};
    struct as_trial v = {.number = number,
                         .n = N,
                         .samples = filled(N, 20),
                         .core_hz = filled(N, 4e9),
                         .weight = filled(N, 1),
                         .clock_hz = 4e9,
                         .limit = 25,
                         .limit_why = "a bus",
                         .checksum = AS_GATE_PASS,
                         .status = AS_CELL_OK,
                         .footprint = 256 << 20,
                         .claims_memory = 1,
                         .duration_s = 0.1};
    const double trial = 1 + 0.002 * as_rng_normal(rng);
    for (int i = 0; i < N; i++)
        v.samples[i] *= trial * (1 + 0.004 * as_rng_normal(rng));
    assert_int_equal(as_trials_add(&s->trials[cell], &v, &err), AS_OK);
}

void scene_set_up(struct scene *s)
{
    struct as_rng rng;
    as_rng_seed(&rng, 7);
    *s = (struct scene){.device = {.id = "cpu", .is_cpu = true, .core_cache = 1 << 20, .memory_least = 32 << 20},
                        .context = {.largest_cache = 32 << 20, .memory_least = 128 << 20}};
    s->judge = (struct as_judge){.trials_asked = TRIALS, .reference_hz = NAN};
    for (size_t c = 0; c < CELLS; c++) {
        s->cells[c] = (struct as_cell){.device = "cpu", .probe = "bandwidth", .unit = "GB/s", .precision = 0.03};
        for (int t = 0; t < TRIALS; t++)
            add_trial(s, c, t, &rng);
    }
}

void scene_judge(struct scene *s)
{
    struct as_error err = {0};
    s->judge.devices = &s->device;
    s->judge.devices_n = 1;
    assert_int_equal(as_judge_learn(&s->judge, s->cells, s->trials, CELLS, &err), AS_OK);
    assert_int_equal(as_judge_cell(&s->judge, &s->cells[0], &s->trials[0], &s->context, &err), AS_OK);
}

void scene_finish(struct scene *s)
{
    for (size_t c = 0; c < CELLS; c++) {
        as_trials_finish(&s->trials[c]);
        as_cell_finish(&s->cells[c]);
    }
    as_judge_finish(&s->judge);
}

int scene_open(void **state)
{
    struct scene *s = malloc(sizeof *s);
    *state = s;
    if (s)
        scene_set_up(s);
    return s == NULL;
}

int scene_close(void **state)
{
    scene_finish(*state);
    free(*state);
    return 0;
}
