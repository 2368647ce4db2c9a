/* The machine tree and the order of CPUs, on this machine and on made-up ones. */
#include "check.h"
#include "device/cpu/cpu.h"
#include "device/cpu/machine_hwloc.h"
#include "device/host.h"
#include "device/host_hwloc.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned count_objects(const json_t *o, const char *type)
{
    const char *own = json_string_value(json_object_get(o, "type"));
    const json_t *children = json_object_get(o, "children");
    size_t i;
    json_t *child;
    assert_non_null(own);
    assert_true(json_is_array(children));
    unsigned n = strcmp(own, type) == 0;
    json_array_foreach(children, i, child) n += count_objects(child, type);
    return n;
}

static const json_t *find_object(const json_t *o, const char *type)
{
    size_t i;
    json_t *child;
    if (strcmp(json_string_value(json_object_get(o, "type")), type) == 0)
        return o;
    json_array_foreach(json_object_get(o, "children"), i, child)
    {
        const json_t *found = find_object(child, type);
        if (found)
            return found;
    }
    return NULL;
}

static hwloc_topology_t made_up(const char *description)
{
    hwloc_topology_t t;
    assert_int_equal(hwloc_topology_init(&t), 0);
    assert_int_equal(hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    assert_int_equal(hwloc_topology_set_synthetic(t, description), 0);
    assert_int_equal(hwloc_topology_load(t), 0);
    return t;
}

static json_t *tree(hwloc_topology_t t, uint64_t whole)
{
    struct as_buf b = AS_BUF_INIT;
    as_cpu_topology_json(t, whole, &b);
    json_t *json = json_loads(as_buf_get(&b), 0, NULL);
    as_buf_finish(&b);
    assert_non_null(json);
    return json;
}

static void made_up_machine(void **state)
{
    (void)state;
    hwloc_topology_t t =
        made_up("pack:2 [numa(memory=8GB)] l3:2(size=32MiB) l2:2(size=1MiB) l1d:1(size=48KiB) core:1 pu:2");
    json_t *json = tree(t, 64ull << 30);
    assert_string_equal(json_string_value(json_object_get(json, "type")), "machine");
    assert_int_equal(count_objects(json, "package"), 2);
    assert_int_equal(count_objects(json, "memory"), 2);
    assert_int_equal(count_objects(json, "L3"), 4);
    assert_int_equal(count_objects(json, "L2"), 8);
    assert_int_equal(count_objects(json, "L1d"), 8);
    assert_int_equal(count_objects(json, "core"), 8);
    assert_int_equal(count_objects(json, "pu"), 16);
    assert_int_equal(json_integer_value(json_object_get(find_object(json, "L3"), "size")), 32 << 20);
    assert_true(json_integer_value(json_object_get(find_object(json, "memory"), "size")) > 7000000000);
    assert_string_equal(json_string_value(json_object_get(find_object(json, "memory"), "name")), "NUMA node 0");
    json_decref(json);
    hwloc_topology_destroy(t);
}

/* Some virtual machines give a node less memory than the machine has; with only one node it is all of it. */
static void memory_of_the_only_node(void **state)
{
    (void)state;
    hwloc_topology_t t = made_up("pack:1 [numa(memory=4294967296)] core:1 pu:1");
    const uint64_t whole[] = {8ull << 30, 1ull << 30}, want[] = {8ull << 30, 4ull << 30};
    for (size_t i = 0; i < 2; i++) {
        json_t *json = tree(t, whole[i]);
        assert_int_equal(json_integer_value(json_object_get(find_object(json, "memory"), "size")), want[i]);
        json_decref(json);
    }
    hwloc_topology_destroy(t);
}

/* A driver may reserve numbers of nodes for memory that it has not added. */
static void nodes_without_memory(void **state)
{
    (void)state;
    hwloc_topology_t t = made_up("pack:3 [numa(memory=8GB)] core:1 pu:1");
    struct as_cpu_machine machine = {.topology = t};
    hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, 1)->attr->numanode.local_memory = 0;
    json_t *json = tree(t, 16ull << 30);
    assert_int_equal(count_objects(json, "memory"), 2);
    assert_int_equal(as_cpu_machine_nodes(&machine), 2);
    json_decref(json);
    hwloc_topology_destroy(t);
}

static void hostile_names(void **state)
{
    (void)state;
    hwloc_topology_t t = made_up("pack:1 core:1 pu:1");
    hwloc_obj_t package = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
    hwloc_obj_add_info(package, "CPUModel", "\"},</script>\x1b[2J\xff");
    struct as_buf b = AS_BUF_INIT;
    as_cpu_topology_json(t, 0, &b);
    assert_null(strchr(as_buf_get(&b), '<'));
    assert_null(strchr(as_buf_get(&b), 0x1b));
    json_t *json = json_loads(as_buf_get(&b), 0, NULL);
    assert_non_null(json);
    assert_non_null(strstr(json_string_value(json_object_get(find_object(json, "package"), "name")), "\"},</script>"));
    json_decref(json);
    as_buf_finish(&b);
    hwloc_topology_destroy(t);
}

