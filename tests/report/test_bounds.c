/* Data sheet and gate `limit` agree: each line with a specified or reported rate comes from a cell that is rejected at
 * 110% of that rate and accepted at 100%. */
#include "base/text.h"
#include "model/judge.h"
#include "quantity/quantity.h"
#include "refs/bounds.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 3, SAMPLES = 20, MIB = 1 << 20 };

/* The cell behind a line's number: its probe and axes. */
static const struct row {
    const char *group, *label, *unit, *probe, *axes;
} rows[] = {
    {"Compute", "FP64", "FLOP/s", "roofline", "type=f64"},
    {"Compute", "FP32", "FLOP/s", "roofline", "type=f32"},
    {"Compute", "FP16", "FLOP/s", "roofline", "type=f16"},
    {"Matrix", "FP64", "FLOP/s", "matmul", "path=library type=f64"},
    {"Matrix", "TF32", "FLOP/s", "matmul", "path=library type=tf32"},
    {"Matrix", "FP16", "FLOP/s", "matmul", "path=library type=f16"},
    {"Matrix", "BF16", "FLOP/s", "matmul", "path=library type=bf16"},
    {"Matrix", "FP8", "FLOP/s", "matmul", "path=library type=e4m3"},
    {"Matrix", "INT8", "OP/s", "matmul", "path=library type=s8"},
    {"Memory", "read", "GB/s", "bandwidth", "level=memory op=read allocator=own"},
    {"Memory", "read, 1 thread", "GB/s", "bandwidth", "level=memory op=read allocator=own"},
    {"Memory", "write", "GB/s", "bandwidth", "level=memory op=write allocator=own"},
    {"Memory", "copy", "GB/s", "bandwidth", "level=memory op=copy allocator=own"},
    {"Memory", "triad", "GB/s", "bandwidth", "level=memory op=triad allocator=own"},
    {"Host link", "to device", "GB/s", "link", "peer=host direction=from how=engine allocator=pinned"},
    {"Host link", "to device", "GB/s", "copy", "from=pinned to=own direction=one how=engine"},
    {"Host link", "to device", "GB/s", "copy", "from=host to=own direction=one how=engine"},
    {"Host link", "from device", "GB/s", "link", "peer=host direction=to how=kernel allocator=pinned"},
    {"Host link", "from device", "GB/s", "copy", "from=own to=pinned direction=one how=kernel"},
    {"Host link", "bidirectional", "GB/s", "link", "peer=host direction=both how=engine allocator=pinned"},
    {"Host link", "bidirectional", "GB/s", "copy", "from=own to=pinned direction=both how=engine"},
    {"GPU to GPU", "write", "GB/s", "link", "peer=1 direction=to how=engine allocator=own"},
    {"GPU to GPU", "read", "GB/s", "link", "peer=1 direction=from how=kernel allocator=own"},
    {"GPU to GPU", "bidirectional", "GB/s", "link", "peer=31 direction=both how=engine allocator=own"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void set_axes(struct as_axes *axes, const char *text)
{
    char copy[200], *save = NULL;
    struct as_error err = {0};
    *axes = (struct as_axes){0};
    as_copy_text(copy, sizeof copy, text);
    for (char *one = strtok_r(copy, " ", &save); one; one = strtok_r(NULL, " ", &save)) {
        char *value = strchr(one, '=');
        assert_non_null(value);
        *value++ = '\0';
        assert_int_equal(as_axes_add(axes, one, value, &err), AS_OK);
    }
}

/* A device with its own memory and the figures of an H100's data sheet, driver and bus. */
static void make_gpu(struct as_device_info *info)
{
    *info = (struct as_device_info){.id = "card:0",
                                    .backend = "card",
                                    .name = "NVIDIA H100 80GB HBM3",
                                    .capabilities = AS_CAP_SOURCE | AS_CAP_COPY,
                                    .compute_units = 132,
                                    .clock_max_hz = 1.98e9,
                                    .peak_bandwidth = 3352e9,
                                    .bus = "PCIe 5.0 x16",
                                    .bus_bandwidth = 63e9,
                                    .peer_bus = "NVLink 4 x18",
                                    .peer_bandwidth = 478e9,
                                    .caches_n = 1,
                                    .caches = {{.level = 2, .kind = 'u', .size = 50 * MIB}},
                                    .allocators_n = 4,
                                    .allocators = {{.name = "own", .role = AS_ROLE_DEVICE},
                                                   {.name = "pinned", .host_access = true, .role = AS_ROLE_PINNED},
                                                   {.name = "managed", .host_access = true, .role = AS_ROLE_MANAGED},
                                                   {.name = "mapped", .role = AS_ROLE_DEVICE_MAPPED}}};
}

static struct as_bound bound_of(const struct as_device_info *info, const char *probe, const char *unit,
                                const char *text)
{
    struct as_axes axes;
    struct as_error err = {0};
    struct as_bound b;
    set_axes(&axes, text);
    const struct as_bound_trial trial = {
        .probe = probe, .axes = &axes, .unit = unit, .footprint = (uint64_t)4096 * MIB};
    if (as_bound_of_trial(info, &trial, &b, &err))
        fail_msg("%s", err.text);
    return b;
}

/* The state of a cell whose trials all measured this value, under that bound. */
static enum as_cell_status judged(const struct as_bound *bound, const char *unit, double value)
{
    struct as_error err = {0};
    struct as_cell cell = {.device = "card:0", .probe = "bandwidth", .precision = 0.05};
    struct as_trials trials = {0};
    const struct as_judge_device device = {.id = "card:0"};
    struct as_judge judge = {.devices = &device, .devices_n = 1, .trials_asked = TRIALS, .reference_hz = NAN};
    const struct as_judge_context context = {0};
    as_copy_text(cell.unit, sizeof cell.unit, unit);
    for (int t = 0; t < TRIALS; t++) {
        struct as_trial v = {.number = t,
                             .n = SAMPLES,
                             .samples = calloc(SAMPLES, sizeof(double)),
                             .clock_hz = NAN,
                             .limit = bound->value,
                             .checksum = AS_GATE_PASS,
                             .status = AS_CELL_OK,
                             .duration_s = 0.1};
        assert_non_null(v.samples);
        for (int i = 0; i < SAMPLES; i++)
            v.samples[i] = value * (1 + 1e-3 * ((i + t) % 3));
        as_copy_text(v.limit_why, sizeof v.limit_why, bound->why);
        assert_int_equal(as_trials_add(&trials, &v, &err), AS_OK);
    }
    assert_int_equal(as_judge_learn(&judge, &cell, &trials, 1, &err), AS_OK);
    assert_int_equal(as_judge_cell(&judge, &cell, &trials, &context, &err), AS_OK);
    const enum as_cell_status status = cell.status;
    as_trials_finish(&trials);
    as_judge_finish(&judge);
    return status;
}

static bool is_rate(const char *unit)
{
    const size_t n = strlen(unit);
    return n > 2 && strcmp(unit + n - 2, "/s") == 0;
}

/* Does the device's line show a share, and of what? */
static double shown(const struct as_device_info *info, const struct as_refs *figures, const char *group,
                    const char *label, const char *unit)
{
    const double reported = as_reported_line(info, group, label, unit);
    const struct as_ref *ref = as_refs_find_line(figures, "specified", group, label, unit);
    return isfinite(reported) ? reported : ref ? ref->lo : NAN;
}

UNIT_TEST(test_shares_are_bounds)
{
    struct as_device_info info;
    struct as_refs figures;
    struct as_error err = {0};
    size_t shares = 0;
    make_gpu(&info);
    assert_int_equal(as_refs_of_device(&info, &figures, &err), AS_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        const double specified = shown(&info, &figures, r->group, r->label, r->unit);
        const struct as_bound b = bound_of(&info, r->probe, r->unit, r->axes);
        assert_true(isfinite(specified) && isfinite(b.value) && b.why[0]);
        /* never tighter than printed; only a clock above the printed one makes it looser, by some percent */
        assert_true(b.value >= specified && b.value <= 1.1 * specified);
        if (judged(&b, r->unit, 1.1 * b.value) != AS_CELL_REJECTED)
            fail_msg("%s %s: 110%% is accepted", r->group, r->label);
        if (judged(&b, r->unit, b.value) != AS_CELL_OK)
            fail_msg("%s %s: 100%% is refused", r->group, r->label);
        shares++;
    }
    assert_int_equal(shares, ROWS);
    as_refs_finish(&figures);
}

/* Each line of the sheet with a specified rate is represented by a row above. */
UNIT_TEST(test_rows_are_complete)
{
    static const char *const sets[] = {"gpus", "cpus"}, *const units[] = {"GB/s", "FLOP/s", "OP/s"};
    struct as_device_info info;
    struct as_error err = {0};
    make_gpu(&info);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        struct as_refs refs;
        assert_int_equal(as_refs_load(sets[k], &refs, &err), AS_OK);
        for (const struct as_quantity *line = as_quantities; line->name; line++)
            for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
                bool stands = line->beside ||
                              strcmp(line->group, "L3") == 0; /* of a cache in front of memory, which no cell claims */
                for (size_t i = 0; i < ROWS && !stands; i++)
                    stands = strcmp(rows[i].group, line->group) == 0 && strcmp(rows[i].label, line->label) == 0 &&
                             strcmp(rows[i].unit, units[u]) == 0;
                /* times and latencies of these groups have other units */
                if (!stands && is_rate(units[u]) && !strstr(line->label, "latency") &&
                    isfinite(shown(&info, &refs, line->group, line->label, units[u])))
                    fail_msg("%s, %s: no cell is rejected by what the sheet shows beside it", line->group, line->label);
            }
        as_refs_finish(&refs);
    }
}

