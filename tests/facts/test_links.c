/* Facts of copies, links and peak rates, on synthetic cells with known answers. */
#include "base/text.h"
#include "facts/facts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS_MAX = 32 };
struct made {
    struct as_cell cells[CELLS_MAX];
    size_t n;
    struct as_device_info info;
    struct as_fact *facts;
    size_t facts_n;
};

static void start(struct made *m)
{
    *m = (struct made){.info = {.id = "card:0",
                                .backend = "card",
                                .clock_max_hz = 2e9,
                                .capabilities = AS_CAP_SOURCE | AS_CAP_COPY,
                                .caches_n = 1,
                                .caches = {{2, 'u', 50 << 20, 128, 16, 0}},
                                .allocators_n = 2,
                                .allocators = {{.name = "own"}, {.name = "pinned", .host_access = true}}}};
}

static void end(struct made *m)
{
    free(m->facts);
}

/* axes: "size=1024 op=read" */
static struct as_cell *add(struct made *m, const char *probe, const char *unit, double median, const char *axes)
{
    assert_true(m->n < CELLS_MAX);
    struct as_cell *c = &m->cells[m->n++];
    *c = (struct as_cell){.id = (int64_t)m->n, .status = AS_CELL_OK, .clock_hz = NAN, .limit = NAN};
    as_copy_text(c->device, sizeof c->device, m->info.id);
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
    c->sum = (struct as_summary){.n = 30,
                                 .visits = 3,
                                 .median = median,
                                 .ci = {median * 0.99, median * 1.01},
                                 .min = median,
                                 .max = median,
                                 .modes = 1};
    char text[256], *save = NULL;
    as_copy_text(text, sizeof text, axes);
    for (char *part = strtok_r(text, " ", &save); part; part = strtok_r(NULL, " ", &save)) {
        char *value = strchr(part, '=');
        *value++ = '\0';
        assert_int_equal(as_axes_add(&c->axes, part, value, NULL), AS_OK);
    }
    return c;
}

static void derive(struct made *m)
{
    struct as_run run = {.id = 1};
    struct as_fact_input in = {&run, m->cells, m->n, &m->info, 1};
    free(m->facts);
    assert_int_equal(as_facts_derive(&in, &m->facts, &m->facts_n, NULL), AS_OK);
}

static const struct as_fact *find(const struct made *m, const char *id)
{
    return as_fact_find(m->facts, m->facts_n, m->info.id, id);
}

static const struct as_fact *get(const struct made *m, const char *id, double value)
{
    const struct as_fact *f = find(m, id);
    if (!f) {
        for (size_t i = 0; i < m->facts_n; i++)
            print_message("have %s: %s\n", m->facts[i].id, m->facts[i].sentence);
        fail_msg("no fact %s", id);
        abort();
    }
    assert_true(f->sentence[0] && f->rule[0] && f->refuted_by[0] && f->evidence_n > 0);
    if (isfinite(value) && !(fabs(f->value / value - 1) < 1e-9))
        fail_msg("%s is %g, not %g", id, f->value, value);
    return f;
}

static void says(const struct as_fact *f, const char *text)
{
    if (!strstr(f->sentence, text))
        fail_msg("'%s' does not say '%s'", f->sentence, text);
}

