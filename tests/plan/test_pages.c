/* Pages in plans: strides are base pages of the memory, whatever their size. Run on the host's page size and, by
 * tests/pages, on larger ones. */
#include "base/host.h"
#include "base/text.h"
#include "lib/pages/events.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <stdio.h>
#include <string.h>

enum { KIB = 1024, STRIDES_MAX = 8 };

static struct as_device_info device(const char *id, unsigned capabilities, const enum as_role *roles, size_t roles_n)
{
    struct as_device_info i = {.capabilities = capabilities,
                               .threads = 8,
                               .compute_units = 8,
                               .warp = 32,
                               .memory_bytes = UINT64_C(64) << 40,
                               .memory_free = UINT64_C(64) << 40,
                               .caches_n = 2,
                               .allocators_n = roles_n};
    i.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 32 * KIB, .line = 64};
    i.caches[1] = (struct as_cache){.level = 2, .kind = 'u', .size = 8 * KIB * KIB, .line = 64};
    as_copy_text(i.id, sizeof i.id, id);
    as_copy_text(i.backend, sizeof i.backend, id);
    for (size_t k = 0; k < roles_n; k++) {
        i.allocators[k] = (struct as_allocator){.role = roles[k], .host_access = true};
        as_copy_text(i.allocators[k].name, sizeof i.allocators[k].name, as_role_word(roles[k]));
    }
    return i;
}

static struct as_device_info cpu(uint64_t page)
{
    static const enum as_role roles[] = {AS_ROLE_PAGEABLE, AS_ROLE_BASE_PAGES, AS_ROLE_HUGE_PAGES};
    struct as_device_info i = device("cpu", AS_CAP_HOST_KERNELS, roles, 3);
    i.page_size = page;
    i.huge_page = page / 8 * page; /* as many as a page holds entries of 8 bytes */
    i.is_host_memory = true;
    return i;
}

/* page_size: the allocation unit that GPU drivers report. */
static struct as_device_info gpu(bool is_host_memory)
{
    static const enum as_role roles[] = {AS_ROLE_DEVICE, AS_ROLE_PINNED};
    struct as_device_info i = device("gpu", AS_CAP_SOURCE | AS_CAP_ASYNC, roles, 2);
    i.page_size = 2048 * KIB;
    i.is_host_memory = is_host_memory;
    return i;
}

/* The distinct strides of the cells with these words, in the order of the plan: "0 4096 65536". */
static const char *strides(const char *suite_text, const struct as_device_info *info, const char *axis,
                           const char *value)
{
    static char out[256];
    double seen[STRIDES_MAX];
    size_t n = 0;
    struct as_suite suite;
    struct as_plan plan = {0};
    struct as_error err = {0};
    if (as_suite_parse("planned", suite_text, &suite, &err) || as_plan_add(&plan, &suite, info, NULL, 0, &err))
        fail_msg("%s", err.text);
    out[0] = 0;
    for (size_t c = 0; c < plan.n; c++) {
        const struct as_cell *cell = &plan.cells[c];
        const double stride = as_axes_number(&cell->axes, "stride");
        size_t i = 0;
        if (axis && strcmp(as_axes_text(&cell->axes, axis), value) != 0)
            continue;
        if (cell->status != AS_CELL_PLANNED) /* this host may not count TLB misses */
            assert_string_equal(cell->reason, as_events_why_not(AS_EVENT_TLB_MISSES));
        while (i < n && seen[i] != stride)
            i++;
        if (i < n)
            continue;
        assert_true(n < STRIDES_MAX);
        seen[n++] = stride;
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%.0f", n > 1 ? " " : "", stride);
    }
    as_plan_finish(&plan);
    as_suite_finish(&suite);
    return out;
}

