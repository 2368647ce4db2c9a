/* Facts that join cells of copies or peak rates with cells of bandwidth, on synthetic cells. */
#include "base/text.h"
#include "made.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1/50 for the copy, against 1/40 - 1/4000 saved per pass */
UNIT_TEST(test_copy_or_direct)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "copy", "GB/s", 50, "from=pinned to=own direction=one how=engine size=268435456");
    made_add(&m, "bandwidth", "GB/s", 4000, "op=read level=memory size=1000000000 threads=0 allocator=own");
    struct as_cell *direct =
        made_add(&m, "bandwidth", "GB/s", 40, "op=read level=memory size=1000000000 threads=0 allocator=pinned");
    /* further device memory */
    made_add(&m, "copy", "GB/s", 2000, "from=pool to=own direction=one how=engine size=268435456");
    made_add(&m, "bandwidth", "GB/s", 3900, "op=read level=memory size=1000000000 threads=0 allocator=pool");
    made_derive(&m);
    assert_null(made_find(&m, "copy.pays.pool"));
    /* the host reaches it, and it was on the device when copied */
    made_add(&m, "copy", "GB/s", 1900, "from=managed to=own direction=one how=engine size=268435456");
    made_add(&m, "bandwidth", "GB/s", 3900, "op=read level=memory size=1000000000 threads=0 allocator=managed");
    made_derive(&m);
    made_get(&m, "copy.pays.managed");
    m.info.bus_bandwidth = 63e9;
    made_derive(&m);
    assert_null(made_find(&m, "copy.pays.managed"));
    const struct as_fact *f = made_near(&m, "copy.pays.pinned", (1 / 50.0) / (1 / 40.0 - 1 / 4000.0), 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(f->ci.lo < f->value && f->ci.hi > f->value);
    assert_int_equal(f->evidence_n, 3);
    made_says(f, "copy it first even if you read it once");
    direct->sum.median = 70;
    direct->sum.ci = (struct as_interval){69, 71};
    made_derive(&m);
    made_says(made_get(&m, "copy.pays.pinned"), "copy it first if you read it 2 times or more"); /* 1.43 */
    direct->sum.median = 4100;
    direct->sum.ci = (struct as_interval){4050, 4150};
    made_derive(&m);
    f = made_get(&m, "copy.pays.pinned");
    assert_int_equal(f->verdict, AS_REFUTED);
    assert_true(isnan(f->value));
    made_says(f, "do not copy it first");
    direct->sum.median = 4010; /* faster by the medians, perhaps slower */
    direct->sum.ci = (struct as_interval){3900, 4100};
    made_derive(&m);
    assert_int_equal(made_get(&m, "copy.pays.pinned")->verdict, AS_UNDECIDED);
    direct->sum.median = 3990; /* slower by the medians, perhaps not */
    direct->sum.ci = (struct as_interval){3900, 4100};
    made_derive(&m);
    f = made_get(&m, "copy.pays.pinned");
    assert_true(isnan(f->value));
    assert_int_equal(f->verdict, AS_UNDECIDED);
    made_says(f, "whether to copy it first is inconclusive");
    made_end(&m);
}

UNIT_TEST(test_ridges)
{
    struct made m;
    made_gpu_minimal(&m);
    as_copy_text(m.info.id, sizeof m.info.id, "cuda:0");
    made_add(&m, "roofline", "FLOP/s", 30e12, "type=f64 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 60e12, "type=f32 threads=0 width=best");
    made_add(&m, "roofline", "FLOP/s", 50e12, "type=f32 threads=0 width=512");
    made_derive(&m);
    assert_null(made_find(&m, "ridge.f64.memory"));
    made_add(&m, "bandwidth", "GB/s", 4000, "op=read level=memory size=1000000000 threads=0 allocator=cuMemAlloc");
    made_add(&m, "bandwidth", "GB/s", 3900, "op=triad level=memory size=1000000000 threads=0 allocator=cuMemAlloc");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "ridge.f64.memory", 30e12 / 4e12, 1e-9);
    assert_true(f->ci.lo < f->value && f->ci.hi > f->value);
    assert_string_equal(f->unit, "FLOP/B");
    assert_int_equal(f->evidence_n, 2);
    assert_int_equal(f->evidence[1], 4); /* the faster of the two roofs */
    made_says(f, "7.5");
    made_near(&m, "ridge.f32.memory", 60e12 / 4e12, 1e-9);
    made_end(&m);
}

