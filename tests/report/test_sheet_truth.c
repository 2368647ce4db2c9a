/* Every line of the data sheet against a scripted truth: a machine whose value differs along each axis of each cell
 * that a line could confuse, with decoys that look better than the truth. A line missing from the table fails. */
#include "base/text.h"
#include "facts/facts.h"
#include "probe/probe.h"
#include "report/sheet/sheet.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KiB 1024.0
#define MiB (1024 * KiB)
#define GiB (1024 * MiB)
enum { CELLS_MAX = 8192, THREADS = 4, DEVICES = 2 };
static const double HZ = 2e9;

static struct as_device_info devices[DEVICES];
static struct as_report_run run;

#include "sheet_truth.inc"

static void read_axes(const char *text, struct as_axes *out)
{
    char copy[256], *save = NULL;
    struct as_error err;
    as_copy_text(copy, sizeof copy, text);
    *out = (struct as_axes){0};
    for (char *one = strtok_r(copy, ";", &save); one; one = strtok_r(NULL, ";", &save)) {
        char *value = strchr(one, '=');
        *value++ = 0;
        assert_int_equal(as_axes_add(out, one, value, &err), AS_OK);
    }
}

static bool is_there(const char *device, const char *probe, const struct as_axes *axes)
{
    for (size_t i = 0; i < run.cells_n; i++)
        if (strcmp(run.cells[i].device, device) == 0 && strcmp(run.cells[i].probe, probe) == 0 &&
            as_cell_key(probe, "", &run.cells[i].axes) == as_cell_key(probe, "", axes))
            return true;
    return false;
}

static void add_cell(const char *device, const char *probe, const char *unit, const struct as_axes *axes, double value)
{
    assert_true(run.cells_n < CELLS_MAX);
    if (is_there(device, probe, axes))
        return;
    struct as_cell *c = &run.cells[run.cells_n++];
    *c = (struct as_cell){.id = (int64_t)run.cells_n,
                          .axes = *axes,
                          .status = AS_CELL_OK,
                          .precision = 0.1,
                          .clock_hz = HZ,
                          .lower_is_better = strcmp(unit, "ns") == 0 || strcmp(unit, "x") == 0,
                          .limit = NAN,
                          .sum = {.n = 10, .trials = 5, .median = value, .ci = {0.999 * value, 1.001 * value}}};
    as_copy_text(c->device, sizeof c->device, device);
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
}

/* axes without the size, which is added last: "what=global;stride=64;size" */
static void add(const char *device, const char *probe, const char *unit, double value, const char *without, double size)
{
    char text[256];
    struct as_axes axes;
    snprintf(text, sizeof text, "%s=%.0f", without, size);
    read_axes(text, &axes);
    add_cell(device, probe, unit, &axes, value);
}

/* Curves from which levels follow: the time of a chase over `bytes` bytes. */
static void add_curves(void)
{
    for (double size = 4 * KiB; size <= 4 * GiB; size *= 2) {
        const double ns = size <= 32 * KiB    ? 1.5
                          : size <= MiB       ? 4.8
                          : size <= 32 * MiB  ? 22
                          : size <= 256 * MiB ? 50
                                              : 110;
        add("cpu", "latency", "ns", ns, "pattern=random;allocator=thp;stride=64;instrument=timed;size", size);
        add("cpu", "latency", "ns", 1.5 * ns, "pattern=random;allocator=mmap;stride=64;instrument=timed;size", size);
    }
    for (int k = 0; k <= 64; k++) {
        const double size = round(4 * KiB * exp2(k / 4.0));
        const double ns = size <= 256 * KiB ? 16.5 : size <= 50 * MiB ? 130 : 345;
        add("cuda:0", "onchip", "ns", ns, "what=global;stride=64;shared=0;size", size);
        if (size >= 4 * MiB)
            add("cuda:0", "onchip", "ns", ns + 100, "what=atomic;stride=64;shared=0;size", size);
    }
    add("cuda:0", "onchip", "ns", 12, "what=shared;stride=64;shared=0;size", 4096);
    static const double requests[] = {1024, 2048, 4096, 8192, 16384, 32768, 57000, 75000, 110000, 131072};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) /* the system reserves 1 KiB per workgroup */
        add("cuda:0", "occupancy", "workgroups", fmin(32, floor(228 * KiB / (requests[i] + KiB))),
            "threads=32;values=0;shared", requests[i]);
    add("cuda:0", "occupancy", "workgroups", 32, "threads=32;values=0;shared", 0);
}

/* Cells that differ from the truth in one axis and look better. */
static void add_decoys(const struct truth *t)
{
    struct as_axes axes;
    const bool time = strcmp(t->unit, "ns") == 0 || strcmp(t->unit, "x") == 0;
    read_axes(t->axes, &axes);
    for (size_t a = 0; a < axes.n; a++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            char values[160], *save = NULL;
            const bool end = strcmp(axes.v[a].name, "from") == 0 || strcmp(axes.v[a].name, "to") == 0;
            if (strcmp(others[k].axis, axes.v[a].name) != 0 || (end && strcmp(t->probe, "copy") != 0))
                continue; /* another pair of cores is the same quantity */
            as_copy_text(values, sizeof values, others[k].values);
            for (char *v = strtok_r(values, " ", &save); v; v = strtok_r(NULL, " ", &save)) {
                struct as_axes other = {0};
                struct as_error err;
                for (size_t i = 0; i < axes.n; i++)
                    assert_int_equal(as_axes_add(&other, axes.v[i].name, i == a ? v : axes.v[i].text, &err), AS_OK);
                add_cell(t->device, t->probe, t->unit, &other, time ? t->value / 3 : t->value * 3);
            }
        }
}

