#include "forged.h"

#include "model/cell.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- values ---- */

double forged_number(struct fuzz_bytes *b)
{
    static const double values[] = {
        0,      -0.0,     1,      -1,   1e-308, 1e308, -1e308,      5e-324, 1.7976931348623157e308,
        1e-200, 1e200,    1e-150, 1e15, 1e300,  -1e-9, 9.3e18,      1.9e19, 4294967296.0,
        0.5,    2.2e-308, 1e-5,   1e9,  65536,  1e-30, 2147483648.0};
    const unsigned which = fuzz_byte(b);
    return which < 2 * COUNT(values) ? values[which / 2] : ldexp(1 + fuzz_byte(b), (int)(which % 64) - 32);
}

static const char *long_text(void)
{
    static char text[5000];
    memset(text, 'x', sizeof text - 1);
    return text;
}

const char *forged_text(struct fuzz_bytes *b)
{
    static const char *const texts[] = {"",
                                        "\x1b]0;owned\x07\x1b[2J",
                                        "<script>alert(1)</script>&\"'",
                                        "</script></svg><!--",
                                        "\xe2\x80\xae"
                                        "%s%n%d",
                                        "=cmd|' /C calc'!A0",
                                        "a\nb\tc\rd",
                                        "nan",
                                        "-inf",
                                        "0",
                                        "1e999",
                                        "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x",
                                        "ns",
                                        "GB/s",
                                        "B",
                                        "ops/s",
                                        "cycles",
                                        "bytes/cycle",
                                        "updates",
                                        "x",
                                        "%",
                                        "cpu",
                                        "cuda:0",
                                        "latency",
                                        "matmul",
                                        "all",
                                        "{\"a\":[1e308]}",
                                        "[[[[",
                                        "\xf0\x9f\x98\x80\xcc\x81\xe6\xb8\xac",
                                        "\x7f\xc2\x9b"
                                        "31m",
                                        "driver",
                                        "2026-11-21T09:05:00Z"};
    const unsigned which = fuzz_byte(b);
    return which == 255 ? long_text() : texts[which % COUNT(texts)];
}

const char *forged_broken(struct fuzz_bytes *b)
{
    static const char *const texts[] = {"\xff\xfe",     "\xc3",     "a\xe2\x82",
                                        "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"};
    const unsigned which = fuzz_byte(b);
    return which % 4 ? forged_text(b) : texts[which / 4 % COUNT(texts)];
}

json_t *forged_value(struct fuzz_bytes *b)
{
    switch (fuzz_byte(b) % 8) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(fuzz_byte(b) & 1);
    case 2:
        return json_integer((json_int_t)fmax(fmin(forged_number(b), 9.2e18), -9.2e18));
    case 3:
        return json_string(forged_text(b));
    case 4:
        return json_array();
    case 5:
        return json_object();
    default:
        return json_real(forged_number(b));
    }
}

/* ---- trees ---- */

static json_t *child(json_t *j, unsigned which, const char **name)
{
    *name = NULL;
    if (json_is_array(j))
        return json_array_size(j) ? json_array_get(j, which % json_array_size(j)) : NULL;
    if (!json_is_object(j) || !json_object_size(j))
        return NULL;
    void *at = json_object_iter(j);
    for (unsigned k = which % (unsigned)json_object_size(j); k; k--)
        at = json_object_iter_next(j, at);
    *name = json_object_iter_key(at);
    return json_object_iter_value(at);
}

void forged_in_tree(json_t *tree, struct fuzz_bytes *b)
{
    for (int depth = 0; depth < 12; depth++) {
        const unsigned which = fuzz_byte(b);
        const char *name;
        json_t *next = child(tree, which, &name);
        if (!next)
            return;
        const bool down = json_object_size(next) || json_array_size(next);
        if (down && fuzz_byte(b) % 8) {
            tree = next;
            continue;
        }
        const unsigned what = fuzz_byte(b) % 8;
        if (name && what == 0) {
            char *copy = strdup(name);
            json_object_del(tree, copy);
            free(copy);
        } else if (name)
            json_object_set_new(tree, name, forged_value(b));
        else if (what == 0)
            json_array_remove(tree, which % json_array_size(tree));
        else if (what == 1)
            json_array_append_new(tree, json_deep_copy(next));
        else
            json_array_set_new(tree, which % json_array_size(tree), forged_value(b));
        return;
    }
}