static void test_copies(void **unused)
{
    struct made m;
    (void)unused;
    start(&m);
    add(&m, "copy", "GB/s", 5, "from=pinned to=own direction=one how=engine size=4096");
    add(&m, "copy", "GB/s", 50, "from=pinned to=own direction=one how=engine size=268435456");
    add(&m, "copy", "GB/s", 25, "from=pinned to=own direction=one how=engine size=1048576");
    add(&m, "copy", "GB/s", 48, "from=pinned to=own direction=one how=kernel size=268435456");
    add(&m, "copy", "GB/s", 90, "from=own to=pinned direction=both how=engine size=268435456");
    add(&m, "copy", "GB/s", 9, "from=host to=own direction=one how=engine size=268435456");
    derive(&m);
    const struct as_fact *f = get(&m, "copy.engine.pinned.own", 50); /* the largest, not the last or the first */
    assert_int_equal(f->evidence[0], 2);
    says(f, "Copies of 256 MiB from pinned to own run at 50");
    says(get(&m, "copy.kernel.pinned.own", 48), "by a kernel");
    says(get(&m, "copy.engine.both.own.pinned", 90), "between own and pinned");
    says(get(&m, "copy.engine.host.own", 9), "plain host memory");
    assert_null(find(&m, "copy.pays.pinned")); /* nothing was read directly */
    end(&m);
}

/* 1/50 for the copy against 1/40 - 1/4000 saved in each pass */
static void test_copy_or_direct(void **unused)
{
    struct made m;
    (void)unused;
    start(&m);
    add(&m, "copy", "GB/s", 50, "from=pinned to=own direction=one how=engine size=268435456");
    add(&m, "bandwidth", "GB/s", 4000, "op=read level=memory size=1000000000 threads=0 allocator=own");
    struct as_cell *direct =
        add(&m, "bandwidth", "GB/s", 40, "op=read level=memory size=1000000000 threads=0 allocator=pinned");
    derive(&m);
    const struct as_fact *f = get(&m, "copy.pays.pinned", (1 / 50.0) / (1 / 40.0 - 1 / 4000.0));
    assert_int_equal(f->verdict, AS_SUPPORTED);
    assert_true(f->ci.lo < f->value && f->ci.hi > f->value);
    assert_int_equal(f->evidence_n, 3);
    direct->sum.median = 4100;
    direct->sum.ci = (struct as_interval){4050, 4150};
    derive(&m);
    f = get(&m, "copy.pays.pinned", NAN);
    assert_int_equal(f->verdict, AS_REFUTED);
    assert_true(isnan(f->value));
    says(f, "does not pay");
    end(&m);
}

static void test_links(void **unused)
{
    struct made m;
    (void)unused;
    start(&m);
    m.info.bus_bandwidth = 63e9;
    add(&m, "link", "GB/s", 350, "peer=1 node=0 allocator=own direction=to how=engine size=268435456");
    add(&m, "link", "GB/s", 370, "peer=1 node=0 allocator=own direction=to how=kernel size=268435456");
    add(&m, "link", "GB/s", 700, "peer=1 node=0 allocator=own direction=both how=engine size=268435456");
    add(&m, "link", "GB/s", 20, "peer=host node=1 allocator=pinned direction=from how=engine size=268435456");
    add(&m, "link", "GB/s", 1000, "peer=every node=0 allocator=own direction=to how=kernel size=268435456");
    add(&m, "link", "GB/s", 1, "peer=2 node=0 allocator=own direction=to how=engine size=64")->status =
        AS_CELL_UNTRUSTED;
    add(&m, "link_latency", "ns", 900, "peer=1 node=0 allocator=own what=load size=67108864 stride=128");
    add(&m, "link_latency", "ns", 800, "peer=1 node=0 allocator=own what=load size=2097152 stride=128");
    add(&m, "link_latency", "ns", 1200, "peer=host node=0 allocator=pinned what=atomic size=2097152 stride=128");
    derive(&m);
    const struct as_fact *f = get(&m, "link.1.to", 370);
    says(f, "The link to device 1 carries 370");
    says(f, "by a kernel");
    assert_string_equal(f->object, "link:1");
    assert_true(isnan(f->claimed));
    says(get(&m, "link.1.both", 700), "to and from device 1");
    f = get(&m, "link.host-1.from", 20);
    says(f, "from the host's memory node 1");
    assert_string_equal(f->object, "link:host-1");
    assert_true(fabs(f->claimed - 63) < 1e-9);
    says(get(&m, "link.every.to", 1000), "every other device");
    assert_null(find(&m, "link.2.to"));
    says(get(&m, "link.latency.1.load", 800), "A load from memory of device 1 takes 800 ns");
    says(get(&m, "link.latency.host-0.atomic", 1200), "An atomic addition in memory of the host takes");
    end(&m);
}