/* Memory of which nobody requested a node, on another than the device's nearest, is told once per allocator. */
UNIT_TEST(test_wrong_node)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "latency", "ns", 300, "allocator=malloc size=1024")->detail = strdup("{\"node\":1,\"near_node\":0}");
    made_add(&m, "bandwidth", "GB/s", 300, "allocator=malloc size=1024")->detail =
        strdup("{\"node\":1,\"near_node\":0}");
    made_add(&m, "latency", "ns", 300, "allocator=pinned size=1024")->detail = strdup("{\"node\":0,\"near_node\":0}");
    made_add(&m, "latency", "ns", 300, "allocator=pool size=1024")->detail = strdup("{\"node\":1}");
    m.info.memory_node = 2;
    made_add(&m, "latency", "ns", 300, "allocator=first size=1024")->detail = strdup("{\"node\":2,\"near_node\":0}");
    made_add(&m, "fault", "ns", 300, "allocator=own pages=1 node=1")->detail = strdup("{\"node\":1,\"near_node\":0}");
    made_derive(&m);
    const struct as_fact *f = made_get(&m, "memory.node.malloc");
    made_says(f, "Memory of 'malloc' is on NUMA node 1, not on the device's nearest, node 0 (2 measurements)");
    assert_string_equal(f->act, "Bind the process to the device's node: numactl --cpunodebind=0 --membind=0");
    assert_int_equal(f->evidence_n, 2);
    assert_null(made_find(&m, "memory.node.pinned"));
    assert_null(made_find(&m, "memory.node.pool"));
    assert_null(made_find(&m, "memory.node.own"));   /* requested there */
    assert_null(made_find(&m, "memory.node.first")); /* the device's own memory */
    made_end(&m);
}

/* Cells of process states: compared with each other, and apart from those of the machine as it is. */
UNIT_TEST(test_states)
{
    struct made m;
    made_gpu_minimal(&m);
    made_add(&m, "copy", "GB/s", 800, "from=host to=own direction=one how=engine size=1048576 state=A=0");
    made_add(&m, "copy", "GB/s", 850, "from=host to=own direction=one how=engine size=536870912 state=A=0");
    made_add(&m, "copy", "GB/s", 58, "from=host to=own direction=one how=engine size=536870912 state=A=1");
    made_add(&m, "copy", "GB/s", 50, "from=host to=own direction=one how=engine size=1048576 state=A=1");
    made_add(&m, "copy", "GB/s", 57, "from=host to=own direction=one how=engine size=536870912");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "state.copy.host.own.engine.A_1.A_0", 58.0 / 850, 1e-9);
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_int_equal(f->evidence_n, 2);
    made_says(f, "850 GB/s");
    made_add(&m, "host_bandwidth", "GB/s", 20, "op=triad allocator=own size=1048576 touch=cpu threads=0 state=A=0");
    made_add(&m, "host_bandwidth", "GB/s", 10, "op=triad allocator=own size=1048576 touch=cpu threads=0 state=A=1");
    made_add(&m, "host_bandwidth", "GB/s", 20, "op=triad allocator=own size=1048576 touch=device threads=0 state=A=0");
    made_add(&m, "host_bandwidth", "GB/s", 5, "op=triad allocator=own size=1048576 touch=device threads=0 state=A=1");
    made_add(&m, "page_events", "events", 0, "what=faults allocator=own touch=cpu state=A=0");
    made_add(&m, "page_events", "events", 9, "what=faults allocator=own touch=cpu state=A=1");
    made_derive(&m); /* each first touch has its own fact; of a count of 0 there is no ratio */
    made_near(&m, "state.host_bandwidth.triad.own.cpu.0.A_1.A_0", 0.5, 1e-9);
    made_says(made_near(&m, "state.host_bandwidth.triad.own.device.0.A_1.A_0", 0.25, 1e-9),
              "first touch by device, all threads");
    assert_null(made_find(&m, "state.page_events.faults.own.cpu.A_1.A_0"));
    f = made_get(&m, "state.copy.host.own.engine.A_1.A_0");
    made_acts(&m, f->id, "Set A=0: 14.7x");
    m.cells[2].sum.trials = 1;
    made_derive(&m);
    f = made_get(&m, "state.copy.host.own.engine.A_1.A_0");
    made_says(f, "inconclusive from one trial");
    assert_string_equal(f->act, "");
    m.cells[2].sum.trials = 3;
    made_derive(&m);
    made_near(&m, "copy.engine.host.own", 57, 1e-9); /* not the faster one of another state */
    assert_null(made_find(&m, "copy.engine.host.own@A=0"));
    made_end(&m);
    made_add(&m, "copy", "GB/s", 850, "from=host to=own direction=one how=engine size=536870912 state=A=0");
    made_derive(&m); /* what only a state gives is a fact of that state, and compared with nothing */
    assert_null(made_find(&m, "copy.engine.host.own"));
    made_says(made_near(&m, "copy.engine.host.own@A=0", 850, 1e-9), "With A=0: ");
    assert_null(made_find(&m, "state.copy.host.own.engine.A_0.default"));
    made_add(&m, "copy", "GB/s", 849, "from=host to=own direction=one how=engine size=536870912");
    m.cells[0].sum.ci = m.cells[1].sum.ci = (struct as_interval){849, 850};
    made_derive(&m);
    made_verdict(&m, "state.copy.host.own.engine.A_0.default", AS_REFUTED);
    made_says(made_get(&m, "state.copy.host.own.engine.A_0.default"), "alike");
    made_end(&m);
}

