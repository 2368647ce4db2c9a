/* Where the host's part of a sample is done: the thread goes where nobody is, by what scripted yardsticks say. */
#include "core/host_core.h"

#include "scripted_clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static double script[64]; /* readings; the last one goes on */
static size_t script_n, asked;
static double takes_s; /* each of them */

static double scripted(void)
{
    size_t at = asked++;
    clock_pass(takes_s);
    return script[at < script_n ? at : script_n - 1];
}

static void say(size_t n, const double *readings)
{
    for (size_t i = 0; i < n; i++)
        script[i] = readings[i];
    script_n = n;
    asked = 0;
}
#define SAY(...) say(sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static cpu_set_t may_use(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

/* One that has asked some cores and found 100 ns. */
static struct as_host_core begun(int cpu)
{
    struct as_host_core c;
    clock_script(0); /* however busy this machine is, no CPU is long in coming */
    as_host_core_init(&c);
    c.read = scripted;
    SAY(100);
    as_host_core_begin(&c, "", cpu);
    (void)as_host_core_look(&c); /* where one is named, none was asked */
    c.last_at = -INFINITY;
    asked = 0;
    return c;
}

static bool can_move(const struct as_host_core *c)
{
    return CPU_COUNT(&c->among) > 1;
}

static void test_stays_where_nobody_is(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    SAY(100, 111, 104);
    for (int i = 0; i < 3; i++)
        assert_false(as_host_core_is_shared(&c, as_host_core_look(&c)));
    assert_true(as_host_core_seek(&c) <= 111); /* what was read just now, or once more */
    assert_int_equal(c.moves, 0);
}

static void test_goes_where_nobody_is(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    const cpu_set_t before = may_use();
    (void)unused;
    SAY(150, 101);
    double ns = as_host_core_seek(&c);
    assert_true(fabs(ns - (can_move(&c) ? 101 : 150)) < 1e-9);
    assert_int_equal(c.moves, can_move(&c) ? 1 : 0);
    assert_int_equal(asked, can_move(&c) ? 2 : 1);
    const cpu_set_t after = may_use();
    assert_true(CPU_EQUAL(&before, &after));
}

static void test_everybody_is_everywhere(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    SAY(160, 150);
    double ns = as_host_core_seek(&c);
    assert_true(as_host_core_is_shared(&c, ns));
    assert_true(ns <= 160); /* with the least company there is */
    size_t once = asked;
    c.last_at = -INFINITY;
    c.in_vain_at = INFINITY; /* just now */
    assert_true(as_host_core_is_shared(&c, as_host_core_seek(&c)));
    assert_int_equal(asked, once + 1); /* not all over again before each sample */
}

/* Nothing is sought on another CPU where one was named, nor outside of those near the device. */
static void test_stays_where_it_must(void **unused)
{
    cpu_set_t set = may_use();
    int first = 0;
    char list[16];
    (void)unused;
    while (!CPU_ISSET((size_t)first, &set))
        first++;
    struct as_host_core c = begun(first);
    SAY(150, 100);
    assert_true(as_host_core_seek(&c) > 149);
    assert_int_equal(asked, 1);
    assert_int_equal(c.moves, 0);
    snprintf(list, sizeof list, "%d", first);
    SAY(100);
    as_host_core_begin(&c, list, AS_CPU_ANY);
    SAY(150, 100);
    assert_true(as_host_core_seek(&c) > 149);
    SAY(100);
    as_host_core_begin(&c, "no list", AS_CPU_ANY);
    assert_int_equal(asked, 0);
    (void)as_host_core_look(&c);
    c.last_at = -INFINITY;
    SAY(150, 100);
    assert_true(as_host_core_seek(&c) > 149);
    assert_int_equal(asked, 1);
    const cpu_set_t after = may_use();
    assert_true(CPU_EQUAL(&set, &after));
}

/* The least that any core took in this visit is the measure, also when it comes later. */
static void test_measure(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    assert_false(as_host_core_is_shared(&c, 111));
    assert_true(as_host_core_is_shared(&c, 113));
    SAY(80);
    (void)as_host_core_look(&c);
    assert_true(as_host_core_is_shared(&c, 100));
    SAY(130); /* the clock is another one in the next visit */
    as_host_core_begin(&c, "", AS_CPU_ANY);
    assert_false(as_host_core_is_shared(&c, 130));
}