static const struct {
    uint64_t page;
    const char *base, *pageable, *latency, *one, *misses;
} sizes[] = {
    {4 * KIB, "4096 65536 2097152 0", "4096 0 65536", "64 4096", "4096", "4096 2097152"},
    {16 * KIB, "16384 65536 33554432 0", "16384 0 65536", "64 16384", "16384", "16384 33554432"},
    {64 * KIB, "65536 536870912 0", "65536 0", "64 65536", "65536", "65536 536870912"},
};

UNIT_TEST(test_cpu)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct as_device_info info = cpu(sizes[i].page);
        assert_int_equal(as_info_page(&info), sizes[i].page);
        assert_string_equal(strides("[tlb]\ngrids = full\n", &info, "allocator", "base_pages"), sizes[i].base);
        assert_string_equal(strides("[tlb]\ngrids = full\n", &info, "allocator", "pageable"), sizes[i].pageable);
        assert_string_equal(strides("[tlb]\npages = 64\n", &info, NULL, NULL), sizes[i].one);
        assert_string_equal(strides("[latency]\ngrids = full\n", &info, "allocator", "base_pages"), sizes[i].latency);
        assert_string_equal(strides("[page_events]\ngrids = quick\n", &info, "what", "misses"), sizes[i].one);
        assert_string_equal(strides("[page_events]\ngrids = quick\n", &info, "what", "faults"), sizes[i].one);
        assert_string_equal(strides("[page_events]\ngrids = full\n", &info, "what", "misses"), sizes[i].misses);
    }
}

/* If the system has no huge pages or they are disabled, requests for the largest pages get base pages. */
UNIT_TEST(test_largest_pages)
{
    static const char suite[] = "[latency]\nsize = 1MiB\nallocator = largest_pages\nstride = 64\n";
    struct as_device_info info = cpu(16 * KIB);
    assert_string_equal(strides(suite, &info, "allocator", "huge_pages"), "64");
    assert_string_equal(strides(suite, &info, "allocator", "base_pages"), "");
    as_copy_text(info.allocators[2].why_not, sizeof info.allocators[2].why_not, "switched off");
    assert_string_equal(strides(suite, &info, "allocator", "huge_pages"), "");
    assert_string_equal(strides(suite, &info, "allocator", "base_pages"), "64");
    info.huge_page = 0;
    assert_int_equal(as_info_huge_page(&info), 2048 * KIB);
}

UNIT_TEST(test_multiples)
{
    const struct as_device_info info = cpu(16 * KIB);
    assert_string_equal(strides("[tlb]\nstride = page,2page,16KiB,4page\n", &info, NULL, NULL), "16384 32768 65536");
    assert_string_equal(strides("[tlb]\nstride = page..8page\n", &info, NULL, NULL), "16384 32768 65536 131072");
}

UNIT_TEST(test_gpus)
{
    const struct as_device_info own = gpu(false), shared = gpu(true);
    const char *shared_strides = NULL;
    assert_int_equal(as_info_page(&own), 4 * KIB);
    assert_int_equal(as_info_page(&shared), as_host_page());
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].page == as_host_page())
            shared_strides = sizes[i].one;
    assert_string_equal(strides("[tlb]\ngrids = quick\n", &own, "allocator", "device"), "0 4096 65536 2097152");
    assert_string_equal(strides("[page_events]\ngrids = quick\n", &own, "touch", "device"), "4096");
    if (!shared_strides)
        skip();
    assert_string_equal(strides("[page_events]\ngrids = quick\n", &shared, "touch", "device"), shared_strides);
    char want[64];
    snprintf(want, sizeof want, "0 %s%s 2097152", shared_strides, as_host_page() == 64 * KIB ? "" : " 65536");
    assert_string_equal(strides("[tlb]\ngrids = quick\n", &shared, "allocator", "device"), want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_largest_pages),
                                       cmocka_unit_test(test_multiples), cmocka_unit_test(test_gpus)};
    return cmocka_run_group_tests_name("plans on pages of any size", tests, NULL, NULL);
}
