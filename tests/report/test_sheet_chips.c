/* What the data sheet says about a chip beside measurements: whose figures, and from which source. */
#include "sheet_run.h"

#include "base/text.h"
#include "report/terminal/terminal.h"

#include <math.h>
#include <string.h>

static void name_device(const char *name, unsigned units)
{
    as_copy_text(gpu.name, sizeof gpu.name, name);
    gpu.compute_units = units;
}

/* Its bound follows from the pipes that the driver reports. */
static void add_f32(void)
{
    static char by_pipes[] = "{\"per_unit_cycle\":256}";
    struct as_cell *f32 = add_cell("roofline", "{\"type\":\"f32\",\"threads\":0}", 66e12, "FLOP/s");
    f32->limit = 66.8e12;
    f32->detail = by_pipes;
}

static void add_sheet(void)
{
    add_cell("bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":4294967296}", 3000, "GB/s");
    add_cell("matmul",
             "{\"path\":\"library\",\"type\":\"f16\",\"size\":8192,\"operands\":\"random\",\"hold\":\"burst\"}", 7e14,
             "FLOP/s");
    add_f32();
    add_fact("onchip.L1.latency", 32, "cycles", NAN);
    add_fact("clock.core", 2e9, "Hz", NAN);
    struct as_fact *size = add_fact("onchip.L2.size", 48 << 20, "B", NAN);
    size->ci = (struct as_interval){32 << 20, 64 << 20};
}

/* Figures that the driver does not report come from the data sheet for the device's name. */
static void test_data_sheet_of_a_known_device(void **state)
{
    (void)state;
    add_sheet();
    name_device("NVIDIA H100 80GB HBM3", 132);
    struct as_sheet s = made();
    const struct as_sheet_row *row = as_sheet_find(&s, "Memory", "write");
    assert_true(row->specified == 3350 && row->specified_by && as_sheet_share(row) == 3000. / 3350);
    assert_string_equal(row->specified_by->chip, "H100 SXM");
    row = as_sheet_find(&s, "Matrix", "FP16");
    assert_true(row->specified == 989.4e12 && strstr(row->specified_by->conditions, "dense"));
    row = as_sheet_find(&s, "Compute", "FP32");
    assert_true(row->specified == 66.8e12 && !row->specified_by); /* the driver's */
    row = as_sheet_find(&s, "L2", "capacity");
    assert_true(row->specified == 50 << 20 && isnan(as_sheet_share(row))); /* within the measured range */
    row = as_sheet_find(&s, "L1", "latency");
    assert_true(row->published && row->published->lo == 38 && isnan(row->specified));
    assert_string_equal(row->published->unit, "cycles");
    assert_true(as_sheet_has_published(&s) && as_sheet_has_specified(&s));
    as_sheet_finish(&s);
    gpu.peak_bandwidth = 3.36e12; /* reported by the driver, for all allocators */
    s = made();
    row = as_sheet_find(&s, "Memory", "write");
    assert_true(row->specified == 3360 && !row->specified_by);
    as_sheet_finish(&s);
}

static bool shows(const char *text)
{
    const struct as_table_style style = {.width = 100};
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_text_sheet(&run, "cuda:0", &style, &out, NULL), AS_OK);
    const bool found = strstr(as_buf_get(&out), text);
    as_buf_finish(&out);
    return found;
}

/* A driver reports, a data sheet specifies. The mark of a wide interval is explained if a row has it. */
static void test_text_names_source_and_marks(void **state)
{
    (void)state;
    add_f32();
    struct as_cell *c = add_cell(
        "bandwidth", "{\"threads\":0,\"level\":\"memory\",\"op\":\"write\",\"size\":4294967296}", 3000, "GB/s");
    c->sum.ci = (struct as_interval){2900, 3100};
    assert_true(shows("  reported  share"));
    assert_true(shows("Reported by driver or OS, or computed from what they report"));
    assert_false(shows("~"));
    c->status = AS_CELL_WIDE;
    assert_true(shows("~: 95% interval wider than requested; for causes: assay doctor"));
    name_device("NVIDIA H100 80GB HBM3", 132);
    assert_true(shows("specified  of spec"));
    assert_true(shows("Specified by: "));
    assert_true(shows("(values of driver or OS as reported)"));
    assert_false(shows("Reported by"));
}

static bool has_figures(void)
{
    struct as_sheet s = made();
    bool any = s.figures.n > 0;
    for (size_t i = 0; i < s.n; i++)
        any |= s.rows[i].specified_by || s.rows[i].published;
    as_sheet_finish(&s);
    return any;
}