static void add_counters(struct made *m, const char *axes, const char *replays)
{
    char detail[200];
    snprintf(detail, sizeof detail,
             "{\"link_replays\":9,\"link_replays_readings\":\"%s\",\"pcie_replays_readings\":\"7:1:0\"}", replays);
    made_add(m, "link", "GB/s", 390, axes)->detail = strdup(detail);
}

/* What grew is named, from before the first trial to after the last, in whatever order cells ran. */
static void test_link_counters(void **state)
{
    struct made m;
    (void)state;
    made_gpu_minimal(&m);
    add_counters(&m, "peer=1 direction=to how=engine size=64", "7:40:9");
    add_counters(&m, "peer=1 direction=from how=engine size=64", "7:10:3 7:20:5");
    made_add(&m, "link", "GB/s", 390, "peer=1 direction=both how=engine size=64");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "link.counter.link_replays", 6, 1e-9);
    made_says(f, "Link replays between GPUs rose by 6 since the link's first trial, from 3 to 9");
    made_acts(&m, f->id, "Look for the failing link");
    assert_int_equal(f->evidence_n, 2);
    assert_null(made_find(&m, "link.counter.link_errors"));
    assert_null(made_find(&m, "link.counter.pcie_replays"));
    made_end(&m);
}

/* A run that is resumed after a reboot. */
static void test_link_counters_reset(void **state)
{
    struct made m;
    (void)state;
    made_gpu_minimal(&m);
    add_counters(&m, "peer=1 direction=to how=engine size=64", "7:10:900 8:30:0 8:50:2");
    add_counters(&m, "peer=1 direction=from how=engine size=64", "7:20:900 8:40:1");
    made_derive(&m);
    const struct as_fact *f = made_near(&m, "link.counter.link_replays", 2, 1e-9);
    made_says(f, "rose by 2 since the link's first trial; the counter was reset, from 900 to 0 (reboot");
    made_end(&m);
    made_gpu_minimal(&m);
    add_counters(&m, "peer=1 direction=to how=engine size=64", "7:10:900 8:30:0");
    made_derive(&m);
    f = made_near(&m, "link.counter.link_replays", 0, 1e-9);
    made_says(f, "did not rise since the link's first trial");
    assert_string_equal(f->act, "");
    made_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_or_direct), cmocka_unit_test(test_ridges),
        cmocka_unit_test(test_wrong_node),     cmocka_unit_test(test_states),
        cmocka_unit_test(test_link_counters),  cmocka_unit_test(test_link_counters_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
