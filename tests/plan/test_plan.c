/* Axis expressions, suites and plans against known answers, with the test's own probes. */
#include "base/text.h"
#include "device/host.h"
#include "plan/plan.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"copy", "triad", "dot", NULL};
static const struct as_axis axes[] = {
    {.name = "size", .help = "h", .type = AS_AXIS_SIZE, .min = 64, .def = "4KiB"},
    {.name = "threads", .help = "h", .type = AS_AXIS_COUNT, .domain = AS_DOMAIN_THREADS, .min = 1, .def = "1"},
    {.name = "op", .help = "h", .type = AS_AXIS_WORD, .words = words, .def = "copy"},
    {.name = "allocator", .help = "h", .type = AS_AXIS_WORD, .domain = AS_DOMAIN_ALLOCATOR, .def = "first"},
    {0},
};
static const char *const quick[] = {"size=1KiB..8KiB op=all", "threads=all op=triad", NULL};
static const char *const full[] = {"size=64", "size=128 devices=opencl op=triad", "size=256 devices=cuda,cpu", NULL};
static enum as_applies applies(const struct as_device_info *info, const struct as_axes *a, struct as_error *err)
{
    (void)info;
    if (strcmp(as_axes_text(a, "op"), "dot") == 0 && as_axes_u64(a, "size") == 2048) {
        as_fail(err, AS_UNSUPPORTED, "no dot at 2 KiB");
        return AS_PRUNED;
    }
    if (strcmp(as_axes_text(a, "op"), "dot") == 0 && as_axes_u64(a, "size") == 4096) {
        as_fail(err, AS_UNSUPPORTED, "no dot at 4 KiB");
        return AS_INAPPLICABLE;
    }
    return AS_APPLIES;
}
static const struct as_probe probe_a = {.name = "alpha",
                                        .title = "Alpha",
                                        .question = "Q?",
                                        .metric = "m",
                                        .unit = "ns",
                                        .counts = "c",
                                        .axes = axes,
                                        .quick = quick,
                                        .full = full,
                                        .applies = applies};
static const struct as_probe probe_b = {.name = "beta",
                                        .title = "Beta",
                                        .question = "Q?",
                                        .metric = "m",
                                        .unit = "ns",
                                        .counts = "c",
                                        .axes = axes,
                                        .quick = quick,
                                        .full = quick,
                                        .needs = AS_CAP_SVM_ATOMICS};
const struct as_probe *const as_probes[] = {&probe_a, &probe_b, NULL};
const struct as_builtin_text as_suite_texts[] = {
    {"small", "[suite]\ntitle = Small\nbudget = 10s\nprecision = 2%\ntrials = 4\n[alpha]\nsize = 1KiB, 2KiB\n"
              "[alpha.more]\nop = triad\n"},
    {0}};
const struct as_probe *as_probe_find(const char *name)
{
    for (size_t i = 0; as_probes[i]; i++)
        if (strcmp(as_probes[i]->name, name) == 0)
            return as_probes[i];
    return NULL;
}
const struct as_axis *as_probe_axis(const struct as_probe *p, const char *name)
{
    for (size_t i = 0; p->axes[i].name; i++)
        if (strcmp(p->axes[i].name, name) == 0)
            return &p->axes[i];
    return NULL;
}

static struct as_device_info machine(void)
{
    struct as_device_info i = {.id = "cpu",
                               .backend = "cpu",
                               .threads = 12,
                               .capabilities = AS_CAP_HOST_KERNELS,
                               .memory_bytes = 16ull << 30,
                               .memory_free = 8ull << 30,
                               .caches_n = 3,
                               .allocators_n = 3};
    i.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 32 << 10};
    i.caches[1] = (struct as_cache){.level = 2, .kind = 'u', .size = 1 << 20};
    i.caches[2] = (struct as_cache){.level = 3, .kind = 'u', .size = 24 << 20};
    as_copy_text(i.allocators[0].name, 40, "malloc");
    as_copy_text(i.allocators[1].name, 40, "thp");
    i.allocators[1].role = AS_ROLE_HUGE_PAGES;
    as_copy_text(i.allocators[2].name, 40, "hugetlb");
    as_copy_text(i.allocators[2].why_not, 160, "no pages are reserved");
    return i;
}

