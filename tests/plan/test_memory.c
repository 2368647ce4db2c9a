/* Main memory in suites and grids lies beyond all caches: on the stand-in of an APU whose L2 cache of 4 MiB has an
 * unreported memory-side cache of 256 MiB behind it. */
#include "apu.h"

#include "device/device.h"
#include "lib/pages/events.h"
#include "lib/stream/stream.h"
#include "probe/main_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t L2 = UINT64_C(4) << 20, BEHIND = UINT64_C(256) << 20, LEAST = UINT64_C(1) << 30;
UNIT_TEST(test_what_is_known)
{
    const struct as_cache *c = as_info_memory_side(&apu);
    assert_non_null(c);
    assert_int_equal(c->size, BEHIND);
    assert_int_equal(c->level, 3);
    assert_string_equal(c->name, "Infinity Cache");
    assert_string_equal(c->source, "table");
    assert_int_equal(as_info_last_cache(&apu), L2);
    assert_int_equal(as_info_memory_least(&apu, NULL, 1), LEAST);
}

/* Planned cells that claim main memory; facts and data sheet recognise them by the axes. */
static bool claims_memory(const struct as_cell *c)
{
    const struct as_probe *probe = as_probe_find(c->probe);
    if (c->status != AS_CELL_PLANNED)
        return false;
    const bool claims = probe->memory_claim && probe->memory_claim(&apu, &c->axes) > 0;
    if (claims != as_main_memory_claimed(&c->axes))
        fail_msg("%s: by its axes it claims main memory, by its record not, or the other way round", c->probe);
    return claims;
}

static bool is_memory(const struct as_cell *c)
{
    const struct as_memory_path path = as_main_memory_path(&apu, c->probe, &c->axes);
    return as_info_is_memory(&apu, path.allocator, path.threads,
                             (double)as_probe_find(c->probe)->memory_claim(&apu, &c->axes));
}

static double largest_of(const struct as_plan *plan, const char *probe)
{
    double largest = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const double size = as_axes_number(&plan->cells[i].axes, "size");
        if (strcmp(plan->cells[i].probe, probe) == 0 && size > largest)
            largest = size;
    }
    return largest;
}

static size_t count_between(const struct as_plan *plan, const char *probe)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const double size = as_axes_number(&plan->cells[i].axes, "size");
        n += strcmp(plan->cells[i].probe, probe) == 0 && size >= 2 * (double)L2 && size <= 0.75 * (double)BEHIND;
    }
    return n;
}

UNIT_TEST(test_memory_cells)
{
    static const char *const grids[] = {"quick", "full"};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct as_plan plan = {0};
        char text[256];
        size_t claims = 0;
        snprintf(
            text, sizeof text,
            "[bandwidth]\ngrids = %s\n[latency]\ngrids = %s\n[topology]\ngrids = %s\n[loaded_latency]\ngrids = %s\n",
            grids[g], grids[g], grids[g], grids[g]);
        add(&plan, text);
        for (size_t i = 0; i < plan.n; i++) {
            const struct as_cell *c = &plan.cells[i];
            if (!claims_memory(c))
                continue;
            claims++;
            if (!is_memory(c))
                fail_msg("%s claims main memory with %s B", c->probe, as_axes_text(&c->axes, "size"));
        }
        assert_true(claims >= 4);
        assert_true(largest_of(&plan, "latency") >= (double)LEAST);
        assert_true(largest_of(&plan, "loaded_latency") >= (double)LEAST);
        /* and sizes that only the memory-side cache holds */
        assert_true(count_between(&plan, "latency") >= 3);
        assert_true(count_between(&plan, "bandwidth") >= 3);
        as_plan_finish(&plan);
    }
}

/* Every suite, also those with explicit sizes. */
UNIT_TEST(test_suites)
{
    for (size_t i = 0; as_suite_texts[i].name; i++) {
        struct as_plan plan = {0};
        add(&plan, as_suite_texts[i].text);
        for (size_t k = 0; k < plan.n; k++)
            if (claims_memory(&plan.cells[k]) && !is_memory(&plan.cells[k]))
                fail_msg("suite %s: %s B", as_suite_texts[i].name, as_axes_text(&plan.cells[k].axes, "size"));
        as_plan_finish(&plan);
    }
}