/* A device without the driver's figures has those of its data sheet; an unknown one has no bound. */
UNIT_TEST(test_sources)
{
    struct as_device_info info;
    make_gpu(&info);
    info.peak_bandwidth = info.bus_bandwidth = 0;
    assert_true(fabs(bound_of(&info, "bandwidth", "GB/s", "level=memory op=read allocator=own").value - 3350) < 10);
    assert_true(bound_of(&info, "link", "GB/s", "peer=host direction=to").value == 64);
    /* a boost clock below the highest: 4096 operations per cycle and SM */
    const double f16 = bound_of(&info, "matmul", "FLOP/s", "path=library type=f16").value;
    assert_true(fabs(f16 / (4096 * 132 * 1.98e9) - 1) < 1e-9);
    info.clock_max_hz = 0;
    assert_true(fabs(bound_of(&info, "matmul", "FLOP/s", "path=library type=f16").value / 989.4e12 - 1) < 1e-3);
    /* a clock far below: the printed value */
    info.clock_max_hz = 1.755e9;
    assert_true(fabs(bound_of(&info, "roofline", "FLOP/s", "type=f32").value / 66.9e12 - 1) < 1e-3);
    as_copy_text(info.name, sizeof info.name, "another");
    assert_true(isnan(bound_of(&info, "roofline", "FLOP/s", "type=f32").value));
    info.peak_bandwidth = 100e9;
    const struct as_bound driver = bound_of(&info, "topology", "GB/s", "place=memory");
    assert_true(driver.value == 100 && strstr(driver.why, "reported"));
}