/* The values of an expression as one string, or the error's text. */
static const char *values(const struct as_axis *axis, const char *expr)
{
    static char out[8192];
    struct as_device_info info = machine();
    struct as_axis_values v;
    struct as_error err = {0};
    out[0] = 0;
    if (as_axis_parse(axis, expr, &info, &v, &err)) {
        snprintf(out, sizeof out, "error: %s", err.text);
        return out;
    }
    for (size_t i = 0; i < v.n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "", v.v[i].text);
    as_axis_values_finish(&v);
    return out;
}

UNIT_TEST(test_sizes)
{
    assert_string_equal(values(&axes[0], "1KiB..8KiB"), "1024 2048 4096 8192");
    assert_string_equal(values(&axes[0], "1KiB..4KiB x2"), "1024 1408 2048 2880 4096");
    assert_string_equal(values(&axes[0], "4LLC"), "100663296");
    assert_string_equal(values(&axes[0], "0.5L1,L2,L2"), "16384 1048576");
    assert_string_equal(values(&axes[0], "16MiB..LLC"), "16777216 25165824");
    assert_string_equal(values(&axes[0], " 1 KiB , 3MiB "), "1024 3145728");
    assert_string_equal(values(&axes[0], "8EiB..15532559262904483838"), "9223372036854775808 15532559262904483838");
    assert_int_equal(strncmp(values(&axes[0], "8KiB..1KiB"), "error: axis 'size': the range", 29), 0);
    assert_non_null(strstr(values(&axes[0], "1KiB.."), "error"));
    assert_non_null(strstr(values(&axes[0], ""), "a value is missing"));
    assert_non_null(strstr(values(&axes[0], "1KiB,,2KiB"), "a value is missing"));
    assert_non_null(strstr(values(&axes[0], "32"), "below the smallest"));
    assert_non_null(strstr(values(&axes[0], "1KiB..4KiB x0"), "steps an octave"));
    assert_non_null(strstr(values(&axes[0], "1KiB..4KiB x99"), "steps an octave"));
    assert_non_null(strstr(values(&axes[0], "999999999999999999999"), "error"));
    assert_non_null(strstr(values(&axes[0], "-1"), "error"));
    assert_non_null(strstr(values(&axes[0], "nanLLC"), "error"));
    assert_non_null(strstr(values(&axes[0], "all"), "no largest value"));
}

UNIT_TEST(test_counts)
{
    assert_string_equal(values(&axes[1], "1..5"), "1 2 3 4 5");
    assert_string_equal(values(&axes[1], "all"), "1 2 4 8 12");
    assert_string_equal(values(&axes[1], "1,max"), "1 12");
    assert_string_equal(values(&axes[1], "1..12 x1"), "1 2 4 8 12");
    assert_non_null(strstr(values(&axes[1], "13"), "above the largest value 12 of this device"));
    assert_non_null(strstr(values(&axes[1], "0"), "below the smallest"));
    assert_non_null(strstr(values(&axes[1], "two"), "error"));
}

UNIT_TEST(test_words)
{
    assert_string_equal(values(&axes[2], "all"), "copy triad dot");
    assert_string_equal(values(&axes[2], "dot,copy,dot"), "dot copy");
    assert_non_null(strstr(values(&axes[2], "traid"), "did you mean 'triad'?"));
    assert_non_null(strstr(values(&axes[2], "1024"), "no value '1024'; its values: copy, triad, dot, all"));
    static const char *const many[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7",
                                       "a8", "a9", "b1", "b2", "b3", "b4", NULL};
    struct as_axis long_list = axes[2];
    long_list.words = many;
    assert_non_null(strstr(values(&long_list, "1024"), "'assay explain' of the probe has them"));
    struct as_axis overlap = axes[2]; /* a word that contains the others */
    overlap.all = "triad";
    assert_string_equal(values(&overlap, "all"), "triad");
    assert_string_equal(values(&overlap, "copy,all"), "copy triad");
    assert_string_equal(values(&axes[3], "all"), "malloc thp");
    assert_string_equal(values(&axes[3], "first"), "malloc");
    assert_string_equal(values(&axes[3], "hugetlb"), "hugetlb");
    assert_string_equal(values(&axes[3], "largest_pages"), "thp");
    assert_string_equal(values(&axes[3], "clSVMAlloc fine"), "");
}

