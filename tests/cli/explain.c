/* What explain says of a cell's samples. */
#include "cli/explain/explain.h"
#include "tests/unit_test.h"

#include "cli/history/history.h"
#include "device/backend.h"
#include "device/info.h"
#include "model/number.h"
#include "quantity/quantity.h"
#include "report/model/load.h"
#include "report/sheet/sheet_check.h"
#include "report/terminal/terminal.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minimum and maximum are of samples with weight: what lies beyond stands in rows of its own, which say where they
 * begin. */
UNIT_TEST(test_distribution)
{
    double samples[] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 110, 900, 950, 90};
    enum { N = sizeof samples / sizeof *samples };
    const struct as_explained e = {
        .cell = {
            .id = 1,
            .status = AS_CELL_OK,
            .unit = "ns",
            .samples = samples,
            .limit = NAN,
            .clock_hz = NAN,
            .precision = NAN,
            .sum = {
                .n = N, .trials = 3, .median = 104, .ci = {103, 105}, .mad = 1, .min = 100, .max = 110, .modes = 1}}};
    struct as_buf out = AS_BUF_INIT;
    assert_int_equal(as_explain_cell(&e, &(struct as_table_style){.width = 100}, &out, NULL), AS_OK);
    const char *text = as_buf_get(&out);
    assert_non_null(strstr(text, "below 100.0 ns      1 "));
    assert_non_null(strstr(text, "above 110.0 ns      2 "));
    assert_non_null(strstr(text, "    110.0 ns      1 ")); /* the last bin's own sample */
    assert_null(strstr(text, "653"));                      /* a mean with those beyond */
    as_buf_finish(&out);
}

/* ---- every word that a table of the program prints ---- */

static size_t unknown;

static void is_known(const char *word)
{
    struct as_buf out = AS_BUF_INIT;
    const struct as_table_style style = {.width = 100};
    if (word[0] && !as_explain_term(word, &style, &out))
        print_error("explain does not know '%s'\n", word), unknown++;
    as_buf_finish(&out);
}

UNIT_TEST(test_words)
{
    unknown = 0;
    for (int s = 0; s < AS_CELL_STATUS_N; s++) {
        is_known(as_cell_status_word((enum as_cell_status)s));
        is_known(as_cell_status_said((enum as_cell_status)s));
    }
    for (int v = 0; v < AS_FACT_VERDICTS_N; v++) {
        is_known(as_fact_verdict_word((enum as_fact_verdict)v));
        is_known(as_fact_verdict_text((enum as_fact_verdict)v));
    }
    for (int s = AS_GATE_NA; s <= AS_GATE_FAIL; s++)
        is_known(as_gate_state_word((enum as_gate_state)s));
    for (int s = 0; s < AS_RUN_STATE_N; s++)
        is_known(as_run_state_word((enum as_run_state)s));
    for (int v = AS_SAME; v <= AS_CANNOT_TELL; v++)
        is_known(as_verdict_word((enum as_verdict)v));
    for (int v = 0; v < AS_CHECK_VERDICTS_N; v++)
        for (int bounded = 0; bounded < 2; bounded++) {
            is_known(as_check_verdict_word((enum as_check_verdict)v, bounded));
            is_known(as_check_line_word(&(struct as_check_line){.verdict = v, .bounded = bounded, .again = true}));
            is_known(as_check_line_word(&(struct as_check_line){.bounded = bounded, .looks_worse = true}));
        }
    for (int p = AS_RUN_STEADY; p <= AS_RUN_ALONE; p++)
        is_known(as_run_place_word((enum as_run_place)p));
    is_known(AS_NOT_YET_KNOWN);
    assert_int_equal(unknown, 0);
}

/* Every axis that a probe's table or --set names. */
UNIT_TEST(test_axes)
{
    const struct as_table_style style = {.width = 100};
    struct as_buf out = AS_BUF_INIT;
    for (size_t i = 0; as_probes[i]; i++)
        for (const struct as_axis *a = as_probes[i]->axes; !as_probes[i]->hidden && a->name; a++) {
            as_buf_clear(&out);
            assert_true(as_explain_axis(a->name, &style, &out));
            assert_non_null(strstr(as_buf_get(&out), as_probes[i]->name));
        }
    assert_false(as_explain_axis("nosuch", &style, &out));
    as_buf_finish(&out);
}