void forged_set(json_t *j, const char *name, json_t *value)
{
    fuzz_require(value && json_object_set_new(j, name, value) == 0, "out of memory");
}

/* ---- forged cells ---- */

static void rekey(json_t *cell)
{
    struct as_axes axes;
    struct as_error err;
    char key[20], *text = json_dumps(json_object_get(cell, "axes"), JSON_COMPACT);
    const char *probe = json_string_value(json_object_get(cell, "probe")),
               *metric = json_string_value(json_object_get(cell, "metric"));
    if (text && probe && metric && as_axes_from_json(text, &axes, &err) == AS_OK) {
        snprintf(key, sizeof key, "%016llx", (unsigned long long)as_cell_key(probe, metric, &axes));
        forged_set(cell, "key", json_string(key));
    }
    free(text);
}

static void scale(json_t *cell, double factor)
{
    json_t *values = json_object_get(cell, "samples");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const double v = json_number_value(json_array_get(values, i)) * factor;
        json_array_set_new(values, i, json_real(isfinite(v) ? v : v > 0 ? 1.7e308 : -1.7e308));
    }
    forged_settle(cell);
}

static void lie_scale(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    scale(cell, forged_number(b));
}

static void lie_scale_all(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    const double factor = forged_number(b), growth = forged_number(b);
    double power = factor;
    json_t *cells = json_object_get(root, "cells");
    const char *probe = json_string_value(json_object_get(cell, "probe"));
    for (size_t i = 0; probe && i < json_array_size(cells); i++) {
        json_t *other = json_array_get(cells, i);
        const char *name = json_string_value(json_object_get(other, "probe"));
        if (!name || strcmp(name, probe) != 0)
            continue;
        scale(other, power);
        power = isfinite(power * growth) ? power * growth : factor;
    }
}

static void lie_constant(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const double v = forged_number(b);
    json_t *values = json_object_get(cell, "samples");
    for (size_t i = 0; i < json_array_size(values); i++)
        json_array_set_new(values, i, json_real(v));
    forged_settle(cell);
}

static void lie_one_sample(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    json_t *values = json_object_get(cell, "samples");
    const unsigned which = fuzz_byte(b);
    if (json_array_size(values))
        json_array_set_new(values, which % json_array_size(values), json_real(forged_number(b)));
    forged_settle(cell);
}

static void lie_number(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"median",   "ci_low",     "ci_high",    "mad",        "min",
                                        "max",      "mode_low",   "mode_high",  "mode_share", "limit",
                                        "clock_hz", "duration_s", "started_at", "precision"};
    (void)root;
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    forged_set(cell, name, fuzz_byte(b) % 8 ? json_real(forged_number(b)) : json_null());
}

static void lie_interval(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const double v = json_number_value(json_object_get(cell, "median")), lo = forged_number(b), hi = forged_number(b);
    forged_set(cell, "ci_low", json_real(fmin(lo, v)));
    forged_set(cell, "ci_high", json_real(fmax(hi, v)));
}

static void lie_text(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"backend", "device", "probe", "metric", "unit", "reason", "counts", "driver"};
    (void)root;
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    forged_set(cell, name, json_string(forged_text(b)));
    rekey(cell);
}

static void lie_axis(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    json_t *axes = json_object_get(cell, "axes");
    const char *name;
    json_t *value = child(axes, fuzz_byte(b), &name);
    const unsigned what = fuzz_byte(b) % 4;
    if (value && what == 0) {
        char *copy = strdup(name);
        json_object_del(axes, copy);
        free(copy);
    } else if (what == 1)
        forged_set(axes, "another", forged_value(b));
    else if (value)
        forged_set(axes, name, what == 2 ? json_real(forged_number(b)) : json_string(forged_text(b)));
    rekey(cell);
}

static void lie_status(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    forged_set(cell, "status",
               json_string(as_cell_status_word((enum as_cell_status)(fuzz_byte(b) % AS_CELL_STATUS_N))));
}

static void lie_gate(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    const unsigned which = fuzz_byte(b);
    json_t *gate = json_object_get(json_object_get(cell, "gates"), as_gate_name((enum as_gate)(which % AS_GATE_N)));
    forged_set(gate, "state", json_string(as_gate_state_word((enum as_gate_state)(fuzz_byte(b) % 3))));
    forged_set(gate, "text", json_string(forged_text(b)));
}