static void make_plan(const char *suite, const char *const *sets, size_t n, struct as_plan *plan)
{
    struct as_suite s;
    struct as_error err = {0};
    struct as_device_info info = machine();
    assert_int_equal(as_suite_find(suite, &s, &err), AS_OK);
    *plan = (struct as_plan){0};
    assert_int_equal(as_plan_check_sets(&s, 1, &info, 1, sets, n, &err), AS_OK);
    if (as_plan_add(plan, &s, &info, sets, n, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&s);
}

UNIT_TEST(test_plan)
{
    struct as_plan plan;
    make_plan("alpha", NULL, 0, &plan);
    /* 4 sizes x 3 ops, one pruned, and 5 thread counts at 4 KiB, of which threads=1 exists already */
    assert_int_equal(plan.n, 4 * 3 - 1 + 5 - 1);
    size_t unsupported = 0;
    for (size_t i = 0; i < plan.n; i++)
        if (plan.cells[i].status == AS_CELL_UNSUPPORTED) {
            unsupported++;
            assert_string_equal(plan.cells[i].reason, "no dot at 4 KiB");
        }
    assert_int_equal(unsupported, 1);
    as_plan_finish(&plan);
    make_plan("small", NULL, 0, &plan);
    assert_int_equal(plan.n, 3);
    as_plan_finish(&plan);
}

UNIT_TEST(test_sets)
{
    struct as_plan plan;
    const char *const sets[] = {"size=1KiB,1EiB", "op=copy", "alpha.threads=2"};
    make_plan("small", sets, 3, &plan);
    assert_int_equal(plan.n, 2);
    assert_int_equal(plan.cells[0].status, AS_CELL_PLANNED);
    assert_int_equal((int)as_axes_number(&plan.cells[0].axes, "threads"), 2);
    assert_int_equal(plan.cells[1].status, AS_CELL_UNSUPPORTED);
    assert_non_null(strstr(plan.cells[1].reason, "requests"));
    as_plan_finish(&plan);
    const char *const hugetlb[] = {"allocator=hugetlb"};
    make_plan("small", hugetlb, 1, &plan);
    assert_string_equal(plan.cells[0].reason, "no pages are reserved");
    as_plan_finish(&plan);
}

static void plan_of(const char *text, struct as_plan *plan)
{
    struct as_suite s;
    struct as_error err = {0};
    struct as_device_info info = machine();
    if (as_suite_parse("x", text, &s, &err) || as_plan_add(plan, &s, &info, NULL, 0, &err))
        fail_msg("%s", err.text);
    as_suite_finish(&s);
}

static double precision_of(const struct as_plan *plan, const char *probe, unsigned size)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->cells[i].probe, probe) == 0 && as_axes_u64(&plan->cells[i].axes, "size") == size)
            return plan->cells[i].precision;
    fail_msg("no cell of %s with size %u", probe, size);
    return NAN;
}

/* Each section may set its own precision, before or after its grids. */
UNIT_TEST(test_precision)
{
    struct as_plan plan = {0};
    plan_of("[suite]\nprecision = 2%\n[alpha]\nsize = 128, 256\n[alpha.wide]\nprecision = 20%\nsize = 512\n"
            "[alpha.preset]\nprecision = 0.5\ngrids = quick\n[alpha.other]\nsize = 64\nprecision = 7%\n"
            "[beta]\ngrids = quick\nprecision = 30%\n",
            &plan);
    assert_true(precision_of(&plan, "alpha", 128) == 0.02 && precision_of(&plan, "alpha", 256) == 0.02);
    assert_true(precision_of(&plan, "alpha", 512) == 0.2);
    assert_true(precision_of(&plan, "alpha", 1024) == 0.5 && precision_of(&plan, "alpha", 8192) == 0.5);
    assert_true(precision_of(&plan, "alpha", 64) == 0.07);
    assert_true(precision_of(&plan, "beta", 0) == 0.3); /* which has no axes here */
    /* a cell requested by several sections is one cell, with the narrowest precision in any order */
    const size_t n = plan.n;
    plan_of("[suite]\nprecision = 4%\n[alpha]\nsize = 512, 128\n", &plan);
    assert_int_equal(plan.n, n);
    assert_true(precision_of(&plan, "alpha", 512) == 0.04 && precision_of(&plan, "alpha", 128) == 0.02);
    as_plan_finish(&plan);
}