UNIT_TEST(test_labels_and_memory)
{
    const struct as_device_info cpu = {.id = "cpu", .backend = "cpu"};
    unknown = 0;
    for (int r = 0; r < AS_ROLES_N; r++)
        is_known(as_role_word((enum as_role)r));
    for (size_t b = 0; as_backends[b]; b++)
        for (const struct as_role_name *r = as_backends[b]->roles; r && r->allocator; r++)
            is_known(r->allocator);
    for (const struct as_quantity *q = as_quantities; q->name; q++) {
        char label[64];
        as_quantity_expand(&(struct as_quantity_subject){.device = "cpu", .info = &cpu}, q->label, label, sizeof label);
        is_known(q->group);
        is_known(label);
    }
    assert_int_equal(unknown, 0);
}

/* Words of sentences, which no table has. */
UNIT_TEST(test_words_of_sentences)
{
    static const char *const words[] = {
        "contended", "over",      "under",    "about", "ridge",     "1 of 8 trials",     "MLC",
        "unsteady",  "too noisy", "left out", "modes", "seen once", "not in this suite", "reported",
        "specified", "disturbed"};
    unknown = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_known(words[i]);
    assert_int_equal(unknown, 0);
}

/* Around the numbers of a data sheet: its header and the heads of its table. */
UNIT_TEST(test_words_of_sheets)
{
    static const char *const words[] = {"THP",
                                        "governor",
                                        "power limit",
                                        "driver",
                                        "UVM",
                                        "vCPU",
                                        "vCPUs",
                                        "guest",
                                        "virtual machine",
                                        "L3 may be shared with other guests",
                                        "no cycle counter",
                                        "NUMA node",
                                        "NUMA nodes",
                                        "SM",
                                        "SMs",
                                        "CU",
                                        "CUs",
                                        "measured",
                                        "another run",
                                        "specified",
                                        "reported",
                                        "of spec",
                                        "share",
                                        "published"};
    unknown = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_known(words[i]);
    assert_int_equal(unknown, 0);
}

/* What users call it, of which the answer names this first. */
UNIT_TEST(test_words_of_users)
{
    static const struct {
        const char *word, *first;
    } asked[] = {{"NVLink", "GPU to GPU"},    {"infinity fabric", "GPU to GPU"},
                 {"L1 bandwidth", "L1 read"}, {"VNNI", "matmul"},
                 {"AMX", "matmul"},           {"turbo", "clock"},
                 {"boost", "clock"},          {"bank conflict", "onchip_bandwidth"}};
    const struct as_table_style style = {.width = 1000};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct as_buf out = AS_BUF_INIT;
        assert_true(as_explain_term(asked[i].word, &style, &out) || as_explain_nearest(asked[i].word, &style, &out));
        const char *text = as_buf_get(&out), *found = strstr(text, asked[i].first);
        if (!found || (strncmp(text, "  No entry", 10) == 0 && found > strstr(strchr(text, '\n') + 1, "\n")))
            fail_msg("%s: not first %s: %s", asked[i].word, asked[i].first, text);
        as_buf_finish(&out);
    }
}

static void check_facts(const char *path)
{
    const struct as_table_style style = {.width = 100};
    struct as_store *store = NULL;
    struct as_run *runs = NULL;
    size_t n = 0;
    assert_int_equal(as_store_open(path, AS_STORE_READ, &store, NULL), AS_OK);
    assert_int_equal(as_store_runs(store, &runs, &n, NULL), AS_OK);
    for (size_t r = 0; r < n; r++) {
        struct as_report_run run = {0};
        char id[24];
        snprintf(id, sizeof id, "%lld", (long long)runs[r].id);
        assert_int_equal(as_report_load(store, id, &run, NULL), AS_OK);
        for (size_t i = 0; i < run.facts_n; i++) {
            struct as_buf out = AS_BUF_INIT;
            if (!as_explain_term(run.facts[i].id, &style, &out) &&
                !as_explain_fact(NULL, run.facts[i].id, &style, &out))
                print_error("explain does not know '%s'\n", run.facts[i].id), unknown++;
            as_buf_finish(&out);
        }
        as_report_run_finish(&run);
    }
    as_runs_free(runs, n);
    as_store_close(store);
}

/* Ids that 'assay facts' prints. */
UNIT_TEST(test_facts)
{
    const char *samples = getenv("ASSAY_SAMPLES");
    char path[4096];
    size_t stores = 0;
    DIR *folder = samples ? opendir(samples) : NULL;
    assert_non_null(folder);
    unknown = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".db") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", samples, entry->d_name);
        check_facts(path);
        stores++;
    }
    closedir(folder);
    assert_true(stores > 5);
    assert_int_equal(unknown, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distribution),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_axes),
                                       cmocka_unit_test(test_labels_and_memory),
                                       cmocka_unit_test(test_words_of_sentences),
                                       cmocka_unit_test(test_words_of_sheets),
                                       cmocka_unit_test(test_words_of_users),
                                       cmocka_unit_test(test_facts)};
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