/* Grids too: the CPU's bandwidth in a device's memory claims main memory wherever no size was asked for. */
UNIT_TEST(test_cpu_claims_memory)
{
    static const char *const texts[] = {"[host_bandwidth]\ngrids = quick\n", "[host_bandwidth]\ngrids = full\n",
                                        "[host_bandwidth]\nop = triad\nallocator = all\nsize = 900MiB\n",
                                        "[host_bandwidth]\nop = triad\nallocator = all\nsize = 1MiB\nlevel = sweep\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct as_plan plan = {0};
        size_t planned = 0, claims = 0, refused = 0;
        add(&plan, texts[i]);
        for (size_t k = 0; k < plan.n; k++) {
            planned += plan.cells[k].status == AS_CELL_PLANNED;
            refused += strstr(plan.cells[k].reason, "too small to measure main memory: at least 1") != NULL;
            claims += claims_memory(&plan.cells[k]) && is_memory(&plan.cells[k]);
        }
        assert_int_equal(claims, i < 2 ? planned : 0);
        assert_true((i == 2 ? refused : planned) >= 6);
        assert_int_equal(i == 2 ? planned : refused, 0);
        as_plan_finish(&plan);
    }
}

/* Migration back to the CPU is timed on each API whose device and host can both touch managed memory. */
UNIT_TEST(test_touch_after_device)
{
    static const char *const ids[] = {"cuda:0", "hip:0"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct as_suite suite;
        struct as_plan plan = {0};
        struct as_opened o;
        struct as_error err = {0};
        size_t planned = 0;
        if (as_device_open(ids[i], &o, &err) ||
            as_suite_parse("planned", "[fault]\ngrids = quick\n[page_events]\ngrids = quick\n", &suite, &err) ||
            as_plan_add(&plan, &suite, &o.device.info, NULL, 0, &err))
            fail_msg("%s: %s", ids[i], err.text);
        for (size_t k = 0; k < plan.n; k++)
            planned += plan.cells[k].status == AS_CELL_PLANNED &&
                       strcmp(as_axes_text(&plan.cells[k].axes, "scenario"), "cpu-after-device") == 0 &&
                       as_allocator_role(ids[i], as_axes_text(&plan.cells[k].axes, "allocator")) == AS_ROLE_MANAGED;
        if (planned < 2)
            fail_msg("%s: %zu cells", ids[i], planned);
        as_plan_finish(&plan);
        as_suite_finish(&suite);
        as_device_close(&o);
    }
}

/* Does the cell have these values, "name=text name=text"? */
static bool has(const struct as_cell *c, const char *axes)
{
    char text[160];
    snprintf(text, sizeof text, "%s", axes);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        char *value = strchr(at, '=');
        *value++ = '\0';
        if (strcmp(as_axes_text(&c->axes, at), value) != 0)
            return false;
    }
    return true;
}

/* Planned, wherever TLB misses are counted. */
static bool is_possible(const struct as_cell *c)
{
    const char *no_counter = as_events_why_not(AS_EVENT_TLB_MISSES);
    return c->status == AS_CELL_PLANNED || (no_counter[0] && strcmp(c->reason, no_counter) == 0);
}

/* What the study of the MI300A measured with the CPU as user, by threads and by size, is in suite upm. Numbers of CPU
 * threads that this host has not are left out. */
