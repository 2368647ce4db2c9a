#include "report/sheet/main_results.h"

#include "report/model/same_hardware.h"
#include "report/sheet/worth.h"

#include <stdlib.h>
#include <string.h>

enum { ENOUGH_LINES = 12, ENOUGH_FOR_FACTS = 6 }; /* lines of a sheet that tells what was measured */
enum { FEW_OPERATIONS = 4 };                      /* such a table does not tell it alone */

static bool is_in_sheet(const struct as_sheet *sheet, const struct as_fact *f)
{
    for (size_t i = 0; i < sheet->n; i++)
        if (strcmp(sheet->rows[i].fact, f->id) == 0)
            return true;
    return false;
}

static bool is_telling(const struct as_fact *f, const char *device, const struct as_sheet *sheet)
{
    return strcmp(f->device, device) == 0 && f->verdict != AS_UNDECIDED && f->sentence[0] && !is_in_sheet(sheet, f);
}

/* How many telling facts before it are of its relation. */
static size_t place_of(const struct as_report_run *run, size_t at, const struct as_sheet *sheet)
{
    const struct as_fact *f = &run->facts[at];
    size_t n = 0;
    for (size_t i = 0; i < at; i++)
        n += run->facts[i].relation == f->relation && is_telling(&run->facts[i], f->device, sheet);
    return n;
}

/* The first fact of each relation, then the second ones: many facts of one kind do not hide the others. */
static void choose_facts(const struct as_report_run *run, const char *device, const struct as_sheet *sheet,
                         struct as_main_results *out)
{
    for (size_t place = 0; place < AS_MAIN_FACTS_MAX && out->facts_n < AS_MAIN_FACTS_MAX; place++)
        for (size_t i = 0; i < run->facts_n && out->facts_n < AS_MAIN_FACTS_MAX; i++)
            if (is_telling(&run->facts[i], device, sheet) && place_of(run, i, sheet) == place)
                out->facts[out->facts_n++] = &run->facts[i];
}

/* Is something of it among what views list as worth knowing? */
static bool has_worth(const struct as_report_run *run, const char *device)
{
    struct as_worth listed[AS_WORTH_MAX];
    const size_t n = as_worth_knowing(run, listed, AS_WORTH_MAX);
    for (size_t i = 0; i < n; i++)
        if (strcmp(listed[i].fact->device, device) == 0)
            return true;
    return false;
}

enum as_status as_main_results_make(const struct as_report_run *run, const char *device, const struct as_sheet *sheet,
                                    struct as_main_results *out, struct as_error *err)
{
    *out = (struct as_main_results){0};
    if (sheet->n >= ENOUGH_LINES)
        return AS_OK;
    enum as_status st = as_operations_main(run, device, &out->operations, &out->operations_n, err);
    if (!st && out->operations_n < FEW_OPERATIONS && sheet->n < ENOUGH_FOR_FACTS && !has_worth(run, device) &&
        !as_hardware_representative_id(run, device))
        choose_facts(run, device, sheet, out);
    return st;
}

void as_main_results_finish(struct as_main_results *m)
{
    free(m->operations);
    *m = (struct as_main_results){0};
}