static void test_peaks_and_ridges(void **unused)
{
    struct made m;
    (void)unused;
    start(&m);
    struct as_cell *peak = add(&m, "roofline", "ops/s", 30e12, "type=f64 threads=0 width=best");
    peak->limit = 40e12;
    peak->clock_hz = 1.5e9; /* of 2 GHz: the bound is 30e12 there */
    add(&m, "roofline", "ops/s", 60e12, "type=f32 threads=0 width=best");
    add(&m, "roofline", "ops/s", 50e12, "type=f32 threads=0 width=512");
    derive(&m);
    const struct as_fact *f = get(&m, "arithmetic.peak.f64", 30e12);
    assert_true(fabs(f->claimed / 30e12 - 1) < 1e-9);
    says(f, "100.0% of what the units can do at the cell's 1.5");
    f = get(&m, "arithmetic.peak.f32", 60e12);
    assert_true(isnan(f->claimed));
    assert_null(find(&m, "ridge.f64.memory"));
    add(&m, "bandwidth", "GB/s", 4000, "op=read level=memory size=1000000000 threads=0 allocator=own");
    add(&m, "bandwidth", "GB/s", 3900, "op=triad level=memory size=1000000000 threads=0 allocator=own");
    derive(&m);
    f = get(&m, "ridge.f64.memory", 30e12 / 4e12);
    assert_true(f->ci.lo < f->value && f->ci.hi > f->value);
    assert_string_equal(f->unit, "ops/B");
    assert_int_equal(f->evidence_n, 2);
    assert_int_equal(f->evidence[1], 4); /* the faster of the two roofs */
    says(f, "7.5");
    get(&m, "ridge.f32.memory", 60e12 / 4e12);
    end(&m);
}

/* A kernel alone takes 400 us; 16 of them in as many queues 1 ms, so 6.4 were at work at once. */
static void test_queues(void **unused)
{
    struct made m;
    (void)unused;
    start(&m);
    add(&m, "concurrency", "ns", 62.5e3, "what=busy queues=16 priority=same");
    derive(&m);
    assert_null(find(&m, "concurrency.kernels")); /* against what? */
    add(&m, "concurrency", "ns", 400e3, "what=busy queues=1 priority=same");
    add(&m, "concurrency", "ns", 200e3, "what=busy queues=2 priority=same");
    add(&m, "concurrency", "ns", 2000, "what=rate queues=1 priority=same");
    add(&m, "concurrency", "ns", 2500, "what=rate queues=16 priority=same");
    add(&m, "concurrency", "ns", 3e6, "what=behind queues=1 priority=same");
    derive(&m);
    const struct as_fact *f = get(&m, "concurrency.kernels", 6.4);
    says(f, "6.4");
    says(f, "from 16 queues");
    assert_null(strstr(f->sentence, "as many as were tried"));
    assert_int_equal(f->evidence_n, 3);
    get(&m, "concurrency.rate", 0.8);
    assert_null(find(&m, "concurrency.priority"));
    add(&m, "concurrency", "ns", 0.5e6, "what=behind queues=1 priority=high");
    derive(&m);
    f = get(&m, "concurrency.priority", 6);
    assert_int_equal(f->evidence_n, 2);
    m.cells[0].sum.median = 25e3; /* all 16 */
    m.cells[0].sum.ci = (struct as_interval){24.9e3, 25.1e3};
    derive(&m);
    says(get(&m, "concurrency.kernels", 16), "as many as were tried");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),           cmocka_unit_test(test_copy_or_direct), cmocka_unit_test(test_links),
        cmocka_unit_test(test_peaks_and_ridges), cmocka_unit_test(test_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