static int start(void **state)
{
    (void)state;
    devices[0] = (struct as_device_info){
        .id = "cpu",
        .backend = "cpu",
        .compute_units = THREADS,
        .threads = THREADS,
        .numa_nodes = 2,
        .page_size = 4096,
        .capabilities = AS_CAP_HOST_KERNELS | AS_CAP_FP64,
        .caches_n = 4,
        .caches = {
            {.level = 1, .kind = 'd', .size = 32 << 10, .line = 64, .shared = 1},
            {.level = 2, .kind = 'u', .size = 1 << 20, .line = 64, .shared = 1},
            {.level = 3, .kind = 'u', .size = 32 << 20, .line = 64, .shared = THREADS},
            {.level = 4, .kind = 'u', .size = 256 << 20, .shared = THREADS, .memory_side = true, .name = "SLC"}}};
    devices[1] = (struct as_device_info){.id = "cuda:0",
                                         .backend = "cuda",
                                         .compute_units = 100,
                                         .siblings = 2,
                                         .collectives = "NCCL 2.27.3",
                                         .capabilities = AS_CAP_SOURCE | AS_CAP_COPY | AS_CAP_FP64,
                                         .compute_unit_shared = 228 << 10,
                                         .caches_n = 1,
                                         .caches = {{.level = 2, .kind = 'u', .size = 50 << 20, .shared = 0}}};
    run = (struct as_report_run){.devices = devices, .devices_n = DEVICES};
    run.cells = calloc(CELLS_MAX, sizeof *run.cells);
    assert_non_null(run.cells);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct as_axes axes;
        read_axes(truths[i].axes, &axes);
        add_cell(truths[i].device, truths[i].probe, truths[i].unit, &axes, truths[i].value);
    }
    add_curves();
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        add_decoys(&truths[i]);
    struct as_error err;
    const struct as_fact_input input = {
        .run = &run.run, .cells = run.cells, .cells_n = run.cells_n, .devices = devices, .devices_n = DEVICES};
    assert_int_equal(as_facts_derive(&input, &run.facts, &run.facts_n, &err), AS_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(run.cells);
    free(run.facts);
    return 0;
}

/* The label of a line as the table has it. */
static const struct as_sheet_row *row_of(const struct as_sheet *s, const char *group, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->rows[i].of->group, group) == 0 && strcmp(s->rows[i].of->label, label) == 0)
            return &s->rows[i];
    return NULL;
}

UNIT_TEST(test_lines)
{
    struct as_error err;
    int bad = 0;
    for (size_t d = 0; d < DEVICES; d++) {
        struct as_sheet s;
        assert_int_equal(as_sheet_make(&run, devices[d].id, &s, &err), AS_OK);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            if (strcmp(lines[i].device, devices[d].id) != 0)
                continue;
            const struct as_sheet_row *row = row_of(&s, lines[i].group, lines[i].label);
            const double truth = lines[i].value;
            struct as_buf details = AS_BUF_INIT;
            if (row)
                as_sheet_details(row, &details);
            const char *said = as_buf_get(&details);
            if (!row)
                bad++, print_error("%s: no line %s %s\n", devices[d].id, lines[i].group, lines[i].label);
            else if (strcmp(row->unit, "B") == 0 ? row->ci.lo > truth || row->ci.hi < truth
                                                 : fabs(row->value / truth - 1) > 0.02)
                bad++, print_error("%s: %s %s is %g (%g to %g) %s, not %g; %s\n", devices[d].id, lines[i].group,
                                   lines[i].label, row->value, row->ci.lo, row->ci.hi, row->unit, truth, said);
            else if (lines[i].remark && !strstr(said, lines[i].remark))
                bad++, print_error("%s: %s %s says '%s', not '%s'\n", devices[d].id, lines[i].group, lines[i].label,
                                   said, lines[i].remark);
            as_buf_finish(&details);
        }
        as_sheet_finish(&s);
    }
    assert_int_equal(bad, 0);
}

static bool is_tested(const char *device, const struct as_quantity *line)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (strcmp(lines[i].device, device) == 0 && strcmp(lines[i].group, line->group) == 0 &&
            strcmp(lines[i].label, line->label) == 0)
            return true;
    return false;
}

/* Each line of the table, on each side that has it. */
UNIT_TEST(test_no_line_is_forgotten)
{
    for (const struct as_quantity *line = as_quantities; line->name; line++)
        for (const struct as_quantity_source *source = line->sources; source->from && !line->beside; source++) {
            const enum as_side side = source->side;
            const bool cpu = is_tested("cpu", line), device = is_tested("cuda:0", line);
            const bool l3 = strcmp(line->group, "L3") == 0 && cpu; /* the same sources as L2, which this GPU has */
            if (!l3 && (side == AS_SIDE_BOTH ? !cpu && !device : side == AS_SIDE_CPU ? !cpu : !device))
                fail_msg("%s %s has no truth", line->group, line->label);
        }
}

/* Axes that the truth does not list could be confused unnoticed. */
UNIT_TEST(test_no_axis_is_forgotten)
{
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        const struct as_probe *probe = as_probe_find(truths[i].probe);
        struct as_axes axes;
        read_axes(truths[i].axes, &axes);
        assert_non_null(probe);
        for (const struct as_axis *axis = probe->axes; axis->name; axis++)
            if (!as_axes_get(&axes, axis->name))
                fail_msg("%s: %s has no %s", truths[i].probe, truths[i].axes, axis->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_no_line_is_forgotten),
                                       cmocka_unit_test(test_no_axis_is_forgotten)};
    return cmocka_run_group_tests_name("data sheet beside the truth", tests, start, end);
}