/* The INI reader takes lines that begin with blanks for more of the line before. */
UNIT_TEST(test_indented)
{
    struct as_plan plan = {0};
    plan_of("[suite]\n  trials = 2\n\ttitle = Indented\n  [alpha]\n\t op = copy\n  size = 64\n  # size = 65\n", &plan);
    assert_int_equal(plan.n, 1);
    assert_string_equal(as_axes_text(&plan.cells[0].axes, "op"), "copy");
    as_plan_finish(&plan);
}

/* The same for a section's list of devices. */
UNIT_TEST(test_devices_before_a_preset)
{
    struct as_plan plan = {0};
    plan_of("[alpha]\ndevices = opencl\ngrids = quick\n[alpha.here]\nsize = 64\n", &plan);
    assert_int_equal(plan.n, 1);
    plan_of("[alpha]\ndevices = cuda\ngrids = full\n", &plan);
    assert_int_equal(plan.n, 1);
    plan_of("[alpha]\ngrids = full\nprecision = 3%\n", &plan); /* a section whose grids each have a list */
    assert_int_equal(plan.n, 2);
    as_plan_finish(&plan);
}

UNIT_TEST(test_lacking_device)
{
    struct as_plan plan;
    make_plan("beta", NULL, 0, &plan);
    assert_int_equal(plan.n, 1);
    assert_int_equal(plan.cells[0].status, AS_CELL_UNSUPPORTED);
    assert_string_equal(plan.cells[0].reason, "the device has no atomics shared by host and device");
    as_plan_finish(&plan);
}

/* If nothing is left, the reason is known. */
UNIT_TEST(test_pruned)
{
    static const char *const sets[] = {"size=2KiB", "op=dot"};
    struct as_plan plan;
    make_plan("small", sets, 2, &plan);
    assert_int_equal(plan.n, 0);
    assert_string_equal(plan.pruned, "alpha on cpu: no dot at 2 KiB");
    as_plan_finish(&plan);
    make_plan("small", sets, 1, &plan);
    assert_true(plan.n > 0);
    assert_string_equal(plan.pruned, "");
    as_plan_finish(&plan);
}

static void refused(const char *text, const char *part)
{
    struct as_suite s;
    struct as_error err = {0};
    if (as_suite_parse("x", text, &s, &err) == AS_OK)
        fail_msg("taken: %s", text);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
}