/* Where a bound does not apply. */
UNIT_TEST(test_none)
{
    struct as_device_info info;
    make_gpu(&info);
    static const struct {
        const char *probe, *axes;
    } none[] = {
        {"bandwidth", "level=sweep op=read allocator=own"},                     /* in a cache */
        {"copy", "from=managed to=own direction=one how=engine"},               /* may stay on the device */
        {"copy", "from=pinned to=pinned direction=one how=engine"},             /* may be done by the host */
        {"link", "peer=every direction=to how=engine allocator=own"},           /* several links */
        {"interference", "victim=cpu op=read aggressor=read allocator=pinned"}, /* on the CPU */
        {"migration", "touch=cpu agent=device pass=1 what=bandwidth allocator=managed"},
        {"migration", "touch=device agent=cpu pass=1 what=bandwidth allocator=pinned"},    /* by the CPU */
        {"migration", "touch=device agent=device pass=1 what=bandwidth allocator=pinned"}, /* may be in its caches */
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(isnan(bound_of(&info, none[i].probe, "GB/s", none[i].axes).value));
    assert_true(isnan(bound_of(&info, "link_latency", "ns", "peer=host what=load").value));
    /* twice through memory; over the link in both directions */
    assert_true(bound_of(&info, "copy", "GB/s", "from=own to=mapped direction=one how=kernel").value == 1676);
    assert_true(bound_of(&info, "copy", "GB/s", "from=pinned to=pinned direction=one how=kernel").value == 64);
    assert_true(bound_of(&info, "bandwidth", "GB/s", "level=memory op=read allocator=pinned").value == 64);
    assert_true(bound_of(&info, "bandwidth", "GB/s", "level=memory op=triad allocator=pinned").value == 128);
    assert_true(
        bound_of(&info, "migration", "GB/s", "touch=cpu agent=device pass=1 what=bandwidth allocator=pinned").value ==
        64);
    info.is_host_memory = true;
    assert_true(isnan(bound_of(&info, "link", "GB/s", "peer=host direction=to").value));
    assert_true(bound_of(&info, "bandwidth", "GB/s", "level=memory op=read allocator=pinned").value >= 3350);
}

/* A known device whose API reports no cache gets one; unknown devices, and APIs that report one, are unchanged. */
UNIT_TEST(test_specified_cache)
{
    struct as_device_info info;
    struct as_error err = {0};
    make_gpu(&info);
    assert_int_equal(as_specified_cache(&info, &err), AS_OK);
    assert_int_equal(info.caches_n, 1);
    info.caches_n = 0;
    assert_int_equal(as_specified_cache(&info, &err), AS_OK);
    assert_int_equal(as_info_cache(&info, 2), 50 * MIB);
    assert_string_equal(info.caches[0].source, "table");
    info.caches_n = 0;
    as_copy_text(info.name, sizeof info.name, "another");
    assert_int_equal(as_specified_cache(&info, &err), AS_OK);
    assert_int_equal(info.caches_n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares_are_bounds),
                                       cmocka_unit_test(test_rows_are_complete), cmocka_unit_test(test_sources),
                                       cmocka_unit_test(test_none), cmocka_unit_test(test_specified_cache)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