UNIT_TEST(test_study_is_planned)
{
    static const struct {
        const char *probe, *axes;
        size_t least; /* cells */
    } wanted[] = {
        {"latency", "allocator=malloc size=134217728", 1},
        {"latency", "size=134217728", 3}, /* of the device, pageable and managed memory */
        {"host_latency", "allocator=malloc touch=cpu", 6},
        {"host_latency", "allocator=malloc touch=cpu size=536870912", 1},
        {"host_latency", "allocator=hipMalloc touch=cpu size=536870912", 1},
        {"host_bandwidth", "allocator=hipMalloc op=triad touch=device", 2},
        {"tlb", "agent=cpu allocator=hipMalloc touch=cpu", 8},
        {"tlb", "agent=cpu allocator=malloc touch=device", 8},
        {"page_events", "what=misses allocator=hipMalloc touch=cpu", 2},
        {"page_events", "what=triads allocator=malloc touch=cpu", 1},
        {"page_events", "what=triads allocator=hipMalloc touch=device", 1},
        {"page_events", "what=triads allocator=hipHostMalloc touch=cpu", 1},
        {"fault", "scenario=cpu-one allocator=malloc what=fault", 6},
        {"fault", "scenario=cpu-all allocator=malloc what=fault", 2},
        {"fault", "scenario=device-major allocator=malloc pages=10000000", 1},
        {"fault", "scenario=device-minor allocator=malloc pages=10000000", 1},
        {"fault", "scenario=cpu-then-device allocator=malloc pages=10000000", 1},
        {"fault", "scenario=cpu-then-device allocator=malloc pages=1000000", 1},
        {"alloc", "op=alloc allocator=malloc size=2", 1},
        {"alloc", "op=alloc allocator=hipMalloc size=1073741824", 1},
        {"alloc", "op=free allocator=hipHostMalloc size=1073741824", 1},
        {"copy", "how=engine from=host to=hipMalloc size=1073741824", 1},
        {"copy", "how=kernel from=hipMalloc to=hipMalloc size=1073741824", 1},
        {"atomics", "agent=cpu elements=1048576 type=f64 device_threads=0 allocator=malloc cpu_threads=1", 1},
        {"atomics", "agent=device elements=1 type=f64 cpu_threads=0 allocator=hipHostMalloc scope=system", 4},
        {"atomics", "agent=device elements=1073741824 type=u64 cpu_threads=0 allocator=hipMalloc", 1},
        {"atomics", "agent=cpu elements=1024 type=u64 cpu_threads=1 allocator=malloc scope=system", 4},
        {"atomics", "agent=device elements=1024 type=f64 cpu_threads=1 allocator=hipMalloc scope=system", 3},
    };
    struct as_plan plan = {0};
    const unsigned units = apu.compute_units;
    size_t i = 0;
    apu.compute_units = 228; /* the stand-in has fewer */
    while (as_suite_texts[i].name && strcmp(as_suite_texts[i].name, "upm") != 0)
        i++;
    add(&plan, as_suite_texts[i].text);
    for (i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t n = 0;
        for (size_t k = 0; k < plan.n; k++)
            n += is_possible(&plan.cells[k]) && strcmp(plan.cells[k].probe, wanted[i].probe) == 0 &&
                 has(&plan.cells[k], wanted[i].axes);
        if (n < wanted[i].least)
            fail_msg("%s %s: %zu cells, not %zu", wanted[i].probe, wanted[i].axes, n, wanted[i].least);
    }
    apu.compute_units = units;
    as_plan_finish(&plan);
}

/* A claim that the gate would always reject is not measured, and the reason names the size needed. */
UNIT_TEST(test_certain_rejections)
{
    static const char *const texts[] = {
        "[bandwidth]\nop = triad\nlevel = memory\nthreads = 0\nsize = 4.5L2\nallocator = device\n",
        "[bandwidth]\nop = read\nlevel = memory\nthreads = 0\nsize = 64KiB\nallocator = device\n",
        "[calibrate]\nrule = stream\nop = triad\nthreads = 1\nsize = 1MiB\nallocator = first\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct as_plan plan = {0};
        const unsigned capabilities = apu.capabilities, threads = apu.threads;
        if (i == 2) { /* STREAM's rule is for CPUs */
            apu.capabilities |= AS_CAP_HOST_KERNELS;
            apu.threads = 1;
        }
        add(&plan, texts[i]);
        apu.capabilities = capabilities;
        apu.threads = threads;
        assert_int_equal(plan.n, 1);
        assert_int_equal(plan.cells[0].status, AS_CELL_UNSUPPORTED);
        if (!strstr(plan.cells[0].reason, "set size=DRAM"))
            fail_msg("%s", plan.cells[0].reason);
        as_plan_finish(&plan);
    }
}

