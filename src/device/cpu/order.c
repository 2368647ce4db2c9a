/* The order of CPUs for threads: one thread per core before SMT siblings, fastest core type first, else machine order.
 */
#include "device/cpu/machine_hwloc.h"

#include <stdlib.h>

struct place {
    int cpu;
    unsigned sibling; /* siblings of its core before it */
    int kind;         /* higher: faster */
    size_t at;
};

static int cpu_order_by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->sibling != y->sibling)
        return x->sibling < y->sibling ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind > y->kind ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static unsigned sibling_of(const struct as_cpu_machine *m, hwloc_obj_t pu)
{
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(m->topology, HWLOC_OBJ_CORE, pu), other = NULL;
    unsigned n = 0;
    if (!core)
        return 0;
    while ((other = hwloc_get_next_obj_inside_cpuset_by_type(m->topology, core->cpuset, HWLOC_OBJ_PU, other)) != pu) {
        if (!other)
            break;
        n += hwloc_bitmap_isset(m->allowed, other->os_index) != 0;
    }
    return n;
}

enum as_status as_cpu_machine_order(const struct as_cpu_machine *m, int **out, size_t *out_n, struct as_error *err)
{
    int weight = hwloc_bitmap_weight(m->allowed);
    if (weight <= 0)
        return as_fail(err, AS_UNSUPPORTED, "hwloc lists no CPU on which this process may run");
    size_t n = 0, most = (size_t)weight;
    struct place *places = calloc(most, sizeof *places);
    int *order = calloc(most, sizeof *order);
    if (!places || !order) {
        free(order);
        free(places);
        return as_nomem(err, most * sizeof *places, "the list of CPUs");
    }
    for (hwloc_obj_t pu = NULL; n < most && (pu = hwloc_get_next_obj_by_type(m->topology, HWLOC_OBJ_PU, pu));) {
        if (!hwloc_bitmap_isset(m->allowed, pu->os_index))
            continue;
        places[n] = (struct place){.cpu = (int)pu->os_index,
                                   .sibling = sibling_of(m, pu),
                                   .kind = hwloc_cpukinds_get_by_cpuset(m->topology, pu->cpuset, 0),
                                   .at = n};
        n++;
    }
    qsort(places, n, sizeof *places, cpu_order_by_place);
    for (size_t i = 0; i < n; i++)
        order[i] = places[i].cpu;
    free(places);
    if (!n) {
        free(order);
        return as_fail(err, AS_UNSUPPORTED, "hwloc finds no CPU that this process may run on");
    }
    *out = order;
    *out_n = n;
    return AS_OK;
}
