/* Probe page_events: which cells apply, a pass is checked, events are counted in all threads; then on this machine's
 * CPU and on OpenCL where available. */
#include "base/host.h"
#include "lib/pages/events.h"
#include "lib/pages/pages.h"
#include "tests/probes/real_device.h"
#include "tests/probes/toy_device.h"
#include "tests/unit_test.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const struct as_probe as_probe_page_events;

enum { PAGES = 300 };

/* Replaces "stride=page" by the number, as the plan does. */
static const char *numbered(const char *axes)
{
    static char out[160];
    const char *word = strstr(axes, "=page ");
    if (!word)
        return axes;
    snprintf(out, sizeof out, "%.*s=%llu %s", (int)(word - axes), axes, (unsigned long long)as_host_page(), word + 6);
    return out;
}

static void is(const struct toy *t, const char *axes, enum as_applies want, const char *why)
{
    struct as_error err = {0};
    assert_int_equal(toy_applies(t, &as_probe_page_events, numbered(axes), &err), want);
    if (why && !strstr(err.text, why))
        fail_msg("%s: '%s' is not in: %s", axes, why, err.text);
}

UNIT_TEST(test_which_cells)
{
    struct toy cpu, gpu;
    const char *why = as_events_why_not(AS_EVENT_TLB_MISSES);
    const enum as_applies counts = why[0] ? AS_INAPPLICABLE : AS_APPLIES;
    toy_init(&cpu, AS_CAP_HOST_KERNELS);
    toy_init(&gpu, AS_CAP_SOURCE);
    cpu.dev.info.allocators[0].host_access = gpu.dev.info.allocators[0].host_access = true;
    is(&cpu, "what=misses pages=64 stride=page allocator=toy touch=cpu", counts, why);
    is(&cpu, "what=misses pages=64 stride=page allocator=toy touch=device", AS_PRUNED, NULL);
    is(&cpu, "what=misses pages=64 stride=12288 allocator=toy touch=cpu", AS_INAPPLICABLE,
       why[0] ? why : "power of two");
    is(&gpu, "what=misses pages=64 stride=page allocator=toy touch=cpu", counts, why);
    is(&gpu, "what=misses pages=64 stride=page allocator=toy touch=device", counts, why);
    is(&cpu, "what=triads pages=64 stride=page allocator=toy touch=cpu", AS_APPLIES, NULL);
    is(&cpu, "what=triads pages=64 stride=page allocator=toy touch=device", AS_PRUNED, NULL);
    is(&gpu, "what=triads pages=64 stride=page allocator=toy touch=device", AS_APPLIES, NULL);
    is(&cpu, "what=faults pages=64 stride=page allocator=toy touch=cpu", AS_APPLIES, NULL);
    is(&cpu, "what=faults pages=64 stride=page allocator=toy touch=device", AS_PRUNED, NULL);
    is(&cpu, "what=faults pages=64 stride=131072 allocator=toy touch=cpu", AS_PRUNED, NULL);
    is(&cpu, "what=faults pages=1000000 stride=page allocator=toy touch=cpu", AS_INAPPLICABLE,
       "half of the free 1 GiB");
    is(&gpu, "what=faults pages=64 stride=page allocator=toy touch=device", AS_APPLIES, NULL);
    gpu.dev.info.allocators[0].host_access = false;
    is(&gpu, "what=faults pages=64 stride=page allocator=toy touch=device", AS_INAPPLICABLE, "cannot access");
    is(&gpu, "what=triads pages=64 stride=page allocator=toy touch=device", AS_INAPPLICABLE, "cannot access");
    is(&gpu, "what=misses pages=64 stride=page allocator=toy touch=cpu", AS_INAPPLICABLE, "vendor's profiler");
}

UNIT_TEST(test_lost_pass_is_seen)
{
    static const char axes[] = "what=faults pages=64 stride=page allocator=toy touch=cpu";
    for (int lose = 0; lose < 2; lose++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        char why[160] = "";
        toy_init(&t, AS_CAP_HOST_KERNELS);
        toy_prepare(&t, &as_probe_page_events, numbered(axes), &v, NULL);
        t.lose_launches = lose;
        assert_int_equal(as_probe_page_events.sample(v.state, 1, &s, NULL), AS_OK);
        assert_true(s.value >= 0);
        assert_int_equal(as_probe_page_events.check(v.state, why, sizeof why), lose == 0);
        toy_finish(&as_probe_page_events, &v);
        assert_int_equal(t.live, 0);
    }
}

/* ---- minor and major faults ---- */

/* Replaces the system's: a driver counts pages that it fetches from a device as major faults. */
static long planted_minor, planted_major;
static bool planted;
int getrusage(__rusage_who_t who, struct rusage *usage)
{
    static long minor, major;
    if (!planted)
        return (int)syscall(SYS_getrusage, who, usage);
    memset(usage, 0, sizeof *usage);
    usage->ru_minflt = minor += planted_minor;
    usage->ru_majflt = major += planted_major;
    return 0;
}

