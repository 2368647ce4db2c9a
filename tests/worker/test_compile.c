/* Precompilation on a stand-in for NVRTC: cells of all families of probes compile without crashing, although there is
 * neither memory nor a device. */
#include "base/text.h"
#include "device/device.h"
#include "plan/plan.h"
#include "tests/unit_test.h"
#include "worker/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void compile_suite(struct as_device *compiler, const char *name)
{
    struct as_suite suite;
    struct as_plan plan = {0};
    struct as_error err = {0};
    if (as_suite_find(name, &suite, &err) || as_plan_add(&plan, &suite, &compiler->info, NULL, 0, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < plan.n; i++) {
        const struct as_cell *cell = &plan.cells[i];
        struct as_trial_order order = {.axes = cell->axes, .seed = 1, .precision = 0.1};
        as_copy_text(order.probe, sizeof order.probe, cell->probe);
        if (cell->status == AS_CELL_PLANNED && !as_probe_find(cell->probe)->not_ahead)
            as_measure_compile(compiler, &order);
    }
    as_plan_finish(&plan);
    as_suite_finish(&suite);
}

static size_t lines_of(const char *path)
{
    struct as_buf text = AS_BUF_INIT;
    size_t n = 0;
    assert_int_equal(as_buf_read_file(&text, path, 1 << 20, NULL), AS_OK);
    for (const char *at = as_buf_get(&text); (at = strchr(at, '\n')); at++)
        n++;
    as_buf_finish(&text);
    return n;
}

UNIT_TEST(suites_compile)
{
    static const char *const suites[] = {"quick", "full", "link", "upm", "residual", "calibrate"};
    char log[] = "/tmp/assay-compiled-XXXXXX";
    struct as_opened opened;
    struct as_device compiler = {0};
    struct as_error err = {0};
    const int fd = mkstemp(log);
    assert_true(fd >= 0 && !setenv("FAKE_NVRTC_LOG", log, 1));
    close(fd);
    if (as_device_open("cuda:0", &opened, &err) || opened.backend->open_compiler(&opened.device.info, &compiler, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        const size_t before = lines_of(log);
        compile_suite(&compiler, suites[i]);
        assert_true(lines_of(log) > before);
    }
    compiler.device->close(&compiler);
    as_device_close(&opened);
    unlink(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(suites_compile)};
    return cmocka_run_group_tests_name("worker: compiling ahead", tests, NULL, NULL);
}
