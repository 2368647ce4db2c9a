/* Axis expressions: any input is parsed or refused, and accepted ones keep the promises of plan.h. */
#include "fuzz.h"
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {"triad", "copy", "read", NULL};

static const struct as_axis axes[] = {
    {.name = "size", .type = AS_AXIS_SIZE, .min = 64, .def = "1MiB"},
    {.name = "bounded", .type = AS_AXIS_SIZE, .min = 1, .max = 1u << 20, .def = "1KiB"},
    {.name = "ilp", .type = AS_AXIS_COUNT, .min = 1, .max = 64, .def = "1"},
    {.name = "count", .type = AS_AXIS_COUNT, .def = "1"},
    {.name = "threads", .type = AS_AXIS_COUNT, .domain = AS_DOMAIN_THREADS, .min = 1, .def = "all"},
    {.name = "cpu", .type = AS_AXIS_COUNT, .domain = AS_DOMAIN_CPU, .def = "all"},
    {.name = "op", .type = AS_AXIS_WORD, .words = words, .def = "all"},
    {.name = "allocator", .type = AS_AXIS_WORD, .domain = AS_DOMAIN_ALLOCATOR, .def = "first"},
};
enum { AXES = sizeof axes / sizeof *axes };

static const struct as_device_info info = {
    .id = "null",
    .backend = "null",
    .threads = 16,
    .memory_bytes = (uint64_t)8 << 30,
    .memory_free = (uint64_t)4 << 30,
    .caches_n = 2,
    .caches = {{.level = 1, .kind = 'd', .size = 48 << 10}, {.level = 2, .kind = 'u', .size = 2 << 20}},
    .allocators_n = 2,
    .allocators = {{.name = "malloc"}, {.name = "hugetlb", .why_not = "no pages reserved"}},
};

/* Every value is unique, in its axis's range, and spelled canonically. */
static void check_values(const struct as_axis *axis, const struct as_axis_values *values)
{
    fuzz_require(values->n <= 4096, "more than 4096 values");
    for (size_t i = 0; i < values->n; i++) {
        const struct as_axis_value *v = &values->v[i];
        fuzz_require(strcmp(v->name, axis->name) == 0, "a value of another axis");
        for (size_t j = 0; values->n <= 64 && j < i; j++)
            fuzz_require(strcmp(values->v[j].text, v->text) != 0, "a value twice");
        if (axis->type == AS_AXIS_WORD) {
            fuzz_require(isnan(v->number), "a word with a number");
            continue;
        }
        fuzz_require(v->number >= (double)axis->min, "a value below the smallest");
        fuzz_require(axis->max == 0 || v->number <= (double)axis->max, "a value above the largest");
        if (i >= 64)
            continue;
        struct as_axis_values again;
        struct as_error err;
        fuzz_require(as_axis_parse(axis, v->text, &info, &again, &err) == AS_OK, "its own spelling is refused");
        fuzz_require(again.n == 1 && strcmp(again.v[0].text, v->text) == 0, "its own spelling means something else");
        as_axis_values_finish(&again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const struct as_axis *axis = &axes[data[0] % AXES];
    char *expr = fuzz_text(data + 1, size - 1);
    struct as_axis_values values;
    struct as_error err = {0};
    enum as_status st = as_axis_parse(axis, expr, &info, &values, &err);
    if (st == AS_OK) {
        check_values(axis, &values);
        as_axis_values_finish(&values);
    } else {
        fuzz_require(err.text[0] != 0 && err.code == st, "refused without a reason");
    }
    free(expr);
    return 0;
}
