/* Memory of the CPU backend: what the allocators say is what they give, blocks are kept, too much is refused. */
#include "check.h"
#include "device/cpu/cpu.h"
#include "device/cpu/machine_hwloc.h"
#include "os/memory.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define MIB (1ull << 20)

static struct as_opened opened;

static int open_cpu(void **state)
{
    (void)state;
    struct as_error err = {0};
    return as_device_open("cpu", &opened, &err) ? -1 : 0;
}

static int close_cpu(void **state)
{
    (void)state;
    as_device_close(&opened);
    return 0;
}

static struct as_memory *allocate_block(const char *allocator, uint64_t bytes, bool fresh)
{
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    struct as_memory *m = NULL;
    check_ok(
        d->memory->alloc(
            d, &(struct as_memory_desc){.allocator = allocator, .bytes = bytes, .node = -1, .fresh = fresh}, &m, &err),
        &err);
    assert_int_equal(m->bytes, bytes);
    assert_null(m->host);
    check_ok(d->memory->map(d, m, &err), &err);
    assert_non_null(m->host);
    return m;
}

static void free_block(struct as_memory *m)
{
    opened.device.memory->free(&opened.device, m);
}

static long faults(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_minflt;
}

/* Faults that touching each base page of the block takes. Sanitizers would touch their own pages beside it. */
__attribute__((no_sanitize_address, no_sanitize_thread, noinline)) static long touch(struct as_memory *m)
{
    long before = faults(), page = sysconf(_SC_PAGESIZE);
    for (uint64_t at = 0; at < m->bytes; at += (uint64_t)page)
        ((volatile char *)m->host)[at] = 1;
    return faults() - before;
}

static bool usable(const char *allocator)
{
    const struct as_allocator *a = as_info_allocator(&opened.device.info, allocator);
    assert_non_null(a);
    return a->why_not[0] == 0;
}

static void base_pages(void **state)
{
    (void)state;
    struct as_error err = {0};
    long page = sysconf(_SC_PAGESIZE);
    struct as_memory *m = allocate_block("mmap", 64 * MIB, true);
    assert_int_equal(m->page_size, page);
    long n = touch(m);
    /* one fault a page: what a larger page would have saved was not given */
    assert_true(n >= (long)(64 * MIB) / page);
    check_ok(opened.device.memory->map(&opened.device, m, &err), &err);
    assert_int_equal(m->page_size, page);
    free_block(m);
}

static void transparent_huge_pages(void **state)
{
    (void)state;
    struct as_error err = {0};
    long page = sysconf(_SC_PAGESIZE);
    if (!usable("thp"))
        skip();
    struct as_memory *m = allocate_block("thp", 64 * MIB, true);
    assert_int_equal(m->page_size, 0); /* nobody knows before the first touch */
    assert_int_equal((uintptr_t)m->host % (2 * MIB), 0);
    long n = touch(m);
    check_ok(opened.device.memory->unmap(&opened.device, m, &err), &err);
    assert_null(m->host);
    /* The kernel may be short of huge pages, but then it must be said. */
    if (m->page_size > (uint64_t)page)
        assert_true(n < (long)(64 * MIB) / page / 4);
    else
        assert_true(m->page_size == (uint64_t)page && n > 64);
    free_block(m);
    m = allocate_block("thp", 100, true);
    touch(m);
    free_block(m);
}

static void touch_all(const struct as_host_call *call)
{
    memset(call->args[0], 1, *(const uint64_t *)call->args[1]);
}

/* Who only launches kernels learns it too. */
static void pages_are_known_after_a_launch(void **state)
{
    (void)state;
    static const struct as_host_kernel kernels[] = {{"touch", touch_all}, {NULL, NULL}};
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    struct as_program *p = NULL;
    struct as_kernel *k = NULL;
    struct as_timing t;
    if (!usable("thp"))
        skip();
    check_ok(d->program->build(d, &(struct as_program_desc){.name = "touch", .host = kernels}, &p, &err), &err);
    check_ok(d->program->kernel(d, p, "touch", &k, &err), &err);
    struct as_memory *m = allocate_block("thp", 8 * MIB, true);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = m}}, {AS_ARG_U64, {.u64 = m->bytes}}};
    struct as_launch l = {.kernel = k, .args = args, .args_n = 2, .workgroups = 1, .workgroup_size = 1, .reps = 1};
    assert_int_equal(m->page_size, 0);
    check_ok(d->queue->launch(d, &l, &t, &err), &err);
    assert_int_not_equal(m->page_size, 0);
    free_block(m);
    d->program->kernel_destroy(d, k);
    d->program->destroy(d, p);
}

static void hugetlb(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_device *d = &opened.device;
    struct as_memory *m = NULL;
    if (usable("hugetlb")) {
        m = allocate_block("hugetlb", 3 * MIB, false);
        assert_true(m->page_size > 4096 && touch(m) <= 8);
        free_block(m);
        return;
    }
    check_fails(
        d->memory->alloc(d, &(struct as_memory_desc){.allocator = "hugetlb", .bytes = MIB, .node = -1}, &m, &err),
        AS_UNSUPPORTED, &err, "\"hugetlb\": ");
}

