/* Identical GPUs in the terminal: the first in full, of the others what differs. */
#include "base/text.h"
#include "golden.h"
#include "report/terminal/terminal.h"
#include "synth.h"
#include "tests/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct synth *s;
static struct as_report_run *run;

static int make_eight(void **state)
{
    (void)state;
    s = synth_make("eight");
    run = s ? &s->runs[0] : NULL;
    for (size_t i = 0; s && i < run->cells_n; i++) /* of which the first has more than the others */
        if (strncmp(run->cells[i].device, "cuda:", 5) == 0)
            as_copy_text(run->cells[i].device, sizeof run->cells[i].device, "none");
    return s ? 0 : -1;
}

static int free_eight(void **state)
{
    (void)state;
    synth_free(s);
    return 0;
}

/* The fact of a device with half an interval; its number times scale. */
static void set_fact(const char *device, const char *id, double scale, double half)
{
    bool found = false;
    for (size_t i = 0; i < run->facts_n; i++) {
        struct as_fact *f = &run->facts[i];
        if (strcmp(f->device, device) != 0 || strcmp(f->id, id) != 0)
            continue;
        f->value *= scale;
        f->ci = (struct as_interval){f->value * (1 - half), f->value * (1 + half)};
        found = true;
    }
    assert_true(found);
}

static void forget_fact(const char *device, const char *id)
{
    for (size_t i = 0; i < run->facts_n; i++)
        if (strcmp(run->facts[i].device, device) == 0 && strcmp(run->facts[i].id, id) == 0)
            as_copy_text(run->facts[i].id, sizeof run->facts[i].id, "none");
}

static struct as_buf text_of(const char *device, unsigned width)
{
    const struct as_table_style style = {.width = width};
    struct as_buf out = AS_BUF_INIT;
    struct as_error err = {0};
    assert_int_equal(as_text_sheet(run, device, &style, &out, &err), AS_OK);
    return out;
}

static size_t count(const struct as_buf *text, const char *what)
{
    size_t n = 0;
    for (const char *at = as_buf_get(text); (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

/* From the block of the others on. */
static struct as_buf alike_of(const struct as_buf *text)
{
    struct as_buf part = AS_BUF_INIT;
    const char *at = strstr(as_buf_get(text), "\ncuda:1 to cuda:7: ");
    assert_non_null(at);
    as_buf_str(&part, at);
    return part;
}

UNIT_TEST(equal_ones_take_two_lines)
{
    struct as_buf text = text_of(NULL, 100), block = alike_of(&text);
    assert_int_equal(count(&text, "NVIDIA H200"), 2);
    assert_non_null(strstr(as_buf_get(&block), ": NVIDIA H200, no line differs from cuda:0 ("));
    assert_int_equal(count(&block, "\n"), 3);
    assert_non_null(strstr(as_buf_get(&block), "  Each in full: assay show "));
    assert_non_null(strstr(as_buf_get(&block), " --device all\n"));
    as_buf_finish(&text);
    as_buf_finish(&block);
}

/* One is slower, three have another latency, one has no number, one has another power limit. */
static void plant(void)
{
    for (int i = 0; i < 8; i++) {
        char id[16];
        snprintf(id, sizeof id, "cuda:%d", i);
        set_fact(id, "onchip.L2.latency", i >= 3 && i <= 5 ? 1.1 + 0.001 * i : 1, 0.005);
        set_fact(id, "clock.core", i == 6 ? 0.9 : i == 2 ? 1.005 : 1, 0.001);
    }
    forget_fact("cuda:4", "onchip.L1.latency");
    for (size_t i = 0; i < run->devices_n; i++)
        run->devices[i].power_limit = strcmp(run->devices[i].id, "cuda:7") == 0 ? 500 : 700;
}

UNIT_TEST(what_differs_is_listed)
{
    static const unsigned widths[] = {120, 60, 40};
    plant();
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[32];
        struct as_buf text = text_of(NULL, widths[i]), block = alike_of(&text);
        snprintf(name, sizeof name, "alike-%u.txt", widths[i]);
        assert_golden(name, &block);
        as_buf_finish(&text);
        as_buf_finish(&block);
    }
}

UNIT_TEST(each_in_full_where_it_is_asked_for)
{
    struct as_buf every = text_of(AS_TEXT_EVERY, 100), third = text_of("cuda:3", 100);
    plant();
    assert_int_equal(count(&every, ": NVIDIA H200\n"), 8);
    assert_int_equal(count(&third, ": NVIDIA H200\n"), 1);
    assert_int_equal(count(&third, "\ncuda:3: "), 1);
    assert_int_equal(count(&every, "differ from cuda:0") + count(&third, "differ from cuda:0"), 0);
    as_buf_finish(&every);
    as_buf_finish(&third);
}

/* Another number of SMs is another device. */
UNIT_TEST(other_devices_are_not_folded)
{
    for (size_t i = 0; i < run->devices_n; i++)
        if (strcmp(run->devices[i].id, "cuda:7") == 0)
            run->devices[i].compute_units = 66;
    struct as_buf text = text_of(NULL, 100);
    assert_non_null(strstr(as_buf_get(&text), "\ncuda:1 to cuda:6: "));
    assert_non_null(strstr(as_buf_get(&text), "\ncuda:7: NVIDIA H200\n"));
    as_buf_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_ones_take_two_lines, make_eight, free_eight),
        cmocka_unit_test_setup_teardown(what_differs_is_listed, make_eight, free_eight),
        cmocka_unit_test_setup_teardown(each_in_full_where_it_is_asked_for, make_eight, free_eight),
        cmocka_unit_test_setup_teardown(other_devices_are_not_folded, make_eight, free_eight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
