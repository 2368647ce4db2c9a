/* Claims of main memory in whole runs, on simulated machines whose caches end elsewhere than reported, or are not
 * reported. */
#include "fixture.h"

#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLD(kib) "[{\"level\":2,\"kind\":\"u\",\"shared\":1,\"size\":" #kib "}]"

static const struct machine {
    const char *what;
    const char *caches; /* as reported, JSON */
    const char *real;   /* bytes of the cache */
    bool sweep;         /* latencies are measured as well */
    const char *size;   /* of the arrays */
    enum as_cell_status status;
    enum as_gate_state gate;
    const char *text; /* of the gate, or the reason for no number */
} machines[] = {
    {"told right", TOLD(262144), "262144", true, "DRAM", AS_CELL_OK, AS_GATE_PASS, "4.5 times"},
    {"told right, and nothing else measured", TOLD(262144), "262144", false, "DRAM", AS_CELL_OK, AS_GATE_PASS,
     "4.5 times"},
    {"told too small", TOLD(262144), "700000", true, "DRAM", AS_CELL_REJECTED, AS_GATE_FAIL, "over a quarter"},
    {"told nothing", "[]", "33554432", true, "DRAM", AS_CELL_OK, AS_GATE_PASS, "no cache size is known"},
    {"told nothing, a large cache", "[]", "200000000", true, "DRAM", AS_CELL_REJECTED, AS_GATE_FAIL, "over a quarter"},
    {"told nothing, and nothing else measured", "[]", "33554432", false, "DRAM", AS_CELL_OK, AS_GATE_NA, "no plateau"},
    {"told nothing, a small array", "[]", "33554432", true, "64KiB", AS_CELL_UNSUPPORTED, AS_GATE_NA,
     "at least 256 MiB"},
    {"a small array", TOLD(262144), "262144", true, "512KiB", AS_CELL_UNSUPPORTED, AS_GATE_NA, "set size=DRAM"},
};

static void write_script(const char *path, const struct machine *m)
{
    char text[1024];
    const int n = snprintf(text, sizeof text,
                           "{\"seed\":1,\"execute\":true,\"noise\":{\"sd\":0.002},"
                           "\"levels\":[{\"size\":32768,\"ns\":1.5,\"gbs\":200},{\"size\":%s,\"ns\":5,\"gbs\":80},"
                           "{\"size\":0,\"ns\":90,\"gbs\":20}],"
                           "\"info\":{\"threads\":1,\"memory_bytes\":2000000000,\"memory_free\":2000000000,"
                           "\"max_alloc\":2000000000,\"caches\":%s}}",
                           m->real, m->caches);
    assert_in_range(n, 1, sizeof text - 1);
    write_text(path, text, (size_t)n);
}

static void measure(struct fixture *f, const struct machine *m, struct as_cell **cells, size_t *n)
{
    static const char *const suites[] = {"bandwidth", "latency"};
    char size[40];
    const char *const sets[] = {size,
                                "bandwidth.op=read",
                                "bandwidth.level=memory",
                                "bandwidth.threads=1",
                                "bandwidth.store=regular",
                                "bandwidth.width=128",
                                "latency.pattern=random",
                                "latency.size=16KiB,0.5DRAM1,DRAM1"};
    struct as_run_options options = {.suites = suites,
                                     .suites_n = m->sweep ? 2 : 1,
                                     .devices = "null",
                                     .sets = sets,
                                     .sets_n = m->sweep ? 8 : 6,
                                     .precision = 1,
                                     .trials = 2,
                                     .seed = 1,
                                     .has_seed = 1};
    struct as_run_result result;
    snprintf(size, sizeof size, "bandwidth.size=%s", m->size);
    check(f, as_run_start(f->store, &options, &result, &f->err));
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = result.run_id, .probe = "bandwidth"}, cells, n,
                            &f->err));
}

/* Arrays of 256 MiB are really filled: if other programs leave too little CPU time, a trial ends late. */
static bool was_too_busy(struct fixture *f)
{
    struct as_cell *cells = NULL;
    size_t n = 0, late = 0;
    check(f, as_store_cells(f->store, &(struct as_cell_filter){.run_id = 0}, &cells, &n, &f->err));
    for (size_t i = 0; i < n; i++)
        late += cells[i].status == AS_CELL_TIMEOUT;
    as_cells_free(cells, n);
    return late > 0;
}

static void test_claims(void **state)
{
    struct fixture *f = *state;
    char script[128];
    snprintf(script, sizeof script, "%s/script.json", f->folder);
    must_open(f, AS_STORE_WRITE);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *m = &machines[i];
        struct as_cell *cells = NULL;
        size_t n = 0;
        write_script(script, m);
        assert_int_equal(setenv("ASSAY_NULL", script, 1), 0);
        measure(f, m, &cells, &n);
        if (was_too_busy(f)) {
            as_cells_free(cells, n);
            print_message("too little of the CPUs for this test\n");
            skip();
        }
        assert_int_equal(n, 1);
        const struct as_gate_result *gate = &cells[0].gates[AS_GATE_FOOTPRINT];
        if (cells[0].status != m->status || gate->state != m->gate ||
            (!strstr(gate->text, m->text) && !strstr(cells[0].reason, m->text)))
            fail_msg("%s: %s (%s), gate %s: %s", m->what, as_cell_status_word(cells[0].status), cells[0].reason,
                     as_gate_state_word(gate->state), gate->text);
        as_cells_free(cells, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_claims, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