/* If a name could be both, a prefix decides. */
UNIT_TEST(test_suites_and_probes)
{
    static const struct {
        const char *name, *found, *why;
    } rows[] = {{"alpha", "alpha", NULL},
                {"probe:alpha", "alpha", NULL},
                {"small", "small", NULL},
                {"suite:small", "small", NULL},
                {"probe:small", NULL, "there is no probe 'small'"},
                {"suite:alpha", NULL, "there is no suite 'alpha'"},
                {"probe:alpah", NULL, "did you mean 'alpha'?"},
                {"probe:", NULL, "there is no probe ''"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_suite s;
        struct as_error err = {0};
        enum as_status st = as_suite_find(rows[i].name, &s, &err);
        assert_int_equal(st, rows[i].found ? AS_OK : AS_USAGE);
        if (st)
            assert_non_null(strstr(err.text, rows[i].why));
        else
            assert_string_equal(s.name, rows[i].found);
        as_suite_finish(&s);
    }
}

UNIT_TEST(test_bad_suites)
{
    refused("", "no probe is named");
    refused("[alpah]\nop=copy\n", "did you mean 'alpha'?");
    refused("[alpha]\nsiez=1KiB\n", "did you mean 'size'?");
    refused("[alpha]\n[beta]\nop=copy\n", "section '[alpha]' is empty");
    refused("[beta]\nop=copy\n[alpha]\n", "section '[alpha]' is empty");
    refused("op=copy\n", "before the first");
    refused("[suite]\nprecison=1%\n[alpha]\nop=copy\n", "did you mean 'precision'?");
    refused("[suite]\nprecision=0\n[alpha]\nop=copy\n", "not between 0 and 100%");
    refused("[alpha]\nop=copy\nprecision=0%\n", "not between 0 and 100%");
    refused("[alpha]\nop=copy\nprecision=0%\n", "suite 'x', line 3");
    refused("[alpha]\nprecision=101%\nop=copy\n", "suite 'x', line 2");
    refused("[alpha]\nprecision=nan\nop=copy\n", "line 2");
    refused("[alpha]\nprecision=wide\nop=copy\n", "\"wide\" is not a share");
    refused("[alpha]\nprecison=1%\nop=copy\n", "no axis 'precison'");
    refused("[suite]\ntrials=0\n[alpha]\nop=copy\n", "not between 1 and 100");
    refused("[alpha]\ngrids=quick\nop=copy\n", "must be alone");
    refused("[alpha]\nop=copy\ngrids=quick\n", "must be alone");
    refused("[alpha]\ngrids=some\n", "'quick' or 'full'");
    refused("[alpha]\nthis is no member\n", "line 2");
}

UNIT_TEST(test_settings)
{
    struct as_suite s;
    assert_int_equal(as_suite_find("small", &s, NULL), AS_OK);
    assert_true(fabs(s.budget_s - 10) < 1e-9 && fabs(s.precision - 0.02) < 1e-9);
    assert_int_equal(s.trials, 4);
    assert_int_equal(s.grids_n, 2);
    as_suite_finish(&s);
    assert_int_equal(as_suite_parse("each", "[suite]\nbudget_per_device=90s\n[alpha]\nop=copy\n", &s, NULL), AS_OK);
    assert_true(s.budget_s == 0 && fabs(s.device_budget_s - 90) < 1e-9);
    as_suite_finish(&s);
    struct as_error err = {0};
    assert_int_equal(as_suite_find("smal", &s, &err), AS_USAGE);
    assert_non_null(strstr(err.text, "did you mean 'small'?"));
    assert_int_equal(as_suite_find("/no/such.ini", &s, &err), AS_NOTFOUND);
}

UNIT_TEST(test_wrong_sets)
{
    static const char *const cases[][2] = {{"size", "not of the form"},
                                           {"=3", "not of the form"},
                                           {"size=", "not of the form"},
                                           {"sise=3", "did you mean 'size'?"},
                                           {"allocator=maloc", "did you mean 'malloc'?"},
                                           {"op=coyp", "alpha: axis 'op' has no value 'coyp'; did you mean 'copy'?"},
                                           {"beta.op=copy", NULL}};
    struct as_device_info info = machine();
    struct as_suite s;
    assert_int_equal(as_suite_find("small", &s, NULL), AS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_error err = {0};
        enum as_status st = as_plan_check_sets(&s, 1, &info, 1, &cases[i][0], 1, &err);
        assert_int_equal(st, AS_USAGE); /* beta is not in this suite, so its axes are refused too */
        if (cases[i][1])
            assert_non_null(strstr(err.text, cases[i][1]));
    }
    as_suite_finish(&s);
}

/* A cell written by another process: text of "axes", and a part of the reason. */
UNIT_TEST(test_foreign_cells)
{
    static const struct {
        const char *axes;
        enum as_status status;
        const char *why;
    } cases[] = {
        {"{\"size\":1024,\"threads\":12,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_OK, ""},
        {"{\"op\":\"copy\",\"allocator\":\"malloc\",\"threads\":1,\"size\":1024}", AS_OK, ""},
        {"{\"size\":1024,\"threads\":1,\"op\":\"copy\"}", AS_USAGE, "axis 'allocator' of probe 'alpha' has no value"},
        {"{}", AS_USAGE, "axis 'size'"},
        {"{\"size\":1024,\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\",\"ilp\":1}", AS_USAGE, "no axis 'ilp'"},
        {"{\"size\":8,\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "below the smallest"},
        {"{\"size\":1024,\"threads\":13,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "above the largest"},
        {"{\"size\":1024,\"threads\":0,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "below the smallest"},
        {"{\"size\":-1,\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "size"},
        {"{\"size\":\"1024\",\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE,
         "not one of its values"},
        {"{\"size\":\"1KiB..8KiB\",\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "not one"},
        {"{\"size\":1e300,\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_USAGE, "size"},
        {"{\"size\":1024,\"threads\":1,\"op\":\"all\",\"allocator\":\"malloc\"}", AS_USAGE, "not one of its values"},
        {"{\"size\":1024,\"threads\":1,\"op\":\"copi\",\"allocator\":\"malloc\"}", AS_USAGE, "did you mean 'copy'?"},
        {"{\"size\":1024,\"threads\":1,\"op\":5,\"allocator\":\"malloc\"}", AS_USAGE, "op"},
        {"{\"size\":1024,\"threads\":1,\"op\":\"copy\",\"allocator\":\"cuMemAlloc\"}", AS_UNSUPPORTED, "'cuMemAlloc'"},
        {"{\"size\":1024,\"threads\":1,\"op\":\"copy\",\"allocator\":\"hugetlb\"}", AS_UNSUPPORTED, "no pages are"},
        {"{\"size\":4096,\"threads\":1,\"op\":\"dot\",\"allocator\":\"malloc\"}", AS_UNSUPPORTED, "no dot at 4 KiB"},
        {"{\"size\":2048,\"threads\":1,\"op\":\"dot\",\"allocator\":\"malloc\"}", AS_UNSUPPORTED, "no dot at 2 KiB"},
        {"{\"size\":17179869184,\"threads\":1,\"op\":\"copy\",\"allocator\":\"malloc\"}", AS_UNSUPPORTED,
         "requests 16 GiB, free for it are 6 GiB"},
    };
    const struct as_device_info info = machine();
    struct as_cell cell = {.device = "cpu", .probe = "alpha", .metric = "m", .unit = "ns"};
    struct as_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err = (struct as_error){0};
        assert_int_equal(as_axes_from_json(cases[i].axes, &cell.axes, &err), AS_OK);
        assert_int_equal(as_plan_check_cell(&cell, &info, &err), cases[i].status);
        if (!strstr(err.text, cases[i].why))
            fail_msg("%s: %s", cases[i].axes, err.text);
    }
    as_axes_from_json(cases[0].axes, &cell.axes, &err);
    strcpy(cell.unit, "cycles");
    assert_int_equal(as_plan_check_cell(&cell, &info, &err), AS_USAGE);
    strcpy(cell.unit, "ns");
    strcpy(cell.device, "cuda:0");
    assert_int_equal(as_plan_check_cell(&cell, &info, &err), AS_UNSUPPORTED);
    strcpy(cell.device, "cpu");
    strcpy(cell.probe, "gamma");
    assert_int_equal(as_plan_check_cell(&cell, &info, &err), AS_USAGE);
    strcpy(cell.probe, "beta");
    cell.axes.n = 0; /* as a plan reports a missing capability of a device */
    assert_int_equal(as_plan_check_cell(&cell, &info, &err), AS_UNSUPPORTED);
    assert_non_null(strstr(err.text, "the device has no "));
}

/* All nodes of the host, however they are numbered, as counts and beside words. */
UNIT_TEST(test_nodes)
{
    static const char *const near[] = {"near", NULL};
    static const struct as_axis number = {.name = "from", .type = AS_AXIS_COUNT, .domain = AS_DOMAIN_NODE, .max = 1023},
                                word = {.name = "node", .type = AS_AXIS_WORD, .domain = AS_DOMAIN_NODE, .words = near};
    char all[4096] = "", beside[4096];
    struct as_cpus nodes;
    as_host_node_values("", &nodes);
    for (int node = -1; (node = as_cpus_next(&nodes, node)) >= 0;)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%d", all[0] ? " " : "", node);
    snprintf(beside, sizeof beside, "near %.4000s", all);
    assert_string_equal(values(&number, "all"), all);
    assert_string_equal(values(&word, "all"), beside);
    assert_string_equal(values(&number, "0,34,252"), "0 34 252");
    assert_string_equal(values(&word, "34,near,252"), "34 near 252");
    assert_non_null(strstr(values(&number, "1024"), "above the largest value 1023"));
    assert_non_null(strstr(values(&word, "1024"), "must be below 1024"));
    assert_non_null(strstr(values(&word, "nearer"), "has no value 'nearer'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_counts),
        cmocka_unit_test(test_words),          cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_pruned),         cmocka_unit_test(test_plan),
        cmocka_unit_test(test_sets),           cmocka_unit_test(test_precision),
        cmocka_unit_test(test_indented),       cmocka_unit_test(test_devices_before_a_preset),
        cmocka_unit_test(test_lacking_device), cmocka_unit_test(test_suites_and_probes),
        cmocka_unit_test(test_bad_suites),     cmocka_unit_test(test_settings),
        cmocka_unit_test(test_wrong_sets),     cmocka_unit_test(test_foreign_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
