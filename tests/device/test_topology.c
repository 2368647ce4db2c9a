/* The machine tree and the order of CPUs, on this machine and on made-up ones. */
#include "check.h"
#include "device/cpu/cpu.h"
#include "device/cpu/machine_hwloc.h"

#include <jansson.h>
#include <stdlib.h>

static unsigned count(const json_t *o, const char *type)
{
    const char *own = json_string_value(json_object_get(o, "type"));
    const json_t *children = json_object_get(o, "children");
    size_t i;
    json_t *child;
    assert_non_null(own);
    assert_true(json_is_array(children));
    unsigned n = strcmp(own, type) == 0;
    json_array_foreach(children, i, child) n += count(child, type);
    return n;
}

static const json_t *find(const json_t *o, const char *type)
{
    size_t i;
    json_t *child;
    if (strcmp(json_string_value(json_object_get(o, "type")), type) == 0)
        return o;
    json_array_foreach(json_object_get(o, "children"), i, child)
    {
        const json_t *found = find(child, type);
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
    assert_int_equal(count(json, "package"), 2);
    assert_int_equal(count(json, "memory"), 2);
    assert_int_equal(count(json, "L3"), 4);
    assert_int_equal(count(json, "L2"), 8);
    assert_int_equal(count(json, "L1d"), 8);
    assert_int_equal(count(json, "core"), 8);
    assert_int_equal(count(json, "pu"), 16);
    assert_int_equal(json_integer_value(json_object_get(find(json, "L3"), "size")), 32 << 20);
    assert_true(json_integer_value(json_object_get(find(json, "memory"), "size")) > 7000000000);
    assert_string_equal(json_string_value(json_object_get(find(json, "memory"), "name")), "NUMA node 0");
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
        assert_int_equal(json_integer_value(json_object_get(find(json, "memory"), "size")), want[i]);
        json_decref(json);
    }
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
    assert_non_null(strstr(json_string_value(json_object_get(find(json, "package"), "name")), "\"},</script>"));
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
    assert_int_equal(count(json, "pu"), pus);
    assert_int_equal(count(json, "machine"), 1);
    assert_true(count(json, "memory") >= 1);
    json_decref(json);
    as_buf_finish(&b);
    as_device_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_up_machine),         cmocka_unit_test(hostile_names),
        cmocka_unit_test(memory_of_the_only_node), cmocka_unit_test(cores_before_siblings),
        cmocka_unit_test(faster_cores_first),      cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