static void kept_and_reused(void **state)
{
    (void)state;
    const char *const names[] = {"malloc", "mmap", "thp"};
    for (size_t i = 0; i < 3; i++) {
        if (!usable(names[i]))
            continue;
        struct as_memory *m = allocate_block(names[i], 16 * MIB, false);
        void *at = m->host;
        touch(m);
        free_block(m);
        m = allocate_block(names[i], 16 * MIB, false);
        assert_ptr_equal(m->host, at);
        assert_true(touch(m) < 8); /* all of it is there already */
        assert_true(m->page_size > 0);
        /* a second one of the same size cannot be the same */
        struct as_memory *other = allocate_block(names[i], 16 * MIB, false);
        assert_ptr_not_equal(other->host, m->host);
        free_block(other);
        free_block(m);
        struct as_memory *larger = allocate_block(names[i], 20 * MIB, false);
        assert_int_equal(larger->bytes, 20 * MIB);
        touch(larger);
        free_block(larger);
    }
}

/* qemu's user mode accepts any advice and passes on few. */
static bool kernel_populates(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char resident = 0;
    char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    const bool is_accepted = madvise(at, page, MADV_POPULATE_WRITE) == 0;
    assert_int_equal(mincore(at, page, &resident), 0);
    munmap(at, page);
    return !is_accepted || (resident & 1);
}

static void untouched_blocks_are_backed_when_reused(void **state)
{
    (void)state;
    if (!kernel_populates()) {
        print_message("skipped: MADV_POPULATE_WRITE is accepted and has no effect\n");
        skip();
    }
    struct as_memory *m = allocate_block("mmap", 9 * MIB, false);
    free_block(m);
    m = allocate_block("mmap", 9 * MIB, false);
    assert_true(touch(m) < 8);
    free_block(m);
}

static void fresh_is_never_used(void **state)
{
    (void)state;
    const char *const names[] = {"malloc", "mmap"};
    long page = sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < 2; i++)
        for (uint64_t mib = 1; mib <= 16; mib *= 4) {
            struct as_memory *m = allocate_block(names[i], mib * MIB, false);
            touch(m);
            free_block(m);
            m = allocate_block(names[i], mib * MIB, true);
            long n = touch(m);
            if (opened.device.info.page_size == (uint64_t)page && strcmp(names[i], "mmap") == 0)
                assert_true(n >= (long)(mib * MIB) / page);
            assert_true(n > 0);
            free_block(m);
        }
    /* a heap block that was used and given back */
    struct as_memory *m = allocate_block("malloc", 100000, false);
    touch(m);
    free_block(m);
    m = allocate_block("malloc", 100000, true);
    assert_true(touch(m) >= 100000 / page - 2);
    free_block(m);
}

static void absurd_sizes_are_errors(void **state)
{
    (void)state;
    struct as_device *d = &opened.device;
    struct as_memory *m = NULL;
    struct as_error err = {0};
    const char *const names[] = {"malloc", "mmap", "thp", "hugetlb"};
    for (size_t k = 0; k < 4; k++) {
        const struct as_memory_desc desc = {.allocator = names[k], .bytes = d->info.memory_bytes, .node = -1};
        if (usable(names[k]))
            assert_int_equal(d->memory->alloc(d, &desc, &m, &err), AS_NOMEM);
    }
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "mmap", .bytes = MIB, .node = 999}, &m, &err),
                AS_USAGE, &err, "NUMA node 999");
    check_fails(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "malloc", .bytes = MIB, .node = 0}, &m, &err),
                AS_UNSUPPORTED, &err, "malloc cannot place");
}

/* Blocks that were handed out and not touched are not free, though the kernel still says so. */
static void promises_count(void **state)
{
    (void)state;
    struct as_device *d = &opened.device;
    struct as_error err = {0};
    struct as_memory *first = NULL, *second = NULL;
    uint64_t bytes = 0, later = 0;
    check_ok(d->device->memory_free(d, &bytes, &err), &err);
    struct as_memory_desc desc = {.allocator = "mmap", .bytes = bytes / 10 * 6, .node = -1, .fresh = true};
    check_ok(d->memory->alloc(d, &desc, &first, &err), &err);
    check_ok(d->device->memory_free(d, &later, &err), &err);
    assert_true(later < bytes / 10 * 6); /* what others give back meanwhile is free too */
    check_fails(d->memory->alloc(d, &desc, &second, &err), AS_NOMEM, &err, "request less");
    free_block(first);
    check_ok(d->memory->alloc(d, &desc, &first, &err), &err);
    free_block(first);
}