/* A core that somebody shares is left for one that nobody does, and not for one that is shared hardly less. */
static void test_small_steps_are_no_reason(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    SAY(118, 114);
    assert_true(as_host_core_seek(&c) > 113);
    assert_int_equal(c.moves, 0);
    c = begun(AS_CPU_ANY);
    SAY(115, 103);
    assert_true(fabs(as_host_core_seek(&c) - (can_move(&c) ? 103 : 115)) < 1e-9);
    assert_int_equal(c.moves, can_move(&c) ? 1 : 0);
}

/* Where a device is near some CPUs only, the thread goes there, however well it would do where it is; and it may run
 * where it might before once the visit is over, also where somebody had sent it away from there. */
static void test_goes_near_the_device(void **unused)
{
    cpu_set_t set = may_use(), one;
    const int here = sched_getcpu();
    int other = -1;
    char list[16];
    (void)unused;
    for (int cpu = 0; cpu < CPU_SETSIZE && other < 0; cpu++)
        other = cpu != here && CPU_ISSET((size_t)cpu, &set) ? cpu : -1;
    if (other < 0)
        return;
    struct as_host_core c = begun(AS_CPU_ANY);
    CPU_ZERO(&one);
    CPU_SET((size_t)here, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    snprintf(list, sizeof list, "%d", other);
    SAY(100, 200);
    as_host_core_begin(&c, list, AS_CPU_ANY);
    assert_true(fabs(c.last - 200) < 1e-9);
    cpu_set_t now = may_use();
    assert_true(CPU_EQUAL(&now, &set));
    as_host_core_end(&c);
    now = may_use();
    assert_true(CPU_EQUAL(&now, &one));
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

/* A visit begins where nobody is, as some cores tell that were asked; none is where one was named. */
static void test_begins_where_nobody_is(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    const int others = CPU_COUNT(&c.among) - 1;
    SAY(150);
    as_host_core_begin(&c, "", 0);
    assert_int_equal(asked, 0);
    SAY(150, 150, 100);
    as_host_core_begin(&c, "", AS_CPU_ANY);
    assert_int_equal(asked, 1 + (others < 4 ? others : 4));
    assert_int_equal(c.moves, 0);
    assert_true(c.least < (others < 2 ? 151 : 101));
    assert_true(c.last <= c.least * 1.12);
    CPU_SET(CPU_SETSIZE - 1, &c.among); /* one that is not there */
    SAY(200);
    assert_true(as_host_core_seek(&c) > 199);
}

/* Onto a CPU that another thread of this system uses it takes long to come. */
static void test_queue_is_no_free_core(void **unused)
{
    struct as_host_core c = begun(AS_CPU_ANY);
    (void)unused;
    takes_s = 1;
    SAY(150, 100);
    assert_true(as_host_core_seek(&c) > 149);
    assert_int_equal(c.moves, 0);
    takes_s = 0;
}

/* The real yardstick, on this machine: a number, and the thread may run where it might before. */
static void test_real(void **unused)
{
    struct as_host_core c;
    const cpu_set_t before = may_use();
    (void)unused;
    clock_real();
    as_host_core_init(&c);
    as_host_core_begin(&c, "", AS_CPU_ANY);
    for (int i = 0; i < 20; i++) {
        double ns = as_host_core_seek(&c);
        assert_true(ns > 0 && isfinite(ns) && c.least <= ns);
    }
    const cpu_set_t after = may_use();
    assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stays_where_nobody_is),
                                       cmocka_unit_test(test_goes_where_nobody_is),
                                       cmocka_unit_test(test_everybody_is_everywhere),
                                       cmocka_unit_test(test_stays_where_it_must),
                                       cmocka_unit_test(test_measure),
                                       cmocka_unit_test(test_small_steps_are_no_reason),
                                       cmocka_unit_test(test_goes_near_the_device),
                                       cmocka_unit_test(test_queue_is_no_free_core),
                                       cmocka_unit_test(test_begins_where_nobody_is),
                                       cmocka_unit_test(test_real)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
