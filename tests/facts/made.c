#include "made.h"
#include "tests/unit_test.h"

#include "base/text.h"
#include "probe/main_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct as_cell *new_cell(struct made *m)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->cells = realloc(m->cells, m->cap * sizeof *m->cells);
        assert_non_null(m->cells);
    }
    return &m->cells[m->n++];
}

/* Not by as_axes_add, which refuses hostile values. */
static void add_axes(struct as_axes *to, const char *axes)
{
    char text[256], *save = NULL;
    const char *const between = strchr(axes, ';') ? ";" : " ";
    assert_true(strlen(axes) < sizeof text);
    as_copy_text(text, sizeof text, axes);
    for (char *part = strtok_r(text, between, &save); part; part = strtok_r(NULL, between, &save)) {
        char *value = strchr(part, '=');
        assert_true(value && to->n < AS_AXES_MAX);
        struct as_axis_value *v = &to->v[to->n++];
        *value++ = '\0';
        as_copy_text(v->name, sizeof v->name, part);
        as_copy_text(v->text, sizeof v->text, value);
        v->number = as_parse_double(value, &v->number, NULL) ? NAN : v->number;
    }
}

struct as_cell *made_add(struct made *m, const char *probe, const char *unit, double median, const char *axes)
{
    struct as_cell *c = new_cell(m);
    *c = (struct as_cell){
        .id = (int64_t)m->n, .status = AS_CELL_OK, .clock_hz = m->clock_hz > 0 ? m->clock_hz : NAN, .limit = NAN};
    as_copy_text(c->device, sizeof c->device, m->info.id);
    as_copy_text(c->probe, sizeof c->probe, probe);
    as_copy_text(c->unit, sizeof c->unit, unit);
    c->sum = (struct as_summary){.n = 30,
                                 .trials = 3,
                                 .median = median,
                                 .ci = {median * (1 - m->share), median * (1 + m->share)},
                                 .min = median,
                                 .max = median,
                                 .modes = 1};
    add_axes(&c->axes, axes);
    if (as_main_memory_claimed(&c->axes))
        c->gates[AS_GATE_FOOTPRINT].state = AS_GATE_PASS;
    return c;
}

void made_derive(struct made *m)
{
    struct as_run run = {.id = 1};
    struct as_fact_input in = {&run, m->cells, m->n, &m->info, 1};
    free(m->facts);
    assert_int_equal(as_facts_derive(&in, &m->facts, &m->facts_n, NULL), AS_OK);
}

const struct as_fact *made_find(const struct made *m, const char *id)
{
    if (!as_fact_ids_exist(id))
        fail_msg("no rule makes a fact %s", id);
    return as_fact_find(m->facts, m->facts_n, m->info.id, id);
}

const struct as_fact *made_get(const struct made *m, const char *id)
{
    const struct as_fact *f = made_find(m, id);
    if (!f) {
        for (size_t i = 0; i < m->facts_n; i++)
            print_message("have %s: %s\n", m->facts[i].id, m->facts[i].sentence);
        fail_msg("no fact %s", id);
        abort();
    }
    assert_true(f->sentence[0] && f->rule[0] && f->refuted_by[0] && f->evidence_n > 0);
    return f;
}

const struct as_fact *made_near(const struct made *m, const char *id, double value, double share)
{
    const struct as_fact *f = made_get(m, id);
    if (!(fabs(f->value - value) <= share * fabs(value)))
        fail_msg("%s is %g, not %g", id, f->value, value);
    return f;
}

void made_holds(const struct as_fact *f, double value)
{
    if (!(f->ci.lo <= value * 1.001 && f->ci.hi >= value * 0.999))
        fail_msg("%s: %g to %g does not hold %g (%s)", f->id, f->ci.lo, f->ci.hi, value, f->sentence);
}

void made_verdict(const struct made *m, const char *id, enum as_fact_verdict verdict)
{
    if (made_get(m, id)->verdict != verdict)
        fail_msg("%s: %s", id, made_get(m, id)->sentence);
}

void made_says(const struct as_fact *f, const char *text)
{
    if (!strstr(f->sentence, text))
        fail_msg("%s: '%s' is not in: %s", f->id, text, f->sentence);
}

void made_acts(const struct made *m, const char *id, const char *text)
{
    const char *act = made_get(m, id)->act;
    if (!strstr(act, text))
        fail_msg("%s: '%s' is not in: %s", id, text, act);
}

void made_end(struct made *m)
{
    for (size_t i = 0; i < m->n; i++)
        as_cell_finish(&m->cells[i]);
    free(m->cells);
    free(m->facts);
    m->cells = NULL;
    m->facts = NULL;
    m->n = m->cap = m->facts_n = 0;
}

int made_teardown(void **state)
{
    struct made *m = *state;
    made_end(m);
    m->clock_hz = 0;
    return 0;
}

void made_gpu_minimal(struct made *m)
{
    *m = (struct made){
        .share = 0.01,
        .info = {.id = "cuda:0",
                 .backend = "cuda",
                 .clock_max_hz = 2e9,
                 .capabilities = AS_CAP_SOURCE | AS_CAP_COPY,
                 .caches_n = 1,
                 .caches = {{.level = 2, .kind = 'u', .size = 50 << 20, .line = 128, .ways = 16, .shared = 0}},
                 .allocators_n = 3,
                 .allocators = {{.name = "own"}, {.name = "pinned", .host_access = true}, {.name = "pool"}}}};
}

void made_cpu(struct made *m)
{
    *m = (struct made){.share = 0.005,
                       .info = {.id = "cpu",
                                .backend = "cpu",
                                .compute_units = 4,
                                .threads = 4,
                                .clock_max_hz = 2.3e9,
                                .capabilities = AS_CAP_HOST_KERNELS}};
    m->info.caches_n = 4;
    m->info.caches[0] = (struct as_cache){.level = 1, .kind = 'd', .size = 32768, .shared = 1};
    m->info.caches[1] = (struct as_cache){.level = 1, .kind = 'i', .size = 32768, .shared = 1};
    m->info.caches[2] = (struct as_cache){.level = 2, .kind = 'u', .size = 1048576, .shared = 1};
    m->info.caches[3] = (struct as_cache){.level = 3, .kind = 'u', .size = 33554432, .shared = 4};
}

struct made *made_gpu(void)
{
    struct made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->share = 0.002;
    m->clock_hz = 2e9;
    m->info = (struct as_device_info){.id = "cuda:0",
                                      .backend = "cuda",
                                      .capabilities = AS_CAP_FP64,
                                      .compute_units = 132,
                                      .compute_unit_threads = 2048,
                                      .compute_unit_registers = 65536,
                                      .compute_unit_shared = 228 << 10,
                                      .caches_n = 1,
                                      .caches = {{.level = 2, .kind = 'u', .size = 50 << 20}}};
    return m;
}

void made_free(struct made *m)
{
    made_end(m);
    free(m);
}