static void check_order(const char *description, const char *allowed, const int *want, size_t n)
{
    struct as_error err = {0};
    struct as_cpu_machine machine = {.topology = made_up(description)};
    int *order = NULL;
    size_t order_n = 0;
    machine.allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine.topology));
    if (allowed) {
        hwloc_bitmap_t some = hwloc_bitmap_alloc();
        hwloc_bitmap_list_sscanf(some, allowed);
        hwloc_bitmap_and(machine.allowed, machine.allowed, some);
        hwloc_bitmap_free(some);
    }
    if (n)
        check_ok(as_cpu_machine_order(&machine, &order, &order_n, &err), &err);
    else
        check_fails(as_cpu_machine_order(&machine, &order, &order_n, &err), AS_UNSUPPORTED, &err, "no CPU");
    assert_int_equal(order_n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(order[i], want[i]);
    free(order);
    hwloc_bitmap_free(machine.allowed);
    hwloc_topology_destroy(machine.topology);
}

static void cores_before_siblings(void **state)
{
    (void)state;
    check_order("pack:2 core:2 pu:2", NULL, (const int[]){0, 2, 4, 6, 1, 3, 5, 7}, 8);
    check_order("pack:2 core:2 pu:2", "1,2,3,7", (const int[]){1, 2, 7, 3}, 4);
    check_order("pack:1 core:4 pu:1", NULL, (const int[]){0, 1, 2, 3}, 4);
    check_order("pu:3", NULL, (const int[]){0, 1, 2}, 3);
    check_order("pu:1", NULL, (const int[]){0}, 1);
    check_order("pu:2", "5", NULL, 0);
}

static void faster_cores_first(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_cpu_machine machine = {.topology = made_up("pack:1 core:4 pu:2")};
    int *order = NULL;
    size_t order_n = 0;
    hwloc_bitmap_t slow = hwloc_bitmap_alloc(), fast = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(slow, "0-3");
    hwloc_bitmap_list_sscanf(fast, "4-7");
    assert_int_equal(hwloc_cpukinds_register(machine.topology, slow, 1, 0, NULL, 0), 0);
    assert_int_equal(hwloc_cpukinds_register(machine.topology, fast, 5, 0, NULL, 0), 0);
    machine.allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(machine.topology));
    check_ok(as_cpu_machine_order(&machine, &order, &order_n, &err), &err);
    static const int want[] = {4, 6, 0, 2, 5, 7, 1, 3};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(order[i], want[i]);
    free(order);
    hwloc_bitmap_free(slow);
    hwloc_bitmap_free(fast);
    hwloc_bitmap_free(machine.allowed);
    hwloc_topology_destroy(machine.topology);
}

/* ---- topologies that the user's variables name ---- */

static void count_cpus(const struct as_host_call *call)
{
    struct as_cpus cpus;
    int32_t *out = call->args[0];
    out[2 * call->thread] = as_thread_cpus(&cpus) ? as_cpus_count(&cpus) : -1;
    out[2 * call->thread + 1] = as_thread_cpu();
}
static const struct as_host_kernel kernels[] = {{"cpus", count_cpus}, {NULL, NULL}};

/* Threads are where they should be, each on one CPU. */
static void check_placement(struct as_device *d)
{
    const struct as_program_desc desc = {.name = "cpus", .host = kernels};
    struct as_program *program = NULL;
    struct as_kernel *kernel = NULL;
    struct as_error err = {0};
    struct as_timing t;
    int32_t seen[2 * 2] = {0};
    const struct as_cpu_device *cpu = as_cpu(d);
    const size_t n = cpu->order_n < 2 ? 1 : 2;
    check_ok(d->program->build(d, &desc, &program, &err), &err);
    check_ok(d->program->kernel(d, program, "cpus", &kernel, &err), &err);
    struct as_memory *m = NULL;
    check_ok(d->memory->alloc(d, &(struct as_memory_desc){.allocator = "malloc", .bytes = sizeof seen, .node = -1}, &m,
                              &err),
             &err);
    check_ok(d->memory->map(d, m, &err), &err);
    const struct as_arg args[] = {{AS_ARG_MEMORY, {.memory = m}}};
    const struct as_launch l = {
        .kernel = kernel, .args = args, .args_n = 1, .workgroups = n, .workgroup_size = 1, .reps = 1};
    check_ok(d->queue->launch(d, &l, &t, &err), &err);
    memcpy(seen, m->host, sizeof seen);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(seen[2 * i], 1);
        assert_int_equal(seen[2 * i + 1], cpu->order[i]);
    }
    d->memory->free(d, m);
    d->program->kernel_destroy(d, kernel);
    d->program->destroy(d, program);
}

