/* How many samples a visit takes: on a toy whose launches are said to take as long as the test wants. */
#include "core/measure.h"
#include "toy_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct toy toy;
static double launch_s, scatter; /* what a launch takes, and by which part of it every third one more */
static unsigned launches;

/* A card that writes, by the arguments of the kernels of 'bandwidth'. */
static void card(const char *name, void *const *args)
{
    bool fills = strcmp(name, "fill") == 0;
    double *memory = args[fills ? 0 : 1];
    uint64_t n;
    memcpy(&n, args[2], sizeof n);
    for (uint64_t i = 0; i < n; i++)
        if (fills)
            memory[i] = 0.5;
        else
            memcpy(&memory[i], args[4], sizeof *memory);
    toy.launch_s = launch_s * (1 + (launches++ % 3 == 0 ? scatter : 0));
}

static struct as_visit visit(bool alone)
{
    struct as_sensing none = {.read_s = NAN};
    struct as_visit v;
    struct as_error err = {0};
    struct as_visit_order order = {
        .probe = "bandwidth", .seed = 3, .precision = 0.05, .alone = alone, .share_s = INFINITY};
    toy_axes(&order.axes, "op=write level=memory size=65536 threads=0 store=regular width=best allocator=toy "
                          "touch=device way=best");
    toy_init_sm90(&toy, card);
    toy.dev.info.capabilities |= AS_CAP_FP64;
    toy.dev.info.is_host_memory = false;
    toy.free_bytes = UINT64_C(1) << 30;
    toy.launch_s = launch_s;
    if (as_measure_visit(&toy.dev, &none, &order, &v, &err))
        fail_msg("%s", err.text);
    if (v.status != AS_CELL_OK)
        fail_msg("%s", v.reason);
    assert_int_equal(toy.live, 0);
    return v;
}

static size_t samples(bool alone)
{
    struct as_visit v = visit(alone);
    size_t n = v.n + v.warmup;
    as_visit_finish(&v);
    return n;
}

/* Long ones that agree need no more; short ones, such that differ, and a visit that is alone do. */
static void test_how_many(void **unused)
{
    (void)unused;
    launch_s = 1e-2;
    scatter = 1e-3;
    assert_int_equal(samples(false), AS_SAMPLES_MIN);
    assert_int_equal(samples(true), AS_SAMPLES_ALONE);
    scatter = 1e-2;
    assert_int_equal(samples(false), AS_SAMPLES_ALONE);
    scatter = 1e-3;
    launch_s = 1e-3;
    assert_int_equal(samples(false), AS_SAMPLES_ALONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_how_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