/* Other names, partitions of a chip, and generic names. */
static void test_no_data_sheet_of_other_devices(void **state)
{
    (void)state;
    add_sheet();
    static const char *const names[] = {"",
                                        "NVIDIA",
                                        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                                        "*",
                                        "NVIDIA H1?0*",
                                        "[",
                                        "\x1b[2J\x07NVIDIA H100 80GB HBM3",
                                        "NVIDIA H100 80GB HBM3\n",
                                        "\xff\xfe",
                                        "nvidia h100 80gb hbm3",
                                        "A Radeon that is no RX 7900"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        name_device(names[i], 132);
        if (has_figures())
            fail_msg("figures of '%s'", names[i]);
    }
    name_device("NVIDIA H100 80GB HBM3", 66); /* half of it */
    assert_false(has_figures());
    name_device("NVIDIA H100 80GB HBM3", 264); /* not one chip */
    assert_false(has_figures());
    memset(gpu.name, 'A', sizeof gpu.name); /* unbounded */
    gpu.compute_units = 132;
    assert_false(has_figures());
    memset(gpu.name, '*', sizeof gpu.name);
    assert_false(has_figures());
}

/* A socket's bandwidth for a process that has the whole socket, twice for two sockets; none for halves of two. */
static void test_sockets(void **state)
{
    (void)state;
    struct as_refs refs;
    struct as_error err;
    struct as_device_info cpu = {.id = "cpu", .name = "AMD EPYC 9654 96-Core Processor"};
    static const struct {
        unsigned cores, packages;
        double bandwidth; /* NAN: none */
    } rows[] = {{96, 0, 460.8}, {192, 0, 921.6}, {2, 0, NAN},  {95, 0, NAN},
                {100, 0, NAN},  {96, 1, 460.8},  {96, 2, NAN}, {192, 2, 921.6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cpu.compute_units = rows[i].cores;
        cpu.packages = rows[i].packages;
        assert_int_equal(as_refs_of_device(&cpu, &refs, &err), AS_OK);
        const struct as_ref *ref = as_refs_find_line(&refs, "specified", "Memory", "triad", "GB/s");
        assert_true(ref ? ref->lo == rows[i].bandwidth : isnan(rows[i].bandwidth));
        ref = as_refs_find_line(&refs, "specified", "L3", "capacity", "B");
        assert_true(ref && ref->lo == 32 << 20); /* of one CCD, however many there are */
        as_refs_finish(&refs);
    }
}

static void test_another_chip(void **state)
{
    (void)state;
    struct as_refs chip;
    struct as_error err;
    add_sheet();
    name_device("NVIDIA H100 80GB HBM3", 132);
    assert_int_equal(as_refs_of_chip("mi300x", &chip, &err), AS_OK);
    run.chip = &chip;
    struct as_sheet s = made();
    assert_string_equal(s.chip, "MI300X");
    const struct as_sheet_row *row = as_sheet_find(&s, "Compute", "FP32");
    assert_true(row->specified == 163.4e12 && row->specified_by); /* never the driver's figure for this device */
    assert_true(as_sheet_find(&s, "Memory", "write")->published->lo == 4849);
    as_sheet_finish(&s);
    as_refs_finish(&chip);
    run.chip = NULL;
    static const struct {
        const char *asked, *chip;
    } rows[] = {{"h100", "H100 SXM"},     {"H100 pcie", "H100 PCIe"},    {"rtx4090", "RTX 4090"},
                {"mi250x", "MI250X GCD"}, {"mi250xcard", "MI250X card"}, {"m1", "M1"},
                {"m1 max", "M1 Max"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(as_refs_of_chip(rows[i].asked, &chip, &err), AS_OK);
        assert_string_equal(chip.v[0].chip, rows[i].chip);
        as_refs_finish(&chip);
    }
    assert_int_equal(as_refs_of_chip("", &chip, &err), AS_NOTFOUND);
    assert_int_equal(as_refs_of_chip("  ", &chip, &err), AS_NOTFOUND);
    assert_int_equal(as_refs_of_chip("h100 of another kind", &chip, &err), AS_NOTFOUND);
    assert_int_equal(as_refs_of_chip("h10", &chip, &err), AS_NOTFOUND); /* a part of a word names no chip */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_data_sheet_of_a_known_device, start),
        cmocka_unit_test_setup(test_text_names_source_and_marks, start),
        cmocka_unit_test_setup(test_no_data_sheet_of_other_devices, start),
        cmocka_unit_test_setup(test_sockets, start),
        cmocka_unit_test_setup(test_another_chip, start),
    };
    return cmocka_run_group_tests_name("data sheets of chips", tests, NULL, NULL);
}
