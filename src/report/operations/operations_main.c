/* The dozen operations that a short view tells of, one row each over all forms. */
#include "base/text.h"
#include "quantity/quantity.h"
#include "report/operations/operations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The better of two forms; where neither is measured, neither is. */
static const struct as_operation *better_form(const struct as_operation *a, const struct as_operation *b, bool latency)
{
    const struct as_cell *of_a = latency ? a->latency : a->throughput;
    const struct as_cell *of_b = b ? latency ? b->latency : b->throughput : NULL;
    if (!of_a || !as_cell_is_valid(of_a))
        return b;
    return as_operation_beats(of_a, of_b) ? a : b;
}

/* Joins the forms of one operation on a device; false: none has a number. */
static bool join_forms(const struct as_operation *rows, size_t n, const char *device, const char *op,
                       struct as_operation *out)
{
    const struct as_operation *rate = NULL, *wait = NULL;
    size_t left_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].device, device) != 0 || strcmp(rows[i].name, op) != 0)
            continue;
        rate = better_form(&rows[i], rate, false);
        wait = better_form(&rows[i], wait, true);
        left_out += rows[i].throughput && as_cell_waits(rows[i].throughput);
    }
    if (!rate && !wait)
        return false;
    *out = rate ? *rate : *wait;
    out->throughput = rate ? rate->throughput : NULL;
    out->latency = wait ? wait->latency : NULL;
    out->adjusted = wait ? wait->adjusted : (struct as_measure){NAN, {NAN, NAN}};
    out->link = wait ? wait->link : NULL;
    as_copy_text(out->link_name, sizeof out->link_name, wait ? wait->link_name : "");
    out->forms_left_out = left_out;
    if (!rate)
        out->form[0] = '\0';
    return true;
}

enum as_status as_operations_main(const struct as_report_run *run, const char *device, struct as_operation **out,
                                  size_t *n, struct as_error *err)
{
    struct as_operation *rows = NULL;
    size_t all = 0, main_n = 0;
    while (as_main_operations[main_n])
        main_n++;
    *n = 0;
    *out = calloc(main_n + 1, sizeof **out);
    enum as_status st = *out ? as_operations_make(run, &rows, &all, err) : as_nomem(err, sizeof **out, "operations");
    for (size_t i = 0; i < main_n && !st; i++)
        *n += join_forms(rows, all, device, as_main_operations[i], *out + *n);
    free(rows);
    return st;
}

/* "0.5 IADD3, 0.5 IMAD.IADD": two kinds of instructions, which one rate or latency joins. Of more, as in a division, no
 * reader thinks that they are one. */
static bool has_two_kinds(const char *steps)
{
    const char *first = strchr(steps, ',');
    return first && !strchr(first + 1, ',');
}

/* What the numbers of a row do not say. */
static void say_remark(const struct as_operation *o, struct as_buf *out)
{
    if (o->forms_left_out)
        as_buf_printf(out, "%zu form%s left out", o->forms_left_out, o->forms_left_out == 1 ? "" : "s");
    if (o->throughput && has_two_kinds(o->steps))
        as_buf_printf(out, "%seach step is %s", out->len ? "; " : "", o->steps);
    if (o->latency && o->link_name[0] && !o->link)
        as_buf_printf(out, "%slatency includes that of %s", out->len ? "; " : "", o->link_name);
}

void as_operations_main_view(const struct as_operation *rows, size_t n, const struct as_device_info *info,
                             struct as_view_table *out)
{
    struct as_view_column columns[] = {
        {.title = "operation"}, {.title = "what it is", .under = true, .spare = true}, {.number = true},
        {.title = "form"},      {.title = "least latency, cycles", .number = true},    {.title = "remark"}};
    *out = (struct as_view_table){0};
    snprintf(columns[2].title, sizeof columns[2].title, "ops/cycle per %s", as_info_words(info)->compute_unit);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        as_view_add_column(out, columns[i]);
    for (size_t i = 0; i < n; i++) {
        struct as_buf remark = AS_BUF_INIT;
        as_view_begin_row(out, true);
        as_view_link(out, rows[i].name, AS_OPERATION_ANCHOR);
        as_view_text(out, rows[i].word->title, AS_PAINT_DIM);
        as_view_best(out, rows[i].throughput, rows[i].forms_left_out, "");
        as_view_text(out, strcmp(rows[i].form, "usual") == 0 ? "" : rows[i].form, AS_PAINT_DIM);
        if (rows[i].link)
            as_view_derived(out, rows[i].adjusted, "");
        else
            as_view_measured(out, rows[i].latency, "");
        say_remark(&rows[i], &remark);
        as_view_text(out, as_buf_get(&remark), AS_PAINT_DIM);
        out->failed |= remark.failed;
        as_buf_finish(&remark);
    }
}