UNIT_TEST(test_major_faults_count)
{
    static const long cases[][2] = {{0, 192}, {300, 0}, {5, 7}, {0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct toy t;
        struct toy_trial v;
        struct as_sample s = {0};
        char why[160] = "", want[96];
        toy_init(&t, AS_CAP_HOST_KERNELS);
        toy_prepare(&t, &as_probe_page_events, numbered("what=faults pages=64 stride=page allocator=toy touch=cpu"), &v,
                    NULL);
        planted = true;
        planted_minor = cases[i][0];
        planted_major = cases[i][1];
        assert_int_equal(as_probe_page_events.sample(v.state, 1, &s, NULL), AS_OK);
        planted = false;
        assert_true(s.value == (double)(cases[i][0] + cases[i][1]));
        assert_true(as_probe_page_events.check(v.state, why, sizeof why));
        snprintf(want, sizeof want, "\"minor_faults\":%ld,\"major_faults\":%ld,\"read_time\":", cases[i][0],
                 cases[i][1]);
        if (!strstr(as_buf_get(&v.tc.detail), want))
            fail_msg("'%s' is not in: %s", want, as_buf_get(&v.tc.detail));
        toy_finish(&as_probe_page_events, &v);
    }
}

/* A CPU beside the device runs ten triads in its memory: all faults from the first touch on count. */
UNIT_TEST(test_triads)
{
    struct toy t;
    struct toy_trial v;
    struct as_sample s = {0};
    char why[160] = "";
    toy_init(&t, AS_CAP_SOURCE);
    t.dev.info.allocators[0].host_access = true;
    toy_prepare(&t, &as_probe_page_events, numbered("what=triads pages=96 stride=page allocator=toy touch=cpu"), &v,
                NULL);
    planted = true;
    planted_minor = 96;
    planted_major = 4;
    assert_int_equal(as_probe_page_events.sample(v.state, 1, &s, NULL), AS_OK);
    planted = false;
    assert_true(s.value >= 100); /* the CPU's backend reads the counts too, and a sanitizer's threads fault */
    if (!as_probe_page_events.check(v.state, why, sizeof why))
        fail_msg("%s", why);
    toy_finish(&as_probe_page_events, &v);
    assert_int_equal(t.live, 0);
}

/* ---- counting ---- */

static pthread_barrier_t ready, counted;

static void *touch_all(void *memory)
{
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&counted);
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)((char *)memory + i * as_host_page()) = 1;
    return NULL;
}

/* In a thread started earlier, since kernels run on such threads. */
UNIT_TEST(test_events_of_all_threads)
{
    struct as_events e;
    struct as_error err = {0};
    pthread_t thread;
    uint64_t before = 0, after = 0;
    const size_t bytes = PAGES * as_host_page();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(madvise(memory, bytes, MADV_NOHUGEPAGE), 0);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_barrier_init(&counted, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, touch_all, memory), 0);
    pthread_barrier_wait(&ready);
    enum as_status st = as_events_open(&e, AS_EVENT_MINOR_FAULTS, &err);
    bool open = !st;
    if (open)
        st = as_events_read(&e, &before, &err);
    pthread_barrier_wait(&counted);
    pthread_join(thread, NULL);
    if (!st)
        st = as_events_read(&e, &after, &err);
    munmap(memory, bytes);
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&counted);
    if (open)
        as_events_close(&e);
    if (st) {
        assert_int_equal(st, AS_UNSUPPORTED);
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_true(after - before >= PAGES && after - before < 2 * PAGES);
}

/* ---- this machine ---- */

/* Events of a sample; -1 if the cell is unsupported. */
static double real(const char *device, const char *axes)
{
    struct real r;
    return real_trial(&as_probe_page_events, device, numbered(axes), 1, 1, &r) ? r.sample.value : -1;
}

UNIT_TEST(test_faults)
{
    double base = real("cpu", "what=faults pages=16384 stride=page allocator=mmap touch=cpu");
    double huge = real("cpu", "what=faults pages=16384 stride=page allocator=thp touch=cpu");
    assert_true(base > 0 && base < 2 * 16384);
    assert_true(huge < 0 || huge <= base + 64);
    double triads = real("cpu", "what=triads pages=4096 stride=page allocator=mmap touch=cpu");
    assert_true(triads < 0 || triads > 0.9 * 4096);
    real_or_skip();
}

UNIT_TEST(test_faults_of_opencl)
{
    for (int device = 0; device < 2; device++) {
        char axes[128];
        snprintf(axes, sizeof axes, "what=faults pages=16384 stride=page allocator=clCreateBuffer touch=%s",
                 device ? "device" : "cpu");
        double faults = real("opencl:0", axes);
        assert_true(faults < 2 * 16384);
    }
    real_or_skip();
}

UNIT_TEST(test_misses)
{
    double few = real("cpu", "what=misses pages=16 stride=page allocator=mmap touch=cpu");
    double many = real("cpu", "what=misses pages=65536 stride=page allocator=mmap touch=cpu");
    assert_true(few < 0 || many < 0 || many > few);
    real_or_skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_cells),           cmocka_unit_test(test_lost_pass_is_seen),
        cmocka_unit_test(test_major_faults_count),    cmocka_unit_test(test_triads),
        cmocka_unit_test(test_events_of_all_threads), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_faults_of_opencl),      cmocka_unit_test(test_misses),
    };
    real_leave_untouched();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
