/* Trials of one probe on one CPU, for tests of the judgement. */
#ifndef AS_TESTS_MODEL_SCENE_H
#define AS_TESTS_MODEL_SCENE_H

#include "model/gates.h"
#include "tests/unit_test.h"

enum { CELLS = 8, TRIALS = 3, N = 30 };

/* All cells are equal except the first, which gets the faults. */
struct scene {
    struct as_cell cells[CELLS];
    struct as_trials trials[CELLS];
    struct as_judge_device device;
    struct as_judge judge;
    struct as_judge_context context;
};
/* Learns from all cells, and judges the first. */
void scene_judge(struct scene *s);

void scene_set_up(struct scene *s);
void scene_finish(struct scene *s);

/* cmocka setup and teardown of a test whose state is a scene. */
int scene_open(void **state);
int scene_close(void **state);
#define SCENE_TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

#endif