static void the_pool_gives_way(void **state)
{
    (void)state;
    struct as_device *d = &opened.device;
    struct as_error err = {0};
    struct as_cpu_device *cpu = as_cpu(d);
    for (uint64_t i = 1; i <= 40; i++)
        free_block(allocate_block("mmap", i * MIB, false));
    assert_true(cpu->pool.n > 1 && cpu->pool.n <= AS_CPU_POOL_MAX);
    uint64_t bytes = 0;
    check_ok(d->device->memory_free(d, &bytes, &err), &err);
    assert_true(cpu->held >= cpu->pool.bytes);
    /* more than what is free beside the pool */
    struct as_memory *m = NULL;
    check_ok(d->memory->alloc(
                 d, &(struct as_memory_desc){.allocator = "mmap", .bytes = bytes - 8 * MIB, .node = -1, .fresh = true},
                 &m, &err),
             &err);
    free_block(m);
    uint64_t sum = 0;
    for (size_t i = 0; i < cpu->pool.n; i++)
        sum += cpu->pool.blocks[i].bytes;
    assert_int_equal(sum, cpu->pool.bytes);
    as_cpu_pool_trim(&cpu->pool, 0);
    cpu->held -= sum;
    assert_int_equal(cpu->pool.n, 0);
    assert_int_equal(cpu->held, 0);
}

static void placed_on_a_node(void **state)
{
    (void)state;
    struct as_device *d = &opened.device;
    struct as_error err = {0};
    struct as_memory *m = NULL;
    hwloc_obj_t node = hwloc_get_obj_by_type(as_cpu(d)->machine->topology, HWLOC_OBJ_NUMANODE, 0);
    assert_non_null(node);
    struct as_memory_desc desc = {.allocator = "mmap", .bytes = 4 * MIB, .node = (int)node->os_index};
    enum as_status st = d->memory->alloc(d, &desc, &m, &err);
    if (st == AS_UNSUPPORTED)
        skip(); /* a kernel or sandbox without mbind */
    check_ok(st, &err);
    check_ok(d->memory->map(d, m, &err), &err);
    touch(m);
    hwloc_nodeset_t where = hwloc_bitmap_alloc();
    assert_int_equal(
        hwloc_get_area_memlocation(as_cpu(d)->machine->topology, m->host, m->bytes, where, HWLOC_MEMBIND_BYNODESET), 0);
    assert_true(hwloc_bitmap_isequal(where, node->nodeset));
    hwloc_bitmap_free(where);
    void *at = m->host;
    free_block(m);
    /* a block of a node is not handed out to someone who did not ask for it */
    m = allocate_block("mmap", 4 * MIB, false);
    assert_ptr_not_equal(m->host, at);
    free_block(m);
}

static void absurd_times_are_errors(void **state)
{
    (void)state;
    struct as_device *d = &opened.device;
    struct as_error err = {0};
    double a = 0, f = 0;
    check_fails(d->memory->time_alloc(d, "malloc", 1, 0, &a, &f, &err), AS_USAGE, &err, "cannot be timed");
    check_fails(d->memory->time_alloc(d, "malloc", UINT64_MAX, 1, &a, &f, &err), AS_USAGE, &err, "cannot be timed");
    check_fails(d->memory->time_alloc(d, "malloc", 1, SIZE_MAX, &a, &f, &err), AS_USAGE, &err, "cannot be timed");
    check_fails(d->memory->time_alloc(d, "mmap", 1ull << 60, 10, &a, &f, &err), AS_NOMEM, &err, "allocation 1 of 10");
    check_fails(d->memory->time_alloc(d, "what", 1, 10, &a, &f, &err), AS_USAGE, &err,
                "no allocator 'what'; it has malloc, mmap, thp, hugetlb");
}

/* What a parent has taken from a process stands in no file of the machine. In a process of its own. */
static void huge_pages_denied_to_this_process(void **state)
{
    (void)state;
    const pid_t pid = fork();
    if (pid == 0) {
        struct as_opened denied;
        struct as_error err = {0};
        if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
            _exit(77);
        if (as_device_open("cpu", &denied, &err))
            _exit(1);
        const struct as_device_info *info = &denied.device.info;
        const struct as_allocator *thp = as_info_allocator(info, "thp");
        const bool known = as_cpu(&denied.device)->pages.huge != 0;
        if (as_transparent_allowed() != AS_TRANSPARENT_NO || as_cpu(&denied.device)->pages.thp_always)
            _exit(2);
        if (!thp || !thp->why_not[0] || !strstr(info->caveats, "PR_SET_THP_DISABLE"))
            _exit(3);
        _exit(known && !as_cpu(&denied.device)->pages.thp_never && !strstr(thp->why_not, "PR_SET_THP_DISABLE") ? 4 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* a sandbox that has no such call */
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_pages),
        cmocka_unit_test(transparent_huge_pages),
        cmocka_unit_test(pages_are_known_after_a_launch),
        cmocka_unit_test(hugetlb),
        cmocka_unit_test(kept_and_reused),
        cmocka_unit_test(untouched_blocks_are_backed_when_reused),
        cmocka_unit_test(fresh_is_never_used),
        cmocka_unit_test(absurd_sizes_are_errors),
        cmocka_unit_test(promises_count),
        cmocka_unit_test(the_pool_gives_way),
        cmocka_unit_test(placed_on_a_node),
        cmocka_unit_test(absurd_times_are_errors),
        cmocka_unit_test(huge_pages_denied_to_this_process),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