/* Data from which readers draw and derive facts. */
static void lie_valid(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *cells = json_object_get(root, "cells");
    (void)cell;
    (void)b;
    for (size_t i = 0; i < json_array_size(cells); i++) {
        json_t *c = json_array_get(cells, i), *gates = json_object_get(c, "gates"), *gate;
        const char *name;
        if (!json_integer_value(json_object_get(c, "n")))
            continue;
        forged_set(c, "status", json_string("ok"));
        forged_set(c, "reason", json_string(""));
        json_object_foreach(gates, name, gate) forged_set(gate, "state", json_string("pass"));
    }
}

static void lie_gone(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *cells = json_object_get(root, "cells");
    for (size_t i = 0; i < json_array_size(cells); i++)
        if (json_array_get(cells, i) == cell && json_array_size(cells) > 1) {
            json_array_remove(cells, i);
            return;
        }
    (void)b;
}

static void lie_twice(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    json_t *copy = json_deep_copy(cell), *cells = json_object_get(root, "cells");
    forged_set(copy, "position", json_integer(100000 + (json_int_t)json_array_size(cells)));
    forged_set(copy, "device", json_string(fuzz_byte(b) % 2 ? "cpu" : forged_text(b)));
    json_array_append_new(cells, copy);
}

static void lie_swap(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    static const char *const names[] = {"unit", "axes", "metric", "samples", "device", "better", "counts", "detail"};
    json_t *cells = json_object_get(root, "cells"),
           *other = json_array_get(cells, fuzz_byte(b) % json_array_size(cells));
    const char *name = names[fuzz_byte(b) % COUNT(names)];
    json_t *mine = json_deep_copy(json_object_get(cell, name)), *theirs = json_deep_copy(json_object_get(other, name));
    if (mine && theirs && strcmp(name, "samples") != 0) {
        forged_set(cell, name, theirs);
        forged_set(other, name, mine);
        rekey(cell);
        rekey(other);
    } else {
        json_decref(mine);
        json_decref(theirs);
    }
}

static void lie_detail(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    forged_in_tree(json_object_get(cell, "detail"), b);
}

static void lie_trial(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)root;
    forged_in_tree(json_object_get(cell, "trials"), b);
}

static void lie_device(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    forged_in_tree(json_object_get(json_object_get(root, "run"), "devices"), b);
}

static void lie_provenance(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    forged_in_tree(json_object_get(json_object_get(root, "run"), "provenance"), b);
}

static void lie_run(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    (void)cell;
    static const char *const texts[] = {"suite", "command", "tool_version", "tool_commit", "host"}, *const numbers[] = {
                                                                                                        "started_at",
                                                                                                        "ended_at",
                                                                                                        "precision",
                                                                                                        "budget_s"};
    json_t *run = json_object_get(root, "run");
    const unsigned which = fuzz_byte(b);
    if (which % 2)
        forged_set(run, texts[which / 2 % COUNT(texts)], json_string(forged_text(b)));
    else
        forged_set(run, numbers[which / 2 % COUNT(numbers)], json_real(forged_number(b)));
}

static void lie_anywhere(json_t *root, json_t *cell, struct fuzz_bytes *b)
{
    forged_in_tree(fuzz_byte(b) % 2 ? root : cell, b);
}

static void (*const lies[])(json_t *root, json_t *cell, struct fuzz_bytes *b) = {
    lie_scale,  lie_scale_all, lie_constant, lie_one_sample, lie_number, lie_interval, lie_text,
    lie_axis,   lie_status,    lie_gate,     lie_valid,      lie_gone,   lie_twice,    lie_swap,
    lie_detail, lie_trial,     lie_device,   lie_provenance, lie_run,    lie_anywhere};

void forged_in_export(json_t *root, struct fuzz_bytes *b)
{
    for (unsigned n = fuzz_byte(b) % 8; n; n--) {
        json_t *cells = json_object_get(root, "cells");
        const unsigned what = fuzz_byte(b), which = fuzz_byte(b);
        json_t *cell = json_array_size(cells) ? json_array_get(cells, which % json_array_size(cells)) : NULL;
        if (!json_is_object(cell))
            return;
        json_incref(cell);
        lies[what % COUNT(lies)](root, cell, b);
        json_decref(cell);
    }
}