static void write_own_topology(char *path)
{
    struct as_error err = {0};
    hwloc_topology_t t;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    check_ok(as_host_topology(AS_TOPOLOGY_CODE, &t, &err), &err);
    assert_int_equal(hwloc_topology_export_xml(t, path, 0), 0);
    hwloc_topology_destroy(t);
}

static void foreign_topologies(void **state)
{
    char file[] = "/tmp/assay-topology-XXXXXX", synthetic[96];
    struct as_cpus own;
    (void)state;
    assert_true(as_thread_cpus(&own));
    if (as_thread_pin_limit())
        skip(); /* a sandbox that binds no thread */
    int last = -1;
    for (int cpu = -1; (cpu = as_cpus_next(&own, cpu)) >= 0;)
        last = cpu;
    write_own_topology(file);
    snprintf(synthetic, sizeof synthetic, "node:2 l3:1(size=2MiB) core:%d pu:2", last + 1);
    const char *const variables[][2] = {{"HWLOC_XMLFILE", file}, {"HWLOC_SYNTHETIC", synthetic}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        struct as_error err = {0};
        struct as_opened o;
        setenv(variables[i][0], variables[i][1], 1);
        check_ok(as_device_open("cpu", &o, &err), &err);
        unsetenv(variables[i][0]);
        assert_non_null(strstr(o.device.info.caveats, variables[i][0]));
        assert_int_equal(as_cpu(&o.device)->order_n, as_cpus_count(&own)); /* not those of the other machine */
        check_placement(&o.device);
        as_device_close(&o);
    }
    unlink(file);
}

static void topology_that_cannot_be_read(void **state)
{
    struct as_error err = {0};
    hwloc_topology_t t;
    (void)state;
    setenv("HWLOC_COMPONENTS", "stop", 1);
    check_fails(as_host_topology(0, &t, &err), AS_UNSUPPORTED, &err, "with HWLOC_COMPONENTS='stop': ");
    assert_non_null(strstr(err.text, strerror(EINVAL)));
    unsetenv("HWLOC_COMPONENTS");
    assert_null(t);
}

/* A machine with two kinds of cores: the caches are those of a core that may be used. */
static void caches_of_a_usable_core(void **state)
{
    char file[] = "/tmp/assay-topology-XXXXXX", description[96];
    struct as_device_info info = {0};
    struct as_cpus own, one = {{0}};
    (void)state;
    assert_true(as_thread_cpus(&own));
    const int first = as_cpus_next(&own, -1), cpu = as_cpus_next(&own, first);
    if (cpu < 0 || as_thread_pin_limit())
        skip(); /* needs two CPUs */
    snprintf(description, sizeof description, "pack:1 l2:%d(size=1MiB) core:1 pu:1", cpu + 1);
    hwloc_topology_t t = made_up(description);
    hwloc_get_obj_by_type(t, HWLOC_OBJ_L2CACHE, (unsigned)first)->attr->cache.size = 4 << 20;
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(hwloc_topology_export_xml(t, file, 0), 0);
    hwloc_topology_destroy(t);
    as_cpus_add(&one, cpu);
    setenv("HWLOC_XMLFILE", file, 1);
    assert_true(as_thread_keep_on(&one));
    as_host_caches(&info);
    assert_true(as_thread_keep_on(&own));
    assert_int_equal(as_info_cache(&info, 2), 1 << 20);
    info.caches_n = 0;
    as_host_caches(&info);
    assert_int_equal(as_info_cache(&info, 2), 4 << 20);
    unsetenv("HWLOC_XMLFILE");
    unlink(file);
}

static void this_machine(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_opened o;
    struct as_buf b = AS_BUF_INIT;
    check_ok(as_device_open("cpu", &o, &err), &err);
    check_ok(o.device.device->topology(&o.device, &b, &err), &err);
    json_t *json = json_loads(as_buf_get(&b), 0, NULL);
    assert_non_null(json);
    int pus = hwloc_get_nbobjs_by_type(as_cpu(&o.device)->machine->topology, HWLOC_OBJ_PU);
    assert_int_equal(count_objects(json, "pu"), pus);
    assert_int_equal(count_objects(json, "machine"), 1);
    assert_true(count_objects(json, "memory") >= 1);
    json_decref(json);
    as_buf_finish(&b);
    as_device_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_up_machine),
        cmocka_unit_test(hostile_names),
        cmocka_unit_test(memory_of_the_only_node),
        cmocka_unit_test(nodes_without_memory),
        cmocka_unit_test(cores_before_siblings),
        cmocka_unit_test(faster_cores_first),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(foreign_topologies),
        cmocka_unit_test(topology_that_cannot_be_read),
        cmocka_unit_test(caches_of_a_usable_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