/* Cells of the bandwidth of DRAM, by allocators of these roles, that are planned at this size: of the device, and of
 * the CPU in its memory. */
static const char by_device[] = "[bandwidth]\nop = triad\nlevel = memory\nthreads = 0\nallocator = all\ntouch = all\n",
                  by_cpu[] = "[host_bandwidth]\nop = triad\nfrom = 0\nnode = 0\nallocator = all\n";
static size_t planned_by(const char *text, const struct as_device_info *info, enum as_role role, double size, char *why,
                         size_t why_size)
{
    struct as_suite suite;
    struct as_plan plan = {0};
    struct as_error err = {0};
    size_t n = 0;
    if (as_suite_parse("planned", text, &suite, &err) || as_plan_add(&plan, &suite, info, NULL, 0, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < plan.n; i++) {
        const struct as_cell *c = &plan.cells[i];
        if (as_allocator_role(info->id, as_axes_text(&c->axes, "allocator")) != role)
            continue;
        n += c->status == AS_CELL_PLANNED && as_axes_number(&c->axes, "size") == size;
        if (c->status != AS_CELL_PLANNED)
            as_copy_text(why, why_size, c->reason);
    }
    as_plan_finish(&plan);
    as_suite_finish(&suite);
    return n;
}

static size_t planned_at(const struct as_device_info *info, enum as_role role, double size, char *why, size_t why_size)
{
    return planned_by(by_device, info, role, size, why, why_size);
}

/* Managed memory has a bandwidth of DRAM: at full size where nothing migrates, with the caps of the backend. */
UNIT_TEST(test_managed_on_apu)
{
    static const enum as_role roles[] = {AS_ROLE_MANAGED, AS_ROLE_MANAGED_STATIC, AS_ROLE_DEVICE};
    char why[160] = "";
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (planned_at(&apu, roles[i], (double)as_info_memory_set(&apu), why, sizeof why) < 1)
            fail_msg("%s: %s", as_role_word(roles[i]), why);
}

static const uint64_t cap = UINT64_C(1) << 30; /* of managed memory that migrates */

static struct as_device_info describe_card(void)
{
    return (struct as_device_info){.id = "cuda:0",
                                   .backend = "cuda",
                                   .capabilities = AS_CAP_SOURCE | AS_CAP_COPY | AS_CAP_FP64,
                                   .compute_units = 132,
                                   .memory_bytes = UINT64_C(80) << 30,
                                   .memory_free = UINT64_C(79) << 30,
                                   .caches_n = 1,
                                   .caches = {{.level = 2, .kind = 'u', .size = 50 << 20}},
                                   .allocators_n = 2,
                                   .allocators = {{.name = "cuMemAlloc", .role = AS_ROLE_DEVICE},
                                                  {.name = "cuMemAllocManaged",
                                                   .role = AS_ROLE_MANAGED,
                                                   .host_access = true,
                                                   .on_demand = true,
                                                   .most = cap}}};
}

/* Where it migrates it is capped: the plan takes the smallest size that no cache holds, or says why there is none. */
UNIT_TEST(test_managed_on_gpu)
{
    struct as_device_info card = describe_card();
    const double set = (double)as_info_memory_set(&card),
                 least = (double)as_info_memory_least(&card, "cuMemAllocManaged", 0);
    char why[160] = "";
    assert_true(set > (double)cap);
    assert_true(planned_at(&card, AS_ROLE_DEVICE, set, why, sizeof why) >= 1);
    if (planned_at(&card, AS_ROLE_MANAGED, least, why, sizeof why) < 1)
        fail_msg("not planned: %s", why);
    assert_int_equal(planned_at(&card, AS_ROLE_MANAGED, set, why, sizeof why), 0);
    assert_true(planned_at(&card, AS_ROLE_DEVICE, least, why, sizeof why) >= 1); /* to compare at one size */
    card.allocators[1].most = 64 << 20;
    assert_int_equal(planned_at(&card, AS_ROLE_MANAGED, least, why, sizeof why), 0);
    assert_non_null(strstr(why, "requested, but 'cuMemAllocManaged' gives at most 64 MiB"));
}

/* The CPU's own caches are on its way to every memory of a card: the size that fits the cap grows with them. */
UNIT_TEST(test_managed_by_cpu)
{
    struct as_device_info card = describe_card();
    const uint64_t MIB = UINT64_C(1) << 20;
    char why[160] = "";
    card.host_cache = 32 * MIB; /* less than is assumed of a card's */
    if (planned_by(by_cpu, &card, AS_ROLE_MANAGED, 256. * (double)MIB, why, sizeof why) != 1)
        fail_msg("not planned: %s", why);
    card.host_cache = 192 * MIB;
    assert_int_equal(planned_by(by_cpu, &card, AS_ROLE_MANAGED, 768. * (double)MIB, why, sizeof why), 1);
    assert_true(as_info_memory_least(&card, "cuMemAllocManaged", 0) < 768 * MIB);
    card.host_cache = 384 * MIB;
    assert_int_equal(planned_by(by_cpu, &card, AS_ROLE_MANAGED, 1536. * (double)MIB, why, sizeof why), 0);
    assert_non_null(strstr(why, "'cuMemAllocManaged' gives at most 1 GiB"));
}

/* A size that was asked for is refused, never replaced. */
UNIT_TEST(test_cap_of_explicit_size)
{
    struct as_plan plan = {0};
    const struct as_device_info before = apu;
    size_t refused = 0;
    for (size_t i = 0; i < apu.allocators_n; i++)
        apu.allocators[i].most = UINT64_C(1) << 30;
    add(&plan, "[latency]\nsize = 4GiB\nallocator = managed\n");
    apu = before;
    for (size_t i = 0; i < plan.n; i++) {
        assert_int_equal(plan.cells[i].status, AS_CELL_UNSUPPORTED);
        refused += strstr(plan.cells[i].reason, "gives at most 1 GiB") != NULL;
    }
    assert_true(refused > 0);
    as_plan_finish(&plan);
}

/* Streams with their padding fit what managed memory gives where it migrates, for the CPU and for the device; a plan
 * refuses what would fail. */
static void test_streams_under_caps(void **unused)
{
    struct as_plan plan = {0};
    const struct as_device_info before = apu;
    size_t of_host = 0, i = 0;
    (void)unused;
    apu = describe_card();
    apu.host_cache = UINT64_C(192) << 20;
    while (as_suite_texts[i].name && strcmp(as_suite_texts[i].name, "upm") != 0)
        i++;
    add(&plan, as_suite_texts[i].text);
    add(&plan, "[bandwidth]\nop = triad\nlevel = memory\nsize = 1GiB\nthreads = 0\nallocator = managed\n");
    apu = before;
    for (size_t k = 0; k < plan.n; k++) {
        const struct as_cell *c = &plan.cells[k];
        const bool host = strcmp(c->probe, "host_bandwidth") == 0;
        const bool triad = (host || strcmp(c->probe, "bandwidth") == 0) && has(c, "op=triad") &&
                           as_allocator_role("cuda:0", as_axes_text(&c->axes, "allocator")) == AS_ROLE_MANAGED;
        if (!triad || c->status != AS_CELL_PLANNED)
            continue;
        assert_true(as_stream_room(AS_STREAM_TRIAD, as_axes_u64(&c->axes, "size")) <= UINT64_C(1) << 30);
        of_host += host;
    }
    assert_true(of_host >= 2);
    as_plan_finish(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_under_caps), cmocka_unit_test(test_what_is_known),
        cmocka_unit_test(test_memory_cells),       cmocka_unit_test(test_suites),
        cmocka_unit_test(test_cpu_claims_memory),  cmocka_unit_test(test_managed_by_cpu),
        cmocka_unit_test(test_study_is_planned),   cmocka_unit_test(test_touch_after_device),
        cmocka_unit_test(test_certain_rejections), cmocka_unit_test(test_managed_on_apu),
        cmocka_unit_test(test_managed_on_gpu),     cmocka_unit_test(test_cap_of_explicit_size),
    };
    return cmocka_run_group_tests(tests, open_apu, NULL);
}
