/* Probe sharing on toy devices whose kernels tell an address that the CPU can use, cannot, or can only read. */
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include "base/guarded.h"

#include <string.h>
#include <sys/mman.h>

extern const struct as_probe as_probe_sharing;
static const struct as_probe *const probe = &as_probe_sharing;
static const char axes[] = "allocator=toy";

enum { PAGE = 4096 };
enum way { SHARED, NOWHERE, ELSEWHERE, PROTECTED, DEAF };
static enum way way;
static uint64_t *page; /* of another memory */

static void kernel(const char *name, void *const *args)
{
    uint64_t *data = args[0], *out = args[1], value;
    memcpy(&value, args[2], sizeof value);
    if (strcmp(name, "sharing_load") == 0) {
        out[1] = way == DEAF ? value : data[0];
        return;
    }
    data[0] = value;
    out[0] = (uint64_t)(uintptr_t)(way == NOWHERE || way == ELSEWHERE || way == PROTECTED ? page : data);
    if (way == PROTECTED) {
        assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
        *page = value;
        assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
    }
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, device;
    struct as_error err = {0};
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&device, AS_CAP_SOURCE);
    assert_int_equal(toy_applies(&cpu, probe, axes, &err), AS_PRUNED);
    assert_int_equal(toy_applies(&device, probe, axes, &err), AS_APPLIES);
    strcpy(device.dev.info.dialect, "metal");
    assert_int_equal(toy_applies(&device, probe, axes, &err), AS_PRUNED);
}

/* Each way has its answer, nothing crashes, and what lies elsewhere is not changed. */
UNIT_TEST(test_answers)
{
    static const int protection[] = {[SHARED] = PROT_READ,
                                     [NOWHERE] = PROT_NONE,
                                     [ELSEWHERE] = PROT_READ | PROT_WRITE,
                                     [PROTECTED] = PROT_READ,
                                     [DEAF] = PROT_READ};
    static const double answer[] = {[SHARED] = 1, [NOWHERE] = 2, [ELSEWHERE] = 3, [PROTECTED] = 4, [DEAF] = 5};
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    for (way = SHARED; way <= DEAF; way++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s;
        struct as_error err = {0};
        char why[160];
        assert_int_equal(mprotect(page, PAGE, protection[way]), 0);
        toy_init(&t, AS_CAP_SOURCE);
        t.kernel = kernel;
        toy_prepare(&t, probe, axes, &v, NULL);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(probe->sample(v.state, 1, &s, &err), AS_OK);
            assert_true(s.value == answer[way]);
            assert_true(probe->check(v.state, why, sizeof why));
        }
        toy_finish(probe, &v);
        assert_int_equal(t.live, 0);
        assert_true(way != ELSEWHERE || *page == 0);
    }
    munmap(page, PAGE);
}

/* The driver's copy decides whether the value arrived at all. */
UNIT_TEST(test_lost_stores)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s;
    struct as_error err = {0};
    char why[160];
    toy_init(&t, AS_CAP_SOURCE);
    t.kernel = kernel;
    way = SHARED;
    toy_prepare(&t, probe, axes, &v, NULL);
    assert_int_equal(probe->sample(v.state, 1, &s, &err), AS_OK);
    t.forget = true;
    assert_false(probe->check(v.state, why, sizeof why));
    assert_non_null(strstr(why, "does not hold the value"));
    toy_finish(probe, &v);
}

UNIT_TEST(test_guarded)
{
    uint64_t here = 42, got = 0;
    void *nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(nowhere != MAP_FAILED);
    assert_true(as_read_guarded(&here, &got, sizeof got));
    assert_int_equal(got, 42);
    assert_true(as_write_guarded(&here, &(uint64_t){7}, sizeof here));
    assert_int_equal(here, 7);
    assert_false(as_read_guarded(nowhere, &got, sizeof got));
    assert_false(as_read_guarded(NULL, &got, sizeof got));
    assert_false(as_write_guarded(nowhere, &got, sizeof got));
    assert_false(as_write_guarded(NULL, &got, sizeof got));
    munmap(nowhere, PAGE);
}

UNIT_TEST(test_no_memory)
{
    toy_check_no_memory(probe, AS_CAP_SOURCE, axes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_cells), cmocka_unit_test(test_answers),
                                       cmocka_unit_test(test_lost_stores), cmocka_unit_test(test_guarded),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
